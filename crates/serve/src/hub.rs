//! The thread that keeps the time: sockets, stack and clock are its alone.
//!
//! The model: a request is stamped with the time at which it came, less what a round trip costs, but never before the time
//! to which the stack has got. The stack is taken to its events and never past them, so that what comes later can still be
//! stamped before now. What leaves the stack is answered as soon as its bytes are there, and the clock has already
//! reached its time by then, because the stack is behind the clock. Bytes that would take long are copied by workers.
//! One exception: in the last moment before an event, in which nobody is listened to, the stack is taken to it and its answers
//! are made ready, because after a long sleep that takes some microseconds; they still leave at their time.

pub(crate) mod asker;
mod clients;
mod commands;
mod connection;
mod front;
mod input;
mod operations;
mod orders;
mod output;
mod pending;

pub(crate) use asker::{FrontOutcome, FrontRequest};
pub(crate) use connection::give_room;
pub(crate) use orders::HubCommand;
pub use orders::ServedFigures;

use crate::clock::{Granted, RealTime, WaitFor, wait_for};
use crate::disk::Disk;
use crate::fault::{DeviceFault, DeviceFaults};
use crate::honesty::Account;
use crate::listen::Doorway;
use crate::power::PowerRules;
use crate::protocol::Export;
use crate::request_log::RequestLog;
use crate::workers::{Returned, Workers};
use connection::Connection;
use kurabe_core::{Error, text};
use kurabe_sim::{DeviceSpec, Stack};
use pending::PendingRequest;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::OwnedFd;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Clients at a time.
pub(crate) const MOST_CONNECTIONS: usize = 16;
/// How often it looks after clients that do nothing.
const HOUSEKEEPING_NS: u64 = 500_000_000;
/// Closer than this, a look at the sockets could make what is due late, and its answers are made ready: that takes 6 to 8 µs
/// when the processor has slept since.
const LAST_LOOK_NS: u64 = 10_000;
/// A rest: shorter ones are over before the processor is given away, and longer ones make more answers late.
const REST_NS: u64 = 50_000;
/// No sleep lets it stay awake for longer: the kernel looks at one second by itself.
const MOST_AWAKE_NS: u64 = 10_000_000;
/// Steps of the stack in one round: a model that takes longer to compute than it says must not keep clients from being heard.
const MOST_STEPS: usize = 4096;
/// Events taken at once.
const MOST_EVENTS: usize = 64;

/// Tokens of listener and bell, in place of a connection's number.
const LISTENER: u64 = 0;
const BELL: u64 = 1;
const FIRST_CONNECTION: u64 = 2;

/// What a hub is made of.
pub(crate) struct HubParts {
    pub(crate) spec: DeviceSpec,
    pub(crate) stack: Stack,
    pub(crate) seed: u64,
    pub(crate) disks: Vec<Arc<Disk>>,
    pub(crate) exports: Arc<[Export]>,
    /// Where clients knock, if they are let in by a socket.
    pub(crate) listener: Option<Doorway>,
    pub(crate) commands: Receiver<HubCommand>,
    pub(crate) bell: Arc<OwnedFd>,
    pub(crate) time: RealTime,
    pub(crate) spin_ns: u64,
    /// The round trip that the user set; otherwise it is measured.
    pub(crate) round_trip_ns: Option<u64>,
    /// Whether power can be cut, and how.
    pub(crate) power: Option<PowerRules>,
    /// What is wrong with it from the beginning.
    pub(crate) faults: Vec<DeviceFault>,
    /// Where it is written what the stack is asked.
    pub(crate) log: Option<Arc<RequestLog>>,
}

pub(crate) struct Hub {
    parts: HubParts,
    epoll: OwnedFd,
    workers: Workers,
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    operations: HashMap<u64, PendingRequest>,
    next_operation: u64,
    /// Place of a write in the order of all, by which it is known after a power cut.
    writes: u64,
    acknowledged_writes: u64,
    /// Changes that a front asked for, in the order in which they came: the stack is asked in that order too, whichever
    /// payload a worker is done with first.
    front_changes: VecDeque<u64>,
    /// When what waits for a time beside the stack's is answered: requests of kurabe's own client, and what a fault holds up.
    timed: BTreeSet<(u64, u64)>,
    faults: DeviceFaults,
    /// Connections with something to send.
    dirty: HashSet<u64>,
    account: Account,
    /// What it counted and measured; the rest of the figures is worked out when somebody asks.
    counts: ServedFigures,
    /// Whether clients may come, and how many requests kurabe's own had before.
    announced: bool,
    own_requests: u64,
    /// After a power cut, what fronts ask fails until power is on again: they cannot be made to connect anew.
    is_off: bool,
    granted: Granted,
    accepts: bool,
    checked_ns: u64,
    /// When the sockets were last polled.
    looked_ns: u64,
    /// When what was found then came: after they were polled before, and nobody knows when.
    heard_ns: u64,
    /// Time waited for answers that were ready, which is no work.
    held_ns: u64,
    /// Until when this thread may stay awake, or the kernel will stop it for longer.
    awake_until_ns: u64,
    ended: bool,
    /// Why it ended by itself.
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
                round_trip_ns: parts.round_trip_ns.unwrap_or(0),
                ..ServedFigures::default()
            },
            announced: false,
            own_requests: 0,
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

    /// Lets clients in from now on.
    pub(crate) fn accept_clients(&mut self) -> kurabe_core::Result<()> {
        if let Some(listener) = self.parts.listener.as_ref().filter(|_| !self.accepts) {
            let data = epoll::EventData::new_u64(LISTENER);
            let added = epoll::add(&self.epoll, &listener.socket, data, epoll::EventFlags::IN);
            added.map_err(|error| {
                let message = text!("cannot let clients in", "クライアントを受け付けられません");
                Error::os(message, &error.into())
            })?;
            self.accepts = true;
        }
        Ok(())
    }

    /// Serves until it is told to end.
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

    /// Why it ended by itself, if it did.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.parts.time.now_ns()
    }

    /// Waits for a socket, a bell or the stack's next event.
    fn wait(&mut self, events: &mut Vec<epoll::Event>) -> std::io::Result<()> {
        loop {
            events.clear();
            // While nobody waits for an answer, what goes on in the stack is nobody's hurry.
            let of_stack = self.parts.stack.next_wake_ns().filter(|_| !self.operations.is_empty());
            let due = of_stack.into_iter().chain(self.timed.first().map(|(due_ns, _)| *due_ns)).min();
            let mut now_ns = self.now_ns();
            if now_ns > self.awake_until_ns {
                std::thread::sleep(Duration::from_nanos(REST_NS));
                now_ns = self.wake(now_ns);
            }
            let is_near = due.is_some_and(|due| due.saturating_sub(now_ns) <= LAST_LOOK_NS);
            match wait_for(due, now_ns, self.parts.spin_ns, HOUSEKEEPING_NS) {
                // Who asks is heard between two events, however fast these follow each other.
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
                    // An epoll of its own accord sleeps by milliseconds.
                    let mut fds = [PollFd::new(&self.epoll, PollFlags::IN)];
                    let (tv_sec, tv_nsec) =
                        ((most_ns / 1_000_000_000) as i64, (most_ns % 1_000_000_000) as i64);
                    let polled = poll(&mut fds, Some(&Timespec { tv_sec, tv_nsec }));
                    let woke_ns = self.wake(now_ns);
                    match polled {
                        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
                        Ok(_) => {
                            // It woke this thread.
                            self.looked_ns = woke_ns;
                            return self.look(events);
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }

    /// This thread has slept since then, and may stay awake for it; the time.
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

    /// Takes the stack to every event that is due, and answers what leaves it.
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

    /// Makes ready what is due in a moment; it leaves when it is due.
    fn drive_ahead(&mut self) -> bool {
        let soon_ns = self.now_ns() + LAST_LOOK_NS.min(self.parts.spin_ns);
        let due_ns = self.parts.stack.next_wake_ns().filter(|due_ns| *due_ns <= soon_ns);
        let Some(due_ns) = due_ns.filter(|_| !self.operations.is_empty()) else { return false };
        self.parts.stack.advance(due_ns);
        let worked = self.take_completions();
        self.flush_all();
        worked
    }

    /// Waits for the time of an answer that is ready; it comes in a moment.
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

    /// Workers and commands have something.
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
