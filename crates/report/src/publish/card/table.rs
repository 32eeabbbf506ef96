//! The table on a card: cells as bars with their figures next to them, reads next to writes.
//!
//! The model: as in the table of the run, steps are rows and directions are columns. Times and
//! cells without a direction take the full width below. Bars begin at zero. Rates that differ widely
//! are drawn on a logarithmic scale, which its heading names, with a line at each power of ten. No
//! text is drawn on bars and lines.

use super::paper::{Anchor, Area, Paper, Tone, Type};
use crate::{run::figures::Figures, words};
use kurabe_chart::{bold_has, text_width, wrap};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Lang, imported::Quantity, number, profile::Statistic, text, workload::Direction};

/// Maximum number of rows of a table.
pub(super) const MOST_ROWS: usize = 12;
/// Ratio of the highest to the lowest value from which the scale is logarithmic.
const WIDE: f64 = 20.0;
const LABEL_WIDTH: f64 = 262.0;
const GAP: f64 = 28.0;
/// Width of the figures next to the bars.
const FIGURE_WIDTH: f64 = 142.0;
/// Width of the small text between bar and figure, in rows that are too low for two lines.
const MORE_WIDTH: f64 = 120.0;
/// Height of a heading and of the labels of a logarithmic scale below it.
const HEADING: f64 = 38.0;

/// An entry of the table.
pub(super) struct CardBar<'a> {
    figures: Figures<'a>,
    value: f64,
    /// Text below the figure.
    more: String,
}

impl CardBar<'_> {
    fn direction(&self) -> Option<Direction> {
        self.figures.cell.direction
    }

    fn measure(&self) -> Measure {
        self.figures.cell.measure
    }
}

pub(super) struct CardRow<'a> {
    label: String,
    entries: Vec<CardBar<'a>>,
    /// Whether reads and writes are side by side.
    paired: bool,
}

/// Returns the rows of a run, in the order of its steps.
pub(super) fn rows(run: &RunRecord, lang: Lang) -> Vec<CardRow<'_>> {
    let statistic = run.header.statistic();
    let mut keyed: Vec<((u32, String), CardRow<'_>)> = Vec::new();
    for cell in &run.cells {
        let Some(entry) = entry(cell, statistic, lang) else { continue };
        let paired = cell.direction.is_some() && cell.measure == Measure::Rate;
        let label = match (paired, cell.imported.is_some()) {
            (true, _) => words::label(cell).line(lang),
            (false, true) => crate::run::imported::name(cell).line(lang),
            (false, false) => words::cell(cell).line(lang),
        };
        let key = (cell.step_index, label.clone());
        let same = keyed.iter_mut().find(|(other, row)| *other == key && row.paired && paired);
        match same.filter(|(_, row)| row.entries.iter().all(|one| one.direction() != cell.direction)) {
            Some((_, row)) => row.entries.push(entry),
            None => keyed.push((key, CardRow { label, entries: vec![entry], paired })),
        }
    }
    // Measurement goes direction by direction. The table is sorted by step, with paired rows first.
    keyed.sort_by_key(|((step, _), row)| (!row.paired, *step));
    keyed.into_iter().map(|(_, row)| row).collect()
}

fn entry(cell: &Cell, statistic: Statistic, lang: Lang) -> Option<CardBar<'_>> {
    let figures = Figures::of(cell, statistic);
    let value = figures.drawn()?;
    let more = match &cell.imported {
        Some(imported) => {
            let others = imported.figures.iter().filter_map(|one| match one.quantity {
                Quantity::Iops => Some(number::iops(one.value).to_string()),
                Quantity::Latency => Some(number::latency(one.value).to_string()),
                _ => None,
            });
            others.take(2).collect()
        }
        None => more(&figures, lang),
    }
    .join(" · ");
    Some(CardBar { figures, value, more })
}

/// Returns the text below a figure: `±0.4 % · 76,260 IOPS · p99.9 412 µs`.
fn more(figures: &Figures<'_>, lang: Lang) -> Vec<String> {
    let interval = || figures.interval().filter(|interval| interval != "±0 %");
    let which = figures.chosen().map(|words| words.line(lang)).or_else(interval);
    let mut items: Vec<String> = which.into_iter().collect();
    if figures.small_blocks {
        items.extend(figures.rate_iops.map(|rate| number::iops(rate).to_string()));
        items.extend(figures.percentile_ns(0.999).map(|ns| format!("p99.9 {}", number::latency_ns(ns))));
    }
    items.extend(figures.flush.as_ref().map(|flush| words::flush(flush).line(lang)));
    if figures.generator_bound {
        items.push(lang.pick("kurabe was the limit", "kurabe 自身が上限").to_owned());
    }
    if figures.cell.measure == Measure::Duration {
        items.extend(crate::run::times::rates_at_device(figures.cell));
    }
    items
}

/// Draws the rows into an area. Those that don't fit are counted.
pub(super) fn draw(paper: &mut Paper, rows: &[CardRow<'_>], area: Area, lang: Lang) {
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    if shown.is_empty() {
        let words = lang.pick("no figure was measured", "有効な測定値がありません");
        paper.text(area.x, area.y + 40.0, Type::of(20.0), Tone::Quiet, words);
        return;
    }
    let (paired, listed): (Vec<&CardRow<'_>>, Vec<&CardRow<'_>>) = shown.iter().partition(|row| row.paired);
    let left_out = rows.len() - shown.len();
    let headings = HEADING * f64::from(u8::from(!paired.is_empty()) + u8::from(!listed.is_empty()));
    let room = area.height - headings - if left_out > 0 { 22.0 } else { 0.0 };
    let height = (room / shown.len() as f64).min(104.0);
    let mut y = area.y;
    for rows in [paired, listed].iter().filter(|rows| !rows.is_empty()) {
        let draw = if rows[0].paired { draw_paired } else { draw_listed };
        draw(paper, rows, Area { y, ..area }, height, lang);
        label_rows(paper, rows, Area { y: y + HEADING, ..area }, height);
        y += HEADING + height * rows.len() as f64;
    }
    if left_out > 0 {
        let words = text!("and {left_out} more rows", "ほか {left_out} 行");
        paper.text(area.x, y + 18.0, Type::of(14.0), Tone::Quiet, &words.line(lang));
    }
}

fn draw_paired(paper: &mut Paper, rows: &[&CardRow<'_>], area: Area, height: f64, lang: Lang) {
    let present = |direction: &Direction| {
        rows.iter().flat_map(|row| &row.entries).any(|entry| entry.direction() == Some(*direction))
    };
    let columns: Vec<Direction> = Direction::ALL.into_iter().filter(present).collect();
    let room = area.width - LABEL_WIDTH;
    let width = (room - GAP * (columns.len() as f64 - 1.0)) / columns.len() as f64;
    let scale = BarScale::of(rows.iter().flat_map(|row| &row.entries).map(|entry| entry.value));
    for (place, direction) in columns.iter().enumerate() {
        let x = area.x + LABEL_WIDTH + place as f64 * (width + GAP);
        let name = words::direction(*direction).line(lang);
        let how = if scale.logarithmic { lang.pick(", logarithmic", "、対数") } else { "" };
        let heading = format!("{name} (MB/s{how})");
        paper.text(x, area.y + 17.0, Type::of(17.0).bold().within(width), Tone::Plain, &heading);
        let top = area.y + HEADING;
        let column = Area { x, y: top, width, height };
        draw_column(paper, rows, *direction, column, &scale);
    }
}

/// Draws the bars of a direction, then the lines of the scale, then the figures. `area` is the
/// place of the first bar.
fn draw_column(paper: &mut Paper, rows: &[&CardRow<'_>], direction: Direction, area: Area, scale: &BarScale) {
    let of_direction = |entry: &&CardBar<'_>| entry.direction() == Some(direction);
    let place =
        |line: usize| Area { y: area.y + line as f64 * area.height, height: area.height - 8.0, ..area };
    for (line, row) in rows.iter().enumerate() {
        paper.track(bar_place(place(line)));
        if let Some(entry) = row.entries.iter().find(of_direction) {
            draw_bar(paper, entry, place(line), scale);
        }
    }
    scale.ticks(|share, words| {
        let at = area.x + share * bar_width(place(0));
        paper.text(at, area.y - 5.0, Type::of(12.0).at(Anchor::Middle), Tone::Quiet, words);
        for line in 0..rows.len() {
            let bar = bar_place(place(line));
            paper.tick(at, bar.y, bar.y + bar.height);
        }
    });
    for (line, row) in rows.iter().enumerate() {
        let place = place(line);
        match row.entries.iter().find(of_direction) {
            Some(entry) => draw_figure(paper, entry, place, false),
            None => {
                let right = place.x + place.width - 14.0;
                paper.text(right, middle(place), Type::of(18.0).at(Anchor::End), Tone::Quiet, number::NONE);
            }
        }
    }
}

fn draw_listed(paper: &mut Paper, rows: &[&CardRow<'_>], area: Area, height: f64, lang: Lang) {
    let times = rows.iter().flat_map(|row| &row.entries).all(|entry| !entry.measure().higher_is_better());
    let heading = match times {
        true => lang.pick("time (shorter is faster)", "時間(短いほど速い)"),
        false => lang.pick("throughput", "速度"),
    };
    paper.text(area.x + LABEL_WIDTH, area.y + 17.0, Type::of(17.0).bold(), Tone::Plain, heading);
    for (line, row) in rows.iter().enumerate() {
        let (x, width) = (area.x + LABEL_WIDTH, area.width - LABEL_WIDTH);
        let place = Area { x, y: area.y + HEADING + line as f64 * height, width, height: height - 8.0 };
        paper.track(bar_place(place));
        let alike = |entry: &&CardBar<'_>| entry.measure() == row.entries[0].measure();
        let scale =
            BarScale::of(rows.iter().flat_map(|row| &row.entries).filter(alike).map(|entry| entry.value));
        draw_bar(paper, &row.entries[0], place, &scale.linear());
        draw_figure(paper, &row.entries[0], place, true);
    }
}

fn label_rows(paper: &mut Paper, rows: &[&CardRow<'_>], area: Area, height: f64) {
    let size = (height * 0.3).clamp(12.0, 20.0);
    let room = LABEL_WIDTH - 16.0;
    for (line, row) in rows.iter().enumerate() {
        let place = bar_place(Area { y: area.y + line as f64 * height, height: height - 8.0, ..area });
        // The end of a name often distinguishes the rows, so it wraps to two lines before it is
        // cut.
        let two = size.min((place.height - 4.0) / 2.4);
        // All lines have the same weight.
        let bold = bold_has(&row.label);
        let (size, lines) = match text_width(&row.label, size, bold) > room && two >= 11.0 {
            true => (two, wrap(&row.label, two, false, room * 0.96, 2)),
            false => (size, vec![row.label.clone()]),
        };
        let first = middle(place) + size * 0.36 - (lines.len() - 1) as f64 * size * 0.6;
        for (index, words) in lines.iter().enumerate() {
            let form = Type::of(size).within(room);
            let form = if bold { form.bold() } else { form };
            paper.text(area.x, first + index as f64 * size * 1.2, form, Tone::Plain, words);
        }
    }
}

fn middle(area: Area) -> f64 {
    area.y + area.height / 2.0
}

fn draw_bar(paper: &mut Paper, entry: &CardBar<'_>, place: Area, scale: &BarScale) {
    let kind = match entry.direction() {
        Some(Direction::Read) => 0,
        Some(Direction::Write) => 1,
        Some(Direction::Mix) | None => 2,
    };
    let bar = bar_place(place);
    paper.bar(Area { width: bar.width * scale.share(entry.value), ..bar }, kind);
}

/// Width of a column's bars. The rest is for the figures, and in low rows for the small text, too.
fn bar_width(column: Area) -> f64 {
    let text = if has_two_lines(column) { 0.0 } else { MORE_WIDTH };
    column.width - FIGURE_WIDTH - text
}

/// `area` is the place of an entry, or of the first one of a column. The distance between entries
/// does not count.
fn has_two_lines(area: Area) -> bool {
    area.height >= TWO_LINES
}

/// Height of an entry from which there is room for a text below its bar.
const TWO_LINES: f64 = 46.0;

/// Returns the place of the bar within that of its entry: above the small text, left of the figure.
fn bar_place(place: Area) -> Area {
    let height = if has_two_lines(place) { place.height - 24.0 } else { place.height * 0.7 };
    let y = if has_two_lines(place) { place.y } else { place.y + (place.height - height) / 2.0 };
    Area { y, width: bar_width(place), height, ..place }
}

/// Draws the figure next to its bar, with its unit if the heading doesn't give it, and the small
/// text below.
fn draw_figure(paper: &mut Paper, entry: &CardBar<'_>, place: Area, with_unit: bool) {
    let bar = bar_place(place);
    let figure = entry.figures.value(entry.value);
    let figure = if with_unit { figure.to_string() } else { figure.number };
    let room = FIGURE_WIDTH - 16.0;
    let size = (bar.height * 0.72).clamp(14.0, 32.0);
    let size = size.min(size * room / text_width(&figure, size, true).max(1.0));
    let tone = if entry.figures.generator_bound { Tone::WarnRest } else { Tone::Plain };
    let right = place.x + place.width;
    paper.text(right, middle(bar) + size * 0.36, Type::of(size).bold().at(Anchor::End), tone, &figure);
    let form = Type::of(14.0).at(Anchor::End);
    match has_two_lines(place) {
        true => {
            let form = form.within(place.width);
            paper.text(right, place.y + place.height - 6.0, form, tone, &entry.more);
        }
        false => {
            let form = form.within(MORE_WIDTH - 12.0);
            paper.text(right - FIGURE_WIDTH + 8.0, middle(bar) + 5.0, form, tone, &entry.more);
        }
    }
}

/// Scale of the bars.
struct BarScale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl BarScale {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        if low.is_finite() && high / low > WIDE {
            // The bar of the lowest value must be visible.
            let decade = |value: f64| 10f64.powf(value);
            return Self {
                low: decade((low * 0.7).log10().floor()),
                high: decade((high * 1.02).log10().ceil()),
                logarithmic: true,
            };
        }
        Self { low: 0.0, high: high * 1.05, logarithmic: false }
    }

    /// Returns a linear scale. Times are compared by their length.
    fn linear(self) -> Self {
        if self.logarithmic { Self { low: 0.0, logarithmic: false, ..self } } else { self }
    }

    fn share(&self, value: f64) -> f64 {
        let share = match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => value / self.high,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Draws the powers of ten on a logarithmic scale, in MB/s.
    fn ticks(&self, mut draw: impl FnMut(f64, &str)) {
        if !self.logarithmic {
            return;
        }
        let (first, last) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
        for power in first + 1..last {
            let value = 10f64.powi(power);
            let words = if power < 6 { format!("{}", value / 1e6) } else { number::whole(value / 1e6) };
            draw(self.share(value), &words);
        }
    }
}

/// Returns name, figure and the text below it for every entry of the table.
pub(super) fn main_figures(rows: &[CardRow<'_>], lang: Lang) -> Vec<(String, String, String)> {
    rows.iter()
        .flat_map(|row| row.entries.iter().map(move |entry| (row, entry)))
        .map(|(row, entry)| {
            let direction =
                entry.direction().filter(|_| row.paired).map(|one| words::direction(one).line(lang));
            let name = match direction {
                Some(direction) if !row.label.to_lowercase().contains(&direction) => {
                    format!("{direction} {}", row.label)
                }
                _ => row.label.clone(),
            };
            (name, entry.figures.value(entry.value).to_string(), entry.more.clone())
        })
        .collect()
}
