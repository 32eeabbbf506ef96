//! Evolution strategy with covariance adaptation (CMA-ES), for where a descent does not lead.
//!
//! The model: Hansen's strategy with weighted recombination, rank-one and rank-μ updates (The CMA
//! Evolution Strategy: A Tutorial, arXiv 1604.00772), sampled by the Cholesky factor. A choice is a
//! coordinate from 0 to 1 that is cut into as many parts as it has values.

use crate::linear::Matrix;
use crate::problem::{Fitted, Problem};
use crate::sampler::normal;
use kurabe_core::random::Random;

/// Generations, and points of each.
const GENERATIONS: usize = 24;
const POPULATION: usize = 18;
const PARENTS: usize = 9;
/// Width of the first generation.
const WIDTH: f64 = 0.25;

/// The state of the strategy.
struct Strategy {
    mean: Vec<f64>,
    width: f64,
    covariance: Matrix,
    path: Vec<f64>,
    width_path: Vec<f64>,
}

/// Returns the best point of an evolution from a point.
pub(crate) fn evolve(problem: &Problem<'_>, start: &Fitted, random: &mut Random) -> Fitted {
    let indices: Vec<usize> = problem.ranged.iter().chain(&problem.chosen).copied().collect();
    let size = indices.len();
    let place = |index: &usize| match problem.choices(*index) {
        0 => start.point[*index],
        count => (start.point[*index] + 0.5) / count as f64,
    };
    let mut strategy = Strategy {
        mean: indices.iter().map(place).collect(),
        width: WIDTH,
        covariance: Matrix::diagonal(size, 1.0),
        path: vec![0.0; size],
        width_path: vec![0.0; size],
    };
    let mut best = start.clone();
    for _ in 0..GENERATIONS {
        let Some(factor) = strategy.covariance.factor() else { break };
        let mut generation: Vec<(Fitted, f64, Vec<f64>, Vec<f64>)> = (0..POPULATION)
            .map(|_| {
                let drawn: Vec<f64> = (0..size).map(|_| normal(random)).collect();
                let moved = factor.lower_times(&drawn);
                let places: Vec<f64> = strategy
                    .mean
                    .iter()
                    .zip(&moved)
                    .map(|(mean, step)| mean + strategy.width * step)
                    .collect();
                let outside: f64 = places.iter().map(|place| (place - place.clamp(0.0, 1.0)).powi(2)).sum();
                let fitted = problem.fitted(point_at(problem, &indices, &start.point, &places));
                let cost = fitted.misfit * (1.0 + outside) + 1e3 * outside;
                (fitted, cost, moved, drawn)
            })
            .collect();
        generation.sort_by(|one, other| one.1.total_cmp(&other.1));
        if generation[0].0.misfit < best.misfit {
            best = generation[0].0.clone();
        }
        strategy.advance(&generation.iter().map(|one| (&one.2[..], &one.3[..])).collect::<Vec<_>>());
    }
    best
}

/// Returns the point at these coordinates.
fn point_at(problem: &Problem<'_>, indices: &[usize], start: &[f64], places: &[f64]) -> Vec<f64> {
    let mut point = start.to_vec();
    for (index, place) in indices.iter().zip(places) {
        let place = place.clamp(0.0, 1.0);
        point[*index] = match problem.choices(*index) {
            0 => place,
            count => (place * count as f64).floor().min(count as f64 - 1.0),
        };
    }
    point
}

impl Strategy {
    /// Moves to the next generation; `sorted` has the steps and their standard normal draws, the best
    /// first.
    fn advance(&mut self, sorted: &[(&[f64], &[f64])]) {
        let size = self.mean.len() as f64;
        let raw: Vec<f64> =
            (0..PARENTS).map(|rank| (PARENTS as f64 + 0.5).ln() - (rank as f64 + 1.0).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let combined = |vectors: &mut dyn Iterator<Item = &[f64]>| -> Vec<f64> {
            let mut total = vec![0.0; self.mean.len()];
            for (weight, one) in weights.iter().zip(vectors) {
                total.iter_mut().zip(one).for_each(|(total, value)| *total += weight * value);
            }
            total
        };
        let step = combined(&mut sorted.iter().map(|one| one.0));
        let drawn = combined(&mut sorted.iter().map(|one| one.1));
        let width_rate = (effective + 2.0) / (size + effective + 5.0);
        let path_rate = (4.0 + effective / size) / (size + 4.0 + 2.0 * effective / size);
        let one_rate = 2.0 / ((size + 1.3).powi(2) + effective);
        let many_rate = (1.0 - one_rate)
            .min(2.0 * (effective - 2.0 + 1.0 / effective) / ((size + 2.0).powi(2) + effective));
        let follow = |path: &mut Vec<f64>, rate: f64, step: &[f64]| {
            let gain = (rate * (2.0 - rate) * effective).sqrt();
            path.iter_mut().zip(step).for_each(|(path, step)| *path = (1.0 - rate) * *path + gain * step);
        };
        follow(&mut self.width_path, width_rate, &drawn);
        follow(&mut self.path, path_rate, &step);
        self.mean.iter_mut().zip(&step).for_each(|(mean, step)| *mean += self.width * step);
        self.covariance.scale(1.0 - one_rate - many_rate);
        self.covariance.add_outer(&self.path.clone(), one_rate);
        for (weight, (moved, _)) in weights.iter().zip(sorted) {
            self.covariance.add_outer(moved, many_rate * weight);
        }
        let expected = size.sqrt() * (1.0 - 1.0 / (4.0 * size) + 1.0 / (21.0 * size * size));
        let length = self.width_path.iter().map(|value| value * value).sum::<f64>().sqrt();
        let damping = 1.0 + width_rate + 2.0 * (((effective - 1.0) / (size + 1.0)).sqrt() - 1.0).max(0.0);
        self.width = (self.width * (width_rate / damping * (length / expected - 1.0)).exp()).min(0.5);
    }
}
