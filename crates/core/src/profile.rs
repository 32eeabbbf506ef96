//! A profile is a named list of steps with the rules of a tool. This module also derives its tasks.
//!
//! The rules apply to the whole profile. A step may override the ones that concern only itself.
//! `Profile::tasks` is the only place where rules, steps and directions become work, so it decides
//! the order in which cells are measured.

mod formula;
mod metadata;
mod options;
mod step;
mod stopwatch;

pub use formula::{Formula, FormulaUnit, Name, is_step_name};
pub use metadata::{MetadataPart, MetadataStep};
pub use options::{
    FioForm, LARGEST_BLOCK_BYTES, MOST_IODEPTH, MOST_RATE_IOPS, MOST_THREADS, OPTIONS, OptionInput,
    OptionKind, OptionPart, Overrides, WorkloadOption, block_sizes, option, parse_block_size,
};
pub use step::{
    AccessOrder, AccessTimeStep, CommandStep, CopyPart, CopyStep, GitMaterial, IoStep, PositionalStep,
    ReplayStep, ReplayTiming, Step,
};
pub use stopwatch::{StopwatchStep, TimeMark};

use crate::quantity::{GIB, NS_PER_S};
use crate::workload::{Data, Direction, Workload};
use crate::{measure::Measure, text::Text};
use serde::{Deserialize, Serialize};

/// How the repetitions of a cell are combined into the figure shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    Median,
    /// The best repetition: highest rate and lowest mean latency, each selected independently.
    Best,
}

impl Statistic {
    /// Returns the keyword used in profiles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Best => "best",
        }
    }
}

/// The order in which cells are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// All reads, then all writes, then all mixes (CrystalDiskMark 7 and later).
    ByDirection,
    /// Each step's directions together, in the step's order (CrystalDiskMark 3, AmorphousDiskMark).
    ByStep,
}

/// The rules that apply to the whole profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Size of the test file, in bytes. On a device or an existing file, the upper limit of the
    /// span.
    pub size_bytes: u64,
    /// Whether the whole device or existing file is used, regardless of the size (GNOME Disks, the
    /// SNIA tests).
    #[serde(default)]
    pub whole_device: bool,
    /// Smallest size, in bytes, to which the fill time limit may reduce the test file. `None` if it
    /// is never reduced.
    pub size_at_least_bytes: Option<u64>,
    /// Longest time for writing the test file, in ns, if the file may be reduced.
    pub fill_time_limit_ns: Option<u64>,
    /// Number of repetitions that count.
    pub runs: u32,
    /// Number of initial repetitions that are discarded.
    pub discarded_runs: u32,
    /// Measured time of a repetition in ns, unless a step overrides it.
    pub time_ns: u64,
    /// Bytes after which a time-limited repetition that writes ends early. `None` if there is no
    /// limit.
    pub write_limit_bytes: Option<u64>,
    /// Pause between cells, in ns.
    pub interval_ns: u64,
    /// The order in which cells are measured.
    pub order: Order,
    /// Whether I/O bypasses the page cache.
    pub direct: bool,
    /// Content of the test file and of the blocks written.
    pub data: Data,
    /// Whether every repetition of a cell visits the same offsets.
    pub same_offsets: bool,
    /// Whether sequential access begins at another offset in each repetition, so that it doesn't
    /// find what the repetition before left in the drive's cache or had read ahead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moving_start: bool,
    /// Whether the pages of the test file are new to the file system in each repetition, as in a log that is
    /// allocated but not written: the first flush of a page then stores where it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_pages: bool,
    /// The first seed.
    pub seed: u64,
}

/// The unit in which a tool prints rates, if it is not MB/s with MB = 10^6 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrintedUnit {
    /// The unit as printed, such as `MB/s`.
    pub unit: String,
    /// Actual number of bytes per second in one unit.
    pub bytes: u64,
}

/// A figure that a profile derives from the figures of its cells: a score or a ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The figure's name in the table.
    pub label: Text,
    /// The formula that computes it.
    pub formula: Formula,
    /// Explanation of the figure, in one sentence.
    pub meaning: Option<Text>,
    /// Minimum duration of each `write` or `create` cell in the formula, in ns, for the figure to be
    /// valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_write_ns: Option<u64>,
}

/// The figure that determines whether a device has reached its steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tracked {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Rate,
    /// Mean latency.
    Latency,
}

/// Rounds: all cells are measured once per round, until the device is steady (SNIA Performance Test
/// Specification).
///
/// Over the last `window` rounds, two conditions must hold. The tracked figure's maximum and
/// minimum differ by at most `excursion_percent` of its mean, **and** its least-squares line rises
/// or falls by at most `slope_percent` of the mean over the window. The repetitions in the window
/// are those that count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Maximum number of rounds.
    pub most: u32,
    /// Number of consecutive rounds that must be steady.
    pub window: u32,
    /// Largest excursion, in percent of the mean.
    pub excursion_percent: f64,
    /// Largest slope, in percent of the mean over the window.
    pub slope_percent: f64,
    /// Label and direction of the tracked cells; all of them must be steady.
    pub tracked_cells: Vec<TrackedCell>,
    /// The tracked figure of those cells.
    pub tracked: Tracked,
}

/// A cell used to determine whether a device is steady.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrackedCell {
    /// The cell's label.
    pub label: String,
    /// The cell's direction.
    pub direction: Direction,
}

/// Additional steps derived from the results so far. Empty if no further measurement is needed.
#[derive(Clone, Debug, Default)]
pub struct FurtherSteps {
    /// The steps to run next.
    pub steps: Vec<Step>,
    /// Why they are needed, if that is worth showing to a waiting user.
    pub why: Option<Text>,
}

/// A named list of steps with the rules of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The profile's name.
    pub name: String,
    /// A one-sentence description.
    pub title: Text,
    /// The source of the procedure.
    pub source: Option<String>,
    /// How kurabe differs from the original tool, and why.
    pub differs: Option<Text>,
    /// How repetitions are combined into the figure.
    pub statistic: Statistic,
    /// The tool's unit for rates, if it is not MB/s.
    pub as_printed: Option<PrintedUnit>,
    /// Rules that apply to all steps.
    pub rules: Rules,
    /// Rounds until the steady state, if the tool repeats its cells.
    pub rounds: Option<Rounds>,
    /// Work done once before the first cell. It is not shown as cells.
    #[serde(default)]
    pub preconditions: Vec<IoStep>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Figures derived from the cells' figures.
    #[serde(default)]
    pub derived: Vec<Derived>,
}

/// A cell that a task measures.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskCell {
    /// The cell's name within the step: a direction, or a part of a copy.
    pub part: String,
    /// The cell's name in the table.
    pub label: String,
    /// The cell's direction, if it has one.
    pub direction: Option<Direction>,
    /// The quantity that the cell measures.
    pub measure: Measure,
}

/// The work that a task performs.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Workloads that run concurrently, each of them a cell. Usually there is only one.
    Io(Vec<Workload>),
    /// Samples spread evenly over the target.
    Positional(PositionalStep),
    /// Single accesses.
    AccessTime(AccessTimeStep),
    /// Copies.
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

/// A unit of measurement: one cell, or several that can't be measured separately.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Zero-based index of the step in the profile.
    pub step_index: usize,
    /// The step's label.
    pub label: String,
    /// The cells, in the order in which they are stored.
    pub cells: Vec<TaskCell>,
    /// Work done before each repetition and not recorded, so that the measured accesses are
    /// repeated accesses.
    pub warm_up: Option<Workload>,
    /// The work, for the span given to [`Profile::tasks`].
    pub work: Work,
}

impl Task {
    /// Returns the I/O pattern, if the task consists of exactly one.
    pub fn workload(&self) -> Option<&Workload> {
        match self.workloads() {
            [workload] => Some(workload),
            _ => None,
        }
    }

    /// Returns the I/O patterns that run concurrently. Empty if the task is not an I/O task.
    pub fn workloads(&self) -> &[Workload] {
        match &self.work {
            Work::Io(workloads) => workloads,
            _ => &[],
        }
    }

    /// Merges a task that runs concurrently. Its cells follow this task's own cells.
    fn join(&mut self, beside: Self) {
        if let (Work::Io(workloads), Work::Io(others)) = (&mut self.work, beside.work) {
            workloads.extend(others);
            self.cells.extend(beside.cells);
            self.label = format!("{} + {}", self.label, beside.label);
        }
    }

    /// Returns the direction of the first cell.
    pub fn direction(&self) -> Option<Direction> {
        self.cells.first().and_then(|cell| cell.direction)
    }

    /// Returns whether the task writes to the target, as far as the profile determines it. A trace
    /// must be inspected separately.
    pub fn writes(&self) -> bool {
        match &self.work {
            Work::Io(workloads) => workloads.iter().any(Workload::writes),
            Work::Positional(step) => step.directions.contains(&Direction::Write),
            Work::AccessTime(step) => step.direction == Direction::Write,
            Work::Copy(_) | Work::Command(_) | Work::Metadata(_) => true,
            Work::Replay(_) | Work::Stopwatch(_) => false,
        }
    }

    /// Returns the duration of one repetition in ns, if only time ends it.
    pub fn planned_time_ns(&self) -> Option<u64> {
        let times = self.workloads().iter().map(|workload| {
            let before_ns = workload.start_delay_ns.saturating_add(workload.warm_up_ns);
            Some(workload.end.time_ns?.saturating_add(before_ns))
        });
        times.reduce(|one, other| Some(one?.max(other?)))?
    }

    /// Returns the amount that one repetition writes on a target with `span_bytes` usable bytes,
    /// including its warm-up. Programs and traces are not counted here.
    pub fn planned_writes(&self, span_bytes: u64) -> PlannedWrites {
        let bytes = |bytes| PlannedWrites { bytes, time_ns: 0 };
        let before = self.warm_up.as_ref().map_or(PlannedWrites::default(), PlannedWrites::of);
        before.and(match &self.work {
            Work::Io(workloads) => {
                workloads.iter().map(PlannedWrites::of).fold(PlannedWrites::default(), PlannedWrites::and)
            }
            Work::Positional(step) if self.writes() => {
                bytes(u64::from(step.samples) * u64::from(step.sample_bytes))
            }
            Work::AccessTime(step) if self.writes() => {
                bytes(u64::from(step.samples) * u64::from(step.block_bytes))
            }
            // Once from memory to the target, and once within the target.
            Work::Copy(_) => bytes(span_bytes.saturating_mul(2)),
            Work::Metadata(step) => bytes(step.all_files() * u64::from(step.write_bytes)),
            _ => PlannedWrites::default(),
        })
    }
}

/// The planned amount of writing, as far as it is known in advance: bytes if a byte limit or a rate
/// is given, otherwise the time during which the target writes as fast as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedWrites {
    /// Maximum number of bytes.
    pub bytes: u64,
    /// Time in ns during which the target writes at full speed.
    pub time_ns: u64,
}

impl PlannedWrites {
    /// Returns the planned writes of one repetition of a workload. For mixed reads and writes, the
    /// time counts in proportion to the writes. Discards destroy data just as overwrites do, so
    /// they count as writes.
    pub fn of(workload: &Workload) -> Self {
        if !workload.writes() {
            return Self::default();
        }
        let passes = workload.end.passes.map(|passes| workload.span_bytes.saturating_mul(u64::from(passes)));
        let whole_time_ns = workload.end.time_ns.map(|time_ns| time_ns.saturating_add(workload.warm_up_ns));
        let share = f64::from(100 - workload.read_percent) / 100.0;
        // An open loop writes at most at its specified rate.
        let at_rate = whole_time_ns.zip(workload.open_loop).map(|(time_ns, open_loop)| {
            let operations = open_loop.rate_iops * share * time_ns as f64 / NS_PER_S as f64;
            (operations * f64::from(workload.largest_block_bytes())) as u64
        });
        match workload.end.bytes.into_iter().chain(passes).chain(at_rate).min() {
            Some(bytes) => Self { bytes, time_ns: 0 },
            None => {
                let time_ns = whole_time_ns.unwrap_or(0);
                // Rewrites after reads have no fixed share; they may take nearly all of the time.
                let time_ns = if share > 0.0 { (time_ns as f64 * share) as u64 } else { time_ns };
                Self { bytes: 0, time_ns }
            }
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            time_ns: self.time_ns.saturating_add(other.time_ns),
        }
    }

    /// Returns `count` times this amount.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self {
            bytes: self.bytes.saturating_mul(u64::from(count)),
            time_ns: self.time_ns.saturating_mul(u64::from(count)),
        }
    }
}

impl Rules {
    /// Returns the default rules: every cell once for 5 s, on random data in 1 GiB, bypassing the
    /// page cache.
    pub fn once() -> Self {
        Self {
            size_bytes: GIB,
            whole_device: false,
            size_at_least_bytes: None,
            fill_time_limit_ns: None,
            runs: 1,
            discarded_runs: 0,
            time_ns: 5 * NS_PER_S,
            write_limit_bytes: None,
            interval_ns: 0,
            order: Order::ByDirection,
            direct: true,
            data: Data::Random,
            same_offsets: false,
            moving_start: false,
            new_pages: false,
            seed: 1,
        }
    }
}

impl Profile {
    /// Returns a profile that consists of only these steps. It uses the mean of the repetitions and
    /// has no rounds, preconditions or derived figures.
    pub fn of_steps(name: &str, title: Text, rules: Rules, steps: Vec<Step>) -> Self {
        Self {
            name: name.to_owned(),
            title,
            source: None,
            differs: None,
            statistic: Statistic::Mean,
            as_printed: None,
            rules,
            rounds: None,
            preconditions: Vec::new(),
            steps,
            derived: Vec::new(),
        }
    }

    /// Returns the tasks, in order, for a target with `span_bytes` usable bytes.
    pub fn tasks(&self, span_bytes: u64) -> Vec<Task> {
        let mut tasks: Vec<(Direction, Task)> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            for (direction, task) in step.tasks(index, &self.rules, span_bytes) {
                match tasks.last_mut().filter(|_| step.is_beside()) {
                    Some((_, before)) => before.join(task),
                    None => tasks.push((direction, task)),
                }
            }
        }
        if self.rules.order == Order::ByDirection {
            // A stable sort keeps the order of steps within a direction.
            tasks.sort_by_key(|(direction, _)| Direction::ALL.iter().position(|other| other == direction));
        }
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    /// Returns the preconditioning tasks, in order, for a target with `span_bytes` usable bytes.
    pub fn precondition_tasks(&self, span_bytes: u64) -> Vec<Task> {
        let rules = Rules { write_limit_bytes: None, ..self.rules.clone() };
        self.preconditions
            .iter()
            .enumerate()
            .flat_map(|(index, step)| Step::Io(Box::new(step.clone())).tasks(index, &rules, span_bytes))
            .map(|(_, task)| task)
            .collect()
    }

    /// Returns the profile with a name for every step, so that formulas can refer to it. A step
    /// without an `id` is named `step1`, `step2` and so on by its position.
    #[must_use]
    pub fn with_step_names(mut self) -> Self {
        for index in 0..self.steps.len() {
            let name = format!("step{}", index + 1);
            if self.steps[index].id().is_none() && !self.steps.iter().any(|step| step.id() == Some(&name)) {
                self.steps[index].set_id(name);
            }
        }
        self
    }

    /// Returns whether any step needs a span of the target to read and write, which is a test file
    /// if the target is a directory. Command and metadata steps create their own files.
    pub fn needs_span(&self) -> bool {
        self.steps.iter().any(|step| !step.has_own_files())
    }

    /// Returns whether the tool writes a test file before it measures. Tools for whole devices read
    /// the existing data, a copy writes its own file, and a trace refers to data written long
    /// before it.
    pub fn writes_file_first(&self) -> bool {
        let of_file = |step: &Step| matches!(step, Step::Io(_) | Step::Positional(_) | Step::AccessTime(_));
        !self.rules.whole_device && self.steps.iter().any(of_file)
    }

    /// Returns the maximum number of repetitions of each cell.
    pub fn repetitions(&self) -> u32 {
        match &self.rounds {
            Some(rounds) => rounds.most,
            None => self.rules.runs.saturating_add(self.rules.discarded_runs),
        }
    }
}
