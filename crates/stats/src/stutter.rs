//! Stutter of a cell: the interruptions that a user notices, in a few numbers.
//!
//! The model: a stall is an operation that the recorder counted as one, far slower than the median
//! of its kind; operations held up together count once. The stalled time is the union of the stalls
//! recorded in detail. A silence is a part of the time series without completions.

use crate::latency::percentile_ns;
use kurabe_core::record::{Cell, LatencyRecord, Repetition, Series, Stall};
use kurabe_core::workload::Direction;
use serde::Serialize;

/// The stutter of a cell over all of its counted repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stutter {
    /// Time measured, in ns.
    pub measured_ns: u64,
    /// Number of stalls.
    pub stalls: u64,
    /// Stalls per minute of measured time.
    pub stalls_per_minute: f64,
    /// Median length of the stalls recorded in detail, in ns; 0 if there are none.
    pub typical_ns: u64,
    /// Length of the longest stall, in ns.
    pub worst_ns: u64,
    /// Share of the time with a stalled operation, 0 to 1; a lower bound if not all stalls were
    /// recorded in detail.
    pub stalled_share: f64,
    /// Whether every stall was recorded in detail.
    pub all_kept: bool,
    /// Longest time without any completion, in ns; a multiple of the series' interval.
    pub longest_silence_ns: u64,
    /// Whether the cell had one operation in flight, so that a stalled operation stopped all I/O.
    pub alone: bool,
    /// Latency at the start and at the end of the cell; `None` if the series is too short.
    pub life: Option<Life>,
}

impl Stutter {
    /// Returns whether a stall stopped all I/O, not only some of several operations in flight.
    /// Silences are known in whole intervals only, so half of the typical stall is enough.
    pub fn stops_everything(&self) -> bool {
        self.alone || self.longest_silence_ns.saturating_mul(2) >= self.typical_ns
    }
}

/// Latency over a part of a cell's duration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LifePart {
    /// Mean latency in ns, by Little's law: operations in flight over completions per second.
    pub mean_ns: f64,
    /// Median over the intervals of their worst latency, in ns.
    pub worst_ns: u64,
}

/// Latency in the first and the last third of a cell's repetitions, over all repetitions together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Life {
    /// The first third.
    pub first: LifePart,
    /// The last third.
    pub last: LifePart,
}

/// Returns the stutter of a cell; `None` if no time was measured.
pub fn stutter(cell: &Cell) -> Option<Stutter> {
    let repetitions: Vec<&Repetition> = cell.counted().collect();
    let sum = |of: fn(&Repetition) -> u64| repetitions.iter().map(|one| of(one)).fold(0, u64::saturating_add);
    let measured_ns = sum(|one| one.elapsed_ns);
    if measured_ns == 0 {
        return None;
    }
    let stalls = sum(|one| one.stall_count);
    let mut lengths_ns: Vec<u64> =
        repetitions.iter().flat_map(|one| one.stalls.iter().map(|stall| stall.length_ns)).collect();
    lengths_ns.sort_unstable();
    let stalled_ns = sum(|one| union_ns(&one.stalls).min(one.elapsed_ns));
    Some(Stutter {
        measured_ns,
        stalls,
        stalls_per_minute: stalls as f64 * 60e9 / measured_ns as f64,
        typical_ns: lengths_ns.get(lengths_ns.len() / 2).copied().unwrap_or(0),
        worst_ns: lengths_ns.last().copied().unwrap_or(0),
        stalled_share: stalled_ns as f64 / measured_ns as f64,
        all_kept: stalls == lengths_ns.len() as u64,
        longest_silence_ns: repetitions.iter().map(|one| longest_silence_ns(&one.series)).max().unwrap_or(0),
        alone: cell.workload.as_ref().is_none_or(|one| one.iodepth.saturating_mul(one.threads) == 1),
        life: life(&repetitions),
    })
}

/// Latency of reads alongside writes compared with reads alone, for the same block sizes, order and
/// depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadsBesideWrites {
    /// Median latency of reads alone, in ns.
    pub alone_p50_ns: u64,
    /// Median latency of reads alongside writes, in ns.
    pub beside_p50_ns: u64,
    /// 99th percentile of reads alone, in ns.
    pub alone_p99_ns: u64,
    /// 99th percentile of reads alongside writes, in ns.
    pub beside_p99_ns: u64,
    /// Mean read latency alongside writes divided by that of reads alone.
    pub ratio: f64,
}

/// Compares the reads of a mixed cell with those of a read-only cell of the same run. `None` if the
/// cells differ in more than the share of reads, or have other directions.
pub fn reads_beside_writes(alone: &Cell, mixed: &Cell) -> Option<ReadsBesideWrites> {
    let (one, two) = (alone.workload.as_ref()?, mixed.workload.as_ref()?);
    let same = one.pattern == two.pattern
        && one.block_sizes == two.block_sizes
        && (one.iodepth, one.threads) == (two.iodepth, two.threads)
        && one.open_loop == two.open_loop;
    if !same || alone.direction != Some(Direction::Read) || mixed.direction != Some(Direction::Mix) {
        return None;
    }
    let reads =
        |cell: &Cell| LatencyRecord::together(cell.counted().map(|repetition| &repetition.read.latency));
    let (alone, beside) = (reads(alone), reads(mixed));
    Some(ReadsBesideWrites {
        alone_p50_ns: percentile_ns(&alone, 0.5)?,
        beside_p50_ns: percentile_ns(&beside, 0.5)?,
        alone_p99_ns: percentile_ns(&alone, 0.99)?,
        beside_p99_ns: percentile_ns(&beside, 0.99)?,
        ratio: beside.mean_ns()? / alone.mean_ns().filter(|mean_ns| *mean_ns > 0.0)?,
    })
}

/// Fewest whole intervals of a repetition whose thirds are meaningful.
const FEWEST_INTERVALS: usize = 9;

/// Returns the first and the last third of all repetitions with a long enough series.
fn life(repetitions: &[&Repetition]) -> Option<Life> {
    // The last interval may be incomplete.
    let whole = |one: &'_ Repetition| one.series.intervals.len().saturating_sub(1);
    let long: Vec<&&Repetition> =
        repetitions.iter().filter(|one| whole(one) >= FEWEST_INTERVALS && one.elapsed_ns > 0).collect();
    let stretch = |last: bool| -> Option<LifePart> {
        let (mut in_flight_ns, mut operations) = (0.0, 0u64);
        let mut worst_ns: Vec<u64> = Vec::new();
        for one in &long {
            let (count, third) = (whole(one), whole(one) / 3);
            let part = if last { count - third..count } else { 0..third };
            let latency_ns: f64 = [&one.read, &one.write].iter().map(|side| side.latency.sum_ns as f64).sum();
            let time_ns = third as f64 * one.series.interval_ns as f64;
            in_flight_ns += latency_ns / one.elapsed_ns as f64 * time_ns;
            for interval in &one.series.intervals[part] {
                operations += interval.operations();
                if interval.operations() > 0 {
                    worst_ns.push(interval.worst_ns());
                }
            }
        }
        worst_ns.sort_unstable();
        let worst_ns = worst_ns.get(worst_ns.len() / 2).copied()?;
        Some(LifePart { mean_ns: in_flight_ns / operations as f64, worst_ns })
    };
    Some(Life { first: stretch(false)?, last: stretch(true)? })
}

/// Returns the time covered by stalls; overlaps count once.
fn union_ns(stalls: &[Stall]) -> u64 {
    let mut spans: Vec<(u64, u64)> =
        stalls.iter().map(|stall| (stall.at_ns, stall.at_ns.saturating_add(stall.length_ns))).collect();
    spans.sort_unstable();
    let (mut covered, mut until) = (0u64, 0u64);
    for (from, to) in spans {
        let from = from.max(until);
        covered = covered.saturating_add(to.saturating_sub(from));
        until = until.max(to);
    }
    covered
}

/// Returns the length of the longest run of intervals in which nothing was completed.
fn longest_silence_ns(series: &Series) -> u64 {
    let busy = |index: usize| {
        let interval = &series.intervals[index];
        interval.operations() > 0 || interval.bytes() > 0
    };
    let (mut longest, mut run) = (0u64, 0u64);
    for index in 0..series.intervals.len() {
        run = if busy(index) { 0 } else { run + 1 };
        longest = longest.max(run);
    }
    longest.saturating_mul(series.interval_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{Interval, Measure};
    use kurabe_core::record::{LatencyRecord, OpsRecord};
    use kurabe_core::workload::{OpKind, Pattern, Workload};

    fn stall(at_ns: u64, length_ns: u64) -> Stall {
        Stall { at_ns, length_ns, kind: OpKind::Write, offset_bytes: 0, operations: 1, longest_ns: length_ns }
    }

    fn cell(repetitions: Vec<Repetition>) -> Cell {
        Cell {
            index: 0,
            step_index: 0,
            part: String::new(),
            label: String::new(),
            direction: Some(Direction::Write),
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions,
            imported: None,
        }
    }

    #[test]
    fn stalls_are_counted_per_minute_and_overlaps_once() {
        let busy = Interval { write_operations: 1, ..Interval::default() };
        let one = Repetition {
            elapsed_ns: 30_000_000_000,
            stalls: vec![
                stall(1_000_000_000, 800_000_000),
                stall(1_500_000_000, 800_000_000),
                stall(9_000_000_000, 200_000_000),
            ],
            stall_count: 4,
            series: Series {
                interval_ns: 100_000_000,
                intervals: vec![busy, Interval::default(), Interval::default(), busy],
            },
            ..Repetition::default()
        };
        let discarded =
            Repetition { discarded: true, elapsed_ns: 1, stall_count: 99, ..Repetition::default() };
        let stutter = stutter(&cell(vec![discarded, one])).unwrap();
        assert_eq!((stutter.stalls, stutter.stalls_per_minute), (4, 8.0));
        assert_eq!((stutter.typical_ns, stutter.worst_ns), (800_000_000, 800_000_000));
        // 1.0 to 2.3 s and 9.0 to 9.2 s of 30 s.
        assert!((stutter.stalled_share - 1.5 / 30.0).abs() < 1e-12);
        assert_eq!((stutter.all_kept, stutter.longest_silence_ns), (false, 200_000_000));
    }

    #[test]
    fn life_is_told_by_the_law_of_little() {
        // Four in flight throughout. 40 operations per interval of 100 ms at first, 10 at the end:
        // 10 ms, then 40 ms.
        let interval = |operations: u32, worst_ns: u64| Interval {
            write_operations: operations,
            write_worst_ns: worst_ns,
            ..Interval::default()
        };
        let mut intervals = vec![interval(40, 11_000_000); 5];
        intervals.extend(vec![interval(10, 90_000_000); 5]);
        let latency = LatencyRecord { count: 250, sum_ns: 4_000_000_000, ..LatencyRecord::default() };
        let one = Repetition {
            elapsed_ns: 1_000_000_000,
            write: OpsRecord { latency, ..OpsRecord::default() },
            series: Series { interval_ns: 100_000_000, intervals },
            ..Repetition::default()
        };
        let life = stutter(&cell(vec![one.clone()])).unwrap().life.unwrap();
        assert!(
            (life.first.mean_ns - 10e6).abs() < 1.0 && (life.last.mean_ns - 40e6).abs() < 1.0,
            "{life:?}"
        );
        assert_eq!((life.first.worst_ns, life.last.worst_ns), (11_000_000, 90_000_000));
        let short = Repetition { series: Series { intervals: vec![interval(1, 1); 5], ..one.series }, ..one };
        assert_eq!(stutter(&cell(vec![short])).unwrap().life, None);
    }

    #[test]
    fn reads_are_held_against_reads_of_the_same_kind_alone() {
        let workload = |read_percent: u8, iodepth: u32| {
            Workload::plain(Pattern::Random, 4096, 1 << 30).with(|access| {
                access.read_percent = read_percent;
                access.iodepth = iodepth;
            })
        };
        let of = |direction, ns: u64, iodepth| {
            let latency =
                LatencyRecord { count: 10, min_ns: ns, max_ns: ns, sum_ns: 10 * ns, buckets: vec![(ns, 10)] };
            let one =
                Repetition { read: OpsRecord { latency, ..OpsRecord::default() }, ..Repetition::default() };
            let read_percent = if direction == Direction::Read { 100 } else { 50 };
            let workload = Some(workload(read_percent, iodepth));
            Cell { direction: Some(direction), workload, ..cell(vec![one]) }
        };
        let (alone, beside) = (of(Direction::Read, 100, 4), of(Direction::Mix, 200, 4));
        let reads = reads_beside_writes(&alone, &beside).unwrap();
        assert_eq!((reads.alone_p50_ns, reads.beside_p99_ns, reads.ratio), (100, 200, 2.0));
        assert_eq!(reads_beside_writes(&alone, &of(Direction::Mix, 200, 8)), None, "another depth");
        assert_eq!(reads_beside_writes(&beside, &alone), None, "the wrong way round");
    }

    #[test]
    fn nothing_measured_has_no_stutter() {
        assert_eq!(stutter(&cell(Vec::new())), None);
    }
}
