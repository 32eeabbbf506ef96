//! A source that waits by itself: after some of its operations, as a program that thinks about what it has read, and for others at
//! work at the same time.
//!
//! The model: so many operations are given out; once all of them are done, nothing comes for the time of the pause
//! (fio's `thinktime` with `thinktime_blocks_type=complete`). Of the others it knows what [`Neighbours`] tells.

use crate::drive::neighbours::Neighbours;
use crate::drive::source::{Generator, Next, Source};
use kurabe_core::workload::{Op, Thinking, Workload};
use std::sync::Arc;

/// How soon a thread that shares its source looks again whether what others have in flight is done.
const LOOK_AGAIN_NS: u64 = 100_000;
/// How soon who has had its share looks again: within an operation of a fast device.
const LOOK_FOR_SHARE_NS: u64 = 10_000;

/// A source with pauses, if it has any.
pub(crate) struct Thoughtful<S> {
    source: S,
    thinking: Option<Thinking>,
    given_out: u32,
    in_flight: u32,
    pause_until_ns: u64,
    neighbours: Arc<Neighbours>,
    /// Which of them it is, and when it begins.
    member: usize,
    begins_ns: u64,
}

impl Thoughtful<Generator> {
    /// The sources of all threads of each of the workloads that run at once.
    pub(crate) fn for_threads(workloads: &[Workload]) -> Vec<Vec<Self>> {
        let neighbours = Neighbours::of(workloads);
        let sources = |(member, workload): (usize, &Workload)| {
            let with_pauses = |source| Self {
                source,
                thinking: workload.thinking,
                given_out: 0,
                in_flight: 0,
                pause_until_ns: 0,
                neighbours: Arc::clone(&neighbours),
                member,
                begins_ns: workload.start_delay_ns,
            };
            Generator::for_threads(workload).into_iter().map(with_pauses).collect()
        };
        workloads.iter().enumerate().map(sources).collect()
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
        let since_start_ns = now_ns.saturating_add(self.begins_ns);
        if self.neighbours.is_over(since_start_ns) {
            return Next::End;
        }
        if self.neighbours.has_its_share(self.member, since_start_ns) {
            return Next::NotBefore(now_ns.saturating_add(LOOK_FOR_SHARE_NS));
        }
        let next = self.source.next(now_ns);
        match next {
            Next::Op { .. } => {
                (self.given_out, self.in_flight) = (self.given_out + 1, self.in_flight + 1);
                self.neighbours.gave_out(self.member);
            }
            Next::NotBefore(_) => {}
            Next::End => self.neighbours.ended(self.member),
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
