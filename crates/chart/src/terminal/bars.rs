//! Bars with intervals: one line per bar, followed by its value.

use super::row::{Ink, InkedLine, letter, widest};
use crate::plot::{Bar, Bars, Unit};
use kurabe_core::display::{clip, pad_left, pad_right};
use kurabe_core::number;

/// Fractions of a column, from an eighth to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Fill of the interval in which the value may be.
const MAYBE: char = '░';
const SHORTEST: usize = 8;
const LONGEST: usize = 60;

pub(super) fn draw(bars: &Bars, width: usize) -> Vec<InkedLine> {
    let drawn_bars = || {
        bars.groups.iter().flat_map(|group| group.bars.iter().flatten()).filter(|bar| bar.value.is_finite())
    };
    let ends = |bar: &Bar| bar.interval.map(|(_, high)| high).into_iter().chain([bar.value]);
    let most = drawn_bars().flat_map(ends).filter(|end| end.is_finite()).fold(0.0, f64::max);
    if drawn_bars().next().is_none() {
        return Vec::new();
    }
    let several = bars.series.len() > 1;
    let figures = |bar: &Bar| (bars.axis.unit.words(bar.value), spread(bar, bars.axis.unit));
    let (values, spreads): (Vec<_>, Vec<_>) = drawn_bars().map(figures).unzip();
    let (value_width, spread_width) = (widest(values.iter()), widest(spreads.iter()));
    let label_width = widest(bars.groups.iter().map(|group| &group.label)).min(width * 2 / 5);
    let head = 2 + label_width + if several { 3 } else { 1 };
    // If the line is too short, the interval is omitted first.
    let spread_shown = spread_width > 0 && head + SHORTEST + value_width + spread_width + 2 <= width;
    let tail = value_width + 1 + if spread_shown { spread_width + 1 } else { 0 };
    let length = width.saturating_sub(head + tail).clamp(SHORTEST, LONGEST);
    let mut rows = Vec::new();
    for group in &bars.groups {
        let mut label = clip(&group.label, label_width);
        for (series, bar) in group.bars.iter().enumerate() {
            if bar.is_none() && !several {
                continue;
            }
            let mut row = InkedLine::indented(Ink::Plain, &pad_right(&label, label_width + 1));
            label.clear();
            if several {
                row.put(Ink::Series(series), &format!("{} ", letter(series)));
            }
            match bar.as_ref().filter(|bar| bar.value.is_finite()) {
                Some(bar) => {
                    put_bar(&mut row, bar, most, length, series);
                    row.pad_to(head + length + 1);
                    let (value, spread) = figures(bar);
                    row.put(Ink::Strong, &pad_left(&value, value_width));
                    if spread_shown {
                        row.put(Ink::Quiet, &format!(" {spread}"));
                    }
                }
                None => row.put(Ink::Quiet, number::NONE),
            }
            rows.push(row);
        }
    }
    let names = bars.series.iter().enumerate().filter(|_| several);
    rows.extend(names.map(|(index, name)| InkedLine::key(index, &format!("{} ", letter(index)), name)));
    rows
}

/// Draws the bar up to the low end of its interval, and lighter up to the high one.
fn put_bar(row: &mut InkedLine, bar: &Bar, most: f64, length: usize, series: usize) {
    let eighths = |value: f64| {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        (share * (length * 8) as f64).round() as usize
    };
    let interval = bar.interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let (sure, maybe) = match interval {
        // An interval narrower than a column would not be visible.
        Some((low, high)) if eighths(high) / 8 > eighths(low) / 8 + 1 => (eighths(low), eighths(high)),
        _ => (eighths(bar.value), 0),
    };
    // A positive value is always visible.
    let sure = if bar.value > 0.0 && maybe == 0 { sure.max(1) } else { sure };
    let mut drawn = "█".repeat(sure / 8);
    if sure % 8 > 0 {
        drawn.push(EIGHTHS[sure % 8 - 1]);
    }
    row.put(Ink::Series(series), &drawn);
    let more = (maybe / 8).saturating_sub(sure.div_ceil(8));
    row.put(Ink::Series(series), &String::from(MAYBE).repeat(more));
}

/// Formats the interval: `±0.4 %`, or `312.0–318.5` if it is asymmetric.
fn spread(bar: &Bar, unit: Unit) -> String {
    let Some((low, high)) = bar.interval.filter(|(low, high)| low.is_finite() && high.is_finite()) else {
        return String::new();
    };
    let (below, above) = (bar.value - low, high - bar.value);
    if (below - above).abs() <= (above.abs() + below.abs()) * 0.01 {
        return number::half_width(bar.value, above).unwrap_or_default();
    }
    format!("{} – {}", unit.words(low), unit.words(high))
}
