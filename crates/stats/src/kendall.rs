//! Test of whether the results of a device rise or fall from run to run.
//!
//! The model: runs are few and far apart, so neither a shape of the curve nor independent residuals
//! are assumed. Every pair of runs is tested for which one is faster (Mann, "Nonparametric tests
//! against trend", 1945; Kendall, "Rank correlation methods", 1948). The size of the change is the
//! median of the slopes between pairs (Sen, "Estimates of the regression coefficient based on
//! Kendall's tau", 1968).

use crate::normal::normal_cdf;

/// Up to this many values the test is exact. Beyond, the p-value of the normal approximation is off
/// by less than a twentieth.
const MOST_EXACT: usize = 60;
/// With fewer values, even a strictly monotonic series has a p-value above 5 %.
const FEWEST: usize = 5;

/// A rise or fall of values over time.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drift {
    /// Ratio of the last value to the first, by the median slope of the logarithms.
    pub ratio: f64,
    /// Probability of a series at least this monotonic if nothing changed; two-sided.
    pub p: f64,
}

/// Returns the drift of values in time order; `None` if there are fewer than five, or one is not
/// positive.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let count = values.len();
    if count < FEWEST || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let mut slopes = Vec::with_capacity(count * (count - 1) / 2);
    let mut score = 0i64;
    for (index, later) in values.iter().enumerate() {
        for (before, earlier) in values[..index].iter().enumerate() {
            slopes.push((later / earlier).ln() / (index - before) as f64);
            score += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    slopes.sort_by(f64::total_cmp);
    let middle = slopes.len() / 2;
    let slope =
        if slopes.len() % 2 == 1 { slopes[middle] } else { (slopes[middle - 1] + slopes[middle]) / 2.0 };
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: Vec<f64> = sorted.chunk_by(|a, b| a == b).map(|equal| equal.len() as f64).collect();
    let p = if ties.len() == count && count <= MOST_EXACT {
        exact_p(count, score)
    } else {
        normal_p(count as f64, score, &ties)
    };
    Some(Drift { ratio: (slope * (count - 1) as f64).exp(), p })
}

/// Returns the share of all permutations of `count` values whose score is at least as far from 0.
/// Each value precedes 0 to all of the earlier ones, each number with the same probability, so the
/// number of inversions is a sum of such numbers.
fn exact_p(count: usize, score: i64) -> f64 {
    let pairs = count * (count - 1) / 2;
    let mut chances = vec![1.0];
    for index in 1..count {
        let mut next = vec![0.0; chances.len() + index];
        for (inversions, chance) in chances.iter().enumerate() {
            next[inversions..=inversions + index]
                .iter_mut()
                .for_each(|sum| *sum += chance / (index + 1) as f64);
        }
        chances = next;
    }
    let most = (pairs - score.unsigned_abs() as usize) / 2;
    (2.0 * chances[..=most].iter().sum::<f64>()).min(1.0)
}

/// Returns the p-value of the normal approximation, corrected for ties and continuity.
fn normal_p(count: f64, score: i64, ties: &[f64]) -> f64 {
    let sum = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let variance = (sum(count) - ties.iter().map(|n| sum(*n)).sum::<f64>()) / 18.0;
    if variance <= 0.0 || score == 0 {
        return 1.0;
    }
    2.0 * normal_cdf(-((score.abs() - 1) as f64) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_is_that_of_all_orders() {
        // scipy.stats.kendalltau(range(n), values): eight values in one direction, and five with
        // one pair exchanged.
        let falling = drift(&[63.0, 55.0, 44.0, 36.0, 29.0, 23.0, 17.0, 12.7]).unwrap();
        assert!((falling.p - 4.960_317_460_317_46e-5).abs() < 1e-15, "{falling:?}");
        assert!((0.15..0.25).contains(&falling.ratio), "{falling:?}");
        let nearly = drift(&[1.0, 2.0, 3.0, 5.0, 4.0]).unwrap();
        assert!((nearly.p - 1.0 / 12.0).abs() < 1e-12, "{nearly:?}");
    }

    #[test]
    fn all_orders_of_six_are_counted() {
        fn orders(left: &[usize], so_far: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
            if left.is_empty() {
                return visit(so_far);
            }
            for value in left {
                let rest: Vec<usize> = left.iter().copied().filter(|other| other != value).collect();
                so_far.push(*value);
                orders(&rest, so_far, visit);
                so_far.pop();
            }
        }
        let score = |order: &[usize]| {
            let pairs = (0..order.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            pairs.map(|(a, b)| if order[b] > order[a] { 1i64 } else { -1 }).sum::<i64>()
        };
        for asked in [15i64, 9, 3, 1] {
            let (mut all, mut far) = (0u32, 0u32);
            orders(&[0, 1, 2, 3, 4, 5], &mut Vec::new(), &mut |order| {
                all += 1;
                far += u32::from(score(order).abs() >= asked);
            });
            let counted = f64::from(far) / f64::from(all);
            assert!((exact_p(6, asked) - counted).abs() < 1e-12, "{asked}: {counted}");
        }
    }

    #[test]
    fn ties_and_many_values_go_by_the_normal_distribution() {
        let equal = drift(&[2.0; 9]).unwrap();
        assert_eq!((equal.ratio, equal.p), (1.0, 1.0));
        let exact = exact_p(40, 200);
        let near = normal_p(40.0, 200, &[1.0; 40]);
        assert!((exact / near - 1.0).abs() < 0.05, "{exact} {near}");
        assert_eq!(drift(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(drift(&[1.0, 2.0, 0.0, 4.0, 5.0]), None);
    }
}
