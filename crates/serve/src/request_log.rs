//! Log of the requests to a served stack, for replaying them on other models.

use crate::clock::RealTime;
use kurabe_sim::{RecordedRequest, RequestKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A log that a server writes to and other threads read.
#[derive(Debug)]
pub struct RequestLog {
    time: RealTime,
    /// Requests with their sequence numbers in order of arrival.
    answered: Mutex<Vec<(u64, RecordedRequest)>>,
    flushes: AtomicU64,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self { time: RealTime::begin(), answered: Mutex::default(), flushes: AtomicU64::new(0) }
    }
}

impl RequestLog {
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
        self.flushes.fetch_add((recorded.request.kind == RequestKind::Flush).into(), Ordering::Relaxed);
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).push((place, recorded));
    }

    /// Returns the number of flushes so far.
    pub fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// Removes and returns the requests answered since the last call, in order of arrival.
    pub fn take(&self) -> Vec<RecordedRequest> {
        let mut answered = std::mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner));
        answered.sort_by_key(|(place, _)| *place);
        answered.into_iter().map(|(_, recorded)| recorded).collect()
    }
}
