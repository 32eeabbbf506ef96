//! The slowest operations of two runs.

use kurabe_compare::{Pair, pair};
use kurabe_core::record::{Cell, LatencyRecord, Measure, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_stats::{Histogram, Verdict};

/// Returns a run of one cell of random reads. Each repetition has `fast` operations of 100 µs and
/// `slow` ones of the given time in µs.
fn run(fast: usize, slow: usize, slow_us: &[u64]) -> RunRecord {
    let text = include_str!("../../../../store/tests/fixtures/export-v2-rounds.json");
    let mut file: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let mut run: RunRecord = serde_json::from_value(file["run"].take()).expect("a run");
    let cell: &mut Cell = &mut run.cells[0];
    (cell.direction, cell.measure) = (Some(Direction::Read), Measure::Rate);
    let first = cell.repetitions[0].clone();
    let repetition = |slow_us: &u64| {
        let mut repetition = first.clone();
        let mut histogram = Histogram::default();
        (0..fast).for_each(|_| histogram.record(100_000));
        (0..slow).for_each(|_| histogram.record(slow_us * 1000));
        let latency: LatencyRecord = histogram.to_record();
        repetition.discarded = false;
        repetition.elapsed_ns = 1_000_000_000;
        repetition.read.completed = latency.count;
        repetition.read.bytes = latency.count * 4096;
        repetition.read.latency = latency;
        repetition
    };
    cell.repetitions = slow_us.iter().map(repetition).collect();
    run
}

/// Returns the percentiles that are compared, with their verdicts.
fn verdicts(compared_pair: &Pair) -> Vec<(f64, Verdict)> {
    compared_pair.cells[0].tails.iter().map(|tail| (tail.fraction, tail.compared.verdict)).collect()
}

#[test]
fn the_slowest_operations_can_differ_where_the_rates_do_not() {
    let one = run(3920, 80, &[1000, 1020, 980, 1010]);
    let two = run(3920, 80, &[3000, 3100, 2900, 3050]);
    let compared_pair = pair(&one, &two, 0.05);
    assert_eq!(compared_pair.cells[0].compared.map(|compared| compared.verdict), Some(Verdict::Same));
    assert_eq!(
        verdicts(&compared_pair),
        [(0.5, Verdict::Same), (0.99, Verdict::Slower), (0.999, Verdict::Slower)]
    );
    let tail = &compared_pair.cells[0].tails[1];
    assert!((tail.compared.speed.value - 1.0 / 3.0).abs() < 0.02, "{tail:?}");
    assert!((tail.other_ns / 3.0125e6 - 1.0).abs() < 0.02 && tail.count == 4, "{tail:?}");
    assert_eq!(verdicts(&pair(&two, &one, 0.05))[1], (0.99, Verdict::Faster));
}

#[test]
fn a_percentile_takes_enough_operations_in_every_repetition() {
    let slow = [1000, 1020, 980];
    assert_eq!(
        verdicts(&pair(&run(360, 8, &slow), &run(360, 8, &slow), 0.05)).len(),
        2,
        "p50, and 368 tell p99"
    );
    assert_eq!(verdicts(&pair(&run(359, 8, &slow), &run(360, 8, &slow), 0.05)).len(), 1, "367 do not");
    let short = {
        let mut run = run(4000, 80, &slow);
        run.cells[0].repetitions[1] = self::run(100, 8, &[1000]).cells[0].repetitions[0].clone();
        run
    };
    assert_eq!(verdicts(&pair(&short, &short, 0.05)).len(), 1, "no repetition is left out");
    assert_eq!(
        verdicts(&pair(&run(4000, 80, &[1000]), &run(4000, 80, &[1000]), 0.05)),
        [],
        "one shows no scatter"
    );
}
