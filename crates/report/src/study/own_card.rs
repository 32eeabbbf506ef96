//! The card of a study of the user's devices: one picture for posting, as SVG.
//!
//! The model: the answer in a sentence, then a row for each figure and a column for each device, as
//! on the card of a comparison. Below each figure is a bar that begins at zero, on a scale of its
//! row, with the interval of the mean. The small print says how the devices were measured and how
//! warm they became. What does not fit is counted.

use super::article::drawable_answer;
use super::bars::plus_minus_words;
use super::tables::value_words;
use crate::machine::environment::course;
use crate::publish::card::{Area, HEIGHT, MARGIN, Paper, Tone, Type, WIDTH, heading, sentence};
use crate::words;
use kurabe_chart::{Theme, text_width, wrap};
use kurabe_core::record::RunRecord;
use kurabe_core::{Lang, Text, number, text};
use kurabe_study::{CellResult, ColumnResult, PartResult, RowOrder, StudyResult};

/// Maximum number of devices and of figures.
const MOST_DEVICES: usize = 6;
const MOST_FIGURES: usize = 8;
/// Width of the names of figures, height of the names of devices, distance between columns.
const LABELS: f64 = 236.0;
const HEADS: f64 = 52.0;
const GAP: f64 = 18.0;

/// A figure with its cell for each device.
struct Line<'r> {
    part: &'r PartResult,
    column: &'r ColumnResult,
    cells: Vec<Option<&'r CellResult>>,
}

/// Draws the figures of the devices.
pub(super) fn own_card(result: &StudyResult, runs: &[RunRecord], theme: Theme, lang: Lang) -> String {
    let title = result.title.line(lang);
    let mut paper = Paper::new(WIDTH, HEIGHT, theme, &title);
    heading(&mut paper, &title, None, lang);
    let top = sentence(&mut paper, &drawable_answer(result, lang), 104.0);
    let names = devices(result);
    let shown = names.len().min(MOST_DEVICES);
    let lines = lines(result, &names[..shown]);
    let foot = HEIGHT - 68.0;
    let width = (WIDTH - 2.0 * MARGIN - LABELS) / shown.max(1) as f64;
    for (index, name) in names.iter().take(shown).enumerate() {
        let (x, room) = (MARGIN + LABELS + index as f64 * width, width - GAP);
        for (line, words) in wrap(&name.line(lang), 16.0, true, room, 2).iter().enumerate() {
            let y = top + 20.0 + line as f64 * 19.0;
            paper.text(x, y, Type::of(16.0).bold().within(room), Tone::Plain, words);
        }
    }
    let fitting = &lines[..lines.len().min(MOST_FIGURES)];
    let height = ((foot - 14.0 - top - HEADS) / fitting.len().max(1) as f64).min(62.0);
    for (place, line) in fitting.iter().enumerate() {
        let y = top + HEADS + place as f64 * height;
        draw(&mut paper, line, result.parts.len() > 1, Area { x: MARGIN, y, width, height }, lang);
    }
    paper.rule(MARGIN, WIDTH - MARGIN, foot);
    let more = (lines.len() - fitting.len(), names.len() - shown);
    for (row, words) in small_print(result, runs, more).into_iter().enumerate() {
        let y = foot + 24.0 + row as f64 * 22.0;
        let form = Type::of(14.0).within(WIDTH - 2.0 * MARGIN - 96.0);
        paper.text(MARGIN, y, form, Tone::Quiet, &words.line(lang));
    }
    let version = concat!("kurabe ", env!("CARGO_PKG_VERSION"));
    let x = WIDTH - MARGIN - text_width(version, 14.0, false);
    paper.text(x, HEIGHT - 22.0, Type::of(14.0), Tone::Quiet, version);
    paper.finish()
}

/// Returns the names of the rows of all tables, each once.
fn devices(result: &StudyResult) -> Vec<Text> {
    let mut names: Vec<Text> = Vec::new();
    for row in result.parts.iter().flat_map(|part| &part.rows) {
        if !names.contains(&row.label) {
            names.push(row.label.clone());
        }
    }
    names
}

fn lines<'r>(result: &'r StudyResult, names: &[Text]) -> Vec<Line<'r>> {
    let mut lines = Vec::new();
    for part in result.parts.iter().filter(|part| part.axes.is_empty()) {
        for (index, column) in part.columns.iter().enumerate() {
            let of = |name: &Text| part.rows.iter().find(|row| row.label == *name)?.cells.get(index);
            lines.push(Line { part, column, cells: names.iter().map(of).collect() });
        }
    }
    lines
}

fn draw(paper: &mut Paper, line: &Line<'_>, with_title: bool, place: Area, lang: Lang) {
    let (column, unit) = (line.column, &line.column.unit);
    let name = match with_title {
        true => Text::join([line.part.title.clone(), column.name.clone()], [" · "; 2]),
        false => column.name.clone(),
    };
    let label = if unit.is_empty() { name.line(lang) } else { format!("{} ({unit})", name.line(lang)) };
    for (row, words) in wrap(&label, 15.0, false, LABELS - GAP, 2).iter().enumerate() {
        let y = place.y + 20.0 + row as f64 * 18.0;
        paper.text(place.x, y, Type::of(15.0).within(LABELS - GAP), Tone::Plain, words);
    }
    let values: Vec<f64> = line.cells.iter().flatten().filter_map(|cell| cell.value).collect();
    let better = |one: f64, other: f64| if column.less_is_better { one.min(other) } else { one.max(other) };
    let best = values.iter().copied().reduce(better);
    let most = values.iter().copied().fold(0.0, f64::max);
    for (index, cell) in line.cells.iter().enumerate() {
        let (x, room) = (place.x + LABELS + index as f64 * place.width, place.width - GAP);
        let Some((cell, value)) = cell.and_then(|cell| Some((cell, cell.value?))) else {
            paper.text(x, place.y + 22.0, Type::of(18.0), Tone::Quiet, number::NONE);
            continue;
        };
        let words = value_words(cell, column).line(lang);
        let size = (20.0 * room / text_width(&words, 20.0, true).max(1.0)).min(20.0);
        let form = if best == Some(value) { Type::of(size).bold() } else { Type::of(size) };
        paper.text(x, place.y + 22.0, form, Tone::Plain, &words);
        let bar = Area { x, y: place.y + 30.0, width: room, height: 9.0 };
        paper.track(bar);
        let share = |value: f64| if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        paper.bar(Area { width: room * share(value), ..bar }, usize::from(best != Some(value)) * 2);
        if let Some(half) = cell.plus_minus {
            for end in [value - half, value + half] {
                paper.tick(x + room * share(end), bar.y - 2.0, bar.y + bar.height + 2.0);
            }
        }
    }
}

/// Returns the lines below the figures: the procedure and the order, then date, machine and
/// temperatures.
fn small_print(result: &StudyResult, runs: &[RunRecord], more: (usize, usize)) -> [Text; 2] {
    let mut profiles: Vec<&str> = result.parts.iter().map(|part| part.profile.as_str()).collect();
    profiles.dedup();
    let mut how: Vec<Text> = profiles.into_iter().map(Text::same).collect();
    let orders = || result.parts.iter().flat_map(|part| &part.order);
    let interleaved = orders().any(|order| matches!(order, RowOrder::Interleaved { .. }));
    let in_sequence = orders().any(|order| matches!(order, RowOrder::InSequence { .. }));
    how.extend(interleaved.then(|| text!("interleaved", "交互に測定")));
    how.extend(in_sequence.then(|| text!("partly one after the other", "一部は 1 台ずつ順に測定")));
    how.extend(result.parts.iter().any(PartResult::has_plus_minus).then(plus_minus_words));
    let (figures, devices) = more;
    how.extend((figures > 0).then(|| text!("figures not shown: {figures}", "ほか {figures} 項目")));
    how.extend((devices > 0).then(|| text!("devices not shown: {devices}", "ほか {devices} 台")));
    let mut host: Vec<Text> = Vec::new();
    if let Some(run) = runs.first() {
        host.push(words::or_unknown(number::date_minute(run.header.measured_at())));
        let machine = &run.header.environment.machine;
        host.extend([&machine.model, &machine.kernel].into_iter().flatten().map(Text::same));
    }
    let warm = runs.iter().filter_map(|run| {
        let course = run.health_after.as_ref().and_then(course)?;
        let row = result.parts.iter().flat_map(|part| &part.rows);
        let name = row.clone().find(|row| row.run.as_deref() == Some(run.header.id.as_str()))?.label.clone();
        Some(Text::join([name, course], [": "; 2]))
    });
    host.extend(warm);
    [Text::join(how, [" · "; 2]), Text::join(host, [" · "; 2])]
}
