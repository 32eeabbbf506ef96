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
    /// When to begin, once it is open.
    begins_ns: Option<u64>,
}

impl Gate {
    /// Called by each thread when it is ready; returns when the gate opens, with the time at which to begin.
    pub fn wait(&self) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        let closed = |state: &mut State| state.begins_ns.is_none();
        let state = self.changed.wait_while(state, closed).unwrap_or_else(PoisonError::into_inner);
        state.begins_ns.unwrap_or(0)
    }

    /// Waits until `count` threads are ready; then `before` tells when they begin, and the gate opens.
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
