//! Comparison of two sets by the order of their values alone: the test of Mann and Whitney, and the
//! share of pairs that one side wins.

use crate::normal::normal_cdf;

/// Sets up to this size are tested exactly if they have no ties.
const MOST_EXACT: usize = 25;

/// Relative difference below which two values differ only by the rounding of sums: no clock and no
/// counter here has twelve digits.
const ROUNDING: f64 = 1e-12;

/// Returns whether two values are equal except for rounding.
pub fn is_tie(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() < ROUNDING * a.abs().max(b.abs()).min(f64::MAX)
}

/// Result of the rank test of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// Probability of an order at least this uneven if both sets came from one distribution;
    /// two-sided.
    pub p_value: f64,
    /// Probability that a value of the first set is larger than one of the second; a tie counts
    /// half (Vargha and Delaney's A). 0.5 means no difference; 1 means that every value is larger.
    pub superiority: f64,
}

/// Runs the test of Mann and Whitney ("On a test of whether one of two random variables is
/// stochastically larger than the other", 1947): exact for small sets without ties, otherwise by
/// the normal approximation with corrections for ties and continuity. `None` if a set is empty or a
/// value is not a number.
pub fn rank_test(first: &[f64], second: &[f64]) -> Option<RankTest> {
    let sane = |values: &[f64]| !values.is_empty() && !values.iter().any(|value| value.is_nan());
    if !sane(first) || !sane(second) {
        return None;
    }
    let (first, second) = (&without_rounding(first, second), &without_rounding(second, first));
    let (n, m) = (first.len(), second.len());
    let mut wins = 0.0;
    for a in first {
        for b in second {
            wins += if a > b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            };
        }
    }
    let pairs = (n * m) as f64;
    let ties = tie_term(first, second);
    let p_value = if ties == 0.0 && n.max(m) <= MOST_EXACT {
        exact_p(wins as usize, n, m)
    } else {
        normal_p(wins, n as f64, m as f64, ties)
    };
    Some(RankTest { p_value, superiority: wins / pairs })
}

/// Returns the values of a set, each replaced by the smallest value of both sets with which it is
/// tied.
fn without_rounding(values: &[f64], others: &[f64]) -> Vec<f64> {
    let mut pooled: Vec<f64> = values.iter().chain(others).copied().collect();
    pooled.sort_unstable_by(f64::total_cmp);
    let firsts: Vec<f64> = pooled.chunk_by(|a, b| is_tie(*a, *b)).map(|group| group[0]).collect();
    let first_of = |value: &f64| {
        let index = firsts.partition_point(|first| first <= value);
        index.checked_sub(1).map_or(*value, |index| firsts[index])
    };
    values.iter().map(first_of).collect()
}

/// Returns the sum of t³ - t over groups of t equal values.
fn tie_term(first: &[f64], second: &[f64]) -> f64 {
    let mut pooled: Vec<f64> = first.iter().chain(second).copied().collect();
    pooled.sort_unstable_by(f64::total_cmp);
    pooled
        .chunk_by(|a, b| a == b)
        .map(|group| {
            let count = group.len() as f64;
            count.powi(3) - count
        })
        .sum()
}

fn normal_p(wins: f64, n: f64, m: f64, ties: f64) -> f64 {
    let count = n + m;
    let variance = n * m / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((wins - n * m / 2.0).abs() - 0.5).max(0.0);
    (2.0 * (1.0 - normal_cdf(distance / variance.sqrt()))).min(1.0)
}

/// Returns twice the smaller tail of the distribution of wins over all orders.
fn exact_p(wins: usize, n: usize, m: usize) -> f64 {
    let counts = order_counts(n, m);
    let orders: f64 = counts.iter().sum();
    let fewer = wins.min(n * m - wins);
    let tail: f64 = counts[..=fewer].iter().sum();
    (2.0 * tail / orders).min(1.0)
}

/// Returns the number of orders of n and m values for each number of wins: the coefficients of the
/// Gaussian binomial, computed by multiplying with (1 - q^(m+i)) and dividing by (1 - q^i). They
/// are integers and, up to 25 values a side, below 2^53.
fn order_counts(n: usize, m: usize) -> Vec<f64> {
    let most = n * m;
    let mut counts = vec![0.0; most + 1];
    counts[0] = 1.0;
    for i in 1..=n {
        for at in ((m + i)..=most).rev() {
            counts[at] -= counts[at - m - i];
        }
        for at in i..=most {
            counts[at] += counts[at - i];
        }
    }
    counts
}

/// Corrects the p-values of several tests so that the probability of any false positive stays at
/// the level of a single test (Holm, "A simple sequentially rejective multiple test procedure",
/// 1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (index, remaining) in holm_steps(p_values) {
        largest = largest.max((p_values[index] * remaining as f64).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

/// Returns the tests in the order of Holm's procedure, the smallest p-value first, each with its
/// index and the number of undecided tests.
fn holm_steps(p_values: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    let count = p_values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order.into_iter().enumerate().map(move |(done, index)| (index, count - done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn the_test_is_that_of_scipy() {
        // scipy.stats.mannwhitneyu 1.17, method="exact".
        let clear = rank_test(&[103.1, 98.7, 101.4, 99.9, 104.2], &[95.0, 97.2, 93.8, 96.1, 94.4]).unwrap();
        close(clear.p_value, 0.007_936_507_936_507_936);
        close(clear.superiority, 1.0);
        let mixed = rank_test(&[1.1, 2.4, 3.3, 5.0, 6.2, 7.7], &[2.0, 3.1, 4.4, 5.5]).unwrap();
        close(mixed.p_value, 0.761_904_761_904_761_9);
        close(mixed.superiority, 14.0 / 24.0);
        // method="asymptotic", with ties.
        let ties = rank_test(&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0], &[2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 5.0])
            .unwrap();
        close(ties.p_value, 0.049_238_967_838_553_395);
        close(ties.superiority, 11.0 / 56.0);
    }

    #[test]
    fn sets_without_values_or_differences_are_told_apart() {
        assert_eq!(rank_test(&[], &[1.0]), None);
        assert_eq!(rank_test(&[f64::NAN], &[1.0]), None);
        close(rank_test(&[1.0; 5], &[1.0; 5]).unwrap().p_value, 1.0);
    }

    #[test]
    fn values_that_differ_by_rounding_are_ties() {
        let (one, other) = ([0.1 + 0.2, 1e9, f64::INFINITY], [0.3, 1e9 + 1e-7, f64::INFINITY]);
        let test = rank_test(&one, &other).unwrap();
        close(test.superiority, 0.5);
        close(test.p_value, 1.0);
        assert_eq!(rank_test(&[0.1 + 0.2; 5], &[0.3; 5]).unwrap().superiority, 0.5);
        // A difference of one part in a billion is not rounding.
        assert_eq!(rank_test(&[1.000_000_001; 5], &[1.0; 5]).unwrap().superiority, 1.0);
        assert_eq!(rank_test(&[f64::INFINITY; 5], &[1.0; 5]).unwrap().superiority, 1.0);
        // Both zeros are equal.
        assert_eq!(rank_test(&[-0.0; 5], &[0.0; 5]).unwrap().superiority, 0.5);
    }

    #[test]
    fn holm_is_that_of_the_paper() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (value, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(*value, expected);
        }
    }

    proptest! {
        #[test]
        fn a_p_value_is_a_probability_and_does_not_care_for_the_sides(
            a in prop::collection::vec(0u32..40, 1..30),
            b in prop::collection::vec(0u32..40, 1..30),
        ) {
            let a: Vec<f64> = a.into_iter().map(f64::from).collect();
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let (one, other) = (rank_test(&a, &b).unwrap(), rank_test(&b, &a).unwrap());
            prop_assert!((0.0..=1.0).contains(&one.p_value));
            prop_assert!((one.p_value - other.p_value).abs() < 1e-9);
            prop_assert!((one.superiority + other.superiority - 1.0).abs() < 1e-9);
        }
    }
}
