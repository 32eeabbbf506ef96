//! The log of a shingled disk: recently written data in order of arrival.
//!
//! The model: positions in the log increase forever; the position of a byte on the disk is that
//! number modulo the size of the log. A map has the log position of each range of the drive's
//! addresses that is in the log. Overwritten or removed data leave a hole, whose space is available
//! again when everything before it is removed.

use std::collections::{BTreeMap, VecDeque};

/// A range of addresses: first byte, byte after the last, and start in the log.
pub(super) type LoggedStretch = (u64, u64, u64);

#[derive(Clone, Debug, Default)]
pub(super) struct CacheLog {
    size_bytes: u64,
    most_entries: usize,
    /// By first byte: the byte after the last, and the start in the log.
    map: BTreeMap<u64, (u64, u64)>,
    /// Appended ranges, the oldest first, including those that are no longer mapped.
    order: VecDeque<LoggedStretch>,
    /// Position of the next byte.
    pub(super) head_bytes: u64,
}

impl CacheLog {
    pub(super) fn new(size_bytes: u64, most_entries: usize) -> Self {
        Self { size_bytes, most_entries, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the position on the disk of a byte of the log.
    pub(super) fn place(&self, at: u64) -> u64 {
        at % self.size_bytes
    }

    /// Returns the oldest address in the log, and its position there.
    pub(super) fn oldest(&mut self) -> Option<(u64, u64)> {
        while let Some((first, end, at)) = self.order.front().copied() {
            let kept =
                self.within(first, end).into_iter().find(|(from, _, place)| place - at == from - first);
            if let Some((from, _, place)) = kept {
                return Some((from, place));
            }
            self.order.pop_front();
        }
        None
    }

    /// Returns whether this many more bytes fit into log and map.
    pub(super) fn has_room(&mut self, bytes: u64) -> bool {
        let tail_bytes = self.oldest().map_or(self.head_bytes, |(_, at)| at);
        // A range may have to wrap around to the start of the log.
        self.map.len() < self.most_entries && self.head_bytes + 2 * bytes - tail_bytes <= self.size_bytes
    }

    /// Returns the parts of a range that are in the log, in order of address.
    pub(super) fn within(&self, from: u64, to: u64) -> Vec<LoggedStretch> {
        let before = self.map.range(..from).next_back().map_or(from, |(first, _)| *first);
        let near = self.map.range(before..to.max(before));
        near.map(|(first, (end, at))| ((*first).max(from), (*end).min(to), at + first.max(&from) - first))
            .filter(|(from, to, _)| from < to)
            .collect()
    }

    /// Appends a range and returns its start in the log.
    pub(super) fn append(&mut self, from: u64, to: u64) -> u64 {
        self.cut(from, to, u64::MAX);
        let length_bytes = to - from;
        if self.place(self.head_bytes) + length_bytes > self.size_bytes {
            self.head_bytes = self.head_bytes.next_multiple_of(self.size_bytes);
        }
        let at = self.head_bytes;
        self.head_bytes += length_bytes;
        let before = self.map.range_mut(..from).next_back();
        match before.filter(|(first, (end, place))| (*end, *place + *end - **first) == (from, at)) {
            // It continues in both, so it needs no new entry of the map.
            Some((_, (end, _))) => *end = to,
            None => {
                self.map.insert(from, (to, at));
            }
        }
        self.order.push_back((from, to, at));
        at
    }

    /// Removes the parts of a range that were appended before a position.
    pub(super) fn cut(&mut self, from: u64, to: u64, before: u64) {
        for (first, end, at) in self.within(from, to).into_iter().filter(|(.., at)| *at < before) {
            let Some((whole, (whole_end, whole_at))) = self.map.range(..=first).next_back() else { return };
            let (whole, whole_end, whole_at) = (*whole, *whole_end, *whole_at);
            self.map.remove(&whole);
            for (low, high) in [(whole, first), (end, whole_end)] {
                if low < high {
                    self.map.insert(low, (high, whole_at + low - whole));
                }
            }
            debug_assert_eq!(at, whole_at + first - whole);
        }
    }

    /// Returns the addresses whose data are in a range of the log's positions.
    pub(super) fn addresses(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        self.map.iter().filter_map(move |(first, (end, at))| {
            let place = self.place(*at);
            let (low, high) = (place.max(from), (place + end - first).min(to));
            (low < high).then(|| (first + low - place, first + high - place))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any appends and removals, the map has the latest position of each byte.
        #[test]
        fn the_map_tells_where_each_byte_was_appended_last(
            steps in prop::collection::vec((any::<bool>(), 0u64..80, 1u64..20), 1..60),
        ) {
            let mut log = CacheLog::new(100, 1000);
            let mut plain = [None; 100];
            for (appends, from, length) in steps {
                let places = &mut plain[from as usize..(from + length) as usize];
                if appends {
                    let at = log.append(from, from + length);
                    places.iter_mut().enumerate().for_each(|(index, place)| *place = Some(at + index as u64));
                } else {
                    log.cut(from, from + length, u64::MAX);
                    places.fill(None);
                }
                let mut mapped = [None; 100];
                for (from, to, at) in log.within(0, 100) {
                    (from..to).for_each(|byte| mapped[byte as usize] = Some(at + byte - from));
                }
                prop_assert_eq!(mapped, plain);
                let oldest = log.oldest().map(|(_, at)| at);
                prop_assert_eq!(oldest, plain.iter().flatten().min().copied());
            }
        }
    }
}
