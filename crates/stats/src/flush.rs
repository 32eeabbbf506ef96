//! Flushes of a cell: fsync or fdatasync as separate operations, or writes whose latency includes
//! the flush.
//!
//! The model: the latency of a flush is that of the call. Its share is the time in flushes over the
//! time in all operations, summed over the threads, so it does not depend on their number. Final
//! flushes that belong to the measured time count as well; their share is of the elapsed time,
//! which contains them once.

use crate::histogram::Histogram;
use crate::latency::percentile_ns;
use kurabe_core::imported::{FigureOf, ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, LatencyRecord, Repetition};
use kurabe_core::workload::{Direction, EndSync, OpKind, SyncRule};
use serde::Serialize;

/// Call that makes written data durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FlushCall {
    /// Data and metadata.
    #[serde(rename = "fsync")]
    Fsync,
    /// Data and the metadata needed to read it.
    #[serde(rename = "fdatasync")]
    Fdatasync,
    /// The pages of a range. The device's cache is not flushed.
    #[serde(rename = "sync_file_range")]
    PageRange,
    /// Each write of a file opened with `O_SYNC`.
    #[serde(rename = "O_SYNC")]
    OpenSync,
    /// Each write of a file opened with `O_DSYNC`.
    #[serde(rename = "O_DSYNC")]
    OpenDatasync,
    /// A method that another tool names.
    #[serde(rename = "other")]
    Other,
}

impl FlushCall {
    /// Returns the call's name, as in a manual page. `None` if it is unknown.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Fsync => Some("fsync"),
            Self::Fdatasync => Some("fdatasync"),
            Self::PageRange => Some("sync_file_range"),
            Self::OpenSync => Some("O_SYNC"),
            Self::OpenDatasync => Some("O_DSYNC"),
            Self::Other => None,
        }
    }
}

/// How the writes of a cell become durable within the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellFlush {
    /// By separate calls, which have their own latencies.
    Separate(FlushFigures),
    /// Within each write, whose latency includes the flush.
    Included(FlushCall),
}

/// Latencies of the separate flushes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushFigures {
    /// The call.
    pub call: FlushCall,
    /// Number of flushes.
    pub count: u64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Median latency.
    pub p50_ns: f64,
    /// 99th percentile of the latency.
    pub p99_ns: f64,
    /// Share of the time of all operations, 0 to 1. `None` if it is unknown.
    pub share: Option<f64>,
}

/// Returns how the writes of a cell become durable within the measured time. `None` if they don't.
pub fn cell_flush(cell: &Cell) -> Option<CellFlush> {
    if let Some(imported) = &cell.imported {
        return of_imported(cell, imported);
    }
    let rule = cell.workload.as_ref().map(|workload| workload.sync).unwrap_or_default();
    let separate = of_calls(cell, rule).or_else(|| at_the_end(cell, rule)).map(CellFlush::Separate);
    separate.or_else(|| {
        let call = if rule.data_only { FlushCall::OpenDatasync } else { FlushCall::OpenSync };
        let writes = cell.counted().any(|one| one.write.completed > 0);
        (rule.o_sync && writes).then_some(CellFlush::Included(call))
    })
}

/// Returns the latencies of all flushes between the operations of a cell.
pub fn cell_flush_latency(cell: &Cell) -> LatencyRecord {
    LatencyRecord::together(cell.counted().map(|one| &one.sync.latency))
}

fn of_calls(cell: &Cell, rule: SyncRule) -> Option<FlushFigures> {
    let latency = cell_flush_latency(cell);
    let flushes_ns = latency.sum_ns as f64;
    let all_ns = |one: &Repetition| OpKind::ALL.map(|kind| one.side(kind).latency.sum_ns as f64).iter().sum();
    let all_ns: f64 = cell.counted().map(|one| -> f64 { all_ns(one) }).sum();
    let call = match rule {
        SyncRule { page_range_flags: Some(_), .. } => FlushCall::PageRange,
        SyncRule { data_only: true, .. } => FlushCall::Fdatasync,
        _ => FlushCall::Fsync,
    };
    figures(call, &latency, Some(flushes_ns / all_ns))
}

/// Returns the final flushes, one of each repetition, if they belong to the measured time.
fn at_the_end(cell: &Cell, rule: SyncRule) -> Option<FlushFigures> {
    if rule.at_end != EndSync::Timed {
        return None;
    }
    let mut histogram = Histogram::default();
    let (mut flushes_ns, mut elapsed_ns) = (0.0, 0.0);
    for one in cell.counted() {
        let Some(end_ns) = one.end_sync_ns else { continue };
        histogram.record(end_ns);
        flushes_ns += end_ns as f64;
        elapsed_ns += one.elapsed_ns as f64;
    }
    let call = if rule.data_only { FlushCall::Fdatasync } else { FlushCall::Fsync };
    figures(call, &histogram.to_record(), Some(flushes_ns / elapsed_ns))
}

fn figures(call: FlushCall, latency: &LatencyRecord, share: Option<f64>) -> Option<FlushFigures> {
    let at = |fraction| percentile_ns(latency, fraction).map(|ns| ns as f64);
    Some(FlushFigures {
        call,
        count: latency.count,
        mean_ns: latency.mean_ns()?,
        p50_ns: at(0.5)?,
        p99_ns: at(0.99)?,
        share: share.filter(|share| share.is_finite()),
    })
}

/// Returns the flush of a cell that another tool measured: separate if the tool printed the time of
/// syncs alone, included if its figure is of writes with their sync.
fn of_imported(cell: &Cell, imported: &ImportedCell) -> Option<CellFlush> {
    let of_sync = |statistic: PrintedStatistic| {
        let mut figures = imported.figures.iter();
        let is_it = |of: &Option<FigureOf>| *of == Some(FigureOf::SyncLatency);
        figures
            .find(|one| is_it(&one.of) && one.quantity == Quantity::Latency && one.statistic == statistic)
            .map(|one| one.value)
    };
    let is_write = cell.direction == Some(Direction::Write);
    if let Some(call) = option_of(imported).filter(|_| is_write) {
        return Some(CellFlush::Included(call));
    }
    let mean_ns = of_sync(PrintedStatistic::Mean)?;
    if is_write {
        let methods = [FlushCall::OpenDatasync, FlushCall::OpenSync, FlushCall::Fdatasync, FlushCall::Fsync];
        let words = ["open_datasync", "open_sync", "fdatasync", "fsync"];
        let named = words.iter().position(|word| cell.label.contains(word));
        return Some(CellFlush::Included(named.map_or(FlushCall::Other, |place| methods[place])));
    }
    let percentile = |rank: f64| of_sync(PrintedStatistic::Percentile(rank));
    Some(CellFlush::Separate(FlushFigures {
        call: FlushCall::Other,
        count: 0,
        mean_ns,
        p50_ns: percentile(50.0).or_else(|| of_sync(PrintedStatistic::Median))?,
        p99_ns: percentile(99.0)?,
        share: None,
    }))
}

/// Returns the call that each write of another tool includes, according to its options: fio's `sync`,
/// dd's `oflag`.
fn option_of(imported: &ImportedCell) -> Option<FlushCall> {
    let words = imported.procedure.as_deref()?.split_whitespace();
    words.filter_map(|word| word.trim_start_matches('-').split_once('=')).find_map(|(name, value)| {
        let has = |flag: &str| value.split(',').any(|own| own == flag);
        match name {
            "sync" | "oflag" if has("dsync") => Some(FlushCall::OpenDatasync),
            "sync" if has("sync") || value == "1" => Some(FlushCall::OpenSync),
            "oflag" if has("sync") => Some(FlushCall::OpenSync),
            _ => None,
        }
    })
}
