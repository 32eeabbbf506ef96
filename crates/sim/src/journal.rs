//! The page cache of a computer and the journal of its file system, as far as they determine the requests
//! that a device receives when a program writes to a file and flushes it.
//!
//! The model (ext4 with `data=ordered`: `ext4_sync_file`, `jbd2_journal_commit_transaction`): a write is done
//! when its bytes are in memory. A flush writes the pages that hold them. If the file system has to store
//! something about the file as well, it then writes its journal, flushes the device, and writes a commit
//! block that is on the medium when it completes (FUA). Otherwise it only flushes the device. A file system
//! stores the times of a file, which change once per tick of the clock (fsync), and pages that the file has
//! not had before (fsync and fdatasync). A write with FUA (`O_SYNC`, `O_DSYNC`) is a write and such a flush.
//! Flushes that arrive while another one is in progress are served together by the next one.
//!
//! Not modelled: reads from memory other than of written pages, writing back without a flush, and the threads
//! of the kernel.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::{AtRisk, Ranges};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::{Result, Text, text};
use std::ops::Range;

/// Pages of files in memory, and the journal: `journal` in device files.
pub const JOURNAL: LayerKind =
    LayerKind::new(page!("journal"), "journal", Below::One, PARAMETERS, build).of_host();

/// Size of a page and of a block of the file system.
const PAGE_BYTES: u64 = 4096;
/// Longest request when pages are written, the usual limit of Linux for files in order.
const LONGEST_BYTES: u64 = 1 << 20;
/// Blocks that a commit writes before its commit block: a list of blocks and the one with the file's inode.
const COMMIT_BLOCKS: u64 = 2;

parameters! {
    struct Values, PARAMETERS from "journal" {
        "file_system" file_system_bytes: SOME_SIZE,
            usual("1 GiB", "assumed: a larger one has its journal farther from the file");
        "size" journal_bytes: SOME_SIZE,
            usual("64 MiB", "e2fsprogs lib/ext2fs/mkjournal.c: 16,384 blocks for file systems of 2 to 16 GiB");
        "commits_times" commits_times: Flag,
            usual("true", "fs/ext4/fsync.c: fsync stores the times of a file, fdatasync does not");
        "commits_pages" commits_pages: Flag, usual("false", "assumed: all pages of the file were written before");
        "tick" tick_ns: Time, usual("4 ms", "CONFIG_HZ=250 of Debian and Ubuntu: file times change once per tick");
    }
}

words! {
    struct Words from "journal" {
        memory: cause("memory");
        shared: line("shared-flush");
        pages: counter("pages");
        commits: counter("commits");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let capacity_bytes = builder.below_bytes();
    // mkjournal.c begins to look for free blocks in the middle of the file system.
    let middle = values.file_system_bytes.min(capacity_bytes) / 2 / PAGE_BYTES * PAGE_BYTES;
    let journal_bytes = values.journal_bytes.min(middle / 2) / PAGE_BYTES * PAGE_BYTES;
    let layer = FilePages {
        below: builder.only_below(),
        journal: middle..middle + journal_bytes.max(PAGE_BYTES * (COMMIT_BLOCKS + 1)),
        journal_next: middle,
        words: Words::new(builder),
        values,
        ..FilePages::default()
    };
    if layer.journal.end > capacity_bytes {
        let what =
            text!("the device is too small for a journal", "ジャーナルを置くにはデバイスが小さすぎます");
        return Err(builder.error("size", &what));
    }
    Ok(Built::new(layer, capacity_bytes))
}

/// Stage of a flush in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Pages are being written.
    Pages,
    /// Blocks of the journal are being written.
    Journal,
    /// The device flushes before the commit block.
    Barrier,
    /// The last request: the commit block, or the flush of a file system that has nothing to store.
    Last,
}

/// A flush in progress.
#[derive(Clone, Debug)]
struct Round {
    /// The request whose children go to the device.
    leader: JobId,
    /// Other requests that this flush serves.
    riders: Vec<JobId>,
    stage: Stage,
    /// Requests of this stage that have not returned.
    open: u64,
    commits: bool,
}

#[derive(Clone, Default)]
struct FilePages {
    below: LayerId,
    journal: Range<u64>,
    journal_next: u64,
    /// Pages in memory that are not on the device yet.
    dirty: Ranges,
    /// The same of the flush in progress.
    in_writing: Ranges,
    /// Number of the last page that the file system knows, so that a write of it is not new.
    known_page: Option<u64>,
    has_new_pages: bool,
    /// Tick of the last change of the file's times, and of the one that is stored.
    time_tick: Option<u64>,
    stored_tick: Option<u64>,
    waiting: Vec<JobId>,
    round: Option<Round>,
    values: Values,
    words: Words,
}

impl FilePages {
    fn write(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let first = request.offset_bytes / PAGE_BYTES;
        let end = request.end_bytes().div_ceil(PAGE_BYTES);
        self.dirty.add(first * PAGE_BYTES, end * PAGE_BYTES, request.number);
        self.has_new_pages |= self.known_page != Some(first) || end - first > 1;
        self.known_page = end.checked_sub(1);
        self.time_tick = Some(world.now_ns() / self.values.tick_ns.max(1));
        if request.fua {
            self.wait_for_flush(job, world);
        } else {
            world.charge(job, self.words.memory, world.now_ns());
            world.finish(job);
        }
    }

    fn wait_for_flush(&mut self, job: JobId, world: &mut World) {
        self.waiting.push(job);
        self.begin(world);
    }

    /// Begins a flush for all requests that wait, unless one is in progress.
    fn begin(&mut self, world: &mut World) {
        if self.round.is_some() || self.waiting.is_empty() {
            return;
        }
        let mut riders = std::mem::take(&mut self.waiting);
        riders.iter().for_each(|rider| world.charge(*rider, self.words.shared, world.now_ns()));
        let leader = riders.remove(0);
        let stores_times = self.values.commits_times && self.time_tick != self.stored_tick;
        let commits = stores_times || (self.values.commits_pages && self.has_new_pages);
        self.has_new_pages = false;
        self.in_writing = std::mem::take(&mut self.dirty);
        self.round = Some(Round { leader, riders, stage: Stage::Pages, open: 0, commits });
        let mut at = 0;
        while let Some((from, to)) =
            self.in_writing.stretch(at, LONGEST_BYTES).filter(|(from, _)| *from >= at)
        {
            self.send(Request::new(RequestKind::Write, from, (to - from) as u32), world);
            world.count(self.words.pages, (to - from) / PAGE_BYTES);
            at = to;
        }
        self.go_on(world);
    }

    fn send(&mut self, request: Request, world: &mut World) {
        if let Some(round) = &mut self.round {
            round.open += 1;
            world.send(round.leader, self.below, request, 0);
        }
    }

    /// Goes on to the next stage if no request of this one is open.
    fn go_on(&mut self, world: &mut World) {
        let Some(round) = self.round.as_mut().filter(|round| round.open == 0) else { return };
        let flush = Request::new(RequestKind::Flush, 0, 0);
        // The device has the pages now.
        self.in_writing.clear();
        match (round.stage, round.commits) {
            (Stage::Pages, true) => {
                round.stage = Stage::Journal;
                self.stored_tick = self.time_tick;
                world.count(self.words.commits, 1);
                let blocks = self.journal_blocks(COMMIT_BLOCKS);
                self.send(blocks, world);
            }
            (Stage::Journal, _) => {
                round.stage = Stage::Barrier;
                self.send(flush, world);
            }
            (Stage::Barrier, _) => {
                round.stage = Stage::Last;
                let block = self.journal_blocks(1);
                self.send(Request { fua: true, ..block }, world);
            }
            (Stage::Pages, false) => {
                round.stage = Stage::Last;
                self.send(flush, world);
            }
            (Stage::Last, _) => self.end(world),
        }
    }

    /// Returns a write of the next blocks of the journal, which begins again at its end.
    fn journal_blocks(&mut self, count: u64) -> Request {
        let length_bytes = count * PAGE_BYTES;
        if self.journal_next + length_bytes > self.journal.end {
            self.journal_next = self.journal.start;
        }
        let request = Request::new(RequestKind::Write, self.journal_next, length_bytes as u32);
        self.journal_next += length_bytes;
        request
    }

    fn end(&mut self, world: &mut World) {
        let Some(round) = self.round.take() else { return };
        world.finish(round.leader);
        for rider in round.riders {
            world.charge(rider, self.words.shared, world.now_ns());
            world.finish(rider);
        }
        self.begin(world);
    }

    /// Returns whether all bytes of a read are in memory because they were written.
    fn is_in_memory(&self, request: &Request) -> bool {
        [&self.dirty, &self.in_writing]
            .iter()
            .any(|pages| pages.cover(request.offset_bytes, request.end_bytes()))
    }
}

impl Layer for FilePages {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        match request.kind {
            RequestKind::Write => self.write(job, world),
            RequestKind::Flush => self.wait_for_flush(job, world),
            RequestKind::Read if self.is_in_memory(&request) => {
                world.charge(job, self.words.memory, world.now_ns());
                world.finish(job);
            }
            RequestKind::Read | RequestKind::Trim | RequestKind::WriteZeroes => {
                world.send(job, self.below, request, 0);
            }
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(parent) = child.parent else { return };
        let Some(round) = self.round.as_mut().filter(|round| round.leader == parent) else {
            world.finish(parent);
            return;
        };
        round.open -= 1;
        if let Some(error) = child.error {
            round.riders.iter().for_each(|rider| world.note_error(*rider, error));
            round.commits = false;
            round.stage = Stage::Last;
        }
        self.go_on(world);
    }

    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        let mut lost = self.dirty.clone();
        lost.extend(self.in_writing.iter());
        AtRisk::all(lost, false)
    }

    fn waits_for(&self) -> Option<Text> {
        self.round.is_some().then(|| text!("the device to end a flush", "デバイスがフラッシュを終えるの"))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{account, count, device, request, run};
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};

    const MEDIUM: &str = "constant capacity=1_GiB access=1_ms rate=1_TB/s parallel=64";
    const FLUSH: Request = Request::new(RequestKind::Flush, 0, 0);

    /// Returns the times in ms at which requests end that are sent one after the other, and the commits.
    fn run_all(journal: &str, requests: &[Request]) -> (Vec<u64>, u64) {
        let mut stack = Stack::new(&device(&[journal, MEDIUM]), 1).unwrap();
        let ends_ns = run(&mut stack, requests, 1);
        let account = account(&mut stack);
        (ends_ns.into_iter().map(|end_ns| end_ns / 1_000_000).collect(), count(&account, "commits"))
    }

    fn write(offset_bytes: u64, length_bytes: u32) -> Request {
        request(RequestKind::Write, offset_bytes, length_bytes)
    }

    #[test]
    fn a_flush_has_the_time_of_the_pages_and_of_the_commit() {
        // The page, the journal, the flush and the commit block take 1 ms each on this medium.
        assert_eq!(run_all("journal", &[write(0, 4096), FLUSH]), (vec![0, 4], 1));
        assert_eq!(run_all("journal commits_times=false", &[write(0, 4096), FLUSH]), (vec![0, 2], 0));
        // Pages far from each other are written concurrently.
        let two = [write(0, 4096), write(1 << 20, 4096), FLUSH];
        assert_eq!(run_all("journal commits_times=false", &two), (vec![0, 0, 2], 0));
    }

    #[test]
    fn times_are_stored_once_per_tick() {
        let requests = [write(0, 4096), FLUSH].repeat(4);
        // The first one commits, the others within the same tick do not.
        assert_eq!(run_all("journal tick=10_ms", &requests), (vec![0, 4, 4, 6, 6, 8, 8, 10], 1));
        assert_eq!(run_all("journal tick=1_ms", &requests).1, 4);
    }

    #[test]
    fn only_pages_that_are_new_to_the_file_are_stored_after_fdatasync() {
        let log =
            |count: u64| (0..count).flat_map(|index| [write(index * 1024, 1024), FLUSH]).collect::<Vec<_>>();
        let (_, commits) = run_all("journal commits_times=false commits_pages=true", &log(12));
        assert_eq!(commits, 3, "12 records of 1 KiB are in three pages");
    }

    #[test]
    fn a_write_with_fua_flushes_and_a_written_page_is_read_from_memory() {
        let synchronous = Request { fua: true, ..write(0, 4096) };
        let read = |offset_bytes| request(RequestKind::Read, offset_bytes, 4096);
        assert_eq!(run_all("journal", &[synchronous]), (vec![4], 1));
        assert_eq!(run_all("journal", &[write(0, 4096), read(0), read(8192)]), (vec![0, 0, 1], 0));
    }

    #[test]
    fn pages_in_memory_are_lost_by_a_power_cut_until_they_are_flushed() {
        let mut stack = Stack::new(&device(&["journal", MEDIUM]), 1).unwrap();
        run(&mut stack, &[write(0, 4096)], 1);
        let volatile: Vec<_> =
            stack.volatile().into_iter().map(|(layer, sums)| (layer, sums.lost_bytes)).collect();
        assert_eq!(volatile, [("journal", 4096)]);
        run(&mut stack, &[FLUSH], 1);
        assert!(stack.volatile().is_empty());
    }
}
