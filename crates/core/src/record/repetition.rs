//! One pass of a cell, with all that was seen while it ran.

use super::RankedRepetition;
use crate::workload::{Direction, OpKind, is_zero};
use crate::{model::TimeAccount, split::KernelSplit};
use serde::{Deserialize, Serialize};

/// Latencies of one kind of operation as a sparse log-linear histogram.
///
/// `buckets` holds `(lowest value of the bucket in ns, count)` in ascending order; a bucket reaches to the lowest
/// value of the next possible bucket, which is at most 1/128 above its own. kurabe-stats reads it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyRecord {
    /// Operations.
    pub count: u64,
    /// Smallest latency, 0 if there is none.
    pub min_ns: u64,
    /// Largest latency, 0 if there is none.
    pub max_ns: u64,
    /// Sum of latencies.
    pub sum_ns: u64,
    /// Bucket starts and counts.
    pub buckets: Vec<(u64, u64)>,
}

impl LatencyRecord {
    /// Arithmetic mean in ns, if there was an operation.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

/// What one kind of operation did in a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpsRecord {
    /// Operations submitted.
    pub submitted: u64,
    /// Operations completed in full.
    pub completed: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Bytes of completed operations.
    pub bytes: u64,
    /// Latencies of completed operations.
    pub latency: LatencyRecord,
}

impl OpsRecord {
    /// Whether nothing is told of such operations.
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
    /// Worst latency of these reads.
    pub read_worst_ns: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes completed.
    pub write_operations: u32,
    /// Worst latency of these writes.
    pub write_worst_ns: u64,
    /// Bytes discarded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_bytes: u64,
    /// Discards completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_operations: u32,
    /// Worst latency of these discards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim_worst_ns: u64,
}

impl Interval {
    /// Bytes of all kinds.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes).saturating_add(self.trim_bytes)
    }

    /// Operations of all kinds that have bytes.
    pub fn operations(&self) -> u64 {
        [self.read_operations, self.write_operations, self.trim_operations].map(u64::from).iter().sum()
    }

    /// Worst latency of these.
    pub fn worst_ns(&self) -> u64 {
        self.read_worst_ns.max(self.write_worst_ns).max(self.trim_worst_ns)
    }
}

/// A time series from the start of a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Length of an interval.
    pub interval_ns: u64,
    /// Intervals in order; the last one may be cut short by the end.
    pub intervals: Vec<Interval>,
}

/// An operation, or a time without any completion, far beyond the repetition's own median. Operations that were
/// held up together are one stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stall {
    /// Start, from the start of the repetition.
    pub at_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Kind of the operation that waited longest.
    pub kind: OpKind,
    /// Offset of that operation.
    pub offset_bytes: u64,
    /// Operations held up.
    pub operations: u64,
    /// How long that operation waited; 0 where an earlier version kept the length of the whole alone.
    #[serde(default)]
    pub longest_ns: u64,
}

/// CPU time of kurabe during a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuUse {
    /// User time.
    pub user_ns: u64,
    /// System time, kernel workers on kurabe's behalf included where the kernel accounts them so.
    pub system_ns: u64,
}

/// What else went on while a repetition ran.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Bytes that others read from the device, if its counters tell.
    pub other_read_bytes: Option<u64>,
    /// Bytes that others wrote to the device.
    pub other_write_bytes: Option<u64>,
    /// Share of the CPU time that the hypervisor took away, 0 to 1.
    pub steal_share: Option<f64>,
    /// Share of the time in which some task waited for I/O (PSI), 0 to 1; kurabe's own waiting included.
    pub io_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for a CPU (PSI), 0 to 1.
    pub cpu_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for memory (PSI), 0 to 1.
    pub memory_pressure_share: Option<f64>,
    /// CPU time of everything but kurabe, in CPUs (1.0 is one CPU busy all the time).
    pub other_cpus_busy: Option<f64>,
    /// Time for which the machine was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_ns: Option<u64>,
}

/// One pass of a cell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repetition {
    /// Number within the cell, from 0, discarded ones included.
    pub index: u32,
    /// Whether the profile's rules leave it out of the figure.
    pub discarded: bool,
    /// Seed of its offsets and data.
    pub seed: u64,
    /// Start, from the start of the run.
    pub started_ns: u64,
    /// Its place in the order that all targets of a `versus` share, from 0; `None` in a run by itself.
    pub turn: Option<u32>,
    /// Measured time: from the first submission to the last completion, a timed fsync included.
    pub elapsed_ns: u64,
    /// When the first of the threads that issued operations had done all of its own; `None` where that was not seen.
    pub first_done_ns: Option<u64>,
    /// Reads.
    pub read: OpsRecord,
    /// The queue depth that was found for it, where the workload asks for the greatest within a latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iodepth: Option<u32>,
    /// Writes.
    pub write: OpsRecord,
    /// Syncs.
    pub sync: OpsRecord,
    /// Discards.
    #[serde(default, skip_serializing_if = "OpsRecord::is_nothing")]
    pub trim: OpsRecord,
    /// Time of the fsync at the end, if there was one.
    pub end_sync_ns: Option<u64>,
    /// Operations of an open loop that were due but not issued before the end: the device did not keep up.
    #[serde(default)]
    pub unserved_operations: u64,
    /// Time series.
    pub series: Series,
    /// The worst stalls, in order of time.
    pub stalls: Vec<Stall>,
    /// All stalls, those not listed included.
    pub stall_count: u64,
    /// Latency above which an operation or a gap counts as a stall.
    pub stall_threshold_ns: u64,
    /// kurabe's own CPU time.
    pub cpu: CpuUse,
    /// Share of the issuing threads' time that kurabe spent in its own code (user time), 0 to 1.
    pub generator_share: f64,
    /// Whether kurabe was the limit, not the storage.
    pub generator_bound: bool,
    /// What else went on.
    pub noise: Noise,
    /// Single operations one by one, of steps that sample the target (positional, access time).
    #[serde(default)]
    pub samples: Vec<Sample>,
    /// The first operations of a millisecond and more, in order, where one was in flight at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Sample>,
    /// What reached the device meanwhile, by its own counters, others' traffic included; of steps whose operations
    /// kurabe does not issue to the device itself (copy, command).
    pub traffic: Option<Traffic>,
    /// Where the time of its operations went, on a modelled target.
    pub account: Option<TimeAccount>,
    /// What the kernel's tracepoints told of it. Tracing costs time, so such a repetition is discarded.
    pub kernel: Option<KernelSplit>,
    /// What of it each rank did, if several processes measured together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RankedRepetition>>,
}

/// One timed operation of a step that samples the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Its offset.
    pub offset_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Its time, a fsync that belongs to it included.
    pub elapsed_ns: u64,
}

impl Sample {
    /// Bytes per second.
    pub fn rate_bytes_per_s(&self) -> f64 {
        per_second(self.bytes, self.elapsed_ns)
    }
}

/// What reached a device by its own counters.
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
    /// What operations of a kind did.
    pub fn side(&self, kind: OpKind) -> &OpsRecord {
        match kind {
            OpKind::Read => &self.read,
            OpKind::Write => &self.write,
            OpKind::Sync => &self.sync,
            OpKind::Trim => &self.trim,
        }
    }

    /// Operations that failed, syncs included.
    pub fn failed(&self) -> u64 {
        self.total(|side| side.failed)
    }

    /// Operations that were completed, syncs included.
    pub fn completed(&self) -> u64 {
        self.total(|side| side.completed)
    }

    fn total(&self, count: fn(&OpsRecord) -> u64) -> u64 {
        OpKind::ALL.map(|kind| count(self.side(kind))).into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes that moved in a direction, of all kinds if reads and writes are mixed.
    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.bytes,
            Direction::Write => self.write.bytes,
            Direction::Mix => self.total(|side| side.bytes).saturating_sub(self.sync.bytes),
        }
    }

    /// Operations that completed in a direction.
    pub fn operations(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.completed,
            Direction::Write => self.write.completed,
            Direction::Mix => self.completed().saturating_sub(self.sync.completed),
        }
    }

    /// Bytes per second in a direction.
    pub fn rate_bytes_per_s(&self, direction: Direction) -> f64 {
        per_second(self.bytes(direction), self.elapsed_ns)
    }

    /// Operations per second in a direction.
    pub fn rate_iops(&self, direction: Direction) -> f64 {
        per_second(self.operations(direction), self.elapsed_ns)
    }
}

pub(super) fn per_second(count: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count as f64 * 1e9 / elapsed_ns as f64 }
}
