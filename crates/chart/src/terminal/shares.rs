//! Where the time went: a bar of parts in each row, each part with its pattern and its letter.

use super::row::{Ink, InkedLine, letter, widest};
use crate::plot::{ShareRow, Shares};
use kurabe_core::display::{clip, pad_right};
use kurabe_core::number;

/// Patterns that are told apart without colour; the letter tells the rest.
const PATTERNS: [char; 4] = ['█', '▒', '▓', '░'];
/// Parts as wide as this carry their letter.
const LETTERED: usize = 3;
const SHORTEST: usize = 20;
const LONGEST: usize = 100;

pub(super) fn draw(shares: &Shares, width: usize) -> Vec<InkedLine> {
    if shares.rows.is_empty() || shares.parts.is_empty() {
        return Vec::new();
    }
    let label_width = widest(shares.rows.iter().map(|row| &row.label)).min(width / 2);
    let tail = if shares.relative { 9 } else { 12 };
    let length = width.saturating_sub(2 + label_width + 1 + tail).clamp(SHORTEST, LONGEST);
    let most = shares.rows.iter().map(sum).fold(0.0, f64::max);
    let mut rows = Vec::new();
    for row in &shares.rows {
        let label = pad_right(&clip(&row.label, label_width), label_width + 1);
        let mut line = InkedLine::indented(Ink::Plain, &label);
        let whole = if shares.relative { sum(row) } else { most };
        let columns = columns(row, whole, length);
        for (part, count) in columns.iter().enumerate() {
            line.put(Ink::Series(part), &segment(part, *count));
        }
        line.pad_to(2 + label_width + 1 + length + 1);
        let figure = if shares.relative { largest(row) } else { shares.axis.unit.words(sum(row)) };
        line.put(Ink::Quiet, &figure);
        rows.push(line);
    }
    for (part, name) in shares.parts.iter().enumerate() {
        let sign = format!("{}{} ", PATTERNS[part % PATTERNS.len()], letter(part));
        rows.push(InkedLine::key(part, &sign, name));
    }
    rows
}

fn usable(value: f64) -> f64 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}

fn sum(row: &ShareRow) -> f64 {
    let sum: f64 = row.values.iter().copied().map(usable).sum();
    if sum.is_finite() { sum } else { f64::MAX }
}

/// Width of each part in columns; rounding never moves the end of a part by more than half a column.
fn columns(row: &ShareRow, whole: f64, length: usize) -> Vec<usize> {
    if whole <= 0.0 {
        return Vec::new();
    }
    let (mut so_far, mut drawn) = (0.0, 0);
    row.values
        .iter()
        .map(|value| {
            so_far += usable(*value) / whole;
            let end = (so_far.clamp(0.0, 1.0) * length as f64).round() as usize;
            let count = end.saturating_sub(drawn);
            drawn += count;
            count
        })
        .collect()
}

fn segment(part: usize, count: usize) -> String {
    let pattern = String::from(PATTERNS[part % PATTERNS.len()]);
    if count < LETTERED {
        return pattern.repeat(count);
    }
    let before = (count - 1) / 2;
    format!("{}{}{}", pattern.repeat(before), letter(part), pattern.repeat(count - 1 - before))
}

/// `A 83 %`: the part that took most.
fn largest(row: &ShareRow) -> String {
    let whole = sum(row);
    let parts = row.values.iter().map(|value| usable(*value)).enumerate();
    let most = parts.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, value)| *value > 0.0);
    most.map_or(String::new(), |(part, value)| format!("{} {}", letter(part), number::percent(value / whole)))
}
