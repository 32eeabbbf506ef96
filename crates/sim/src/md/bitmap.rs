//! The write-intent bitmap: the parts of the array that may differ between members after a crash.
//!
//! The model (md-bitmap.c): a bit represents `bitmap_chunk` bytes, of the array if members are
//! copies, or of each member with parity. A write to a clean part waits until its bit is on all
//! members: their caches are flushed, then a page of the bitmap is written with FUA
//! (md_super_write: REQ_PREFLUSH and REQ_FUA). Writes that arrive during this wait for the next
//! round. Every `bitmap_delay` a daemon scans the bits. One without writes since its last two scans
//! is cleared; the cleared page is written to the members in the background. A degraded array
//! clears no bits.

use super::bits::DAEMON;
use super::{AfterMembers, Md};
use crate::world::{JobId, Request, RequestKind, World};

/// Position of the bitmap: after the superblock of version 1.2 (mdadm super1.c: 4 KiB from the
/// start, and 4 KiB more).
const BITMAP_AT_BYTES: u64 = 8192;
const PAGE_BYTES: u32 = 4096;

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
        let is_marked = self.bitmap.begin_write(self.bits(job, world));
        if !is_marked {
            self.bitmap.wait(job);
            self.begin_round(world);
        }
        is_marked
    }

    /// Writes the bits of the waiting writes, unless a round is in progress.
    fn begin_round(&mut self, world: &mut World) {
        let round = self.bitmap.begin_round();
        let Some(first) = round.first().copied() else { return };
        world.count(self.words.bitmap_writes, 1);
        for job in round {
            world.charge(*job, self.words.bitmap, world.now_ns());
        }
        let work = self.begin(AfterMembers::Mark, Some(first));
        for member in self.asked() {
            self.send_raw(work, member, Request::new(RequestKind::Flush, 0, 0), world.now_ns(), world);
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
        let round = self.bitmap.end_round();
        for job in &round {
            self.bitmap.set_on_members(self.bits(*job, world));
        }
        for job in round {
            world.charge(job, self.words.bitmap, world.now_ns());
            self.write(job, world);
        }
        self.begin_round(world);
    }

    /// Records the end of a write.
    pub(super) fn unmark(&mut self, job: JobId, world: &mut World) {
        self.bitmap.end_write(self.bits(job, world));
        self.wake_daemon(world);
    }

    fn wake_daemon(&mut self, world: &mut World) {
        let has_work = !self.bitmap.is_empty() && !self.failures.degraded;
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
        if self.bitmap.clear_idle() {
            self.write_marks(None, world);
        }
        self.wake_daemon(world);
    }
}
