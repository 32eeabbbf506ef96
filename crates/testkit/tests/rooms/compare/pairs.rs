//! Comparisons of runs of all kinds.

use kurabe_compare::{CellKey, Fact, Weight, differences, pair, values};
use kurabe_core::environment::{FileSystemJournal, Link};
use kurabe_core::profile::Profile;
use kurabe_core::record::{Cell, Measure, RankShare, RankedRepetition, Repetition, RunRecord, VersusRecord};
use kurabe_core::workload::{BlockSize, Direction, Pattern};
use kurabe_profile::{PROFILES, profile_named};
use kurabe_stats::Verdict;
use std::collections::HashSet;

/// Parses an exported run.
fn run(text: &str) -> RunRecord {
    let mut file: serde_json::Value = serde_json::from_str(text).expect("JSON");
    serde_json::from_value(file["run"].take()).expect("a run")
}

fn measured() -> RunRecord {
    run(include_str!("../../../../store/tests/fixtures/export-v2-rounds.json"))
}

fn imported() -> RunRecord {
    run(include_str!("../../../../store/tests/fixtures/export-v2-imported.json"))
}

/// Returns the run with its counted repetitions prolonged by a factor.
fn stretched(record: &RunRecord, times: f64) -> RunRecord {
    let mut slower = record.clone();
    for repetition in slower.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.elapsed_ns = (repetition.elapsed_ns as f64 * times) as u64;
    }
    slower
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let one = measured();
    let same = pair(&one, &one, 0.05);
    assert_eq!((same.cells.len(), same.differences.len()), (1, 0));
    assert!(same.only_baseline.is_empty() && same.only_other.is_empty());
    let compared = same.cells[0].compared.expect("values");
    assert!((compared.speed.value - 1.0).abs() < 1e-12 && (compared.superiority - 0.5).abs() < 1e-12);
}

#[test]
fn twice_the_time_is_half_the_speed() {
    let one = measured();
    let compared = pair(&one, &stretched(&one, 2.0), 0.05).cells[0].compared.expect("values");
    assert!((compared.speed.value - 0.5).abs() < 1e-3, "{compared:?}");
    assert_eq!(compared.verdict, Verdict::Slower);
}

#[test]
fn half_of_a_mix_does_not_meet_reads_alone() {
    let theirs = imported();
    let mut half = theirs.clone();
    let cell = &mut half.cells[0];
    assert_eq!(cell.direction, Some(Direction::Read));
    cell.imported.as_mut().expect("a printed cell").read_percent = Some(70.0);
    let keys = |run: &RunRecord| CellKey::of_run(run).remove(0);
    assert_ne!(keys(&theirs), keys(&half));
    cell_of(&mut half).label += " · whatever";
    assert_eq!(pair(&half, &theirs, 0.05).only_baseline.len(), 1);
}

fn cell_of(run: &mut RunRecord) -> &mut Cell {
    &mut run.cells[0]
}

/// Returns an imported cell of random 4 KiB operations.
fn printed(direction: Direction, rate: f64) -> Cell {
    let mut cell =
        Cell { direction: Some(direction), label: "a · job".to_owned(), ..imported().cells[0].clone() };
    let job = cell.imported.as_mut().expect("a printed cell");
    (job.sequential, job.block_bytes, job.iodepth, job.threads) = (Some(false), Some(4096), Some(4), Some(1));
    job.figures.truncate(1);
    job.figures[0].value = rate;
    cell
}

#[test]
fn reads_and_writes_of_a_mix_meet_the_mix() {
    let mut ours = of_blocks("a", &[(4096, 4)]);
    let cell = cell_of(&mut ours);
    cell.direction = Some(Direction::Mix);
    cell.workload.as_mut().expect("a workload").read_percent = 70;
    let mut theirs = imported();
    theirs.cells = vec![printed(Direction::Read, 70e6), printed(Direction::Write, 30e6)];
    for cell in &mut theirs.cells {
        cell.imported.as_mut().expect("a printed cell").read_percent = Some(70.0);
    }
    let both = pair(&ours, &theirs, 0.05);
    assert_eq!((both.cells.len(), both.only_baseline.len(), both.only_other.len()), (1, 0, 0), "{both:#?}");
    assert!((both.cells[0].other.mean - 100e6).abs() < 1.0);
    // Two imported runs are compared by direction as well, whatever their jobs are called.
    let mut again = theirs.clone();
    again.cells.iter_mut().for_each(|cell| cell.label = "a · other job".to_owned());
    assert_eq!(pair(&theirs, &again, 0.05).cells.len(), 3);
    // Half of it is not a mix.
    theirs.cells.pop();
    let half = pair(&ours, &theirs, 0.05);
    assert_eq!((half.cells.len(), half.only_other.len()), (0, 1));
}

#[test]
fn threads_that_are_told_one_by_one_meet_their_job() {
    let mut ours = of_blocks("a", &[(4096, 4)]);
    cell_of(&mut ours).direction = Some(Direction::Read);
    cell_of(&mut ours).workload.as_mut().expect("a workload").threads = 2;
    let mut theirs = imported();
    theirs.cells = vec![printed(Direction::Read, 40e6), printed(Direction::Read, 60e6)];
    for cell in &mut theirs.cells {
        let job = cell.imported.as_mut().expect("a printed cell");
        (job.threads, job.one_of_threads) = (None, Some(2));
    }
    let both = pair(&ours, &theirs, 0.05);
    assert_eq!((both.cells.len(), both.only_other.len()), (1, 0), "{both:#?}");
    assert!((both.cells[0].other.mean - 100e6).abs() < 1.0);
    theirs.cells.pop();
    assert_eq!(pair(&ours, &theirs, 0.05).cells.len(), 0, "one thread is not told");
}

#[test]
fn processes_of_ranks_meet_the_threads_of_another_tool() {
    let mut ours = of_blocks("a", &[(4096, 4)]);
    cell_of(&mut ours).direction = Some(Direction::Read);
    let mut theirs = imported();
    theirs.cells = vec![printed(Direction::Read, 40e6)];
    cell_of(&mut theirs).imported.as_mut().expect("a printed cell").threads = Some(3);
    assert_ne!(CellKey::of_run(&ours)[0], CellKey::of_run(&theirs)[0]);
    let shares = vec![RankShare::default(); 3];
    for repetition in &mut cell_of(&mut ours).repetitions {
        repetition.ranks =
            Some(Box::new(RankedRepetition { shares: shares.clone(), ..RankedRepetition::default() }));
    }
    assert_eq!(CellKey::of_run(&ours)[0], CellKey::of_run(&theirs)[0]);
}

#[test]
fn what_tells_no_workload_meets_what_is_called_the_same() {
    let mut ours = of_blocks("a", &[(2 << 20, 1)]);
    (cell_of(&mut ours).label, cell_of(&mut ours).part) = ("ior-easy".to_owned(), "write".to_owned());
    cell_of(&mut ours).direction = Some(Direction::Write);
    let mut theirs = imported();
    theirs.cells = vec![Cell {
        part: "write".to_owned(),
        label: "ior-easy".to_owned(),
        ..printed(Direction::Write, 2e9)
    }];
    cell_of(&mut theirs).imported.as_mut().expect("a printed cell").threads = None;
    for (one, two) in [(&ours, &theirs), (&theirs, &ours)] {
        let both = pair(one, two, 0.05);
        assert_eq!((both.cells.len(), both.only_other.len()), (1, 0), "{both:#?}");
    }
    cell_of(&mut theirs).label = "ior-hard".to_owned();
    assert_eq!(pair(&ours, &theirs, 0.05).cells.len(), 0);
}

#[test]
fn what_meets_none_names_the_nearest_that_is_left() {
    let (one, two) = (of_blocks("a", &[(4096, 1), (8192, 8)]), of_blocks("b", &[(4096, 1), (16384, 8)]));
    let both = pair(&one, &two, 0.05);
    let nearest = |alone: &kurabe_compare::Alone| alone.nearest.as_ref().map(|name| name.label.clone());
    assert_eq!(nearest(&both.only_baseline[0]).as_deref(), Some("RND 16384 Q8"));
    assert_eq!(nearest(&both.only_other[0]).as_deref(), Some("RND 8192 Q8"));
    let far = of_blocks("c", &[(4096, 1)]);
    assert_eq!(pair(&one, &far, 0.05).only_baseline[0].nearest, None, "all that it has is met");
}

#[test]
fn direct_io_that_another_tool_printed_is_no_doubt() {
    let (mut theirs, ours) = (imported(), measured());
    let doubt = |theirs: &RunRecord| {
        differences(theirs, &ours).iter().any(|difference| difference.fact == Fact::Cache)
    };
    assert!(doubt(&theirs), "the one tells it, the other does not");
    let direct = ours.header.profile.as_ref().expect("a profile").rules.direct;
    let origin = theirs.header.origin.as_mut().expect("an import");
    origin.facts.insert("direct".to_owned(), u8::from(direct).to_string());
    assert!(!doubt(&theirs));
    let origin = theirs.header.origin.as_mut().expect("an import");
    origin.facts.insert("direct".to_owned(), u8::from(!direct).to_string());
    assert!(doubt(&theirs), "the other way");
}

#[test]
fn a_workload_meets_its_like_under_another_name() {
    let (theirs, mut ours) = (imported(), measured());
    let key = CellKey::of_run(&theirs).remove(0);
    let cell: &mut Cell = &mut ours.cells[0];
    cell.label = "whatever".to_owned();
    cell.direction = Some(Direction::Read);
    let workload = cell.workload.as_mut().expect("a workload");
    (workload.pattern, workload.iodepth, workload.threads) = (Pattern::Sequential, 8, 1);
    workload.block_sizes[0].size_bytes = 1 << 20;
    assert_eq!(CellKey::of_run(&ours)[0], key);
    let both = pair(&theirs, &ours, 0.05);
    assert_eq!((both.cells.len(), both.only_baseline.len()), (1, 1));
    assert!(both.cells[0].baseline.printed && both.cells[0].baseline.count == 1);
    // The uncertainty of a single figure is unknown.
    assert_eq!(both.cells[0].compared.map(|one| one.verdict), Some(Verdict::NotEnough { more: None }));
}

/// Returns a run of random reads with a cell for each block size and queue depth.
fn of_blocks(id: &str, blocks: &[(u32, u32)]) -> RunRecord {
    let mut run = measured();
    run.header.id = id.to_owned();
    run.header.profile = None;
    let template = run.cells[0].clone();
    let cell = |(block_bytes, iodepth): &(u32, u32)| {
        let mut cell = template.clone();
        cell.label = format!("RND {block_bytes} Q{iodepth}");
        cell.measure = Measure::Rate;
        let workload = cell.workload.as_mut().expect("a workload");
        (workload.pattern, workload.iodepth, workload.threads) = (Pattern::Random, *iodepth, 1);
        workload.block_sizes = vec![BlockSize { size_bytes: *block_bytes, weight: 1 }];
        cell
    };
    run.cells = blocks.iter().map(cell).collect();
    run
}

#[test]
fn runs_of_two_block_sizes_are_compared_cell_by_cell() {
    let (small, large) =
        (of_blocks("a", &[(4096, 32), (4096, 1)]), of_blocks("b", &[(16384, 1), (16384, 32)]));
    let both = pair(&small, &large, 0.05);
    let met: Vec<(&str, &str)> = both
        .cells
        .iter()
        .map(|cell| (cell.name.label.as_str(), cell.counterpart.as_ref().expect("another").label.as_str()))
        .collect();
    assert_eq!(met, [("RND 4096 Q32", "RND 16384 Q32"), ("RND 4096 Q1", "RND 16384 Q1")]);
    assert!(both.only_baseline.is_empty() && both.only_other.is_empty());
    // Two cells differ from one in one property each, so the match is ambiguous.
    let several = of_blocks("c", &[(8192, 1), (16384, 1)]);
    assert_eq!(pair(&of_blocks("d", &[(4096, 1)]), &several, 0.05).cells, []);
    // If an equal cell exists, no other is matched.
    let shared = pair(&small, &of_blocks("e", &[(4096, 1), (16384, 32)]), 0.05);
    assert_eq!(shared.cells.len(), 1);
    assert!(shared.cells[0].counterpart.is_none());
}

#[test]
fn configurations_in_turns_meet_by_place_whatever_they_do() {
    let versus = |place| VersusRecord {
        group: "a".to_owned(),
        order_seed: 1,
        targets: vec![".".to_owned(), ".".to_owned()],
        place,
        variants: vec!["bs=4k".to_owned(), "bs=64k".to_owned()],
    };
    let (mut one, mut two) =
        (of_blocks("a", &[(4096, 1), (65536, 1)]), of_blocks("b", &[(131_072, 1), (65536, 1)]));
    (one.header.versus, two.header.versus) = (Some(versus(0)), Some(versus(1)));
    let both = pair(&one, &two, 0.05);
    assert_eq!(both.cells.len(), 2);
    let differs: Vec<bool> = both.cells.iter().map(|cell| cell.counterpart.is_some()).collect();
    assert_eq!(differs, [true, false]);
    assert_eq!(both.names.clone().map(|name| name.en), ["bs=4k", "bs=64k"]);
}

#[test]
fn what_is_shown_of_either_side_and_the_ratio_are_one_estimate() {
    let versus = |place| VersusRecord {
        group: "a".to_owned(),
        order_seed: 1,
        targets: vec!["a".to_owned(), "b".to_owned()],
        place,
        variants: Vec::new(),
    };
    // The other is 20 % slower in most blocks, and faster by the same total in the rest.
    let of = |place, ms: &dyn Fn(u64) -> u64| {
        let times: Vec<u64> = (0..40).map(ms).collect();
        let mut run = modelled(&times);
        run.header.versus = Some(versus(place));
        for (index, repetition) in run.cells[0].repetitions.iter_mut().enumerate() {
            repetition.index = index as u32;
            repetition.turn = Some(index as u32);
        }
        run
    };
    let (baseline, other) = (
        of(0, &|block| 1000 + block % 3),
        of(1, &|block| if block / 2 % 4 == 0 { 700 } else { 1250 + block % 3 }),
    );
    let both = pair(&baseline, &other, 0.05);
    let cell = &both.cells[0];
    let compared = cell.compared.unwrap();
    let shown = match cell.name.measure {
        Measure::Rate => cell.other.mean / cell.baseline.mean,
        _ => cell.baseline.mean / cell.other.mean,
    };
    assert!((compared.speed.value / shown - 1.0).abs() < 1e-9, "{compared:?} and {shown}");
    let groups = cell.other.groups.unwrap();
    assert!(cell.baseline.groups.is_none() && groups.low_count.min(groups.high_count) < 20, "{groups:?}");
}

#[test]
fn single_figures_within_the_margin_are_no_difference() {
    let single = |ms| modelled(&[ms]);
    let says = |ms| pair(&single(1000), &single(ms), 0.05).cells[0].by_single_figures;
    assert_eq!(
        [says(1010), says(1200), says(800)].map(Option::unwrap),
        [Verdict::Same, Verdict::Slower, Verdict::Faster]
    );
    assert_eq!(
        pair(&modelled(&[1000, 1001]), &modelled(&[1010, 1013]), 0.05).cells[0].by_single_figures,
        None
    );
}

#[test]
fn another_tool_and_its_statistic_are_said_first() {
    let differences = differences(&imported(), &measured());
    let decisive = differences.iter().take_while(|difference| difference.weight == Weight::Decisive);
    let decisive: Vec<Fact> = decisive.map(|difference| difference.fact).collect();
    assert!(decisive.contains(&Fact::Tool) && decisive.contains(&Fact::Statistic), "{decisive:?}");
}

#[test]
fn a_repetition_that_sampled_counts_once() {
    let whole = run(include_str!("../../../../store/tests/fixtures/export-v2.json"));
    let sampled = whole.cells.iter().find(|cell| cell.repetitions.iter().any(|one| !one.samples.is_empty()));
    let cell = sampled.expect("a cell with samples");
    assert_eq!(values(cell).len(), cell.counted().count());
}

/// Returns a run of a profile on a modelled target of 4 GiB, in which each cell has another rate,
/// with noise.
#[test]
fn samples_that_another_tool_kept_are_an_interval() {
    let (measured, mut saved) =
        (kurabe_testkit::kinds::run_samples(), kurabe_testkit::kinds::run_gnome_file());
    for (saved, measured) in saved.cells.iter_mut().zip(&measured.cells) {
        (saved.label, saved.part, saved.measure) =
            (measured.label.clone(), measured.part.clone(), measured.measure);
    }
    let cells = pair(&measured, &saved, 0.05).cells;
    assert_eq!(cells.len(), 3, "{:?} {:?}", CellKey::of_run(&measured), CellKey::of_run(&saved));
    for cell in &cells {
        let compared = cell.compared.expect("values");
        assert!(cell.by_samples && cell.baseline.count.min(cell.other.count) >= 100, "{cell:?}");
        assert!(compared.speed.low < compared.speed.value && compared.speed.value < compared.speed.high);
        assert!(!matches!(compared.verdict, Verdict::NotEnough { more: Some(_) }), "{compared:?}");
    }
    // Two single passes of kurabe are compared in the same way, and repetitions are not.
    assert!(pair(&measured, &measured, 0.05).cells.iter().all(|cell| cell.by_samples));
    let mut repeated = measured.clone();
    for cell in &mut repeated.cells {
        let again = cell.repetitions[0].clone();
        cell.repetitions.push(again);
    }
    assert!(pair(&repeated, &repeated, 0.05).cells.iter().all(|cell| !cell.by_samples));
}

fn computed(profile: Profile) -> RunRecord {
    let mut run = measured();
    let repetition = run.cells[0].repetitions[0].clone();
    let mut cells = Vec::new();
    for task in profile.tasks(4 << 30) {
        for cell in &task.cells {
            let index = cells.len() as u32;
            let mut repetitions = vec![repetition.clone(); 3];
            for (number, repetition) in repetitions.iter_mut().enumerate() {
                repetition.discarded = false;
                repetition.elapsed_ns = (u64::from(index) + 1) * (1_000_000 + 250_000 * number as u64);
                (repetition.read.bytes, repetition.write.bytes) = (1 << 30, 1 << 30);
            }
            cells.push(Cell {
                index,
                step_index: task.step_index as u32,
                part: cell.part.clone(),
                label: cell.label.clone(),
                direction: cell.direction,
                measure: cell.measure,
                workload: task.workload().cloned(),
                engine: None,
                repetitions,
                imported: None,
            });
        }
    }
    run.cells = cells;
    run.header.profile = Some(profile);
    run
}

#[test]
fn a_run_of_any_profile_meets_its_copy_cell_by_cell() {
    for (name, _) in PROFILES {
        let run = computed(profile_named(name).expect("a profile"));
        let same = pair(&run, &run, 0.05);
        assert_eq!(same.cells.len(), run.cells.len(), "{name}");
        assert!(same.only_baseline.is_empty() && same.only_other.is_empty(), "{name}");
        for (cell, measured) in same.cells.iter().zip(&run.cells) {
            let mean = values(measured).iter().sum::<f64>() / 3.0;
            assert!(mean > 0.0, "{name}: {measured:?}");
            assert_eq!((cell.baseline.mean, cell.other.mean), (mean, mean), "{name}: {}", measured.label);
        }
        let keys = CellKey::of_run(&run);
        let distinct: HashSet<_> = keys.iter().zip(run.cells.iter().map(|cell| cell.measure)).collect();
        assert_eq!(distinct.len(), keys.len(), "{name}");
    }
}

/// Returns a profile of small random reads: over the whole target twice, in a part, in the same
/// part with warm-up, and for a longer time.
fn of_one_shape() -> Profile {
    kurabe_profile::parse_profile(
        "steps.toml",
        r#"
schema = 1
name = "steps"
title = { en = "steps", ja = "steps" }
statistic = "mean"
[rules]
size = "1 GiB"
runs = 3
time = "1 s"
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["read"]
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["read"]
span = "64 KiB"
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["read"]
span = "64 KiB"
warm_up_passes = 1
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["read"]
time = "20 s"
[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
directions = ["read"]
"#,
    )
    .expect("a profile")
}

#[test]
fn cells_of_one_shape_are_told_apart_by_where_and_how_long_they_go() {
    let several = computed(of_one_shape());
    let shapes: Vec<(Option<u64>, u32, u32)> = CellKey::of_run(&several)
        .iter()
        .map(|key| match key {
            CellKey::Io { within, times_as_long, nth, .. } => {
                (within.as_ref().and_then(|within| within.length_bytes), *times_as_long, *nth)
            }
            CellKey::Named { .. } => panic!("{key:?}"),
        })
        .collect();
    let part = Some(64 << 10);
    assert_eq!(shapes, [(None, 1, 0), (part, 1, 0), (part, 1, 0), (None, 20, 0), (None, 1, 1)]);
    // A run with only the whole target matches the cell there, and not the one in a part.
    let mut profile = of_one_shape();
    profile.steps.truncate(1);
    let one = computed(profile);
    let met = pair(&one, &several, 0.05);
    assert_eq!((met.cells.len(), met.only_baseline.len(), met.only_other.len()), (1, 0, 4));
    assert_eq!(met.cells[0].other.mean, met.cells[0].baseline.mean);
    // A span that all steps share is the test size, and is reported as such.
    let mut small = of_one_shape();
    small.steps.drain(2..);
    small.steps.remove(0);
    let small = computed(small);
    let met = pair(&one, &small, 0.05);
    assert_eq!(met.cells.len(), 1);
    let size = met.differences.iter().find(|difference| difference.fact == Fact::Size).expect("the size");
    assert_eq!(size.other, Some("64 KiB".to_owned().into()));
}

#[test]
fn jobs_of_another_tool_meet_where_they_go() {
    let mut profile = of_one_shape();
    profile.steps.truncate(2);
    let ours = computed(profile);
    // The whole target is last in the other run, so that the order does not match.
    let mut theirs = imported();
    let job = theirs.cells[0].clone();
    theirs.cells = [(64_u64 << 10, 2.0), (4 << 30, 1.0)]
        .iter()
        .map(|(span_bytes, rate)| {
            let mut job = Cell { direction: Some(Direction::Read), ..job.clone() };
            let printed = job.imported.as_mut().expect("a job");
            (printed.block_bytes, printed.sequential) = (Some(4096), Some(false));
            (printed.iodepth, printed.threads, printed.read_percent) = (Some(1), Some(1), None);
            (printed.offset_bytes, printed.span_bytes) = (Some(0), Some(*span_bytes));
            printed.figures[0].value = rate * 1e9;
            job
        })
        .collect();
    let met = pair(&ours, &theirs, 0.05);
    assert_eq!((met.cells.len(), met.only_baseline.len()), (2, 0), "{met:#?}");
    let within = |cell: &kurabe_compare::ComparedCell| match &cell.name.key {
        CellKey::Io { within, .. } => within.as_ref().and_then(|within| within.length_bytes),
        CellKey::Named { .. } => panic!("{:?}", cell.name.key),
    };
    let places: Vec<(Option<u64>, f64)> =
        met.cells.iter().map(|cell| (within(cell), cell.other.mean)).collect();
    assert_eq!(places, [(None, 1e9), (Some(64 << 10), 2e9)]);
}

#[test]
fn what_is_asked_about_is_answered_by_what_either_record_holds() {
    let (device, model) = (measured(), modelled(&[100]));
    let both = pair(&device, &model, 0.05);
    let of = |fact: Fact| both.facts.iter().find(|pair| pair.fact == fact).expect("every fact");
    let name = of(Fact::Device);
    assert!(name.baseline.is_some() && name.other.is_some() && name.differs(), "{name:?}");
    // A virtual disk has no model name.
    let mut virtual_disk = measured();
    let disk = &mut virtual_disk.header.environment.devices[0];
    (disk.name, disk.model, disk.link) = ("vda".to_owned(), None, Some(Link::Virtio));
    assert_eq!(Fact::Device.of(&virtual_disk), Some("vda (virtio)".to_owned().into()));
    let system = |bytes, journal| {
        let mut run = measured();
        let system = run.header.environment.file_system.get_or_insert_default();
        (system.block_size_bytes, system.journal) = (Some(bytes), Some(journal));
        run
    };
    let (with, without) =
        (system(4096, FileSystemJournal::Internal { data: None }), system(1024, FileSystemJournal::Absent));
    let differing: Vec<Fact> =
        differences(&with, &without).iter().map(|difference| difference.fact).collect();
    assert_eq!(differing, [Fact::BlockSize, Fact::Journal]);
}

/// Returns a run on a model with one cell whose repetitions take these times in ms.
fn modelled(times_ms: &[u64]) -> RunRecord {
    let mut model = run(include_str!("../../../../store/tests/fixtures/export-v2-modelled.json"));
    let cell: &mut Cell = &mut model.cells[0];
    (cell.direction, cell.measure) = (Some(Direction::Read), Measure::Rate);
    let mut repetition = cell.repetitions[0].clone();
    (repetition.discarded, repetition.read.bytes) = (false, 1 << 30);
    let taking = |ms: &u64| Repetition { elapsed_ns: ms * 1_000_000, ..repetition.clone() };
    cell.repetitions = times_ms.iter().map(taking).collect();
    model.cells.truncate(1);
    model
}

#[test]
fn models_scatter_as_far_as_their_repetitions_do() {
    let verdict = |one: &[u64], two: &[u64]| {
        let compared = pair(&modelled(one), &modelled(two), 0.05).cells[0].compared.expect("values");
        (compared.verdict, compared.speed.low < compared.speed.high)
    };
    assert_eq!(verdict(&[100; 3], &[80; 3]), (Verdict::Faster, false), "nothing was left to chance");
    assert_eq!(verdict(&[100, 60, 140], &[100, 60, 140]), (Verdict::Same, false), "computed alike");
    let (unclear, interval) = verdict(&[100, 60, 140], &[92, 130, 60]);
    assert!(matches!(unclear, Verdict::NotEnough { more: Some(_) }) && interval, "{unclear:?}");
    assert_eq!(
        verdict(&[100], &[80]).0,
        Verdict::NotEnough { more: None },
        "whether it repeats is not known"
    );
}

#[test]
fn another_seed_of_a_model_is_a_difference() {
    let one = modelled(&[100; 3]);
    let mut two = one.clone();
    two.header.profile.as_mut().expect("a profile").rules.seed += 1;
    let facts: Vec<Fact> = differences(&one, &two).iter().map(|difference| difference.fact).collect();
    assert_eq!(facts, [Fact::Seed]);
}
