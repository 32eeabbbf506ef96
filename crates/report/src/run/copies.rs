//! A sweep of copies as one table: chunk sizes down, the parts of the copy across, and last the
//! profile's ratio of them.
//!
//! The model: the parts of one or two copies are below each other, as in `times`. With more copies,
//! readers compare the same part across them, so it gets a column. Columns that don't fit are
//! dropped: first the device traffic, then the part in memory alone. The details have everything.

use crate::run::table::{RunTable, TableKind};
use crate::run::{derived, times};
use crate::{run::derived::step_name, run::figures::Figures};
use kurabe_core::{Text, number, profile::CopyPart, record::RunRecord, text};
use kurabe_doc::{Column, Cut, Doc, Entry, Paragraph, Role, Table};
use std::collections::BTreeSet;

/// Returns the table. Empty if the run is not a sweep.
pub(crate) fn doc(record: &RunRecord, table: &RunTable<'_>) -> Doc {
    let cells = table.of_kind(TableKind::Copies);
    let mut doc = Doc::new();
    if cells.is_empty() {
        return doc;
    }
    let ratios = derived::of_steps(record);
    let steps: BTreeSet<u32> = cells.iter().map(|figures| figures.cell.step_index).collect();
    let part = |step: &u32, part: CopyPart| {
        cells.iter().find(|Figures { cell, .. }| cell.step_index == *step && cell.part == part.word())
    };
    let figure = |step: &u32, of: CopyPart| part(step, of)?.main_figure();
    let time = |step: &u32, of: CopyPart| Entry::figure(Role::Plain, figure(step, of));
    let title = ratios.as_ref().map(|(title, _)| title.clone()).unwrap_or_default();
    let table = Table::of(steps)
        .cut(Cut::End, text!("chunk", "単位"), |step| {
            let profile = record.header.profile.as_ref();
            profile.map_or((step + 1).to_string(), |profile| step_name(profile, *step as usize))
        })
        .column(
            Column::right(text!("memory read + write", "メモリー読み + 書き")).cut(Cut::Drop),
            |step| {
                let time =
                    |of| figure(step, of).map_or_else(|| number::NONE.to_owned(), |time| time.to_string());
                [CopyPart::MemoryRead, CopyPart::MemoryWrite].map(time).join(" + ")
            },
        )
        .right(text!("to target", "対象へ"), |step| time(step, CopyPart::FromMemory))
        .right(text!("from target", "対象から"), |step| time(step, CopyPart::ToMemory))
        .right(text!("within", "対象内"), |step| time(step, CopyPart::Within))
        .column(
            Column::right(text!("within, at the device", "対象内(デバイスで)")).cut(Cut::Drop),
            |step| {
                let copy = part(step, CopyPart::Within);
                copy.and_then(|copy| times::rates_at_device(copy.cell)).unwrap_or_default()
            },
        )
        .right(title, |step| {
            let values = ratios.iter().flat_map(|(_, values)| values);
            let ratio = values.into_iter().find(|(index, _)| *index == *step as usize);
            Entry::new(
                Role::Strong,
                ratio.map(|(_, value)| derived::figure_words(*value)).unwrap_or_default(),
            )
        });
    doc.push(table.table());
    doc.push_all(widest_interval(&cells)).done()
}

/// Returns the widest relative interval of the times. An interval column for each part would be
/// hard to read.
fn widest_interval(cells: &[&Figures<'_>]) -> Option<Paragraph> {
    let share = |figures: &&Figures<'_>| {
        let mean = figures.mean?;
        Some(mean.half_width? / mean.mean).filter(|share| share.is_finite())
    };
    let widest = cells.iter().filter_map(share).reduce(f64::max).map(number::percent)?;
    let words: Text = text!("these times have at most ±{widest}", "各時間の ± は最大 {widest}");
    Some(Paragraph::new(words).role(Role::Quiet))
}
