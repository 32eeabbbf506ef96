//! What somebody outside would have of a model: what Linux tells of such a device.

use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};

fn has(model: &ModelRecord, kinds: &[&str]) -> bool {
    model.layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()))
}

/// The connection that a layer is, as sysfs tells it; of SCSI it is silent, of the old parallel ATA, too.
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
        // A card behind no bridge.
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

/// The connection of a device, which is its first; where a RAID controller is in the slot, it is the slot's.
fn link(model: &ModelRecord) -> Option<Link> {
    let link = model.layers.iter().find_map(link_of)?;
    let is_card = matches!(link, Link::Pcie { .. }) && has(model, &["raid"]);
    Some(if is_card {
        Link::RaidCard { driver: "megaraid_sas".to_owned(), slot: Box::new(link) }
    } else {
        link
    })
}

/// What Linux would tell of the device. It says that a disk turns unless it is told otherwise: ATA and NVMe drives and cards in a slot
/// tell, SCSI disks, RAID volumes and USB bridges do not.
pub fn seen_by_linux(model: &ModelRecord) -> Environment {
    let link = link(model);
    let tells = !matches!(link, Some(Link::Usb { .. } | Link::RaidCard { .. } | Link::Other { .. }));
    let rotational = !tells || has(model, &["disk", "removable", "magneto-optical"]);
    // What Linux or ZFS makes of drives shows each of them, with a connection of its own.
    let drives = if has(model, &["mirror", "raidz", "md"]) {
        let drives = model.layers.iter().filter(|layer| matches!(layer.kind.as_str(), "disk" | "ssd"));
        drives.map(|layer| layer.instances.max(1)).max().unwrap_or(1)
    } else {
        1
    };
    let model = has(model, &["limiter"]).then(|| "Amazon Elastic Block Store".to_owned());
    let device = BlockDevice { model, rotational: Some(rotational), link, ..BlockDevice::default() };
    Environment { devices: vec![device; drives as usize], ..Environment::default() }
}
