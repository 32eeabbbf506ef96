//! Latency percentiles, up to the slowest operation.
//!
//! The model: for one run, a line for each cell, with reads and writes separated. For several runs,
//! a chart for each cell that they share, with a line for each run. If a run has cells with small
//! blocks, only those are shown, because their latency matters to users.

use super::view::{MOST_LINES, Picture, View};
use crate::{compare::facts::note, run::figures::Figures};
use kurabe_chart::{Axis, ChartLine, LineStyle, Lines, Plot, Scale, Unit};
use kurabe_compare::CellKey;
use kurabe_core::imported::{PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, LatencyRecord, Measure, RunRecord};
use kurabe_core::{Lang, mention::REPORT, profile::Statistic, text, workload::Direction};
use kurabe_stats::percentile_ns;
use std::collections::HashMap;

/// Shares at which the curve has points. The axis is logarithmic towards 1.
const SHARES: [f64; 25] = [
    0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995,
    0.998, 0.999, 0.9995, 0.9999, 0.99999, 0.999999, 0.9999999,
];
/// Minimum number of operations for a curve.
const FEWEST: u64 = 20;
/// Maximum number of lines in a chart of one run.
const TOGETHER: usize = 4;
/// Maximum number of charts of cells that several runs share.
const MOST_SHARED: usize = 8;

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    match view.runs {
        [run] => of_one(run, view),
        runs if runs.len() <= MOST_LINES => of_several(runs, view),
        runs => runs.iter().flat_map(|run| of_one(run, view)).collect(),
    }
}

fn of_one(run: &RunRecord, view: &View<'_>) -> Vec<Picture> {
    let tells = telling(run);
    let line = |cell: &Cell| Some((cell.direction, line(cell, view.cell(cell))?));
    let all: Vec<(Option<Direction>, ChartLine)> =
        run.cells.iter().filter(|cell| tells(cell)).filter_map(line).collect();
    if all.len() <= TOGETHER {
        let lines: Vec<ChartLine> = all.into_iter().map(|(_, line)| line).collect();
        return chart(&[run], "", lines, view).into_iter().collect();
    }
    let mut charts = Vec::new();
    let mut directions: Vec<_> = all.iter().map(|(direction, _)| *direction).collect();
    directions.dedup();
    for direction in directions {
        let of_direction = all.iter().filter(|(other, _)| *other == direction);
        let lines: Vec<ChartLine> = of_direction.map(|(_, line)| line.clone()).collect();
        let words = view.say(&crate::words::of_direction(direction));
        let even = lines.len().div_ceil(lines.len().div_ceil(MOST_LINES).max(1)).max(1);
        charts.extend(lines.chunks(even).filter_map(|lines| chart(&[run], &words, lines.to_vec(), view)));
    }
    charts
}

fn of_several(runs: &[&RunRecord], view: &View<'_>) -> Vec<Picture> {
    let mut charts = Vec::new();
    let keyed = runs.iter().map(|run| {
        let cells = CellKey::of_run(run).into_iter().zip(&run.cells);
        cells.map(|(key, cell)| ((key, cell.measure), cell)).collect()
    });
    let keyed: Vec<HashMap<(CellKey, Measure), &Cell>> = keyed.collect();
    let tells = telling(runs[0]);
    for (cell, key) in runs[0].cells.iter().zip(CellKey::of_run(runs[0])).filter(|(cell, _)| tells(cell)) {
        let place = (key, cell.measure);
        let line = |(run, cells): (&&RunRecord, &HashMap<(CellKey, Measure), &Cell>)| {
            line(cells.get(&place)?, view.run_name(run))
        };
        let lines: Vec<ChartLine> = runs.iter().zip(&keyed).filter_map(line).collect();
        if lines.len() > 1 {
            let name = view.cell(cell) + &view.say(&note(&place.0, &cell.label));
            charts.extend(chart(runs, &name, lines, view));
        }
    }
    let more = charts.len().saturating_sub(MOST_SHARED);
    charts.truncate(MOST_SHARED);
    if let (1.., Some(last)) = (more, charts.last_mut()) {
        let plural = if more == 1 { "" } else { "s" };
        last.chart.notes.push(view.say(&text!(
            "{more} more test{plural} that the runs share are not drawn; `{REPORT}` of a single run \
             draws all its tests",
            "共通の項目はほかに {more} 個ありますが描いていません。1 件だけの `{REPORT}` ならすべて描きます"
        )));
    }
    charts
}

/// Returns a predicate for the cells of this run with meaningful latencies.
fn telling(run: &RunRecord) -> impl Fn(&Cell) -> bool {
    let small = |cell: &Cell| Figures::of(cell, Statistic::Mean).small_blocks;
    let few = run.cells.iter().any(|cell| small(cell) && cell.imported.is_none());
    move |cell| {
        // Sampled rates use operations so large that only their rate matters.
        cell.measure != Measure::Duration
            && !(cell.measure == Measure::Rate && cell.has_samples())
            && (cell.imported.is_some() || !few || small(cell))
    }
}

fn line(cell: &Cell, name: String) -> Option<ChartLine> {
    let points = match &cell.imported {
        Some(imported) => printed(imported),
        None => {
            let latency = Figures::of(cell, Statistic::Mean).latency;
            if latency.count >= FEWEST { curve(&latency) } else { sampled(cell) }
        }
    };
    (points.len() > 2).then(|| ChartLine::new(name, LineStyle::Joined, points))
}

/// Returns the shares with at least one operation beyond them, and for the slowest operation a
/// share half an operation below 1.
fn shares(count: u64) -> impl Iterator<Item = f64> {
    let last = 1.0 - 0.5 / count as f64;
    SHARES.into_iter().filter(move |share| (1.0 - share) * count as f64 >= 1.0).chain([last])
}

fn curve(latency: &LatencyRecord) -> Vec<(f64, f64)> {
    shares(latency.count).filter_map(|share| Some((share, percentile_ns(latency, share)? as f64))).collect()
}

/// Returns the access times of a cell that sampled the target.
fn sampled(cell: &Cell) -> Vec<(f64, f64)> {
    if cell.measure != Measure::AccessTime {
        return Vec::new();
    }
    let mut values: Vec<u64> =
        cell.counted().flat_map(|one| &one.samples).map(|sample| sample.elapsed_ns).collect();
    values.sort_unstable();
    if (values.len() as u64) < FEWEST {
        return Vec::new();
    }
    let rank = |share: f64| ((share * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1;
    shares(values.len() as u64).map(|share| (share, values[rank(share)] as f64)).collect()
}

/// Returns the percentiles that another tool printed for its first latency.
fn printed(imported: &kurabe_core::imported::ImportedCell) -> Vec<(f64, f64)> {
    let percentile = |statistic: PrintedStatistic| match statistic {
        PrintedStatistic::Percentile(percent) => Some(percent / 100.0),
        _ => None,
    };
    let latencies = || imported.figures.iter().filter(|figure| figure.quantity == Quantity::Latency);
    let Some(first) = latencies().find(|figure| percentile(figure.statistic).is_some()) else {
        return Vec::new();
    };
    let mut points: Vec<(f64, f64)> = latencies()
        .filter(|figure| figure.of == first.of && figure.value > 0.0)
        .filter_map(|figure| Some((percentile(figure.statistic)?, figure.value)))
        .filter(|(share, _)| (0.0..1.0).contains(share))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Draws the latencies of a run next to those measured on the device that a trace was recorded on.
pub(crate) fn latencies_beside(
    run: &RunRecord,
    latency: &LatencyRecord,
    measured: &LatencyRecord,
    direction: Option<Direction>,
    lang: Lang,
) -> Option<Picture> {
    let view = View::new(std::slice::from_ref(&run), lang, false);
    let line = |name: String, latency| ChartLine::new(name, LineStyle::Joined, curve(latency));
    let lines = vec![line(view.pick("measured", "実測"), measured), line(view.run_name(run), latency)];
    let words = view.say(&crate::words::of_direction(direction));
    chart(&[run], &words, lines, &view)
}

fn chart(runs: &[&RunRecord], of: &str, lines: Vec<ChartLine>, view: &View<'_>) -> Option<Picture> {
    if lines.is_empty() {
        return None;
    }
    let what = match of {
        "" => view.pick("Latency percentiles", "レイテンシのパーセンタイル"),
        of => view.say(&text!("Latency percentiles, {of}", "レイテンシのパーセンタイル({of})")),
    };
    let how = view.pick(
        "this share of the operations took at most this long; the last point is the slowest",
        "横軸の割合の操作が、縦軸の時間以内に終わった。右端は最も遅い操作",
    );
    let x = Axis::new(view.pick("share of operations", "操作の割合"), Unit::Share, Scale::Tail);
    let y = Axis::new(view.pick("Latency", "レイテンシ"), Unit::Latency, Scale::Log);
    Some(view.picture("percentiles", &what, runs, vec![how], Plot::Lines(Lines::new(x, y, lines))))
}
