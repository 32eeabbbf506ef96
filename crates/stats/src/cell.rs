//! Figures of a measured cell: the statistic of its counted repetitions, in the base unit of the
//! cell's measure.
//!
//! The model: a cell's `Measure` decides what a value is. A rate is a value per repetition, or per
//! sample where the step sampled the target (GNOME Disks averages the rates of its samples, not
//! bytes over time); an access time is a value per access; a duration is a value per repetition.
//! The figure is the tool's statistic over these values. Imported cells have no repetitions, and so
//! none of these figures.
//!
//! Comparisons use other values. Their unit is the repetition, so one that sampled the target
//! counts once, with the mean of its samples. A figure printed by another tool is a single value of
//! unknown spread. If the tool stored the samples behind it, they are the values.

use crate::figure::figure;
use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::model::{CauseClass, ModelRecord, TimeAccount};
use kurabe_core::record::{Cell, LatencyRecord, Measure, OpsRecord, Repetition, Sample};
use kurabe_core::{profile::Statistic, workload::Direction};

/// Returns the values behind the figure of a cell: bytes per second, ns for access times and
/// durations, or operations per second. Empty if nothing was measured.
pub fn cell_values(cell: &Cell) -> Vec<f64> {
    cell.counted().flat_map(|repetition| repetition_values(cell, repetition)).collect()
}

/// Returns the values of one repetition, in the same unit as [`cell_values`].
pub fn repetition_values(cell: &Cell, repetition: &Repetition) -> Vec<f64> {
    let samples = &repetition.samples;
    match cell.measure {
        Measure::Rate if samples.is_empty() => vec![rate_bytes_per_s(repetition, cell.direction)],
        Measure::Rate => samples.iter().map(Sample::rate_bytes_per_s).collect(),
        Measure::AccessTime if samples.is_empty() => {
            repetition_latency(repetition, cell.direction).mean_ns().into_iter().collect()
        }
        Measure::AccessTime => samples.iter().map(|sample| sample.elapsed_ns as f64).collect(),
        Measure::Duration => vec![repetition.elapsed_ns as f64],
        Measure::Operations => vec![rate_iops(repetition, cell.direction)],
    }
}

/// Returns the tool's statistic of [`cell_values`], in the same unit; `None` if nothing was
/// measured. For times, lower is better.
pub fn cell_figure(cell: &Cell, statistic: Statistic) -> Option<f64> {
    figure(statistic, &cell_values(cell), cell.measure.higher_is_better())
}

/// Returns the statistic of operations per second over the repetitions; `None` if no operation was
/// counted.
pub fn cell_iops(cell: &Cell, statistic: Statistic) -> Option<f64> {
    let counted =
        cell.counted().any(|repetition| repetition.operations(cell.direction.unwrap_or(Direction::Mix)) > 0);
    let values: Vec<f64> = cell.counted().map(|repetition| rate_iops(repetition, cell.direction)).collect();
    figure(statistic, &values, true).filter(|_| counted)
}

/// Returns the statistic of the repetitions' mean latencies, in ns; `None` if no latency was
/// counted.
pub fn cell_mean_latency_ns(cell: &Cell, statistic: Statistic) -> Option<f64> {
    let means =
        cell.counted().filter_map(|repetition| repetition_latency(repetition, cell.direction).mean_ns());
    figure(statistic, &means.collect::<Vec<f64>>(), false)
}

/// Returns the latencies of all counted repetitions together.
pub fn cell_latency(cell: &Cell) -> LatencyRecord {
    let latencies: Vec<_> =
        cell.counted().map(|repetition| repetition_latency(repetition, cell.direction)).collect();
    LatencyRecord::together(&latencies)
}

/// Returns the latencies of one direction in a repetition; without a direction, reads and writes
/// together.
pub fn repetition_latency(repetition: &Repetition, direction: Option<Direction>) -> LatencyRecord {
    LatencyRecord::together(sides(repetition, direction).into_iter().map(|side| &side.latency))
}

/// Returns the bytes per second of one direction, counted so that no record can overflow; without a
/// direction, reads and writes together.
pub fn rate_bytes_per_s(repetition: &Repetition, direction: Option<Direction>) -> f64 {
    repetition.rate_bytes_per_s(direction.unwrap_or(Direction::Mix))
}

/// Returns the operations per second of one direction; without a direction, reads and writes
/// together.
pub fn rate_iops(repetition: &Repetition, direction: Option<Direction>) -> f64 {
    repetition.rate_iops(direction.unwrap_or(Direction::Mix))
}

fn sides(repetition: &Repetition, direction: Option<Direction>) -> Vec<&OpsRecord> {
    match direction {
        Some(Direction::Read) => vec![&repetition.read],
        Some(Direction::Write) => vec![&repetition.write],
        Some(Direction::Mix) | None => vec![&repetition.read, &repetition.write],
    }
}

/// Returns one value for each counted repetition of a cell, in the base unit of its measure; for an
/// imported cell, a single value.
pub fn compared_values(cell: &Cell) -> Vec<f64> {
    if let Some(imported) = &cell.imported {
        return printed(imported, cell.measure).into_iter().collect();
    }
    cell.counted().filter_map(|repetition| repetition_value(cell, repetition)).collect()
}

/// Returns the mean of a repetition's values, in the base unit of the cell's measure.
pub fn repetition_value(cell: &Cell, repetition: &Repetition) -> Option<f64> {
    let values = repetition_values(cell, repetition);
    figure(Statistic::Mean, &values, true)
}

/// Returns the values of corresponding cells of different runs, under the same statistic as far as
/// possible. If another tool printed the best of its runs, cells measured by kurabe are reduced to
/// their best repetition.
pub fn alike(cells: &[&Cell]) -> (Vec<Vec<f64>>, Statistic) {
    let lists: Vec<Vec<f64>> = cells.iter().map(|cell| compared_values(cell)).collect();
    let best = cells.iter().any(|cell| prints_best(cell)) && cells.iter().any(|cell| cell.imported.is_none());
    if !best {
        return (lists, Statistic::Mean);
    }
    let only_best = cells.iter().zip(lists).map(|(cell, list)| match cell.imported {
        Some(_) => list,
        None => figure(Statistic::Best, &list, cell.measure.higher_is_better()).into_iter().collect(),
    });
    (only_best.collect(), Statistic::Best)
}

/// Returns the samples of cells that were measured in one pass, which shows no spread by itself: of
/// a pass of another tool those that it kept, and of a cell that kurabe measured several times its
/// repetitions. `None` of other cells.
pub fn sampled(cells: &[&Cell]) -> Option<Vec<Vec<f64>>> {
    let printed: Vec<Option<Vec<f64>>> = cells.iter().map(|cell| printed_samples(cell)).collect();
    let is_pass = |cell: &&Cell| {
        cell.imported.is_none() && compared_values(cell).len() == 1 && cell_values(cell).len() > 1
    };
    (printed.iter().any(Option::is_some) || cells.iter().all(is_pass)).then_some(())?;
    let measured = |cell: &Cell| match compared_values(cell) {
        single if single.len() < 2 && cell.imported.is_none() => cell_values(cell),
        several => several,
    };
    Some(
        printed
            .into_iter()
            .zip(cells)
            .map(|(printed, cell)| printed.unwrap_or_else(|| measured(cell)))
            .collect(),
    )
}

/// Returns the samples that a tool stored alongside its figure, which is their mean.
fn printed_samples(cell: &Cell) -> Option<Vec<f64>> {
    let imported = cell.imported.as_ref()?;
    let main = main_figure(imported, cell.measure).filter(|main| main.of == Some(FigureOf::Samples))?;
    let series = imported.series.iter().find(|series| series.quantity == main.quantity)?;
    Some(series.points.iter().map(|(_, value)| *value).collect())
}

/// Returns whether a tool's main figure of a cell is its best run.
fn prints_best(cell: &Cell) -> bool {
    let main = cell.imported.as_ref().and_then(|imported| main_figure(imported, cell.measure));
    main.is_some_and(|main| match cell.measure {
        Measure::Rate | Measure::Operations => main.statistic == PrintedStatistic::Highest,
        Measure::AccessTime | Measure::Duration => main.statistic == PrintedStatistic::Lowest,
    })
}

/// Returns the main figure of an imported cell in the base unit of its measure.
pub(crate) fn printed(imported: &ImportedCell, measure: Measure) -> Option<f64> {
    let main = main_figure(imported, measure)?;
    match main.quantity {
        Quantity::Iops if measure == Measure::Rate => Some(main.value * imported.block_bytes? as f64),
        _ => Some(main.value),
    }
}

/// Returns the figure that a tool printed for a cell's measure; for a rate, operations per second
/// also qualify.
pub(crate) fn main_figure(imported: &ImportedCell, measure: Measure) -> Option<&PrintedFigure> {
    let of = |quantity: Quantity| imported.figures.iter().find(|figure| figure.quantity == quantity);
    match measure {
        Measure::Rate => of(Quantity::Rate).or_else(|| of(Quantity::Iops)),
        Measure::AccessTime => of(Quantity::Latency),
        Measure::Duration => of(Quantity::Duration),
        Measure::Operations => of(Quantity::Iops),
    }
}

/// The combined time account of the repetitions that have one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellAccount {
    /// Sum of the accounts.
    pub account: TimeAccount,
    /// Number of repetitions with an account.
    pub repetitions: u64,
    /// Number of samples in them.
    pub samples: u64,
    /// Elapsed time of these repetitions.
    pub elapsed_ns: u64,
}

/// Returns the account of the counted repetitions; `None` if no repetition has one, or no time
/// passed in them.
pub fn cell_account(cell: &Cell) -> Option<CellAccount> {
    let mut sum = CellAccount::default();
    for repetition in cell.counted() {
        let Some(account) = &repetition.account else { continue };
        sum.account.add(account);
        sum.repetitions += 1;
        sum.samples += repetition.samples.len() as u64;
        sum.elapsed_ns = sum.elapsed_ns.saturating_add(repetition.elapsed_ns);
    }
    (sum.account.latency_ns > 0).then_some(sum)
}

/// Whether the figure of a cell is that of the computer's memory: the time of a modelled cell,
/// apart from waiting, was mostly copying in memory, or another tool read from the page cache on
/// purpose. A cell with flushes waits for the storage.
pub fn is_from_memory(cell: &Cell, model: Option<&ModelRecord>) -> bool {
    if cell.imported.as_ref().is_some_and(|imported| imported.cached) {
        return true;
    }
    if cell.workload.as_ref().is_some_and(|workload| workload.sync.waits_for_medium()) {
        return false;
    }
    let mut sums = [0_u64; 2];
    for share in cell.counted().filter_map(|one| one.account.as_ref()).flat_map(|account| &account.shares) {
        match model.and_then(|model| model.cause(share)).map(|cause| cause.class) {
            None | Some(CauseClass::Line | CauseClass::Serial) => {}
            Some(class) => {
                let sum = &mut sums[usize::from(class == CauseClass::Memory)];
                *sum = sum.saturating_add(share.time_ns);
            }
        }
    }
    sums[1] > sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn side(completed: u64, bytes: u64, latencies_ns: &[u64]) -> Value {
        let mut histogram = crate::Histogram::default();
        latencies_ns.iter().for_each(|ns| histogram.record(*ns));
        json!({
            "submitted": completed, "completed": completed, "failed": 0, "bytes": bytes,
            "latency": histogram.to_record(),
        })
    }

    /// Discarded, seconds, bytes read, bytes written, samples of (bytes, ns).
    type Given<'a> = (bool, u64, u64, u64, &'a [(u64, u64)]);

    fn cell(measure: Measure, direction: &str, repetitions: &[Given<'_>]) -> Cell {
        let repetitions: Vec<Value> = repetitions
            .iter()
            .map(|(discarded, seconds, read, written, samples)| {
                let samples: Vec<Value> = samples
                    .iter()
                    .map(|(bytes, ns)| json!({ "offset_bytes": 0, "bytes": bytes, "elapsed_ns": ns }))
                    .collect();
                let latencies: &[u64] = if *read > 0 { &[*read / 1000] } else { &[] };
                json!({
                    "index": 0, "discarded": discarded, "seed": 0, "started_ns": 0,
                    "elapsed_ns": seconds * 1_000_000_000,
                    "read": side(read / 1000, *read, latencies), "write": side(written / 1000, *written, &[]),
                    "sync": side(0, 0, &[]), "series": { "interval_ns": 0, "intervals": [] },
                    "stalls": [], "stall_count": 0, "stall_threshold_ns": 0,
                    "cpu": { "user_ns": 0, "system_ns": 0 }, "generator_share": 0.0, "generator_bound": false,
                    "noise": {}, "samples": samples,
                })
            })
            .collect();
        serde_json::from_value(json!({
            "index": 0, "step_index": 0, "label": "x", "measure": measure,
            "direction": if direction.is_empty() { Value::Null } else { direction.into() },
            "workload": null, "engine": null, "repetitions": repetitions,
        }))
        .unwrap()
    }

    #[test]
    fn a_rate_is_bytes_over_time_of_each_counted_repetition() {
        let three = [
            (true, 1, 9_000_000, 0, &[][..]),
            (false, 2, 4_000_000, 8_000_000, &[]),
            (false, 1, 5_000_000, 0, &[]),
        ];
        let values = |direction| cell_values(&cell(Measure::Rate, direction, &three));
        assert_eq!(values("read"), [2e6, 5e6]);
        assert_eq!(values("write"), [4e6, 0.0]);
        assert_eq!(values("mix"), [6e6, 5e6]);
        assert_eq!(values(""), [6e6, 5e6]);
        let read = cell(Measure::Rate, "read", &three);
        assert_eq!(cell_figure(&read, Statistic::Best), Some(5e6));
        assert_eq!(cell_iops(&read, Statistic::Mean), Some(3500.0));
        assert_eq!(cell_mean_latency_ns(&read, Statistic::Best), Some(4000.0));
        assert_eq!(cell_latency(&read).count, 2);
    }

    #[test]
    fn samples_are_the_values_where_there_are_any() {
        let samples = [(10, 1_000_000_000), (10, 2_000_000_000)];
        let one = [(false, 5, 20, 0, &samples[..])];
        // Not 20 bytes in 3 s but the mean of the samples' rates, as in GNOME Disks.
        assert_eq!(cell_figure(&cell(Measure::Rate, "read", &one), Statistic::Mean), Some(7.5));
        let access = cell(Measure::AccessTime, "read", &one);
        assert_eq!(cell_figure(&access, Statistic::Mean), Some(1.5e9));
        assert_eq!(cell_figure(&access, Statistic::Best), Some(1e9));
    }

    #[test]
    fn the_best_duration_is_the_shortest() {
        let two = [(false, 3, 0, 0, &[][..]), (false, 2, 0, 0, &[])];
        let duration = cell(Measure::Duration, "", &two);
        assert_eq!(cell_figure(&duration, Statistic::Best), Some(2e9));
        assert_eq!(cell_iops(&duration, Statistic::Mean), None);
        assert_eq!(cell_mean_latency_ns(&duration, Statistic::Mean), None);
    }

    #[test]
    fn an_account_is_of_the_repetitions_that_have_one() {
        let three = [(true, 1, 0, 0, &[][..]), (false, 2, 0, 0, &[]), (false, 4, 0, 0, &[])];
        let mut cell = cell(Measure::Rate, "read", &three);
        assert_eq!(cell_account(&cell), None);
        let account = TimeAccount { operations: 5, latency_ns: 7, ..TimeAccount::default() };
        for place in [0, 2] {
            cell.repetitions[place].account = Some(account.clone());
        }
        let elapsed_ns = 4_000_000_000;
        assert_eq!(
            cell_account(&cell),
            Some(CellAccount { account, repetitions: 1, samples: 0, elapsed_ns })
        );
    }

    #[test]
    fn an_unmeasured_cell_has_no_figure() {
        let none = cell(Measure::Rate, "read", &[]);
        assert_eq!(cell_figure(&none, Statistic::Mean), None);
        assert_eq!(cell_iops(&none, Statistic::Mean), None);
        assert_eq!(cell_latency(&none), LatencyRecord::default());
    }
}
