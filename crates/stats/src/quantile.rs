//! Quantiles with intervals that hold for any distribution.

use statrs::distribution::{Binomial, DiscreteCDF};

/// A quantile of values and its interval by order statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileInterval {
    /// Value at the nearest rank.
    pub value: f64,
    /// The interval; `None` if there are too few values for it at this confidence.
    pub interval: Option<(f64, f64)>,
}

/// Returns the quantile of sorted values at a fraction between 0 and 1, with an interval whose ends
/// are two of the values.
///
/// The number of values below the true quantile is binomial, whatever the distribution. Each end of
/// the interval is the innermost value beyond which the true quantile is with a probability of at
/// most (1 - confidence) / 2 (David and Nagaraja, "Order Statistics", section 7.1). `None` without
/// values.
pub fn quantile_interval(sorted: &[f64], fraction: f64, confidence: f64) -> Option<QuantileInterval> {
    let count = sorted.len() as u64;
    if count == 0 || !(0.0..=1.0).contains(&fraction) {
        return None;
    }
    let rank = ((fraction * count as f64).ceil() as usize).clamp(1, sorted.len());
    let tail = (1.0 - confidence) / 2.0;
    let below = Binomial::new(fraction, count).ok()?;
    // Lower end: the highest rank l with P(fewer than l values are below) <= tail; upper end
    // likewise.
    let low = (1..=count).take_while(|rank| below.cdf(rank - 1) <= tail).last();
    let high = (1..=count).rev().take_while(|rank| 1.0 - below.cdf(rank - 1) <= tail).last();
    let interval = low.zip(high).map(|(low, high)| (sorted[low as usize - 1], sorted[high as usize - 1]));
    Some(QuantileInterval { value: sorted[rank - 1], interval })
}

/// Returns the fewest values for which [`quantile_interval`] has an interval. With one fewer, all
/// of them are on one side of the true quantile too often. `None` for the quantiles 0 and 1, which
/// have no interval, and for a confidence outside 0 to 1.
pub fn fewest_for_quantile(fraction: f64, confidence: f64) -> Option<u64> {
    let tail = (1.0 - confidence) / 2.0;
    let inside = |share: f64| share > 0.0 && share < 1.0;
    if !inside(fraction) || !inside(tail) {
        return None;
    }
    // All of n values are below with the n-th power of the fraction, and above likewise.
    let likelier = fraction.max(1.0 - fraction);
    Some((tail.ln() / likelier.ln()).ceil() as u64)
}

/// Returns two bounds of the probability that the true quantile at a fraction is within a limit
/// that `over` of `count` values exceed. If exactly the allowed share exceeded the limit, they are
/// the probability of more exceedances and that of at least as many. `None` without values.
///
/// The number of values above the true quantile is binomial, whatever the distribution (Clopper and Pearson, 1934).
pub fn quantile_within(count: u64, over: u64, fraction: f64) -> Option<[f64; 2]> {
    let above = Binomial::new(1.0 - fraction, count).ok().filter(|_| count > 0)?;
    let as_many = if over == 0 { 1.0 } else { above.sf(over - 1) };
    Some([above.sf(over), as_many])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_surely_a_quantile_is_within_a_limit_is_the_sum_of_binomial_terms() {
        // The sum of the terms, computed from their logarithms.
        for (count, over, expected) in [
            (368, 0, [0.975_240, 1.0]),
            (367, 0, [0.974_990, 1.0]),
            (1000, 10, [0.416_959, 0.542_699]),
            (1000, 20, [0.001_496, 0.003_288]),
            (1, 1, [0.0, 0.01]),
        ] {
            let within = quantile_within(count, over, 0.99).unwrap();
            let off = within.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{count}, {over}: {within:?}");
        }
        assert_eq!(quantile_within(0, 0, 0.99), None);
    }

    #[test]
    fn the_intervals_are_those_of_scipy() {
        // scipy.stats.quantile_test(...).confidence_interval(0.95) of 1, 2, 3, …
        let of = |count: u32, fraction| {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            quantile_interval(&values, fraction, 0.95).unwrap()
        };
        assert_eq!(of(20, 0.5), QuantileInterval { value: 10.0, interval: Some((6.0, 15.0)) });
        assert_eq!(of(100, 0.5).interval, Some((40.0, 61.0)));
        assert_eq!(of(100, 0.9).interval, Some((84.0, 96.0)));
        // Too few values beyond the quantile, so there is no upper end.
        assert_eq!(of(20, 0.9).interval, None);
        assert_eq!(of(100, 0.99).interval, None);
        assert_eq!(quantile_interval(&[], 0.5, 0.95), None);
        assert_eq!(quantile_interval(&[1.0], 0.5, 0.95).unwrap().interval, None);
    }

    #[test]
    fn fewer_values_have_no_interval() {
        for (fraction, expected) in [(0.5, 6), (0.01, 368), (0.9, 36), (0.99, 368), (0.999, 3688)] {
            let fewest = fewest_for_quantile(fraction, 0.95).unwrap();
            assert_eq!(fewest, expected, "{fraction}");
            let has = |count: u64| {
                let values: Vec<f64> = (0..count).map(|value| value as f64).collect();
                quantile_interval(&values, fraction, 0.95).unwrap().interval.is_some()
            };
            assert!(has(fewest) && !has(fewest - 1), "{fraction}");
        }
        assert_eq!([0.0, 1.0, f64::NAN].map(|fraction| fewest_for_quantile(fraction, 0.95)), [None; 3]);
    }
}
