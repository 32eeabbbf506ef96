//! What kind of device a run is like: all of its cells together, beside the bands of kinds of devices.
//!
//! The model: the band of a kind of device is what the catalogue's rows of that kind span for the same work, and nothing
//! else: where no row has a figure with a source, there is no band. Ends are widened by what the same device differs by
//! from host to host. A sheet that tells no depth means the best one, so beside a cell that is not the run's deepest it says only how fast
//! the kind may be.
//! Where the system says what the device is, it is held against its own kind and no other; where nobody says, a kind is
//! named only if all cells together lie in its bands or near them.

use crate::catalogue::work::{WorkDepth, WorkKind, rate_of};
use crate::catalogue::{Catalogue, DeviceClass, RateWork};
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{model::ModelRecord, workload::Direction};
use serde::Serialize;
use std::collections::HashMap;

/// A rate within this factor of an end of a band is in it: hosts, sizes and fill levels make as much of one device.
const SLACK: f64 = 1.15;
/// A kind that nobody names is told from figures within this factor of its bands, on average over the cells: the bands of
/// neighbours among the kinds lie further apart.
const NEAR: f64 = 1.25;
/// One cell alone tells no kind: every rate is in some band.
const FEWEST_CELLS: usize = 2;

/// The span of a kind of device for the work of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Band {
    /// Lowest published rate in bytes per second.
    pub low_bytes_per_s: f64,
    /// Highest.
    pub high_bytes_per_s: f64,
    /// The entries behind it.
    pub entries: Vec<String>,
}

/// The kind of device that a run is held against.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Likeness {
    /// The kind.
    pub class: DeviceClass,
    /// Whether the system or the model says so; otherwise the figures do.
    pub is_known: bool,
    /// The cells that the kind has a band for.
    pub cells: Vec<CellLikeness>,
}

/// A cell beside the band of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLikeness {
    /// Place of the cell in the run, from 0.
    pub cell_index: usize,
    /// Whether its offsets ascend.
    pub sequential: bool,
    /// Its direction.
    pub direction: Direction,
    /// Its rate in bytes per second.
    pub bytes_per_s: f64,
    /// The band.
    pub band: Band,
}

impl CellLikeness {
    /// How far the rate is from the band, as a natural logarithm: 0 within it, negative below.
    pub fn distance(&self) -> f64 {
        let (low, high) = (self.band.low_bytes_per_s / SLACK, self.band.high_bytes_per_s * SLACK);
        (self.bytes_per_s / self.bytes_per_s.clamp(low, high.max(low))).ln()
    }
}

/// The kind of device that a run is held against, by its cells but those that `is_left_out` says are none of the device's;
/// `None` if the catalogue has nothing that may be compared.
pub fn likeness(
    record: &RunRecord,
    catalogue: &Catalogue,
    is_left_out: impl Fn(usize) -> bool,
) -> Option<Likeness> {
    let classes = possible_classes(record);
    let is_known = classes.len() == 1;
    let fits = classes.into_iter().filter_map(|class| {
        let cells = cells(record, catalogue, class, &is_left_out);
        let off = cells.iter().map(|cell| cell.distance().abs()).sum::<f64>() / cells.len() as f64;
        let is_told = cells.len() >= FEWEST_CELLS && off <= NEAR.ln();
        (!cells.is_empty() && (is_known || is_told)).then_some((off, Likeness { class, is_known, cells }))
    });
    // Of kinds that fit alike the one that more was published of, and then the first of the list, which is the humblest.
    let best = fits.min_by(|(off, one), (other_off, other)| {
        off.total_cmp(other_off).then(other.cells.len().cmp(&one.cells.len()))
    });
    best.map(|(_, likeness)| likeness)
}

/// The kinds that a run's device can be of by what the system, or the layers of a model, say; every kind where another tool
/// says nothing, and none where several devices or something virtual answered.
fn possible_classes(record: &RunRecord) -> Vec<DeviceClass> {
    if let Some(model) = &record.header.model {
        return class_of_model(model).into_iter().collect();
    }
    let environment = &record.header.environment;
    match environment.devices.as_slice() {
        [] if environment.file_system.is_none() => {
            DeviceClass::WORDS.iter().map(|(_, class)| *class).collect()
        }
        [device] => classes_of(device).to_vec(),
        _ => Vec::new(),
    }
}

/// The kinds of one device. A reader of cards looks like a stick.
fn classes_of(device: &BlockDevice) -> &'static [DeviceClass] {
    use DeviceClass::{
        HardDisk, NvmePcie3, NvmePcie4, NvmePcie5, SataSsd, SdCard, Usb2Stick, Usb3Stick, UsbSsd,
    };
    if device.turns() == Some(true) {
        return &[HardDisk];
    }
    match &device.link {
        Some(Link::Sata { .. }) => &[SataSsd],
        Some(Link::Pcie { speed_gt_per_s: Some(speed), width: Some(4..), .. }) => match *speed {
            8.0 => &[NvmePcie3],
            16.0 => &[NvmePcie4],
            32.0 => &[NvmePcie5],
            _ => &[],
        },
        Some(Link::Usb { speed_mbit_per_s: Some(speed), .. }) if *speed <= 480.0 => &[SdCard, Usb2Stick],
        Some(Link::Usb { protocol: Some(protocol), .. }) if protocol == "uas" => &[UsbSsd],
        Some(Link::Usb { .. }) => &[SdCard, Usb3Stick, UsbSsd],
        Some(Link::CardLines { .. }) => &[SdCard],
        _ => &[],
    }
}

/// The kind that a model is of, by what is at its end; none of an array, of an emulator on a card, and of disks of old buses, whose
/// time published nothing of this kind.
fn class_of_model(model: &ModelRecord) -> Option<DeviceClass> {
    let kinds: Vec<&str> = model.layers.iter().map(|layer| layer.kind.as_str()).collect();
    let generation = || model.layers.iter().rev().nth(1)?.value("generation");
    let is_single = model.layers.iter().all(|layer| layer.instances == 1);
    match kinds.as_slice() {
        _ if !is_single => None,
        [.., "sata" | "usb", "disk"] => Some(DeviceClass::HardDisk),
        [.., "sata", "ssd" | "flash-coarse"] => Some(DeviceClass::SataSsd),
        [.., "usb", "ssd"] => Some(DeviceClass::UsbSsd),
        [.., "usb", "flash-coarse"] if generation() == Some("usb-3") => Some(DeviceClass::Usb3Stick),
        [.., "pcie", "ssd"] => match generation()? {
            "3" => Some(DeviceClass::NvmePcie3),
            "4" => Some(DeviceClass::NvmePcie4),
            "5" => Some(DeviceClass::NvmePcie5),
            _ => None,
        },
        ["host", "card"] => Some(DeviceClass::SdCard),
        _ => None,
    }
}

/// The cells of a run that a kind has a band for.
fn cells(
    record: &RunRecord,
    catalogue: &Catalogue,
    class: DeviceClass,
    is_left_out: &impl Fn(usize) -> bool,
) -> Vec<CellLikeness> {
    let statistic = record.header.statistic();
    let deepest = DeepestWork::of(record);
    let cells = record.cells.iter().enumerate().filter(|(cell_index, _)| !is_left_out(*cell_index));
    let cells = cells.filter_map(|(cell_index, cell)| {
        let (work, bytes_per_s) = (RateWork::of(cell)?, rate_of(cell, statistic)?);
        let band = band(catalogue, class, &work, deepest.contains(&work))?;
        let RateWork { sequential, direction, .. } = work;
        Some(CellLikeness { cell_index, sequential, direction, bytes_per_s, band })
    });
    cells.filter(|cell| cell.bytes_per_s > 0.0).collect()
}

/// The kinds that most people know a drive by, from slow to fast.
const WELL_KNOWN: [DeviceClass; 5] = [
    DeviceClass::HardDisk,
    DeviceClass::SdCard,
    DeviceClass::SataSsd,
    DeviceClass::NvmePcie3,
    DeviceClass::NvmePcie4,
];

/// What well-known kinds of drives span for the work of a cell of a run, from slow to fast; empty where nothing is published.
pub fn bands(record: &RunRecord, cell: &Cell, catalogue: &Catalogue) -> Vec<(DeviceClass, Band)> {
    let Some(work) = RateWork::of(cell) else { return Vec::new() };
    let is_deepest = DeepestWork::of(record).contains(&work);
    let band = |class| Some((class, band(catalogue, class, &work, is_deepest)?));
    WELL_KNOWN.into_iter().filter_map(band).collect()
}

/// The most in flight that a run has of each kind of work. It is collected once: asking every cell about every other takes
/// minutes for a run of thousands of cells.
struct DeepestWork(HashMap<WorkKind, WorkDepth>);

impl DeepestWork {
    fn of(record: &RunRecord) -> Self {
        let mut deepest = HashMap::new();
        for work in record.cells.iter().filter_map(RateWork::of) {
            let (kind, depth) = work.depth();
            let most = deepest.entry(kind).or_insert(depth);
            *most = depth.max(*most);
        }
        Self(deepest)
    }

    /// Returns whether no cell of the run does the same with more in flight.
    fn contains(&self, work: &RateWork) -> bool {
        let (kind, depth) = work.depth();
        self.0.get(&kind).is_none_or(|most| *most <= depth)
    }
}

/// What a kind of device spans for some work, each entry with its fastest figure. What was reached with more in flight is an upper end
/// alone: who has less of it is not slow, but the kind may be as fast. Such are a sheet's figure of a span of depths, which means many
/// threads, and one that tells no depth, which means the best, beside all but the run's deepest cell.
fn band(catalogue: &Catalogue, class: DeviceClass, work: &RateWork, is_deepest: bool) -> Option<Band> {
    let is_of_depth =
        |published: &RateWork| published.in_flight.map_or(is_deepest, |(least, most)| least == most);
    let (mut low_bytes_per_s, mut high_bytes_per_s, mut entries) = (f64::INFINITY, 0.0_f64, Vec::new());
    for entry in catalogue.entries().filter(|entry| entry.row.class == Some(class)) {
        let fastest = |of_depth: bool| {
            entry.fastest(|published| published.is_done_by(work) && is_of_depth(published) == of_depth)
        };
        let [of_depth, at_best] = [true, false].map(|of_depth| fastest(of_depth).map(|(.., span)| span));
        low_bytes_per_s = of_depth.map_or(low_bytes_per_s, |(low, _)| low.min(low_bytes_per_s));
        let Some(high) = of_depth.into_iter().chain(at_best).map(|(_, high)| high).reduce(f64::max) else {
            continue;
        };
        high_bytes_per_s = high_bytes_per_s.max(high);
        entries.push(entry.id());
    }
    low_bytes_per_s.is_finite().then_some(Band { low_bytes_per_s, high_bytes_per_s, entries })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{PublishedStatistic, beside};

    /// A run as it is exported, with these cells: order, direction, block, depth, MB/s.
    fn run(cells: &[(bool, &str, u64, u32, f64)]) -> RunRecord {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/fixtures/export-v2-imported.json");
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        run.cells = cells
            .iter()
            .map(|(sequential, direction, block_bytes, iodepth, rate)| {
                let figure = serde_json::json!({
                    "quantity": "rate", "statistic": "highest", "value": rate * 1e6, "printed": "1",
                    "unit_printed": "MB/s", "correction": null, "of": null,
                });
                let cell = serde_json::json!({
                    "index": 0, "step_index": 0, "label": "x", "part": direction, "measure": "rate",
                    "direction": direction, "workload": null, "engine": null, "repetitions": [],
                    "imported": {
                        "procedure": null, "runs": 5, "block_bytes": block_bytes, "iodepth": iodepth, "threads": 1,
                        "sequential": sequential, "read_percent": null, "figures": [figure],
                    },
                });
                serde_json::from_value::<Cell>(cell).unwrap()
            })
            .collect();
        run
    }

    fn likeness_of(run: &RunRecord) -> Option<Likeness> {
        likeness(run, &Catalogue::load().unwrap(), |_| false)
    }

    /// A run of CrystalDiskMark's default test with these rates.
    fn default_test(rates: [f64; 8]) -> RunRecord {
        let cells: Vec<_> = CELLS
            .iter()
            .zip(rates)
            .map(|((order, way, block, depth), rate)| (*order, *way, *block, *depth, rate))
            .collect();
        run(&cells)
    }

    const SATA: [f64; 8] = [555.0, 520.0, 530.0, 500.0, 390.0, 340.0, 45.0, 120.0];

    #[test]
    fn where_nobody_names_the_device_all_cells_together_tell_its_kind() {
        let class =
            |rates| likeness_of(&default_test(rates)).map(|likeness| (likeness.class, likeness.is_known));
        assert_eq!(class(SATA), Some((DeviceClass::SataSsd, false)));
        assert_eq!(
            class([160.0, 150.0, 155.0, 150.0, 1.6, 1.8, 0.6, 1.6]),
            Some((DeviceClass::HardDisk, false))
        );
        // Its large reads are a SATA SSD's, its small ones nobody's.
        assert_eq!(class([555.0, 50.0, 530.0, 40.0, 9000.0, 0.01, 0.01, 900.0]), None);
        // Of one figure alone nobody can tell.
        assert_eq!(likeness_of(&run(&[(true, "read", 1 << 20, 8, 555.0)])), None);
    }

    /// The same run with a device that is connected so.
    fn on(mut run: RunRecord, link: Link) -> RunRecord {
        run.header.environment.devices = vec![BlockDevice { link: Some(link), ..BlockDevice::default() }];
        run
    }

    #[test]
    fn a_data_sheet_tells_of_work_with_most_in_flight() {
        let link = Link::Pcie {
            speed_gt_per_s: Some(16.0),
            width: Some(4),
            speed_max_gt_per_s: None,
            width_max: None,
        };
        let small = (true, "read", 128 << 10, 1, 1684.0);
        let held = |cells: &[_]| -> Vec<usize> {
            let likeness = likeness_of(&on(run(cells), link.clone())).unwrap();
            likeness.cells.iter().map(|cell| cell.cell_index).collect()
        };
        assert_eq!(held(&[small, (true, "read", 1 << 20, 8, 6900.0)]), [1]);
        assert_eq!(held(&[small]), [0]);
        // What many threads reach is not slow for one that keeps as many in flight, nor is a queue of 32 fast that comes near it.
        let random = |in_flight, rate| (false, "read", 4096, in_flight, rate);
        assert_eq!(held(&[small, random(64, 1500.0)]), [0]);
        let near = likeness_of(&on(run(&[small, random(32, 2700.0)]), link.clone())).unwrap();
        assert_eq!((near.cells[1].cell_index, near.cells[1].distance()), (1, 0.0));
    }

    #[test]
    fn a_device_of_a_known_kind_is_held_against_no_other() {
        let pcie = |speed, width| Link::Pcie {
            speed_gt_per_s: Some(speed),
            width: Some(width),
            speed_max_gt_per_s: None,
            width_max: None,
        };
        let slow = likeness_of(&on(default_test(SATA), pcie(16.0, 4))).unwrap();
        assert_eq!((slow.class, slow.is_known), (DeviceClass::NvmePcie4, true));
        assert!(slow.cells[0].distance() < -1.0, "{slow:#?}");
        for link in [Link::Virtio, Link::Memory, pcie(16.0, 1), Link::Other { subsystem: "nbd".to_owned() }] {
            assert_eq!(likeness_of(&on(default_test(SATA), link)), None);
        }
        // What turns is a hard disk, however it is connected.
        let usb = Link::Usb { speed_mbit_per_s: Some(5000.0), protocol: None, version: None };
        let mut disk = on(default_test(SATA), usb.clone());
        disk.header.environment.devices[0].rotational = Some(true);
        assert_eq!(likeness_of(&disk).unwrap().class, DeviceClass::HardDisk);
        // Of two devices neither is meant.
        let mut two = on(default_test(SATA), pcie(16.0, 4));
        two.header.environment.devices.push(BlockDevice::default());
        assert_eq!(likeness_of(&two), None);
    }

    #[test]
    fn a_cell_lies_below_within_or_above_the_band_of_its_kind() {
        let catalogue = Catalogue::load().unwrap();
        let rates = |first: f64, fourth: f64| {
            let run = run(&[
                (true, "read", 1 << 20, 8, first),
                (true, "read", 1 << 20, 1, 540.0),
                (false, "read", 4096, 32, 390.0),
                (false, "read", 4096, 1, fourth),
                (false, "read", 512, 1, 1.0),
            ]);
            cells(&run, &catalogue, DeviceClass::SataSsd, &|_| false)
        };
        let one = rates(555.0, 53.0);
        // Nobody published the last.
        assert_eq!(one.iter().map(|cell| cell.cell_index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Operations per second and bytes are one by the block: 98 000 of 4 KiB are 401 MB/s.
        assert!(one.iter().all(|cell| cell.distance() == 0.0), "{one:#?}");
        // A sheet's sequential rate is that of its best depth, which the second is not: such a rate is not fast there, and less is not slow.
        let of_sheets = |entry: &&String| {
            catalogue.entry(entry).unwrap().table.statistic == PublishedStatistic::Specified
        };
        assert!(
            one.iter().take(2).all(|cell| cell.band.entries.iter().any(|entry| of_sheets(&entry))),
            "{one:#?}"
        );
        assert!(one[1].band.low_bytes_per_s < one[0].band.low_bytes_per_s, "{one:#?}");
        assert_eq!(one[0].band.high_bytes_per_s, one[1].band.high_bytes_per_s, "{one:#?}");
        let other = rates(1100.0, 5.0);
        assert!(other[0].distance() > 0.3 && other[3].distance() < -0.3, "{other:#?}");
    }

    #[test]
    fn a_sheet_meets_the_run_of_any_tool_by_what_its_cells_did() {
        let catalogue = Catalogue::load().unwrap();
        let run = run(&[
            (true, "read", 1 << 20, 1, 540.0),
            (true, "read", 1 << 20, 8, 555.0),
            (false, "read", 4096, 1, 40.96),
        ]);
        let beside = beside(&run, &catalogue.entry("ssd-today-spec/samsung-870-evo").unwrap());
        let values: Vec<Option<f64>> = beside.figures.iter().map(|figure| figure.value).collect();
        assert_eq!(values, [Some(555.0), None, Some(10_000.0), None, None, None], "{beside:#?}");
    }

    #[test]
    fn every_band_is_what_rows_with_a_source_span() {
        let catalogue = Catalogue::load().unwrap();
        let run = run(&[(true, "read", 1 << 20, 8, 50.0)]);
        for (_, class) in DeviceClass::WORDS {
            let of_kind = cells(&run, &catalogue, *class, &|_| false);
            let [CellLikeness { band, .. }] = of_kind.as_slice() else { panic!("{class:?}: {of_kind:?}") };
            for entry in band.entries.iter().map(|id| catalogue.entry(id).unwrap()) {
                assert_eq!(entry.row.class, Some(*class));
                assert!(!entry.source().is_empty());
            }
            if *class == DeviceClass::HardDisk {
                assert_eq!((band.low_bytes_per_s, band.high_bytes_per_s), (100e6, 210e6));
            }
        }
    }

    /// Cells of CrystalDiskMark's default test.
    const CELLS: [(bool, &str, u64, u32); 8] = [
        (true, "read", 1 << 20, 8),
        (true, "write", 1 << 20, 8),
        (true, "read", 1 << 20, 1),
        (true, "write", 1 << 20, 1),
        (false, "read", 4096, 32),
        (false, "write", 4096, 32),
        (false, "read", 4096, 1),
        (false, "write", 4096, 1),
    ];

    #[test]
    fn the_default_test_has_a_band_of_every_kind_but_where_nobody_published_one() {
        let catalogue = Catalogue::load().unwrap();
        let run = default_test([100.0; 8]);
        let missing = |class: DeviceClass| -> Vec<usize> {
            let of_kind = cells(&run, &catalogue, class, &|_| false);
            (1..=CELLS.len())
                .filter(|number| !of_kind.iter().any(|cell| cell.cell_index + 1 == *number))
                .collect()
        };
        for (_, class) in DeviceClass::WORDS.iter().copied() {
            let expected: &[usize] = match class {
                // Sequential work with 1 MiB and nothing else in flight, which nobody told of a card.
                DeviceClass::SdCard => &[3, 4],
                // Who measured sticks on USB 2 told large reads and writes alone.
                DeviceClass::Usb2Stick => &[3, 4, 5, 6, 7, 8],
                // 64 in flight there.
                DeviceClass::UsbSsd => &[5, 6],
                _ => &[],
            };
            assert_eq!(missing(class), expected, "{class:?}");
        }
    }

    #[test]
    fn every_version_of_crystaldiskmark_from_6_on_has_figures_with_a_date_or_an_address() {
        let catalogue = Catalogue::load().unwrap();
        for profile in ["cdm-6", "cdm-7", "cdm-8", "cdm-9"] {
            let entries: Vec<_> =
                catalogue.entries().filter(|entry| entry.table.profile.as_deref() == Some(profile)).collect();
            assert!(!entries.is_empty(), "{profile}");
            for entry in entries {
                let source = entry.source();
                assert!(source.contains(".com/") || source.contains("(20"), "{}: {source}", entry.id());
                assert!(entry.row.class.is_some() && entry.figures().count() == 8, "{}", entry.id());
            }
        }
    }
}
