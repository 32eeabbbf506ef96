//! Equal runs that the store pools.

use crate::memory::MemoryStore;
use kurabe_core::digest::{Digester, Digests, RunDigest, Summary};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_store::{Archive, SqliteStore};
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

/// Returns a digest that many runs share but for their figure.
fn digest(run: &RunRecord) -> RunDigest {
    RunDigest {
        facts: vec![format!("{:?}", run.header.environment.machine.kernel)],
        figures: vec![(
            "cell".to_owned(),
            Summary { mean: run.cells[0].repetitions[0].elapsed_ns as f64 / 1e9, deviation: 9.0, count: 2 },
        )],
    }
}

const DIGESTER: Digester = Digester { version: 1, digest };

#[test]
fn runs_that_are_alike_add_up_to_the_same() {
    assert_sums(&MemoryStore::new(DIGESTER));
    let directory = tempfile::tempdir().unwrap();
    assert_sums(&SqliteStore::open(&directory.path().join("kurabe.db"), DIGESTER).unwrap());
}

#[cfg(feature = "postgres")]
#[test]
fn runs_of_a_database_that_are_alike_add_up_to_the_same() {
    let Some(server) = crate::postgres::server() else { return };
    let opened = |digester| crate::postgres::opened_with(&server, digester).unwrap();
    assert_sums(&*opened(DIGESTER));
    // With another version, the digest of each run is computed separately.
    let newer = opened(Digester { version: 2, ..DIGESTER });
    let (runs, pooled) = newer.pooled(Some(0), &mut |_, _| {}).unwrap();
    assert!(runs.len() == 40 && pooled.runs.iter().all(|run| run.among.is_empty()));
}

/// Asserts that 40 runs have the same sums, pooled or not.
fn assert_sums(store: &dyn Archive) {
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
    let arrivals = store.take((0..40).map(run).collect()).unwrap();
    assert!(arrivals.iter().all(Result::is_ok));
    let (all, digests) = (store.list().unwrap(), store.digests(&mut |_, _| {}).unwrap());
    for day_chars in [0, 7, 10] {
        let (runs, pooled) = store.pooled(Some(day_chars), &mut |_, _| {}).unwrap();
        let (got, expected) = (sums_of(&runs, &pooled, day_chars), sums_of(&all, &digests, day_chars));
        assert_eq!(got.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (key, sums) in &expected {
            for (one, other) in got[key].iter().zip(sums) {
                assert!((one - other).abs() <= other.abs() * 1e-12, "{key:?}: {:?}, {sums:?}", got[key]);
            }
        }
    }
    let (runs, _) = store.pooled(None, &mut |_, _| {}).unwrap();
    assert_eq!(runs.len(), 40, "each for itself");
}
