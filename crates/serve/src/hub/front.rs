//! Fronts, which provide block devices of this machine: requests from within this process, and
//! those of the kernel's NBD client.
//!
//! Fronts are created before clients are accepted, and cannot reconnect after a power cut. Their
//! requests fail until power is on again. A front that is not NBD converts its operations to
//! requests, stamped with their arrival times, and passes a callback for the outcome. Nothing else
//! about it is known here.

use super::Hub;
use super::connection::Peer;
use super::recipient::{FrontAnswer, FrontOutcome, FrontRequest, Recipient};
use crate::honesty::Timing;
use crate::protocol::{NbdCommand, NbdError};
use crate::workers::{Body, PayloadJob, SMALL_BYTES};

impl Hub {
    /// Executes a request of a front. It fails while power is off.
    pub(super) fn take_front_request(&mut self, asked: FrontRequest) {
        let FrontRequest { export, request, payload, came_ns, answer } = asked;
        let operation = self.begin(Recipient::Front(Some(answer)), export, &request, came_ns);
        if self.is_off {
            return self.fail(operation, NbdError::Io);
        }
        self.meet_faults(operation);
        self.do_request(operation, payload);
    }

    /// Returns whether a connection belongs to a front and power is off.
    pub(super) fn is_front_without_power(&self, id: u64) -> bool {
        self.is_off && self.connections.peer(id) == Some(Peer::Kernel)
    }

    /// Fails the pending requests of fronts.
    pub(super) fn drop_front_requests(&mut self) {
        let is_of_front = |recipient: &Recipient| match recipient {
            Recipient::Front(_) => true,
            Recipient::Connection(id) => self.connections.peer(*id) == Some(Peer::Kernel),
        };
        let of_fronts = self.requests.pending.iter().filter(|(_, pending)| is_of_front(&pending.recipient));
        let of_fronts: Vec<u64> = of_fronts.map(|(operation, _)| *operation).collect();
        of_fronts.into_iter().for_each(|operation| self.fail(operation, NbdError::Io));
    }

    /// Answers a front directly, or by a worker if much data has to be copied.
    pub(super) fn answer_front(
        &mut self,
        answer: FrontAnswer,
        outcome: FrontOutcome,
        timing: Option<Timing>,
    ) {
        if let Some(timing) = timing {
            self.clock.hold_until(timing.due_ns);
        }
        if let Ok(Body::Bytes(bytes)) = &outcome
            && bytes.len() > SMALL_BYTES
        {
            return self.workers.give(PayloadJob::Answer { answer, outcome, timing });
        }
        if let Some(timing) = timing {
            self.accounts.account.sent(timing, self.now_ns());
        }
        answer(outcome);
    }

    /// Returns whether a request bypasses the stack: one that measures the round trip, or one that
    /// concerns no data.
    pub(super) fn bypasses_stack(&self, recipient: &Recipient, command: NbdCommand) -> bool {
        let is_own = match recipient {
            Recipient::Connection(id) => match self.connections.peer(*id) {
                Some(Peer::Own) => true,
                Some(Peer::Kernel) => !self.announced,
                Some(Peer::Client | Peer::Surplus) | None => false,
            },
            // Before the round trip is known, only kurabe's own client has access.
            Recipient::Front(_) => !self.announced,
        };
        is_own || command == NbdCommand::BlockStatus
    }
}
