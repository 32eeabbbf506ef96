//! The figures of a cell: what its repetitions come to.
//!
//! The model: the profile's statistic over the counted repetitions gives the main figure, and beside it stand
//! kurabe's mean with its interval and the percentiles over all operations of these repetitions.

use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, Repetition, Stall};
use kurabe_core::workload::Direction;
use kurabe_stats::{MeanInterval, figure, mean_interval, merge, percentile_ns};

/// Blocks up to this size are told in IOPS and latencies too.
const SMALL_BLOCK_BYTES: u32 = 64 << 10;

/// What a cell comes to.
pub(crate) struct Figures {
    /// Repetitions that count.
    pub(crate) counted: usize,
    /// The statistic of the rates.
    pub(crate) rate_bytes_per_s: Option<f64>,
    /// kurabe's own mean of the rates.
    pub(crate) mean: Option<MeanInterval>,
    /// The statistic of the rates in operations.
    pub(crate) rate_iops: Option<f64>,
    /// The statistic of the mean latencies.
    pub(crate) mean_latency_ns: Option<f64>,
    /// All latencies together.
    pub(crate) latency: LatencyRecord,
    /// Whether operations and latencies tell more than bytes.
    pub(crate) small_blocks: bool,
    /// Operations that failed.
    pub(crate) failed: u64,
    /// Whether kurabe was the limit in any of them.
    pub(crate) generator_bound: bool,
}

impl Figures {
    pub(crate) fn of(cell: &Cell, statistic: Statistic) -> Self {
        let values = |value: &dyn Fn(&Repetition) -> f64| cell.counted().map(value).collect::<Vec<_>>();
        let rates = values(&|repetition| rate_bytes_per_s(repetition, cell.direction));
        let iops = values(&|repetition| rate_iops(repetition, cell.direction));
        let means: Vec<f64> =
            cell.counted().filter_map(|repetition| latency(repetition, cell.direction).mean_ns()).collect();
        let all: Vec<LatencyRecord> =
            cell.counted().map(|repetition| latency(repetition, cell.direction)).collect();
        Self {
            counted: rates.len(),
            rate_bytes_per_s: figure(statistic, &rates, true),
            mean: mean_interval(&rates),
            rate_iops: figure(statistic, &iops, true),
            mean_latency_ns: figure(statistic, &means, false),
            latency: merge(&all),
            small_blocks: cell.workload.largest_block_bytes() <= SMALL_BLOCK_BYTES,
            failed: cell.repetitions.iter().map(failed).fold(0, u64::saturating_add),
            generator_bound: cell.counted().any(|repetition| repetition.generator_bound),
        }
    }

    pub(crate) fn percentile_ns(&self, fraction: f64) -> Option<u64> {
        percentile_ns(&self.latency, fraction)
    }

    /// `±0.4 %` of the mean, if there is an interval.
    pub(crate) fn interval(&self) -> Option<String> {
        let mean = self.mean?;
        crate::number::half_width(mean.mean, mean.half_width?)
    }
}

/// Reads and writes of a direction.
fn sides(repetition: &Repetition, direction: Direction) -> Vec<&OpsRecord> {
    match direction {
        Direction::Read => vec![&repetition.read],
        Direction::Write => vec![&repetition.write],
        Direction::Mix => vec![&repetition.read, &repetition.write],
    }
}

/// Latencies of a direction.
pub(crate) fn latency(repetition: &Repetition, direction: Direction) -> LatencyRecord {
    merge(sides(repetition, direction).into_iter().map(|side| &side.latency))
}

/// Bytes per second of a direction, counted so that no record can overflow.
pub(crate) fn rate_bytes_per_s(repetition: &Repetition, direction: Direction) -> f64 {
    let bytes = sides(repetition, direction).iter().map(|side| side.bytes as f64).sum();
    per_second(bytes, repetition.elapsed_ns)
}

/// Operations per second of a direction.
pub(crate) fn rate_iops(repetition: &Repetition, direction: Direction) -> f64 {
    let operations = sides(repetition, direction).iter().map(|side| side.completed as f64).sum();
    per_second(operations, repetition.elapsed_ns)
}

fn per_second(count: f64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 { 0.0 } else { count * 1e9 / elapsed_ns as f64 }
}

/// Operations of a repetition that failed.
pub(crate) fn failed(repetition: &Repetition) -> u64 {
    total(repetition, |side| side.failed)
}

/// Operations of a repetition that completed, syncs included.
pub(crate) fn completed(repetition: &Repetition) -> u64 {
    total(repetition, |side| side.completed)
}

fn total(repetition: &Repetition, count: fn(&OpsRecord) -> u64) -> u64 {
    [&repetition.read, &repetition.write, &repetition.sync]
        .map(count)
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// The longest stall of the counted repetitions, with its cell and its time within the run.
pub(crate) fn worst_stall(cells: &[Cell]) -> Option<(&Cell, Stall, u64)> {
    cells
        .iter()
        .flat_map(|cell| cell.counted().map(move |repetition| (cell, repetition)))
        .flat_map(|(cell, repetition)| {
            let started_ns = repetition.started_ns;
            repetition.stalls.iter().map(move |stall| (cell, *stall, started_ns.saturating_add(stall.at_ns)))
        })
        .max_by_key(|(_, stall, at_ns)| (stall.length_ns, std::cmp::Reverse(*at_ns)))
}

/// All stalls of the counted repetitions.
pub(crate) fn stall_count(cells: &[Cell]) -> u64 {
    cells.iter().flat_map(Cell::counted).map(|repetition| repetition.stall_count).fold(0, u64::saturating_add)
}
