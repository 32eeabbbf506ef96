//! The shapes of pieces, each fitted by least squares to relative errors.
//!
//! The model: a level and a power are lines in the logarithms of both axes; a mixing and a line are `a + b·g(x)` of the
//! value itself, weighted so that the errors are relative.

use serde::Serialize;

/// A point as a fit needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datum {
    pub(super) x: f64,
    pub(super) log_y: f64,
    /// Relative error.
    pub(super) error: f64,
}

/// What a piece of a curve looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `y = a`.
    Level,
    /// `ln y = a + b·ln x`.
    Power,
    /// `y = a + b/x`, rising: what random access over `x` bytes takes if a constant number of them is cached.
    Mixing,
    /// `y = a + b·x`: a start-up time and a rate, or a list that is walked.
    Line,
}

impl Shape {
    /// Parameters beyond the level.
    pub(super) fn slopes(self) -> f64 {
        if self == Self::Level { 0.0 } else { 1.0 }
    }

    /// Points that a piece has at least: a single one that differs is an outlier, and two or three lie on any curve.
    fn least_points(self) -> usize {
        match self {
            Self::Level => 2,
            Self::Mixing | Self::Line => 3,
            Self::Power => 4,
        }
    }
}

/// A piece of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Its first point.
    pub first: usize,
    /// Its last point.
    pub last: usize,
    /// Its shape.
    pub shape: Shape,
    /// The constant of the shape.
    pub a: f64,
    /// The slope of the shape; 0 of a level.
    pub b: f64,
}

impl Piece {
    /// The value at a place; it may be below zero outside of the piece.
    pub fn at(&self, x: f64) -> f64 {
        match self.shape {
            Shape::Level => self.a,
            Shape::Power => (self.a + self.b * x.ln()).exp(),
            Shape::Mixing => self.a + self.b / x,
            Shape::Line => self.a + self.b * x,
        }
    }
}

/// The best piece of a shape through these points, and its squared misfit in units of the error. `None` if there are too
/// few, or the shape cannot be.
pub(super) fn fit(shape: Shape, data: &[Datum], first: usize, last: usize) -> Option<(f64, Piece)> {
    let points = &data[first..=last];
    // A curve that is a level throughout may have but three points; elsewhere so few tell nothing.
    if points.len() < shape.least_points().min(data.len()) {
        return None;
    }
    let weight = |datum: &Datum| datum.error.powi(-2);
    let piece = |a: f64, b: f64| Piece { first, last, shape, a, b };
    let fitted = match shape {
        Shape::Level => {
            let sum: f64 = points.iter().map(weight).sum();
            let mean = points.iter().map(|datum| datum.log_y * weight(datum)).sum::<f64>() / sum;
            piece(mean.exp(), 0.0)
        }
        Shape::Power => {
            let (a, b) = line(points.iter().map(|datum| (datum.x.ln(), datum.log_y, weight(datum))))?;
            piece(a, b)
        }
        Shape::Mixing | Shape::Line => {
            let rows = points.iter().map(|datum| {
                let y = datum.log_y.exp();
                let g = if shape == Shape::Mixing { 1.0 / datum.x } else { datum.x };
                (g, y, weight(datum) / (y * y))
            });
            let (a, b) = line(rows)?;
            // A cache makes small working sets faster; a longer transfer or list takes no less.
            let sensible = if shape == Shape::Mixing { b < 0.0 } else { b >= 0.0 && a >= 0.0 };
            if !sensible {
                return None;
            }
            piece(a, b)
        }
    };
    let misfit = points.iter().map(|datum| misfit(datum, fitted.at(datum.x))).sum::<f64>();
    misfit.is_finite().then_some((misfit, fitted))
}

/// The squared distance of a point from a value, in units of its error.
pub(super) fn misfit(datum: &Datum, value: f64) -> f64 {
    // The logarithm of nothing is no number, and so is the sum then.
    ((value.ln() - datum.log_y) / datum.error).powi(2)
}

/// Weighted least squares of `y = a + b·g`, from rows of g, y and weight.
pub(super) fn line(rows: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<(f64, f64)> {
    let total: f64 = rows.clone().map(|row| row.2).sum();
    let mean = |of: fn((f64, f64, f64)) -> f64| rows.clone().map(|row| of(row) * row.2).sum::<f64>() / total;
    let (mean_g, mean_y) = (mean(|row| row.0), mean(|row| row.1));
    let (mut over, mut under) = (0.0, 0.0);
    for (g, y, weight) in rows {
        over += weight * (g - mean_g) * (y - mean_y);
        under += weight * (g - mean_g).powi(2);
    }
    let b = over / under;
    b.is_finite().then_some((mean_y - b * mean_g, b))
}
