//! Facts about the storage below a sweep: its kind, and the capacity of its link.
//!
//! For a real run, the environment provides them (rotation, link, device names). For a modelled
//! run, they come from the kinds of its layers and the generation of its link, which the
//! environment of such a device would report.

use super::curves::MeasuredCurve;
use crate::ceiling::{AtCeiling, Ceiling, ceiling, parallel};
use crate::outside::link_of;
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::model::LayerRecord;
use kurabe_core::record::{RunRecord, TargetKind};
use kurabe_core::workload::Direction;

/// Words in the names of RAID controllers' volumes.
const RAID_WORDS: [&str; 8] =
    ["megaraid", "perc", "smart array", "logical volume", "avago", "lsi mr", "adaptec", "areca"];

/// File systems that find an offset in a file by following its clusters, as named in mount tables.
const CHAINED: [&str; 3] = ["vfat", "msdos", "exfat"];

/// Facts about the storage.
pub(super) struct Storage {
    /// Whether the medium is rotational; `None` if unknown.
    pub(super) turns: Option<bool>,
    /// Whether a RAID controller is in front of the drives.
    pub(super) raid: bool,
    /// Whether I/O went through the computer's memory.
    pub(super) buffered: bool,
    /// Whether files are chains of clusters, which have to be followed to find an offset.
    pub(super) chained: bool,
    /// Whether a hypervisor is in front of the device.
    pub(super) is_virtual: bool,
    /// The computer's memory in bytes.
    pub(super) memory_bytes: Option<f64>,
    link: Option<Ceiling>,
    /// Highest rates in bytes per second: reads, writes.
    most: [Option<f64>; 2],
}

impl Storage {
    pub(super) fn of(record: &RunRecord) -> Self {
        let header = &record.header;
        let environment = &header.environment;
        let target = header.target.as_ref();
        let layers: &[LayerRecord] = header.model.as_ref().map_or(&[], |model| &model.layers);
        let has = |kinds: &[&str]| layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()));
        let device = environment.devices.first();
        let raid_name =
            environment.devices.iter().filter_map(|device| device.model.as_deref()).any(|model| {
                let model = model.to_lowercase();
                RAID_WORDS.iter().any(|word| model.contains(word))
            });
        let turns = match layers {
            [] => device.and_then(BlockDevice::turns),
            _ => Some(has(&["disk", "magneto-optical", "removable"])),
        };
        let is_model = target.is_some_and(|target| target.kind == TargetKind::Model);
        Self {
            turns,
            raid: raid_name || has(&["raid"]),
            buffered: !is_model && target.is_some_and(|target| !target.direct),
            chained: has(&["fat-image"])
                || environment
                    .file_system
                    .as_ref()
                    .and_then(|one| one.kind.as_deref())
                    .is_some_and(|kind| CHAINED.contains(&kind)),
            is_virtual: device.is_some_and(|device| device.link == Some(Link::Virtio)),
            memory_bytes: environment.machine.memory_bytes.map(|bytes| bytes as f64),
            link: match (layers, environment.devices.as_slice()) {
                // With several devices, no single link limits all of them.
                ([], [one]) => one.link.as_ref().and_then(ceiling),
                ([], _) => None,
                _ => {
                    let links = layers.iter().filter_map(|layer| Some((layer, modelled_link(layer)?)));
                    let mut first = links.take(1).filter(|(layer, _)| layer.instances <= 1);
                    first.next().map(|(_, link)| link)
                }
            },
            most: [None; 2],
        }
    }

    /// Adds the highest rates of all curves, which show whether a link is the limit.
    pub(super) fn with_rates(self, curves: &[MeasuredCurve]) -> Self {
        let most = |direction: Direction| {
            let rates =
                curves.iter().filter(|curve| curve.direction == direction).flat_map(MeasuredCurve::rates);
            rates.reduce(f64::max)
        };
        Self { most: [most(Direction::Read), most(Direction::Write)], ..self }
    }

    /// Returns the link if it limits a rate in this direction, by the same rule as the limit of a
    /// cell. The highest rate of the sweep in the other direction is used for comparison: if it
    /// differs, the link does not limit both.
    pub(super) fn ceiling(&self, direction: Direction, bytes_per_s: f64) -> Option<(&Ceiling, AtCeiling)> {
        let link = self.link.as_ref()?;
        let other = match direction {
            Direction::Read => self.most[1],
            Direction::Write => self.most[0],
            Direction::Mix => None,
        };
        Some((link, link.ends(bytes_per_s, other)?))
    }
}

fn modelled_link(layer: &LayerRecord) -> Option<Ceiling> {
    if let Some(rate) = layer.value("generation")?.strip_prefix("ata-") {
        return Some(parallel(rate.parse().ok()?));
    }
    let mut link = link_of(layer)?;
    // A sweep names only the link.
    if let Link::Usb { protocol, .. } = &mut link {
        *protocol = None;
    }
    ceiling(&link)
}
