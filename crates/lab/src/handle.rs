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

    /// Takes away what would outlive a process that exits without waiting for its runs: programs that they started, and
    /// test files. A test file that cannot be removed is still named in the store, and the next start tries again.
    pub fn abandon(&self) {
        // A timed program has a process group of its own and would live on.
        self.0.stop.kill_programs();
        for path in self.test_files().iter() {
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
