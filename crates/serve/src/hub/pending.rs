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
    /// Begin of the tick of the kernel in which it is not to be answered.
    pub(super) not_in_tick_ns: Option<u64>,
    pub(super) is_in_stack: bool,
    /// The stack never sees it.
    pub(super) is_beside: bool,
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
