//! The figure of a cell from its repetitions: the tool's own statistic, and the mean with its
//! interval.

use crate::normal::{student_quantile, student_tail};
use kurabe_core::profile::Statistic;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The arithmetic mean.
    pub mean: f64,
    /// Half the width of the interval, from Student's t over the repetitions; `None` for fewer than two.
    pub half_width: Option<f64>,
}

/// Returns the mean of the values; 0 if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the mean of `values` and its interval; `None` without values.
///
/// Half width: `t(0.975, n - 1) · s / √n` with the sample's standard deviation s (Student, "The probable error of
/// a mean", 1908).
pub fn mean_interval(values: &[f64]) -> Option<MeanInterval> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = mean(values);
    let half_width = (values.len() >= 2).then(|| {
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        student_quantile(0.975, count - 1.0) * (variance / count).sqrt()
    });
    Some(MeanInterval { mean, half_width })
}

/// Returns the probability that the true mean is at least `least`, by Student's t; `None` for fewer
/// than two values. For values without scatter it is 0 or 1.
pub fn mean_at_least(values: &[f64], least: f64) -> Option<f64> {
    let MeanInterval { mean, half_width } = mean_interval(values)?;
    let freedom = values.len() as f64 - 1.0;
    let error = half_width? / student_quantile(0.975, freedom);
    if error > 0.0 {
        Some(student_tail((least - mean) / error, freedom))
    } else {
        Some(f64::from(mean >= least))
    }
}

/// Returns the profile's own statistic of the repetitions; `None` without values.
pub fn figure(statistic: Statistic, values: &[f64], higher_is_better: bool) -> Option<f64> {
    match statistic {
        Statistic::Mean => mean_interval(values).map(|interval| interval.mean),
        Statistic::Best if higher_is_better => values.iter().copied().max_by(f64::total_cmp),
        Statistic::Best => values.iter().copied().min_by(f64::total_cmp),
        Statistic::Median => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let upper = sorted.get(sorted.len() / 2)?;
            let lower = sorted.get((sorted.len() - 1) / 2)?;
            Some((lower + upper) / 2.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_matches_scipy() {
        // scipy.stats.t.interval(0.95, 2, loc=mean, scale=sem) for [10, 12, 11]: 11 ± 2.4841377118437
        let interval = mean_interval(&[10.0, 12.0, 11.0]).unwrap();
        assert_eq!(interval.mean, 11.0);
        assert!((interval.half_width.unwrap() - 2.484_137_711_843_7).abs() < 1e-9, "{interval:?}");
        assert_eq!(mean_interval(&[5.0]).unwrap().half_width, None);
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn a_mean_is_above_the_ends_of_its_interval_in_so_many_cases() {
        let values = [10.0, 12.0, 11.0];
        let at = |least| mean_at_least(&values, least).unwrap();
        assert!((at(11.0 - 2.484_137_711_843_7) - 0.975).abs() < 1e-9);
        assert!((at(11.0 + 2.484_137_711_843_7) - 0.025).abs() < 1e-9);
        assert!((at(11.0) - 0.5).abs() < 1e-12);
        assert_eq!([5.0, 5.1].map(|least| mean_at_least(&[5.0; 3], least)), [Some(1.0), Some(0.0)]);
        assert_eq!(mean_at_least(&[5.0], 1.0), None);
    }

    #[test]
    fn the_best_rate_is_the_highest_and_the_best_latency_the_lowest() {
        let values = [3.0, 1.0, 2.0];
        assert_eq!(figure(Statistic::Best, &values, true), Some(3.0));
        assert_eq!(figure(Statistic::Best, &values, false), Some(1.0));
        assert_eq!(figure(Statistic::Median, &values, true), Some(2.0));
        assert_eq!(figure(Statistic::Median, &[4.0, 1.0], true), Some(2.5));
        assert_eq!(figure(Statistic::Median, &[], true), None);
    }
}
