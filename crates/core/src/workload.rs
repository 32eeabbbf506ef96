//! A workload: one I/O pattern, complete. The driver needs nothing else to run it, and a record that holds it can
//! be run again.

use crate::words::Keyword;
use serde::{Deserialize, Serialize};

/// What one operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Make written bytes durable (fsync).
    Sync,
    /// Tell that bytes are needed no more (discard).
    Trim,
}

impl OpKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Sync, Self::Trim];

    /// The word used in files and scripts.
    pub fn word(self) -> &'static str {
        ["read", "write", "sync", "trim"][self as usize]
    }
}

/// One operation: kind, where, how long. A sync has length 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Offset on the target, in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
}

/// The direction of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes mixed.
    Mix,
}

impl Direction {
    /// All of them, in the order in which CrystalDiskMark runs them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Mix];

    /// The word used in files and scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mix => "mix",
        }
    }
}

/// The order of offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Ascending; each thread its own equal share of the span.
    #[default]
    Sequential,
    /// Ascending; all threads take the next block of one common stream.
    Interleaved,
    /// Each thread its own share of the span, with a gap behind each run of blocks; a negative gap longer than a block goes
    /// backwards.
    Strided {
        /// Bytes of a run; a block if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_bytes: Option<u64>,
        /// Bytes from the end of a run to the beginning of the next.
        gap_bytes: i64,
    },
    /// Every block equally likely each time; blocks repeat.
    Random,
    /// A random order that visits every block of the span once per pass.
    Permutation,
    /// Some blocks far more often than others: the k-th most popular with weight `1/k^exponent`; the popular
    /// blocks are scattered over the span.
    Zipf {
        /// The exponent, above 0; 0.99 to 1.2 are usual for caches.
        exponent: f64,
    },
    /// Pareto's law: a share `skew` of the blocks gets a share `1 - skew` of the operations; the popular blocks are scattered.
    Pareto {
        /// The share, above 0 and below 1; 0.2 is 80 % of the operations on a fifth of the blocks.
        skew: f64,
    },
    /// Blocks about the middle of the span, by a normal distribution.
    Normal {
        /// The standard deviation, in percent of the span, above 0.
        deviation_percent: f64,
    },
}

impl Pattern {
    /// Whether some blocks are gone to far more often than others.
    pub fn is_skewed(self) -> bool {
        matches!(self, Self::Zipf { .. } | Self::Pareto { .. } | Self::Normal { .. })
    }

    /// Whether each offset follows from the one before it.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::Interleaved | Self::Strided { .. })
    }

    /// The word used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Interleaved => "interleaved",
            Self::Strided { .. } => "strided",
            Self::Random => "random",
            Self::Permutation => "permutation",
            Self::Zipf { .. } => "zipf",
            Self::Pareto { .. } => "pareto",
            Self::Normal { .. } => "normal",
        }
    }
}

/// A direction and an order of offsets, in fio's words.
impl Keyword for (Direction, Pattern) {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("read", (Direction::Read, Pattern::Sequential)),
        ("write", (Direction::Write, Pattern::Sequential)),
        ("randread", (Direction::Read, Pattern::Random)),
        ("randwrite", (Direction::Write, Pattern::Random)),
        ("rw", (Direction::Mix, Pattern::Sequential)),
        ("readwrite", (Direction::Mix, Pattern::Sequential)),
        ("randrw", (Direction::Mix, Pattern::Random)),
    ];
}

/// What part of the span each thread covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThreadShare {
    /// As the order of offsets has it: sequential threads a part each, others the whole together.
    #[default]
    Usual,
    /// An equal part of its own.
    Parts,
    /// The whole span, each thread for itself (fio's jobs on one file).
    Whole,
}

impl Keyword for ThreadShare {
    const WORDS: &'static [(&'static str, Self)] =
        &[("usual", Self::Usual), ("parts", Self::Parts), ("whole", Self::Whole)];
}

/// A block size and how often it is drawn relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockSize {
    /// Size in bytes.
    pub size_bytes: u32,
    /// Relative frequency, above 0.
    pub weight: u32,
}

/// What is written, and what the test file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Random bytes, different in every block ever written: neither compression nor deduplication gains.
    Random,
    /// Zero bytes.
    #[default]
    Zero,
    /// One random block, written again and again (CrystalDiskMark); deduplication gains everything.
    Repeat,
    /// Random, but this share of every 4 KiB is zero.
    Compressible {
        /// Share of zero bytes, in percent, 0 to 100.
        percent: u8,
    },
}

/// What of a workload that writes is told to be needed no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trims {
    /// Each block, and nothing is written.
    Only,
    /// Each block right before it is written.
    BeforeWrites,
}

impl Keyword for Trims {
    const WORDS: &'static [(&'static str, Self)] =
        &[("only", Self::Only), ("before_writes", Self::BeforeWrites)];
}

/// When a fsync at the end of a repetition of writes happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndSync {
    /// Not at all.
    #[default]
    None,
    /// Inside the measured time.
    Timed,
    /// After the measured time.
    Untimed,
}

impl Keyword for EndSync {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("timed", Self::Timed), ("untimed", Self::Untimed)];
}

/// How written bytes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SyncRule {
    /// Open the target with `O_SYNC`.
    pub o_sync: bool,
    /// Only data, and what is needed to find it again: `O_DSYNC` and fdatasync in the place of `O_SYNC` and fsync.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub data_only: bool,
    /// A fsync after every n writes of a thread.
    pub every_writes: Option<u32>,
    /// Flags of sync_file_range, which then stands in the place of that fsync: pages go to the device, which is not flushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_range_flags: Option<u32>,
    /// A fsync at the end of a repetition.
    pub at_end: EndSync,
}

impl SyncRule {
    /// Returns whether writes wait for the medium before the end of a repetition: by `O_SYNC` or by flushes in between.
    pub fn waits_for_medium(&self) -> bool {
        self.o_sync || self.every_writes.is_some()
    }
}

/// How arrivals are spaced in an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly.
    Even,
    /// As a Poisson process.
    Poisson,
}

impl Keyword for Arrival {
    const WORDS: &'static [(&'static str, Self)] = &[("even", Self::Even), ("poisson", Self::Poisson)];
}

/// An open loop: operations are due at given times, whether or not earlier ones are done; latency counts from
/// the time an operation was due, so a stall shows in every operation that it held up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Operations per second, all threads together.
    pub rate_iops: f64,
    /// Their spacing.
    pub arrival: Arrival,
}

/// A pause that a thread makes by itself, as a program that thinks about what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// Length of the pause.
    pub time_ns: u64,
    /// Operations between two pauses, above 0.
    pub every_operations: u32,
}

/// The processors on which threads that issue operations may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// Their numbers, at least one.
    pub numbers: Vec<u32>,
    /// Whether each thread has one of them, in turn, and not all.
    pub one_each: bool,
}

/// How many blocks of a random order follow the one before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlocksInOrder {
    /// So many lie one behind the other, then comes a new place.
    Blocks(u32),
    /// Each does so with this chance, in percent.
    Percent(u8),
}

/// Random places that are those of jobs of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FioPlaces {
    /// fio's `randseed`; if absent its own, with which each pass goes to the same places (`randrepeat`).
    pub seed: Option<u64>,
    /// The number of the first of its threads among all jobs, from 1.
    pub first_job: u32,
    /// Whether fio is older than 3.35, which had another seed of its own.
    pub is_old: bool,
    /// Whether its generator has 64 bits, as it always has for more than 2^32 blocks.
    pub is_wide: bool,
}

/// A share of the operations that workloads at the same time do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The share, relative to those of the others, above 0.
    pub weight: u32,
    /// Those who share have the same number.
    pub group: u32,
}

/// A latency within which the greatest queue depth is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The latency.
    pub latency_ns: u64,
    /// How many of the operations stay within it, in percent, above 0 to 100.
    pub percentile: f64,
    /// How long each depth is tried.
    pub window_ns: u64,
}

impl LatencyTarget {
    /// As fio has it where nothing is said: all of them.
    pub const PERCENTILE: f64 = 100.0;
    /// Enough operations for a percentile of a fast device, and some of a slow one.
    pub const WINDOW_NS: u64 = 1_000_000_000;
}

/// A part of the span that is gone to more or less often than its length would have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessZone {
    /// Share of the operations, in percent.
    pub access_percent: u8,
    /// Share of the span, in percent.
    pub span_percent: u8,
}

impl AccessZone {
    /// Whether zones are all of the accesses and all of the span.
    pub fn are_whole(zones: &[Self]) -> bool {
        let sum = |share: fn(&Self) -> u8| zones.iter().map(|zone| u32::from(share(zone))).sum::<u32>();
        sum(|zone| zone.access_percent) == 100 && sum(|zone| zone.span_percent) == 100
    }
}

/// How often a thread looks whether the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeCheck {
    /// Always.
    #[default]
    Always,
    /// Only after a whole pass over the span (CrystalDiskMark 3, sequential).
    Pass,
    /// Only after this many operations (CrystalDiskMark 3, random).
    Operations(u32),
}

/// When a repetition ends: at the first of the limits given; at least one is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct End {
    /// After this time.
    pub time_ns: Option<u64>,
    /// After this many bytes, all threads together.
    pub bytes: Option<u64>,
    /// After the span was covered this many times.
    pub passes: Option<u32>,
    /// How often the time is looked at.
    #[serde(default)]
    pub time_check: TimeCheck,
}

impl End {
    /// Whether any limit is given.
    pub fn is_given(&self) -> bool {
        self.time_ns.is_some() || self.bytes.is_some() || self.passes.is_some()
    }
}

pub(crate) fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// One I/O pattern.
// Its default does nothing: `Workload::plain` is what others are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The order of offsets.
    pub pattern: Pattern,
    /// What part of the span each thread covers.
    #[serde(default)]
    pub thread_share: ThreadShare,
    /// Block sizes, at least one. Offsets are multiples of the largest (mixed sizes: of the smallest).
    pub block_sizes: Vec<BlockSize>,
    /// Share of reads, in percent: 100 is reads only, 0 writes only.
    pub read_percent: u8,
    /// After every n-th read, the block just read is written back; other writes do not happen.
    pub rewrite_every_reads: Option<u32>,
    /// What is discarded in the place of writes, or before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Trims>,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub threads: u32,
    /// First byte of the span.
    pub offset_bytes: u64,
    /// Length of the span; offsets stay inside it.
    pub span_bytes: u64,
    /// Rate and arrivals of an open loop; a closed loop without it.
    pub open_loop: Option<OpenLoop>,
    /// Time before recording starts.
    pub warm_up_ns: u64,
    /// Time from the start of what runs at once until this begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_delay_ns: u64,
    /// Pauses of each thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Sizes of the writes of a mix, where they are others than those of its reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_block_sizes: Vec<BlockSize>,
    /// What offsets are multiples of, in bytes, if that is not the smallest block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment_bytes: Option<u32>,
    /// Parts of the span in their order, from which random blocks are drawn; the whole span alike if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<AccessZone>,
    /// Blocks of a random order that follow the one before them; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_order: Option<BlocksInOrder>,
    /// Its share of what workloads at the same time do; it takes what it can get if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The latency within which the greatest queue depth is looked for before each repetition, up to `iodepth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// Processors that its threads run on; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Processors>,
    /// Whether all that runs at the same time ends with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_all: bool,
    /// Random places of blocks of one size as fio has them; kurabe's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio_places: Option<FioPlaces>,
    /// When it ends.
    pub end: End,
    /// fsync and `O_SYNC`.
    pub sync: SyncRule,
    /// What is written.
    pub data: Data,
    /// Whether offsets that ascend begin at a place drawn by the seed, and not at the first byte.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moving_start: bool,
    /// Seed of offsets and data.
    pub seed: u64,
}

impl Workload {
    /// Reads of one size from the first bytes of a target, one after the other and without an end: what a workload is where
    /// nothing else is said of it. Where it writes, it writes zeros.
    pub fn plain(pattern: Pattern, block_bytes: u32, span_bytes: u64) -> Self {
        Self {
            pattern,
            block_sizes: vec![BlockSize { size_bytes: block_bytes, weight: 1 }],
            read_percent: 100,
            iodepth: 1,
            threads: 1,
            span_bytes,
            seed: 1,
            ..Self::default()
        }
    }

    /// Whether offsets ascend, and the bytes of a block, of what tools tell by these two; `None` of any other work.
    pub fn plain_order(&self) -> Option<(bool, u64)> {
        let [block] = self.block_sizes.as_slice() else { return None };
        // Some blocks far more often than others are a workload of their own. Whether a block may come twice is told by no tool.
        let is_plain = !self.pattern.is_skewed()
            && !matches!(self.pattern, Pattern::Strided { .. })
            && self.zones.is_empty()
            && self.in_order.is_none()
            && self.flow.is_none()
            && self.alignment_bytes.is_none_or(|bytes| bytes == block.size_bytes)
            && self.write_block_sizes.is_empty()
            && self.thinking.is_none()
            && self.open_loop.is_none()
            && self.trims.is_none()
            && self.rewrite_every_reads.is_none();
        is_plain.then_some((self.pattern.is_sequential(), u64::from(block.size_bytes)))
    }

    /// The sizes of all its blocks, in bytes.
    pub fn all_block_bytes(&self) -> impl Iterator<Item = u32> {
        self.block_sizes.iter().chain(&self.write_block_sizes).map(|block| block.size_bytes)
    }

    /// What offsets are multiples of, in bytes.
    pub fn grain_bytes(&self) -> u32 {
        self.alignment_bytes.unwrap_or_else(|| self.smallest_block_bytes())
    }

    /// The largest block size in bytes.
    pub fn largest_block_bytes(&self) -> u32 {
        self.all_block_bytes().max().unwrap_or(0)
    }

    /// The smallest block size in bytes.
    pub fn smallest_block_bytes(&self) -> u32 {
        self.all_block_bytes().min().unwrap_or(0)
    }

    /// Whether its threads wait by themselves, for their own thoughts or for others.
    pub fn waits(&self) -> bool {
        self.thinking.is_some() || self.flow.is_some() || self.ends_all
    }

    /// Whether it writes at all, or discards, which changes a target as well.
    pub fn writes(&self) -> bool {
        self.read_percent < 100 || self.rewrite_every_reads.is_some()
    }
}
