//! The same device and profile over time.
//!
//! The model: the newest run is held against the oldest, whole; what lies between is a course of means, for which the digests
//! are enough, so that a thousand runs are no more to read than two.

use crate::digest::{CellName, Word, read};
use crate::pair::{Pair, pair};
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::record::{RunRecord, RunStatus, RunSummary};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

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

/// What was measured to its end at least twice with one profile: the device, or the target where no device is told, and the
/// ids of its runs, the oldest first. A run that cannot be read must not hide the history of the others: it is left out.
pub fn measured_again(runs: Vec<RunSummary>, digests: &Digests) -> Vec<(String, Vec<String>)> {
    let mut groups: BTreeMap<(String, String), Vec<RunSummary>> = BTreeMap::new();
    for run in runs {
        if run.status == RunStatus::Complete && !digests.unreadable.contains(&run.id) {
            let device = run.device.clone().unwrap_or_else(|| run.target.clone());
            groups.entry((device, run.profile.clone())).or_default().push(run);
        }
    }
    groups.retain(|_, runs| runs.len() > 1);
    let in_order = groups.into_iter().map(|((device, _), mut runs)| {
        runs.sort_by_cached_key(|run| run.measured_at.as_ref().unwrap_or(&run.started_at).clone());
        (device, runs.into_iter().map(|run| run.id).collect())
    });
    in_order.collect()
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
