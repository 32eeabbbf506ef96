//! The data that is written.
//!
//! A buffer is filled once, when the device hands it out. Before each write of random data it is
//! modified. Blocks up to 64 KiB are XORed entirely with a new random word, so no 8 bytes of a
//! block repeat in another block, and neither deduplication nor a compressor's window has any
//! effect. Larger blocks, whose own content is longer than such windows, get a new 16-byte stamp in
//! every 4 KiB, which defeats deduplication at a hundredth of the cost.

use kurabe_core::{random::Random, workload::Data};

/// Largest block that is modified in every byte.
const WHOLE_BYTES: usize = 64 << 10;
/// Distance between stamps in larger blocks.
const STAMP_STRIDE_BYTES: usize = 4 << 10;

/// A source of bytes for one issuing thread.
pub struct Content {
    data: Data,
    random: Random,
    seed: u64,
}

impl Content {
    /// Creates content of a kind. `stream` distinguishes threads.
    pub fn new(data: Data, seed: u64, stream: u64) -> Self {
        // Streams of content start far from the streams of offsets.
        Self { data, random: Random::new(seed, stream.wrapping_add(1 << 32)), seed }
    }

    /// Fills a new buffer.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        match self.data {
            Data::Zero => bytes.fill(0),
            Data::Random => fill_random(&mut self.random, bytes),
            Data::Repeat => fill_random(&mut Random::new(self.seed, u64::MAX), bytes),
            Data::Compressible { percent } => {
                for chunk in bytes.chunks_mut(STAMP_STRIDE_BYTES) {
                    let random = random_share(chunk, percent);
                    fill_random(&mut self.random, random);
                }
            }
        }
    }

    /// Modifies a block that was written before so that it differs from every other block, if the
    /// kind of data requires that.
    #[inline]
    pub fn freshen(&mut self, bytes: &mut [u8]) {
        match self.data {
            Data::Zero | Data::Repeat => {}
            Data::Random if bytes.len() <= WHOLE_BYTES => xor(bytes, self.random.bits()),
            Data::Random => {
                for chunk in bytes.chunks_mut(STAMP_STRIDE_BYTES) {
                    let stamp = chunk.len().min(16);
                    fill_random(&mut self.random, &mut chunk[..stamp]);
                }
            }
            Data::Compressible { percent } => {
                for chunk in bytes.chunks_mut(STAMP_STRIDE_BYTES) {
                    xor(random_share(chunk, percent), self.random.bits());
                }
            }
        }
    }
}

/// Returns the part of a chunk that is not zero.
fn random_share(chunk: &mut [u8], zero_percent: u8) -> &mut [u8] {
    let length = chunk.len() * (100 - usize::from(zero_percent.min(100))) / 100;
    &mut chunk[..length]
}

fn fill_random(random: &mut Random, bytes: &mut [u8]) {
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&random.bits().to_le_bytes());
    }
    let rest = words.into_remainder();
    let last = random.bits().to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

fn xor(bytes: &mut [u8], word: u64) {
    let word = word.to_le_bytes();
    let mut words = bytes.chunks_exact_mut(8);
    for chunk in &mut words {
        for (byte, with) in chunk.iter_mut().zip(word) {
            *byte ^= with;
        }
    }
    for (byte, with) in words.into_remainder().iter_mut().zip(word) {
        *byte ^= with;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn blocks(data: Data, size: usize, count: usize) -> Vec<Vec<u8>> {
        let mut content = Content::new(data, 1, 0);
        let mut buffer = vec![0; size];
        content.fill(&mut buffer);
        (0..count)
            .map(|_| {
                content.freshen(&mut buffer);
                buffer.clone()
            })
            .collect()
    }

    #[test]
    fn random_blocks_share_no_aligned_words() {
        let mut seen = HashSet::new();
        for block in blocks(Data::Random, 4096, 200) {
            for word in block.chunks(8) {
                assert!(seen.insert(word.to_vec()), "a word repeats");
            }
        }
    }

    #[test]
    fn large_random_blocks_differ_in_every_4_kib() {
        let mut seen = HashSet::new();
        for block in blocks(Data::Random, 1 << 20, 8) {
            for chunk in block.chunks(4096) {
                assert!(seen.insert(chunk.to_vec()), "4 KiB repeat");
            }
        }
    }

    #[test]
    fn repeated_data_repeats_and_compressible_data_has_its_share_of_zeros() {
        let repeated = blocks(Data::Repeat, 4096, 2);
        assert_eq!(repeated[0], repeated[1]);
        assert!(repeated[0].iter().any(|byte| *byte != 0));
        let half = blocks(Data::Compressible { percent: 50 }, 8192, 2);
        assert_ne!(half[0], half[1]);
        let zeros = half[0].iter().filter(|byte| **byte == 0).count();
        assert!((4096..4096 + 60).contains(&zeros), "{zeros}");
        assert!(blocks(Data::Zero, 512, 1)[0].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn odd_lengths_are_filled_to_the_end() {
        let block = &blocks(Data::Random, 4099, 1)[0];
        assert!(block[4090..].iter().any(|byte| *byte != 0));
    }
}
