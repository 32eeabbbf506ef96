//! Handles that stop runs from another thread.

use kurabe_engine::{Scratches, Stop};
use std::sync::Arc;

/// Stops the runs that were opened with it, and no others.
#[derive(Clone, Debug, Default)]
pub struct RunHandle {
    pub(crate) stop: Arc<Stop>,
    /// Registry of the files that targets create.
    pub(crate) scratches: Scratches,
}

impl RunHandle {
    /// Asks the runs to stop. Completed results are kept.
    pub fn stop(&self) {
        self.stop.ask();
    }

    /// Returns whether the runs were asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Kills the programs that the runs started, without waiting. A timed program has its own
    /// process group and would outlive a process that exits without waiting for its runs.
    pub fn kill_programs(&self) {
        self.stop.kill_programs();
    }

    /// Removes the test files, for a process that exits without waiting for its runs. This blocks
    /// if the storage hangs. The store still lists test files that were not removed, and the next
    /// start tries again.
    pub fn remove_test_files(&self) {
        let _ = self.scratches.remove_all();
    }
}
