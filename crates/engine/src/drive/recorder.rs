//! Records operations.
//!
//! For each kind of operation there is a histogram and a byte count. There is also a current
//! interval of 100 ms, which is appended to the series when it is over, and a list of operations
//! that took far longer than the median. One completion costs a histogram increment, a few
//! additions and comparisons. With one operation in flight, the first slow operations are
//! stored with their offsets. The dependence of their times on position and distance distinguishes
//! traversal of a cluster chain from seeks.
//!
//! A gap without completions is detected through the operations in flight during it. In a closed
//! loop there always are some, and in an open loop their latency is measured from the due time.

use kurabe_core::record::{Interval, OpsRecord, Repetition, Sample, Series, Stall};
use kurabe_core::workload::{Op, OpKind};
use kurabe_stats::Histogram;
use std::sync::mpsc::Sender;

/// Length of an interval of the series, in ns.
pub const INTERVAL_NS: u64 = 100_000_000;
/// An operation is a stall if it takes this many times the median of its kind …
pub const STALL_MEDIANS: u64 = 20;
/// … and at least this long, in ns. Shorter delays can't be distinguished from operating-system
/// scheduling.
pub const STALL_AT_LEAST_NS: u64 = 10_000_000;
/// Maximum number of stalls stored with their details. Further ones are only counted.
const STALLS_KEPT: usize = 256;
/// Number of slow operations stored with their offsets. Together with the other repetitions of a
/// cell, this is sufficient to fit a line …
const PLACES_KEPT: usize = 16;
/// … if they take at least this long, in ns. Rotating media and chain traversal take that long;
/// other operations don't.
const PLACED_AT_LEAST_NS: u64 = 1_000_000;
/// A stall is always such an operation, so faster ones need one comparison.
const _: () = assert!(PLACED_AT_LEAST_NS <= STALL_AT_LEAST_NS);
/// Maximum number of intervals stored: 10 hours, which limits memory regardless of the length of
/// the run.
const INTERVALS_KEPT: usize = 360_000;

/// Counters of one kind of operation.
#[derive(Default)]
struct OperationTally {
    submitted: u64,
    failed: u64,
    bytes: u64,
    latency: Histogram,
    stall_threshold_ns: u64,
    /// Bytes, operations and highest latency of the current interval.
    interval_bytes: u64,
    operations: u32,
    worst_ns: u64,
}

impl OperationTally {
    fn to_record(&self) -> OpsRecord {
        let latency = self.latency.to_record();
        OpsRecord {
            submitted: self.submitted,
            completed: latency.count,
            failed: self.failed,
            bytes: self.bytes + self.interval_bytes,
            latency,
        }
    }
}

/// Receives every recorded operation of a driver's loop. Times are in ns from the start of
/// recording.
pub trait Observer {
    /// An operation is submitted to the device with the buffer of this slot.
    fn submitted(&mut self, kind: OpKind, slot: usize, issued_ns: u64);

    /// An operation completed in full. Its latency starts at `started_ns`, which is the due time in
    /// an open loop.
    fn completed(&mut self, op: Op, slot: usize, started_ns: u64, completed_ns: u64);

    fn failed(&mut self, kind: OpKind);
}

impl Observer for Recorder {
    #[inline]
    fn submitted(&mut self, kind: OpKind, _: usize, _: u64) {
        self.submitted(kind);
    }

    // Each of the driver's loops calls these. As calls, they would cost a tenth of an operation.
    #[inline(always)]
    fn completed(&mut self, op: Op, _: usize, started_ns: u64, completed_ns: u64) {
        self.completed(op.kind, op.offset_bytes, op.length_bytes, started_ns, completed_ns);
    }

    fn failed(&mut self, kind: OpKind) {
        self.failed(kind);
    }
}

/// The results of one issuing thread.
pub struct Recorder {
    kinds: [OperationTally; 4],
    interval_end_ns: u64,
    intervals: Vec<Interval>,
    stalls: Vec<Stall>,
    stall_count: u64,
    places: Vec<Sample>,
    /// Number of offsets that may still be stored.
    places_left: usize,
    live: Option<Sender<(usize, Interval)>>,
}

impl Recorder {
    /// Creates an empty recorder. Every completed interval is also sent to `live`.
    pub fn new(live: Option<Sender<(usize, Interval)>>) -> Self {
        let kind = || OperationTally { stall_threshold_ns: STALL_AT_LEAST_NS, ..OperationTally::default() };
        Self {
            kinds: OpKind::ALL.map(|_| kind()),
            interval_end_ns: INTERVAL_NS,
            intervals: Vec::with_capacity(1024),
            stalls: Vec::new(),
            stall_count: 0,
            places: Vec::new(),
            places_left: 0,
            live,
        }
    }

    /// Enables storing the offsets of slow operations, if only one is in flight at a time.
    pub fn placing(mut self, in_flight: usize) -> Self {
        self.places_left = if in_flight == 1 { PLACES_KEPT } else { 0 };
        self
    }

    /// Counts an operation that was submitted to the device.
    #[inline]
    pub fn submitted(&mut self, kind: OpKind) {
        self.kinds[kind as usize].submitted += 1;
    }

    /// Counts an operation that failed.
    pub fn failed(&mut self, kind: OpKind) {
        self.kinds[kind as usize].failed += 1;
    }

    /// Counts an operation that completed. Times are in ns from the start of recording.
    #[inline(always)]
    pub fn completed(
        &mut self,
        kind: OpKind,
        offset_bytes: u64,
        length_bytes: u32,
        started_ns: u64,
        completed_ns: u64,
    ) {
        if completed_ns >= self.interval_end_ns {
            self.close_intervals(completed_ns);
        }
        let latency_ns = completed_ns.saturating_sub(started_ns);
        let of_kind = &mut self.kinds[kind as usize];
        of_kind.latency.record(latency_ns);
        of_kind.interval_bytes += u64::from(length_bytes);
        of_kind.operations += 1;
        of_kind.worst_ns = of_kind.worst_ns.max(latency_ns);
        if latency_ns >= PLACED_AT_LEAST_NS {
            self.slow(kind, offset_bytes, length_bytes, started_ns, completed_ns);
        }
    }

    /// Records an operation that may be a stall, or slow enough for its offset to be of interest.
    #[cold]
    fn slow(
        &mut self,
        kind: OpKind,
        offset_bytes: u64,
        length_bytes: u32,
        started_ns: u64,
        completed_ns: u64,
    ) {
        let latency_ns = completed_ns - started_ns;
        if latency_ns >= self.kinds[kind as usize].stall_threshold_ns {
            self.stalled(kind, offset_bytes, started_ns, completed_ns);
        }
        if self.places_left > 0 && kind != OpKind::Sync {
            self.places_left -= 1;
            self.places.push(Sample { offset_bytes, bytes: u64::from(length_bytes), elapsed_ns: latency_ns });
        }
    }

    #[cold]
    fn close_intervals(&mut self, now_ns: u64) {
        let changed = self.kinds.each_ref().map(|kind| kind.operations > 0);
        while now_ns >= self.interval_end_ns {
            let interval = self.open_interval();
            for kind in &mut self.kinds {
                kind.bytes += std::mem::take(&mut kind.interval_bytes);
                (kind.operations, kind.worst_ns) = (0, 0);
            }
            if let Some(live) = &self.live {
                // The measurement continues even if the receiver is closed.
                let _ = live.send((self.intervals.len(), interval));
            }
            if self.intervals.len() < INTERVALS_KEPT {
                self.intervals.push(interval);
            }
            self.interval_end_ns += INTERVAL_NS;
        }
        // Without new latencies, the median is unchanged.
        for (kind, _) in self.kinds.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
            kind.stall_threshold_ns = stall_threshold_ns(&kind.latency);
        }
    }

    /// Returns the current interval so far.
    fn open_interval(&self) -> Interval {
        let [read, write, _, trim] = &self.kinds;
        Interval {
            read_bytes: read.interval_bytes,
            read_operations: read.operations,
            read_worst_ns: read.worst_ns,
            write_bytes: write.interval_bytes,
            write_operations: write.operations,
            write_worst_ns: write.worst_ns,
            trim_bytes: trim.interval_bytes,
            trim_operations: trim.operations,
            trim_worst_ns: trim.worst_ns,
        }
    }

    fn stalled(&mut self, kind: OpKind, offset_bytes: u64, started_ns: u64, completed_ns: u64) {
        let stall = Stall {
            at_ns: started_ns,
            length_ns: completed_ns - started_ns,
            kind,
            offset_bytes,
            operations: 1,
            longest_ns: completed_ns - started_ns,
        };
        add_stall(&mut self.stalls, &mut self.stall_count, stall);
    }

    /// Sends the current interval and closes the channel.
    pub fn hang_up(&mut self) {
        if let Some(live) = self.live.take() {
            let _ = live.send((self.intervals.len(), self.open_interval()));
        }
    }

    /// Merges the results of all threads, as far as they concern operations.
    pub fn merge(recorders: &[Self]) -> Repetition {
        let thresholds = OpKind::ALL.map(|kind| {
            let mut latency = Histogram::default();
            recorders.iter().for_each(|recorder| latency.add(&recorder.kinds[kind as usize].latency));
            stall_threshold_ns(&latency)
        });
        let mut whole = Repetition::default();
        recorders.iter().for_each(|recorder| whole.merge(&recorder.part(thresholds)));
        keep_longest(&mut whole.stalls);
        let intervals = &mut whole.series.intervals;
        while intervals.last().is_some_and(|last| *last == Interval::default()) {
            intervals.pop();
        }
        let mains = [OpKind::Trim, OpKind::Write, OpKind::Read];
        let main = mains.into_iter().max_by_key(|kind| whole.side(*kind).completed).unwrap_or(OpKind::Read);
        whole.stall_threshold_ns = thresholds[main as usize];
        whole
    }

    /// Returns the part of this thread. `thresholds` are the final stall thresholds, computed over
    /// all threads.
    fn part(&self, thresholds: [u64; 4]) -> Repetition {
        let [read, write, sync, trim] = self.kinds.each_ref().map(OperationTally::to_record);
        let last = (self.intervals.len() < INTERVALS_KEPT).then(|| self.open_interval());
        let intervals = self.intervals.iter().copied().chain(last).collect();
        let is_stall = |stall: &Stall| stall.length_ns >= thresholds[stall.kind as usize];
        let stalls = Stall::joined(self.stalls.iter().copied().filter(is_stall).collect());
        // The discarded stalls were the shortest. They count if the final threshold is no longer
        // than the stalls that were stored instead. If the threshold exceeds any of those, the
        // discarded ones are not stalls.
        let unlisted =
            if self.stalls.iter().all(is_stall) { self.stall_count - self.stalls.len() as u64 } else { 0 };
        Repetition {
            read,
            write,
            sync,
            trim,
            series: Series { interval_ns: INTERVAL_NS, intervals },
            stall_count: stalls.len() as u64 + unlisted,
            stalls,
            places: self.places.clone(),
            ..Repetition::default()
        }
    }
}

fn stall_threshold_ns(latency: &Histogram) -> u64 {
    latency
        .median_bucket_ns()
        .map_or(STALL_AT_LEAST_NS, |median| (median * STALL_MEDIANS).max(STALL_AT_LEAST_NS))
}

/// Adds a stall. One that overlaps the previous one in time is the same stall, seen by another
/// operation.
fn add_stall(stalls: &mut Vec<Stall>, count: &mut u64, stall: Stall) {
    if !stalls.last_mut().is_some_and(|last| last.join(&stall)) {
        *count += 1;
        stalls.push(stall);
        keep_longest(stalls);
    }
}

/// Discards the shortest stalls if there are too many.
fn keep_longest(stalls: &mut Vec<Stall>) {
    while stalls.len() > STALLS_KEPT {
        let Some((shortest, _)) = stalls.iter().enumerate().rev().min_by_key(|(_, stall)| stall.length_ns)
        else {
            return;
        };
        stalls.remove(shortest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn read(recorder: &mut Recorder, started_ns: u64, completed_ns: u64) {
        recorder.submitted(OpKind::Read);
        recorder.completed(OpKind::Read, 4096, 4096, started_ns, completed_ns);
    }

    #[test]
    fn operations_held_up_together_are_one_stall() {
        let mut recorder = Recorder::new(None);
        for at in 0..1000 {
            read(&mut recorder, at * MS / 10, at * MS / 10 + 50_000);
        }
        for extra in 0..8 {
            read(&mut recorder, 100 * MS + extra, 141 * MS);
        }
        read(&mut recorder, 500 * MS, 530 * MS);
        let merged = Recorder::merge(&[recorder]);
        assert_eq!(merged.stall_count, 2);
        assert_eq!((merged.stalls[0].operations, merged.stalls[0].length_ns), (8, 41 * MS));
        assert_eq!(merged.stalls[1].at_ns, 500 * MS);
    }

    #[test]
    fn a_device_that_is_always_slow_does_not_stall() {
        let mut recorder = Recorder::new(None);
        for at in 0..100 {
            read(&mut recorder, at * 60 * MS, (at + 1) * 60 * MS);
        }
        assert_eq!(Recorder::merge(&[recorder]).stall_count, 0);
    }

    #[test]
    fn stalls_that_are_none_by_the_threshold_in_the_end_are_not_counted() {
        // During the first second, operations take 0.1 ms, so 12 ms is a stall. After that, every
        // operation takes 12 ms.
        let mut recorder = Recorder::new(None);
        for at in 0..1000 {
            read(&mut recorder, at * MS, at * MS + 100_000);
        }
        for at in 0..(4 * STALLS_KEPT as u64) {
            read(&mut recorder, (1000 + at * 13) * MS, (1012 + at * 13) * MS);
        }
        let merged = Recorder::merge(&[recorder]);
        assert!(merged.stall_threshold_ns > 12 * MS);
        assert_eq!((merged.stall_count, merged.stalls.len()), (0, 0));
    }

    #[test]
    fn stalls_that_are_too_many_to_keep_are_counted() {
        let mut recorder = Recorder::new(None);
        for at in 0..20_000 {
            read(&mut recorder, at * MS / 10, at * MS / 10 + 50_000);
        }
        for at in 0..300 {
            read(&mut recorder, (3000 + at * 100) * MS, (3020 + at * 100) * MS);
        }
        let merged = Recorder::merge(&[recorder]);
        assert_eq!((merged.stall_count, merged.stalls.len()), (300, STALLS_KEPT));
    }

    proptest! {
        #[test]
        fn the_series_holds_every_byte_and_operation(
            gaps in prop::collection::vec((0u64..300 * MS, 0usize..4, 1u32..10_000), 1..200),
        ) {
            let mut recorders = [Recorder::new(None), Recorder::new(None)];
            let mut now = 0;
            for (index, (gap, kind, length)) in gaps.iter().enumerate() {
                now += gap;
                let kind = OpKind::ALL[*kind];
                let length = if kind == OpKind::Sync { 0 } else { *length };
                recorders[index % 2].submitted(kind);
                recorders[index % 2].completed(kind, 0, length, now - gap, now);
            }
            let merged = Recorder::merge(&recorders);
            let sum = merged.series.intervals.iter().fold(Interval::default(), |mut sum, part| {
                sum.merge(part);
                sum
            });
            prop_assert_eq!(sum.read_bytes, merged.read.bytes);
            prop_assert_eq!([sum.write_bytes, sum.trim_bytes], [merged.write.bytes, merged.trim.bytes]);
            prop_assert_eq!(u64::from(sum.read_operations), merged.read.completed);
            prop_assert_eq!(u64::from(sum.write_operations), merged.write.completed);
            prop_assert_eq!(sum.read_worst_ns, merged.read.latency.max_ns);
            for ops in OpKind::ALL.map(|kind| merged.side(kind)) {
                prop_assert_eq!(ops.submitted, ops.completed + ops.failed);
            }
        }

        /// Medians stay far below 0.5 ms here, so the stall threshold does not depend on how many
        /// operations a thread has seen.
        #[test]
        fn threads_record_together_what_one_would_have_recorded_alone(
            operations in prop::collection::vec(
                (0u64..20 * MS, 0usize..3, 0usize..4, prop::bool::weighted(0.02)),
                100..400,
            ),
        ) {
            let mut alone = Recorder::new(None);
            let mut threads = [(); 4].map(|()| Recorder::new(None));
            let mut now = 0;
            // Each thread sees some operations of each kind before the first slow one.
            let first = (0..96).map(|index| (MS, index % 3, index / 3 % 4, false));
            for (index, (gap, kind, thread, slow)) in first.chain(operations).enumerate() {
                now += gap;
                let kind = OpKind::ALL[kind];
                let latency_ns = if slow { 12 * MS + gap } else { 100_000 + gap % 50_000 };
                for recorder in [&mut alone, &mut threads[thread]] {
                    recorder.submitted(kind);
                    recorder.completed(kind, index as u64, 512, now.saturating_sub(latency_ns), now);
                }
            }
            let whole = Recorder::merge(&[alone]);
            prop_assert_eq!(&Recorder::merge(&threads), &whole);
            // The same split over two processes with two of the threads each.
            let (some, rest) = threads.split_at(2);
            let mut processes = Recorder::merge(some);
            processes.merge(&Recorder::merge(rest));
            prop_assert_eq!(&processes, &whole);
        }
    }
}
