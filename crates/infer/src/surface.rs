//! Response surface of a mechanical model.
//!
//! The time of an operation on a disk depends on the angle at which the previous one ended. So the
//! statistics of a model scatter under every change of its parameters, and neither derivatives nor a
//! comparison of two points mean much. The model here: about a point, each statistic is a linear function of the
//! ranged parameters plus scatter. Both come from a least-squares fit to many evaluations. The device
//! scatters as its model does.

use crate::family::FamilyPoint;
use crate::linear::Matrix;
use crate::problem::{Problem, RANGE_PRECISION, sum_of_squares};
use crate::sampler::normal;
use kurabe_core::random::Random;

/// Evaluations for each coefficient, and in addition.
const FOR_EACH: usize = 3;
const MORE: usize = 10;
/// Largest move from the centre, in radii.
const REACH: f64 = 2.0;
/// Rounds over the coordinates on the way to the least misfit.
const ROUNDS: usize = 60;
/// Draws outside the ranges before the nearest point inside is taken.
const TRIES: usize = 40;
/// Precision that keeps the fit regular.
const REGULAR: f64 = 1e-4;

/// Statistics of a mechanical model about a point.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    centre: FamilyPoint,
    radius: f64,
    ranged: Vec<usize>,
    /// Residuals at the centre, not divided by their errors.
    residuals: Vec<f64>,
    /// By ranged parameter, then by statistic.
    slopes: Vec<Vec<f64>>,
    /// Scatter of a measurement, and error of a residual.
    pub(crate) scatter: Vec<f64>,
    errors: Vec<f64>,
    /// Twice the sum of the logarithms of the errors, in units of those without scatter.
    penalty: f64,
}

impl Surface {
    /// Fits the surface about a point; `None` if too few devices there are valid.
    pub(crate) fn around(
        problem: &Problem<'_>,
        centre: &[f64],
        radius: f64,
        random: &mut Random,
    ) -> Option<Self> {
        let size = problem.ranged.len() + 1;
        let (mut rows, mut outcomes): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for _ in 0..FOR_EACH * size + MORE {
            let mut point = centre.to_vec();
            for index in &problem.ranged {
                let moved = point[*index] + radius * (2.0 * random.unit() - 1.0);
                point[*index] = moved.clamp(0.0, 1.0);
            }
            if let Some(outcome) = problem.outcome(&point) {
                let moves = problem.ranged.iter().map(|index| point[*index] - centre[*index]);
                rows.push(std::iter::once(1.0).chain(moves.map(|moved| moved / radius)).collect());
                outcomes.push(outcome);
            }
        }
        if rows.len() < size + MORE {
            return None;
        }
        let mut normal_matrix = Matrix::diagonal(size, REGULAR);
        rows.iter().for_each(|row| normal_matrix.add_outer(row, 1.0));
        let factor = normal_matrix.factor()?;
        let mut surface = Self {
            centre: centre.to_vec(),
            radius,
            ranged: problem.ranged.clone(),
            residuals: Vec::new(),
            slopes: vec![Vec::new(); size - 1],
            scatter: Vec::new(),
            errors: Vec::new(),
            penalty: 0.0,
        };
        for (statistic, (target, error)) in problem.targets.iter().zip(&problem.errors).enumerate() {
            let values = || outcomes.iter().map(|outcome| outcome[statistic] - target);
            let mut right = vec![0.0; size];
            for (row, value) in rows.iter().zip(values()) {
                right.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * value);
            }
            let coefficients = factor.solve_upper(&factor.solve_lower(&right));
            let fitted = |row: &Vec<f64>| row.iter().zip(&coefficients).map(|(x, c)| x * c).sum::<f64>();
            let left: Vec<f64> = rows.iter().zip(values()).map(|(row, value)| value - fitted(row)).collect();
            let freedom = (rows.len() - size) as f64;
            let scatter = (sum_of_squares(&left) / freedom).sqrt();
            let of_fit = size as f64 / rows.len() as f64;
            let total = (error * error + scatter * scatter * (1.0 + of_fit)).sqrt();
            surface.residuals.push(coefficients[0]);
            for (slope, coefficient) in surface.slopes.iter_mut().zip(&coefficients[1..]) {
                slope.push(coefficient / radius);
            }
            surface.scatter.push(scatter);
            surface.errors.push(total);
            surface.penalty += 2.0 * (total / error).ln();
        }
        Some(surface)
    }

    /// Returns the residuals at a point, in units of their errors.
    pub(crate) fn residuals(&self, point: &[f64]) -> Vec<f64> {
        let moves: Vec<f64> = self.ranged.iter().map(|index| point[*index] - self.centre[*index]).collect();
        let at = |(statistic, residual): (usize, &f64)| {
            let moved: f64 = moves.iter().zip(&self.slopes).map(|(by, slope)| by * slope[statistic]).sum();
            (residual + moved) / self.errors[statistic]
        };
        self.residuals.iter().enumerate().map(at).collect()
    }

    /// Returns the smooth part of the statistics at a point.
    pub(crate) fn outcome(&self, problem: &Problem<'_>, point: &[f64]) -> Vec<f64> {
        let residuals = self.residuals(point);
        let each = problem.targets.iter().zip(residuals.iter().zip(&self.errors));
        each.map(|(target, (residual, error))| target + residual * error).collect()
    }

    /// Returns the sum of the squares of the residuals, and the misfit: -2 times the logarithm of the
    /// likelihood, apart from a constant.
    pub(crate) fn squares_and_misfit(&self, point: &[f64]) -> (f64, f64) {
        let squares = sum_of_squares(&self.residuals(point));
        (squares, squares + self.penalty)
    }

    /// Returns the precision of the ranged parameters: what the probes say, and the range.
    pub(crate) fn precision(&self) -> Matrix {
        let mut matrix = Matrix::diagonal(self.ranged.len(), RANGE_PRECISION);
        for (statistic, error) in self.errors.iter().enumerate() {
            let row: Vec<f64> = self.slopes.iter().map(|slope| slope[statistic] / error).collect();
            matrix.add_outer(&row, 1.0);
        }
        matrix
    }

    /// Returns the point of least misfit within the reach of the surface and the ranges.
    pub(crate) fn least(&self) -> FamilyPoint {
        let mut point = self.centre.clone();
        let precision = self.precision();
        for _ in 0..ROUNDS {
            let residuals = self.residuals(&point);
            let mut gradient: Vec<f64> = self
                .slopes
                .iter()
                .map(|slope| {
                    let each = slope.iter().zip(&self.errors).zip(&residuals);
                    each.map(|((slope, error), residual)| slope / error * residual).sum()
                })
                .collect();
            for k in 0..self.ranged.len() {
                let index = self.ranged[k];
                let (low, high) =
                    (self.centre[index] - REACH * self.radius, self.centre[index] + REACH * self.radius);
                let next =
                    (point[index] - gradient[k] / precision.get(k, k)).clamp(low.max(0.0), high.min(1.0));
                let by = next - point[index];
                point[index] = next;
                // The gradient of the others changes with this coordinate.
                for (other, value) in gradient.iter_mut().enumerate() {
                    let range = if other == k { RANGE_PRECISION } else { 0.0 };
                    *value += (precision.get(other, k) - range) * by;
                }
            }
        }
        point
    }

    /// Draws a point of the normal distribution about the one of least misfit, within the ranges.
    pub(crate) fn draw(
        &self,
        (problem, best, factor): (&Problem<'_>, &[f64], &Matrix),
        inflation: f64,
        random: &mut Random,
    ) -> FamilyPoint {
        let mut point = best.to_vec();
        for _ in 0..TRIES {
            let drawn: Vec<f64> = self.ranged.iter().map(|_| normal(random)).collect();
            let step = factor.solve_upper(&drawn);
            let mut is_inside = true;
            for (step, index) in step.iter().zip(&self.ranged) {
                let moved = best[*index] + step * inflation.sqrt();
                is_inside &= (0.0..=1.0).contains(&moved);
                point[*index] = moved.clamp(0.0, 1.0);
            }
            if is_inside && problem.is_valid(&point) {
                return point;
            }
        }
        if problem.is_valid(&point) { point } else { best.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{DeviceFamily, FreeRange};
    use crate::measure::{Measurements, ProbeLimits};
    use crate::workload::ProbeWorkload;
    use kurabe_engine::ModelBench;
    use kurabe_program::Stop;
    use kurabe_sim::ModelTarget;

    #[test]
    fn the_time_of_a_long_read_is_inverse_to_the_rate_of_the_tracks() {
        let families = DeviceFamily::all().unwrap();
        let family = families.iter().find(|one| one.name == "sata-disk").unwrap();
        let (mut random, stop) = (Random::new(1, 1), Stop::default());
        // Some seek times do not fit together.
        let (point, mut model) = std::iter::repeat_with(|| family.draw(&mut random))
            .find_map(|point| {
                let model = ModelTarget::new(&family.device(&point, 1 << 40).ok()?, 1).ok()?;
                Some((point, model))
            })
            .unwrap();
        let mut bench = ModelBench::new(&mut model, true, &stop);
        let mut measured = Measurements::begin(&mut bench).unwrap();
        let limits = ProbeLimits { most: 8, ..ProbeLimits::USUAL };
        measured.add(&mut bench, ProbeWorkload::sequential(1 << 20, 1), limits).unwrap();
        let problem = Problem::new(family, &measured, vec![0.01], 1);
        let surface = Surface::around(&problem, &point, 0.05, &mut random).unwrap();
        let rate = family.free.iter().position(|one| one.path == "zones.outer_rate").unwrap();
        let FreeRange::Log(low, high) = family.free[rate].range else { panic!("a choice") };
        let by = problem.ranged.iter().position(|index| *index == rate).unwrap();
        let (slope, expected) = (surface.slopes[by][0], -(high / low).ln());
        assert!((slope / expected - 1.0).abs() < 0.15, "{slope} {expected}");
        // The device is at the centre.
        assert!(surface.squares_and_misfit(&surface.least()).0 < 1.0);
    }
}
