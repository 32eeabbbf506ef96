//! ZFS as seen by a sequential reader: records and prefetch.
//!
//! The model (OpenZFS `dmu_zfetch.c`): requests are split at records, which go down in parallel. A
//! read that begins at the end of an earlier one continues a stream; the distance to which records
//! are prefetched doubles with each of its reads, up to `ahead`. Prefetched records are kept until
//! they are read, or until twice as many others have arrived as fit into `ahead` for every stream.
//! So with several drives below, each is busy although the reader waits for one record at a time. A
//! read that waits for a record in flight waits for whatever that waits for. A request shorter than
//! a record represents a small block and goes down unchanged.
//!
//! With `txg` above 0, writes are acknowledged from memory and go down in transaction groups
//! (`zfs/groups.rs`); otherwise they go down immediately.
//!
//! Not modelled: the cache for repeated reads (a test with an empty cache reads everything once),
//! compression, checksums, and the new location of rewritten blocks: here they stay where they are,
//! so that small random writes cost the drives more than in ZFS.

mod groups;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::ranges::AtRisk;
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, OpenParts, RequestKind, World, is_last_part};
use groups::Groups;
use kurabe_core::{Result, Text, text};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// ZFS: `zfs` in device files.
pub const ZFS: LayerKind = LayerKind::new(page!("zfs"), "zfs", Below::One, PARAMETERS, build).of_host();

parameters! {
    struct Values, PARAMETERS from "zfs" {
        "record" record_bytes: Bytes(512, 16 << 20),
            usual("128 KiB", "OpenZFS zfsprops(7): recordsize, default 128K");
        "ahead" ahead_bytes: Bytes(0, 1 << 30), usual("8 MiB", "OpenZFS dmu_zfetch.c: zfetch_max_distance");
        "streams" streams: Count(1, 256), usual("8", "OpenZFS dmu_zfetch.c: zfetch_max_streams");
        "txg" txg_ns: Time,
            usual("0 s", "assumed: a program that waits for what it writes, so that writes go down as \
                they come; OpenZFS zfs(4) has 5 s (zfs_txg_timeout)");
        "dirty_max" dirty_max_bytes: Bytes(1 << 20, 1 << 40),
            usual("1.6 GiB", "OpenZFS zfs(4): zfs_dirty_data_max, a tenth of the memory of a computer \
                with 16 GiB").live();
        "memory_rate" memory_bytes_per_s: Rate,
            usual("4 GB/s", "assumed: a core that copies, and computes a checksum").live();
    }
}

#[derive(Clone, Copy)]
struct PrefetchStream {
    /// Start of its next read.
    next_bytes: u64,
    /// Records before this one were requested.
    until_record: u64,
    window_bytes: u64,
}

#[derive(Clone, Default)]
struct Record {
    is_here: bool,
    waiting: Vec<JobId>,
}

#[derive(Clone, Default)]
struct Zfs {
    below: LayerId,
    below_bytes: u64,
    capacity_bytes: u64,
    most_records: usize,
    /// The most recent reader is last.
    streams: Vec<PrefetchStream>,
    records: BTreeMap<u64, Record>,
    /// Records in order of arrival.
    came: VecDeque<u64>,
    /// Number of pieces that each request still waits for.
    open: OpenParts,
    groups: Groups,
    values: Values,
    words: Words,
}

words! {
    struct Words from "zfs" {
        memory_busy: line("memory-busy");
        memory: cause("memory");
        full: cause("memory-full");
        hits: counter("hits");
        read_ahead: counter("read-ahead");
        groups: counter("groups");
        logged_bytes: counter("logged-bytes");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let mut capacity_bytes = builder.below_bytes();
    if values.txg_ns > 0 {
        capacity_bytes -= groups::slop_bytes(capacity_bytes);
    }
    let zfs = Zfs {
        below: builder.only_below(),
        below_bytes: builder.below_bytes(),
        capacity_bytes,
        most_records: (2 * values.streams * (values.ahead_bytes / values.record_bytes)) as usize,
        values,
        words: Words::new(builder),
        ..Zfs::default()
    };
    Ok(Built::new(zfs, capacity_bytes))
}

impl Zfs {
    fn read(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let mut open = 0;
        let mut offset_bytes = request.offset_bytes;
        while offset_bytes < request.end_bytes() {
            let record = offset_bytes / self.values.record_bytes;
            let end_bytes = request.end_bytes().min((record + 1) * self.values.record_bytes);
            match self.records.get_mut(&record) {
                Some(state) if state.is_here => {
                    world.count(self.words.hits, 1);
                    if end_bytes == (record + 1) * self.values.record_bytes {
                        self.records.remove(&record);
                    }
                }
                Some(coming) => {
                    coming.waiting.push(job);
                    open += 1;
                }
                None => {
                    let piece = request.at(offset_bytes, (end_bytes - offset_bytes) as u32);
                    world.send(job, self.below, piece, 0);
                    open += 1;
                }
            }
            offset_bytes = end_bytes;
        }
        if open == 0 {
            world.finish(job);
        } else {
            self.open.insert(job, open);
        }
        if self.values.ahead_bytes >= self.values.record_bytes {
            self.look_ahead(job, world);
        }
    }

    fn look_ahead(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let index = self.streams.iter().position(|stream| stream.next_bytes == request.offset_bytes);
        let stream = match index.map(|index| self.streams.remove(index)) {
            Some(stream) => self.extend(stream, job, world),
            None => {
                if self.streams.len() as u64 >= self.values.streams {
                    self.streams.remove(0);
                }
                let until_record = request.end_bytes().div_ceil(self.values.record_bytes);
                PrefetchStream {
                    next_bytes: request.end_bytes(),
                    until_record,
                    window_bytes: self.values.record_bytes,
                }
            }
        };
        self.streams.push(stream);
    }

    /// Prefetches for a stream that continued.
    fn extend(&mut self, mut stream: PrefetchStream, job: JobId, world: &mut World) -> PrefetchStream {
        let request = world.request(job);
        stream.next_bytes = request.end_bytes();
        let grown = stream.window_bytes.max(u64::from(request.length_bytes)).saturating_mul(2);
        stream.window_bytes = grown.min(self.values.ahead_bytes);
        let reach = request.end_bytes().saturating_add(stream.window_bytes).min(self.capacity_bytes);
        let first = stream.until_record.max(request.end_bytes().div_ceil(self.values.record_bytes));
        for record in first..reach / self.values.record_bytes {
            if let Entry::Vacant(place) = self.records.entry(record) {
                place.insert(Record::default());
                world.count(self.words.read_ahead, 1);
                let piece = request.at(record * self.values.record_bytes, self.values.record_bytes as u32);
                world.send_in_background(self.below, piece, record + 1);
            }
            stream.until_record = record + 1;
        }
        stream
    }

    /// Records that a request has one piece less to wait for.
    fn came(&mut self, job: JobId, world: &mut World) {
        if is_last_part(&mut self.open, job) {
            world.finish(job);
        }
    }

    fn came_ahead(&mut self, number: u64, failed: bool, world: &mut World) {
        let Some(record) = self.records.get_mut(&number) else { return };
        record.is_here = true;
        let mut is_read = failed;
        for job in std::mem::take(&mut record.waiting) {
            world.charge_as_returned(job);
            is_read |= world.request(job).end_bytes() >= (number + 1) * self.values.record_bytes;
            self.came(job, world);
        }
        if is_read {
            self.records.remove(&number);
        }
        self.came.push_back(number);
        while self.came.len() > self.most_records {
            let oldest = self.came.pop_front();
            if let Some(oldest) =
                oldest.filter(|oldest| self.records.get(oldest).is_some_and(|old| old.is_here))
            {
                self.records.remove(&oldest);
            }
        }
    }
}

impl Layer for Zfs {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        match request.kind {
            RequestKind::Read if self.has_in_memory(&request) => {
                let end_ns = self.copy(job, world);
                world.finish_at(end_ns, job);
            }
            RequestKind::Read => self.read(job, world),
            RequestKind::Write | RequestKind::WriteZeroes if self.values.txg_ns > 0 => {
                self.write_to_memory(job, world);
            }
            RequestKind::Flush if self.values.txg_ns > 0 => self.commit(job, world),
            RequestKind::Write | RequestKind::WriteZeroes => {
                let (first, end) = (request.offset_bytes, request.end_bytes());
                if first == end {
                    return world.finish(job);
                }
                let pieces = end.div_ceil(self.values.record_bytes) - first / self.values.record_bytes;
                self.open.insert(job, pieces);
                let mut offset_bytes = first;
                while offset_bytes < end {
                    let next =
                        end.min((offset_bytes / self.values.record_bytes + 1) * self.values.record_bytes);
                    world.send(job, self.below, request.at(offset_bytes, (next - offset_bytes) as u32), 0);
                    offset_bytes = next;
                }
            }
            RequestKind::Flush | RequestKind::Trim => world.send(job, self.below, request, 0),
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        match child.parent {
            Some(job) if child.tag == groups::LOG => self.logged(job, world),
            Some(job) => self.came(job, world),
            None if child.tag == groups::GROUP => {
                self.group_came(u64::from(child.request.length_bytes), world);
            }
            None => self.came_ahead(child.tag - 1, child.error.is_some(), world),
        }
    }

    fn wake(&mut self, _token: u64, world: &mut World) {
        self.groups.timer_runs = false;
        self.begin_group(world);
    }

    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        self.groups.at_risk()
    }

    /// The log is beyond the addresses visible to users.
    fn lift(&self, mut below: Vec<AtRisk>) -> Vec<AtRisk> {
        for risk in &mut below {
            for ranges in [&mut risk.lost, &mut risk.saved] {
                ranges.cut(self.capacity_bytes, u64::MAX);
            }
        }
        below
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.open.is_empty()).then(|| text!("the pool below", "下のプール"))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::device;
    use crate::link::laws::{last_ns, request};
    use crate::world::{Request, RequestKind};

    const DRIVE: &str = "constant capacity=1_GiB access=1_ms rate=100_MB/s";

    fn reads(block: u32, count: u64) -> Vec<Request> {
        (0..count).map(|index| request(RequestKind::Read, 0, index * u64::from(block), block)).collect()
    }

    #[test]
    fn reading_ahead_lets_all_drives_work_for_one_reader() {
        let four = "constant capacity=1_GiB access=0_ns rate=100_MB/s parallel=4";
        let rate = |zfs: &str, block: u32, count: u64| {
            let last_ns = last_ns(&device(&[zfs, four]), 1, &reads(block, count));
            (u64::from(block) * count) as f64 * 1e3 / last_ns as f64
        };
        for (block, count) in [(32 << 10, 2048), (128 << 10, 512), (1 << 20, 64)] {
            let ahead = rate("zfs", block, count);
            assert!(ahead > 370.0 && ahead <= 400.0, "{block}: {ahead}");
        }
        let alone = rate("zfs ahead=0_B", 128 << 10, 512);
        assert!((99.0..=100.0).contains(&alone), "{alone}");
    }

    #[test]
    fn who_waits_for_a_record_on_its_way_waits_for_what_that_waits_for() {
        let mut stack = crate::stack::Stack::new(&device(&["zfs", DRIVE]), 1).unwrap();
        for (token, request) in reads(128 << 10, 100).into_iter().enumerate() {
            stack.submit(stack.now_ns(), request, token as u64);
            while stack.take_completion().is_none() {
                stack.advance(stack.next_wake_ns().unwrap());
            }
        }
        let account = stack.take_account();
        let of_drive =
            account.shares.iter().filter(|share| share.layer == "constant").map(|share| share.time_ns);
        assert_eq!(of_drive.sum::<u64>(), account.latency_ns, "{:?}", account.shares);
    }

    #[test]
    fn short_reads_here_and_there_go_down_as_they_are() {
        let requests: Vec<Request> =
            (0..50).map(|index| request(RequestKind::Read, 0, index * 997 % 1000 * 65_536, 4096)).collect();
        assert_eq!(last_ns(&device(&["zfs", DRIVE]), 1, &requests), last_ns(&device(&[DRIVE]), 1, &requests));
    }

    #[test]
    fn what_is_read_ahead_is_read_once() {
        let mut stack = crate::stack::Stack::new(&device(&["zfs", DRIVE]), 1).unwrap();
        for (token, request) in reads(64 << 10, 400).into_iter().enumerate() {
            stack.submit(stack.now_ns(), request, token as u64);
            while stack.take_completion().is_none() {
                stack.advance(stack.next_wake_ns().unwrap());
            }
        }
        // 200 records and those prefetched beyond the last of them, each only once.
        while let Some(at_ns) = stack.next_wake_ns() {
            stack.advance(at_ns);
        }
        let longest_ns = (200 + 64 + 2) * (1_000_000 + 1_310_720);
        assert!(stack.now_ns() <= longest_ns, "{}", stack.now_ns());
    }
}
