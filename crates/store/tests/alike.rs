//! Equal runs that the store pools.

use kurabe_core::digest::{Digests, RunDigest, Summary};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_store::Archive;
use kurabe_testkit::sample::sample_record;
use std::collections::BTreeMap;

/// By facts, label and day: number, sum and sum of squares of the runs' figures.
type PooledSums = BTreeMap<(Vec<String>, String, String), [f64; 3]>;

fn sums_of(runs: &[RunSummary], digests: &Digests, day_chars: usize) -> PooledSums {
    let by_id = digests.by_id();
    let mut sums = PooledSums::new();
    for run in runs {
        let digest = by_id[run.id.as_str()];
        let own = Summary { deviation: 0.0, count: 1, ..digest.figures[0].1 };
        let Summary { mean, deviation, count } = digest.among.first().copied().unwrap_or(own);
        let count = f64::from(count);
        let facts = digest.facts.iter().map(|word| digests.words[*word as usize].clone()).collect();
        let key = (facts, format!("{:?}", run.labels), run.started_at[..day_chars].to_owned());
        let sum = sums.entry(key).or_default();
        for (sum, more) in sum.iter_mut().zip([
            count,
            count * mean,
            deviation * deviation * (count - 1.0) + count * mean * mean,
        ]) {
            *sum += more;
        }
    }
    sums
}

pub fn runs_that_are_alike_add_up_to_the_same(store: &dyn Archive) {
    let digest = |run: &RunRecord| RunDigest {
        facts: vec![format!("{:?}", run.header.environment.machine.kernel)],
        figures: vec![(
            "cell".to_owned(),
            Summary { mean: run.cells[0].repetitions[0].elapsed_ns as f64 / 1e9, deviation: 9.0, count: 2 },
        )],
    };
    let run = |number: u64| {
        let mut run = sample_record();
        run.header.identity = format!("0190a1b2-c3d4-7e5f-8000-{number:012x}");
        run.header.started_at = format!("2026-{:02}-{:02}T12:00:00+09:00", number % 2 + 1, number % 4 + 1);
        run.header.environment.machine.kernel = Some(format!("Linux 6.{}", number % 3));
        run.cells[0].repetitions[0].elapsed_ns += number * 1_000_000;
        if number.is_multiple_of(5) {
            run.labels.insert("shelf".to_owned(), "2".to_owned());
        }
        run
    };
    let arrivals = store.take((0..40).map(run).collect(), 1, &digest).unwrap();
    assert!(arrivals.iter().all(Result::is_ok));
    let (all, digests) = (store.list().unwrap(), store.digests(1, &digest, &mut |_, _| {}).unwrap());
    for day_chars in [0, 7, 10] {
        let (runs, pooled) = store.pooled(Some(day_chars), 1, &digest, &mut |_, _| {}).unwrap();
        let (got, expected) = (sums_of(&runs, &pooled, day_chars), sums_of(&all, &digests, day_chars));
        assert_eq!(got.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (key, sums) in &expected {
            for (one, other) in got[key].iter().zip(sums) {
                assert!((one - other).abs() <= other.abs() * 1e-12, "{key:?}: {:?}, {sums:?}", got[key]);
            }
        }
    }
    let (runs, _) = store.pooled(None, 1, &digest, &mut |_, _| {}).unwrap();
    assert_eq!(runs.len(), 40, "each for itself");
    // With another version, the digest of each run is computed separately.
    let (runs, pooled) = store.pooled(Some(0), 2, &digest, &mut |_, _| {}).unwrap();
    assert!(runs.len() == 40 && pooled.runs.iter().all(|run| run.among.is_empty()));
}
