//! What another tool printed, as it is kept in an imported run.
//!
//! The model: a run of another tool is a run whose header has an `Origin` and whose cells have no repetitions but
//! printed figures. A figure keeps the characters that were printed beside the value in base units (bytes per second,
//! operations per second, nanoseconds), so that a correction of the unit can be seen and undone. What the tool did not
//! print is absent, never zero.

use crate::text::Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tool that measured, and the file that it wrote.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The tool, such as `CrystalDiskMark`.
    pub tool: String,
    /// Its version as printed.
    pub version: Option<String>,
    /// The importer that read the file, such as `cdm-text`.
    pub format: String,
    /// Name of the file, without its folder.
    pub file: String,
    /// When it was measured: ISO 8601 date and time, with an offset only if the tool printed one.
    pub measured_at: Option<String>,
    /// What was measured, as the tool printed it: a drive letter, a path, a device.
    pub target: Option<String>,
    /// How it was measured, as the tool printed it: profile, test size, runs, times.
    pub procedure: Option<String>,
    /// kurabe's profile that measures as the tool did, if there is one.
    pub profile: Option<String>,
    /// Whatever else the tool printed of the run, by its own word: `Mode`, `Comment`.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

impl Origin {
    /// How it was measured, a line for each of several jobs.
    pub fn procedures(&self) -> impl Iterator<Item = &str> {
        self.procedure.iter().flat_map(|procedure| procedure.lines())
    }

    /// Tool and version: `CrystalDiskMark 8.0.1`.
    pub fn tool_name(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.tool),
            None => self.tool.clone(),
        }
    }
}

/// What a figure is, and with it the base unit of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
    /// Time of an operation, in ns.
    Latency,
    /// Time of the whole, in ns.
    Duration,
    /// An amount of data, in bytes.
    Bytes,
    /// A number of things.
    Count,
    /// A part of a whole, 0 to 1.
    Share,
    /// A length of a queue: operations outstanding on average.
    QueueLength,
    /// A score without unit.
    Score,
}

impl Quantity {
    /// The most that it can be, in the base unit; what is beyond was never measured. Rates have room for the largest parallel file
    /// systems thirty times over, times for thirty years, and shares may be of many processors.
    fn most(self) -> f64 {
        match self {
            Self::Rate => 1e15,
            Self::Iops => 1e12,
            Self::Latency | Self::Duration => 1e18,
            Self::Bytes | Self::Count => u64::MAX as f64,
            Self::Share => 1e6,
            Self::QueueLength | Self::Score => 1e12,
        }
    }

    /// Whether a value can be one of it.
    pub fn is_possible(self, value: f64) -> bool {
        (0.0..=self.most()).contains(&value)
    }
}

/// How the tool came from what it saw to the figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrintedStatistic {
    /// Arithmetic mean over the runs, or over the time of a single one.
    Mean,
    /// Median over the runs.
    Median,
    /// Highest of the runs or operations.
    Highest,
    /// Lowest of the runs or operations.
    Lowest,
    /// Standard deviation.
    StandardDeviation,
    /// A percentile, in percent: 99.9.
    Percentile(f64),
    /// Everything added up.
    Sum,
    /// The tool does not say, and its sources are not known.
    Unknown,
}

/// Why and by how much the value differs from what is printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Correction {
    /// The printed value in the printed unit, times this, is the value in the unit's true meaning.
    pub factor: f64,
    /// The unit that the printed number truly has, such as `KiB/s / 1000`.
    pub unit: String,
    /// Why.
    pub reason: Text,
}

/// A figure that a tool printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedFigure {
    /// What it is.
    pub quantity: Quantity,
    /// How it was made.
    pub statistic: PrintedStatistic,
    /// Its value in the base unit of the quantity, corrected; finite, not negative.
    pub value: f64,
    /// The number as printed, such as `508.897`.
    pub printed: String,
    /// The unit as printed, such as `MB/s`; empty if none was.
    pub unit_printed: String,
    /// Correction of the unit, where the tool prints a wrong one.
    // In a box: few figures have one, and a run may have a million figures.
    pub correction: Option<Box<Correction>>,
    /// What it is of, where quantity and statistic do not tell.
    pub of: Option<FigureOf>,
}

/// What a printed figure is of. Kept as a word; records of earlier versions have a few English words in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum FigureOf {
    /// Time of an operation, where the tool knows only one.
    Latency,
    /// Time from the submission of an operation to its completion.
    CompletionLatency,
    /// Time that handing over an operation took.
    SubmissionLatency,
    /// Both together.
    TotalLatency,
    /// Time of a read or a write, where files and directories are timed, too.
    OperationLatency,
    /// Time of a file or a directory.
    EntryLatency,
    /// Time of a sync.
    SyncLatency,
    /// Time of a whole block of several operations.
    BlockTime,
    /// The mean latencies of the runs.
    RunMeanLatency,
    /// The mean completion latencies of the runs.
    RunMeanCompletionLatency,
    /// The samples, put together as GNOME Disks does it.
    Samples,
    /// Rates that were looked at again and again.
    RateSamples,
    /// The same of operations per second.
    IopsSamples,
    /// All data that was read or written.
    DataMoved,
    /// All operations.
    Operations,
    /// The time that was measured.
    RunTime,
    /// The time of the whole test.
    TestTime,
    /// Until the first worker was done.
    FirstDone,
    /// Until the last worker was done.
    LastDone,
    /// The accesses of an access time test.
    AccessTest,
    /// The load that the tool was asked to make.
    GeneratedLoad,
    /// Each process by itself.
    EachProcess,
    /// All processes together, as their parent saw it.
    SeenByParent,
    /// The figures of all processes added up.
    SumOfProcesses,
    /// The tool's own name: `r_await`.
    Named(String),
}

/// The words of what a figure is of: as they are kept, and as earlier versions kept them.
static FIGURE_OF: [(FigureOf, &str, &str); 24] = [
    (FigureOf::Latency, "latency", "latency"),
    (FigureOf::CompletionLatency, "completion_latency", "completion latency"),
    (FigureOf::SubmissionLatency, "submission_latency", "submission latency"),
    (FigureOf::TotalLatency, "total_latency", "total latency"),
    (FigureOf::OperationLatency, "operation_latency", "operation latency"),
    (FigureOf::EntryLatency, "entry_latency", "entry latency"),
    (FigureOf::SyncLatency, "sync_latency", "sync latency"),
    (FigureOf::BlockTime, "block_time", "time of a block"),
    (FigureOf::RunMeanLatency, "run_mean_latency", "mean latency of a run"),
    (FigureOf::RunMeanCompletionLatency, "run_mean_completion_latency", "mean completion latency of a run"),
    (FigureOf::Samples, "samples", "mean of the samples, as GNOME Disks shows it"),
    (FigureOf::RateSamples, "rate_samples", "bandwidth samples"),
    (FigureOf::IopsSamples, "iops_samples", "IOPS samples"),
    (FigureOf::DataMoved, "data_moved", "data moved"),
    (FigureOf::Operations, "operations", "operations"),
    (FigureOf::RunTime, "run_time", "run time"),
    (FigureOf::TestTime, "test_time", "test time"),
    (FigureOf::FirstDone, "first_done", "first done"),
    (FigureOf::LastDone, "last_done", "last done"),
    (FigureOf::AccessTest, "access_test", "accesses of the access time test"),
    (FigureOf::GeneratedLoad, "generated_load", "generated load"),
    (FigureOf::EachProcess, "each_process", "per process"),
    (FigureOf::SeenByParent, "seen_by_parent", "seen by the parent"),
    (FigureOf::SumOfProcesses, "sum_of_processes", "sum over the processes"),
];

impl FigureOf {
    /// Whether the figure is a mean, or made of means, whatever its statistic over the runs is.
    pub fn is_of_means(&self) -> bool {
        matches!(self, Self::RunMeanLatency | Self::RunMeanCompletionLatency | Self::Samples)
    }
}

impl From<String> for FigureOf {
    fn from(word: String) -> Self {
        let entry = FIGURE_OF.iter().find(|(_, kept, earlier)| word == *kept || word == *earlier);
        entry.map_or(Self::Named(word), |(of, ..)| of.clone())
    }
}

impl From<FigureOf> for String {
    fn from(of: FigureOf) -> Self {
        match of {
            FigureOf::Named(name) => name,
            of => {
                let word = FIGURE_OF.iter().find_map(|(figure, word, _)| (*figure == of).then_some(*word));
                word.unwrap_or_default().to_owned()
            }
        }
    }
}

/// What the points of a series are told along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeriesAxis {
    /// Time since the first point, in ns.
    Time,
    /// Offset on the target, in bytes.
    Offset,
    /// Number of the point, from 0, where the tool printed neither time nor place.
    Number,
}

/// A figure that a tool printed again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedSeries {
    /// What it is.
    pub quantity: Quantity,
    /// The tool's name for it, such as `r_await`.
    pub name: String,
    /// The unit as printed.
    pub unit_printed: String,
    /// What the points are told along.
    pub axis: SeriesAxis,
    /// Place on the axis, and value in the base unit of the quantity.
    pub points: Vec<(f64, f64)>,
}

/// What another tool printed of a cell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedCell {
    /// How the cell was measured, in the tool's own words: `SEQ 1MiB (Q= 8, T= 1)`, a command line.
    pub procedure: Option<String>,
    /// Runs behind the figures.
    pub runs: Option<u32>,
    /// Block size in bytes.
    pub block_bytes: Option<u64>,
    /// Operations in flight per thread.
    pub iodepth: Option<u32>,
    /// Threads.
    pub threads: Option<u32>,
    /// How many threads the job had of which this is a single one, as fio tells them without `group_reporting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of_threads: Option<u32>,
    /// Whether offsets ascend; `Some(false)` is random.
    pub sequential: Option<bool>,
    /// Share of reads of a mix, in percent.
    pub read_percent: Option<f64>,
    /// First byte that it went to.
    pub offset_bytes: Option<u64>,
    /// Bytes from there on that it covered.
    pub span_bytes: Option<u64>,
    /// Figures; the first is the main one.
    pub figures: Vec<PrintedFigure>,
    /// Series.
    #[serde(default)]
    pub series: Vec<PrintedSeries>,
}

impl ImportedCell {
    /// The option of fio that fixes the rate at which operations were offered, such as `rate_iops=300`. The rate of such a cell is
    /// not a capacity.
    pub fn offered(&self) -> Option<&str> {
        let is_rate = |word: &&str| {
            let value = word.strip_prefix("rate_iops=").or_else(|| word.strip_prefix("rate="));
            value.is_some_and(|value| value.contains(|c: char| matches!(c, '1'..='9')))
        };
        self.procedure.as_deref()?.split_whitespace().find(is_rate)
    }

    /// Whether the computer's memory answered, as the tool itself says: hdparm's cached reads (`-T`).
    pub fn is_from_memory(&self) -> bool {
        let procedure = self.procedure.as_deref().unwrap_or("");
        procedure.starts_with("Timing cached reads") || procedure.starts_with("Timing buffer-cache reads")
    }

    /// Durable writes per second, if each operation is a write with its sync.
    pub fn durable_iops(&self) -> Option<f64> {
        let is_synced = |figure: &PrintedFigure| figure.of == Some(FigureOf::SyncLatency);
        let iops = self.figures.iter().find(|figure| figure.quantity == Quantity::Iops)?;
        self.figures.iter().any(is_synced).then_some(iops.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_figure_is_of_is_read_in_the_words_of_every_version() {
        let read = |word: &str| serde_json::from_value::<FigureOf>(word.into()).unwrap();
        for (of, word, earlier) in &FIGURE_OF {
            assert_eq!((&read(word), &read(earlier)), (of, of), "{word}");
            assert_eq!(serde_json::to_value(of).unwrap(), *word, "every one has a word of its own");
        }
        assert_eq!(read("r_await"), FigureOf::Named("r_await".to_owned()));
        assert_eq!(String::from(read("r_await")), "r_await");
    }
}
