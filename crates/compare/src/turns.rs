//! Runs whose repetitions took turns: compared block by block.
//!
//! The model: repetitions with one number are of one block. What both sides have of a block counts; what one side has
//! alone, because it was stopped in the middle, does not.

use crate::cells::value;
use kurabe_core::record::{Cell, Measure, RunRecord, VersusRecord};
use kurabe_stats::{Blocked, MOST_BLOCKS, Sides, judge};

/// What two runs were measured in together, if they took turns.
pub(crate) fn together<'r>(baseline: &'r RunRecord, other: &RunRecord) -> Option<&'r VersusRecord> {
    let (one, two) = (baseline.header.versus.as_ref()?, other.header.versus.as_ref()?);
    (one.group == two.group && one.order_seed == two.order_seed && one.targets == two.targets).then_some(one)
}

/// The values of a cell on both sides, in the order of the blocks that both have.
pub(crate) fn in_blocks(baseline: &Cell, other: &Cell) -> Sides {
    let mut sides = Sides {
        baseline: Vec::new(),
        other: Vec::new(),
        higher_is_better: baseline.measure == Measure::Rate,
    };
    for repetition in baseline.counted().filter(|repetition| repetition.turn.is_some()) {
        let same_block =
            other.counted().find(|other| other.index == repetition.index && other.turn.is_some());
        let Some(across) = same_block else { continue };
        // A repetition without a value makes the cell unusable: leaving it out would leave out the worst.
        sides.baseline.push(value(baseline, repetition).unwrap_or(f64::NAN));
        sides.other.push(value(other, across).unwrap_or(f64::NAN));
    }
    sides
}

/// Time of a pair of blocks of a cell on both sides, in ns, by the repetitions so far.
pub(crate) fn pair_ns(baseline: &Cell, other: &Cell) -> u64 {
    let mean = |cell: &Cell| {
        let times: Vec<u64> = cell.counted().map(|repetition| repetition.elapsed_ns).collect();
        times.iter().fold(0, |sum: u64, time| sum.saturating_add(*time)) / (times.len() as u64).max(1)
    };
    mean(baseline).saturating_add(mean(other)).saturating_mul(2)
}

/// Where the cells of a measurement in turns stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// For each target but the first, what may be said of each cell against the first; `None` where a side has no usable
    /// value.
    pub others: Vec<Vec<Option<Blocked>>>,
}

impl Standings {
    /// Of the cells of all targets, the baseline first; each list has the same cells.
    pub fn of(targets: &[Vec<Cell>], margin: f64) -> Self {
        let Some((baseline, others)) = targets.split_first() else { return Self { others: Vec::new() } };
        let judged = |other: &Vec<Cell>| {
            let sides: Vec<Sides> =
                baseline.iter().zip(other).map(|(one, two)| in_blocks(one, two)).collect();
            judge(&sides, margin, others.len())
        };
        Self { others: others.iter().map(judged).collect() }
    }

    /// For each cell the targets that need it again after so many blocks.
    pub fn wanted(&self, blocks: u32) -> Vec<Vec<usize>> {
        let cells = self.others.first().map_or(0, Vec::len);
        (0..cells)
            .map(|cell| {
                let open =
                    |other: &Vec<Option<Blocked>>| !other[cell].is_some_and(|found| found.course.settled);
                let mut places: Vec<usize> = (1..=self.others.len())
                    .filter(|place| (blocks as usize) < MOST_BLOCKS && open(&self.others[place - 1]))
                    .collect();
                if !places.is_empty() {
                    places.insert(0, 0);
                }
                places
            })
            .collect()
    }

    /// Comparisons that are settled, and all.
    pub fn settled(&self) -> (usize, usize) {
        let all = self.others.iter().flatten();
        (all.clone().flatten().filter(|found| found.course.settled).count(), all.count())
    }
}
