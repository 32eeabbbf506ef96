//! ZFS RAID-Z: each block is distributed over the drives with its own parity.
//!
//! The model (OpenZFS `vdev_raidz.c`, vdev_raidz_map_alloc): a block has as many columns as there
//! are drives, or fewer if it is short: parity first, then its data, each column a range of one
//! drive. It is padded to a multiple of parity + 1 sectors. With single parity, the parity column
//! and the first data column are exchanged in every other MiB, so that no drive has only parity. A
//! block with missing drives reads parity instead. Blocks are the requests of the file system
//! above, records or shorter ones; each is at its position within the sequence of records. In front
//! of each drive is a queue (`vdev_queue.rs`).
//!
//! An empty replacement drive is resilvered from all others, including parity (`vdev_queue.rs`).
//!
//! Not modelled: processor time for parity and checksums.
//!
//! A power cut loses all of a block written since the last flush if any drive would lose a part of
//! it.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Control, Layer, LayerKind};
use crate::ranges::{AtRisk, Ranges};
use crate::schema::ParameterScale;
use crate::settings::{Live, Setting};
use crate::vdev_queue::{QueueLimits, VdevSet};
use crate::vocabulary::page;
use crate::world::{Child, JobId, RequestKind, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Result, Text, text};
use std::collections::BTreeMap;

/// ZFS RAID-Z: `raidz` in device files.
pub const RAIDZ: LayerKind = LayerKind::new(page!("raidz"), "raidz", Below::Members, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "raidz" {
        "members": Count(2, 255), usual("3", "assumed");
        "parity" parity: Count(1, 3), needed;
        "record" record_bytes: Bytes(4096, 16 << 20),
            usual("128 KiB", "OpenZFS zfsprops(7): recordsize, default 128K").scaled(ParameterScale::PowersOfTwo);
        "sector" sector_bytes: Bytes(512, 4096),
            usual("4 KiB", "OpenZFS zpoolprops(7): ashift, 12 for drives of sectors of 4 KiB")
                .scaled(ParameterScale::PowersOfTwo);
        "reads" reads: Count(1, 1000),
            usual("10", "OpenZFS vdev_queue.c: zfs_vdev_sync_read_max_active; for asynchronous reads it is 3").live();
        "writes" writes: Count(1, 1000),
            usual("10", "OpenZFS vdev_queue.c: zfs_vdev_async_write_max_active").live();
        "joined" joined_bytes: SIZE,
            usual("1 MiB", "OpenZFS zfs(4): zfs_vdev_aggregation_limit").live();
        "state" state: Word(&["clean", "degraded"]), usual("clean", "assumed: all drives are sound");
    }
}

words! {
    struct Words from "raidz" {
        queue: line("queue");
        drive_reads: counter("drive-reads");
        drive_writes: counter("drive-writes");
        rebuilt_bytes: counter("rebuilt-bytes");
    }
}

/// With single parity, the bit of the offset that decides about the exchange.
const SWAP_SHIFT: u32 = 20;

/// Mapping of blocks to drives.
#[derive(Clone, Copy, Debug)]
struct RaidzMap {
    drives: u64,
    parity: u64,
    sector_bytes: u64,
    record_bytes: u64,
}

/// The range of a drive that belongs to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockColumn {
    drive: usize,
    offset_bytes: u64,
    length_bytes: u64,
    is_parity: bool,
}

impl RaidzMap {
    /// Returns the sectors that a block of this size occupies, including parity and padding.
    fn sectors(&self, bytes: u64) -> u64 {
        let data = bytes.div_ceil(self.sector_bytes);
        (data + self.parity * data.div_ceil(self.drives - self.parity)).next_multiple_of(self.parity + 1)
    }

    /// Returns the columns of a block that is within a record.
    fn columns(&self, offset_bytes: u64, bytes: u64) -> Vec<BlockColumn> {
        let record = offset_bytes / self.record_bytes;
        let within = offset_bytes % self.record_bytes / self.sector_bytes;
        let first = record * self.sectors(self.record_bytes) + within;
        let data = bytes.div_ceil(self.sector_bytes);
        let (rows, rest) = (data / (self.drives - self.parity), data % (self.drives - self.parity));
        let long = if rest == 0 { 0 } else { rest + self.parity };
        let count = if rows == 0 { long } else { self.drives };
        let mut columns: Vec<BlockColumn> = (0..count)
            .map(|column| BlockColumn {
                drive: ((first + column) % self.drives) as usize,
                offset_bytes: (first + column) / self.drives * self.sector_bytes,
                length_bytes: (rows + u64::from(column < long)) * self.sector_bytes,
                is_parity: column < self.parity,
            })
            .collect();
        if self.parity == 1 && (first * self.sector_bytes) >> SWAP_SHIFT & 1 == 1 && columns.len() > 1 {
            (columns[0].is_parity, columns[1].is_parity) = (false, true);
        }
        columns
    }
}

/// Length and write number of the written blocks, by offset.
type WrittenBlocks = BTreeMap<u64, (u64, u64)>;

#[derive(Clone)]
struct Raidz {
    drives: VdevSet,
    map: RaidzMap,
    values: Values,
    words: Words,
    /// Blocks written since the last flush started, and the blocks that each flush in progress
    /// covers.
    written: WrittenBlocks,
    flushing: BTreeMap<JobId, WrittenBlocks>,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let words = Words::new(builder);
    let mut drives = VdevSet::new(builder, words.queue, words.rebuilt_bytes);
    let map = RaidzMap {
        drives: drives.list.len() as u64,
        parity: values.parity,
        sector_bytes: values.sector_bytes,
        record_bytes: values.record_bytes,
    };
    if map.drives <= map.parity {
        let what = text!("there must be more drives than parity", "ドライブはパリティーの数より多く必要です");
        return Err(builder.error("members", &what));
    }
    let sectors = builder.below_bytes() / map.sector_bytes * map.drives;
    // A block may begin anywhere in the last record, so one record stays free.
    let records = (sectors / map.sectors(map.record_bytes)).saturating_sub(1);
    if records == 0 {
        let what =
            text!("a drive is smaller than a record", "ドライブの容量がレコードより小さくなっています");
        return Err(builder.error("record", &what));
    }
    if values.state == "degraded" {
        drives.fail(Control::FailMember(0)).map_err(|what| builder.error("state", &what))?;
    }
    let (written, flushing) = (BTreeMap::new(), BTreeMap::new());
    let raidz = Raidz { drives, map, values, words, written, flushing };
    Ok(Built::new(raidz, records * map.record_bytes))
}

impl Raidz {
    fn is_offline(&self) -> bool {
        (self.drives.list.len() - self.drives.sound) as u64 > self.map.parity
    }

    /// Returns the columns of a block that are read or written.
    fn asked(&self, kind: RequestKind, mut columns: Vec<BlockColumn>) -> Vec<BlockColumn> {
        let filled = self.drives.filled().filter(|_| kind != RequestKind::Read);
        let failed =
            |column: &BlockColumn| self.drives.list[column.drive].failed && filled != Some(column.drive);
        // Failed data columns are computed from as many parity columns.
        let mut parity = match kind {
            RequestKind::Read => columns.iter().filter(|column| !column.is_parity && failed(column)).count(),
            _ => usize::MAX,
        };
        columns.retain(|column| {
            let is_asked = !failed(column) && (!column.is_parity || parity > 0);
            parity -= usize::from(is_asked && column.is_parity);
            is_asked
        });
        columns
    }

    fn spread(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let (mut at, end) = (request.offset_bytes, request.end_bytes());
        let mut asked = Vec::new();
        while at < end {
            let next = end.min((at / self.map.record_bytes + 1) * self.map.record_bytes);
            asked.extend(self.asked(request.kind, self.map.columns(at, next - at)));
            if request.kind.writes() && !request.fua {
                self.written.insert(at, (next - at, request.number));
            }
            at = next;
        }
        let counter =
            if request.kind == RequestKind::Read { self.words.drive_reads } else { self.words.drive_writes };
        world.count(counter, asked.len() as u64);
        self.drives.open.insert(job, asked.len() as u64);
        for column in &asked {
            let request = request.at(column.offset_bytes, column.length_bytes as u32);
            self.drives.list[column.drive].push(job, request);
        }
        for column in asked {
            self.drives.feed(column.drive, self.limits(), world);
        }
    }

    fn limits(&self) -> QueueLimits {
        let Values { reads, writes, joined_bytes, .. } = self.values;
        QueueLimits { reads, writes, joined_bytes }
    }
}

impl Layer for Raidz {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        if self.is_offline() {
            return world.fail(job, ErrorNumber::IO);
        }
        let request = world.request(job);
        match request.kind {
            RequestKind::Flush => {
                self.flushing.insert(job, std::mem::take(&mut self.written));
                self.drives.open.insert(job, self.drives.sound as u64);
                let drives = self.drives.list.iter_mut().enumerate();
                for (index, drive) in drives.filter(|(_, drive)| !drive.failed) {
                    drive.pass(index, job, request, world);
                }
            }
            RequestKind::Trim => world.finish(job),
            _ if request.length_bytes == 0 => world.finish(job),
            RequestKind::WriteZeroes => {
                world.write_as_data(job);
                self.spread(job, world);
            }
            RequestKind::Read | RequestKind::Write => self.spread(job, world),
        }
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        for job in self.drives.returned(&child, self.limits(), world) {
            self.flushing.remove(&job);
        }
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.drives.open.is_empty()).then(|| text!("a drive of the pool", "プールのドライブ"))
    }

    /// Requests queued at a failing drive are still sent: they return, like those in flight.
    fn control(&mut self, control: Control, world: &mut World) -> Result<(), Text> {
        self.drives.fail(control)?;
        if !self.is_offline() {
            self.drives.fill(control, usize::MAX, world);
        }
        Ok(())
    }

    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        let sound: Vec<bool> = self.drives.list.iter().map(|drive| !drive.failed).collect();
        let is_at_stake = |ranges: fn(&AtRisk) -> &Ranges, columns: &[BlockColumn], number: u64| {
            columns.iter().filter(|column| sound[column.drive]).any(|column| {
                let (from, to) = (column.offset_bytes, column.offset_bytes + column.length_bytes);
                ranges(&below[column.drive]).within(from, to).any(|(.., oldest)| oldest <= number)
            })
        };
        let mut all = AtRisk::default();
        for (at, (bytes, number)) in self.flushing.values().chain([&self.written]).flatten() {
            let columns = self.map.columns(*at, *bytes);
            if is_at_stake(|risk| &risk.lost, &columns, *number) {
                all.lost.add(*at, at + bytes, *number);
            } else if is_at_stake(|risk| &risk.saved, &columns, *number) {
                all.saved.add(*at, at + bytes, *number);
            }
        }
        for (from, to, _) in all.lost.iter() {
            all.saved.cut(from, to);
        }
        vec![all]
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, device, request, run, settle};
    use crate::stack::Stack;
    use crate::world::Request;
    use proptest::prelude::*;

    const DRIVE: &str = "constant capacity=64_MiB access=1_ms rate=1000_TB/s parallel=1";

    fn pool(members: u64, parity: u64, extra: &str) -> Stack {
        let raidz = format!("raidz members={members} parity={parity} {extra}");
        Stack::new(&device(&[&raidz, DRIVE]), 1).unwrap()
    }

    fn map(drives: u64, parity: u64) -> RaidzMap {
        RaidzMap { drives, parity, sector_bytes: 4096, record_bytes: 128 << 10 }
    }

    /// Allocated sizes of OpenZFS for sectors of 4 KiB (vdev_raidz_asize): the data, parity for
    /// every row of them, and padding to a multiple of parity + 1.
    #[test]
    fn a_block_takes_its_data_its_parity_and_padding() {
        let taken = |drives, parity, bytes| map(drives, parity).sectors(bytes);
        assert_eq!([taken(3, 1, 128 << 10), taken(6, 2, 128 << 10)], [48, 48]);
        assert_eq!([taken(3, 1, 4096), taken(6, 2, 4096), taken(5, 3, 4096)], [2, 3, 4]);
        assert_eq!([taken(5, 1, 12 << 10), taken(6, 2, 20 << 10)], [4, 9]);
    }

    #[test]
    fn columns_of_a_block_are_as_long_as_its_data_need() {
        let of = |drives, parity, at, bytes| {
            let columns = map(drives, parity).columns(at, bytes);
            let bytes = |is_parity| {
                let of = columns.iter().filter(|column| column.is_parity == is_parity);
                of.map(|column| column.length_bytes).collect::<Vec<_>>()
            };
            (bytes(true), bytes(false))
        };
        assert_eq!(of(3, 1, 0, 128 << 10), (vec![65_536], vec![65_536; 2]));
        assert_eq!(of(6, 2, 0, 128 << 10), (vec![32_768; 2], vec![32_768; 4]));
        assert_eq!(of(6, 2, 0, 4096), (vec![4096; 2], vec![4096]));
        // 13 sectors over three data drives: five, four and four; parity is as long as the longest.
        assert_eq!(of(4, 1, 0, 13 * 4096), (vec![20_480], vec![20_480, 16_384, 16_384]));
    }

    proptest! {
        /// Consecutive blocks share no byte of a drive.
        #[test]
        fn records_lie_apart(drives in 2u64..9, parity in 1u64..4, first in 0u64..400) {
            prop_assume!(drives > parity);
            let map = map(drives, parity);
            let mut used = Ranges::default();
            for record in first..first + 20 {
                let columns = map.columns(record * map.record_bytes, map.record_bytes);
                let data_columns = columns.iter().filter(|column| !column.is_parity);
                let data: u64 = data_columns.map(|column| column.length_bytes).sum();
                prop_assert_eq!(data, map.record_bytes);
                for column in columns {
                    let from = (column.drive as u64) << 40 | column.offset_bytes;
                    prop_assert_eq!(used.add(from, from + column.length_bytes, 1), column.length_bytes);
                }
            }
        }
    }

    #[test]
    fn a_pool_without_a_drive_reads_parity_and_comes_back_by_a_resilver() {
        let mut stack = pool(4, 1, "");
        let mut reads = |control: Option<Control>| {
            if let Some(control) = control {
                stack.control("raidz", control).unwrap();
                settle(&mut stack);
            }
            run(&mut stack, &[request(RequestKind::Read, 0, 128 << 10)], 1);
            let account = account(&mut stack);
            account.counts.iter().find(|count| count.counter == "drive-reads").unwrap().count
        };
        assert_eq!(reads(None), 3);
        assert_eq!(reads(Some(Control::FailMember(1))), 3, "parity instead of data");
        assert_eq!(reads(Some(Control::RebuildMember(1, 0))), 3);
        // Drive 0 has the parity of this record: without it, no other column is read.
        assert_eq!(reads(Some(Control::FailMember(0))), 3);
        stack.control("raidz", Control::FailMember(1)).unwrap();
        stack.submit(stack.now_ns(), request(RequestKind::Read, 0, 4096), 0);
        settle(&mut stack);
        assert!(stack.take_completion().unwrap().outcome.is_err());
    }

    #[test]
    fn what_adjoins_in_the_queue_goes_down_as_one_command() {
        let writes: Vec<Request> =
            (0..32).map(|index| request(RequestKind::Write, index * (128 << 10), 128 << 10)).collect();
        let last_ms = |extra: &str| run(&mut pool(3, 1, extra), &writes, 32).last().unwrap() / 1_000_000;
        // Ten go down at once and take a millisecond each; the other 22 go as two commands of at
        // most 1 MiB.
        assert_eq!(last_ms(""), 12);
        assert_eq!(last_ms("joined=0_B"), 32);
    }
}
