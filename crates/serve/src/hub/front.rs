//! Fronts, which make block devices of this machine: requests that come from within this process, and those of the kernel's NBD
//! client.
//!
//! The model: they were made here, before anybody else was let in, and cannot be made to connect anew after a power cut: what
//! they ask fails until power is on again. A front that is not NBD turns what it is asked into the requests of a connection, stamped with the time at which they came,
//! and brings a function that takes the outcome. Nothing else about it is known here.

use super::Hub;
use super::asker::{Asker, FrontAnswer, FrontOutcome, FrontRequest};
use super::connection::Peer;
use crate::honesty::Timing;
use crate::protocol::{NbdCommand, NbdError};
use crate::workers::{Body, PayloadJob, SMALL_BYTES};

impl Hub {
    /// Does what a front asks; nothing works while the power is off.
    pub(super) fn take_front_request(&mut self, asked: FrontRequest) {
        let FrontRequest { export, request, payload, came_ns, answer } = asked;
        let operation = self.begin(Asker::Front(Some(answer)), export, &request, came_ns);
        if self.is_off {
            return self.fail(operation, NbdError::Io);
        }
        self.meet_faults(operation);
        self.do_request(operation, payload);
    }

    /// Whether a connection is a front's, while the power is off.
    pub(super) fn is_front_without_power(&self, id: u64) -> bool {
        self.is_off && self.connections.get(&id).is_some_and(|connection| connection.peer == Peer::Kernel)
    }

    /// What fronts wait for has failed.
    pub(super) fn drop_front_requests(&mut self) {
        let is_of_front = |asker: &Asker| match asker {
            Asker::Front(_) => true,
            Asker::Connection(id) => {
                self.connections.get(id).is_some_and(|connection| connection.peer == Peer::Kernel)
            }
        };
        let of_fronts = self.operations.iter().filter(|(_, pending)| is_of_front(&pending.asker));
        let of_fronts: Vec<u64> = of_fronts.map(|(operation, _)| *operation).collect();
        of_fronts.into_iter().for_each(|operation| self.fail(operation, NbdError::Io));
    }

    /// Answers a front: at once, or by a worker where bytes have to be copied for long.
    pub(super) fn answer_front(
        &mut self,
        answer: FrontAnswer,
        outcome: FrontOutcome,
        timing: Option<Timing>,
    ) {
        if let Some(timing) = timing {
            self.hold_until(timing.due_ns);
        }
        if let Ok(Body::Bytes(bytes)) = &outcome
            && bytes.len() > SMALL_BYTES
        {
            return self.workers.give(PayloadJob::Answer { answer, outcome, timing });
        }
        if let Some(timing) = timing {
            self.account.sent(timing, self.now_ns());
        }
        answer(outcome);
    }

    /// Whether a request is one that the stack never sees: of what measures the round trip, or about no bytes.
    pub(super) fn is_beside_stack(&self, operation: u64) -> bool {
        let Some(pending) = self.operations.get(&operation) else { return false };
        let is_own = match &pending.asker {
            Asker::Connection(id) => match self.connections.get(id).map(|connection| connection.peer) {
                Some(Peer::Own) => true,
                Some(Peer::Kernel) => !self.announced,
                Some(Peer::Client | Peer::Surplus) | None => false,
            },
            // Nobody else is let in before it is known.
            Asker::Front(_) => !self.announced,
        };
        is_own || pending.request.command == NbdCommand::BlockStatus
    }
}
