//! The dies of a flash device as one resource: they read, program and erase in the order in which they are asked.
//!
//! The model: a timeline with a next-free time. What it does is remembered until it is over, so that a request that waits
//! for it can say for what.

use crate::account::Cause;
use crate::timeline::LONGEST_NS;
use crate::world::{JobId, World};
use std::collections::VecDeque;

/// All dies together.
#[derive(Clone, Debug, Default)]
pub(super) struct Media {
    free_ns: u64,
    /// Ends of what was done and is not over yet, with its cause; in order of time.
    work: VecDeque<(u64, Cause)>,
}

impl Media {
    /// When everything that it was asked to do is done.
    pub(super) fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Works for so long, not before `from_ns`: when it ends.
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

    /// Charges the time of a job until `until_ns` to what was done meanwhile.
    pub(super) fn charge(&self, job: JobId, until_ns: u64, world: &mut World) {
        for (end_ns, cause) in &self.work {
            world.charge(job, *cause, (*end_ns).min(until_ns));
            if *end_ns >= until_ns {
                return;
            }
        }
    }

    /// Forgets what is over.
    pub(super) fn forget(&mut self, now_ns: u64) {
        while self.work.front().is_some_and(|(end_ns, _)| *end_ns <= now_ns) {
            self.work.pop_front();
        }
    }
}
