//! The link of a device, from its position in sysfs's device tree.
//!
//! A device's directory in sysfs lies below that of its controller, which lies below the bus. The
//! first ancestor that is a virtio device, a USB interface, an ATA port or (for NVMe) a PCI device
//! determines the link. Attributes: kernel Documentation/ABI/testing/sysfs-bus-pci
//! (`current_link_speed`), sysfs-ata (`sata_spd`), sysfs-bus-usb (`speed`, `version`).

use crate::block::BlockNode;
use crate::roots::{self, Roots};
use kurabe_core::{environment::Link, shown};
use std::path::{Path, PathBuf};

/// Drivers of RAID cards whose disks are volumes, so that the kernel sees only the link of the card
/// (Linux, drivers/scsi).
const RAID_DRIVERS: [&str; 9] = [
    "3w-9xxx",
    "3w-sas",
    "aacraid",
    "arcmsr",
    "hpsa",
    "hptiop",
    "megaraid_legacy",
    "megaraid_sas",
    "smartpqi",
];

/// Parses the number at the start of `16.0 GT/s PCIe` or `6.0 Gbps`.
pub(crate) fn leading_number(text: &str) -> Option<f64> {
    let number = text.split_whitespace().next()?;
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

fn rate(file: &Path) -> Option<f64> {
    leading_number(&roots::text(file)?)
}

fn width(file: &Path) -> Option<u32> {
    // Some kernels report 255 or 0 for an unknown width.
    roots::number::<u32>(file).filter(|width| (1..=32).contains(width))
}

/// Returns the link of a disk.
pub(crate) fn link(roots: &Roots, disk: &BlockNode) -> Option<Link> {
    let dir = &disk.directory;
    if disk.name.starts_with("loop") && dir.join("loop").is_dir() {
        return Some(Link::Loop {
            backing: disk.loop_backing().map(shown::name),
            direct: roots::flag(&dir.join("loop/dio")),
        });
    }
    if disk.name.starts_with("zram") || disk.name.starts_with("ram") {
        return Some(Link::Memory);
    }
    if disk.name.starts_with("nvme") {
        return nvme(dir);
    }
    let sys = roots_sys(roots);
    let ancestors: Vec<&Path> = dir.ancestors().take_while(|path| path.starts_with(&sys)).collect();
    ancestors.iter().find_map(|ancestor| physical(roots, ancestor)).or_else(|| subsystem(&dir.join("device")))
}

fn roots_sys(roots: &Roots) -> PathBuf {
    std::fs::canonicalize(&roots.sys).unwrap_or_else(|_| roots.sys.clone())
}

/// Returns the link that one ancestor determines, if it is of such a kind.
fn physical(roots: &Roots, ancestor: &Path) -> Option<Link> {
    match roots::link_name(&ancestor.join("subsystem")).as_deref() {
        Some("virtio") => return Some(Link::Virtio),
        Some("usb") => return usb(ancestor),
        Some("mmc") => return Some(card_lines(roots, ancestor)),
        Some(other @ ("xen" | "vmbus" | "nd")) => {
            return Some(Link::Other { subsystem: other.to_owned() });
        }
        _ => {}
    }
    let name = roots::base(ancestor);
    if is_numbered(&name, "ata") {
        return sata(ancestor);
    }
    if is_numbered(&name, "session") && ancestor.join("iscsi_session").is_dir() {
        return Some(Link::Other { subsystem: "iscsi".to_owned() });
    }
    if is_numbered(&name, "host") {
        // A SCSI host whose transport none of the above determined, unless its parent is an ATA
        // port or a USB interface.
        let parent = ancestor.parent()?;
        let parent_is_known = is_numbered(&roots::base(parent), "ata")
            || is_numbered(&roots::base(parent), "session")
            || matches!(
                roots::link_name(&parent.join("subsystem")).as_deref(),
                Some("virtio" | "usb" | "vmbus" | "xen")
            );
        if !parent_is_known {
            let driver = roots::words(&ancestor.join("scsi_host").join(&name).join("proc_name"))
                .filter(|driver| driver != "<NULL>" && driver != "(null)");
            return Some(match driver {
                Some(driver) if RAID_DRIVERS.contains(&driver.as_str()) => {
                    Link::RaidCard { driver, slot: Box::new(pcie(parent)?) }
                }
                driver => {
                    let subsystem = driver.map_or("scsi".to_owned(), |driver| format!("scsi {driver}"));
                    Link::Other { subsystem }
                }
            });
        }
    }
    None
}

/// Returns whether a name consists of a word and a number, such as `ata1`.
fn is_numbered(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the link of an ATA port. Its attributes are in `linkN/ata_link/linkN`. A parallel port
/// has no line rate.
fn sata(port: &Path) -> Option<Link> {
    let links: Vec<PathBuf> = roots::names(port)
        .into_iter()
        .filter(|name| name.starts_with("link"))
        .map(|name| port.join(&name).join("ata_link").join(&name))
        .collect();
    let speed = links.iter().find_map(|link| rate(&link.join("sata_spd")));
    let speed_max = links.iter().find_map(|link| rate(&link.join("hw_sata_spd_limit")));
    if speed.is_none() && speed_max.is_none() {
        return Some(Link::Other { subsystem: "ata".to_owned() });
    }
    Some(Link::Sata { speed_gbit_per_s: speed, speed_max_gbit_per_s: speed_max, ncq_depth: None })
}

/// Returns the link of a USB interface or device. The driver belongs to the interface, the speed to
/// the device above it.
fn usb(ancestor: &Path) -> Option<Link> {
    let mut protocol = None;
    for directory in ancestor.ancestors() {
        if roots::link_name(&directory.join("subsystem")).as_deref() != Some("usb") {
            break;
        }
        if protocol.is_none() {
            protocol = match roots::link_name(&directory.join("driver")).as_deref() {
                Some("usb-storage") => Some("bot".to_owned()),
                Some("uas") => Some("uas".to_owned()),
                _ => None,
            };
        }
        if directory.join("speed").exists() {
            return Some(Link::Usb {
                speed_mbit_per_s: rate(&directory.join("speed")),
                protocol,
                version: roots::words(&directory.join("version")),
            });
        }
    }
    Some(Link::Usb { speed_mbit_per_s: None, protocol, version: None })
}

/// Returns the controllers of an NVMe namespace. With native multipath, the namespace is a virtual
/// device of a subsystem, whose directory links to its controllers.
pub(crate) fn nvme_controllers(namespace: &Path) -> Vec<PathBuf> {
    let Ok(device) = std::fs::canonicalize(namespace.join("device")) else { return Vec::new() };
    if is_numbered(&roots::base(&device), "nvme") {
        return vec![device];
    }
    roots::names(&device)
        .into_iter()
        .filter(|name| is_numbered(name, "nvme"))
        .filter_map(|name| std::fs::canonicalize(device.join(name)).ok())
        .collect()
}

fn nvme(namespace: &Path) -> Option<Link> {
    let controllers = nvme_controllers(namespace);
    let controller = controllers.first()?;
    match roots::words(&controller.join("transport")).as_deref() {
        None | Some("pcie") => pcie(controller),
        Some(other) => Some(Link::Other { subsystem: format!("nvme-{other}") }),
    }
}

/// Returns the link of the nearest PCI device that reports one.
fn pcie(directory: &Path) -> Option<Link> {
    let device = directory.ancestors().find(|path| path.join("current_link_speed").exists());
    let Some(device) = device else {
        // A PCI device without link attributes: emulated by a hypervisor, or an integrated
        // controller.
        return Some(Link::Pcie {
            speed_gt_per_s: None,
            width: None,
            speed_max_gt_per_s: None,
            width_max: None,
        });
    };
    Some(Link::Pcie {
        speed_gt_per_s: rate(&device.join("current_link_speed")),
        width: width(&device.join("current_link_width")),
        speed_max_gt_per_s: rate(&device.join("max_link_speed")),
        width_max: width(&device.join("max_link_width")),
    })
}

/// Returns the bus of a memory card, which the kernel reports only to root (Linux,
/// drivers/mmc/core/debugfs.c: `ios`). Double data rates transfer two words per clock.
fn card_lines(roots: &Roots, card: &Path) -> Link {
    let host = card.parent().map(roots::base).unwrap_or_default();
    let lines = roots::text(&roots.sys.join("kernel/debug").join(host).join("ios")).unwrap_or_default();
    let word = |key: &str| lines.lines().find_map(|line| Some(line.strip_prefix(key)?.trim()));
    let in_brackets = |key| word(key)?.split(['(', ')']).nth(1);
    let clock = word("actual clock:").or_else(|| word("clock:")).and_then(leading_number);
    let bits = in_brackets("bus width:").and_then(leading_number);
    let timing = in_brackets("timing spec:").map(str::to_owned);
    let is_double =
        timing.as_deref().is_some_and(|timing| ["DDR", "HS400"].iter().any(|word| timing.contains(word)));
    let words = if is_double { 2.0 } else { 1.0 };
    Link::CardLines {
        timing,
        rate_bytes_per_s: clock.zip(bits).map(|(clock, bits)| clock * bits / 8.0 * words),
    }
}

/// Fallback: returns the kernel's name of the device's subsystem.
fn subsystem(device: &Path) -> Option<Link> {
    Some(Link::Other { subsystem: roots::link_name(&device.join("subsystem"))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_the_kernels_words() {
        assert_eq!(leading_number("16.0 GT/s PCIe"), Some(16.0));
        assert_eq!(leading_number("2.5 GT/s"), Some(2.5));
        assert_eq!(leading_number("6.0 Gbps"), Some(6.0));
        for unknown in ["Unknown", "<unknown>", "", "nan GT/s", "-1", "inf"] {
            assert_eq!(leading_number(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_name_with_a_number_is_nothing_else() {
        assert!(is_numbered("ata12", "ata"));
        assert!(!is_numbered("ata", "ata"));
        assert!(!is_numbered("ata_port", "ata"));
        assert!(!is_numbered("nvme0n1", "nvme"));
    }
}
