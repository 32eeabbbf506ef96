//! A run built by hand: plausible figures of an NVMe SSD whose write cache fills up, with a stall,
//! a cell in which kurabe was the bottleneck, and a disturbed repetition.

use crate::repetition;
use kurabe_core::environment::*;
use kurabe_core::profile::*;
use kurabe_core::record::*;
use kurabe_core::workload::*;
use kurabe_core::{Text, text};
use std::collections::BTreeMap;

pub(crate) const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

pub fn headline() -> Text {
    text!(
        "ext4 on /dev/nvme0n1p2 · Samsung SSD 980 PRO 1TB, firmware 5B2QGXA7 · PCIe 4.0 x4",
        "/dev/nvme0n1p2 の ext4 · Samsung SSD 980 PRO 1TB、ファームウェア 5B2QGXA7 · PCIe 4.0 x4"
    )
}

fn step(pattern: Pattern, size_bytes: u32, iodepth: u32, directions: &[Direction]) -> Step {
    Step::Io(Box::new(
        IoStep::plain(pattern, size_bytes, iodepth, directions.to_vec())
            .with(|access| access.read_percent = 70),
    ))
}

pub fn profile(statistic: Statistic, directions: &[Direction]) -> Profile {
    let title = text!(
        "Four patterns that tell most of a disk: large and small blocks, deep and shallow queue",
        "大小のブロックと深浅のキューの 4 パターンで、ディスクの性格をひととおり示す"
    );
    let rules = Rules {
        size_at_least_bytes: Some(64 << 20),
        fill_time_limit_ns: Some(60 * S),
        runs: 3,
        ..Rules::once()
    };
    let steps = vec![
        step(Pattern::Sequential, 1 << 20, 8, directions),
        step(Pattern::Sequential, 1 << 20, 1, directions),
        step(Pattern::Random, 4 << 10, 32, directions),
        step(Pattern::Random, 4 << 10, 1, directions),
    ];
    Profile {
        source: Some("CrystalDiskMark 8, CrystalDiskMark8.ini and DiskBench.cpp".into()),
        differs: Some(text!(
            "Every written block has its own random data, because a disk that removes duplicates would \
             otherwise look faster than it is.",
            "書き込むデータはブロックごとに別のランダムデータです。重複を除くディスクが実際より速く見えるのを防ぐためです。"
        )),
        statistic,
        ..Profile::of_steps("default", title, rules, steps)
    }
}

/// Returns a histogram of `count` latencies around a median, with a tail. The bucket boundaries are
/// ascending, but not those of kurabe-stats.
fn latency(count: u64, median_ns: u64, worst_ns: u64) -> LatencyRecord {
    let shares = [(0.7, 0.05), (0.9, 0.35), (1.0, 0.3), (1.4, 0.2), (2.1, 0.08), (3.2, 0.018), (6.0, 0.002)];
    let mut buckets: Vec<(u64, u64)> = shares
        .iter()
        .map(|(factor, share)| ((median_ns as f64 * factor) as u64, (count as f64 * share) as u64))
        .filter(|bucket| bucket.1 > 0)
        .collect();
    let rest = count - buckets.iter().map(|bucket| bucket.1).sum::<u64>();
    if rest > 0 {
        buckets.push((worst_ns, rest));
    }
    let sum_ns = buckets.iter().map(|(ns, count)| ns * count).sum();
    LatencyRecord { count, min_ns: buckets[0].0, max_ns: worst_ns, sum_ns, buckets }
}

pub(crate) fn ops(rate_bytes_per_s: f64, block_bytes: u64, in_flight: u64, worst_ns: u64) -> OpsRecord {
    let count = (rate_bytes_per_s * 5.0 / block_bytes as f64) as u64;
    let median_ns = (in_flight as f64 * 5e9 / count as f64 * 0.9) as u64;
    OpsRecord {
        submitted: count,
        completed: count,
        failed: 0,
        bytes: count * block_bytes,
        latency: latency(count, median_ns, worst_ns.max(median_ns * 7)),
    }
}

/// Shape of a cell: MB/s of its three repetitions, and its course over time.
struct Shape {
    rates: [f64; 3],
    course: fn(usize) -> f64,
    stall_ms: u64,
}

/// Returns a repetition of a cell; `turn` is its position in the run.
fn measured(number: u32, turn: u32, direction: Direction, workload: &Workload, shape: &Shape) -> Repetition {
    let block = u64::from(workload.largest_block_bytes());
    let depth = u64::from(workload.iodepth);
    let rate = shape.rates[number as usize] * 1e6;
    let worst = shape.stall_ms * MS;
    let (read, write) = match direction {
        Direction::Read => (ops(rate, block, depth, worst), OpsRecord::default()),
        Direction::Write => (OpsRecord::default(), ops(rate, block, depth, worst)),
        Direction::Mix => (ops(rate * 0.7, block, depth, worst), ops(rate * 0.3, block, depth, worst)),
    };
    let interval = |at: usize| {
        let bytes = (rate / 10.0 * (shape.course)(number as usize * 50 + at)) as u64;
        let share = |part: f64| (bytes as f64 * part) as u64;
        let (read, write) = match direction {
            Direction::Read => (1.0, 0.0),
            Direction::Write => (0.0, 1.0),
            Direction::Mix => (0.7, 0.3),
        };
        Interval { read_bytes: share(read), write_bytes: share(write), ..Interval::default() }
    };
    let stalls = if shape.stall_ms > 0 && number == 1 {
        vec![Stall {
            at_ns: 2_300 * MS,
            length_ns: shape.stall_ms * MS,
            kind: if direction == Direction::Write { OpKind::Write } else { OpKind::Read },
            offset_bytes: 345 << 20,
            operations: depth,
            longest_ns: 0,
        }]
    } else {
        Vec::new()
    };
    let count = read.completed + write.completed;
    Repetition {
        started_ns: u64::from(turn) * 5_100 * MS,
        read,
        write,
        series: Series { interval_ns: S / 10, intervals: (0..50).map(interval).collect() },
        stall_count: stalls.len() as u64,
        stalls,
        stall_threshold_ns: 20 * MS,
        cpu: CpuUse { user_ns: count * 700, system_ns: count * 2_100 },
        generator_share: 0.08,
        noise: Noise {
            other_read_bytes: Some(0),
            other_write_bytes: Some(if turn < 3 { 4_000_000 } else { 0 }),
            steal_share: Some(0.0),
            io_pressure_share: Some(0.93),
            cpu_pressure_share: Some(0.021),
            memory_pressure_share: Some(0.0),
            other_cpus_busy: Some(0.31),
            suspended_ns: None,
        },
        ..repetition(number, 5 * S)
    }
}

fn engine(shallow: bool) -> EngineRecord {
    EngineRecord {
        name: if shallow { "threads" } else { "uring" }.into(),
        asked: "auto".into(),
        reason: if shallow {
            text!(
                "with one operation in flight a plain system call is the shortest way",
                "同時に 1 操作だけなら、普通のシステムコールが最短です"
            )
        } else {
            text!("several operations are in flight per thread", "スレッドごとに複数の操作を同時に出すため")
        },
        features: if shallow {
            Vec::new()
        } else {
            vec!["registered-buffers".into(), "registered-file".into()]
        },
        fallbacks: if shallow { Vec::new() } else { vec!["huge pages: none are free".into()] },
        wait: "sleep".into(),
        pages: "4k".into(),
        issuing_threads: 1,
    }
}

fn cell(index: u32, step_index: u32, direction: Direction, profile: &Profile, shape: &Shape) -> Cell {
    let task = profile
        .tasks(1 << 30)
        .into_iter()
        .find(|task| task.step_index == step_index as usize && task.direction() == Some(direction))
        .unwrap();
    let workload = task.workload().unwrap();
    let repetitions =
        (0..3).map(|number| measured(number, index * 3 + number, direction, workload, shape)).collect();
    Cell {
        index,
        step_index,
        part: direction.word().into(),
        label: task.label.clone(),
        direction: Some(direction),
        measure: Measure::Rate,
        workload: Some(workload.clone()),
        engine: Some(engine(workload.iodepth == 1)),
        repetitions,
        imported: None,
    }
}

fn steady(at: usize) -> f64 {
    [1.0, 0.97, 1.01, 0.98, 1.02][at % 5]
}

fn cache_runs_full(at: usize) -> f64 {
    if at < 60 { 1.4 } else { 0.95 }
}

fn stalled(at: usize) -> f64 {
    if at == 73 { 0.0 } else { steady(at) }
}

pub fn header(statistic: Statistic, directions: &[Direction]) -> RunHeader {
    RunHeader {
        schema: RECORD_SCHEMA,
        kurabe_version: "0.1.0".into(),
        id: "7kq".into(),
        identity: "0190a1b2-c3d4-7e5f-8000-000000000007".into(),
        started_at: "2026-02-03T12:34:56+09:00".into(),
        command: vec!["kurabe".into(), "run".into(), "./".into()],
        target: Some(TargetRecord {
            given: "./".into(),
            path: "/home/mika/bench".into(),
            kind: TargetKind::Directory,
            span_bytes: 1 << 30,
            direct: true,
            alignment_bytes: 512,
            writable: true,
        }),
        profile: Some(profile(statistic, directions)),
        environment: environment(),
        instrument: Some(Instrument { clock_resolution_ns: 1, clock_cost_ns: 21.4 }),
        origin: None,
        model: None,
        versus: None,
        ranks: None,
    }
}

fn environment() -> Environment {
    Environment {
        machine: Machine {
            model: Some("LENOVO ThinkStation P3".into()),
            cpu_model: Some("13th Gen Intel(R) Core(TM) i7-13700".into()),
            cpu_count: Some(24),
            cpu_governor: Some("performance".into()),
            memory_bytes: Some(32 << 30),
            kernel: Some("Linux 6.12.48+deb13-amd64".into()),
            os: Some("Debian GNU/Linux 13 (trixie)".into()),
            virtualisation: Virtualisation::default(),
        },
        file_system: Some(FileSystem {
            kind: Some("ext4".into()),
            mount_point: Some("/".into()),
            source: Some("/dev/nvme0n1p2".into()),
            options: Some("rw,relatime".into()),
            block_size_bytes: Some(4096),
            journal: Some(FileSystemJournal::Internal { data: Some("ordered".into()) }),
            size_bytes: Some(900 << 30),
            free_bytes: Some(412 << 30),
        }),
        layers: Vec::new(),
        devices: vec![BlockDevice {
            name: "nvme0n1".into(),
            partition: Some("nvme0n1p2".into()),
            model: Some("Samsung SSD 980 PRO 1TB".into()),
            firmware: Some("5B2QGXA7".into()),
            serial: Some("h:93ab02".into()),
            size_bytes: Some(1_000_204_886_016),
            rotational: Some(false),
            scheduler: Some("none".into()),
            queue_requests: Some(1023),
            queue_depth: None,
            write_cache: Some("write back".into()),
            logical_sector_bytes: Some(512),
            physical_sector_bytes: Some(512),
            largest_request_bytes: Some(128 << 10),
            read_ahead_bytes: Some(128 << 10),
            removable: Some(false),
            link: Some(Link::Pcie {
                speed_gt_per_s: Some(16.0),
                width: Some(4),
                speed_max_gt_per_s: Some(16.0),
                width_max: Some(4),
            }),
            health: Some(DeviceHealth {
                source: "smartctl 7.4".into(),
                temperature_celsius: Some(41),
                wear_percent: Some(3),
                power_on_hours: Some(4_213),
                written_bytes: Some(21_400_000_000_000),
                temperatures: Vec::new(),
            }),
        }],
        missing: vec!["dmidecode: needs root".into()],
    }
}

/// Returns the run with reads and writes, and the mean as its statistic.
pub fn run() -> RunRecord {
    run_with(Statistic::Mean, &[Direction::Read, Direction::Write])
}

pub fn run_with(statistic: Statistic, directions: &[Direction]) -> RunRecord {
    let header = header(statistic, directions);
    let shapes = [
        [
            Shape { rates: [6_921.4, 6_905.1, 6_907.4], course: steady, stall_ms: 0 },
            Shape { rates: [3_412.0, 3_398.5, 3_420.7], course: steady, stall_ms: 0 },
            Shape { rates: [2_690.2, 2_702.8, 2_741.0], course: steady, stall_ms: 0 },
            Shape { rates: [81.32, 80.97, 82.05], course: steady, stall_ms: 0 },
        ],
        [
            Shape { rates: [5_120.4, 4_790.0, 4_801.2], course: cache_runs_full, stall_ms: 0 },
            Shape { rates: [4_411.3, 4_300.9, 4_380.0], course: steady, stall_ms: 0 },
            Shape { rates: [2_301.0, 2_255.4, 2_198.7], course: steady, stall_ms: 0 },
            Shape { rates: [241.9, 222.4, 239.3], course: stalled, stall_ms: 41 },
        ],
        [
            Shape { rates: [5_910.0, 5_880.2, 5_700.4], course: steady, stall_ms: 0 },
            Shape { rates: [3_611.3, 3_605.0, 3_580.0], course: steady, stall_ms: 0 },
            Shape { rates: [2_401.0, 2_355.4, 2_298.7], course: steady, stall_ms: 0 },
            Shape { rates: [101.9, 102.4, 99.3], course: steady, stall_ms: 0 },
        ],
    ];
    let profile = profile(statistic, directions);
    let mut cells = Vec::new();
    for direction in directions {
        let shapes = &shapes[Direction::ALL.iter().position(|one| one == direction).unwrap()];
        for (step_index, shape) in shapes.iter().enumerate() {
            cells.push(cell(cells.len() as u32, step_index as u32, *direction, &profile, shape));
        }
    }
    for repetition in &mut cells[2].repetitions {
        repetition.generator_bound = true;
    }
    RunRecord {
        header,
        status: RunStatus::Complete,
        ended_at: Some("2026-02-03T12:36:58+09:00".into()),
        error: None,
        labels: BTreeMap::new(),
        fill: Some(FillRecord { asked_bytes: 1 << 30, written_bytes: 1 << 30, elapsed_ns: 412 * MS }),
        notices: vec![Notice::new(
            NoticeKind::Noise,
            text!(
                "another process wrote 12.0 MB to this device during read SEQ 1 MiB Q8 T1",
                "読み出し SEQ 1 MiB Q8 T1 の間に、別のプロセスがこのデバイスに 12.0 MB 書き込みました"
            ),
        )],
        cells,
        health_after: Some(DeviceHealth {
            source: "smartctl 7.4".into(),
            temperature_celsius: Some(52),
            wear_percent: Some(3),
            power_on_hours: Some(4_213),
            written_bytes: Some(21_500_000_000_000),
            temperatures: Vec::new(),
        }),
    }
}

/// Returns the same run with the rules of CrystalDiskMark.
pub fn run_best() -> RunRecord {
    let mut run = run_with(Statistic::Best, &[Direction::Read, Direction::Write]);
    run.header.profile.as_mut().unwrap().name = "crystaldiskmark".into();
    run
}

/// Returns a run that ended with an error in its sixth cell, with failed operations and one
/// repetition per cell.
pub fn run_failed() -> RunRecord {
    let mut run = run();
    run.status = RunStatus::Failed;
    run.error = Some(text!(
        "cannot write at offset 345 MiB of ./kurabe-7kq.tmp: Input/output error (EIO)",
        "./kurabe-7kq.tmp のオフセット 345 MiB に書き込めません: Input/output error (EIO)"
    ));
    run.labels.insert("case".into(), "lid open".into());
    run.notices.clear();
    run.cells.truncate(6);
    for cell in &mut run.cells {
        cell.repetitions.truncate(1);
    }
    run.cells[5].repetitions[0].write.failed = 12;
    run
}

pub fn summaries() -> Vec<RunSummary> {
    let summary =
        |id: &str, status, target: &str, device: Option<&str>, profile: &str, label: Option<&str>| {
            RunSummary {
                id: id.into(),
                started_at: "2026-02-03T12:34:56+09:00".into(),
                measured_at: None,
                imported: false,
                status,
                target: target.into(),
                device: device.map(str::to_owned),
                model: None,
                profile: profile.into(),
                cell_count: 8,
                labels: label.map(|label| ("case".to_owned(), label.to_owned())).into_iter().collect(),
            }
        };
    vec![
        summary("7kq", RunStatus::Complete, "./", Some("Samsung SSD 980 PRO 1TB"), "default", None),
        summary(
            "9dx",
            RunStatus::Interrupted,
            "/mnt/archive/ベンチ",
            Some("WDC WD40EFRX-68N32N0"),
            "default",
            Some("ケース開放"),
        ),
        summary(
            "b2m",
            RunStatus::Failed,
            "/dev/disk/by-id/usb-Generic_Flash_Disk_ABCD-0:0",
            None,
            "crystaldiskmark",
            None,
        ),
        RunSummary {
            measured_at: Some("2024-11-05T21:04:05".into()),
            imported: true,
            ..summary(
                "k2c",
                RunStatus::Complete,
                "D: 12% (112/931GiB)",
                None,
                "CrystalDiskMark 8.0.5 x64",
                None,
            )
        },
    ]
}
