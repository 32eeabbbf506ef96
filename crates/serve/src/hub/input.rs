//! Input of clients: the turns of the conversation, and payloads.

use super::Hub;
use super::connection::{Connection, Incomings};
use super::recipient::Recipient;
use crate::protocol::{NbdError, NbdRequest, Turn};
use crate::segment::Segment;
use crate::workers::{Body, Incoming, PayloadJob, SMALL_BYTES};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::sync::Arc;

impl Hub {
    /// Receives data of a connection.
    pub(super) fn take_input(&mut self, id: u64) {
        let Some(connection) = self.connections.all.get_mut(&id) else { return };
        if matches!(connection.incomings, Incomings::Waiting(_)) {
            return self.hand_over_payload(id, Vec::new());
        }
        if !connection.takes_requests() {
            return;
        }
        let room = &mut connection.held[connection.held_bytes..];
        match rustix::net::recv(&connection.socket, room, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => connection.incomings = Incomings::Ended,
            Ok((count, _)) => connection.held_bytes += count,
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => return self.drop_connection(id),
        }
        self.take_turns(id, self.clock.heard_ns);
    }

    /// Processes turns in the received data, which arrived at `came_ns`.
    pub(super) fn take_turns(&mut self, id: u64, came_ns: u64) {
        let mut taken = 0;
        loop {
            let Some(connection) = self.connections.all.get_mut(&id) else { return };
            if !connection.takes_requests() || taken == connection.held_bytes {
                break;
            }
            if !self.take_turn(id, &mut taken, came_ns) {
                break;
            }
        }
        if let Some(connection) = self.connections.all.get_mut(&id)
            && taken > 0
        {
            connection.held.copy_within(taken..connection.held_bytes, 0);
            connection.held_bytes -= taken;
        }
    }

    /// Processes one turn. Returns whether there was one, so that more may follow.
    fn take_turn(&mut self, id: u64, taken: &mut usize, came_ns: u64) -> bool {
        let Some(connection) = self.connections.all.get_mut(&id) else { return false };
        let held = &connection.held[*taken..connection.held_bytes];
        match connection.conversation.next(held) {
            Turn::Wait => false,
            Turn::Answer { taken: count, bytes } => {
                *taken += count;
                if connection.conversation.has_begun() {
                    connection.deadline_ns = None;
                }
                self.say(id, Segment::of_bytes(bytes));
                true
            }
            Turn::End { bytes } => {
                connection.incomings = Incomings::Ended;
                self.say(id, Segment::of_bytes(bytes));
                false
            }
            Turn::Request { taken: count, request } => self.take_request(id, &request, count, taken, came_ns),
        }
    }

    fn take_request(
        &mut self,
        id: u64,
        request: &NbdRequest,
        head_bytes: usize,
        taken: &mut usize,
        came_ns: u64,
    ) -> bool {
        let is_without_power = self.is_front_without_power(id);
        let Some(connection) = self.connections.all.get_mut(&id) else { return false };
        let payload_bytes = request.payload_bytes() as usize;
        let behind = &connection.held[*taken + head_bytes..connection.held_bytes];
        let is_small = payload_bytes <= SMALL_BYTES;
        if is_small && behind.len() < payload_bytes {
            return false;
        }
        let error = connection.conversation.check(request).err();
        let error = error.or(is_without_power.then_some(NbdError::Io));
        let payload = behind[..payload_bytes.min(behind.len())].to_vec();
        *taken += head_bytes + payload.len();
        let export = connection.conversation.export();
        let operation = self.begin(Recipient::Connection(id), export, request, came_ns);
        match error {
            Some(error) => self.fail(operation, error),
            None => self.meet_faults(operation),
        }
        if is_small {
            if error.is_none() {
                self.do_request(operation, payload);
            }
            return true;
        }
        let number = self.requests.pending.get(&operation).map_or(0, |operation| operation.number);
        let incoming = Incoming {
            operation,
            offset_bytes: request.offset_bytes,
            left_bytes: request.length_bytes,
            number,
            failure: error.or(self.fault_of(operation)),
        };
        if let Some(connection) = self.connections.all.get_mut(&id) {
            connection.incomings = Incomings::Waiting(incoming);
        }
        self.hand_over_payload(id, payload);
        false
    }

    /// Lets a worker receive the rest of a payload; `first` is the part that has arrived.
    fn hand_over_payload(&mut self, id: u64, first: Vec<u8>) {
        let Some(connection) = self.connections.all.get_mut(&id) else { return };
        let Connection { incomings, socket, conversation, .. } = connection;
        match std::mem::replace(incomings, Incomings::AtWorker) {
            Incomings::Waiting(mut incoming) => {
                // A power cut has failed the request, so the rest of its data is discarded.
                if !self.requests.pending.contains_key(&incoming.operation) {
                    incoming.failure.get_or_insert(NbdError::Io);
                }
                let (socket, disk) =
                    (Arc::clone(socket), Arc::clone(&self.parts.disks[conversation.export()]));
                self.workers.give(PayloadJob::Receive { connection: id, socket, disk, first, incoming });
            }
            other => *incomings = other,
        }
    }

    /// Continues after a worker has received the available part of a payload.
    pub(super) fn payload_came(&mut self, id: u64, incoming: Incoming, alive: bool) {
        let is_whole = incoming.left_bytes == 0;
        if let Some(connection) = self.connections.all.get_mut(&id) {
            connection.incomings = match (alive, is_whole) {
                (false, _) => Incomings::Ended,
                (true, false) => {
                    connection.incomings = Incomings::Waiting(incoming);
                    return self.adjust(id);
                }
                (true, true) => Incomings::Requests,
            };
        }
        match incoming.failure {
            // The client never sent all of it, so there is no answer and the device never received
            // the request.
            _ if !is_whole => self.forget(incoming.operation),
            // A request with a fault still takes the device's time.
            Some(error) if self.fault_of(incoming.operation).is_none() => {
                self.fail(incoming.operation, error);
            }
            _ => self.data_done(incoming.operation, Ok(Body::Nothing)),
        }
        self.take_turns(id, self.now_ns());
        self.adjust(id);
    }
}
