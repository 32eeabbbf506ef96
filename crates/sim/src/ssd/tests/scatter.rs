//! Spread of times: the mean is unchanged, and a tail appears.

use super::{count, drive, share, stack};
use crate::library::device_named;
use crate::ssd::config::MOST_SPREAD;
use crate::ssd::scatter::Scatter;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use kurabe_core::random::Random;

/// Returns the latencies of single 4 KiB requests in ns, in ascending order.
fn latencies_ns(stack: &mut Stack, kind: RequestKind, requests: u64) -> Vec<u64> {
    let mut random = Random::new(11, 3);
    let places = stack.capacity_bytes() / 4096;
    let mut list: Vec<u64> = (0..requests)
        .map(|token| {
            let start_ns = stack.now_ns();
            stack.submit(start_ns, Request::new(kind, random.below(places) * 4096, 4096), token);
            loop {
                if let Some(completion) = stack.take_completion() {
                    break completion.at_ns - start_ns;
                }
                stack.advance(stack.next_wake_ns().unwrap());
            }
        })
        .collect();
    list.sort_unstable();
    list
}

fn mean(list: &[u64]) -> f64 {
    list.iter().sum::<u64>() as f64 / list.len() as f64
}

fn of_thousand(list: &[u64], rank: usize) -> u64 {
    list[list.len() * rank / 1000]
}

#[test]
fn a_spread_has_its_deviation_and_leaves_the_mean() {
    for spread in [0.05, MOST_SPREAD] {
        let scatter = Scatter { seed: 7, read: spread, program: spread };
        for of in [Scatter::read_ns, Scatter::program_ns] {
            let times: Vec<f64> = (0..100_000).map(|row| of(&scatter, row, 1_000_000) as f64).collect();
            let mean = times.iter().sum::<f64>() / 1e5;
            let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 1e5;
            // Tolerance: four standard errors of the mean and of the deviation of 100,000 draws.
            assert!((mean / 1e6 - 1.0).abs() < 4.0 * spread / 316.0, "{spread}: {mean}");
            assert!((variance.sqrt() / 1e6 / spread - 1.0).abs() < 0.01, "{spread}: {variance}");
            assert!(times.iter().all(|time| *time > 1e5), "{spread}");
        }
    }
}

#[test]
fn reads_of_a_drive_with_a_spread_have_a_tail_and_the_same_mean() {
    let reads = |spread| {
        latencies_ns(&mut stack(&[("read_spread", spread), ("read_ahead", "0 B")]), RequestKind::Read, 20_000)
    };
    let (exact, spread) = (reads("0"), reads("0.1"));
    assert_eq!(of_thousand(&exact, 500), of_thousand(&exact, 999));
    // A spread of a tenth of the mean; the 99.9th percentile is three deviations out. Tolerance:
    // four standard errors of the mean.
    assert!((mean(&spread) / mean(&exact) - 1.0).abs() < 0.003, "{} {}", mean(&spread), mean(&exact));
    assert!(of_thousand(&spread, 999) as f64 > 1.15 * of_thousand(&spread, 500) as f64);
    assert_eq!(spread, reads("0.1"));
}

#[test]
fn writes_that_wait_for_programs_have_a_tail_and_the_same_rate() {
    let rate = |spread| {
        let mut stack = stack(&[("program_spread", spread), ("buffer", "64 KiB")]);
        let list = latencies_ns(&mut stack, RequestKind::Write, 20_000);
        assert!(count(&stack.take_account(), "units-written") > 0.0);
        let waits: std::collections::BTreeSet<u64> = list.iter().copied().collect();
        (20_000.0 / mean(&list), waits.len())
    };
    let (exact, spread) = (rate("0"), rate("0.1"));
    // A full buffer accepts a row when the first of the dies is done, which is slightly earlier.
    assert!((spread.0 / exact.0 - 1.0).abs() < 0.05, "{spread:?} {exact:?}");
    assert!(spread.1 > 10 * exact.1, "{spread:?} {exact:?}");
}

#[test]
fn drives_of_today_with_kinds_of_pages_have_a_tail() {
    for name in ["samsung-870-qvo", "wd-black-sn770"] {
        let mut spec = device_named(name).unwrap();
        // Without misses of a mapping cache, which would also cause a tail.
        spec.set("ssd.mapping", "full").unwrap();
        let list = latencies_ns(&mut Stack::new(&spec, 1).unwrap(), RequestKind::Read, 3000);
        assert!(of_thousand(&list, 999) as f64 > 1.2 * of_thousand(&list, 500) as f64, "{name}");
    }
}

#[test]
fn kinds_of_pages_that_program_in_their_own_times_have_a_tail_and_the_same_rate() {
    let writes = |times| {
        // One die and one row in memory: each write waits for a program of its own kind of page.
        let changes = [("program_time", "900 us"), ("page_program_times", times), ("buffer", "16 KiB")];
        let one = [("channels", "1"), ("dies", "1"), ("planes", "1"), ("page", "16 KiB")];
        let mut stack = stack(&[&changes[..], &one[..], &[("capacity", "512 MiB")]].concat());
        latencies_ns(&mut stack, RequestKind::Write, 3000)
    };
    let (alike, kinds) = (writes("[]"), writes("[[300], [600], [1800]]"));
    assert!((mean(&kinds) / mean(&alike) - 1.0).abs() < 0.01, "{} {}", mean(&kinds), mean(&alike));
    assert!(of_thousand(&kinds, 999) as f64 > 1.5 * of_thousand(&alike, 999) as f64);
}

/// Returns sorted latencies and time account of reads every 10 ms for a minute, from a drive that
/// refreshes all rows within this many days.
fn reads_of_a_minute(days: &str) -> (Vec<u64>, TimeAccount) {
    let mut stack = stack(&[("refresh_days", days), ("read_ahead", "0 B"), ("capacity", "8 GiB")]);
    let mut random = Random::new(3, 3);
    let places = stack.capacity_bytes() / 4096;
    let mut list: Vec<u64> = (0..6000)
        .map(|index| {
            stack.advance(index * 10_000_000);
            stack.submit(
                stack.now_ns(),
                Request::new(RequestKind::Read, random.below(places) * 4096, 4096),
                index,
            );
            let start_ns = stack.now_ns();
            stack.advance(stack.next_wake_ns().unwrap());
            stack.take_completion().unwrap().at_ns - start_ns
        })
        .collect();
    list.sort_unstable();
    (list, stack.take_account())
}

#[test]
fn old_data_are_rewritten_beside_reads_which_sometimes_wait_for_it() {
    let (never, off) = reads_of_a_minute("0");
    let (list, on) = reads_of_a_minute("0.01");
    assert_eq!((count(&off, "rows-refreshed"), never[0]), (0.0, never[5999]));
    // All 8 GiB in 864 s: a minute has its share of the rows, except those that became due on each
    // die after its last read.
    let rows = 8.0 * f64::from(1 << 30) / 16_384.0 * 60.0 / 864.0;
    assert!((count(&on, "rows-refreshed") / rows - 1.0).abs() < 0.03, "{on:?} {rows}");
    assert_eq!(of_thousand(&list, 500), of_thousand(&never, 500));
    assert!(of_thousand(&list, 999) > 2 * of_thousand(&never, 999), "{list:?}");
    let causes = ["refresh", "unexplained"].map(|cause| share(&on, cause));
    assert!(causes[0] > 0.0 && causes[1] == 0.0, "{causes:?}");
    assert_eq!(list, reads_of_a_minute("0.01").0);
}

#[test]
fn a_drive_that_could_do_nothing_but_rewrite_is_refused() {
    let spec = drive(&[("refresh_days", "0.0001")]);
    let error = Stack::new(&spec, 1).err().unwrap();
    assert!(error.what().en.starts_with("ssd.refresh_days"), "{error}");
}
