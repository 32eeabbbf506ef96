//! What runs left behind: those that died, and those that could not remove their test file.

use crate::clock::now;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::{Error, Result};
use kurabe_engine::remove_orphan;
use kurabe_host::process_alive;
use kurabe_store::{Owner, Store};
use std::path::PathBuf;

/// A test file of a run that died, or that could not remove it.
#[derive(Debug)]
pub struct Leftover {
    /// The run.
    pub run: String,
    /// The file.
    pub path: PathBuf,
    /// Why it is still there, if it is; the next start tries again.
    pub error: Option<Error>,
}

/// Whether the process that measures a run lives.
pub fn owner_lives(owner: &Owner) -> bool {
    process_alive(owner.pid, owner.start_ticks, &owner.boot_id)
}

/// Removes the test files that runs left behind, and marks those that died as interrupted. Returns the files that were
/// there.
///
/// # Errors
/// When the store cannot be written.
pub fn recover(store: &dyn Store) -> Result<Vec<Leftover>> {
    let mut leftovers = Vec::new();
    for run in store.abandoned(&owner_lives)? {
        let removed = run.test_file.as_deref().map_or(Ok(false), remove_orphan);
        let error = match removed {
            Ok(false) => None,
            Ok(true) => Some(None),
            Err(error) => Some(Some(error)),
        };
        match error {
            // A run whose file is still there stays as it is.
            Some(Some(_)) => {}
            // One that has measured nothing is not kept.
            _ if store.load(&run.id).is_ok_and(|record| is_empty(&record)) => {
                store.remove(&run.id, &owner_lives)?;
            }
            _ => store.mark_interrupted(&run.id, &now()?)?,
        }
        if let (Some(path), Some(error)) = (run.test_file, error) {
            leftovers.push(Leftover { run: run.id, path, error });
        }
    }
    Ok(leftovers)
}

/// Whether a run died before its target was open, or ended before its first cell and was kept for its test file alone.
fn is_empty(record: &RunRecord) -> bool {
    record.header.target.is_none() || (record.status != RunStatus::Running && record.cells.is_empty())
}
