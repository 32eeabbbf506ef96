//! The size of a cache from what random access over working sets of growing size takes.
//!
//! The model: of `x` bytes that are accessed at random, uniformly, a cache that keeps what was used last (or what maps to
//! it directly) holds `C`; an access finds its data there with probability `C/x`, so it takes
//! `slow + (fast - slow)·min(1, C/x)` on average. For a given C the two times are linear, so only C is searched, and its
//! interval is where the misfit grows by the 95 % point of chi-squared with one degree of freedom.
//!
//! Not modelled: caches that read ahead, segments that are smaller than what they hold, and any policy that keeps what
//! is used often.

use super::shape::{Datum, line};
use super::{CurvePoint, ShapeFamily};
use schemars::JsonSchema;
use serde::Serialize;

/// Sizes that are tried.
const SIZES: usize = 600;
/// 95 % of chi-squared with one degree of freedom.
const CHI_SQUARED: f64 = 3.841;

/// A cache, from a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixingFit {
    /// Time of an access that finds its data.
    pub fast: f64,
    /// Time of one that does not.
    pub slow: f64,
    /// The size of the cache, in the unit of the places.
    pub size: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The cache that a curve of times over the size of the working set shows. `None` if there are fewer than four points,
/// any is not positive, or larger working sets are not slower.
pub fn fit_mixing(points: &[CurvePoint]) -> Option<MixingFit> {
    fit_data(&super::data(points, ShapeFamily::WorkingSet)?.0)
}

pub(super) fn fit_data(data: &[Datum]) -> Option<MixingFit> {
    let (first, last) = (data.first()?.x, data.last()?.x);
    if data.len() < 4 {
        return None;
    }
    let step = (last / first).powf(1.0 / SIZES as f64);
    let tried: Vec<(f64, f64)> = (1..SIZES)
        .map(|index| first * step.powi(index as i32))
        .filter_map(|size| times(data, size).map(|(misfit, ..)| (size, misfit)))
        .collect();
    let start = *tried.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (size, (least, fast, slow)) = refine(data, start.0, step)?;
    let freedom = data.len() as f64 - 3.0;
    // Where the model fits worse than the errors allow, the interval is wider.
    let bound = least + CHI_SQUARED * (least / freedom).max(1.0);
    let within = || tried.iter().filter(|(_, misfit)| *misfit <= bound).map(|(size, _)| *size);
    let low = within().fold(size, f64::min) / step;
    let high = within().fold(size, f64::max) * step;
    Some(MixingFit { fast, slow, size, low, high })
}

/// The best size within a step of a good one (golden section).
fn refine(data: &[Datum], good: f64, step: f64) -> Option<(f64, (f64, f64, f64))> {
    let golden = f64::midpoint(5.0_f64.sqrt(), -1.0);
    let misfit = |log: f64| times(data, log.exp()).map_or(f64::INFINITY, |fit| fit.0);
    let (mut from, mut to) = ((good / step).ln(), (good * step).ln());
    for _ in 0..60 {
        let (left, right) = (to - golden * (to - from), from + golden * (to - from));
        if misfit(left) <= misfit(right) { to = right } else { from = left }
    }
    let size = f64::midpoint(from, to).exp();
    times(data, size).map(|fit| (size, fit))
}

/// The misfit and the two times for a size; none if the cache would be slower than what it caches.
fn times(data: &[Datum], size: f64) -> Option<(f64, f64, f64)> {
    let rows = data.iter().map(|datum| {
        let y = datum.log_y.exp();
        ((size / datum.x).min(1.0), y, (y * datum.error).powi(-2))
    });
    let (slow, gain) = line(rows.clone())?;
    let fast = slow + gain;
    let misfit = rows.map(|(hits, y, weight)| (slow + gain * hits - y).powi(2) * weight).sum();
    (gain < 0.0 && fast > 0.0).then_some((misfit, fast, slow))
}
