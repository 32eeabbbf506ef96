//! The same device and profile over time.

use crate::cells::{CellKey, values};
use crate::pair::{ComparedCell, Pair, pair};
use kurabe_core::record::{Cell, RunRecord};
use serde::Serialize;

/// Runs of one profile on one device in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// Ids of the runs, the oldest first.
    pub runs: Vec<String>,
    /// The newest run held against the oldest.
    pub change: Pair,
    /// For each cell of `change` the means of all runs, in bytes per second or ns; none where a run lacks it.
    pub courses: Vec<Vec<Option<f64>>>,
}

/// What became of a device: its runs, the oldest first; `None` for fewer than two.
pub fn history(runs: &[RunRecord], margin: f64) -> Option<History> {
    let (first, last) = (runs.first()?, runs.last()?);
    if runs.len() < 2 {
        return None;
    }
    let change = pair(first, last, margin);
    let courses =
        change.cells.iter().map(|cell| runs.iter().map(|run| mean_of(run, cell)).collect()).collect();
    Some(History { runs: runs.iter().map(|run| run.header.id.clone()).collect(), change, courses })
}

fn mean_of(run: &RunRecord, wanted: &ComparedCell) -> Option<f64> {
    let like = |cell: &&Cell| CellKey::of(cell) == wanted.key && cell.measure == wanted.measure;
    let values = values(run.cells.iter().find(like)?);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
