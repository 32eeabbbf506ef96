//! Spread of times: the mean stays, and the tail appears.

use super::{count, stack};
use crate::library::device_named;
use crate::ssd::scatter::{MOST_SPREAD, Scatter};
use crate::stack::Stack;
use crate::world::{Kind, Request};
use kurabe_core::random::Random;

/// Latencies of single requests of 4 KiB in ns, from the shortest.
fn latencies_ns(stack: &mut Stack, kind: Kind, requests: u64) -> Vec<u64> {
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
            // Four errors of a mean and of a deviation of 100,000 draws.
            assert!((mean / 1e6 - 1.0).abs() < 4.0 * spread / 316.0, "{spread}: {mean}");
            assert!((variance.sqrt() / 1e6 / spread - 1.0).abs() < 0.01, "{spread}: {variance}");
            assert!(times.iter().all(|time| *time > 1e5), "{spread}");
        }
    }
}

#[test]
fn reads_of_a_drive_with_a_spread_have_a_tail_and_the_same_mean() {
    let reads = |spread| {
        latencies_ns(&mut stack(&[("read_spread", spread), ("read_ahead", "0 B")]), Kind::Read, 20_000)
    };
    let (exact, spread) = (reads("0"), reads("0.1"));
    assert_eq!(of_thousand(&exact, 500), of_thousand(&exact, 999));
    // A tenth of the mean; the 99.9th of a thousand lies three deviations out. Four errors of the mean.
    assert!((mean(&spread) / mean(&exact) - 1.0).abs() < 0.003, "{} {}", mean(&spread), mean(&exact));
    assert!(of_thousand(&spread, 999) as f64 > 1.15 * of_thousand(&spread, 500) as f64);
    assert_eq!(spread, reads("0.1"));
}

#[test]
fn writes_that_wait_for_programs_have_a_tail_and_the_same_rate() {
    let rate = |spread| {
        let mut stack = stack(&[("program_spread", spread), ("buffer", "64 KiB")]);
        let list = latencies_ns(&mut stack, Kind::Write, 20_000);
        assert!(count(&stack.take_account(), "units-written") > 0.0);
        let waits: std::collections::BTreeSet<u64> = list.iter().copied().collect();
        (20_000.0 / mean(&list), waits.len())
    };
    let (exact, spread) = (rate("0"), rate("0.1"));
    // A buffer that is full takes a row when the first of the dies is done, which is a little earlier.
    assert!((spread.0 / exact.0 - 1.0).abs() < 0.05, "{spread:?} {exact:?}");
    assert!(spread.1 > 10 * exact.1, "{spread:?} {exact:?}");
}

#[test]
fn drives_of_today_with_kinds_of_pages_have_a_tail() {
    for name in ["samsung-870-qvo", "wd-black-sn770"] {
        let mut spec = device_named(name).unwrap();
        // Without misses of a mapping cache, which would be a tail as well.
        spec.set("ssd.mapping", "full").unwrap();
        let list = latencies_ns(&mut Stack::new(&spec, 1).unwrap(), Kind::Read, 3000);
        assert!(of_thousand(&list, 999) as f64 > 1.2 * of_thousand(&list, 500) as f64, "{name}");
    }
}
