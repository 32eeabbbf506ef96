//! Detection of the steady state: the test of the SNIA Solid State Storage Performance Test
//! Specification, with both of its criteria.
//!
//! Source: SNIA SSS PTS 2.0.2 (2020): "max data excursion" 20 % and "max slope excursion" 10 % of
//! the average over a window of five rounds.

use crate::profile::{Rounds, Tracked};
use crate::record::{LatencyRecord, Repetition};
use crate::workload::Direction;

/// The last rounds of a tracked figure, compared with the criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyWindow {
    /// Arithmetic mean over the window.
    pub average: f64,
    /// Maximum minus minimum, in percent of the average.
    pub excursion_percent: f64,
    /// Rise or fall of the least-squares line from the first to the last round of the window, in
    /// percent of the average.
    pub slope_percent: f64,
    /// Whether both are within their limits.
    pub steady: bool,
}

impl Rounds {
    /// Tests the last `window` values, oldest first. Returns `None` if there are too few values or
    /// their average is zero.
    pub fn over(&self, values: &[f64]) -> Option<SteadyWindow> {
        let window = values.len().checked_sub(self.window as usize).map(|first| &values[first..])?;
        let count = window.len() as f64;
        let average = window.iter().sum::<f64>() / count;
        if !(average.is_finite() && average > 0.0) {
            return None;
        }
        let highest = window.iter().copied().fold(f64::MIN, f64::max);
        let lowest = window.iter().copied().fold(f64::MAX, f64::min);
        let middle = (count - 1.0) / 2.0;
        let (mut covariance, mut variance) = (0.0, 0.0);
        for (round, value) in window.iter().enumerate() {
            let at = round as f64 - middle;
            covariance += at * (value - average);
            variance += at * at;
        }
        let rise = covariance / variance * (count - 1.0);
        let (excursion_percent, slope_percent) =
            ((highest - lowest) / average * 100.0, rise.abs() / average * 100.0);
        let steady = excursion_percent <= self.excursion_percent && slope_percent <= self.slope_percent;
        Some(SteadyWindow { average, excursion_percent, slope_percent, steady })
    }

    /// Returns the tracked figure of a repetition, if it has one.
    pub fn tracked_value(&self, repetition: &Repetition, direction: Direction) -> Option<f64> {
        match self.tracked {
            Tracked::Iops => Some(repetition.rate_iops(direction)),
            Tracked::Rate => Some(repetition.rate_bytes_per_s(direction)),
            Tracked::Latency => {
                let (read, write) = (&repetition.read.latency, &repetition.write.latency);
                match direction {
                    Direction::Read => read.mean_ns(),
                    Direction::Write => write.mean_ns(),
                    Direction::Mix => LatencyRecord::together([read, write]).mean_ns(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds() -> Rounds {
        Rounds {
            most: 25,
            window: 5,
            excursion_percent: 20.0,
            slope_percent: 10.0,
            tracked_cells: Vec::new(),
            tracked: Tracked::Iops,
        }
    }

    #[test]
    fn both_criteria_must_hold() {
        // Falls by 12 % over the window. The excursion of 12 % alone would pass.
        let falling = rounds().over(&[106.0, 103.0, 100.0, 97.0, 94.0]).unwrap();
        assert!((falling.slope_percent - 12.0).abs() < 1e-9 && !falling.steady, "{falling:?}");
        // Jumps, but has no trend. The slope alone would pass.
        let jumping = rounds().over(&[88.0, 112.0, 100.0, 112.0, 88.0]).unwrap();
        assert!(jumping.slope_percent < 1e-9 && jumping.excursion_percent > 20.0 && !jumping.steady);
        assert!(rounds().over(&[105.0, 95.0, 100.0, 105.0, 95.0]).unwrap().steady);
    }

    #[test]
    fn the_line_is_that_of_numpy() {
        // numpy.polyfit(range(5), [110, 90, 105, 98, 102], 1)[0] * 4 / mean * 100 = -3.16831683168317
        let window = rounds().over(&[1.0, 110.0, 90.0, 105.0, 98.0, 102.0]).unwrap();
        assert!((window.slope_percent - 3.168_316_831_683_17).abs() < 1e-9, "{window:?}");
        assert!((window.average - 101.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_rounds_or_zeros_tell_nothing() {
        assert_eq!(rounds().over(&[1.0; 4]), None);
        assert_eq!(rounds().over(&[0.0; 5]), None);
    }
}
