//! Which cells of two runs are the same, and what they are compared by.
//!
//! The model: a workload is what it does, not what its profile calls it, so a cell of `cdm-9` and one that
//! CrystalDiskMark printed meet where pattern, block size, queue depth, threads and direction are the same. All other
//! cells meet by their label and part. Repetitions are the unit: a repetition that sampled the target counts once, by the
//! mean of its samples. A printed figure of another tool is one value, of which no spread is known.

use kurabe_core::imported::{ImportedCell, Quantity};
use kurabe_core::record::{Cell, Measure, Repetition};
use kurabe_core::workload::{Direction, Pattern, Workload};
use kurabe_stats::repetition_values;
use serde::Serialize;

/// What a cell is, for finding its like in another run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
        Pattern::Sequential => true,
        Pattern::Random => false,
        // Other orders are workloads of their own.
        _ => return None,
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

/// The main figure of an imported cell.
fn printed(imported: &ImportedCell, measure: Measure) -> Option<f64> {
    let wanted: &[Quantity] = match measure {
        Measure::Rate => &[Quantity::Rate],
        Measure::AccessTime => &[Quantity::Latency],
        Measure::Duration => &[Quantity::Duration],
    };
    let direct =
        imported.figures.iter().find(|figure| wanted.contains(&figure.quantity)).map(|figure| figure.value);
    let from_operations = || {
        let operations = imported.figures.iter().find(|figure| figure.quantity == Quantity::Iops)?;
        (measure == Measure::Rate).then_some(operations.value * imported.block_bytes? as f64)
    };
    direct.or_else(from_operations)
}
