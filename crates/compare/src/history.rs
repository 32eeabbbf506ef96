//! The same device and profile over time.
//!
//! The model: the newest run is held against the oldest, whole; what lies between is a course of means, for which the digests
//! are enough, so that a thousand runs are no more to read than two.

use crate::digest::{Word, read};
use crate::pair::{Pair, pair};
use crate::{history_key::HistoryKey, key::CellName};
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::environment::Environment;
use kurabe_core::record::{RunRecord, RunStatus, RunSummary};
use kurabe_stats::{Drift, drift, holm};
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs of one profile on one device in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Ids of the runs, the oldest first.
    pub runs: Vec<String>,
    /// The newest run held against the oldest.
    #[serde(skip)]
    pub change: Pair,
    /// For each cell of `change` the means of all runs, in bytes per second or ns; none where a run lacks it.
    pub courses: Vec<Vec<Option<f64>>>,
    /// For each cell of `change` whether all runs together rise or fall; the chances are corrected for the number of cells.
    pub drifts: Vec<Option<Drift>>,
}

/// What was measured to its end at least twice in the same way: the device, or the target where no device is told, and the
/// ids of its runs, the oldest first. A run that cannot be read must not hide the history of the others: it is left out. What
/// another tool measured and was taken in twice counts once. `here` narrows it to what stands there.
pub fn measured_again(
    runs: &[RunSummary],
    digests: &Digests,
    here: Option<&Environment>,
) -> Vec<(String, Vec<String>)> {
    let words = read(digests);
    let series = |word: u32| match words.get(word as usize) {
        Some(Some(Word::History(key))) => Some((word, &**key)),
        _ => None,
    };
    let all: Vec<(u32, &HistoryKey)> = (0..words.len() as u32).filter_map(series).collect();
    // What another tool measured may belong to a series of kurabe's.
    let joined = |(word, key): (u32, &HistoryKey)| {
        let mut own = all.iter().filter(|(_, series)| key.belongs_to(series));
        own.next().filter(|_| own.next().is_none()).map_or(word, |(word, _)| *word)
    };
    let by_id = digests.by_id();
    let mut groups: BTreeMap<u32, Vec<&RunSummary>> = BTreeMap::new();
    for run in runs {
        let is_undated = run.measured_at().is_empty();
        if run.status != RunStatus::Complete || is_undated || digests.unreadable.contains(&run.id) {
            continue;
        }
        let digest = by_id.get(run.id.as_str());
        let key = digest.and_then(|digest| digest.facts.iter().find_map(|word| series(*word)));
        let Some(key) = key else { continue };
        let group = groups.entry(joined(key)).or_default();
        let is_copy = |other: &&RunSummary| {
            let figures = |id: &str| by_id.get(id).map(|digest| &digest.figures);
            run.imported && other.measured_at == run.measured_at && figures(&other.id) == figures(&run.id)
        };
        if !group.iter().any(is_copy) {
            group.push(run);
        }
    }
    let is_here = |word| here.is_none_or(|here| series(word).is_some_and(|(_, key)| key.is_at(here)));
    groups.retain(|word, runs| runs.len() > 1 && is_here(*word));
    let in_order = groups.into_values().map(|mut runs| {
        let device =
            runs.iter().min_by_key(|run| run.imported).map(|run| run.device.as_ref().unwrap_or(&run.target));
        let device = device.cloned().unwrap_or_default();
        runs.sort_by_cached_key(|run| run.measured_at().to_owned());
        (device, runs.into_iter().map(|run| run.id.clone()).collect())
    });
    let mut in_order: Vec<(String, Vec<String>)> = in_order.collect();
    in_order.sort_by(|one, other| one.0.cmp(&other.0));
    in_order
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
    let by_id = digests.by_id();
    let runs_in_order: Vec<Option<&DigestedRun>> =
        runs.iter().map(|id| by_id.get(id.as_str()).copied()).collect();
    let courses: Vec<Vec<Option<f64>>> = change
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
    let drifts = drifts(&courses);
    History { runs: runs.to_vec(), change, courses, drifts }
}

fn drifts(courses: &[Vec<Option<f64>>]) -> Vec<Option<Drift>> {
    let mut drifts: Vec<Option<Drift>> =
        courses.iter().map(|course| drift(&course.iter().copied().flatten().collect::<Vec<_>>())).collect();
    let chances: Vec<f64> = drifts.iter().flatten().map(|drift| drift.p).collect();
    for (drift, corrected) in drifts.iter_mut().flatten().zip(holm(&chances)) {
        drift.p = corrected;
    }
    drifts
}
