//! Concurrent workloads: each is a cell with its own queue, start and end.

use crate::copy_common::{Ran, run};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_engine::{Stop, TargetOptions, test_file_name};
use kurabe_sim::{ModelTarget, device_named};
use std::path::Path;

/// Duration of a 4 KiB operation on a medium with 1 µs and 5.2 GB/s.
const OPERATION_NS: f64 = 1788.0;

fn profile(steps: &str) -> String {
    format!(
        r#"
schema = 1
name = "joint"
title = {{ en = "test", ja = "試験" }}
statistic = "mean"
source = "test"

[rules]
size = "1 MiB"
runs = 1
time = "10 ms"
order = "by-step"
direct = false
{steps}
"#
    )
}

/// Returns an `io` step of 4 KiB with further keys.
fn step(keys: &str) -> String {
    format!("\n[[step]]\nkind = \"io\"\nblock_size = \"4 KiB\"\npattern = \"random\"\n{keys}\n")
}

fn on_model(steps: &str) -> Vec<Cell> {
    let profile = kurabe_profile::parse_profile("joint.toml", &profile(steps)).unwrap();
    let mut model = ModelTarget::new(&device_named("ideal-ram-disk").unwrap(), 1).unwrap();
    kurabe_virtual::measure(&mut model, &profile, &vec![None; profile.steps.len()], &Stop::default())
        .unwrap()
        .0
}

fn reads(cell: &Cell) -> f64 {
    cell.repetitions[0].read.completed as f64
}

fn close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value} is not {expected}");
}

#[test]
fn two_at_once_share_what_one_has_alone() {
    let reader = step("directions = [\"read\"]");
    let beside = step("directions = [\"read\"]\nbeside = true");
    let alone = reads(&on_model(&reader)[0]);
    close(alone, 10e6 / OPERATION_NS);
    let both = on_model(&format!("{reader}{beside}"));
    let places: Vec<(u32, u32)> = both.iter().map(|cell| (cell.index, cell.step_index)).collect();
    assert_eq!(places, [(0, 0), (1, 1)]);
    both.iter().for_each(|cell| close(reads(cell), alone / 2.0));
    // Each has its own time breakdown, including the wait for the other.
    for cell in &both {
        let account = cell.repetitions[0].account.as_ref().unwrap();
        close(account.latency_ns as f64 / account.operations as f64, 2.0 * OPERATION_NS);
    }
    // A queue that is four times as deep gets four times the share.
    let deep = on_model(&format!("{reader}{}", step("directions = [\"read\"]\nbeside = true\niodepth = 4")));
    close(reads(&deep[1]), 4.0 * reads(&deep[0]));
}

#[test]
fn each_begins_and_ends_by_itself() {
    let late = step("directions = [\"write\"]\nbeside = true\nstart_delay = \"4 ms\"\ntime = \"3 ms\"");
    let cells = on_model(&format!("{}{late}", step("directions = [\"read\"]")));
    let [first, second] = [&cells[0].repetitions[0], &cells[1].repetitions[0]];
    assert_eq!(second.started_ns - first.started_ns, 4_000_000);
    close(second.write.completed as f64, 3e6 / OPERATION_NS / 2.0);
    close(first.read.completed as f64, (7e6 + 3e6 / 2.0) / OPERATION_NS);
    assert!((2_900_000..3_010_000).contains(&second.elapsed_ns), "{}", second.elapsed_ns);
}

#[test]
fn a_thread_that_thinks_leaves_the_device_alone_meanwhile() {
    let cells = on_model(&step("directions = [\"read\"]\nthink_time = \"100 us\"\nthink_operations = 10"));
    close(reads(&cells[0]), 10.0 * 10e6 / (100_000.0 + 10.0 * OPERATION_NS));
    // All operations of a queue complete before the pause.
    let deep = on_model(&step(
        "directions = [\"read\"]\nthink_time = \"1 ms\"\nthink_operations = 8\niodepth = 8\nthreads = 2",
    ));
    close(reads(&deep[0]), 8.0 * 2.0 * 10.0);
}

#[test]
fn those_who_share_keep_their_shares() {
    let one = step("directions = [\"read\"]\nflow = 3");
    let other = step("directions = [\"read\"]\nbeside = true\nflow = 1\niodepth = 8");
    let cells = on_model(&format!("{one}{other}"));
    close(reads(&cells[0]), 3.0 * reads(&cells[1]));
    // A third workload in another group runs at full speed, and a workload that continues alone
    // waits for no other.
    let short = step("directions = [\"read\"]\nbeside = true\nflow = 1\ntime = \"2 ms\"");
    let cells = on_model(&format!("{}{short}", step("directions = [\"read\"]\nflow = 1")));
    close(reads(&cells[1]), 1e6 / OPERATION_NS);
    close(reads(&cells[0]), 9e6 / OPERATION_NS);
}

#[test]
fn one_may_end_for_all() {
    let short = step("directions = [\"read\"]\nbeside = true\nbytes = \"4000 KiB\"\nends_all = true");
    let cells = on_model(&format!("{}{short}", step("directions = [\"read\"]")));
    assert_eq!(reads(&cells[1]), 1000.0);
    close(reads(&cells[0]), 1000.0);
}

/// Runs steps on a test file in its own folder.
fn on_folder(folder: &Path, steps: &str) -> Ran {
    let options = TargetOptions {
        size_bytes: 1 << 20,
        test_file_name: test_file_name("joint", 1),
        ..TargetOptions::default()
    };
    let ran = run(folder, &options, &profile(steps), &|_, _| {});
    assert!(ran.result.is_ok(), "{:?}", ran.result);
    ran
}

#[test]
fn real_jobs_at_once_do_each_its_own_work() {
    let dir = tempfile::tempdir().unwrap();
    let steps = format!(
        "{}{}{}",
        step("directions = [\"read\"]\nbytes = \"256 KiB\""),
        step(
            "directions = [\"write\"]\nbeside = true\nbytes = \"128 KiB\"\niodepth = 4\n\
             sync_every_writes = 8\ndata_only = true"
        ),
        step(
            "directions = [\"read\"]\nbeside = true\nbytes = \"64 KiB\"\nthreads = 2\n\
             start_delay = \"30 ms\"\nthink_time = \"1 ms\""
        ),
    );
    let ran = on_folder(dir.path(), &steps);
    let cells = ran.cells();
    let done = cells.iter().map(|cell| {
        let repetition = &cell.repetitions[0];
        (cell.direction, repetition.read.completed, repetition.write.completed, repetition.sync.completed)
    });
    let (read, write) = (Some(Direction::Read), Some(Direction::Write));
    assert_eq!(done.collect::<Vec<_>>(), [(read, 64, 0, 0), (write, 0, 32, 4), (read, 16, 0, 0)]);
    let started = cells.iter().map(|cell| cell.repetitions[0].started_ns).collect::<Vec<_>>();
    assert_eq!((started[1] - started[0], started[2] - started[0]), (0, 30_000_000));
    // Eight operations of a thread with seven pauses between them.
    assert!(cells[2].repetitions[0].elapsed_ns > 7_000_000);
    assert_eq!(cells[1].workload.as_ref().unwrap().iodepth, 4);
}

#[test]
fn real_jobs_share_and_end_together() {
    let dir = tempfile::tempdir().unwrap();
    let steps = format!(
        "{}{}",
        step("directions = [\"read\"]\nbytes = \"2 MiB\"\nflow = 4\nends_all = true"),
        step("directions = [\"read\"]\nbeside = true\niodepth = 8\nflow = 1\ntime = \"1 min\""),
    );
    let ran = on_folder(dir.path(), &steps);
    let done: Vec<f64> = ran.cells().into_iter().map(reads).collect();
    assert_eq!(done[0], 512.0);
    // At the end, one more may have been issued, in addition to those in flight.
    assert!((128.0..=137.0).contains(&done[1]), "{done:?}");
}
