//! What runs that died left behind.

use crate::clock::now;
use crate::limited::{GivenUp, within};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_engine::remove_orphan;
use kurabe_host::process_alive;
use kurabe_store::{Owner, Store};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A test file of a run that died.
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

/// How long storage may take to answer about all that runs left behind. Disks that sleep take longer to start; they are
/// looked at again at the next start.
const LIMIT: Duration = Duration::from_secs(2);

/// Removes the test files of runs that died, and marks these runs as interrupted. Returns the files that were there.
///
/// # Errors
/// When the store cannot be written.
pub fn recover(store: &dyn Store) -> Result<Vec<Leftover>> {
    let mut leftovers = Vec::new();
    let runs = store.abandoned(&owner_lives)?;
    let removals = runs.iter().map(|run| removal(run.test_file.clone())).collect();
    for (run, removed) in runs.into_iter().zip(within(LIMIT, removals)) {
        let error = match removed {
            Some(Ok(false)) => None,
            Some(Ok(true)) => Some(None),
            Some(Err(error)) => Some(Some(error)),
            None => Some(run.test_file.as_deref().map(no_answer)),
        };
        match error {
            // A run whose file is still there stays as it is.
            Some(Some(_)) => {}
            // One that died before its target was open has measured nothing, and is not kept.
            _ if store.load(&run.id).is_ok_and(|record| record.header.target.is_none()) => {
                store.remove(&run.id, &owner_lives)?;
            }
            _ => store.mark_interrupted(&run.id, &now())?,
        }
        if let (Some(path), Some(error)) = (run.test_file, error) {
            leftovers.push(Leftover { run: run.id, path, error });
        }
    }
    Ok(leftovers)
}

/// Removes a test file, unless nobody waits for it any more: by then another run may be measuring.
fn removal(path: Option<PathBuf>) -> impl FnOnce(&GivenUp) -> Result<bool> + Send + 'static {
    move |given_up| {
        let Some(path) = path else { return Ok(false) };
        // This is where storage that hangs is met.
        let answer = path.symlink_metadata();
        if answer.is_err() || given_up.is_set() { Ok(false) } else { remove_orphan(&path) }
    }
}

fn no_answer(path: &Path) -> Error {
    let (path, limit_s) = (path.display(), LIMIT.as_secs());
    Error::new(
        ErrorKind::Target,
        text!(
            "what a run that died left behind was not looked at: no answer from {path} in {limit_s} s",
            "異常終了した測定の残りを確認していません: {path} が {limit_s} 秒以内に応答しませんでした"
        ),
    )
    .remedy(text!(
        "nothing needs to be done; the next start looks again",
        "そのままで構いません。次の起動時にもう一度確認します"
    ))
}
