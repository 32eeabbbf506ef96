//! The cells of all runs of a report as one table: a row for each cell, an entry for each run that has it.
//!
//! The model: cells meet as they do in a comparison. The first run is the baseline; its cells come first and in its
//! order, then what only the others have. Of one run the figure is by its profile's statistic; of several it is the mean
//! of the repetitions, because that is what their ratio is made of.

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
    /// What it comes to.
    pub(super) figures: Figures<'a>,
    /// Values that runs are compared by, and their mean, in bytes per second or ns.
    pub(super) compared_values: usize,
    pub(super) mean: Option<f64>,
    /// The figure that is shown, in the same unit.
    pub(super) value: Option<f64>,
    /// Its stutter, if kurabe measured it.
    pub(super) stutter: Option<Stutter>,
    /// Against the baseline; nothing of the baseline itself.
    pub(super) against: Option<&'a ComparedCell>,
}

/// A cell of several runs.
pub(super) struct CellRow<'a> {
    /// What it is.
    pub(super) key: CellKey,
    /// What its figures tell.
    pub(super) measure: Measure,
    /// Its name in the first run that has it.
    pub(super) name: Text,
    /// In the order of the runs.
    pub(super) entries: Vec<Option<RunCell<'a>>>,
}

impl<'a> CellRow<'a> {
    /// A value of this row with its unit.
    pub(super) fn figure(&self, value: f64) -> Figure {
        number::measured(self.measure, value)
    }

    /// How the entry of a run compares with the baseline's.
    pub(super) fn compared(&self, index: usize) -> Option<&'a Compared> {
        self.entries.get(index)?.as_ref()?.against?.compared.as_ref()
    }
}

impl Report<'_> {
    /// The rows of its runs, of which each but the first is compared with the first.
    pub(super) fn rows(&self) -> Vec<CellRow<'_>> {
        let mut rows: Vec<CellRow<'_>> = Vec::new();
        let mut places: HashMap<(CellKey, Measure), usize> = HashMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            let pair = index.checked_sub(1).and_then(|index| self.pairs.get(index));
            let compared = pair.iter().flat_map(|pair| &pair.cells);
            let compared: HashMap<(&CellKey, Measure), &ComparedCell> =
                compared.map(|one| ((&one.key, one.measure), one)).collect();
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
