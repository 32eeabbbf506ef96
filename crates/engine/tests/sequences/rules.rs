//! The properties of the driver and its sources on which the profiles rely: when the time is
//! checked, what is written back, and which part of the span a thread covers.

use super::*;
use crate::drive::source::{Next, Source};
use kurabe_core::workload::{End, Pattern, ThreadShare, TimeCheck};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Mutex;

fn workload(pattern: Pattern, blocks: u64, threads: u32) -> Workload {
    Workload {
        seed: 3,
        ..Workload::plain(pattern, 4096, blocks * 4096).with(|access| {
            access.threads = threads;
            access.end = End { passes: Some(1), ..End::default() };
        })
    }
}

fn timed(pattern: Pattern, blocks: u64, time_check: TimeCheck) -> Workload {
    let end = End { time_ns: Some(S), time_check, ..End::default() };
    workload(pattern, blocks, 1).with(|access| access.end = end)
}

proptest! {
    #[test]
    fn a_pass_that_was_begun_is_ended(blocks in 1u64..300, latency_ns in 1_000_000u64..90_000_000) {
        let played = play(&timed(Pattern::Sequential, blocks, TimeCheck::Pass), taking(latency_ns));
        // The smallest number of whole passes that reaches the time limit.
        let passes = S.div_ceil(blocks * latency_ns);
        prop_assert_eq!(played.only().len() as u64, passes * blocks);
        prop_assert_eq!(played.elapsed_ns, passes * blocks * latency_ns);
    }

    #[test]
    fn a_batch_that_was_begun_is_ended(batch in 1u32..200, latency_ns in 1_000_000u64..90_000_000) {
        let check = TimeCheck::Operations(batch);
        let played = play(&timed(Pattern::Random, 64, check), taking(latency_ns));
        let batches = S.div_ceil(u64::from(batch) * latency_ns);
        prop_assert_eq!(played.only().len() as u64, batches * u64::from(batch));
    }

    #[test]
    fn a_deep_queue_ends_its_batch_too(batch in 1u32..100, depth in 1u32..40, latency_ns in 10_000_000u64..90_000_000) {
        let plan = timed(Pattern::Random, 64, TimeCheck::Operations(batch)).with(|access| access.iodepth = depth);
        let count = play(&plan, taking(latency_ns)).only().len() as u64;
        prop_assert_eq!(count % u64::from(batch), 0);
        // Issues at least as much as a loop that always checks the time, and at most one batch
        // more.
        let checked = timed(Pattern::Random, 64, TimeCheck::Always).with(|access| access.iodepth = depth);
        let always = play(&checked, taking(latency_ns));
        let least = always.only().len() as u64;
        prop_assert!((least..least + u64::from(batch)).contains(&count), "{} {}", least, count);
    }

    #[test]
    fn every_nth_read_is_written_back(every in 1u32..20, blocks in 1u64..300, threads in 1u32..4) {
        let plan = workload(Pattern::Random, 128, threads).with(|access| {
            access.rewrite_every_reads = Some(every);
            access.end = End { bytes: Some(blocks * 4096), ..End::default() };
        });
        let played = play(&plan, taking(10));
        let mut reads = 0;
        for log in &played.threads {
            let mut last = None;
            let mut since = 0;
            for one in log {
                if one.op.kind == OpKind::Write {
                    prop_assert_eq!((Some(one.op.offset_bytes), since), (last, every));
                    since = 0;
                } else {
                    last = Some(one.op.offset_bytes);
                    (reads, since) = (reads + 1, since + 1);
                    prop_assert!(since <= every);
                }
            }
            // This includes the last one, although no bytes are left then.
            prop_assert!(since < every);
        }
        prop_assert_eq!(reads, blocks);
        prop_assert_eq!(played.recorded.read.completed, blocks);
    }

    #[test]
    fn parts_are_disjoint_and_cover_the_span_together(blocks in 64u64..400, threads in 1u32..16, sequential: bool) {
        let pattern = if sequential { Pattern::Sequential } else { Pattern::Permutation };
        let plan = workload(pattern, blocks, threads).with(|access| {
            access.thread_share = ThreadShare::Parts;
            access.offset_bytes = 40960;
        });
        let played = play(&plan, taking(10));
        let mut end = 40960;
        for log in &played.threads {
            let mut places = offsets(log);
            places.sort_unstable();
            // Each part starts where the previous one ended, without gaps.
            prop_assert!(places.iter().copied().eq((0..log.len() as u64).map(|block| end + block * 4096)));
            end += log.len() as u64 * 4096;
        }
        prop_assert_eq!(end, 40960 + blocks * 4096);
        let lengths: HashSet<usize> = played.threads.iter().map(Vec::len).collect();
        prop_assert!(lengths.len() <= 2, "about equal: {:?}", lengths);
    }

    #[test]
    fn a_whole_span_each_is_covered_by_each(blocks in 16u64..300, threads in 2u32..8, sequential: bool) {
        let pattern = if sequential { Pattern::Sequential } else { Pattern::Permutation };
        let plan = workload(pattern, blocks, threads).with(|access| access.thread_share = ThreadShare::Whole);
        let played = play(&plan, taking(10));
        for log in &played.threads {
            let mut places = offsets(log);
            if sequential {
                prop_assert!(places.is_sorted());
            }
            places.sort_unstable();
            prop_assert!(places.iter().copied().eq((0..blocks).map(|block| block * 4096)));
        }
        let orders: HashSet<Vec<u64>> = played.threads.iter().map(|log| offsets(log)).collect();
        prop_assert_eq!(orders.len() as u32, if sequential { 1 } else { threads });
    }
}

#[test]
fn a_random_thread_with_a_part_stays_in_it() {
    let plan = workload(Pattern::Random, 64, 4).with(|access| {
        access.thread_share = ThreadShare::Parts;
        access.end = End { bytes: Some(4000 * 4096), ..End::default() };
    });
    let played = play(&plan, taking(10));
    for (thread, log) in (0u64..).zip(&played.threads) {
        assert_eq!(log.len(), 1000, "an equal share of the bytes");
        let seen: HashSet<u64> = offsets(log).into_iter().collect();
        let part: HashSet<u64> = (thread * 16..thread * 16 + 16).map(|block| block * 4096).collect();
        assert_eq!(seen, part);
    }
}

#[test]
fn a_pass_of_a_thread_with_a_share_is_its_share() {
    let end = End { time_ns: Some(S), time_check: TimeCheck::Pass, ..End::default() };
    let plan = workload(Pattern::Sequential, 40, 4).with(|access| access.end = end);
    // Ten blocks of 70 ms take 0.7 s, so there are two passes.
    for log in play(&plan, taking(70 * MS)).threads {
        assert_eq!(log.len(), 20);
    }
}

#[test]
fn lanes_that_share_a_source_ask_it_for_the_time_together() {
    let shared =
        &Mutex::new(Generator::for_threads(&timed(Pattern::Random, 64, TimeCheck::Operations(3))).remove(0));
    let (mut first, mut second) = (shared, shared);
    let mut may_end = Vec::new();
    for number in 0..6 {
        may_end.push(first.may_end());
        let lane = if number % 2 == 0 { &mut first } else { &mut second };
        assert!(matches!(lane.next(0), Next::Op { .. }));
    }
    assert_eq!(may_end, [true, false, false, true, false, false]);
}
