//! Distance between a distribution of latencies and a measured one.
//!
//! Source: C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer
//! 27(3), 1994: the root mean square of the horizontal distance between the two cumulative
//! distribution curves, as a share of the mean of the measured latencies. DiskSim's validation
//! reports the same figure.

use crate::latency::percentile_ns;
use kurabe_core::{record::LatencyRecord, workload::Direction};

/// Number of points along the curves at which the distance is taken.
const PLACES: u32 = 10_000;

/// Latencies measured while a trace was recorded, of all its operations or of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredLatencies {
    /// The direction; `None` for reads and writes together.
    pub direction: Option<Direction>,
    /// The measured latencies.
    pub latency: LatencyRecord,
}

/// The distance between two distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demerit {
    /// Root mean square of the horizontal distance, in ns.
    pub rms_ns: f64,
    /// Mean of the measured latencies, in ns.
    pub measured_mean_ns: f64,
    /// Mean of the other latencies, in ns.
    pub other_mean_ns: f64,
}

impl Demerit {
    /// Returns the distance as a share of the measured mean.
    pub fn share(&self) -> f64 {
        self.rms_ns / self.measured_mean_ns
    }
}

/// Returns the distance of `other` from `measured`; `None` if either has no operations, or the
/// measured mean is 0. Both are accurate to half a bucket, 0.4 % of each latency.
pub fn demerit(measured: &LatencyRecord, other: &LatencyRecord) -> Option<Demerit> {
    let (measured_mean_ns, other_mean_ns) = (measured.mean_ns()?, other.mean_ns()?);
    let distance_ns = |rank: u32| {
        let share = (f64::from(rank) + 0.5) / f64::from(PLACES);
        Some(percentile_ns(measured, share)? as f64 - percentile_ns(other, share)? as f64)
    };
    let squares: Option<f64> = (0..PLACES).map(|rank| distance_ns(rank).map(|ns| ns * ns)).sum();
    let rms_ns = (squares? / f64::from(PLACES)).sqrt();
    (measured_mean_ns > 0.0).then_some(Demerit { rms_ns, measured_mean_ns, other_mean_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    fn record_of(values: impl IntoIterator<Item = u64>) -> LatencyRecord {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram.to_record()
    }

    #[test]
    fn a_distribution_is_at_no_distance_from_itself_in_any_order() {
        let record = record_of((1..1000).map(|number| number * number));
        assert_eq!(
            demerit(&record, &record_of((1..1000).rev().map(|number| number * number))).unwrap().rms_ns,
            0.0
        );
    }

    #[test]
    fn a_shift_is_its_own_distance() {
        // Below 256 ns every value has its own bucket, so nothing is rounded.
        let apart = demerit(&record_of(100..200), &record_of(105..205)).unwrap();
        assert_eq!((apart.rms_ns, apart.measured_mean_ns, apart.other_mean_ns), (5.0, 149.5, 154.5));
        assert!((apart.share() - 5.0 / 149.5).abs() < 1e-12);
    }

    #[test]
    fn half_of_all_moved_by_eight_is_a_root_mean_square() {
        let apart = demerit(&record_of([100, 200]), &record_of([100, 208])).unwrap();
        assert!((apart.rms_ns - 32.0_f64.sqrt()).abs() < 1e-9, "{apart:?}");
    }

    #[test]
    fn nothing_has_no_distance() {
        assert_eq!(demerit(&LatencyRecord::default(), &record_of([1])), None);
        assert_eq!(demerit(&record_of([1]), &LatencyRecord::default()), None);
        assert_eq!(demerit(&record_of([0]), &record_of([1])), None);
    }
}
