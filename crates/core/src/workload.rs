//! A workload: a complete description of one I/O pattern. The driver needs nothing else to run it,
//! so a workload in a record can be run again.

use crate::words::Keyword;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The kind of an operation.
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
    /// Discard bytes that are no longer needed.
    Trim,
}

impl OpKind {
    /// All kinds of operations.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Sync, Self::Trim];

    /// Returns the keyword used in files and scripts.
    pub fn word(self) -> &'static str {
        ["read", "write", "sync", "trim"][self as usize]
    }
}

/// One operation: kind, offset and length. A sync has length 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// The operation's kind.
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
    /// All directions, in the order in which CrystalDiskMark runs them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Mix];

    /// Returns the keyword used in files and scripts.
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
    /// Ascending, with an equal share of the span for each thread.
    #[default]
    Sequential,
    /// Ascending, with all threads taking the next block from one shared stream.
    Interleaved,
    /// A share of the span for each thread, with a gap after each run of blocks. A negative gap
    /// longer than a block moves backwards.
    Strided {
        /// Length of a run in bytes. One block if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_bytes: Option<u64>,
        /// Bytes from the end of a run to the start of the next.
        gap_bytes: i64,
    },
    /// Every block is equally likely each time, so blocks can repeat.
    Random,
    /// A random order that visits every block of the span once per pass.
    Permutation,
    /// Zipf distribution: the k-th most popular block has the weight `1/k^exponent`. Popular blocks
    /// are scattered over the span.
    Zipf {
        /// The exponent, above 0; 0.99 to 1.2 are usual for caches.
        exponent: f64,
    },
    /// Pareto distribution: a share `skew` of the blocks gets a share `1 - skew` of the operations.
    /// Popular blocks are scattered over the span.
    Pareto {
        /// The share, above 0 and below 1. With 0.2, a fifth of the blocks gets 80 % of the
        /// operations.
        skew: f64,
    },
    /// Normal distribution around the middle of the span.
    Normal {
        /// Standard deviation in percent of the span, above 0.
        deviation_percent: f64,
    },
}

impl Pattern {
    /// Returns whether some blocks are accessed far more often than others.
    pub fn is_skewed(self) -> bool {
        matches!(self, Self::Zipf { .. } | Self::Pareto { .. } | Self::Normal { .. })
    }

    /// Returns whether each offset is determined by the previous one.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::Interleaved | Self::Strided { .. })
    }

    /// Returns the keyword used in profiles.
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

/// A direction and an order of offsets, in fio's keywords.
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

/// The part of the span that each thread covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThreadShare {
    /// The pattern's default: sequential threads cover one part each, others share the whole span.
    #[default]
    Usual,
    /// An equal part for each thread.
    Parts,
    /// The whole span for each thread independently, as fio's jobs on one file do.
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

/// The data written, and the content of the test file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Random bytes, different in every block written. They can be neither compressed nor
    /// deduplicated.
    Random,
    /// Zero bytes.
    #[default]
    Zero,
    /// One random block, written repeatedly (CrystalDiskMark). Deduplication removes all copies.
    Repeat,
    /// Random bytes, with this share of every 4 KiB set to zero.
    Compressible {
        /// Share of zero bytes, in percent, 0 to 100.
        percent: u8,
    },
}

/// Which blocks of a workload that writes are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trims {
    /// Every block is discarded, and nothing is written.
    Only,
    /// Every block is discarded immediately before it is written.
    BeforeWrites,
}

impl Keyword for Trims {
    const WORDS: &'static [(&'static str, Self)] =
        &[("only", Self::Only), ("before_writes", Self::BeforeWrites)];
}

/// Whether an fsync follows at the end of a repetition that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndSync {
    /// No fsync.
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
    /// Whether the target is opened with `O_SYNC`.
    pub o_sync: bool,
    /// Whether only the data and the metadata needed to read it are made durable: `O_DSYNC` and
    /// fdatasync instead of `O_SYNC` and fsync.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub data_only: bool,
    /// An fsync after every n writes of a thread.
    pub every_writes: Option<u32>,
    /// Flags of sync_file_range, which then replaces that fsync. Pages are sent to the device, but
    /// its cache is not flushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_range_flags: Option<u32>,
    /// Whether an fsync follows at the end of a repetition.
    pub at_end: EndSync,
}

impl SyncRule {
    /// Returns whether writes wait for the medium before the end of a repetition: by `O_SYNC` or by flushes in between.
    pub fn waits_for_medium(&self) -> bool {
        self.o_sync || self.every_writes.is_some()
    }
}

/// How long written data is expected to live: `F_SET_RW_HINT` of fcntl(2). A drive with data placement may store
/// data of one lifetime together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WriteHint {
    /// A short time.
    Short,
    /// Longer than short-lived data.
    Medium,
    /// Longer than medium-lived data.
    Long,
    /// Longer than all other data.
    Extreme,
}

impl Keyword for WriteHint {
    const WORDS: &'static [(&'static str, Self)] =
        &[("short", Self::Short), ("medium", Self::Medium), ("long", Self::Long), ("extreme", Self::Extreme)];
}

/// The spacing of arrivals in an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Evenly spaced.
    Even,
    /// A Poisson process.
    Poisson,
}

impl Keyword for Arrival {
    const WORDS: &'static [(&'static str, Self)] = &[("even", Self::Even), ("poisson", Self::Poisson)];
}

/// An open loop: operations are due at given times, whether or not earlier ones are complete.
/// Latency is measured from the due time, so a stall shows in every operation that it delays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// Operations per second, summed over all threads.
    pub rate_iops: f64,
    /// The spacing of arrivals.
    pub arrival: Arrival,
}

/// Pauses of a thread, like those of a program that processes the data it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// Length of a pause in ns.
    pub time_ns: u64,
    /// Operations between two pauses, above 0.
    pub every_operations: u32,
}

/// The processors on which threads that issue operations may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// Processor numbers, at least one.
    pub numbers: Vec<u32>,
    /// Whether each thread is pinned to one of them, round-robin, instead of to all.
    pub one_each: bool,
}

/// The number of consecutive blocks in a random order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlocksInOrder {
    /// This many blocks are consecutive, then a new random offset follows.
    Blocks(u32),
    /// Each block follows its predecessor with this probability, in percent.
    Percent(u8),
}

/// Random offsets that equal those of fio jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FioPlaces {
    /// fio's `randseed`. If absent, fio's default seed, with which each pass visits the same
    /// offsets (`randrepeat`).
    pub seed: Option<u64>,
    /// One-based number of the first of its threads among all jobs.
    pub first_job: u32,
    /// Whether the fio version is older than 3.35, which used a different default seed.
    pub is_old: bool,
    /// Whether the generator has 64 bits. fio always uses 64 bits for more than 2^32 blocks.
    pub is_wide: bool,
}

/// A workload's share of the operations that concurrent workloads issue together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Weight relative to the other workloads of the group, above 0.
    pub weight: u32,
    /// Group number. Workloads with the same number share operations.
    pub group: u32,
}

/// A latency target, for which the greatest queue depth that meets it is determined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The latency limit in ns.
    pub latency_ns: u64,
    /// Percentage of operations that must stay within the limit, above 0, at most 100.
    pub percentile: f64,
    /// How long each depth is tried, in ns.
    pub window_ns: u64,
}

impl LatencyTarget {
    /// Default percentile, as in fio: all operations.
    pub const PERCENTILE: f64 = 100.0;
    /// Default window in ns. Long enough for a percentile on a fast device and for some operations
    /// on a slow one.
    pub const WINDOW_NS: u64 = 1_000_000_000;
}

/// A zone of the span that is accessed more or less often than its length implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessZone {
    /// Percentage of the operations.
    pub access_percent: u8,
    /// Percentage of the span.
    pub span_percent: u8,
}

impl AccessZone {
    /// Returns whether the zones add up to 100 % of both the accesses and the span.
    pub fn are_whole(zones: &[Self]) -> bool {
        let sum = |share: fn(&Self) -> u8| zones.iter().map(|zone| u32::from(share(zone))).sum::<u32>();
        sum(|zone| zone.access_percent) == 100 && sum(|zone| zone.span_percent) == 100
    }
}

/// How often a thread checks whether its time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeCheck {
    /// After every operation.
    #[default]
    Always,
    /// Only after a whole pass over the span (CrystalDiskMark 3, sequential).
    Pass,
    /// Only after this many operations (CrystalDiskMark 3, random).
    Operations(u32),
}

/// The limits of a repetition. It ends at the first limit reached; at least one is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Time limit in ns.
    pub time_ns: Option<u64>,
    /// Byte limit, summed over all threads.
    pub bytes: Option<u64>,
    /// Number of passes over the span.
    pub passes: Option<u32>,
    /// How often the time is checked.
    #[serde(default)]
    pub time_check: TimeCheck,
}

impl End {
    /// Returns whether any limit is given.
    pub fn is_given(&self) -> bool {
        self.time_ns.is_some() || self.bytes.is_some() || self.passes.is_some()
    }
}

/// Implements access to the fields of the contained access pattern, and serialization in this order of keys.
///
/// Flattened keys come together, but stored records have them among the others. The bytes of a record must not
/// change with the structure of the program: shared stores compare hashes of them.
macro_rules! contains_access_pattern {
    ($container:ty, $keys:expr) => {
        impl std::ops::Deref for $container {
            type Target = $crate::workload::AccessPattern;

            fn deref(&self) -> &Self::Target {
                &self.access
            }
        }

        impl std::ops::DerefMut for $container {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.access
            }
        }

        impl $container {
            /// Returns it with a changed access pattern.
            #[must_use]
            pub fn with(mut self, change: impl FnOnce(&mut $crate::workload::AccessPattern)) -> Self {
                change(&mut self.access);
                self
            }
        }

        impl serde::Serialize for $container {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                let mut text = Vec::new();
                let written = <$container>::serialize(self, &mut serde_json::Serializer::new(&mut text));
                $crate::workload::serialize_in_order(written.map(|()| text), $keys, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $container {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $container;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($container)))
                    }

                    fn visit_map<M: serde::de::MapAccess<'de>>(
                        self,
                        map: M,
                    ) -> std::result::Result<Self::Value, M::Error> {
                        <$container>::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }
                deserializer.deserialize_struct(stringify!($container), &[], Fields)
            }
        }
    };
}
pub(crate) use contains_access_pattern;

/// Writes the fields of a JSON object in the order of `keys`, then those that are not among them. The values keep
/// their text.
pub(crate) fn serialize_in_order<S: Serializer>(
    text: serde_json::Result<Vec<u8>>,
    keys: &str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let fields = text.and_then(|text| serde_json::from_slice(&text));
    let mut fields: BTreeMap<String, Box<RawValue>> = fields.map_err(S::Error::custom)?;
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for key in keys.split_ascii_whitespace() {
        if let Some(value) = fields.remove(key) {
            map.serialize_entry(key, &value)?;
        }
    }
    for (key, value) in &fields {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

pub(crate) fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// Where, in which sizes, how concurrently and how durably a workload accesses its span: everything that a step of a
/// profile and its workloads have in common.
// The default value performs no I/O. It is the base for `Workload::plain` and `IoStep::plain`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessPattern {
    /// The order of offsets.
    pub pattern: Pattern,
    /// The part of the span that each thread covers.
    #[serde(default)]
    pub thread_share: ThreadShare,
    /// Block sizes, at least one. Offsets are multiples of the smallest, unless `alignment_bytes`
    /// is given.
    pub block_sizes: Vec<BlockSize>,
    /// Percentage of reads. 100 means reads only, 0 writes only. Of a step: in its `mix` direction.
    pub read_percent: u8,
    /// After every n-th read, the block just read is written back. There are no other writes.
    pub rewrite_every_reads: Option<u32>,
    /// Discards issued instead of writes, or before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Trims>,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Number of threads.
    pub threads: u32,
    /// First byte of the span.
    pub offset_bytes: u64,
    /// Rate and arrivals of an open loop. A closed loop if absent.
    pub open_loop: Option<OpenLoop>,
    /// Time before recording starts, in ns.
    pub warm_up_ns: u64,
    /// Delay between the start of the concurrent workloads and the start of this one, in ns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_delay_ns: u64,
    /// Pauses that each thread makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Block sizes of the writes in a mix, if they differ from those of the reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_block_sizes: Vec<BlockSize>,
    /// Alignment of offsets in bytes, if it is not the smallest block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment_bytes: Option<u32>,
    /// Zones of the span in order, for random patterns. If empty, all of the span is equally
    /// likely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<AccessZone>,
    /// Runs of consecutive blocks in a random pattern. None if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_order: Option<BlocksInOrder>,
    /// Share of the operations of the concurrent workloads. If absent, the workload runs at full
    /// speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Latency target. The greatest queue depth that meets it is determined before each repetition,
    /// up to `iodepth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// Processors to which the threads are pinned. Any processor if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Processors>,
    /// Whether all concurrent workloads end when this one ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_all: bool,
    /// Random offsets generated as in fio, for a single block size. kurabe's own generator if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio_places: Option<FioPlaces>,
    /// Expected lifetime of the written data. Not stated if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hint: Option<WriteHint>,
    /// The limits of a repetition. Of a step: the profile's time if none is given.
    pub end: End,
    /// Use of fsync and `O_SYNC`.
    pub sync: SyncRule,
}

/// One I/O pattern: an access pattern, its span, its data and its seed.
///
/// It dereferences to its access pattern, as an `IoStep` does, so that `workload.iodepth` names the field in both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Workload {
    /// How the span is accessed.
    #[serde(flatten)]
    pub access: AccessPattern,
    /// Length of the span in bytes. Offsets stay inside it.
    pub span_bytes: u64,
    /// The data written.
    pub data: Data,
    /// Whether offsets that ascend begin at a place drawn by the seed, and not at the first byte.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moving_start: bool,
    /// Seed of the offsets and data.
    pub seed: u64,
}

/// The keys of a workload in the order that stored records have. A newer key follows after them.
const WORKLOAD_KEYS: &str = "pattern thread_share block_sizes read_percent rewrite_every_reads trims iodepth threads \
    offset_bytes span_bytes open_loop warm_up_ns start_delay_ns thinking write_block_sizes alignment_bytes zones \
    in_order flow latency_target processors ends_all fio_places end sync data moving_start seed";

contains_access_pattern!(Workload, WORKLOAD_KEYS);

impl AccessPattern {
    /// Returns the default access pattern: accesses of one size from the start of the target, by one thread in a
    /// closed loop, without a limit.
    pub fn plain(pattern: Pattern, block_bytes: u32, iodepth: u32) -> Self {
        let block_sizes = vec![BlockSize { size_bytes: block_bytes, weight: 1 }];
        Self { pattern, block_sizes, iodepth, threads: 1, ..Self::default() }
    }
}

impl Workload {
    /// Returns the default workload for this pattern: reads of one size from the start of the
    /// target, one at a time, without a limit. If it is changed to write, it writes zeros.
    pub fn plain(pattern: Pattern, block_bytes: u32, span_bytes: u64) -> Self {
        let access = AccessPattern { read_percent: 100, ..AccessPattern::plain(pattern, block_bytes, 1) };
        Self { access, span_bytes, seed: 1, ..Self::default() }
    }

    /// Returns whether offsets ascend, and the block size in bytes, if the workload can be
    /// described by these two figures as other tools do. Returns `None` for any other workload.
    pub fn plain_order(&self) -> Option<(bool, u64)> {
        let [block] = self.block_sizes.as_slice() else { return None };
        // A skewed distribution is a different kind of workload. No tool reports whether a random
        // block can repeat.
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

    /// Returns the sizes of all its blocks, in bytes.
    pub fn all_block_bytes(&self) -> impl Iterator<Item = u32> {
        self.block_sizes.iter().chain(&self.write_block_sizes).map(|block| block.size_bytes)
    }

    /// Returns the number of bytes of all threads together, if an amount ends the workload.
    pub fn amount_bytes(&self) -> Option<u64> {
        let grain = u64::from(self.grain_bytes()).max(1);
        let whole = self.span_bytes / grain * grain;
        let streams = match (self.pattern, self.thread_share) {
            (Pattern::Interleaved, _) | (_, ThreadShare::Usual | ThreadShare::Parts) => 1,
            (_, ThreadShare::Whole) => u64::from(self.threads),
        };
        let passes =
            self.end.passes.map(|passes| whole.saturating_mul(u64::from(passes)).saturating_mul(streams));
        self.end.bytes.into_iter().chain(passes).min()
    }

    /// Returns the alignment of offsets, in bytes.
    pub fn grain_bytes(&self) -> u32 {
        self.alignment_bytes.unwrap_or_else(|| self.smallest_block_bytes())
    }

    /// Returns the largest block size, in bytes.
    pub fn largest_block_bytes(&self) -> u32 {
        self.all_block_bytes().max().unwrap_or(0)
    }

    /// Returns the smallest block size, in bytes.
    pub fn smallest_block_bytes(&self) -> u32 {
        self.all_block_bytes().min().unwrap_or(0)
    }

    /// Returns whether its threads wait for something other than I/O: think time, or other
    /// workloads.
    pub fn waits(&self) -> bool {
        self.thinking.is_some() || self.flow.is_some() || self.ends_all
    }

    /// Returns whether the workload writes or discards. Both change the target.
    pub fn writes(&self) -> bool {
        self.read_percent < 100 || self.rewrite_every_reads.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::IoStep;

    /// Shared stores compare hashes of records, so these bytes must not change.
    #[test]
    fn the_keys_of_workloads_and_steps_are_written_in_the_order_of_earlier_records() {
        let workload = Workload::plain(Pattern::Random, 4096, 1 << 20);
        let written = serde_json::to_string(&workload).unwrap();
        assert_eq!(
            written,
            concat!(
                r#"{"pattern":"random","thread_share":"usual","block_sizes":[{"size_bytes":4096,"#,
                r#""weight":1}],"read_percent":100,"rewrite_every_reads":null,"iodepth":1,"threads":1,"#,
                r#""offset_bytes":0,"span_bytes":1048576,"open_loop":null,"warm_up_ns":0,"#,
                r#""end":{"time_ns":null,"bytes":null,"passes":null,"time_check":"always"},"#,
                r#""sync":{"o_sync":false,"every_writes":null,"at_end":"none"},"data":"zero","seed":1}"#,
            )
        );
        assert_eq!(serde_json::from_str::<Workload>(&written).unwrap(), workload);
        let step = IoStep::plain(Pattern::Sequential, 4096, 8, vec![Direction::Read]);
        let written = serde_json::to_string(&step).unwrap();
        assert_eq!(
            written,
            concat!(
                r#"{"id":null,"label":null,"directions":["read"],"read_percent":50,"#,
                r#""pattern":"sequential","thread_share":"usual","block_sizes":[{"size_bytes":4096,"#,
                r#""weight":1}],"iodepth":8,"threads":1,"offset_bytes":0,"span_bytes":null,"#,
                r#""rewrite_every_reads":null,"open_loop":null,"warm_up_ns":0,"warm_up_passes":0,"#,
                r#""end":{"time_ns":null,"bytes":null,"passes":null,"time_check":"always"},"#,
                r#""sync":{"o_sync":false,"every_writes":null,"at_end":"none"},"data":null}"#,
            )
        );
        assert_eq!(serde_json::from_str::<IoStep>(&written).unwrap(), step);
        let wrong = written.replace("warm_up_passes", "warmup_passes");
        let error = serde_json::from_str::<IoStep>(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("unknown field `warmup_passes`"), "{error}");
    }
}
