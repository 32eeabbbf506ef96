//! Threads prepare themselves, then start together. Unlike a barrier, the gate learns the number of threads when
//! it opens, so a thread that could not be made does not leave the others waiting.

use std::sync::{Condvar, Mutex, PoisonError};

/// A gate.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// Called by each thread when it is ready; returns when the gate opens.
    pub fn wait(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.open).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until `count` threads are ready; then `before` runs, and the gate opens.
    pub fn open(&self, count: usize, before: impl FnOnce()) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self
            .changed
            .wait_while(state, |state| state.arrived < count)
            .unwrap_or_else(PoisonError::into_inner);
        before();
        state.open = true;
        self.changed.notify_all();
    }
}
