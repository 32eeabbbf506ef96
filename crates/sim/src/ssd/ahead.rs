//! Read-ahead: when a read begins where the last one ended, the drive reads on, and the next read
//! finds its data in memory.
//!
//! The model: one sequential stream is tracked. Read-ahead data are a list of ranges with the time
//! at which each is available. A write into them discards them.

use std::collections::VecDeque;

/// Read-ahead state of a drive.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead {
    /// Maximum distance in bytes; 0 disables it.
    bytes: u64,
    /// End of the last read.
    next_bytes: u64,
    /// Ends of ranges, and when each is available. The first begins at or before `next_bytes`.
    stretches: VecDeque<(u64, u64)>,
}

/// The part of a read that was read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) end_bytes: u64,
    pub(super) ready_ns: u64,
}

impl ReadAhead {
    pub(super) fn new(bytes: u64) -> Self {
        // No read begins at this position, so the first read is not sequential.
        Self { bytes, next_bytes: u64::MAX, stretches: VecDeque::new() }
    }

    /// Returns whether all of a read was read ahead, or is being read.
    pub(super) fn holds(&self, start_bytes: u64, end_bytes: u64) -> bool {
        start_bytes == self.next_bytes && self.stretches.back().is_some_and(|(end, _)| *end >= end_bytes)
    }

    /// Handles a read: returns the part that was read ahead, and the range to read ahead now.
    pub(super) fn read(
        &mut self,
        start_bytes: u64,
        end_bytes: u64,
        limit_bytes: u64,
    ) -> (Option<Found>, Option<(u64, u64)>) {
        if self.bytes == 0 {
            return (None, None);
        }
        let follows = start_bytes == self.next_bytes;
        self.next_bytes = end_bytes;
        if !follows {
            self.stretches.clear();
            return (None, None);
        }
        let mut ready = None;
        let mut covered_bytes = start_bytes;
        while let Some((stretch_end, ready_ns)) = self.stretches.front().copied() {
            if covered_bytes >= end_bytes {
                break;
            }
            let known_ns = ready.map_or(0, |ready: Found| ready.ready_ns);
            covered_bytes = stretch_end.min(end_bytes);
            ready = Some(Found { end_bytes: covered_bytes, ready_ns: known_ns.max(ready_ns) });
            if stretch_end > end_bytes {
                break;
            }
            self.stretches.pop_front();
        }
        let from_bytes = self.stretches.back().map_or(end_bytes, |(stretch_end, _)| *stretch_end);
        let to_bytes = end_bytes.saturating_add(self.bytes).min(limit_bytes);
        (ready, (from_bytes < to_bytes).then_some((from_bytes, to_bytes)))
    }

    /// Records that a range up to `end_bytes` is read ahead by a time.
    pub(super) fn add(&mut self, end_bytes: u64, ready_ns: u64) {
        self.stretches.push_back((end_bytes, ready_ns));
    }

    pub(super) fn written(&mut self, start_bytes: u64, end_bytes: u64) {
        let ahead_bytes = self.stretches.back().map_or(self.next_bytes, |(stretch_end, _)| *stretch_end);
        if start_bytes < ahead_bytes && end_bytes > self.next_bytes {
            self.stretches.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_reads_is_followed_until_something_else_comes() {
        let mut ahead = ReadAhead::new(100);
        assert_eq!(ahead.read(50, 60, 1000), (None, None));
        assert_eq!(ahead.read(60, 70, 1000), (None, Some((70, 170))));
        ahead.add(170, 5);
        assert!(ahead.holds(70, 170) && !ahead.holds(70, 171) && !ahead.holds(71, 80));
        let ready = Found { end_bytes: 80, ready_ns: 5 };
        assert_eq!(ahead.read(70, 80, 1000), (Some(ready), Some((170, 180))));
        ahead.add(180, 9);
        let ready = Found { end_bytes: 180, ready_ns: 9 };
        assert_eq!(ahead.read(80, 300, 350), (Some(ready), Some((300, 350))));
        ahead.add(350, 9);
        ahead.written(340, 341);
        assert_eq!(ahead.read(300, 310, 350), (None, Some((310, 350))));
        assert_eq!(ahead.read(0, 10, 350), (None, None));
    }
}
