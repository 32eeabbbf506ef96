//! Probes: workloads whose mean time per operation is compared with that of a model.
//!
//! A probe gives the same operations on the device and on every candidate, in the same order after
//! the same earlier probes, so that the state that they leave is the same.

use kurabe_core::random::Random;
use kurabe_core::workload::{Op, OpKind};

/// Order of the offsets of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOrder {
    /// Anywhere in the region.
    Random,
    /// One after the other, from the start of the region.
    Sequential,
    /// Places of the region, each several times in succession.
    Again,
}

/// Share of writes among the operations of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeWrites {
    /// Reads alone.
    None,
    /// So many of a hundred operations, evenly spread.
    Percent(u8),
    /// So many reads, then as many writes.
    Turns(u8),
}

/// A part of the device, in thousandths of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRegion {
    /// Its start.
    pub from: u16,
    /// Its end.
    pub to: u16,
    /// Most bytes of it.
    pub most_bytes: u64,
}

impl ProbeRegion {
    /// A span that covers the whole device.
    pub const WHOLE: Self = Self { from: 0, to: 1000, most_bytes: u64::MAX };

    /// The first bytes of the device.
    pub const fn first(most_bytes: u64) -> Self {
        Self { from: 0, to: 1000, most_bytes }
    }

    /// A part of it.
    pub const fn part(from: u16, to: u16) -> Self {
        Self { from, to, most_bytes: u64::MAX }
    }
}

/// A workload as a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeWorkload {
    /// Bytes of an operation.
    pub block_bytes: u32,
    /// Operations in flight.
    pub depth: usize,
    /// Order of the offsets.
    pub order: ProbeOrder,
    /// Share of writes among the operations of a probe.
    pub writes: ProbeWrites,
    /// Where it operates.
    pub region: ProbeRegion,
}

/// Times that `Again` operates on a place.
const AGAIN: usize = 4;

impl ProbeWorkload {
    /// Reads at random places of the device.
    pub const fn random(block_bytes: u32, depth: usize) -> Self {
        let region = ProbeRegion::WHOLE;
        Self { block_bytes, depth, order: ProbeOrder::Random, writes: ProbeWrites::None, region }
    }

    /// Reads at ascending offsets, of one size.
    pub const fn sequential(block_bytes: u32, depth: usize) -> Self {
        Self { order: ProbeOrder::Sequential, ..Self::random(block_bytes, depth) }
    }

    /// The same with writes.
    #[must_use]
    pub const fn with(self, writes: ProbeWrites) -> Self {
        Self { writes, ..self }
    }

    /// The same as writes.
    #[must_use]
    pub const fn writing(self) -> Self {
        self.with(ProbeWrites::Percent(100))
    }

    /// The same in a region.
    #[must_use]
    pub const fn within(self, region: ProbeRegion) -> Self {
        Self { region, ..self }
    }

    /// Returns whether it writes.
    pub fn does_write(&self) -> bool {
        self.writes != ProbeWrites::None
    }

    /// Returns its first operations on a device of this size. `number` distinguishes probes.
    pub fn ops(&self, span_bytes: u64, number: u64, count: usize) -> Vec<Op> {
        let block = u64::from(self.block_bytes);
        let at = |share: u16| span_bytes / 1000 * u64::from(share) / block * block;
        let from = at(self.region.from);
        let bytes = (at(self.region.to).min(span_bytes) - from).min(self.region.most_bytes).max(block);
        let places = (bytes / block).max(1);
        let mut random = Random::new(0x6669_7420, number);
        let (mut read_at, mut write_at, mut place) = (0, places / 2, 0);
        (0..count)
            .map(|index| {
                let is_write = match self.writes {
                    ProbeWrites::None => false,
                    ProbeWrites::Percent(percent) => {
                        let share = |index| index * usize::from(percent) / 100;
                        share(index + 1) > share(index)
                    }
                    ProbeWrites::Turns(turn) => (index / usize::from(turn)) % 2 == 1,
                };
                match self.order {
                    ProbeOrder::Random => place = random.below(places),
                    ProbeOrder::Again if index % AGAIN == 0 => place = random.below(places),
                    ProbeOrder::Again => {}
                    // Reads and writes each have their own place, as in a copy.
                    ProbeOrder::Sequential => {
                        let next = if is_write { &mut write_at } else { &mut read_at };
                        place = *next % places;
                        *next += 1;
                    }
                }
                let kind = if is_write { OpKind::Write } else { OpKind::Read };
                Op { kind, offset_bytes: from + place * block, length_bytes: self.block_bytes }
            })
            .collect()
    }
}
