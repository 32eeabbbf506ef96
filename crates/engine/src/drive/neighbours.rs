//! Shared state of concurrent workloads: how much each has done, and whether all must end.
//!
//! Within a group, a workload issues operations while its part of all operations does not exceed
//! its share (fio's `flow`). A workload that has ended, or whose time is over, no longer counts.
//! When a workload ends that also ends all others (fio's `exitall`), no workload issues any more
//! operations. Times are relative to the common start.

use kurabe_core::workload::{Flow, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state of concurrent workloads.
pub(crate) struct Neighbours(Vec<Neighbour>);

struct Neighbour {
    flow: Option<Flow>,
    ends_all: bool,
    ends_ns: u64,
    given_out: AtomicU64,
    has_ended: AtomicBool,
}

impl Neighbours {
    /// Creates the state for all concurrent workloads.
    pub(crate) fn of(workloads: &[Workload]) -> Arc<Self> {
        let member = |workload: &Workload| {
            let begins_ns = workload.start_delay_ns.saturating_add(workload.warm_up_ns);
            Neighbour {
                flow: workload.flow,
                ends_all: workload.ends_all,
                ends_ns: workload.end.time_ns.map_or(u64::MAX, |time_ns| begins_ns.saturating_add(time_ns)),
                given_out: AtomicU64::new(0),
                has_ended: AtomicBool::new(false),
            }
        };
        Arc::new(Self(workloads.iter().map(member).collect()))
    }

    /// Returns whether all workloads must end.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        self.0.iter().any(|member| member.ends_all && member.is_over(now_ns))
    }

    /// Returns whether a member has reached its share for now.
    pub(crate) fn has_its_share(&self, index: usize, now_ns: u64) -> bool {
        let member = &self.0[index];
        let Some(flow) = member.flow.filter(|_| !member.is_over(now_ns)) else { return false };
        let sharing = self.0.iter().filter_map(|other| {
            let other_flow = other.flow.filter(|other_flow| other_flow.group == flow.group)?;
            (!other.is_over(now_ns)).then(|| (other.done(), u128::from(other_flow.weight)))
        });
        let (all, weights) = sharing.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        member.done() * weights > all * u128::from(flow.weight)
    }

    /// Counts an operation that a member issued, if its share is limited.
    pub(crate) fn gave_out(&self, index: usize) {
        let member = &self.0[index];
        if member.flow.is_some() {
            member.given_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Marks a member as ended.
    pub(crate) fn ended(&self, index: usize) {
        self.0[index].has_ended.store(true, Ordering::Relaxed);
    }
}

impl Neighbour {
    fn done(&self) -> u128 {
        u128::from(self.given_out.load(Ordering::Relaxed))
    }

    fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.ends_ns || self.has_ended.load(Ordering::Relaxed)
    }
}
