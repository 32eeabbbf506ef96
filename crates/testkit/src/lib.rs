//! Records for the tests of every crate: parts with default values (here), complete realistic runs
//! (`ssd`, `kinds`, `stories`), the samples in the store's fixtures (`sample`), and arbitrary
//! records (`any_record`). Values that a test does not set are the defaults of these functions.
//! Pure data is read from the folder `records`.
//!
//! The crate also has a browser (`browser`), a PostgreSQL server (`postgres`), and the record of
//! tests that cannot run on this machine (`needs`), which `core` uses as well.
#![allow(missing_docs, reason = "a function of the kit says by its name which record it makes")]

mod any_record;
pub mod browser;
pub mod kinds;
pub mod needs;
pub mod postgres;
pub mod sample;
mod sampling;
pub mod ssd;
pub mod stories;

pub use any_record::any_record;
#[cfg(feature = "schema")]
pub use jsonschema;
pub use sampling::{all_is_tested, cases, sampled};

use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::model::ParameterRecord;
use kurabe_core::profile::{Task, TaskCell};
use kurabe_core::record::{Cell, OpsRecord, Repetition};
use kurabe_core::workload::{Data, Direction, End, Pattern, Workload};

/// Returns a workload of random reads of 4 KiB, one at a time, once over 4 MiB.
pub fn workload() -> Workload {
    Workload {
        data: Data::Random,
        seed: 7,
        ..Workload::plain(Pattern::Random, 4096, 4 << 20)
            .with(|access| access.end = End { passes: Some(1), ..End::default() })
    }
}

/// Returns a cell of rates without repetitions.
pub fn cell(label: &str, direction: Option<Direction>) -> Cell {
    Cell {
        part: direction.map_or("", Direction::word).to_owned(),
        label: label.to_owned(),
        direction,
        ..Cell::default()
    }
}

/// Returns the cell that a task plans, without repetitions.
pub fn planned_cell(task: &Task, plan: &TaskCell) -> Cell {
    Cell {
        step_index: task.step_index as u32,
        part: plan.part.clone(),
        measure: plan.measure,
        workload: task.workload().cloned(),
        ..cell(&plan.label, plan.direction)
    }
}

/// Returns the only cell of a step of an imported run.
pub fn imported_cell(index: u32, label: &str, direction: Option<Direction>, imported: ImportedCell) -> Cell {
    Cell { index, step_index: index, part: String::new(), imported: Some(imported), ..cell(label, direction) }
}

pub fn repetition(index: u32, elapsed_ns: u64) -> Repetition {
    Repetition { index, seed: 7, elapsed_ns, ..Repetition::default() }
}

/// Returns operations that all succeeded, without latencies.
pub fn moved(operations: u64, bytes: u64) -> OpsRecord {
    OpsRecord { submitted: operations, completed: operations, bytes, ..OpsRecord::default() }
}

pub fn figure(
    quantity: Quantity,
    statistic: PrintedStatistic,
    value: f64,
    printed: &str,
    unit: &str,
) -> PrintedFigure {
    PrintedFigure {
        quantity,
        statistic,
        value,
        printed: printed.to_owned(),
        unit_printed: unit.to_owned(),
        correction: None,
        of: None,
    }
}

/// Qualifies a figure beyond its quantity.
pub fn figure_of(of: FigureOf, figure: PrintedFigure) -> PrintedFigure {
    PrintedFigure { of: Some(of), ..figure }
}

pub fn parameter(key: &str, value: &str, source: &str, changed: bool) -> ParameterRecord {
    ParameterRecord { key: key.to_owned(), value: value.to_owned(), source: source.to_owned(), changed }
}
