//! Stopping runs from outside.

use kurabe_engine::{Scratches, Stop};
use std::sync::Arc;

/// What stops the runs that were opened with it, and no others.
#[derive(Clone, Debug, Default)]
pub struct RunHandle {
    pub(crate) stop: Arc<Stop>,
    /// Where targets tell what they make.
    pub(crate) scratches: Scratches,
}

impl RunHandle {
    /// Asks the runs to stop. What was measured is kept.
    pub fn stop(&self) {
        self.stop.ask();
    }

    /// Whether they were asked to.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Ends the programs that the runs started: a timed program has a process group of its own, and would outlive a
    /// process that exits without waiting for its runs. This waits for nothing.
    pub fn kill_programs(&self) {
        self.stop.kill_programs();
    }

    /// Removes the test files, for a process that exits without waiting for its runs. This hangs where the storage does.
    /// A test file that is not removed is still named in the store, and the next start tries again.
    pub fn remove_test_files(&self) {
        let _ = self.scratches.remove_all();
    }
}
