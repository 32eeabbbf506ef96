//! History of a device: each cell over time, and the newest run compared with the oldest.

use crate::compare::{cell_name, fairness, single_note, unevenness, verdict};
use crate::words;
use kurabe_compare::{ComparedCell, History, Side};
use kurabe_core::{Text, number, record::RunHeader, text};
use kurabe_doc::{Cut, Doc, Entry, Table};
use kurabe_stats::{CONFIDENCE, Drift};

/// Width of a sparkline. With more runs, each character shows the mean of several.
const COURSE_COLUMNS: (usize, usize) = (16, 16);

/// Returns the history of one device and profile. `headers` are those of the oldest and the newest
/// run.
pub fn history_doc(history: &History, device: &str, headers: [&RunHeader; 2]) -> Doc {
    let mut doc = Doc::new();
    let (target, profile) = (headers[1].target_name(), headers[1].profile_name());
    let names = [device, target, &profile];
    let names = names[usize::from(device == target)..].iter().filter(|name| !name.is_empty());
    doc.heading(1, names.copied().collect::<Vec<_>>().join(" · "));
    let (count, change) = (history.runs.len(), &history.change);
    let [from, to] = headers.map(words::measured_at);
    let (first, last) = (&change.baseline, &change.other);
    doc.say(text!(
        "{count} runs, from {first} ({from}) to {last} ({to})",
        "測定 {count} 回: {first} ({from})から {last} ({to})まで";
        from, to
    ));
    let side = |cell: &ComparedCell, side: &Side| number::measured(cell.name.measure, side.mean);
    let cells = change.cells.iter().zip(&history.courses).zip(&history.drifts);
    let table = Table::of(cells.map(|((cell, course), drift)| (cell, course, drift)))
        .left(text!("test", "項目"), |(cell, ..)| cell_name(cell))
        .right(text!("first", "最初"), |(cell, ..)| side(cell, &cell.baseline))
        .right(text!("last", "最後"), |(cell, ..)| side(cell, &cell.other))
        .left(text!("course", "推移"), |(_, course, _)| {
            Entry::course(course.iter().flatten().copied().collect(), COURSE_COLUMNS)
        })
        .cut(Cut::Wrap, text!("over all runs", "全体の傾向"), |(.., drift)| {
            drift.as_ref().map_or_else(Text::default, trend)
        })
        .cut(Cut::Wrap, text!("since the first it is", "最初と比べて"), |(cell, ..)| {
            Entry::of(verdict(cell))
        });
    doc.gap().push(table.table().stacks());
    doc.say_all(single_note(change))
        .append(unevenness(change))
        .gap()
        .append(fairness(std::slice::from_ref(change), &[]));
    doc
}

/// Describes the trend over all runs: whether the figures rise or fall, and by how much.
fn trend(drift: &Drift) -> Text {
    let percent = number::percent((drift.ratio - 1.0).abs());
    match drift.ratio {
        _ if drift.p >= 1.0 - CONFIDENCE => text!("no trend", "傾向なし"),
        ratio if ratio < 1.0 => text!("falls by {percent}", "{percent} 低下"),
        _ => text!("rises by {percent}", "{percent} 上昇"),
    }
}
