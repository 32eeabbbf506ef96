//! The steps of a profile: what a tool does, one kind after the other.
//!
//! The model: a step becomes one task or several (an `io` step one for each direction), and a task measures one cell or
//! several that cannot be had apart (reads and writes that alternate, the parts of a copy).
//!
//! # To add a kind of step
//!
//! - Add its type here, its keys in `read.rs`, and its cells in `Step::tasks`.
//! - In `engine/steps/`, write `impl Session` in a file of its own, its arm in `prepare` and `repeat` of `task.rs`, and its
//!   needs of a target in `fit.rs`.
//! - In `report`, add its words to `run/steps.rs` and its `TableKind` to `run/table.rs`.
//! - Test the exact operations on the null device. Describe it in docs/profiles.md and docs/measuring.md.

use crate::profile::{MetadataPart, MetadataStep, Rules, Task, TaskCell, Work};
use crate::workload::{
    AccessZone, BlockSize, BlocksInOrder, Data, Direction, End, FioPlaces, Flow, LatencyTarget, OpenLoop,
    Pattern, Processors, SyncRule, Thinking, ThreadShare, Trims, Workload, is_zero,
};
use crate::{measure::Measure, number, quantity::format_bytes, words::Keyword};
use serde::{Deserialize, Serialize};

/// A step of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A workload.
    Io(Box<IoStep>),
    /// Samples spread over the target.
    Positional(PositionalStep),
    /// Single accesses at random places.
    AccessTime(AccessTimeStep),
    /// A copy between the target and memory, and within the target.
    Copy(CopyStep),
    /// A timed program.
    Command(CommandStep),
    /// A trace, done again.
    Replay(ReplayStep),
    /// Names of files.
    Metadata(MetadataStep),
}

/// Warming a span up takes at most this many times the time of a repetition.
const LONGEST_WARM_UP: u64 = 10;
/// Largest block of warming up, in bytes; a power of two.
const LARGEST_WARM_UP_BLOCK: u32 = 1 << 20;

/// An `io` step: a workload in one or more directions.
// Its default does nothing: `IoStep::plain` is what others are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IoStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table; made from the pattern if absent.
    pub label: Option<String>,
    /// Directions, in order.
    pub directions: Vec<Direction>,
    /// Share of reads of the `mix` direction, in percent.
    pub read_percent: u8,
    /// Order of offsets.
    pub pattern: Pattern,
    /// What part of the span each thread covers.
    #[serde(default)]
    pub thread_share: ThreadShare,
    /// Block sizes.
    pub block_sizes: Vec<BlockSize>,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub threads: u32,
    /// First byte of the span.
    pub offset_bytes: u64,
    /// Length of the span; the rest of the target if absent.
    pub span_bytes: Option<u64>,
    /// Where the span begins and how long it is, in percent of the target, in the place of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_percent: Option<(u8, u8)>,
    /// After every n-th read, write back the block just read.
    pub rewrite_every_reads: Option<u32>,
    /// What is discarded in the place of writes, or before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trims: Option<Trims>,
    /// Open loop.
    pub open_loop: Option<OpenLoop>,
    /// Warm-up.
    pub warm_up_ns: u64,
    /// Whether it runs at the same time as the step before it. Both have one direction then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
    /// Time from the start of what runs at once until this begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_delay_ns: u64,
    /// Pauses of each thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Sizes of writes, where they are others than those of reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_block_sizes: Vec<BlockSize>,
    /// What offsets are multiples of, in bytes, if that is not the smallest block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment_bytes: Option<u32>,
    /// Parts of the span, from which random blocks are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<AccessZone>,
    /// Blocks of a random order that follow the one before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_order: Option<BlocksInOrder>,
    /// Its share of what runs at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// The latency within which the greatest queue depth is looked for, up to `iodepth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// Processors that its threads run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Processors>,
    /// Whether all that runs at the same time ends with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_all: bool,
    /// Random places as fio has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio_places: Option<FioPlaces>,
    /// Times that the span is covered in ascending order before each repetition, unrecorded: what is measured then is
    /// access again.
    #[serde(default)]
    pub warm_up_passes: u32,
    /// When a repetition ends; the profile's time if nothing is given.
    pub end: End,
    /// fsync and `O_SYNC`.
    pub sync: SyncRule,
    /// What is written, if not what the profile says.
    pub data: Option<Data>,
}

/// A `positional` step: one large read, and if wanted a write of the same bytes, at each of n places spread evenly over
/// the target (GNOME Disks).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PositionalStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// Places.
    pub samples: u32,
    /// Bytes read or written at each.
    pub sample_bytes: u32,
    /// Bytes read before each timed operation, without timing it; 0: none.
    pub pre_read_bytes: u32,
    /// Offsets are rounded down to multiples of this.
    pub alignment_bytes: u32,
    /// `read`, or `read` and `write`.
    pub directions: Vec<Direction>,
    /// Whether a fsync follows each write, inside its time.
    pub sync: bool,
}

/// Where an access-time step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessOrder {
    /// As GLib's `g_rand_double_range` gives them: MT19937, two draws for one double.
    Glib,
    /// kurabe's own generator.
    Uniform,
}

/// An `access_time` step: single operations at random places, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessTimeStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// Accesses.
    pub samples: u32,
    /// Bytes of each.
    pub block_bytes: u32,
    /// Offsets are rounded down to multiples of this.
    pub alignment_bytes: u32,
    /// Reads or writes.
    pub direction: Direction,
    /// Order of places.
    pub order: AccessOrder,
    /// Seed of the places.
    pub seed: u64,
    /// Whether the first access does not count (GNOME Disks 51).
    pub first_discarded: bool,
    /// Whether the curve is drawn over the distance from the access before (GNOME Disks 51), not over the place.
    pub by_distance: bool,
    /// Length of the span; the whole target if absent.
    pub span_bytes: Option<u64>,
}

/// A `copy` step: an ordinary buffered copy from the target to memory, from memory to the target, and within the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// Bytes that are read before they are written.
    pub chunk_bytes: u32,
}

/// A repository that kurabe makes itself, the same to the byte for the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GitMaterial {
    /// Files in the repository.
    pub files: u32,
    /// Files that the batch of commits to be pulled changes.
    pub changed_files: u32,
    /// Commits in that batch.
    pub commits: u32,
}

/// A `command` step: a timed program between a prepare and a restore.
///
/// In all words `{work}` is a folder of kurabe's on the target, and `{origin}` the material, outside of the target's
/// timed files but on the same target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// What kurabe makes before anything runs.
    pub git: Option<GitMaterial>,
    /// Programs that run once before the first repetition.
    pub prepare: Vec<Vec<String>>,
    /// The timed program and its arguments.
    pub command: Vec<String>,
    /// Programs that bring back the state before the next repetition.
    pub restore: Vec<Vec<String>>,
    /// Programs that run once at the end, whatever happened.
    pub cleanup: Vec<Vec<String>>,
    /// Whether each list is one line for `sh -c`.
    pub shell: bool,
    /// Whether everything is written back and the page cache dropped before the timed program.
    pub cold: bool,
}

/// When the operations of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// Each as soon as there is room in the queue.
    Fast,
    /// Each at its time in the trace, whether or not earlier ones are done; times are divided by `speed`.
    Timestamps {
        /// 2 is twice as fast.
        speed: f64,
    },
    /// As soon as there is room in the queue, but with the trace's pauses between operations kept.
    Closed,
    /// Each so long after the one before is done as in the trace, which must tell how long operations took.
    Think,
    /// Each unit of the trace is a reader, with one operation in flight, and the trace's pauses between its own.
    Readers,
}

/// A `replay` step: a trace, done again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayStep {
    /// Its name in formulas.
    pub id: Option<String>,
    /// Its name in the table.
    pub label: Option<String>,
    /// The file with the trace.
    pub trace: String,
    /// Its format, if it cannot be told from the content.
    pub format: Option<String>,
    /// When operations are issued.
    pub timing: ReplayTiming,
    /// Operations in flight at most.
    pub iodepth: u32,
}

impl ReplayStep {
    /// Operations in flight at most: one where each waits for the end of the one before.
    pub fn in_flight(&self) -> u32 {
        if self.timing == ReplayTiming::Think { 1 } else { self.iodepth }
    }
}

impl Step {
    /// Gives it a name for formulas.
    pub(super) fn set_id(&mut self, name: String) {
        let id = match self {
            Self::Metadata(step) => &mut step.id,
            Self::Io(step) => &mut step.id,
            Self::Positional(step) => &mut step.id,
            Self::AccessTime(step) => &mut step.id,
            Self::Copy(step) => &mut step.id,
            Self::Command(step) => &mut step.id,
            Self::Replay(step) => &mut step.id,
        };
        *id = Some(name);
    }

    /// Its names as they were given: in formulas, and in a table.
    fn names(&self) -> [&Option<String>; 2] {
        match self {
            Self::Metadata(step) => [&step.id, &step.label],
            Self::Io(step) => [&step.id, &step.label],
            Self::Positional(step) => [&step.id, &step.label],
            Self::AccessTime(step) => [&step.id, &step.label],
            Self::Copy(step) => [&step.id, &step.label],
            Self::Command(step) => [&step.id, &step.label],
            Self::Replay(step) => [&step.id, &step.label],
        }
    }

    /// Its name in formulas.
    pub fn id(&self) -> Option<&str> {
        self.names()[0].as_deref()
    }

    /// Its name in a table.
    pub fn label(&self) -> String {
        if let Some(label) = self.names()[1] {
            return label.clone();
        }
        let size = |bytes: u32| format_bytes(u64::from(bytes));
        match self {
            Self::Metadata(step) => format!("{} files T{}", step.files, step.threads),
            Self::Io(step) => step.label(),
            Self::Positional(step) => format!("{} × {}", step.samples, size(step.sample_bytes)),
            Self::AccessTime(step) => format!("access {}", size(step.block_bytes)),
            Self::Copy(step) => format!("copy {}", size(step.chunk_bytes)),
            Self::Command(step) => step.command.join(" "),
            Self::Replay(step) => format!("replay {}", step.trace.rsplit('/').next().unwrap_or_default()),
        }
    }

    /// Whether it runs at the same time as the step before it.
    pub fn is_beside(&self) -> bool {
        matches!(self, Self::Io(step) if step.beside)
    }

    /// Directions in which it measures, in its order; empty for a step without.
    pub fn directions(&self) -> Vec<Direction> {
        match self {
            Self::Io(step) => step.directions.clone(),
            Self::Positional(step) => step.directions.clone(),
            Self::AccessTime(step) => vec![step.direction],
            Self::Copy(_) => vec![Direction::Read, Direction::Write, Direction::Mix],
            Self::Metadata(step) => {
                let directions = [Direction::Read, Direction::Write];
                let has =
                    |direction: &Direction| step.parts.iter().any(|part| part.direction() == *direction);
                directions.into_iter().filter(has).collect()
            }
            Self::Command(_) | Self::Replay(_) => Vec::new(),
        }
    }

    /// Whether it works on files that it makes in a folder of its own.
    pub fn has_own_files(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Metadata(_))
    }

    /// Its tasks, on a target with this many usable bytes. What is measured at once belongs to the first direction.
    pub(crate) fn tasks(&self, step_index: usize, rules: &Rules, span_bytes: u64) -> Vec<(Direction, Task)> {
        let label = self.label();
        let cell = |part: &str, direction: Option<Direction>, measure: Measure| TaskCell {
            part: part.to_owned(),
            label: label.clone(),
            direction,
            measure,
        };
        let single = |cells: Vec<TaskCell>, work: Work| {
            let first = cells.iter().find_map(|cell| cell.direction).unwrap_or(Direction::Read);
            vec![(first, Task { step_index, label: label.clone(), cells, warm_up: None, work })]
        };
        let rate = |direction: &Direction| cell(direction.word(), Some(*direction), Measure::Rate);
        match self {
            Self::Io(step) => step
                .directions
                .iter()
                .map(|direction| {
                    let work = Work::Io(vec![step.workload(rules, *direction, span_bytes)]);
                    let trims = (step.trims == Some(Trims::Only)).then(|| cell("trim", None, Measure::Rate));
                    let cells = vec![trims.unwrap_or_else(|| rate(direction))];
                    let warm_up = step.warm_up_workload(rules, *direction, span_bytes);
                    (*direction, Task { step_index, label: label.clone(), cells, warm_up, work })
                })
                .collect(),
            Self::Positional(step) => {
                single(step.directions.iter().map(rate).collect(), Work::Positional(step.clone()))
            }
            Self::AccessTime(step) => single(
                vec![cell(step.direction.word(), Some(step.direction), Measure::AccessTime)],
                Work::AccessTime(step.clone()),
            ),
            Self::Copy(step) => single(
                CopyPart::ALL
                    .iter()
                    .map(|part| TaskCell {
                        label: format!("{label} {}", part.word()),
                        ..cell(part.word(), Some(part.direction()), Measure::Duration)
                    })
                    .collect(),
                Work::Copy(step.clone()),
            ),
            Self::Metadata(step) => single(
                step.parts
                    .iter()
                    .map(|part| TaskCell {
                        label: match part {
                            // So IO500 calls it, of all files.
                            MetadataPart::Find => part.word().to_owned(),
                            part => format!("{label} {}", part.word()),
                        },
                        ..cell(part.word(), Some(part.direction()), Measure::Operations)
                    })
                    .collect(),
                Work::Metadata(step.clone()),
            ),
            Self::Command(step) => {
                single(vec![cell("command", None, Measure::Duration)], Work::Command(step.clone()))
            }
            Self::Replay(step) => {
                single(vec![cell("replay", None, Measure::Rate)], Work::Replay(step.clone()))
            }
        }
    }
}

/// A part of a `copy` step; each is a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPart {
    /// Reading the file from memory, to be taken off.
    MemoryRead,
    /// Writing the file to memory, to be taken off.
    MemoryWrite,
    /// From the target to memory.
    ToMemory,
    /// From memory to the target.
    FromMemory,
    /// Within the target.
    Within,
}

impl CopyPart {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 5] =
        [Self::MemoryRead, Self::MemoryWrite, Self::FromMemory, Self::ToMemory, Self::Within];

    /// The word used in formulas and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::MemoryRead => "memory_read",
            Self::MemoryWrite => "memory_write",
            Self::ToMemory => "to_memory",
            Self::FromMemory => "from_memory",
            Self::Within => "within",
        }
    }

    /// What it does to the target, or to memory.
    pub fn direction(self) -> Direction {
        match self {
            Self::MemoryRead | Self::ToMemory => Direction::Read,
            Self::MemoryWrite | Self::FromMemory => Direction::Write,
            Self::Within => Direction::Mix,
        }
    }
}

impl IoStep {
    /// Accesses of one size to the whole target, by one thread in a closed loop, that end when the profile says: what a step
    /// is where nothing else is said of it. It has no name of its own, and half of what is mixed are reads.
    pub fn plain(pattern: Pattern, block_bytes: u32, iodepth: u32, directions: Vec<Direction>) -> Self {
        Self {
            directions,
            read_percent: 50,
            pattern,
            block_sizes: vec![BlockSize { size_bytes: block_bytes, weight: 1 }],
            iodepth,
            threads: 1,
            ..Self::default()
        }
    }

    /// Operations in flight per thread: one where each write waits for its discard.
    pub fn in_flight(&self) -> u32 {
        if self.trims == Some(Trims::BeforeWrites) { 1 } else { self.iodepth }
    }

    /// Its name in a table: `SEQ 1 MiB Q8 T1`, `RND 4 KiB Q32 T1`.
    pub fn label(&self) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        let pattern = match self.pattern {
            Pattern::Sequential | Pattern::Interleaved => "SEQ",
            Pattern::Strided { gap_bytes, .. } if gap_bytes < 0 => "BACK",
            Pattern::Strided { .. } => "STRIDE",
            Pattern::Random | Pattern::Permutation => "RND",
            Pattern::Zipf { .. } => "ZIPF",
            Pattern::Pareto { .. } => "PARETO",
            Pattern::Normal { .. } => "NORMAL",
        };
        let sizes: Vec<String> =
            self.block_sizes.iter().map(|block| format_bytes(u64::from(block.size_bytes))).collect();
        // No direction says it.
        let discards = if self.trims == Some(Trims::Only) { " trim" } else { "" };
        // A rate that is offered isn't what the device can do.
        let offered = self.open_loop.map(|open_loop| format!(" at {}", number::iops(open_loop.rate_iops)));
        let offered = offered.unwrap_or_default();
        format!("{pattern} {} Q{} T{}{discards}{offered}", sizes.join("/"), self.in_flight(), self.threads)
    }

    /// What to run before each repetition so that the span has been accessed, or is there to be discarded: ascending, in large
    /// blocks, cut after [`LONGEST_WARM_UP`] times the time of a repetition.
    fn warm_up_workload(&self, rules: &Rules, direction: Direction, span_bytes: u64) -> Option<Workload> {
        let measured = self.workload(rules, direction, span_bytes);
        let discards = measured.trims == Some(Trims::Only);
        let passes = self.warm_up_passes.max(u32::from(discards));
        if passes == 0 {
            return None;
        }
        // Whole blocks, and none that reaches beyond the span.
        let fitting =
            1u32 << measured.span_bytes.trailing_zeros().min(LARGEST_WARM_UP_BLOCK.trailing_zeros());
        let size_bytes = fitting.max(measured.smallest_block_bytes());
        let time_ns = Some(rules.time_ns.saturating_mul(LONGEST_WARM_UP));
        Some(Workload {
            read_percent: measured.read_percent,
            offset_bytes: measured.offset_bytes,
            end: End { time_ns, passes: Some(passes), ..End::default() },
            sync: measured.sync,
            data: measured.data,
            seed: measured.seed,
            ..Workload::plain(Pattern::Sequential, size_bytes, measured.span_bytes)
        })
    }

    /// Where its span begins on a target of this length, and how long it is, if not all the rest; whole blocks.
    fn span_of(&self, target_bytes: u64) -> (u64, Option<u64>) {
        let Some((start_percent, length_percent)) = self.span_percent else {
            return (self.offset_bytes, self.span_bytes);
        };
        let grain =
            self.block_sizes.iter().map(|block| u64::from(block.size_bytes)).max().unwrap_or(1).max(1);
        let part = |percent: u8| {
            let bytes = u128::from(target_bytes) * u128::from(percent) / 100;
            bytes as u64 / grain * grain
        };
        (part(start_percent), Some(part(length_percent)))
    }

    /// What to run in a direction, on a target with this many usable bytes.
    pub fn workload(&self, rules: &Rules, direction: Direction, span_bytes: u64) -> Workload {
        let read_percent = match direction {
            Direction::Read => 100,
            Direction::Write => 0,
            Direction::Mix if self.rewrite_every_reads.is_some() => 100,
            Direction::Mix => self.read_percent,
        };
        let writes =
            if self.write_block_sizes.is_empty() { &self.block_sizes } else { &self.write_block_sizes };
        let (offset_bytes, wished_bytes) = self.span_of(span_bytes);
        let rest = span_bytes.saturating_sub(offset_bytes);
        let mut end = self.end;
        if !end.is_given() {
            end.time_ns = Some(rules.time_ns);
        }
        if let (Some(limit), Some(_), true) =
            (rules.write_limit_bytes, end.time_ns, direction != Direction::Read)
        {
            end.bytes = Some(end.bytes.map_or(limit, |bytes| bytes.min(limit)));
        }
        Workload {
            pattern: self.pattern,
            thread_share: self.thread_share,
            block_sizes: if direction == Direction::Write {
                writes.clone()
            } else {
                self.block_sizes.clone()
            },
            write_block_sizes: if direction == Direction::Mix {
                self.write_block_sizes.clone()
            } else {
                Vec::new()
            },
            read_percent,
            rewrite_every_reads: self.rewrite_every_reads.filter(|_| direction == Direction::Mix),
            trims: self.trims.filter(|_| direction == Direction::Write),
            iodepth: self.in_flight(),
            threads: self.threads,
            offset_bytes,
            span_bytes: wished_bytes.map_or(rest, |span| span.min(rest)),
            open_loop: self.open_loop,
            warm_up_ns: self.warm_up_ns,
            start_delay_ns: self.start_delay_ns,
            thinking: self.thinking,
            alignment_bytes: self.alignment_bytes,
            zones: self.zones.clone(),
            in_order: self.in_order,
            flow: self.flow,
            latency_target: self.latency_target,
            processors: self.processors.clone(),
            ends_all: self.ends_all,
            fio_places: self.fio_places,
            end,
            sync: self.sync,
            data: self.data.unwrap_or(rules.data),
            moving_start: rules.moving_start && self.pattern == Pattern::Sequential && end.time_ns.is_some(),
            seed: rules.seed,
        }
    }
}
