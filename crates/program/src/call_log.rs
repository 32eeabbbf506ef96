//! File calls of a command, recorded as they happen.

use crate::call_counts::{CallCounts, CallTally};
use kurabe_promise::FileCall;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Most bytes of written data that are kept for a comparison.
const MOST_BYTES: u64 = 256 << 20;

/// An fsync or fdatasync of a file, by its number among those of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncOfFile {
    /// The last name of the file, or the end of its path.
    pub file: String,
    /// Number of the call, from 1; every call if `None`.
    pub number: Option<u64>,
}

impl SyncOfFile {
    /// Parses a fault such as `error:fsync@wal`, with which every fsync of a file fails. Returns
    /// `None` for other words.
    pub fn parse_fault(words: &str) -> Option<Self> {
        let file = words.strip_prefix("error:fsync@")?;
        (!file.is_empty()).then(|| Self { file: file.to_owned(), number: None })
    }

    /// Returns the fault as the user writes it.
    pub fn fault_words(&self) -> String {
        format!("error:fsync@{}", self.file)
    }

    fn is_of(&self, path: &str, number: u64) -> bool {
        let is_of_file =
            path.strip_suffix(&self.file).is_some_and(|before| before.is_empty() || before.ends_with('/'));
        is_of_file && self.number.is_none_or(|own| own == number)
    }
}

/// Work before the fsync of a file.
pub struct BeforeSync {
    /// The call.
    pub call: SyncOfFile,
    /// The work, during which the program is stopped.
    pub work: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for BeforeSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}

/// Files to follow, and actions at certain calls.
#[derive(Debug, Default)]
pub struct CallRules {
    /// Folder whose files are followed.
    pub folder: PathBuf,
    /// Calls that fail with an I/O error instead of being made.
    pub failing: Vec<SyncOfFile>,
    /// Work before a call.
    pub before: Option<BeforeSync>,
    /// Whether every system call is counted, instead of following those that concern files.
    pub counts_all: bool,
}

/// The calls of a command.
#[derive(Debug, Default)]
pub struct RecordedCalls {
    /// In the order of their ends; those that did not return are last.
    pub calls: Vec<FileCall>,
    /// Name of a call whose requests to files are not followed, if there was one.
    pub unfollowed: Option<&'static str>,
    /// Number of calls that failed on request.
    pub failed: u64,
}

/// Receives the calls of a command while it runs.
#[derive(Debug)]
pub struct CallLog {
    pub(crate) rules: CallRules,
    recorded: Mutex<LogState>,
}

#[derive(Debug, Default)]
struct LogState {
    recorded: RecordedCalls,
    kept_bytes: u64,
    /// Number of syncs of each path.
    syncs: std::collections::HashMap<String, u64>,
    has_done_work: bool,
    tally: CallTally,
}

/// Action at an fsync that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtSync {
    GoOn,
    Fail,
}

impl CallLog {
    /// Creates an empty log.
    pub fn new(rules: CallRules) -> Self {
        Self { rules, recorded: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, LogState> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the calls so far.
    pub fn take(&self) -> RecordedCalls {
        std::mem::take(&mut self.state().recorded)
    }

    /// Returns the number of calls so far, if they are counted.
    pub fn counted(&self) -> CallCounts {
        self.state().tally.by_name()
    }

    pub(crate) fn count(&self, number: i64) {
        self.state().tally.add(number);
    }

    pub(crate) fn add(&self, call: FileCall) {
        self.state().recorded.calls.push(call);
    }

    pub(crate) fn set_unfollowed(&self, name: &'static str) {
        self.state().recorded.unfollowed.get_or_insert(name);
    }

    /// Returns whether this many more bytes may be kept, and counts them.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let mut state = self.state();
        let has_room = state.kept_bytes + bytes <= MOST_BYTES;
        state.kept_bytes += if has_room { bytes } else { 0 };
        has_room
    }

    /// Counts an fsync of a path that begins, and does what is due before it.
    pub(crate) fn at_sync(&self, path: &str) -> AtSync {
        let (number, is_due) = {
            let mut state = self.state();
            let number = state.syncs.entry(path.to_owned()).or_default();
            *number += 1;
            let number = *number;
            let is_due = !state.has_done_work
                && self.rules.before.as_ref().is_some_and(|before| before.call.is_of(path, number));
            state.has_done_work |= is_due;
            (number, is_due)
        };
        if let (true, Some(before)) = (is_due, &self.rules.before) {
            (before.work)();
        }
        if !self.rules.failing.iter().any(|failing| failing.is_of(path, number)) {
            return AtSync::GoOn;
        }
        self.state().recorded.failed += 1;
        AtSync::Fail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_the_end_of_its_path() {
        let all = SyncOfFile { file: "wal".to_owned(), number: None };
        let second = SyncOfFile { file: "d/wal".to_owned(), number: Some(2) };
        for (path, number, is_of) in [
            ("wal", 1, [true, false]),
            ("d/wal", 2, [true, true]),
            ("d/wal", 1, [true, false]),
            ("dwal", 2, [false, false]),
        ] {
            assert_eq!([&all, &second].map(|call| call.is_of(path, number)), is_of, "{path} {number}");
        }
    }
}
