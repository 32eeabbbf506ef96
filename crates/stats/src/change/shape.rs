//! Shapes of pieces, each fitted by least squares of the relative errors.
//!
//! The model: a level and a power are lines in the logarithms of both axes. A mixing and a line are
//! `a + b·g(x)` of the value itself, weighted so that the errors are relative.

use serde::Serialize;

/// A point in the form that the fits need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datum {
    pub(super) x: f64,
    pub(super) log_y: f64,
    /// Relative error.
    pub(super) error: f64,
}

/// The functional form of a piece of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `y = a`.
    Level,
    /// `ln y = a + b·ln x`.
    Power,
    /// `y = a + b/x`, rising: the time of a random access over `x` bytes if a constant number of
    /// them is cached.
    Mixing,
    /// `y = a + b·x`: a start-up time plus a rate, or a list that is traversed.
    Line,
}

impl Shape {
    /// Returns the number of parameters beyond the level.
    pub(super) fn slopes(self) -> f64 {
        if self == Self::Level { 0.0 } else { 1.0 }
    }

    /// Returns the fewest points of a piece. A single deviating point is an outlier, and two or
    /// three points lie on any curve.
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
    /// Index of its first point.
    pub first: usize,
    /// Index of its last point.
    pub last: usize,
    /// Shape of the piece.
    pub shape: Shape,
    /// Constant of the shape.
    pub a: f64,
    /// Slope of the shape; 0 for a level.
    pub b: f64,
}

impl Piece {
    /// Returns the value at `x`, which may be negative outside the piece.
    pub fn at(&self, x: f64) -> f64 {
        match self.shape {
            Shape::Level => self.a,
            Shape::Power => (self.a + self.b * x.ln()).exp(),
            Shape::Mixing => self.a + self.b / x,
            Shape::Line => self.a + self.b * x,
        }
    }
}

/// Fits a shape to these points and returns the piece with its squared misfit in units of the
/// error. `None` if there are too few points, or the shape is impossible.
pub(super) fn fit(shape: Shape, data: &[Datum], first: usize, last: usize) -> Option<(f64, Piece)> {
    let points = &data[first..=last];
    // A curve that is one level throughout may have as few as three points; elsewhere so few are
    // not evidence.
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
            // A cache makes small working sets faster; a longer transfer or list never takes less
            // time.
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

/// Returns the squared distance of a point from a value, in units of its error.
pub(super) fn misfit(datum: &Datum, value: f64) -> f64 {
    // The logarithm of a negative value is NaN, and then so is the sum.
    ((value.ln() - datum.log_y) / datum.error).powi(2)
}

/// Solves the weighted least squares of `y = a + b·g` for rows of g, y and weight.
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
