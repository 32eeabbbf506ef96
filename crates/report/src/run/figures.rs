//! The figures of a cell: what its repetitions come to.
//!
//! The model: the profile's statistic over the counted repetitions gives the main figure, and beside it stand
//! kurabe's mean with its interval and the percentiles over all operations of these repetitions.

use kurabe_core::number::{self, Figure};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, LatencyRecord, Measure, OpsRecord, Repetition, Stall};
use kurabe_core::workload::{OpKind, Workload};
use kurabe_stats::{
    MeanInterval, cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, mean_interval,
    percentile_ns,
};

/// Blocks up to this size are told in IOPS and latencies too.
const SMALL_BLOCK_BYTES: u32 = 64 << 10;

/// What a cell comes to.
pub(crate) struct Figures {
    /// What the figure tells.
    pub(crate) measure: Measure,
    /// Values that count: repetitions, or samples.
    pub(crate) counted: usize,
    /// The statistic of the values: bytes per second, or ns.
    pub(crate) main: Option<f64>,
    /// kurabe's own mean of the values.
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
        let values = cell_values(cell);
        let of_rates = cell.measure == Measure::Rate;
        let largest = cell.workload.as_ref().map_or(u32::MAX, Workload::largest_block_bytes);
        Self {
            measure: cell.measure,
            counted: values.len(),
            main: cell_figure(cell, statistic),
            mean: mean_interval(&values),
            rate_iops: cell_iops(cell, statistic),
            mean_latency_ns: cell_mean_latency_ns(cell, statistic),
            latency: cell_latency(cell),
            small_blocks: of_rates && largest <= SMALL_BLOCK_BYTES,
            failed: cell.repetitions.iter().map(Repetition::failed).fold(0, u64::saturating_add),
            generator_bound: cell.counted().any(|repetition| repetition.generator_bound),
        }
    }

    /// A value of this cell with its unit.
    pub(crate) fn value(&self, value: f64) -> Figure {
        number::measured(self.measure, value)
    }

    pub(crate) fn percentile_ns(&self, fraction: f64) -> Option<u64> {
        percentile_ns(&self.latency, fraction)
    }

    /// `±0.4 %` of the mean, if there is an interval.
    pub(crate) fn interval(&self) -> Option<String> {
        let mean = self.mean?;
        number::half_width(mean.mean, mean.half_width?)
    }
}

/// What a kind of operation did in a repetition.
pub(crate) fn side(repetition: &Repetition, kind: OpKind) -> &OpsRecord {
    match kind {
        OpKind::Read => &repetition.read,
        OpKind::Write => &repetition.write,
        OpKind::Sync => &repetition.sync,
    }
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
