//! The curves of a sweep, from its cells.

use super::axis::{CurveUnit, SweepAxis, axis_of};
use crate::cell::CellFacts;
use kurabe_core::profile::Profile;
use kurabe_core::record::{Cell, OpsRecord, Repetition};
use kurabe_core::workload::Direction;
use kurabe_stats::{Curve, CurvePoint, ShapeFamily, change_points, mean_interval};

/// Number of pieces into which the long write is divided.
const COURSE_PIECES: usize = 48;

/// Measurements along one axis.
pub(super) struct MeasuredCurve {
    pub(super) axis: SweepAxis,
    pub(super) direction: Direction,
    pub(super) sequential: bool,
    pub(super) block_bytes: u32,
    /// Values at each position, one for each repetition in order.
    pub(super) points: Vec<CurvePoint>,
    /// Positions at which other work was sufficient to explain the measurement.
    pub(super) disturbed: Vec<f64>,
    /// Number of counted repetitions, at the position with the fewest.
    pub(super) repetitions: usize,
}

impl MeasuredCurve {
    pub(super) fn unit(&self) -> CurveUnit {
        match self.axis {
            SweepAxis::WorkingSet | SweepAxis::BlockSize => CurveUnit::TimeNs,
            SweepAxis::QueueDepth => CurveUnit::OperationsPerS,
            SweepAxis::BytesWritten => CurveUnit::BytesPerS,
        }
    }

    /// Returns the rate at each position, in bytes per second.
    pub(super) fn rates(&self) -> impl Iterator<Item = f64> {
        self.points.iter().filter_map(|CurvePoint { x, values }| {
            let value = mean_interval(values)?.mean;
            let rate = match self.axis {
                SweepAxis::WorkingSet => f64::from(self.block_bytes) * 1e9 / value,
                SweepAxis::BlockSize => x * 1e9 / value,
                SweepAxis::QueueDepth => value * f64::from(self.block_bytes),
                SweepAxis::BytesWritten => value,
            };
            rate.is_finite().then_some(rate)
        })
    }

    /// Returns the 95 % interval at a position of the split curve, computed on the logarithmic
    /// scale because errors are relative. Returns `None` with fewer than two repetitions.
    pub(super) fn interval(&self, x: f64) -> Option<(f64, f64)> {
        let here = self.points.iter().filter(|point| point.x == x).flat_map(|point| &point.values);
        let logs: Vec<f64> = here.map(|value| value.ln()).collect();
        let interval = mean_interval(&logs)?;
        let half = interval.half_width?;
        Some(((interval.mean - half).exp(), (interval.mean + half).exp()))
    }

    /// Returns whether every repetition separately gains at least the square root of `gain` between
    /// two positions.
    pub(super) fn each_repetition_gains(&self, from: f64, to: f64, gain: f64) -> bool {
        let values = |x: f64| self.points.iter().find(|point| point.x == x).map(|point| &point.values);
        values(from)
            .zip(values(to))
            .is_some_and(|(from, to)| from.iter().zip(to).all(|(from, to)| to / from >= gain.sqrt()))
    }

    /// Returns the curve, split at its change points, or `None` if there are too few points.
    pub(super) fn cut(&self) -> Option<Curve> {
        let family = match self.axis {
            SweepAxis::WorkingSet => ShapeFamily::WorkingSet,
            SweepAxis::BlockSize => ShapeFamily::Transfer,
            SweepAxis::QueueDepth => ShapeFamily::Depth,
            SweepAxis::BytesWritten => ShapeFamily::Levels,
        };
        change_points(&self.points, family)
    }
}

/// Returns the curves of an axis, one for each direction and order of offsets. `cpus` is the number
/// of CPUs.
pub(super) fn of_axis(profile: &Profile, cells: &[Cell], axis: SweepAxis, cpus: u32) -> Vec<MeasuredCurve> {
    let mut curves: Vec<MeasuredCurve> = Vec::new();
    for cell in cells.iter().filter(|cell| axis_of(profile, cell) == Some(axis)) {
        let (Some(workload), Some(direction)) = (&cell.workload, cell.direction) else { continue };
        let sequential = workload.pattern.is_sequential();
        let points = points(axis, cell, direction);
        let disturbed = CellFacts::of(cell).disturbance(cpus).is_some();
        let disturbed: Vec<f64> = points.iter().filter(|_| disturbed).map(|point| point.x).collect();
        let repetitions = cell.counted().count();
        match curves.iter_mut().find(|other| other.direction == direction && other.sequential == sequential) {
            Some(curve) => {
                curve.points.extend(points);
                curve.disturbed.extend(disturbed);
                curve.repetitions = curve.repetitions.min(repetitions);
            }
            None => curves.push(MeasuredCurve {
                axis,
                direction,
                sequential,
                block_bytes: workload.largest_block_bytes(),
                points,
                disturbed,
                repetitions,
            }),
        }
    }
    curves
}

fn points(axis: SweepAxis, cell: &Cell, direction: Direction) -> Vec<CurvePoint> {
    let Some(workload) = &cell.workload else { return Vec::new() };
    let values = |of: fn(&Repetition, Direction) -> Option<f64>| -> Vec<f64> {
        cell.counted()
            .filter_map(|repetition| of(repetition, direction))
            .filter(|value| *value > 0.0)
            .collect()
    };
    let (x, values) = match axis {
        SweepAxis::WorkingSet => (workload.span_bytes as f64, values(mean_time_ns)),
        SweepAxis::BlockSize => (f64::from(workload.largest_block_bytes()), values(mean_time_ns)),
        SweepAxis::QueueDepth => {
            (f64::from(workload.iodepth), values(|repetition, to| Some(repetition.rate_iops(to))))
        }
        SweepAxis::BytesWritten => return course(cell),
    };
    if values.is_empty() { Vec::new() } else { vec![CurvePoint { x, values }] }
}

/// Returns the mean time of an operation.
fn mean_time_ns(repetition: &Repetition, direction: Direction) -> Option<f64> {
    let of: &OpsRecord = match direction {
        Direction::Read => &repetition.read,
        Direction::Write => &repetition.write,
        Direction::Mix => return None,
    };
    of.latency.mean_ns()
}

/// Returns the rate over the bytes written, through all repetitions in sequence.
fn course(cell: &Cell) -> Vec<CurvePoint> {
    let intervals: Vec<(f64, f64)> = cell
        .counted()
        .flat_map(|repetition| {
            // The last interval may be incomplete, which would look like a change.
            let whole = repetition.series.intervals.len().saturating_sub(1);
            let ns = repetition.series.interval_ns as f64;
            repetition
                .series
                .intervals
                .iter()
                .take(whole)
                .map(move |interval| (interval.write_bytes as f64, ns))
        })
        .collect();
    let together = intervals.len().div_ceil(COURSE_PIECES).max(1);
    let mut written = 0.0;
    intervals
        .chunks_exact(together)
        .filter_map(|chunk| {
            let (bytes, ns) = chunk.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            written += bytes;
            (bytes > 0.0).then(|| CurvePoint { x: written, values: vec![bytes / ns * 1e9] })
        })
        .collect()
}
