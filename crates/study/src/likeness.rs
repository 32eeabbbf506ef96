//! What kind of device a run is like: all of its cells together, beside the bands of kinds of devices.
//!
//! The model: the band of a kind of device is what the catalogue's rows of that kind span for the same work, and nothing
//! else: where fewer than five drives have a figure with a source, there is no band. Ends are widened by what the same device differs by
//! from host to host. Writes that wait for the medium one by one are compared with no band, because no row of the catalogue
//! flushes. A sheet that tells no depth means the best one, so beside a cell that is not the run's deepest it says only how fast
//! the kind may be.
//! Where the system says what the device is, it is held against its own kind and no other; where nobody says, a kind is
//! named only if all cells together lie in its bands or near them.

use crate::catalogue::work::{WorkDepth, WorkKind, rate_of};
use crate::catalogue::{Catalogue, DeviceClass, PublishedStatistic, RateWork};
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::quantity::{GIB, MIB, parse_bytes};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::{Direction, Workload};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// A rate within this factor of an end of a band is in it: hosts, sizes and fill levels make as much of one device.
const SLACK: f64 = 1.15;
/// A kind that nobody names is told from figures within this factor of its bands, on average over the cells: the bands of
/// neighbours among the kinds lie further apart.
const NEAR: f64 = 1.25;
/// One cell alone tells no kind: every rate is in some band.
const FEWEST_CELLS: usize = 2;
/// Fewest drives behind a band: what one or two drives reach is not usual.
const FEWEST_DRIVES: usize = 5;
/// With so many bytes in flight in order, more make no drive faster: CrystalDiskMark's 1 MiB Q8, 128 KiB Q32 and 256 KiB Q8 agree.
const SATURATED_BYTES: u64 = 2 * MIB;
/// Random access of a hard disk within less than this is compared with no band: seeks are short there, and the cache of the drive
/// answers a part. CrystalDiskMark's default is as large.
const SEEKS_ARE_LONG: u64 = GIB;

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

/// Returns the class of a run's device, if the system or the layers of the model name it.
pub fn known_class(record: &RunRecord) -> Option<DeviceClass> {
    match possible_classes(record).as_slice() {
        [class] => Some(*class),
        _ => None,
    }
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

/// The classes that one device can be of. A card reader looks like a stick.
fn classes_of(device: &BlockDevice) -> &'static [DeviceClass] {
    use DeviceClass::{
        CloudVolume, Emmc, HardDisk, NvmePcie3, NvmePcie4, NvmePcie5, OptaneSsd, SataSsd, SdCard, Usb2Stick,
        Usb3Stick, UsbSsd,
    };
    if device.provider().is_some() {
        return &[CloudVolume];
    }
    if device.turns() == Some(true) {
        return &[HardDisk];
    }
    if device.model.as_deref().is_some_and(is_optane) {
        return &[OptaneSsd];
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
        Some(Link::CardLines { timing: Some(timing), .. }) if timing.starts_with("mmc") => &[Emmc],
        Some(Link::CardLines { .. }) => &[SdCard],
        _ => &[],
    }
}

/// Returns whether a model name is that of an Optane SSD: Intel's part numbers (INTEL SSDPED1K375GA) have the D of 3D XPoint where
/// those of flash have a K.
fn is_optane(model: &str) -> bool {
    ["SSDPED", "SSDPE21", "SSDPEL1", "SSDPF21Q", "Optane"].iter().any(|part| model.contains(part))
}

/// The class of a model by its layers; `None` for an array, an emulator on a card, and disks of old buses, from whose
/// time the catalogue has no figures of this class.
fn class_of_model(model: &ModelRecord) -> Option<DeviceClass> {
    let kinds: Vec<&str> = model.layers.iter().map(|layer| layer.kind.as_str()).collect();
    let generation = || model.layers.iter().rev().nth(1)?.value("generation");
    let is_single = model.layers.iter().all(|layer| layer.instances == 1);
    let medium = model.layers.last()?;
    let is_protected = medium.value("power_loss_protection") == Some("true");
    match kinds.as_slice() {
        _ if !is_single => None,
        [.., "limiter", "constant"] => Some(DeviceClass::CloudVolume),
        [.., "shingle", "disk"] => Some(DeviceClass::SmrDisk),
        [.., "sata" | "usb", "disk"] => Some(DeviceClass::HardDisk),
        [.., "ssd"] if is_protected => Some(DeviceClass::ServerSsd),
        [.., "sata", "ssd" | "flash-coarse"] => Some(DeviceClass::SataSsd),
        [.., "usb", "ssd"] => Some(DeviceClass::UsbSsd),
        [.., "usb", "flash-coarse"] if generation() == Some("usb-3") => Some(DeviceClass::Usb3Stick),
        [.., "pcie", "constant"] if medium.name == "xpoint" => Some(DeviceClass::OptaneSsd),
        [.., "pcie", "ssd"] => match generation()? {
            "3" => Some(DeviceClass::NvmePcie3),
            "4" => Some(DeviceClass::NvmePcie4),
            "5" => Some(DeviceClass::NvmePcie5),
            _ => None,
        },
        ["host", "card"] if carries_as_emmc(medium) => Some(DeviceClass::Emmc),
        ["host", "card"] => Some(DeviceClass::SdCard),
        _ => None,
    }
}

/// Returns whether a card's lines carry more than the four of UHS-I (104 MB/s): eMMC has eight, which carry 200 MB/s (HS200) or more.
fn carries_as_emmc(card: &LayerRecord) -> bool {
    const UHS_I_BYTES_PER_S: u64 = 104_000_000;
    let interface = card.value("interface").and_then(|rate| parse_bytes(rate.strip_suffix("/s")?).ok());
    interface.is_some_and(|bytes_per_s| bytes_per_s > UHS_I_BYTES_PER_S)
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
    // Imported runs have thousands of cells of a few kinds of work.
    let mut bands: HashMap<(RateWork, bool), Option<Band>> = HashMap::new();
    let cells = record.cells.iter().enumerate().filter(|(cell_index, _)| !is_left_out(*cell_index));
    let cells = cells.filter(|(_, cell)| is_comparable(class, cell)).filter_map(|(cell_index, cell)| {
        let (work, bytes_per_s) = (RateWork::of(cell)?, rate_of(cell, statistic)?);
        let is_deepest = deepest.contains(&work);
        let band =
            bands.entry((work, is_deepest)).or_insert_with(|| band(catalogue, class, &work, is_deepest));
        let RateWork { sequential, direction, .. } = work;
        Some(CellLikeness { cell_index, sequential, direction, bytes_per_s, band: band.clone()? })
    });
    cells.filter(|cell| cell.bytes_per_s > 0.0).collect()
}

/// Returns whether a cell may be compared with figures of a class.
fn is_comparable(class: DeviceClass, cell: &Cell) -> bool {
    let is_short =
        |workload: &Workload| !workload.pattern.is_sequential() && workload.span_bytes < SEEKS_ARE_LONG;
    class != DeviceClass::HardDisk || !cell.workload.as_ref().is_some_and(is_short)
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
/// threads, and one that tells no depth, which means the best, beside all but the run's deepest cell. So is every specification: makers
/// state what a drive reaches at most. Sequential tests with enough in flight are one test; of a hard disk all are, because it moves the
/// bytes that pass under its heads.
fn band(catalogue: &Catalogue, class: DeviceClass, work: &RateWork, is_deepest: bool) -> Option<Band> {
    let saturated_at_bytes = if class == DeviceClass::HardDisk { 0 } else { SATURATED_BYTES };
    let streams = |published: &RateWork| published.streams_like(work, saturated_at_bytes);
    let is_of_depth = |published: &RateWork| {
        streams(published) || published.in_flight.map_or(is_deepest, |(least, most)| least == most)
    };
    let (mut low_bytes_per_s, mut high_bytes_per_s, mut entries) = (f64::INFINITY, 0.0_f64, Vec::new());
    // A drive that several tables list is one drive.
    let mut drives = BTreeSet::new();
    for entry in catalogue.entries().filter(|entry| entry.row.class == Some(class)) {
        let is_measured = entry.table.statistic != PublishedStatistic::Specified;
        let fastest = |of_depth: bool| {
            entry.fastest(|published| {
                (published.is_done_by(work) || streams(published)) && is_of_depth(published) == of_depth
            })
        };
        let [of_depth, at_best] = [true, false].map(|of_depth| fastest(of_depth).map(|(.., span)| span));
        if let Some((low, _)) = of_depth.filter(|_| is_measured) {
            low_bytes_per_s = low.min(low_bytes_per_s);
            drives.insert(entry.row.id.as_str());
        }
        let Some(high) = of_depth.into_iter().chain(at_best).map(|(_, high)| high).reduce(f64::max) else {
            continue;
        };
        high_bytes_per_s = high_bytes_per_s.max(high);
        entries.push(entry.id());
    }
    (drives.len() >= FEWEST_DRIVES).then_some(Band { low_bytes_per_s, high_bytes_per_s, entries })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::beside;

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
        let compared = |cells: &[_]| -> Vec<usize> {
            let likeness = likeness_of(&on(run(cells), link.clone()));
            likeness.map_or_else(Vec::new, |one| one.cells.iter().map(|cell| cell.cell_index).collect())
        };
        let random = |in_flight, rate| (false, "read", 4096, in_flight, rate);
        assert_eq!(compared(&[small, random(1, 70.0)]), [1]);
        // What many threads reach is not slow for one that keeps as many in flight.
        assert_eq!(compared(&[small, random(64, 1500.0)]), [0; 0]);
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
        assert!(slow.cells[0].distance() < -0.1, "{slow:#?}");
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
        let one = rates(555.0, 40.0);
        // Nobody published the last.
        assert_eq!(one.iter().map(|cell| cell.cell_index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Operations per second and bytes are one by the block: 98 000 of 4 KiB are 401 MB/s.
        assert!(one.iter().all(|cell| cell.distance() == 0.0), "{one:#?}");
        // A sheet's sequential rate is that of its best depth: an upper end, which makes no slower rate slow.
        let of_sheets = |entry: &&String| {
            catalogue.entry(entry).unwrap().table.statistic == PublishedStatistic::Specified
        };
        assert!(
            one.iter().take(2).all(|cell| cell.band.entries.iter().any(|entry| of_sheets(&entry))),
            "{one:#?}"
        );
        assert!(one[1].band.low_bytes_per_s < one[0].band.low_bytes_per_s, "{one:#?}");
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
            let of_class = cells(&run, &catalogue, *class, &|_| false);
            let Some(CellLikeness { band, .. }) = of_class.first() else { continue };
            for entry in band.entries.iter().map(|id| catalogue.entry(id).unwrap()) {
                assert_eq!(entry.row.class, Some(*class));
                assert!(!entry.source().is_empty());
            }
            if *class == DeviceClass::HardDisk {
                assert_eq!((band.low_bytes_per_s, band.high_bytes_per_s), (100e6, 270e6));
            }
        }
    }

    #[test]
    fn fewer_than_five_measured_drives_are_no_band() {
        let rows = |count: usize| -> Catalogue {
            let row = |number| {
                format!(
                    "[[table.row]]\nid = \"drive-{number}\"\ndevice = \"D\"\nclass = \"sata-ssd\"\nread = 500\n"
                )
            };
            let head = "schema = 1\nsource = \"S\"\n[[table]]\nid = \"t\"\ntitle = { en = \"t\", ja = \"t\" }\ntool = \"dd\"\n\
                        procedure = { en = \"p\", ja = \"p\" }\nstatistic = \"mean\"\n\
                        column = [{ key = \"read\", name = { en = \"r\", ja = \"r\" }, unit = \"MB/s\", decimals = 1, \
                        work = { order = \"sequential\", direction = \"read\", block = \"1 MiB\", in_flight = 8 } }]\n";
            let source = (0..count).map(row).fold(head.to_owned(), |all, row| all + &row);
            Catalogue::parse("t.toml", &source).unwrap()
        };
        let run = run(&[(true, "read", 1 << 20, 8, 500.0)]);
        let bands = |catalogue: &Catalogue| cells(&run, catalogue, DeviceClass::SataSsd, &|_| false).len();
        assert_eq!([4, 5].map(|count| bands(&rows(count))), [0, 1]);
        // The makers' own figures are no measurements.
        let mut specified = rows(5);
        specified.tables.iter_mut().for_each(|table| table.statistic = PublishedStatistic::Specified);
        assert_eq!(bands(&specified), 0);
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
    fn everyday_classes_have_bands_of_the_default_test() {
        let catalogue = Catalogue::load().unwrap();
        let run = default_test([100.0; 8]);
        let with_band = |class: DeviceClass| -> Vec<usize> {
            cells(&run, &catalogue, class, &|_| false).iter().map(|cell| cell.cell_index + 1).collect()
        };
        let classes = DeviceClass::WORDS.iter().map(|(_, class)| (*class, with_band(*class)));
        let with_bands: Vec<(DeviceClass, Vec<usize>)> =
            classes.filter(|(_, cells)| !cells.is_empty()).collect();
        let expected: [(DeviceClass, &[usize]); 6] = [
            (DeviceClass::HardDisk, &[1, 2, 3, 4, 7, 8]),
            (DeviceClass::SdCard, &[5, 6, 7, 8]),
            (DeviceClass::Usb3Stick, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (DeviceClass::SataSsd, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (DeviceClass::NvmePcie3, &[1, 2, 3, 4, 7, 8]),
            (DeviceClass::NvmePcie4, &[1, 2, 7, 8]),
        ];
        assert_eq!(with_bands, expected.map(|(class, cells)| (class, cells.to_vec())));
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
                // Tables of several users have rows without a class, or with fewer figures.
                let is_whole = entry.row.class.is_some() && entry.figures().count() == 8;
                assert!(is_whole || entry.table.source == "several", "{}", entry.id());
            }
        }
    }
}
