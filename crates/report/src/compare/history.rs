//! A device over time: each cell's course, and what may be said of the newest run against the oldest.

use crate::compare::{cell_name, fairness, single_note, unevenness, verdict};
use crate::doc::{Column, Cut, Doc, Entry, Table};
use kurabe_compare::History;
use kurabe_core::record::RunHeader;
use kurabe_core::{Text, number, text};
use kurabe_stats::{CONFIDENCE, Drift};

/// Characters of a course; with more runs than that, one shows the mean of several.
const COURSE_COLUMNS: (usize, usize) = (16, 16);

/// The page of one device and profile. `headers` are those of the oldest and of the newest run.
pub fn history_doc(history: &History, device: &str, headers: [&RunHeader; 2]) -> Doc {
    let mut doc = Doc::new();
    let (target, profile) = (headers[1].target_name(), headers[1].profile_name());
    let names = [device, target, &profile];
    let names = names[usize::from(device == target)..].iter().filter(|name| !name.is_empty());
    doc.heading(1, names.copied().collect::<Vec<_>>().join(" · "));
    let (count, change) = (history.runs.len(), &history.change);
    let [from, to] = headers.map(|header| number::date_minute_with_offset(header.measured_at()));
    let (first, last) = (&change.baseline, &change.other);
    doc.say(text!(
        "{count} runs, from {first} ({from}) to {last} ({to})",
        "測定 {count} 回: {first} ({from})から {last} ({to})まで"
    ));
    let columns = [
        Column::left(text!("cell", "項目")),
        Column::right(text!("first", "最初")),
        Column::right(text!("last", "最後")),
        Column::left(text!("course", "推移")),
        Column::left(text!("over all runs", "全体の傾向")).cut(Cut::Wrap),
        Column::left(text!("since the first it is", "最初と比べて")).cut(Cut::Wrap),
    ];
    let cells = change.cells.iter().zip(&history.courses).zip(&history.drifts);
    let rows = cells.map(|((cell, course), drift)| {
        let (role, words) = verdict(cell);
        let [first, last] =
            [&cell.baseline, &cell.other].map(|side| number::measured(cell.measure, side.mean).into());
        let course = Entry::course(course.iter().flatten().copied().collect(), COURSE_COLUMNS);
        let trend = Entry::from(drift.as_ref().map_or_else(Text::default, trend));
        [cell_name(cell).into(), first, last, course, trend, Entry::new(role, words)]
    });
    doc.gap().push(Table::new(columns, rows).stacks());
    doc.say_all(single_note(change)).append(unevenness(change)).gap().append(fairness(change, &[]));
    doc
}

/// Whether all runs together rise or fall, and by how much.
fn trend(drift: &Drift) -> Text {
    let percent = number::percent((drift.ratio - 1.0).abs());
    match drift.ratio {
        _ if drift.p >= 1.0 - CONFIDENCE => text!("no trend", "傾向なし"),
        ratio if ratio < 1.0 => text!("falls by {percent}", "{percent} 低下"),
        _ => text!("rises by {percent}", "{percent} 上昇"),
    }
}
