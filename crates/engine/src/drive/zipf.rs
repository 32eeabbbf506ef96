//! Zipf distribution: rank k of n with weight `1 / k^exponent`.
//!
//! Rejection-inversion after Hörmann and Derflinger, "Rejection-inversion to generate variates from
//! monotone discrete distributions", 1996. It takes constant time and memory for any n.

use kurabe_core::random::Random;

/// A sampler of ranks from 0.
#[derive(Clone, Debug)]
pub struct Zipf {
    exponent: f64,
    count: f64,
    h_x1: f64,
    h_n: f64,
    shift: f64,
}

impl Zipf {
    /// Creates a sampler of ranks `0..count` with an exponent above 0. `count` is at least 1.
    pub fn new(count: u64, exponent: f64) -> Self {
        let count = count.max(1) as f64;
        let shift = 2.0 - h_inverse(h(2.5, exponent) - 2f64.powf(-exponent), exponent);
        Self { exponent, count, h_x1: h(1.5, exponent) - 1.0, h_n: h(count + 0.5, exponent), shift }
    }

    /// Draws a rank, with 0 as the most frequent one.
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.h_n + random.unit() * (self.h_x1 - self.h_n);
            let x = h_inverse(u, self.exponent);
            let k = x.round().clamp(1.0, self.count);
            if k - x <= self.shift || u >= h(k + 0.5, self.exponent) - k.powf(-self.exponent) {
                return k as u64 - 1;
            }
        }
    }
}

/// Returns the integral of `x^-exponent`.
fn h(x: f64, exponent: f64) -> f64 {
    let log = x.ln();
    let t = (1.0 - exponent) * log;
    log * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
}

/// Returns the inverse of [`h`].
fn h_inverse(x: f64, exponent: f64) -> f64 {
    let t = (x * (1.0 - exponent)).max(-1.0);
    (x * if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_law() {
        for exponent in [0.5, 1.0, 1.2] {
            let (count, draws) = (100u64, 400_000);
            let zipf = Zipf::new(count, exponent);
            let mut random = Random::new(7, 0);
            let mut seen = vec![0u32; count as usize];
            for _ in 0..draws {
                seen[zipf.draw(&mut random) as usize] += 1;
            }
            let total: f64 = (1..=count).map(|k| (k as f64).powf(-exponent)).sum();
            for rank in [1usize, 2, 3, 10, 50, 100] {
                let expected = f64::from(draws) * (rank as f64).powf(-exponent) / total;
                let drawn = f64::from(seen[rank - 1]);
                assert!(
                    (drawn - expected).abs() < 6.0 * expected.sqrt(),
                    "s={exponent} rank {rank}: {drawn} for {expected}"
                );
            }
        }
    }

    #[test]
    fn one_block_is_always_that_block() {
        let mut random = Random::new(1, 0);
        assert!((0..100).all(|_| Zipf::new(1, 1.1).draw(&mut random) == 0));
    }
}
