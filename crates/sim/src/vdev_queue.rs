//! The drives of a mirror or a RAID-Z: the ZFS queue in front of each (a limited number of reads
//! and writes in flight, and the others waiting), and the resilvering of an empty replacement.
//!
//! The model (OpenZFS `vdev_queue.c`): reads and writes wait separately, each in order of arrival.
//! Requests that adjoin the one being issued, and wait directly behind it, are merged with it into
//! one command, up to a limit. All requests of such a command complete together.
//!
//! To resilver a drive (`dsl_scan.c`), the pool is scanned in order of addresses, in ranges as long
//! as the merge limit, three in flight (zfs_vdev_scrub_max_active). Each is read from the drives
//! that have its data, and written. This runs concurrently with all other requests.
//!
//! Not modelled: that a pool which is not full has less to resilver, and that resilvering yields to
//! other requests.

use crate::account::{Cause, Counter};
use crate::build::Builder;
use crate::layer::Control;
use crate::world::{Child, JobId, LayerId, OpenParts, Request, RequestKind, World, is_last_part};
use kurabe_core::{Text, text};
use std::collections::{BTreeMap, VecDeque};

/// Flag on the tag of a resilvering request; the rest is the start of its range.
const MARK: u64 = 1 << 63;
/// zfs(4): zfs_vdev_aggregation_limit, zfs_vdev_scrub_max_active.
const STRETCH_BYTES: u64 = 1 << 20;
const UNDER_WAY: usize = 3;

/// Limits of the commands of each kind in flight at a drive, and of the length of a merged one.
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
    /// End of the last command sent to it.
    pub(crate) last_end_bytes: u64,
    pub(crate) in_flight: [u64; 2],
    waiting: [VecDeque<(JobId, Request)>; 2],
    /// Jobs of each merged command, by its number.
    joined: BTreeMap<u64, Vec<JobId>>,
    sent: u64,
    pub(crate) failed: bool,
}

impl VdevQueue {
    /// Adds a read or a write of a job to the queue.
    pub(crate) fn push(&mut self, job: JobId, request: Request) {
        self.waiting[usize::from(request.kind.writes())].push_back((job, request));
    }

    /// Removes and returns the jobs whose reads, or writes, wait.
    pub(crate) fn take_waiting(&mut self, writes: bool) -> Vec<JobId> {
        std::mem::take(&mut self.waiting[usize::from(writes)]).into_iter().map(|(job, _)| job).collect()
    }

    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_empty())
    }

    /// Sends commands to the drive up to its limits; the tag contains its number.
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

    /// Sends a command. A merged one belongs to no single job and is accounted for when it returns.
    fn send(&mut self, index: usize, jobs: Vec<JobId>, request: Request, world: &mut World) {
        let request = Request { unit: self.unit, ..request };
        if let [job] = jobs[..] {
            return world.send(job, self.below, request, index as u64);
        }
        self.sent += 1;
        world.send_in_background(self.below, request, self.sent << 16 | index as u64);
        self.joined.insert(self.sent, jobs);
    }

    /// Sends a request without data, which does not count towards the limits.
    pub(crate) fn pass(&mut self, index: usize, job: JobId, request: Request, world: &mut World) {
        self.send(index, vec![job], request, world);
    }

    /// Sends a request that belongs to no job, bypassing the queue.
    fn send_beside(&self, request: Request, tag: u64, world: &mut World) {
        world.send_in_background(self.below, Request { unit: self.unit, ..request }, tag);
    }

    /// Handles a command that returned, and returns its jobs.
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

/// The resilvering of a drive.
#[derive(Clone)]
struct Resilver {
    drive: usize,
    next_bytes: u64,
    /// Number of other drives to read from.
    sources: usize,
    /// Ranges in flight by their start, each with the number of reads that have not returned.
    under_way: BTreeMap<u64, usize>,
}

/// The drives of the array.
#[derive(Clone, Default)]
pub(crate) struct VdevSet {
    pub(crate) list: Vec<VdevQueue>,
    /// Number of drives that have not failed.
    pub(crate) sound: usize,
    drive_bytes: u64,
    resilver: Option<Resilver>,
    /// For requests to several drives: the number of commands still to return.
    pub(crate) open: OpenParts,
    queue: Cause,
    filled_bytes: Counter,
}

impl VdevSet {
    /// Returns all drives below, with the cause of waiting for one, and the counter of resilvered
    /// bytes.
    pub(crate) fn new(builder: &Builder<'_>, queue: Cause, filled_bytes: Counter) -> Self {
        let drive = |(below, unit)| VdevQueue { below, unit, ..VdevQueue::default() };
        let list: Vec<_> = builder.targets().into_iter().map(drive).collect();
        let (sound, drive_bytes) = (list.len(), builder.below_bytes());
        Self { list, sound, drive_bytes, queue, filled_bytes, ..Self::default() }
    }

    /// Returns the drive that is being resilvered.
    pub(crate) fn filled(&self) -> Option<usize> {
        self.resilver.as_ref().map(|resilver| resilver.drive)
    }

    /// Sends commands to a drive, up to its limits.
    pub(crate) fn feed(&mut self, index: usize, limits: QueueLimits, world: &mut World) {
        self.list[index].feed(index, limits, self.queue, world);
    }

    /// Records that a request to several drives has returned from one, or will never go there.
    /// Returns whether it is done.
    pub(crate) fn came(&mut self, job: JobId, world: &mut World) -> bool {
        let is_last = is_last_part(&mut self.open, job);
        if is_last {
            world.finish(job);
        }
        is_last
    }

    /// Handles a command that returned, and returns the requests that are done with it.
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

    /// Marks a drive as failed, or as replaced by an empty one.
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

    /// Starts to resilver a drive from `sources` of the others, if the control is a rebuild.
    pub(crate) fn fill(&mut self, control: Control, sources: usize, world: &mut World) {
        if let Control::RebuildMember(drive, next_bytes) = control {
            self.resilver = Some(Resilver { drive, next_bytes, sources, under_way: BTreeMap::new() });
            self.go_on(world);
        }
    }

    /// Starts ranges, up to the limit in flight; if none is left, the drive is restored.
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

    /// Handles the end of a resilvering request.
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
