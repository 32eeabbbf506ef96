//! The combined noise of several repetitions, so that one notice covers all of them.

use kurabe_core::record::Noise;

/// The combined noise of several repetitions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoiseSum {
    sum: Noise,
    own_bytes: u64,
    elapsed_ns: u64,
}

impl NoiseSum {
    /// Adds a repetition. Bytes are added, and shares are weighted by time.
    pub fn add(&mut self, noise: &Noise, own_bytes: u64, elapsed_ns: u64) {
        let (before, after) = (self.elapsed_ns as f64, elapsed_ns as f64);
        let total = |sum: Option<u64>, part: Option<u64>| match (sum, part) {
            (Some(sum), Some(part)) => Some(sum.saturating_add(part)),
            (sum, part) => sum.or(part),
        };
        let share = |sum: Option<f64>, part: Option<f64>| match (sum, part) {
            (Some(sum), Some(part)) if before + after > 0.0 => {
                Some((sum * before + part * after) / (before + after))
            }
            (sum, part) => sum.or(part),
        };
        let sum = self.sum;
        self.sum = Noise {
            other_read_bytes: total(sum.other_read_bytes, noise.other_read_bytes),
            other_write_bytes: total(sum.other_write_bytes, noise.other_write_bytes),
            steal_share: share(sum.steal_share, noise.steal_share),
            io_pressure_share: share(sum.io_pressure_share, noise.io_pressure_share),
            cpu_pressure_share: share(sum.cpu_pressure_share, noise.cpu_pressure_share),
            memory_pressure_share: share(sum.memory_pressure_share, noise.memory_pressure_share),
            other_cpus_busy: share(sum.other_cpus_busy, noise.other_cpus_busy),
            suspended_ns: total(sum.suspended_ns, noise.suspended_ns),
        };
        self.own_bytes = self.own_bytes.saturating_add(own_bytes);
        self.elapsed_ns = self.elapsed_ns.saturating_add(elapsed_ns);
    }

    /// Returns remarks about other activity on the device and about suspends. They belong to the
    /// cell during which they happened.
    pub fn on_the_device(&self) -> Vec<kurabe_core::Text> {
        let Noise { other_read_bytes, other_write_bytes, suspended_ns, .. } = self.sum;
        self.remarks(&Noise { other_read_bytes, other_write_bytes, suspended_ns, ..Noise::default() })
    }

    /// Returns remarks about other activity on the machine. They are emitted once for the run.
    pub fn on_the_machine(&self) -> Vec<kurabe_core::Text> {
        let others = Noise { other_read_bytes: None, other_write_bytes: None, ..self.sum };
        self.remarks(&Noise { suspended_ns: None, ..others })
    }

    fn remarks(&self, noise: &Noise) -> Vec<kurabe_core::Text> {
        kurabe_host::noise_remarks(noise, self.own_bytes, self.elapsed_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_add_up_and_shares_are_weighted_by_time() {
        let mut both = NoiseSum::default();
        let noise = |bytes, share| Noise {
            other_write_bytes: Some(bytes),
            steal_share: Some(share),
            ..Noise::default()
        };
        both.add(&noise(10, 0.1), 100, 1_000);
        both.add(&noise(30, 0.5), 100, 3_000);
        assert_eq!(both.sum.other_write_bytes, Some(40));
        assert!((both.sum.steal_share.unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(both.sum.other_read_bytes, None);
    }

    #[test]
    fn a_suspend_is_told_of_the_cell_and_not_once_more_of_the_run() {
        let mut both = NoiseSum::default();
        let suspended = |suspended_ns| Noise { suspended_ns: Some(suspended_ns), ..Noise::default() };
        both.add(&suspended(0), 100, 1_000);
        both.add(&suspended(3_000_000_000), 100, 1_000);
        let [remark] = &both.on_the_device()[..] else { panic!("{:?}", both.on_the_device()) };
        assert!(remark.en.contains("suspended for 3 s"), "{}", remark.en);
        assert!(both.on_the_machine().is_empty());
    }
}
