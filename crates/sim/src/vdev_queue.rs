//! What ZFS keeps in front of each drive: so many reads and writes in flight, and the others in a queue.
//!
//! The model (OpenZFS `vdev_queue.c`): reads and writes wait apart, each in the order of arrival. What adjoins the one that
//! goes down, and waits right behind it, goes down with it as one command, up to a limit. The members of such a command
//! are done with it.

use crate::account::Cause;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use std::collections::{BTreeMap, VecDeque};

/// How many commands of a kind are in flight at a drive, and how long a joined one gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) joined_bytes: u64,
}

/// A drive and its queue.
#[derive(Clone)]
pub(crate) struct VdevQueue {
    below: LayerId,
    unit: u16,
    /// Where the last command ended that was sent to it.
    pub(crate) last_end_bytes: u64,
    pub(crate) in_flight: [u64; 2],
    waiting: [VecDeque<(JobId, Request)>; 2],
    /// Of joined commands, by number: whose they are.
    joined: BTreeMap<u64, Vec<JobId>>,
    sent: u64,
    pub(crate) failed: bool,
}

impl VdevQueue {
    pub(crate) fn new((below, unit): (LayerId, u16)) -> Self {
        Self {
            below,
            unit,
            last_end_bytes: 0,
            in_flight: [0; 2],
            waiting: [VecDeque::new(), VecDeque::new()],
            joined: BTreeMap::new(),
            sent: 0,
            failed: false,
        }
    }

    /// Puts a read or a write of a job into the queue.
    pub(crate) fn push(&mut self, job: JobId, request: Request) {
        self.waiting[usize::from(request.kind.writes())].push_back((job, request));
    }

    /// Takes out the jobs whose reads, or writes, wait.
    pub(crate) fn take_waiting(&mut self, writes: bool) -> Vec<JobId> {
        std::mem::take(&mut self.waiting[usize::from(writes)]).into_iter().map(|(job, _)| job).collect()
    }

    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_empty())
    }

    /// Sends the drive what it may have; the tag is its number.
    pub(crate) fn feed(&mut self, index: usize, limits: QueueLimits, queue: Cause, world: &mut World) {
        for (side, most) in [limits.reads, limits.writes].into_iter().enumerate() {
            while self.in_flight[side] < most
                && let Some((job, mut request)) = self.waiting[side].pop_front()
            {
                let mut jobs = vec![job];
                while let Some((next_job, next)) = self.waiting[side].front()
                    && next.offset_bytes == request.end_bytes()
                    && u64::from(request.length_bytes) + u64::from(next.length_bytes) <= limits.joined_bytes
                {
                    jobs.push(*next_job);
                    request.length_bytes += next.length_bytes;
                    request.fua |= next.fua;
                    request.number = request.number.min(next.number);
                    self.waiting[side].pop_front();
                }
                self.in_flight[side] += 1;
                self.last_end_bytes = request.end_bytes();
                jobs.iter().for_each(|job| world.charge(*job, queue, world.now_ns()));
                self.send(index, jobs, request, world);
            }
        }
    }

    /// Sends a command. One that is joined is nobody's own; it is accounted for when it has come back.
    fn send(&mut self, index: usize, jobs: Vec<JobId>, request: Request, world: &mut World) {
        let request = Request { unit: self.unit, ..request };
        if let [job] = jobs[..] {
            return world.send(job, self.below, request, index as u64);
        }
        self.sent += 1;
        world.send_in_background(self.below, request, self.sent << 16 | index as u64);
        self.joined.insert(self.sent, jobs);
    }

    /// Sends what moves no data; it does not count against the queue.
    pub(crate) fn pass(&mut self, index: usize, job: JobId, request: Request, world: &mut World) {
        self.send(index, vec![job], request, world);
    }

    /// Sends what belongs to no request past the queue.
    pub(crate) fn send_beside(&self, request: Request, tag: u64, world: &mut World) {
        world.send_in_background(self.below, Request { unit: self.unit, ..request }, tag);
    }

    /// A command has come back: whose it was.
    pub(crate) fn returned(&mut self, child: &Child, world: &mut World) -> Vec<JobId> {
        match child.request.kind {
            RequestKind::Read => self.in_flight[0] -= 1,
            RequestKind::Write | RequestKind::WriteZeroes => self.in_flight[1] -= 1,
            RequestKind::Flush | RequestKind::Trim => {}
        }
        if let Some(job) = child.parent {
            return vec![job];
        }
        let jobs = self.joined.remove(&(child.tag >> 16)).unwrap_or_default();
        for job in &jobs {
            world.charge_as_returned(*job);
            if let Some(error) = child.error {
                world.note_error(*job, error);
            }
        }
        jobs
    }
}

/// The drive of a command that has come back.
pub(crate) fn drive_of(child: &Child) -> usize {
    (child.tag & 0xffff) as usize
}
