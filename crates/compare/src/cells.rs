//! What cells are compared by.
//!
//! The model: repetitions are the unit. A repetition that sampled the target counts once, by the mean of its samples. A
//! printed figure of another tool is one value, of which no spread is known.

use kurabe_core::imported::{ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, Repetition};
use kurabe_stats::{figure, repetition_values};

/// The values of a cell, one for each counted repetition, in the base unit of its measure; a single one of an imported
/// cell.
pub fn values(cell: &Cell) -> Vec<f64> {
    if let Some(imported) = &cell.imported {
        return printed(imported, cell.measure).into_iter().collect();
    }
    cell.counted().filter_map(|repetition| value(cell, repetition)).collect()
}

/// The value of a repetition in the base unit of its cell's measure.
pub(crate) fn value(cell: &Cell, repetition: &Repetition) -> Option<f64> {
    let values = repetition_values(cell, repetition);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The values of cells that do the same in different runs, made by one statistic as far as that can be: where another tool
/// printed the best of its runs, the best repetition stands for a cell that kurabe measured, too.
pub fn alike(cells: &[&Cell]) -> (Vec<Vec<f64>>, Statistic) {
    let lists: Vec<Vec<f64>> = cells.iter().map(|cell| values(cell)).collect();
    let best = cells.iter().any(|cell| prints_best(cell)) && cells.iter().any(|cell| cell.imported.is_none());
    if !best {
        return (lists, Statistic::Mean);
    }
    let only_best = cells.iter().zip(lists).map(|(cell, list)| match cell.imported {
        Some(_) => list,
        None => figure(Statistic::Best, &list, cell.measure == Measure::Rate).into_iter().collect(),
    });
    (only_best.collect(), Statistic::Best)
}

/// Whether a tool's main figure of a cell is its best run.
fn prints_best(cell: &Cell) -> bool {
    let main = cell.imported.as_ref().and_then(|imported| main_figure(imported, cell.measure));
    main.is_some_and(|main| match cell.measure {
        Measure::Rate => main.statistic == PrintedStatistic::Highest,
        Measure::AccessTime | Measure::Duration => main.statistic == PrintedStatistic::Lowest,
    })
}

/// The main figure of an imported cell.
fn printed(imported: &ImportedCell, measure: Measure) -> Option<f64> {
    let main = main_figure(imported, measure)?;
    match main.quantity {
        Quantity::Iops => Some(main.value * imported.block_bytes? as f64),
        _ => Some(main.value),
    }
}

/// What a tool printed of a cell's measure; of a rate also operations per second.
fn main_figure(imported: &ImportedCell, measure: Measure) -> Option<&PrintedFigure> {
    let of = |quantity: Quantity| imported.figures.iter().find(|figure| figure.quantity == quantity);
    match measure {
        Measure::Rate => of(Quantity::Rate).or_else(|| of(Quantity::Iops)),
        Measure::AccessTime => of(Quantity::Latency),
        Measure::Duration => of(Quantity::Duration),
    }
}
