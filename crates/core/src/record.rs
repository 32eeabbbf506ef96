//! The run record: one profile executed once on one target, with everything needed to show, compare or repeat it.
//!
//! The model: a header that is known before the first cell, cells that are appended one by one, and a closing.
//! Every stored record carries `schema`; a field that is added later is optional when read, so old records stay
//! readable. docs/record.md tells the JSON form.
//!
//! # To add a field
//!
//! - An old record lacks it, so it is an `Option` or has `#[serde(default)]`. Its limits are checked in `store/check.rs`.
//! - Describe it in docs/record.md.
//! - If an older kurabe would misread a new record, raise `RECORD_SCHEMA` and write fixtures of the new version.
//!
//! # To add a notice
//!
//! - Add a variant of `NoticeKind` unless one fits, its heading in `words::notice` (`report`), and in `report/run/remarks.rs` whether it
//!   is a warning.
//! - Emit it where the fact is known: what happened, and what it does to the figures. Describe it in docs/record.md, with a test.

mod merge;
mod ranks;
mod repetition;
mod served;

pub use crate::measure::Measure;
pub use ranks::{
    AllAtWork, HostNoise, RankHost, RankLayout, RankPlace, RankShare, RankedRepetition, RanksRecord,
};
pub use repetition::{
    CpuUse, Interval, LatencyRecord, Noise, OpsRecord, Repetition, Sample, Series, Stall, Traffic,
};
pub use served::ServedRecord;

use crate::imported::{ImportedCell, Origin};
use crate::profile::{Profile, Statistic};
use crate::words::Keyword;
use crate::workload::{Direction, Workload};
use crate::{environment::Environment, model::ModelRecord, phrases, text::Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the record's form that this kurabe writes.
pub const RECORD_SCHEMA: u32 = 2;

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Being measured now.
    #[default]
    Running,
    /// Every cell was measured.
    Complete,
    /// Stopped before its end by the user, a signal or a crash; its cells so far hold.
    Interrupted,
    /// Stopped before its end by an error; its cells so far hold.
    Failed,
}

impl Keyword for RunStatus {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("running", Self::Running),
        ("complete", Self::Complete),
        ("interrupted", Self::Interrupted),
        ("failed", Self::Failed),
    ];
}

/// What kind of thing the target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl TargetRecord {
    /// Where it is: the model, or the absolute path of the directory, file or device; never one that depends on where
    /// somebody stood.
    pub fn place(&self) -> &str {
        if self.kind == TargetKind::Model || self.given.starts_with('/') {
            return &self.given;
        }
        match self.path.rsplit_once('/') {
            // Of a directory the path is that of the test file in it.
            Some((directory, name)) if self.kind == TargetKind::Directory && name.starts_with(".kurabe-") => {
                if directory.is_empty() {
                    "/"
                } else {
                    directory
                }
            }
            _ => &self.path,
        }
    }
}

/// The writing of the test file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// A span was not warmed up whole.
    WarmUpCut,
    /// Other work disturbed the device or the machine.
    Noise,
    /// The target is a served model, and how well that kept its time.
    ServedModel,
    /// Something else worth knowing.
    Other,
}

/// A warning or a remark that belongs to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: Text,
    /// Of a served model: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Box<ServedRecord>>,
}

impl Notice {
    /// A sentence.
    pub fn new(kind: NoticeKind, text: Text) -> Self {
        Self { kind, text, served: None }
    }
}

/// How a cell's operations reached the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineRecord {
    /// `uring` or `threads`.
    pub name: String,
    /// What was asked for: `auto` or a name.
    pub asked: String,
    /// Why this one.
    pub reason: Text,
    /// Features in use, such as `registered-buffers`.
    pub features: Vec<String>,
    /// Features that were tried and refused, with the reason: phrases that [`fallback`] words.
    pub fallbacks: Vec<String>,
    /// How completions are awaited: `sleep`, `spin` or `poll`.
    pub wait: String,
    /// Pages under the buffers: `4k` or `huge`.
    pub pages: String,
    /// Operating-system threads that issued operations.
    pub issuing_threads: u32,
}

/// What an engine goes without, and why, as a reader says it.
pub fn fallback(phrase: &str) -> Text {
    Text::of(phrase, phrases::in_japanese(include_str!("record/fallbacks.txt"), phrase))
}

#[test]
fn what_an_engine_goes_without_is_said_in_japanese() {
    for (en, ja) in [
        ("wait spin: pread and pwrite always sleep", "spin での待機: pread と pwrite は常に眠ります"),
        (
            "wait poll: Operation not supported (os error 95); spinning instead",
            "poll での待機: 対応していない操作です(エラー 95)。代わりに spin で待ちます",
        ),
        (
            "registered-file: Invalid argument (os error 22)",
            "registered-file: 引数が正しくありません(エラー 22)",
        ),
    ] {
        assert_eq!(fallback(en), Text::of(en, ja));
    }
}

/// One figure of the table with all that stands behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub imported: Option<ImportedCell>,
}

impl Cell {
    /// The repetitions that count.
    pub fn counted(&self) -> impl Iterator<Item = &Repetition> {
        self.repetitions.iter().filter(|repetition| !repetition.discarded)
    }

    /// Adds a repetition in the order of their indices, in place of the one with its index.
    pub fn put_repetition(&mut self, repetition: Repetition) {
        let index = repetition.index;
        match self.repetitions.iter().rposition(|other| other.index <= index) {
            Some(place) if self.repetitions[place].index == index => self.repetitions[place] = repetition,
            place => self.repetitions.insert(place.map_or(0, |place| place + 1), repetition),
        }
    }

    /// Whether its step sampled the target.
    pub fn has_samples(&self) -> bool {
        self.counted().any(|repetition| !repetition.samples.is_empty())
    }
}

/// The instrument itself.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instrument {
    /// Smallest step seen of the clock.
    pub clock_resolution_ns: u64,
    /// Cost of reading the clock.
    pub clock_cost_ns: f64,
}

/// The part of a run in a measurement of several targets in turns. Repetitions of one number are of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersusRecord {
    /// What all its runs share and no others: identity of the first, before there were such its id.
    pub group: String,
    /// Seed of the order.
    pub order_seed: u64,
    /// The targets as the user named them, the baseline first.
    pub targets: Vec<String>,
    /// Which of them this run is, from 0.
    pub place: u32,
    /// In what they differ, if they are configurations of one target: `bs=4k`, for each in the same order; empty if they are
    /// different targets.
    #[serde(default)]
    pub variants: Vec<String>,
}

impl VersusRecord {
    /// Which configuration of the target this run is, if it is one of several.
    pub fn variant(&self) -> Option<&str> {
        self.variants.get(self.place as usize).map(String::as_str)
    }
}

/// What is known of a run before its first cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunHeader {
    /// Version of the record's form.
    pub schema: u32,
    /// Version of kurabe.
    pub kurabe_version: String,
    /// The run's id: lower-case letters and digits, unique in its store.
    pub id: String,
    /// Its identity: a UUID, the same in every copy of the run and in no other run of the world; empty in records of before.
    #[serde(default)]
    pub identity: String,
    /// Start, RFC 3339 with offset.
    pub started_at: String,
    /// The command line.
    pub command: Vec<String>,
    /// Where I/O went; `None` until the target is open, and in an imported run.
    pub target: Option<TargetRecord>,
    /// The profile with the overrides of the command line applied; `None` in an imported run.
    pub profile: Option<Profile>,
    /// What it stood on; in an imported run what the other tool told of it.
    pub environment: Environment,
    /// The instrument; `None` in an imported run.
    pub instrument: Option<Instrument>,
    /// The tool and the file of an imported run; `None` if kurabe measured it.
    pub origin: Option<Origin>,
    /// The modelled stack, if the target is one.
    pub model: Option<ModelRecord>,
    /// The targets that took turns with this one, if any did.
    pub versus: Option<VersusRecord>,
    /// Who measured together, if several processes did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RanksRecord>>,
}

impl Default for RunHeader {
    /// The header of a run of which nothing is told.
    fn default() -> Self {
        Self {
            schema: RECORD_SCHEMA,
            kurabe_version: String::new(),
            id: String::new(),
            identity: String::new(),
            started_at: String::new(),
            command: Vec::new(),
            target: None,
            profile: None,
            environment: Environment::default(),
            instrument: None,
            origin: None,
            model: None,
            versus: None,
            ranks: None,
        }
    }
}

impl RunHeader {
    /// Where the target is, or what the other tool printed of it.
    pub fn target_name(&self) -> &str {
        match (&self.target, &self.origin) {
            (Some(target), _) => target.place(),
            (None, Some(origin)) => origin.target.as_deref().unwrap_or(""),
            (None, None) => "",
        }
    }

    /// What becomes of a cell's repetitions: the profile's statistic, the mean where no profile says.
    pub fn statistic(&self) -> Statistic {
        self.profile.as_ref().map_or(Statistic::Mean, |profile| profile.statistic)
    }

    /// The profile's name, or the other tool and its version.
    pub fn profile_name(&self) -> String {
        match (&self.profile, &self.origin) {
            (Some(profile), _) => profile.name.clone(),
            (None, Some(origin)) => origin.tool_name(),
            (None, None) => String::new(),
        }
    }

    /// Time of the measurement: the date that the other tool printed, or the start of kurabe's own run. Empty if the other tool
    /// printed no date, because the time of the import says nothing about the measurement.
    pub fn measured_at(&self) -> &str {
        self.origin.as_ref().map_or(&self.started_at, |origin| origin.measured_at.as_deref().unwrap_or(""))
    }
}

/// A run, whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl RunRecord {
    /// A run that has begun and measured nothing so far.
    pub fn begun(header: RunHeader) -> Self {
        Self { header, ..Self::default() }
    }

    /// Adds a cell in the order of their indices, in place of the one with its index.
    pub fn put_cell(&mut self, cell: Cell) {
        match self.cells.binary_search_by_key(&cell.index, |other| other.index) {
            Ok(place) => self.cells[place] = cell,
            Err(place) => self.cells.insert(place, cell),
        }
    }
}

/// A line of the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Where the target is, or what the other tool printed of it.
    pub target: String,
    /// The device's model, if known.
    pub device: Option<String>,
    /// What was modelled, if nothing was measured.
    pub model: Option<Text>,
    /// The profile's name.
    pub profile: String,
    /// Cells measured so far.
    pub cell_count: u32,
    /// The user's labels.
    pub labels: BTreeMap<String, String>,
}

impl RunSummary {
    /// Time of the measurement, as [`RunHeader::measured_at`] gives it; empty if unknown.
    pub fn measured_at(&self) -> &str {
        match &self.measured_at {
            Some(measured_at) => measured_at,
            None if self.imported => "",
            None => &self.started_at,
        }
    }
}

impl From<&RunRecord> for RunSummary {
    fn from(run: &RunRecord) -> Self {
        let header = &run.header;
        Self {
            id: header.id.clone(),
            started_at: header.started_at.clone(),
            measured_at: header.origin.as_ref().and_then(|origin| origin.measured_at.clone()),
            imported: header.origin.is_some(),
            status: run.status,
            target: header.target_name().to_owned(),
            device: header.environment.devices.iter().find_map(|device| device.model.clone()),
            model: header.model.as_ref().map(|model| model.title.clone()),
            profile: header.profile_name(),
            cell_count: run.cells.len() as u32,
            labels: run.labels.clone(),
        }
    }
}
