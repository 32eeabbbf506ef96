//! Test of whether values rise or fall over the course of a measurement.
//!
//! The model: a straight line through the logarithms. The residuals may be correlated from one
//! value to the next. Then the values carry the information of fewer independent ones, according to
//! the correlation of neighbours (Santer et al., "Statistical significance of trends and trend
//! differences in layer-average atmospheric temperature time series", 2000). Without that, slow
//! wandering would be taken for a trend.

use crate::{bootstrap::Estimate, normal::student_quantile};

/// Returns the ratio of the last value of a series to the first, by the least-squares line through
/// their logarithms, with its interval (Student's t; Draper and Smith, "Applied regression
/// analysis", section 1.4). `None` for fewer than three values, or if one is not positive.
pub fn trend(values: &[f64], confidence: f64) -> Option<Estimate> {
    let count = values.len() as f64;
    if values.len() < 3 || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let middle = (count - 1.0) / 2.0;
    let mean = logs.iter().sum::<f64>() / count;
    let across = |index: usize| index as f64 - middle;
    let (mut width, mut together) = (0.0, 0.0);
    for (index, log) in logs.iter().enumerate() {
        width += across(index).powi(2);
        together += across(index) * (log - mean);
    }
    let slope = together / width;
    let left: Vec<f64> =
        logs.iter().enumerate().map(|(index, log)| log - mean - slope * across(index)).collect();
    let freedom = independent(&left) - 2.0;
    let squares: f64 = left.iter().map(|one| one * one).sum();
    // With less than one degree of freedom, a slope cannot be distinguished from wandering.
    let reach = if freedom >= 1.0 {
        student_quantile((1.0 + confidence) / 2.0, freedom) * (squares / freedom / width).sqrt()
    } else {
        f64::INFINITY
    };
    let over_all = |slope: f64| (slope * (count - 1.0)).exp();
    Some(Estimate { value: over_all(slope), low: over_all(slope - reach), high: over_all(slope + reach) })
}

/// Sums of squared logarithms below this are rounding errors.
const ROUNDING: f64 = 1e-24;

/// Returns the number of independent values that carry as much information as these. The residuals
/// of a line fitted to the same values underestimate the correlation of neighbours, by about (1 + 4
/// r) / n (Marriott and Pope, "Bias in the estimation of autocorrelations", 1954).
fn independent(left: &[f64]) -> f64 {
    let count = left.len() as f64;
    let squares: f64 = left.iter().map(|one| one * one).sum();
    let neighbours: f64 = left.iter().zip(&left[1..]).map(|(one, next)| one * next).sum();
    // An exact line leaves nothing but rounding errors.
    if squares < ROUNDING {
        return count;
    }
    let correlation = neighbours / squares;
    let together = (correlation + (1.0 + 4.0 * correlation) / count).clamp(0.0, 1.0);
    count * (1.0 - together) / (1.0 + together)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wandering_is_seldom_taken_for_a_trend() {
        let mut random = kurabe_core::random::Random::new(5, 0);
        let mut false_trends = 0;
        for _ in 0..200 {
            let mut at = 0.0;
            let values: Vec<f64> = (0..96)
                .map(|_| {
                    at = 0.9 * at + (random.unit() - 0.5) / 20.0;
                    f64::exp(at)
                })
                .collect();
            let trend = trend(&values, 0.95).unwrap();
            false_trends += usize::from(trend.low > 1.0 || trend.high < 1.0);
        }
        assert!(false_trends <= 30, "{false_trends} of 200");
    }

    #[test]
    fn the_line_is_that_of_scipy() {
        // scipy.stats.linregress of the logarithms and scipy.stats.t.ppf(0.975, 6).
        let trend = trend(&[1.0, 1.2, 0.9, 1.1, 1.05, 0.95, 1.3, 1.25], 0.95).unwrap();
        for (value, expected) in
            [(trend.value, 1.189_054_361_6), (trend.low, 0.848_668_670_2), (trend.high, 1.665_962_612_5)]
        {
            assert!((value - expected).abs() < 1e-8, "{value} is not {expected}");
        }
    }

    #[test]
    fn a_line_needs_three_values_above_zero() {
        assert_eq!(trend(&[1.0, 2.0], 0.95), None);
        assert_eq!(trend(&[1.0, 0.0, 2.0], 0.95), None);
        let doubled = trend(&[1.0, 2.0, 4.0], 0.95).unwrap();
        assert!((doubled.value - 4.0).abs() < 1e-12 && doubled.high - doubled.low < 1e-9);
    }
}
