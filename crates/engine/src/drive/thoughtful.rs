//! A source that pauses: after some of its operations, like a program that processes the data it
//! has read, and to keep its share among concurrent workloads.
//!
//! After a given number of operations has been issued and all of them have completed, no operation
//! is issued for the length of the pause (fio's `thinktime` with `thinktime_blocks_type=complete`).
//! [`Neighbours`] provides the state of the other workloads.

use crate::drive::neighbours::Neighbours;
use crate::drive::source::{Generator, Next, Source};
use kurabe_core::workload::{Op, Thinking, Workload};
use std::sync::Arc;

/// How soon a thread with a shared source checks again whether the operations of the others have
/// completed, in ns.
const LOOK_AGAIN_NS: u64 = 100_000;
/// How soon a workload that has reached its share checks again, in ns. Less than an operation of a
/// fast device.
const LOOK_FOR_SHARE_NS: u64 = 10_000;

/// A source with pauses.
pub(crate) struct Thoughtful<S> {
    source: S,
    thinking: Option<Thinking>,
    given_out: u32,
    in_flight: u32,
    pause_until_ns: u64,
    neighbours: Arc<Neighbours>,
    /// Index of the workload among the concurrent ones, and its start.
    member: usize,
    begins_ns: u64,
}

impl Thoughtful<Generator> {
    /// Creates the sources of all threads of each concurrent workload.
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
