//! Recovers the leftovers of runs that were killed, or that could not remove their files.
//!
//! A run is dead if its process has exited. If this is unknown (another machine, a container, a
//! chroot), the run is dead if no process holds the lock on its file. The store lists each file
//! until its removal is confirmed, even after the run itself was removed. If the store cannot be
//! written, nothing is removed.

use crate::clock::now;
use crate::limited::{GivenUp, within};
use kurabe_core::made::{MadeFile, StillThere};
use kurabe_core::process::ProcessIdentity;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_engine::{Fate, Mandate, take_away};
use kurabe_host::{Liveness, life_of};
use kurabe_store::Store;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for the storage of all leftovers to respond. Sleeping disks take longer to start; the
/// next start examines them again.
const LIMIT: Duration = Duration::from_secs(2);

/// A file or folder that a dead run left.
#[derive(Debug)]
pub struct Leftover {
    /// Id of the run.
    pub run: String,
    /// Path where it is, or was.
    pub path: PathBuf,
    /// Fate of the file.
    pub became: Became,
    /// Whether this was not reported before.
    pub is_news: bool,
}

/// Outcome for a leftover.
#[derive(Debug)]
pub enum Became {
    /// Removed.
    Removed,
    /// Not removed, because it may not belong to kurabe, or has moved.
    Left(StillThere),
    /// Could not be examined or removed. The next start tries again.
    Failed(Error),
}

/// Returns whether the process that measures a run is alive, or may be alive where it is not
/// visible.
pub fn owner_lives(owner: &ProcessIdentity) -> bool {
    life_of(owner) != Liveness::Dead
}

/// Returns whether the process that measures a run belongs to another machine or container, so that
/// its state is unknown.
pub fn owner_is_elsewhere(owner: &ProcessIdentity) -> bool {
    life_of(owner) == Liveness::Elsewhere
}

/// Removes the leftovers of dead runs, and marks these runs as interrupted. Returns each leftover
/// with its outcome.
///
/// # Errors
/// When the store cannot be read or written.
pub fn recover(store: &dyn Store) -> Result<Vec<Leftover>> {
    if store.is_read_only() {
        return Ok(Vec::new());
    }
    // Read before the runs, so that a run that starts in between does not appear to have ended.
    let mut made_files = store.made_files()?;
    // A run without an owner has no process to check.
    let mut running: HashMap<String, Liveness> = store
        .running()?
        .into_iter()
        .map(|(run, owner)| (run, owner.as_ref().map_or(Liveness::Dead, life_of)))
        .collect();
    made_files.retain(|(run, _)| running.get(run) != Some(&Liveness::Alive));
    let looks = made_files
        .iter()
        .map(|(run, made)| {
            look(run.clone(), made.clone(), running.get(run) != Some(&Liveness::Elsewhere), store.user())
        })
        .collect();
    let mut leftovers = Vec::new();
    for ((run, made), fate) in made_files.into_iter().zip(within(LIMIT, looks)) {
        if matches!(fate, Some(Ok(Fate::InUse))) {
            running.insert(run, Liveness::Alive);
            continue;
        }
        if running.get(&run) == Some(&Liveness::Elsewhere) {
            match fate {
                // No process held its lock.
                Some(Ok(Fate::Removed(_))) => running.insert(run.clone(), Liveness::Dead),
                _ => continue,
            };
        }
        leftovers.extend(conclude(store, run, made, fate)?);
    }
    for (run, life) in running {
        if life == Liveness::Dead {
            close(store, &run)?;
        }
    }
    Ok(leftovers)
}

/// Stores the outcome for a file.
fn conclude(
    store: &dyn Store,
    run: String,
    made: MadeFile,
    fate: Option<Result<Fate>>,
) -> Result<Option<Leftover>> {
    let (path, became) = match fate {
        Some(Ok(Fate::InUse)) => return Ok(None),
        Some(Ok(Fate::Gone)) => {
            store.note_made_file(&run, None)?;
            return Ok(None);
        }
        Some(Ok(Fate::Removed(path))) => {
            store.note_made_file(&run, None)?;
            (path, Became::Removed)
        }
        Some(Ok(Fate::Left(why))) => (made.path.clone(), Became::Left(why)),
        Some(Err(error)) => (made.path.clone(), Became::Failed(error)),
        None => (made.path.clone(), Became::Failed(no_answer(&made.path))),
    };
    let is_news = match &became {
        Became::Left(why) => made.told != Some(*why),
        _ => true,
    };
    if let (Became::Left(why), true) = (&became, is_news) {
        store.note_made_file(&run, Some(&MadeFile { told: Some(*why), ..made }))?;
    }
    Ok(Some(Leftover { run, path, became, is_news }))
}

/// Closes a dead run.
fn close(store: &dyn Store, run: &str) -> Result<()> {
    // A run that died before its target was open has no results, and is deleted.
    if store.load(run).is_ok_and(|record| record.header.target.is_none()) {
        // Concurrent recoveries do the same.
        return match store.remove(run, &|_| false) {
            Err(error) if error.kind() == ErrorKind::NoSuchRun => Ok(()),
            other => other,
        };
    }
    store.mark_interrupted(run, &now()?)
}

/// Returns a task that examines a run's file and removes it, unless the task was abandoned.
fn look(
    run: String,
    made: MadeFile,
    owner_is_dead: bool,
    store_user: Option<u32>,
) -> impl FnOnce(&GivenUp) -> Result<Fate> + Send + 'static {
    let own_user = rustix::process::geteuid().as_raw();
    let mandate = Mandate { own_user, store_user: store_user.unwrap_or(own_user), owner_is_dead };
    move |given_up| take_away(&run, &made, mandate, &|| given_up.is_set())
}

/// Returns whether a file of this process is gone, after trying once more to remove it.
pub(crate) fn is_gone(run: &str, made: &MadeFile) -> bool {
    let own_user = rustix::process::geteuid().as_raw();
    let mandate = Mandate { own_user, store_user: own_user, owner_is_dead: true };
    matches!(take_away(run, made, mandate, &|| false), Ok(Fate::Gone | Fate::Removed(_)))
}

fn no_answer(path: &Path) -> Error {
    let (path, limit_s) = (shown::path(path), LIMIT.as_secs());
    ErrorKind::Target
        .error(text!(
            "files left by an interrupted run were not checked: {path} did not respond within {limit_s} s",
            "異常終了した測定の残りを確認していません: {path} が {limit_s} 秒以内に応答しませんでした"
        ))
        .remedy(text!(
            "no action is needed; kurabe checks again at its next start",
            "そのままで構いません。次の起動時にもう一度確認します"
        ))
}
