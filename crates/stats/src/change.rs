//! Change points of a curve: where it stops being one thing and becomes another, found by what is likely and not by eye.
//!
//! The model: a curve is a few pieces, each of a shape that storage has: a level, a power of the place, the mixing of
//! two levels that a cache makes, or a start-up time and a rate. Errors are relative, so everything is measured in the
//! logarithm of the value. All ways to cut the curve are gone through (dynamic programming), and the one is taken that
//! fits best for what it costs: the modified BIC of Zhang and Siegmund ("A modified Bayes information criterion with
//! applications to the analysis of comparative genomic hybridization data", Biometrics 63, 2007) for a known error, in
//! units of minus twice the log-likelihood, with a charge for a change that keeps flat curves whole (see
//! [`CHANGE_PRICE`]). The error is known from repetitions, and never below [`LEAST_ERROR`]: what is smaller matters to nobody.
//!
//! Not here: curves that go up and down often, and what a change means.

mod mixing;
mod shape;

pub use shape::{Piece, Shape};

use crate::mean;
use serde::Serialize;
use shape::{Datum, fit};

/// What a change costs, in units of the logarithm of the number of points. The mBIC has 3, which assumes many points;
/// with the 10 to 30 of a sweep flat curves of 5 to 15 % noise were cut in more than one case out of 20.
pub const CHANGE_PRICE: f64 = 4.5;
/// The smallest relative error of a point that is believed.
pub const LEAST_ERROR: f64 = 0.02;
/// From this many points on, their scatter about their neighbours tells of disturbances that last longer than a point.
const SCATTER_POINTS: usize = 8;

/// A place of a curve with what was seen there.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// The place, above 0.
    pub x: f64,
    /// Repetitions, each above 0.
    pub values: Vec<f64>,
}

/// The shapes that the pieces of a curve may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeFamily {
    /// Levels: a rate over time.
    Levels,
    /// A time over the size of the working set: levels, the mixing that a cache makes, a power, a straight line.
    WorkingSet,
    /// A time over the size of a transfer: a start-up time and a rate.
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

    /// The smallest relative error of a point that is believed. No transfer is quite a straight line, because pages and
    /// requests are whole.
    fn least_error(self) -> f64 {
        if self == Self::Transfer { 2.5 * LEAST_ERROR } else { LEAST_ERROR }
    }

    /// Whether neighbours on the curve are alike but for a few changes, so that their scatter tells the error.
    fn is_calm(self) -> bool {
        matches!(self, Self::Levels | Self::WorkingSet)
    }
}

/// A place where a curve changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// The likeliest place.
    pub x: f64,
    /// Lower end of where it lies.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The last point before it.
    pub before: usize,
}

/// A curve, cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// Its pieces in order; they cover all points.
    pub pieces: Vec<Piece>,
    /// The places between them.
    pub changes: Vec<ChangePoint>,
    /// Its points: places in ascending order, and the geometric mean of what was seen there.
    pub points: Vec<(f64, f64)>,
    /// The relative error of a point.
    pub error: f64,
}

/// Cuts a curve. `None` if there are fewer than three points, or any that is not positive. Points are taken in the order
/// of their places; those of one place are put together.
pub fn change_points(points: &[CurvePoint], family: ShapeFamily) -> Option<Curve> {
    let (data, error) = data(points, family)?;
    let pieces = cut(&data, family);
    let changes = pieces.windows(2).map(|pair| locate(&data, &pair[0], &pair[1])).collect();
    let points = data.iter().map(|datum| (datum.x, datum.log_y.exp())).collect();
    Some(Curve { pieces, changes, points, error })
}

/// The points as what the fits need, and the relative error of a point.
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

/// The error of a point from how far points lie off the line through their neighbours: from the median, so that a few
/// changes do not count.
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
    // The median of the absolute value of a standard normal variable.
    off.get(off.len() / 2).map_or(0.0, |middle| middle / 0.6745)
}

/// The pieces of the best cut.
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
    // By the end of the part that is cut: the price, and the last piece.
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

/// Where one piece becomes the next: of a cache by the fit of its mixing, otherwise where the two meet between the last
/// point of the one and the first of the other, or in the middle if they do not.
fn locate(data: &[Datum], left: &Piece, right: &Piece) -> ChangePoint {
    let (low, high) = (data[left.last].x, data[right.first].x);
    if left.shape == Shape::Level
        && right.shape == Shape::Mixing
        && let Some((x, [low, high])) = mixing::cache_size(&data[left.first..=right.last])
    {
        // Between the points where the pieces were cut, or next to them: otherwise the fit is of something else. The
        // first point of the mixing may itself still be on the level.
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
