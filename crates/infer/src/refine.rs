//! Refinement of the points of a mechanical model by response surfaces, and samples of them.
//!
//! A combination of choices is dropped when its surface explains the statistics much worse than the best one.

use crate::family::FamilyPoint;
use crate::problem::{Fitted, Problem};
use crate::search::Searched;
use crate::surface::Surface;
use kurabe_core::random::Random;

/// Radii of the surfaces about a point, one after the other, as shares of the ranges.
const RADII: [f64; 4] = [0.15, 0.1, 0.06, 0.06];
/// Radii about a point with another choice, which begins at the best one.
const RADII_OF_CHOICE: [f64; 2] = [0.15, 0.08];
/// Difference of the misfit up to which another combination of choices may be that of the device.
const ALIVE: f64 = 16.0;
/// Differences up to which it is refined further, after the first surface and after the next.
const FAR: f64 = 400.0;
const NEAR: f64 = 60.0;
/// Most combinations of choices.
const MOST: usize = 5;
/// Shares of a move that are tried, the whole one first.
const SHARES_OF_MOVE: [f64; 6] = [1.0, 0.8, 0.6, 0.4, 0.2, 0.1];
/// Number of samples of all combinations together.
const SAMPLES: usize = 48;
/// Weight below which a combination has no samples.
const LEAST_WEIGHT: f64 = 0.01;

/// A point with the surface about it.
#[derive(Clone, Debug)]
pub(crate) struct RefinedPoint {
    pub(crate) fitted: Fitted,
    pub(crate) squares: f64,
    pub(crate) surface: Surface,
}

/// Returns the end of a move from a valid point, or a point on the way to it where no device can be built
/// at the end: a surface does not know which times of seeks fit together.
fn nearest_valid(problem: &Problem<'_>, from: &[f64], to: &[f64]) -> FamilyPoint {
    let on_the_way = |share: f64| {
        from.iter().zip(to).map(|(from, to)| from + share * (to - from)).collect::<FamilyPoint>()
    };
    let mut points = SHARES_OF_MOVE.into_iter().map(on_the_way);
    points.find(|point| problem.is_valid(point)).unwrap_or_else(|| from.to_vec())
}

/// Moves a point to the least misfit of surfaces about it.
fn refine(problem: &Problem<'_>, start: &[f64], radii: &[f64], random: &mut Random) -> Option<RefinedPoint> {
    let mut point = start.to_vec();
    let mut last = None;
    for radius in radii {
        let Some(surface) = Surface::around(problem, &point, *radius, random) else { break };
        point = nearest_valid(problem, &point, &surface.least());
        let (squares, misfit) = surface.squares_and_misfit(&point);
        last = Some(RefinedPoint { fitted: Fitted { point: point.clone(), misfit }, squares, surface });
    }
    last
}

/// Returns the best point of a search after refinement, and other combinations of choices that explain
/// the statistics almost as well, the best first.
pub(crate) fn refined(problem: &Problem<'_>, searched: &Searched, random: &mut Random) -> Vec<RefinedPoint> {
    let mut all: Vec<RefinedPoint> = Vec::new();
    let choices =
        |point: &[f64]| problem.chosen.iter().map(|index| point[*index] as usize).collect::<Vec<_>>();
    let mut tried = vec![choices(&searched.best.point)];
    all.extend(refine(problem, &searched.best.point, &RADII, random));
    let Some(best) = all.first().map(|one| one.fitted.point.clone()) else { return all };
    let mut starts: Vec<FamilyPoint> = searched.others.iter().map(|one| one.point.clone()).collect();
    for index in &problem.chosen {
        for value in 0..problem.choices(*index) {
            let mut point = best.clone();
            point[*index] = value as f64;
            starts.push(point);
        }
    }
    for start in starts {
        if tried.contains(&choices(&start)) {
            continue;
        }
        tried.push(choices(&start));
        let least = all.iter().map(|one| one.fitted.misfit).fold(f64::INFINITY, f64::min);
        let near = |one: &RefinedPoint, most: f64| one.fitted.misfit < least + most;
        let mut next = refine(problem, &start, &RADII_OF_CHOICE[..1], random);
        for (radii, most) in [(&RADII_OF_CHOICE[1..], FAR), (&RADII[2..], NEAR)] {
            next = match next {
                Some(one) if near(&one, most) => {
                    refine(problem, &one.fitted.point, radii, random).or(Some(one))
                }
                next => next,
            };
        }
        all.extend(next);
    }
    all.sort_by(|one, other| one.fitted.misfit.total_cmp(&other.fitted.misfit));
    let least = all.first().map_or(0.0, |one| one.fitted.misfit);
    all.retain(|one| one.fitted.misfit < least + ALIVE);
    all.truncate(MOST);
    all
}

/// Returns samples of the normal distributions of the surfaces. Misfits are divided by `inflation`.
pub(crate) fn surface_samples(
    problem: &Problem<'_>,
    surfaces: &[RefinedPoint],
    inflation: f64,
    random: &mut Random,
) -> Vec<FamilyPoint> {
    let factors: Vec<_> =
        surfaces.iter().filter_map(|one| Some((one, one.surface.precision().factor()?))).collect();
    let logs: Vec<f64> = factors
        .iter()
        .map(|(one, factor)| -0.5 * (one.fitted.misfit / inflation + factor.log_determinant()))
        .collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    let mut samples = Vec::new();
    for ((one, factor), log) in factors.iter().zip(&logs) {
        let weight = (log - most).exp() / total;
        if weight >= LEAST_WEIGHT {
            let count = ((weight * SAMPLES as f64).round() as usize).max(1);
            let point = &one.fitted.point;
            samples.extend((0..count).map(|_| one.surface.draw((problem, point, factor), inflation, random)));
        }
    }
    samples
}
