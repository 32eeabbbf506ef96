//! The steps of a profile: the kinds of work that a tool performs.
//!
//! A step becomes one or more tasks (an `io` step becomes one for each direction). A task measures
//! one cell, or several that can't be measured separately, such as alternating reads and writes or
//! the parts of a copy.
//!
//! # To add a kind of step
//!
//! - Add its type here, its keys in `read.rs`, and its cells in `Step::tasks`.
//! - In `engine/steps/`, write `impl Session` in its own file, its arm in `prepare` and `repeat` of `task.rs`, and its
//!   needs of a target in `fit.rs`.
//! - In `report`, add its words to `run/steps.rs` and its `TableKind` to `run/table.rs`.
//! - Test the exact operations on the null device. Describe it in docs/profiles.md and docs/measuring.md.

use crate::profile::{MetadataPart, MetadataStep, Rules, StopwatchStep, Task, TaskCell, Work};
use crate::workload::{
    AccessPattern, Data, Direction, End, Pattern, Trims, Workload, contains_access_pattern,
};
use crate::{measure::Measure, number, quantity::format_bytes, words::Keyword};
use serde::{Deserialize, Serialize};

/// A step of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A workload in one or more directions.
    Io(Box<IoStep>),
    /// Samples spread evenly over the target.
    Positional(PositionalStep),
    /// Single accesses at random places.
    AccessTime(AccessTimeStep),
    /// A copy between the target and memory, and within the target.
    Copy(CopyStep),
    /// A timed program.
    Command(CommandStep),
    /// A replayed trace.
    Replay(ReplayStep),
    /// Metadata operations on files.
    Metadata(MetadataStep),
    /// The time between two marks.
    Stopwatch(StopwatchStep),
}

/// Limit on the warm-up time of a span, as a multiple of the time of a repetition.
const LONGEST_WARM_UP: u64 = 10;
/// Largest block size of a warm-up, in bytes. A power of two.
const LARGEST_WARM_UP_BLOCK: u32 = 1 << 20;

/// An `io` step: a workload in one or more directions.
///
/// It dereferences to its access pattern, as a [`Workload`] does.
// The default value performs no I/O. It is the base for `IoStep::plain`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct IoStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table. Generated from the pattern if absent.
    pub label: Option<String>,
    /// Directions, in measurement order.
    pub directions: Vec<Direction>,
    /// How the span is accessed in each direction.
    #[serde(flatten)]
    pub access: AccessPattern,
    /// Length of the span in bytes. The rest of the target if absent.
    pub span_bytes: Option<u64>,
    /// Start and length of the span in percent of the target. Replaces `offset_bytes` and
    /// `span_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_percent: Option<(u8, u8)>,
    /// Whether the step runs concurrently with the previous one. Both then have exactly one
    /// direction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
    /// Number of passes over the span, in ascending order and unrecorded, before each repetition.
    /// The measured accesses are then repeated accesses.
    #[serde(default)]
    pub warm_up_passes: u32,
    /// Data to write, if it differs from the profile's.
    pub data: Option<Data>,
}

/// The keys of a step in the order that stored records have. A newer key follows after them.
const STEP_KEYS: &str = "id label directions read_percent pattern thread_share block_sizes iodepth threads \
    offset_bytes span_bytes span_percent rewrite_every_reads trims open_loop warm_up_ns beside start_delay_ns thinking \
    write_block_sizes alignment_bytes zones in_order flow latency_target processors ends_all fio_places warm_up_passes \
    end sync data";

contains_access_pattern!(IoStep, STEP_KEYS);

/// A `positional` step: at each of n places spread evenly over the target, one large read and
/// optionally a write of the same bytes (GNOME Disks).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PositionalStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// Number of places.
    pub samples: u32,
    /// Bytes read or written at each place.
    pub sample_bytes: u32,
    /// Bytes read before each timed operation, outside the timing. 0 disables it.
    pub pre_read_bytes: u32,
    /// Alignment in bytes. Offsets are rounded down to multiples of it.
    pub alignment_bytes: u32,
    /// `read`, or `read` and `write`.
    pub directions: Vec<Direction>,
    /// Whether an fsync follows each write and is included in its time.
    pub sync: bool,
}

/// The sequence of offsets in an access-time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessOrder {
    /// The sequence of GLib's `g_rand_double_range`: MT19937, two draws per double.
    Glib,
    /// kurabe's own generator.
    Uniform,
}

/// An `access_time` step: single operations at random places, one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessTimeStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// Number of accesses.
    pub samples: u32,
    /// Size of each access in bytes.
    pub block_bytes: u32,
    /// Alignment in bytes. Offsets are rounded down to multiples of it.
    pub alignment_bytes: u32,
    /// Reads or writes.
    pub direction: Direction,
    /// The sequence of offsets.
    pub order: AccessOrder,
    /// Seed of the offsets.
    pub seed: u64,
    /// Whether the first access is discarded (GNOME Disks 51).
    pub first_discarded: bool,
    /// Whether the chart plots times over the distance from the previous access (GNOME Disks 51)
    /// instead of over the position.
    pub by_distance: bool,
    /// Length of the span in bytes. The whole target if absent.
    pub span_bytes: Option<u64>,
}

/// A `copy` step: an ordinary buffered copy from the target to memory, from memory to the target,
/// and within the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// Bytes per read and write call.
    pub chunk_bytes: u32,
}

/// A Git repository that kurabe generates. The same numbers give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GitMaterial {
    /// Number of files in the repository.
    pub files: u32,
    /// Number of files that the pulled commits change.
    pub changed_files: u32,
    /// Number of commits to pull.
    pub commits: u32,
}

/// A `command` step: a timed program, with preparation before it and restoration after it.
///
/// In all arguments, `{work}` is a folder of kurabe on the target, and `{origin}` is the folder
/// with the source material. The material is on the same target, outside the files used by the
/// timed program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// A repository that kurabe creates before any program runs.
    pub git: Option<GitMaterial>,
    /// Commands that run once before the first repetition.
    pub prepare: Vec<Vec<String>>,
    /// The timed program and its arguments.
    pub command: Vec<String>,
    /// Commands that restore the initial state before the next repetition.
    pub restore: Vec<Vec<String>>,
    /// Commands that run once at the end, even after a failure.
    pub cleanup: Vec<Vec<String>>,
    /// Whether each list is a single line for `sh -c`.
    pub shell: bool,
    /// Whether dirty pages are written back and the page cache is dropped before the timed program.
    pub cold: bool,
}

/// When the operations of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayTiming {
    /// Each as soon as there is room in the queue.
    Fast,
    /// Each at its recorded time, whether or not earlier ones are complete. Times are divided by
    /// `speed`.
    Timestamps {
        /// Speed factor. 2 replays twice as fast.
        speed: f64,
    },
    /// Each as soon as there is room in the queue, but with the pauses between operations
    /// preserved.
    Closed,
    /// Each after the recorded think time has passed since the previous completion. The trace must
    /// contain durations.
    Think,
    /// Each unit of the trace is a separate reader with one operation in flight and its own
    /// recorded pauses.
    Readers,
}

/// A `replay` step: replays a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReplayStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// The trace file.
    pub trace: String,
    /// The file's format, if it can't be detected from the content.
    pub format: Option<String>,
    /// When operations are issued.
    pub timing: ReplayTiming,
    /// Maximum number of operations in flight.
    pub iodepth: u32,
}

impl ReplayStep {
    /// Returns the maximum number of operations in flight. It is 1 if each operation waits for the
    /// completion of the previous one.
    pub fn in_flight(&self) -> u32 {
        if self.timing == ReplayTiming::Think { 1 } else { self.iodepth }
    }
}

impl Step {
    /// Sets the step's name in formulas.
    pub(super) fn set_id(&mut self, name: String) {
        let id = match self {
            Self::Metadata(step) => &mut step.id,
            Self::Stopwatch(step) => &mut step.id,
            Self::Io(step) => &mut step.id,
            Self::Positional(step) => &mut step.id,
            Self::AccessTime(step) => &mut step.id,
            Self::Copy(step) => &mut step.id,
            Self::Command(step) => &mut step.id,
            Self::Replay(step) => &mut step.id,
        };
        *id = Some(name);
    }

    /// Returns the names from the profile: the one for formulas, and the one for the table.
    fn names(&self) -> [&Option<String>; 2] {
        match self {
            Self::Metadata(step) => [&step.id, &step.label],
            Self::Stopwatch(step) => [&step.id, &step.label],
            Self::Io(step) => [&step.id, &step.label],
            Self::Positional(step) => [&step.id, &step.label],
            Self::AccessTime(step) => [&step.id, &step.label],
            Self::Copy(step) => [&step.id, &step.label],
            Self::Command(step) => [&step.id, &step.label],
            Self::Replay(step) => [&step.id, &step.label],
        }
    }

    /// Returns the step's name in formulas.
    pub fn id(&self) -> Option<&str> {
        self.names()[0].as_deref()
    }

    /// Returns the step's name in the table.
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
            Self::Stopwatch(step) => format!("{} → {}", step.start.word(), step.stop.word()),
            Self::Replay(step) => format!("replay {}", step.trace.rsplit('/').next().unwrap_or_default()),
        }
    }

    /// Returns whether the step runs concurrently with the previous one.
    pub fn is_beside(&self) -> bool {
        matches!(self, Self::Io(step) if step.beside)
    }

    /// Returns the measured directions, in the step's order. Empty for a step without directions.
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
            Self::Command(_) | Self::Replay(_) | Self::Stopwatch(_) => Vec::new(),
        }
    }

    /// Returns whether the step needs no test file, because it works on files in its own folder or
    /// on none.
    pub fn has_own_files(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Metadata(_) | Self::Stopwatch(_))
    }

    /// Returns the step's tasks for a target with `span_bytes` usable bytes. A task with several
    /// cells is listed under the first direction.
    pub fn tasks(&self, step_index: usize, rules: &Rules, span_bytes: u64) -> Vec<(Direction, Task)> {
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
                            // IO500 uses this label for the search through all files.
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
            Self::Stopwatch(step) => {
                single(vec![cell("stopwatch", None, Measure::Duration)], Work::Stopwatch(step.clone()))
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
    /// Reading the file from memory. The time is subtracted.
    MemoryRead,
    /// Writing the file to memory. The time is subtracted.
    MemoryWrite,
    /// Copying from the target to memory.
    ToMemory,
    /// Copying from memory to the target.
    FromMemory,
    /// Copying within the target.
    Within,
}

impl CopyPart {
    /// All parts, in measurement order.
    pub const ALL: [Self; 5] =
        [Self::MemoryRead, Self::MemoryWrite, Self::FromMemory, Self::ToMemory, Self::Within];

    /// Returns the keyword used in formulas and records.
    pub fn word(self) -> &'static str {
        match self {
            Self::MemoryRead => "memory_read",
            Self::MemoryWrite => "memory_write",
            Self::ToMemory => "to_memory",
            Self::FromMemory => "from_memory",
            Self::Within => "within",
        }
    }

    /// Returns the direction of the accesses to the target or to memory.
    pub fn direction(self) -> Direction {
        match self {
            Self::MemoryRead | Self::ToMemory => Direction::Read,
            Self::MemoryWrite | Self::FromMemory => Direction::Write,
            Self::Within => Direction::Mix,
        }
    }
}

impl IoStep {
    /// Returns the default step for this pattern: accesses of one size to the whole target, by one
    /// thread in a closed loop, ended by the profile's time. It has no name, and a mix has half
    /// reads.
    pub fn plain(pattern: Pattern, block_bytes: u32, iodepth: u32, directions: Vec<Direction>) -> Self {
        let access =
            AccessPattern { read_percent: 50, ..AccessPattern::plain(pattern, block_bytes, iodepth) };
        Self { directions, access, ..Self::default() }
    }

    /// Returns the number of operations in flight per thread. It is 1 if each write waits for its
    /// discard.
    pub fn in_flight(&self) -> u32 {
        if self.trims == Some(Trims::BeforeWrites) { 1 } else { self.iodepth }
    }

    /// Returns the step's name in the table, such as `SEQ 1 MiB Q8 T1` or `RND 4 KiB Q32 T1`.
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
        // The direction doesn't show that these are discards.
        let discards = if self.trims == Some(Trims::Only) { " trim" } else { "" };
        // A rate that is offered isn't what the device can do.
        let offered = self.open_loop.map(|open_loop| format!(" at {}", number::iops(open_loop.rate_iops)));
        let offered = offered.unwrap_or_default();
        format!("{pattern} {} Q{} T{}{discards}{offered}", sizes.join("/"), self.in_flight(), self.threads)
    }

    /// Returns the workload to run before each repetition so that the span has been accessed, or
    /// holds data to discard. It covers the span in ascending order in large blocks and ends after
    /// [`LONGEST_WARM_UP`] times the time of a repetition.
    fn warm_up_workload(&self, rules: &Rules, direction: Direction, span_bytes: u64) -> Option<Workload> {
        let measured = self.workload(rules, direction, span_bytes);
        let discards = measured.trims == Some(Trims::Only);
        let passes = self.warm_up_passes.max(u32::from(discards));
        if passes == 0 {
            return None;
        }
        // Use whole blocks that don't extend past the end of the span.
        let fitting =
            1u32 << measured.span_bytes.trailing_zeros().min(LARGEST_WARM_UP_BLOCK.trailing_zeros());
        let size_bytes = fitting.max(measured.smallest_block_bytes());
        let time_ns = Some(rules.time_ns.saturating_mul(LONGEST_WARM_UP));
        let access = AccessPattern {
            read_percent: measured.read_percent,
            offset_bytes: measured.offset_bytes,
            end: End { time_ns, passes: Some(passes), ..End::default() },
            sync: measured.sync,
            ..AccessPattern::plain(Pattern::Sequential, size_bytes, 1)
        };
        Some(Workload { access, moving_start: false, ..measured })
    }

    /// Returns the start of the span on a target of this length, and its length unless it is the
    /// rest of the target. Both are multiples of the block size.
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

    /// Returns the workload for one direction, on a target with `span_bytes` usable bytes.
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
        let moving_start = rules.moving_start && self.pattern == Pattern::Sequential && end.time_ns.is_some();
        let mut access = AccessPattern { read_percent, offset_bytes, end, ..self.access.clone() };
        access.iodepth = self.in_flight();
        if direction == Direction::Write {
            access.block_sizes.clone_from(writes);
        } else {
            access.trims = None;
        }
        if direction != Direction::Mix {
            access.write_block_sizes.clear();
            access.rewrite_every_reads = None;
        }
        let span_bytes = wished_bytes.map_or(rest, |span| span.min(rest));
        Workload { access, span_bytes, data: self.data.unwrap_or(rules.data), moving_start, seed: rules.seed }
    }
}
