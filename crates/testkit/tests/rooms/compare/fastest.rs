//! Determines the fastest of several runs.

use kurabe_compare::fastest;
use kurabe_core::record::RunRecord;
use kurabe_testkit::ssd;

const MARGIN: f64 = 0.05;

/// Returns a run whose cells take these multiples of the time, the last of which applies to all
/// further cells.
fn run(times: &[u64]) -> RunRecord {
    let mut run = ssd::run();
    for (place, cell) in run.cells.iter_mut().enumerate() {
        for repetition in &mut cell.repetitions {
            repetition.elapsed_ns *= times[place.min(times.len() - 1)];
        }
    }
    run
}

#[test]
fn who_is_slower_than_none_in_any_cell_is_the_fastest() {
    let [slow, fast, same] = [run(&[4]), run(&[1]), run(&[1])];
    let standings = fastest(&[&slow, &fast, &slow], MARGIN).unwrap();
    assert_eq!((standings.unbeaten, standings.is_decided), (vec![1], true));
    assert_eq!(standings.leads, [0, standings.cell_count, 0]);
    assert_eq!(fastest(&[&slow, &fast, &same], MARGIN).unwrap().unbeaten, [1, 2]);
}

#[test]
fn who_is_slower_in_one_cell_is_not_the_fastest() {
    let [one, other, slow] = [run(&[4, 1]), run(&[1, 4]), run(&[8])];
    let standings = fastest(&[&one, &other, &slow], MARGIN).unwrap();
    assert!(standings.unbeaten.is_empty() && standings.is_decided, "{standings:?}");
    assert_eq!(standings.leads, [standings.cell_count - 1, 1, 0]);
}

#[test]
fn nothing_is_said_where_nothing_is_clear_or_there_is_nothing_to_rank() {
    let same = run(&[1]);
    let standings = fastest(&[&same, &same, &same], MARGIN).unwrap();
    assert!(!standings.is_decided, "{standings:?}");
    assert_eq!(fastest(&[&same, &same], MARGIN), None);
    let mut other = run(&[1]);
    other.cells.clear();
    assert_eq!(fastest(&[&same, &same, &other], MARGIN), None);
}
