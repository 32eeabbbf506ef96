//! Deviation of the times of individual rows of pages from their mean: process variation, which is
//! constant for a row.
//!
//! The model: a row's factor is drawn from its number and the seed alone. So the same row takes the
//! same time whenever it is accessed, in any order, and a longer request never takes less time than
//! a shorter one.

use super::config::Values;
use kurabe_core::random::split_mix;

/// Separate draws for each purpose.
const READ: u64 = 1;
const PROGRAM: u64 = 2;

/// Spreads of times by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    pub(super) seed: u64,
    /// Standard deviations, as shares of the mean.
    pub(super) read: f64,
    pub(super) program: f64,
}

impl Scatter {
    pub(super) fn new(seed: u64, values: &Values) -> Self {
        Self { seed, read: values.read_spread, program: values.program_spread }
    }

    #[inline]
    pub(super) fn read_ns(&self, row: u32, mean_ns: u64) -> u64 {
        if self.read == 0.0 { mean_ns } else { self.drawn_ns(row, READ, self.read, mean_ns) }
    }

    #[inline]
    pub(super) fn program_ns(&self, row: u32, mean_ns: u64) -> u64 {
        if self.program == 0.0 { mean_ns } else { self.drawn_ns(row, PROGRAM, self.program, mean_ns) }
    }

    /// Draws a time from the sum of four uniform draws, which is nearly normal, has the exact mean,
    /// and ends at 3.46 deviations.
    fn drawn_ns(&self, row: u32, purpose: u64, spread: f64, mean_ns: u64) -> u64 {
        let mut state = self.seed ^ (u64::from(row) << 2 | purpose);
        let bits = split_mix(&mut state);
        let sum: u64 = (0..4).map(|draw| bits >> (16 * draw) & 0xffff).sum();
        let deviations = (sum as f64 - 2.0 * 65_535.0) / 65_536.0 * 3f64.sqrt();
        (mean_ns as f64 * (1.0 + spread * deviations)) as u64
    }
}
