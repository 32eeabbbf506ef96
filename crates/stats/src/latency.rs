//! Percentiles of stored latencies.

use crate::histogram::bucket_width_ns;
use kurabe_core::record::LatencyRecord;

/// Returns the latencies added to a histogram since an earlier record of it. Minimum and maximum
/// are those of the buckets, because the record has them only for the whole histogram.
pub fn since(before: &LatencyRecord, now: &LatencyRecord) -> LatencyRecord {
    let mut earlier = before.buckets.iter().copied().peekable();
    let mut buckets = Vec::new();
    for &(lowest_ns, count) in &now.buckets {
        while earlier.next_if(|(other_ns, _)| *other_ns < lowest_ns).is_some() {}
        let of_earlier =
            earlier.next_if(|(other_ns, _)| *other_ns == lowest_ns).map_or(0, |(_, count)| count);
        if count > of_earlier {
            buckets.push((lowest_ns, count - of_earlier));
        }
    }
    let end_ns = |lowest_ns: u64| lowest_ns.saturating_add(bucket_width_ns(lowest_ns) - 1);
    LatencyRecord {
        count: buckets.iter().map(|(_, count)| count).sum(),
        min_ns: buckets.first().map_or(0, |(lowest_ns, _)| (*lowest_ns).max(now.min_ns)),
        max_ns: buckets.last().map_or(0, |(lowest_ns, _)| end_ns(*lowest_ns).min(now.max_ns)),
        sum_ns: now.sum_ns.saturating_sub(before.sum_ns),
        buckets,
    }
}

/// Returns the latency within which the given share of operations completed: the middle of the
/// bucket that holds the operation of that rank (nearest-rank definition), limited to the range
/// between minimum and maximum. `None` if there were no operations.
pub fn percentile_ns(latency: &LatencyRecord, fraction: f64) -> Option<u64> {
    let total = latency.buckets.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let rank = ((fraction.clamp(0.0, 1.0) * total as f64).ceil() as u64).clamp(1, total.max(1));
    if fraction >= 1.0 && total > 0 {
        return Some(latency.max_ns);
    }
    let mut seen = 0u64;
    for (lowest_ns, count) in &latency.buckets {
        seen = seen.saturating_add(*count);
        if seen >= rank {
            return Some(middle_ns(latency, *lowest_ns));
        }
    }
    None
}

/// Returns the number of operations slower than `limit_ns`, by the bucket times that
/// [`percentile_ns`] uses.
pub fn operations_over(latency: &LatencyRecord, limit_ns: u64) -> u64 {
    let over = latency.buckets.iter().filter(|(lowest_ns, _)| middle_ns(latency, *lowest_ns) > limit_ns);
    over.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

/// Returns the time that represents the operations of a bucket.
fn middle_ns(latency: &LatencyRecord, lowest_ns: u64) -> u64 {
    let middle = lowest_ns.saturating_add(bucket_width_ns(lowest_ns) / 2);
    middle.min(latency.max_ns).max(latency.min_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;
    use proptest::prelude::*;

    fn record_of(values: &[u64]) -> LatencyRecord {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram.to_record()
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(percentile_ns(&LatencyRecord::default(), 0.5), None);
    }

    proptest! {
        #[test]
        fn a_percentile_is_within_one_percent_and_inside_the_extremes(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..200),
            fraction in 0.0f64..=1.0,
        ) {
            let record = record_of(&values);
            values.sort_unstable();
            let rank = ((fraction * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let percentile = percentile_ns(&record, fraction).unwrap();
            prop_assert!((percentile as f64 - exact).abs() <= 0.01 * exact, "{percentile} for {exact}");
            prop_assert!(percentile >= values[0] && percentile <= *values.last().unwrap());
        }

        #[test]
        fn records_of_any_numbers_do_no_harm(
            buckets in prop::collection::vec((any::<u64>(), any::<u64>()), 0..5),
            max_ns: u64,
            fraction in -1.0f64..2.0,
        ) {
            let record = LatencyRecord { count: 1, max_ns, buckets, ..LatencyRecord::default() };
            let _ = percentile_ns(&LatencyRecord::together([&record, &record]), fraction);
        }

        #[test]
        fn merging_is_counting_together(
            left in prop::collection::vec(0u64..1_000_000, 0..50),
            right in prop::collection::vec(0u64..1_000_000, 0..50),
        ) {
            let merged = LatencyRecord::together([&record_of(&left), &record_of(&right)]);
            prop_assert_eq!(merged, record_of(&[left, right].concat()));
        }
    }
}
