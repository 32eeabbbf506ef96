//! A gate at which threads wait after their preparation so that they start together. Unlike with a
//! barrier, the number of threads is given when the gate opens, so a thread that could not be
//! created does not block the others.

use std::sync::{Condvar, Mutex, PoisonError};

/// A gate at which threads wait for a common start.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    /// Start time in ns, once the gate is open.
    begins_ns: Option<u64>,
}

impl Gate {
    /// Waits until the gate opens, and returns the start time. Called by each thread when it is
    /// ready.
    pub fn wait(&self) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        let closed = |state: &mut State| state.begins_ns.is_none();
        let state = self.changed.wait_while(state, closed).unwrap_or_else(PoisonError::into_inner);
        state.begins_ns.unwrap_or(0)
    }

    /// Waits until `count` threads are ready, then opens the gate with the start time that `before`
    /// returns.
    pub fn open(&self, count: usize, before: impl FnOnce() -> u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self
            .changed
            .wait_while(state, |state| state.arrived < count)
            .unwrap_or_else(PoisonError::into_inner);
        state.begins_ns = Some(before());
        self.changed.notify_all();
    }
}
