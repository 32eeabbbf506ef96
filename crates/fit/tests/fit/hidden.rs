//! Hidden devices, and noise on their times.

use kurabe_core::Result;
use kurabe_core::random::Random;
use kurabe_core::workload::Op;
use kurabe_identify::{BenchFacts, DeviceBench, Manner, Performed};

/// A bench whose times are disturbed: those of a call together, as by the state of a machine.
pub struct NoisyBench<'b> {
    pub bench: Box<dyn DeviceBench + 'b>,
    pub noise: f64,
    pub random: Random,
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

impl DeviceBench for NoisyBench<'_> {
    fn facts(&self) -> BenchFacts {
        self.bench.facts()
    }

    fn rest(&mut self, length_ns: u64) -> Result<()> {
        self.bench.rest(length_ns)
    }

    fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let factor = (self.noise * normal(&mut self.random)).exp();
        let mut performed = self.bench.perform(ops, manner)?;
        let first = performed.iter().map(|one| one.start_ns).min().unwrap_or(0);
        let later = |at: u64| first + ((at - first) as f64 * factor) as u64;
        for one in &mut performed {
            (one.start_ns, one.end_ns) = (later(one.start_ns), later(one.end_ns));
        }
        Ok(performed)
    }

    fn forget(&mut self) -> Result<bool> {
        self.bench.forget()
    }
}
