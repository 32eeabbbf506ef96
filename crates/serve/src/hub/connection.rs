//! A client's connection: its peer, its pending requests, and its deadline.

use crate::protocol::Conversation;
use crate::segment::Segment;
use crate::workers::Incoming;
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Largest number of pending requests per client; further ones wait in its socket.
const MOST_REQUESTS: usize = 1024;
/// Largest number of bytes that these read or write, including answers not yet received. One
/// request is always accepted.
const MOST_BYTES: u64 = 32 << 20;
/// Socket buffer size, so that answers of some hundred KiB leave in one piece.
const SOCKET_BYTES: usize = 4 << 20;

/// Current reader of the socket.
#[derive(Debug)]
pub(super) enum Incomings {
    /// The hub reads requests.
    Requests,
    /// A worker receives a payload.
    AtWorker,
    /// A payload waits for more data.
    Waiting(Incoming),
    /// There is no reader, because the client is done.
    Ended,
}

/// Peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// A program that connected.
    Client,
    /// A program beyond the limit, which is refused with a message.
    Surplus,
    /// kurabe's own client, which measures the round trip.
    Own,
    /// The kernel, with a block device; it cannot reconnect.
    Kernel,
}

/// The connections of a hub, by their tokens in epoll.
pub(super) struct Connections {
    pub(super) all: HashMap<u64, Connection>,
    pub(super) next: u64,
    /// Those with something to send.
    pub(super) dirty: HashSet<u64>,
    /// Whether the listener is polled.
    pub(super) are_accepted: bool,
}

impl Connections {
    /// Creates connections whose tokens begin with this one.
    pub(super) fn from(first: u64) -> Self {
        Self { all: HashMap::new(), next: first, dirty: HashSet::new(), are_accepted: false }
    }

    /// Returns the peer of a connection that still exists.
    pub(super) fn peer(&self, id: u64) -> Option<Peer> {
        self.all.get(&id).map(|connection| connection.peer)
    }
}

/// Connection of a client or the kernel, with its pending data.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: Arc<OwnedFd>,
    pub(super) conversation: Conversation,
    /// Received data that was not processed yet, in the first `held_bytes` of the buffer.
    pub(super) held: Vec<u8>,
    pub(super) held_bytes: usize,
    pub(super) incomings: Incomings,
    pub(super) out: VecDeque<Segment>,
    pub(super) sending_at_worker: bool,
    /// Whether the socket's buffer is full.
    pub(super) is_full: bool,
    pub(super) requests: usize,
    pub(super) bytes: u64,
    /// Bytes of answers that were not sent yet.
    pub(super) unsent_bytes: u64,
    pub(super) interest: EventFlags,
    /// Time by which the client must have made progress.
    pub(super) deadline_ns: Option<u64>,
    pub(super) peer: Peer,
}

/// Enlarges the send buffer so that an answer fits as one piece.
pub(crate) fn give_room(socket: &OwnedFd) {
    if rustix::net::sockopt::set_socket_send_buffer_size_force(socket, SOCKET_BYTES).is_err() {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(socket, SOCKET_BYTES);
    }
}

impl Connection {
    /// Returns whether more requests are accepted now.
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
