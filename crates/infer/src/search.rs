//! The search for the parameters of a family: draws, descents, and all values of each choice.

use crate::evolution::evolve;
use crate::linear::Matrix;
use crate::problem::{Fitted, Problem, sort_best_first};
use kurabe_core::random::Random;

/// Draws of the first round, and how many of them are followed.
const DRAWS: usize = 36;
const FOLLOWED: usize = 3;
/// Draws and steps of a glance.
const GLANCES: usize = 16;
const STEPS_OF_GLANCE: usize = 3;
/// Steps of a descent, and of one after a choice has changed.
const STEPS: usize = 6;
const STEPS_OF_CHOICE: usize = 2;
/// Values of a choice that are followed.
const VALUES: usize = 2;
/// Pairs of choices that are followed.
const PAIRS: usize = 3;
/// Most combinations of choices in addition to the best.
const OTHERS: usize = 6;
/// Rounds over all choices.
const ROUNDS: usize = 4;
/// Misfit per probe above which the search begins again.
const GOOD: f64 = 2.0;
/// Multiple of the best point's misfit up to which a pair of other choices is followed.
const WORTH_STEPS: f64 = 200.0;
/// Difference of the misfit up to which another value of a choice may be that of the device.
const ALIVE: f64 = 16.0;
/// Distance from the least misfit up to which a combination of choices gets a last descent.
const NEAR: f64 = 200.0;
/// Draws with the choices of the best point that are followed to other minima.
const FOLLOWED_MINIMA: usize = 6;
/// Square of the distance, in errors of the parameters, above which a minimum is another one.
const APART: f64 = 200.0;

/// Result of a search: the best point, and others that explain the times almost as well.
#[derive(Clone, Debug)]
pub(crate) struct Searched {
    pub(crate) best: Fitted,
    pub(crate) others: Vec<Fitted>,
}

impl From<Vec<Fitted>> for Searched {
    /// Takes points, of which the first is the best.
    fn from(mut points: Vec<Fitted>) -> Self {
        let best = points.remove(0);
        Self { best, others: points }
    }
}

/// Returns the best of some draws, without a search. It serves to exclude families.
pub(crate) fn glance(problem: &Problem<'_>, random: &mut Random) -> Fitted {
    let mut fits = draws(problem, GLANCES, random);
    problem.descend(fits.swap_remove(0), STEPS_OF_GLANCE)
}

fn draws(problem: &Problem<'_>, count: usize, random: &mut Random) -> Vec<Fitted> {
    let mut fits = vec![problem.fitted(problem.family.middle())];
    fits.extend((0..count).map(|_| problem.fitted(problem.draw(random))));
    sort_best_first(&mut fits);
    fits
}

/// Searches from draws, or from earlier points.
pub(crate) fn search(
    problem: &Problem<'_>,
    starts: Vec<Fitted>,
    restarts: usize,
    random: &mut Random,
) -> Searched {
    let is_first = starts.is_empty();
    let mut fits = if is_first { draws(problem, DRAWS, random) } else { starts };
    fits.truncate(if is_first { FOLLOWED } else { 2 * FOLLOWED });
    let mut fits: Vec<Fitted> = fits.into_iter().map(|fit| problem.descend(fit, STEPS)).collect();
    sort_best_first(&mut fits);
    let mut outcome = improve(problem, fits.swap_remove(0));
    for _ in 0..restarts {
        if outcome.best.misfit < GOOD * problem.errors.len() as f64 {
            break;
        }
        let evolved = evolve(problem, &outcome.best, random);
        let next = improve(problem, problem.descend(evolved, STEPS));
        if next.best.misfit < outcome.best.misfit {
            outcome = next;
        }
    }
    outcome
}

/// Tries every value of each choice until none is better.
fn improve(problem: &Problem<'_>, start: Fitted) -> Searched {
    let (mut best, mut tried) = (start, Vec::new());
    for _ in 0..ROUNDS {
        let before = best.misfit;
        for index in &problem.chosen {
            let own = best.point[*index];
            let mut values: Vec<Fitted> = (0..problem.choices(*index))
                .filter(|value| *value as f64 != own)
                .map(|value| {
                    let mut point = best.point.clone();
                    point[*index] = value as f64;
                    problem.fitted(point)
                })
                .collect();
            sort_best_first(&mut values);
            values.truncate(VALUES);
            let follow = |one| problem.descend(one, STEPS_OF_CHOICE);
            let mut values: Vec<Fitted> = values.into_iter().map(follow).collect();
            values.push(best.clone());
            sort_best_first(&mut values);
            best = values.remove(0);
            tried.extend(values);
        }
        best = problem.descend(best, STEPS);
        if before - best.misfit < 0.5 {
            break;
        }
    }
    tried.push(best.clone());
    if let Some(better) = pairs(problem, &best, &mut tried) {
        best = problem.descend(better, STEPS);
    }
    Searched { others: others(problem, &best, tried), best }
}

/// Tries pairs of choices, which may only be better together. Returns a point that is better.
fn pairs(problem: &Problem<'_>, best: &Fitted, tried: &mut Vec<Fitted>) -> Option<Fitted> {
    let mut fits = Vec::new();
    for (rank, first) in problem.chosen.iter().enumerate() {
        for second in &problem.chosen[rank + 1..] {
            for (one, other) in (0..problem.choices(*first))
                .flat_map(|one| (0..problem.choices(*second)).map(move |other| (one as f64, other as f64)))
            {
                if one != best.point[*first] && other != best.point[*second] {
                    let mut point = best.point.clone();
                    (point[*first], point[*second]) = (one, other);
                    fits.push(problem.fitted(point));
                }
            }
        }
    }
    sort_best_first(&mut fits);
    fits.truncate(PAIRS);
    let follow = |one| problem.descend(one, STEPS_OF_CHOICE);
    let fits: Vec<Fitted> = fits.into_iter().map(follow).collect();
    let least = fits.iter().min_by(|one, other| one.misfit.total_cmp(&other.misfit)).cloned();
    tried.extend(fits);
    least.filter(|least| least.misfit < best.misfit - 0.5)
}

/// Searches for the best point with every other value of each choice, and for other minima with the same
/// choices, so that a value is stated only if no other one explains the times.
pub(crate) fn with_alternatives(problem: &Problem<'_>, searched: Searched, random: &mut Random) -> Searched {
    let Searched { mut best, others: before } = searched;
    let mut tried = before;
    tried.extend(minima(problem, &best, random));
    for index in &problem.chosen {
        for value in other_values(problem, &best, *index) {
            let mut point = best.point.clone();
            point[*index] = value;
            tried.push(problem.descend(problem.fitted(point), STEPS));
        }
    }
    // Two choices of which only a product matters change together, such as channels and dies of each.
    for (rank, first) in problem.chosen.iter().enumerate() {
        for second in &problem.chosen[rank + 1..] {
            for one in other_values(problem, &best, *first) {
                for other in other_values(problem, &best, *second) {
                    let mut point = best.point.clone();
                    (point[*first], point[*second]) = (one, other);
                    let fitted = problem.fitted(point);
                    if fitted.misfit < WORTH_STEPS * best.misfit.max(problem.errors.len() as f64) {
                        tried.push(problem.descend(fitted, STEPS_OF_CHOICE));
                    }
                }
            }
        }
    }
    let least = tried.iter().min_by(|one, other| one.misfit.total_cmp(&other.misfit)).cloned();
    if let Some(least) = least.filter(|least| least.misfit < best.misfit) {
        tried.push(std::mem::replace(&mut best, least));
    }
    Searched { others: others(problem, &best, tried), best }
}

/// Returns the ends of descents from draws with the choices of a point. Where the longer of two times hides
/// the other, either may be the longer one.
fn minima(problem: &Problem<'_>, best: &Fitted, random: &mut Random) -> Vec<Fitted> {
    let mut fits: Vec<Fitted> = (0..DRAWS)
        .map(|_| {
            let mut point = problem.draw(random);
            for index in &problem.chosen {
                point[*index] = best.point[*index];
            }
            problem.fitted(point)
        })
        .collect();
    sort_best_first(&mut fits);
    fits.truncate(FOLLOWED_MINIMA);
    fits.into_iter().map(|fit| problem.descend(fit, STEPS)).collect()
}

/// Returns the values of a choice except that of a point.
fn other_values(problem: &Problem<'_>, point: &Fitted, index: usize) -> impl Iterator<Item = f64> {
    let own = point.point[index];
    (0..problem.choices(index)).map(|value| value as f64).filter(move |value| *value != own)
}

/// Returns the points that are almost as good, one for each minimum of each combination of choices.
fn others(problem: &Problem<'_>, best: &Fitted, tried: Vec<Fitted>) -> Vec<Fitted> {
    let precision = problem.precision(&best.point);
    let same = |one: &Fitted, other: &Fitted| {
        let is_near = |precision: &Matrix| {
            let of = |index: &usize| one.point[*index] - other.point[*index];
            precision.square(&problem.ranged.iter().map(of).collect::<Vec<f64>>()) < APART
        };
        problem.chosen.iter().all(|index| one.point[*index] == other.point[*index])
            && precision.as_ref().is_none_or(is_near)
    };
    let mut others: Vec<Fitted> = Vec::new();
    let is_near = |one: &Fitted| one.misfit < best.misfit + NEAR;
    let mut near: Vec<Fitted> = tried.into_iter().filter(is_near).collect();
    sort_best_first(&mut near);
    for one in near {
        let is_new = |one: &Fitted| !same(one, best) && others.iter().all(|other| !same(one, other));
        if !is_new(&one) {
            continue;
        }
        let one = problem.descend(one, STEPS);
        if one.misfit < best.misfit + ALIVE && is_new(&one) {
            others.push(one);
        }
        if others.len() == OTHERS {
            break;
        }
    }
    others
}
