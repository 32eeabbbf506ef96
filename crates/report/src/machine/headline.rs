//! Test environment of a run in one line: file system, device and link.

use super::environment::pcie;
use crate::words;
use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::{Text, number, quantity::format_bytes_decimal, record::RunHeader, text};

/// Returns the test environment of a run, or its model. Empty for an imported run without a
/// recorded environment.
pub fn headline(header: &RunHeader) -> Text {
    if let Some(model) = &header.model {
        return model.title.clone();
    }
    let environment = &header.environment;
    if header.origin.is_some() && environment.devices.is_empty() && environment.file_system.is_none() {
        return Text::same("");
    }
    surroundings(environment)
}

/// Returns the environment in one line, such as
/// `ext4 on /dev/nvme0n1p2 · Samsung SSD 980 PRO 1TB, firmware 5B2QGXA7 · PCIe 4.0 x4`.
pub fn surroundings(environment: &Environment) -> Text {
    let is_nowhere = environment.file_system.is_none() && environment.devices.is_empty();
    let nowhere = is_nowhere.then(|| text!("no storage device", "ストレージなし"));
    let storage = nowhere.into_iter().chain(place(environment)).chain(devices(&environment.devices));
    Text::join(storage.chain(words::virtualisation(&environment.machine)), [" · "; 2])
}

/// A drive as a person recognizes it: its name, how it is connected, and its size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveWords {
    /// Name of the model, or of the kernel's device. `None` if there is no device.
    pub name: Option<Text>,
    /// Bus and size.
    pub facts: Vec<Text>,
}

/// Returns the drive below a place.
pub fn drive_words(environment: &Environment) -> DriveWords {
    let devices = environment.devices.as_slice();
    let Some(first) = devices.first() else { return DriveWords::default() };
    let models: Vec<&str> = devices.iter().filter_map(|device| device.model.as_deref()).collect();
    let name = match models.as_slice() {
        [] => Text::same(format!("/dev/{}", first.name.replace('!', "/"))),
        [model, rest @ ..] if !rest.is_empty() && rest.iter().all(|other| other == model) => {
            let count = devices.len();
            text!("{count} × {model}", "{model} × {count} 台")
        }
        all => Text::same(all.join(" + ")),
    };
    let link = first.link.as_ref().filter(|_| devices.iter().all(|device| device.link == first.link));
    let bytes = devices.iter().filter_map(|device| device.size_bytes).reduce(u64::saturating_add);
    let size = bytes.map(|bytes| Text::same(format_bytes_decimal(bytes).replace(".0 ", " ")));
    DriveWords { name: Some(name), facts: link.map(self::link).into_iter().chain(size).collect() }
}

/// Returns the file system and its source, or the bare device.
fn place(environment: &Environment) -> Option<Text> {
    let first = environment.devices.first();
    let Some(file_system) = &environment.file_system else {
        let device = first?;
        let name = device.partition.as_deref().unwrap_or(&device.name);
        // A bare dm or md device is named after the topmost layer.
        let top = environment.layers.first().and_then(|layer| layer.split(' ').next());
        let words = match top {
            Some(top) if environment.layers[0].starts_with("dm-") || top.starts_with("md") => top,
            _ => name,
        };
        return Some(Text::same(format!("/dev/{}", words.replace('!', "/"))));
    };
    let kind = file_system.kind.as_deref().unwrap_or("?");
    let source = file_system.source.as_deref().filter(|source| *source != kind && *source != "none");
    // `/dev/root` and the names of in-memory file systems say less than the partition or the mount
    // point.
    let partition = first.and_then(|device| device.partition.as_deref());
    Some(match (source, partition, file_system.mount_point.as_deref()) {
        (Some("/dev/root"), Some(partition), _) => {
            text!("{kind} on /dev/{partition}", "/dev/{partition} 上の {kind}")
        }
        (Some(source), ..) if source.starts_with('/') || source.contains(['/', ':']) => {
            text!("{kind} on {source}", "{source} 上の {kind}")
        }
        (_, _, Some(point)) => text!("{kind} on {point}", "{point} の {kind}"),
        _ => Text::same(kind),
    })
}

/// Describes the devices: a single one by name and link, identical ones with their number,
/// different ones side by side.
fn devices(devices: &[BlockDevice]) -> Vec<Text> {
    let Some(first) = devices.first() else { return Vec::new() };
    let alike = devices.iter().all(|device| device.model == first.model && device.firmware == first.firmware);
    let mut parts = Vec::new();
    if devices.len() == 1 || alike {
        let count = devices.len();
        parts.extend(match (identity(first), count) {
            (who, 1) => who,
            (Some(who), _) => Some(text!("{count} × {who}", "{who} × {count} 台"; who)),
            (None, _) => Some(text!("{count} devices", "デバイス {count} 台")),
        });
    } else {
        let names: Vec<&str> =
            devices.iter().map(|device| device.model.as_deref().unwrap_or(&device.name)).collect();
        parts.push(Text::same(names.join(" + ")));
    }
    if devices.iter().all(|device| device.link == first.link) {
        parts.extend(first.link.as_ref().map(link));
    }
    parts
}

fn identity(device: &BlockDevice) -> Option<Text> {
    let model = device.model.as_deref()?;
    if let Some(name) = device.served_model() {
        return Some(text!("a model, {name}, served by kurabe", "kurabe が公開中のモデル {name}"));
    }
    Some(match device.firmware.as_deref() {
        Some(firmware) => text!("{model}, firmware {firmware}", "{model}、ファームウェア {firmware}"),
        None => Text::same(model),
    })
}

/// Describes a link: `PCIe 4.0 x4`, `SATA 6.0 Gbit/s NCQ 32`, `USB 5000 Mbit/s UAS`. If the link is
/// slower than the device supports, both are given.
fn link(link: &Link) -> Text {
    match link {
        Link::Pcie { speed_gt_per_s, width, speed_max_gt_per_s, width_max } => {
            // The speed alone doesn't distinguish PCIe 1.0 from 1.1.
            let words = |speed: Option<f64>, width| {
                pcie(Some(speed?), width).map(|words| words.replacen("1.0", "1.x", 1))
            };
            let now = words(*speed_gt_per_s, *width);
            let most = words(*speed_max_gt_per_s, *width_max);
            match (now, most) {
                (Some(now), Some(most)) if now != most => {
                    text!("PCIe {now} (device can {most})", "PCIe {now}(デバイスの上限は {most})")
                }
                (Some(now), _) => text!("PCIe {now}", "PCIe {now}"),
                (None, _) => text!("PCIe", "PCIe"),
            }
        }
        Link::Sata { speed_gbit_per_s, speed_max_gbit_per_s, ncq_depth } => {
            let speed = speed_gbit_per_s.or(*speed_max_gbit_per_s).map(|speed| format!(" {speed:.1} Gbit/s"));
            let depth = ncq_depth.map(|depth| format!(" NCQ {depth}"));
            let words = ["SATA".to_owned()].into_iter().chain(speed).chain(depth).collect::<String>();
            match (speed_gbit_per_s, speed_max_gbit_per_s) {
                (Some(now), Some(most)) if now + 0.01 < *most => {
                    text!("{words} (limit {most:.1} Gbit/s)", "{words}(上限は {most:.1} Gbit/s)")
                }
                _ => Text::same(words),
            }
        }
        Link::Usb { speed_mbit_per_s, protocol, .. } => {
            let speed = speed_mbit_per_s.map(|speed| format!(" {speed} Mbit/s"));
            let protocol = protocol.as_ref().map(|protocol| format!(" {}", protocol.to_uppercase()));
            Text::same(["USB".to_owned()].into_iter().chain(speed).chain(protocol).collect::<String>())
        }
        Link::CardLines { timing, rate_bytes_per_s } => {
            let rate = rate_bytes_per_s.map(|rate| number::rate(rate).to_string());
            let lines: String =
                timing.clone().into_iter().chain(rate).map(|word| format!(" {word}")).collect();
            text!("memory card{lines}", "メモリーカード{lines}")
        }
        Link::RaidCard { driver, slot } => {
            let slot = self::link(slot);
            text!("RAID card ({driver}) on {slot}", "RAID カード({driver}、{slot})"; slot)
        }
        Link::Virtio => text!("virtio", "virtio"),
        Link::Loop { backing, direct } => {
            let backing = backing.as_deref().unwrap_or("?");
            let how = match direct {
                Some(true) => text!(", direct", "(ダイレクト)"),
                Some(false) => text!(", buffered", "(バッファー経由)"),
                None => Text::default(),
            };
            text!("loop device on {backing}{how}", "{backing} のループデバイス{how}"; how)
        }
        Link::Memory => text!("memory", "メモリー"),
        Link::Other { subsystem } => Text::same(subsystem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::environment::FileSystem;

    fn on(kind: &str, source: &str, point: &str, devices: Vec<BlockDevice>) -> Environment {
        Environment {
            file_system: Some(FileSystem {
                kind: Some(kind.to_owned()),
                source: Some(source.to_owned()),
                mount_point: Some(point.to_owned()),
                ..FileSystem::default()
            }),
            devices,
            ..Environment::default()
        }
    }

    fn device(model: Option<&str>, link: Link) -> BlockDevice {
        BlockDevice {
            name: "nvme0n1".to_owned(),
            model: model.map(str::to_owned),
            firmware: model.map(|_| "5B2QGXA7".to_owned()),
            link: Some(link),
            ..BlockDevice::default()
        }
    }

    fn pcie_link(speed: f64, width: u32) -> Link {
        Link::Pcie {
            speed_gt_per_s: Some(speed),
            width: Some(width),
            speed_max_gt_per_s: Some(16.0),
            width_max: Some(4),
        }
    }

    #[test]
    fn a_real_disk_has_place_model_and_link() {
        let line = surroundings(&on(
            "ext4",
            "/dev/nvme0n1p2",
            "/",
            vec![device(Some("Samsung SSD 980 PRO 1TB"), pcie_link(16.0, 4))],
        ));
        assert_eq!(
            line.en,
            "ext4 on /dev/nvme0n1p2 · Samsung SSD 980 PRO 1TB, firmware 5B2QGXA7 · PCIe 4.0 x4"
        );
        assert_eq!(
            line.ja,
            "/dev/nvme0n1p2 上の ext4 · Samsung SSD 980 PRO 1TB、ファームウェア 5B2QGXA7 · PCIe 4.0 x4"
        );
    }

    #[test]
    fn a_link_below_the_devices_best_says_both() {
        assert_eq!(link(&pcie_link(8.0, 2)).en, "PCIe 3.0 x2 (device can 4.0 x4)");
        assert_eq!(link(&pcie_link(7.0, 2)).en, "PCIe 7 GT/s x2 (device can 4.0 x4)");
        let sata = |speed, ncq_depth| {
            link(&Link::Sata { speed_gbit_per_s: Some(speed), speed_max_gbit_per_s: Some(6.0), ncq_depth }).en
        };
        assert_eq!(sata(6.0, Some(32)), "SATA 6.0 Gbit/s NCQ 32");
        assert_eq!(sata(3.0, None), "SATA 3.0 Gbit/s (limit 6.0 Gbit/s)");
    }

    #[test]
    fn a_card_is_one_also_where_the_kernel_tells_nothing_of_its_lines() {
        let card = |timing: Option<&str>, rate_bytes_per_s| {
            link(&Link::CardLines { timing: timing.map(str::to_owned), rate_bytes_per_s }).en
        };
        assert_eq!(card(None, None), "memory card");
        assert_eq!(card(Some("sd high-speed"), Some(25e6)), "memory card sd high-speed 25.0 MB/s");
    }

    #[test]
    fn usb_says_its_protocol() {
        let usb = |protocol: Option<&str>| {
            link(&Link::Usb {
                speed_mbit_per_s: Some(5000.0),
                protocol: protocol.map(str::to_owned),
                version: None,
            })
            .en
        };
        assert_eq!(usb(Some("uas")), "USB 5000 Mbit/s UAS");
        assert_eq!(usb(None), "USB 5000 Mbit/s");
    }

    #[test]
    fn a_virtual_machine_says_so() {
        let mut environment = on("ext4", "/dev/vda", "/", vec![device(None, Link::Virtio)]);
        environment.machine.virtualisation.machine = Some("kvm".to_owned());
        let line = surroundings(&environment);
        assert_eq!(line.en, "ext4 on /dev/vda · virtio · virtual machine (kvm)");
        assert_eq!(line.ja, "/dev/vda 上の ext4 · virtio · 仮想マシン(kvm)");
    }

    #[test]
    fn equal_devices_are_counted() {
        let devices =
            vec![device(Some("Disk"), pcie_link(16.0, 4)), device(Some("Disk"), pcie_link(16.0, 4))];
        let line = surroundings(&on("xfs", "/dev/md0", "/srv", devices));
        assert_eq!(line.en, "xfs on /dev/md0 · 2 × Disk, firmware 5B2QGXA7 · PCIe 4.0 x4");
        assert_eq!(line.ja, "/dev/md0 上の xfs · Disk、ファームウェア 5B2QGXA7 × 2 台 · PCIe 4.0 x4");
    }

    #[test]
    fn a_drive_is_recognized_by_name_bus_and_size() {
        let mut disk = device(Some("Samsung SSD 980 PRO 1TB"), pcie_link(16.0, 4));
        disk.size_bytes = Some(1_000_000_000_000);
        let words = |devices| {
            let DriveWords { name, facts } = drive_words(&on("ext4", "/dev/nvme0n1p2", "/", devices));
            let facts: Vec<String> = facts.into_iter().map(|fact| fact.en).collect();
            (name.unwrap_or_default().en, facts.join(" · "))
        };
        let one = words(vec![disk.clone()]);
        assert_eq!(one, ("Samsung SSD 980 PRO 1TB".to_owned(), "PCIe 4.0 x4 · 1 TB".to_owned()));
        assert_eq!(words(vec![disk.clone(), disk]).0, "2 × Samsung SSD 980 PRO 1TB");
        assert_eq!(words(vec![device(None, Link::Virtio)]).0, "/dev/nvme0n1");
        assert_eq!(drive_words(&Environment::default()), DriveWords::default());
    }

    #[test]
    fn memory_networks_and_nothing_have_words_too() {
        let memory = BlockDevice { link: Some(Link::Memory), ..BlockDevice::default() };
        assert_eq!(surroundings(&on("tmpfs", "tmpfs", "/tmp", vec![memory])).en, "tmpfs on /tmp · memory");
        assert_eq!(
            surroundings(&on("nfs4", "server:/export", "/net", Vec::new())).en,
            "nfs4 on server:/export"
        );
        let mut disk = device(Some("Disk"), pcie_link(16.0, 4));
        disk.partition = Some("nvme0n1p2".to_owned());
        let bare = Environment { devices: vec![disk], ..Environment::default() };
        assert_eq!(surroundings(&bare).en, "/dev/nvme0n1p2 · Disk, firmware 5B2QGXA7 · PCIe 4.0 x4");
        assert_eq!(surroundings(&Environment::default()).en, "no storage device");
        assert_eq!(surroundings(&Environment::default()).ja, "ストレージなし");
    }
}
