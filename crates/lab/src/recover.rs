//! What runs left behind: those that died, and those that could not take away what they made.
//!
//! The model: a run has died when its process is known to be gone, or, where that cannot be known (another machine, a
//! container, a chroot), when nobody holds the lock on what it made. What it made stays noted in the store, longer than
//! the run itself, until it is known to be gone. A store that cannot be written is not acted upon at all.

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

/// How long storage may take to answer about all that runs left behind. Disks that sleep take longer to start; they are
/// looked at again at the next start.
const LIMIT: Duration = Duration::from_secs(2);

/// Something that a run that died left behind.
#[derive(Debug)]
pub struct Leftover {
    /// The run.
    pub run: String,
    /// Where it is, or was.
    pub path: PathBuf,
    /// What became of it.
    pub became: Became,
    /// Whether nobody was told so before.
    pub is_news: bool,
}

/// What became of a leftover.
#[derive(Debug)]
pub enum Became {
    /// It is removed.
    Removed,
    /// It is left, because it may not be kurabe's, or is not where it was.
    Left(StillThere),
    /// It could not be looked at or removed; the next start tries again.
    Failed(Error),
}

/// Whether the process that measures a run lives, or may live where it cannot be seen.
pub fn owner_lives(owner: &ProcessIdentity) -> bool {
    life_of(owner) != Liveness::Dead
}

/// Whether the process that measures a run belongs to another machine or container, so that nothing is known of it.
pub fn owner_is_elsewhere(owner: &ProcessIdentity) -> bool {
    life_of(owner) == Liveness::Elsewhere
}

/// Removes what runs that died left behind, and marks these runs as interrupted. Returns what was there, and what is
/// still there.
///
/// # Errors
/// When the store cannot be read or written.
pub fn recover(store: &dyn Store) -> Result<Vec<Leftover>> {
    if store.is_read_only() {
        return Ok(Vec::new());
    }
    // Read before the runs: a run that begins in between is not taken for one that has ended.
    let mut made_files = store.made_files()?;
    // A run without an owner was begun by nobody that can be asked.
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
                // Nobody held its lock.
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

/// What a look came to, noted in the store.
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

/// Ends a run that died.
fn close(store: &dyn Store, run: &str) -> Result<()> {
    // One that died before its target was open has measured nothing, and is not kept.
    if store.load(run).is_ok_and(|record| record.header.target.is_none()) {
        // Several that recover at once do the same.
        return match store.remove(run, &|_| false) {
            Err(error) if error.kind() == ErrorKind::NoSuchRun => Ok(()),
            other => other,
        };
    }
    store.mark_interrupted(run, &now()?)
}

/// Looks at what a run made, and removes it, unless nobody waits for it any more.
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

/// Whether what this process made and closed is gone; if it is not, this tries once more.
pub(crate) fn is_gone(run: &str, made: &MadeFile) -> bool {
    let own_user = rustix::process::geteuid().as_raw();
    let mandate = Mandate { own_user, store_user: own_user, owner_is_dead: true };
    matches!(take_away(run, made, mandate, &|| false), Ok(Fate::Gone | Fate::Removed(_)))
}

fn no_answer(path: &Path) -> Error {
    let (path, limit_s) = (shown::path(path), LIMIT.as_secs());
    ErrorKind::Target
        .error(text!(
            "what a run that died left behind was not looked at: no answer from {path} in {limit_s} s",
            "異常終了した測定の残りを確認していません: {path} が {limit_s} 秒以内に応答しませんでした"
        ))
        .remedy(text!(
            "nothing needs to be done; the next start looks again",
            "そのままで構いません。次の起動時にもう一度確認します"
        ))
}
