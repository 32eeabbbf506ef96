//! What is kept of every operation.
//!
//! The model: per kind of operation a histogram and a byte count; an interval of 100 ms that is pushed onto the
//! series when it is over; and the operations that took far longer than the median. One completion costs a
//! histogram increment, a few additions and three comparisons.
//!
//! A gap without completions is found by the operations that were in flight during it: in a closed loop there are
//! always some, and in an open loop their latency counts from when they were due.

use kurabe_core::record::{Interval, OpsRecord, Series, Stall};
use kurabe_core::workload::OpKind;
use kurabe_stats::Histogram;
use std::sync::mpsc::Sender;

/// Length of an interval of the series.
pub const INTERVAL_NS: u64 = 100_000_000;
/// An operation is a stall when it takes this many times the median of its kind …
pub const STALL_MEDIANS: u64 = 20;
/// … and at least this long. Below it, the scheduling of the operating system looks the same as a slow device.
pub const STALL_AT_LEAST_NS: u64 = 10_000_000;
/// Stalls that are kept with their details; more are counted.
const STALLS_KEPT: usize = 256;
/// Most intervals kept: 10 hours, so that memory stays flat whatever the run's length.
const INTERVALS_KEPT: usize = 360_000;

/// One kind of operation.
#[derive(Default)]
struct Kind {
    submitted: u64,
    failed: u64,
    bytes: u64,
    latency: Histogram,
    stall_threshold_ns: u64,
    /// Bytes, operations and worst latency of the interval that is open.
    interval_bytes: u64,
    operations: u32,
    worst_ns: u64,
}

impl Kind {
    fn to_record(&self) -> OpsRecord {
        let latency = self.latency.to_record();
        OpsRecord {
            submitted: self.submitted,
            completed: latency.count,
            failed: self.failed,
            bytes: self.bytes,
            latency,
        }
    }
}

/// The results of one issuing thread.
pub struct Recorder {
    kinds: [Kind; 3],
    interval_end_ns: u64,
    intervals: Vec<Interval>,
    stalls: Vec<Stall>,
    stall_count: u64,
    live: Option<Sender<(usize, Interval)>>,
}

/// The results of all issuing threads of a repetition.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Reads.
    pub read: OpsRecord,
    /// Writes.
    pub write: OpsRecord,
    /// Syncs.
    pub sync: OpsRecord,
    /// Time series.
    pub series: Series,
    /// Stalls in order of time, the longest if there were too many.
    pub stalls: Vec<Stall>,
    /// All stalls.
    pub stall_count: u64,
    /// The threshold that held in the end.
    pub stall_threshold_ns: u64,
}

impl Recorder {
    /// An empty recorder; every interval that is over is sent to `live`, too.
    pub fn new(live: Option<Sender<(usize, Interval)>>) -> Self {
        let kind = || Kind { stall_threshold_ns: STALL_AT_LEAST_NS, ..Kind::default() };
        Self {
            kinds: [kind(), kind(), kind()],
            interval_end_ns: INTERVAL_NS,
            intervals: Vec::with_capacity(1024),
            stalls: Vec::new(),
            stall_count: 0,
            live,
        }
    }

    /// Counts an operation that was handed to the device.
    #[inline]
    pub fn submitted(&mut self, kind: OpKind) {
        self.kinds[kind as usize].submitted += 1;
    }

    /// Counts an operation that failed.
    pub fn failed(&mut self, kind: OpKind) {
        self.kinds[kind as usize].failed += 1;
    }

    /// Counts an operation that completed. Times are in ns from the start of recording.
    #[inline]
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
        if latency_ns >= of_kind.stall_threshold_ns {
            self.stalled(kind, offset_bytes, started_ns, completed_ns);
        }
    }

    #[cold]
    fn close_intervals(&mut self, now_ns: u64) {
        while now_ns >= self.interval_end_ns {
            let interval = self.open_interval();
            for kind in &mut self.kinds {
                kind.bytes += std::mem::take(&mut kind.interval_bytes);
                (kind.operations, kind.worst_ns) = (0, 0);
            }
            if let Some(live) = &self.live {
                // Nobody listening any more is no reason to stop measuring.
                let _ = live.send((self.intervals.len(), interval));
            }
            if self.intervals.len() < INTERVALS_KEPT {
                self.intervals.push(interval);
            }
            self.interval_end_ns += INTERVAL_NS;
        }
        for kind in &mut self.kinds {
            kind.stall_threshold_ns = stall_threshold_ns(&kind.latency);
        }
    }

    /// What the open interval holds so far.
    fn open_interval(&self) -> Interval {
        let [read, write, _] = &self.kinds;
        Interval {
            read_bytes: read.interval_bytes,
            read_operations: read.operations,
            read_worst_ns: read.worst_ns,
            write_bytes: write.interval_bytes,
            write_operations: write.operations,
            write_worst_ns: write.worst_ns,
        }
    }

    #[cold]
    fn stalled(&mut self, kind: OpKind, offset_bytes: u64, started_ns: u64, completed_ns: u64) {
        let stall = Stall {
            at_ns: started_ns,
            length_ns: completed_ns - started_ns,
            kind,
            offset_bytes,
            operations: 1,
        };
        add_stall(&mut self.stalls, &mut self.stall_count, stall);
    }

    /// Sends the interval that was still open, and no more.
    pub fn hang_up(&mut self) {
        if let Some(live) = self.live.take() {
            let _ = live.send((self.intervals.len(), self.open_interval()));
        }
    }

    /// All threads' results together.
    pub fn merge(recorders: &[Self]) -> Recorded {
        let of = |kind: OpKind| {
            let mut sum = Kind::default();
            for recorder in recorders {
                let part = &recorder.kinds[kind as usize];
                sum.submitted += part.submitted;
                sum.failed += part.failed;
                sum.bytes += part.bytes + part.interval_bytes;
                sum.latency.add(&part.latency);
            }
            sum
        };
        let kinds = [of(OpKind::Read), of(OpKind::Write), of(OpKind::Sync)];
        let thresholds = kinds.each_ref().map(|kind| stall_threshold_ns(&kind.latency));
        let mut all: Vec<Stall> =
            recorders.iter().flat_map(|recorder| recorder.stalls.iter().copied()).collect();
        all.sort_unstable_by_key(|stall| stall.at_ns);
        let (mut stalls, mut stall_count) = (Vec::new(), 0);
        for stall in all {
            if stall.length_ns >= thresholds[stall.kind as usize] {
                add_stall(&mut stalls, &mut stall_count, stall);
            }
        }
        // Stalls that were not kept were the shortest. They still count where the threshold that held in the end is no
        // longer than those that were kept in their place; where it rose above these, they are no stalls either.
        for recorder in recorders.iter().filter(|recorder| recorder.stalls.len() == STALLS_KEPT) {
            let is_one = |stall: &&Stall| stall.length_ns >= thresholds[stall.kind as usize];
            if recorder.stalls.iter().all(|stall| is_one(&stall)) {
                stall_count += recorder.stall_count - recorder.stalls.len() as u64;
            }
        }
        let main = if kinds[0].latency.count() >= kinds[1].latency.count() { 0 } else { 1 };
        let [read, write, sync] = kinds.each_ref().map(Kind::to_record);
        Recorded {
            read,
            write,
            sync,
            series: Series { interval_ns: INTERVAL_NS, intervals: merge_series(recorders) },
            stalls,
            stall_count,
            stall_threshold_ns: thresholds[main],
        }
    }
}

fn stall_threshold_ns(latency: &Histogram) -> u64 {
    latency
        .median_bucket_ns()
        .map_or(STALL_AT_LEAST_NS, |median| (median * STALL_MEDIANS).max(STALL_AT_LEAST_NS))
}

/// Adds a stall; one that overlaps the last one in time is the same stall, seen by another operation.
fn add_stall(stalls: &mut Vec<Stall>, count: &mut u64, stall: Stall) {
    if let Some(last) = stalls.last_mut() {
        let (last_end, end) = (last.at_ns + last.length_ns, stall.at_ns + stall.length_ns);
        if stall.at_ns <= last_end && last.at_ns <= end {
            if stall.length_ns > last.length_ns {
                (last.kind, last.offset_bytes) = (stall.kind, stall.offset_bytes);
            }
            last.at_ns = last.at_ns.min(stall.at_ns);
            last.length_ns = last_end.max(end) - last.at_ns;
            last.operations += stall.operations;
            return;
        }
    }
    *count += 1;
    if stalls.len() == STALLS_KEPT {
        let Some((shortest, _)) = stalls.iter().enumerate().min_by_key(|(_, stall)| stall.length_ns) else {
            return;
        };
        if stalls[shortest].length_ns >= stall.length_ns {
            return;
        }
        stalls.remove(shortest);
    }
    stalls.push(stall);
}

fn merge_series(recorders: &[Recorder]) -> Vec<Interval> {
    let series = recorders.iter().map(|recorder| {
        let last = (recorder.intervals.len() < INTERVALS_KEPT).then(|| recorder.open_interval());
        recorder.intervals.iter().copied().chain(last).collect::<Vec<_>>()
    });
    let mut merged: Vec<Interval> = Vec::new();
    for intervals in series {
        merged.resize(merged.len().max(intervals.len()), Interval::default());
        for (sum, part) in merged.iter_mut().zip(&intervals) {
            add_interval(sum, part);
        }
    }
    while merged.last().is_some_and(|last| *last == Interval::default()) {
        merged.pop();
    }
    merged
}

/// Adds what another thread did in the same interval.
pub fn add_interval(sum: &mut Interval, part: &Interval) {
    sum.read_bytes += part.read_bytes;
    sum.read_operations += part.read_operations;
    sum.read_worst_ns = sum.read_worst_ns.max(part.read_worst_ns);
    sum.write_bytes += part.write_bytes;
    sum.write_operations += part.write_operations;
    sum.write_worst_ns = sum.write_worst_ns.max(part.write_worst_ns);
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
        // The first second answers in 0.1 ms, so that 12 ms is a stall; then every answer takes 12 ms.
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
            gaps in prop::collection::vec((0u64..300 * MS, 0usize..3, 1u32..10_000), 1..200),
        ) {
            let mut recorders = [Recorder::new(None), Recorder::new(None)];
            let mut now = 0;
            for (index, (gap, kind, length)) in gaps.iter().enumerate() {
                now += gap;
                let kind = [OpKind::Read, OpKind::Write, OpKind::Sync][*kind];
                let length = if kind == OpKind::Sync { 0 } else { *length };
                recorders[index % 2].submitted(kind);
                recorders[index % 2].completed(kind, 0, length, now - gap, now);
            }
            let merged = Recorder::merge(&recorders);
            let sum = merged.series.intervals.iter().fold(Interval::default(), |mut sum, part| {
                add_interval(&mut sum, part);
                sum
            });
            prop_assert_eq!(sum.read_bytes, merged.read.bytes);
            prop_assert_eq!(sum.write_bytes, merged.write.bytes);
            prop_assert_eq!(u64::from(sum.read_operations), merged.read.completed);
            prop_assert_eq!(u64::from(sum.write_operations), merged.write.completed);
            prop_assert_eq!(sum.read_worst_ns, merged.read.latency.max_ns);
            for ops in [merged.read, merged.write, merged.sync] {
                prop_assert_eq!(ops.submitted, ops.completed + ops.failed);
            }
        }
    }
}
