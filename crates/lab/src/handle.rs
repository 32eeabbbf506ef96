//! Stopping runs from outside.

use kurabe_engine::{Scratches, Stop};
use std::sync::Arc;

/// What stops the runs that were opened with it, and no others.
#[derive(Clone, Debug, Default)]
pub struct RunHandle(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    stop: Stop,
    scratches: Scratches,
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
        let _ = self.0.scratches.remove_all();
    }

    pub(crate) fn engine_stop(&self) -> &Stop {
        &self.0.stop
    }

    /// Where targets tell what they make.
    pub(crate) fn scratches(&self) -> &Scratches {
        &self.0.scratches
    }
}
