//! How far a parameter can move while the others follow, before the times contradict it.
//!
//! The model: samples begin near the best point, and a valley of equally good points that bends away from
//! there has none. So each parameter that the samples determine is moved beyond its interval, step by
//! step, and the others descend to the least misfit there (profile likelihood). Where the misfit has not
//! risen by what 95 % of a normal distribution allow, the interval reaches as far.

use crate::family::{FamilyPoint, FreeRange};
use crate::problem::{Fitted, Problem};
use crate::sampler::interval_of;

/// Rise of the misfit within which 95 % lie, of a chi-squared distribution with one degree of freedom.
const PLAUSIBLE: f64 = 3.84;
/// Widest interval that is examined, as a logarithm; wider ones are not stated.
const WIDEST: f64 = 0.4;
/// Shortest move, as a share of the range.
const LEAST_MOVE: f64 = 0.002;
/// Most moves beyond each end.
const MOVES: usize = 5;
/// Steps of the descent after a move.
const STEPS: usize = 3;

/// Places of a parameter, as shares of its range, between which the times allow it.
pub type AllowedPlaces = (f64, f64);

/// Returns the reach of each parameter; `None` for choices and for parameters that the samples leave open.
pub(crate) fn reaches(
    problem: &Problem<'_>,
    best: &Fitted,
    samples: &[FamilyPoint],
    inflation: f64,
) -> Vec<Option<AllowedPlaces>> {
    let of = |index: usize| {
        let FreeRange::Log(low, high) = problem.family.free[index].range else { return None };
        let places: Vec<f64> = samples.iter().map(|point| point[index]).collect();
        let (middle, half) = interval_of(&places);
        let is_examined = problem.ranged.contains(&index) && 2.0 * half * (high / low).ln() < WIDEST;
        is_examined.then(|| {
            let end = |sign: f64| {
                moved_end(
                    &problem.without(index),
                    best,
                    (index, middle + sign * half, sign * half),
                    inflation,
                )
            };
            (end(-1.0), end(1.0))
        })
    };
    (0..problem.family.free.len()).map(of).collect()
}

/// Moves a parameter beyond the end of its interval as far as the times allow, and returns its place.
fn moved_end(
    others: &Problem<'_>,
    best: &Fitted,
    (index, mut end, by): (usize, f64, f64),
    inflation: f64,
) -> f64 {
    let by = by.abs().max(LEAST_MOVE).copysign(by);
    let mut point = best.point.clone();
    for _ in 0..MOVES {
        let place = end + by;
        if !(0.0..=1.0).contains(&place) {
            break;
        }
        point[index] = place;
        let followed = others.descend(others.fitted(point), STEPS);
        if followed.misfit > best.misfit + PLAUSIBLE * inflation {
            break;
        }
        (end, point) = (place, followed.point);
    }
    end
}
