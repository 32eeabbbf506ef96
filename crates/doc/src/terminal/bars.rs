//! Bars in a terminal. They begin at zero, so that a level looks level.

use crate::layout::{display_width, pad_left};
use crate::spark::bar;
use crate::{BarRow, BarTable, Role, Style};

const LONGEST_BAR: usize = 24;
const SHORTEST_BAR: usize = 6;
/// Columns of a value, including the gap behind it.
const VALUE: usize = 12;
/// Columns of a place.
const PLACE: usize = 9;

pub(super) fn lines(bars: &BarTable, style: &Style) -> Vec<String> {
    let columns = bars.columns.len();
    let room = style.width.saturating_sub(2 + PLACE + columns * (VALUE + 3)) / columns.max(1);
    let longest = room.clamp(SHORTEST_BAR, LONGEST_BAR);
    let entry = |value: &str, bar: &str| {
        let blank = " ".repeat(longest - display_width(bar));
        format!("  {} {}{blank}", pad_left(value, VALUE), style.paint(Role::Course, bar))
    };
    let titles: String = bars.columns.iter().map(|column| entry(&style.say(column), "")).collect();
    let head = format!("  {}{titles}", " ".repeat(PLACE));
    let row = |row: &BarRow| match row {
        BarRow::Bars(at, entries) => {
            let entries = entries.iter().map(|one| match one {
                Some((value, share)) => entry(value, &bar(*share, longest)),
                None => entry("", ""),
            });
            let line = format!("  {}{}", pad_left(at, PLACE), entries.collect::<String>());
            line.trim_end().to_owned()
        }
        BarRow::Mark(at, words) => {
            let line = format!("  {} ┄ {}", pad_left(at, PLACE), style.say(words));
            style.paint(Role::Warn, &line)
        }
    };
    std::iter::once(style.paint(Role::Quiet, head.trim_end())).chain(bars.rows.iter().map(row)).collect()
}
