//! The bottlenecks of many cells, one line each, for example of a sweep with a hundred cells. A
//! single cell can be shown in full.

use super::Why;
use crate::{run::figures::Figures, words};
use kurabe_core::mention::{CELL, WHY};
use kurabe_core::{Text, record::RunRecord, text};
use kurabe_doc::{Cut, Doc, Entry, Paragraph, Role, Table};
use kurabe_explain::{Limit, LimitKind, Strength};

/// Maximum number of cells that are shown in full.
const IN_FULL: usize = 12;

/// Checks whether this number of cells is shown with one line each.
pub(crate) fn is_brief(cells: usize) -> bool {
    cells > IN_FULL
}

/// Returns the table, and the command that shows a cell in full.
pub(super) fn doc(record: &RunRecord, whys: &[Why]) -> Doc {
    let statistic = record.header.statistic();
    let cell = |why: &Why| &record.cells[why.number - 1];
    let table = Table::of(whys)
        .right(Text::default(), |why| Entry::new(Role::Quiet, why.number.to_string()))
        .cut(Cut::Wrap, text!("test", "項目"), |why| words::cell(cell(why)))
        .right(text!("figure", "値"), |why| {
            Entry::figure(Role::Plain, Figures::of(cell(why), statistic).main_figure())
        })
        .cut(Cut::Wrap, text!("limit", "ボトルネック"), |why| {
            let role = if why.limit.kind == LimitKind::Unknown { Role::Quiet } else { Role::Plain };
            Entry::new(role, how_sure(&why.limit))
        });
    let (run, number) = (&record.header.id, whys.first().map_or(1, |why| why.number));
    let more = text!(
        "A test in full, with the evidence: {WHY} {run} {CELL} {number}",
        "根拠を含む 1 項目の詳細: {WHY} {run} {CELL} {number}"
    );
    Doc::of(table.table()).gap().push(Paragraph::new(more).indent(0, 2)).done()
}

/// Returns the sentence on the bottleneck, marked if it is only likely.
pub(crate) fn how_sure(limit: &Limit) -> Text {
    let sentence = &limit.sentence;
    match limit.strength {
        Strength::Likely => text!("{sentence} (likely)", "{sentence}(推定)"; sentence),
        Strength::None | Strength::Exact | Strength::Strong => sentence.clone(),
    }
}
