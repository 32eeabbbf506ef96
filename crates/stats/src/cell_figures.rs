//! What a cell comes to, in numbers for other programs: the figures that a table shows, and their units in their names.

use crate::cell::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, main_figure, printed,
};
use crate::figure::{MeanInterval, mean_interval};
use crate::latency::percentile_ns;
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Measure, Repetition, RunRecord};
use kurabe_core::{profile::Statistic, workload::Direction};
use serde::Serialize;

/// The figures of a cell. What was not measured, or not printed by the tool that measured, is not there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellFigures<'a> {
    /// Its place in the run.
    pub cell_index: usize,
    /// The step's name.
    pub label: &'a str,
    /// The part of the step.
    pub part: &'a str,
    /// Direction.
    pub direction: Option<Direction>,
    /// What its main figure tells.
    pub measure: Measure,
    /// How the main figure was made of the values.
    pub statistic: FigureStatistic,
    /// Values that count: repetitions, or samples.
    pub values: usize,
    /// The main figure of a rate.
    pub rate_bytes_per_s: Option<f64>,
    /// The mean of the rates.
    pub rate_mean_bytes_per_s: Option<f64>,
    /// Its 95 % interval.
    pub rate_interval_bytes_per_s: Option<[f64; 2]>,
    /// The main figure of an access time or a duration.
    pub time_ns: Option<f64>,
    /// The mean of the times.
    pub time_mean_ns: Option<f64>,
    /// Its 95 % interval.
    pub time_interval_ns: Option<[f64; 2]>,
    /// Operations per second.
    pub rate_iops: Option<f64>,
    /// The mean latency of an operation.
    pub latency_mean_ns: Option<f64>,
    /// Latency percentiles of all operations.
    pub latency_p50_ns: Option<f64>,
    /// 90 %.
    pub latency_p90_ns: Option<f64>,
    /// 99 %.
    pub latency_p99_ns: Option<f64>,
    /// 99.9 %.
    pub latency_p99_9_ns: Option<f64>,
    /// 99.99 %.
    pub latency_p99_99_ns: Option<f64>,
    /// The slowest operation.
    pub latency_maximum_ns: Option<f64>,
    /// Operations that failed.
    pub failed_operations: u64,
    /// Whether kurabe was the limit, and not the storage.
    pub generator_bound: bool,
}

/// By whom and how a main figure was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FigureStatistic {
    /// By kurabe, with the profile's statistic.
    Made(Statistic),
    /// By another tool.
    Printed(Option<PrintedStatistic>),
}

/// The figures of all cells of a run.
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

/// The main figure of a cell: how it was made, of how many values, its value, and the mean.
#[derive(Clone, Copy)]
struct Main {
    statistic: FigureStatistic,
    values: usize,
    figure: Option<f64>,
    mean: Option<MeanInterval>,
}

/// The figures of a cell that its main one, and latencies by their share of the operations, come to.
fn of_cell<'a>(
    cell_index: usize,
    cell: &'a Cell,
    main: Main,
    latency_ns: &dyn Fn(f64) -> Option<f64>,
) -> CellFigures<'a> {
    let (is_rate, is_time) = (cell.measure == Measure::Rate, !cell.measure.higher_is_better());
    let interval = |mean: MeanInterval| Some([mean.mean - mean.half_width?, mean.mean + mean.half_width?]);
    let (mean, interval) = (main.mean.map(|mean| mean.mean), main.mean.and_then(interval));
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
