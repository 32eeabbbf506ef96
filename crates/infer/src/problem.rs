//! The problem: the parameters of a family whose probes take the measured times.

use crate::family::{DeviceFamily, FamilyPoint, FreeRange};
use crate::linear::Matrix;
use crate::measure::Measurements;
use kurabe_core::random::Random;
use kurabe_sim::ModelTarget;

/// Step of a derivative, as a share of the range of a parameter; larger where the times of a model
/// scatter.
const STEP: f64 = 0.01;
const STEP_OF_MECHANICS: f64 = 0.06;
/// Precision of a uniform distribution over a range of length 1.
pub(crate) const RANGE_PRECISION: f64 = 12.0;
/// Misfit of a point whose device cannot be built.
const IMPOSSIBLE: f64 = 1e12;
/// Most steps of a descent.
const MOST_STEPS: usize = 7;

/// A family with the measurements that it must reproduce.
#[derive(Clone)]
pub(crate) struct Problem<'a> {
    pub(crate) family: &'a DeviceFamily,
    pub(crate) measured: &'a Measurements,
    /// The measured statistics, and the error of each.
    pub(crate) targets: Vec<f64>,
    pub(crate) errors: Vec<f64>,
    /// Passes of a model.
    pub(crate) passes: usize,
    /// Free parameters with a range, and with choices, which the probes can show.
    pub(crate) ranged: Vec<usize>,
    pub(crate) chosen: Vec<usize>,
}

/// A point with its misfit: the sum of the squares of its residuals in units of their errors.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) point: FamilyPoint,
    pub(crate) misfit: f64,
}

/// Sorts points by their misfit, the best first.
pub(crate) fn sort_best_first(fits: &mut [Fitted]) {
    fits.sort_by(|one, other| one.misfit.total_cmp(&other.misfit));
}

impl<'a> Problem<'a> {
    pub(crate) fn new(
        family: &'a DeviceFamily,
        measured: &'a Measurements,
        errors: Vec<f64>,
        passes: usize,
    ) -> Self {
        let writes = measured.probes.iter().any(|probe| probe.workload.does_write());
        let shown = |index: &usize| writes || !family.free[*index].needs_writes;
        let is_ranged = |index: &usize| matches!(family.free[*index].range, FreeRange::Log(..));
        let (ranged, chosen) = (0..family.free.len()).filter(shown).partition(is_ranged);
        Self { family, measured, targets: measured.logs(), errors, passes, ranged, chosen }
    }

    /// Returns the problem in which a parameter stays as it is.
    pub(crate) fn without(&self, index: usize) -> Self {
        let mut other = self.clone();
        other.ranged.retain(|one| *one != index);
        other
    }

    /// Returns the number of values of a choice.
    pub(crate) fn choices(&self, index: usize) -> usize {
        match &self.family.free[index].range {
            FreeRange::Choice(list) => list.len(),
            FreeRange::Log(..) => 0,
        }
    }

    /// Returns the logarithms of the times at a point; `None` if the point is not a valid device.
    pub(crate) fn outcome(&self, point: &[f64]) -> Option<Vec<f64>> {
        let device = self.family.device(point, self.measured.span_bytes).ok()?;
        self.measured.on_model(&device, self.passes).ok()
    }

    /// Returns the residuals at a point, in units of their errors.
    pub(crate) fn residuals(&self, point: &[f64]) -> Option<Vec<f64>> {
        let outcome = self.outcome(point)?;
        let targets = self.targets.iter().zip(&self.errors);
        Some(outcome.iter().zip(targets).map(|(log, (target, error))| (log - target) / error).collect())
    }

    /// Returns whether a device can be built at a point.
    pub(crate) fn is_valid(&self, point: &[f64]) -> bool {
        let device = self.family.device(point, self.measured.span_bytes);
        device.is_ok_and(|device| ModelTarget::new(&device, 1).is_ok())
    }

    /// Returns a point with its misfit.
    pub(crate) fn fitted(&self, point: FamilyPoint) -> Fitted {
        let misfit = self.residuals(&point).map_or(IMPOSSIBLE, |residuals| sum_of_squares(&residuals));
        Fitted { point, misfit }
    }

    /// Returns the derivatives of the residuals by each ranged parameter.
    fn derivatives(&self, point: &[f64], at: &[f64]) -> Option<Vec<Vec<f64>>> {
        let size = if self.family.is_mechanical() { STEP_OF_MECHANICS } else { STEP };
        let of = |index: &usize| {
            let mut moved = point.to_vec();
            let step = if moved[*index] > 0.5 { -size } else { size };
            moved[*index] += step;
            let residuals = self.residuals(&moved)?;
            Some(residuals.iter().zip(at).map(|(one, other)| (one - other) / step).collect())
        };
        self.ranged.iter().map(of).collect()
    }

    /// Returns the precision of the ranged parameters: what the probes say, and the range.
    pub(crate) fn precision(&self, point: &[f64]) -> Option<Matrix> {
        let residuals = self.residuals(point)?;
        let derivatives = self.derivatives(point, &residuals)?;
        Some(precision(&derivatives, residuals.len()))
    }

    /// Moves the ranged parameters to the least misfit nearby (Levenberg and Marquardt).
    pub(crate) fn descend(&self, start: Fitted, most_steps: usize) -> Fitted {
        let mut best = start;
        let mut damping = 1e-2;
        for _ in 0..most_steps.min(MOST_STEPS) {
            let Some(residuals) = self.residuals(&best.point) else { break };
            let Some(derivatives) = self.derivatives(&best.point, &residuals) else { break };
            let before = best.misfit;
            for _ in 0..4 {
                let Some(step) = self.step(&best.point, &derivatives, &residuals, damping) else { break };
                let next = self.fitted(step);
                if next.misfit < best.misfit {
                    best = next;
                    damping = (damping * 0.2).max(1e-6);
                    break;
                }
                damping *= 8.0;
            }
            if before - best.misfit < 0.02 + 0.002 * before {
                break;
            }
        }
        best
    }

    /// Returns the point after a damped step; parameters at the end of their range stay there.
    fn step(
        &self,
        point: &[f64],
        derivatives: &[Vec<f64>],
        residuals: &[f64],
        damping: f64,
    ) -> Option<FamilyPoint> {
        let size = self.ranged.len();
        let gradient: Vec<f64> =
            derivatives.iter().map(|column| column.iter().zip(residuals).map(|(d, r)| d * r).sum()).collect();
        let is_held = |k: usize| {
            let place = point[self.ranged[k]];
            (place <= 0.0 && gradient[k] > 0.0) || (place >= 1.0 && gradient[k] < 0.0)
        };
        let held: Vec<bool> = (0..size).map(is_held).collect();
        let mut matrix = Matrix::diagonal(size, 1e-3);
        let rows = (0..residuals.len()).map(|row| {
            let column = |(is_held, column): (&bool, &Vec<f64>)| if *is_held { 0.0 } else { column[row] };
            held.iter().zip(derivatives).map(column).collect::<Vec<f64>>()
        });
        rows.for_each(|row| matrix.add_outer(&row, 1.0));
        for k in 0..size {
            *matrix.at(k, k) *= 1.0 + damping;
        }
        let factor = matrix.factor()?;
        let down: Vec<f64> = (0..size).map(|k| if held[k] { 0.0 } else { -gradient[k] }).collect();
        let step = factor.solve_upper(&factor.solve_lower(&down));
        let mut next = point.to_vec();
        for (k, index) in self.ranged.iter().enumerate() {
            next[*index] = (next[*index] + step[k].clamp(-0.4, 0.4)).clamp(0.0, 1.0);
        }
        Some(next)
    }

    /// Draws a point for the parameters that the probes can show; the rest stay in the middle.
    pub(crate) fn draw(&self, random: &mut Random) -> FamilyPoint {
        let drawn = self.family.draw(random);
        let mut point = self.family.middle();
        for index in self.ranged.iter().chain(&self.chosen) {
            point[*index] = drawn[*index];
        }
        point
    }
}

/// Returns the sum of the squares.
pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn precision(derivatives: &[Vec<f64>], rows: usize) -> Matrix {
    let mut matrix = Matrix::diagonal(derivatives.len(), RANGE_PRECISION);
    for row in 0..rows {
        matrix.add_outer(&derivatives.iter().map(|column| column[row]).collect::<Vec<_>>(), 1.0);
    }
    matrix
}
