//! Curves over the target: of cells that sampled it place by place, measured here or by another tool.

use crate::chart::Chart;
use crate::layout::tame;
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::imported::{PrintedSeries, Quantity, SeriesAxis};
use kurabe_core::number;
use kurabe_core::profile::Step;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::{Cell, Measure, RunRecord, Sample};
use kurabe_core::text;

/// Lines of a curve.
const HEIGHT: usize = 6;

/// The curves of a run; none if nothing was sampled.
pub(crate) fn render(record: &RunRecord, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in &record.cells {
        lines.extend(measured(record, cell, style));
        for series in cell.imported.iter().flat_map(|imported| &imported.series) {
            lines.extend(imported(cell, series, style));
        }
    }
    lines
}

/// The curve of a cell with samples.
fn measured(record: &RunRecord, cell: &Cell, style: &Style) -> Vec<String> {
    let value = |sample: &Sample| match cell.measure {
        Measure::Rate => sample.rate_bytes_per_s(),
        Measure::AccessTime | Measure::Duration => sample.elapsed_ns as f64,
    };
    let by_distance = record.header.profile.as_ref().is_some_and(|profile| {
        matches!(profile.steps.get(cell.step_index as usize), Some(Step::AccessTime(step)) if step.by_distance)
    });
    let points: Vec<(f64, f64)> = if by_distance {
        cell.counted()
            .flat_map(|repetition| repetition.samples.windows(2))
            .map(|pair| (pair[1].offset_bytes.abs_diff(pair[0].offset_bytes) as f64, value(&pair[1])))
            .collect()
    } else {
        cell.counted()
            .flat_map(|repetition| &repetition.samples)
            .map(|sample| (sample.offset_bytes as f64, value(sample)))
            .collect()
    };
    let name = words::cell(style, cell);
    let title = style.say(&if by_distance {
        text!("{name}, over the distance from the access before", "{name} (横軸: 直前のアクセスからの距離)")
    } else {
        text!("{name}, over the place on the target", "{name} (横軸: 対象上の位置)")
    });
    let span = record.header.target.as_ref().map_or(0.0, |target| target.span_bytes as f64);
    let lines = curve(&points, span, cell.measure == Measure::Rate, style);
    titled(&title, lines, style)
}

/// The curve of a series that another tool kept.
fn imported(cell: &Cell, series: &PrintedSeries, style: &Style) -> Vec<String> {
    let is_rate = series.quantity == Quantity::Rate;
    if series.axis != SeriesAxis::Offset || !(is_rate || series.quantity == Quantity::Latency) {
        return Vec::new();
    }
    let name = if series.name.is_empty() { words::cell(style, cell) } else { tame(&series.name) };
    let title = style.say(&text!("{name}, over the place on the target", "{name} (横軸: 対象上の位置)"));
    titled(&title, curve(&series.points, 0.0, is_rate, style), style)
}

fn curve(points: &[(f64, f64)], until: f64, is_rate: bool, style: &Style) -> Vec<String> {
    let value = |value: f64| match is_rate {
        true => number::rate(value).to_string(),
        false => number::latency(value).to_string(),
    };
    let place = |bytes: f64| format_bytes_decimal(bytes as u64);
    Chart { points, holds: false, until, height: HEIGHT, value: &value, place: &place }.render(style)
}

fn titled(title: &str, lines: Vec<String>, style: &Style) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let title = crate::layout::clip(title, style.width);
    [vec![style.paint(Role::Quiet, &title)], lines, vec![String::new()]].concat()
}
