//! The write cache: sectors that were acknowledged but are not on the medium.
//!
//! The model: ranges of sectors, merged where they touch. They are written back in ascending order
//! from the position of the arm, wrapping around at the end. A range being written back still
//! occupies space, and can be overwritten.

use crate::ranges::Ranges;

/// Dirty sectors, each with the oldest write that changed it.
#[derive(Clone, Debug, Default)]
pub(super) struct Dirty {
    waiting: Ranges,
    waiting_sectors: u64,
    /// Sectors being written back.
    leaving: Ranges,
    leaving_sectors: u64,
    capacity: u64,
}

impl Dirty {
    /// Creates a cache for `capacity` sectors.
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Returns the size of the cache in sectors.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns whether there is room for this many more sectors.
    pub(super) fn has_room(&self, sectors: u64) -> bool {
        self.sectors() + sectors <= self.capacity
    }

    /// Returns whether no sectors wait to be written back; some may still be in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the number of sectors that are not on the medium.
    pub(super) fn sectors(&self) -> u64 {
        self.waiting_sectors + self.leaving_sectors
    }

    /// Returns whether all these sectors are waiting here.
    pub(super) fn holds(&self, first: u64, end: u64) -> bool {
        self.waiting.cover(first, end)
    }

    pub(super) fn add(&mut self, first: u64, end: u64, number: u64) {
        self.waiting_sectors += self.waiting.add(first, end, number);
    }

    /// Removes sectors that are overwritten on the medium itself or no longer needed.
    pub(super) fn remove(&mut self, first: u64, end: u64) {
        self.waiting_sectors -=
            self.waiting.cut(first, end).iter().map(|(from, to, _)| to - from).sum::<u64>();
    }

    /// Returns the next range to write back for an arm at sector `from`, of at most `most` sectors.
    /// From now on it counts as in progress.
    pub(super) fn leave(&mut self, from: u64, most: u64) -> Option<(u64, u64)> {
        let (first, end) = self.waiting.stretch(from, most.max(1))?;
        self.leaving.extend(self.waiting.cut(first, end));
        self.waiting_sectors -= end - first;
        self.leaving_sectors += end - first;
        Some((first, end))
    }

    /// Completes the write-back in progress.
    pub(super) fn arrived(&mut self) {
        self.leaving.clear();
        self.leaving_sectors = 0;
    }

    /// Returns the sectors that are not on the medium.
    pub(super) fn at_risk(&self) -> Ranges {
        let mut all = self.waiting.clone();
        all.extend(self.leaving.iter());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of additions, removals and write-backs, the contents match a plain
        /// list of sectors.
        #[test]
        fn stretches_are_a_set_of_sectors(
            steps in prop::collection::vec((0u8..3, 0u64..60, 1u64..20), 1..60),
        ) {
            let mut dirty = Dirty::new(1000);
            let mut plain = [false; 100];
            for (what, first, length) in steps {
                let end = first + length;
                match what {
                    0 => {
                        dirty.add(first, end, 1);
                        plain[first as usize..end as usize].fill(true);
                    }
                    1 => {
                        dirty.remove(first, end);
                        plain[first as usize..end as usize].fill(false);
                    }
                    _ => match dirty.leave(first, length) {
                        Some((left, left_end)) => {
                            prop_assert!(left_end - left <= length);
                            prop_assert!(plain[left as usize..left_end as usize].iter().all(|is| *is));
                            plain[left as usize..left_end as usize].fill(false);
                            dirty.arrived();
                        }
                        None => prop_assert!(plain.iter().all(|is| !is)),
                    },
                }
                prop_assert_eq!(dirty.sectors(), plain.iter().filter(|is| **is).count() as u64);
                for low in 0..80usize {
                    prop_assert_eq!(dirty.holds(low as u64, low as u64 + 3), plain[low..low + 3].iter().all(|is| *is));
                }
            }
        }
    }

    #[test]
    fn stretches_leave_in_rising_order_from_the_arm_and_around_the_end() {
        let mut dirty = Dirty::new(100);
        for first in [50, 10, 30] {
            dirty.add(first, first + 2, 1);
        }
        let order: Vec<_> = std::iter::from_fn(|| dirty.leave(20, 100)).collect();
        assert_eq!(order, [(30, 32), (50, 52), (10, 12)]);
        assert!(dirty.is_empty() && !dirty.has_room(95));
    }
}
