//! One pass of a cell, with everything observed during it.

use super::RankedRepetition;
use crate::workload::{Direction, OpKind, is_zero};
use crate::{model::TimeAccount, split::KernelSplit};
use serde::{Deserialize, Serialize};

/// Latencies of one kind of operation as a sparse log-linear histogram.
///
/// `buckets` holds `(lowest value of the bucket in ns, count)` in ascending order. A bucket extends
/// to the lowest value of the next possible bucket, which is at most 1/128 above its own.
/// kurabe-stats reads it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyRecord {
    /// Number of operations.
    pub count: u64,
    /// Smallest latency in ns, 0 without operations.
    pub min_ns: u64,
    /// Largest latency in ns, 0 without operations.
    pub max_ns: u64,
    /// Sum of the latencies in ns.
    pub sum_ns: u64,
    /// Lower bounds and counts of the buckets.
    pub buckets: Vec<(u64, u64)>,
}

impl LatencyRecord {
    /// Returns the arithmetic mean in ns, or `None` without operations.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

/// The operations of one kind in a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpsRecord {
    /// Number of operations submitted.
    pub submitted: u64,
    /// Number of operations completed in full.
    pub completed: u64,
    /// Number of operations that failed.
    pub failed: u64,
    /// Bytes of completed operations.
    pub bytes: u64,
    /// Latencies of completed operations.
    pub latency: LatencyRecord,
}

impl OpsRecord {
    /// Returns whether there is nothing to report about operations of this kind.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// One interval of a time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Bytes read.
    pub read_bytes: u64,
    /// Reads completed.
    pub read_operations: u32,
    /// Highest latency of these reads in ns.
    pub read_worst_ns: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes completed.
    pub write_operations: u32,
    /// Highest latency of these writes in ns.
    pub write_worst_ns: u64,
    /// Bytes discarded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_bytes: u64,
    /// Discards completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_operations: u32,
    /// Highest latency of these discards in ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_worst_ns: u64,
}

impl Interval {
    /// Returns the bytes of all kinds of operations.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes).saturating_add(self.trim_bytes)
    }

    /// Returns the number of reads, writes and discards.
    pub fn operations(&self) -> u64 {
        [self.read_operations, self.write_operations, self.trim_operations].map(u64::from).iter().sum()
    }

    /// Returns the highest latency of these operations in ns.
    pub fn worst_ns(&self) -> u64 {
        self.read_worst_ns.max(self.write_worst_ns).max(self.trim_worst_ns)
    }
}

/// A time series from the start of a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Length of an interval in ns.
    pub interval_ns: u64,
    /// Intervals in order. The last one may be shorter.
    pub intervals: Vec<Interval>,
}

/// An operation, or a time without any completion, that is far longer than the repetition's own
/// median. Operations that were delayed together form one stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stall {
    /// Start in ns, from the start of the repetition.
    pub at_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Kind of the operation with the highest latency.
    pub kind: OpKind,
    /// Offset of that operation.
    pub offset_bytes: u64,
    /// Number of operations delayed.
    pub operations: u64,
    /// Latency of that operation in ns. 0 in older records, which stored only the length of the
    /// stall.
    #[serde(default)]
    pub longest_ns: u64,
}

/// CPU time of kurabe during a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuUse {
    /// User time in ns.
    pub user_ns: u64,
    /// System time in ns, including kernel workers if the kernel charges them to kurabe.
    pub system_ns: u64,
}

/// Other activity during a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Bytes that other processes read from the device, if its counters show it.
    pub other_read_bytes: Option<u64>,
    /// Bytes that other processes wrote to the device.
    pub other_write_bytes: Option<u64>,
    /// Share of the CPU time stolen by the hypervisor, 0 to 1.
    pub steal_share: Option<f64>,
    /// Share of the time in which some task waited for I/O (PSI), 0 to 1. Includes kurabe's own
    /// waiting.
    pub io_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for a CPU (PSI), 0 to 1.
    pub cpu_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for memory (PSI), 0 to 1.
    pub memory_pressure_share: Option<f64>,
    /// CPU time of all processes except kurabe, in CPUs (1.0 is one CPU busy all the time).
    pub other_cpus_busy: Option<f64>,
    /// Time in ns during which the machine was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_ns: Option<u64>,
}

/// One pass of a cell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repetition {
    /// Zero-based index within the cell, counting discarded ones.
    pub index: u32,
    /// Whether the profile's rules exclude it from the figure.
    pub discarded: bool,
    /// Seed of the offsets and data.
    pub seed: u64,
    /// Start in ns, from the start of the run.
    pub started_ns: u64,
    /// Zero-based position in the common order of all targets of a `versus`. `None` in an ordinary
    /// run.
    pub turn: Option<u32>,
    /// Measured time in ns, from the first submission to the last completion, including a timed
    /// fsync.
    pub elapsed_ns: u64,
    /// When the first issuing thread finished its operations, in ns. `None` if unknown.
    pub first_done_ns: Option<u64>,
    /// Reads.
    pub read: OpsRecord,
    /// The queue depth determined for this repetition, if the workload has a latency target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iodepth: Option<u32>,
    /// Writes.
    pub write: OpsRecord,
    /// Syncs.
    pub sync: OpsRecord,
    /// Discards.
    #[serde(default, skip_serializing_if = "OpsRecord::is_nothing")]
    pub trim: OpsRecord,
    /// Duration of the final fsync in ns, if there was one.
    pub end_sync_ns: Option<u64>,
    /// Operations of an open loop that were due but not issued before the end, because the device
    /// did not keep up.
    #[serde(default)]
    pub unserved_operations: u64,
    /// Time series.
    pub series: Series,
    /// The longest stalls, in order of time.
    pub stalls: Vec<Stall>,
    /// Number of all stalls, including those not listed.
    pub stall_count: u64,
    /// Threshold in ns above which an operation or a gap counts as a stall.
    pub stall_threshold_ns: u64,
    /// kurabe's own CPU time.
    pub cpu: CpuUse,
    /// Share of the issuing threads' time spent in kurabe's own code (user time), 0 to 1.
    pub generator_share: f64,
    /// Whether kurabe was the bottleneck, not the storage.
    pub generator_bound: bool,
    /// Other activity during the repetition.
    pub noise: Noise,
    /// Single operations of steps that sample the target (positional, access time).
    #[serde(default)]
    pub samples: Vec<Sample>,
    /// The first operations that took a millisecond or more, in order, if only one was in flight at
    /// a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Sample>,
    /// Transfers recorded by the device's own counters, including those of other processes. Only
    /// for steps whose operations kurabe does not issue to the device itself (copy, command).
    pub traffic: Option<Traffic>,
    /// Time breakdown of its operations, on a modelled target.
    pub account: Option<TimeAccount>,
    /// Time breakdown from the kernel's tracepoints. Tracing costs time, so such a repetition is
    /// discarded.
    pub kernel: Option<KernelSplit>,
    /// The share of each rank, if several processes measured together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RankedRepetition>>,
}

/// One timed operation of a step that samples the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Offset in bytes.
    pub offset_bytes: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Duration in ns, including a fsync that belongs to it.
    pub elapsed_ns: u64,
}

impl Sample {
    /// Returns bytes per second.
    pub fn rate_bytes_per_s(&self) -> f64 {
        per_second(self.bytes, self.elapsed_ns)
    }
}

/// Transfers recorded by a device's own counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Reads completed.
    pub read_operations: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub write_operations: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

impl Repetition {
    /// Returns the operations of one kind.
    pub fn side(&self, kind: OpKind) -> &OpsRecord {
        match kind {
            OpKind::Read => &self.read,
            OpKind::Write => &self.write,
            OpKind::Sync => &self.sync,
            OpKind::Trim => &self.trim,
        }
    }

    /// Returns the number of operations that failed, including syncs.
    pub fn failed(&self) -> u64 {
        self.total(|side| side.failed)
    }

    /// Returns the number of operations that completed, including syncs.
    pub fn completed(&self) -> u64 {
        self.total(|side| side.completed)
    }

    fn total(&self, count: fn(&OpsRecord) -> u64) -> u64 {
        OpKind::ALL.map(|kind| count(self.side(kind))).into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the bytes transferred in a direction. For a mix, the sum of all kinds.
    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.bytes,
            Direction::Write => self.write.bytes,
            Direction::Mix => self.total(|side| side.bytes).saturating_sub(self.sync.bytes),
        }
    }

    /// Returns the number of operations that completed in a direction.
    pub fn operations(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.completed,
            Direction::Write => self.write.completed,
            Direction::Mix => self.completed().saturating_sub(self.sync.completed),
        }
    }

    /// Returns bytes per second in a direction.
    pub fn rate_bytes_per_s(&self, direction: Direction) -> f64 {
        per_second(self.bytes(direction), self.elapsed_ns)
    }

    /// Returns operations per second in a direction.
    pub fn rate_iops(&self, direction: Direction) -> f64 {
        per_second(self.operations(direction), self.elapsed_ns)
    }
}

pub(super) fn per_second(count: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count as f64 * 1e9 / elapsed_ns as f64 }
}
