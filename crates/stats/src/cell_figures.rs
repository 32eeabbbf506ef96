//! Figures of a cell as numbers for other programs: those that a table shows, with the unit in each
//! name.

use crate::cell::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, main_figure, printed,
};
use crate::figure::{MeanInterval, mean_interval};
use crate::flush::{CellFlush, FlushCall, FlushFigures, cell_flush};
use crate::latency::percentile_ns;
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Measure, Repetition, RunRecord};
use kurabe_core::{profile::Statistic, workload::Direction};
use serde::Serialize;

/// The figures of a cell. A field is `None` if the figure was not measured, or not printed by the
/// tool that measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellFigures<'a> {
    /// Index of the cell in the run.
    pub cell_index: usize,
    /// Name of the step.
    pub label: &'a str,
    /// Part of the step.
    pub part: &'a str,
    /// Direction; `None` for a cell without one.
    pub direction: Option<Direction>,
    /// Kind of the main figure.
    pub measure: Measure,
    /// Statistic behind the main figure.
    pub statistic: FigureStatistic,
    /// Number of counted values: repetitions, or samples.
    pub values: usize,
    /// Main figure of a rate.
    pub rate_bytes_per_s: Option<f64>,
    /// Mean of the rates.
    pub rate_mean_bytes_per_s: Option<f64>,
    /// 95 % interval of the mean rate.
    pub rate_interval_bytes_per_s: Option<[f64; 2]>,
    /// Main figure of an access time or a duration.
    pub time_ns: Option<f64>,
    /// Mean of the times.
    pub time_mean_ns: Option<f64>,
    /// 95 % interval of the mean time.
    pub time_interval_ns: Option<[f64; 2]>,
    /// Operations per second.
    pub rate_iops: Option<f64>,
    /// Mean latency of an operation.
    pub latency_mean_ns: Option<f64>,
    /// Median latency of all operations.
    pub latency_p50_ns: Option<f64>,
    /// 90th percentile.
    pub latency_p90_ns: Option<f64>,
    /// 99th percentile.
    pub latency_p99_ns: Option<f64>,
    /// 99.9th percentile.
    pub latency_p99_9_ns: Option<f64>,
    /// 99.99th percentile.
    pub latency_p99_99_ns: Option<f64>,
    /// Latency of the slowest operation.
    pub latency_maximum_ns: Option<f64>,
    /// Latency of the flushes between the operations, or of the final one within the measured time.
    pub flush: Option<FlushFigures>,
    /// The call, if the latency of a write includes its flush.
    pub includes_flush: Option<FlushCall>,
    /// Number of failed operations.
    pub failed_operations: u64,
    /// Whether kurabe was the bottleneck, not the storage.
    pub generator_bound: bool,
}

/// Which tool computed a main figure, and by which statistic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FigureStatistic {
    /// Computed by kurabe, with the profile's statistic.
    Made(Statistic),
    /// Printed by another tool.
    Printed(Option<PrintedStatistic>),
}

/// Returns the figures of all cells of a run.
pub fn run_figures(run: &RunRecord) -> Vec<CellFigures<'_>> {
    let statistic = run.header.statistic();
    let cells = run.cells.iter().enumerate();
    cells
        .map(|(index, cell)| match &cell.imported {
            Some(imported) => of_imported(index, cell, imported),
            None => of_measured(index, cell, statistic),
        })
        .collect()
}

/// The main figure of a cell: statistic, number of values, value and mean.
#[derive(Clone, Copy)]
struct Main {
    statistic: FigureStatistic,
    values: usize,
    figure: Option<f64>,
    mean: Option<MeanInterval>,
}

/// Assembles the figures of a cell from its main figure and a function that returns the latency at
/// a share of the operations.
fn of_cell<'a>(
    cell_index: usize,
    cell: &'a Cell,
    main: Main,
    latency_ns: &dyn Fn(f64) -> Option<f64>,
) -> CellFigures<'a> {
    let (is_rate, is_time) = (cell.measure == Measure::Rate, !cell.measure.higher_is_better());
    let interval = |mean: MeanInterval| Some([mean.mean - mean.half_width?, mean.mean + mean.half_width?]);
    let (mean, interval) = (main.mean.map(|mean| mean.mean), main.mean.and_then(interval));
    let flush = cell_flush(cell);
    CellFigures {
        cell_index,
        label: &cell.label,
        part: &cell.part,
        direction: cell.direction,
        measure: cell.measure,
        statistic: main.statistic,
        values: main.values,
        rate_bytes_per_s: main.figure.filter(|_| is_rate),
        rate_mean_bytes_per_s: mean.filter(|_| is_rate),
        rate_interval_bytes_per_s: interval.filter(|_| is_rate),
        time_ns: main.figure.filter(|_| is_time),
        time_mean_ns: mean.filter(|_| is_time),
        time_interval_ns: interval.filter(|_| is_time),
        rate_iops: None,
        latency_mean_ns: None,
        latency_p50_ns: latency_ns(0.5),
        latency_p90_ns: latency_ns(0.9),
        latency_p99_ns: latency_ns(0.99),
        latency_p99_9_ns: latency_ns(0.999),
        latency_p99_99_ns: latency_ns(0.9999),
        latency_maximum_ns: latency_ns(1.0),
        flush: match flush {
            Some(CellFlush::Separate(figures)) => Some(figures),
            _ => None,
        },
        includes_flush: match flush {
            Some(CellFlush::Included(call)) => Some(call),
            _ => None,
        },
        failed_operations: 0,
        generator_bound: false,
    }
}

fn of_measured(index: usize, cell: &Cell, statistic: Statistic) -> CellFigures<'_> {
    let (values, latency) = (cell_values(cell), cell_latency(cell));
    let main = Main {
        statistic: FigureStatistic::Made(statistic),
        values: values.len(),
        figure: cell_figure(cell, statistic),
        mean: mean_interval(&values),
    };
    CellFigures {
        rate_iops: cell_iops(cell, statistic),
        latency_mean_ns: cell_mean_latency_ns(cell, statistic),
        failed_operations: cell.repetitions.iter().map(Repetition::failed).fold(0, u64::saturating_add),
        generator_bound: cell.counted().any(|repetition| repetition.generator_bound),
        ..of_cell(index, cell, main, &|share| percentile_ns(&latency, share).map(|ns| ns as f64))
    }
}

fn of_imported<'a>(index: usize, cell: &'a Cell, imported: &ImportedCell) -> CellFigures<'a> {
    let printed_figure = main_figure(imported, cell.measure);
    let main = Main {
        statistic: FigureStatistic::Printed(printed_figure.map(|figure| figure.statistic)),
        values: usize::from(printed_figure.is_some()),
        figure: printed(imported, cell.measure),
        mean: None,
    };
    let first = |quantity, is_it: &dyn Fn(PrintedStatistic) -> bool| {
        let mut figures = imported.figures.iter();
        figures
            .find(|figure| figure.quantity == quantity && is_it(figure.statistic))
            .map(|figure| figure.value)
    };
    let latency_ns = |share: f64| {
        first(Quantity::Latency, &|statistic| match statistic {
            PrintedStatistic::Highest => share == 1.0,
            PrintedStatistic::Percentile(percent) => share < 1.0 && (percent / 100.0 - share).abs() < 1e-9,
            _ => false,
        })
    };
    CellFigures {
        rate_iops: first(Quantity::Iops, &|_| true),
        latency_mean_ns: first(Quantity::Latency, &|statistic| statistic == PrintedStatistic::Mean),
        ..of_cell(index, cell, main, &latency_ns)
    }
}
