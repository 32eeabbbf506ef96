use super::*;

fn sides(baseline: &[f64], other: &[f64]) -> Sides {
    Sides { baseline: baseline.to_vec(), other: other.to_vec(), higher_is_better: true, computed: false }
}

fn only(cell: Sides) -> Compared {
    compare(&[cell], 0.05)[0].unwrap()
}

const STEADY: [f64; 6] = [100.0, 101.0, 99.5, 100.4, 99.8, 100.3];

#[test]
fn a_clear_difference_is_told_with_its_side() {
    let faster: Vec<f64> = STEADY.iter().map(|value| value * 1.3).collect();
    let compared = only(sides(&STEADY, &faster));
    assert_eq!(compared.verdict, Verdict::Faster);
    assert!((compared.speed.value - 1.3).abs() < 1e-9 && compared.superiority == 1.0);
    assert_eq!(only(sides(&faster, &STEADY)).verdict, Verdict::Slower);
}

#[test]
fn of_times_the_shorter_is_the_faster() {
    let shorter: Vec<f64> = STEADY.iter().map(|value| value / 2.0).collect();
    let compared = only(Sides { higher_is_better: false, ..sides(&STEADY, &shorter) });
    assert_eq!(compared.verdict, Verdict::Faster);
    assert!((compared.speed.value - 2.0).abs() < 1e-9);
    assert_eq!(compared.superiority, 1.0);
}

#[test]
fn a_difference_within_the_margin_does_not_matter_however_sure_it_is() {
    let little: Vec<f64> = STEADY.iter().map(|value| value * 1.02).collect();
    let compared = only(sides(&STEADY, &little));
    assert!(compared.speed.low > 1.0, "{compared:?}");
    assert_eq!(compared.verdict, Verdict::Same);
    assert_eq!(compare(&[sides(&STEADY, &little)], 0.001)[0].unwrap().verdict, Verdict::Faster);
}

#[test]
fn noise_asks_for_more_repetitions_and_foresees_how_many() {
    let noisy = sides(&[100.0, 140.0, 80.0], &[130.0, 90.0, 160.0]);
    let Verdict::NotEnough { more: Some(more) } = only(noisy.clone()).verdict else { panic!("not enough") };
    assert!((3..=200).contains(&more), "{more}");
    // The estimated number of copies of the same noise settles it.
    let times = (more as usize).div_ceil(3) + 1;
    let settled =
        only(Sides { baseline: noisy.baseline.repeat(times), other: noisy.other.repeat(times), ..noisy });
    assert!(!matches!(settled.verdict, Verdict::NotEnough { .. }), "{settled:?}");
}

#[test]
fn one_repetition_is_never_enough() {
    assert_eq!(only(sides(&[100.0], &[200.0])).verdict, Verdict::NotEnough { more: None });
}

#[test]
fn many_cells_are_held_to_a_stricter_level_than_one() {
    let (a, b) = ([100.0, 104.0, 98.0, 101.0, 97.0], [107.0, 103.0, 110.0, 106.0, 104.0]);
    let alone = only(sides(&a, &b));
    let cells: Vec<Sides> = (0..40).map(|_| sides(&a, &b)).collect();
    let together = compare(&cells, 0.05)[0].unwrap();
    assert!(together.speed.low < alone.speed.low && together.p_value > alone.p_value);
}

#[test]
fn a_cell_without_values_is_no_comparison() {
    assert_eq!(compare(&[sides(&[], &[1.0])], 0.05), [None]);
    assert_eq!(compare(&[sides(&[0.0, 0.0], &[1.0, 2.0])], 0.05), [None]);
}

#[test]
fn computed_values_need_no_repetitions() {
    let computed = |other: f64| compare_computed(&sides(&[100.0], &[other]), 0.05).unwrap();
    assert_eq!(computed(130.0).verdict, Verdict::Faster);
    assert_eq!((computed(80.0).verdict, computed(80.0).speed.low), (Verdict::Slower, 0.8));
    assert_eq!(computed(102.0).verdict, Verdict::Same);
    let times = Sides { higher_is_better: false, ..sides(&[2.0], &[1.0]) };
    assert_eq!(compare_computed(&times, 0.05).unwrap().speed.value, 2.0);
    assert_eq!(compare_computed(&sides(&[], &[1.0]), 0.05), None);
    // The same figure from sums rounded in a different order is not a difference.
    let same = compare_computed(&sides(&[0.3], &[0.1 + 0.2]), 0.05).unwrap();
    assert_eq!((same.superiority, same.p_value, same.speed.value), (0.5, 1.0, 1.0));
}

#[test]
fn sides_turned_round_get_the_verdict_turned_round() {
    let mut random = kurabe_core::random::Random::new(3, 0);
    for _ in 0..60 {
        let mut side = || -> Vec<f64> { (0..5).map(|_| 100.0 + 10.0 * random.unit()).collect() };
        let cells: Vec<Sides> = (0..4).map(|_| sides(&side(), &side())).collect();
        let turned: Vec<Sides> = cells.iter().map(|cell| sides(&cell.other, &cell.baseline)).collect();
        for (forward, back) in compare(&cells, 0.05).into_iter().zip(compare(&turned, 0.05)) {
            let expected = match forward.unwrap().verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                other => other,
            };
            assert_eq!(back.unwrap().verdict, expected);
        }
    }
}

#[test]
fn few_repetitions_of_many_cells_are_seldom_called_different() {
    // Eight cells with three repetitions of the same thing: at most 5 % of such families may have a
    // false positive.
    let mut random = kurabe_core::random::Random::new(4, 0);
    let mut false_findings = 0;
    for _ in 0..200 {
        let mut normal = || {
            let radius = (-2.0 * random.unit().ln()).sqrt();
            100.0 + 5.0 * radius * (std::f64::consts::TAU * random.unit()).cos()
        };
        let mut side = || -> Vec<f64> { (0..3).map(|_| normal()).collect() };
        let cells: Vec<Sides> = (0..8).map(|_| sides(&side(), &side())).collect();
        let different = |compared: &Compared| matches!(compared.verdict, Verdict::Faster | Verdict::Slower);
        false_findings += usize::from(compare(&cells, 0.05).iter().flatten().any(different));
    }
    assert!(false_findings <= 10, "{false_findings} of 200");
}

#[test]
fn chance_alone_does_not_reach_beyond_the_margin_with_certainty() {
    use kurabe_core::random::Random;
    let normal = |random: &mut Random| {
        (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
    };
    // Ten repetitions of six cells, as in `default`, that vary by 5 %.
    for trial in 0..200 {
        let mut random = Random::new(12, trial);
        let mut side = || (0..10).map(|_| 100.0 * (0.05 * normal(&mut random)).exp()).collect::<Vec<f64>>();
        let cells: Vec<Sides> = (0..6).map(|_| sides(&side(), &side())).collect();
        for compared in compare(&cells, 0.05).into_iter().flatten() {
            assert!(compared.speed.high >= 0.95 && compared.speed.low <= 1.05, "{trial}: {compared:?}");
        }
    }
}
