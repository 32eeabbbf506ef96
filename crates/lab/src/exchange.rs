//! Copies runs from one store to another, for `push` and `pull`.
//!
//! Stored hashes are compared first. Only runs that are missing in the destination, differ or have
//! no hash are read and sent, in batches that are each transferred completely or not at all.
//! Existing runs are never changed, so repeating the call continues where the last one ended. A run
//! that cannot be copied is reported with the reason. All runs stay in the source.

use kurabe_core::record::RunStatus;
use kurabe_core::{Error, Result};
use kurabe_store::{Archive, Runs};
use std::collections::HashSet;

/// Number of runs per transaction.
const BATCH: usize = 64;

/// Result of copying runs.
#[derive(Debug)]
pub struct Exchanged {
    /// Number of runs that were added.
    pub brought: usize,
    /// Number of runs that were already there.
    pub present: usize,
    /// Ids of runs that are still being measured. They can be copied later.
    pub running: Vec<String>,
    /// Ids of runs that could not be copied, with the reasons.
    pub refused: Vec<(String, Error)>,
    /// Error that stopped the copying, if any.
    pub outcome: Result<()>,
}

/// Copies the given runs, or all if `ids` is empty, to another store. `progress` receives the
/// number of runs processed and the total.
///
/// # Errors
/// When the runs or their hashes cannot be read, or the destination cannot be queried.
pub fn exchange(
    from: &dyn Runs,
    to: &dyn Archive,
    ids: Vec<String>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Exchanged> {
    let hashes = from.kept_hashes(&ids)?;
    let same_there = if hashes.is_empty() { HashSet::new() } else { to.holds(&hashes)? };
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
        let arrivals = match to.take(records) {
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
