//! Accepts and drops clients.

use super::connection::{Connection, Incomings, Peer, give_room};
use super::{FIRST_CONNECTION, Hub, LISTENER, MOST_CONNECTIONS};
use crate::protocol::{Conversation, MOST_HELD_BYTES};
use crate::segment::Segment;
use crate::workers::SMALL_BYTES;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::net::SocketFlags;
use std::collections::VecDeque;
use std::sync::Arc;

/// Time limit for a client to choose an export, and to receive its last answers.
const PATIENCE_NS: u64 = 10_000_000_000;
impl Hub {
    pub(super) fn accept(&mut self) {
        while let Some(listener) = &self.parts.listener {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(&listener.socket, flags) {
                // Even the connections that are refused with a message are limited.
                Ok(_) if self.connections.all.len() >= 2 * MOST_CONNECTIONS => {
                    self.accounts.counts.refused_connections += 1;
                }
                Ok(socket) => self.welcome(socket),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // No descriptors are left, and the listener would signal forever. Housekeeping
                // tries again.
                Err(_) => {
                    let _ = epoll::delete(&self.epoll, &listener.socket);
                    self.connections.are_accepted = false;
                    return;
                }
            }
        }
    }

    /// Starts the conversation with a new client.
    fn welcome(&mut self, socket: OwnedFd) {
        if let Some(listener) = &self.parts.listener {
            listener.prepare(&socket);
        }
        if self.clients() >= MOST_CONNECTIONS {
            self.accounts.counts.refused_connections += 1;
            return self.connect(socket, Conversation::new(Arc::new([])), Peer::Surplus);
        }
        let conversation = Conversation::new(Arc::clone(&self.parts.exports));
        self.accounts.counts.connections += 1;
        self.connect(socket, conversation, Peer::Client);
    }

    /// Returns the number of clients.
    pub(super) fn clients(&self) -> usize {
        self.connections.all.values().filter(|connection| connection.peer == Peer::Client).count()
    }

    /// Starts the conversation with kurabe's own client.
    pub(super) fn welcome_own(&mut self, socket: OwnedFd) {
        let conversation = Conversation::new(Arc::clone(&self.parts.exports));
        self.connect(socket, conversation, Peer::Own);
    }

    /// Starts the conversation with the kernel, which already knows its export.
    pub(super) fn welcome_kernel(&mut self, socket: OwnedFd, export: usize) {
        let conversation = Conversation::begun(Arc::clone(&self.parts.exports), export);
        self.connect(socket, conversation, Peer::Kernel);
    }

    fn connect(&mut self, socket: OwnedFd, conversation: Conversation, peer: Peer) {
        give_room(&socket);
        let id = self.connections.next;
        self.connections.next += 1;
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
        self.connections.all.insert(id, connection);
        if !has_begun {
            self.say(id, Segment::of_bytes(Conversation::greeting()));
        }
    }

    /// Handles an event of a connection: data has arrived, it can be written to, or it was closed.
    pub(super) fn look_at(&mut self, id: u64, flags: EventFlags) {
        let Some(connection) = self.connections.all.get_mut(&id) else { return };
        if flags.intersects(EventFlags::ERR)
            || (flags.contains(EventFlags::HUP) && !flags.contains(EventFlags::IN))
        {
            return self.drop_connection(id);
        }
        if flags.contains(EventFlags::OUT) {
            connection.is_full = false;
            self.connections.dirty.insert(id);
        }
        if flags.contains(EventFlags::IN) {
            self.take_input(id);
        }
        self.adjust(id);
    }

    /// Updates the events that a connection waits for, and drops it when it is done.
    pub(super) fn adjust(&mut self, id: u64) {
        let now_ns = self.now_ns();
        let Some(connection) = self.connections.all.get_mut(&id) else { return };
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

    /// Drops a connection. Its requests in the stack continue and are not answered.
    pub(super) fn drop_connection(&mut self, id: u64) {
        if let Some(connection) = self.connections.all.remove(&id) {
            let _ = epoll::delete(&self.epoll, &*connection.socket);
            // A worker may still hold the socket.
            let _ = rustix::net::shutdown(&connection.socket, rustix::net::Shutdown::Both);
        }
        self.connections.dirty.remove(&id);
    }

    /// Drops clients that take too long.
    pub(super) fn keep_house(&mut self) {
        let now_ns = self.now_ns();
        // Lets an idle stack catch up, so that the next request does not have to wait for that.
        if self.requests.pending.is_empty() {
            self.parts.stack.advance(now_ns.saturating_sub(super::HOUSEKEEPING_NS));
        }
        let late = |connection: &Connection| connection.deadline_ns.is_some_and(|deadline| deadline < now_ns);
        let late: Vec<u64> = self
            .connections
            .all
            .iter()
            .filter(|(_, connection)| late(connection))
            .map(|(id, _)| *id)
            .collect();
        self.accounts.counts.slow_connections += late.len() as u64;
        late.into_iter().for_each(|id| self.drop_connection(id));
        if !self.connections.are_accepted && self.announced {
            // On failure, the next round tries again.
            let _ = self.accept_clients();
        }
    }
}
