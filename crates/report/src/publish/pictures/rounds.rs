//! Values over rounds, for runs that continue until the device is steady. Each round's value holds
//! until the next round.

use super::{Picture, View};
use kurabe_chart::{Axis, ChartLine, LineStyle, Lines, Plot, Scale, Unit};
use kurabe_core::profile::{Rounds, Tracked};
use kurabe_core::record::{Cell, Repetition, RunRecord};
use kurabe_core::text;

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let of_run =
        |run: &&RunRecord| run.cells.iter().filter_map(|cell| picture(run, cell, view)).collect::<Vec<_>>();
    view.runs.iter().flat_map(of_run).collect()
}

/// Draws the values of a cell over the rounds. `None` if the run's profile does not track the cell.
pub(super) fn picture(run: &RunRecord, cell: &Cell, view: &View<'_>) -> Option<Picture> {
    let rounds = run.header.profile.as_ref()?.rounds.as_ref()?;
    let tracked = |one: &&kurabe_core::profile::TrackedCell| {
        one.label == cell.label && Some(one.direction) == cell.direction
    };
    let direction = rounds.tracked_cells.iter().find(tracked)?.direction;
    let values: Vec<f64> = rounds_of(cell).filter_map(|one| rounds.tracked_value(one, direction)).collect();
    // The x axis is in bytes if no other cell could have written any.
    let alone = run.cells.len() == 1 && cell.repetitions.iter().any(|one| one.write.bytes > 0);
    let points = course(cell, &values, alone);
    if values.len() < 2 {
        return None;
    }
    let x = match alone {
        true => Axis::new(view.pick("written", "書き込んだ量"), Unit::Bytes, Scale::Linear),
        false => Axis::new(view.pick("rounds done", "終えたラウンド"), Unit::Count, Scale::Linear),
    };
    let (label, unit) = match rounds.tracked {
        Tracked::Iops => (view.pick("Operations per second", "毎秒の I/O 数"), Unit::Iops),
        Tracked::Rate => (view.pick("Throughput", "速度"), Unit::Rate),
        Tracked::Latency => (view.pick("Latency", "レイテンシ"), Unit::Latency),
    };
    let name = view.cell(cell);
    let what = view.say(&text!("Change over the rounds, {name}", "ラウンドごとの推移({name})"));
    let lines = vec![ChartLine::new(name, LineStyle::Steps, points)];
    let plot = Plot::Lines(Lines::new(x, Axis::new(label, unit, Scale::Linear), lines));
    Some(view.picture("rounds", &what, &[run], note(rounds, &values, view), plot))
}

/// Returns place and value of each round, and the last value again at the end of the last round.
fn course(cell: &Cell, values: &[f64], over_bytes: bool) -> Vec<(f64, f64)> {
    let mut at = 0.0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (repetition, value) in rounds_of(cell).zip(values) {
        points.push((at, *value));
        at += if over_bytes { repetition.write.bytes as f64 } else { 1.0 };
    }
    points.extend(values.last().map(|value| (at, *value)));
    points
}

/// Says whether a steady state was reached. The page of a run says it above the chart.
fn note(rounds: &Rounds, values: &[f64], view: &View<'_>) -> Vec<String> {
    if view.bare {
        return Vec::new();
    }
    let count = values.len();
    vec![match rounds.over(values) {
        Some(window) if window.steady => {
            view.say(&text!("steady state reached in round {count}", "ラウンド {count} で定常状態に達した"))
        }
        _ => view.say(&text!(
            "no steady state after {count} rounds",
            "{count} ラウンドでは定常状態に達していない"
        )),
    }]
}

/// Returns the rounds of a cell. A repetition traced by the kernel's tracepoints doesn't count as a
/// round.
fn rounds_of(cell: &Cell) -> impl Iterator<Item = &Repetition> {
    cell.repetitions.iter().filter(|repetition| repetition.kernel.is_none())
}
