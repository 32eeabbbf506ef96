//! Rates over time: the whole run from its first cell to its last, and the cells with a perceptible
//! stall, with the stalls as shaded bands.
//!
//! The model: a value is the mean of an interval of the record's time series. If there are more
//! intervals than a picture can show, it is the mean of several. There is a gap between
//! repetitions. If the rates of the cells differ so much that the lowest would be on the axis, the
//! axis is logarithmic.

use super::{Picture, View};
use crate::{run::figures::longest, words::stutter::stutter_words};
use kurabe_chart::{Axis, ChartLine, LineStyle, Lines, Mark, Plot, Scale, ShadedBand, Unit};
use kurabe_core::imported::{Quantity, SeriesAxis};
use kurabe_core::record::{Cell, Repetition, RunRecord, Stall};
use kurabe_core::{number, shown, text, workload::Direction};
use kurabe_doc::spark::rates;
use kurabe_stats::stutter;

/// Approximate maximum number of values of a line.
const MOST_VALUES: usize = 600;
/// Maximum number of marks at the starts of cells.
const MOST_MARKS: usize = 12;
/// Maximum number of stalls drawn in a chart. The longest are kept.
const MOST_STRETCHES: usize = 200;
/// Ratio of the fastest to the slowest cell from which the axis is logarithmic.
const WIDE: f64 = 20.0;

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for run in view.runs {
        pictures.extend(life(run, view));
        pictures.extend(printed(run, view));
        pictures.extend(run.cells.iter().filter_map(|cell| stalled(run, cell, view)));
    }
    pictures
}

/// A repetition, and its start in the picture.
struct Placed<'a> {
    repetition: &'a Repetition,
    at_ns: u64,
}

/// Returns the line of a direction through the repetitions. `None` if nothing was transferred in
/// that direction.
fn line(placed: &[Placed<'_>], direction: Direction, view: &View<'_>) -> Option<ChartLine> {
    let of = |one: &&Placed<'_>| one.repetition.bytes(direction) > 0;
    let values: usize = placed.iter().filter(of).map(|one| one.repetition.series.intervals.len()).sum();
    let together = values.div_ceil(MOST_VALUES).max(1);
    let mut points = Vec::new();
    for one in placed.iter().filter(of) {
        let interval_ns = one.repetition.series.interval_ns as f64;
        let rates = rates(one.repetition, Some(direction));
        let start = one.at_ns as f64;
        for (index, chunk) in rates.chunks(together).enumerate() {
            let mean = chunk.iter().sum::<f64>() / chunk.len() as f64 * 1e9;
            points.push((start + (index * together) as f64 * interval_ns, mean));
        }
        let end = start + (rates.len() as f64 * interval_ns).min(one.repetition.elapsed_ns as f64);
        points.push((end, f64::NAN));
    }
    let drawn = points.iter().filter(|point| point.1.is_finite()).count();
    let name = view.say(&crate::words::direction(direction));
    (drawn > 2).then(|| ChartLine::new(name, LineStyle::Steps, points))
}

/// Returns the lines of both directions. `None` if there are none.
fn both_ways(placed: &[Placed<'_>], view: &View<'_>) -> Option<Vec<ChartLine>> {
    let of_direction = |direction| line(placed, direction, view);
    let lines: Vec<ChartLine> =
        [Direction::Read, Direction::Write].into_iter().filter_map(of_direction).collect();
    Some(lines).filter(|lines| !lines.is_empty())
}

fn stretches(placed: &[Placed<'_>], view: &View<'_>) -> Vec<ShadedBand> {
    let stalls = placed.iter().flat_map(|one| {
        one.repetition.stalls.iter().map(|stall| (one.at_ns.saturating_add(stall.at_ns), *stall))
    });
    let stretch = |(at_ns, Stall { length_ns, kind, .. }): (u64, Stall)| {
        let (length, kind) = (number::latency_ns(length_ns), view.say(&crate::words::op_kind(kind)));
        let label = view.say(&text!("a {kind} took {length}", "{kind}が {length} 停滞"));
        ShadedBand { from: at_ns as f64, to: at_ns.saturating_add(length_ns) as f64, label }
    };
    longest(stalls, MOST_STRETCHES).into_iter().map(stretch).collect()
}

fn plot(lines: Vec<ChartLine>, scale: Scale, view: &View<'_>) -> Lines {
    let x = Axis::new(view.pick("time", "時間"), Unit::Moment, Scale::Linear);
    Lines::new(x, Axis::new(view.pick("Throughput", "速度"), Unit::Rate, scale), lines)
}

/// Checks whether a repetition has a meaningful rate over time. Samples of the target are drawn
/// over the position instead.
fn has_course(repetition: &Repetition) -> bool {
    repetition.samples.is_empty() && !repetition.series.intervals.is_empty()
}

/// Draws the run from its first cell to its last.
fn life(run: &RunRecord, view: &View<'_>) -> Option<Picture> {
    let repetitions = run.cells.iter().flat_map(|cell| &cell.repetitions).filter(|one| has_course(one));
    let mut placed: Vec<Placed<'_>> =
        repetitions.map(|repetition| Placed { repetition, at_ns: repetition.started_ns }).collect();
    // The parts of one task are a single repetition that appears in several cells.
    placed.sort_by_key(|one| one.at_ns);
    let lines = both_ways(&placed, view)?;
    let scale = if is_wide(&placed) { Scale::Log } else { Scale::Linear };
    let mut notes = vec![match scale {
        Scale::Log => view.pick(
            "throughput on a logarithmic axis, because the tests differ much",
            "項目による差が大きいため、縦軸は対数",
        ),
        _ => view.pick("higher is faster", "高いほど速い"),
    }];
    let stretches = stretches(&placed, view);
    notes.extend(stall_note(&placed, stretches.len(), view));
    let what = view.pick("Throughput over the life of the run", "測定全体の速度の推移");
    let plot = Lines { marks: beginnings(run, view), stretches, ..plot(lines, scale, view) };
    Some(view.picture("series", &what, &[run], notes, Plot::Lines(plot)))
}

/// Checks whether the means of the repetitions differ so much that a linear axis would hide the
/// lowest ones.
fn is_wide(placed: &[Placed<'_>]) -> bool {
    let means = || {
        placed.iter().flat_map(|one| {
            [Direction::Read, Direction::Write].map(|direction| one.repetition.rate_bytes_per_s(direction))
        })
    };
    let positive = || means().filter(|mean| *mean > 0.0);
    let (least, most) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
    least.is_finite() && most / least > WIDE
}

/// Returns marks where a cell starts or continues after another one. Empty if there are too many to
/// be distinguished.
fn beginnings<'r>(run: &'r RunRecord, view: &View<'_>) -> Vec<Mark> {
    let starts_of =
        |(index, cell): (usize, &'r Cell)| cell.repetitions.iter().map(move |one| (one.started_ns, index));
    let mut starts: Vec<(u64, usize)> = run.cells.iter().enumerate().flat_map(starts_of).collect();
    starts.sort_unstable();
    starts.dedup_by_key(|(_, index)| *index);
    let mark = |(started_ns, index)| Mark { x: started_ns as f64, label: view.cell(&run.cells[index]) };
    let marks: Vec<Mark> = starts.into_iter().map(mark).collect();
    if (2..=MOST_MARKS).contains(&marks.len()) { marks } else { Vec::new() }
}

fn stall_note(placed: &[Placed<'_>], drawn: usize, view: &View<'_>) -> Option<String> {
    let all = placed.iter().map(|one| one.repetition.stall_count).fold(0, u64::saturating_add);
    let (all_words, drawn_words) = (number::count(all), number::count(drawn as u64));
    match all {
        0 => None,
        _ if all == drawn as u64 => {
            Some(view.say(&text!("shaded: pauses ({all_words})", "網掛け: 停滞({all_words} 回)")))
        }
        _ => Some(view.say(&text!(
            "shaded: the longest {drawn_words} of {all_words} pauses",
            "網掛け: 停滞 {all_words} 回のうち長い順に {drawn_words} 回"
        ))),
    }
}

/// Draws a cell with a perceptible stall.
fn stalled(run: &RunRecord, cell: &Cell, view: &View<'_>) -> Option<Picture> {
    let felt = stutter(cell).as_ref().and_then(stutter_words)?;
    let mut at_ns = 0;
    let placed: Vec<Placed<'_>> = cell
        .counted()
        .map(|repetition| {
            let one = Placed { repetition, at_ns };
            at_ns = at_ns.saturating_add(repetition.elapsed_ns);
            one
        })
        .collect();
    let lines = both_ways(&placed, view)?;
    let stretches = stretches(&placed, view);
    let mut notes = vec![view.say(&felt)];
    notes.extend(stall_note(&placed, stretches.len(), view));
    notes.push(view.pick("the repetitions stand one behind the other", "各回を続けて並べています"));
    let what = view.cell(cell);
    let what = view.say(&text!("Pauses in {what}", "{what} の停滞"));
    let plot = Lines { stretches, ..plot(lines, Scale::Linear, view) };
    Some(view.picture("series", &what, &[run], notes, Plot::Lines(plot)))
}

/// Draws the rates over time that another tool printed.
fn printed(run: &RunRecord, view: &View<'_>) -> Option<Picture> {
    let lines: Vec<ChartLine> = run
        .cells
        .iter()
        .flat_map(|cell| {
            cell.imported.iter().flat_map(move |imported| imported.series.iter().map(move |one| (cell, one)))
        })
        .filter(|(_, series)| series.axis == SeriesAxis::Time && series.quantity == Quantity::Rate)
        .filter(|(_, series)| series.points.len() > 2)
        .map(|(cell, series)| {
            let every = series.points.len().div_ceil(MOST_VALUES).max(1);
            let points = series.points.chunks(every).map(|chunk| {
                (chunk[0].0, chunk.iter().map(|point| point.1).sum::<f64>() / chunk.len() as f64)
            });
            let name = format!("{} {}", view.cell(cell), shown::line(&series.name));
            ChartLine::new(name.trim(), LineStyle::Joined, points.collect())
        })
        .take(super::view::MOST_LINES)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let what = view.pick("Throughput over time", "速度の推移");
    let notes = vec![view.pick("higher is faster", "高いほど速い")];
    let plot = Plot::Lines(plot(lines, Scale::Linear, view));
    Some(view.picture("series", &what, &[run], notes, plot))
}
