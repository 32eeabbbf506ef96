//! A random order that visits every block once, without a table.
//!
//! A Feistel network of four rounds is a permutation of 2^(2h) numbers. Numbers outside the domain
//! are passed through again until they fall inside (cycle walking: Black and Rogaway, "Ciphers with
//! arbitrary finite domains", 2002). The network's domain is at most four times the number of
//! blocks, so fewer than four passes are expected.

use kurabe_core::random::split_mix;

/// A permutation of `0..count`.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// Creates the permutation of `0..count` for a seed.
    pub fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mut state = seed;
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| split_mix(&mut state)),
        }
    }

    /// Returns the block of the `index`-th visit. `index` must be below the count.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = index;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (right, left ^ ((mixed >> 32) & mask));
            }
            value = (left << self.half_bits) | right;
            if value < self.count {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_block_is_visited_once(count in 1u64..3000, seed: u64) {
            let permutation = Permutation::new(count, seed);
            let mut seen: Vec<u64> = (0..count).map(|index| permutation.at(index)).collect();
            seen.sort_unstable();
            prop_assert!(seen.iter().copied().eq(0..count));
        }
    }

    #[test]
    fn seeds_give_different_orders() {
        let order = |seed| (0..64).map(|index| Permutation::new(64, seed).at(index)).collect::<Vec<_>>();
        assert_ne!(order(1), order(2));
        assert_ne!(order(1), (0..64).collect::<Vec<_>>());
    }
}
