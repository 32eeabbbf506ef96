//! A ZFS mirror: every drive has all data, writes go to all drives, and a read to the drive with
//! the lowest load.
//!
//! The model (OpenZFS `vdev_mirror.c`, for rotational drives): the load of a drive is the number of
//! its commands in flight, plus nothing if the read begins where its last command ended, half of
//! `seek_load` within `seek_near` of that position, and all of it otherwise. The drive with the
//! lowest load is selected; among equals the offset decides, in units of 2 MiB, as in the source
//! (not round robin). In front of each drive is a queue (`vdev_queue.rs`). A write ends with the
//! last drive. A flush goes to all drives. With one drive below, only the queue remains: a pool of
//! a single drive. A failed drive is skipped; without any drive left, requests fail. An empty
//! replacement is resilvered from the first drive without a failure (`vdev_queue.rs`).
//!
//! Not modelled: merging of adjoining requests (a record of 128 KiB is already the most that
//! FreeBSD 12 merges), the order of priorities within a queue, and repair.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Control, Layer, LayerKind};
use crate::ranges::{AtRisk, Ranges};
use crate::settings::{Live, Setting};
use crate::vdev_queue::{QueueLimits, VdevQueue, VdevSet};
use crate::vocabulary::page;
use crate::world::{Child, JobId, RequestKind, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Result, Text, text};

/// ZFS mirror: `mirror` in device files.
pub const MIRROR: LayerKind = LayerKind::new(page!("mirror"), "mirror", Below::Members, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "mirror" {
        "members": Count(1, 64), usual("1", "assumed: one shared bus, whose drives are the copies");
        "seek_load" seek_load: Count(0, 1_000_000),
            usual("5", "OpenZFS vdev_mirror.c: zfs_vdev_mirror_rotating_seek_inc").live();
        "seek_near" seek_near_bytes: SIZE,
            usual("1 MiB", "OpenZFS vdev_mirror.c: zfs_vdev_mirror_rotating_seek_offset").live();
        "reads" reads: Count(1, 1000),
            usual("10", "OpenZFS vdev_queue.c: zfs_vdev_sync_read_max_active; for asynchronous reads it is 3").live();
        "writes" writes: Count(1, 1000),
            usual("10", "OpenZFS vdev_queue.c: zfs_vdev_async_write_max_active").live();
    }
}

/// Among drives of equal load the offset decides, in units of 2 MiB (`vdev_mirror_shift`).
const PLACE_SHIFT: u32 = 21;

#[derive(Clone)]
struct Mirror {
    drives: VdevSet,
    /// Drives with the lowest load; a field, to avoid an allocation for each read.
    least: Vec<usize>,
    values: Values,
    words: Words,
}

words! {
    struct Words from "mirror" {
        queue: line("queue");
        near: counter("near");
        far: counter("far");
        rebuilt_bytes: counter("rebuilt-bytes");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let words = Words::new(builder);
    let drives = VdevSet::new(builder, words.queue, words.rebuilt_bytes);
    Ok(Built::new(Mirror { drives, least: Vec::new(), values, words }, builder.below_bytes()))
}

impl Mirror {
    /// Selects the drive for a read.
    fn choose(&mut self, offset_bytes: u64, world: &mut World) -> usize {
        let mut lowest = (u64::MAX, 0);
        self.least.clear();
        for (index, drive) in self.drives.list.iter().enumerate().filter(|(_, drive)| !drive.failed) {
            let seek = match drive.last_end_bytes.abs_diff(offset_bytes) {
                0 => 0,
                distance if distance < self.values.seek_near_bytes => self.values.seek_load / 2,
                _ => self.values.seek_load,
            };
            let load = drive.in_flight[0] + drive.in_flight[1] + seek;
            if load < lowest.0 {
                lowest = (load, seek);
                self.least.clear();
            }
            if load == lowest.0 {
                self.least.push(index);
            }
        }
        let seeks = self.values.seek_load > 0 && lowest.1 == self.values.seek_load;
        world.count(if seeks { self.words.far } else { self.words.near }, 1);
        let place = (offset_bytes >> PLACE_SHIFT) as usize % self.least.len().max(1);
        self.least.get(place).copied().unwrap_or(0)
    }

    fn limits(&self) -> QueueLimits {
        QueueLimits { reads: self.values.reads, writes: self.values.writes, joined_bytes: 0 }
    }
}

impl Layer for Mirror {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        if self.drives.sound == 0 {
            return world.fail(job, ErrorNumber::IO);
        }
        if request.kind == RequestKind::Read {
            let index = self.choose(request.offset_bytes, world);
            self.drives.list[index].push(job, request);
            return self.drives.feed(index, self.limits(), world);
        }
        let filled = self.drives.filled();
        self.drives.open.insert(job, (self.drives.sound + usize::from(filled.is_some())) as u64);
        for index in 0..self.drives.list.len() {
            let drive = &mut self.drives.list[index];
            if drive.failed && filled != Some(index) {
                continue;
            }
            if request.kind.writes() {
                drive.push(job, request);
                self.drives.feed(index, self.limits(), world);
            } else {
                drive.pass(index, job, request, world);
            }
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        self.drives.returned(&child, self.limits(), world);
    }

    /// A read that waits at a failing drive goes to another one; a write completes without it.
    fn control(&mut self, control: Control, world: &mut World) -> Result<(), Text> {
        let index = self.drives.fail(control)?;
        let drive = &mut self.drives.list[index];
        let (reads, writes) = (drive.take_waiting(false), drive.take_waiting(true));
        let is_lost = self.drives.sound == 0;
        for job in writes {
            if !is_lost {
                self.drives.came(job, world);
            } else if self.drives.open.remove(&job).is_some() {
                world.fail(job, ErrorNumber::IO);
            }
        }
        reads.into_iter().for_each(|job| self.arrive(job, world));
        if !is_lost {
            self.drives.fill(control, 1, world);
        }
        Ok(())
    }

    /// Data that any drive has are not at risk.
    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        let drives = below.into_iter().zip(&self.drives.list).filter(|(_, drive)| !drive.failed);
        let mut drives = drives.map(|(risk, _)| risk);
        let Some(mut all) = drives.next() else { return Vec::new() };
        for drive in drives {
            let any = |risk: &AtRisk| risk.lost.iter().chain(risk.saved.iter()).collect::<Ranges>();
            let (one, other) = (any(&all), any(&drive));
            all = AtRisk { lost: all.lost.both(&drive.lost), saved: one.both(&other) };
            for (from, to, _) in all.lost.iter().collect::<Vec<_>>() {
                all.saved.cut(from, to);
            }
        }
        vec![all]
    }

    fn waits_for(&self) -> Option<Text> {
        let waits = self.drives.list.iter().any(VdevQueue::has_waiting);
        (waits || !self.drives.open.is_empty()).then(|| text!("a drive of the mirror", "ミラーのドライブ"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use super::Control;
    use crate::fixture::device;
    use crate::link::laws::{any_requests, ends_ns, last_ns, request};
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};
    use proptest::prelude::*;

    const DRIVE: &str = "constant capacity=1_GiB access=1_ms rate=100_MB/s";

    fn counted(spec: &crate::DeviceSpec, requests: &[Request], counter: &str) -> u64 {
        let mut stack = Stack::new(spec, 1).unwrap();
        for (token, request) in requests.iter().enumerate() {
            stack.submit(stack.now_ns(), *request, token as u64);
            while stack.take_completion().is_none() {
                stack.advance(stack.next_wake_ns().unwrap());
            }
        }
        let account = stack.take_account();
        account.counts.iter().find(|count| count.counter == counter).map_or(0, |count| count.count)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Writes take as long as on one drive: each drive has all of them, and the slowest ends
        /// them. Reads are never slower than on one drive.
        #[test]
        fn a_mirror_writes_as_one_drive_and_reads_no_slower(
            depth in 1usize..8, copies in 2u32..5, requests in any_requests(1),
        ) {
            let mirror = device(&[&format!("mirror members={copies}"), DRIVE]);
            let one = device(&["mirror", DRIVE]);
            let writes: Vec<Request> =
                requests.iter().filter(|request| request.kind == RequestKind::Write).copied().collect();
            prop_assert_eq!(ends_ns(&mirror, depth, &writes), ends_ns(&one, depth, &writes));
            let reads: Vec<Request> =
                requests.iter().filter(|request| request.kind == RequestKind::Read).copied().collect();
            prop_assert!(last_ns(&mirror, depth, &reads) <= last_ns(&one, depth, &reads));
        }
    }

    #[test]
    fn on_a_bus_with_one_command_each_copy_of_a_write_is_paid_for() {
        let box_of = |drives: u32| {
            let usb = format!("usb generation=usb-3 protocol=bot members={drives} gap=0_ns");
            let spec = device(&["mirror", &usb, "constant capacity=1_GiB access=10_ms rate=10_GB/s"]);
            let read = last_ns(&spec, 1, &[request(RequestKind::Read, 0, 0, 4096)]);
            (last_ns(&spec, 1, &[request(RequestKind::Write, 0, 0, 4096)]), read)
        };
        let ((one_write, one_read), (three_writes, read)) = (box_of(1), box_of(3));
        assert_eq!(three_writes, 3 * one_write);
        assert_eq!(read, one_read);
    }

    #[test]
    fn a_read_goes_where_the_last_command_ended() {
        // Two readers far apart: after the first read of each, every drive keeps serving its
        // reader.
        let spec = device(&["mirror members=3", DRIVE]);
        let turns: Vec<Request> = (0..40)
            .map(|turn| {
                request(RequestKind::Read, 0, (turn % 2) * (512 << 20) + (turn / 2) * 131_072, 131_072)
            })
            .collect();
        assert_eq!(counted(&spec, &turns, "far"), 1);
        assert_eq!(counted(&spec, &turns, "near"), 39);
        // A single drive seeks on every read.
        assert_eq!(counted(&device(&["mirror", DRIVE]), &turns, "far"), 39);
    }

    #[test]
    fn a_mirror_goes_on_without_drives_that_failed_until_none_is_left() {
        let mut stack = Stack::new(&device(&["mirror members=2 writes=1", DRIVE]), 1).unwrap();
        let mut end = |control: Option<usize>, kinds: &[RequestKind]| {
            for kind in kinds {
                stack.submit(stack.now_ns(), request(*kind, 0, 0, 4096), 0);
            }
            if let Some(drive) = control {
                stack.control("mirror", Control::FailMember(drive)).unwrap();
            }
            let started_ns = stack.now_ns();
            while let Some(at_ns) = stack.next_wake_ns() {
                stack.advance(at_ns);
            }
            let ends: Vec<_> = std::iter::from_fn(|| stack.take_completion()).collect();
            assert_eq!((ends.len(), stack.in_flight()), (kinds.len(), 0));
            (ends.iter().filter(|done| done.outcome.is_ok()).count(), stack.now_ns() - started_ns)
        };
        // Two concurrent reads go to one drive each, or one after another to the remaining drive.
        let read_ns = 1_000_000 + 40_960;
        assert_eq!(end(None, &[RequestKind::Read; 2]), (2, read_ns));
        assert_eq!(end(Some(1), &[]), (0, 0));
        assert_eq!(end(None, &[RequestKind::Read; 2]), (2, 2 * read_ns));
        // The write that is already at the last drive returns; the one queued behind it fails.
        assert_eq!(end(Some(0), &[RequestKind::Write; 2]).0, 1);
        assert_eq!(end(None, &[RequestKind::Read, RequestKind::Write, RequestKind::Flush]).0, 0);
    }

    #[test]
    fn an_empty_drive_is_filled_and_has_what_is_written_meanwhile() {
        let mut stack = Stack::new(
            &device(&["mirror members=2", "constant capacity=8_MiB access=1_ms rate=1000_TB/s parallel=1"]),
            1,
        )
        .unwrap();
        stack.control("mirror", Control::RebuildMember(1, 0)).unwrap();
        let writes = [request(RequestKind::Write, 0, 0, 4096)];
        for write in writes {
            stack.submit(stack.now_ns(), write, 0);
        }
        while let Some(at_ns) = stack.next_wake_ns() {
            stack.advance(at_ns);
        }
        // Eight ranges of 1 MiB, each read and written, three in flight: the last one ends behind
        // at least nine commands of a drive.
        assert!(stack.take_completion().is_some() && (9..=12).contains(&(stack.now_ns() / 1_000_000)));
        stack.control("mirror", Control::FailMember(0)).unwrap();
        stack.submit(stack.now_ns(), request(RequestKind::Read, 0, 0, 4096), 0);
        stack.advance(stack.next_wake_ns().unwrap());
        assert!(stack.take_completion().unwrap().outcome.is_ok());
    }

    #[test]
    fn a_flush_goes_to_all_drives() {
        let spec = device(&["mirror", "usb generation=usb-3 protocol=bot members=3", DRIVE]);
        assert!(last_ns(&spec, 1, &[request(RequestKind::Flush, 0, 0, 0)]) > 3_000_000);
    }
}
