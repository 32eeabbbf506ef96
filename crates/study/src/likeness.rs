//! Classifies the device of a run by comparing all of its cells with published figures.
//!
//! The band of a device class is the range that the catalogue's rows of that class cover for the
//! same work. A class has a band only if at least five drives have a sourced figure. The ends are
//! widened by the amount that one device varies from host to host. Writes that wait for the medium
//! one at a time are not compared, because no row of the catalogue flushes. A data sheet that does
//! not state a queue depth means the best one, so it only sets an upper end for cells that are not
//! the run's deepest.
//!
//! If the system reports the class of the device, the run is compared with that class only.
//! Otherwise a class is named only if all cells together lie within or near its bands.

use crate::catalogue::work::{WorkDepth, WorkKind, rate_of};
use crate::catalogue::{Catalogue, DeviceClass, PublishedStatistic, RateWork};
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::quantity::{GIB, MIB, parse_bytes};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::{Direction, Workload};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Factor by which each end of a band is widened: host, test size and fill level change the rate of
/// one device by this much.
const SLACK: f64 = 1.15;
/// Largest distance from the bands at which an unknown class is inferred, as a factor averaged over
/// the cells. The bands of neighbouring classes are further apart.
const NEAR: f64 = 1.25;
/// Fewest cells from which a class is inferred. A single cell is not enough, because every rate
/// lies in some band.
const FEWEST_CELLS: usize = 2;
/// Fewest drives for a band. One or two drives do not show what is typical.
const FEWEST_DRIVES: usize = 5;
/// Bytes in flight beyond which sequential I/O gets no faster: CrystalDiskMark's 1 MiB Q8, 128 KiB
/// Q32 and 256 KiB Q8 agree.
const SATURATED_BYTES: u64 = 2 * MIB;
/// Smallest span at which random access on a hard disk is compared. Within a smaller one seeks are
/// short and the drive's cache answers some requests. CrystalDiskMark's default span is this large.
const SEEKS_ARE_LONG: u64 = GIB;

/// Range of published rates of a device class for the work of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Band {
    /// Lowest published rate in bytes per second.
    pub low_bytes_per_s: f64,
    /// Highest published rate in bytes per second.
    pub high_bytes_per_s: f64,
    /// Catalogue entries that the band is made from.
    pub entries: Vec<String>,
}

/// Device class that a run is compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Likeness {
    /// Device class.
    pub class: DeviceClass,
    /// Whether the system or the model reports the class; otherwise it is inferred from the
    /// figures.
    pub is_known: bool,
    /// Cells for which the class has a band.
    pub cells: Vec<CellLikeness>,
}

/// A cell and the band of the device class for its work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellLikeness {
    /// Index of the cell in the run, from 0.
    pub cell_index: usize,
    /// Whether its offsets ascend (sequential I/O).
    pub sequential: bool,
    /// Its direction.
    pub direction: Direction,
    /// Measured rate in bytes per second.
    pub bytes_per_s: f64,
    /// Published range for the same work.
    pub band: Band,
}

impl CellLikeness {
    /// Returns the natural logarithm of the distance to the band: 0 within it, negative below it.
    pub fn distance(&self) -> f64 {
        let (low, high) = (self.band.low_bytes_per_s / SLACK, self.band.high_bytes_per_s * SLACK);
        (self.bytes_per_s / self.bytes_per_s.clamp(low, high.max(low))).ln()
    }
}

/// Finds the device class that fits a run best.
///
/// `is_left_out` excludes cells that do not show the device. Returns `None` if the catalogue has no
/// comparable figures.
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
    // Of equally good classes, take the one with more comparable cells, then the first in the list,
    // which is the slowest.
    let best = fits.min_by(|(off, one), (other_off, other)| {
        off.total_cmp(other_off).then(other.cells.len().cmp(&one.cells.len()))
    });
    best.map(|(_, likeness)| likeness)
}

/// Returns the device class of a run if the system or the model's layers identify it.
pub fn known_class(record: &RunRecord) -> Option<DeviceClass> {
    match possible_classes(record).as_slice() {
        [class] => Some(*class),
        _ => None,
    }
}

/// Returns the classes that the device can have according to the system or the layers of the model.
///
/// These are all classes if an imported run does not describe its device, and none if the target
/// has several devices or a virtual one.
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

/// Returns the classes that a single device can have. A card reader looks like a USB stick.
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

/// Returns whether a model name is that of an Optane SSD. Intel's part numbers (INTEL
/// SSDPED1K375GA) have the D of 3D XPoint where those of flash have a K.
fn is_optane(model: &str) -> bool {
    ["SSDPED", "SSDPE21", "SSDPEL1", "SSDPF21Q", "Optane"].iter().any(|part| model.contains(part))
}

/// Returns the class of a model by its layers.
///
/// Returns `None` for an array, an emulator on a card and disks on old buses, because the catalogue
/// has no figures of this class from their time.
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

/// Returns whether a card's lines carry more than the four of UHS-I (104 MB/s): eMMC has eight,
/// which carry 200 MB/s (HS200) or more.
fn carries_as_emmc(card: &LayerRecord) -> bool {
    const UHS_I_BYTES_PER_S: u64 = 104_000_000;
    let interface = card.value("interface").and_then(|rate| parse_bytes(rate.strip_suffix("/s")?).ok());
    interface.is_some_and(|bytes_per_s| bytes_per_s > UHS_I_BYTES_PER_S)
}

/// Returns the cells of a run for which the class has a band.
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

/// Device classes that most users know, from slow to fast.
const WELL_KNOWN: [DeviceClass; 5] = [
    DeviceClass::HardDisk,
    DeviceClass::SdCard,
    DeviceClass::SataSsd,
    DeviceClass::NvmePcie3,
    DeviceClass::NvmePcie4,
];

/// Returns the bands of the well-known device classes for the work of a cell, from slow to fast.
/// Empty if nothing is published.
pub fn bands(record: &RunRecord, cell: &Cell, catalogue: &Catalogue) -> Vec<(DeviceClass, Band)> {
    let Some(work) = RateWork::of(cell) else { return Vec::new() };
    let is_deepest = DeepestWork::of(record).contains(&work);
    let band = |class| Some((class, band(catalogue, class, &work, is_deepest)?));
    WELL_KNOWN.into_iter().filter_map(band).collect()
}

/// Largest depth in the run for each kind of work.
///
/// It is collected once: comparing every cell with every other takes minutes for a run with
/// thousands of cells.
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

    /// Returns whether no cell of the run does the same work with more in flight.
    fn contains(&self, work: &RateWork) -> bool {
        let (kind, depth) = work.depth();
        self.0.get(&kind).is_none_or(|most| *most <= depth)
    }
}

/// Computes the band of a class for some work, from the fastest figure of each entry.
///
/// Figures reached with more in flight raise the upper end only: a rate below them is not slow, but
/// the class may be that fast. They include a sheet's figure for a range of depths, which means
/// many threads. They also include a figure without a depth, which means the best depth, unless the
/// cell is the run's deepest. Specifications count as upper ends too, because manufacturers state
/// the maximum.
///
/// Sequential tests with enough in flight count as the same test. On a hard disk all of them do,
/// because it transfers the bytes that pass under its heads.
fn band(catalogue: &Catalogue, class: DeviceClass, work: &RateWork, is_deepest: bool) -> Option<Band> {
    let saturated_at_bytes = if class == DeviceClass::HardDisk { 0 } else { SATURATED_BYTES };
    let streams = |published: &RateWork| published.streams_like(work, saturated_at_bytes);
    let is_of_depth = |published: &RateWork| {
        streams(published) || published.in_flight.map_or(is_deepest, |(least, most)| least == most)
    };
    let (mut low_bytes_per_s, mut high_bytes_per_s, mut entries) = (f64::INFINITY, 0.0_f64, Vec::new());
    // A drive that several tables list counts once.
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

    /// Returns an exported run with these cells: order, direction, block, depth, MB/s.
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

    /// Returns a run of CrystalDiskMark's default test with these rates.
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
        // Its large reads fit a SATA SSD, but its small ones fit no class.
        assert_eq!(class([555.0, 50.0, 530.0, 40.0, 9000.0, 0.01, 0.01, 900.0]), None);
        // A single figure is not enough to infer a class.
        assert_eq!(likeness_of(&run(&[(true, "read", 1 << 20, 8, 555.0)])), None);
    }

    /// Returns the run with a device on this link.
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
        // A rate that many threads reach is not a lower bound for one thread with the same number
        // of operations in flight.
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
        // A rotational device is a hard disk, however it is connected.
        let usb = Link::Usb { speed_mbit_per_s: Some(5000.0), protocol: None, version: None };
        let mut disk = on(default_test(SATA), usb.clone());
        disk.header.environment.devices[0].rotational = Some(true);
        assert_eq!(likeness_of(&disk).unwrap().class, DeviceClass::HardDisk);
        // The class of several devices is unknown.
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
        // No published figure exists for the last.
        assert_eq!(one.iter().map(|cell| cell.cell_index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // IOPS and bytes per second are converted with the block size: 98,000 IOPS of 4 KiB are 401
        // MB/s.
        assert!(one.iter().all(|cell| cell.distance() == 0.0), "{one:#?}");
        // A sheet's sequential rate is for its best depth. It is an upper end, so a lower rate is
        // not slow.
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
            let head = "schema = 1\nsource = \"S\"\n[[table]]\nid = \"t\"\n\
                title = { en = \"t\", ja = \"t\" }\ntool = \"dd\"\n\
                procedure = { en = \"p\", ja = \"p\" }\nstatistic = \"mean\"\n\
                column = [{ key = \"read\", name = { en = \"r\", ja = \"r\" }, unit = \"MB/s\", decimals = 1, \
                work = { order = \"sequential\", direction = \"read\", block = \"1 MiB\", in_flight = 8 } }]\n";
            let source = (0..count).map(row).fold(head.to_owned(), |all, row| all + &row);
            Catalogue::parse("t.toml", &source).unwrap()
        };
        let run = run(&[(true, "read", 1 << 20, 8, 500.0)]);
        let bands = |catalogue: &Catalogue| cells(&run, catalogue, DeviceClass::SataSsd, &|_| false).len();
        assert_eq!([4, 5].map(|count| bands(&rows(count))), [0, 1]);
        // The manufacturers' own figures are not measurements.
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
