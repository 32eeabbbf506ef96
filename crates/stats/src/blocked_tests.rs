use super::*;
use kurabe_core::random::Random;
use proptest::prelude::*;

fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Returns both sides of a cell with a random order in each pair of blocks. `disturb` returns the
/// logarithm of the disturbance at a point in time; a pair of blocks has four.
fn measured(
    random: &mut Random,
    pairs: usize,
    log_ratio: f64,
    disturb: &mut dyn FnMut(&mut Random) -> f64,
) -> Sides {
    let (mut baseline, mut other) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let times: Vec<f64> = (0..4).map(|_| disturb(random)).collect();
        // A B B A or B A A B.
        let (a, b) = if random.below(2) == 0 { ([0, 3], [1, 2]) } else { ([1, 2], [0, 3]) };
        baseline.extend(a.map(|at| 100.0 * times[at].exp()));
        other.extend(b.map(|at| 100.0 * (times[at] + log_ratio).exp()));
    }
    Sides { baseline, other, higher_is_better: true, computed: false }
}

fn steady(random: &mut Random, pairs: usize, ratio: f64, spread: f64) -> Sides {
    measured(random, pairs, ratio.ln(), &mut |random| spread * normal(random))
}

fn only(sides: Sides) -> Blocked {
    judge(&[sides], 0.05, 1)[0].unwrap()
}

#[test]
fn a_clear_difference_is_settled_at_the_first_look() {
    let mut random = Random::new(1, 0);
    let sides = steady(&mut random, 30, 1.3, 0.03);
    let judged = only(sides.clone());
    assert_eq!(
        (judged.compared.verdict, judged.course.block_pairs, judged.course.settled),
        (Verdict::Faster, 10, true)
    );
    assert!((judged.compared.speed.value - 1.3).abs() < 0.05 && judged.compared.superiority == 1.0);
    let turned = only(Sides { higher_is_better: false, ..sides });
    assert_eq!(turned.compared.verdict, Verdict::Slower);
}

#[test]
fn a_cell_whose_turn_comes_later_takes_its_share_of_the_error() {
    let sides = measured(&mut Random::new(1, 0), 10, 0.02, &mut |random| 0.03 * normal(random));
    let later = Sides { baseline: Vec::new(), other: Vec::new(), higher_is_better: true, computed: false };
    let judged = judge(&[sides.clone(), later], 0.05, 1);
    let alone = only(sides).compared.p_value;
    assert!((judged[0].unwrap().compared.p_value / alone - 2.0).abs() < 1e-9, "{judged:?} and {alone}");
    assert_eq!(judged[1], None);
}

#[test]
fn what_comes_after_the_verdict_does_not_change_it() {
    let mut random = Random::new(2, 0);
    let long = steady(&mut random, 60, 1.1, 0.05);
    let judged = only(long.clone());
    let cut = 2 * judged.course.block_pairs;
    let short = Sides {
        baseline: long.baseline[..cut].to_vec(),
        other: long.other[..cut].to_vec(),
        higher_is_better: true,
        computed: false,
    };
    assert_eq!(only(short).compared, judged.compared);
    assert!(is_look(cut) && !is_look(cut + 1));
}

#[test]
fn equal_sides_settle_on_no_difference_that_matters() {
    let judged = only(steady(&mut Random::new(3, 0), 80, 1.0, 0.05));
    assert_eq!((judged.compared.verdict, judged.course.settled), (Verdict::Same, true));
}

#[test]
fn too_few_blocks_settle_nothing_and_foresee_how_many_would() {
    let few = only(steady(&mut Random::new(4, 0), 6, 2.0, 0.01));
    assert_eq!(few.compared.verdict, Verdict::NotEnough { more: Some(8) });
    let noisy = only(steady(&mut Random::new(4, 0), 30, 1.0, 0.2));
    let Verdict::NotEnough { more: Some(more) } = noisy.compared.verdict else { panic!("{noisy:?}") };
    assert!((50..400).contains(&more), "{more}");
    assert!(noisy.compared.speed.low < 1.0 && noisy.compared.speed.high > 1.0);
}

#[test]
fn a_block_of_one_side_only_is_left_out() {
    let mut sides = steady(&mut Random::new(5, 0), 12, 1.0, 0.2);
    sides.other.pop();
    assert_eq!(only(sides).course.block_pairs, 11);
    assert_eq!(
        judge(
            &[Sides { baseline: vec![1.0], other: vec![1.0], higher_is_better: true, computed: false }],
            0.05,
            1
        ),
        [None]
    );
    let stuck =
        Sides { baseline: vec![1.0, 0.0], other: vec![1.0; 2], higher_is_better: true, computed: false };
    assert_eq!(judge(&[stuck], 0.05, 1), [None]);
}

#[test]
fn more_cells_and_more_families_ask_for_more() {
    let sides = steady(&mut Random::new(6, 0), 40, 1.06, 0.05);
    let alone = only(sides.clone());
    let among = judge(&vec![sides.clone(); 20], 0.05, 1)[0].unwrap();
    let families = judge(&[sides], 0.05, 20)[0].unwrap();
    for stricter in [among, families] {
        assert!(stricter.course.block_pairs >= alone.course.block_pairs);
    }
    // Cells found to differ relax the correction for the others.
    let mut random = Random::new(6, 1);
    let clear: Vec<Sides> = (0..19).map(|_| steady(&mut random, 40, 2.0, 0.01)).collect();
    let mixed = [clear, vec![steady(&mut Random::new(6, 0), 40, 1.06, 0.05)]].concat();
    assert!(judge(&mixed, 0.05, 1)[19].unwrap().course.block_pairs <= among.course.block_pairs);
}

#[test]
fn a_drift_of_both_sides_shows_and_does_not_touch_the_ratio() {
    let mut at = 0.0;
    let mut random = Random::new(7, 0);
    let sides = measured(&mut random, 40, 0.0, &mut |random| {
        at -= 0.002;
        at + 0.01 * normal(random)
    });
    let judged = only(sides);
    assert_eq!(judged.compared.verdict, Verdict::Same);
    assert!(
        judged.course.baseline_trend.unwrap().high < 0.8 && judged.course.other_trend.unwrap().high < 0.8
    );
    let ratio = judged.course.ratio_trend.unwrap();
    assert!(ratio.low < 1.0 && ratio.high > 1.0, "{ratio:?}");
}

#[test]
fn the_ratio_is_that_of_the_means_that_are_shown() {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Two modes: the other side is 40 % slower in most pairs and three times as fast in the rest.
    let mut random = Random::new(8, 0);
    let mut sides = steady(&mut random, 40, 1.0, 0.02);
    for pair in 0..40 {
        let factor = if pair % 4 == 0 { 2.9 } else { 0.6 };
        sides.other[2 * pair..2 * pair + 2].iter_mut().for_each(|value| *value *= factor);
    }
    for higher_is_better in [true, false] {
        let judged = only(Sides { higher_is_better, ..sides.clone() });
        let pairs = 2 * judged.course.block_pairs;
        let ratio = mean(&sides.other[..pairs]) / mean(&sides.baseline[..pairs]);
        let ratio = if higher_is_better { ratio } else { 1.0 / ratio };
        assert!((judged.compared.speed.value / ratio - 1.0).abs() < 1e-9, "{judged:?}");
        assert!(matches!(judged.compared.verdict, Verdict::NotEnough { .. }), "{judged:?}");
    }
    // A stall counts in proportion to its cost: one repetition in forty, at a twentieth of the
    // speed.
    let mut sides = steady(&mut Random::new(8, 0), 40, 1.0, 0.02);
    sides.other[5] /= 20.0;
    let judged = only(sides);
    assert!((judged.compared.speed.value - 0.976).abs() < 0.01, "{judged:?}");
}

/// Counts the trials with equal sides and eight cells in which any cell is called different.
fn false_alarms(trials: u64, mut cell: impl FnMut(&mut Random) -> Sides) -> u64 {
    let mut alarms = 0;
    for trial in 0..trials {
        let mut random = Random::new(9, trial);
        let cells: Vec<Sides> = (0..8).map(|_| cell(&mut random)).collect();
        let different = |judged: &Option<Blocked>| {
            judged.is_some_and(|judged| matches!(judged.compared.verdict, Verdict::Faster | Verdict::Slower))
        };
        alarms += u64::from(judge(&cells, 0.05, 1).iter().any(different));
    }
    alarms
}

/// At a rate of 5 % of 200, chance exceeds 20 only once in 500.
#[test]
fn noise_that_hangs_together_and_spikes_raise_no_more_alarms_than_allowed() {
    let alarms = false_alarms(200, |random| {
        let mut state = 0.0;
        measured(random, 40, 0.0, &mut |random| {
            state = 0.95 * state + 0.05 * normal(random);
            let spike = if random.below(20) == 0 { -1.0 } else { 0.0 };
            state + spike
        })
    });
    assert!(alarms <= 20, "{alarms}");
}

proptest! {
    #[test]
    fn turning_the_sides_turns_the_verdict(seed in 0u64..1000, pairs in 1usize..40, ratio in 0.8f64..1.25) {
        let sides = steady(&mut Random::new(seed, 0), pairs, ratio, 0.05);
        let turned = Sides { baseline: sides.other.clone(), other: sides.baseline.clone(), ..sides };
        let (one, two) = (only(sides), only(turned));
        let expected = match one.compared.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(two.compared.verdict, expected);
        prop_assert!((one.compared.speed.value * two.compared.speed.value - 1.0).abs() < 1e-9);
    }
}

#[test]
fn before_the_first_look_what_is_missing_is_foreseen_by_the_scatter() {
    // Five pairs of blocks whose logarithms alternate by `swing`.
    let of = |swing: f64| {
        let other = (0..10).map(|block| if block / 2 % 2 == 0 { swing } else { -swing });
        let other = other.map(|log: f64| 100.0 * log.exp()).collect();
        let sides = Sides { baseline: vec![100.0; 10], other, higher_is_better: true, computed: false };
        match judge(&[sides], 0.05, 1)[0].expect("values").compared.verdict {
            Verdict::NotEnough { more } => more,
            other => panic!("{other:?}"),
        }
    };
    // Little scatter: the first analysis is enough. Large scatter: only the last one.
    assert_eq!((of(0.003), of(0.3)), (Some(10), Some(438)));
}

#[test]
fn what_models_repeat_exactly_is_settled_by_its_second_pair() {
    let computed = |baseline: &[f64], other: &[f64]| {
        let (baseline, other) = (baseline.to_vec(), other.to_vec());
        judge(&[Sides { baseline, other, higher_is_better: true, computed: true }], 0.01, 1)[0].unwrap()
    };
    let judged = computed(&[100.0; 4], &[101.1; 4]);
    assert_eq!((judged.course.settled, judged.course.block_pairs), (true, 2));
    assert_eq!((judged.compared.verdict, judged.compared.p_value), (Verdict::Faster, 0.0));
    let Estimate { value, low, high } = judged.compared.speed;
    assert!(low == value && high == value && is_tie(value, 1.011), "{low} {value} {high}");
    // Other places in each block, the same on both sides.
    let uneven = [100.0, 102.0, 99.0, 101.0];
    assert_eq!(computed(&uneven, &uneven).compared.verdict, Verdict::Same);
    // What follows does not change the verdict.
    let later = computed(&[&[100.0; 4][..], &uneven[..]].concat(), &[101.1; 8]);
    assert_eq!((later.compared, later.course.block_pairs), (judged.compared, 2));
    // A single pair, values that scatter, and values that were measured.
    assert!(!computed(&[100.0; 2], &[101.1; 2]).course.settled);
    assert!(!computed(&uneven, &[101.1; 4]).course.settled);
    let measured =
        Sides { baseline: vec![100.0; 4], other: vec![101.1; 4], higher_is_better: true, computed: false };
    assert!(!judge(&[measured], 0.01, 1)[0].unwrap().course.settled);
}

#[test]
fn sides_that_differ_by_rounding_are_the_same() {
    let sides = Sides {
        baseline: vec![0.3; 20],
        other: vec![0.1 + 0.2; 20],
        higher_is_better: true,
        computed: false,
    };
    let judged = judge(&[sides], 0.05, 1)[0].unwrap();
    assert_eq!((judged.compared.superiority, judged.compared.p_value), (0.5, 1.0));
    assert_eq!(judged.compared.verdict, Verdict::Same);
}
