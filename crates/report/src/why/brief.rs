//! The limits of many cells, a line each: what a sweep of a hundred cells is read by. One of them in full is asked for.

use super::Why;
use crate::columns::{self, Column, Cut, Entry, plain};
use crate::figures::Figures;
use crate::layout::{hanging, wrap};
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::text;
use kurabe_explain::{LimitKind, Strength};

/// More cells than this fill more screens than anybody reads.
const IN_FULL: usize = 12;

/// Whether so many cells are told in a line each.
pub(crate) fn is_brief(cells: usize) -> bool {
    cells > IN_FULL
}

/// The table, and how one of its cells is seen in full.
pub(super) fn lines(record: &RunRecord, whys: &[Why], style: &Style) -> Vec<String> {
    let statistic = record.header.profile.as_ref().map_or(Statistic::Mean, |profile| profile.statistic);
    let heads = [
        Column::right(""),
        Column::left(style.pick("cell", "項目")).cut(Cut::Wrap),
        Column::right(style.pick("figure", "値")),
        Column::left(style.pick("limit", "ボトルネック")).cut(Cut::Wrap),
    ];
    let rows: Vec<Vec<Entry>> = whys
        .iter()
        .map(|why| {
            let cell = &record.cells[why.number - 1];
            let role = if why.limit.kind == LimitKind::Unknown { Role::Quiet } else { Role::Plain };
            vec![
                (Role::Quiet, why.number.to_string()),
                plain(style.say(&words::cell(cell))),
                plain(figure(cell, statistic)),
                (role, limit(why, style)),
            ]
        })
        .collect();
    let mut lines = columns::render(&heads, &rows, 0, style);
    let (run, number) = (&record.header.id, whys.first().map_or(1, |why| why.number));
    let more = style.say(&text!(
        "A cell in full, with the evidence: kurabe why {run} --cell {number}",
        "根拠を含む 1 項目の詳細: kurabe why {run} --cell {number}"
    ));
    lines.push(String::new());
    lines.extend(hanging(wrap(&more, style.width.saturating_sub(2)), 0, 2));
    lines
}

fn figure(cell: &Cell, statistic: Statistic) -> String {
    let figures = Figures::of(cell, statistic);
    figures.main.map_or_else(|| number::NONE.to_owned(), |main| figures.value(main).to_string())
}

fn limit(why: &Why, style: &Style) -> String {
    let sentence = style.say(&why.limit.sentence);
    match why.limit.strength {
        Strength::Likely => format!("{sentence}{}", style.pick(" (likely)", "(推定)")),
        Strength::None | Strength::Exact | Strength::Strong => sentence,
    }
}
