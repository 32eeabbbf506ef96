//! Which cells of two runs are the same, and what they are compared by.
//!
//! The model: a workload is what it does, not what its profile calls it, so a cell of `cdm-9` and one that
//! CrystalDiskMark printed meet where pattern, block size, queue depth, threads and direction are the same. All other
//! cells meet by their label and part. Repetitions are the unit: a repetition that sampled the target counts once, by the
//! mean of its samples. A printed figure of another tool is one value, of which no spread is known.

use kurabe_core::imported::{ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, Repetition};
use kurabe_core::workload::{Direction, Pattern, Workload};
use kurabe_stats::{figure, repetition_values};
use serde::{Deserialize, Serialize};

/// What a cell is, for finding its like in another run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKey {
    /// A workload with one block size.
    Io {
        /// Whether offsets ascend.
        sequential: bool,
        /// Block size in bytes.
        block_bytes: u64,
        /// Operations in flight per thread.
        iodepth: u32,
        /// Threads.
        threads: u32,
        /// `read`, `write`, or `mix` with the share of reads in percent.
        direction: String,
    },
    /// Anything else.
    Named {
        /// The step's name.
        label: String,
        /// The part of the step.
        part: String,
        /// Direction, if it has one.
        direction: String,
    },
}

impl CellKey {
    /// The key of a cell.
    pub fn of(cell: &Cell) -> Self {
        let from_workload = cell.workload.as_ref().and_then(|workload| of_workload(workload, cell.direction));
        let from_import = || cell.imported.as_ref().and_then(|imported| of_import(imported, cell.direction));
        from_workload.or_else(from_import).unwrap_or_else(|| Self::Named {
            label: cell.label.clone(),
            part: cell.part.clone(),
            direction: cell.direction.map_or("", Direction::word).to_owned(),
        })
    }
}

fn of_workload(workload: &Workload, direction: Option<Direction>) -> Option<CellKey> {
    let [block] = workload.block_sizes.as_slice() else { return None };
    let sequential = match workload.pattern {
        Pattern::Sequential | Pattern::Interleaved => true,
        // Whether a block may come twice is told apart by no tool's printed name.
        Pattern::Random | Pattern::Permutation => false,
        // Some blocks far more often than others: a workload of its own.
        Pattern::Zipf { .. } => return None,
    };
    if workload.open_loop.is_some() || workload.rewrite_every_reads.is_some() {
        return None;
    }
    Some(CellKey::Io {
        sequential,
        block_bytes: u64::from(block.size_bytes),
        iodepth: workload.iodepth,
        threads: workload.threads,
        direction: direction_word(direction?, Some(f64::from(workload.read_percent))),
    })
}

fn of_import(imported: &ImportedCell, direction: Option<Direction>) -> Option<CellKey> {
    Some(CellKey::Io {
        sequential: imported.sequential?,
        block_bytes: imported.block_bytes?,
        iodepth: imported.iodepth?,
        threads: imported.threads?,
        direction: direction_word(direction?, imported.read_percent),
    })
}

fn direction_word(direction: Direction, read_percent: Option<f64>) -> String {
    match (direction, read_percent) {
        (Direction::Mix, Some(percent)) => format!("mix {percent:.0}"),
        (direction, _) => direction.word().to_owned(),
    }
}

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
