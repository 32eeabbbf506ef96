//! Memory in which written bytes wait for being programmed.
//!
//! The model: bytes in the order of their writing, each lot with the time at which it will be programmed. A write is
//! acknowledged as soon as all bytes that are not programmed fit into the memory; within a lot they leave at the rate of
//! the flash.

use crate::ranges::{Range, Ranges};
use crate::timeline::transfer_ns;
use std::collections::VecDeque;

/// Memory of the device.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteBuffer {
    capacity_bytes: u64,
    /// When a lot is programmed, and its bytes.
    lots: VecDeque<(u64, u64)>,
    bytes: u64,
    /// The writes that came last, how many bytes they have, and how many of them may be in memory only.
    latest: VecDeque<Range>,
    latest_bytes: u64,
    most_latest_bytes: u64,
}

impl WriteBuffer {
    /// Beside its bytes, two stripes that are not full may be in memory: of a run and of the log.
    pub(super) fn new(capacity_bytes: u64, stripe_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            most_latest_bytes: capacity_bytes.saturating_add(stripe_bytes.saturating_mul(2)),
            ..Self::default()
        }
    }

    /// Remembers a write.
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

    /// The last so many bytes that were written.
    pub(super) fn latest(&self, mut bytes: u64) -> Ranges {
        let mut ranges = Ranges::default();
        for (from, to, number) in self.latest.iter().rev().copied() {
            let here = bytes.min(to - from);
            ranges.add(to - here, to, number);
            bytes -= here;
        }
        ranges
    }

    /// Takes bytes over at `now_ns` that will be programmed at `end_ns`, which never goes back: when they fit,
    /// with the flash's rate.
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

    /// Bytes in it at a time; a lot counts until all of it is programmed.
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
