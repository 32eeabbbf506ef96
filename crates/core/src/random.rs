//! The random number generator for offsets and data. It is fixed: the same seed gives the same run
//! in every version of kurabe.
//!
//! xoshiro256++ 1.0 by Blackman and Vigna (prng.di.unimi.it), seeded through SplitMix64 as its
//! authors advise. It does not use a library on purpose, because library generators change between
//! releases.

/// Performs one step of SplitMix64. Also used as a mixing function.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Creates a generator for one purpose. Different stream numbers with the same seed are
    /// independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = stream;
        let mut start = seed ^ split_mix(&mut mixed);
        Self { state: std::array::from_fn(|_| split_mix(&mut start)) }
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns an integer below `bound`, or 0 if `bound` is 0. The bias of at most `bound / 2^64`
    /// is far below what a run could show (Lemire, "Fast random integer generation in an interval",
    /// without the rejection).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of xoshiro256++ from the state {1, 2, 3, 4}. rand_xoshiro tests the same
        // reference values.
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn streams_of_one_seed_differ() {
        assert_ne!(Random::new(1, 0).bits(), Random::new(1, 1).bits());
        assert_eq!(Random::new(1, 1).bits(), Random::new(1, 1).bits());
    }
}
