//! Counts of requests.

use kurabe_sim::{Ranges, RecordedRequest, RequestKind};
use std::ops::Range;

/// A kind of count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Flushes with something to flush.
    Flushes,
    /// Flushes without a write since the previous one. A journal may send one more or less.
    EmptyFlushes,
    /// Flushes that follow only writes to the file system's journal: those that make a commit block
    /// durable.
    JournalFlushes,
    /// Writes.
    Writes,
    /// Bytes written.
    WrittenBytes,
    /// Writes that do not continue where the previous one ended.
    RandomWrites,
    /// Bytes written to offsets that were already written in this recording.
    RewrittenBytes,
    /// Reads.
    Reads,
    /// Bytes read.
    ReadBytes,
    /// Reads that do not continue where the previous one ended.
    RandomReads,
    /// Discards.
    Discards,
    /// Bytes discarded.
    DiscardedBytes,
    /// Bytes written by the program itself.
    AskedBytes,
}

/// Every count with its stable word.
pub const COUNTS: [(&str, Count); 13] = [
    ("flushes", Count::Flushes),
    ("empty_flushes", Count::EmptyFlushes),
    ("journal_flushes", Count::JournalFlushes),
    ("writes", Count::Writes),
    ("written_bytes", Count::WrittenBytes),
    ("random_writes", Count::RandomWrites),
    ("rewritten_bytes", Count::RewrittenBytes),
    ("reads", Count::Reads),
    ("read_bytes", Count::ReadBytes),
    ("random_reads", Count::RandomReads),
    ("discards", Count::Discards),
    ("discarded_bytes", Count::DiscardedBytes),
    ("asked_bytes", Count::AskedBytes),
];

/// Unit of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountUnit {
    /// Requests.
    Requests,
    /// Bytes.
    Bytes,
}

impl Count {
    /// Returns the stable word.
    pub fn word(self) -> &'static str {
        COUNTS[self as usize].0
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> CountUnit {
        match self {
            Self::WrittenBytes
            | Self::RewrittenBytes
            | Self::ReadBytes
            | Self::DiscardedBytes
            | Self::AskedBytes => CountUnit::Bytes,
            _ => CountUnit::Requests,
        }
    }
}

/// All counts, in the order of [`COUNTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts([u64; COUNTS.len()]);

impl RequestCounts {
    /// Counts requests in the order of their arrival. `journal` are the ranges of the file system's
    /// journal.
    pub fn of<'r>(recorded: impl IntoIterator<Item = &'r RecordedRequest>, journal: &[Range<u64>]) -> Self {
        let mut counts = Self::default();
        // Whether all writes since the previous flush were to the journal.
        let mut is_journal = true;
        let (mut covered, mut is_clean) = (Ranges::default(), true);
        let mut ends_bytes = [u64::MAX; 2];
        for RecordedRequest { request, .. } in recorded {
            let bytes = u64::from(request.length_bytes);
            let (from, to) = (request.offset_bytes, request.end_bytes());
            match request.kind {
                RequestKind::Flush => {
                    counts.add(if is_clean { Count::EmptyFlushes } else { Count::Flushes }, 1);
                    counts.add(Count::JournalFlushes, (is_journal && !is_clean).into());
                    (is_clean, is_journal) = (true, true);
                }
                RequestKind::Trim => {
                    counts.add(Count::Discards, 1);
                    counts.add(Count::DiscardedBytes, bytes);
                }
                RequestKind::Read => {
                    counts.add(Count::Reads, 1);
                    counts.add(Count::ReadBytes, bytes);
                    counts.add(Count::RandomReads, (ends_bytes[0] != from).into());
                    ends_bytes[0] = to;
                }
                RequestKind::Write | RequestKind::WriteZeroes => {
                    counts.add(Count::Writes, 1);
                    counts.add(Count::WrittenBytes, bytes);
                    counts.add(Count::RandomWrites, (ends_bytes[1] != from).into());
                    counts.add(Count::RewrittenBytes, bytes - covered.add(from, to, 0));
                    ends_bytes[1] = to;
                    let is_of_journal = journal.iter().any(|place| place.start <= from && to <= place.end);
                    // A write that waits for the medium is also a flush.
                    counts.add(Count::Flushes, request.fua.into());
                    counts.add(Count::JournalFlushes, (request.fua && is_of_journal).into());
                    is_clean = false;
                    is_journal &= is_of_journal;
                }
            }
        }
        counts
    }

    /// Returns the value of a count.
    pub fn get(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    /// Sets the value of a count.
    pub fn set(&mut self, count: Count, value: u64) {
        self.0[count as usize] = value;
    }

    pub(crate) fn add(&mut self, count: Count, more: u64) {
        self.0[count as usize] += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::fixture::recorded;
    use RequestKind::{Flush, Read, Trim, Write};

    #[test]
    fn what_is_counted_of_requests() {
        let requests = recorded(&[
            (Flush, 0, 0),
            (Write, 0, 8192),
            (Write, 8192, 4096),
            (Flush, 0, 0),
            (Flush, 0, 0),
            (Write, 4096, 8192),
            (Read, 0, 4096),
            (Read, 4096, 4096),
            (Read, 0, 4096),
            (Trim, 0, 12_288),
        ]);
        let counts = RequestCounts::of(&requests, &[]);
        let all: Vec<u64> = COUNTS.iter().map(|(_, count)| counts.get(*count)).collect();
        assert_eq!(all, [1, 2, 0, 3, 20_480, 2, 8192, 3, 12_288, 2, 1, 12_288, 0]);
        for (place, (word, count)) in COUNTS.iter().enumerate() {
            assert_eq!((*count as usize, count.word()), (place, *word));
        }
    }

    #[test]
    fn a_flush_of_a_commit_block_is_the_journals() {
        let journal = 1 << 20..2 << 20;
        let commit = [
            (Write, 0, 4096),
            (Write, 1 << 20, 8192),
            (Flush, 0, 0),
            (Write, (1 << 20) + 8192, 4096),
            (Flush, 0, 0),
        ];
        let mut requests = recorded(&commit);
        let flushes = |requests: &[RecordedRequest]| {
            let counts = RequestCounts::of(requests, std::slice::from_ref(&journal));
            [Count::Flushes, Count::JournalFlushes].map(|count| counts.get(count))
        };
        assert_eq!(flushes(&requests), [2, 1]);
        // The same on a device that supports FUA.
        requests[3].request.fua = true;
        assert_eq!(flushes(&requests[..4]), [2, 1]);
    }
}
