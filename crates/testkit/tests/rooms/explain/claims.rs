//! Claims about a run must be consistent with its record: memory is named if memory answered, and a
//! sweep gives no finding that its own points, repetitions or other activity contradict.

use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::profile::Step;
use kurabe_core::quantity::parse_bytes;
use kurabe_core::record::{
    Cell, Interval, LatencyRecord, Noise, OpsRecord, Repetition, RunHeader, RunRecord, Series, Stall,
    TargetKind, TargetRecord,
};
use kurabe_core::workload::{BlockSize, Direction, EndSync, OpKind, Pattern, SyncRule, Workload};
use kurabe_explain::{
    Confidence, Finding, FindingName, LimitKind, Strength, SweepAxis, SweepCurve, SweepPlan, explain_sweep,
    limits_from_outside,
};
use kurabe_testkit::sample::{sample_header, sample_record};
use kurabe_testkit::{cell, repetition, workload};
use proptest::prelude::*;

const KIB: u64 = 1024;
const US: f64 = 1e3;

/// Returns an environment with a virtual disk and this file system.
fn environment(file_system: &str, link: Link) -> Environment {
    Environment {
        file_system: Some(FileSystem { kind: Some(file_system.to_owned()), ..FileSystem::default() }),
        devices: vec![BlockDevice { name: "vda".to_owned(), link: Some(link), ..BlockDevice::default() }],
        ..Environment::default()
    }
}

fn record(environment: Environment, direct: bool, cells: Vec<Cell>) -> RunRecord {
    let target =
        sample_header().target.map(|target| TargetRecord { kind: TargetKind::Directory, direct, ..target });
    let header = RunHeader { environment, target, ..sample_header() };
    RunRecord { header, cells, ..sample_record() }
}

/// Returns operations of this size and duration.
fn operations(count: u64, bytes: u32, each_ns: f64) -> OpsRecord {
    let ns = each_ns as u64;
    let latency =
        LatencyRecord { count, min_ns: ns, max_ns: ns, sum_ns: ns * count, buckets: vec![(ns, count)] };
    OpsRecord {
        submitted: count,
        completed: count,
        bytes: count * u64::from(bytes),
        latency,
        ..OpsRecord::default()
    }
}

/// Returns one repetition of consecutive operations.
fn alone(index: u32, direction: Direction, bytes: u32, each_ns: f64) -> Repetition {
    let done = operations(1000, bytes, each_ns);
    let mut one = repetition(index, (each_ns * 1000.0) as u64);
    match direction {
        Direction::Write => one.write = done,
        _ => one.read = done,
    }
    one
}

fn block_cell(direction: Direction, pattern: Pattern, bytes: u32, each_ns: f64, sync: SyncRule) -> Cell {
    let block_sizes = vec![BlockSize { size_bytes: bytes, weight: 1 }];
    let read_percent = if direction == Direction::Write { 0 } else { 100 };
    Cell {
        workload: Some(workload().with(|access| {
            access.pattern = pattern;
            access.block_sizes = block_sizes;
            access.read_percent = read_percent;
            access.sync = sync;
        })),
        repetitions: vec![alone(0, direction, bytes, each_ns)],
        ..cell("a cell", Some(direction))
    }
}

#[test]
fn a_run_through_the_page_cache_names_it() {
    let unsynced = SyncRule::default();
    let (read, write) = (Direction::Read, Direction::Write);
    // Sequential reads at 1360 MB/s, like those of a virtual disk with readahead.
    let ahead = block_cell(read, Pattern::Sequential, 1 << 20, 771.0 * US, unsynced);
    let kept = block_cell(read, Pattern::Random, 4096, 2.0 * US, unsynced);
    let taken = block_cell(write, Pattern::Random, 4096, 3.0 * US, unsynced);
    let run = |direct| {
        let cells = vec![ahead.clone(), kept.clone(), taken.clone()];
        limits_from_outside(&record(environment("ext4", Link::Virtio), direct, cells))
    };
    for (limit, strength) in run(false).iter().zip([Strength::Likely, Strength::Strong, Strength::Strong]) {
        let limit = &limit.limit;
        assert_eq!((limit.kind, limit.strength), (LimitKind::HostMemory, strength), "{limit:?}");
        assert!(limit.sentence.en.contains("page cache"), "{limit:?}");
        assert!(limit.next.as_ref().is_some_and(|next| next.en.contains("--direct")), "{limit:?}");
    }
    assert!(run(true).iter().all(|limit| limit.limit.kind != LimitKind::HostMemory));
    // Activity of others does not turn it into the rate of a device.
    let mut disturbed = ahead.clone();
    disturbed.repetitions[0].noise = Noise { steal_share: Some(0.5), ..Noise::default() };
    let beside = limits_from_outside(&record(environment("ext4", Link::Virtio), false, vec![disturbed]));
    assert_eq!(beside[0].limit.kind, LimitKind::HostMemory);
}

#[test]
fn what_waits_for_the_medium_is_not_called_memory() {
    let synced = SyncRule { every_writes: Some(1), ..SyncRule::default() };
    let at_end = SyncRule { at_end: EndSync::Timed, ..SyncRule::default() };
    let slow = block_cell(Direction::Read, Pattern::Random, 4096, 120.0 * US, SyncRule::default());
    let cells =
        [synced, at_end].map(|sync| block_cell(Direction::Write, Pattern::Random, 4096, 3.0 * US, sync));
    let cells = cells.into_iter().chain([slow]).collect();
    for limit in limits_from_outside(&record(environment("ext4", Link::Virtio), false, cells)) {
        assert!(limit.limit.kind != LimitKind::HostMemory, "{limit:?}");
    }
}

#[test]
fn a_file_system_in_memory_has_no_device_that_pauses() {
    let mut stalled = block_cell(Direction::Write, Pattern::Random, 4096, 3.0 * US, SyncRule::default());
    let one = &mut stalled.repetitions[0];
    one.elapsed_ns = 20_000_000;
    one.write.latency.sum_ns = 18_000_000;
    let stall = Stall {
        at_ns: 0,
        length_ns: 15_000_000,
        kind: OpKind::Write,
        offset_bytes: 0,
        operations: 1,
        longest_ns: 15_000_000,
    };
    (one.stalls, one.stall_count, one.stall_threshold_ns) = (vec![stall], 1, 1_000_000);
    let limit =
        |environment| limits_from_outside(&record(environment, true, vec![stalled.clone()]))[0].limit.clone();
    assert_eq!(limit(environment("ext4", Link::Virtio)).kind, LimitKind::Stalls);
    let memory = limit(environment("tmpfs", Link::Memory));
    assert_eq!(memory.kind, LimitKind::HostMemory, "{memory:?}");
    assert!(memory.sentence.en.contains("tmpfs") && !memory.sentence.en.contains("pauses"), "{memory:?}");
}

/// A sweep over the working set by reads on a file system, with the time of each point in each
/// repetition.
struct Curve {
    file_system: &'static str,
    /// Times from 64 KiB on, each for twice the span of the one before; by repetition.
    times_ns: Vec<Vec<f64>>,
    noise: Noise,
}

impl Curve {
    fn of(times_ns: Vec<Vec<f64>>) -> Self {
        Self { file_system: "ext4", times_ns, noise: Noise::default() }
    }

    /// Returns a curve that all repetitions show equally.
    fn steady(times_us: &[f64], runs: usize) -> Self {
        Self::of(times_us.iter().map(|us| vec![us * US; runs]).collect())
    }

    fn run(&self) -> Vec<SweepCurve> {
        let largest = (64 * KIB) << (self.times_ns.len() - 1);
        let runs = self.times_ns[0].len();
        let profile = plan(SweepAxis::WorkingSet, Direction::Read, largest, runs as u32).profile();
        let cells = profile.steps.iter().zip(&self.times_ns).enumerate().map(|(index, (step, times))| {
            let Step::Io(step) = step else { panic!("{step:?}") };
            let workload = Workload { span_bytes: step.span_bytes.unwrap(), ..workload() };
            let repetitions = times.iter().enumerate().map(|(index, ns)| Repetition {
                noise: self.noise,
                ..alone(index as u32, Direction::Read, 4096, *ns)
            });
            Cell {
                step_index: index as u32,
                workload: Some(workload),
                repetitions: repetitions.collect(),
                ..cell("point", Some(Direction::Read))
            }
        });
        let mut run = record(environment(self.file_system, Link::Virtio), true, cells.collect());
        run.header.profile = Some(profile);
        explain_sweep(&run)
    }
}

fn plan(axis: SweepAxis, direction: Direction, max_bytes: u64, runs: u32) -> SweepPlan {
    SweepPlan {
        axes: vec![axis],
        directions: vec![direction],
        max_bytes: Some(max_bytes),
        long_write: None,
        time_ns: 500_000_000,
        runs,
        direct: true,
        seed: 1,
    }
}

fn changes(shown: &[SweepCurve]) -> Vec<&Finding> {
    shown.iter().flat_map(|curve| &curve.findings).filter(|finding| finding.x.is_some()).collect()
}

/// A cache that answers in 10 µs up to 1 MiB, of a drive that takes 100 µs.
const CACHE_US: [f64; 12] = [10.0, 10.1, 9.9, 10.0, 10.1, 55.0, 77.0, 88.0, 94.0, 97.0, 98.0, 99.0];

#[test]
fn a_change_that_every_point_bears_is_told() {
    let shown = Curve::steady(&CACHE_US, 3).run();
    let [change] = changes(&shown)[..] else { panic!("{shown:#?}") };
    assert!(change.name == FindingName::DriveCache && change.confidence > Confidence::None, "{change:?}");
}

#[test]
fn points_that_lie_between_are_not_passed_over() {
    let mut times = CACHE_US;
    (times[1], times[3]) = (244.0, 121.0);
    let shown = Curve::steady(&times, 3).run();
    for change in shown.iter().flat_map(|curve| &curve.findings) {
        assert!(!change.text.en.starts_with("up to"), "{change:?}");
    }
}

#[test]
fn what_one_of_three_repetitions_shows_is_not_told() {
    let times = CACHE_US.iter().map(|us| vec![10.0 * US, 10.0 * US, us.powi(3) / 100.0 * US]).collect();
    let shown = Curve::of(times).run();
    assert!(
        shown.iter().flat_map(|curve| &curve.findings).all(|finding| finding.confidence == Confidence::None),
        "{shown:#?}"
    );
    // If two repetitions show it and one does not, it is likely at most. Here an access takes as
    // long as one of a hard disk.
    let disk_ms = |us: &f64| if *us < 20.0 { 1.0 } else { 8.0 };
    let sure = |third: fn(f64) -> f64| {
        let times = CACHE_US.iter().map(disk_ms).map(|ms| [ms, ms, third(ms)].map(|ms| ms * 1e6).to_vec());
        let shown = Curve::of(times.collect()).run();
        let [change] = changes(&shown)[..] else { panic!("{shown:#?}") };
        (change.confidence, change.evidence.en.contains("2 of 3 repetitions"))
    };
    assert_eq!(sure(|ms| ms), (Confidence::Firm, false));
    assert_eq!(sure(|_| 3.0), (Confidence::Likely, true));
}

/// Returns times that grow in proportion to the span, up to 64 MiB.
fn walk_us() -> Vec<f64> {
    (0..11).map(|step| 20.0 + 0.5 * f64::from(1 << step)).collect()
}

#[test]
fn a_chain_is_walked_only_where_the_file_system_has_chains() {
    let on = |file_system, runs| Curve { file_system, ..Curve::steady(&walk_us(), runs) }.run();
    let chain = |shown: &[SweepCurve]| {
        shown
            .iter()
            .flat_map(|curve| &curve.findings)
            .find(|finding| finding.name == FindingName::ChainWalk)
            .map(|finding| finding.confidence)
    };
    assert_eq!(chain(&on("vfat", 3)), Some(Confidence::Firm));
    assert_eq!(chain(&on("vfat", 1)), Some(Confidence::Likely), "one repetition is not firm");
    let shown = on("ext4", 3);
    assert_eq!(chain(&shown), None);
    assert!(
        !shown.is_empty()
            && shown
                .iter()
                .flat_map(|curve| &curve.findings)
                .all(|finding| !finding.evidence.en.contains("FAT")),
        "{shown:#?}"
    );
}

#[test]
fn what_is_seen_while_others_work_has_no_name() {
    let noise = Noise { steal_share: Some(0.4), ..Noise::default() };
    let shown = Curve { noise, ..Curve::steady(&CACHE_US, 3) }.run();
    let [change] = changes(&shown)[..] else { panic!("{shown:#?}") };
    assert_eq!((change.name, change.confidence), (FindingName::Unknown, Confidence::None));
    assert!(change.evidence.en.contains("other work was running at 12 of 12 points"), "{change:?}");
}

/// Returns the findings for a long write with these rates in MB/s, with an interval of 100 ms for
/// each.
fn course(rates: &[u64], link: Link, rotational: Option<bool>) -> Vec<SweepCurve> {
    let profile = plan(SweepAxis::BytesWritten, Direction::Write, 16 << 30, 2).profile();
    let repetitions = rates.chunks(rates.len() / 2).enumerate().map(|(index, rates)| {
        let interval =
            |mb: u64| Interval { write_bytes: mb * 100_000, write_operations: 1, ..Interval::default() };
        // The last interval is ignored, as it may be incomplete.
        let intervals = rates.iter().chain(&[1]).map(|mb| interval(*mb)).collect();
        Repetition {
            series: Series { interval_ns: 100_000_000, intervals },
            ..repetition(index as u32, rates.len() as u64 * 100_000_000)
        }
    });
    let cell = Cell {
        workload: Some(workload().with(|access| {
            access.pattern = Pattern::Sequential;
            access.read_percent = 0;
        })),
        repetitions: repetitions.collect(),
        ..cell("long write", Some(Direction::Write))
    };
    let mut environment = environment("ext4", link);
    environment.devices[0].rotational = rotational;
    let mut run = record(environment, true, vec![cell]);
    run.header.profile = Some(profile);
    explain_sweep(&run)
}

#[test]
fn a_rate_that_comes_back_is_no_cache_that_is_full() {
    let pcie =
        Link::Pcie { speed_gt_per_s: Some(8.0), width: Some(4), speed_max_gt_per_s: None, width_max: None };
    let slc = |rates: &[u64], link: &Link, rotational| {
        let shown = course(rates, link.clone(), rotational);
        shown
            .iter()
            .flat_map(|curve| &curve.findings)
            .find(|finding| finding.name == FindingName::SlcCache)
            .map(|finding| finding.confidence)
    };
    let full: Vec<u64> = (0..40).map(|at| if at < 12 { 1500 } else { 300 }).collect();
    assert_eq!(slc(&full, &pcie, Some(false)), Some(Confidence::Firm));
    let back: Vec<u64> = (0..40).map(|at| if (12..24).contains(&at) { 300 } else { 1500 }).collect();
    assert_eq!(slc(&back, &pcie, Some(false)), None);
    let shown = course(&back, pcie, Some(false));
    assert!(
        shown.iter().flat_map(|curve| &curve.findings).any(|finding| finding.text.en.contains("again")),
        "{shown:#?}"
    );
    // Behind a hypervisor the kind of device is unknown.
    assert_eq!(slc(&full, &Link::Virtio, None), None);
}

proptest! {
    #[test]
    fn no_claim_contradicts_the_points_that_are_shown(
        levels in prop::collection::vec((5.0_f64..500.0, 2_usize..5), 2..5),
        scatter in prop::collection::vec(0.5_f64..2.0, 20),
        spikes in prop::collection::vec((0_usize..20, 2.0_f64..20.0), 0..4),
    ) {
        let mut times: Vec<f64> =
            levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count)).collect();
        times.truncate(18);
        for (time, scatter) in times.iter_mut().zip(&scatter) {
            *time *= scatter.powf(0.2);
        }
        for (place, factor) in spikes {
            if let Some(time) = times.get_mut(place) {
                *time *= factor;
            }
        }
        let shown = Curve::steady(&times, 3).run();
        let points = &shown[0].points;
        let mut last = 0.0;
        for finding in changes(&shown) {
            // A statement about everything beyond ends where it says so.
            let end = finding.text.en.strip_prefix("from ").and_then(|text| text.split(" an ").next());
            let end = end.and_then(|places| parse_bytes(places.split(" to ").nth(1)?).ok());
            let end = end.map_or(f64::INFINITY, |bytes| bytes as f64);
            let (x, low, high) = (finding.x.unwrap(), finding.low.unwrap(), finding.high.unwrap());
            let before = points.iter().filter(|point| point.0 >= last && point.0 <= low);
            let beyond = points.iter().filter(|point| point.0 >= high && point.0 < end);
            if finding.after > finding.before {
                for point in before {
                    prop_assert!(point.1 < finding.after * 1.1, "{point:?} before {finding:#?} in {points:?}");
                }
            } else {
                for point in beyond {
                    prop_assert!(point.1 < finding.before * 1.1, "{point:?} beyond {finding:#?} in {points:?}");
                }
            }
            last = x;
        }
    }
}
