//! Values that come in two groups, of which a mean tells neither.
//!
//! The model: a device that is now in one state and now in another (a cache that is full or not, a turbo that comes and goes)
//! has figures in two heaps with nothing between. They are two groups if the widest gap between neighbours is wider than both
//! groups together, on a scale of ratios, and each holds a fifth of the values: single wild values are no state. Of 10 000 sets of 20 to
//! 100 values from a normal, an exponential and an even distribution, none is told to be two groups (the test below).

use crate::mean;
use serde::Serialize;

/// Fewer values show no groups.
const FEWEST: usize = 20;
/// The least share of the values that is a group.
const LEAST_SHARE: f64 = 0.2;
/// Groups nearer to each other than this ratio do not matter.
const LEAST_RATIO: f64 = 1.1;

/// Two groups of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoGroups {
    /// Values in the lower group.
    pub low_count: usize,
    /// Their mean.
    pub low_mean: f64,
    /// Values in the higher group.
    pub high_count: usize,
    /// Their mean.
    pub high_mean: f64,
}

/// The groups in which values come; `None` if they are one, too few, or not all positive.
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
        // Too few, and a single one that is wild.
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
