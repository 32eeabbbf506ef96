//! Parameters that distinguish the cells of a run, for sweeps and heat maps.

use kurabe_core::profile::Step;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_explain::SweepAxis;
use std::collections::BTreeSet;

/// Minimum number of different values that form a sweep.
pub(super) const SWEEP: usize = 3;

/// Axes of a sweep.
pub(super) const AXES: [SweepAxis; 3] = [SweepAxis::WorkingSet, SweepAxis::BlockSize, SweepAxis::QueueDepth];

/// A cell by its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CellShape {
    span_bytes: Option<u64>,
    block_bytes: Option<u64>,
    iodepth: Option<u64>,
    /// All other parameters that distinguish the cell.
    pub(super) rest: Rest,
}

/// Parameters that are constant along a line of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rest {
    measure: Measure,
    pub(super) direction: String,
    pub(super) order: &'static str,
    threads: Option<u32>,
}

impl CellShape {
    /// Returns the parameters of a cell. `None` for a cell that is not a repeated operation.
    pub(super) fn of(run: &RunRecord, cell: &Cell) -> Option<Self> {
        let rest = |order, threads| Rest {
            measure: cell.measure,
            direction: cell.direction.map_or_else(|| cell.part.clone(), |given| given.word().to_owned()),
            order,
            threads,
        };
        let (span_bytes, block_bytes, iodepth, rest) = if let Some(imported) = &cell.imported {
            let order = match imported.sequential {
                Some(true) => "sequential",
                Some(false) => "random",
                None => "",
            };
            (None, imported.block_bytes, imported.iodepth.map(u64::from), rest(order, imported.threads))
        } else if let Some(workload) = &cell.workload {
            let [block] = workload.block_sizes.as_slice() else { return None };
            let rest = rest(workload.pattern.word(), Some(workload.threads));
            let (block_bytes, iodepth) = (u64::from(block.size_bytes), u64::from(workload.iodepth));
            (Some(workload.span_bytes), Some(block_bytes), Some(iodepth), rest)
        } else {
            let steps = &run.header.profile.as_ref()?.steps;
            let Step::Copy(copy) = steps.get(cell.step_index as usize)? else { return None };
            let rest = Rest { direction: cell.part.clone(), ..rest("", None) };
            (None, Some(u64::from(copy.chunk_bytes)), None, rest)
        };
        Some(Self { span_bytes, block_bytes, iodepth, rest })
    }

    /// Returns the value on an axis.
    pub(super) fn get(&self, axis: SweepAxis) -> Option<u64> {
        match axis {
            SweepAxis::WorkingSet => self.span_bytes,
            SweepAxis::BlockSize => self.block_bytes,
            SweepAxis::QueueDepth => self.iodepth,
            // This is the progress within one cell and doesn't distinguish cells.
            SweepAxis::BytesWritten => None,
        }
    }

    /// Checks whether two cells differ only on these axes.
    pub(super) fn alike_but(&self, other: &Self, but: &[SweepAxis]) -> bool {
        let same = |axis: &SweepAxis| but.contains(axis) || self.get(*axis) == other.get(*axis);
        self.rest == other.rest && AXES.iter().all(same)
    }
}

/// Returns the cells of a run with their shapes.
pub(super) fn shapes(run: &RunRecord) -> Vec<(&Cell, CellShape)> {
    run.cells.iter().filter_map(|cell| Some((cell, CellShape::of(run, cell)?))).collect()
}

/// Groups cells into families whose members differ only on these axes, in the order of their first
/// member.
pub(super) fn families<'a>(
    cells: &[(&'a Cell, CellShape)],
    but: &[SweepAxis],
) -> Vec<Vec<(&'a Cell, CellShape)>> {
    let mut families: Vec<Vec<(&Cell, CellShape)>> = Vec::new();
    for (cell, shape) in cells {
        match families.iter_mut().find(|family| family[0].1.alike_but(shape, but)) {
            Some(family) => family.push((cell, shape.clone())),
            None => families.push(vec![(cell, shape.clone())]),
        }
    }
    families
}

/// Returns the distinct values of cells on an axis, in ascending order.
pub(super) fn distinct(cells: &[(&Cell, CellShape)], axis: SweepAxis) -> Vec<u64> {
    let mut values: Vec<u64> = cells.iter().filter_map(|(_, shape)| shape.get(axis)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Checks whether cells fill enough of the plane of two axes to form a map instead of a crossing
/// row and column.
pub(super) fn fill_plane(cells: &[(&Cell, CellShape)], one: SweepAxis, two: SweepAxis) -> bool {
    let places: BTreeSet<_> = cells.iter().map(|(_, shape)| (shape.get(one), shape.get(two))).collect();
    let (columns, rows) = (distinct(cells, one).len(), distinct(cells, two).len());
    columns >= SWEEP && rows >= SWEEP && places.len() * 2 >= columns * rows
}
