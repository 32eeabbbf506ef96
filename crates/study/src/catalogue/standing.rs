//! Where a run stands: beside each of its cells the bands of kinds of devices, and the nearest published figure.
//!
//! The model: the band of a kind of device is what the catalogue's rows of that kind span for the same work, and nothing
//! else: where no row has a figure with a source, there is no band. Ends are widened by what the same device differs by
//! from host to host. A sheet that tells no depth means the best one, so it stands beside the run's deepest cell alone. A
//! published figure of the run's own procedure comes before one of another.

use super::work::{bytes_per_s, rate_of, unit_of};
use super::{Catalogue, CatalogueEntry, DeviceClass, PublishedColumn, RateWork};
use crate::published::Published;
use kurabe_core::Text;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::Direction;
use serde::Serialize;

/// A rate within this factor of an end of a band is in it: hosts, sizes and fill levels make as much of one device.
const SLACK: f64 = 1.15;

/// The span of a kind of device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The kind.
    pub class: DeviceClass,
    /// Lowest published rate in bytes per second.
    pub low_bytes_per_s: f64,
    /// Highest.
    pub high_bytes_per_s: f64,
    /// The entries behind it.
    pub entries: Vec<String>,
}

impl Band {
    /// Whether a rate is one of such a device.
    pub fn holds(&self, bytes_per_s: f64) -> bool {
        bytes_per_s >= self.low_bytes_per_s / SLACK && bytes_per_s <= self.high_bytes_per_s * SLACK
    }
}

/// A published figure near a cell's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearFigure {
    /// The entry.
    pub entry: String,
    /// Its device.
    pub device: Text,
    /// Where it is from.
    pub source: String,
    /// The tool behind it.
    pub tool: String,
    /// The figure in bytes per second.
    pub bytes_per_s: f64,
    /// Whether the run's procedure is that of the entry.
    pub same_procedure: bool,
}

/// A cell of a run with what stands beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellStanding {
    /// Place of the cell in the run, from 0.
    pub cell_index: usize,
    /// The step's name.
    pub label: String,
    /// Its direction.
    pub direction: Direction,
    /// Its rate in bytes per second.
    pub bytes_per_s: f64,
    /// Bands of the same work, the slowest first.
    pub bands: Vec<Band>,
    /// The nearest published figure.
    pub nearest: Option<NearFigure>,
}

/// What stands beside the cells of a run; only cells that the catalogue has something for.
pub fn standings(record: &RunRecord, catalogue: &Catalogue) -> Vec<CellStanding> {
    let statistic = record.header.statistic();
    let cells = record.cells.iter().enumerate().filter_map(|(index, cell)| {
        let (work, rate) = (RateWork::of(cell)?, rate_of(cell, statistic)?);
        let deepest = !record.cells.iter().filter_map(RateWork::of).any(|other| other.is_deeper_than(&work));
        let figures = figures(record, catalogue, &work, deepest);
        // A model is held against what others measured, not against what it was made of.
        let nearest = figures.iter().filter(|figure| !figure.own).min_by(|one, two| {
            let off = |figure: &MetFigure<'_>| (figure.bytes_per_s.0 / rate).ln().abs();
            let key = |figure: &MetFigure<'_>| (!figure.same_procedure, off(figure));
            key(one).0.cmp(&key(two).0).then(key(one).1.total_cmp(&key(two).1))
        });
        Some(CellStanding {
            cell_index: index,
            label: cell.label.clone(),
            direction: cell.direction?,
            bytes_per_s: rate,
            bands: bands(&figures),
            nearest: nearest.map(MetFigure::near),
        })
    });
    cells.filter(|standing| standing.nearest.is_some()).collect()
}

/// A published figure of some work.
struct MetFigure<'c> {
    entry: CatalogueEntry<'c>,
    /// Its low and its high end.
    bytes_per_s: (f64, f64),
    same_procedure: bool,
    /// Whether the run is of the model that was made of it.
    own: bool,
}

impl MetFigure<'_> {
    fn near(&self) -> NearFigure {
        NearFigure {
            entry: self.entry.id(),
            device: self.entry.row.device.clone(),
            source: self.entry.source().to_owned(),
            tool: self.entry.table.tool.clone(),
            bytes_per_s: self.bytes_per_s.0,
            same_procedure: self.same_procedure,
        }
    }
}

/// The published figures of some work, each entry once.
fn figures<'c>(
    record: &RunRecord,
    catalogue: &'c Catalogue,
    work: &RateWork,
    deepest: bool,
) -> Vec<MetFigure<'c>> {
    let run = record.header.origin.as_ref().and_then(|origin| origin.profile.clone());
    let run = run.unwrap_or_else(|| record.header.profile_name());
    let mut met = Vec::new();
    for entry in catalogue.entries() {
        let same_procedure = entry.table.profile.as_ref() == Some(&run);
        // A model is held against what others measured, not against what it was made of.
        let own =
            record.header.model.as_ref().is_some_and(|model| Some(&model.name) == entry.row.model.as_ref());
        let of_column = |(column, published): (&PublishedColumn, Published)| {
            let meets = |published: &RateWork| {
                published.is_done_by(work) && (deepest || published.in_flight.is_some())
            };
            let published_work = column.work.filter(meets)?;
            let block = published_work.block_bytes.or(work.block_bytes);
            let rate = |value| bytes_per_s(value, unit_of(&column.unit)?, block);
            Some((rate(published.low)?, rate(published.high.unwrap_or(published.low))?))
        };
        let rates = entry.figures().filter_map(of_column);
        let fastest = rates.max_by(|one, two| one.1.total_cmp(&two.1));
        met.extend(fastest.map(|bytes_per_s| MetFigure { entry, bytes_per_s, same_procedure, own }));
    }
    met
}

/// The bands of the kinds of devices among some figures.
fn bands(figures: &[MetFigure<'_>]) -> Vec<Band> {
    let of_class = |class: DeviceClass| {
        let figures: Vec<&MetFigure<'_>> =
            figures.iter().filter(|figure| figure.entry.row.class == Some(class)).collect();
        let low = figures.iter().map(|figure| figure.bytes_per_s.0).reduce(f64::min)?;
        let high = figures.iter().map(|figure| figure.bytes_per_s.1).reduce(f64::max)?;
        let entries = figures.iter().map(|figure| figure.entry.id()).collect();
        Some(Band { class, low_bytes_per_s: low, high_bytes_per_s: high, entries })
    };
    let mut bands: Vec<Band> = DeviceClass::WORDS.iter().filter_map(|(_, class)| of_class(*class)).collect();
    bands.sort_by(|one, two| one.low_bytes_per_s.total_cmp(&two.low_bytes_per_s));
    bands
}

#[cfg(test)]
mod tests {
    use super::super::PublishedStatistic;
    use super::*;
    use kurabe_core::record::{Cell, RunRecord};

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

    fn bands_of(standing: &CellStanding) -> Vec<DeviceClass> {
        let holding = standing.bands.iter().filter(|band| band.holds(standing.bytes_per_s));
        holding.map(|band| band.class).collect()
    }

    #[test]
    fn a_cell_stands_in_the_band_of_its_kind_by_what_it_did() {
        let catalogue = Catalogue::load().unwrap();
        let run = run(&[
            (true, "read", 1 << 20, 8, 555.0),
            (true, "read", 1 << 20, 1, 540.0),
            (false, "read", 4096, 32, 390.0),
            (false, "read", 4096, 1, 53.0),
            (true, "write", 1 << 20, 8, 11_000.0),
            (false, "read", 512, 1, 1.0),
        ]);
        let standings = standings(&run, &catalogue);
        let of = |number: usize| standings.iter().find(|one| one.cell_index + 1 == number);
        assert_eq!(bands_of(of(1).unwrap()), [DeviceClass::UsbSsd, DeviceClass::SataSsd]);
        // A sheet is nearer by the figure, but this was measured as the run was.
        let nearest = of(1).unwrap().nearest.as_ref().unwrap();
        assert_eq!((nearest.entry.as_str(), nearest.same_procedure), ("cdm-8/crucial-bx200-240gb", true));
        // A sheet's sequential rate is that of its best depth, which this cell is not.
        let of_sheets =
            |entry: &String| catalogue.entry(entry).unwrap().table.statistic == PublishedStatistic::Specified;
        assert!(of(1).unwrap().bands.iter().flat_map(|band| &band.entries).any(of_sheets));
        assert!(!of(2).unwrap().bands.iter().flat_map(|band| &band.entries).any(of_sheets), "{:?}", of(2));
        // Operations per second and bytes are one by the block: 98 000 of 4 KiB are 401 MB/s.
        assert!(bands_of(of(3).unwrap()).contains(&DeviceClass::SataSsd));
        assert!(!bands_of(of(3).unwrap()).contains(&DeviceClass::HardDisk));
        assert!(bands_of(of(4).unwrap()).contains(&DeviceClass::SataSsd));
        assert_eq!(bands_of(of(5).unwrap()), [DeviceClass::NvmePcie5]);
        assert!(of(6).is_none(), "nobody published that");
    }

    #[test]
    fn a_sheet_meets_the_run_of_any_tool_by_what_its_cells_did() {
        let catalogue = Catalogue::load().unwrap();
        let run = run(&[
            (true, "read", 1 << 20, 1, 540.0),
            (true, "read", 1 << 20, 8, 555.0),
            (false, "read", 4096, 1, 40.96),
        ]);
        let beside = super::super::beside(&run, &catalogue.entry("ssd-today-spec/samsung-870-evo").unwrap());
        let values: Vec<Option<f64>> = beside.figures.iter().map(|figure| figure.value).collect();
        assert_eq!(values, [Some(555.0), None, Some(10_000.0), None, None, None], "{beside:#?}");
    }

    #[test]
    fn every_band_is_what_rows_with_a_source_span() {
        let catalogue = Catalogue::load().unwrap();
        let run = run(&[(true, "read", 1 << 20, 8, 50.0)]);
        let all = standings(&run, &catalogue);
        let bands = &all[0].bands;
        assert_eq!(bands.len(), DeviceClass::WORDS.len(), "{bands:?}");
        for band in bands {
            for entry in band.entries.iter().map(|id| catalogue.entry(id).unwrap()) {
                assert_eq!(entry.row.class, Some(band.class));
                assert!(!entry.source().is_empty());
            }
        }
        let of = |class| bands.iter().find(|band| band.class == class).unwrap();
        let disk = of(DeviceClass::HardDisk);
        assert_eq!((disk.low_bytes_per_s, disk.high_bytes_per_s), (100e6, 210e6));
        // Between two bands it is in none.
        assert!(bands_of(&all[0]).is_empty());
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
        let run = run(&CELLS.map(|(order, direction, block, depth)| (order, direction, block, depth, 100.0)));
        let standings = standings(&run, &catalogue);
        let missing = |class: DeviceClass| -> Vec<usize> {
            let has = |standing: &&CellStanding| standing.bands.iter().any(|band| band.class == class);
            let numbers: Vec<usize> =
                standings.iter().filter(has).map(|standing| standing.cell_index + 1).collect();
            (1..=CELLS.len()).filter(|number| !numbers.contains(number)).collect()
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
