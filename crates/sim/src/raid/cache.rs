//! The card's memory: the blocks in it, and those that the members do not have yet.
//!
//! The model: blocks of 4 KiB in lines of up to 64 (a strip, or an even fraction of it). A block is
//! clean, dirty, or being written to the members; a block that is rewritten during that is dirty
//! again. Only lines without unwritten blocks are in the LRU order, and the least recently used one
//! is evicted. A write of less than a block counts as the whole block.

use super::geometry::BLOCK_BYTES;
use crate::ranges::Ranges;
use crate::use_order::UseOrder;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Clone, Debug)]
struct CacheLine {
    number: u64,
    present: u64,
    dirty: u64,
    flying: u64,
}

impl CacheLine {
    fn is_clean(&self) -> bool {
        self.dirty | self.flying == 0
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cache {
    blocks_per_line: u64,
    most_blocks: u64,
    most_dirty_blocks: u64,
    lines: Vec<CacheLine>,
    free: Vec<u32>,
    /// Slots of lines, by line number.
    index: HashMap<u64, u32, BuildHasherDefault<LineHasher>>,
    /// Numbers of the lines with dirty blocks; write-back is in order of addresses.
    dirty_lines: BTreeSet<u64>,
    /// Lines without unwritten blocks, in order of use.
    clean: UseOrder,
    present_blocks: u64,
    dirty_blocks: u64,
    /// Blocks that are dirty or being written.
    unsafe_blocks: u64,
    /// Oldest write that the members do not have, by slot and block.
    numbers: Vec<u64>,
}

impl Cache {
    /// Creates a memory of `bytes`, of which `most_dirty_bytes` may be unwritten.
    pub(super) fn new(bytes: u64, most_dirty_bytes: u64, strip_bytes: u64) -> Self {
        let strip_blocks = strip_bytes / BLOCK_BYTES;
        let blocks_per_line = (1..=64).rev().find(|blocks| strip_blocks.is_multiple_of(*blocks)).unwrap_or(1);
        let most_blocks = bytes / BLOCK_BYTES;
        Self {
            blocks_per_line,
            most_blocks,
            most_dirty_blocks: (most_dirty_bytes / BLOCK_BYTES).min(most_blocks),
            lines: Vec::new(),
            free: Vec::new(),
            index: HashMap::default(),
            dirty_lines: BTreeSet::new(),
            clean: UseOrder::new(0),
            present_blocks: 0,
            dirty_blocks: 0,
            unsafe_blocks: 0,
            numbers: Vec::new(),
        }
    }

    /// Returns the bytes that the members do not have yet.
    pub(super) fn unsafe_bytes(&self) -> u64 {
        self.unsafe_blocks * BLOCK_BYTES
    }

    /// Returns whether there are dirty blocks that are not being written.
    pub(super) fn has_dirty(&self) -> bool {
        self.dirty_blocks > 0
    }

    /// Returns whether at least half of the permitted dirty blocks are unwritten.
    pub(super) fn is_half_full(&self) -> bool {
        self.unsafe_blocks * 2 >= self.most_dirty_blocks
    }

    /// Returns the slot of a line.
    #[inline]
    fn find(&self, number: u64) -> Option<u32> {
        self.index.get(&number).copied()
    }

    /// Returns whether a write can fit at all.
    pub(super) fn could_hold(&self, from: u64, to: u64) -> bool {
        blocks(from, to) <= self.most_dirty_blocks
    }

    /// Appends the missing ranges between `from` and `to`, and marks the cached ones as used.
    pub(super) fn missing(&mut self, from: u64, to: u64, missing: &mut Vec<(u64, u64)>) {
        if self.present_blocks == 0 {
            missing.push((from, to));
            return;
        }
        self.each_line(from, to, |cache, number, mask| {
            let present = match cache.find(number) {
                Some(place) => {
                    cache.use_now(place);
                    cache.lines[place as usize].present
                }
                None => 0,
            };
            cache.stretches(number, mask & !present, |begin, end| {
                add_stretch(missing, begin.max(from), end.min(to));
            });
        });
    }

    /// Accepts a write. Returns `false` if other blocks must be written back first.
    pub(super) fn write(&mut self, from: u64, to: u64, write: u64) -> bool {
        let mut more = 0;
        self.each_line(from, to, |cache, number, mask| {
            let line = cache.find(number).map(|place| &cache.lines[place as usize]);
            more += (mask & !line.map_or(0, |line| line.dirty | line.flying)).count_ones();
        });
        if self.unsafe_blocks + u64::from(more) > self.most_dirty_blocks || !self.make_room(from, to) {
            return false;
        }
        self.unsafe_blocks += u64::from(more);
        self.each_line(from, to, |cache, number, mask| {
            let place = cache.place(number, mask);
            cache.clean.remove(place);
            let line = &mut cache.lines[place as usize];
            let numbers = &mut cache.numbers[place as usize * cache.blocks_per_line as usize..];
            each_bit(mask & !(line.dirty | line.flying), |block| numbers[block] = write);
            cache.dirty_blocks += u64::from((mask & !line.dirty).count_ones());
            line.dirty |= mask;
            cache.dirty_lines.insert(number);
        });
        true
    }

    /// Caches data that the members already have, if there is room.
    pub(super) fn keep(&mut self, from: u64, to: u64) {
        if blocks(from, to) <= self.most_blocks && self.make_room(from, to) {
            self.each_line(from, to, |cache, number, mask| {
                let place = cache.place(number, mask);
                cache.use_now(place);
            });
        }
    }

    /// Returns the position of the first line at or after `at` that has a dirty block.
    pub(super) fn next_dirty(&self, at: u64) -> Option<u64> {
        let line_bytes = self.blocks_per_line * BLOCK_BYTES;
        self.dirty_lines.range(at / line_bytes..).next().map(|number| number * line_bytes)
    }

    /// Returns the data that the members do not have yet.
    pub(super) fn at_risk(&self) -> Ranges {
        let mut ranges = Ranges::default();
        for (line, numbers) in self.lines.iter().zip(self.numbers.chunks(self.blocks_per_line as usize)) {
            let first = line.number * self.blocks_per_line;
            each_bit(line.dirty | line.flying, |block| {
                let from = (first + block as u64) * BLOCK_BYTES;
                ranges.add(from, from + BLOCK_BYTES, numbers[block]);
            });
        }
        ranges
    }

    /// Handles a write that bypassed the memory: its whole blocks need not be written back.
    pub(super) fn pass_by(&mut self, from: u64, to: u64) {
        let (first, end) = (from.div_ceil(BLOCK_BYTES), to / BLOCK_BYTES);
        self.each_line(first * BLOCK_BYTES, end.max(first) * BLOCK_BYTES, |cache, number, mask| {
            let Some(place) = cache.find(number) else { return };
            let line = &mut cache.lines[place as usize];
            let dirty = line.dirty & mask;
            line.dirty &= !dirty;
            cache.dirty_blocks -= u64::from(dirty.count_ones());
            cache.unsafe_blocks -= u64::from((dirty & !line.flying).count_ones());
            if line.dirty == 0 {
                cache.dirty_lines.remove(&number);
            }
            if dirty != 0 && line.is_clean() {
                cache.clean.use_now(place);
            }
        });
    }

    /// Starts writing the dirty blocks of a range. Appends them in order, and returns the oldest
    /// write in them.
    pub(super) fn take_dirty(&mut self, from: u64, to: u64, taken: &mut Vec<(u64, u64)>) -> u64 {
        let mut oldest = u64::MAX;
        self.each_line(from, to, |cache, number, mask| {
            let Some(place) = cache.find(number) else { return };
            let line = &mut cache.lines[place as usize];
            let dirty = line.dirty & mask;
            line.dirty &= !dirty;
            line.flying |= dirty;
            cache.dirty_blocks -= u64::from(dirty.count_ones());
            if line.dirty == 0 {
                cache.dirty_lines.remove(&number);
            }
            let numbers = &cache.numbers[place as usize * cache.blocks_per_line as usize..];
            each_bit(dirty, |block| oldest = oldest.min(numbers[block]));
            cache.stretches(number, dirty, |begin, end| add_stretch(taken, begin, end));
        });
        oldest
    }

    /// Handles the end of the write of a range.
    pub(super) fn landed(&mut self, from: u64, to: u64) {
        self.each_line(from, to, |cache, number, mask| {
            let Some(place) = cache.find(number) else { return };
            let line = &mut cache.lines[place as usize];
            let landed = line.flying & mask;
            line.flying &= !landed;
            cache.unsafe_blocks -= u64::from((landed & !line.dirty).count_ones());
            if landed != 0 && line.is_clean() {
                cache.clean.use_now(place);
            }
        });
    }

    fn each_line(&mut self, from: u64, to: u64, mut visit: impl FnMut(&mut Self, u64, u64)) {
        let (mut block, end) = (from / BLOCK_BYTES, to.div_ceil(BLOCK_BYTES));
        while block < end {
            let (number, first) = (block / self.blocks_per_line, block % self.blocks_per_line);
            let count = (end - block).min(self.blocks_per_line - first);
            visit(self, number, (u64::MAX >> (64 - count)) << first);
            block += count;
        }
    }

    fn stretches(&self, number: u64, mut mask: u64, mut tell: impl FnMut(u64, u64)) {
        let base = number * self.blocks_per_line;
        while mask != 0 {
            let first = mask.trailing_zeros();
            let count = (mask >> first).trailing_ones();
            tell((base + u64::from(first)) * BLOCK_BYTES, (base + u64::from(first + count)) * BLOCK_BYTES);
            mask &= u64::MAX.checked_shl(first + count).unwrap_or(0);
        }
    }

    /// Evicts old lines until the range fits.
    fn make_room(&mut self, from: u64, to: u64) -> bool {
        if self.present_blocks + blocks(from, to) <= self.most_blocks {
            return true;
        }
        // Evict cached lines of the range itself last.
        self.each_line(from, to, |cache, number, _| {
            if let Some(place) = cache.find(number) {
                cache.use_now(place);
            }
        });
        loop {
            let mut more = 0;
            self.each_line(from, to, |cache, number, mask| {
                let present = cache.find(number).map_or(0, |place| cache.lines[place as usize].present);
                more += u64::from((mask & !present).count_ones());
            });
            if self.present_blocks + more <= self.most_blocks {
                return true;
            }
            let Some(oldest) = self.clean.oldest() else { return false };
            self.forget(oldest);
        }
    }

    fn forget(&mut self, place: u32) {
        self.clean.remove(place);
        let line = &mut self.lines[place as usize];
        self.present_blocks -= u64::from(line.present.count_ones());
        line.present = 0;
        self.index.remove(&line.number);
        self.free.push(place);
    }

    /// Returns the slot of a line with these blocks in it; creates it if needed.
    fn place(&mut self, number: u64, mask: u64) -> u32 {
        let place = self.find(number).unwrap_or_else(|| {
            let line = CacheLine { number, present: 0, dirty: 0, flying: 0 };
            let place = self.free.pop().unwrap_or(self.lines.len() as u32);
            if place as usize == self.lines.len() {
                self.lines.push(line);
                self.clean.add_place();
                self.numbers.resize(self.lines.len() * self.blocks_per_line as usize, 0);
            } else {
                self.lines[place as usize] = line;
            }
            self.index.insert(number, place);
            self.clean.use_now(place);
            place
        });
        let line = &mut self.lines[place as usize];
        self.present_blocks += u64::from((mask & !line.present).count_ones());
        line.present |= mask;
        place
    }

    /// Marks a clean line as most recently used.
    fn use_now(&mut self, place: u32) {
        if self.lines[place as usize].is_clean() {
            self.clean.use_now(place);
        }
    }
}

/// Hashes line numbers, which are not attacker-controlled: a product has its best bits at the top,
/// and a table uses some of the lowest.
#[derive(Clone, Copy, Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// Visits the bits set in a mask.
fn each_bit(mut mask: u64, mut visit: impl FnMut(usize)) {
    while mask != 0 {
        visit(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

fn blocks(from: u64, to: u64) -> u64 {
    to.div_ceil(BLOCK_BYTES) - from / BLOCK_BYTES
}

/// Adds a range to a sorted list and merges it with an adjoining one.
fn add_stretch(list: &mut Vec<(u64, u64)>, from: u64, to: u64) {
    match list.last_mut() {
        Some((_, end)) if *end == from => *end = to,
        _ => list.push((from, to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn missing(cache: &mut Cache, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut list = Vec::new();
        cache.missing(from, to, &mut list);
        list
    }

    #[test]
    fn what_was_used_longest_ago_gives_way() {
        let mut cache = Cache::new(16 << 10, 16 << 10, 4096);
        for block in 0..4 {
            cache.keep(block * 4096, (block + 1) * 4096);
        }
        assert_eq!(missing(&mut cache, 0, 4096), []);
        cache.keep(40_960, 45_056);
        assert_eq!(missing(&mut cache, 0, 16_384), [(4096, 8192)]);
    }

    #[test]
    fn what_is_dirty_stays_until_it_landed() {
        let mut cache = Cache::new(16 << 10, 8 << 10, 4096);
        assert!(cache.write(0, 8192, 1));
        assert!(!cache.write(8192, 12_288, 2), "half of the memory may be dirty");
        assert!(cache.write(100, 200, 3), "the same again needs no room");
        let mut taken = Vec::new();
        assert_eq!(cache.take_dirty(0, 65_536, &mut taken), 1);
        assert_eq!(taken, [(0, 8192)]);
        assert!(cache.write(0, 512, 4), "written again on its way");
        cache.landed(0, 8192);
        assert_eq!(cache.unsafe_bytes(), 4096);
        assert_eq!(missing(&mut cache, 0, 12_288), [(8192, 12_288)]);
    }

    #[test]
    fn a_cyclic_scan_of_more_than_the_memory_never_hits() {
        let mut cache = Cache::new(64 << 10, 0, 4096);
        let mut hits = 0;
        for turn in 0..100 {
            let from = turn % 17 * 4096;
            hits += usize::from(missing(&mut cache, from, from + 4096).is_empty());
            cache.keep(from, from + 4096);
        }
        assert_eq!(hits, 0);
    }

    proptest! {
        /// Compared with a plain list of blocks: no dirty block is lost, and the counts match.
        #[test]
        fn it_loses_nothing(
            strip in prop::sample::select(vec![1u64, 5, 16, 256]),
            steps in prop::collection::vec((0u8..4, 0u64..300, 1u64..40), 1..200),
        ) {
            let mut cache = Cache::new(64 * 4096, 48 * 4096, strip * 4096);
            // State of a block: (dirty, flying).
            let mut states: BTreeMap<u64, (bool, bool)> = BTreeMap::new();
            for (what, from, count) in steps {
                let range = (from * 4096, (from + count) * 4096);
                match what {
                    0 if cache.write(range.0, range.1, 1) => {
                        (from..from + count).for_each(|block| states.entry(block).or_default().0 = true);
                    }
                    1 => cache.keep(range.0, range.1),
                    2 => {
                        let mut taken = Vec::new();
                        cache.take_dirty(range.0, range.1, &mut taken);
                        let blocks: u64 = taken.iter().map(|(from, to)| (to - from) / 4096).sum();
                        let mut expected = 0;
                        for (_, state) in states.range_mut(from..from + count).filter(|(_, state)| state.0) {
                            *state = (false, true);
                            expected += 1;
                        }
                        prop_assert_eq!(blocks, expected);
                    }
                    3 => {
                        cache.landed(range.0, range.1);
                        states.range_mut(from..from + count).for_each(|(_, state)| state.1 = false);
                    }
                    _ => {}
                }
                let waiting = states.values().filter(|state| state.0 || state.1).count() as u64;
                prop_assert_eq!(cache.unsafe_bytes(), waiting * 4096);
                prop_assert_eq!(cache.at_risk().bytes(), waiting * 4096);
                prop_assert_eq!(cache.has_dirty(), states.values().any(|state| state.0));
                prop_assert!(cache.present_blocks <= cache.most_blocks);
                for (block, _) in states.iter().filter(|(_, state)| state.0 || state.1) {
                    prop_assert_eq!(missing(&mut cache, block * 4096, (block + 1) * 4096), vec![]);
                }
            }
        }
    }
}
