//! The latency histogram of the hot path.
//!
//! The model: log-linear. Values below 256 ns have a bucket each; above, every power of two is cut into 128
//! buckets of equal width, so a bucket is never wider than 1/128 of its lowest value and its middle is within
//! 0.4 % of everything in it. A fixed array, no allocation after the start, one increment per operation.
//!
//! ```text
//! 0 … 255 | 256 258 … 510 | 512 516 … 1020 | 1024 1032 …        lowest values of buckets, in ns
//!   1 ns  |      2 ns     |      4 ns      |     8 ns           width
//! ```

use kurabe_core::record::LatencyRecord;

/// log2 of the number of buckets per power of two.
const SUB_BITS: u32 = 7;
/// Buckets per power of two.
const SUB_COUNT: u64 = 1 << SUB_BITS;
/// log2 of the first value out of range; 2^42 ns are 73 minutes. Larger values count in the last
/// bucket; the maximum stays exact.
const RANGE_BITS: u32 = 42;
const BUCKET_COUNT: usize = bucket_index((1 << RANGE_BITS) - 1) + 1;

/// Returns the bucket of a value.
#[inline]
const fn bucket_index(value_ns: u64) -> usize {
    if value_ns < 2 * SUB_COUNT {
        return value_ns as usize;
    }
    let shift = value_ns.ilog2() - SUB_BITS;
    (shift as usize) * SUB_COUNT as usize + (value_ns >> shift) as usize
}

/// Returns the lowest value of a bucket.
const fn bucket_lowest_ns(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * SUB_COUNT {
        return index;
    }
    let shift = index / SUB_COUNT - 1;
    (index - shift * SUB_COUNT) << shift
}

/// Returns the width in ns of the bucket that begins at `lowest_ns`.
pub fn bucket_width_ns(lowest_ns: u64) -> u64 {
    if lowest_ns < 2 * SUB_COUNT { 1 } else { 1 << (lowest_ns.ilog2() - SUB_BITS) }
}

/// A latency histogram with exact minimum, maximum and sum.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64; BUCKET_COUNT]>,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKET_COUNT].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!()),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Histogram {
    /// Counts an operation with this latency in ns.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        let index = bucket_index(value_ns).min(BUCKET_COUNT - 1);
        self.counts[index] += 1;
        self.sum_ns = self.sum_ns.saturating_add(value_ns);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            *mine += theirs;
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the number of latencies counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the lowest value of the bucket that contains the median; `None` if the histogram is
    /// empty.
    pub fn median_bucket_ns(&self) -> Option<u64> {
        let half = self.count().div_ceil(2);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= half && seen > 0 {
                return Some(bucket_lowest_ns(index));
            }
        }
        None
    }

    /// Resets all counts to zero.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.sum_ns, self.min_ns, self.max_ns) = (0, u64::MAX, 0);
    }

    /// Returns the sparse form that is stored in a record.
    pub fn to_record(&self) -> LatencyRecord {
        let count = self.count();
        LatencyRecord {
            count,
            min_ns: if count == 0 { 0 } else { self.min_ns },
            max_ns: self.max_ns,
            sum_ns: self.sum_ns,
            buckets: self
                .counts
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(|(index, count)| (bucket_lowest_ns(index), *count))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        let mut next = 0;
        for index in 0..BUCKET_COUNT {
            let lowest = bucket_lowest_ns(index);
            assert_eq!(lowest, next, "bucket {index}");
            assert_eq!(bucket_index(lowest), index);
            next = lowest + bucket_width_ns(lowest);
            assert_eq!(bucket_index(next - 1), index);
        }
        assert_eq!(next, 1 << RANGE_BITS);
    }

    proptest! {
        #[test]
        fn a_bucket_is_narrower_than_one_percent(value in 1u64..1 << RANGE_BITS) {
            let lowest = bucket_lowest_ns(bucket_index(value));
            prop_assert!(lowest <= value);
            prop_assert!(value - lowest < bucket_width_ns(lowest));
            prop_assert!(bucket_width_ns(lowest) == 1 || bucket_width_ns(lowest) as f64 / lowest as f64 <= 0.01);
        }

        #[test]
        fn adding_two_histograms_is_counting_both(
            left in prop::collection::vec(any::<u64>(), 0..50),
            right in prop::collection::vec(0u64..100_000_000, 0..50),
        ) {
            let fill = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|value| histogram.record(*value));
                histogram
            };
            let mut sum = fill(&left);
            sum.add(&fill(&right));
            prop_assert_eq!(sum.to_record(), fill(&[left, right].concat()).to_record());
        }
    }
}
