//! A pending request.

use super::recipient::Recipient;
use crate::fault::FaultMet;
use crate::protocol::{NbdCommand, NbdError, NbdRequest};
use crate::workers::Body;
use kurabe_sim::Request;

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
    /// Time at which the stack received it.
    pub(super) stamp_ns: u64,
    /// Request as submitted to the stack.
    pub(super) modelled: Request,
    /// Sequence number of a write.
    pub(super) number: u64,
    /// Outcome of its data, once known.
    pub(super) outcome: Option<Result<Body, NbdError>>,
    /// Faults that affect it.
    pub(super) fault: FaultMet,
    /// Due time, with the outcome: when the stack completed it or a fault releases it. For a
    /// request that bypasses the stack, its arrival.
    pub(super) due: Option<(u64, Result<(), NbdError>)>,
    /// Whether the due time is still in the future.
    pub(super) is_held: bool,
    /// Condition for which a flush of a ticked log waits.
    pub(super) flush: Option<TickedFlush>,
    pub(super) is_in_stack: bool,
    /// Whether it bypasses the stack.
    pub(super) is_beside: bool,
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

    /// Returns the sequence number of a write that was not acknowledged yet.
    pub(super) fn write_in_flight(&self) -> Option<u64> {
        self.request.writes().then_some(self.number)
    }
}
