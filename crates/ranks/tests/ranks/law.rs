//! The law of merging: the merged figures of ranks equal those of one recorder that saw all
//! operations.

use kurabe_core::record::{Interval, OpsRecord, Repetition, Series};
use kurabe_core::workload::Direction;
use kurabe_ranks::{RankPart, merged};
use kurabe_stats::Histogram;
use proptest::collection::vec;
use proptest::prelude::*;

const INTERVAL_NS: u64 = 100;
const BLOCK_BYTES: u64 = 4096;

/// An operation: completion time since the first start of all, and latency.
type Completion = (u64, u64);

/// Returns what one recorder records of operations, from a start.
fn recorded(completions: &[Completion], start_ns: u64) -> Repetition {
    let mut histogram = Histogram::default();
    let end_ns = completions.iter().map(|(at_ns, _)| at_ns - start_ns).max().unwrap_or(0);
    let mut intervals = vec![Interval::default(); (end_ns / INTERVAL_NS) as usize + 1];
    for (at_ns, latency_ns) in completions {
        histogram.record(*latency_ns);
        intervals[((at_ns - start_ns) / INTERVAL_NS) as usize].merge(&Interval {
            read_bytes: BLOCK_BYTES,
            read_operations: 1,
            read_worst_ns: *latency_ns,
            ..Interval::default()
        });
    }
    let count = completions.len() as u64;
    Repetition {
        elapsed_ns: end_ns,
        first_done_ns: Some(end_ns),
        read: OpsRecord {
            submitted: count,
            completed: count,
            bytes: count * BLOCK_BYTES,
            latency: histogram.to_record(),
            ..OpsRecord::default()
        },
        series: Series { interval_ns: INTERVAL_NS, intervals },
        ..Repetition::default()
    }
}

proptest! {
    #[test]
    fn ranks_together_are_one_recorder_of_all_operations(
        ranks in vec((0u64..4, vec((0u64..2000, 1u64..5_000_000), 1..40)), 1..9),
    ) {
        let first = ranks.iter().map(|(start, _)| start * INTERVAL_NS).min().unwrap();
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        for (rank, (start, operations)) in (0..).zip(&ranks) {
            let start_ns = start * INTERVAL_NS - first;
            let own: Vec<Completion> = operations.iter().map(|(at, latency)| (start_ns + at, *latency)).collect();
            let repetition = recorded(&own, start_ns);
            parts.push(RankPart { rank, host: rank / 2, begun_ns: 7_000 + start_ns, repetition });
            all.extend(own);
        }
        let one = recorded(&all, 0);
        parts.reverse();
        let whole = merged(parts).unwrap();
        prop_assert_eq!(&whole.read, &one.read);
        prop_assert_eq!(&whole.series, &one.series);
        prop_assert_eq!(whole.elapsed_ns, one.elapsed_ns);
        let ranked = whole.ranks.as_ref().unwrap();
        prop_assert_eq!(ranked.shares.iter().map(|share| share.bytes).sum::<u64>(), one.bytes(Direction::Read));
        prop_assert_eq!(whole.first_done_ns, ranked.first_done_ns());
        let fairness = ranked.fairness().unwrap_or(1.0);
        prop_assert!(fairness <= 1.0 + 1e-9 && fairness * ranks.len() as f64 >= 1.0 - 1e-9);
    }
}

/// Two ranks, the second of which starts an interval later and is half as fast: the throughput
/// while both were active covers whole intervals.
#[test]
fn the_rate_while_all_were_at_work_is_of_the_time_of_all() {
    let steady = |start_ns: u64, every_ns: usize, until_ns: u64| -> Vec<Completion> {
        (start_ns + 9..until_ns).step_by(every_ns).map(|at_ns| (at_ns, 9)).collect()
    };
    let part = |rank: u32, begun_ns: u64, completions: &[Completion]| RankPart {
        rank,
        host: 0,
        begun_ns,
        repetition: recorded(completions, begun_ns),
    };
    let whole = merged(vec![part(0, 0, &steady(0, 10, 1000)), part(1, 100, &steady(100, 20, 600))]).unwrap();
    let ranks = whole.ranks.unwrap();
    let at_work = ranks.at_work.unwrap();
    // Ten and five operations in each 100 ns.
    assert!((at_work.operations_per_s - 150e6).abs() < 1.0, "{at_work:?}");
    assert_eq!((ranks.skew_ns(), at_work.time_ns), (100, 489));
    assert_eq!(ranks.by_rate().iter().map(|share| share.rank).collect::<Vec<_>>(), [1, 0]);
    let alone = merged(vec![part(0, 0, &steady(0, 10, 90)), part(1, 0, &steady(0, 10, 90))]).unwrap();
    assert_eq!(alone.ranks.unwrap().at_work, None, "shorter than an interval");
}

/// Activity of other ranks on the same host does not count as noise.
#[test]
fn ranks_of_one_host_are_not_each_others_noise() {
    let part = |rank: u32, host: u32, others: u64| {
        let mut repetition = recorded(&[(50, 9), (90, 9)], 0);
        repetition.noise.other_read_bytes = Some(others);
        RankPart { rank, host, begun_ns: 0, repetition }
    };
    let own = 2 * BLOCK_BYTES;
    let whole = merged(vec![part(0, 0, own + 100), part(1, 0, own + 100), part(2, 1, 7)]).unwrap();
    let noise: Vec<_> =
        whole.ranks.unwrap().noise.iter().map(|host| (host.host, host.noise.other_read_bytes)).collect();
    assert_eq!(noise, [(0, Some(100)), (1, Some(7))]);
    assert_eq!(whole.noise.other_read_bytes, Some(100));
}
