//! A sweep of copies as one table: chunks down, the parts of the copy across, and last the ratio that the profile makes
//! of them.
//!
//! The model: the parts of one or two copies stand below each other, as `times` has them. Of more copies the same part
//! is what one compares, so it gets a column. What does not fit the width is dropped: first what reached the device,
//! then the memory alone; the details have all of it.

use crate::doc::{Column, Cut, Doc, Entry, Paragraph, Role, Table};
use crate::run::derived::step_name;
use crate::run::figures::Figures;
use crate::run::table::{RunTable, TableKind};
use crate::run::{derived, times};
use kurabe_core::profile::CopyPart;
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, number, text};
use std::collections::BTreeSet;

/// The table; empty if the run is no sweep.
pub(crate) fn doc(record: &RunRecord, table: &RunTable<'_>) -> Doc {
    let cells = table.of_kind(TableKind::Copies);
    let mut doc = Doc::new();
    if cells.is_empty() {
        return doc;
    }
    let ratios = derived::of_steps(record);
    let steps: BTreeSet<u32> = cells.iter().map(|figures| figures.cell.step_index).collect();
    let rows = steps.into_iter().map(|step| {
        let part = |part: CopyPart| {
            cells.iter().find(|Figures { cell, .. }| cell.step_index == step && cell.part == part.word())
        };
        let figure = |of: CopyPart| part(of)?.main_figure();
        let time = |of: CopyPart| Entry::figure(Role::Plain, figure(of));
        let memory = [CopyPart::MemoryRead, CopyPart::MemoryWrite]
            .map(|of| figure(of).map_or_else(|| number::NONE.to_owned(), |time| time.to_string()));
        let profile = record.header.profile.as_ref();
        let name = profile.map_or((step + 1).to_string(), |profile| step_name(profile, step as usize));
        let at_device =
            part(CopyPart::Within).and_then(|copy| times::rates_at_device(copy.cell)).unwrap_or_default();
        let ratio = ratios.iter().flat_map(|(_, values)| values).find(|(index, _)| *index == step as usize);
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
    doc.push_all(widest_interval(&cells)).done()
}

/// How uncertain the times are at worst; a column of intervals for each part would hide them.
fn widest_interval(cells: &[&Figures<'_>]) -> Option<Paragraph> {
    let share = |figures: &&Figures<'_>| {
        let mean = figures.mean?;
        Some(mean.half_width? / mean.mean).filter(|share| share.is_finite())
    };
    let widest = cells.iter().filter_map(share).reduce(f64::max).map(number::percent)?;
    let words: Text = text!("these times have at most ±{widest}", "各時間の ± は最大 {widest}");
    Some(Paragraph::new(words).role(Role::Quiet))
}
