//! The figures of a cell, computed from its repetitions.
//!
//! The model: the main figure is the profile's statistic over the counted repetitions. It is
//! accompanied by kurabe's mean with its interval, and by the percentiles over all operations of
//! these repetitions.

use crate::words;
use kurabe_compare::values;
use kurabe_core::number::{self, Figure};
use kurabe_core::record::{Cell, LatencyRecord, Measure, Repetition, Stall};
use kurabe_core::workload::{Direction, Workload};
use kurabe_core::{Text, profile::Statistic, text};
use kurabe_stats::{
    CellFlush, FlushFigures, MeanInterval, cell_figure, cell_flush, cell_iops, cell_latency,
    cell_mean_latency_ns, cell_values, mean_interval, percentile_ns,
};

/// Maximum block size for which a cell also shows IOPS and latencies.
const SMALL_BLOCK_BYTES: u32 = 64 << 10;

/// The figures of a cell.
pub(crate) struct Figures<'a> {
    pub(crate) cell: &'a Cell,
    /// The profile's statistic.
    pub(crate) statistic: Statistic,
    /// Number of counted values: repetitions or samples.
    pub(crate) counted: usize,
    /// The statistic of the values, in bytes per second or ns.
    pub(crate) main: Option<f64>,
    /// kurabe's own mean of the values.
    pub(crate) mean: Option<MeanInterval>,
    /// The statistic of the operation rates.
    pub(crate) rate_iops: Option<f64>,
    /// The statistic of the mean latencies.
    pub(crate) mean_latency_ns: Option<f64>,
    /// All latencies combined.
    pub(crate) latency: LatencyRecord,
    /// Whether operations and latencies matter more than bytes.
    pub(crate) small_blocks: bool,
    /// The flushes, separate or included in the writes.
    pub(crate) flush: Option<CellFlush>,
    /// Number of failed operations.
    pub(crate) failed: u64,
    /// Whether any repetition was generator-bound.
    pub(crate) generator_bound: bool,
}

impl<'a> Figures<'a> {
    pub(crate) fn of(cell: &'a Cell, statistic: Statistic) -> Self {
        let values = cell_values(cell);
        let of_rates = cell.measure == Measure::Rate;
        let largest = cell.workload.as_ref().map_or(u32::MAX, Workload::largest_block_bytes);
        Self {
            cell,
            statistic,
            counted: values.len(),
            main: cell_figure(cell, statistic),
            mean: mean_interval(&values),
            rate_iops: cell_iops(cell, statistic),
            mean_latency_ns: cell_mean_latency_ns(cell, statistic),
            latency: cell_latency(cell),
            small_blocks: of_rates && largest <= SMALL_BLOCK_BYTES,
            flush: cell_flush(cell),
            failed: cell.repetitions.iter().map(Repetition::failed).fold(0, u64::saturating_add),
            generator_bound: cell.counted().any(|repetition| repetition.generator_bound),
        }
    }

    /// Returns a value of this cell with its unit.
    pub(crate) fn value(&self, value: f64) -> Figure {
        number::measured(self.cell.measure, value)
    }

    /// Returns the main figure with its unit.
    pub(crate) fn main_figure(&self) -> Option<Figure> {
        self.main.map(|main| self.value(main))
    }

    /// Returns the value to draw: the first one that another tool printed, or the main figure.
    pub(crate) fn drawn(&self) -> Option<f64> {
        if self.cell.imported.is_some() { values(self.cell).first().copied() } else { self.main }
    }

    /// Says which of several values the main figure is, as in `best of 3`. `None` if it is their
    /// mean.
    pub(crate) fn chosen(&self) -> Option<Text> {
        words::statistic_of(self.statistic, self.counted).filter(|_| self.counted > 1)
    }

    /// Returns the latencies of the flushes, if they are separate operations.
    pub(crate) fn separate_flush(&self) -> Option<&FlushFigures> {
        match &self.flush {
            Some(CellFlush::Separate(figures)) => Some(figures),
            _ => None,
        }
    }

    /// Says that the latency of a write includes the flush, if it does.
    pub(crate) fn includes_flush(&self) -> Option<Text> {
        let is_mix = self.cell.direction == Some(Direction::Mix);
        let words = || if is_mix { words::writes_include_the_flush() } else { words::including_the_flush() };
        matches!(self.flush, Some(CellFlush::Included(_))).then(words)
    }

    /// Returns the doubts about the figure.
    pub(crate) fn doubts(&self) -> Vec<Text> {
        let bound = self.generator_bound.then(|| text!("kurabe was the limit", "kurabe 自身が上限"));
        let failed = (self.failed > 0).then(|| {
            let failed = number::count(self.failed);
            text!("{failed} failed", "{failed} 件失敗")
        });
        bound.into_iter().chain(failed).collect()
    }

    pub(crate) fn percentile_ns(&self, fraction: f64) -> Option<u64> {
        percentile_ns(&self.latency, fraction)
    }

    /// Returns the interval of the mean, as in `±0.4 %`, if there is one.
    pub(crate) fn interval(&self) -> Option<String> {
        let mean = self.mean?;
        number::half_width(mean.mean, mean.half_width?)
    }
}

/// Returns the longest stall of the counted repetitions, with its cell and its time within the run.
pub(crate) fn worst_stall(cells: &[Cell]) -> Option<(&Cell, Stall, u64)> {
    let stalls = cells.iter().flat_map(|cell| stalls(cell).map(move |(at_ns, stall)| (cell, stall, at_ns)));
    stalls.max_by_key(|(_, stall, at_ns)| (stall.length_ns, std::cmp::Reverse(*at_ns)))
}

/// Returns the stalls of a cell's counted repetitions, with their times within the run.
pub(crate) fn stalls(cell: &Cell) -> impl Iterator<Item = (u64, Stall)> {
    cell.counted().flat_map(|repetition| {
        let at_ns = |stall: &Stall| repetition.started_ns.saturating_add(stall.at_ns);
        repetition.stalls.iter().map(move |stall| (at_ns(stall), *stall))
    })
}

/// Returns the longest stalls, in chronological order.
pub(crate) fn longest(stalls: impl Iterator<Item = (u64, Stall)>, most: usize) -> Vec<(u64, Stall)> {
    let mut stalls: Vec<_> = stalls.collect();
    stalls.sort_by_key(|(_, stall)| std::cmp::Reverse(stall.length_ns));
    stalls.truncate(most);
    stalls.sort_by_key(|(at_ns, _)| *at_ns);
    stalls
}

/// The figures of a cell for a tile of a page, as displayed. Figures that the cell doesn't have are
/// `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// The main figure of the cell: a rate or a time.
    pub main: Option<Figure>,
    /// The main figure in bytes per second, if it is a rate.
    pub rate_bytes_per_s: Option<f64>,
    /// A rate in GB/s (10^9 bytes).
    pub gigabytes: Option<Figure>,
    /// The mean latency in µs.
    pub microseconds: Option<Figure>,
    /// Operations per second.
    pub iops: Option<Figure>,
    /// The mean latency.
    pub mean_latency: Option<Figure>,
    /// The 99th percentile of the latency.
    pub p99_latency: Option<Figure>,
    /// The interval of the mean, as in `±0.4 %`, if there is one.
    pub interval: Option<String>,
    /// The flushes in a few words, as in `fsync p99 7.5 ms`, or that the writes include them.
    pub flush: Option<Text>,
}

impl Tile {
    /// Creates the tile of a cell with this statistic of its repetitions.
    pub fn of(cell: &Cell, statistic: Statistic) -> Self {
        let figures = Figures::of(cell, statistic);
        let of_rates = cell.measure == Measure::Rate;
        let of_many = cell.measure.higher_is_better();
        let mean_latency_ns = figures.mean_latency_ns.filter(|_| of_many);
        let p99_latency_ns = figures.percentile_ns(0.99).filter(|_| of_many);
        Self {
            main: figures.main_figure(),
            rate_bytes_per_s: figures.main.filter(|_| of_rates),
            gigabytes: figures.main.filter(|_| of_rates).map(|value| in_unit(value / 1e9, 3, "GB/s")),
            microseconds: mean_latency_ns.map(|ns| in_unit(ns / 1e3, 1, "µs")),
            iops: figures.rate_iops.filter(|_| of_rates).map(number::iops),
            mean_latency: mean_latency_ns.map(number::latency),
            p99_latency: p99_latency_ns.map(|ns| number::latency(ns as f64)),
            interval: figures.interval(),
            flush: figures.flush.as_ref().map(words::flush),
        }
    }
}

fn in_unit(value: f64, digits: usize, unit: &'static str) -> Figure {
    Figure { number: number::fixed(value, digits), unit }
}
