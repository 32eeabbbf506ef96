//! Runs of every other kind: samples on a hard disk, copies, a program, rounds until steady state,
//! a tool's own unit, and imported runs. The procedures are those of the library; the figures are
//! plausible.

use crate::ssd::{self, S, ops};
use crate::{cell, figure, figure_of, imported_cell, moved, planned_cell};
use kurabe_core::environment::*;
use kurabe_core::imported::*;
use kurabe_core::profile::{Profile, ReplayStep, ReplayTiming, Step, Task};
use kurabe_core::record::*;
use kurabe_core::text;
use kurabe_core::workload::*;
use kurabe_profile::{PROFILES, profile_named};

const MS: f64 = 1e6;

/// Returns a run with a profile of the library; `measure` returns the repetitions of each cell.
fn run(name: &str, span_bytes: u64, measure: impl Fn(&Task, usize) -> Vec<Repetition>) -> RunRecord {
    let mut record = ssd::run();
    let profile = profile_named(name).unwrap();
    record.cells = Vec::new();
    for task in profile.tasks(span_bytes) {
        for (place, plan) in task.cells.iter().enumerate() {
            record.cells.push(Cell {
                index: record.cells.len() as u32,
                repetitions: measure(&task, place),
                ..planned_cell(&task, plan)
            });
        }
    }
    record.header.target.as_mut().unwrap().span_bytes = span_bytes;
    record.header.profile = Some(profile);
    record.fill = None;
    record.notices.clear();
    record.health_after = None;
    record
}

/// Returns a repetition; repetitions begin a minute apart.
fn repetition(index: u32, elapsed_ns: u64) -> Repetition {
    Repetition { started_ns: u64::from(index) * 60 * S, ..crate::repetition(index, elapsed_ns) }
}

/// Returns a number from 0 to 1 that looks random but is always the same.
fn jitter(number: u64) -> f64 {
    let mixed = (number ^ 0x5bd1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64
}

fn on_hard_disk(mut record: RunRecord) -> RunRecord {
    let target = record.header.target.as_mut().unwrap();
    (target.given, target.path) = ("/dev/sdb".into(), "/dev/sdb".into());
    target.kind = TargetKind::BlockDevice;
    record.header.environment.file_system = None;
    record.header.environment.devices = vec![BlockDevice {
        name: "sdb".into(),
        model: Some("WDC WD40EFRX-68N32N0".into()),
        size_bytes: Some(4_000_787_030_016),
        rotational: Some(true),
        link: Some(Link::Sata {
            speed_gbit_per_s: Some(6.0),
            speed_max_gbit_per_s: Some(6.0),
            ncq_depth: Some(31),
        }),
        ..BlockDevice::default()
    }];
    record
}

/// Returns a run of GNOME Disks on a hard disk: the rate falls towards its end, and access time
/// grows with distance.
pub fn run_samples() -> RunRecord {
    const SPAN: u64 = 4_000_787_030_016;
    let record = run("gnome-disks", SPAN, |task, place| {
        let mut one = repetition(0, 0);
        match task.cells[place].measure {
            Measure::AccessTime => {
                let place = |number: u64| (jitter(number * 31) * SPAN as f64) as u64 / 4096 * 4096;
                for number in 1..1000 {
                    let distance = place(number).abs_diff(place(number - 1)) as f64 / SPAN as f64;
                    let elapsed = 2.0 + 12.0 * distance.sqrt() + 11.1 * jitter(number);
                    let elapsed_ns = (elapsed * MS) as u64;
                    one.samples.push(Sample { offset_bytes: place(number), bytes: 4096, elapsed_ns });
                }
            }
            _ => {
                let bytes = 10 << 20;
                let factor = if place == 0 { 1.0 } else { 0.93 };
                for number in 0..100u64 {
                    let at = number as f64 / 100.0;
                    let rate = (178.0 - 45.0 * at - 48.0 * at * at) * factor - 4.0 * jitter(number);
                    let elapsed_ns = (bytes as f64 / rate * 1e3) as u64;
                    let offset_bytes = number * (SPAN / 100);
                    one.samples.push(Sample { offset_bytes, bytes, elapsed_ns });
                }
            }
        }
        one.elapsed_ns = one.samples.iter().map(|sample| sample.elapsed_ns).sum();
        let side = moved(one.samples.len() as u64, one.samples.iter().map(|sample| sample.bytes).sum());
        match task.cells[place].direction {
            Some(Direction::Write) => one.write = side,
            _ => one.read = side,
        }
        vec![one]
    });
    on_hard_disk(record)
}

fn imported(origin: Origin, cells: Vec<(&str, Option<Direction>, ImportedCell)>) -> RunRecord {
    let mut record = ssd::run();
    record.header.target = None;
    record.header.profile = None;
    record.header.instrument = None;
    record.header.environment = Environment::default();
    record.header.origin = Some(origin);
    record.fill = None;
    record.health_after = None;
    record.notices.clear();
    record.cells = (0..)
        .zip(cells)
        .map(|(index, (label, direction, imported))| imported_cell(index, label, direction, imported))
        .collect();
    record
}

/// Returns an imported text file of CrystalDiskMark 8.
pub fn run_crystaldiskmark() -> RunRecord {
    serde_json::from_str(include_str!("../records/crystaldiskmark.json")).expect("a record")
}

/// Returns an imported JSON file of fio: reads with percentiles, and a trim, which has no
/// direction.
pub fn run_fio() -> RunRecord {
    serde_json::from_str(include_str!("../records/fio.json")).expect("a record")
}

/// Returns an imported file of GNOME Disks.
pub fn run_gnome_file() -> RunRecord {
    const SPAN: f64 = 1e12;
    let origin = Origin {
        tool: "GNOME Disks".into(),
        format: "gnome-disks".into(),
        file: "ata-ST1000DM003.gnome-disks-benchmark".into(),
        measured_at: Some("2023-03-04T05:06:07Z".into()),
        target: Some("ata-ST1000DM003".into()),
        procedure: Some("samples of 10 MiB spread over the device".into()),
        ..Origin::default()
    };
    let cell = |quantity: Quantity, name: &str, points: Vec<(f64, f64)>| {
        let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
        let (printed, unit) = match quantity {
            Quantity::Rate => (format!("{:.1}", mean / 1e6), "MB/s"),
            _ => (format!("{:.2}", mean / 1e6), "msec"),
        };
        ImportedCell {
            procedure: Some(format!("{} samples", points.len())),
            figures: vec![figure_of(
                FigureOf::Samples,
                figure(quantity, PrintedStatistic::Mean, mean, &printed, unit),
            )],
            series: vec![PrintedSeries {
                quantity,
                name: name.into(),
                unit_printed: if quantity == Quantity::Rate { "bytes/s" } else { "s" }.into(),
                axis: SeriesAxis::Offset,
                points,
            }],
            ..ImportedCell::default()
        }
    };
    let rates = |factor: f64| -> Vec<(f64, f64)> {
        (0..100)
            .map(|number| {
                let at = f64::from(number) / 100.0;
                (at * SPAN, (198e6 - 100e6 * at * at) * factor)
            })
            .collect()
    };
    let accesses =
        (0..1000u64).map(|number| (jitter(number * 17) * SPAN, (8.0 + 12.0 * jitter(number)) * MS)).collect();
    imported(
        origin,
        vec![
            ("read", Some(Direction::Read), cell(Quantity::Rate, "read", rates(1.0))),
            ("write", Some(Direction::Write), cell(Quantity::Rate, "write", rates(0.9))),
            ("access time", Some(Direction::Read), cell(Quantity::Latency, "access time", accesses)),
        ],
    )
}

/// Seconds of the parts of a copy of 4 GiB, in the order of the parts.
const COPY_SECONDS: [f64; 5] = [0.61, 0.83, 29.7, 24.2, 71.4];

fn copies(name: &str, count: u32, slower: impl Fn(&Task) -> f64) -> RunRecord {
    let mut record = run(name, 4 << 30, |task, place| {
        (0..count)
            .map(|number| {
                let seconds = COPY_SECONDS[place]
                    * if place == 4 { slower(task) } else { 1.0 }
                    * (1.0 + 0.01 * jitter(u64::from(number)));
                let mut one = repetition(number, (seconds * 1e9) as u64);
                let side = moved(65_536, 4 << 30);
                let (reads, writes) = ([0, 3, 4].contains(&place), [1, 2, 4].contains(&place));
                if reads {
                    one.read = side.clone();
                }
                if writes {
                    one.write = side;
                }
                let bytes = |moves: bool| if moves && place > 1 { 4 << 30 } else { 0 };
                one.traffic = Some(Traffic {
                    read_operations: bytes(reads) >> 17,
                    read_bytes: bytes(reads),
                    write_operations: bytes(writes) >> 19,
                    write_bytes: bytes(writes),
                });
                one
            })
            .collect()
    });
    record.header.target.as_mut().unwrap().direct = false;
    record
}

/// Returns a run of the delay ratio on a hard disk.
pub fn run_copy() -> RunRecord {
    copies("delay-ratio", 2, |_| 1.0)
}

/// Returns a run of the delay ratio for several chunk sizes.
pub fn run_copy_sweep() -> RunRecord {
    copies("delay-ratio-sweep", 2, |task| 1.0 - 0.04 * task.step_index as f64)
}

/// Returns a run of a program with three repetitions.
pub fn run_command() -> RunRecord {
    let mut record = run("git-pull", 1 << 20, |_, _| {
        [3.412, 3.598, 3.377]
            .into_iter()
            .enumerate()
            .map(|(number, seconds)| Repetition {
                cpu: CpuUse { user_ns: 612_000_000, system_ns: 431_000_000 },
                traffic: Some(Traffic {
                    read_operations: 3_120,
                    read_bytes: 41_200_000,
                    write_operations: 812,
                    write_bytes: 9_800_000,
                }),
                ..repetition(number as u32, (seconds * 1e9) as u64)
            })
            .collect()
    });
    record.header.target.as_mut().unwrap().direct = false;
    record
}

/// Returns a run that replays a trace with reads, writes and syncs twice.
pub fn run_replay() -> RunRecord {
    let mut record = run_copy();
    let profile = record.header.profile.as_mut().unwrap();
    profile.name = "replay".into();
    profile.derived.clear();
    profile.steps = vec![Step::Replay(ReplayStep {
        id: None,
        label: None,
        trace: "traces/mail.iolog".into(),
        format: None,
        timing: ReplayTiming::Fast,
        iodepth: 8,
    })];
    let replay = Cell {
        part: "replay".into(),
        repetitions: (0..2)
            .map(|number| Repetition {
                read: ops(61.2e6 * (1.0 + 0.02 * jitter(number)), 16_384, 8, 0),
                write: ops(14.8e6, 4096, 8, S / 25),
                sync: ops(1e6, 4096, 1, 0),
                ..repetition(number as u32, 5 * S)
            })
            .collect(),
        ..cell("replay mail.iolog", Some(Direction::Mix))
    };
    record.cells = vec![replay];
    record
}

/// Returns a run with rounds in which the tracked cell has these thousands of IOPS, and the others
/// correspond.
fn rounds(thousands: &[f64]) -> RunRecord {
    run("snia-iops-small", 4 << 30, |task, _| {
        let workload = task.workload().unwrap();
        let block = u64::from(workload.largest_block_bytes());
        let reads = f64::from(workload.read_percent) / 100.0;
        let window = thousands.len().saturating_sub(5);
        (0..)
            .zip(thousands)
            .map(|(index, thousand)| {
                let bytes_per_s = thousand * 4.096e6 * if block > 4096 { 3.1 } else { 1.0 };
                let side = |share: f64| match share {
                    0.0 => OpsRecord::default(),
                    share => ops(bytes_per_s * share, block, 32, 0),
                };
                Repetition {
                    discarded: (index as usize) < window,
                    read: side(reads * 1.8),
                    write: side(1.0 - reads),
                    ..repetition(index, 5 * S)
                }
            })
            .collect()
    })
}

/// Returns a run of a small version of the SNIA test that is steady after eight rounds.
pub fn run_steady() -> RunRecord {
    rounds(&[95.1, 62.4, 41.0, 33.2, 31.1, 30.5, 30.8, 30.2])
}

/// Returns a run of the same test that ended after ten rounds without steady state.
pub fn run_not_steady() -> RunRecord {
    let mut record = rounds(&[95.1, 84.0, 77.0, 70.5, 64.0, 57.7, 51.6, 45.8, 40.6, 35.9]);
    record.notices.push(Notice::new(
        NoticeKind::Other,
        text!(
            "the device did not become steady within 10 rounds",
            "10 ラウンド以内に定常状態になりませんでした"
        ),
    ));
    record
}

/// Returns a run for a tool that prints another unit: KDiskMark.
pub fn run_as_printed() -> RunRecord {
    run("kdiskmark-3", 1 << 30, |task, _| {
        let workload = task.workload().unwrap();
        let block = u64::from(workload.largest_block_bytes());
        let rate = match (block, workload.iodepth) {
            (1_048_576, 8) => 6_911e6,
            (1_048_576, _) => 3_410e6,
            (_, 1) => 81e6,
            _ => 2_700e6,
        };
        (0..5)
            .map(|number| {
                let rate = rate * (1.0 + 0.01 * jitter(u64::from(number)));
                let side = ops(rate, block, u64::from(workload.iodepth), 0);
                let mut one = repetition(number, 5 * S);
                match task.direction() {
                    Some(Direction::Read) => one.read = side,
                    _ => one.write = side,
                }
                one
            })
            .collect()
    })
}

/// Returns all of them, each with a name.
pub fn all() -> [(&'static str, RunRecord); 11] {
    [
        ("samples", run_samples()),
        ("crystaldiskmark", run_crystaldiskmark()),
        ("fio", run_fio()),
        ("gnome_file", run_gnome_file()),
        ("copy", run_copy()),
        ("copy_sweep", run_copy_sweep()),
        ("command", run_command()),
        ("replay", run_replay()),
        ("steady", run_steady()),
        ("not_steady", run_not_steady()),
        ("as_printed", run_as_printed()),
    ]
}

/// Returns every profile of the library.
pub fn library() -> Vec<Profile> {
    PROFILES.iter().map(|(name, _)| profile_named(name).unwrap()).collect()
}
