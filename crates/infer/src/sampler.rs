//! Samples of the parameters, as probable as the measurements make them.
//!
//! The model: errors of the logarithms of times are normal, and every value of a range is as likely
//! as any other before the measurement. For each combination of choices that explains the times, an
//! ensemble of walkers begins in the normal approximation about the best point and moves by the
//! stretch of Goodman and Weare (2010), which does not depend on the scales and ratios of the
//! parameters. The approximation gives the weights of the combinations.

use crate::family::FamilyPoint;
use crate::linear::Matrix;
use crate::problem::{Fitted, Problem};
use crate::search::Searched;
use kurabe_core::random::Random;

/// Number of samples of all walkers together.
const SAMPLES: usize = 48;
/// Weight below which a combination of choices has no samples.
const LEAST_WEIGHT: f64 = 0.01;
/// Moves of each walker before the sample.
const MOVES: usize = 8;

/// Returns the middle of a normal distribution with these samples, and half the width of the interval that
/// has 95 % of it.
pub(crate) fn interval_of(samples: &[f64]) -> (f64, f64) {
    const NORMAL_95: f64 = 1.96;
    let count = samples.len().max(1) as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt() * NORMAL_95)
}

/// Returns a normally distributed number.
pub(crate) fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (random.unit(), random.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A combination of choices that explains the times, with its normal approximation and weight.
struct PosteriorMode<'s> {
    fitted: &'s Fitted,
    factor: Matrix,
    weight: f64,
}

/// Returns samples of the normal approximations. Misfits are divided by `inflation`.
pub(crate) fn draw_samples(
    problem: &Problem<'_>,
    searched: &Searched,
    inflation: f64,
    random: &mut Random,
) -> Vec<FamilyPoint> {
    let mut samples = Vec::new();
    for mode in modes(problem, searched, inflation) {
        samples.extend((0..mode.sample_count()).map(|_| mode.draw(problem, inflation, random)));
    }
    samples
}

/// Returns samples of the ensembles that begin there.
pub(crate) fn walk_samples(
    problem: &Problem<'_>,
    searched: &Searched,
    inflation: f64,
    random: &mut Random,
) -> Vec<FamilyPoint> {
    let mut samples = Vec::new();
    for mode in modes(problem, searched, inflation) {
        let walkers = 2 * problem.ranged.len() + 4;
        let walkers = (0..walkers).map(|_| mode.draw(problem, inflation, random)).collect();
        let of_mode = walk(problem, walkers, inflation, random);
        samples.extend(of_mode.into_iter().rev().take(mode.sample_count()));
    }
    samples
}

fn modes<'s>(problem: &Problem<'_>, searched: &'s Searched, inflation: f64) -> Vec<PosteriorMode<'s>> {
    let mut modes: Vec<PosteriorMode<'s>> = std::iter::once(&searched.best)
        .chain(&searched.others)
        .filter_map(|fitted| {
            let factor = problem.precision(&fitted.point)?.factor()?;
            let weight = -0.5 * (fitted.misfit / inflation + factor.log_determinant());
            Some(PosteriorMode { fitted, factor, weight })
        })
        .collect();
    let most = modes.iter().map(|one| one.weight).fold(f64::NEG_INFINITY, f64::max);
    modes.iter_mut().for_each(|one| one.weight = (one.weight - most).exp());
    let total: f64 = modes.iter().map(|one| one.weight).sum();
    modes.iter_mut().for_each(|one| one.weight /= total);
    modes.retain(|one| one.weight >= LEAST_WEIGHT);
    modes
}

impl PosteriorMode<'_> {
    /// Returns the number of samples that its weight gives it, at least one.
    fn sample_count(&self) -> usize {
        ((self.weight * SAMPLES as f64).round() as usize).max(1)
    }

    fn draw(&self, problem: &Problem<'_>, inflation: f64, random: &mut Random) -> FamilyPoint {
        let drawn: Vec<f64> = problem.ranged.iter().map(|_| normal(random)).collect();
        let step = self.factor.solve_upper(&drawn);
        let mut point = self.fitted.point.clone();
        for (step, index) in step.iter().zip(&problem.ranged) {
            point[*index] = reflected(point[*index] + step * inflation.sqrt());
        }
        point
    }
}

/// Returns a place inside a range, reflected at its ends. Places at an end itself would look as if the
/// parameter were determined.
fn reflected(place: f64) -> f64 {
    let turned = place.rem_euclid(2.0);
    if turned > 1.0 { 2.0 - turned } else { turned }
}

/// Moves walkers and returns the places of all of them after the first moves.
fn walk(
    problem: &Problem<'_>,
    walkers: Vec<FamilyPoint>,
    inflation: f64,
    random: &mut Random,
) -> Vec<FamilyPoint> {
    const STRETCH: f64 = 2.0;
    let size = problem.ranged.len() as f64;
    let mut walkers: Vec<Fitted> = walkers.into_iter().map(|point| problem.fitted(point)).collect();
    let needed = SAMPLES.div_ceil(walkers.len()) * 2;
    let mut visited = Vec::new();
    for round in 0..MOVES + needed {
        for index in 0..walkers.len() {
            let other = (index + 1 + random.below(walkers.len() as u64 - 1) as usize) % walkers.len();
            let stretch = ((STRETCH - 1.0) * random.unit() + 1.0).powi(2) / STRETCH;
            let (own, anchor) = (&walkers[index], &walkers[other].point);
            let mut point = own.point.clone();
            for k in &problem.ranged {
                point[*k] = anchor[*k] + stretch * (own.point[*k] - anchor[*k]);
            }
            let is_inside = problem.ranged.iter().all(|k| (0.0..=1.0).contains(&point[*k]));
            if !is_inside {
                continue;
            }
            let next = problem.fitted(point);
            let log = (size - 1.0) * stretch.ln() - 0.5 * (next.misfit - own.misfit) / inflation;
            if random.unit().ln() < log {
                walkers[index] = next;
            }
        }
        // Every second round, since places of successive rounds are alike.
        if round >= MOVES && round % 2 == 0 {
            visited.extend(walkers.iter().map(|one| one.point.clone()));
        }
    }
    visited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_outside_a_range_is_reflected_into_it() {
        for (place, inside) in [(0.3, 0.3), (-0.2, 0.2), (1.2, 0.8), (2.3, 0.3), (-1.1, 0.9), (1.0, 1.0)] {
            assert!((reflected(place) - inside).abs() < 1e-12, "{place}");
        }
    }
}
