//! Judges from measured cells whether a storage is fit for a use.

use crate::explain::blind::{measured_on, model};
use kurabe_compare::{
    Bearable, BrokenLimit, Fit, FitGround, FitVerdict, HostMemory, USES, Use, WriteCaches, fit_profile,
    recommend, recommend_cells,
};
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::profile::Step;
use kurabe_core::record::{Cell, Measure, OpsRecord, Repetition, RunRecord};
use kurabe_core::workload::{Arrival, Direction, OpenLoop, Pattern, Workload};
use kurabe_profile::profile_named;
use kurabe_stats::Histogram;

const MS: u64 = 1_000_000;

fn made_use(name: &str) -> Use {
    Use::load(name).expect("a use of the library")
}

/// Returns operations with these durations in ms and these counts.
fn operations(lengths: &[(u64, u64)]) -> OpsRecord {
    let mut histogram = Histogram::default();
    for (length_ms, count) in lengths {
        (0..*count).for_each(|_| histogram.record(length_ms * MS));
    }
    let latency = histogram.to_record();
    OpsRecord { completed: latency.count, bytes: latency.count * 2300, latency, ..OpsRecord::default() }
}

/// Returns the cells of a run for etcd, with flushes of these durations and counts.
fn flushes(lengths: &[(u64, u64)]) -> Vec<Cell> {
    let repetition = Repetition {
        elapsed_ns: 1000 * MS,
        write: operations(&[(1, 100)]),
        sync: operations(lengths),
        ..Repetition::default()
    };
    let mut workload = Workload::plain(Pattern::Sequential, 2300, 22 << 20);
    workload.read_percent = 0;
    workload.sync.every_writes = Some(1);
    vec![Cell {
        label: "SEQ".to_owned(),
        direction: Some(Direction::Write),
        measure: Measure::Rate,
        workload: Some(workload),
        repetitions: vec![repetition],
        ..Cell::default()
    }]
}

fn verdict_of(lengths: &[(u64, u64)]) -> FitVerdict {
    Fit::of(&flushes(lengths), &made_use("etcd"), 1).verdict
}

#[test]
fn a_percentile_is_judged_by_how_many_operations_are_over_it() {
    assert_eq!(verdict_of(&[(1, 368)]), FitVerdict::Fit);
    // With one fewer, the probability that further operations change the percentile exceeds one in
    // forty.
    assert_eq!(verdict_of(&[(1, 367)]), FitVerdict::NotClear);
    assert_eq!(verdict_of(&[(10, 368)]), FitVerdict::Fit, "just as long as the limit");
    assert_eq!(verdict_of(&[(11, 368)]), FitVerdict::Unfit);
    assert_eq!(verdict_of(&[(1, 990), (20, 10)]), FitVerdict::NotClear, "just as many as the limit");
    assert_eq!(verdict_of(&[(1, 997), (20, 3)]), FitVerdict::Fit);
    assert_eq!(verdict_of(&[(1, 980), (20, 20)]), FitVerdict::Unfit);
    assert_eq!(verdict_of(&[(1, 2), (20, 1)]), FitVerdict::NotClear, "three tell nothing");
    assert_eq!(verdict_of(&[]), FitVerdict::NotClear);
    let nothing = Fit::of(&[], &made_use("etcd"), 1);
    assert_eq!((nothing.verdict, nothing.limits[0].kept), (FitVerdict::NotClear, None));
}

#[test]
fn a_rate_is_judged_by_how_its_repetitions_scatter() {
    let purpose = made_use("sd-a1");
    let cells = |factor: [f64; 3]| {
        let cell = |(place, work): (usize, &kurabe_compare::UseWork)| {
            let least = work.least.as_ref().expect("a rate").bytes_per_s;
            let repetition = |factor: f64| {
                let done = OpsRecord { bytes: (least * factor) as u64, completed: 1, ..OpsRecord::default() };
                let (read, write) = match work.direction {
                    Direction::Read => (done, OpsRecord::default()),
                    _ => (OpsRecord::default(), done),
                };
                Repetition { elapsed_ns: 1000 * MS, read, write, ..Repetition::default() }
            };
            Cell {
                step_index: place as u32,
                direction: Some(work.direction),
                repetitions: factor.map(repetition).to_vec(),
                ..Cell::default()
            }
        };
        purpose.work.iter().enumerate().map(cell).collect::<Vec<Cell>>()
    };
    let verdict = |factor| Fit::of(&cells(factor), &purpose, 1).verdict;
    assert_eq!(verdict([1.5, 1.6, 1.4]), FitVerdict::Fit);
    assert_eq!(verdict([0.9, 1.3, 1.1]), FitVerdict::NotClear);
    assert_eq!(verdict([0.5, 0.6, 0.4]), FitVerdict::Unfit);
    // A part that was not measured is undecided, and of the others a single one decides.
    assert_eq!(Fit::of(&cells([1.5, 1.6, 1.4])[1..], &purpose, 1).verdict, FitVerdict::NotClear);
    let broken = Fit::of(&cells([0.5, 0.6, 0.4])[1..], &purpose, 1);
    assert_eq!(broken.verdict, FitVerdict::Unfit);
    assert_eq!(broken.decisive(), broken.limits.get(1));
}

#[test]
fn what_comes_and_is_not_taken_is_over_the_limit() {
    let purpose = made_use("camera-recorder");
    let cells = |unserved_operations, bytes| {
        let mut workload = Workload::plain(Pattern::Sequential, 128 << 10, 256 << 20);
        workload.read_percent = 0;
        workload.open_loop = Some(OpenLoop { rate_iops: 100.0, arrival: Arrival::Even });
        let write = operations(&[(5, 1000)]);
        let write = OpsRecord { bytes, ..write };
        let elapsed_ns = 10_000_000_000;
        let repetition = Repetition { write, unserved_operations, elapsed_ns, ..Repetition::default() };
        let (direction, repetitions) = (Some(Direction::Write), vec![repetition.clone(), repetition]);
        vec![Cell { direction, workload: Some(workload), repetitions, ..Cell::default() }]
    };
    let verdict = |cells: &[Cell]| Fit::of(cells, &purpose, 1).verdict;
    // Fifty of them arrive within half a second, and may still be accepted in time.
    assert_eq!(verdict(&cells(50, 10_000_000)), FitVerdict::Fit);
    assert_eq!(verdict(&cells(100, 10_000_000)), FitVerdict::Unfit);
    // A drive that serves less than what arrives has a queue without end, although none was late yet.
    assert_eq!(verdict(&cells(0, 8_000_000)), FitVerdict::Unfit);
}

#[test]
fn a_run_whose_flushes_take_too_long_is_out_and_one_without_flushes_tells_nothing() {
    let purpose = made_use("etcd");
    let (fast, slow) = (flushes(&[(1, 400)]), flushes(&[(30, 400)]));
    let choice = recommend_cells(&[&slow, &fast], &purpose).expect("cells in common");
    let out =
        choice.standings.iter().find_map(|standing| Some((standing.run, standing.out.as_ref()?.broken)));
    assert!(matches!(out, Some((0, BrokenLimit::Percentile { limit_ns: 10_000_000, .. }))), "{out:?}");
    let mut plain = fast.clone();
    plain.iter_mut().filter_map(|cell| cell.workload.as_mut()).for_each(|one| one.sync.every_writes = None);
    assert!(recommend_cells(&[&fast, &plain], &purpose).is_none());
}

#[test]
fn each_use_is_measured_by_what_it_does() {
    for (name, _) in USES {
        let purpose = made_use(name);
        for count in [1, 16, 5000] {
            let profile = fit_profile(
                &purpose,
                count,
                FitGround { model: Some(WriteCaches::default()), ..FitGround::default() },
            );
            let measured: Vec<_> = purpose.work.iter().filter(|work| !work.of_file_system).collect();
            assert_eq!(profile.steps.len(), measured.len(), "{name}");
            for (step, work) in profile.steps.iter().zip(measured) {
                let Step::Io(step) = step else { panic!("{name}: {step:?}") };
                assert_eq!(step.sync.every_writes.is_some(), work.sync, "{name}");
                assert_eq!(step.directions, [work.direction], "{name}");
                let factor = if work.per_count { f64::from(count) } else { 1.0 };
                let offered = work.rate_bytes_per_s.map(|rate| rate * factor / work.block_bytes as f64);
                assert_eq!(step.open_loop.map(|open_loop| open_loop.rate_iops), offered, "{name}");
            }
        }
    }
    // One camera sends enough pieces to determine their 99th percentile.
    let Step::Io(step) = &fit_profile(&made_use("camera-recorder"), 1, FitGround::default()).steps[0] else {
        panic!()
    };
    let pieces = step.open_loop.unwrap().rate_iops * step.end.time_ns.unwrap() as f64 / 1e9 * 5.0;
    assert!((368.0..800.0).contains(&pieces), "{pieces}");
}

#[test]
fn a_limit_of_a_use_says_what_it_asks() {
    let source = USES.iter().find(|(name, _)| *name == "etcd").unwrap().1;
    let purpose = Use::parse("etcd.toml", source).unwrap();
    assert!(matches!(purpose.limits[0].bears, Bearable::Percentile { at_most_ns: 10_000_000, .. }));
    for (from, to, expected) in [
        ("percentile = 99", "percentile = 100", "below 100"),
        ("of = \"sync\"", "of = \"trim\"", "trim"),
        ("at_most = \"10 ms\"", "worst_stall = \"1 s\"", "either"),
        ("block = \"2300\"", "block = \"0\"", "at least one byte"),
    ] {
        let error = Use::parse("mine.toml", &source.replace(from, to)).unwrap_err();
        let shown = error.render(kurabe_core::Lang::En);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn memory_is_fit_for_nothing_however_fast_it_is() {
    let cells = flushes(&[(1, 368)]);
    let judged = |link: Option<Link>| {
        let mut record = RunRecord { cells: cells.clone(), ..RunRecord::default() };
        record.header.environment.devices = vec![BlockDevice { link, ..BlockDevice::default() }];
        let fit = Fit::of_run(&record, &made_use("etcd"), 1);
        (fit.verdict, fit.host_memory)
    };
    assert_eq!(judged(None), (FitVerdict::Fit, None));
    assert_eq!(judged(Some(Link::Memory)), (FitVerdict::Unfit, Some(HostMemory::Memory)));
    let over_a_file = |direct| Some(Link::Loop { backing: None, direct: Some(direct) });
    assert_eq!(judged(over_a_file(false)), (FitVerdict::NotClear, Some(HostMemory::PageCache)));
    assert_eq!(judged(over_a_file(true)), (FitVerdict::Fit, None));
}

#[test]
fn a_shingled_disk_is_judged_past_its_media_cache() {
    let judged = |device: &str, name: &str, count: u32, past_caches: bool| {
        let purpose = made_use(name);
        let target = model(device);
        let caches = WriteCaches::of(&kurabe_core::model::Model::record(&target));
        let ground = FitGround { model: past_caches.then_some(caches), ..FitGround::default() };
        Fit::of_run(&measured_on(target, &fit_profile(&purpose, count, ground)), &purpose, count)
    };
    // Its cache accepts the writes of 16 cameras for 20 s, which does not show the hours after
    // that.
    let within = judged("seagate-archive-8tb", "camera-recorder", 16, false);
    let doubt = within.cache_doubt.expect("a doubt");
    assert_eq!((within.verdict, doubt.needed_bytes / 1_000_000_000), (FitVerdict::NotClear, 20));
    assert!(doubt.written_bytes < 2_000_000_000, "{doubt:?}");
    assert_eq!(judged("seagate-archive-8tb", "camera-recorder", 64, true).verdict, FitVerdict::Unfit);
    assert_eq!(judged("seagate-archive-8tb", "vm-host", 1, true).verdict, FitVerdict::Unfit);
    // A disk without such a cache is judged without a long run.
    let nearline = judged("seagate-exos-x18-kept", "vm-host", 1, true);
    assert_eq!((nearline.verdict, nearline.cache_doubt), (FitVerdict::Fit, None));
}

#[test]
fn a_run_within_the_media_cache_is_out_for_a_use_that_writes_for_hours() {
    let mut profile = profile_named("uses").unwrap();
    profile.rules.runs = 2;
    let runs =
        ["seagate-archive-8tb", "seagate-exos-x18-kept"].map(|device| measured_on(model(device), &profile));
    let ranked = recommend(&[&runs[0], &runs[1]], &made_use("database")).expect("cells in common");
    let outs: Vec<_> =
        ranked.standings.iter().map(|one| (one.run, one.out.as_ref().map(|out| out.broken))).collect();
    assert!(
        matches!(outs[..], [(1, None), (0, Some(BrokenLimit::Cached { cache_bytes: 20_000_000_000, .. }))]),
        "{outs:?}"
    );
}
