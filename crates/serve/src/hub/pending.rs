//! A request on its way.

use super::asker::Asker;
use crate::fault::FaultMet;
use crate::protocol::{NbdCommand, NbdError, NbdRequest};
use crate::workers::Body;
use kurabe_sim::Request;

/// A request that was not answered yet.
pub(super) struct PendingRequest {
    /// Who waits for the answer.
    pub(super) asker: Asker,
    pub(super) export: usize,
    pub(super) request: NbdRequest,
    /// When it came.
    pub(super) came_ns: u64,
    /// When it came, less the round trip.
    pub(super) asked_ns: u64,
    /// When the stack got it.
    pub(super) stamp_ns: u64,
    /// What the stack got.
    pub(super) modelled: Request,
    /// Of what writes: its place in the order of all.
    pub(super) number: u64,
    /// What becomes of its bytes, once that is known.
    pub(super) outcome: Option<Result<Body, NbdError>>,
    /// What of the device's faults it met.
    pub(super) fault: FaultMet,
    /// When the stack was done with it, or a fault lets go of it; beside the stack: when it came.
    pub(super) due: Option<(u64, Result<(), NbdError>)>,
    /// That time is still to come.
    pub(super) is_held: bool,
    /// What a flush of a ticked log waits for.
    pub(super) flush: Option<TickedFlush>,
    pub(super) is_in_stack: bool,
    /// The stack never sees it.
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
    /// Whether other bytes are there afterwards.
    pub(super) fn changes(&self) -> bool {
        self.request.writes() || self.request.command == NbdCommand::Trim
    }

    /// Its number, if it is a write that was not acknowledged yet.
    pub(super) fn write_in_flight(&self) -> Option<u64> {
        self.request.writes().then_some(self.number)
    }
}
