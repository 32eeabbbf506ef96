//! The run record: one profile executed once on one target, with everything needed to show, compare
//! or repeat it.
//!
//! A record consists of a header that is known before the first cell, cells that are appended one
//! by one, and the final status. Every stored record contains `schema`. Fields that are added later
//! are optional when read, so old records stay readable. docs/record.md describes the JSON form, and
//! the schema each field.
//!
//! # To add a field
//!
//! - An old record doesn't have the field, so the field is an `Option` or has `#[serde(default)]`.
//!   Its limits are checked in `store/check.rs`.
//! - Its doc comment is its description in the schema. What a reader must know besides is in
//!   docs/record.md.
//! - If an older kurabe would misread a new record, raise `RECORD_SCHEMA` and write fixtures of the
//!   new version.
//!
//! # To add a notice
//!
//! - Add a variant of `NoticeKind` unless an existing one fits, its heading in `words::notice`
//!   (`report`), and in `report/run/remarks.rs` whether it is a warning.
//! - Emit it where the fact is known: what happened, and how it affects the figures. Add a test.

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
use crate::issue::{EngineChoice, Pages, RecordedEngine, WaitMode};
use crate::profile::{Profile, Statistic};
use crate::words::{Keyword, RecordedWord};
use crate::workload::{Direction, Workload};
use crate::{environment::Environment, model::ModelRecord, phrases, text::Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the record format that this kurabe writes.
pub const RECORD_SCHEMA: u32 = 2;

/// The status of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// In progress.
    #[default]
    Running,
    /// Every cell was measured.
    Complete,
    /// Stopped early by the user, a signal or a crash. The completed cells are valid.
    Interrupted,
    /// Stopped early by an error. The completed cells are valid.
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

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory, in which a test file is created.
    Directory,
    /// An existing file.
    File,
    /// A block device.
    BlockDevice,
    /// A character device such as /dev/zero.
    CharacterDevice,
    /// A modelled stack.
    Model,
}

/// The target of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetRecord {
    /// The target as the user named it.
    pub given: String,
    /// The canonical path.
    pub path: String,
    /// The target's kind.
    pub kind: TargetKind,
    /// Number of bytes that offsets may cover.
    pub span_bytes: u64,
    /// Whether I/O bypassed the page cache.
    pub direct: bool,
    /// Smallest unit and alignment of direct I/O, in bytes. 1 for buffered I/O.
    pub alignment_bytes: u32,
    /// Whether writing was allowed.
    pub writable: bool,
}

impl TargetRecord {
    /// Returns the location of the target: the model, or the absolute path of the directory, file
    /// or device. It never depends on the user's working directory.
    pub fn place(&self) -> &str {
        if self.kind == TargetKind::Model || self.given.starts_with('/') {
            return &self.given;
        }
        match self.path.rsplit_once('/') {
            // For a directory, the path is that of the test file in it.
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

/// The fill: writing of the test file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FillRecord {
    /// Requested size in bytes.
    pub asked_bytes: u64,
    /// Bytes written before measuring. Less than `asked_bytes` if the time limit reduced it.
    pub written_bytes: u64,
    /// Duration in ns.
    pub elapsed_ns: u64,
}

/// The subject of a notice. The text of each kind says what happened, how it affects the figures,
/// and how to change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A feature of the engine was not available.
    EngineFallback,
    /// How the page cache was dropped between phases, or why it could not be.
    CacheDrop,
    /// The test file was reduced to fit the fill time limit.
    SizeCut,
    /// The span is smaller than the profile requires.
    SpanCut,
    /// Cells were omitted because writing to the target is not allowed.
    WritesLeftOut,
    /// kurabe itself, not the storage, was the bottleneck.
    GeneratorBound,
    /// A span was not warmed up completely.
    WarmUpCut,
    /// Other activity disturbed the device or the machine.
    Noise,
    /// The target is a served model. Reports how accurate its timing was.
    ServedModel,
    /// Any other remark.
    Other,
}

/// A warning or remark about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notice {
    /// The subject.
    pub kind: NoticeKind,
    /// The text.
    pub text: Text,
    /// For a served model: its timing and its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Box<ServedRecord>>,
}

impl Notice {
    /// Creates a notice with a text.
    pub fn new(kind: NoticeKind, text: Text) -> Self {
        Self { kind, text, served: None }
    }
}

/// How a cell's operations reached the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EngineRecord {
    /// The engine: `uring`, `threads`, `mmap` or `model`.
    pub name: RecordedWord<RecordedEngine>,
    /// The requested engine: `auto` or a name.
    pub asked: RecordedWord<EngineChoice>,
    /// Why this engine was selected.
    pub reason: Text,
    /// Features in use, such as `registered-buffers`.
    pub features: Vec<String>,
    /// Features that were tried and refused, with the reason. [`fallback`] converts these phrases
    /// into text.
    pub fallbacks: Vec<String>,
    /// How completions are awaited: `sleep`, `spin` or `poll`.
    pub wait: RecordedWord<WaitMode>,
    /// Pages that back the buffers: `4k` or `huge`.
    pub pages: RecordedWord<Pages>,
    /// Number of operating-system threads that issued operations.
    pub issuing_threads: u32,
}

/// Returns the text for a missing engine feature: the reason, and for a feature of `io_uring` what follows
/// from it and the remedy.
pub fn fallback(phrase: &str) -> Text {
    let is_feature = |(name, _): &(&str, &str)| name.starts_with("registered-") || *name == "uring";
    let Some((feature, error)) = phrase.split_once(": ").filter(is_feature) else {
        return Text::of(phrase, phrases::in_japanese(include_str!("record/fallbacks.txt"), phrase));
    };
    let is_memory_limit = is_memory_limit(error);
    if feature == "uring" {
        let (remedy, remedy_ja) = match is_memory_limit {
            true => (
                "; raise the locked-memory limit (ulimit -l)",
                "。ロックできるメモリーの上限(ulimit -l)を上げると使えます",
            ),
            false => ("", ""),
        };
        return Text::of(
            format!("io_uring cannot be used ({error}), so pread/pwrite is used{remedy}"),
            format!("io_uring を使えないため({error})、pread/pwrite を使います{remedy_ja}"),
        );
    }
    let (what, what_ja) = match feature {
        "registered-buffers" => ("registered buffers", "登録済みバッファー"),
        "registered-file" => ("a registered file", "登録済みファイル"),
        "registered-ring" => ("a registered ring", "登録済みリング"),
        other => (other, other),
    };
    let (reason, reason_ja) = match is_memory_limit {
        true => (
            ", because this user may lock too little memory (ulimit -l)".to_owned(),
            "ロックできるメモリーの上限(ulimit -l)が小さいため、".to_owned(),
        ),
        false => (format!(" ({error})"), format!("{error}。そのため、")),
    };
    Text::of(
        format!("io_uring works without {what}{reason}: an operation takes slightly more CPU time"),
        format!("{reason_ja}io_uring の{what_ja}を使わずに測ります。操作の CPU 時間がわずかに増えます"),
    )
}

/// Returns whether an error of the kernel says that no memory could be locked.
fn is_memory_limit(error: &str) -> bool {
    error.ends_with("(os error 12)")
}

#[test]
fn a_missing_engine_feature_has_a_text_in_both_languages() {
    for (en, ja) in [
        ("wait spin: pread and pwrite always sleep", "spin での待機: pread と pwrite は常に眠ります"),
        (
            "wait poll: Operation not supported (os error 95); spinning instead",
            "poll での待機: 対応していない操作です(エラー 95)。代わりに spin で待ちます",
        ),
    ] {
        assert_eq!(fallback(en), Text::of(en, ja));
    }
    let file = fallback("registered-file: Invalid argument (os error 22)");
    assert_eq!(
        file.en,
        "io_uring works without a registered file (Invalid argument (os error 22)): an operation takes slightly \
         more CPU time"
    );
    assert_eq!(
        file.ja,
        "引数が正しくありません(エラー 22)。そのため、io_uring の登録済みファイルを使わずに測ります。操作の CPU 時間がわずかに増えます"
    );
    let buffers = fallback("registered-buffers: Cannot allocate memory (os error 12)");
    assert!(buffers.en.contains("this user may lock too little memory (ulimit -l)"), "{buffers:?}");
    assert!(buffers.ja.contains("ulimit -l"), "{buffers:?}");
    let rings = fallback("uring: Cannot allocate memory (os error 12)");
    assert!(rings.en.contains("so pread/pwrite is used; raise the locked-memory limit"), "{rings:?}");
}

/// One figure of the table with all its data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Zero-based position in the measurement order.
    pub index: u32,
    /// Index of the step in the profile.
    pub step_index: u32,
    /// The cell's name within its step, as used in formulas: a direction, or a part of a copy.
    #[serde(default)]
    pub part: String,
    /// The step's label.
    pub label: String,
    /// The direction. `None` for a cell that is neither reads nor writes nor a known mix of both (a
    /// command, a trim).
    pub direction: Option<Direction>,
    /// The measured quantity.
    #[serde(default)]
    pub measure: Measure,
    /// The I/O pattern, if the cell has one.
    pub workload: Option<Workload>,
    /// How its operations reached the kernel, if kurabe issued them.
    pub engine: Option<EngineRecord>,
    /// Its repetitions, including discarded ones. Empty for an imported cell.
    pub repetitions: Vec<Repetition>,
    /// The figures printed by another tool, in an imported run.
    pub imported: Option<ImportedCell>,
}

impl Cell {
    /// Returns the repetitions that count.
    pub fn counted(&self) -> impl Iterator<Item = &Repetition> {
        self.repetitions.iter().filter(|repetition| !repetition.discarded)
    }

    /// Inserts a repetition in the order of indexes. Replaces the one with the same index.
    pub fn put_repetition(&mut self, repetition: Repetition) {
        let index = repetition.index;
        match self.repetitions.iter().rposition(|other| other.index <= index) {
            Some(place) if self.repetitions[place].index == index => self.repetitions[place] = repetition,
            place => self.repetitions.insert(place.map_or(0, |place| place + 1), repetition),
        }
    }

    /// Returns whether the cell contains samples of single operations.
    pub fn has_samples(&self) -> bool {
        self.counted().any(|repetition| !repetition.samples.is_empty())
    }
}

/// Properties of the measuring instrument itself.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instrument {
    /// Smallest observed step of the clock, in ns.
    pub clock_resolution_ns: u64,
    /// Cost of reading the clock, in ns.
    pub clock_cost_ns: f64,
}

/// The role of a run in an interleaved measurement of several targets. Repetitions with the same
/// number belong to the same block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersusRecord {
    /// Group id, shared by exactly the runs of one measurement: the identity of the first run, or
    /// its id in older records.
    pub group: String,
    /// Seed of the measurement order.
    pub order_seed: u64,
    /// The targets as the user named them, with the baseline first.
    pub targets: Vec<String>,
    /// Zero-based index of this run's target.
    pub place: u32,
    /// The difference of each configuration of one target, such as `bs=4k`, in the same order.
    /// Empty if the targets are different.
    #[serde(default)]
    pub variants: Vec<String>,
}

impl VersusRecord {
    /// Returns which configuration of the target this run is, if there are several.
    pub fn variant(&self) -> Option<&str> {
        self.variants.get(self.place as usize).map(String::as_str)
    }
}

/// Facts about a run that are known before its first cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunHeader {
    /// Version of the record format.
    pub schema: u32,
    /// Version of kurabe.
    pub kurabe_version: String,
    /// The run's id: lower-case letters and digits, unique in its store.
    pub id: String,
    /// The run's identity: a globally unique UUID, the same in every copy of the run. Empty in
    /// older records.
    #[serde(default)]
    pub identity: String,
    /// Start time, RFC 3339 with offset.
    pub started_at: String,
    /// The command line.
    pub command: Vec<String>,
    /// The target. `None` until it is open, and in an imported run.
    pub target: Option<TargetRecord>,
    /// The profile with the overrides of the command line applied. `None` in an imported run.
    pub profile: Option<Profile>,
    /// The test environment. In an imported run, what the other tool reported about it.
    pub environment: Environment,
    /// The measuring instrument. `None` in an imported run.
    pub instrument: Option<Instrument>,
    /// The tool and file of an imported run. `None` if kurabe measured it.
    pub origin: Option<Origin>,
    /// The modelled stack, if the target is a model.
    pub model: Option<ModelRecord>,
    /// The role in an interleaved measurement, if the run was part of one.
    pub versus: Option<VersusRecord>,
    /// The ranks, if several processes measured together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Box<RanksRecord>>,
}

impl Default for RunHeader {
    /// Returns the header of a run without any facts.
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
    /// Returns the location of the target, or what the other tool printed.
    pub fn target_name(&self) -> &str {
        match (&self.target, &self.origin) {
            (Some(target), _) => target.place(),
            (None, Some(origin)) => origin.target.as_deref().unwrap_or(""),
            (None, None) => "",
        }
    }

    /// Returns how repetitions are combined: the profile's statistic, or the mean without a
    /// profile.
    pub fn statistic(&self) -> Statistic {
        self.profile.as_ref().map_or(Statistic::Mean, |profile| profile.statistic)
    }

    /// Returns the profile's name, or the other tool and its version.
    pub fn profile_name(&self) -> String {
        match (&self.profile, &self.origin) {
            (Some(profile), _) => profile.name.clone(),
            (None, Some(origin)) => origin.tool_name(),
            (None, None) => String::new(),
        }
    }

    /// Returns the time of the measurement: the date that the other tool printed, or the start.
    pub fn measured_at(&self) -> &str {
        self.origin.as_ref().map_or(&self.started_at, |origin| origin.measured_at.as_deref().unwrap_or(""))
    }
}

/// A complete run: header, cells, notices and status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// Facts known before the first cell.
    pub header: RunHeader,
    /// The run's status.
    pub status: RunStatus,
    /// End time, RFC 3339, if the run has ended.
    pub ended_at: Option<String>,
    /// The error that ended the run, if any.
    pub error: Option<Text>,
    /// The user's labels.
    pub labels: BTreeMap<String, String>,
    /// The fill: writing of the test file.
    pub fill: Option<FillRecord>,
    /// Remarks about the run.
    pub notices: Vec<Notice>,
    /// Cells in measurement order.
    pub cells: Vec<Cell>,
    /// Device health after the run. The health before it is in the environment.
    pub health_after: Option<crate::environment::DeviceHealth>,
}

impl RunRecord {
    /// Creates the record of a run that has started but measured nothing so far.
    pub fn begun(header: RunHeader) -> Self {
        Self { header, ..Self::default() }
    }

    /// Inserts a cell in the order of indexes. Replaces the one with the same index.
    pub fn put_cell(&mut self, cell: Cell) {
        match self.cells.binary_search_by_key(&cell.index, |other| other.index) {
            Ok(place) => self.cells[place] = cell,
            Err(place) => self.cells.insert(place, cell),
        }
    }
}

/// An entry in the list of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// The run's id.
    pub id: String,
    /// Start time, RFC 3339. For an imported run, the time of the import.
    pub started_at: String,
    /// When another tool measured it, if that is known.
    pub measured_at: Option<String>,
    /// Whether another tool measured it.
    pub imported: bool,
    /// The run's status.
    pub status: RunStatus,
    /// Location of the target, or what the other tool printed.
    pub target: String,
    /// The device's model, if known.
    pub device: Option<String>,
    /// Title of the model, if the target is a model.
    pub model: Option<Text>,
    /// The profile's name.
    pub profile: String,
    /// Number of cells measured so far.
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
