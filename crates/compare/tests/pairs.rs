//! Runs of all kinds side by side.

use kurabe_compare::{CellKey, Weight, differences, pair, values};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::{Direction, Pattern};
use kurabe_stats::Verdict;

/// A run as the store exports it.
fn run(text: &str) -> RunRecord {
    let mut file: serde_json::Value = serde_json::from_str(text).expect("JSON");
    serde_json::from_value(file["run"].take()).expect("a run")
}

fn measured() -> RunRecord {
    run(include_str!("../../store/tests/fixtures/export-v2-rounds.json"))
}

fn imported() -> RunRecord {
    run(include_str!("../../store/tests/fixtures/export-v2-imported.json"))
}

/// The same cell with its counted repetitions taking so many times as long.
fn stretched(record: &RunRecord, times: f64) -> RunRecord {
    let mut slower = record.clone();
    for repetition in slower.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.elapsed_ns = (repetition.elapsed_ns as f64 * times) as u64;
    }
    slower
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let one = measured();
    let same = pair(&one, &one, 0.05);
    assert_eq!((same.cells.len(), same.differences.len()), (1, 0));
    assert!(same.only_baseline.is_empty() && same.only_other.is_empty());
    let compared = same.cells[0].compared.expect("values");
    assert!((compared.speed.value - 1.0).abs() < 1e-12 && (compared.superiority - 0.5).abs() < 1e-12);
}

#[test]
fn twice_the_time_is_half_the_speed() {
    let one = measured();
    let compared = pair(&one, &stretched(&one, 2.0), 0.05).cells[0].compared.expect("values");
    assert!((compared.speed.value - 0.5).abs() < 1e-3, "{compared:?}");
    assert_eq!(compared.verdict, Verdict::Slower);
}

#[test]
fn a_workload_meets_its_like_under_another_name() {
    let (theirs, mut ours) = (imported(), measured());
    let key = CellKey::of(&theirs.cells[0]);
    let cell: &mut Cell = &mut ours.cells[0];
    cell.label = "whatever".to_owned();
    cell.direction = Some(Direction::Read);
    let workload = cell.workload.as_mut().expect("a workload");
    (workload.pattern, workload.iodepth, workload.threads) = (Pattern::Sequential, 8, 1);
    workload.block_sizes[0].size_bytes = 1 << 20;
    assert_eq!(CellKey::of(&ours.cells[0]), key);
    let both = pair(&theirs, &ours, 0.05);
    assert_eq!((both.cells.len(), both.only_baseline.len()), (1, 1));
    assert!(both.cells[0].baseline.printed && both.cells[0].baseline.count == 1);
    // Of one figure nobody knows how sure it is.
    assert_eq!(both.cells[0].compared.map(|one| one.verdict), Some(Verdict::NotEnough { more: None }));
}

#[test]
fn another_tool_and_its_statistic_are_said_first() {
    let found = differences(&imported(), &measured());
    let decisive: Vec<&str> =
        found.iter().take_while(|one| one.weight == Weight::Decisive).map(|one| one.key).collect();
    assert!(decisive.contains(&"tool") && decisive.contains(&"statistic"), "{decisive:?}");
}

#[test]
fn a_repetition_that_sampled_counts_once() {
    let whole = run(include_str!("../../store/tests/fixtures/export-v2.json"));
    let sampled = whole.cells.iter().find(|cell| cell.repetitions.iter().any(|one| !one.samples.is_empty()));
    let cell = sampled.expect("a cell with samples");
    assert_eq!(values(cell).len(), cell.counted().count());
}
