//! The cells of all runs of a report as one table: a row for each cell, an entry for each run that
//! has it.
//!
//! The model: cells are matched as in a comparison. The cells of the first run, the baseline, come
//! first in their order, followed by those that only other runs have. A single run shows its
//! profile's statistic. Several runs show the mean of the repetitions, because their ratio is based
//! on it.

use super::Report;
use crate::compare::facts::note;
use crate::run::figures::Figures;
use crate::words;
use kurabe_compare::{CellKey, CellName, ComparedCell, values};
use kurabe_core::number::{self, Figure};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, text};
use kurabe_stats::{Compared, Stutter, mean, stutter};
use std::collections::HashMap;

/// A cell of one run.
pub(super) struct RunCell<'a> {
    /// The figures of the cell.
    pub(super) figures: Figures<'a>,
    /// Number of values by which runs are compared, and their mean, in bytes per second or ns.
    pub(super) compared_values: usize,
    pub(super) mean: Option<f64>,
    /// The displayed figure, in the same unit.
    pub(super) value: Option<f64>,
    /// The stutter, if kurabe measured it.
    pub(super) stutter: Option<Stutter>,
    /// Comparison with the baseline. `None` for the baseline itself.
    pub(super) against: Option<&'a ComparedCell>,
}

/// A cell of several runs.
pub(super) struct CellRow<'a> {
    /// Key of the cell.
    pub(super) key: CellKey,
    /// Measure of the figures.
    pub(super) measure: Measure,
    /// Name in the first run that has the cell.
    pub(super) name: Text,
    /// Entries in the order of the runs.
    pub(super) entries: Vec<Option<RunCell<'a>>>,
}

impl<'a> CellRow<'a> {
    /// Returns a value of this row with its unit.
    pub(super) fn figure(&self, value: f64) -> Figure {
        number::measured(self.measure, value)
    }

    /// Returns the comparison of a run's entry with the baseline's.
    pub(super) fn compared(&self, index: usize) -> Option<&'a Compared> {
        self.entries.get(index)?.as_ref()?.against?.compared.as_ref()
    }
}

impl Report<'_> {
    /// Returns the rows. Each run but the first is compared with the first.
    pub(super) fn rows(&self) -> Vec<CellRow<'_>> {
        let mut rows: Vec<CellRow<'_>> = Vec::new();
        let mut places: HashMap<(CellKey, Measure), usize> = HashMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            let pair = index.checked_sub(1).and_then(|index| self.pairs.get(index));
            let compared = pair.iter().flat_map(|pair| &pair.cells);
            let compared: HashMap<(&CellKey, Measure), &ComparedCell> =
                compared.map(|one| ((&one.name.key, one.name.measure), one)).collect();
            for (cell, named) in run.cells.iter().zip(CellName::of_run(run)) {
                let against = compared.get(&(&named.key, cell.measure)).copied();
                let entry = entry(run, cell, against, self.runs.len() > 1);
                let place = *places.entry((named.key.clone(), cell.measure)).or_insert(rows.len());
                if place == rows.len() {
                    let (name, note) = (words::cell(cell), note(&named.key, &named.label));
                    let name = text!("{name}{note}", "{name}{note}"; name, note);
                    let entries = self.runs.iter().map(|_| None).collect();
                    rows.push(CellRow { key: named.key, measure: cell.measure, name, entries });
                }
                rows[place].entries[index] = Some(entry);
            }
        }
        rows
    }
}

fn entry<'a>(
    run: &RunRecord,
    cell: &'a Cell,
    against: Option<&'a ComparedCell>,
    of_several: bool,
) -> RunCell<'a> {
    let statistic = run.header.statistic();
    let figures = Figures::of(cell, statistic);
    let all = values(cell);
    let mean = (!all.is_empty()).then(|| mean(&all));
    let of_statistic = figures.main.filter(|_| !of_several && cell.imported.is_none());
    let value = of_statistic.or(mean).filter(|value| value.is_finite());
    let stutter = stutter(cell).filter(|_| cell.imported.is_none());
    RunCell { figures, compared_values: all.len(), mean, value, stutter, against }
}
