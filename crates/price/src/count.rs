//! What is counted of requests.

use kurabe_sim::{Ranges, RecordedRequest, RequestKind};

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Flushes with something to flush.
    Flushes,
    /// Flushes with nothing written since the one before: a journal sends one more or less, as it happens.
    EmptyFlushes,
    /// Writes.
    Writes,
    /// Bytes written.
    WrittenBytes,
    /// Writes that do not go on where the one before ended.
    RandomWrites,
    /// Bytes written to places that had been written in this recording.
    RewrittenBytes,
    /// Reads.
    Reads,
    /// Bytes read.
    ReadBytes,
    /// Reads that do not go on where the one before ended.
    RandomReads,
    /// Discards.
    Discards,
    /// Bytes discarded.
    DiscardedBytes,
    /// Bytes that the program itself asked to be written.
    AskedBytes,
}

/// Every count with its stable word.
pub const COUNTS: [(&str, Count); 12] = [
    ("flushes", Count::Flushes),
    ("empty_flushes", Count::EmptyFlushes),
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

/// In what it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountUnit {
    /// Requests.
    Requests,
    /// Bytes.
    Bytes,
}

impl Count {
    /// Its stable word.
    pub fn word(self) -> &'static str {
        COUNTS[self as usize].0
    }

    /// In what it is counted.
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
    /// Counts requests, which are in the order of their arrival.
    pub fn of(recorded: &[RecordedRequest]) -> Self {
        let mut counts = Self::default();
        let (mut covered, mut is_clean) = (Ranges::default(), true);
        let mut ends_bytes = [u64::MAX; 2];
        for RecordedRequest { request, .. } in recorded {
            let bytes = u64::from(request.length_bytes);
            let (from, to) = (request.offset_bytes, request.end_bytes());
            match request.kind {
                RequestKind::Flush => {
                    counts.add(if is_clean { Count::EmptyFlushes } else { Count::Flushes }, 1);
                    is_clean = true;
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
                    is_clean = false;
                    // A write that waits for the medium is a flush of its own.
                    counts.add(Count::Flushes, request.fua.into());
                }
            }
        }
        counts
    }

    /// One of them.
    pub fn get(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    /// Sets one of them.
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
        let counts = RequestCounts::of(&recorded(&[
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
        ]));
        let all: Vec<u64> = COUNTS.iter().map(|(_, count)| counts.get(*count)).collect();
        assert_eq!(all, [1, 2, 3, 20_480, 2, 8192, 3, 12_288, 2, 1, 12_288, 0]);
        for (place, (word, count)) in COUNTS.iter().enumerate() {
            assert_eq!((*count as usize, count.word()), (place, *word));
        }
    }
}
