//! Time by cause: a bar of parts in each row, each part with its pattern and its letter.

use super::row::{Ink, InkedLine, letter, widest};
use crate::plot::{ShareRow, Shares};
use kurabe_core::display::{clip, pad_right};
use kurabe_core::number;

/// Patterns that are distinguishable without colour; the letter identifies the part.
const PATTERNS: [char; 4] = ['█', '▒', '▓', '░'];
/// Minimum width of a part with a letter.
const LETTERED: usize = 3;
/// Columns of the text after a bar.
const LARGEST: usize = 9;
const SHORTEST: usize = 20;
const LONGEST: usize = 100;

pub(super) fn draw(shares: &Shares, width: usize) -> Vec<InkedLine> {
    if shares.rows.is_empty() || shares.parts.is_empty() {
        return Vec::new();
    }
    let label_width = widest(shares.rows.iter().map(|row| &row.label)).min(width / 2);
    let length = width.saturating_sub(2 + label_width + 1 + LARGEST).clamp(SHORTEST, LONGEST);
    let mut rows = Vec::new();
    for row in &shares.rows {
        let label = pad_right(&clip(&row.label, label_width), label_width + 1);
        let mut line = InkedLine::indented(Ink::Plain, &label);
        for (part, count) in columns(row, length).into_iter().enumerate() {
            line.put(Ink::Series(part), &segment(part, count));
        }
        line.pad_to(2 + label_width + 1 + length + 1);
        line.put(Ink::Quiet, &largest(row));
        rows.push(line);
    }
    for (part, name) in shares.parts.iter().enumerate() {
        let sign = format!("{}{} ", PATTERNS[part % PATTERNS.len()], letter(part));
        rows.push(InkedLine::key(part, &sign, name));
    }
    rows
}

/// Returns the width of each part in columns; rounding never moves the end of a part by more than
/// half a column.
fn columns(row: &ShareRow, length: usize) -> Vec<usize> {
    let (whole, mut so_far, mut drawn) = (row.whole(), 0.0_f64, 0);
    let column = |value| {
        so_far += value / whole;
        let end = (so_far.clamp(0.0, 1.0) * length as f64).round() as usize;
        end - std::mem::replace(&mut drawn, end)
    };
    row.parts().map(column).collect()
}

fn segment(part: usize, count: usize) -> String {
    let pattern = String::from(PATTERNS[part % PATTERNS.len()]);
    if count < LETTERED {
        return pattern.repeat(count);
    }
    let before = (count - 1) / 2;
    format!("{}{}{}", pattern.repeat(before), letter(part), pattern.repeat(count - 1 - before))
}

/// Formats the largest part: `A 83 %`.
fn largest(row: &ShareRow) -> String {
    let whole = row.whole();
    let most = row.parts().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, value)| *value > 0.0);
    most.map_or(String::new(), |(part, value)| format!("{} {}", letter(part), number::percent(value / whole)))
}
