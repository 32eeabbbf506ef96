//! The dies of a flash device as one resource that reads, programs and erases in order of request.
//!
//! The model: a timeline with a next-free time. Work is recorded until it ends, so that a waiting
//! request can be charged by cause.

use crate::account::Cause;
use crate::timeline::LONGEST_NS;
use crate::world::{JobId, World};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub(super) struct Media {
    free_ns: u64,
    /// End and cause of each piece of unfinished work, in order of time.
    work: VecDeque<(u64, Cause)>,
}

impl Media {
    /// Returns the end of all queued work.
    pub(super) fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Adds work of this length, not before `from_ns`, and returns its end.
    pub(super) fn take(&mut self, from_ns: u64, length_ns: u64, cause: Cause) -> u64 {
        if length_ns == 0 {
            return self.free_ns.max(from_ns);
        }
        self.free_ns = self.free_ns.max(from_ns).saturating_add(length_ns.min(LONGEST_NS));
        match self.work.back_mut() {
            Some((end_ns, last)) if *last == cause => *end_ns = self.free_ns,
            _ => self.work.push_back((self.free_ns, cause)),
        }
        self.free_ns
    }

    /// Charges the time of a job until `until_ns` to the work done during it.
    pub(super) fn charge(&self, job: JobId, until_ns: u64, world: &mut World) {
        for (end_ns, cause) in &self.work {
            world.charge(job, *cause, (*end_ns).min(until_ns));
            if *end_ns >= until_ns {
                return;
            }
        }
    }

    pub(super) fn forget(&mut self, now_ns: u64) {
        while self.work.front().is_some_and(|(end_ns, _)| *end_ns <= now_ns) {
            self.work.pop_front();
        }
    }
}
