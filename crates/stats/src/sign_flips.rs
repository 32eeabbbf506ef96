//! Ratio of two sums of paired values and its interval, by exchanging the values within pairs at
//! random.
//!
//! The model: a coin decided which side of a pair was measured first. If the true ratio is r, the
//! difference `top - r·bottom` of a pair could as well have the opposite sign, whatever the
//! distribution and autocorrelation of the noise. So the sum of all differences is one of the
//! equally likely sums under all patterns of signs, and the test is exact (Fisher, "The design of
//! experiments", 1935, section 21). The interval consists of the ratios that the test does not
//! reject; its ends are ratios of sums over some of the pairs (Hartigan, "Using subsample values as
//! typical values", 1969). Above [`MOST_EXACT`] pairs the share of the patterns comes from a
//! saddlepoint approximation, which is accurate to some percent of the probability even far in the
//! tail (Robinson, "Saddlepoint approximations for permutation tests and confidence intervals",
//! 1982; Lugannani and Rice, "Saddle point approximation for the distribution of the sum of
//! independent random variables", 1980).
//!
//! The ratio of sums is that of the arithmetic means, so the test judges the figures that are
//! shown. A disturbed pair counts in proportion to its share of the mean, and widens the interval.

use crate::{bootstrap::Estimate, normal::normal_cdf, rank::is_tie};

/// Up to this many pairs all patterns of signs are counted, as two halves of at most 4096 sums
/// each.
const MOST_EXACT: usize = 24;
/// Bisections after which an end of an interval has the full precision of an `f64`.
const HALVINGS: usize = 45;
/// Limit of Newton steps to a saddlepoint. They approach it from one side, and usually a handful is
/// enough.
const MOST_STEPS: usize = 100;

/// Paired values, all positive.
pub(crate) struct SignFlips<'v> {
    pub(crate) top: &'v [f64],
    pub(crate) bottom: &'v [f64],
}

impl SignFlips<'_> {
    /// Returns the ratio of the sums.
    pub(crate) fn ratio(&self) -> f64 {
        self.top.iter().sum::<f64>() / self.bottom.iter().sum::<f64>()
    }

    /// Returns the probability of a ratio at least as high as the observed one if the true ratio is
    /// `ratio`.
    pub(crate) fn chance_above(&self, ratio: f64) -> f64 {
        chance_of_sum(self.differences(ratio).collect())
    }

    /// Returns the probability of a ratio at least as low as the observed one if the true ratio is
    /// `ratio`.
    pub(crate) fn chance_below(&self, ratio: f64) -> f64 {
        chance_of_sum(self.differences(ratio).map(|difference| -difference).collect())
    }

    /// Returns the ratio with its interval; from 0 to infinity if there are too few pairs for this
    /// confidence.
    pub(crate) fn estimate(&self, confidence: f64) -> Estimate {
        let (value, tail) = (self.ratio(), (1.0 - confidence) / 2.0);
        if 0.5_f64.powi(self.top.len() as i32) > tail {
            return Estimate { value, low: 0.0, high: f64::INFINITY };
        }
        // No sum over some of the pairs has a ratio beyond those of single pairs.
        let ratios = || self.top.iter().zip(self.bottom).map(|(top, bottom)| top / bottom);
        let (least, most) = (ratios().fold(value, f64::min), ratios().fold(value, f64::max));
        let low = first_kept(least, value, |ratio| self.chance_above(ratio) > tail);
        let high = first_kept(most, value, |ratio| self.chance_below(ratio) > tail);
        Estimate { value, low, high }
    }

    fn differences(&self, ratio: f64) -> impl Iterator<Item = f64> {
        self.top.iter().zip(self.bottom).map(move |(top, bottom)| {
            // The rounding of sums must not decide which side won.
            if is_tie(*top, ratio * bottom) { 0.0 } else { top - ratio * bottom }
        })
    }
}

/// Returns the boundary between rejected and accepted ratios, by bisection.
fn first_kept(refused: f64, kept: f64, is_kept: impl Fn(f64) -> bool) -> f64 {
    if is_tie(refused, kept) {
        return kept;
    }
    if is_kept(refused) {
        return refused;
    }
    let (mut refused, mut end) = (refused.ln(), kept.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(refused, end);
        if is_kept(middle.exp()) { end = middle } else { refused = middle }
    }
    let end = end.exp();
    if is_tie(end, kept) { kept } else { end }
}

/// Returns the share of all patterns of signs under which the sum of the differences is at least
/// the observed one.
fn chance_of_sum(mut differences: Vec<f64>) -> f64 {
    differences.retain(|difference| *difference != 0.0);
    if differences.len() <= MOST_EXACT {
        return counted(&differences);
    }
    let sum: f64 = differences.iter().sum();
    // The distribution is symmetric.
    let far = far_chance(&differences, sum.abs()).max(0.5_f64.powi(differences.len() as i32));
    if sum < 0.0 { 1.0 - far } else { far }
}

/// Counts all patterns exactly. A pattern reaches the observed sum if the differences that it flips
/// have a sum of 0 or less.
fn counted(differences: &[f64]) -> f64 {
    // Sums that are equal except for rounding count as equal.
    let most = 1e-12 * differences.iter().map(|difference| difference.abs()).sum::<f64>();
    let (one, two) = differences.split_at(differences.len() / 2);
    let (one, two) = (sums_of_some(one), sums_of_some(two));
    // The larger the first sum, the fewer of the second ones fit.
    let mut fitting = two.len();
    let mut reached = 0;
    for sum in &one {
        while fitting > 0 && sum + two[fitting - 1] > most {
            fitting -= 1;
        }
        reached += fitting;
    }
    reached as f64 / (one.len() * two.len()) as f64
}

/// Returns the sums of all subsets of the values, in ascending order.
fn sums_of_some(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums.extend_from_within(..);
        let half = sums.len() / 2;
        sums[half..].iter_mut().for_each(|sum| *sum += value);
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

/// Returns the probability of a sum of at least `sum`, which is not negative, by the saddlepoint of
/// the sum of the differences with random signs.
fn far_chance(differences: &[f64], sum: f64) -> f64 {
    let scale = differences.iter().map(|difference| difference.abs()).fold(0.0, f64::max);
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs() / scale).collect();
    let sum = sum / scale;
    if is_tie(sum, sizes.iter().sum()) {
        return 0.0;
    }
    // The first and second derivative of the cumulant function. The first is concave, so Newton's
    // method approaches the root from the left.
    let slopes = |t: f64| {
        sizes.iter().fold((0.0, 0.0), |(first, second), size| {
            let tanh = (t * size).tanh();
            (first + size * tanh, second + size * size * (1.0 - tanh * tanh))
        })
    };
    let mut t = 0.0;
    for _ in 0..MOST_STEPS {
        let (first, second) = slopes(t);
        let step = (sum - first) / second;
        t += step;
        if step.is_nan() || step <= 1e-12 * t {
            break;
        }
    }
    // ln cosh, in a form that does not overflow for large arguments.
    let cumulant: f64 = sizes.iter().map(|size| t * size + (0.5 + 0.5 * (-2.0 * t * size).exp()).ln()).sum();
    let w = (2.0 * (t * sum - cumulant)).max(0.0).sqrt();
    let u = t * slopes(t).1.sqrt();
    let density = (-0.5 * w * w).exp() / std::f64::consts::TAU.sqrt();
    // Near the centre both terms of the correction grow without bound and their difference
    // vanishes.
    if w < 1e-3 { 0.5 - density * w } else { normal_cdf(-w) + density * (1.0 / u - 1.0 / w) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::random::Random;
    use proptest::prelude::*;

    /// Heights of maize (Darwin), Fisher's own example: difference within each pair, crossed plant
    /// minus self-fertilised plant, in eighths of an inch.
    const MAIZE: [f64; 15] =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

    #[test]
    fn the_test_is_fishers() {
        // "The design of experiments", section 21: in 863 of 32 768 patterns, the sum is 314 or
        // more on one side.
        assert!((counted(&MAIZE) - 863.0 / 32_768.0).abs() < 1e-12, "{}", counted(&MAIZE));
        // The saddlepoint approximation agrees to some percent.
        assert!((far_chance(&MAIZE, 314.0) / counted(&MAIZE) - 1.0).abs() < 0.05);
    }

    #[test]
    fn the_interval_ends_at_ratios_of_sums_over_some_pairs() {
        let (top, bottom) = ([3.0, 5.0, 4.0, 8.0, 6.0, 7.0], [2.0, 4.0, 5.0, 5.0, 6.0, 4.0]);
        let flips = SignFlips { top: &top, bottom: &bottom };
        // All 63 of them, sorted: the interval leaves out one on each side, at 2/64 each.
        let mut ratios: Vec<f64> = (1..64_u32)
            .map(|pattern| {
                let sum = |values: &[f64; 6]| -> f64 {
                    (0..6).filter(|place| pattern >> place & 1 == 1).map(|place| values[place]).sum()
                };
                sum(&top) / sum(&bottom)
            })
            .collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let Estimate { value, low, high } = flips.estimate(1.0 - 4.0 / 64.0);
        assert!(is_tie(value, 33.0 / 26.0));
        assert!((low - ratios[1]).abs() < 1e-9 && (high - ratios[61]).abs() < 1e-9, "{low} {high}");
        assert_eq!(flips.estimate(0.99).high, f64::INFINITY);
    }

    #[test]
    fn no_difference_at_all_is_no_evidence_of_one() {
        for pairs in [12, 40] {
            let values = vec![0.3; pairs];
            let other = vec![0.1 + 0.2; pairs];
            let flips = SignFlips { top: &values, bottom: &other };
            assert_eq!((flips.chance_above(1.0), flips.chance_below(1.0)), (1.0, 1.0));
            let Estimate { value, low, high } = flips.estimate(0.99);
            assert!(low == value && high == value, "{low} {value} {high}");
        }
    }

    proptest! {
        #[test]
        fn the_saddlepoint_agrees_with_counting(seed in 0u64..10_000, count in 25usize..30, shift in 0.0f64..1.0) {
            let mut random = Random::new(seed, 0);
            let differences: Vec<f64> = (0..count).map(|_| random.unit() * 2.0 - 1.0 + shift).collect();
            let (exact, near) = (counted(&differences), chance_of_sum(differences.clone()));
            let pattern = 0.5_f64.powi(count as i32);
            prop_assert!((near - exact).abs() <= 0.1 * exact.min(1.0 - exact) + 100.0 * pattern, "{near} for {exact}");
        }

        #[test]
        fn the_test_and_the_interval_agree(
            pairs in prop::collection::vec((1.0f64..60.0, 1.0f64..60.0), 11..40),
            level in 0.002f64..0.2,
        ) {
            let (top, bottom): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let flips = SignFlips { top: &top, bottom: &bottom };
            let Estimate { value, low, high } = flips.estimate(1.0 - level);
            prop_assert!(low <= value && value <= high);
            prop_assert_eq!(flips.chance_above(1.0) <= level / 2.0, low > 1.0);
            prop_assert_eq!(flips.chance_below(1.0) <= level / 2.0, high < 1.0);
            let turned = SignFlips { top: &bottom, bottom: &top };
            prop_assert!((turned.chance_below(1.0) - flips.chance_above(1.0)).abs() < 1e-9);
        }
    }
}
