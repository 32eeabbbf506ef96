//! The fastest of several runs.
//!
//! Each run is compared with every other one. A run is unbeaten if it is not slower than any other
//! in any cell. If all runs are unbeaten because nothing is decided, no run is called the fastest.
//! Then only the number of cells in which each run leads by its mean is reported.

use crate::pair::{ComparedCell, pair};
use kurabe_core::record::RunRecord;
use kurabe_stats::Verdict;
use serde::Serialize;

/// Maximum number of runs, because all pairs have to be compared.
const MOST_RUNS: usize = 8;

/// The fastest of several runs, by their indices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fastest {
    /// Runs that are not slower than any other in any cell.
    pub unbeaten: Vec<usize>,
    /// Whether any run is significantly faster than another.
    pub is_decided: bool,
    /// For each run, the number of common cells in which it has the highest mean speed.
    pub leads: Vec<usize>,
    /// Number of cells that all runs have.
    pub cell_count: usize,
}

/// Returns the fastest of these runs. Returns `None` for fewer than three or too many runs, or if
/// two of them have no cell in common.
pub fn fastest(runs: &[&RunRecord], margin: f64) -> Option<Fastest> {
    if !(3..=MOST_RUNS).contains(&runs.len()) {
        return None;
    }
    let mut is_slower = vec![false; runs.len()];
    let mut is_decided = false;
    // Pairs of the first run with each other one, which are sufficient to determine the leader by
    // the means.
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

/// Returns the number of cells in which each run leads and the number of common cells, from the
/// pairs of the first run with each other one.
fn leads(pairs: &[Vec<ComparedCell>]) -> (Vec<usize>, usize) {
    let mut leads = vec![0; pairs.len() + 1];
    let mut cell_count = 0;
    for cell in &pairs[0] {
        let speed = |cells: &Vec<ComparedCell>| {
            let same = cells
                .iter()
                .find(|other| other.name.key == cell.name.key && other.name.measure == cell.name.measure)?;
            same.compared.map(|compared| compared.speed.value)
        };
        let Some(speeds) = pairs.iter().map(speed).collect::<Option<Vec<f64>>>() else { continue };
        cell_count += 1;
        // The baseline has a speed of 1. The first of equal runs leads.
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
