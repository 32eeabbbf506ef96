//! The same device and profile over time.
//!
//! The model: the newest run is held against the oldest, whole; what lies between is a course of means, for which the digests
//! are enough, so that a thousand runs are no more to read than two.

use crate::digest::{CellName, Word, read};
use crate::pair::{Pair, pair};
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::record::RunRecord;
use serde::Serialize;
use std::collections::HashMap;

/// Runs of one profile on one device in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// Ids of the runs, the oldest first.
    pub runs: Vec<String>,
    /// The newest run held against the oldest.
    pub change: Pair,
    /// For each cell of `change` the means of all runs, in bytes per second or ns; none where a run lacks it.
    pub courses: Vec<Vec<Option<f64>>>,
}

/// What became of a device. `runs` are the ids of all its runs, the oldest first; `first` and `last` are the records of the
/// two at the ends.
pub fn history(
    first: &RunRecord,
    last: &RunRecord,
    runs: &[String],
    digests: &Digests,
    margin: f64,
) -> History {
    let change = pair(first, last, margin);
    let words = read(digests);
    let by_id: HashMap<&str, &DigestedRun> = digests.runs.iter().map(|run| (run.id.as_str(), run)).collect();
    let runs_in_order: Vec<Option<&DigestedRun>> =
        runs.iter().map(|id| by_id.get(id.as_str()).copied()).collect();
    let courses = change
        .cells
        .iter()
        .map(|cell| {
            let is_same_cell = |name: &CellName| name.key == cell.key && name.measure == cell.measure;
            let is_of_cell: Vec<bool> = words
                .iter()
                .map(|word| matches!(word, Some(Word::Cell(name)) if is_same_cell(name)))
                .collect();
            let mean = |run: &DigestedRun| {
                let figure = run.figures.iter().find(|(word, _)| is_of_cell[*word as usize]);
                figure.map(|(_, summary)| summary.mean)
            };
            runs_in_order.iter().map(|run| run.and_then(mean)).collect()
        })
        .collect();
    History { runs: runs.to_vec(), change, courses }
}
