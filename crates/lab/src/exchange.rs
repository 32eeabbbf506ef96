//! Runs brought from one store to another: by whoever shares them, and by whoever takes them home.
//!
//! The model: hashes that are kept are compared first, and only what is missing there, differs or was never hashed is read and sent:
//! batch after batch, each whole or not at all. What is there already stays as it is, so the same call again goes on
//! where the last one ended. A run that cannot be brought is named with the reason, and stays where it is, as all others do.

use kurabe_compare::{DIGEST_VERSION, digest};
use kurabe_core::record::RunStatus;
use kurabe_core::{Error, Result};
use kurabe_store::{Archive, Runs};
use std::collections::HashSet;

/// Runs in one transaction.
const BATCH: usize = 64;

/// What became of runs that were to be brought.
#[derive(Debug)]
pub struct Exchanged {
    /// How many are there now that were not before.
    pub brought: usize,
    /// How many were there.
    pub present: usize,
    /// Ids of those that are still being measured, which come another time.
    pub running: Vec<String>,
    /// Ids of those that could not be brought, and why.
    pub refused: Vec<(String, Error)>,
    /// What kept the rest from being brought.
    pub outcome: Result<()>,
}

/// Brings runs, or all, to another store; `progress` is given how many of how many were looked at.
///
/// # Errors
/// When the runs cannot be listed.
pub fn exchange(
    from: &dyn Runs,
    to: &dyn Archive,
    ids: Vec<String>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Exchanged> {
    let hashes = from.kept_hashes(&ids)?;
    let same_there = if hashes.is_empty() { HashSet::new() } else { to.holds(&hashes, DIGEST_VERSION)? };
    let same = hashes.into_iter().filter(|hash| same_there.contains(&hash.identity)).map(|hash| hash.id);
    let same: HashSet<String> = same.collect();
    let asked: HashSet<String> = ids.into_iter().collect();
    let mut runs = from.list()?;
    runs.retain(|run| (asked.is_empty() || asked.contains(&run.id)) && !same.contains(&run.id));
    let (running, over): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.status == RunStatus::Running);
    let running = running.into_iter().map(|run| run.id).collect();
    let present = same.len();
    let mut done = Exchanged { brought: 0, present, running, refused: Vec::new(), outcome: Ok(()) };
    for (place, batch) in over.chunks(BATCH).enumerate() {
        progress(place * BATCH, over.len());
        let all: Vec<String> = batch.iter().map(|run| run.id.clone()).collect();
        let loaded = from.load_all(&all)?;
        let (mut ids, mut records) = (Vec::new(), Vec::new());
        for (id, record) in all.into_iter().zip(loaded) {
            match record {
                Ok(record) => {
                    ids.push(id);
                    records.push(record);
                }
                Err(error) => done.refused.push((id, error)),
            }
        }
        let arrivals = match to.take(records, DIGEST_VERSION, &digest) {
            Ok(arrivals) => arrivals,
            Err(error) => {
                done.outcome = Err(error);
                break;
            }
        };
        for (id, arrival) in ids.into_iter().zip(arrivals) {
            match arrival {
                Ok(arrival) if arrival.is_new => done.brought += 1,
                Ok(_) => done.present += 1,
                Err(error) => done.refused.push((id, error)),
            }
        }
    }
    Ok(done)
}
