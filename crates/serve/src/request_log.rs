//! Log of the requests to a served stack, for replaying them on other models.

use crate::clock::RealTime;
use kurabe_sim::RecordedRequest;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A log that a server writes to and other threads read.
#[derive(Debug)]
pub struct RequestLog {
    time: RealTime,
    /// Requests with their sequence numbers in order of arrival.
    answered: Mutex<Vec<(u64, RecordedRequest)>>,
    watch: Mutex<FlushWatch>,
    flush_came: Condvar,
    is_ticked: bool,
}

/// State of the thread that checks the disk at every flush.
#[derive(Debug, Default)]
struct FlushWatch {
    is_on: bool,
    /// Number of flushes so far.
    came: u64,
    /// Number of flushes that it has checked.
    seen: u64,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self {
            time: RealTime::begin(),
            answered: Mutex::default(),
            watch: Mutex::default(),
            flush_came: Condvar::new(),
            is_ticked: false,
        }
    }
}

impl RequestLog {
    /// A log of a device that answers no flush before the next tick of the kernel.
    pub fn ticked() -> Self {
        Self { is_ticked: true, ..Self::default() }
    }

    /// Whether flushes are answered at the next tick at the earliest.
    pub fn is_ticked(&self) -> bool {
        self.is_ticked
    }

    /// Returns the clock of the log.
    pub(crate) fn time(&self) -> RealTime {
        self.time
    }

    /// Returns the time of the log, in ns.
    pub fn now_ns(&self) -> u64 {
        self.time.now_ns()
    }

    /// Adds a request that is answered now.
    pub(crate) fn add(&self, place: u64, mut recorded: RecordedRequest) {
        recorded.answered_ns = self.now_ns();
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).push((place, recorded));
    }

    /// A flush came; its number.
    pub(crate) fn flush_came(&self) -> u64 {
        let mut watch = self.watch();
        watch.came += 1;
        self.flush_came.notify_all();
        watch.came
    }

    /// Whether the watching thread, if there is one, has looked since this flush came.
    pub(crate) fn is_seen(&self, flush: u64) -> bool {
        let watch = self.watch();
        !watch.is_on || watch.seen >= flush
    }

    /// Begins or ends to watch flushes. While a ticked log is watched, no flush is answered before
    /// [`Self::seen`] was called for it, so that the thread that waits for the flush is idle during
    /// the check.
    pub fn set_watched(&self, is_on: bool) {
        let mut watch = self.watch();
        watch.is_on = is_on;
        watch.seen = watch.came;
    }

    /// Waits for a flush that was not looked after yet, at most for so long; its number.
    pub fn next_flush(&self, most: Duration) -> Option<u64> {
        let is_none = |watch: &mut FlushWatch| watch.seen >= watch.came;
        let waited = self.flush_came.wait_timeout_while(self.watch(), most, is_none);
        let (watch, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        (!timeout.timed_out()).then_some(watch.came)
    }

    /// All flushes up to this one were looked after.
    pub fn seen(&self, flush: u64) {
        self.watch().seen = flush;
    }

    fn watch(&self) -> MutexGuard<'_, FlushWatch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns the requests answered since the last call, in order of arrival.
    pub fn take(&self) -> Vec<RecordedRequest> {
        let mut answered = std::mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner));
        answered.sort_by_key(|(place, _)| *place);
        answered.into_iter().map(|(_, recorded)| recorded).collect()
    }
}
