//! Relation between two figures of the same things: whether they give the same order, and whether
//! one is a linear function of the other.
//!
//! The model: order is counted in pairs, because pairs are easy to report ("13 of 15 pairs are in
//! the same order"). Things that are equal in one of the figures say nothing about the order.

use serde::Serialize;

/// Sets up to this size are tested over all permutations.
const MOST_EXACT: usize = 9;

/// Agreement of two figures on the order of things.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Concordance {
    /// Pairs that both put in the same order.
    pub same: usize,
    /// Pairs that they put in opposite order.
    pub opposite: usize,
    /// Pairs that are equal in at least one of them.
    pub tied: usize,
    /// Kendall's tau-b: 1 for the same order, -1 for the opposite one.
    pub tau: f64,
    /// Probability of a relation at least this strong if the figures were unrelated; two-sided,
    /// over all permutations. Not a number for more than nine things, which have too many
    /// permutations.
    pub p_value: f64,
}

/// Counts the pairs on which two figures agree (Kendall, "A new measure of rank correlation", 1938;
/// with ties tau-b, 1945). `None` for fewer than two things, or if one figure is the same for all.
pub fn concordance(one: &[f64], other: &[f64]) -> Option<Concordance> {
    let count = one.len().min(other.len());
    let sane = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if count < 2 || one.len() != other.len() || !sane(one) || !sane(other) {
        return None;
    }
    let (mut same, mut opposite, mut tied) = (0, 0, 0);
    let (mut differ_one, mut differ_other) = (0usize, 0usize);
    for (a, b) in pairs(count) {
        let (x, y) = (one[a].total_cmp(&one[b]), other[a].total_cmp(&other[b]));
        differ_one += usize::from(x.is_ne());
        differ_other += usize::from(y.is_ne());
        match (x.is_eq() || y.is_eq(), x == y) {
            (true, _) => tied += 1,
            (false, true) => same += 1,
            (false, false) => opposite += 1,
        }
    }
    if differ_one == 0 || differ_other == 0 {
        return None;
    }
    let net = same as f64 - opposite as f64;
    let tau = net / (differ_one as f64 * differ_other as f64).sqrt();
    let p_value = if count <= MOST_EXACT { p_over_orders(one, other) } else { f64::NAN };
    Some(Concordance { same, opposite, tied, tau, p_value })
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

/// Returns the number of pairs in the same order minus those in the opposite order.
fn net_pairs(one: &[f64], other: &[f64]) -> i64 {
    pairs(one.len())
        .map(|(a, b)| one[a].total_cmp(&one[b]) as i64 * other[a].total_cmp(&other[b]) as i64)
        .sum()
}

/// Returns the share of all permutations of `other` that are related to `one` at least as strongly.
fn p_over_orders(one: &[f64], other: &[f64]) -> f64 {
    let net = net_pairs(one, other).abs();
    let mut order = other.to_vec();
    let (mut orders, mut as_strong) = (0u64, 0u64);
    // Heap's algorithm visits all permutations with one swap each.
    let mut counters = vec![0; order.len()];
    let mut at = 0;
    loop {
        orders += 1;
        as_strong += u64::from(net_pairs(one, &order).abs() >= net);
        while at < order.len() && counters[at] >= at {
            counters[at] = 0;
            at += 1;
        }
        if at >= order.len() {
            return as_strong as f64 / orders as f64;
        }
        let from = if at % 2 == 0 { 0 } else { counters[at] };
        order.swap(from, at);
        counters[at] += 1;
        at = 0;
    }
}

/// A straight line fitted to points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedLine {
    /// Increase of the value per unit of x.
    pub slope: f64,
    /// Value at x = 0.
    pub intercept: f64,
    /// Coefficient of determination, 0 to 1: the share of the variance that the line explains.
    pub fit: f64,
}

/// Returns the least-squares line. `None` for fewer than three points, or if all have the same x or
/// the same value.
pub fn line(along: &[f64], values: &[f64]) -> Option<FittedLine> {
    let count = along.len() as f64;
    if along.len() < 3 || along.len() != values.len() {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (x, y) = (mean(along), mean(values));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| along.iter().zip(values).map(|(a, b)| of(a - x, b - y)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
    if !(xx > 0.0 && yy > 0.0 && (xx + yy).is_finite()) {
        return None;
    }
    let slope = xy / xx;
    Some(FittedLine { slope, intercept: y - slope * x, fit: (xy * xy / (xx * yy)).min(1.0) })
}

/// Returns the weighted geometric mean of positive values: doubling any value has the same effect,
/// whatever its size. Not a number if all weights are 0.
pub fn geometric_mean(weighted: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut weights, mut logs) = (0.0, 0.0);
    for (weight, value) in weighted {
        weights += weight;
        logs += weight * value.max(f64::MIN_POSITIVE).ln();
    }
    (logs / weights).exp()
}

/// Returns the harmonic mean of positive rates, each with its amount of work: the overall rate when
/// the work is done sequentially. Not a number without any work.
pub fn harmonic_mean(amounts: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut whole, mut time) = (0.0, 0.0);
    for (amount, rate) in amounts {
        whole += amount;
        time += amount / rate.max(f64::MIN_POSITIVE);
    }
    whole / time
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn the_order_is_that_of_scipy() {
        // scipy.stats.kendalltau 1.17, method="exact".
        let kendall =
            concordance(&[1.41, 3.69, 2.32, 0.92, 1.64, 1.8], &[3.1, 90.0, 40.0, 1.2, 2.5, 7.0]).unwrap();
        close(kendall.tau, 0.866_666_666_666_666_6);
        close(kendall.p_value, 0.016_666_666_666_666_666);
        assert_eq!((kendall.same, kendall.opposite, kendall.tied), (14, 1, 0));
        let kendall = concordance(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 3.0, 2.0, 5.0, 4.0]).unwrap();
        close(kendall.tau, 0.6);
        close(kendall.p_value, 0.233_333_333_333_333_33);
        // With ties: tau-b.
        let kendall = concordance(&[1.0, 2.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 3.0, 2.0, 5.0, 4.0, 4.0]).unwrap();
        close(kendall.tau, 0.642_857_142_857_142_9);
    }

    #[test]
    fn what_has_no_order_is_not_told() {
        assert_eq!(concordance(&[1.0], &[1.0]), None);
        assert_eq!(concordance(&[1.0, 2.0], &[3.0, 3.0]), None);
        assert_eq!(concordance(&[1.0, f64::NAN], &[3.0, 4.0]), None);
    }

    #[test]
    fn the_line_is_that_of_scipy() {
        // scipy.stats.linregress 1.17.
        let regression =
            line(&[256.0, 512.0, 1000.0, 2000.0, 4000.0], &[18.0, 34.0, 67.98, 130.0, 256.56]).unwrap();
        close(regression.slope, 0.063_641_364_752_330_72);
        close(regression.intercept, 2.434_775_720_779_015_3);
        close(regression.fit, 0.999_927_139_820_286 * 0.999_927_139_820_286);
        assert_eq!(line(&[1.0, 2.0, 3.0], &[5.0; 3]), None);
        assert_eq!(line(&[1.0, 2.0], &[5.0, 6.0]), None);
    }

    #[test]
    fn twice_as_much_counts_the_same_wherever_it_stands() {
        close(geometric_mean([(1.0, 2.0), (1.0, 8.0)]), 4.0);
        close(
            geometric_mean([(3.0, 20.0), (1.0, 8.0)]) / geometric_mean([(3.0, 10.0), (1.0, 8.0)]),
            2f64.powf(0.75),
        );
    }

    #[test]
    fn what_is_slow_takes_its_time_however_fast_the_rest_is() {
        // scipy.stats.hmean 1.17 of 40, 60 and 20, weights 1, 2 and 3.
        close(harmonic_mean([(1.0, 40.0), (2.0, 60.0), (3.0, 20.0)]), 28.8);
        close(harmonic_mean([(1.0, 1.0), (1.0, 1e12)]), 2.0);
    }

    proptest! {
        #[test]
        fn an_order_turned_round_is_the_opposite_one(
            values in prop::collection::vec((0u8..20, 0u8..20), 2..8),
        ) {
            let one: Vec<f64> = values.iter().map(|(a, _)| f64::from(*a)).collect();
            let other: Vec<f64> = values.iter().map(|(_, b)| f64::from(*b)).collect();
            let turned: Vec<f64> = other.iter().map(|value| -value).collect();
            if let Some(forward) = concordance(&one, &other) {
                let back = concordance(&one, &turned).unwrap();
                prop_assert_eq!((forward.same, forward.opposite), (back.opposite, back.same));
                prop_assert!((forward.tau + back.tau).abs() < 1e-12 && forward.tau.abs() <= 1.0 + 1e-12);
                prop_assert!((0.0..=1.0).contains(&forward.p_value) && forward.p_value == back.p_value);
            }
        }
    }
}
