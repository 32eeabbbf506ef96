//! Finds figures in a run of another tool by the properties of its cells.
//!
//! Every tool names its cells differently. A cell matches if none of its known properties
//! (direction, order, block size, depth, threads) contradicts the work, and if its order is known;
//! without the order it could be anything.

use kurabe_core::imported::{ImportedCell, PrintedFigure, Quantity};
use kurabe_core::profile::{FormulaUnit, Work};
use kurabe_core::record::{Cell, Measure};
use kurabe_core::workload::Workload;

/// Finds the figure that a tool printed for a part of some work, with the quantity of the unit.
pub(super) fn printed_figure<'r>(
    cells: &'r [Cell],
    work: &Work,
    part: &str,
    unit: FormulaUnit,
) -> Option<&'r PrintedFigure> {
    let imported = cells.iter().filter(|cell| cell.part == part).find_map(|cell| {
        let imported = cell.imported.as_ref()?;
        is_same(cell.measure, imported, work).then_some(imported)
    })?;
    imported.figures.iter().find(|figure| fits(figure.quantity, unit))
}

fn fits(quantity: Quantity, unit: FormulaUnit) -> bool {
    match unit {
        FormulaUnit::KilobytesPerSecond
        | FormulaUnit::MegabytesPerSecond
        | FormulaUnit::MebibytesPerSecond => quantity == Quantity::Rate,
        FormulaUnit::Iops => quantity == Quantity::Iops,
        FormulaUnit::Seconds | FormulaUnit::Milliseconds => {
            matches!(quantity, Quantity::Latency | Quantity::Duration)
        }
    }
}

fn is_same(measure: Measure, cell: &ImportedCell, work: &Work) -> bool {
    match work {
        Work::Io(workloads) => {
            measure == Measure::Rate && workloads.iter().any(|workload| is_workload(cell, workload))
        }
        // Samples spread over the target are neither sequential nor random.
        Work::Positional(_) => measure == Measure::Rate && cell.sequential.is_none(),
        Work::AccessTime(_) => measure == Measure::AccessTime,
        Work::Copy(_) | Work::Command(_) | Work::Replay(_) | Work::Metadata(_) | Work::Stopwatch(_) => false,
    }
}

fn is_workload(cell: &ImportedCell, workload: &Workload) -> bool {
    let sequential = workload.pattern.is_sequential();
    let [block] = workload.block_sizes.as_slice() else { return false };
    let block_bytes = u64::from(block.size_bytes);
    cell.sequential == Some(sequential)
        && cell.block_bytes.map_or(sequential, |bytes| bytes == block_bytes)
        && cell.iodepth.is_none_or(|iodepth| iodepth == workload.iodepth)
        && cell.threads.is_none_or(|threads| threads == workload.threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_profile::profile_named;

    fn cells() -> Vec<Cell> {
        let cell = |sequential: Option<bool>, block_bytes: Option<u64>, iodepth: Option<u32>, rate: f64| {
            serde_json::json!({
                "index": 0, "step_index": 0, "label": "x", "part": "read", "measure": "rate", "direction": "read",
                "workload": null, "engine": null, "repetitions": [],
                "imported": {
                    "procedure": null, "runs": 5, "block_bytes": block_bytes, "iodepth": iodepth, "threads": null,
                    "sequential": sequential, "read_percent": null, "figures": [{
                        "quantity": "rate", "statistic": "highest", "value": rate, "printed": "1",
                        "unit_printed": "MB/s", "correction": null, "of": null,
                    }],
                },
            })
        };
        let cells = serde_json::json!([
            cell(None, Some(4096), Some(1), 1e6),
            cell(Some(true), None, None, 2e6),
            cell(Some(false), Some(512 << 10), None, 3e6),
            cell(Some(false), Some(4096), Some(32), 4e6),
            cell(Some(false), Some(4096), Some(1), 5e6),
        ]);
        serde_json::from_value(cells).unwrap()
    }

    #[test]
    fn a_cell_is_found_by_what_it_did_and_not_by_its_name_or_place() {
        let (profile, cells) = (profile_named("cdm-2").unwrap(), cells());
        let figures: Vec<Option<f64>> = profile
            .tasks(profile.rules.size_bytes)
            .iter()
            .filter(|task| task.cells[0].part == "read")
            .map(|task| {
                let unit = FormulaUnit::MegabytesPerSecond;
                printed_figure(&cells, &task.work, "read", unit).map(|figure| figure.value / unit.size())
            })
            .collect();
        assert_eq!(figures, [Some(2.0), Some(3.0), Some(5.0)]);
    }

    #[test]
    fn nothing_is_taken_for_another_quantity_or_another_part() {
        let (profile, cells) = (profile_named("cdm-2").unwrap(), cells());
        let tasks = profile.tasks(profile.rules.size_bytes);
        let figure = |part, unit| printed_figure(&cells, &tasks[0].work, part, unit);
        assert!(figure("read", FormulaUnit::Iops).is_none());
        assert!(figure("read", FormulaUnit::Seconds).is_none());
        assert!(figure("write", FormulaUnit::MegabytesPerSecond).is_none());
    }
}
