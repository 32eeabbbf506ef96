//! Runs of every kind that a record can hold: every kind of step, a run in rounds, and a run of another tool.

use super::{sample_cell, sample_header};
use crate::{figure, figure_of, imported_cell, planned_cell};
use kurabe_core::environment::Environment;
use kurabe_core::imported::{
    Correction, FigureOf, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic, Quantity,
    SeriesAxis,
};
use kurabe_core::profile::{Profile, Task};
use kurabe_core::record::{Cell, Measure, RunHeader, RunRecord, RunStatus, Sample, Traffic};
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::BTreeMap;

const KINDS: &str = r#"
schema = 1
name = "kinds"
title = { en = "Every kind of step", ja = "すべての種類" }
source = "written for a test"
statistic = "mean"
as_printed = { unit = "MB/s", bytes = 1024000 }
[rules]
size = "1 MiB"
whole_device = true
runs = 1
time = "1 s"
order = "by-step"
[[precondition]]
directions = ["write"]
pattern = "sequential"
block_size = "128 KiB"
passes = 2
[[step]]
kind = "io"
id = "rewrite"
pattern = "random"
block_size = "4 KiB"
directions = ["mix"]
rewrite_every_reads = 10
thread_share = "parts"
threads = 2
time = "1 s"
time_check = "operations"
time_check_operations = 64
[[step]]
kind = "positional"
samples = 2
sample_size = "64 KiB"
pre_read = "4 KiB"
alignment = "4 KiB"
directions = ["read", "write"]
sync = true
[[step]]
kind = "access-time"
samples = 3
block_size = "4 KiB"
alignment = "4 KiB"
order = "glib"
seed = 42
first_discarded = true
by_distance = true
[[step]]
kind = "copy"
id = "copy"
chunk = "64 KiB"
[[step]]
kind = "replay"
trace = "boot.ktrace"
timing = "timestamps"
speed = 2.0
iodepth = 16
[[derived]]
label = { en = "DelayRatio", ja = "DelayRatio" }
formula = "copy.within.s / (copy.from_memory.s + copy.to_memory.s)"
meaning = { en = "lower is smoother", ja = "小さいほど滑らか" }
"#;

/// Stands in a profile of its own; the samples have it beside the others, as a record may.
const COMMAND: &str = r#"
schema = 1
name = "command"
title = { en = "Command", ja = "コマンド" }
statistic = "mean"
[rules]
size = "1 MiB"
runs = 1
time = "1 s"
[[step]]
kind = "command"
label = "git pull"
git = { files = 20, changed_files = 2, commits = 1 }
prepare = [["git", "init", "{work}"]]
command = ["git", "-C", "{work}", "pull"]
restore = [["git", "-C", "{work}", "reset"]]
cold = true
"#;

const ROUNDS: &str = r#"
schema = 1
name = "rounds"
title = { en = "Rounds", ja = "ラウンド" }
source = "written for a test"
statistic = "mean"
[rules]
size = "1 MiB"
runs = 1
time = "1 s"
[rounds]
most = 7
window = 5
excursion_percent = 20
slope_percent = 10
tracked = "iops"
tracked_cells = [{ label = "RND 4 KiB Q1 T1", direction = "write" }]
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["write"]
"#;

/// The cells of a task, each with one repetition.
fn cells(task: &Task) -> impl Iterator<Item = Cell> {
    task.cells.iter().map(|plan| {
        let sample = sample_cell(0);
        let mut cell = Cell {
            index: 0,
            engine: sample.engine,
            repetitions: sample.repetitions,
            ..planned_cell(task, plan)
        };
        cell.repetitions.truncate(1);
        let repetition = &mut cell.repetitions[0];
        repetition.discarded = false;
        if task.workload().is_none() {
            cell.engine = None;
            let at = [0, 524_288, 8192];
            repetition.samples =
                at.map(|offset_bytes| Sample { offset_bytes, bytes: 65_536, elapsed_ns: 70_001 }).to_vec();
        }
        if cell.measure == Measure::Duration {
            cell.repetitions[0].samples.clear();
            cell.repetitions[0].traffic = Some(Traffic {
                read_operations: 3,
                read_bytes: 1_048_575,
                write_operations: 4,
                write_bytes: 1_048_576,
            });
        }
        cell
    })
}

fn profile(source: &str) -> Profile {
    Profile::parse("sample.toml", source).unwrap_or_else(|error| panic!("{error:?}"))
}

fn run(id: &str, profile: Profile, all: impl Fn(&Profile) -> Vec<Cell>) -> RunRecord {
    let mut cells = all(&profile);
    for (index, cell) in cells.iter_mut().enumerate() {
        cell.index = index as u32;
    }
    RunRecord {
        header: RunHeader { id: id.to_owned(), profile: Some(profile), ..sample_header() },
        status: RunStatus::Complete,
        ended_at: Some("2026-01-31T12:00:09Z".to_owned()),
        error: None,
        labels: BTreeMap::new(),
        fill: None,
        notices: Vec::new(),
        cells,
        health_after: None,
    }
}

/// A run with a cell of every kind of step.
pub fn sample_kinds() -> RunRecord {
    let mut kinds = profile(KINDS);
    let replay = kinds.steps.pop().unwrap();
    kinds.steps.extend(profile(COMMAND).steps);
    kinds.steps.push(replay);
    run("k2a", kinds, |profile| profile.tasks(1 << 20).iter().flat_map(cells).collect())
}

/// A run of six rounds; the first does not count.
pub fn sample_rounds() -> RunRecord {
    run("k2b", profile(ROUNDS), |profile| {
        let mut cell = cells(&profile.tasks(1 << 20)[0]).next().unwrap();
        let first = cell.repetitions[0].clone();
        cell.repetitions = (0..6)
            .map(|index| {
                let mut repetition = first.clone();
                (repetition.index, repetition.discarded) = (index, index == 0);
                repetition.started_ns += u64::from(index) * 2_000_000_000;
                repetition
            })
            .collect();
        vec![cell]
    })
}

fn foreign_origin() -> Origin {
    Origin {
        tool: "CrystalDiskMark".to_owned(),
        version: Some("8.0.5".to_owned()),
        format: "cdm-text".to_owned(),
        file: "結果 1.txt".to_owned(),
        measured_at: Some("2026-01-30T21:04:05".to_owned()),
        target: Some("D: 12%".to_owned()),
        procedure: Some("Default, 1 GiB (x5)".to_owned()),
        profile: Some("cdm-8".to_owned()),
        facts: BTreeMap::from([("Comment".to_owned(), "箱の中".to_owned())]),
    }
}

/// A run that another tool measured.
pub fn sample_foreign() -> RunRecord {
    let reads = ImportedCell {
        procedure: Some("SEQ 1MiB (Q= 8, T= 1)".to_owned()),
        runs: Some(5),
        block_bytes: Some(1 << 20),
        iodepth: Some(8),
        threads: Some(1),
        sequential: Some(true),
        read_percent: Some(100.0),
        offset_bytes: None,
        span_bytes: None,
        figures: vec![
            figure(Quantity::Rate, PrintedStatistic::Highest, 3_512_345_600.0, "3512.346", "MB/s"),
            figure_of(
                FigureOf::CompletionLatency,
                figure(Quantity::Latency, PrintedStatistic::Percentile(99.9), 2_384_510.0, "2384.51", "us"),
            ),
        ],
        series: Vec::new(),
    };
    let trims = ImportedCell {
        figures: vec![PrintedFigure {
            correction: Some(Correction {
                factor: 1.024,
                unit: "KiB/s / 1000".to_owned(),
                reason: text!("the tool divides by 1024 once", "このツールは 1024 で 1 回しか割りません"),
            }),
            ..figure(Quantity::Rate, PrintedStatistic::Unknown, 102_400_000.0, "100.00", "MB/s")
        }],
        series: vec![PrintedSeries {
            quantity: Quantity::Rate,
            name: "trim".to_owned(),
            unit_printed: "MB/s".to_owned(),
            axis: SeriesAxis::Offset,
            points: vec![(0.0, 1e8), (524_288.0, 1.048e8)],
        }],
        ..ImportedCell::default()
    };
    RunRecord {
        header: RunHeader {
            id: "k2c".to_owned(),
            started_at: "2026-02-01T08:00:00Z".to_owned(),
            command: ["kurabe", "import", "結果 1.txt"].map(str::to_owned).to_vec(),
            target: None,
            profile: None,
            environment: Environment::default(),
            instrument: None,
            origin: Some(foreign_origin()),
            model: None,
            ..sample_header()
        },
        status: RunStatus::Complete,
        ended_at: Some("2026-02-01T08:00:00Z".to_owned()),
        error: None,
        labels: BTreeMap::new(),
        fill: None,
        notices: Vec::new(),
        cells: vec![
            imported_cell(0, "SEQ 1 MiB Q8 T1", Some(Direction::Read), reads),
            imported_cell(1, "trim", None, trims),
        ],
        health_after: None,
    }
}
