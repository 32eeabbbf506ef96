//! The figures printed by another tool, as stored in an imported run.
//!
//! A run of another tool has a header with an `Origin`, and its cells have printed figures instead
//! of repetitions. A figure stores the printed characters next to the value in base units (bytes
//! per second, operations per second, nanoseconds), so a correction of the unit remains visible and
//! reversible. Anything that the tool did not print is absent, never zero.

use crate::text::Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tool that measured, and the file that it wrote.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The tool, such as `CrystalDiskMark`.
    pub tool: String,
    /// The tool's version as printed.
    pub version: Option<String>,
    /// The importer that read the file, such as `cdm-text`.
    pub format: String,
    /// The file's name without its folder.
    pub file: String,
    /// Time of the measurement: ISO 8601 date and time, with an offset only if the tool printed
    /// one.
    pub measured_at: Option<String>,
    /// The target, as the tool printed it: a drive letter, a path, a device.
    pub target: Option<String>,
    /// The procedure, as the tool printed it: profile, test size, runs, times.
    pub procedure: Option<String>,
    /// The kurabe profile that reproduces the tool's procedure, if there is one.
    pub profile: Option<String>,
    /// Anything else that the tool printed about the run, by the tool's own key: `Mode`, `Comment`.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

impl Origin {
    /// Returns the procedure, with one line for each job.
    pub fn procedures(&self) -> impl Iterator<Item = &str> {
        self.procedure.iter().flat_map(|procedure| procedure.lines())
    }

    /// Returns the tool and its version: `CrystalDiskMark 8.0.1`.
    pub fn tool_name(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.tool),
            None => self.tool.clone(),
        }
    }
}

/// The quantity of a figure. It determines the base unit of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
    /// Latency of an operation, in ns.
    Latency,
    /// Duration of the whole test, in ns.
    Duration,
    /// An amount of data, in bytes.
    Bytes,
    /// A count.
    Count,
    /// A fraction from 0 to 1.
    Share,
    /// Queue length: average number of outstanding operations.
    QueueLength,
    /// A score without a unit.
    Score,
}

impl Quantity {
    /// Returns the largest plausible value, in the base unit. Larger values can't have been
    /// measured. The limit for rates is thirty times that of the largest parallel file systems, the
    /// one for times is thirty years, and shares may add up over many processors.
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

    /// Returns whether a value is plausible for this quantity.
    pub fn is_possible(self, value: f64) -> bool {
        (0.0..=self.most()).contains(&value)
    }
}

/// How the tool derived the figure from its measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrintedStatistic {
    /// Arithmetic mean over the runs, or over the duration of a single one.
    Mean,
    /// Median over the runs.
    Median,
    /// Highest value of the runs or operations.
    Highest,
    /// Lowest value of the runs or operations.
    Lowest,
    /// Standard deviation.
    StandardDeviation,
    /// A percentile, in percent, such as 99.9.
    Percentile(f64),
    /// The sum of all values.
    Sum,
    /// Unknown: the tool does not document it, and its source is not available.
    Unknown,
}

/// A correction of a value that differs from the printed one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Correction {
    /// Factor that converts the printed value into the actual unit.
    pub factor: f64,
    /// The actual unit of the printed number, such as `KiB/s / 1000`.
    pub unit: String,
    /// The reason for the correction.
    pub reason: Text,
}

/// A figure that a tool printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedFigure {
    /// The quantity.
    pub quantity: Quantity,
    /// The statistic.
    pub statistic: PrintedStatistic,
    /// Corrected value in the base unit of the quantity. Finite and not negative.
    pub value: f64,
    /// The number as printed, such as `508.897`.
    pub printed: String,
    /// The unit as printed, such as `MB/s`. Empty if none was printed.
    pub unit_printed: String,
    /// Correction of the unit, if the tool prints a wrong one.
    // Boxed because few figures have one, and a run may have a million figures.
    pub correction: Option<Box<Correction>>,
    /// The subject of the figure, if quantity and statistic don't determine it.
    pub of: Option<FigureOf>,
}

/// The subject of a printed figure. It is stored as a keyword. Records of earlier versions contain
/// an English phrase instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub enum FigureOf {
    /// Latency of an operation, for tools that report only one kind.
    Latency,
    /// Time from the submission of an operation to its completion.
    CompletionLatency,
    /// Time needed to submit an operation.
    SubmissionLatency,
    /// Sum of submission and completion latency.
    TotalLatency,
    /// Time of a read or write, for tools that also time files and directories.
    OperationLatency,
    /// Time of a file or directory operation.
    EntryLatency,
    /// Time of a sync.
    SyncLatency,
    /// Time of a block of several operations.
    BlockTime,
    /// Mean latencies of the runs.
    RunMeanLatency,
    /// Mean completion latencies of the runs.
    RunMeanCompletionLatency,
    /// Samples, combined in the same way as GNOME Disks.
    Samples,
    /// Periodic samples of the rate.
    RateSamples,
    /// Periodic samples of the operations per second.
    IopsSamples,
    /// All data read or written.
    DataMoved,
    /// All operations.
    Operations,
    /// The measured time.
    RunTime,
    /// The duration of the whole test.
    TestTime,
    /// The time until the first worker finished.
    FirstDone,
    /// The time until the last worker finished.
    LastDone,
    /// The accesses of an access-time test.
    AccessTest,
    /// The load that the tool was configured to generate.
    GeneratedLoad,
    /// Each process separately.
    EachProcess,
    /// All processes together, as seen by their parent.
    SeenByParent,
    /// The sum over all processes.
    SumOfProcesses,
    /// The tool's own name, such as `r_await`.
    Named(String),
}

/// The keyword of each subject, and the phrase that earlier versions stored.
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
    /// Returns whether the figure is a mean or derived from means, regardless of its statistic over
    /// the runs.
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

/// The axis along which the points of a series are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeriesAxis {
    /// Time since the first point, in ns.
    Time,
    /// Offset on the target, in bytes.
    Offset,
    /// Zero-based number of the point, if the tool printed neither time nor offset.
    Number,
}

/// A figure that a tool printed periodically.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrintedSeries {
    /// The quantity.
    pub quantity: Quantity,
    /// The tool's name for it, such as `r_await`.
    pub name: String,
    /// The unit as printed.
    pub unit_printed: String,
    /// The axis of the points.
    pub axis: SeriesAxis,
    /// Position on the axis, and value in the base unit of the quantity.
    pub points: Vec<(f64, f64)>,
}

/// The results of a cell, as printed by another tool.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedCell {
    /// The procedure of the cell, as the tool printed it: `SEQ 1MiB (Q= 8, T= 1)`, a command line.
    pub procedure: Option<String>,
    /// Number of runs behind the figures.
    pub runs: Option<u32>,
    /// Block size in bytes.
    pub block_bytes: Option<u64>,
    /// Operations in flight per thread.
    pub iodepth: Option<u32>,
    /// Number of threads.
    pub threads: Option<u32>,
    /// Number of threads of the job, if this cell is only one of them. fio reports threads
    /// separately without `group_reporting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of_threads: Option<u32>,
    /// Whether offsets ascend. `Some(false)` means random.
    pub sequential: Option<bool>,
    /// Percentage of reads in a mix.
    pub read_percent: Option<f64>,
    /// First byte of the span.
    pub offset_bytes: Option<u64>,
    /// Length of the span in bytes.
    pub span_bytes: Option<u64>,
    /// Whether the tool reads from the page cache on purpose (`hdparm -T`): its figures are those
    /// of the computer's memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Printed figures, with the main one first.
    pub figures: Vec<PrintedFigure>,
    /// Printed series.
    #[serde(default)]
    pub series: Vec<PrintedSeries>,
}

impl ImportedCell {
    /// The option of fio that fixes the rate at which operations were offered, such as
    /// `rate_iops=300`. The rate of such a cell is not a capacity.
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
