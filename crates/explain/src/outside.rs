//! What somebody outside would have of a model: what Linux tells of such a device.

use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};

fn has(model: &ModelRecord, kinds: &[&str]) -> bool {
    model.layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()))
}

fn word<'l>(layer: &'l LayerRecord, key: &str) -> Option<&'l str> {
    layer.parameters.iter().find(|parameter| parameter.key == key).map(|parameter| parameter.value.as_str())
}

fn number(layer: &LayerRecord, key: &str) -> Option<f64> {
    word(layer, key)?.split(' ').next()?.parse().ok()
}

/// The connection as sysfs tells it; of SCSI it is silent, of the old parallel ATA, too.
fn link(model: &ModelRecord) -> Option<Link> {
    model.layers.iter().find_map(|layer| match layer.kind.as_str() {
        "sata" => {
            let speed = match word(layer, "generation")? {
                "sata-1" => Some(1.5),
                "sata-2" => Some(3.0),
                "sata-3" => Some(6.0),
                _ => None,
            };
            Some(Link::Sata { speed_gbit_per_s: speed, speed_max_gbit_per_s: None, ncq_depth: None })
        }
        "usb" => {
            let speed = match word(layer, "generation")? {
                "usb-1" => 12.0,
                "usb-2" => 480.0,
                "usb-3" => 5000.0,
                _ => 10_000.0,
            };
            let protocol = word(layer, "protocol").map(str::to_owned);
            Some(Link::Usb { speed_mbit_per_s: Some(speed), protocol, version: None })
        }
        "pcie" => {
            let speed = match number(layer, "generation")? as u32 {
                1 => 2.5,
                2 => 5.0,
                3 => 8.0,
                4 => 16.0,
                _ => 32.0,
            };
            let slot = Link::Pcie {
                speed_gt_per_s: Some(speed),
                width: Some(number(layer, "lanes")? as u32),
                speed_max_gt_per_s: None,
                width_max: None,
            };
            let driver = "megaraid_sas".to_owned();
            Some(if has(model, &["raid"]) { Link::RaidCard { driver, slot: Box::new(slot) } } else { slot })
        }
        "scsi" => Some(Link::Other { subsystem: "scsi".to_owned() }),
        // A card behind no bridge.
        "card" => Some(Link::CardLines {
            timing: Some("sd high-speed".to_owned()),
            rate_bytes_per_s: Some(number(layer, "interface")? * 1e6),
        }),
        _ => None,
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
