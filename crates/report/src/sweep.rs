//! A sweep of copies as one table: chunks down, the parts of the copy across, and last the ratio that the profile makes
//! of them.
//!
//! The model: the parts of one or two copies stand below each other, as `times` has them. Of more copies the same part
//! is what one compares, so it gets a column. What does not fit the width is dropped: first what reached the device,
//! then the memory alone; the details have all of it.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::derived;
use crate::figures::Figures;
use crate::layout::tame;
use crate::style::{Role, Style};
use crate::times;
use kurabe_core::number;
use kurabe_core::profile::{CopyPart, Statistic, Step};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::text;
use std::collections::BTreeSet;

/// From this many copies on they are a sweep.
const SWEEP: usize = 3;

/// Whether a cell is a part of a copy.
fn is_part(cell: &Cell) -> bool {
    cell.measure == Measure::Duration
        && cell.imported.is_none()
        && CopyPart::ALL.iter().any(|part| part.word() == cell.part)
}

/// Whether a cell stands in this table and not in that of the times.
pub(crate) fn is_here(cell: &Cell, cells: &[Cell]) -> bool {
    let steps = || cells.iter().filter(|cell| is_part(cell)).map(|cell| cell.step_index);
    is_part(cell) && steps().collect::<BTreeSet<_>>().len() >= SWEEP
}

/// The table; empty if the run is no sweep.
pub(crate) fn render(record: &RunRecord, statistic: Statistic, style: &Style) -> Vec<String> {
    let cells: Vec<&Cell> = record.cells.iter().filter(|cell| is_here(cell, &record.cells)).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let ratios = derived::of_steps(record, style);
    let steps: BTreeSet<u32> = cells.iter().map(|cell| cell.step_index).collect();
    let rows: Vec<Vec<Entry>> = steps
        .into_iter()
        .map(|step| {
            let cell =
                |part: &str| cells.iter().find(|cell| cell.step_index == step && cell.part == part).copied();
            let mut row = vec![plain(name(record, step))];
            let time = |part: CopyPart| time(cell(part.word()), statistic);
            let memory = [CopyPart::MemoryRead, CopyPart::MemoryWrite].map(time).join(" + ");
            row.push(plain(memory));
            row.extend(
                [CopyPart::FromMemory, CopyPart::ToMemory, CopyPart::Within].map(|part| plain(time(part))),
            );
            let within = cell(CopyPart::Within.word());
            row.push(plain(within.and_then(times::rates_at_device).unwrap_or_default()));
            let ratio =
                ratios.iter().flat_map(|(_, values)| values).find(|(place, _)| *place == step as usize);
            row.push((Role::Strong, ratio.map(|(_, value)| number::ratio(*value)).unwrap_or_default()));
            row
        })
        .collect();
    let title = ratios.as_ref().map_or("", |(title, _)| title);
    let heads = [
        Column::left(style.pick("chunk", "単位")).cut(Cut::End),
        Column::right(style.pick("memory read + write", "メモリー読み + 書き")).cut(Cut::Drop),
        Column::right(style.pick("to target", "対象へ")),
        Column::right(style.pick("from target", "対象から")),
        Column::right(style.pick("within", "対象内")),
        Column::right(style.pick("within, at the device", "対象内(デバイスで)")).cut(Cut::Drop),
        Column::right(title),
    ];
    let mut lines = columns::render(&heads, &rows, 0, style);
    lines.extend(widest_interval(&cells, statistic, style));
    lines
}

/// The size of a step's chunks, or its name if it was given one.
fn name(record: &RunRecord, step: u32) -> String {
    let profile = record.header.profile.as_ref();
    match profile.and_then(|profile| profile.steps.get(step as usize)) {
        Some(Step::Copy(copy)) if copy.label.is_none() => format_bytes(u64::from(copy.chunk_bytes)),
        Some(step) => tame(&step.label()),
        None => (step + 1).to_string(),
    }
}

fn time(cell: Option<&Cell>, statistic: Statistic) -> String {
    let figures = cell.map(|cell| Figures::of(cell, statistic));
    let main = figures.and_then(|figures| Some(figures.value(figures.main?).to_string()));
    main.unwrap_or_else(|| number::NONE.to_owned())
}

/// How uncertain the times are at worst; a column of intervals for each part would hide them.
fn widest_interval(cells: &[&Cell], statistic: Statistic, style: &Style) -> Option<String> {
    let share = |cell: &&Cell| {
        let mean = Figures::of(cell, statistic).mean?;
        Some(mean.half_width? / mean.mean).filter(|share| share.is_finite())
    };
    let widest = cells.iter().filter_map(share).reduce(f64::max).map(number::percent)?;
    let words = text!("these times have at most ±{widest}", "各時間の ± は最大 {widest}");
    Some(style.paint(Role::Quiet, &style.say(&words)))
}
