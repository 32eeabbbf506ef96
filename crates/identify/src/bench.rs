//! The device under test, as the probes see it.

use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Result, random::Random};

/// Facts about the device that need no probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchFacts {
    /// Bytes that offsets may cover.
    pub span_bytes: u64,
    /// Smallest unit of an operation.
    pub unit_bytes: u64,
    /// Whether offsets are places of the whole device, not of a file on it.
    pub is_device: bool,
    /// Whether it is a new file in a directory, which must be written before it is read.
    pub is_new_file: bool,
    /// Whether probes may write.
    pub is_writable: bool,
    /// Most operations in flight.
    pub most_in_flight: usize,
    /// Whether the time is virtual, so that nothing wears.
    pub is_model: bool,
    /// Whether something between the program and the device may reorder operations.
    pub may_reorder: bool,
}

/// How operations are performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Number of operations in flight.
    pub depth: usize,
    /// Whether a write completes only when it is durable.
    pub is_durable: bool,
    /// Whether written blocks carry their own address, and read ones are checked for it.
    pub is_stamped: bool,
}

impl Manner {
    /// One operation at a time.
    pub const PLAIN: Self = Self { depth: 1, is_durable: false, is_stamped: false };
    /// Durable writes, one at a time.
    pub const DURABLE: Self = Self { is_durable: true, ..Self::PLAIN };

    /// Several operations at a time.
    pub const fn deep(depth: usize) -> Self {
        Self { depth, ..Self::PLAIN }
    }

    /// The same with stamps.
    #[must_use]
    pub const fn stamped(self) -> Self {
        Self { is_stamped: true, ..self }
    }
}

/// An operation that was performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Performed {
    /// Time of submission, in ns.
    pub start_ns: u64,
    /// Time of completion, in ns.
    pub end_ns: u64,
    /// Address that the first block of a read carries, if this identification wrote it.
    pub stamp_bytes: Option<u64>,
}

impl Performed {
    /// Returns its latency in ns.
    pub fn latency_ns(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64
    }
}

/// A device under test.
pub trait DeviceBench {
    /// Returns the facts about the device.
    fn facts(&self) -> BenchFacts;

    /// Lets time pass without operations.
    ///
    /// # Errors
    /// When the user stops the program.
    fn rest(&mut self, length_ns: u64) -> Result<()>;

    /// Performs operations in order. Their times are returned in the same order.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>>;

    /// Drops what the operating system's memory has of the device. Returns whether it could.
    ///
    /// # Errors
    /// When the operating system fails.
    fn forget(&mut self) -> Result<bool>;
}

/// Returns a read of these bytes.
pub(crate) fn read(offset_bytes: u64, length_bytes: u64) -> Op {
    Op { kind: OpKind::Read, offset_bytes, length_bytes: length_bytes as u32 }
}

/// Returns a write of these bytes.
pub(crate) fn write(offset_bytes: u64, length_bytes: u64) -> Op {
    Op { kind: OpKind::Write, offset_bytes, length_bytes: length_bytes as u32 }
}

/// A flush of the device.
pub(crate) const FLUSH: Op = Op { kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0 };

/// Returns a random place for so many bytes, at a multiple of them, in the span.
pub(crate) fn random_place(random: &mut Random, span_bytes: u64, length_bytes: u64) -> u64 {
    random.below((span_bytes / length_bytes).max(1)) * length_bytes
}

/// Returns the latencies of operations, in ns.
pub(crate) fn latencies(performed: &[Performed]) -> Vec<f64> {
    performed.iter().map(Performed::latency_ns).collect()
}

/// Returns the time from the first submission to the last completion, in ns.
pub(crate) fn elapsed_ns(performed: &[Performed]) -> f64 {
    let start = performed.iter().map(|one| one.start_ns).min().unwrap_or(0);
    let end = performed.iter().map(|one| one.end_ns).max().unwrap_or(0);
    end.saturating_sub(start).max(1) as f64
}

/// Returns the value below which this share of the values lies; 0 without values.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

/// Returns the median; 0 without values.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}
