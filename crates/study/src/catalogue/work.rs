//! The work behind a published figure, and the work of a run's cell. The two are matched by their
//! properties, because every tool and data sheet names its tests differently.
//!
//! Direction and order must be equal, and so must every other property that the source states. A
//! sheet without a block size means large blocks for sequential I/O; one without a depth means the
//! best depth.

use super::table::PublishedTable;
use kurabe_core::profile::{Formula, FormulaUnit, Name, Profile, Statistic, Task};
use kurabe_core::quantity::{KIB, parse_bytes};
use kurabe_core::record::{Cell, Measure};
use kurabe_core::workload::{Direction, Workload};
use kurabe_core::{Result, Value, text};
use kurabe_stats::figure_in;

/// Smallest block size that counts as large: the cost per operation is small from here on.
const LARGE_BYTES: u64 = 128 * KIB;

/// Work that a rate was measured with: that of a column or of a run's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateWork {
    /// Reads or writes.
    pub direction: Direction,
    /// Whether offsets ascend.
    pub sequential: bool,
    /// Block size, if known.
    pub block_bytes: Option<u64>,
    /// Fewest and most operations in flight, if known; equal for a cell.
    pub in_flight: Option<(u64, u64)>,
}

impl RateWork {
    /// Reads `{ order = "random", direction = "read", block = "4 KiB", in_flight = 1 }`;
    /// `in_flight = [32, 1024]` is a range.
    pub(super) fn read(value: &Value<'_>) -> Result<Self> {
        let table = value.table(&["order", "direction", "block", "in_flight"])?;
        let in_flight = |value: &Value<'_>| -> Result<(u64, u64)> {
            let depth = |value: &Value<'_>| value.integer(1..=1 << 20);
            if !value.is_array() {
                return depth(value).map(|depth| (depth, depth));
            }
            match value.elements().as_slice() {
                [least, most] => Ok((depth(least)?, depth(most)?)),
                _ => Err(value.error(&text!("a range has two values", "範囲は 2 つの値で書きます"))),
            }
        };
        Ok(Self {
            direction: table
                .require("direction")?
                .choice(&[("read", Direction::Read), ("write", Direction::Write)])?,
            sequential: table.require("order")?.choice(&[("sequential", true), ("random", false)])?,
            block_bytes: table.read("block", |value| value.parsed(parse_bytes))?,
            in_flight: table.read("in_flight", in_flight)?,
        })
    }

    /// Returns the work that a column's formula names in its table's profile, if it is one figure
    /// of one workload.
    pub(super) fn of_figure(figure: &Formula, table: &PublishedTable) -> Option<Self> {
        let [name] = figure.names()[..] else { return None };
        let profile = table.profile()?;
        let tasks = profile.tasks(profile.rules.size_bytes);
        let task = task_of(&tasks, &profile, name)?;
        let workload = task.workload()?;
        let direction = task.cells.iter().find(|cell| cell.part == name.part)?.direction?;
        Self::of_workload(workload, direction)
    }

    /// Returns whether a cell did this work.
    pub(crate) fn is_done_by(&self, cell: &Self) -> bool {
        let block = match (self.block_bytes, cell.block_bytes) {
            (Some(one), Some(two)) => one == two,
            (None, Some(bytes)) => !self.sequential || bytes >= LARGE_BYTES,
            // A tool that states no block size for sequential work uses large blocks as well.
            (_, None) => self.sequential,
        };
        let depth = self.in_flight.is_none_or(|(least, most)| {
            cell.in_flight.is_none_or(|(depth, _)| (least..=most).contains(&depth))
        });
        self.direction == cell.direction && self.sequential == cell.sequential && block && depth
    }

    /// Returns whether both move large blocks sequentially in the same direction, with so many
    /// bytes in flight that more give no gain. Then depth and block size do not matter.
    pub(crate) fn streams_like(&self, other: &Self, saturated_at_bytes: u64) -> bool {
        let streams = |one: &Self| {
            let block_bytes = one.block_bytes.unwrap_or(LARGE_BYTES);
            let in_flight = one.in_flight.map_or(1, |(least, _)| least);
            one.sequential
                && block_bytes >= LARGE_BYTES
                && block_bytes.saturating_mul(in_flight) >= saturated_at_bytes
        };
        self.direction == other.direction && streams(self) && streams(other)
    }

    /// Returns the work of a cell.
    ///
    /// Returns `None` if the cell did not plainly read or write blocks, or if each write waited for
    /// the medium.
    pub fn of(cell: &Cell) -> Option<Self> {
        let direction = cell.direction.filter(|direction| *direction != Direction::Mix)?;
        if cell.measure != Measure::Rate {
            return None;
        }
        if let Some(workload) = &cell.workload {
            return Self::of_workload(workload, direction);
        }
        let imported = cell.imported.as_ref()?;
        let in_flight = imported.iodepth.map(|depth| in_flight(depth, imported.threads.unwrap_or(1)));
        let sequential = imported.sequential?;
        Some(Self { direction, sequential, block_bytes: imported.block_bytes, in_flight })
    }

    fn of_workload(workload: &Workload, direction: Direction) -> Option<Self> {
        if direction != Direction::Read && workload.sync.waits_for_medium() {
            return None;
        }
        let (sequential, block_bytes) = workload.plain_order()?;
        let in_flight = Some(in_flight(workload.iodepth, workload.threads));
        Some(Self { direction, sequential, block_bytes: Some(block_bytes), in_flight })
    }

    /// Returns what this work has in common with the same work at another depth, and its depth.
    ///
    /// The depth is counted in bytes in flight for sequential work, whatever the block size, and in
    /// operations otherwise.
    pub(crate) fn depth(&self) -> (WorkKind, WorkDepth) {
        let block_bytes = if self.sequential { None } else { self.block_bytes };
        let bytes = || Some(self.block_bytes?.saturating_mul(self.in_flight?.0));
        let depth = match self.sequential {
            true => bytes().map(|bytes| (bytes, bytes)),
            false => self.in_flight,
        };
        ((self.direction, self.sequential, block_bytes), depth)
    }
}

/// Direction, whether offsets ascend, and the block size where the depth is counted in operations.
pub(crate) type WorkKind = (Direction, bool, Option<u64>);
/// Fewest and most in flight, if known.
pub(crate) type WorkDepth = Option<(u64, u64)>;

/// Returns the task of a profile that measures what a formula names.
pub(super) fn task_of<'t>(tasks: &'t [Task], profile: &Profile, name: &Name) -> Option<&'t Task> {
    tasks.iter().find(|task| {
        profile.steps[task.step_index].id() == Some(&name.step)
            && task.cells.iter().any(|cell| cell.part == name.part)
    })
}

/// Returns the operations in flight of a number of threads, fewest and most.
fn in_flight(iodepth: u32, threads: u32) -> (u64, u64) {
    let depth = u64::from(iodepth).saturating_mul(u64::from(threads));
    (depth, depth)
}

/// Returns the unit of a column as used by formulas, or `None` if it is not a figure of operations.
pub(crate) fn unit_of(word: &str) -> Option<FormulaUnit> {
    Some(match word {
        "kB/s" => FormulaUnit::KilobytesPerSecond,
        "MB/s" => FormulaUnit::MegabytesPerSecond,
        "MiB/s" => FormulaUnit::MebibytesPerSecond,
        "IOPS" => FormulaUnit::Iops,
        _ => return None,
    })
}

/// Converts a figure to bytes per second; operations per second need the block size.
pub(crate) fn bytes_per_s(value: f64, unit: FormulaUnit, block_bytes: Option<u64>) -> Option<f64> {
    match unit {
        FormulaUnit::Iops => Some(value * block_bytes? as f64),
        FormulaUnit::Seconds | FormulaUnit::Milliseconds => None,
        _ => Some(value * unit.size()),
    }
}

/// Returns the rate of a cell in bytes per second: its figure by the run's statistic, or the first
/// rate that its tool printed.
pub(crate) fn rate_of(cell: &Cell, statistic: Statistic) -> Option<f64> {
    let Some(imported) = &cell.imported else {
        return figure_in(cell, statistic, FormulaUnit::KilobytesPerSecond).map(|rate| rate * 1e3);
    };
    use kurabe_core::imported::Quantity;
    let first = |quantity| imported.figures.iter().find(|figure| figure.quantity == quantity);
    let by_iops = || Some(first(Quantity::Iops)?.value * imported.block_bytes? as f64);
    first(Quantity::Rate).map(|figure| figure.value).or_else(by_iops)
}
