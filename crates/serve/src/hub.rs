//! The timekeeping thread, which alone uses the sockets, the stack and the clock.
//!
//! A request is stamped with its arrival time less the round trip, but never with a time before
//! that of the stack. The stack is advanced to its events and never past them, so that later
//! arrivals can still be stamped before the present. A completion is answered as soon as its data
//! is available. The clock has already reached its time by then, because the stack is behind the
//! clock. Data that takes long to copy is copied by workers.
//!
//! There is one exception. In the last moment before an event the sockets are not polled; the stack
//! is advanced to the event and its answers are prepared, because that takes some microseconds
//! after a long sleep. The answers still leave at their due time.

mod accounts;
mod clients;
mod commands;
mod connection;
mod front;
mod hub_clock;
mod input;
mod operations;
mod orders;
mod output;
mod pending;
pub(crate) mod recipient;

pub(crate) use connection::give_room;
pub(crate) use orders::HubCommand;
pub use orders::ServedFigures;
pub(crate) use recipient::{FrontOutcome, FrontRequest};

use crate::clock::{Granted, RealTime, WaitFor, wait_for};
use crate::disk::Disk;
use crate::fault::DeviceFaults;
use crate::listen::Doorway;
use crate::protocol::Export;
use crate::request::ServeRequest;
use crate::workers::{Returned, Workers};
use accounts::Accounts;
use connection::Connections;
use hub_clock::HubClock;
use kurabe_core::{Error, text};
use kurabe_sim::Stack;
use pending::Requests;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Largest number of clients at a time.
pub(crate) const MOST_CONNECTIONS: usize = 16;
/// Interval at which inactive clients are checked.
const HOUSEKEEPING_NS: u64 = 500_000_000;
/// Time before an event in which sockets are not polled, because that could delay the event. Its
/// answers are prepared instead, which takes 6 to 8 µs if the processor has slept.
const LAST_LOOK_NS: u64 = 10_000;
/// Steps of the stack per round. A model that takes longer to compute than it simulates must not
/// keep clients waiting.
const MOST_STEPS: usize = 4096;
/// Events taken from epoll at a time.
const MOST_EVENTS: usize = 64;

/// Epoll tokens of the listener and the bell; connections have the numbers from
/// [`FIRST_CONNECTION`].
const LISTENER: u64 = 0;
const BELL: u64 = 1;
const FIRST_CONNECTION: u64 = 2;

/// Parts that a hub is built from.
pub(crate) struct HubParts {
    pub(crate) request: ServeRequest,
    pub(crate) stack: Stack,
    pub(crate) disks: Vec<Arc<Disk>>,
    pub(crate) exports: Arc<[Export]>,
    /// Socket that clients connect to, if there is one.
    pub(crate) listener: Option<Doorway>,
    pub(crate) commands: Receiver<HubCommand>,
    pub(crate) bell: Arc<OwnedFd>,
    pub(crate) time: RealTime,
}

pub(crate) struct Hub {
    parts: HubParts,
    epoll: OwnedFd,
    workers: Workers,
    connections: Connections,
    requests: Requests,
    faults: DeviceFaults,
    accounts: Accounts,
    clock: HubClock,
    /// Whether the round trip is known and clients are accepted.
    announced: bool,
    /// Work to do at the beginning of each power cut.
    at_cut: Option<Box<dyn Fn() + Send>>,
    /// Whether power is off after a cut. Requests of fronts fail until it is on, because fronts
    /// cannot reconnect.
    is_off: bool,
    ended: bool,
    /// Reason why the hub ended unexpectedly.
    failure: Option<Error>,
}

impl Hub {
    pub(crate) fn new(parts: HubParts, workers: Workers, granted: Granted) -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &parts.bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN)?;
        Ok(Self {
            epoll,
            workers,
            connections: Connections::from(FIRST_CONNECTION),
            requests: Requests::default(),
            faults: DeviceFaults::default(),
            accounts: Accounts::new(parts.request.settings.round_trip_ns.unwrap_or(0)),
            clock: HubClock::new(parts.time, granted),
            announced: false,
            at_cut: None,
            is_off: false,
            ended: false,
            failure: None,
            parts,
        })
    }

    /// Accepts clients from now on.
    pub(crate) fn accept_clients(&mut self) -> kurabe_core::Result<()> {
        if let Some(listener) = self.parts.listener.as_ref().filter(|_| !self.connections.are_accepted) {
            let data = epoll::EventData::new_u64(LISTENER);
            let added = epoll::add(&self.epoll, &listener.socket, data, epoll::EventFlags::IN);
            added.map_err(|error| {
                let message = text!("cannot accept clients", "クライアントを受け付けられません");
                Error::os(message, &error.into())
            })?;
            self.connections.are_accepted = true;
        }
        Ok(())
    }

    /// Serves until it receives the command to end.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        let mut events = Vec::with_capacity(MOST_EVENTS);
        while !self.ended {
            self.wait(&mut events)?;
            let from_ns = self.now_ns();
            let mut worked = !events.is_empty();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    BELL => self.hear_bell(),
                    connection => self.look_at(connection, event.flags),
                }
            }
            worked |= self.drive_stack();
            self.flush_all();
            worked |= self.drive_ahead();
            let now_ns = self.now_ns();
            let held_ns = self.clock.take_held_ns();
            if worked {
                self.accounts.account.worked(from_ns, now_ns.saturating_sub(held_ns).max(from_ns));
            }
            if now_ns - self.clock.checked_ns >= HOUSEKEEPING_NS {
                self.clock.checked_ns = now_ns;
                self.keep_house();
            }
        }
        Ok(())
    }

    /// Returns the reason why the hub ended unexpectedly, if it did.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Waits for a socket, the bell or the stack's next event.
    fn wait(&mut self, events: &mut Vec<epoll::Event>) -> std::io::Result<()> {
        loop {
            events.clear();
            // While no request is pending, events in the stack are not urgent.
            let of_stack = self.parts.stack.next_wake_ns().filter(|_| !self.requests.pending.is_empty());
            let due =
                of_stack.into_iter().chain(self.requests.timed.first().map(|(due_ns, _)| *due_ns)).min();
            let now_ns = self.clock.rest();
            let is_near = due.is_some_and(|due| due.saturating_sub(now_ns) <= LAST_LOOK_NS);
            match wait_for(due, now_ns, self.parts.request.settings.spin_ns, HOUSEKEEPING_NS) {
                // Clients are heard between two events, however quickly events follow each other.
                WaitFor::Not | WaitFor::Awake if is_near => {
                    let is_heard = now_ns.saturating_sub(self.clock.looked_ns) <= LAST_LOOK_NS;
                    return if is_heard { Ok(()) } else { self.look(events) };
                }
                WaitFor::Not => return self.look(events),
                WaitFor::Awake => {
                    self.look(events)?;
                    if !events.is_empty() {
                        return Ok(());
                    }
                }
                WaitFor::Asleep(most_ns) => {
                    // epoll_wait sleeps in milliseconds, so `poll` is used to sleep.
                    let mut fds = [PollFd::new(&self.epoll, PollFlags::IN)];
                    let (tv_sec, tv_nsec) =
                        ((most_ns / 1_000_000_000) as i64, (most_ns % 1_000_000_000) as i64);
                    let polled = poll(&mut fds, Some(&Timespec { tv_sec, tv_nsec }));
                    let woke_ns = self.clock.wake(now_ns);
                    match polled {
                        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
                        Ok(_) => {
                            // This event woke the thread.
                            self.clock.looked_ns = woke_ns;
                            return self.look(events);
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }

    fn look(&mut self, events: &mut Vec<epoll::Event>) -> std::io::Result<()> {
        self.clock.look();
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&none)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Advances the stack to every due event, and answers the requests that leave it.
    fn drive_stack(&mut self) -> bool {
        let mut worked = self.take_completions();
        for _ in 0..MOST_STEPS {
            let due_ns = self.parts.stack.next_wake_ns().filter(|due_ns| *due_ns <= self.now_ns());
            let Some(due_ns) = due_ns else { break };
            self.parts.stack.advance(due_ns);
            worked |= self.take_completions();
        }
        while let Some(next) =
            self.requests.timed.first().copied().filter(|(due_ns, _)| *due_ns <= self.now_ns())
        {
            self.requests.timed.remove(&next);
            self.held_is_due(next.1);
        }
        worked
    }

    /// Prepares the answers that are due in a moment; they leave when they are due.
    fn drive_ahead(&mut self) -> bool {
        let soon_ns = self.now_ns() + LAST_LOOK_NS.min(self.parts.request.settings.spin_ns);
        let due_ns = self.parts.stack.next_wake_ns().filter(|due_ns| *due_ns <= soon_ns);
        let Some(due_ns) = due_ns.filter(|_| !self.requests.pending.is_empty()) else { return false };
        self.parts.stack.advance(due_ns);
        let worked = self.take_completions();
        self.flush_all();
        worked
    }

    fn take_completions(&mut self) -> bool {
        let mut worked = false;
        while let Some(completion) = self.parts.stack.take_completion() {
            worked = true;
            self.left_stack(&completion);
        }
        worked
    }

    /// Handles finished jobs of workers, and commands.
    fn hear_bell(&mut self) {
        let mut rings = [0; 8];
        let _ = rustix::io::read(&self.parts.bell, &mut rings);
        while let Some(returned) = self.workers.take() {
            self.job_returned(returned);
        }
        while let Ok(command) = self.parts.commands.try_recv() {
            self.obey(command);
        }
    }

    fn job_returned(&mut self, returned: Returned) {
        match returned {
            Returned::Data { operation, outcome } => self.data_done(operation, outcome),
            Returned::Received { connection, incoming, alive } => {
                self.payload_came(connection, incoming, alive);
            }
            Returned::Answered { began } => {
                began.into_iter().for_each(|(timing, at_ns)| self.accounts.account.sent(timing, at_ns));
            }
            Returned::Sent { connection, rest, began, bytes, alive } => {
                began.into_iter().for_each(|(timing, at_ns)| self.accounts.account.sent(timing, at_ns));
                self.sending_returned(connection, rest, bytes, alive);
            }
        }
    }
}
