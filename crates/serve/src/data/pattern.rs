//! Data computed from its offset: nothing is stored, so a device of any size is free.

use kurabe_core::random::split_mix;

const WORD_BYTES: u64 = 8;

/// Fills a buffer from an offset: each aligned word is a hash of its index.
pub(super) fn fill(offset_bytes: u64, buffer: &mut [u8]) {
    let (mut at, mut rest) = (offset_bytes, buffer);
    while !rest.is_empty() {
        let mut index = at / WORD_BYTES;
        let word = split_mix(&mut index).to_le_bytes();
        let from = (at % WORD_BYTES) as usize;
        let count = (word.len() - from).min(rest.len());
        let (front, behind) = rest.split_at_mut(count);
        front.copy_from_slice(&word[from..from + count]);
        (at, rest) = (at + count as u64, behind);
    }
}
