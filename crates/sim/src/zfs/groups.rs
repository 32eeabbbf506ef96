//! ZFS writes: transaction groups, and the intent log for synchronous writes.
//!
//! The model (OpenZFS `txg.c`, `dmu_tx.c`, `zil.c`): a write is done when it is in memory. Every
//! `txg`, or when a fifth of the permitted dirty data has accumulated
//! (zfs_dirty_data_sync_percent), all of it goes down as one group, record by record in order of
//! addresses, followed by a flush; the next group collects during that. If memory is full, writes
//! wait until the drives have some of it. A request for durability, by a flush or for a single
//! write, writes the data that are not durable yet to the log, one after another in blocks of up to
//! 128 KiB, and then a flush. Data of 32 KiB and more (zfs_immediate_write_sz) go to their final
//! location, and a block of the log records this; data that are already going down are waited for
//! with their group. The log is in the space that ZFS keeps free.

use super::Zfs;
use crate::ranges::{AtRisk, Ranges};
use crate::timeline::{Timeline, transfer_ns};
use crate::world::{JobId, Request, RequestKind, World};
use std::collections::VecDeque;

/// Tags of requests to the log, and of those of a group.
pub(super) const LOG: u64 = u64::MAX;
pub(super) const GROUP: u64 = u64::MAX - 1;
/// Largest (zil.c: zil_maxblocksize) and smallest block of the log.
const LOG_BLOCK_BYTES: u64 = 128 << 10;
const LEAST_LOG_BYTES: u64 = 4096;
const IN_PLACE_BYTES: u32 = 32 << 10;

/// Returns the bytes of a pool that ZFS keeps free (spa_misc.c: spa_slop_shift, at most 128 GiB).
pub(super) fn slop_bytes(pool_bytes: u64) -> u64 {
    (pool_bytes / 32).min(128 << 30)
}

/// Written data in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// Data of the group that collects, and of the one that goes down.
    dirty: Ranges,
    going: Ranges,
    /// Bytes of the first, and those of the second that the drives do not have yet.
    dirty_bytes: u64,
    going_bytes: u64,
    /// Parts of both that a power cut would lose.
    unsafe_ranges: Ranges,
    /// Outstanding requests of the group that goes down.
    requests: u64,
    flushes: bool,
    pub(super) timer_runs: bool,
    /// Writes that wait for room.
    waiting: VecDeque<JobId>,
    log_bytes: u64,
    copying: Timeline,
    /// Jobs that wait for the group that goes down.
    followers: Vec<JobId>,
    /// Jobs that wait for the log: first for outstanding blocks, then for the flush.
    logging: Vec<(JobId, u64, Ranges)>,
}

impl Groups {
    pub(super) fn at_risk(&self) -> AtRisk {
        let mut lost = self.unsafe_ranges.clone();
        self.logging.iter().for_each(|(.., ranges)| lost.extend(ranges.iter()));
        let mut saved = self.dirty.clone();
        saved.extend(self.going.iter());
        for (from, to, _) in lost.iter() {
            saved.cut(from, to);
        }
        AtRisk { lost, saved }
    }
}

impl Zfs {
    /// Copies a request's bytes to or from memory. Returns when that is done.
    pub(super) fn copy(&mut self, job: JobId, world: &mut World) -> u64 {
        let bytes = u64::from(world.request(job).length_bytes);
        let time_ns = transfer_ns(bytes, self.values.memory_bytes_per_s);
        let (start_ns, end_ns) = self.groups.copying.take(world.now_ns(), time_ns);
        world.charge(job, self.words.memory_busy, start_ns);
        world.charge(job, self.words.memory, end_ns);
        end_ns
    }

    /// Returns whether all of a read is in memory.
    pub(super) fn has_in_memory(&self, request: &Request) -> bool {
        let (from, to) = (request.offset_bytes, request.end_bytes());
        from < to && (self.groups.dirty.cover(from, to) || self.groups.going.cover(from, to))
    }

    pub(super) fn write_to_memory(&mut self, job: JobId, world: &mut World) {
        if self.is_full() || !self.groups.waiting.is_empty() {
            self.groups.waiting.push_back(job);
            return self.begin_group(world);
        }
        self.take(job, world);
    }

    fn is_full(&self) -> bool {
        self.groups.dirty_bytes + self.groups.going_bytes >= self.values.dirty_max_bytes
    }

    /// Accepts a write into memory.
    fn take(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let (from, to) = (request.offset_bytes, request.end_bytes());
        self.groups.dirty_bytes += self.groups.dirty.add(from, to, request.number);
        if request.fua {
            let mut alone = Ranges::default();
            alone.add(from, to, request.number);
            self.log(job, alone, world);
        } else {
            self.groups.unsafe_ranges.add(from, to, request.number);
            let end_ns = self.copy(job, world);
            world.finish_at(end_ns, job);
        }
        if self.groups.dirty_bytes * 5 >= self.values.dirty_max_bytes {
            self.begin_group(world);
        } else if !std::mem::replace(&mut self.groups.timer_runs, true) {
            world.wake_at(world.now_ns().saturating_add(self.values.txg_ns), 0);
        }
    }

    /// Makes all written data durable.
    pub(super) fn commit(&mut self, job: JobId, world: &mut World) {
        let ranges = std::mem::take(&mut self.groups.unsafe_ranges);
        self.log(job, ranges, world);
    }

    /// Writes data that must be durable to the log; a job without any proceeds to the flush.
    fn log(&mut self, job: JobId, ranges: Ranges, world: &mut World) {
        let (in_place, logged): (Vec<_>, Vec<_>) =
            self.pieces(&ranges).into_iter().partition(|piece| piece.length_bytes >= IN_PLACE_BYTES);
        let logged_bytes: u64 = logged.iter().map(|piece| u64::from(piece.length_bytes)).sum();
        world.count(self.words.logged_bytes, logged_bytes);
        let mut left_bytes = logged_bytes.next_multiple_of(LEAST_LOG_BYTES);
        if !in_place.is_empty() {
            left_bytes += LEAST_LOG_BYTES;
        }
        let area_bytes = slop_bytes(self.below_bytes).saturating_sub(LOG_BLOCK_BYTES).max(1);
        let mut blocks = in_place.len() as u64;
        let mut follows = false;
        for piece in in_place {
            if self.groups.dirty.within(piece.offset_bytes, piece.end_bytes()).next().is_none() {
                // It is going down with its group, which is waited for.
                blocks -= u64::from(std::mem::replace(&mut follows, true));
                continue;
            }
            let cut = self.groups.dirty.cut(piece.offset_bytes, piece.end_bytes());
            self.groups.dirty_bytes -= cut.iter().map(|(from, to, _)| to - from).sum::<u64>();
            world.send(job, self.below, piece, LOG);
        }
        while left_bytes > 0 {
            let block_bytes = left_bytes.min(LOG_BLOCK_BYTES);
            let place =
                self.capacity_bytes + self.groups.log_bytes % area_bytes / LEAST_LOG_BYTES * LEAST_LOG_BYTES;
            let block = Request::new(RequestKind::Write, place, block_bytes as u32);
            world.send(job, self.below, block, LOG);
            self.groups.log_bytes += block_bytes;
            left_bytes -= block_bytes;
            blocks += 1;
        }
        if follows {
            self.groups.followers.push(job);
        }
        self.groups.logging.push((job, blocks + 1, ranges));
        if blocks == 0 {
            world.send(job, self.below, Request::new(RequestKind::Flush, 0, 0), LOG);
        }
    }

    /// Handles the end of a log block, or of the flush after them.
    pub(super) fn logged(&mut self, job: JobId, world: &mut World) {
        let Some(place) = self.groups.logging.iter().position(|(of, ..)| *of == job) else { return };
        let left = &mut self.groups.logging[place].1;
        *left -= 1;
        match *left {
            0 => {
                self.groups.logging.remove(place);
                world.finish(job);
            }
            1 => world.send(job, self.below, Request::new(RequestKind::Flush, 0, 0), LOG),
            _ => {}
        }
    }

    /// Splits ranges at records and merges touching ranges within a record.
    fn pieces(&self, ranges: &Ranges) -> Vec<Request> {
        let mut pieces: Vec<Request> = Vec::new();
        for (from, to, number) in ranges.iter() {
            let mut at = from;
            while at < to {
                let end = to.min((at / self.values.record_bytes + 1) * self.values.record_bytes);
                match pieces.last_mut() {
                    Some(last) if last.end_bytes() == at && !at.is_multiple_of(self.values.record_bytes) => {
                        last.length_bytes += (end - at) as u32;
                        last.number = last.number.min(number);
                    }
                    _ => {
                        let piece = Request::new(RequestKind::Write, at, (end - at) as u32);
                        pieces.push(Request { number, ..piece });
                    }
                }
                at = end;
            }
        }
        pieces
    }

    /// Sends the dirty data down as a group, unless one is in progress.
    pub(super) fn begin_group(&mut self, world: &mut World) {
        if self.groups.requests > 0 || self.groups.dirty.is_empty() {
            return;
        }
        self.groups.going = std::mem::take(&mut self.groups.dirty);
        self.groups.going_bytes = std::mem::take(&mut self.groups.dirty_bytes);
        world.count(self.words.groups, 1);
        let pieces = self.pieces(&self.groups.going);
        self.groups.requests = pieces.len() as u64;
        pieces.into_iter().for_each(|piece| world.send_in_background(self.below, piece, GROUP));
    }

    /// Handles the end of a request of the group that goes down.
    pub(super) fn group_came(&mut self, bytes: u64, world: &mut World) {
        self.groups.requests -= 1;
        self.groups.going_bytes -= bytes;
        while let Some(job) = self.groups.waiting.front().copied().filter(|_| !self.is_full()) {
            self.groups.waiting.pop_front();
            world.charge(job, self.words.full, world.now_ns());
            self.take(job, world);
        }
        if self.groups.requests > 0 {
            return;
        }
        if !std::mem::replace(&mut self.groups.flushes, true) {
            self.groups.requests = 1;
            return world.send_in_background(self.below, Request::new(RequestKind::Flush, 0, 0), GROUP);
        }
        self.groups.flushes = false;
        for (from, to, _) in std::mem::take(&mut self.groups.going).iter() {
            // Data rewritten since then are still at risk.
            let at_risk: Ranges = self.groups.unsafe_ranges.cut(from, to).into_iter().collect();
            let again: Ranges = self.groups.dirty.within(from, to).collect();
            for (from, to, number) in again.iter() {
                for (from, to, _) in at_risk.within(from, to) {
                    self.groups.unsafe_ranges.add(from, to, number);
                }
            }
        }
        for job in std::mem::take(&mut self.groups.followers) {
            self.logged(job, world);
        }
        if self.groups.dirty_bytes * 5 >= self.values.dirty_max_bytes {
            self.begin_group(world);
        } else if !self.groups.dirty.is_empty() && !std::mem::replace(&mut self.groups.timer_runs, true) {
            world.wake_at(world.now_ns().saturating_add(self.values.txg_ns), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{account, device, request, run, settle};
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};

    const DRIVE: &str = "constant capacity=1_GiB access=1_ms rate=1000_TB/s parallel=1";

    fn pool(extra: &str) -> Stack {
        Stack::new(&device(&[&format!("zfs txg=5_s memory_rate=1000_TB/s {extra}"), DRIVE]), 1).unwrap()
    }

    fn write(offset_bytes: u64, length_bytes: u32) -> Request {
        request(RequestKind::Write, offset_bytes, length_bytes)
    }

    #[test]
    fn a_write_is_memorys_until_its_group_goes_down() {
        let mut stack = pool("");
        let writes: Vec<Request> = (0..64).map(|index| write(index * 65_536, 65_536)).collect();
        assert!(run(&mut stack, &writes, 4)[63] < 1000);
        assert_eq!(stack.at_risk().lost.bytes(), 64 * 65_536);
        assert!(run(&mut stack, &[request(RequestKind::Read, 0, 65_536)], 1)[0] < 2000, "memory has it");
        settle(&mut stack);
        // 32 records and a flush, after five seconds.
        assert_eq!(stack.now_ns() / 1_000_000, 5000 + 33);
        assert_eq!(stack.at_risk().lost.bytes(), 0);
    }

    #[test]
    fn what_must_be_safe_goes_to_the_log_or_to_its_place() {
        let mut stack = pool("");
        let flush = request(RequestKind::Flush, 0, 0);
        let logged = |stack: &mut Stack, requests: &[Request]| {
            let from_ns = stack.now_ns();
            let end_ns = *run(stack, requests, 1).last().unwrap();
            assert_eq!(stack.at_risk().lost.bytes(), 0);
            let account = account(stack);
            let of = account.counts.iter().find(|count| count.counter == "logged-bytes");
            ((end_ns - from_ns) / 1_000_000, of.map_or(0, |count| count.count))
        };
        assert_eq!(
            logged(&mut stack, &[write(0, 8192), write(65_536, 8192), flush]),
            (2, 16_384),
            "a block and a flush"
        );
        assert_eq!(logged(&mut stack, &[flush]), (1, 0), "nothing is left to log");
        assert_eq!(
            logged(&mut stack, &[write(0, 65_536), flush]),
            (3, 0),
            "its place, a block of the log, a flush"
        );
        let safe = Request { fua: true, ..write(1 << 20, 4096) };
        assert_eq!(logged(&mut stack, &[safe]), (2, 4096));
        settle(&mut stack);
        // Three small ranges go down with their group; the long one is on the drives already.
        assert_eq!(stack.now_ns() / 1_000_000, 5000 + 3);
    }

    #[test]
    fn what_goes_down_already_is_waited_for_and_not_written_again() {
        let mut stack = pool("");
        let writes: Vec<Request> = (0..64).map(|index| write(index * 131_072, 131_072)).collect();
        run(&mut stack, &writes, 4);
        stack.advance(5_000_000_000);
        let flushed_ns = run(&mut stack, &[request(RequestKind::Flush, 0, 0)], 1)[0];
        // The 64 records of the group, its flush, a block of the log, and the flush after that.
        assert_eq!(flushed_ns / 1_000_000, 5000 + 64 + 1 + 1 + 1);
        settle(&mut stack);
        assert_eq!((stack.now_ns(), stack.at_risk().lost.bytes()), (flushed_ns, 0));
    }

    #[test]
    fn full_memory_has_writes_wait_for_the_drives() {
        let mut stack = pool("dirty_max=8_MiB");
        let writes: Vec<Request> = (0..512).map(|index| write(index * 131_072, 131_072)).collect();
        let last_ns = *run(&mut stack, &writes, 4).last().unwrap();
        let drive_ns = (512 - 64) * 1_000_000;
        assert!((drive_ns..drive_ns * 13 / 10).contains(&last_ns), "{last_ns}");
        let account = account(&mut stack);
        assert!(account.shares.iter().all(|share| share.cause.starts_with("memory")), "{account:?}");
    }
}
