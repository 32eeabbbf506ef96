//! Which of several runs is the fastest.
//!
//! The model: each run is held against each other one. Who is slower than no other in any cell is unbeaten; if everybody is, because
//! nothing is clear, nobody is called the fastest, and what is left to tell is who leads in how many cells by the means alone.

use crate::pair::{ComparedCell, pair};
use kurabe_core::record::RunRecord;
use kurabe_stats::Verdict;
use serde::Serialize;

/// Of more runs than this nobody is called the fastest: all pairs of them would have to be compared.
const MOST_RUNS: usize = 8;

/// Which of several runs is the fastest, by their places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fastest {
    /// Runs that are slower than no other in any cell.
    pub unbeaten: Vec<usize>,
    /// Whether any run is faster than another beyond doubt.
    pub is_decided: bool,
    /// In how many of the cells that all have each run has the highest speed, by the means.
    pub leads: Vec<usize>,
    /// Cells that all runs have.
    pub cell_count: usize,
}

/// The fastest of these runs; `None` of fewer than three, of too many, or where a pair of them has no cell in common.
pub fn fastest(runs: &[&RunRecord], margin: f64) -> Option<Fastest> {
    if !(3..=MOST_RUNS).contains(&runs.len()) {
        return None;
    }
    let mut is_slower = vec![false; runs.len()];
    let mut is_decided = false;
    // The first against each other one: what leads by the means is told by these alone.
    let mut of_first: Vec<Vec<ComparedCell>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for (other_index, other) in runs.iter().enumerate().skip(index + 1) {
            let pair = pair(run, other, margin);
            let verdicts = || pair.cells.iter().filter_map(|cell| Some(cell.compared?.verdict));
            verdicts().next()?;
            let has = |kind: Verdict| verdicts().any(|verdict| verdict == kind);
            is_slower[index] |= has(Verdict::Faster);
            is_slower[other_index] |= has(Verdict::Slower);
            is_decided |= has(Verdict::Faster) || has(Verdict::Slower);
            if index == 0 {
                of_first.push(pair.cells);
            }
        }
    }
    let (leads, cell_count) = leads(&of_first);
    let unbeaten = (0..runs.len()).filter(|index| !is_slower[*index]).collect();
    Some(Fastest { unbeaten, is_decided, leads, cell_count })
}

/// In how many cells each run leads, and of how many that all have, by the pairs of the first with each other one.
fn leads(pairs: &[Vec<ComparedCell>]) -> (Vec<usize>, usize) {
    let mut leads = vec![0; pairs.len() + 1];
    let mut cell_count = 0;
    for cell in &pairs[0] {
        let speed = |cells: &Vec<ComparedCell>| {
            let same = cells.iter().find(|other| other.key == cell.key && other.measure == cell.measure)?;
            same.compared.map(|compared| compared.speed.value)
        };
        let Some(speeds) = pairs.iter().map(speed).collect::<Option<Vec<f64>>>() else { continue };
        cell_count += 1;
        // The baseline has the speed 1. Of equals the first leads.
        let mut leader = (0, 1.0);
        for (index, speed) in speeds.into_iter().enumerate() {
            if speed > leader.1 {
                leader = (index + 1, speed);
            }
        }
        leads[leader.0] += 1;
    }
    (leads, cell_count)
}
