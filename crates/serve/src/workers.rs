//! Moves payloads outside the timekeeping thread.
//!
//! Copying 1 MiB takes some hundred microseconds, in which the timekeeping thread would be late.
//! Larger pieces, and everything that may wait for a disk, are jobs for a few threads, which return
//! the outcome. A job never waits for a client longer than [`PATIENCE`]; the part that a client
//! does not take or send is returned undone.

use crate::clock::RealTime;
use crate::disk::Disk;
use crate::honesty::Timing;
use crate::hub::recipient::{FrontAnswer, FrontOutcome};
use crate::protocol::{NbdError, StatusExtent};
use crate::segment::{DataExtent, Segment, is_ready, send_all};
use kurabe_core::{Error, Result};
use rustix::event::{PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Payloads up to this size are copied by the timekeeping thread. Handing them over would cost more
/// than the 2 µs for copying.
pub(crate) const SMALL_BYTES: usize = 16 << 10;

/// Number of workers: enough for one busy connection in both directions.
const THREADS: usize = 2;
/// Longest wait of a worker for a client, so that not every piece goes through the timekeeping
/// thread.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// Time for which a worker that was just busy polls for more work before it sleeps. Waking it takes
/// as long.
const AWAKE: Duration = Duration::from_micros(50);
/// Bytes received from a socket at a time, more than a socket's usual buffer (208 KiB).
const PIECE_BYTES: usize = 256 << 10;

/// A job on the data.
#[derive(Debug)]
pub(crate) enum DataJob {
    Read { offset_bytes: u64, length_bytes: u32 },
    Write { offset_bytes: u64, bytes: Vec<u8>, number: u64 },
    Zero { offset_bytes: u64, length_bytes: u32, keeps_room: bool, number: u64 },
    Extents { offset_bytes: u64, length_bytes: u32 },
}

/// The outcome of a job on the data.
#[derive(Debug)]
pub(crate) enum Body {
    Nothing,
    Bytes(Vec<u8>),
    /// A range that is sent directly from the place where it is stored.
    Stored(DataExtent),
    Hole,
    Extents(Vec<StatusExtent>),
}

/// A payload that is being received.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) operation: u64,
    pub(crate) offset_bytes: u64,
    pub(crate) left_bytes: u32,
    pub(crate) number: u64,
    /// Error of the part that could not be stored; the rest is still received from the socket.
    pub(crate) failure: Option<NbdError>,
}

pub(crate) enum PayloadJob {
    Data { operation: u64, disk: Arc<Disk>, data_job: DataJob },
    Receive { connection: u64, socket: Arc<OwnedFd>, disk: Arc<Disk>, first: Vec<u8>, incoming: Incoming },
    Send { connection: u64, socket: Arc<OwnedFd>, segments: VecDeque<Segment> },
    Answer { answer: FrontAnswer, outcome: FrontOutcome, timing: Option<Timing> },
}

#[derive(Debug)]
pub(crate) enum Returned {
    Data { operation: u64, outcome: std::result::Result<Body, NbdError> },
    Received { connection: u64, incoming: Incoming, alive: bool },
    Sent { connection: u64, rest: VecDeque<Segment>, began: Vec<(Timing, u64)>, bytes: usize, alive: bool },
    Answered { began: Option<(Timing, u64)> },
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<PayloadJob>,
    ended: bool,
}

#[derive(Default)]
struct JobQueue {
    queue: Mutex<Queue>,
    bell: Condvar,
    /// Number of queued jobs, for polling without the lock.
    waiting: AtomicUsize,
}

pub(crate) struct Workers {
    shared: Arc<JobQueue>,
    returned: Receiver<Returned>,
    under_way: usize,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts the workers; `bell` is rung when a job is done.
    pub(crate) fn start(time: RealTime, bell: &Arc<OwnedFd>) -> Result<Self> {
        let shared: Arc<JobQueue> = Arc::default();
        let (sender, returned) = channel();
        let mut threads = Vec::new();
        for _ in 0..THREADS {
            let worker = Worker {
                shared: Arc::clone(&shared),
                returned: sender.clone(),
                bell: Arc::clone(bell),
                time,
            };
            let thread = Builder::new().name("kurabe-data".to_owned()).spawn(move || worker.work());
            threads.push(thread.map_err(|error| Error::no_thread(&error))?);
        }
        Ok(Self { shared, returned, under_way: 0, threads })
    }

    pub(crate) fn give(&mut self, job: PayloadJob) {
        self.under_way += 1;
        let JobQueue { queue, bell, waiting } = &*self.shared;
        queue.lock().unwrap_or_else(PoisonError::into_inner).jobs.push_back(job);
        waiting.fetch_add(1, Ordering::Release);
        bell.notify_one();
    }

    /// Returns a finished job, if there is one.
    pub(crate) fn take(&mut self) -> Option<Returned> {
        let returned = self.returned.try_recv().ok()?;
        self.under_way -= 1;
        Some(returned)
    }

    /// Waits until every job is done.
    pub(crate) fn settle(&mut self) -> Vec<Returned> {
        let mut done = Vec::new();
        while self.under_way > 0
            && let Ok(returned) = self.returned.recv()
        {
            self.under_way -= 1;
            done.push(returned);
        }
        done
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let JobQueue { queue, bell, .. } = &*self.shared;
        queue.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        bell.notify_all();
        // The caller may need the data next; no job takes long.
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Worker {
    shared: Arc<JobQueue>,
    returned: Sender<Returned>,
    bell: Arc<OwnedFd>,
    time: RealTime,
}

impl Worker {
    fn work(&self) {
        let mut buffer = vec![0; PIECE_BYTES];
        while let Some(job) = self.next() {
            let returned = match job {
                PayloadJob::Data { operation, disk, data_job } => {
                    Returned::Data { operation, outcome: act(&disk, data_job) }
                }
                PayloadJob::Receive { connection, socket, disk, first, mut incoming } => {
                    keep(&disk, &first, &mut incoming);
                    let alive = receive(&socket, &disk, &mut incoming, &mut buffer).is_ok();
                    Returned::Received { connection, incoming, alive }
                }
                PayloadJob::Answer { answer, outcome, timing } => {
                    let began = timing.map(|timing| (timing, self.time.now_ns()));
                    answer(outcome);
                    Returned::Answered { began }
                }
                PayloadJob::Send { connection, socket, segments } => self.send(connection, &socket, segments),
            };
            if self.returned.send(returned).is_err() {
                return;
            }
            // If the counter of the bell is full, the bell is already ringing.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    fn next(&self) -> Option<PayloadJob> {
        let JobQueue { queue, bell, waiting } = &*self.shared;
        stay_awake(|| waiting.load(Ordering::Acquire) > 0);
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if queue.ended {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(job);
            }
            queue = bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn send(&self, connection: u64, socket: &OwnedFd, mut rest: VecDeque<Segment>) -> Returned {
        let (mut began, mut bytes) = (Vec::new(), 0);
        let sent = send_all(socket, &mut rest, &mut bytes, Some(PATIENCE), |timing| {
            began.push((timing, self.time.now_ns()));
        });
        Returned::Sent { connection, rest, began, bytes, alive: sent.is_ok() }
    }
}

/// Spins for a moment. Returns whether the condition became true.
fn stay_awake(mut came: impl FnMut() -> bool) -> bool {
    let from = Instant::now();
    while !came() {
        if from.elapsed() > AWAKE {
            return false;
        }
        std::hint::spin_loop();
    }
    true
}

fn has_bytes(socket: &OwnedFd) -> bool {
    is_ready(socket, PollFlags::IN, Timespec { tv_sec: 0, tv_nsec: 0 })
}

/// Receives data until the payload is complete, or none arrives within the time limit.
fn receive(socket: &OwnedFd, disk: &Disk, incoming: &mut Incoming, buffer: &mut [u8]) -> io::Result<()> {
    while incoming.left_bytes > 0 {
        let most = buffer.len().min(incoming.left_bytes as usize);
        match rustix::net::recv(socket, &mut buffer[..most], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((count, _)) => keep(disk, &buffer[..count], incoming),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if stay_awake(|| has_bytes(socket)) => {}
            Err(Errno::AGAIN) if is_ready(socket, PollFlags::IN, PATIENCE) => {}
            Err(Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Stores the next bytes of a payload.
fn keep(disk: &Disk, bytes: &[u8], incoming: &mut Incoming) {
    if incoming.failure.is_none() {
        incoming.failure =
            disk.write(incoming.number, incoming.offset_bytes, bytes).err().map(|error| error_of(&error));
    }
    incoming.offset_bytes += bytes.len() as u64;
    incoming.left_bytes -= bytes.len() as u32;
}

pub(crate) fn act(disk: &Disk, data_job: DataJob) -> std::result::Result<Body, NbdError> {
    let done = |done: io::Result<()>| done.map(|()| Body::Nothing).map_err(|error| error_of(&error));
    match data_job {
        DataJob::Read { offset_bytes, length_bytes } => read(disk, offset_bytes, length_bytes),
        DataJob::Write { offset_bytes, bytes, number } => done(disk.write(number, offset_bytes, &bytes)),
        DataJob::Zero { offset_bytes, length_bytes, keeps_room, number } => {
            done(disk.zero(number, offset_bytes, length_bytes.into(), keeps_room))
        }
        DataJob::Extents { offset_bytes, length_bytes } => {
            Ok(Body::Extents(disk.data.extents(offset_bytes, length_bytes)))
        }
    }
}

/// A small piece is always read. Checking first whether it is a hole would cost as much.
fn read(disk: &Disk, offset_bytes: u64, length_bytes: u32) -> std::result::Result<Body, NbdError> {
    if length_bytes as usize > SMALL_BYTES && disk.data.is_hole(offset_bytes, length_bytes.into()) {
        return Ok(Body::Hole);
    }
    disk.data.read_new(offset_bytes, length_bytes as usize).map(Body::Bytes).map_err(|error| error_of(&error))
}

fn error_of(error: &io::Error) -> NbdError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            NbdError::NoSpace
        }
        _ => NbdError::Io,
    }
}
