//! The machine: its name in the firmware, CPU, memory, kernel, and whether it is virtual or a
//! container.
//!
//! A machine is virtual if its CPU (the `hypervisor` flag of x86) or the kernel (/sys/hypervisor,
//! the device tree) reports it. Firmware and clock sources then determine the name. Firmware alone
//! is not sufficient, because a cloud's bare-metal machines also carry the cloud's name. A
//! container is detected by the traces of its manager.

use crate::memory::meminfo_bytes;
use crate::mount::Mount;
use crate::roots::{self, Roots};
use kurabe_core::environment::{Machine, Virtualisation};

/// Placeholder strings of board manufacturers.
const PLACEHOLDERS: [&str; 8] = [
    "to be filled by o.e.m.",
    "system manufacturer",
    "system product name",
    "default string",
    "not specified",
    "not applicable",
    "none",
    "o.e.m.",
];

/// Firmware strings and the corresponding hypervisor, in search order: specific ones before general
/// ones.
const FIRMWARE_NAMES: [(&str, &str); 14] = [
    ("amazon ec2", "amazon"),
    ("google compute engine", "google"),
    ("openstack", "kvm"),
    ("kubevirt", "kvm"),
    ("kvm", "kvm"),
    ("qemu", "qemu"),
    ("bochs", "qemu"),
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("apple virtualization", "apple"),
    ("xen", "xen"),
];

fn dmi(roots: &Roots, name: &str) -> Option<String> {
    roots::words(&roots.sys.join("class/dmi/id").join(name))
        .filter(|words| !PLACEHOLDERS.contains(&words.to_lowercase().as_str()))
}

fn model(roots: &Roots) -> Option<String> {
    let pair = |vendor: Option<String>, product: Option<String>| match (vendor, product?) {
        (Some(vendor), product) if !product.to_lowercase().starts_with(&vendor.to_lowercase()) => {
            Some(format!("{vendor} {product}"))
        }
        (_, product) => Some(product),
    };
    // Lenovo's product name is a number. Its family is the well-known name.
    let vendor = dmi(roots, "sys_vendor");
    let product = if vendor.as_deref().is_some_and(|vendor| vendor.eq_ignore_ascii_case("lenovo")) {
        dmi(roots, "product_version").or_else(|| dmi(roots, "product_name"))
    } else {
        dmi(roots, "product_name")
    };
    pair(vendor, product)
        .or_else(|| pair(dmi(roots, "board_vendor"), dmi(roots, "board_name")))
        .or_else(|| roots::words(&roots.sys.join("firmware/devicetree/base/model")))
}

/// Returns the value of a key in `key : value` lines.
pub(crate) fn value<'a>(lines: &'a str, key: &str) -> Option<&'a str> {
    lines.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    ["model name", "cpu model", "cpu", "Processor"]
        .iter()
        .find_map(|key| value(cpuinfo, key))
        .map(|model| model.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Parses a list of CPUs such as `0-3,8`.
pub(crate) fn parse_cpu_list(list: &str) -> Option<Vec<u32>> {
    /// More than any Linux kernel supports.
    const CPUS_MAX: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= CPUS_MAX || first > last || cpus.len() + (last - first) as usize >= CPUS_MAX as usize {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

fn governor(roots: &Roots, cpus: &[u32]) -> Option<String> {
    let mut governors: Vec<String> = cpus
        .iter()
        .filter_map(|cpu| {
            roots::words(&roots.sys.join(format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")))
        })
        .collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(" + "))
}

fn os_name(release: &str) -> Option<String> {
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = name.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

fn hypervisor(roots: &Roots, cpuinfo: &str, kernel_release: &str) -> Option<String> {
    if kernel_release.to_lowercase().contains("microsoft") {
        return Some("wsl".to_owned());
    }
    let xen_host =
        roots::text(&roots.proc.join("xen/capabilities")).is_some_and(|caps| caps.contains("control_d"));
    let kernel_says = roots::words(&roots.sys.join("hypervisor/type")).filter(|_| !xen_host);
    let tree_says = roots::words(&roots.proc.join("device-tree/hypervisor/compatible"));
    let flag = value(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    if !(flag && !xen_host || kernel_says.is_some() || tree_says.is_some()) {
        return None;
    }
    let firmware = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"]
        .iter()
        .filter_map(|name| dmi(roots, name))
        .collect::<Vec<_>>()
        .join("\n")
        .to_lowercase();
    let clocks =
        roots::text(&roots.sys.join("devices/system/clocksource/clocksource0/available_clocksource"))
            .unwrap_or_default();
    let tree = tree_says.unwrap_or_default();
    let named = FIRMWARE_NAMES.iter().find(|(words, _)| firmware.contains(words)).map(|(_, name)| *name);
    let microsoft = firmware.contains("microsoft corporation") || clocks.contains("hyperv");
    let name = match named {
        // Firmware names the emulator. The paravirtual clock shows whether the CPU is also
        // emulated.
        Some("qemu") if clocks.contains("kvm-clock") || tree.contains("kvm") => "kvm",
        Some(name) => name,
        None if microsoft => "hyper-v",
        None if clocks.contains("kvm-clock") || tree.contains("kvm") => "kvm",
        None => kernel_says.as_deref().unwrap_or("unknown hypervisor"),
    };
    Some(name.to_owned())
}

fn container(roots: &Roots, mounts: &[Mount]) -> Option<String> {
    if let Some(manager) = roots::words(&roots.run.join("systemd/container")) {
        return Some(manager);
    }
    let groups = ["1", "self"]
        .iter()
        .filter_map(|process| roots::text(&roots.proc.join(process).join("cgroup")))
        .collect::<String>();
    if groups.contains("kubepods") {
        return Some("kubernetes".to_owned());
    }
    if roots.run.join(".containerenv").exists() {
        return Some("podman".to_owned());
    }
    // An image that became the root of a machine still contains this file. A container also has
    // these files mounted from outside.
    let files_from_outside = mounts.iter().any(|mount| {
        ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"]
            .iter()
            .any(|file| mount.point.as_os_str() == *file)
    });
    let root_in_layers = mounts.iter().any(|mount| mount.point.as_os_str() == "/" && mount.kind == "overlay");
    if roots.root.join(".dockerenv").exists() && (files_from_outside || root_in_layers) {
        return Some("docker".to_owned());
    }
    for (mark, name) in [
        ("/docker/", "docker"),
        ("docker-", "docker"),
        ("libpod-", "podman"),
        ("/lxc", "lxc"),
        ("machine-lxc", "lxc"),
    ] {
        if groups.contains(mark) {
            return Some(name.to_owned());
        }
    }
    None
}

/// Returns the facts about the machine.
pub(crate) fn machine(roots: &Roots, mounts: &[Mount]) -> Machine {
    let proc_text = |name: &str| roots::text(&roots.proc.join(name)).unwrap_or_default();
    let cpuinfo = proc_text("cpuinfo");
    let status = proc_text("self/status");
    let cpus = value(&status, "Cpus_allowed_list").and_then(parse_cpu_list);
    let release = roots::words(&roots.proc.join("sys/kernel/osrelease"));
    let kernel_name =
        roots::words(&roots.proc.join("sys/kernel/ostype")).unwrap_or_else(|| "Linux".to_owned());
    let os_release = roots::text(&roots.etc.join("os-release"))
        .or_else(|| roots::text(&roots.root.join("usr/lib/os-release")))
        .unwrap_or_default();
    Machine {
        model: model(roots),
        cpu_model: cpu_model(&cpuinfo),
        cpu_count: cpus.as_ref().and_then(|cpus| u32::try_from(cpus.len()).ok()),
        cpu_governor: governor(roots, cpus.as_deref().unwrap_or(&[0])),
        memory_bytes: meminfo_bytes(&proc_text("meminfo"), "MemTotal"),
        kernel: release.as_ref().map(|release| format!("{kernel_name} {release}")),
        os: os_name(&os_release),
        virtualisation: Virtualisation {
            machine: hypervisor(roots, &cpuinfo, release.as_deref().unwrap_or_default()),
            container: container(roots, mounts),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::mount;

    fn virtual_name(fake: &Fake) -> Option<String> {
        machine(&fake.roots, &[]).virtualisation.machine
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(parse_cpu_list("0-3,8").map(|cpus| cpus.len()), Some(5));
        assert_eq!(parse_cpu_list("0"), Some(vec![0]));
        for broken in ["", "3-1", "0-4294967295", "a", "0-"] {
            assert_eq!(parse_cpu_list(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_laptop_is_told_by_its_family_and_its_cpu() {
        let fake = Fake::new();
        fake.file("sys/class/dmi/id/sys_vendor", "LENOVO\n");
        fake.file("sys/class/dmi/id/product_name", "20XW0026US\n");
        fake.file("sys/class/dmi/id/product_version", "ThinkPad X1 Carbon Gen 9\n");
        fake.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: 11th Gen  Core\nflags\t\t: fpu vmx\n");
        fake.file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
        fake.file("proc/meminfo", "MemTotal:       16384 kB\n");
        fake.file("proc/sys/kernel/ostype", "Linux\n");
        fake.file("proc/sys/kernel/osrelease", "6.12.1\n");
        fake.file("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 13\"\n");
        fake.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        fake.file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
        let machine = machine(&fake.roots, &[]);
        assert_eq!(machine.model.as_deref(), Some("LENOVO ThinkPad X1 Carbon Gen 9"));
        assert_eq!(machine.cpu_model.as_deref(), Some("11th Gen Core"));
        assert_eq!(machine.cpu_count, Some(8));
        assert_eq!(machine.cpu_governor.as_deref(), Some("performance + powersave"));
        assert_eq!(machine.memory_bytes, Some(16 << 20));
        assert_eq!(machine.kernel.as_deref(), Some("Linux 6.12.1"));
        assert_eq!(machine.os.as_deref(), Some("Debian 13"));
        assert_eq!(machine.virtualisation, Virtualisation::default());
    }

    #[test]
    fn placeholders_of_firmware_are_no_model() {
        let fake = Fake::new();
        fake.file("sys/class/dmi/id/sys_vendor", "To Be Filled By O.E.M.\n");
        fake.file("sys/class/dmi/id/product_name", "System Product Name\n");
        fake.file("sys/class/dmi/id/board_vendor", "ASRock\n");
        fake.file("sys/class/dmi/id/board_name", "B550\n");
        assert_eq!(machine(&fake.roots, &[]).model.as_deref(), Some("ASRock B550"));
    }

    #[test]
    fn firmware_alone_does_not_make_a_machine_virtual() {
        let fake = Fake::new();
        fake.file("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        fake.file("proc/cpuinfo", "flags : fpu vmx\n");
        assert_eq!(virtual_name(&fake), None);
        fake.file("proc/cpuinfo", "flags : fpu hypervisor\n");
        assert_eq!(virtual_name(&fake).as_deref(), Some("amazon"));
    }

    #[test]
    fn the_paravirtual_clock_names_kvm() {
        let fake = Fake::new();
        fake.file("proc/cpuinfo", "flags : fpu hypervisor\n");
        assert_eq!(virtual_name(&fake).as_deref(), Some("unknown hypervisor"));
        fake.file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock\n");
        assert_eq!(virtual_name(&fake).as_deref(), Some("kvm"));
        fake.file("sys/class/dmi/id/sys_vendor", "innotek GmbH\n");
        assert_eq!(virtual_name(&fake).as_deref(), Some("virtualbox"));
    }

    #[test]
    fn an_image_that_became_a_root_is_no_container() {
        let fake = Fake::new();
        fake.file(".dockerenv", "");
        let disk = mount::parse(b"1 0 254:0 / / rw - ext4 /dev/vda rw\n");
        assert_eq!(container(&fake.roots, &disk), None);
        let layers = mount::parse(b"1 0 0:30 / / rw - overlay overlay rw\n");
        assert_eq!(container(&fake.roots, &layers).as_deref(), Some("docker"));
    }

    #[test]
    fn containers_are_told_by_their_managers() {
        let fake = Fake::new();
        fake.file("proc/1/cgroup", "0::/kubepods.slice/x\n");
        assert_eq!(container(&fake.roots, &[]).as_deref(), Some("kubernetes"));
        let fake = Fake::new();
        fake.file("run/.containerenv", "");
        assert_eq!(container(&fake.roots, &[]).as_deref(), Some("podman"));
        let fake = Fake::new();
        fake.file("run/systemd/container", "lxc\n");
        assert_eq!(container(&fake.roots, &[]).as_deref(), Some("lxc"));
    }
}
