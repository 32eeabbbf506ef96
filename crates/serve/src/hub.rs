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

mod clients;
mod commands;
mod connection;
mod front;
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
use crate::honesty::Account;
use crate::listen::Doorway;
use crate::protocol::Export;
use crate::request::ServeRequest;
use crate::workers::{Returned, Workers};
use connection::Connection;
use kurabe_core::{Error, text};
use kurabe_sim::Stack;
use pending::PendingRequest;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::OwnedFd;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Largest number of clients at a time.
pub(crate) const MOST_CONNECTIONS: usize = 16;
/// Interval at which inactive clients are checked.
const HOUSEKEEPING_NS: u64 = 500_000_000;
/// Time before an event in which sockets are not polled, because that could delay the event. Its
/// answers are prepared instead, which takes 6 to 8 µs if the processor has slept.
const LAST_LOOK_NS: u64 = 10_000;
/// Duration of a rest. A shorter one ends before the processor is given away, and a longer one
/// delays more answers.
const REST_NS: u64 = 50_000;
/// Longest time that a sleep allows the thread to stay awake. The kernel checks each second
/// separately.
const MOST_AWAKE_NS: u64 = 10_000_000;
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
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    operations: HashMap<u64, PendingRequest>,
    next_operation: u64,
    /// Sequence number of the last write, by which writes are identified after a power cut.
    writes: u64,
    acknowledged_writes: u64,
    /// Changes that a front requested, in order of arrival. The stack receives them in this order,
    /// even if workers finish their data in another.
    front_changes: VecDeque<u64>,
    /// Due times of answers that do not depend on the stack: requests of kurabe's own client, and
    /// those that a fault delays.
    timed: BTreeSet<(u64, u64)>,
    faults: DeviceFaults,
    /// Connections with something to send.
    dirty: HashSet<u64>,
    account: Account,
    /// Counters and measured values; the other figures are computed on request.
    counts: ServedFigures,
    /// Whether clients are accepted, and the number of requests by kurabe's own client before that.
    announced: bool,
    own_requests: u64,
    /// Work to do at the beginning of each power cut.
    at_cut: Option<Box<dyn Fn() + Send>>,
    /// Whether power is off after a cut. Requests of fronts fail until it is on, because fronts
    /// cannot reconnect.
    is_off: bool,
    granted: Granted,
    accepts: bool,
    checked_ns: u64,
    /// Time at which the sockets were last polled.
    looked_ns: u64,
    /// Arrival time given to what the last poll found. It arrived after the previous poll, at an
    /// unknown time.
    heard_ns: u64,
    /// Time spent waiting for due answers that were ready, which does not count as work.
    held_ns: u64,
    /// Time until which this thread may stay awake without being throttled by the kernel.
    awake_until_ns: u64,
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
            connections: HashMap::new(),
            next_connection: FIRST_CONNECTION,
            operations: HashMap::new(),
            next_operation: 0,
            writes: 0,
            acknowledged_writes: 0,
            front_changes: VecDeque::new(),
            timed: BTreeSet::new(),
            faults: DeviceFaults::default(),
            dirty: HashSet::new(),
            account: Account::default(),
            counts: ServedFigures {
                round_trip_ns: parts.request.settings.round_trip_ns.unwrap_or(0),
                ..ServedFigures::default()
            },
            announced: false,
            own_requests: 0,
            at_cut: None,
            is_off: false,
            awake_until_ns: if granted.awake_per_rest.is_some() { MOST_AWAKE_NS } else { u64::MAX },
            granted,
            accepts: false,
            checked_ns: 0,
            looked_ns: 0,
            heard_ns: 0,
            held_ns: 0,
            ended: false,
            failure: None,
            parts,
        })
    }

    /// Accepts clients from now on.
    pub(crate) fn accept_clients(&mut self) -> kurabe_core::Result<()> {
        if let Some(listener) = self.parts.listener.as_ref().filter(|_| !self.accepts) {
            let data = epoll::EventData::new_u64(LISTENER);
            let added = epoll::add(&self.epoll, &listener.socket, data, epoll::EventFlags::IN);
            added.map_err(|error| {
                let message = text!("cannot accept clients", "クライアントを受け付けられません");
                Error::os(message, &error.into())
            })?;
            self.accepts = true;
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
            let held_ns = std::mem::take(&mut self.held_ns);
            if worked {
                self.account.worked(from_ns, now_ns.saturating_sub(held_ns).max(from_ns));
            }
            if now_ns - self.checked_ns >= HOUSEKEEPING_NS {
                self.checked_ns = now_ns;
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
        self.parts.time.now_ns()
    }

    /// Waits for a socket, the bell or the stack's next event.
    fn wait(&mut self, events: &mut Vec<epoll::Event>) -> std::io::Result<()> {
        loop {
            events.clear();
            // While no request is pending, events in the stack are not urgent.
            let of_stack = self.parts.stack.next_wake_ns().filter(|_| !self.operations.is_empty());
            let due = of_stack.into_iter().chain(self.timed.first().map(|(due_ns, _)| *due_ns)).min();
            let mut now_ns = self.now_ns();
            if now_ns > self.awake_until_ns {
                std::thread::sleep(Duration::from_nanos(REST_NS));
                now_ns = self.wake(now_ns);
            }
            let is_near = due.is_some_and(|due| due.saturating_sub(now_ns) <= LAST_LOOK_NS);
            match wait_for(due, now_ns, self.parts.request.settings.spin_ns, HOUSEKEEPING_NS) {
                // Clients are heard between two events, however quickly events follow each other.
                WaitFor::Not | WaitFor::Awake if is_near => {
                    let is_heard = now_ns.saturating_sub(self.looked_ns) <= LAST_LOOK_NS;
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
                    let woke_ns = self.wake(now_ns);
                    match polled {
                        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
                        Ok(_) => {
                            // This event woke the thread.
                            self.looked_ns = woke_ns;
                            return self.look(events);
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }

    /// Records a sleep since `from_ns`, which extends the time that the thread may stay awake.
    /// Returns the current time.
    fn wake(&mut self, from_ns: u64) -> u64 {
        let now_ns = self.now_ns();
        if let Some(times) = self.granted.awake_per_rest {
            let earned_ns = (now_ns - from_ns) * (times + 1);
            self.awake_until_ns = (self.awake_until_ns.max(from_ns) + earned_ns).min(now_ns + MOST_AWAKE_NS);
        }
        now_ns
    }

    fn look(&mut self, events: &mut Vec<epoll::Event>) -> std::io::Result<()> {
        let now_ns = self.now_ns();
        self.heard_ns = std::mem::replace(&mut self.looked_ns, now_ns).midpoint(now_ns);
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
        while let Some(next) = self.timed.first().copied().filter(|(due_ns, _)| *due_ns <= self.now_ns()) {
            self.timed.remove(&next);
            self.held_is_due(next.1);
        }
        worked
    }

    /// Prepares the answers that are due in a moment; they leave when they are due.
    fn drive_ahead(&mut self) -> bool {
        let soon_ns = self.now_ns() + LAST_LOOK_NS.min(self.parts.request.settings.spin_ns);
        let due_ns = self.parts.stack.next_wake_ns().filter(|due_ns| *due_ns <= soon_ns);
        let Some(due_ns) = due_ns.filter(|_| !self.operations.is_empty()) else { return false };
        self.parts.stack.advance(due_ns);
        let worked = self.take_completions();
        self.flush_all();
        worked
    }

    /// Waits until an answer that is ready is due, which is in a moment.
    fn hold_until(&mut self, due_ns: u64) {
        let from_ns = self.now_ns();
        let mut now_ns = from_ns;
        while now_ns < due_ns {
            std::hint::spin_loop();
            now_ns = self.now_ns();
        }
        self.held_ns += now_ns - from_ns;
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
                began.into_iter().for_each(|(timing, at_ns)| self.account.sent(timing, at_ns));
            }
            Returned::Sent { connection, rest, began, bytes, alive } => {
                began.into_iter().for_each(|(timing, at_ns)| self.account.sent(timing, at_ns));
                self.sending_returned(connection, rest, bytes, alive);
            }
        }
    }
}
