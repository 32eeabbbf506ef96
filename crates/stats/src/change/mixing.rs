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

/// Sizes that are tried.
const SIZES: usize = 600;
/// 95 % of chi-squared with one degree of freedom.
const CHI_SQUARED: f64 = 3.841;

/// The size of the cache that a curve of times over the size of the working set shows, and the ends of its 95 % interval, in the
/// unit of the places. `None` if there are fewer than four points, or larger working sets are not slower.
pub(super) fn cache_size(data: &[Datum]) -> Option<(f64, [f64; 2])> {
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
    let size = refine(data, start.0, step);
    let (least, ..) = times(data, size)?;
    let freedom = data.len() as f64 - 3.0;
    // Where the model fits worse than the errors allow, the interval is wider.
    let bound = least + CHI_SQUARED * (least / freedom).max(1.0);
    let within = || tried.iter().filter(|(_, misfit)| *misfit <= bound).map(|(size, _)| *size);
    let low = within().fold(size, f64::min) / step;
    let high = within().fold(size, f64::max) * step;
    Some((size, [low, high]))
}

/// The best size within a step of a good one (golden section).
fn refine(data: &[Datum], good: f64, step: f64) -> f64 {
    let golden = f64::midpoint(5.0_f64.sqrt(), -1.0);
    let misfit = |log: f64| times(data, log.exp()).map_or(f64::INFINITY, |fit| fit.0);
    let (mut from, mut to) = ((good / step).ln(), (good * step).ln());
    for _ in 0..60 {
        let (left, right) = (to - golden * (to - from), from + golden * (to - from));
        if misfit(left) <= misfit(right) { to = right } else { from = left }
    }
    f64::midpoint(from, to).exp()
}

/// The misfit for a size, and the times of an access that finds its data and of one that does not; none if the cache would be
/// slower than what it caches.
pub(super) fn times(data: &[Datum], size: f64) -> Option<(f64, f64, f64)> {
    let rows = data.iter().map(|datum| {
        let y = datum.log_y.exp();
        ((size / datum.x).min(1.0), y, (y * datum.error).powi(-2))
    });
    let (slow, gain) = line(rows.clone())?;
    let fast = slow + gain;
    let misfit = rows.map(|(hits, y, weight)| (slow + gain * hits - y).powi(2) * weight).sum();
    (gain < 0.0 && fast > 0.0).then_some((misfit, fast, slow))
}
