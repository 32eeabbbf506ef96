//! Tiles: a row for each step, a tile for each direction. A tile has a large figure, and a dot on
//! an axis that all tiles share, among the usual bands of drive classes.

use super::kit::*;
use crate::board::{Board, column};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_report::{Tile, usual_words};
use kurabe_study::catalogue::{Catalogue, DeviceClass};
use kurabe_study::{Band, Likeness, bands};

/// Length of the axis, in its own units.
const LENGTH: f64 = 250.0;
/// Minimum distance between the names of bands, so that they don't overlap.
const NAME_LENGTH: f64 = 44.0;
/// Maximum number of tiles. More would give no overview, so a table shows the cells instead.
const MOST: usize = 16;

/// Renders the tiles of the current or last run. Each step can be measured separately.
pub(crate) fn of_board(board: &Board, likeness: Option<&Likeness>, lang: Lang) -> Markup {
    let tiles = Tiles { now: board.now, can_measure: true, ..Tiles::of(&board.record, likeness) };
    tiles.markup(&board.planned, lang)
}

/// Renders the tiles of a stored run. Empty for a run with many cells.
pub(crate) fn of_run(record: &RunRecord, likeness: Option<&Likeness>, lang: Lang) -> Markup {
    html! { @if record.cells.len() <= MOST { (Tiles::of(record, likeness).markup(&record.cells, lang)) } }
}

struct Tiles<'a> {
    done: Vec<DoneCell<'a>>,
    axis: Option<RateAxis>,
    /// The cell being measured.
    now: Option<u32>,
    likeness: Option<&'a Likeness>,
    can_measure: bool,
}

/// A completed cell, with what is drawn of it.
struct DoneCell<'a> {
    cell: &'a Cell,
    tile: Tile,
    bands: Vec<(DeviceClass, Band)>,
}

impl<'a> Tiles<'a> {
    fn of(record: &'a RunRecord, likeness: Option<&'a Likeness>) -> Self {
        let (statistic, catalogue) = (record.header.statistic(), Catalogue::built_in());
        let bands = |cell| bands(record, cell, catalogue);
        let done = |cell| DoneCell { cell, tile: Tile::of(cell, statistic), bands: bands(cell) };
        let done: Vec<DoneCell<'_>> = record.cells.iter().map(done).collect();
        Self { axis: RateAxis::over(&done), done, now: None, likeness, can_measure: false }
    }

    fn markup(&self, places: &[Cell], lang: Lang) -> Markup {
        let used: Vec<usize> =
            (0..3).filter(|number| places.iter().any(|place| column(place.direction) == *number)).collect();
        let names = [text!("Read", "読み出し"), text!("Write", "書き込み"), text!("Other", "その他")];
        let alone = text!("measure this one alone", "この項目だけを測る");
        html! {
            div class={ "tiles columns-" (used.len()) } {
                div.names aria-hidden="true" {
                    span {}
                    @for number in &used { span { (names[*number].get(lang)) } }
                }
                @for row in rows(places) {
                    @let label = shown::line(&row[0].label);
                    div.row {
                        @if self.can_measure {
                            button.step type="button" data-only=(row[0].label) title=(alone.get(lang)) { (label) }
                        } @else {
                            span.step { (label) }
                        }
                        @for number in &used {
                            @let cells = row.iter().filter(|place| column(place.direction) == *number);
                            @if cells.clone().next().is_none() { div.tile.none {} }
                            @for place in cells {
                                @let name = names[*number].map(|name| format!("{name} {label}"));
                                (self.tile(place, &name, lang))
                            }
                        }
                    }
                }
            }
        }
    }

    fn tile(&self, place: &Cell, name: &Text, lang: Lang) -> Markup {
        let done = self.done.iter().find(|done| done.cell.index == place.index);
        let class = match (done, place.direction) {
            _ if self.now == Some(place.index) => "tile now",
            (None, _) => "tile waits",
            (Some(_), Some(Direction::Write)) => "tile done writes",
            (Some(_), _) => "tile done",
        };
        let likeness = self.likeness.and_then(|likeness| {
            let is_meant = |one: &&kurabe_study::CellLikeness| one.cell_index as u32 == place.index;
            Some(usual_words(likeness.class, likeness.cells.iter().find(is_meant)?))
        });
        html! {
            div class=(class) data-cell=(place.index) role="group" aria-label=(name.get(lang)) {
                @if let Some(done) = done {
                    div { (figures(&done.tile, lang)) @if let Some(words) = likeness { p.like { (words.get(lang)) } } }
                    @if let (Some(axis), Some(rate)) = (&self.axis, done.tile.rate_bytes_per_s) {
                        (axis.drawing(rate, &done.bands))
                    }
                } @else {
                    div { p.figure { span.live { "–" } } p.more {} }
                }
            }
        }
    }
}

/// Groups the cells by step, one row each. The directions of a step may be apart in the order of
/// measurement.
fn rows(places: &[Cell]) -> Vec<Vec<&Cell>> {
    let mut rows: Vec<Vec<&Cell>> = Vec::new();
    for place in places {
        let is_same =
            |row: &&mut Vec<&Cell>| (row[0].step_index, &row[0].label) == (place.step_index, &place.label);
        match rows.iter_mut().find(is_same) {
            Some(row) => row.push(place),
            None => rows.push(vec![place]),
        }
    }
    rows
}

/// A logarithmic axis of rates over whole powers of ten.
struct RateAxis {
    first_power: i32,
    last_power: i32,
}

impl RateAxis {
    /// Creates an axis that covers all rates and bands. `None` if there is no rate.
    fn over(done: &[DoneCell<'_>]) -> Option<Self> {
        let rates = done.iter().filter_map(|one| one.tile.rate_bytes_per_s).filter(|rate| *rate > 0.0);
        let ends = done.iter().flat_map(|one| &one.bands);
        let ends = ends.flat_map(|(_, band)| [band.low_bytes_per_s, band.high_bytes_per_s]);
        let powers: Vec<f64> = rates.chain(ends).map(f64::log10).collect();
        let least = powers.iter().copied().reduce(f64::min)?;
        let most = powers.iter().copied().fold(least, f64::max);
        Some(Self {
            first_power: least.floor() as i32,
            last_power: (most.ceil() as i32).max(least.floor() as i32 + 1),
        })
    }

    fn place(&self, rate: f64) -> f64 {
        let (first, last) = (f64::from(self.first_power), f64::from(self.last_power));
        ((rate.log10() - first) / (last - first)).clamp(0.0, 1.0) * LENGTH
    }

    /// Draws the bands with their names, the powers of ten, and a dot. The text next to it says the
    /// same.
    fn drawing(&self, rate: f64, bands: &[(DeviceClass, Band)]) -> Markup {
        let tenths = |place: f64| format!("{place:.1}");
        // With many powers, only every second one is labelled.
        let step = if self.last_power - self.first_power > 5 { 2 } else { 1 };
        let ticks =
            (self.first_power..=self.last_power).filter(|power| (self.last_power - power) % step == 0);
        let mut name_end = f64::NEG_INFINITY;
        let named: Vec<_> = bands
            .iter()
            .map(|(class, band)| {
                let [low, high] = [band.low_bytes_per_s, band.high_bytes_per_s].map(|end| self.place(end));
                let middle = (low + high) / 2.0;
                let has_room = middle - NAME_LENGTH / 2.0 >= name_end;
                if has_room {
                    name_end = middle + NAME_LENGTH / 2.0;
                }
                (low, (high - low).max(2.0), has_room.then(|| (middle, short_name(*class))))
            })
            .collect();
        html! {
            svg.axis viewBox="-20 0 290 46" aria-hidden="true" {
                line x1="0" x2=(LENGTH) y1="20" y2="20" {}
                @for (low, width, name) in named {
                    rect.band x=(tenths(low)) y="16" width=(tenths(width)) height="8" rx="2" {}
                    @if let Some((middle, name)) = name { text x=(tenths(middle)) y="10" { (name) } }
                }
                @for power in ticks {
                    @let place = tenths(self.place(10f64.powi(power)));
                    line x1=(place) x2=(place) y1="17" y2="23" {}
                    text x=(place) y="40" { (power_words(power)) }
                }
                circle cx=(tenths(self.place(rate))) cy="20" r="5.5" {}
            }
        }
    }
}

/// Returns the rate for a power of ten, such as `100 MB/s` for 8.
fn power_words(power: i32) -> String {
    let (unit, power) = match power {
        9.. => ("GB/s", power - 9),
        5..9 => ("MB/s", power - 6),
        _ => ("KB/s", power - 3),
    };
    format!("{} {unit}", 10f64.powi(power))
}

/// Returns the common short name of a class, in either language.
fn short_name(class: DeviceClass) -> &'static str {
    match class {
        DeviceClass::HardDisk => "HDD",
        DeviceClass::SdCard => "SD",
        DeviceClass::SataSsd => "SATA SSD",
        DeviceClass::NvmePcie3 => "NVMe 3",
        DeviceClass::NvmePcie4 => "NVMe 4",
        DeviceClass::NvmePcie5 => "NVMe 5",
        DeviceClass::Usb2Stick | DeviceClass::Usb3Stick | DeviceClass::UsbSsd => "USB",
        DeviceClass::SmrDisk => "SMR HDD",
        DeviceClass::Emmc => "eMMC",
        DeviceClass::ServerSsd => "server SSD",
        DeviceClass::OptaneSsd => "Optane",
        DeviceClass::CloudVolume => "cloud",
    }
}

/// Renders the figures of a cell in every unit. The style sheet shows the selected unit.
fn figures(tile: &Tile, lang: Lang) -> Markup {
    let Tile { main, gigabytes, iops, microseconds, .. } = tile;
    let units = [("u-rate", main), ("u-giga", gigabytes), ("u-iops", iops), ("u-time", microseconds)];
    // A time has only one unit, and so does a cell without operations.
    let units = if gigabytes.is_some() { &units[..] } else { &units[..1] };
    let facts = [
        tile.interval.clone().map(Text::same),
        tile.iops.as_ref().map(|iops| Text::same(iops.to_string())),
        tile.mean_latency.as_ref().map(|latency| text!("mean {latency}", "平均 {latency}")),
        tile.p99_latency.as_ref().map(|latency| Text::same(format!("p99 {latency}"))),
    ];
    html! {
        p.figure {
            @for (class, figure) in units {
                span class=[(units.len() > 1).then_some(class)] {
                    @if let Some(figure) = figure {
                        b { (figure.number) } " " i { (figure.unit) }
                    } @else {
                        b { (number::NONE) }
                    }
                }
            }
        }
        p.more { (Text::join(facts.into_iter().flatten(), [" · "; 2]).get(lang)) }
    }
}
