//! Data that a power cut would lose or spare: ranges of bytes, each with the writes at risk.
//!
//! The model: a range has the number of the oldest write to it that is not on the medium. All
//! writes to it with that number or a higher one are at risk; earlier ones are on the medium.
//! Ranges do not overlap, and touching ones with the same number are merged.

use std::collections::BTreeMap;

/// A range of bytes: first byte, byte after the last, and number of the oldest write at risk.
pub type Range = (u64, u64, u64);

/// A set of ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// By first byte: the byte after the last, and the number.
    map: BTreeMap<u64, (u64, u64)>,
}

impl Ranges {
    /// Returns all ranges in order of position.
    pub fn iter(&self) -> impl Iterator<Item = Range> {
        self.map.iter().map(|(from, (to, number))| (*from, *to, *number))
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the total number of bytes.
    pub fn bytes(&self) -> u64 {
        self.iter().map(|(from, to, _)| to - from).sum()
    }

    /// Returns the parts of the ranges that are within a range of bytes.
    pub fn within(&self, from: u64, to: u64) -> impl Iterator<Item = Range> {
        let before = self.map.range(..from).next_back().map_or(from, |(first, _)| *first);
        let near = self.map.range(before..to.max(before));
        near.map(move |(first, (end, number))| ((*first).max(from), (*end).min(to), *number))
            .filter(|(from, to, _)| from < to)
    }

    /// Returns whether they cover every byte of a range.
    pub(crate) fn cover(&self, from: u64, to: u64) -> bool {
        let mut end = to;
        for (first, (range_end, _)) in self.map.range(..to).rev() {
            if *range_end < end {
                return false;
            }
            end = *first;
            if end <= from {
                break;
            }
        }
        end <= from
    }

    /// Returns the first contiguous run that begins at or after a byte, or else the first of all.
    /// Touching ranges are one run, of which at most `most_bytes` are returned.
    pub(crate) fn stretch(&self, from: u64, most_bytes: u64) -> Option<(u64, u64)> {
        let mut end_before = self.map.range(..from).next_back().map(|(_, (end, _))| *end);
        let mut starts = self.map.range(from..).filter_map(|(first, (end, _))| {
            let touches = end_before.replace(*end) == Some(*first);
            (!touches).then_some(*first)
        });
        let first = starts.next().or_else(|| self.map.keys().next().copied())?;
        let most_end = first.saturating_add(most_bytes);
        let mut stretch_end = first;
        for (next, (end, _)) in self.map.range(first..most_end) {
            if *next > stretch_end {
                break;
            }
            stretch_end = *end;
        }
        Some((first, stretch_end.min(most_end)))
    }

    /// Adds a range; where there is one already, the lower number stays. Returns the number of
    /// bytes that were in no range before.
    pub fn add(&mut self, from: u64, to: u64, number: u64) -> u64 {
        let (mut at, mut new_bytes) = (from, 0);
        for (first, end, older) in self.cut(from, to) {
            new_bytes += first - at;
            self.insert(at, first, number);
            self.insert(first, end, older.min(number));
            at = end;
        }
        self.insert(at, to, number);
        new_bytes + to.saturating_sub(at)
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
    }

    /// Removes a range of bytes and returns the removed parts in order.
    pub fn cut(&mut self, from: u64, to: u64) -> Vec<Range> {
        let mut taken = Vec::new();
        while let Some((first, (end, number))) = self.map.range(..to).next_back().map(|(a, b)| (*a, *b)) {
            if end <= from || from >= to {
                break;
            }
            self.map.remove(&first);
            for (low, high) in [(first, from), (to, end)] {
                if low < high {
                    self.map.insert(low, (high, number));
                }
            }
            taken.push((first.max(from), end.min(to), number));
        }
        taken.reverse();
        taken
    }

    /// Returns the intersection. Of two numbers the higher one is kept, because one of the sets has
    /// all earlier writes.
    pub fn both(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for (from, to, number) in self.iter() {
            for (first, end, other_number) in other.within(from, to) {
                both.insert(first, end, number.max(other_number));
            }
        }
        both
    }

    /// Removes the ranges whose oldest write at risk is one of these.
    pub(crate) fn without(&mut self, numbers: &[u64]) {
        self.map.retain(|_, (_, number)| !numbers.contains(number));
    }

    fn insert(&mut self, mut from: u64, mut to: u64, number: u64) {
        if from >= to {
            return;
        }
        if let Some((first, (end, neighbour))) = self.map.range(..=from).next_back().map(|(a, b)| (*a, *b))
            && (end, neighbour) == (from, number)
        {
            from = first;
        }
        if let Some((end, neighbour)) = self.map.get(&to).copied()
            && neighbour == number
        {
            self.map.remove(&to);
            to = end;
        }
        self.map.insert(from, (to, number));
    }
}

impl Extend<Range> for Ranges {
    fn extend<I: IntoIterator<Item = Range>>(&mut self, ranges: I) {
        for (from, to, number) in ranges {
            self.add(from, to, number);
        }
    }
}

impl FromIterator<Range> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> Self {
        let mut set = Self::default();
        set.extend(ranges);
        set
    }
}

/// Acknowledged writes that are not on the medium, and the effect of a power cut on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtRisk {
    /// Ranges that are lost.
    pub lost: Ranges,
    /// Ranges that a battery or a capacitor saves.
    pub saved: Ranges,
}

impl AtRisk {
    /// Returns a state in which all ranges are saved, or all are lost.
    pub(crate) fn all(ranges: Ranges, saved: bool) -> Self {
        let none = Ranges::default();
        if saved { Self { lost: none, saved: ranges } } else { Self { lost: ranges, saved: none } }
    }

    /// Combines it with the memory of a layer above, which has newer data: what that saves is not
    /// lost, and what it loses is not saved.
    pub(crate) fn below(mut self, above: &Self) -> Self {
        for (from, to, number) in above.saved.iter() {
            self.lost.cut(from, to);
            self.saved.add(from, to, number);
        }
        for (from, to, number) in above.lost.iter() {
            self.saved.cut(from, to);
            self.lost.add(from, to, number);
        }
        self
    }

    /// Maps the ranges to other addresses; `place` adds the ranges to which a range maps.
    pub(crate) fn moved(&self, place: impl Fn(Range, &mut Ranges)) -> Self {
        let all = |ranges: &Ranges| {
            let mut moved = Ranges::default();
            ranges.iter().for_each(|range| place(range, &mut moved));
            moved
        };
        Self { lost: all(&self.lost), saved: all(&self.saved) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(ranges: &Ranges) -> [Option<u64>; 120] {
        let mut plain = [None; 120];
        let mut last = 0;
        for (from, to, number) in ranges.iter() {
            assert!(last <= from && from < to);
            last = to;
            plain[from as usize..to as usize].fill(Some(number));
        }
        plain
    }

    fn any_ranges() -> impl Strategy<Value = Ranges> {
        let range = (0u64..80, 0u64..20, 1u64..6);
        prop::collection::vec(range.prop_map(|(from, length, number)| (from, from + length, number)), 0..20)
            .prop_map(Ranges::from_iter)
    }

    proptest! {
        /// After additions, cuts and combinations, ranges match a plain list with a number per
        /// byte.
        #[test]
        fn ranges_are_numbers_of_bytes(
            one in any_ranges(), other in any_ranges(), from in 0u64..80, length in 0u64..30, number in 1u64..6,
        ) {
            let (a, b) = (plain(&one), plain(&other));
            let lower = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(b.map_or(a, |b| a.min(b))));
            let within = |at: usize| (from..from + length).contains(&(at as u64));
            let mut sum = one.clone();
            sum.extend(other.iter());
            let (both, inside) = (one.both(&other), Ranges::from_iter(one.within(from, from + length)));
            let (mut more, mut less) = (one.clone(), one.clone());
            more.add(from, from + length, number);
            prop_assert_eq!(Ranges::from_iter(less.cut(from, from + length)), inside.clone());
            for at in 0..120 {
                prop_assert_eq!(plain(&sum)[at], lower(a[at], b[at]));
                prop_assert_eq!(plain(&both)[at], a[at].zip(b[at]).map(|(a, b)| a.max(b)));
                prop_assert_eq!(plain(&inside)[at], a[at].filter(|_| within(at)));
                prop_assert_eq!(plain(&less)[at], a[at].filter(|_| !within(at)));
                prop_assert_eq!(plain(&more)[at], if within(at) { lower(a[at], Some(number)) } else { a[at] });
            }
            prop_assert_eq!(sum.bytes(), plain(&sum).iter().flatten().count() as u64);
        }
    }

    #[test]
    fn what_a_memory_above_saves_is_not_lost_below() {
        let below = AtRisk::all(Ranges::from_iter([(0, 100, 3)]), false);
        let above =
            AtRisk { lost: Ranges::from_iter([(90, 120, 9)]), saved: Ranges::from_iter([(0, 40, 7)]) };
        let all = below.below(&above);
        assert_eq!(all.lost, Ranges::from_iter([(40, 100, 3), (100, 120, 9)]));
        assert_eq!(all.saved, Ranges::from_iter([(0, 40, 7)]));
    }
}
