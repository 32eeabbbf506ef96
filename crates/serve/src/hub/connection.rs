//! A client's connection: who it is, what it has under way, and when it is let go.

use super::{FIRST_CONNECTION, Hub, LISTENER, MOST_CONNECTIONS, SMALL_BYTES};
use crate::protocol::{Conversation, MOST_HELD_BYTES};
use crate::segment::Segment;
use crate::workers::Incoming;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::net::SocketFlags;
use std::collections::VecDeque;
use std::sync::Arc;

/// How long a client may take to choose an export, and to take its last answers.
const PATIENCE_NS: u64 = 10_000_000_000;
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

    fn wanted_interest(&self) -> EventFlags {
        let mut flags = EventFlags::empty();
        if self.takes_requests() || matches!(self.incomings, Incomings::Waiting(_)) {
            flags |= EventFlags::IN;
        }
        if self.is_full && !self.sending_at_worker {
            flags |= EventFlags::OUT;
        }
        flags
    }

    fn is_done(&self) -> bool {
        matches!(self.incomings, Incomings::Ended)
            && self.requests == 0
            && self.out.is_empty()
            && !self.sending_at_worker
    }
}

impl Hub {
    /// Takes in who knocks.
    pub(super) fn accept(&mut self) {
        while let Some(listener) = &self.parts.listener {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(&listener.socket, flags) {
                Ok(socket) if self.connections.len() >= MOST_CONNECTIONS => {
                    self.counts.refused_connections += 1;
                    drop(socket);
                }
                Ok(socket) => self.welcome(socket),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // No descriptors left: it would ring for ever. Housekeeping tries again.
                Err(_) => {
                    let _ = epoll::delete(&self.epoll, &listener.socket);
                    self.accepts = false;
                    return;
                }
            }
        }
    }

    /// Begins a conversation with who knocked.
    fn welcome(&mut self, socket: OwnedFd) {
        if let Some(listener) = &self.parts.listener {
            listener.prepare(&socket);
        }
        let conversation = Conversation::new(Arc::clone(&self.parts.exports));
        self.counts.connections += 1;
        self.connect(socket, conversation, Peer::Client);
    }

    /// Begins a conversation with kurabe's own client.
    pub(super) fn welcome_own(&mut self, socket: OwnedFd) {
        let conversation = Conversation::new(Arc::clone(&self.parts.exports));
        self.connect(socket, conversation, Peer::Own);
    }

    /// Answers the kernel, which knows the export from who gave it the other end.
    pub(super) fn welcome_kernel(&mut self, socket: OwnedFd, export: usize) {
        let conversation = Conversation::begun(Arc::clone(&self.parts.exports), export);
        self.connect(socket, conversation, Peer::Kernel);
    }

    fn connect(&mut self, socket: OwnedFd, conversation: Conversation, peer: Peer) {
        give_room(&socket);
        let id = self.next_connection;
        self.next_connection += 1;
        debug_assert!(id >= FIRST_CONNECTION && id != LISTENER);
        let interest = EventFlags::IN;
        if epoll::add(&self.epoll, &socket, EventData::new_u64(id), interest).is_err() {
            return;
        }
        let has_begun = conversation.has_begun();
        let connection = Connection {
            socket: Arc::new(socket),
            conversation,
            held: vec![0; MOST_HELD_BYTES.max(SMALL_BYTES + 64)],
            held_bytes: 0,
            incomings: Incomings::Requests,
            sending_at_worker: false,
            is_full: false,
            requests: 0,
            bytes: 0,
            unsent_bytes: 0,
            out: VecDeque::new(),
            interest,
            deadline_ns: (!has_begun).then(|| self.now_ns() + PATIENCE_NS),
            peer,
        };
        self.connections.insert(id, connection);
        if !has_begun {
            self.say(id, Segment::of_bytes(Conversation::greeting()));
        }
    }

    /// Something is to be done for a connection: there are bytes, or room, or it is gone.
    pub(super) fn look_at(&mut self, id: u64, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if flags.intersects(EventFlags::ERR)
            || (flags.contains(EventFlags::HUP) && !flags.contains(EventFlags::IN))
        {
            return self.drop_connection(id);
        }
        if flags.contains(EventFlags::OUT) {
            connection.is_full = false;
            self.dirty.insert(id);
        }
        if flags.contains(EventFlags::IN) {
            self.take_input(id);
        }
        self.adjust(id);
    }

    /// Asks for what it waits for, and lets it go when it is done.
    pub(super) fn adjust(&mut self, id: u64) {
        let now_ns = self.now_ns();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.is_done() {
            return self.drop_connection(id);
        }
        if matches!(connection.incomings, Incomings::Ended) {
            connection.deadline_ns.get_or_insert(now_ns + PATIENCE_NS);
        }
        let wanted_interest = connection.wanted_interest();
        if connection.interest != wanted_interest {
            connection.interest = wanted_interest;
            let data = EventData::new_u64(id);
            if epoll::modify(&self.epoll, &*connection.socket, data, wanted_interest).is_err() {
                self.drop_connection(id);
            }
        }
    }

    /// The conversation is over; what it has in the stack goes on there, and is not answered.
    pub(super) fn drop_connection(&mut self, id: u64) {
        if let Some(connection) = self.connections.remove(&id) {
            let _ = epoll::delete(&self.epoll, &*connection.socket);
            // A worker may hold the socket still.
            let _ = rustix::net::shutdown(&connection.socket, rustix::net::Shutdown::Both);
        }
        self.dirty.remove(&id);
    }

    /// Clients that take too long go.
    pub(super) fn keep_house(&mut self) {
        let now_ns = self.now_ns();
        // What goes on in an idle stack is caught up with, so that the next request does not wait for that.
        if self.operations.is_empty() {
            self.parts.stack.advance(now_ns.saturating_sub(super::HOUSEKEEPING_NS));
        }
        let late = |connection: &Connection| connection.deadline_ns.is_some_and(|deadline| deadline < now_ns);
        let late: Vec<u64> =
            self.connections.iter().filter(|(_, connection)| late(connection)).map(|(id, _)| *id).collect();
        self.counts.slow_connections += late.len() as u64;
        late.into_iter().for_each(|id| self.drop_connection(id));
        if self.accepts_again() {
            // It is tried again in the next round.
            let _ = self.accept_clients();
        }
    }

    fn accepts_again(&self) -> bool {
        !self.accepts && self.counts.announced
    }
}
