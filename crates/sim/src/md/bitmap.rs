//! The write-intent bitmap: the parts of the array that may differ between members after a crash.
//!
//! The model (md-bitmap.c): a bit represents `bitmap_chunk` bytes, of the array if members are
//! copies, or of each member with parity. A write to a clean part waits until its bit is on all
//! members: their caches are flushed, then a page of the bitmap is written with FUA
//! (md_super_write: REQ_PREFLUSH and REQ_FUA). Writes that arrive during this wait for the next
//! round. Every `bitmap_delay` a daemon scans the bits. One without writes since its last two scans
//! is cleared; the cleared page is written to the members in the background. A degraded array
//! clears no bits.

use super::{AfterMembers, Md};
use crate::world::{JobId, Request, RequestKind, World};
use std::collections::BTreeMap;

/// Token of the daemon; others belong to the rebuild.
pub(super) const DAEMON: u64 = 1;

/// Position of the bitmap: after the superblock of version 1.2 (mdadm super1.c: 4 KiB from the
/// start, and 4 KiB more).
const BITMAP_AT_BYTES: u64 = 8192;
const PAGE_BYTES: u32 = 4096;

/// A part of the array that was written.
#[derive(Clone, Debug, Default)]
struct PartMark {
    /// Writes to it in progress.
    writes: u32,
    /// Scans of the daemon since the last write ended.
    looks: u32,
    on_members: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Bitmap {
    marks: BTreeMap<u64, PartMark>,
    /// Writes that wait for the round in progress, and for the next one.
    round: Vec<JobId>,
    next: Vec<JobId>,
    daemon_runs: bool,
}

impl Md {
    /// Returns the bits of a write.
    fn bits(&self, job: JobId, world: &World) -> std::ops::Range<u64> {
        let request = world.request(job);
        let (mut from, mut to) = (request.offset_bytes, request.end_bytes());
        if self.geometry.parities > 0 {
            let row_bytes = self.geometry.row_bytes();
            from = from / row_bytes * self.values.chunk_bytes;
            to = to.div_ceil(row_bytes) * self.values.chunk_bytes;
        }
        from / self.values.bitmap_chunk_bytes..to.div_ceil(self.values.bitmap_chunk_bytes)
    }

    /// Marks the part that is about to be written. Returns whether the write may start immediately.
    pub(super) fn mark(&mut self, job: JobId, world: &mut World) -> bool {
        if !self.values.bitmap || self.values.level == 0 {
            return true;
        }
        let mut is_marked = true;
        for bit in self.bits(job, world) {
            let mark = self.bitmap.marks.entry(bit).or_default();
            (mark.writes, mark.looks) = (mark.writes + 1, 0);
            is_marked &= mark.on_members;
        }
        if !is_marked {
            self.bitmap.next.push(job);
            self.begin_round(world);
        }
        is_marked
    }

    /// Writes the bits of the waiting writes, unless a round is in progress.
    fn begin_round(&mut self, world: &mut World) {
        if self.bitmap.round.is_empty() && !self.bitmap.next.is_empty() {
            self.bitmap.round = std::mem::take(&mut self.bitmap.next);
            world.count(self.words.bitmap_writes, 1);
            for job in &self.bitmap.round {
                world.charge(*job, self.words.bitmap, world.now_ns());
            }
            let work = self.begin(AfterMembers::Mark, self.bitmap.round.first().copied());
            for member in self.asked() {
                self.send_raw(work, member, Request::new(RequestKind::Flush, 0, 0), world.now_ns(), world);
            }
        }
    }

    /// Writes the bitmap page after the members' caches are flushed.
    pub(super) fn write_marks(&mut self, job: Option<JobId>, world: &mut World) {
        let after = if job.is_some() { AfterMembers::Marked } else { AfterMembers::Forget };
        let work = self.begin(after, job);
        let page = Request::new(RequestKind::Write, BITMAP_AT_BYTES, PAGE_BYTES);
        for member in self.asked() {
            self.send_raw(work, member, Request { fua: true, ..page }, world.now_ns(), world);
        }
    }

    /// Starts the writes of a round, whose bits are now on the members.
    pub(super) fn marked(&mut self, world: &mut World) {
        let round = std::mem::take(&mut self.bitmap.round);
        for bit in round.iter().flat_map(|job| self.bits(*job, world)).collect::<Vec<_>>() {
            if let Some(mark) = self.bitmap.marks.get_mut(&bit) {
                mark.on_members = true;
            }
        }
        for job in round {
            world.charge(job, self.words.bitmap, world.now_ns());
            self.write(job, world);
        }
        self.begin_round(world);
    }

    /// Records the end of a write.
    pub(super) fn unmark(&mut self, job: JobId, world: &mut World) {
        for bit in self.bits(job, world) {
            if let Some(mark) = self.bitmap.marks.get_mut(&bit) {
                (mark.writes, mark.looks) = (mark.writes.saturating_sub(1), 0);
            }
        }
        self.wake_daemon(world);
    }

    fn wake_daemon(&mut self, world: &mut World) {
        let has_work = !self.bitmap.marks.is_empty() && !self.failures.degraded;
        if has_work && !std::mem::replace(&mut self.bitmap.daemon_runs, true) {
            world.wake_at(world.now_ns().saturating_add(self.values.bitmap_delay_ns.max(1)), DAEMON);
        }
    }

    /// Scans the bits and clears those of idle parts.
    pub(super) fn clear_marks(&mut self, world: &mut World) {
        self.bitmap.daemon_runs = false;
        if self.failures.degraded {
            return;
        }
        let before = self.bitmap.marks.len();
        self.bitmap.marks.retain(|_, mark| {
            mark.looks += u32::from(mark.writes == 0);
            mark.looks < 2
        });
        if self.bitmap.marks.len() < before {
            self.write_marks(None, world);
        }
        self.wake_daemon(world);
    }
}
