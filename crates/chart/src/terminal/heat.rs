//! A value over two categories: cells with a shade and a number.

use super::row::{Ink, InkedLine, widest};
use crate::plot::Heat;
use kurabe_core::display::{clip, display_width, pad_left};
use kurabe_core::number;

/// From slow to fast; the shades are distinguishable without colour.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// Columns of a shade next to its number.
const SHADE: usize = 2;

pub(super) fn draw(heat: &Heat, width: usize) -> Vec<InkedLine> {
    let values = || heat.values.iter().flatten().flatten().copied().filter(|value| value.is_finite());
    let (least, most) = values()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    if values().next().is_none() || heat.columns.is_empty() {
        return Vec::new();
    }
    let figure = |value: f64| short(&heat.axis.unit.words(value));
    let value_width = values().map(|value| display_width(&figure(value).0)).max().unwrap_or(0);
    let head_width = widest(heat.columns.iter());
    let label_width = widest(heat.rows.iter()).max(display_width(&heat.y_label)).min(width / 3);
    let wide = (value_width + SHADE + 1).max(head_width);
    let room = width.saturating_sub(2 + label_width);
    // If the numbers do not fit, only the shades are drawn; if those do not fit either, the columns
    // are split into several blocks.
    let numbers = (wide + 2) * heat.columns.len() <= room;
    let wide = if numbers { wide } else { head_width.max(SHADE) };
    let at_once = (room / (wide + 2)).max(1);
    let unit = values().next().map(|value| figure(value).1).unwrap_or_default();
    let heading = format!("{} → {} ({unit})", heat.x_label, heat.axis.label);
    let mut rows = vec![InkedLine::indented(Ink::Quiet, heading.trim_end_matches(" ()"))];
    for first in (0..heat.columns.len()).step_by(at_once) {
        let columns = first..(first + at_once).min(heat.columns.len());
        let name = pad_left(&clip(&heat.y_label, label_width), label_width);
        let mut head = InkedLine::indented(Ink::Quiet, &name);
        for name in &heat.columns[columns.clone()] {
            head.put(Ink::Quiet, &format!("  {}", pad_left(name, wide)));
        }
        rows.push(head);
        for (label, line) in heat.rows.iter().zip(&heat.values) {
            let label = pad_left(&clip(label, label_width), label_width);
            let mut row = InkedLine::indented(Ink::Plain, &label);
            for column in columns.clone() {
                let value = line.get(column).copied().flatten().filter(|value| value.is_finite());
                let number = value.filter(|_| numbers).map_or(String::new(), |value| figure(value).0);
                let number = if value.is_none() { number::NONE.to_owned() } else { number };
                let shade = value.map_or(' ', |value| shade(value, least, most));
                row.put(Ink::Plain, &format!("  {}", pad_left(&number, wide - SHADE - usize::from(numbers))));
                row.put(Ink::Plain, if numbers { " " } else { "" });
                row.put(Ink::Series(0), &String::from(shade).repeat(SHADE));
            }
            rows.push(row);
        }
    }
    let scale: String = SHADES.iter().flat_map(|shade| [*shade; SHADE]).collect();
    let ends = [least, most].map(|value| heat.axis.unit.words(value));
    rows.push(
        InkedLine::indented(Ink::Quiet, &ends[0])
            .and(Ink::Plain, " ")
            .and(Ink::Series(0), &scale)
            .and(Ink::Quiet, &format!(" {}", ends[1])),
    );
    rows
}

/// Splits a figure into number and unit.
fn short(figure: &str) -> (String, String) {
    let (number, unit) = figure.rsplit_once(' ').unwrap_or((figure, ""));
    (number.to_owned(), unit.to_owned())
}

/// Returns the shade on a logarithmic scale: rates over block sizes span orders of magnitude.
fn shade(value: f64, least: f64, most: f64) -> char {
    let share = if least > 0.0 && most > least {
        (value / least).ln() / (most / least).ln()
    } else if most > 0.0 {
        value / most
    } else {
        0.0
    };
    SHADES[((share.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64).round() as usize).min(SHADES.len() - 1)]
}
