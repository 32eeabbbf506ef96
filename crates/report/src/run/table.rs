//! The figures of a run's cells without a layout: a row for each cell, with its figures and the
//! kind of table in which a terminal shows it.

use super::figures::Figures;
use kurabe_core::profile::{CopyPart, PrintedUnit};
use kurabe_core::record::{Cell, Measure, RunRecord};
use std::collections::BTreeSet;

/// The kind of table in which a terminal shows a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TableKind {
    /// Steps down, directions across.
    Grid,
    /// Cells of another tool, one per row.
    List,
    /// Replayed traces.
    Replay,
    /// Times, and cells that are neither reads nor writes: copies, programs.
    Times,
    /// A sweep of copies.
    Copies,
}

/// The cells of a run with their figures.
pub(crate) struct RunTable<'a> {
    /// The tool's unit of rates, if it differs from kurabe's.
    pub(crate) as_printed: Option<&'a PrintedUnit>,
    rows: Vec<(TableKind, Figures<'a>)>,
}

impl<'a> RunTable<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> Self {
        let statistic = record.header.statistic();
        let figures = record.cells.iter().map(|cell| Figures::of(cell, statistic));
        Self {
            as_printed: record.header.profile.as_ref().and_then(|profile| profile.as_printed.as_ref()),
            rows: kinds(&record.cells).into_iter().zip(figures).collect(),
        }
    }

    /// Returns the figures of all cells, in the order of the record.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Figures<'a>> {
        self.rows.iter().map(|(_, figures)| figures)
    }

    /// Returns the figures of the cells in tables of a kind.
    pub(crate) fn of_kind(&self, kind: TableKind) -> Vec<&Figures<'a>> {
        self.rows.iter().filter(|(other, _)| *other == kind).map(|(_, figures)| figures).collect()
    }
}

/// Minimum number of copies that form a sweep.
const SWEEP: usize = 3;

/// Returns the kind of table for each cell.
///
/// Imported cells without a direction are in a list. If no step has two directions, all imported
/// cells are in the list, because a grid with a column for each direction would be mostly empty.
pub(crate) fn kinds(cells: &[Cell]) -> Vec<TableKind> {
    let directed = || cells.iter().filter(|cell| cell.imported.is_some() && cell.direction.is_some());
    let steps: BTreeSet<(u32, &str)> =
        directed().map(|cell| (cell.step_index, cell.label.as_str())).collect();
    let has_pairs = steps.len() < directed().count();
    let is_copy = |cell: &Cell| {
        let is_part = CopyPart::ALL.iter().any(|part| part.word() == cell.part);
        cell.imported.is_none() && cell.measure == Measure::Duration && is_part
    };
    let copies: BTreeSet<u32> =
        cells.iter().filter(|cell| is_copy(cell)).map(|cell| cell.step_index).collect();
    let kind = |cell: &Cell| match cell.direction {
        Some(_) if cell.imported.is_some() && has_pairs => TableKind::Grid,
        _ if cell.imported.is_some() => TableKind::List,
        _ if cell.workload.is_none() && cell.part == "replay" => TableKind::Replay,
        _ if is_copy(cell) && copies.len() >= SWEEP => TableKind::Copies,
        Some(_) if cell.measure != Measure::Duration => TableKind::Grid,
        _ => TableKind::Times,
    };
    cells.iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::imported::ImportedCell;
    use kurabe_core::workload::Direction;

    fn cell(direction: Option<Direction>) -> Cell {
        Cell {
            index: 0,
            step_index: 0,
            label: "dd 1 MiB".to_owned(),
            part: String::new(),
            direction,
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions: Vec::new(),
            imported: Some(ImportedCell::default()),
        }
    }

    #[test]
    fn a_cell_without_a_direction_never_stands_under_one() {
        let (read, write, none) = (cell(Some(Direction::Read)), cell(Some(Direction::Write)), cell(None));
        // A write and a cell of unknown direction: the heading of a single column would cover both.
        assert_eq!(kinds(&[write.clone(), none.clone()]), [TableKind::List; 2]);
        // Two directions of a step are side by side, with cells without a direction below them.
        assert_eq!(kinds(&[read, write, none]), [TableKind::Grid, TableKind::Grid, TableKind::List]);
    }
}
