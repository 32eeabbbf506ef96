//! Tiles: a row for each step, a tile for each direction. A tile has a large figure, and a dot on
//! an axis that all tiles share, among the usual bands of drive classes.
//!
//! The model of the names on an axis: the band that the dot lies in is named first, then the others
//! from the nearest on, as long as there is room. All bands are named for the pointer and the
//! screen reader.

use super::kit::*;
use crate::board::{Board, column};
use kurabe_chart::text_width;
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_report::{Tile, usual_words};
use kurabe_study::catalogue::{Catalogue, DeviceClass};
use kurabe_study::{Band, Likeness, bands};

/// Length of the axis, in its own units.
const LENGTH: f64 = 250.0;
/// Space for names beyond both ends of the axis.
const OVERHANG: f64 = 20.0;
/// Font size on the axis, in its own units.
const NAME_SIZE: f64 = 10.0;
/// Minimum distance between two names.
const NAME_GAP: f64 = 4.0;
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
        let has_rates = self.done.iter().any(|done| done.tile.gigabytes.is_some());
        let alone = text!("measure only this one", "この項目だけを測る");
        html! {
            div class={ "tiles columns-" (used.len()) } {
                div.names {
                    @if has_rates || self.can_measure { (units(lang)) } @else { span {} }
                    @for number in &used { span aria-hidden="true" { (names[*number].get(lang)) } }
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
                    div {
                        (figures(&done.tile, is_random(done.cell), lang))
                        @if let Some(words) = likeness { p.like { (words.get(lang)) } }
                    }
                    @if let (Some(axis), Some(rate)) = (&self.axis, done.tile.rate_bytes_per_s) {
                        (axis.drawing(rate, &done.bands, self.likeness.map(|likeness| likeness.class)))
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

    /// Draws the bands with their names, the powers of ten, and a dot.
    fn drawing(&self, rate: f64, bands: &[(DeviceClass, Band)], own: Option<DeviceClass>) -> Markup {
        let tenths = |place: f64| format!("{place:.1}");
        // With many powers, only every second one is labelled.
        let step = if self.last_power - self.first_power > 5 { 2 } else { 1 };
        let ticks =
            (self.first_power..=self.last_power).filter(|power| (self.last_power - power) % step == 0);
        let places: Vec<[f64; 2]> =
            bands.iter().map(|(_, band)| ends(band).map(|end| self.place(end))).collect();
        let dot = self.place(rate);
        let names = named(&places, bands, dot, own);
        let has_bands = !bands.is_empty();
        let ranges: Vec<String> = bands.iter().map(|(class, band)| range_words(*class, band)).collect();
        html! {
            // Without bands, the axis says nothing but the figure.
            svg.axis viewBox="-20 0 290 46" role=[has_bands.then_some("img")]
                aria-label=[has_bands.then(|| ranges.join("; "))] aria-hidden=[(!has_bands).then_some("true")] {
                line x1="0" x2=(LENGTH) y1="20" y2="20" {}
                @for (([low, high], range), name) in places.iter().zip(&ranges).zip(&names) {
                    @let width = (high - low).max(2.0);
                    rect.band x=(tenths(*low)) y="15" width=(tenths(width)) height="10" rx="2" { title { (range) } }
                    @if let Some((middle, name)) = name { text.name x=(tenths(*middle)) y="10" { (name) } }
                }
                @for power in ticks {
                    @let place = tenths(self.place(10f64.powi(power)));
                    line x1=(place) x2=(place) y1="17" y2="23" {}
                    text x=(place) y="40" { (power_words(power)) }
                }
                circle cx=(tenths(dot)) cy="20" r="5.5" {}
            }
        }
    }
}

fn ends(band: &Band) -> [f64; 2] {
    [band.low_bytes_per_s, band.high_bytes_per_s]
}

/// Returns a class with its usual rates, as in `SATA SSD 480 – 560 MB/s`.
fn range_words(class: DeviceClass, band: &Band) -> String {
    let [low, high] = ends(band).map(number::rate);
    format!("{} {} – {}", short_name(class), low.number, high)
}

/// Returns the place of each band's name on the axis. The band in which the dot lies is named in any
/// case, and the others if there is room. If the dot lies in several, the class of the run is
/// preferred, then the narrowest band. If it lies in none, the nearest is named.
fn named(
    places: &[[f64; 2]],
    bands: &[(DeviceClass, Band)],
    dot: f64,
    own: Option<DeviceClass>,
) -> Vec<Option<(f64, &'static str)>> {
    let distance = |[low, high]: [f64; 2]| (low - dot).max(dot - high).max(0.0);
    let width = |[low, high]: [f64; 2]| high - low;
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|one, two| {
        let key = |index: usize| {
            let is_other = own != Some(bands[index].0);
            (distance(places[index]), f64::from(u8::from(is_other)), width(places[index]))
        };
        key(*one).partial_cmp(&key(*two)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut taken: Vec<[f64; 2]> = Vec::new();
    let mut names = vec![None; places.len()];
    for index in order {
        let name = short_name(bands[index].0);
        let half = text_width(name, NAME_SIZE, false) / 2.0;
        let [low, high] = places[index];
        let middle = ((low + high) / 2.0).clamp(half - OVERHANG, LENGTH + OVERHANG - half);
        let own = [middle - half, middle + half];
        if taken.iter().all(|other| own[1] + NAME_GAP <= other[0] || other[1] + NAME_GAP <= own[0]) {
            taken.push(own);
            names[index] = Some((middle, name));
        }
    }
    names
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

/// Renders the choice of the tiles' unit.
fn units(lang: Lang) -> Markup {
    html! {
        div.units role="group" aria-label=(text!("unit", "単位").get(lang)) {
            @for (unit, name) in [("rate", "MB/s"), ("giga", "GB/s"), ("iops", "IOPS"), ("time", "µs")] {
                button type="button" data-unit=(unit) aria-pressed=((unit == "rate").to_string()) { (name) }
            }
        }
    }
}

/// Checks whether a cell reads or writes at random, so that its operations matter as much as its
/// bytes.
fn is_random(cell: &Cell) -> bool {
    let own = cell.workload.as_ref().map(|workload| !workload.pattern.is_sequential());
    own.or_else(|| cell.imported.as_ref()?.sequential.map(|sequential| !sequential)).unwrap_or(false)
}

/// Renders the figures of a cell in every unit. The style sheet shows the selected unit. A random
/// cell shows its operations per second as large as its rate.
fn figures(tile: &Tile, is_random: bool, lang: Lang) -> Markup {
    let Tile { main, gigabytes, iops, microseconds, .. } = tile;
    let units = [("u-rate", main), ("u-giga", gigabytes), ("u-iops", iops), ("u-time", microseconds)];
    // A time has only one unit, and so does a cell without operations.
    let units = if gigabytes.is_some() { &units[..] } else { &units[..1] };
    let also = iops.as_ref().filter(|_| is_random && gigabytes.is_some());
    let facts = [
        tile.interval.clone().map(Text::same),
        tile.mean_latency.as_ref().map(|latency| text!("mean {latency}", "平均 {latency}")),
        tile.p99_latency.as_ref().map(|latency| Text::same(format!("p99 {latency}"))),
        tile.flush.clone(),
    ];
    html! {
        p.figure.two[also.is_some()] {
            @for (class, figure) in units {
                span class=[(units.len() > 1).then_some(class)] {
                    @if let Some(figure) = figure {
                        b { (figure.number) } " " i { (figure.unit) }
                    } @else {
                        b { (number::NONE) }
                    }
                }
            }
            @if let Some(iops) = also { " " span.also { b { (iops.number) } " " i { (iops.unit) } } }
        }
        p.more {
            @for (place, fact) in facts.into_iter().flatten().enumerate() {
                @if place > 0 { " · " }
                span { (fact.get(lang)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_shows_its_flush() {
        let flush = Some(text!("fsync p99 7.5 ms", "fsync p99 7.5 ms"));
        let shown = figures(&Tile { flush, ..Tile::default() }, false, Lang::En).into_string();
        assert!(shown.contains("<span>fsync p99 7.5 ms</span>"), "{shown}");
    }

    fn band(low: f64, high: f64) -> Band {
        Band { low_bytes_per_s: low, high_bytes_per_s: high, entries: Vec::new() }
    }

    #[test]
    fn the_class_of_the_dot_is_always_named_and_names_do_not_collide() {
        let bands = [
            (DeviceClass::HardDisk, band(1.2e8, 2.6e8)),
            (DeviceClass::SataSsd, band(4.6e8, 5.7e8)),
            (DeviceClass::NvmePcie3, band(5.5e8, 3.5e9)),
            (DeviceClass::NvmePcie4, band(4e9, 7.4e9)),
        ];
        let axis = RateAxis { first_power: 6, last_power: 10 };
        let places: Vec<[f64; 2]> =
            bands.iter().map(|(_, band)| ends(band).map(|end| axis.place(end))).collect();
        for power in 0..400 {
            let rate = 10f64.powf(6.0 + f64::from(power) / 100.0);
            let own = (power % 2 == 0).then_some(DeviceClass::SataSsd);
            let names = named(&places, &bands, axis.place(rate), own);
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(&axis.place(rate));
            let inside: Vec<usize> = (0..4).filter(|index| holds(places[*index])).collect();
            let is_named = inside.iter().any(|index| names[*index].is_some());
            assert!(inside.is_empty() || is_named, "{rate}: {names:?}");
            assert!(
                !inside.contains(&1) || own.is_none() || names[1].is_some(),
                "the run's own class: {rate}"
            );
            let mut ends: Vec<[f64; 2]> = names
                .iter()
                .flatten()
                .map(|(middle, name)| {
                    let half = text_width(name, NAME_SIZE, false) / 2.0;
                    [middle - half, middle + half]
                })
                .collect();
            ends.sort_by(|one, two| one[0].total_cmp(&two[0]));
            assert!(ends.windows(2).all(|pair| pair[0][1] < pair[1][0]), "{rate}: {names:?}");
            assert!(!ends.is_empty());
        }
    }
}
