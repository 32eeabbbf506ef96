//! What a cell comes to, in numbers for other programs: the figures that a table shows, and their units in their names.

use crate::cell::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, cell_values, main_figure, printed,
};
use crate::figure::{MeanInterval, mean_interval};
use crate::latency::percentile_ns;
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::Direction;
use serde::Serialize;

/// The figures of a cell. What was not measured, or not printed by the tool that measured, is not there.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
        .map(|(place, cell)| match &cell.imported {
            Some(imported) => of_imported(place, cell, imported),
            None => of_measured(place, cell, statistic),
        })
        .collect()
}

fn empty(cell_index: usize, cell: &Cell, statistic: FigureStatistic) -> CellFigures<'_> {
    CellFigures {
        cell_index,
        label: &cell.label,
        part: &cell.part,
        direction: cell.direction,
        measure: cell.measure,
        statistic,
        values: 0,
        rate_bytes_per_s: None,
        rate_mean_bytes_per_s: None,
        rate_interval_bytes_per_s: None,
        time_ns: None,
        time_mean_ns: None,
        time_interval_ns: None,
        rate_iops: None,
        latency_mean_ns: None,
        latency_p50_ns: None,
        latency_p90_ns: None,
        latency_p99_ns: None,
        latency_p99_9_ns: None,
        latency_p99_99_ns: None,
        latency_maximum_ns: None,
        failed_operations: 0,
        generator_bound: false,
    }
}

impl CellFigures<'_> {
    fn set_main(&mut self, figure: Option<f64>, mean: Option<MeanInterval>) {
        let interval =
            mean.and_then(|mean| Some([mean.mean - mean.half_width?, mean.mean + mean.half_width?]));
        let mean = mean.map(|mean| mean.mean);
        match self.measure {
            Measure::Rate => {
                (self.rate_bytes_per_s, self.rate_mean_bytes_per_s) = (figure, mean);
                self.rate_interval_bytes_per_s = interval;
            }
            Measure::AccessTime | Measure::Duration => {
                (self.time_ns, self.time_mean_ns, self.time_interval_ns) = (figure, mean, interval);
            }
        }
    }
}

fn of_measured(place: usize, cell: &Cell, statistic: Statistic) -> CellFigures<'_> {
    let mut figures = empty(place, cell, FigureStatistic::Made(statistic));
    let (values, latency) = (cell_values(cell), cell_latency(cell));
    let percentile = |share| percentile_ns(&latency, share).map(|ns| ns as f64);
    figures.set_main(cell_figure(cell, statistic), mean_interval(&values));
    CellFigures {
        values: values.len(),
        rate_iops: cell_iops(cell, statistic),
        latency_mean_ns: cell_mean_latency_ns(cell, statistic),
        latency_p50_ns: percentile(0.5),
        latency_p90_ns: percentile(0.9),
        latency_p99_ns: percentile(0.99),
        latency_p99_9_ns: percentile(0.999),
        latency_p99_99_ns: percentile(0.9999),
        latency_maximum_ns: percentile(1.0),
        failed_operations: cell
            .repetitions
            .iter()
            .flat_map(|one| [one.read.failed, one.write.failed, one.sync.failed])
            .fold(0, u64::saturating_add),
        generator_bound: cell.counted().any(|repetition| repetition.generator_bound),
        ..figures
    }
}

fn of_imported<'a>(place: usize, cell: &'a Cell, imported: &ImportedCell) -> CellFigures<'a> {
    let main = main_figure(imported, cell.measure);
    let mut figures = empty(place, cell, FigureStatistic::Printed(main.map(|main| main.statistic)));
    figures.set_main(printed(imported, cell.measure), None);
    let first = |quantity, statistic: &dyn Fn(PrintedStatistic) -> bool| {
        let mut all = imported.figures.iter();
        all.find(|figure| figure.quantity == quantity && statistic(figure.statistic))
            .map(|figure| figure.value)
    };
    let latency = |share: f64| {
        first(
            Quantity::Latency,
            &|statistic| matches!(statistic, PrintedStatistic::Percentile(percent) if (percent / 100.0 - share).abs() < 1e-9),
        )
    };
    CellFigures {
        values: usize::from(main.is_some()),
        rate_iops: first(Quantity::Iops, &|_| true),
        latency_mean_ns: first(Quantity::Latency, &|statistic| statistic == PrintedStatistic::Mean),
        latency_p50_ns: latency(0.5),
        latency_p90_ns: latency(0.9),
        latency_p99_ns: latency(0.99),
        latency_p99_9_ns: latency(0.999),
        latency_p99_99_ns: latency(0.9999),
        latency_maximum_ns: first(Quantity::Latency, &|statistic| statistic == PrintedStatistic::Highest),
        ..figures
    }
}
