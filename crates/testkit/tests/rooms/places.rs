//! Why two passes over the same positions are not compared position by position: the simulation
//! behind docs/statistics.md.

use kurabe_core::random::Random;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Positions in a pass, as in GNOME Disks.
const PLACES: usize = 100;
/// Length of a block of neighbours.
const BLOCK: usize = 7;

fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Returns the curve of a disk: the inner edge has half the rate of the outer.
fn zones() -> impl Iterator<Item = f64> {
    (0..PLACES).map(|place| 150.0 - 75.0 * (place as f64 / PLACES as f64).powi(2))
}

/// Returns the interval of the ratio of two passes' means, from the contribution of each position,
/// over overlapping circular blocks of neighbours (Künsch, "The jackknife and the bootstrap for
/// general stationary observations", 1989).
fn interval(one: &[f64], other: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (top, bottom) = (mean(one), mean(other));
    let adds: Vec<f64> = one.iter().zip(other).map(|(a, b)| a / top - b / bottom).collect();
    let block =
        |first: usize| (0..BLOCK).map(|step| adds[(first + step) % PLACES]).sum::<f64>() / BLOCK as f64;
    let variance = (0..PLACES).map(|first| block(first).powi(2)).sum::<f64>() / PLACES as f64;
    let freedom = PLACES as f64 / BLOCK as f64 - 1.0;
    let quantile = StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom").inverse_cdf(0.975);
    let reach = quantile * (variance / freedom).sqrt();
    (top / bottom * (-reach).exp(), top / bottom * reach.exp())
}

/// Returns how often the interval of two equal disks contains 1, for passes that also differ as a
/// whole by this standard deviation; and half its mean width.
fn holds(of_pass: f64, trials: u32) -> (f64, f64) {
    let mut random = Random::new(1, 0);
    let (mut held, mut widths) = (0u32, 0.0);
    for _ in 0..trials {
        let mut pass = || -> Vec<f64> {
            let whole = of_pass * normal(&mut random);
            zones().map(|rate| rate * (whole + 0.03 * normal(&mut random)).exp()).collect()
        };
        let (one, other) = (pass(), pass());
        let (low, high) = interval(&one, &other);
        held += u32::from(low <= 1.0 && 1.0 <= high);
        widths += (high / low).ln() / 2.0;
    }
    (f64::from(held) / f64::from(trials), widths / f64::from(trials))
}

#[test]
fn places_tell_nothing_of_what_holds_for_a_whole_pass() {
    let page = include_str!("../../../../docs/statistics.md");
    for of_pass in [0.0, 0.005, 0.01, 0.02] {
        let (share, width) = holds(of_pass, 2000);
        let row = format!("| {:.1} % | {:.0} % | {:.1} % |", of_pass * 100.0, share * 100.0, width * 100.0);
        assert!(page.contains(&row), "docs/statistics.md does not have {row}");
    }
}
