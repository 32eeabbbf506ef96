//! What scripts hear: the lines of `--json` that are neither a stored type nor an event of a run.
//!
//! The model: a line is a type, so that its schema is made of it (`docs/schema`). What people read of the same is made of
//! the same values elsewhere in this room. Sentences stand in both languages.

use crate::compare::facts::{Spoken, name, value};
use crate::{Assessment, DemeritRow};
use kurabe_compare::{Difference, Fit, History, Pair, Pivot, Recommendation};
use kurabe_core::event::Event;
use kurabe_core::record::{RunRecord, Traffic};
use kurabe_core::{Error, Text, words::Keyword};
use kurabe_explain::SweepCurve;
use kurabe_lab::{CutTrial, ImageReport, ModelSide};
use kurabe_price::{Bill, BudgetLine, Changes};
use kurabe_serve::{Grants, Lateness, ServedFigures};
use kurabe_stats::{CellFigures, run_figures};
use kurabe_study::catalogue::Beside;
use serde::Serialize;
use serde_json::Value;

/// A line for scripts. Times end in `_ns`, sizes in `_bytes`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ScriptLine<'a> {
    /// A run: the last line of `run`, and the one of `show`.
    Record {
        /// What is stored.
        run: &'a RunRecord,
        /// What its cells come to.
        figures: Vec<CellFigures<'a>>,
        /// The run in a sentence.
        summary: Option<Assessment>,
    },
    /// Two runs beside one another.
    Comparison {
        /// The whole in a sentence.
        answer: Text,
        /// Cell by cell.
        comparison: SpokenPair<'a>,
        /// What was asked about.
        about: Vec<AskedFact>,
        /// What the cells of both come to.
        figures: BothFigures<'a>,
    },
    /// Several runs, each beside the first.
    Comparisons(SpokenPairs<'a>),
    /// The same of targets that took turns.
    Versus {
        /// The runs.
        #[serde(flatten)]
        pairs: SpokenPairs<'a>,
        /// Whole blocks.
        blocks: u32,
        /// Why it ended: `settled`, `time_up`, or `error`.
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        ended: Value,
    },
    /// What happened in a run of targets that take turns.
    VersusRun {
        /// The run's id.
        run: &'a str,
        /// What happened.
        happened: &'a Event,
        /// Its number, from 0.
        number: u64,
        /// When it was told, in ns from the first.
        at_ns: u64,
    },
    /// A run's latencies held against measured ones.
    Demerit {
        /// The run's id.
        run: &'a str,
        /// A row for each direction.
        demerits: Vec<DemeritRow>,
    },
    /// Which of several runs is best for a use.
    Recommendation {
        /// Ids of the runs.
        runs: Vec<&'a str>,
        /// The answer in a sentence.
        answer: Text,
        /// What it stands on.
        recommendation: SpokenRecommendation<'a>,
        /// What the models of the runs are beside their figures; nothing for a device.
        models: Vec<Option<ModelSide>>,
    },
    /// How a device changed over its runs.
    History {
        /// The device.
        device: &'a str,
        /// Its runs.
        history: SpokenHistory<'a>,
    },
    /// What became of runs that were to be brought to another store.
    Exchanged {
        /// How many are there now that were not before.
        brought: usize,
        /// How many were there.
        present: usize,
        /// Ids of those that are still being measured.
        running: &'a [String],
        /// Ids of those that could not be brought; the reasons stand on standard error.
        refused: &'a [&'a str],
    },
    /// Many runs by what differs between them.
    Pivot {
        /// The answers, a sentence each.
        answer: Vec<Text>,
        /// The table.
        pivot: &'a Pivot,
    },
    /// The curves of a sweep.
    Sweep {
        /// The run's id.
        run: &'a str,
        /// The curves.
        curves: Vec<SweepCurve>,
    },
    /// Whether a target is fit for a use.
    Fit {
        /// The run's id.
        run: &'a str,
        /// The answer in a sentence.
        answer: Text,
        /// Each limit.
        fit: &'a Fit,
    },
    /// A run beside published figures.
    Beside {
        /// Both, figure by figure.
        beside: &'a Beside,
    },
    /// A picture of a run was written.
    Card {
        /// The run's id.
        id: &'a str,
        /// The file.
        file: String,
        /// Its size.
        bytes: usize,
    },
    /// A report was written.
    Report {
        /// The file.
        file: String,
        /// Its form.
        format: &'a str,
        /// Its size.
        bytes: usize,
        /// Ids of the runs in it.
        runs: Vec<&'a str>,
    },
    /// Labels of a run were changed.
    Labelled {
        /// The run's id.
        id: &'a str,
    },
    /// A file became a run.
    Imported {
        /// The run's id.
        id: &'a str,
    },
    /// A run is gone.
    Removed {
        /// The run's id.
        id: &'a str,
    },
    /// A file became a device file.
    DeviceImported {
        /// The file.
        file: &'a str,
    },
    /// The store was looked through.
    Check {
        /// Runs in it.
        runs: usize,
        /// Damaged ones.
        damages: usize,
        /// What else there is to say of it.
        remarks: &'a [Text],
    },
    /// A run of the store is damaged.
    Damage {
        /// Its id.
        run: Option<&'a str>,
        /// What is wrong.
        what: &'a Text,
        /// Why.
        cause: Option<&'a str>,
    },
    /// An image was held against the list of what was written to it.
    ImageCheck {
        /// Whether it has what it should have.
        sound: bool,
        /// What it has.
        #[serde(flatten)]
        report: &'a ImageReport,
    },
    /// The page can be opened.
    Ui {
        /// Its address, with the token.
        address: &'a str,
    },
    /// A model is served.
    Serving {
        /// Where clients find it.
        uri: Option<&'a str>,
        /// The socket by which it is told something.
        control: Option<String>,
        /// Its size.
        size_bytes: u64,
        /// Its disks.
        exports: usize,
        /// What a round trip costs.
        round_trip_ns: Option<u64>,
        /// What the machine grants the server.
        grants: Option<Grants>,
    },
    /// A model is a block device.
    Attached {
        /// The devices.
        devices: Vec<String>,
        /// What made them: `ublk`, `nbd`, `loop`.
        by: Option<&'a str>,
        /// The socket by which it is told something.
        control: Option<String>,
        /// The size of each.
        size_bytes: u64,
        /// The process that serves them.
        process: u32,
    },
    /// A server ended.
    Served {
        /// What it did.
        figures: &'a ServedFigures,
    },
    /// A server that ended before.
    #[serde(rename = "served")]
    KeptServed {
        /// When its record was kept.
        kept_at: &'a str,
        /// Its record.
        #[cfg_attr(feature = "schema", schemars(with = "kurabe_lab::ServerRecord"))]
        record: &'a Value,
    },
    /// Devices were taken away.
    Detached {
        /// Their names.
        devices: Vec<String>,
        /// What their server did, if it could be asked.
        figures: Option<&'a ServedFigures>,
    },
    /// What a server did until now.
    Stats {
        /// From its beginning.
        answer: &'a ServedFigures,
        /// In the last second.
        last: &'a Lateness,
    },
    /// A server did what it was told.
    Done {
        /// What it answers.
        answer: &'a Value,
    },
    /// A command in a folder on a model ended.
    #[serde(rename = "done")]
    OnDone {
        /// Its bill.
        bill: PricedLine<'a>,
        /// What the device did.
        figures: &'a ServedFigures,
        /// Processes that the command left behind, in words.
        left: &'a str,
    },
    /// The power was cut below a command.
    Cut {
        /// What was left.
        trial: &'a CutTrial,
    },
    /// A trace of a command was recorded.
    Recorded {
        /// The devices.
        devices: &'a [String],
        /// Those beneath them.
        devices_beneath: &'a [String],
        /// Reads.
        reads: u64,
        /// Their bytes.
        read_bytes: u64,
        /// Writes.
        writes: u64,
        /// Their bytes.
        write_bytes: u64,
        /// Flushes.
        syncs: u64,
        /// Discards.
        discards: u64,
        /// From the first request to the last.
        duration_ns: u64,
        /// The median of the device's times.
        latency_ns_p50: Option<u64>,
        /// Their 99th percentile.
        latency_ns_p99: Option<u64>,
        /// Events that the kernel lost.
        lost_events: u64,
        /// The file of the trace.
        file: Option<String>,
    },
    /// What a command did to a device by the device's own counters.
    Counted {
        /// The device.
        device: &'a str,
        /// The counters.
        traffic: &'a Traffic,
    },
    /// What to type for a model as a disk of a guest.
    Recipe {
        /// In one terminal.
        serve: &'a str,
        /// In another.
        guest: String,
        /// To cut the power.
        cut: &'a str,
    },
    /// Something went wrong; the last line.
    Error {
        /// Its kind, in a word.
        kind: &'a str,
        /// The exit code.
        exit_code: u8,
        /// What.
        what: Text,
        /// Why.
        cause: Option<&'a str>,
        /// What helps.
        remedy: Option<&'a Text>,
        /// The file that it is about.
        file: Option<&'a str>,
        /// The line there.
        line: Option<usize>,
    },
}

impl<'a> From<&'a RunRecord> for ScriptLine<'a> {
    fn from(run: &'a RunRecord) -> Self {
        Self::Record { run, figures: run_figures(run), summary: Assessment::of(run) }
    }
}

/// Two runs beside each other, and what is known of the facts that were asked about, for scripts.
pub fn pair_line<'a>(
    pair: &'a Pair,
    [baseline, other]: [&'a RunRecord; 2],
    about: &[String],
) -> ScriptLine<'a> {
    let asked = pair.facts.iter().filter(|fact| about.iter().any(|word| word == fact.fact.word()));
    let in_words = |asked: &Difference| AskedFact {
        fact: asked.fact.word(),
        name: name(asked.fact),
        differs: asked.differs(),
        baseline: asked.baseline.as_ref().map(|of_run| value(Some(of_run))),
        other: asked.other.as_ref().map(|of_run| value(Some(of_run))),
    };
    ScriptLine::Comparison {
        answer: crate::answer(pair),
        comparison: pair.into(),
        about: asked.map(in_words).collect(),
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

/// A comparison with what else differed in words.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenPair<'a> {
    #[serde(flatten)]
    pair: &'a Pair,
    /// What else differed.
    differences: Vec<Spoken>,
}

impl<'a> From<&'a Pair> for SpokenPair<'a> {
    fn from(pair: &'a Pair) -> Self {
        Self { pair, differences: spoken(&pair.differences) }
    }
}

/// Several runs, each beside the first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenPairs<'a> {
    /// Which is the fastest.
    pub fastest: Option<Text>,
    /// Each comparison in a sentence.
    pub answers: Vec<Text>,
    /// Each cell by cell.
    pub comparisons: Vec<SpokenPair<'a>>,
}

impl<'a> SpokenPairs<'a> {
    /// These, of which this one is the fastest.
    pub fn new(pairs: &'a [Pair], fastest: Option<Text>) -> Self {
        Self {
            fastest,
            answers: pairs.iter().map(crate::answer).collect(),
            comparisons: pairs.iter().map(SpokenPair::from).collect(),
        }
    }
}

/// A ranking with its doubts in words.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenRecommendation<'a> {
    #[serde(flatten)]
    recommendation: &'a Recommendation,
    /// What can make the figures of these runs incomparable.
    doubts: Vec<Spoken>,
}

impl<'a> From<&'a Recommendation> for SpokenRecommendation<'a> {
    fn from(recommendation: &'a Recommendation) -> Self {
        Self { recommendation, doubts: spoken(&recommendation.doubts) }
    }
}

/// A history with what else changed in words.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpokenHistory<'a> {
    #[serde(flatten)]
    history: &'a History,
    /// The newest run held against the oldest.
    change: SpokenPair<'a>,
}

impl<'a> From<&'a History> for SpokenHistory<'a> {
    fn from(history: &'a History) -> Self {
        Self { history, change: (&history.change).into() }
    }
}

fn spoken(differences: &[Difference]) -> Vec<Spoken> {
    differences.iter().map(Spoken::from).collect()
}

/// What the cells of two runs come to.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BothFigures<'a> {
    /// Of the first.
    pub baseline: Vec<CellFigures<'a>>,
    /// Of the other.
    pub other: Vec<CellFigures<'a>>,
}

/// What two records tell of something that was asked about.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedFact {
    /// Its word.
    pub fact: &'static str,
    /// Its name.
    pub name: Text,
    /// Whether it differs.
    pub differs: bool,
    /// What the first tells.
    pub baseline: Option<Text>,
    /// What the other tells.
    pub other: Option<Text>,
}

/// A bill, with what changed since another one and what it has of a budget.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PricedLine<'a> {
    #[serde(flatten)]
    pub(crate) bill: &'a Bill,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<&'a Changes>,
    /// Each limit.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) budget: &'a [BudgetLine],
    /// The bill in a sentence.
    pub(crate) summary: String,
}
