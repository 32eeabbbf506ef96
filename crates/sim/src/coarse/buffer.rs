//! Memory in which written bytes wait to be programmed.
//!
//! The model: bytes in the order of writing, each lot with the time at which it will be programmed.
//! A write is acknowledged as soon as all unprogrammed bytes fit into the memory. Within a lot,
//! bytes leave at the rate of the flash.

use crate::ranges::{Range, Ranges};
use crate::timeline::transfer_ns;
use std::collections::VecDeque;

/// Write buffer of the device.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteBuffer {
    capacity_bytes: u64,
    /// For each lot, the time at which it is programmed, and its bytes.
    lots: VecDeque<(u64, u64)>,
    bytes: u64,
    /// The latest writes, their total bytes, and how many of those may be in memory only.
    latest: VecDeque<Range>,
    latest_bytes: u64,
    most_latest_bytes: u64,
}

impl WriteBuffer {
    /// In addition to its bytes, two partial stripes may be in memory: those of a run and of the
    /// log.
    pub(super) fn new(capacity_bytes: u64, stripe_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            most_latest_bytes: capacity_bytes.saturating_add(stripe_bytes.saturating_mul(2)),
            ..Self::default()
        }
    }

    pub(super) fn note(&mut self, range: Range) {
        self.latest_bytes += range.1 - range.0;
        self.latest.push_back(range);
        while let Some((from, to, _)) = self.latest.front()
            && self.latest_bytes - (to - from) >= self.most_latest_bytes
        {
            self.latest_bytes -= to - from;
            self.latest.pop_front();
        }
    }

    /// Returns the ranges of the last `bytes` bytes written.
    pub(super) fn latest(&self, mut bytes: u64) -> Ranges {
        let mut ranges = Ranges::default();
        for (from, to, number) in self.latest.iter().rev().copied() {
            let here = bytes.min(to - from);
            ranges.add(to - here, to, number);
            bytes -= here;
        }
        ranges
    }

    /// Accepts bytes at `now_ns` that will be programmed at `end_ns`, which never decreases.
    /// Returns the time at which they fit, given the rate of the flash.
    pub(super) fn add(&mut self, now_ns: u64, end_ns: u64, bytes: u64, bytes_per_s: f64) -> u64 {
        while let Some((end_ns, bytes)) = self.lots.front().copied() {
            if end_ns > now_ns {
                break;
            }
            self.lots.pop_front();
            self.bytes -= bytes;
        }
        if end_ns <= now_ns {
            return now_ns;
        }
        self.lots.push_back((end_ns, bytes));
        self.bytes += bytes;
        let mut fits_ns = now_ns;
        while self.bytes > self.capacity_bytes {
            let Some((end_ns, bytes)) = self.lots.front_mut() else { break };
            let excess = (self.bytes - self.capacity_bytes).min(*bytes);
            *bytes -= excess;
            self.bytes -= excess;
            fits_ns = fits_ns.max(end_ns.saturating_sub(transfer_ns(*bytes, bytes_per_s)));
            if *bytes == 0 {
                self.lots.pop_front();
            }
        }
        fits_ns
    }

    /// Returns the bytes in the buffer at a time; a lot counts until all of it is programmed.
    pub(super) fn bytes(&self, now_ns: u64) -> u64 {
        self.lots.iter().filter(|(end_ns, _)| *end_ns > now_ns).map(|(_, bytes)| bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_acknowledged_when_it_fits() {
        let mut buffer = WriteBuffer::new(1000, 0);
        // The first fits, the second waits for most of the first, a long one for most of itself.
        assert_eq!(buffer.add(0, 800, 800, 1e9), 0);
        assert_eq!(buffer.add(0, 1600, 800, 1e9), 600);
        assert_eq!(buffer.add(1600, 11_600, 10_000, 1e9), 10_600);
        assert_eq!((buffer.bytes(11_599), buffer.bytes(11_600)), (1000, 0));
        assert_eq!(buffer.add(20_000, 20_000, 5, 1e9), 20_000);
        assert_eq!(buffer.bytes(20_000), 0);
    }
}
