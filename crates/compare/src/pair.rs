//! Two runs compared cell by cell.

use crate::cells::{CellKey, alike};
use crate::fairness::{Difference, differences};
use crate::turns::{in_blocks, pair_ns, together};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, RunRecord, VersusRecord};
use kurabe_core::workload::Direction;
use kurabe_stats::{Compared, Course, Sides, Stutter, compare, compare_computed, figure, judge, stutter};
use serde::Serialize;

/// Two runs beside one another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Id of the run that the other is held against.
    pub baseline: String,
    /// Id of the other run.
    pub other: String,
    /// A difference below this share does not matter.
    pub margin: f64,
    /// Cells that both have, in the order of the baseline.
    pub cells: Vec<ComparedCell>,
    /// Names of the cells that only one has.
    pub only_baseline: Vec<String>,
    /// Likewise.
    pub only_other: Vec<String>,
    /// What else differed.
    pub differences: Vec<Difference>,
    /// What the runs were measured in together, if they took turns.
    pub versus: Option<VersusRecord>,
}

/// One side of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The mean of the values compared, in bytes per second or ns.
    pub mean: f64,
    /// How many values are compared: repetitions, or a single figure.
    pub count: usize,
    /// Whether another tool printed it.
    pub printed: bool,
    /// Its stutter, if kurabe measured it.
    pub stutter: Option<Stutter>,
}

/// A cell that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCell {
    /// What it is.
    pub key: CellKey,
    /// The step's name in the baseline.
    pub label: String,
    /// The part of the step.
    pub part: String,
    /// Direction.
    pub direction: Option<Direction>,
    /// What its figure tells.
    pub measure: Measure,
    /// The baseline.
    pub baseline: Side,
    /// The other.
    pub other: Side,
    /// What is compared: every repetition by the mean, or the best of either side, because one tool printed no more.
    pub statistic: Statistic,
    /// By how much they differ; `None` if a side has no usable value.
    pub compared: Option<Compared>,
    /// How that came about, if both sides took turns.
    pub course: Option<Course>,
    /// Time of a pair of blocks on both sides, in ns, if they took turns.
    pub pair_ns: Option<u64>,
}

/// Compares two runs.
pub fn pair(baseline: &RunRecord, other: &RunRecord, margin: f64) -> Pair {
    let find = |cell: &Cell| {
        let key = CellKey::of(cell);
        other
            .cells
            .iter()
            .find(|candidate| CellKey::of(candidate) == key && candidate.measure == cell.measure)
    };
    let both: Vec<(&Cell, &Cell)> =
        baseline.cells.iter().filter_map(|cell| Some((cell, find(cell)?))).collect();
    let versus = together(baseline, other);
    let mut statistics: Vec<Statistic> = Vec::new();
    let sides: Vec<Sides> = both
        .iter()
        .map(|(one, two)| {
            if versus.is_some() {
                statistics.push(Statistic::Mean);
                return in_blocks(one, two);
            }
            let (mut lists, statistic) = alike(&[*one, *two]);
            let (other, baseline) = (lists.pop().unwrap_or_default(), lists.pop().unwrap_or_default());
            statistics.push(statistic);
            Sides { baseline, other, higher_is_better: one.measure == Measure::Rate }
        })
        .collect();
    let computed = baseline.header.model.is_some() && other.header.model.is_some();
    let compared: Vec<(Option<Compared>, Option<Course>)> = match versus {
        Some(versus) => judge(&sides, margin, versus.targets.len().saturating_sub(1))
            .into_iter()
            .map(|found| found.map(|found| (found.compared, found.course)).unzip())
            .collect(),
        None if computed => sides.iter().map(|sides| (compare_computed(sides, margin), None)).collect(),
        None => compare(&sides, margin).into_iter().map(|compared| (compared, None)).collect(),
    };
    let cells = both
        .iter()
        .zip(sides.iter().zip(compared))
        .zip(statistics)
        .map(|(((one, two), (sides, (compared, course))), statistic)| ComparedCell {
            key: CellKey::of(one),
            label: one.label.clone(),
            part: one.part.clone(),
            direction: one.direction,
            measure: one.measure,
            baseline: side(one, &sides.baseline),
            other: side(two, &sides.other),
            statistic,
            compared,
            course,
            pair_ns: course.map(|_| pair_ns(one, two)),
        })
        .collect();
    let without = |run: &RunRecord, paired: &dyn Fn(&Cell) -> bool| {
        run.cells.iter().filter(|cell| !paired(cell)).map(name).collect()
    };
    Pair {
        baseline: baseline.header.id.clone(),
        other: other.header.id.clone(),
        margin,
        cells,
        only_baseline: without(baseline, &|cell| both.iter().any(|(one, _)| std::ptr::eq(*one, cell))),
        only_other: without(other, &|cell| both.iter().any(|(_, two)| std::ptr::eq(*two, cell))),
        differences: differences(baseline, other),
        versus: versus.cloned(),
    }
}

fn side(cell: &Cell, values: &[f64]) -> Side {
    Side {
        mean: figure(Statistic::Mean, values, true).unwrap_or(f64::NAN),
        count: values.len(),
        printed: cell.imported.is_some(),
        stutter: stutter(cell),
    }
}

fn name(cell: &Cell) -> String {
    let direction = cell.direction.map_or("", Direction::word);
    [cell.label.as_str(), direction].join(" ").trim().to_owned()
}
