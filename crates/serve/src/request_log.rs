//! What a served stack was asked, for whoever wants to ask others the same.

use crate::clock::RealTime;
use kurabe_sim::{RecordedRequest, RequestKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A log that a server writes and others read.
#[derive(Debug)]
pub struct RequestLog {
    time: RealTime,
    /// With the place of each in the order in which requests came.
    answered: Mutex<Vec<(u64, RecordedRequest)>>,
    flushes: AtomicU64,
    is_ticked: bool,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self {
            time: RealTime::begin(),
            answered: Mutex::default(),
            flushes: AtomicU64::new(0),
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

    /// The clock by which it is written.
    pub(crate) fn time(&self) -> RealTime {
        self.time
    }

    /// The time of this log, in ns.
    pub fn now_ns(&self) -> u64 {
        self.time.now_ns()
    }

    /// A request is answered now.
    pub(crate) fn add(&self, place: u64, mut recorded: RecordedRequest) {
        recorded.answered_ns = self.now_ns();
        self.flushes.fetch_add((recorded.request.kind == RequestKind::Flush).into(), Ordering::Relaxed);
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).push((place, recorded));
    }

    /// Flushes so far.
    pub fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// What was answered since this was asked last, in the order in which it was asked.
    pub fn take(&self) -> Vec<RecordedRequest> {
        let mut answered = std::mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner));
        answered.sort_by_key(|(place, _)| *place);
        answered.into_iter().map(|(_, recorded)| recorded).collect()
    }
}
