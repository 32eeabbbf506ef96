//! The drives of a mirror or a RAID-Z: what ZFS keeps in front of each (so many reads and writes in flight, and the others in
//! a queue), and how it fills an empty one in the place of one.
//!
//! The model (OpenZFS `vdev_queue.c`): reads and writes wait apart, each in the order of arrival. What adjoins the one that
//! goes down, and waits right behind it, goes down with it as one command, up to a limit. The members of such a command
//! are done with it.
//!
//! To fill a drive (`dsl_scan.c`), the pool is gone through in the order of addresses, in stretches as long as neighbouring
//! requests are joined to, three under way (zfs_vdev_scrub_max_active). Each is read from the drives that have what belongs
//! there, and written. It goes on beside everything else.
//!
//! Not modelled: that a pool which is not full has less to fill, and that it gives way to others.

use crate::account::{Cause, Counter};
use crate::build::Builder;
use crate::layer::Control;
use crate::world::{Child, JobId, LayerId, OpenParts, Request, RequestKind, World, is_last_part};
use kurabe_core::{Text, text};
use std::collections::{BTreeMap, VecDeque};

/// Marks the tag of a request that fills a drive; the rest is where its stretch begins.
const MARK: u64 = 1 << 63;
/// zfs(4): zfs_vdev_aggregation_limit, zfs_vdev_scrub_max_active.
const STRETCH_BYTES: u64 = 1 << 20;
const UNDER_WAY: usize = 3;

/// How many commands of a kind are in flight at a drive, and how long a joined one gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) joined_bytes: u64,
}

/// A drive and its queue.
#[derive(Clone, Default)]
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
    fn feed(&mut self, index: usize, limits: QueueLimits, queue: Cause, world: &mut World) {
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
    fn send_beside(&self, request: Request, tag: u64, world: &mut World) {
        world.send_in_background(self.below, Request { unit: self.unit, ..request }, tag);
    }

    /// A command has come back: whose it was.
    fn returned(&mut self, child: &Child, world: &mut World) -> Vec<JobId> {
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

/// The filling of a drive.
#[derive(Clone)]
struct Resilver {
    drive: usize,
    next_bytes: u64,
    /// How many of the other drives are read.
    sources: usize,
    /// Stretches under way by their begin: reads that have not come back.
    under_way: BTreeMap<u64, usize>,
}

/// The drives.
#[derive(Clone, Default)]
pub(crate) struct VdevSet {
    pub(crate) list: Vec<VdevQueue>,
    /// How many of them have not failed.
    pub(crate) sound: usize,
    drive_bytes: u64,
    resilver: Option<Resilver>,
    /// Of requests that went to drives: how many commands are still to return.
    pub(crate) open: OpenParts,
    queue: Cause,
    filled_bytes: Counter,
}

impl VdevSet {
    /// All that stand below, with what waiting for one is called, and what counts the bytes that are filled.
    pub(crate) fn new(builder: &Builder<'_>, queue: Cause, filled_bytes: Counter) -> Self {
        let drive = |(below, unit)| VdevQueue { below, unit, ..VdevQueue::default() };
        let list: Vec<_> = builder.targets().into_iter().map(drive).collect();
        let (sound, drive_bytes) = (list.len(), builder.below_bytes());
        Self { list, sound, drive_bytes, queue, filled_bytes, ..Self::default() }
    }

    /// The drive that is being filled.
    pub(crate) fn filled(&self) -> Option<usize> {
        self.resilver.as_ref().map(|resilver| resilver.drive)
    }

    /// Sends a drive what it may have.
    pub(crate) fn feed(&mut self, index: usize, limits: QueueLimits, world: &mut World) {
        self.list[index].feed(index, limits, self.queue, world);
    }

    /// A request that was at several drives has come back from one, or will never go there; whether it is done.
    pub(crate) fn came(&mut self, job: JobId, world: &mut World) -> bool {
        let is_last = is_last_part(&mut self.open, job);
        if is_last {
            world.finish(job);
        }
        is_last
    }

    /// A command has come back: the requests that are done with it.
    pub(crate) fn returned(&mut self, child: &Child, limits: QueueLimits, world: &mut World) -> Vec<JobId> {
        if child.parent.is_none() && child.tag & MARK != 0 {
            self.filled_stretch(child, world);
            return Vec::new();
        }
        let index = (child.tag & 0xffff) as usize;
        let mut jobs = self.list[index].returned(child, world);
        jobs.retain(|job| self.came(*job, world));
        self.feed(index, limits, world);
        jobs
    }

    /// A drive fails, or gives its place to an empty one.
    pub(crate) fn fail(&mut self, control: Control) -> Result<usize, Text> {
        let (Control::FailMember(index) | Control::RebuildMember(index, _)) = control else {
            return Err(control.refused());
        };
        let last = self.list.len() - 1;
        let Some(drive) = self.list.get_mut(index) else {
            return Err(text!("it has drives 0 to {last}", "ドライブは 0 から {last} までです"));
        };
        self.sound -= usize::from(!std::mem::replace(&mut drive.failed, true));
        self.resilver = None;
        Ok(index)
    }

    /// Begins to fill a drive, if that is asked for, from so many of the others.
    pub(crate) fn fill(&mut self, control: Control, sources: usize, world: &mut World) {
        if let Control::RebuildMember(drive, next_bytes) = control {
            self.resilver = Some(Resilver { drive, next_bytes, sources, under_way: BTreeMap::new() });
            self.go_on(world);
        }
    }

    /// Begins as many stretches as may be under way; if none is left, the drive is sound.
    fn go_on(&mut self, world: &mut World) {
        let Some(resilver) = &mut self.resilver else { return };
        while resilver.under_way.len() < UNDER_WAY && resilver.next_bytes < self.drive_bytes {
            let at = resilver.next_bytes;
            let length = STRETCH_BYTES.min(self.drive_bytes - at);
            resilver.next_bytes += length;
            let others = self.list.iter().filter(|drive| !drive.failed).take(resilver.sources);
            resilver.under_way.insert(at, others.clone().count());
            let read = Request::new(RequestKind::Read, at, length as u32);
            others.for_each(|drive| drive.send_beside(read, MARK | at, world));
        }
        if resilver.under_way.is_empty() {
            self.list[resilver.drive].failed = false;
            (self.sound, self.resilver) = (self.sound + 1, None);
        }
    }

    /// A request that fills a drive has come back.
    fn filled_stretch(&mut self, child: &Child, world: &mut World) {
        let Some(resilver) = &mut self.resilver else { return };
        let at = child.tag & !MARK;
        let Some(left) = resilver.under_way.get_mut(&at) else { return };
        if child.request.kind == RequestKind::Write {
            resilver.under_way.remove(&at);
            world.count(self.filled_bytes, u64::from(child.request.length_bytes));
            return self.go_on(world);
        }
        *left -= 1;
        if *left == 0 {
            let write = Request { kind: RequestKind::Write, ..child.request };
            self.list[resilver.drive].send_beside(write, child.tag, world);
        }
    }
}
