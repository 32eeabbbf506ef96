//! Seek times between cylinders.
//!
//! The model: a curve through the three times that data sheets print (single cylinder, average over
//! random seeks, and full stroke), or a table of measured times with linear interpolation. There
//! are two curves for a seek over d cylinders:
//!
//! - root and line: `c + a * sqrt(d - 1) + b * (d - 1)`, as E. K. Lee and R. H. Katz gave it ("An analytic
//!   performance model of disk arrays", 1993; the three-point curve of the DiskSim manual);
//! - coasting: an arm that accelerates for half of the way and brakes for the other half takes
//!   `c + a * sqrt(d - 1)`. One that has reached its top speed continues at that speed, so the
//!   curve is straight from there, with the slope it has at that point (C. Ruemmler and J. Wilkes,
//!   "An introduction to disk drive modeling", 1994, whose two pieces have five constants; a join
//!   without a step or a bend leaves three). The average determines where that is.

use crate::schema::HOUR_NS;

#[derive(Clone, Debug)]
pub(super) enum Seek {
    /// Constant, square-root and linear part in nanoseconds.
    Curve { constant: f64, root: f64, linear: f64 },
    /// Constant and square-root part in nanoseconds, and the number of cylinders beyond which it is
    /// straight.
    Coasting { constant: f64, root: f64, straight_from: f64 },
    /// Distances in cylinders, ascending, and times in nanoseconds; measured times need not ascend.
    Table(Vec<(u64, u64)>),
}

impl Seek {
    /// Returns the curve through three times; `None` if it would fall anywhere.
    pub(super) fn three_points(
        single_ns: u64,
        average_ns: u64,
        full_ns: u64,
        cylinders: u64,
    ) -> Option<Self> {
        let (single, average, full) = (single_ns as f64, average_ns as f64, full_ns as f64);
        let longest = cylinders.saturating_sub(2).max(1) as f64;
        let root = (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * longest.sqrt());
        let linear = (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * longest);
        // The slope has its extremes at the ends, whatever the signs.
        let slope = |distance: f64| root / (2.0 * distance.sqrt()) + linear;
        let rises = slope(1.0) >= -1e-6 && slope(longest) >= -1e-6;
        rises.then_some(Self::Curve { constant: single, root, linear })
    }

    /// Returns the coasting curve through three times; `None` if the average is not possible. The
    /// average is a third of the way from the shortest to the longest time if the curve is straight
    /// from the start, and 8/15 if it is nowhere straight.
    pub(super) fn coasting(single_ns: u64, average_ns: u64, full_ns: u64, cylinders: u64) -> Option<Self> {
        let (single, rise) = (single_ns as f64, full_ns as f64 - single_ns as f64);
        let longest = cylinders.saturating_sub(2).max(1) as f64;
        if rise <= 0.0 {
            return None;
        }
        let share = (average_ns as f64 - single) / rise;
        if !(coasting_share(0.0)..=coasting_share(1.0)).contains(&share) {
            return None;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if coasting_share(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        // At least one cylinder: the square root is vertical at 0.
        let straight_from = (high * longest).max(1.0);
        let root = rise / (straight_from.sqrt() + (longest - straight_from) / (2.0 * straight_from.sqrt()));
        Some(Self::Coasting { constant: single, root, straight_from })
    }

    /// Returns a table; `None` if it is empty or its distances do not ascend.
    pub(super) fn table(rows: &[Vec<f64>]) -> Option<Self> {
        let points: Vec<(u64, u64)> = rows
            .iter()
            .map(|row| (row[0].round() as u64, ((row[1] * 1e6).round() as u64).min(HOUR_NS)))
            .collect();
        let rises = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (rises && points.first().is_some_and(|(cylinders, _)| *cylinders > 0)).then_some(Self::Table(points))
    }

    /// Returns the time of a seek over this many cylinders.
    #[inline]
    pub(super) fn ns(&self, cylinders: u64) -> u64 {
        if cylinders == 0 {
            return 0;
        }
        match self {
            Self::Curve { constant, root, linear } => {
                let beyond = (cylinders - 1) as f64;
                (constant + root * beyond.sqrt() + linear * beyond).round() as u64
            }
            Self::Coasting { constant, root, straight_from } => {
                let beyond = (cylinders - 1) as f64;
                let coasts = (beyond - straight_from).max(0.0) / (2.0 * straight_from.sqrt());
                (constant + root * (beyond.min(*straight_from).sqrt() + coasts)).round() as u64
            }
            Self::Table(points) => {
                let above = points.partition_point(|(distance, _)| *distance < cylinders);
                match (above.checked_sub(1).map(|index| points[index]), points.get(above).copied()) {
                    (None, Some((_, ns))) | (Some((_, ns)), None) => ns,
                    (Some((low, low_ns)), Some((high, high_ns))) => {
                        // Linear interpolation in integers.
                        let (before, after) = (u128::from(cylinders - low), u128::from(high - cylinders));
                        let sum = u128::from(low_ns) * after + u128::from(high_ns) * before;
                        (sum / (before + after)) as u64
                    }
                    (None, None) => 0,
                }
            }
        }
    }
}

/// Returns how far the average over random seeks is on the way from the shortest to the longest
/// time, if the curve is straight from this share of the longest seek on. The probability of a seek
/// over a share x is proportional to 1 - x.
fn coasting_share(straight_from: f64) -> f64 {
    if straight_from <= 0.0 {
        return 1.0 / 3.0;
    }
    let (k, root) = (straight_from, straight_from.sqrt());
    let before = root * k * (4.0 / 3.0 - 4.0 / 5.0 * k);
    let after = ((1.0 - k) * (1.0 - k * k) / 2.0 + k * (1.0 - k) - (1.0 - k * k * k) / 3.0) / root;
    (before + after) * 2.0 * root / (1.0 + k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_curve_meets_its_three_times() {
        let seek = Seek::three_points(1_000_000, 8_500_000, 16_000_000, 10_000).unwrap();
        assert_eq!((seek.ns(0), seek.ns(1), seek.ns(9_999) / 10_000), (0, 1_000_000, 1_600));
        // Seeks between two random cylinders: distance d has weight n - d.
        let (mut sum, mut weight) = (0.0, 0.0);
        for distance in 1..10_000u64 {
            let ways = (10_000 - distance) as f64;
            sum += ways * seek.ns(distance) as f64;
            weight += ways;
        }
        assert!((sum / weight / 8_500_000.0 - 1.0).abs() < 0.01, "{}", sum / weight);
    }

    #[test]
    fn a_coasting_curve_meets_its_three_times_and_has_no_bend() {
        for average in [6_100_000, 7_000_000, 8_200_000, 8_900_000] {
            let seek = Seek::coasting(1_000_000, average, 16_000_000, 10_000).unwrap();
            assert_eq!((seek.ns(0), seek.ns(1), seek.ns(9_999).div_ceil(10_000)), (0, 1_000_000, 1_600));
            let (mut sum, mut weight) = (0.0, 0.0);
            let mut steps = Vec::new();
            for distance in 1..10_000u64 {
                let ways = (10_000 - distance) as f64;
                sum += ways * seek.ns(distance) as f64;
                weight += ways;
                steps.push(seek.ns(distance + 1) - seek.ns(distance));
            }
            assert!((sum / weight / average as f64 - 1.0).abs() < 0.01, "{average}: {}", sum / weight);
            // No step is longer than the previous one, except for rounding.
            assert!(steps.windows(2).all(|pair| pair[1] <= pair[0] + 2), "{average}");
        }
        // Straighter than a line, rounder than a square root, and constant.
        assert!(Seek::coasting(1_000_000, 5_900_000, 16_000_000, 10_000).is_none());
        assert!(Seek::coasting(1_000_000, 9_100_000, 16_000_000, 10_000).is_none());
        assert!(Seek::coasting(1_000_000, 1_000_000, 1_000_000, 10_000).is_none());
    }

    #[test]
    fn a_table_is_joined_by_straight_lines() {
        let seek = Seek::table(&[vec![1.0, 1.0], vec![11.0, 2.0], vec![100.0, 5.0]]).unwrap();
        assert_eq!(
            [0, 1, 6, 11, 100, 500].map(|cylinders| seek.ns(cylinders)),
            [0, 1_000_000, 1_500_000, 2_000_000, 5_000_000, 5_000_000]
        );
        assert!(Seek::table(&[vec![2.0, 3.0], vec![1.0, 4.0]]).is_none() && Seek::table(&[]).is_none());
    }

    proptest! {
        #[test]
        fn farther_is_never_faster(
            single in 0u64..5_000_000, average in 0u64..20_000_000, full in 0u64..40_000_000, near in 0u64..50_000,
            more in 0u64..50_000,
        ) {
            let curves = [Seek::three_points, Seek::coasting];
            for seek in curves.iter().filter_map(|curve| curve(single, average, full, 100_000)) {
                prop_assert!(seek.ns(near) <= seek.ns(near + more) + 1);
            }
        }
    }
}
