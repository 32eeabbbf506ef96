//! Output for scripts: the lines of `--json` that are neither a stored type nor an event of a run.
//!
//! The model: a line is a type, from which its schema is generated (`docs/schema`). The text output
//! is created elsewhere from the same values. Sentences are in both languages.

use super::PricedLine;
use kurabe_compare::{Fit, Pair, Pivot};
use kurabe_core::event::Event;
use kurabe_core::record::{RunRecord, Traffic};
use kurabe_core::{Error, Text, words::Keyword};
use kurabe_explain::SweepCurve;
use kurabe_identify::DeviceIdentity;
use kurabe_lab::{CutTrial, ImageReport, UnsafeOrder};
use kurabe_report::{
    AskedFact, Assessment, DemeritRow, SpokenHistory, SpokenPair, SpokenPairs, SpokenRecommendation, answer,
    asked_facts,
};
use kurabe_serve::{Grants, Lateness, ServedFigures};
use kurabe_stats::{CellFigures, run_figures};
use kurabe_study::catalogue::Beside;
use kurabe_study::{ModelLimits, ModelSide};
use serde::Serialize;
use serde_json::Value;

/// A line of `--json` output. Names of times end in `_ns`, names of sizes in `_bytes`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ScriptLine<'a> {
    /// A run: the last line of `run`, and the only line of `show`.
    Record {
        /// The stored record.
        run: &'a RunRecord,
        /// The figures of its cells.
        figures: Vec<CellFigures<'a>>,
        /// The run in a sentence.
        summary: Option<Assessment>,
    },
    /// Comparison of two runs.
    Comparison {
        /// The comparison in a sentence.
        answer: Text,
        /// The comparison cell by cell.
        comparison: SpokenPair<'a>,
        /// The facts that the user asked about.
        about: Vec<AskedFact>,
        /// The figures of both runs' cells.
        figures: BothFigures<'a>,
    },
    /// Comparisons of several runs with the first.
    Comparisons(SpokenPairs<'a>),
    /// Comparisons of interleaved targets with the first.
    Versus {
        /// The comparisons.
        #[serde(flatten)]
        pairs: SpokenPairs<'a>,
        /// Number of complete blocks.
        blocks: u32,
        /// Why the measurement ended: `settled`, `time_up`, or `error`.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        ended: Value,
    },
    /// Event in a run of an interleaved measurement.
    VersusRun {
        /// Id of the run.
        run: &'a str,
        /// The event.
        happened: &'a Event,
        /// Number of the event, from 0.
        number: u64,
        /// Time of the event, in ns since the first.
        at_ns: u64,
    },
    /// Latencies of a run compared with measured ones.
    Demerit {
        /// Id of the run.
        run: &'a str,
        /// A row for each direction.
        demerits: Vec<DemeritRow>,
    },
    /// Recommendation of one of several runs for a use.
    Recommendation {
        /// Ids of the runs.
        runs: Vec<&'a str>,
        /// The recommendation in a sentence.
        answer: Text,
        /// The basis of the recommendation.
        recommendation: SpokenRecommendation<'a>,
        /// For each run, properties of its model other than the measured figures. Null for a
        /// device.
        models: Vec<Option<ModelSide>>,
        /// For each run, what limits the figures of its model. Null for a device.
        limits: Vec<Option<ModelLimits>>,
    },
    /// History of a device over its runs.
    History {
        /// The device.
        device: &'a str,
        /// The runs.
        history: SpokenHistory<'a>,
    },
    /// Result of copying runs to another store.
    Exchanged {
        /// Number of runs copied.
        brought: usize,
        /// Number of runs that already existed there.
        present: usize,
        /// Ids of the runs that are still being measured.
        running: &'a [String],
        /// Ids of the runs that could not be copied. The reasons are on standard error.
        refused: &'a [&'a str],
    },
    /// Pivot of many runs by their differences.
    Pivot {
        /// The conclusions, one sentence each.
        answer: Vec<Text>,
        /// The table.
        pivot: &'a Pivot,
    },
    /// Curves of a sweep.
    Sweep {
        /// Id of the run.
        run: &'a str,
        /// The curves.
        curves: Vec<SweepCurve>,
    },
    /// Fitness of a target for a use.
    Fit {
        /// Id of the run.
        run: &'a str,
        /// The verdict in a sentence.
        answer: Text,
        /// The verdict on each limit.
        fit: &'a Fit,
    },
    /// Properties of a device, with their evidence.
    Identity {
        /// The target as the user named it.
        target: &'a str,
        /// The answers, one for each property.
        #[serde(flatten)]
        identity: &'a DeviceIdentity,
    },
    /// Comparison of a run with published figures.
    Beside {
        /// Both, figure by figure.
        beside: &'a Beside,
    },
    /// A picture of a run was written.
    Card {
        /// Id of the run.
        id: &'a str,
        /// The file.
        file: String,
        /// Size of the file.
        bytes: usize,
    },
    /// The file of a study was written.
    StudyFile {
        /// The file.
        file: String,
        /// Size of the file.
        bytes: usize,
    },
    /// A report was written.
    Report {
        /// The file.
        file: String,
        /// Format of the report.
        format: &'a str,
        /// Size of the file.
        bytes: usize,
        /// Ids of the runs in the report.
        runs: Vec<&'a str>,
    },
    /// Labels of a run were changed.
    Labelled {
        /// Id of the run.
        id: &'a str,
    },
    /// A file was imported as a run.
    Imported {
        /// Id of the run.
        id: &'a str,
    },
    /// Health data of a drive was attached to a run.
    HealthAttached {
        /// Id of the run.
        id: &'a str,
    },
    /// A run was removed.
    Removed {
        /// Id of the run.
        id: &'a str,
    },
    /// A file was converted to a device file.
    DeviceImported {
        /// The device file.
        file: &'a str,
    },
    /// The store was checked.
    Check {
        /// Number of runs in the store.
        runs: usize,
        /// Number of damaged runs.
        damages: usize,
        /// Further remarks on the store.
        remarks: &'a [Text],
    },
    /// A run of the store is damaged.
    Damage {
        /// Id of the run.
        run: Option<&'a str>,
        /// The damage.
        what: &'a Text,
        /// Cause of the damage.
        cause: Option<&'a str>,
    },
    /// An image was compared with the list of writes to it.
    ImageCheck {
        /// Whether the image has everything that it should have.
        sound: bool,
        /// Result of the check.
        #[serde(flatten)]
        report: &'a ImageReport,
    },
    /// The page is available.
    Ui {
        /// Address of the page, with the token.
        address: &'a str,
    },
    /// A model is being served.
    Serving {
        /// URI for clients.
        uri: Option<&'a str>,
        /// The control socket.
        control: Option<String>,
        /// Size of the model.
        size_bytes: u64,
        /// Number of disks.
        exports: usize,
        /// Cost of a round trip.
        round_trip_ns: Option<u64>,
        /// Privileges that the operating system grants the server.
        grants: Option<Grants>,
    },
    /// A model is attached as a block device.
    Attached {
        /// The devices.
        devices: Vec<String>,
        /// The driver of the devices: `ublk`, `nbd`, `loop`.
        by: Option<&'a str>,
        /// The control socket.
        control: Option<String>,
        /// Size of each device.
        size_bytes: u64,
        /// Id of the process that serves the devices.
        process: u32,
    },
    /// A server ended.
    Served {
        /// Figures of the server.
        figures: &'a ServedFigures,
    },
    /// Record of a server that ended earlier.
    #[serde(rename = "served")]
    KeptServed {
        /// When the record was stored.
        kept_at: &'a str,
        /// The record.
        #[cfg_attr(feature = "schema", schemars(with = "kurabe_lab::ServerRecord"))]
        record: &'a Value,
    },
    /// Devices were detached.
    Detached {
        /// Names of the devices.
        devices: Vec<String>,
        /// Figures of the server, if it responded.
        figures: Option<&'a ServedFigures>,
    },
    /// Figures of a running server.
    Stats {
        /// Figures since its start.
        answer: &'a ServedFigures,
        /// Figures of the last second.
        last: &'a Lateness,
    },
    /// A server executed a command.
    Done {
        /// The server's answer.
        answer: &'a Value,
    },
    /// A command in a folder on a model ended.
    #[serde(rename = "done")]
    OnDone {
        /// Bill of the command.
        bill: PricedLine<'a>,
        /// Figures of the device.
        figures: &'a ServedFigures,
        /// Description of the processes that the command left running.
        left: &'a str,
    },
    /// The power was cut during a command.
    Cut {
        /// Result of the power cut.
        trial: &'a CutTrial,
    },
    /// Unsafe orders of the calls of a command, found without a power cut.
    UnsafeOrders {
        /// The orders.
        orders: &'a [UnsafeOrder],
    },
    /// A trace of a command was recorded.
    Recorded {
        /// The recorded devices.
        devices: &'a [String],
        /// The devices below them.
        devices_beneath: &'a [String],
        /// Number of reads.
        reads: u64,
        /// Bytes read.
        read_bytes: u64,
        /// Number of writes.
        writes: u64,
        /// Bytes written.
        write_bytes: u64,
        /// Number of flushes.
        syncs: u64,
        /// Number of discards.
        discards: u64,
        /// Time from the first to the last request.
        duration_ns: u64,
        /// Median of the device latency.
        latency_ns_p50: Option<u64>,
        /// 99th percentile of the device latency.
        latency_ns_p99: Option<u64>,
        /// Number of events that the kernel lost.
        lost_events: u64,
        /// File of the trace.
        file: Option<String>,
    },
    /// Device activity of a command, from the device's own counters.
    Counted {
        /// The device.
        device: &'a str,
        /// The counters.
        traffic: &'a Traffic,
    },
    /// Commands that run a model as a disk of a guest.
    Recipe {
        /// The command that serves the model, for one terminal.
        serve: &'a str,
        /// The command that starts the guest, for another terminal.
        guest: String,
        /// The command that cuts the power.
        cut: &'a str,
    },
    /// An error. Always the last line.
    Error {
        /// Kind of the error.
        kind: &'a str,
        /// The exit code.
        exit_code: u8,
        /// What failed.
        what: Text,
        /// Why it failed.
        cause: Option<&'a str>,
        /// How to fix it.
        remedy: Option<&'a Text>,
        /// The file that the error refers to.
        file: Option<&'a str>,
        /// The line in the file.
        line: Option<usize>,
    },
}

impl<'a> From<&'a RunRecord> for ScriptLine<'a> {
    fn from(run: &'a RunRecord) -> Self {
        Self::Record { run, figures: run_figures(run), summary: Assessment::of(run) }
    }
}

/// Returns the script line for a comparison of two runs, with the facts that the user asked about.
pub fn pair_line<'a>(
    pair: &'a Pair,
    [baseline, other]: [&'a RunRecord; 2],
    about: &[String],
) -> ScriptLine<'a> {
    ScriptLine::Comparison {
        answer: answer(pair),
        comparison: pair.into(),
        about: asked_facts(pair, about),
        figures: BothFigures { baseline: run_figures(baseline), other: run_figures(other) },
    }
}

impl<'a> From<&'a ImageReport> for ScriptLine<'a> {
    fn from(report: &'a ImageReport) -> Self {
        Self::ImageCheck { sound: report.check.is_sound(), report }
    }
}

impl<'a> From<&'a Error> for ScriptLine<'a> {
    fn from(error: &'a Error) -> Self {
        Self::Error {
            kind: error.kind().word(),
            exit_code: error.kind().exit_code(),
            what: error.what().clone(),
            cause: error.cause(),
            remedy: error.remedy_text(),
            file: error.place().map(|place| place.file.as_str()),
            line: error.place().map(|place| place.line),
        }
    }
}

/// The figures of two runs' cells.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BothFigures<'a> {
    /// Figures of the baseline.
    pub baseline: Vec<CellFigures<'a>>,
    /// Figures of the other run.
    pub other: Vec<CellFigures<'a>>,
}
