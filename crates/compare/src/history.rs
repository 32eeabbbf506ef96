//! The same device and profile over time.
//!
//! The newest run is compared with the oldest in full. The runs between them form a series of
//! means, for which digests suffice, so a thousand runs take no longer to read than two.

use crate::digest::{Word, read};
use crate::pair::{Pair, pair};
use crate::{history_key::HistoryKey, key::CellName};
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::environment::Environment;
use kurabe_core::record::{RunRecord, RunStatus, RunSummary};
use kurabe_stats::{Drift, drift, holm};
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs of one profile on one device in chronological order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Ids of the runs, oldest first.
    pub runs: Vec<String>,
    /// Comparison of the newest run with the oldest.
    #[serde(skip)]
    pub change: Pair,
    /// For each cell of `change`, the means of all runs in bytes per second or ns. `None` if a run
    /// lacks the cell.
    pub courses: Vec<Vec<Option<f64>>>,
    /// For each cell of `change`, whether the runs have a significant trend. The significance is
    /// corrected for the number of cells.
    pub drifts: Vec<Option<Drift>>,
}

/// Returns the series with at least two complete runs of the same measurement: the device, or the
/// target if no device is recorded, and the ids of the runs, oldest first. A run that cannot be
/// read is skipped, so that it does not hide the history of the others. A result of another tool
/// that was imported twice counts once. `here` restricts the series to the storage in this
/// environment.
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
    // Results of another tool may belong to a series of kurabe's.
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

/// Returns the history of a device. `runs` are the ids of all its runs, oldest first. `first` and
/// `last` are the records of the first and the last one.
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
            let is_same_cell =
                |name: &CellName| name.key == cell.name.key && name.measure == cell.name.measure;
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
