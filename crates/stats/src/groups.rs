//! Detection of values in two groups, which a mean describes badly.
//!
//! The model: a device that alternates between two states (a cache that is full or not, a turbo
//! that comes and goes) has values in two clusters with a gap between them. They are two groups if
//! the widest gap between neighbours is wider than both groups together, on a scale of ratios, and
//! each group holds at least a fifth of the values: a few outliers are not a state. None of 10 000
//! sets of 20 to 100 values from a normal, an exponential and a uniform distribution is reported as
//! two groups (the test below).

use crate::mean;
use serde::Serialize;

/// Fewest values in which groups are detected.
const FEWEST: usize = 20;
/// Smallest share of the values that forms a group.
const LEAST_SHARE: f64 = 0.2;
/// Smallest ratio between groups that matters.
const LEAST_RATIO: f64 = 1.1;

/// Two groups of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoGroups {
    /// Number of values in the lower group.
    pub low_count: usize,
    /// Mean of the lower group.
    pub low_mean: f64,
    /// Number of values in the higher group.
    pub high_count: usize,
    /// Mean of the higher group.
    pub high_mean: f64,
}

/// Divides values into two groups; `None` if they are one group, too few, or not all positive.
pub fn two_groups(values: &[f64]) -> Option<TwoGroups> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_usable = sorted.len() >= FEWEST && *sorted.first()? > 0.0 && sorted.last()?.is_finite();
    let least = (LEAST_SHARE * sorted.len() as f64).ceil() as usize;
    let splits = least..=sorted.len().checked_sub(least).filter(|_| is_usable)?;
    let gap = |split: &usize| sorted[*split] / sorted[split - 1];
    let split = splits.max_by(|one, two| gap(one).total_cmp(&gap(two)))?;
    let (low, high) = sorted.split_at(split);
    let width = |group: &[f64]| group[group.len() - 1] / group[0];
    (gap(&split) > (width(low) * width(high)).max(LEAST_RATIO)).then(|| TwoGroups {
        low_count: low.len(),
        low_mean: mean(low),
        high_count: high.len(),
        high_mean: mean(high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::random::Random;

    #[test]
    fn two_heaps_are_two_groups() {
        let values: Vec<f64> =
            (0..20).map(|at| f64::from(if at % 4 == 0 { 60 + at } else { 150 + at })).collect();
        let groups = two_groups(&values).unwrap();
        assert_eq!((groups.low_count, groups.high_count), (5, 15));
        assert!(
            (groups.low_mean - 68.0).abs() < 1e-9 && (groups.high_mean - 160.0).abs() < 1.0,
            "{groups:?}"
        );
        // Too few values, and a single outlier.
        assert_eq!(two_groups(&values[..19]), None);
        assert_eq!(two_groups(&[vec![10.0], vec![100.0; 19]].concat()), None);
        assert_eq!(two_groups(&[100.0; 20]), None);
        assert_eq!(two_groups(&[vec![0.0; 5], vec![100.0; 10]].concat()), None);
    }

    #[test]
    fn one_heap_of_any_shape_is_one() {
        let normal = |random: &mut Random| {
            (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
        };
        let shapes: [&dyn Fn(&mut Random) -> f64; 3] =
            [&|random| (0.2 * normal(random)).exp(), &|random| 1.0 - (1.0 - random.unit()).ln(), &|random| {
                1.0 + random.unit()
            }];
        for trial in 0..10_000 {
            let mut random = Random::new(11, trial);
            let count = 20 + random.below(81);
            let shape = shapes[trial as usize % 3];
            let values: Vec<f64> = (0..count).map(|_| shape(&mut random)).collect();
            assert_eq!(two_groups(&values), None, "{trial}: {values:?}");
        }
    }
}
