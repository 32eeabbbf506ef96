//! A source that pauses after some of its operations, as a program that thinks about what it has read.
//!
//! The model: so many operations are given out; once all of them are done, nothing comes for the time of the pause
//! (fio's `thinktime` with `thinktime_blocks_type=complete`).

use crate::drive::source::{Generator, Next, Source};
use kurabe_core::workload::{Op, Thinking, Workload};

/// How soon a thread that shares its source looks again whether what others have in flight is done.
const LOOK_AGAIN_NS: u64 = 100_000;

/// A source with pauses, if it has any.
pub(crate) struct Thoughtful<S> {
    source: S,
    thinking: Option<Thinking>,
    given_out: u32,
    in_flight: u32,
    pause_until_ns: u64,
}

impl Thoughtful<Generator> {
    /// The sources of all threads of a workload.
    pub(crate) fn for_threads(workload: &Workload) -> Vec<Self> {
        let thinking = workload.thinking;
        let with_pauses = |source| Self { source, thinking, given_out: 0, in_flight: 0, pause_until_ns: 0 };
        Generator::for_threads(workload).into_iter().map(with_pauses).collect()
    }
}

impl<S: Source> Source for Thoughtful<S> {
    const HEARS_ENDS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        if self.thinking.is_some_and(|thinking| self.given_out >= thinking.every_operations) {
            if self.in_flight > 0 {
                return Next::NotBefore(now_ns.saturating_add(LOOK_AGAIN_NS));
            }
            self.given_out = 0;
        }
        if now_ns < self.pause_until_ns {
            return Next::NotBefore(self.pause_until_ns);
        }
        let next = self.source.next(now_ns);
        if matches!(next, Next::Op { .. }) {
            (self.given_out, self.in_flight) = (self.given_out + 1, self.in_flight + 1);
        }
        next
    }

    fn ended(&mut self, op: Op, now_ns: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(thinking) = self.thinking.filter(|thinking| self.given_out >= thinking.every_operations) {
            self.pause_until_ns = now_ns.saturating_add(thinking.time_ns);
        }
        self.source.ended(op, now_ns);
    }

    fn may_end(&mut self) -> bool {
        self.source.may_end()
    }
}
