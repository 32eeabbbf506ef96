//! Lines of tables: places in a record, their values, and navigation between them.

use super::facts::{printed, printed_latency, statistic_word};
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Interval, LatencyRecord, Measure, Repetition, RunRecord, Sample};
use kurabe_core::workload::OpKind;
use kurabe_stats::{
    DerivedFigure, cell_figure, cell_latency, derived_figures, figure, percentile_ns, repetition_latency,
    repetition_values,
};

/// A place in a record. Levels below it are absent. For a percentile or an interval, its cell and
/// repetition are present.
#[derive(Clone)]
pub(super) struct Line<'a> {
    pub(super) run: &'a RunRecord,
    pub(super) cell: Option<&'a Cell>,
    pub(super) repetition: Option<&'a Repetition>,
    /// A score of the profile, which takes the place of a cell.
    pub(super) score: Option<&'a DerivedFigure>,
    /// Latencies of the place.
    pub(super) latency: LatencyRecord,
    /// Kind of operations, and the share of them that was at least as fast.
    pub(super) percentile: Option<(&'static str, f64)>,
    pub(super) interval: Option<PlacedInterval<'a>>,
    pub(super) operation: Option<(usize, &'static str, &'a Sample)>,
}

/// An interval, its index, and its start.
#[derive(Clone, Copy)]
pub(super) struct PlacedInterval<'a> {
    pub(super) index: u64,
    pub(super) at_ns: u64,
    pub(super) seen: &'a Interval,
}

/// Shares of operations in percent, for which a latency bound is listed.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];

pub(super) fn value(imported: &ImportedCell, quantity: Quantity) -> Option<f64> {
    Some(printed(imported, quantity)?.value)
}

impl<'a> Line<'a> {
    fn of_run(run: &'a RunRecord) -> Self {
        let latency = LatencyRecord::default();
        Self {
            run,
            cell: None,
            repetition: None,
            score: None,
            latency,
            percentile: None,
            interval: None,
            operation: None,
        }
    }

    fn of_cell(run: &'a RunRecord, cell: &'a Cell) -> Self {
        Self { cell: Some(cell), ..Self::of_run(run) }
    }

    fn of_repetition(run: &'a RunRecord, cell: &'a Cell, repetition: &'a Repetition) -> Self {
        Self { repetition: Some(repetition), ..Self::of_cell(run, cell) }
    }

    pub(super) fn imported(&self) -> Option<&'a ImportedCell> {
        self.cell?.imported.as_ref()
    }

    /// Returns the figure of a cell for this quantity. For another tool, returns the printed figure;
    /// times of single operations are used if they are the measured quantity.
    pub(super) fn cell_figure(&self, measure: Measure, quantity: Quantity) -> Option<f64> {
        let cell = self.cell?;
        match &cell.imported {
            Some(imported) if quantity != Quantity::Latency || cell.measure == measure => {
                value(imported, quantity)
            }
            Some(_) => None,
            None if cell.measure == measure => cell_figure(cell, self.run.header.statistic()),
            None => None,
        }
    }

    /// Returns the label of the step, or the name of the score.
    pub(super) fn named(&self) -> Option<&'a str> {
        self.score.map(|score| &*score.name.en).or_else(|| Some(&*self.cell?.label))
    }

    /// Returns the word for the measured quantity.
    pub(super) fn measure(&self) -> Option<&'static str> {
        self.score.map(|_| "derived").or_else(|| Some(self.cell?.measure.word()))
    }

    fn values(&self) -> Option<Vec<f64>> {
        Some(repetition_values(self.cell?, self.repetition?))
    }

    pub(super) fn repetition_figure(&self, measure: Measure) -> Option<f64> {
        (self.cell?.measure == measure)
            .then(|| figure(self.run.header.statistic(), &self.values()?, measure.higher_is_better()))?
    }

    /// Returns bytes and operations of a repetition, if it has any.
    pub(super) fn moved(&self) -> Option<(u64, u64)> {
        let repetition = self.repetition?;
        let (bytes, operations) = match self.cell?.direction {
            Some(direction) => (repetition.bytes(direction), repetition.operations(direction)),
            None => (
                repetition.read.bytes.saturating_add(repetition.write.bytes),
                repetition.read.completed.saturating_add(repetition.write.completed),
            ),
        };
        (operations > 0).then_some((bytes, operations))
    }

    /// Returns the latency that this percentage of operations did not exceed, as measured or printed.
    pub(super) fn percentile(&self, percent: f64) -> Option<f64> {
        if let Some(imported) = self.imported() {
            let of = |statistic| printed_latency(imported, statistic);
            let same = of(PrintedStatistic::Percentile(percent));
            return match percent {
                50.0 => of(PrintedStatistic::Median).or(same),
                100.0 => of(PrintedStatistic::Highest),
                _ => same,
            };
        }
        match percent {
            100.0 => (self.latency.count > 0).then_some(self.latency.max_ns as f64),
            _ => Some(percentile_ns(&self.latency, percent / 100.0)? as f64),
        }
    }
}

pub(super) fn run_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    each(&Line::of_run(run));
}

pub(super) fn cell_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    run.cells.iter().for_each(|cell| each(&figure_line(run, cell)));
    score_lines(run, each);
}

/// Returns the line of a cell with its figure.
pub(super) fn figure_line<'a>(run: &'a RunRecord, cell: &'a Cell) -> Line<'a> {
    Line { latency: cell_latency(cell), ..Line::of_cell(run, cell) }
}

/// Passes on the lines of a run's scores and ratios that are numbers.
pub(super) fn score_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    for score in derived_figures(run).iter().filter(|score| score.value.is_finite()) {
        each(&Line { score: Some(score), ..Line::of_run(run) });
    }
}

/// Returns the lines of the repetitions of a cell.
pub(super) fn repetitions_of<'a>(run: &'a RunRecord, cell: &'a Cell) -> impl Iterator<Item = Line<'a>> {
    cell.repetitions.iter().map(move |repetition| Line {
        latency: repetition_latency(repetition, cell.direction),
        ..Line::of_repetition(run, cell, repetition)
    })
}

/// Returns all repetitions of a run, for their values other than latency.
fn repetitions(run: &RunRecord) -> impl Iterator<Item = (Line<'_>, &Repetition)> {
    let of_cell = move |cell| {
        let place = move |repetition| (Line::of_repetition(run, cell, repetition), repetition);
        cell.repetitions.iter().map(place)
    };
    run.cells.iter().flat_map(of_cell)
}

pub(super) fn repetition_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    run.cells.iter().flat_map(|cell| repetitions_of(run, cell)).for_each(|line| each(&line));
}

pub(super) fn percentile_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    for cell in &run.cells {
        let single = cell.repetitions.iter().map(|repetition| (Some(repetition), vec![repetition]));
        for (repetition, merged) in [(None, cell.counted().collect())].into_iter().chain(single) {
            for kind in OpKind::ALL {
                let latency = LatencyRecord::together(merged.iter().map(|one| &one.side(kind).latency));
                let mut line = Line { repetition, latency, ..Line::of_cell(run, cell) };
                for percent in PERCENTILES.into_iter().take_while(|_| line.latency.count > 0) {
                    line.percentile = Some((kind.word(), percent));
                    each(&line);
                }
            }
        }
    }
}

pub(super) fn interval_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    for (mut line, Repetition { series, .. }) in repetitions(run) {
        for (index, seen) in (0..).zip(&series.intervals) {
            line.interval =
                Some(PlacedInterval { index, at_ns: series.interval_ns.saturating_mul(index), seen });
            each(&line);
        }
    }
}

pub(super) fn operation_lines(run: &RunRecord, each: &mut dyn FnMut(&Line<'_>)) {
    for (mut line, repetition) in repetitions(run) {
        for (kind, operations) in [("sample", &repetition.samples), ("first", &repetition.places)] {
            for (index, operation) in operations.iter().enumerate() {
                line.operation = Some((index, kind, operation));
                each(&line);
            }
        }
    }
}

/// Returns the word for the statistic that turns the repetitions of a cell into its figure.
pub(super) fn cell_statistic(line: &Line<'_>) -> Option<String> {
    match (line.imported(), line.cell) {
        (Some(imported), _) => Some(statistic_word(imported.figures.first()?.statistic)),
        (None, Some(_)) => Some(line.run.header.statistic().word().to_owned()),
        (None, None) => None,
    }
}

/// Returns the word for the statistic that turns several values of a repetition into one.
pub(super) fn repetition_statistic(line: &Line<'_>) -> Option<String> {
    (line.values()?.len() > 1).then(|| line.run.header.statistic().word().to_owned())
}
