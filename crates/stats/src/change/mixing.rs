//! Estimates the size of a cache from the time of random accesses over working sets of increasing
//! size.
//!
//! The model: of `x` bytes accessed uniformly at random, an LRU (or direct-mapped) cache holds `C`.
//! An access hits with probability `C/x`, so it takes `slow + (fast - slow)·min(1, C/x)` on
//! average. For a given C the model is linear in the two times, so the search is over C alone. The
//! interval ends where the misfit has grown by the 95 % point of chi-squared with one degree of
//! freedom.
//!
//! Not modelled: caches that read ahead, segments larger than their contents, and frequency-based
//! replacement.

use super::shape::{Datum, line};

/// Number of sizes tried.
const SIZES: usize = 600;
/// 95 % point of chi-squared with one degree of freedom.
const CHI_SQUARED: f64 = 3.841;

/// Returns the size of the cache that a curve of times over the size of the working set shows, and
/// the ends of its 95 % interval, in the unit of the positions. `None` if there are fewer than four
/// points, or larger working sets are not slower.
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
    // A model that fits worse than the errors allow gets a wider interval.
    let bound = least + CHI_SQUARED * (least / freedom).max(1.0);
    let within = || tried.iter().filter(|(_, misfit)| *misfit <= bound).map(|(size, _)| *size);
    let low = within().fold(size, f64::min) / step;
    let high = within().fold(size, f64::max) * step;
    Some((size, [low, high]))
}

/// Returns the best size within one step of a good one (golden-section search).
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

/// Returns the misfit for a cache size and the times of a hit and of a miss; `None` if the cache
/// would be slower than the medium behind it.
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
