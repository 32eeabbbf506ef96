//! Flushes as a figure of their own, and as the reason for slow writes.

use crate::explain::blind::{measured_on, model, profile, take_time, without_account};
use kurabe_compare::{TailOf, pair};
use kurabe_core::profile::{Profile, Step};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::{Direction, SyncRule};
use kurabe_explain::{CellLimit, LimitKind, Strength, limits, limits_from_outside};
use kurabe_stats::{CellFlush, FlushCall, cell_flush};

/// Returns the profile `quick`, with writes that are made durable in this way.
fn synced(sync: SyncRule) -> Profile {
    let mut profile = profile("quick", None);
    take_time(&mut profile, 200_000_000);
    profile.rules.runs = 3;
    for step in &mut profile.steps {
        if let Step::Io(step) = step {
            step.sync = sync;
        }
    }
    profile
}

fn small_write(cells: &[Cell]) -> &Cell {
    let is_it = |cell: &&Cell| cell.direction == Some(Direction::Write) && cell.label == "RND 4 KiB Q1 T1";
    cells.iter().find(is_it).expect("a small write")
}

fn limit_of(limits: Vec<CellLimit>, label: &str) -> CellLimit {
    limits.into_iter().find(|limit| limit.part == "write" && limit.label == label).expect("a limit")
}

const EACH: SyncRule = SyncRule {
    o_sync: false,
    data_only: true,
    every_writes: Some(1),
    page_range_flags: None,
    at_end: kurabe_core::workload::EndSync::None,
};

fn run(device: &str, profile: &Profile) -> RunRecord {
    measured_on(model(device), profile)
}

#[test]
fn a_flush_after_each_write_has_figures_of_its_own_and_is_the_reason() {
    for device in ["wd-red-3tb", "samsung-990-pro"] {
        let record = run(device, &synced(EACH));
        let cell = small_write(&record.cells);
        let Some(CellFlush::Separate(flush)) = cell_flush(cell) else { panic!("{device}: {cell:?}") };
        let syncs: u64 = cell.counted().map(|one| one.sync.completed).sum();
        assert_eq!((flush.call, flush.count), (FlushCall::Fdatasync, syncs), "{device}");
        assert!(flush.p50_ns <= flush.p99_ns && flush.mean_ns > 0.0, "{device}: {flush:?}");
        let side = |of: fn(&kurabe_core::record::Repetition) -> u64| -> f64 {
            cell.counted().map(|one| of(one) as f64).sum()
        };
        let (syncs_ns, writes_ns) =
            (side(|one| one.sync.latency.sum_ns), side(|one| one.write.latency.sum_ns));
        let share = flush.share.expect("a share");
        assert!((share - syncs_ns / (syncs_ns + writes_ns)).abs() < 1e-9 && share > 0.5, "{device}: {share}");
        let exact = limit_of(limits(&record), "RND 4 KiB Q1 T1").limit;
        assert_eq!((exact.kind, exact.strength), (LimitKind::Flush, Strength::Exact), "{exact:?}");
        let outside =
            limit_of(limits_from_outside(&without_account(record.clone())), "RND 4 KiB Q1 T1").limit;
        assert_eq!((outside.kind, outside.strength), (LimitKind::Flush, Strength::Strong), "{outside:?}");
        assert!(outside.sentence.en.contains("fdatasync") && outside.sentence.ja.contains("fdatasync"));
    }
}

#[test]
fn a_write_that_includes_its_flush_says_so() {
    let record = run("samsung-990-pro", &synced(SyncRule { o_sync: true, ..SyncRule::default() }));
    assert_eq!(cell_flush(small_write(&record.cells)), Some(CellFlush::Included(FlushCall::OpenSync)));
    let read = record.cells.iter().find(|cell| cell.direction == Some(Direction::Read)).expect("a read");
    assert_eq!(cell_flush(read), None);
    let limit = limit_of(limits_from_outside(&without_account(record)), "RND 4 KiB Q1 T1").limit;
    assert_eq!((limit.kind, limit.strength), (LimitKind::Flush, Strength::Likely), "{limit:?}");
}

#[test]
fn writes_without_a_flush_have_none() {
    let record = run("samsung-990-pro", &synced(SyncRule::default()));
    assert!(record.cells.iter().all(|cell| cell_flush(cell).is_none()));
    let all = limits(&record).into_iter().chain(limits_from_outside(&without_account(record)));
    assert!(all.into_iter().all(|limit| limit.limit.kind != LimitKind::Flush));
}

#[test]
fn the_samples_of_gnome_disks_wait_for_their_flush() {
    let record = run("samsung-990-pro", &profile("gnome-disks", None));
    let limit = limit_of(limits_from_outside(&without_account(record)), "100 × 10 MiB").limit;
    assert_eq!((limit.kind, limit.strength), (LimitKind::Flush, Strength::Strong), "{limit:?}");
}

#[test]
fn flushes_of_two_runs_are_compared() {
    let [one, two] = ["samsung-990-pro", "samsung-pm963"].map(|device| run(device, &synced(EACH)));
    let compared = pair(&one, &two, 0.05);
    let flushes = |cell: &kurabe_compare::ComparedCell| {
        cell.tails
            .iter()
            .filter(|tail| tail.of == TailOf::Flushes)
            .map(|tail| tail.fraction)
            .collect::<Vec<_>>()
    };
    let cell = compared
        .cells
        .iter()
        .find(|cell| cell.name.direction == Some(Direction::Write) && cell.name.label == "RND 4 KiB Q1 T1");
    assert_eq!(flushes(cell.expect("the small write"))[0], 0.5);
    let reads = compared.cells.iter().filter(|cell| cell.name.direction == Some(Direction::Read));
    assert!(reads.into_iter().all(|cell| flushes(cell).is_empty()));
}
