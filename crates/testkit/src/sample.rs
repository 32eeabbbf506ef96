//! Records with something in every field, as the store's fixtures hold them. A change here makes those fixtures
//! another version.

mod kinds;
mod modelled;

pub use kinds::{sample_foreign, sample_kinds, sample_rounds};
pub use modelled::sample_modelled;

use crate::planned_cell;
use kurabe_core::Text;
use kurabe_core::environment::{BlockDevice, DeviceHealth, Environment, FileSystem, Link, Machine};
use kurabe_core::profile::Profile;
use kurabe_core::record::{
    Cell, CpuUse, EngineRecord, FillRecord, Instrument, Interval, LatencyRecord, Noise, Notice, NoticeKind,
    OpsRecord, RECORD_SCHEMA, Repetition, RunHeader, RunRecord, RunStatus, Series, Stall, TargetKind,
    TargetRecord,
};
use kurabe_core::workload::OpKind;
use std::collections::BTreeMap;

/// A profile of two steps, five cells.
pub fn sample_profile() -> Profile {
    let source = r#"
        schema = 1
        name = "sample"
        title = { en = "A sample", ja = "見本" }
        source = "written for a test"
        differs = { en = "in everything", ja = "すべて" }
        statistic = "median"
        [rules]
        size = "1 MiB"
        runs = 2
        time = "1 s"
        [[step]]
        kind = "io"
        directions = ["read", "write", "mix"]
        pattern = "zipf"
        exponent = 1.1
        block_size = ["4 KiB", { size = "8 KiB", weight = 3 }]
        rate_iops = 1234.5
        [[step]]
        kind = "io"
        pattern = "sequential"
        block_size = "1 MiB"
        data = "compressible"
    "#;
    Profile::parse("sample.toml", source).unwrap()
}

pub fn sample_latency() -> LatencyRecord {
    let buckets = vec![(200, 1), (256, 2), (1024, 4), (65_536, 1)];
    LatencyRecord { count: 8, min_ns: 200, max_ns: 65_700, sum_ns: 70_600, buckets }
}

/// Cell `index` of the sample; its figures differ from those of the others.
pub fn sample_cell(index: u32) -> Cell {
    let task = sample_profile().tasks(1 << 20).swap_remove(index as usize % 5);
    let plan = &task.cells[0];
    let ops = OpsRecord {
        submitted: 9,
        completed: 8,
        failed: 1,
        bytes: 32_768 + u64::from(index),
        latency: sample_latency(),
    };
    let repetition = |number: u32| Repetition {
        index: number,
        discarded: number == 0,
        seed: u64::MAX - u64::from(number),
        started_ns: 5,
        turn: None,
        elapsed_ns: 1_000_000_007,
        read: ops.clone(),
        write: ops.clone(),
        end_sync_ns: (number == 1).then_some(77),
        series: Series {
            interval_ns: 100_000_000,
            intervals: vec![
                Interval { read_bytes: 4096, read_operations: 1, read_worst_ns: 900, ..Interval::default() },
                Interval {
                    write_bytes: 8192,
                    write_operations: 2,
                    write_worst_ns: 800,
                    ..Interval::default()
                },
            ],
        },
        stalls: vec![Stall {
            at_ns: 12,
            length_ns: 65_700,
            kind: OpKind::Write,
            offset_bytes: 8192,
            operations: 3,
            longest_ns: 0,
        }],
        stall_count: 1,
        stall_threshold_ns: 60_000,
        cpu: CpuUse { user_ns: 10, system_ns: 20 },
        generator_share: 0.1 + 0.2,
        noise: Noise { other_read_bytes: Some(0), steal_share: Some(0.015), ..Noise::default() },
        ..Repetition::default()
    };
    Cell {
        index,
        engine: Some(EngineRecord {
            name: "threads".to_owned(),
            asked: "auto".to_owned(),
            reason: Text {
                en: "the kernel refuses io_uring".to_owned(),
                ja: "io_uring を使えません".to_owned(),
            },
            features: vec!["o_direct".to_owned()],
            fallbacks: vec!["registered-buffers: EPERM".to_owned()],
            wait: "sleep".to_owned(),
            pages: "4k".to_owned(),
            issuing_threads: 1,
        }),
        repetitions: vec![repetition(0), repetition(1)],
        ..planned_cell(&task, plan)
    }
}

pub fn sample_health() -> DeviceHealth {
    DeviceHealth {
        source: "smartctl 7.4".to_owned(),
        temperature_celsius: Some(-3),
        ..DeviceHealth::default()
    }
}

pub fn sample_header() -> RunHeader {
    RunHeader {
        schema: RECORD_SCHEMA,
        kurabe_version: "0.1.0".to_owned(),
        id: "k7f".to_owned(),
        started_at: "2026-01-31T12:00:00+09:00".to_owned(),
        command: ["kurabe", "run", "/mnt/試験 \"one\""].map(str::to_owned).to_vec(),
        target: Some(TargetRecord {
            given: "/mnt/試験 \"one\"".to_owned(),
            path: "/mnt/試験 \"one\"".to_owned(),
            kind: TargetKind::Directory,
            span_bytes: 1 << 20,
            direct: true,
            alignment_bytes: 512,
            writable: true,
        }),
        profile: Some(sample_profile()),
        environment: Environment {
            machine: Machine {
                kernel: Some("Linux 6.12".to_owned()),
                cpu_count: Some(2),
                ..Machine::default()
            },
            file_system: Some(FileSystem { kind: Some("ext4".to_owned()), ..FileSystem::default() }),
            layers: vec!["dm-0 (crypt)".to_owned()],
            devices: vec![BlockDevice {
                name: "sda".to_owned(),
                model: Some("比べ SSD 1".to_owned()),
                link: Some(Link::Sata {
                    speed_gbit_per_s: Some(1.5),
                    speed_max_gbit_per_s: Some(6.0),
                    ncq_depth: None,
                }),
                health: Some(sample_health()),
                ..BlockDevice::default()
            }],
            missing: vec!["nvme: not installed".to_owned()],
        },
        instrument: Some(Instrument { clock_resolution_ns: 1, clock_cost_ns: 23.7 }),
        origin: None,
        model: None,
        versus: None,
    }
}

pub fn sample_notice(number: u32) -> Notice {
    Notice::new(NoticeKind::Noise, Text::same(format!("remark {number} / 注意")))
}

/// A whole run with five cells, as it would be after a measurement.
pub fn sample_record() -> RunRecord {
    RunRecord {
        header: sample_header(),
        status: RunStatus::Failed,
        ended_at: Some("2026-01-31T12:00:09.25+09:00".to_owned()),
        error: Some(Text { en: "EIO".to_owned(), ja: "入出力エラー".to_owned() }),
        labels: BTreeMap::from([("firmware".to_owned(), "版 2".to_owned())]),
        fill: Some(FillRecord { asked_bytes: 1 << 20, written_bytes: 1 << 19, elapsed_ns: 99 }),
        notices: vec![sample_notice(0), sample_notice(1)],
        cells: (0..5).map(sample_cell).collect(),
        health_after: Some(sample_health()),
    }
}
