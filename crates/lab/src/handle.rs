//! Stopping runs from outside.

use kurabe_engine::{Stop, remove_orphan};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What stops the runs that were opened with it, and no others.
#[derive(Clone, Debug, Default)]
pub struct RunHandle(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    stop: Stop,
    test_files: Mutex<Vec<PathBuf>>,
}

impl RunHandle {
    /// Asks the runs to stop. What was measured is kept.
    pub fn stop(&self) {
        self.0.stop.ask();
    }

    /// Whether they were asked to.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.is_asked()
    }

    /// Ends the programs that the runs started: a timed program has a process group of its own, and would outlive a
    /// process that exits without waiting for its runs. This waits for nothing.
    pub fn kill_programs(&self) {
        self.0.stop.kill_programs();
    }

    /// Removes the test files, for a process that exits without waiting for its runs. This hangs where the storage does.
    /// A test file that is not removed is still named in the store, and the next start tries again.
    pub fn remove_test_files(&self) {
        // Nobody waits for the lock while a file is removed.
        let paths = self.test_files().clone();
        for path in &paths {
            let _ = remove_orphan(path);
        }
    }

    pub(crate) fn engine_stop(&self) -> &Stop {
        &self.0.stop
    }

    pub(crate) fn add_test_file(&self, path: PathBuf) {
        self.test_files().push(path);
    }

    pub(crate) fn forget_test_file(&self, path: &Path) {
        self.test_files().retain(|other| other != path);
    }

    fn test_files(&self) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
        self.0.test_files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
