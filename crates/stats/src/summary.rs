//! Comparison of two sets of values of which only mean, deviation and count are known. A pivot over
//! many runs needs this, because resampling hundreds of sets thousands of times would take minutes.
//!
//! The model: the logarithm of a ratio of means is nearly normal, and its variance is the sum of
//! both sides' squared relative standard errors (the delta method; Casella and Berger, "Statistical
//! Inference", 2002, section 5.5.4). With few values the variances are uncertain themselves, so the
//! half width uses Student's t with the degrees of freedom of Welch ("The generalization of
//! 'Student's' problem when several different population variances are involved", 1947). The
//! coverage of its interval is in docs/statistics.md next to that of the bootstrap.

use crate::compare::{CONFIDENCE, Verdict, step_down};
use crate::normal::{student_quantile, student_tail};
use crate::{bootstrap::Estimate, rank::holm};
use kurabe_core::digest::Summary;
use serde::Serialize;

/// Summaries of both sides of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummarySides {
    /// The baseline.
    pub baseline: Summary,
    /// The other side.
    pub other: Summary,
    /// Whether larger values are better.
    pub higher_is_better: bool,
    /// Whether the values are deterministic: then they have no spread, and a single one is enough.
    pub computed: bool,
}

/// Comparison of two summaries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// Speed of the other side relative to the baseline, by the means.
    pub speed: Estimate,
    /// p-value of Welch's test on the logarithm of the ratio, corrected for the number of cells.
    pub p_value: f64,
    /// The conclusion that the interval supports.
    pub verdict: Verdict,
}

/// Logarithm of a ratio with its standard error and degrees of freedom.
pub(crate) struct LogRatio {
    value: f64,
    /// Standard error; 0 if both sides are computed, NaN if it is unknown.
    error: f64,
    freedom: f64,
}

impl LogRatio {
    /// Returns the ratio of the first set's mean to the second's; larger is better.
    pub(crate) fn between(first: &[f64], second: &[f64]) -> Option<Self> {
        Self::of(&SummarySides {
            baseline: Summary::of(second)?,
            other: Summary::of(first)?,
            higher_is_better: true,
            computed: false,
        })
    }

    fn of(sides: &SummarySides) -> Option<Self> {
        let (baseline, other) = (sides.baseline, sides.other);
        let usable = |side: &Summary| side.count > 0 && side.mean.is_finite() && side.mean > 0.0;
        if !usable(&baseline) || !usable(&other) {
            return None;
        }
        let value = (other.mean / baseline.mean).ln() * if sides.higher_is_better { 1.0 } else { -1.0 };
        // Squared relative standard error of a mean, and its degrees of freedom.
        let part = |side: &Summary| match side.count {
            1 if sides.computed => (0.0, f64::INFINITY),
            1 => (f64::NAN, f64::NAN),
            count => {
                let count = f64::from(count);
                ((side.deviation / side.mean).powi(2) / count, count - 1.0)
            }
        };
        let ((one, one_freedom), (two, two_freedom)) = (part(&baseline), part(&other));
        let freedom = (one + two).powi(2) / (one.powi(2) / one_freedom + two.powi(2) / two_freedom);
        Some(Self { value, error: (one + two).sqrt(), freedom })
    }

    fn p_value(&self) -> f64 {
        match self.error {
            error if error > 0.0 => 2.0 * student_tail((self.value / error).abs(), self.freedom),
            0.0 if self.value != 0.0 => 0.0,
            // Equal computed figures, or unknown spread.
            _ => 1.0,
        }
    }

    /// Returns the ends of the interval of the logarithm.
    pub(crate) fn ends(&self, confidence: f64) -> (f64, f64) {
        let reach = match self.error {
            0.0 => 0.0,
            error => error * student_quantile((1.0 + confidence) / 2.0, self.freedom),
        };
        (self.value - reach, self.value + reach)
    }

    fn estimate(&self, confidence: f64) -> Estimate {
        let (low, high) = self.ends(confidence);
        Estimate { value: self.value.exp(), low: low.exp(), high: high.exp() }
    }
}

/// Compares several summaries together, each at the confidence that Holm's procedure requires. A
/// difference below `margin` does not matter. The result is `None` if a side has no usable mean. A
/// single measured value has no known spread, so its interval is NaN and its verdict is
/// [`Verdict::NotEnough`].
pub fn compare_summaries(cells: &[SummarySides], margin: f64) -> Vec<Option<Judged>> {
    let ratios: Vec<Option<LogRatio>> = cells.iter().map(LogRatio::of).collect();
    let usable: Vec<(usize, &LogRatio)> =
        ratios.iter().enumerate().filter_map(|(index, ratio)| Some((index, ratio.as_ref()?))).collect();
    // Untestable cells take no share of the allowed error.
    let tested: Vec<bool> = usable.iter().map(|(_, ratio)| !ratio.error.is_nan()).collect();
    let p_values: Vec<f64> = usable
        .iter()
        .zip(&tested)
        .filter(|(_, tested)| **tested)
        .map(|((_, ratio), _)| ratio.p_value())
        .collect();
    let places: Vec<usize> = (0..usable.len()).filter(|index| tested[*index]).collect();
    let claims =
        step_down(places.len(), margin, |index, confidence| usable[places[index]].1.estimate(confidence));
    let mut claimed = claims.into_iter().zip(holm(&p_values));
    let mut judged = vec![None; cells.len()];
    for ((index, ratio), tested) in usable.into_iter().zip(tested) {
        let counts = (cells[index].baseline.count as usize, cells[index].other.count as usize);
        let own_claim = claimed.by_ref().take(usize::from(tested)).next();
        judged[index] = Some(match own_claim {
            Some((claim, p_value)) => {
                Judged { speed: claim.interval, p_value, verdict: claim.verdict(margin, counts) }
            }
            None => Judged {
                speed: ratio.estimate(CONFIDENCE),
                p_value: 1.0,
                verdict: Verdict::NotEnough { more: None },
            },
        });
    }
    judged
}

/// Returns half the width of the 95 % interval of the mean behind a summary, as
/// [`crate::mean_interval`] computes it; `None` for fewer than two values.
pub fn summary_half_width(summary: &Summary) -> Option<f64> {
    let count = f64::from(summary.count);
    (summary.count >= 2).then(|| student_quantile(0.975, count - 1.0) * summary.deviation / count.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(baseline: &[f64], other: &[f64]) -> SummarySides {
        SummarySides {
            baseline: Summary::of(baseline).unwrap(),
            other: Summary::of(other).unwrap(),
            higher_is_better: true,
            computed: false,
        }
    }

    fn one(sides: SummarySides) -> Judged {
        compare_summaries(&[sides], 0.05)[0].unwrap()
    }

    /// Ratio, interval and p-value of `[118, 125, 121]` to `[100, 104, 97, 101]`, from
    /// scipy.stats.t (1.17) with the variance and the degrees of freedom above.
    const GOLDEN: [f64; 4] =
        [1.207_296_849_087_894, 1.138_251_666_868_771, 1.280_530_241_459_861_4, 0.000_643_253_524_167_874_7];

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn the_interval_is_that_of_scipy() {
        let judged = one(sides(&[100.0, 104.0, 97.0, 101.0], &[118.0, 125.0, 121.0]));
        near(judged.speed.value, GOLDEN[0]);
        near(judged.speed.low, GOLDEN[1]);
        near(judged.speed.high, GOLDEN[2]);
        near(judged.p_value, GOLDEN[3]);
        assert_eq!(judged.verdict, Verdict::Faster);
    }

    #[test]
    fn the_half_width_is_that_of_the_values() {
        let values = [10.0, 12.0, 11.0];
        let whole = crate::mean_interval(&values).unwrap().half_width.unwrap();
        near(summary_half_width(&Summary::of(&values).unwrap()).unwrap(), whole);
        assert_eq!(summary_half_width(&Summary::of(&[1.0]).unwrap()), None);
    }

    #[test]
    fn times_are_turned_round() {
        let cells = sides(&[100.0, 104.0, 97.0, 101.0], &[118.0, 125.0, 121.0]);
        let (rate, time) = (one(cells), one(SummarySides { higher_is_better: false, ..cells }));
        near(time.speed.value, 1.0 / rate.speed.value);
        near(time.speed.low, 1.0 / rate.speed.high);
        assert_eq!((time.verdict, time.p_value), (Verdict::Slower, rate.p_value));
    }

    #[test]
    fn of_a_single_measured_value_no_spread_is_known() {
        let judged = one(sides(&[100.0], &[120.0, 121.0]));
        near(judged.speed.value, 1.205);
        assert!(
            judged.speed.low.is_nan() && matches!(judged.verdict, Verdict::NotEnough { .. }),
            "{judged:?}"
        );
        // The untestable cell takes nothing from the others.
        let clear = sides(&[100.0, 101.0, 99.0], &[200.0, 201.0, 202.0]);
        let both = compare_summaries(&[clear, sides(&[100.0], &[120.0])], 0.05);
        assert_eq!(both[0], Some(one(clear)));
    }

    #[test]
    fn computed_values_are_exact() {
        let exact = |other| one(SummarySides { computed: true, ..sides(&[100.0], &[other]) });
        assert_eq!(exact(130.0).verdict, Verdict::Faster);
        assert_eq!(exact(100.0).verdict, Verdict::Same);
        near(exact(130.0).speed.low, 1.3);
        assert_eq!(exact(130.0).p_value, 0.0);
    }

    #[test]
    fn many_comparisons_are_held_to_a_stricter_level() {
        let cell = sides(&[100.0, 103.0, 98.0, 101.0], &[103.0, 107.0, 105.0, 104.0]);
        let (alone, among) = (one(cell), compare_summaries(&[cell; 6], 0.05)[0].unwrap());
        assert!(among.speed.low < alone.speed.low && among.p_value > alone.p_value, "{among:?}");
    }

    #[test]
    fn what_has_no_mean_above_zero_is_not_compared() {
        let none = compare_summaries(&[sides(&[0.0, 0.0], &[1.0, 2.0])], 0.05);
        assert_eq!(none, [None]);
    }
}
