//! Sweeps: a figure over working set, block size or queue depth, of a run whose cells differ in
//! exactly one of these.
//!
//! The model: at least three values form a sweep. Cells that also differ in another parameter form
//! other lines. If two of the three parameters vary together, the heat map shows them instead. For
//! a run of `kurabe sweep`, each line has the cells that were measured for its axis and no others
//! of the same shape. Their values are those of the sweep's own table: the geometric mean of the
//! repetitions.

use super::shapes::{AXES, CellShape, SWEEP, distinct, families, fill_plane, shapes};
use super::{Picture, View};
use crate::run::figures::Figures;
use kurabe_chart::{Axis, ChartLine, LineStyle, Lines, Mark, Plot, Scale, Unit};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::text;
use kurabe_explain::{CurveUnit, Finding, SweepAxis, SweepCurve, explain_sweep, swept_axis};
use std::collections::BTreeSet;

/// A line of a sweep: cells with their place on the axis.
struct SweepLine<'a> {
    name: String,
    measure: Measure,
    cells: Vec<(f64, &'a Cell)>,
}

/// The results of `kurabe sweep` in each of the runs. Empty for other runs.
struct Explained<'v> {
    view: &'v View<'v>,
    sweeps: Vec<Vec<SweepCurve>>,
}

impl Explained<'_> {
    fn of(&self, run: &RunRecord) -> Option<&[SweepCurve]> {
        let index = self.view.runs.iter().position(|one| std::ptr::eq(*one, run))?;
        self.sweeps.get(index).map(Vec::as_slice).filter(|sweep| !sweep.is_empty())
    }

    /// Returns the values of a line at each of its places.
    fn points(&self, run: &RunRecord, axis: SweepAxis, course: &SweepLine<'_>) -> Vec<(f64, f64)> {
        let Some(sweep) = self.of(run) else {
            let value = |cell| Figures::of(cell, run.header.statistic()).drawn();
            return course.cells.iter().filter_map(|(at, cell)| Some((*at, value(cell)?))).collect();
        };
        let curve = |cell: &Cell| {
            let workload = cell.workload.as_ref()?;
            let curve = sweep.iter().find(|curve| {
                curve.axis == axis
                    && Some(curve.direction) == cell.direction
                    && curve.sequential == workload.pattern.is_sequential()
            })?;
            Some((curve, f64::from(workload.largest_block_bytes())))
        };
        let index = |(at, cell): &(f64, &Cell)| {
            let (curve, block) = curve(cell)?;
            let (_, y) = curve.points.iter().find(|(x, _)| x == at)?;
            Some((*at, if curve.unit == CurveUnit::TimeNs { block / y * 1e9 } else { block * y }))
        };
        course.cells.iter().filter_map(index).collect()
    }
}

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let explained = Explained { view, sweeps: view.runs.iter().map(|run| explain_sweep(run)).collect() };
    let mut charts = Vec::new();
    for axis in AXES {
        for runs in view.groups(|run| courses(run, axis, view).len()) {
            let marks = marks(runs, axis, &explained);
            let rate = Axis::new(view.pick("Throughput", "速度"), Unit::Rate, Scale::Linear);
            let time = Axis::new(view.pick("Time taken", "所要時間"), Unit::Latency, Scale::Linear);
            let kinds = [
                (&[Measure::Rate][..], rate, view.pick("higher is faster", "高いほど速い")),
                (
                    &[Measure::Duration, Measure::AccessTime],
                    time,
                    view.pick("lower is faster", "低いほど速い"),
                ),
            ];
            for (measures, y, better) in kinds {
                charts.extend(figures(runs, axis, measures, (y, better), &marks, &explained));
            }
        }
    }
    for axis in [SweepAxis::WorkingSet, SweepAxis::QueueDepth] {
        for runs in view.groups(|run| courses(run, axis, view).len() * 2) {
            let marks = marks(runs, axis, &explained);
            charts.extend(latencies(runs, axis, marks, view));
        }
    }
    charts
}

/// Returns the changes on an axis as marks, in a chart of one run. In a chart of several runs, it
/// would be unclear which run they belong to.
fn marks(runs: &[&RunRecord], axis: SweepAxis, explained: &Explained<'_>) -> Vec<Mark> {
    let [run] = runs else { return Vec::new() };
    let view = explained.view;
    let Some(sweep) = explained.of(run) else { return Vec::new() };
    let orders: BTreeSet<bool> =
        sweep.iter().filter(|curve| curve.axis == axis).map(|curve| curve.sequential).collect();
    let mark = |finding: &Finding| {
        let mut which = view.say(&crate::words::direction(finding.direction));
        if orders.len() > 1 {
            let order = if finding.sequential { "sequential" } else { "random" };
            which = format!("{which} {}", order_word(order, view));
        }
        let name = view.say(&crate::run::sweep::name(finding.name));
        Some(Mark { x: finding.x?, label: format!("{which}: {name}") })
    };
    let mut marks: Vec<Mark> = sweep
        .iter()
        .flat_map(|curve| &curve.findings)
        .filter(|finding| finding.axis == axis)
        .filter_map(mark)
        .collect();
    marks.sort_by(|one, two| one.x.total_cmp(&two.x));
    marks
}

/// Returns the lines of a run along an axis. Empty if the run does not sweep it.
fn courses<'a>(run: &'a RunRecord, axis: SweepAxis, view: &View<'_>) -> Vec<SweepLine<'a>> {
    // Other axes of a sweep contain cells of the same shape.
    let here = |cell: &Cell| swept_axis(run, cell).is_none_or(|swept| swept == axis);
    let cells: Vec<(&Cell, CellShape)> = shapes(run).into_iter().filter(|(cell, _)| here(cell)).collect();
    let mut lines = families(&cells, &[axis]);
    lines.retain(|line| distinct(line, axis).len() >= SWEEP && !varies_twice(&cells, line, axis));
    let rests =
        |of: fn(&CellShape) -> String| lines.iter().map(|line| of(&line[0].1)).collect::<BTreeSet<_>>().len();
    let (orders, directions) =
        (rests(|shape| shape.rest.order.to_owned()), rests(|shape| shape.rest.direction.clone()));
    lines
        .iter()
        .map(|line| {
            let (cell, shape) = &line[0];
            let mut name = if directions > 1 || orders == 1 { line_name(cell, view) } else { String::new() };
            if orders > 1 {
                name = format!("{name} {}", order_word(shape.rest.order, view)).trim().to_owned();
            }
            // Other differences between lines are in the name of their first cell.
            let alike = lines.iter().filter(|other| {
                other[0].1.rest.direction == shape.rest.direction && other[0].1.rest.order == shape.rest.order
            });
            if alike.count() > 1 {
                name = format!("{name} ({})", view.cell(cell));
            }
            let mut cells: Vec<(f64, &Cell)> =
                line.iter().filter_map(|(cell, shape)| Some((shape.get(axis)? as f64, *cell))).collect();
            cells.sort_by(|a, b| a.0.total_cmp(&b.0));
            SweepLine { name, measure: cell.measure, cells }
        })
        .collect()
}

/// Checks whether such cells also vary on a second axis, so that they form a heat map.
fn varies_twice(all: &[(&Cell, CellShape)], line: &[(&Cell, CellShape)], axis: SweepAxis) -> bool {
    AXES.into_iter().filter(|other| *other != axis).any(|other| {
        let like: Vec<(&Cell, CellShape)> =
            all.iter().filter(|(_, shape)| shape.alike_but(&line[0].1, &[axis, other])).cloned().collect();
        fill_plane(&like, axis, other)
    })
}

fn line_name(cell: &Cell, view: &View<'_>) -> String {
    match cell.direction {
        Some(direction) if cell.part.is_empty() || cell.part == direction.word() => {
            view.say(&crate::words::direction(direction))
        }
        _ => {
            // The part of a copy, without the name of its step.
            let label = view.say(&crate::words::label(cell));
            label.rsplit_once(": ").map_or(label.clone(), |(_, part)| part.to_owned())
        }
    }
}

pub(super) fn order_word(order: &str, view: &View<'_>) -> String {
    match order {
        "sequential" => view.pick("sequential", "シーケンシャル"),
        "random" => view.pick("random", "ランダム"),
        other => other.to_owned(),
    }
}

pub(super) fn axis_words(axis: SweepAxis, view: &View<'_>) -> String {
    match axis {
        SweepAxis::WorkingSet => view.pick("working set", "アクセスする範囲"),
        SweepAxis::BlockSize => view.pick("block size", "ブロックサイズ"),
        SweepAxis::QueueDepth => view.pick("queue depth", "キュー深さ"),
        SweepAxis::BytesWritten => view.pick("bytes written", "書き込んだ量"),
    }
}

fn figures(
    runs: &[&RunRecord],
    axis: SweepAxis,
    measures: &[Measure],
    (y, better): (Axis, String),
    marks: &[Mark],
    explained: &Explained<'_>,
) -> Option<Picture> {
    let view = explained.view;
    let mut lines = Vec::new();
    for run in runs {
        for course in courses(run, axis, view).into_iter().filter(|one| measures.contains(&one.measure)) {
            let points = explained.points(run, axis, &course);
            lines.push(ChartLine::new(view.line(run, &course.name), LineStyle::Marked, points));
        }
    }
    let how = vec![statistic_words(runs, explained), better];
    chart("sweep", runs, axis, y, how, (lines, marks.to_vec()), view)
}

fn statistic_words(runs: &[&RunRecord], explained: &Explained<'_>) -> String {
    let view = explained.view;
    let of_run = |run: &RunRecord| match explained.of(run) {
        Some(_) => view.say(&crate::words::geometric_mean()),
        None => view.say(&crate::words::statistic(run.header.statistic())),
    };
    let measured = runs.iter().filter(|run| run.header.origin.is_none());
    let mut words: Vec<String> = measured.map(|run| of_run(run)).collect();
    words.dedup();
    words.join(" / ")
}

/// Draws the median and the 99th percentile of the latency along an axis.
fn latencies(runs: &[&RunRecord], axis: SweepAxis, marks: Vec<Mark>, view: &View<'_>) -> Option<Picture> {
    let mut lines = Vec::new();
    for run in runs {
        for course in courses(run, axis, view) {
            for (name, fraction) in [("p50", 0.5), ("p99", 0.99)] {
                let value = |cell: &Cell| {
                    Some(Figures::of(cell, run.header.statistic()).percentile_ns(fraction)? as f64)
                };
                let points = course.cells.iter().filter_map(|(at, cell)| Some((*at, value(cell)?))).collect();
                let name = format!("{} {name}", course.name);
                lines.push(ChartLine::new(view.line(run, name.trim()), LineStyle::Marked, points));
            }
        }
    }
    let y = Axis::new(view.pick("Latency", "レイテンシ"), Unit::Latency, Scale::Log);
    let how =
        view.pick("p50 and p99 of all operations · lower is better", "全操作の p50 と p99 · 低いほど良い");
    chart("sweep-latency", runs, axis, y, vec![how], (lines, marks), view)
}

fn chart(
    name: &'static str,
    runs: &[&RunRecord],
    axis: SweepAxis,
    y: Axis,
    how: Vec<String>,
    (mut lines, marks): (Vec<ChartLine>, Vec<Mark>),
    view: &View<'_>,
) -> Option<Picture> {
    lines.retain(|line| line.points.len() >= SWEEP);
    if lines.is_empty() {
        return None;
    }
    let (what, over) = (&y.label, axis_words(axis, view));
    let what = view.say(&text!("{what} over {over}", "{what}({over}別)"));
    let how: Vec<String> = how.into_iter().filter(|words| !words.is_empty()).collect();
    let unit = if axis == SweepAxis::QueueDepth { Unit::Count } else { Unit::Bytes };
    let plot = Lines { marks, ..Lines::new(Axis::new(over, unit, Scale::Log), y, lines) };
    Some(view.picture(name, &what, runs, vec![how.join(" · ")], Plot::Lines(plot)))
}
