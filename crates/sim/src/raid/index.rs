//! A flat table from numbers to places: open addressing, linear probing, no order of iteration to depend on.

/// No place.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The table. It grows as it fills and never shrinks.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Key and place; a place of `NOWHERE` marks a free entry.
    entries: Vec<(u64, u32)>,
    filled: usize,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { entries: vec![(0, NOWHERE); 64], filled: 0 }
    }

    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits of the product are well mixed.
        let bits = self.entries.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// The place of a key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        let mask = self.entries.len() - 1;
        let mut at = self.home(key);
        loop {
            match self.entries[at] {
                (_, NOWHERE) => return None,
                (entry, place) if entry == key => return Some(place),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a key that is not there.
    pub(super) fn insert(&mut self, key: u64, place: u32) {
        if self.filled * 2 >= self.entries.len() {
            let doubled = vec![(0, NOWHERE); self.entries.len() * 2];
            let old = std::mem::replace(&mut self.entries, doubled);
            self.filled = 0;
            for (key, place) in old.into_iter().filter(|entry| entry.1 != NOWHERE) {
                self.insert(key, place);
            }
        }
        let mask = self.entries.len() - 1;
        let mut at = self.home(key);
        while self.entries[at].1 != NOWHERE {
            at = (at + 1) & mask;
        }
        self.entries[at] = (key, place);
        self.filled += 1;
    }

    /// Takes a key out; those that follow it close the gap.
    pub(super) fn remove(&mut self, key: u64) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(key);
        while self.entries[at].1 == NOWHERE || self.entries[at].0 != key {
            if self.entries[at].1 == NOWHERE {
                return;
            }
            at = (at + 1) & mask;
        }
        let mut next = at;
        loop {
            next = (next + 1) & mask;
            if self.entries[next].1 == NOWHERE {
                break;
            }
            let home = self.home(self.entries[next].0);
            // It may move back unless its home lies after the gap.
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(at) & mask) {
                self.entries[at] = self.entries[next];
                at = next;
            }
        }
        self.entries[at] = (0, NOWHERE);
        self.filled -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(steps in prop::collection::vec((0u64..200, any::<bool>()), 0..600)) {
            let (mut index, mut map) = (Index::new(), BTreeMap::new());
            for (place, (key, add)) in steps.into_iter().enumerate() {
                if add && !map.contains_key(&key) {
                    index.insert(key, place as u32);
                    map.insert(key, place as u32);
                } else if !add {
                    index.remove(key);
                    map.remove(&key);
                }
                for key in 0..200 {
                    prop_assert_eq!(index.get(key), map.get(&key).copied());
                }
            }
        }
    }
}
