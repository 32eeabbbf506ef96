//! Ranking runs for a use: random differences do not give an order, and the order of the arguments
//! changes nothing.

use kurabe_compare::{FIRM_SHARE, USES, Use, UseWork, recommend_cells};
use kurabe_core::profile::Step;
use kurabe_core::random::Random;
use kurabe_core::record::{Cell, Measure, OpsRecord, Repetition};
use kurabe_core::workload::{Data, Direction, Pattern, SyncRule, Workload};
use kurabe_profile::profile_named;

fn made_use() -> Use {
    Use::load("archive").expect("a use of the library")
}

/// Returns the cells that the use needs; `rates` returns the repetitions of a cell in MB/s.
fn run(purpose: &Use, mut rates: impl FnMut() -> Vec<f64>) -> Vec<Cell> {
    let cell = |work: &UseWork| {
        let writes = work.direction == Direction::Write;
        let repetition = |rate: f64| {
            let bytes = (rate * 1e6) as u64;
            let (done, none) =
                (OpsRecord { bytes, completed: 1, ..OpsRecord::default() }, OpsRecord::default());
            let (read, write) = if writes { (none, done) } else { (done, none) };
            Repetition { elapsed_ns: 1_000_000_000, read, write, ..Repetition::default() }
        };
        Cell {
            index: 0,
            step_index: 0,
            part: String::new(),
            label: "part".to_owned(),
            direction: Some(work.direction),
            measure: Measure::Rate,
            workload: Some(Workload {
                data: Data::Random,
                ..Workload::plain(
                    if work.sequential { Pattern::Sequential } else { Pattern::Random },
                    work.block_bytes as u32,
                    1 << 30,
                )
                .with(|access| {
                    access.read_percent = if writes { 0 } else { 100 };
                    access.iodepth = work.iodepth;
                    access.sync = SyncRule { every_writes: work.sync.then_some(1), ..SyncRule::default() };
                })
            }),
            engine: None,
            repetitions: rates().into_iter().map(repetition).collect(),
            imported: None,
        }
    };
    purpose.work.iter().map(cell).collect()
}

/// Returns cells that also include each random cell in a small part of the target, first and much
/// faster.
fn with_parts(purpose: &Use, rate: f64) -> Vec<Cell> {
    let whole = run(purpose, || vec![rate; 3]);
    let mut cells: Vec<Cell> = run(purpose, || vec![rate * 40.0; 3]);
    for cell in &mut cells {
        if let Some(workload) = &mut cell.workload {
            workload.span_bytes = 64 << 10;
        }
    }
    cells.extend(whole);
    cells
}

#[test]
fn what_a_cache_answers_does_not_stand_for_the_whole() {
    let purpose = Use::load("vm-image").expect("a use of the library");
    let (a, b) = (with_parts(&purpose, 100.0), with_parts(&purpose, 150.0));
    let choice = recommend_cells(&[&a, &b], &purpose).expect("parts");
    for part in &choice.parts {
        assert!(part.exact, "{part:?}");
        assert!(part.rates_bytes_per_s.iter().all(|rate| *rate < 151e6), "{part:?}");
    }
    // A quarter of the target is used if necessary, but does not count as the same.
    let quarter = |rate| {
        let mut cells = with_parts(&purpose, rate);
        for (place, cell) in cells.iter_mut().enumerate() {
            let workload = cell.workload.as_mut().expect("a workload");
            workload.span_bytes = if place < purpose.work.len() { 1 << 28 } else { 1 << 30 };
            workload.pattern =
                if place < purpose.work.len() { workload.pattern } else { Pattern::Zipf { exponent: 1.1 } };
        }
        cells
    };
    let (a, b) = (quarter(1.0), quarter(2.0));
    let choice = recommend_cells(&[&a, &b], &purpose).expect("parts");
    assert!(choice.parts.iter().all(|part| part.cell.is_some() && !part.exact), "{:?}", choice.parts);
}

/// Returns three repetitions with noise of 5 %.
fn noisy(random: &mut Random, rate: f64) -> Vec<f64> {
    let mut normal = || (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
    (0..3).map(|_| rate * (1.0 + 0.05 * normal())).collect()
}

#[test]
fn of_two_equal_runs_of_three_repetitions_seldom_one_is_called_better() {
    let (purpose, mut random) = (made_use(), Random::new(6, 0));
    let mut called = 0;
    for _ in 0..200 {
        let mut one = || run(&purpose, || noisy(&mut random, 100.0));
        let (a, b) = (one(), one());
        let choice = recommend_cells(&[&a, &b], &purpose).expect("parts");
        called += usize::from(choice.holds >= FIRM_SHARE);
    }
    assert!(called <= 14, "{called} of 200");
}

#[test]
fn the_answer_does_not_depend_on_which_run_is_named_first() {
    let (purpose, mut random) = (made_use(), Random::new(7, 0));
    for _ in 0..20 {
        let mut one = |rate: f64| run(&purpose, || noisy(&mut random, rate));
        let (a, b, c) = (one(100.0), one(104.0), one(80.0));
        let forth = recommend_cells(&[&a, &b, &c], &purpose).expect("parts");
        let back = recommend_cells(&[&c, &b, &a], &purpose).expect("parts");
        let order = |choice: &kurabe_compare::Recommendation| -> Vec<usize> {
            choice.standings.iter().map(|standing| standing.run).collect()
        };
        let turned: Vec<usize> = order(&back).into_iter().map(|run| 2 - run).collect();
        assert_eq!((order(&forth), forth.holds), (turned, back.holds));
    }
}

#[test]
fn a_clear_order_is_firm_and_a_run_is_not_ahead_of_itself() {
    let (purpose, mut random) = (made_use(), Random::new(8, 0));
    let fast = run(&purpose, || noisy(&mut random, 300.0));
    let slow = run(&purpose, || noisy(&mut random, 100.0));
    let choice = recommend_cells(&[&slow, &fast], &purpose).expect("parts");
    assert!(choice.standings[0].run == 1 && choice.holds >= FIRM_SHARE, "{choice:?}");
    assert_eq!(recommend_cells(&[&fast, &fast], &purpose).expect("parts").holds, 0.0);
}

#[test]
fn a_flush_that_takes_long_decides_however_fast_the_rest_is() {
    let purpose = Use::load("database").expect("a use of the library");
    let rates = |others: f64, flushed: f64| {
        let mut cells = run(&purpose, || vec![others; 3]);
        for cell in cells.iter_mut().filter(|cell| flushes(cell)) {
            cell.repetitions = run(&purpose, || vec![flushed; 3]).swap_remove(1).repetitions;
        }
        cells
    };
    let (consumer, protected) = (rates(200.0, 5.0), rates(100.0, 100.0));
    let choice = recommend_cells(&[&consumer, &protected], &purpose).expect("parts");
    assert_eq!(choice.standings[0].run, 1, "{choice:?}");
    // Without flushes no cell matches that part.
    let without = |mut cells: Vec<Cell>| {
        cells.retain(|cell| !flushes(cell));
        cells
    };
    let (consumer, protected) = (without(consumer), without(protected));
    let choice = recommend_cells(&[&consumer, &protected], &purpose).expect("parts");
    assert_eq!(choice.standings[0].run, 0);
    assert!(choice.parts.iter().any(|part| part.sync && part.cell.is_none()), "{choice:?}");
}

fn flushes(cell: &Cell) -> bool {
    cell.workload.as_ref().is_some_and(|workload| workload.sync.every_writes.is_some())
}

#[test]
fn the_profile_for_uses_has_what_they_ask() {
    let steps = profile_named("uses").expect("a profile of the library").steps;
    let does = |step: &Step, work: &UseWork| {
        let Step::Io(step) = step else { return false };
        (step.pattern == Pattern::Sequential) == work.sequential
            && step.block_sizes.iter().any(|block| u64::from(block.size_bytes) == work.block_bytes)
            && (step.iodepth, step.sync.every_writes.is_some()) == (work.iodepth, work.sync)
            && (step.directions.is_empty() || step.directions.contains(&work.direction))
    };
    for (name, _) in USES {
        let purpose = Use::load(name).expect("a use of the library");
        for work in purpose.work.iter().filter(|_| !purpose.measured_alone) {
            assert!(steps.iter().any(|step| does(step, work)), "{name}: {work:?}");
        }
    }
}
