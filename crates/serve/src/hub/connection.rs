//! A client's connection: who it is, what it has under way, and when it is let go.

use crate::protocol::Conversation;
use crate::segment::Segment;
use crate::workers::Incoming;
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::Arc;

/// Requests of one client under way; what comes on top waits in its socket.
const MOST_REQUESTS: usize = 1024;
/// Bytes that these read or write, and of answers that were not taken; but one is always let through.
const MOST_BYTES: u64 = 32 << 20;
/// Memory of a socket, so that answers of some hundred KiB leave in one piece.
const SOCKET_BYTES: usize = 4 << 20;

/// Who uses one direction of the socket.
#[derive(Debug)]
pub(super) enum Incomings {
    /// Requests are read from it.
    Requests,
    /// A payload, which a worker is at.
    AtWorker,
    /// A payload that waits for more to come.
    Waiting(Incoming),
    /// Nobody: the client is done.
    Ended,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// A program that knocked.
    Client,
    /// One program too many, which is told so.
    Surplus,
    /// Kurabe's own, that measures the round trip.
    Own,
    /// The kernel, with a block device: it cannot be made to connect anew.
    Kernel,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: Arc<OwnedFd>,
    pub(super) conversation: Conversation,
    /// What has come and was not taken: so many bytes of the buffer.
    pub(super) held: Vec<u8>,
    pub(super) held_bytes: usize,
    pub(super) incomings: Incomings,
    pub(super) out: VecDeque<Segment>,
    pub(super) sending_at_worker: bool,
    /// The socket took no more.
    pub(super) is_full: bool,
    pub(super) requests: usize,
    pub(super) bytes: u64,
    /// Answers that it has not taken.
    pub(super) unsent_bytes: u64,
    pub(super) interest: EventFlags,
    /// Until when it must have got on.
    pub(super) deadline_ns: Option<u64>,
    pub(super) peer: Peer,
}

/// Has a socket hold what is sent in one piece.
pub(crate) fn give_room(socket: &OwnedFd) {
    if rustix::net::sockopt::set_socket_send_buffer_size_force(socket, SOCKET_BYTES).is_err() {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(socket, SOCKET_BYTES);
    }
}

impl Connection {
    /// Whether it takes more requests now.
    pub(super) fn takes_requests(&self) -> bool {
        matches!(self.incomings, Incomings::Requests)
            && self.requests < MOST_REQUESTS
            && self.bytes + self.unsent_bytes < MOST_BYTES
    }

    pub(super) fn wanted_interest(&self) -> EventFlags {
        let mut flags = EventFlags::empty();
        if self.takes_requests() || matches!(self.incomings, Incomings::Waiting(_)) {
            flags |= EventFlags::IN;
        }
        if self.is_full && !self.sending_at_worker {
            flags |= EventFlags::OUT;
        }
        flags
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.incomings, Incomings::Ended)
            && self.requests == 0
            && self.out.is_empty()
            && !self.sending_at_worker
    }
}
