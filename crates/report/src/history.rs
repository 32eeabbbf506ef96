//! A device over time: each cell's course, and what may be said of the newest run against the oldest.

use crate::columns::{self, Column, Cut, plain};
use crate::compare::{cell_name, fairness, side_figure, single_line, stutters, verdict};
use crate::layout::{page, wrap};
use crate::spark::sparkline;
use crate::style::{Role, Style};
use kurabe_compare::History;
use kurabe_core::number;
use kurabe_core::record::RunHeader;
use kurabe_core::text;

/// Characters of a course; with more runs than that, one shows the mean of several.
const LONGEST_COURSE: usize = 16;

/// The page of one device and profile. `headers` are those of the oldest and of the newest run.
pub fn render_history(history: &History, device: &str, headers: [&RunHeader; 2], style: &Style) -> String {
    let profile = headers[1].profile_name();
    let mut lines = vec![style.paint(Role::Strong, &format!("{device} · {profile}"))];
    let count = history.runs.len();
    let [from, to] = headers.map(|header| number::date_minute(header.measured_at()));
    let (first, last) = (&history.change.baseline, &history.change.other);
    lines.extend(wrap(
        &style.say(&text!(
            "{count} runs, from {first} ({from}) to {last} ({to})",
            "測定 {count} 回: {first} ({from})から {last} ({to})まで"
        )),
        style.width,
    ));
    lines.push(String::new());
    let heads = [
        Column::left(style.pick("cell", "項目")),
        Column::right(style.pick("first", "最初")),
        Column::right(style.pick("last", "最後")),
        Column::left(style.pick("course", "推移")),
        Column::left(style.pick("since the first it is", "最初と比べて")).cut(Cut::Wrap),
    ];
    let rows: Vec<_> = history
        .change
        .cells
        .iter()
        .zip(&history.courses)
        .map(|(cell, course)| {
            let known: Vec<f64> = course.iter().flatten().copied().collect();
            let (role, words) = verdict(cell, style);
            vec![
                plain(cell_name(cell, style)),
                plain(side_figure(&cell.baseline, cell.measure)),
                plain(side_figure(&cell.other, cell.measure)),
                (Role::Course, sparkline(&known, LONGEST_COURSE)),
                (role, words),
            ]
        })
        .collect();
    lines.extend(columns::render(&heads, &rows, 0, style));
    lines.extend(single_line(&history.change, style));
    lines.extend(stutters(&history.change, style));
    lines.push(String::new());
    lines.extend(fairness(&history.change.differences, &[], style));
    page(&lines)
}
