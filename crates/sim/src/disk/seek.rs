//! How long the arm takes from one cylinder to another.
//!
//! The model: either the curve through three times that data sheets print, single cylinder, average over random moves and
//! full stroke, as E. K. Lee and R. H. Katz gave it ("An analytic performance model of disk arrays", 1993; the three-point
//! curve of the DiskSim manual): `c + a * sqrt(d - 1) + b * (d - 1)` for a move over d cylinders; or a table of measured
//! times with straight lines between.

use crate::schema::HOUR_NS;

/// The seek curve.
#[derive(Clone, Debug)]
pub(super) enum Seek {
    /// Constant, root and linear part in nanoseconds.
    Curve { constant: f64, root: f64, linear: f64 },
    /// Cylinders, rising, and nanoseconds; measured times need not rise.
    Table(Vec<(u64, u64)>),
}

impl Seek {
    /// The curve through three times; none if it would fall anywhere.
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
        // The slope is steepest at one end and flattest at the other, whatever the signs.
        let slope = |distance: f64| root / (2.0 * distance.sqrt()) + linear;
        let rises = slope(1.0) >= -1e-6 && slope(longest) >= -1e-6;
        rises.then_some(Self::Curve { constant: single, root, linear })
    }

    /// A table; none if it is empty or its cylinders do not rise.
    pub(super) fn table(rows: &[Vec<f64>]) -> Option<Self> {
        let points: Vec<(u64, u64)> = rows
            .iter()
            .map(|row| (row[0].round() as u64, ((row[1] * 1e6).round() as u64).min(HOUR_NS)))
            .collect();
        let rises = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (rises && points.first().is_some_and(|(cylinders, _)| *cylinders > 0)).then_some(Self::Table(points))
    }

    /// The time of a move.
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
            Self::Table(points) => {
                let above = points.partition_point(|(distance, _)| *distance < cylinders);
                match (above.checked_sub(1).map(|index| points[index]), points.get(above).copied()) {
                    (None, Some((_, ns))) | (Some((_, ns)), None) => ns,
                    (Some((low, low_ns)), Some((high, high_ns))) => {
                        // Weighted by how near the two are, in whole numbers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_curve_meets_its_three_times() {
        let seek = Seek::three_points(1_000_000, 8_500_000, 16_000_000, 10_000).unwrap();
        assert_eq!((seek.ns(0), seek.ns(1), seek.ns(9_999) / 10_000), (0, 1_000_000, 1_600));
        // Moves between two random cylinders: distance d has weight n - d.
        let (mut sum, mut weight) = (0.0, 0.0);
        for distance in 1..10_000u64 {
            let ways = (10_000 - distance) as f64;
            sum += ways * seek.ns(distance) as f64;
            weight += ways;
        }
        assert!((sum / weight / 8_500_000.0 - 1.0).abs() < 0.01, "{}", sum / weight);
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
            if let Some(seek) = Seek::three_points(single, average, full, 100_000) {
                prop_assert!(seek.ns(near) <= seek.ns(near + more) + 1);
            }
        }
    }
}
