//! The interval of a ratio of two sets of repetitions, by the bootstrap.
//!
//! The model: repetitions of either side are drawn again with replacement, many times; the ratio of each draw makes a
//! distribution, and two of its percentiles are the interval. Which two is corrected for bias and skewness (BCa: Efron,
//! "Better bootstrap confidence intervals", 1987; for two samples as SciPy's `bootstrap` has it), and for few
//! repetitions, because a resample of n values spreads like n - 1 of them (Hesterberg, "What teachers should know about
//! the bootstrap", 2015, section 3.2.2: the expanded percentile interval).
//!
//! The generator is pinned, so the same repetitions give the same interval.

use crate::normal::{normal_cdf, normal_quantile, student_quantile};
use kurabe_core::random::Random;
use serde::Serialize;

/// Draws: the ends of a 95 % interval then vary by about 2 % of its width.
const DRAWS: usize = 4000;
/// Seed of the draws.
const SEED: u64 = 0x6b75_7261_6265;

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The ratio of the sets as they are.
    pub value: f64,
    /// Lower end; not a number if there are too few values to tell.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a ratio is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centre {
    /// Arithmetic means.
    Mean,
    /// Medians.
    Median,
}

/// The ratio of `numerator` to `denominator` with its interval at a confidence such as 0.95. `None` if either set is
/// empty, or has a value that is not positive.
pub fn ratio_interval(
    centre: Centre,
    numerator: &[f64],
    denominator: &[f64],
    confidence: f64,
) -> Option<Estimate> {
    let value = ratio(centre, numerator, denominator)?;
    if numerator.len() < 2 || denominator.len() < 2 {
        return Some(Estimate { value, low: f64::NAN, high: f64::NAN });
    }
    let count = numerator.len().min(denominator.len()) as f64;
    let freedom = (numerator.len() + denominator.len()) as f64 - 2.0;
    let expand = (count / (count - 1.0)).sqrt();
    let reach = student_quantile((1.0 + confidence) / 2.0, freedom) * expand;
    Some(with_reach(centre, numerator, denominator, value, reach, DRAWS))
}

/// The ratio of `numerator` to `denominator`. `None` if either set is empty, or has a value that is not positive.
pub(crate) fn ratio(centre: Centre, numerator: &[f64], denominator: &[f64]) -> Option<f64> {
    let usable =
        |values: &[f64]| !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
    if !usable(numerator) || !usable(denominator) {
        return None;
    }
    Some(of(centre, numerator) / of(centre, denominator))
}

/// The interval whose ends lie `reach` standard deviations off, before the corrections for bias and skewness.
fn with_reach(
    centre: Centre,
    numerator: &[f64],
    denominator: &[f64],
    value: f64,
    reach: f64,
    draws: usize,
) -> Estimate {
    let mut ratios = draw(centre, numerator, denominator, draws);
    ratios.sort_unstable_by(f64::total_cmp);
    let below = ratios.partition_point(|ratio| *ratio < value);
    let equal = ratios.partition_point(|ratio| *ratio <= value) - below;
    let bias = normal_quantile((below as f64 + equal as f64 / 2.0) / ratios.len() as f64);
    let bias = if bias.is_finite() { bias } else { 0.0 };
    let acceleration = acceleration(centre, numerator, denominator);
    let end = |z: f64| {
        let moved = bias + z;
        let slowed = 1.0 - acceleration * moved;
        // Beyond the pole the correction has no meaning; the end is then the outermost draw.
        let p = if slowed > 0.0 { normal_cdf(bias + moved / slowed) } else { f64::from(moved > 0.0) };
        quantile(&ratios, p)
    };
    Estimate { value, low: end(-reach), high: end(reach) }
}

fn of(centre: Centre, values: &[f64]) -> f64 {
    match centre {
        Centre::Mean => values.iter().sum::<f64>() / values.len() as f64,
        Centre::Median => median(&mut values.to_vec()),
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    (values[values.len() / 2] + values[(values.len() - 1) / 2]) / 2.0
}

/// Ratios of resamples.
fn draw(centre: Centre, numerator: &[f64], denominator: &[f64], draws: usize) -> Vec<f64> {
    let mut random = Random::new(SEED, 0);
    let mut one = |values: &[f64], scratch: &mut Vec<f64>| {
        let count = values.len() as u64;
        let mut picks = (0..count).map(|_| values[random.below(count) as usize]);
        match centre {
            Centre::Mean => picks.sum::<f64>() / count as f64,
            Centre::Median => {
                scratch.clear();
                scratch.extend(&mut picks);
                median(scratch)
            }
        }
    };
    let mut scratch = Vec::new();
    (0..draws).map(|_| one(numerator, &mut scratch) / one(denominator, &mut scratch)).collect()
}

/// Skewness of the influence of single values, by leaving out one at a time.
fn acceleration(centre: Centre, numerator: &[f64], denominator: &[f64]) -> f64 {
    let (top, bottom) = (of(centre, numerator), of(centre, denominator));
    let influences = |values: &[f64], ratio: &dyn Fn(f64) -> f64| {
        let left_out: Vec<f64> = (0..values.len())
            .map(|index| {
                let rest: Vec<f64> = values
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != index)
                    .map(|(_, value)| *value)
                    .collect();
                ratio(of(centre, &rest))
            })
            .collect();
        let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
        let count = values.len() as f64;
        let weight = (count - 1.0) / count;
        let powers = |power: i32| left_out.iter().map(|one| (weight * (mean - one)).powi(power)).sum::<f64>();
        (powers(3), powers(2))
    };
    let above = influences(numerator, &|centre| centre / bottom);
    let below = influences(denominator, &|centre| top / centre);
    let spread = (above.1 + below.1).powf(1.5);
    if spread > 0.0 { (above.0 + below.0) / (6.0 * spread) } else { 0.0 }
}

/// A quantile of sorted values, between two by proportion.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 5] = [103.1, 98.7, 101.4, 99.9, 104.2];
    const B: [f64; 5] = [95.0, 97.2, 93.8, 96.1, 94.4];

    fn close(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() <= within, "{value} is not {expected}");
    }

    #[test]
    fn the_corrected_interval_is_that_of_scipy() {
        // scipy.stats.bootstrap, method="BCa", 400 000 resamples; the draws differ, so the ends do by a little.
        let bca = |a: &[f64], b: &[f64], reach| {
            with_reach(Centre::Mean, a, b, of(Centre::Mean, a) / of(Centre::Mean, b), reach, 100_000)
        };
        let found = bca(&A, &B, 1.959_964);
        close(found.low, 1.042_615, 0.0005);
        close(found.high, 1.086_345, 0.0005);
        let found = bca(&A, &B, 1.644_854);
        close(found.low, 1.046_099, 0.0005);
        close(found.high, 1.083_001, 0.0005);
        let found = bca(&[1.1, 2.4, 3.3, 5.0, 6.2, 7.7], &[2.0, 3.1, 4.4, 5.5], 1.959_964);
        close(found.low, 0.622_222, 0.01);
        close(found.high, 1.965_217, 0.02);
    }

    #[test]
    fn few_values_get_a_wider_interval_than_the_plain_bootstrap() {
        let ours = ratio_interval(Centre::Mean, &A, &B, 0.95).unwrap();
        assert!(ours.low < 1.0426 && ours.high > 1.0863, "{ours:?}");
        close(ours.value, 507.3 / 476.5, 1e-12);
    }

    #[test]
    fn what_cannot_be_told_is_not_told() {
        assert_eq!(ratio_interval(Centre::Mean, &[], &B, 0.95), None);
        assert_eq!(ratio_interval(Centre::Mean, &[0.0, 1.0], &B, 0.95), None);
        let one = ratio_interval(Centre::Median, &[2.0], &B, 0.95).unwrap();
        assert!(one.low.is_nan() && one.high.is_nan());
        let same = ratio_interval(Centre::Mean, &[2.0; 4], &[1.0; 4], 0.95).unwrap();
        assert_eq!((same.value, same.low, same.high), (2.0, 2.0, 2.0));
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_value_and_turns_round_with_the_sides(
            a in prop::collection::vec(1.0f64..1000.0, 2..12),
            b in prop::collection::vec(1.0f64..1000.0, 2..12),
        ) {
            let ratio = ratio_interval(Centre::Mean, &a, &b, 0.95).unwrap();
            prop_assert!(ratio.low <= ratio.value * 1.0001 && ratio.value <= ratio.high * 1.0001, "{ratio:?}");
            prop_assert!(ratio.low > 0.0 && ratio.high.is_finite());
        }
    }
}
