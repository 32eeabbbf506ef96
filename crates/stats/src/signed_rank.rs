//! The centre of paired differences and how sure it is, by signed ranks.
//!
//! The model: differences whose signs were decided by the toss of a coin, because the order of the pair was. If the two
//! sides are the same, every pattern of signs is as likely as any other, whatever the noise is like and however it hangs
//! together over time; so the test is exact, not a matter of a distribution that must hold (Fisher, "The design of
//! experiments", 1935, section 21; Wilcoxon, "Individual comparisons by ranking methods", 1945). The centre is the median
//! of the means of all pairs of differences, each with itself too, and its interval lies between two of these means (Hodges and
//! Lehmann, "Estimates of location based on rank tests", 1963; Hollander, Wolfe and Chicken, "Nonparametric
//! statistical methods", section 3.3). A few wild values move neither far.

use crate::bootstrap::Estimate;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The means of all pairs of differences in order, and the distribution of the number of positive ones under the null.
pub(crate) struct SignedRanks {
    /// The means, in ascending order.
    means: Vec<f64>,
    /// Probability that at most so many are positive.
    at_most: Arc<[f64]>,
}

impl SignedRanks {
    /// Of finite differences; `None` without any.
    pub(crate) fn of(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() || differences.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut means: Vec<f64> = differences
            .iter()
            .enumerate()
            .flat_map(|(index, one)| differences[index..].iter().map(move |two| f64::midpoint(*one, *two)))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        Some(Self { means, at_most: distribution(differences.len()) })
    }

    /// Two-sided probability of signs at least as uneven as these. A mean of zero speaks against a difference.
    pub(crate) fn p_value(&self) -> f64 {
        let above = self.means.iter().filter(|mean| **mean > 0.0).count();
        let below = self.means.iter().filter(|mean| **mean < 0.0).count();
        let fewer = self.means.len() - above.max(below);
        (2.0 * self.at_most[fewer]).min(1.0)
    }

    /// The centre and its interval; without ends if there are too few differences for this confidence.
    pub(crate) fn estimate(&self, confidence: f64) -> Estimate {
        let (count, tail) = (self.means.len(), (1.0 - confidence) / 2.0);
        let value = f64::midpoint(self.means[count / 2], self.means[(count - 1) / 2]);
        // As many means may be left out on either side as come about with at most the tail's probability.
        let left_out = self.at_most.partition_point(|probability| *probability <= tail);
        match left_out.checked_sub(1) {
            Some(end) => Estimate { value, low: self.means[end], high: self.means[count - 1 - end] },
            None => Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY },
        }
    }
}

/// What [`cumulated`] gives, computed once for each count: many cells are looked at after the same number of blocks.
fn distribution(count: usize) -> Arc<[f64]> {
    static KNOWN: Mutex<BTreeMap<usize, Arc<[f64]>>> = Mutex::new(BTreeMap::new());
    let mut distributions = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(distributions.entry(count).or_insert_with(|| cumulated(count).into()))
}

/// The distribution of the sum of those of the ranks 1 to `count` that a fair coin picks, summed up.
fn cumulated(count: usize) -> Vec<f64> {
    let most = count * (count + 1) / 2;
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=rank * (rank + 1) / 2).rev() {
            let picked = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(chances[sum], picked);
        }
    }
    let mut sum = 0.0;
    for chance in &mut chances {
        sum += *chance;
        *chance = sum;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    /// Heights of maize (Darwin), the example of `scipy.stats.wilcoxon`, without its last value.
    const MAIZE: [f64; 14] =
        [6.0, 8.0, 14.0, 16.0, 23.0, 24.0, 28.5, 29.0, 41.0, -48.0, 49.0, 56.0, 60.0, -67.0];

    #[test]
    fn the_test_is_that_of_scipy() {
        // scipy.stats.wilcoxon 1.17, method="exact".
        close(SignedRanks::of(&MAIZE).unwrap().p_value(), 0.078_491_210_937_5);
        let few = SignedRanks::of(&[0.3, 1.1, -0.2, 0.9, 1.7]).unwrap();
        close(few.p_value(), 0.125);
        close(SignedRanks::of(&[1.0, 2.0, 3.0]).unwrap().p_value(), 0.25);
    }

    #[test]
    fn the_interval_lies_between_order_statistics_of_the_means() {
        // By hand with NumPy: the sorted means of pairs, and scipy.stats.wilcoxon's exact distribution for the ranks.
        let shift = SignedRanks::of(&MAIZE).unwrap().estimate(0.95);
        close(shift.value, 22.5);
        close(shift.low, -5.5);
        close(shift.high, 37.0);
    }

    #[test]
    fn too_few_differences_have_no_interval() {
        let few = SignedRanks::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(few.estimate(0.95).low, f64::NEG_INFINITY);
        assert_eq!(few.estimate(0.9).low, 1.0);
        assert!(SignedRanks::of(&[]).is_none() && SignedRanks::of(&[f64::NAN]).is_none());
    }

    #[test]
    fn no_difference_at_all_is_no_evidence_of_one() {
        let same = SignedRanks::of(&[0.0; 12]).unwrap();
        assert_eq!(same.p_value(), 1.0);
        assert_eq!(same.estimate(0.95), Estimate { value: 0.0, low: 0.0, high: 0.0 });
    }

    proptest! {
        #[test]
        fn the_test_and_the_interval_agree(values in prop::collection::vec(-50i32..60, 6..40), level in 0.001f64..0.2) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let ranks = SignedRanks::of(&values).unwrap();
            let Estimate { value, low, high } = ranks.estimate(1.0 - level);
            prop_assert!(low <= value && value <= high);
            prop_assert_eq!(ranks.p_value() <= level, low > 0.0 || high < 0.0);
            let turned: Vec<f64> = values.iter().map(|value| -value).collect();
            prop_assert_eq!(SignedRanks::of(&turned).unwrap().p_value(), ranks.p_value());
        }
    }
}
