//! A sweep of copies as one table: chunks down, the parts of the copy across, and last the ratio that the profile makes
//! of them.
//!
//! The model: the parts of one or two copies stand below each other, as `times` has them. Of more copies the same part
//! is what one compares, so it gets a column. What does not fit the width is dropped: first what reached the device,
//! then the memory alone; the details have all of it.

use crate::doc::{Column, Cut, Doc, Entry, Paragraph, Role, Table};
use crate::run::derived::step_name;
use crate::run::figures::Figures;
use crate::run::{derived, times};
use kurabe_core::number::{self, Figure};
use kurabe_core::profile::{CopyPart, Statistic};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, text};
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
pub(crate) fn doc(record: &RunRecord, statistic: Statistic) -> Doc {
    let cells: Vec<&Cell> = record.cells.iter().filter(|cell| is_here(cell, &record.cells)).collect();
    let mut doc = Doc::new();
    if cells.is_empty() {
        return doc;
    }
    let ratios = derived::of_steps(record);
    let steps: BTreeSet<u32> = cells.iter().map(|cell| cell.step_index).collect();
    let rows = steps.into_iter().map(|step| {
        let cell = |part: CopyPart| {
            cells.iter().find(|cell| cell.step_index == step && cell.part == part.word()).copied()
        };
        let time = |part: CopyPart| Entry::figure(Role::Plain, time(cell(part), statistic));
        let memory = [CopyPart::MemoryRead, CopyPart::MemoryWrite].map(|part| {
            self::time(cell(part), statistic).map_or_else(|| number::NONE.to_owned(), |time| time.to_string())
        });
        let profile = record.header.profile.as_ref();
        let name = profile.map_or((step + 1).to_string(), |profile| step_name(profile, step as usize));
        let at_device = cell(CopyPart::Within).and_then(times::rates_at_device).unwrap_or_default();
        let ratio = ratios.iter().flat_map(|(_, values)| values).find(|(place, _)| *place == step as usize);
        let ratio = ratio.map(|(_, value)| derived::figure_words(*value)).unwrap_or_default();
        [
            name.into(),
            memory.join(" + ").into(),
            time(CopyPart::FromMemory),
            time(CopyPart::ToMemory),
            time(CopyPart::Within),
            at_device.into(),
            Entry::new(Role::Strong, ratio),
        ]
    });
    let title = ratios.as_ref().map(|(title, _)| title.clone()).unwrap_or_default();
    let columns = [
        Column::left(text!("chunk", "単位")).cut(Cut::End),
        Column::right(text!("memory read + write", "メモリー読み + 書き")).cut(Cut::Drop),
        Column::right(text!("to target", "対象へ")),
        Column::right(text!("from target", "対象から")),
        Column::right(text!("within", "対象内")),
        Column::right(text!("within, at the device", "対象内(デバイスで)")).cut(Cut::Drop),
        Column::right(title),
    ];
    doc.push(Table::new(columns, rows));
    doc.append(widest_interval(&cells, statistic).into_iter().collect());
    doc
}

fn time(cell: Option<&Cell>, statistic: Statistic) -> Option<Figure> {
    let figures = Figures::of(cell?, statistic);
    Some(figures.value(figures.main?))
}

/// How uncertain the times are at worst; a column of intervals for each part would hide them.
fn widest_interval(cells: &[&Cell], statistic: Statistic) -> Option<Paragraph> {
    let share = |cell: &&Cell| {
        let mean = Figures::of(cell, statistic).mean?;
        Some(mean.half_width? / mean.mean).filter(|share| share.is_finite())
    };
    let widest = cells.iter().filter_map(share).reduce(f64::max).map(number::percent)?;
    let words: Text = text!("these times have at most ±{widest}", "各時間の ± は最大 {widest}");
    Some(Paragraph::new(words).role(Role::Quiet))
}
