//! Requests that were not answered yet.

use super::recipient::Recipient;
use crate::fault::FaultMet;
use crate::protocol::{NbdCommand, NbdError, NbdRequest};
use crate::workers::Body;
use kurabe_sim::Request;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// The requests of a hub. Their keys are never used again: what a worker or the stack returns for a
/// request that is gone must not meet another one.
#[derive(Default)]
pub(super) struct Requests {
    pub(super) pending: HashMap<u64, PendingRequest>,
    pub(super) next: u64,
    /// Sequence number of the last write, by which writes are identified after a power cut.
    pub(super) writes: u64,
    pub(super) acknowledged_writes: u64,
    /// Changes that a front requested, in order of arrival. The stack receives them in this order,
    /// even if workers finish their data in another.
    pub(super) front_changes: VecDeque<u64>,
    /// Due times of held answers.
    pub(super) timed: BTreeSet<(u64, u64)>,
}

impl Requests {
    /// Returns the sequence numbers of the writes that were not acknowledged yet.
    pub(super) fn writes_in_flight(&self) -> HashSet<u64> {
        let writes = self.pending.values().filter(|pending| pending.request.writes());
        writes.map(|pending| pending.number).collect()
    }

    /// Forgets all requests at a power cut.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.front_changes.clear();
        self.timed.clear();
        self.acknowledged_writes = 0;
    }
}

/// A request that was not answered yet.
pub(super) struct PendingRequest {
    /// Recipient of the answer.
    pub(super) recipient: Recipient,
    pub(super) export: usize,
    pub(super) request: NbdRequest,
    /// Arrival time.
    pub(super) came_ns: u64,
    /// Arrival time less the round trip.
    pub(super) asked_ns: u64,
    /// Sequence number of a write.
    pub(super) number: u64,
    /// Whether it bypasses the stack: it measures the round trip, or concerns no data.
    pub(super) bypasses_stack: bool,
    /// Faults that affect it.
    pub(super) fault: FaultMet,
    /// Outcome of its data, once known.
    pub(super) outcome: Option<Result<Body, NbdError>>,
    pub(super) stage: Stage,
}

/// Progress of a request in the device. Its data is read or written independently of that.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// The stack does not have it yet.
    Arrived,
    /// It is in the stack.
    InStack(StackSubmission),
    /// The device has completed it, and its answer is held. A flush of a ticked log has a condition.
    Held(DeviceCompletion, Option<TickedFlush>),
    /// Its answer is due, and leaves once the outcome of its data is known.
    Due(DeviceCompletion),
}

/// A request as submitted to the stack.
#[derive(Clone, Copy)]
pub(super) struct StackSubmission {
    pub(super) stamp_ns: u64,
    pub(super) request: Request,
}

/// The completion of a request.
#[derive(Clone, Copy)]
pub(super) struct DeviceCompletion {
    /// Time at which the stack completed it, or a fault releases it. For a request that bypasses the
    /// stack, a fixed time after its arrival.
    pub(super) due_ns: u64,
    pub(super) outcome: Result<(), NbdError>,
    /// The request in the stack, unless it bypassed that.
    pub(super) submission: Option<StackSubmission>,
}

/// A flush that is answered at the next tick of the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickedFlush {
    /// Begin of the tick in which it came.
    pub(super) tick_begin_ns: u64,
    /// Its number in the log, whose watching thread must have looked.
    pub(super) number: u64,
    /// It waits no longer than until then for that thread.
    pub(super) seen_by_ns: u64,
}

impl PendingRequest {
    /// Returns whether it changes the data.
    pub(super) fn changes(&self) -> bool {
        self.request.writes() || self.request.command == NbdCommand::Trim
    }

    /// Takes the answer if it is due and the outcome of the data is known.
    pub(super) fn take_answer(&mut self) -> Option<(DeviceCompletion, Result<Body, NbdError>)> {
        let Stage::Due(completion) = self.stage else { return None };
        Some((completion, self.outcome.take()?))
    }
}
