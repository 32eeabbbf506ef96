//! A model seen from outside: the properties that Linux would report for such a device.

use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};

fn has(model: &ModelRecord, kinds: &[&str]) -> bool {
    model.layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()))
}

/// Returns the connection that a layer represents, as sysfs would report it. sysfs reports none for
/// SCSI and for old parallel ATA.
pub(crate) fn link_of(layer: &LayerRecord) -> Option<Link> {
    let generation = || layer.value("generation");
    Some(match layer.kind.as_str() {
        "sata" | "port-multiplier" => {
            let speed = match generation()? {
                "sata-1" => Some(1.5),
                "sata-2" => Some(3.0),
                "sata-3" => Some(6.0),
                _ => None,
            };
            Link::Sata { speed_gbit_per_s: speed, speed_max_gbit_per_s: None, ncq_depth: None }
        }
        "usb" => {
            let speed = match generation()? {
                "usb-1" => 12.0,
                "usb-2" => 480.0,
                "usb-3" => 5000.0,
                _ => 10_000.0,
            };
            let protocol = layer.value("protocol").map(str::to_owned);
            Link::Usb { speed_mbit_per_s: Some(speed), protocol, version: None }
        }
        "pcie" => {
            let speed = match generation()?.parse::<u32>().ok()? {
                1 => 2.5,
                2 => 5.0,
                3 => 8.0,
                4 => 16.0,
                5 => 32.0,
                _ => 64.0,
            };
            Link::Pcie {
                speed_gt_per_s: Some(speed),
                width: Some(layer.value("lanes")?.parse().ok()?),
                speed_max_gt_per_s: None,
                width_max: None,
            }
        }
        "scsi" => Link::Other { subsystem: "scsi".to_owned() },
        // A card that is not behind a bridge.
        "card" => {
            let megabytes_per_s: f64 = layer.value("interface")?.split(' ').next()?.parse().ok()?;
            Link::CardLines {
                timing: Some("sd high-speed".to_owned()),
                rate_bytes_per_s: Some(megabytes_per_s * 1e6),
            }
        }
        _ => return None,
    })
}

/// Returns the connection of a device, which is its first one. For a RAID controller in a slot, it
/// is that of the slot.
fn link(model: &ModelRecord) -> Option<Link> {
    let link = model.layers.iter().find_map(link_of)?;
    let is_card = matches!(link, Link::Pcie { .. }) && has(model, &["raid"]);
    Some(if is_card {
        Link::RaidCard { driver: "megaraid_sas".to_owned(), slot: Box::new(link) }
    } else {
        link
    })
}

/// Returns the environment that Linux would report for the device. Linux reports a disk as
/// rotational unless it is told otherwise: ATA drives, NVMe drives and cards in a slot report it;
/// SCSI disks, RAID volumes and USB bridges do not.
pub fn seen_by_linux(model: &ModelRecord) -> Environment {
    let link = link(model);
    let tells = !matches!(link, Some(Link::Usb { .. } | Link::RaidCard { .. } | Link::Other { .. }));
    let rotational = !tells || has(model, &["disk", "removable", "magneto-optical"]);
    // Arrays by Linux or ZFS show each drive with its own connection.
    let drives = if has(model, &["mirror", "raidz", "md"]) {
        let drives = model.layers.iter().filter(|layer| matches!(layer.kind.as_str(), "disk" | "ssd"));
        drives.map(|layer| layer.instances.max(1)).max().unwrap_or(1)
    } else {
        1
    };
    let model = has(model, &["limiter"]).then(|| "Amazon Elastic Block Store".to_owned());
    let name = match &link {
        Some(Link::Pcie { .. }) => "nvme0n1",
        Some(Link::CardLines { .. }) => "mmcblk0",
        Some(_) => "sda",
        None => "",
    };
    let (name, rotational) = (name.to_owned(), Some(rotational));
    let device = BlockDevice { name, model, rotational, link, ..BlockDevice::default() };
    Environment { devices: vec![device; drives as usize], ..Environment::default() }
}
