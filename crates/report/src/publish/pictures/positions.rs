//! Curves over the target, as in GNOME Disks: rates on the left axis, access times as dots on the
//! right axis. Also access times over the distance from the previous access.

use super::{Picture, View};
use kurabe_chart::{Axis, Chart, ChartLine, LineStyle, Lines, Plot, Scale, Unit};
use kurabe_core::imported::{Quantity, SeriesAxis};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{number, profile::Step, shown, text};
use kurabe_stats::mean_interval;

/// Maximum number of dots of a line. More would only form the same cloud.
const MOST_DOTS: usize = 2000;

/// The x axis of a curve.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Place,
    Distance,
}

/// Returns the points of a cell. Rates are joined by lines, times are dots.
fn line(name: String, is_rate: bool, points: Vec<(f64, f64)>) -> ChartLine {
    ChartLine::new(name, if is_rate { LineStyle::Joined } else { LineStyle::Dots }, points)
}

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let of_kind = |over| {
        let groups = view.groups(|run| curves(run, over, view).len());
        groups.into_iter().filter_map(move |runs| picture(runs, over, view))
    };
    [Over::Place, Over::Distance].into_iter().flat_map(of_kind).collect()
}

/// Draws all curves over the position in one chart. Its axis covers the whole target, even if only
/// part of it has been sampled.
pub(super) fn over_the_target(view: &View<'_>) -> Option<Chart> {
    let mut chart = picture(view.runs, Over::Place, view)?.chart;
    let spans = view.runs.iter().filter_map(|run| run.header.target.as_ref());
    let span_bytes = spans.map(|target| target.span_bytes).max();
    if let (Plot::Lines(Lines { lines, .. }), Some(span_bytes)) = (&mut chart.plot, span_bytes)
        && let Some(first) = lines.first_mut()
    {
        // A gap is not drawn but extends the axis.
        first.points.insert(0, (0.0, f64::NAN));
        first.points.push((span_bytes as f64, f64::NAN));
    }
    Some(chart)
}

fn curves(run: &RunRecord, over: Over, view: &View<'_>) -> Vec<ChartLine> {
    let mut curves = Vec::new();
    for cell in &run.cells {
        curves.extend(measured(run, cell, over, view));
        let series = cell.imported.iter().flat_map(|imported| &imported.series);
        let series = series.filter(|series| series.axis == SeriesAxis::Offset && over == Over::Place);
        let series = series.filter(|one| matches!(one.quantity, Quantity::Rate | Quantity::Latency));
        curves.extend(series.map(|series| {
            let name = if series.name.is_empty() { view.cell(cell) } else { shown::line(&series.name) };
            line(name, series.quantity == Quantity::Rate, series.points.clone())
        }));
    }
    curves.retain(|curve| curve.points.len() > 1);
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    curves
}

fn measured(run: &RunRecord, cell: &Cell, over: Over, view: &View<'_>) -> Option<ChartLine> {
    let step = run.header.profile.as_ref().and_then(|profile| profile.steps.get(cell.step_index as usize));
    let by_distance = matches!(step, Some(Step::AccessTime(step)) if step.by_distance);
    if over == Over::Distance && !by_distance {
        return None;
    }
    let is_rate = cell.measure == Measure::Rate;
    let mut points = Vec::new();
    for repetition in cell.counted() {
        let mut before = None;
        for sample in &repetition.samples {
            let value = if is_rate { sample.rate_bytes_per_s() } else { sample.elapsed_ns as f64 };
            let at = match over {
                Over::Place => Some(sample.offset_bytes),
                Over::Distance => before.map(|before: u64| sample.offset_bytes.abs_diff(before)),
            };
            points.extend(at.map(|at| (at as f64, value)));
            before = Some(sample.offset_bytes);
        }
    }
    Some(line(view.cell(cell), is_rate, points))
}

fn picture(runs: &[&RunRecord], over: Over, view: &View<'_>) -> Option<Picture> {
    let named = |run, curve: ChartLine| ChartLine { name: view.line(run, &curve.name), ..curve };
    let curves =
        runs.iter().flat_map(|run| curves(run, over, view).into_iter().map(|curve| named(run, curve)));
    let mut lines: Vec<ChartLine> = curves.collect();
    if lines.is_empty() {
        return None;
    }
    let both = [LineStyle::Joined, LineStyle::Dots].map(|style| lines.iter().any(|line| line.style == style));
    let means: Vec<String> = lines.iter().filter_map(mean).collect();
    let thinned = lines.iter().any(|line| line.points.len() > MOST_DOTS);
    for line in &mut lines {
        let every = line.points.len().div_ceil(MOST_DOTS);
        line.points = line.points.iter().copied().step_by(every).collect();
        line.at_right = both == [true, true] && line.style == LineStyle::Dots;
    }
    let rate = Axis::new(view.pick("Throughput", "速度"), Unit::Rate, Scale::Linear);
    let time = Axis::new(view.pick("Access time", "アクセス時間"), Unit::Latency, Scale::Linear);
    let (y, right) = match both {
        [true, true] => (rate, Some(time)),
        [true, false] => (rate, None),
        _ => (time, None),
    };
    let (name, what, x) = match over {
        Over::Place => (
            "positions",
            view.pick("Speed over the place on the target", "対象上の位置と速さ"),
            view.pick("place on the target", "対象上の位置"),
        ),
        Over::Distance => (
            "distance",
            view.pick("Access time over the distance", "直前のアクセスからの距離とアクセス時間"),
            view.pick("distance from the access before", "直前のアクセスからの距離"),
        ),
    };
    let mut notes = vec![view.pick("means: ", "平均: ") + &means.join(" · ")];
    if thinned {
        notes.push(view.say(&text!(
            "not every sample is drawn",
            "サンプルが多いため、一定の間隔で間引いて描いています"
        )));
    }
    let x = Axis::new(x, Unit::Bytes, Scale::Linear);
    let plot = Plot::Lines(Lines { right, ..Lines::new(x, y, lines) });
    Some(view.picture(name, &what, runs, notes, plot))
}

fn mean(line: &ChartLine) -> Option<String> {
    let values: Vec<f64> = line.points.iter().map(|point| point.1).collect();
    let mean = mean_interval(&values)?.mean;
    let words = if line.style == LineStyle::Joined { number::rate(mean) } else { number::latency(mean) };
    Some(format!("{} {words}", line.name))
}
