//! The statistics that the benches print.

/// Returns the median of the finite values; NaN without any.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

/// Returns the smallest value that is not below this share of the values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Returns the range from the smallest to the largest value, relative to the median.
pub fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NAN, f64::max);
    let smallest = values.iter().copied().fold(f64::NAN, f64::min);
    (largest - smallest) / median(values)
}

/// Returns the median of the ratios of each round; rounds that only one side has do not count.
pub fn paired_ratio(these: &[f64], those: &[f64]) -> f64 {
    median(&these.iter().zip(those).map(|(this, that)| this / that).collect::<Vec<_>>())
}

/// Returns the distance of a ratio from one, in either direction: 0.04 for 1.04 and for 1 / 1.04.
pub fn distance(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_ratio_is_taken_within_each_round() {
        // The machine is three times slower in the second round; the ratio is not affected.
        assert_eq!(paired_ratio(&[100.0, 33.0, 110.0], &[50.0, 16.5, 55.0]), 2.0);
        assert!(paired_ratio(&[1.0], &[]).is_nan());
    }

    #[test]
    fn distance_is_the_same_both_ways() {
        assert!((distance(1.04) - 0.04).abs() < 1e-12);
        assert!((distance(1.0 / 1.04) - 0.04).abs() < 1e-12);
        assert_eq!(spread(&[90.0, 100.0, 110.0]), 0.2);
    }

    #[test]
    fn so_many_are_not_above_a_percentile() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 0.95), 19.0);
        assert_eq!(percentile(&values[..1], 0.95), 20.0);
        assert!(percentile(&[], 0.95).is_nan());
    }
}
