//! Waits for other processes that use the same store.
//!
//! SQLite asks repeatedly whether to continue to wait for a lock. The wait continues as long as the
//! store's files change, because then other processes make progress. Each pause has a random
//! length, so that hundreds of processes do not retry in step. The wait is given up only if the
//! lock is held for [`STALLED`] without any change.

use crate::platform::{FileTrace, beside};
use kurabe_core::{ErrorKind, Result, text};
use rusqlite::Connection;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest time that a lock may be held while no file of the store changes. One commit on a slow,
/// busy medium takes seconds.
const STALLED: Duration = Duration::from_secs(60);
/// Duration of a wait after which the user is notified.
const NOTICED: Duration = Duration::from_secs(3);
/// Upper limit of the first pause, and of the longest one, between two attempts.
const FIRST_MS: u64 = 2;
const LONGEST_MS: u64 = 100;

/// Whether waits that may be abandoned end now.
static IS_ABANDONED: AtomicBool = AtomicBool::new(false);
/// Function that notifies the user of a wait.
static TELL: OnceLock<fn()> = OnceLock::new();

thread_local! {
    static PATIENCE: Cell<WaitLimit> = const { Cell::new(WaitLimit::Endless) };
}

/// Effect of [`abandon_waits`] on the waits of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitLimit {
    /// None, because a result is to be stored.
    Endless,
    /// Waits are abandoned.
    Abandonable,
    /// A wait was abandoned.
    Abandoned,
}

/// Sets the function that is called when a wait for the store lasts some seconds. Only the first
/// call has an effect.
pub fn tell_waits(tell: fn()) {
    let _ = TELL.set(tell);
}

/// Ends all current and future waits within [`abandonable`], because the process was asked to stop.
/// Waits that store a result continue.
pub fn abandon_waits() {
    IS_ABANDONED.store(true, Ordering::Relaxed);
}

/// Runs work that stores no result, so that [`abandon_waits`] may end its waits for the store.
///
/// # Errors
/// Those of the work; [`ErrorKind::Interrupted`] if a wait was abandoned.
pub fn abandonable<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = PATIENCE.replace(WaitLimit::Abandonable);
    let done = work();
    let after = PATIENCE.replace(before);
    if done.is_err() && after == WaitLimit::Abandoned {
        return Err(ErrorKind::Interrupted.error(text!(
            "interrupted while waiting for the store, which another process is writing to",
            "ほかのプロセスが保存先に書き込んでいるため待っている間に、中断されました"
        )));
    }
    done
}

/// Makes a connection wait for other users of the file.
pub(super) fn be_patient(connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    connection.busy_handler(Some(patience(path)))
}

/// Returns a function that waits before the next attempt to lock a file, given the number of
/// attempts so far, and returns whether to try again.
pub(super) fn patience(path: &Path) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut wait = StoreWait::of(path);
    move |tries| {
        if PATIENCE.get() != WaitLimit::Endless && IS_ABANDONED.load(Ordering::Relaxed) {
            PATIENCE.set(WaitLimit::Abandoned);
            return false;
        }
        let (goes_on, is_noticed) = wait.go_on(tries == 0, Instant::now(), wait.traces());
        if is_noticed && let Some(tell) = TELL.get() {
            tell();
        }
        if goes_on {
            std::thread::sleep(pause(tries, RandomState::new().build_hasher().finish()));
        }
        goes_on
    }
}

/// A wait for one lock.
struct StoreWait {
    files: [PathBuf; 3],
    begun: Instant,
    changed: Instant,
    traces: [FileTrace; 3],
    is_noticed: bool,
}

impl StoreWait {
    fn of(path: &Path) -> Self {
        let files = ["", "-journal", "-wal"].map(|suffix| beside(path, suffix));
        let now = Instant::now();
        Self { files, begun: now, changed: now, traces: Default::default(), is_noticed: false }
    }

    fn traces(&self) -> [FileTrace; 3] {
        self.files.each_ref().map(|file| FileTrace::of(file))
    }

    /// Returns whether the wait continues, and whether the user should be notified now.
    fn go_on(&mut self, is_first: bool, now: Instant, traces: [FileTrace; 3]) -> (bool, bool) {
        if is_first {
            (self.begun, self.is_noticed) = (now, false);
        }
        if is_first || traces != self.traces {
            (self.changed, self.traces) = (now, traces);
        }
        let is_noticed = !self.is_noticed && now.duration_since(self.begun) >= NOTICED;
        self.is_noticed |= is_noticed;
        (now.duration_since(self.changed) < STALLED, is_noticed)
    }
}

/// Returns the pause before the next attempt: random up to a limit that doubles.
fn pause(tries: i32, random: u64) -> Duration {
    let most_us = (FIRST_MS << tries.clamp(0, 10)).min(LONGEST_MS) * 1000;
    Duration::from_micros(1 + random % most_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(seconds: i64) -> [FileTrace; 3] {
        [FileTrace { seconds, ..FileTrace::default() }, FileTrace::default(), FileTrace::default()]
    }

    #[test]
    fn a_wait_goes_on_as_long_as_the_files_change() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut wait = StoreWait::of(Path::new("/kurabe.db"));
        for second in 0..1000 {
            assert!(wait.go_on(second == 0, at(second * 30), changed(second as i64)).0);
        }
        assert!(wait.go_on(false, at(999 * 30 + 59), changed(999)).0);
        assert!(!wait.go_on(false, at(999 * 30 + 60), changed(999)).0, "nothing changed for a minute");
        assert!(wait.go_on(true, at(999 * 30 + 61), changed(999)).0, "the next wait begins anew");
    }

    #[test]
    fn a_wait_is_told_once_after_some_seconds() {
        let begun = Instant::now();
        let mut wait = StoreWait::of(Path::new("/kurabe.db"));
        let mut at = |is_first, seconds| {
            wait.go_on(is_first, begun + Duration::from_secs(seconds), Default::default()).1
        };
        let are_told = [at(true, 0), at(false, 2), at(false, 3), at(false, 10), at(true, 11), at(false, 14)];
        assert_eq!(are_told, [false, false, true, false, false, true]);
    }

    #[test]
    fn waits_differ_and_grow_to_a_limit() {
        let limit = |tries| (0..100_000).map(|random| pause(tries, random)).max().unwrap();
        assert!(limit(0) <= Duration::from_millis(2), "{:?}", limit(0));
        assert!(limit(i32::MAX) > Duration::from_millis(99), "{:?}", limit(i32::MAX));
        assert!(limit(i32::MAX) <= Duration::from_millis(LONGEST_MS));
    }
}
