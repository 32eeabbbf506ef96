//! Records for the tests of exports.

use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Machine};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::profile::{Profile, Rules, Statistic, Step};
use kurabe_core::record::{
    Cell, EngineRecord, Notice, NoticeKind, OpsRecord, RECORD_SCHEMA, Repetition, RunHeader, RunRecord,
    RunStatus, TargetKind, TargetRecord,
};
use kurabe_core::workload::{BlockSize, Direction, Pattern, Workload};
use kurabe_core::{Text, text};
use kurabe_stats::Histogram;
use kurabe_testkit::{figure, moved, parameter};
use std::collections::BTreeMap;

/// Returns 64 KiB reads of 4 MiB in one pass.
pub fn workload() -> Workload {
    kurabe_testkit::workload().with(|access| {
        access.pattern = Pattern::Sequential;
        access.block_sizes = vec![BlockSize { size_bytes: 65_536, weight: 1 }];
    })
}

pub fn engine(name: &str) -> EngineRecord {
    EngineRecord {
        name: name.into(),
        asked: "auto".into(),
        reason: Text::same("test"),
        features: vec!["registered-buffers".to_owned(), "registered-file".to_owned()],
        fallbacks: Vec::new(),
        wait: "sleep".into(),
        pages: "4k".into(),
        issuing_threads: 1,
    }
}

pub fn ops(bytes: u64, latencies_ns: &[u64]) -> OpsRecord {
    let mut histogram = Histogram::default();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    OpsRecord { latency: histogram.to_record(), ..moved(latencies_ns.len() as u64, bytes) }
}

pub fn repetition(index: u32, elapsed_ns: u64, read: OpsRecord, write: OpsRecord) -> Repetition {
    Repetition { read, write, ..kurabe_testkit::repetition(index, elapsed_ns) }
}

pub fn cell(label: &str, direction: Direction, workload: Workload) -> Cell {
    Cell {
        workload: Some(workload),
        engine: Some(engine("threads")),
        ..kurabe_testkit::cell(label, Some(direction))
    }
}

/// Returns a cell whose repetitions each transferred these bytes in a second, with this mean latency in
/// ns.
pub fn measured(label: &str, direction: Direction, workload: Workload, runs: &[(u64, u64)]) -> Cell {
    let mut cell = cell(label, direction, workload);
    for (index, (bytes, latency_ns)) in runs.iter().enumerate() {
        let (here, none) = (ops(*bytes, &[*latency_ns]), ops(0, &[]));
        let (read, write) = if direction == Direction::Write { (none, here) } else { (here, none) };
        cell.repetitions.push(repetition(index as u32, 1_000_000_000, read, write));
    }
    cell
}

/// Returns a cell of another tool.
pub fn printed(label: &str, direction: Direction, figures: &[(Quantity, PrintedStatistic, f64)]) -> Cell {
    let figures = figures
        .iter()
        .map(|(quantity, statistic, value)| PrintedFigure {
            of: (*quantity == Quantity::Latency).then_some(FigureOf::RunMeanLatency),
            ..figure(*quantity, *statistic, *value, &value.to_string(), "")
        })
        .collect();
    Cell {
        imported: Some(ImportedCell {
            procedure: Some(label.to_owned()),
            runs: Some(3),
            block_bytes: Some(4096),
            iodepth: Some(32),
            threads: Some(16),
            sequential: Some(false),
            figures,
            ..ImportedCell::default()
        }),
        ..kurabe_testkit::cell(label, Some(direction))
    }
}

/// Returns the rules in the form of a record, so that a new rule does not affect these tests.
fn rules() -> Rules {
    serde_json::from_value(serde_json::json!({
        "size_bytes": 4 << 20, "size_at_least_bytes": null, "fill_time_limit_ns": null, "write_limit_bytes": null,
        "runs": 3, "discarded_runs": 1, "time_ns": 500_000_000, "interval_ns": 5_000_000_000_u64,
        "order": "by_direction", "direct": false, "data": "random", "same_offsets": false, "seed": 7,
    }))
    .expect("rules")
}

pub fn profile(statistic: Statistic, steps: Vec<Step>) -> Profile {
    Profile {
        name: "try-out".to_owned(),
        title: text!("a try", "試し"),
        source: None,
        differs: None,
        statistic,
        as_printed: None,
        rules: rules(),
        rounds: None,
        preconditions: Vec::new(),
        steps,
        derived: Vec::new(),
    }
}

pub fn record(target: &str, kind: TargetKind, statistic: Statistic, cells: Vec<Cell>) -> RunRecord {
    RunRecord {
        header: RunHeader {
            identity: "0190a1b2-c3d4-7e5f-8000-000000000001".to_owned(),
            schema: RECORD_SCHEMA,
            kurabe_version: "0.1.0".to_owned(),
            id: "k7".to_owned(),
            started_at: "2026-02-03T04:05:06+09:00".to_owned(),
            command: vec!["kurabe".to_owned(), "run".to_owned()],
            target: Some(TargetRecord {
                given: target.to_owned(),
                path: target.to_owned(),
                kind,
                span_bytes: 4 << 20,
                direct: false,
                alignment_bytes: 1,
                writable: true,
            }),
            profile: Some(profile(statistic, Vec::new())),
            environment: Environment {
                machine: Machine {
                    os: Some("Debian GNU/Linux 13".to_owned()),
                    kernel: Some("Linux 6.12".to_owned()),
                    ..Machine::default()
                },
                file_system: Some(FileSystem {
                    kind: Some("ext4".to_owned()),
                    size_bytes: Some(931 << 30),
                    free_bytes: Some(117 << 30),
                    ..FileSystem::default()
                }),
                devices: vec![BlockDevice {
                    model: Some("Disk|1, \"fast\"".to_owned()),
                    ..BlockDevice::default()
                }],
                ..Environment::default()
            },
            instrument: None,
            origin: None,
            model: None,
            versus: None,
            ranks: None,
        },
        status: RunStatus::Complete,
        ended_at: None,
        error: None,
        labels: BTreeMap::new(),
        fill: None,
        notices: vec![Notice::new(
            NoticeKind::SizeCut,
            text!("the file is smaller", "ファイルは小さくなっています"),
        )],
        cells,
        health_after: None,
    }
}

/// Returns a run of another tool.
pub fn imported(cells: Vec<Cell>) -> RunRecord {
    let mut record = record("", TargetKind::File, Statistic::Mean, cells);
    record.header.target = None;
    record.header.profile = None;
    record.header.origin = Some(Origin {
        tool: "CrystalDiskMark".to_owned(),
        version: Some("8.0.1".to_owned()),
        format: "cdm-text".to_owned(),
        file: "old.txt".to_owned(),
        measured_at: Some("2021-02-05T11:16:10".to_owned()),
        target: Some("C:".to_owned()),
        procedure: Some("Default; 1 GiB (x5)".to_owned()),
        profile: None,
        facts: BTreeMap::new(),
    });
    record
}

/// Returns the run as one of a model.
pub fn on_model(mut run: RunRecord) -> RunRecord {
    let target = run.header.target.as_mut().expect("a target");
    (target.given, target.path) = ("model:card".to_owned(), "model:card".to_owned());
    target.kind = TargetKind::Model;
    run.header.environment.file_system = None;
    run.header.environment.devices.clear();
    run.header.model = Some(ModelRecord {
        name: "card".to_owned(),
        title: text!("a card", "カード"),
        seed: 1,
        layers: vec![LayerRecord {
            name: "card".to_owned(),
            kind: "constant".to_owned(),
            instances: 1,
            depth: 0,
            parameters: vec![parameter("rate", "9 MB/s", "set for this run", true)],
            causes: Vec::new(),
            counters: Vec::new(),
        }],
    });
    run
}
