//! Change points of a curve: where it changes level or shape, by likelihood and not by eye.
//!
//! The model: a curve consists of a few pieces, each of a shape that storage produces: a level, a
//! power law, the mix of two levels that a cache causes, or a start-up time plus a rate. Errors are
//! relative, so all calculations use the logarithm of the value. Dynamic programming tries every
//! segmentation and selects the one with the best fit after penalties: the modified BIC of Zhang
//! and Siegmund ("A modified Bayes information criterion with applications to the analysis of
//! comparative genomic hybridization data", Biometrics 63, 2007) for a known error, in units of
//! minus twice the log-likelihood, with a penalty per change that keeps flat curves whole (see
//! [`CHANGE_PRICE`]). The error comes from the repetitions and is never below [`LEAST_ERROR`],
//! because smaller changes do not matter in practice.
//!
//! Not here: curves that rise and fall often, and the interpretation of a change.

mod mixing;
mod shape;

pub use shape::{Piece, Shape};

use crate::mean;
use serde::Serialize;
use shape::{Datum, fit};

/// Penalty per change, in units of the logarithm of the number of points. The mBIC has 3, which
/// assumes many points. With the 10 to 30 points of a sweep, that split flat curves with 5 to 15 %
/// noise in more than one case out of 20.
pub const CHANGE_PRICE: f64 = 4.5;
/// Lower bound of the relative error of a point.
pub const LEAST_ERROR: f64 = 0.02;
/// From this many points on, their scatter about their neighbours reveals disturbances that last
/// longer than one point.
const SCATTER_POINTS: usize = 8;

/// A point of a curve with the values observed there.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Position on the axis, above 0.
    pub x: f64,
    /// Values of the repetitions, each above 0.
    pub values: Vec<f64>,
}

/// The sets of shapes that the pieces of a curve may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeFamily {
    /// A rate over time: levels.
    Levels,
    /// A time over the size of the working set: levels, the mix that a cache causes, a power, a
    /// straight line.
    WorkingSet,
    /// A time over the size of a transfer: a start-up time plus a rate.
    Transfer,
    /// A rate over the operations in flight: a power, then a level.
    Depth,
}

impl ShapeFamily {
    fn shapes(self) -> &'static [Shape] {
        match self {
            Self::Levels => &[Shape::Level],
            Self::WorkingSet => &[Shape::Level, Shape::Mixing, Shape::Power, Shape::Line],
            Self::Transfer => &[Shape::Level, Shape::Line],
            Self::Depth => &[Shape::Level, Shape::Power],
        }
    }

    /// Returns the lower bound of the relative error of a point. No transfer is an exact straight
    /// line, because pages and requests are whole.
    fn least_error(self) -> f64 {
        if self == Self::Transfer { 2.5 * LEAST_ERROR } else { LEAST_ERROR }
    }

    /// Returns whether neighbouring points are alike except at a few changes, so that their scatter
    /// shows the error.
    fn is_calm(self) -> bool {
        matches!(self, Self::Levels | Self::WorkingSet)
    }
}

/// A position where a curve changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// The most likely position.
    pub x: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Index of the last point before the change.
    pub before: usize,
}

/// A curve divided into pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// Pieces in order; together they cover all points.
    pub pieces: Vec<Piece>,
    /// Changes between the pieces.
    pub changes: Vec<ChangePoint>,
    /// Positions in ascending order, each with the geometric mean of the values observed there.
    pub points: Vec<(f64, f64)>,
    /// Relative error of a point.
    pub error: f64,
}

/// Divides a curve into pieces. Points are sorted by position, and those at the same position are
/// merged. `None` if there are fewer than three points, or any that is not positive.
pub fn change_points(points: &[CurvePoint], family: ShapeFamily) -> Option<Curve> {
    let (data, error) = data(points, family)?;
    let pieces = cut(&data, family);
    let changes = pieces.windows(2).map(|pair| locate(&data, &pair[0], &pair[1])).collect();
    let points = data.iter().map(|datum| (datum.x, datum.log_y.exp())).collect();
    Some(Curve { pieces, changes, points, error })
}

/// Returns the points in the form that the fits need, and the relative error of a point.
fn data(points: &[CurvePoint], family: ShapeFamily) -> Option<(Vec<Datum>, f64)> {
    let good = |value: &f64| value.is_finite() && *value > 0.0;
    if !points.iter().all(|point| good(&point.x) && !point.values.is_empty() && point.values.iter().all(good))
    {
        return None;
    }
    let mut sorted: Vec<CurvePoint> = Vec::new();
    let mut order: Vec<&CurvePoint> = points.iter().collect();
    order.sort_by(|a, b| a.x.total_cmp(&b.x));
    for point in order {
        match sorted.last_mut() {
            Some(last) if last.x == point.x => last.values.extend(&point.values),
            _ => sorted.push(point.clone()),
        }
    }
    if sorted.len() < 3 {
        return None;
    }
    let logs = |point: &CurvePoint| point.values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let means: Vec<f64> = sorted.iter().map(|point| mean(&logs(point))).collect();
    let (squares, freedom) =
        sorted.iter().zip(&means).fold((0.0, 0usize), |(squares, freedom), (point, mean)| {
            let own: f64 = logs(point).iter().map(|log| (log - mean).powi(2)).sum();
            (squares + own, freedom + point.values.len() - 1)
        });
    let within = if freedom > 0 { squares / freedom as f64 } else { 0.0 };
    let calm = family.is_calm() && sorted.len() >= SCATTER_POINTS;
    let scatter = if calm { scatter(&sorted, &means) } else { 0.0 };
    let data: Vec<Datum> = sorted
        .iter()
        .zip(&means)
        .map(|(point, mean)| {
            let own = (within / point.values.len() as f64).sqrt();
            Datum { x: point.x, log_y: *mean, error: own.max(scatter).max(family.least_error()) }
        })
        .collect();
    let error = data.iter().map(|datum| datum.error).sum::<f64>() / data.len() as f64;
    Some((data, error))
}

/// Estimates the error of a point from the median distance of points from the line through their
/// neighbours. The median ignores a few changes.
fn scatter(points: &[CurvePoint], means: &[f64]) -> f64 {
    let mut off: Vec<f64> = (1..points.len() - 1)
        .map(|i| {
            let [left, here, right] = [i - 1, i, i + 1].map(|i| points[i].x.ln());
            let share = (here - left) / (right - left);
            let line = means[i - 1] * (1.0 - share) + means[i + 1] * share;
            (means[i] - line).abs() / (1.0 + share.powi(2) + (1.0 - share).powi(2)).sqrt()
        })
        .collect();
    off.sort_by(f64::total_cmp);
    // Median of the absolute value of a standard normal variable.
    off.get(off.len() / 2).map_or(0.0, |middle| middle / 0.6745)
}

/// Returns the pieces of the best segmentation.
fn cut(data: &[Datum], family: ShapeFamily) -> Vec<Piece> {
    let (count, log_count) = (data.len(), (data.len() as f64).ln());
    let piece = |first: usize, last: usize| -> Option<(f64, Piece)> {
        let length_price = ((last - first + 1) as f64 / count as f64).ln();
        family
            .shapes()
            .iter()
            .filter_map(|shape| fit(*shape, data, first, last))
            .map(|(misfit, piece)| (misfit + piece.shape.slopes() * log_count + length_price, piece))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };
    // The cost and the last piece of the best segmentation, by the end of the segmented part.
    let mut best: Vec<Option<(f64, Piece)>> = Vec::with_capacity(count);
    for last in 0..count {
        let mut here: Option<(f64, Piece)> = None;
        for first in 0..=last {
            let before = match first {
                0 => Some(0.0),
                _ => best[first - 1].as_ref().map(|(price, _)| price + CHANGE_PRICE * log_count),
            };
            let (Some(before), Some((price, piece))) = (before, piece(first, last)) else { continue };
            if here.as_ref().is_none_or(|(other, _)| before + price < *other) {
                here = Some((before + price, piece));
            }
        }
        best.push(here);
    }
    let mut pieces = Vec::new();
    let mut end = count;
    while end > 0 {
        let Some((_, piece)) = &best[end - 1] else { break };
        end = piece.first;
        pieces.push(piece.clone());
    }
    pieces.reverse();
    pieces
}

/// Locates the change between two pieces. For a cache, this is the size fitted by its mixing model.
/// Otherwise it is the intersection of both pieces between the last point of the left and the first
/// of the right, or the midpoint if they do not intersect there.
fn locate(data: &[Datum], left: &Piece, right: &Piece) -> ChangePoint {
    let (low, high) = (data[left.last].x, data[right.first].x);
    if left.shape == Shape::Level
        && right.shape == Shape::Mixing
        && let Some((x, [low, high])) = mixing::cache_size(&data[left.first..=right.last])
    {
        // Accept it only between the points where the pieces meet, or next to them: otherwise the
        // fit describes something else. The first point of the mixing may itself still be on the
        // level.
        let beyond = data[(right.first + 1).min(right.last)].x;
        if x >= data[left.last.saturating_sub(1)].x && x <= beyond {
            return ChangePoint { x, low, high, before: left.last };
        }
    }
    let off = |x: f64| left.at(x).ln() - right.at(x).ln();
    let x = match (off(low), off(high)) {
        (a, b) if a.is_finite() && b.is_finite() && a * b < 0.0 => {
            let (mut from, mut to) = (low.ln(), high.ln());
            for _ in 0..60 {
                let middle = f64::midpoint(from, to);
                if off(middle.exp()) * a > 0.0 { from = middle } else { to = middle }
            }
            f64::midpoint(from, to).exp()
        }
        _ => (low * high).sqrt(),
    };
    ChangePoint { x, low, high, before: left.last }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
