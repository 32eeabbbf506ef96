//! The dies of a flash device as one resource: they read, program and erase in the order in which they are asked.
//!
//! The model: a timeline with a next-free time, at the rates of all dies together. What it does is remembered until it
//! is over, so that a request that waits for it can say for what. A program is a whole number of stripes, because all
//! dies program their pages at the same time and a page that is not full takes as long as a full one.

use crate::account::Cause;
use crate::timeline::transfer_ns;
use crate::world::{JobId, World};
use std::collections::VecDeque;

/// Longest that one piece of work can take: keeps absurd parameters within the range of time.
const LONGEST_NS: u64 = 1 << 56;

/// All dies together.
#[derive(Clone, Debug)]
pub(super) struct Media {
    pub(super) read_bytes_per_s: f64,
    pub(super) program_bytes_per_s: f64,
    pub(super) stripe_bytes: u64,
    pub(super) access_ns: u64,
    free_ns: u64,
    /// Ends of what was done and is not over yet, with its cause; in order of time.
    work: VecDeque<(u64, Cause)>,
}

impl Media {
    pub(super) fn new(read: f64, program: f64, stripe_bytes: u64, access_ns: u64) -> Self {
        Self {
            read_bytes_per_s: read,
            program_bytes_per_s: program,
            stripe_bytes,
            access_ns: access_ns.min(LONGEST_NS),
            free_ns: 0,
            work: VecDeque::new(),
        }
    }

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

    /// Bytes in whole stripes.
    pub(super) fn whole_stripes(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.stripe_bytes).saturating_mul(self.stripe_bytes)
    }

    /// The time in which so many bytes are programmed, the last stripe of them full or not.
    pub(super) fn program_ns(&self, bytes: u64) -> u64 {
        transfer_ns(self.whole_stripes(bytes), self.program_bytes_per_s)
    }

    /// The time in which so many bytes are read for the host.
    pub(super) fn read_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.read_bytes_per_s)
    }

    /// The time in which old bytes are read to be copied: stripe by stripe, each with an access, because the buffer
    /// holds no more.
    pub(super) fn copy_out_ns(&self, bytes: u64) -> u64 {
        let accesses = self.access_ns.saturating_mul(bytes.div_ceil(self.stripe_bytes));
        accesses.saturating_add(self.read_ns(bytes))
    }
}
