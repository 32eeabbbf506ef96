//! The log buffer: erased flash into which small scattered writes are appended in order of arrival.
//!
//! The model: the set of granules in the log, by unit. A write adds its granules or replaces those
//! that are already there. When the log is full, the unit that has been in it longest is merged: it
//! is rewritten from its old data and its granules in the log. So a log costs nothing as long as
//! the writes cover fewer bytes than it has, and more and more beyond that. (The log block schemes
//! of Kim et al. 2002, BAST, and Lee et al. 2007, FAST, with the log mapped in full.)
//!
//! The log is mapped by sectors, so a write occupies as many bytes as it has, whatever its
//! alignment. It is recorded in granules, by the position where a write of that length begins.
//! Overlapping writes of different alignment count as the same granules.
//!
//! Not modelled: garbage collection of the log itself, which has space to spare.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Contents of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    granule_bytes: u64,
    unit_bytes: u64,
    most_granules: u64,
    granules: BTreeSet<u64>,
    /// Number of granules in the log, by unit; every unit here is in the queue once.
    units: BTreeMap<u64, u64>,
    /// Units in order of arrival.
    queue: VecDeque<u64>,
}

impl Log {
    /// Creates a log of `bytes`; `None` if that is less than a granule.
    pub(super) fn new(bytes: u64, granule_bytes: u64, unit_bytes: u64) -> Option<Self> {
        let most_granules = bytes / granule_bytes;
        (most_granules > 0).then(|| Self { granule_bytes, unit_bytes, most_granules, ..Self::default() })
    }

    /// Appends a write and returns the number of units merged to make room.
    pub(super) fn append(&mut self, offset_bytes: u64, length_bytes: u64) -> u64 {
        let first = offset_bytes / self.granule_bytes;
        let mut merged = 0;
        for granule in first..first + length_bytes.div_ceil(self.granule_bytes) {
            if !self.granules.insert(granule) {
                continue;
            }
            let unit = self.unit_of(granule);
            let count = self.units.entry(unit).or_insert_with(|| {
                self.queue.push_back(unit);
                0
            });
            *count += 1;
            while self.granules.len() as u64 > self.most_granules {
                merged += u64::from(self.drop_oldest());
            }
        }
        merged
    }

    fn unit_of(&self, granule: u64) -> u64 {
        granule.saturating_mul(self.granule_bytes) / self.unit_bytes
    }

    /// Removes the oldest unit. Returns whether the log held any of it, so that it must be merged.
    fn drop_oldest(&mut self) -> bool {
        let Some(unit) = self.queue.pop_front() else { return false };
        let first = (unit * self.unit_bytes).div_ceil(self.granule_bytes);
        let end = (unit * self.unit_bytes).saturating_add(self.unit_bytes).div_ceil(self.granule_bytes);
        let count = self.units.get(&unit).copied();
        self.remove(first, end);
        self.units.remove(&unit);
        count.is_some_and(|count| count > 0)
    }

    /// Invalidates the log's copies of these bytes, which were written elsewhere or are no longer
    /// needed.
    pub(super) fn forget(&mut self, offset_bytes: u64, length_bytes: u64) {
        let first = offset_bytes.div_ceil(self.granule_bytes);
        let end = offset_bytes.saturating_add(length_bytes) / self.granule_bytes;
        self.remove(first, end);
        while let Some(unit) = self.queue.front().copied()
            && self.units.get(&unit) == Some(&0)
        {
            self.queue.pop_front();
            self.units.remove(&unit);
        }
    }

    fn remove(&mut self, first: u64, end: u64) {
        while let Some(granule) = self.granules.range(first..end.max(first)).next().copied() {
            self.granules.remove(&granule);
            let unit = self.unit_of(granule);
            if let Some(count) = self.units.get_mut(&unit) {
                *count -= 1;
            }
        }
    }
}

/// Number of sequential streams tracked.
const STREAMS: usize = 4;

/// Detects sequential writes among those that go into the log, which should bypass it.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    /// Start and end of each stream; the most recent first.
    streams: [(u64, u64); STREAMS],
}

impl Streams {
    /// Returns the sequential bytes written directly before this position.
    pub(super) fn length_bytes(&self, at_bytes: u64) -> u64 {
        let stream = self.streams.iter().find(|(_, end)| *end == at_bytes);
        stream.map_or(0, |(begin, end)| end - begin)
    }

    /// Records a write into the log; a new stream replaces the one that was idle longest.
    pub(super) fn add(&mut self, at_bytes: u64, end_bytes: u64) {
        let index = self.streams.iter().position(|(_, end)| *end == at_bytes);
        let begin_bytes = index.map_or(at_bytes, |index| self.streams[index].0);
        self.streams[..=index.unwrap_or(STREAMS - 1)].rotate_right(1);
        self.streams[0] = (begin_bytes, end_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::random::Random;

    /// Counts the units merged by `writes` writes of a granule to positions below `span_bytes`,
    /// after as many uncounted ones.
    fn merges(log_bytes: u64, span_bytes: u64, writes: u64) -> u64 {
        let mut log = Log::new(log_bytes, 4096, 64 << 10).unwrap();
        let mut random = Random::new(1, 1);
        let mut run =
            || -> u64 { (0..writes).map(|_| log.append(random.below(span_bytes / 4096) * 4096, 4096)).sum() };
        run();
        run()
    }

    #[test]
    fn writes_to_fewer_bytes_than_the_log_holds_merge_little_and_wide_ones_all_the_time() {
        let spans = [256 << 10, 16 << 20, 1 << 30];
        let [small, twice, wide] = spans.map(|span| merges(8 << 20, span, 20_000));
        assert!(small == 0 && twice < 4000 && wide > 17_000, "{small} {twice} {wide}");
    }

    #[test]
    fn a_larger_log_merges_less() {
        let counts: Vec<u64> =
            [1, 2, 4, 8, 16].iter().map(|mib| merges(mib << 20, 32 << 20, 20_000)).collect();
        assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
    }

    #[test]
    fn what_is_forgotten_needs_no_merge() {
        let mut log = Log::new(64 << 10, 4096, 8192).unwrap();
        log.append(0, 64 << 10);
        log.forget(0, 64 << 10);
        assert_eq!(log.append(1 << 20, 64 << 10), 0);
        assert_eq!(log.append(2 << 20, 64 << 10), 8);
    }
}
