//! The run record: one profile executed once on one target, with everything needed to show, compare or repeat it.
//!
//! The model: a header that is known before the first cell, cells that are appended one by one, and a closing.
//! Every stored record carries `schema`; a field that is added later is optional when read, so old records stay
//! readable. docs/record.md tells the JSON form.

use crate::environment::Environment;
use crate::imported::{ImportedCell, Origin};
use crate::model::{ModelRecord, TimeAccount};
use crate::profile::Profile;
use crate::split::KernelSplit;
use crate::text::Text;
use crate::workload::{Direction, OpKind, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the record's form that this kurabe writes.
pub const RECORD_SCHEMA: u32 = 2;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Being measured now.
    Running,
    /// Every cell was measured.
    Complete,
    /// Stopped before its end by the user, a signal or a crash; its cells so far hold.
    Interrupted,
    /// Stopped before its end by an error; its cells so far hold.
    Failed,
}

/// What kind of thing the target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory, in which a test file is made.
    Directory,
    /// A file that was there before.
    File,
    /// A block device.
    BlockDevice,
    /// A character device such as /dev/zero.
    CharacterDevice,
    /// A modelled stack.
    Model,
}

/// Where I/O went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// As the user named it.
    pub given: String,
    /// The canonical path.
    pub path: String,
    /// Its kind.
    pub kind: TargetKind,
    /// Bytes that offsets may cover.
    pub span_bytes: u64,
    /// Whether I/O went around the page cache.
    pub direct: bool,
    /// Smallest unit and alignment that direct I/O takes, in bytes; 1 for buffered I/O.
    pub alignment_bytes: u32,
    /// Whether writing was allowed.
    pub writable: bool,
}

/// The writing of the test file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FillRecord {
    /// Bytes asked for.
    pub asked_bytes: u64,
    /// Bytes written before measuring; below `asked_bytes` when the time limit cut it.
    pub written_bytes: u64,
    /// Time it took.
    pub elapsed_ns: u64,
}

/// What a notice is about. Each kind's text says what happened, what it does to the figures, and what changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A feature of the engine was not to be had.
    EngineFallback,
    /// How the page cache was dropped between phases, or why not.
    CacheDrop,
    /// The test file was cut to fit the time limit of the fill.
    SizeCut,
    /// The span is smaller than the profile asks for.
    SpanCut,
    /// Cells were left out because the target may not be written.
    WritesLeftOut,
    /// kurabe itself, not the storage, was the limit.
    GeneratorBound,
    /// Other work disturbed the device or the machine.
    Noise,
    /// Something else worth knowing.
    Other,
}

/// A warning or a remark that belongs to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: Text,
}

/// How a cell's operations reached the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// `uring` or `threads`.
    pub name: String,
    /// What was asked for: `auto` or a name.
    pub asked: String,
    /// Why this one.
    pub reason: Text,
    /// Features in use, such as `registered-buffers`.
    pub features: Vec<String>,
    /// Features that were tried and refused, with the reason.
    pub fallbacks: Vec<String>,
    /// How completions are awaited: `sleep`, `spin` or `poll`.
    pub wait: String,
    /// Pages under the buffers: `4k` or `huge`.
    pub pages: String,
    /// Operating-system threads that issued operations.
    pub issuing_threads: u32,
}

/// Latencies of one kind of operation as a sparse log-linear histogram.
///
/// `buckets` holds `(lowest value of the bucket in ns, count)` in ascending order; a bucket reaches to the lowest
/// value of the next possible bucket, which is at most 1/128 above its own. kurabe-stats reads it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// One interval of a time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
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
}

/// A time series from the start of a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Series {
    /// Length of an interval.
    pub interval_ns: u64,
    /// Intervals in order; the last one may be cut short by the end.
    pub intervals: Vec<Interval>,
}

/// An operation, or a time without any completion, far beyond the repetition's own median. Operations that were
/// held up together are one stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// CPU time of kurabe during a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuUse {
    /// User time.
    pub user_ns: u64,
    /// System time, kernel workers on kurabe's behalf included where the kernel accounts them so.
    pub system_ns: u64,
}

/// What else went on while a repetition ran.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
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
}

/// One pass of a cell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Repetition {
    /// Number within the cell, from 0, discarded ones included.
    pub index: u32,
    /// Whether the profile's rules leave it out of the figure.
    pub discarded: bool,
    /// Seed of its offsets and data.
    pub seed: u64,
    /// Start, from the start of the run.
    pub started_ns: u64,
    /// Measured time: from the first submission to the last completion, a timed fsync included.
    pub elapsed_ns: u64,
    /// Reads.
    pub read: OpsRecord,
    /// Writes.
    pub write: OpsRecord,
    /// Syncs.
    pub sync: OpsRecord,
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
    /// What reached the device meanwhile, by its own counters, others' traffic included; of steps whose operations
    /// kurabe does not issue to the device itself (copy, command).
    #[serde(default)]
    pub traffic: Option<Traffic>,
    /// Where the time of its operations went, on a modelled target.
    #[serde(default)]
    pub account: Option<TimeAccount>,
    /// What the kernel's tracepoints told of it. Tracing costs time, so such a repetition is discarded.
    #[serde(default)]
    pub kernel: Option<KernelSplit>,
}

/// One timed operation of a step that samples the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// What the figure of a cell tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes per second.
    #[default]
    Rate,
    /// Time of a single access.
    AccessTime,
    /// Time of the whole repetition.
    Duration,
}

impl Repetition {
    /// Bytes that moved in a direction.
    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.bytes,
            Direction::Write => self.write.bytes,
            Direction::Mix => self.read.bytes.saturating_add(self.write.bytes),
        }
    }

    /// Operations that completed in a direction.
    pub fn operations(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read.completed,
            Direction::Write => self.write.completed,
            Direction::Mix => self.read.completed.saturating_add(self.write.completed),
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

fn per_second(count: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count as f64 * 1e9 / elapsed_ns as f64 }
}

/// One figure of the table with all that stands behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Place in the order of measuring, from 0.
    pub index: u32,
    /// The step's place in the profile.
    pub step_index: u32,
    /// Its name among the cells of the step, as formulas use it: a direction, a part of a copy.
    #[serde(default)]
    pub part: String,
    /// The step's name.
    pub label: String,
    /// Direction; `None` where the cell is neither reads nor writes nor a known mix of both (a command, a trim).
    pub direction: Option<Direction>,
    /// What the figure tells.
    #[serde(default)]
    pub measure: Measure,
    /// The I/O pattern, if the cell is one.
    pub workload: Option<Workload>,
    /// How its operations reached the kernel, if kurabe issued them.
    pub engine: Option<EngineRecord>,
    /// Its repetitions, discarded ones included; none in an imported cell.
    pub repetitions: Vec<Repetition>,
    /// What another tool printed, in an imported run.
    #[serde(default)]
    pub imported: Option<ImportedCell>,
}

impl Cell {
    /// The repetitions that count.
    pub fn counted(&self) -> impl Iterator<Item = &Repetition> {
        self.repetitions.iter().filter(|repetition| !repetition.discarded)
    }
}

/// The instrument itself.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Instrument {
    /// Smallest step seen of the clock.
    pub clock_resolution_ns: u64,
    /// Cost of reading the clock.
    pub clock_cost_ns: f64,
}

/// What is known of a run before its first cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Version of the record's form.
    pub schema: u32,
    /// Version of kurabe.
    pub kurabe_version: String,
    /// The run's id: lower-case letters and digits, unique in its store.
    pub id: String,
    /// Start, RFC 3339 with offset.
    pub started_at: String,
    /// The command line.
    pub command: Vec<String>,
    /// Where I/O went; `None` in an imported run.
    pub target: Option<TargetRecord>,
    /// The profile with the overrides of the command line applied; `None` in an imported run.
    pub profile: Option<Profile>,
    /// What it stood on; in an imported run what the other tool told of it.
    pub environment: Environment,
    /// The instrument; `None` in an imported run.
    pub instrument: Option<Instrument>,
    /// The tool and the file of an imported run; `None` if kurabe measured it.
    #[serde(default)]
    pub origin: Option<Origin>,
    /// The modelled stack, if the target is one.
    #[serde(default)]
    pub model: Option<ModelRecord>,
}

impl RunHeader {
    /// The target as the user named it, or as the other tool printed it.
    pub fn target_name(&self) -> &str {
        match (&self.target, &self.origin) {
            (Some(target), _) => &target.given,
            (None, Some(origin)) => origin.target.as_deref().unwrap_or(""),
            (None, None) => "",
        }
    }

    /// The profile's name, or the other tool and its version.
    pub fn profile_name(&self) -> String {
        match (&self.profile, &self.origin) {
            (Some(profile), _) => profile.name.clone(),
            (None, Some(origin)) => origin.tool_name(),
            (None, None) => String::new(),
        }
    }

    /// When it was measured: the date that the other tool printed, or the start.
    pub fn measured_at(&self) -> &str {
        self.origin.as_ref().and_then(|origin| origin.measured_at.as_deref()).unwrap_or(&self.started_at)
    }
}

/// A run, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// What was known before.
    pub header: RunHeader,
    /// How it stands.
    pub status: RunStatus,
    /// End, RFC 3339, if it ended.
    pub ended_at: Option<String>,
    /// The error that ended it, if one did.
    pub error: Option<Text>,
    /// The user's labels.
    pub labels: BTreeMap<String, String>,
    /// The writing of the test file.
    pub fill: Option<FillRecord>,
    /// Remarks.
    pub notices: Vec<Notice>,
    /// Cells in the order of measuring.
    pub cells: Vec<Cell>,
    /// Device health after the run, beside the one in the environment.
    pub health_after: Option<crate::environment::DeviceHealth>,
}

/// A line of the list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run's id.
    pub id: String,
    /// Start, RFC 3339; of an imported run when it was imported.
    pub started_at: String,
    /// When another tool measured it, if it printed that.
    pub measured_at: Option<String>,
    /// Whether another tool measured it.
    pub imported: bool,
    /// How it stands.
    pub status: RunStatus,
    /// The target as the user named it.
    pub target: String,
    /// The device's model, if known.
    pub device: Option<String>,
    /// What was modelled, if nothing was measured.
    #[serde(default)]
    pub model: Option<Text>,
    /// The profile's name.
    pub profile: String,
    /// Cells measured so far.
    pub cell_count: u32,
    /// The user's labels.
    pub labels: BTreeMap<String, String>,
}
