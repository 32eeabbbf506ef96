//! Figures of a cell, accumulated run by run.

use super::differ::Watch;
use super::runs::RunFacts;
use super::{Group, PivotFigure};
use crate::{fairness::Fact, key::CellName};
use kurabe_core::digest::Summary;
use kurabe_stats::summary_half_width;
use std::collections::HashMap;

/// A cell during accumulation.
pub(super) struct Gathered<'a> {
    pub(super) name: &'a CellName,
    /// A run that has it.
    pub(super) line: &'a RunFacts<'a>,
    pub(super) sums: HashMap<usize, Sum>,
}

impl Gathered<'_> {
    pub(super) fn finish(self, watch: &Watch, apart: &[Fact]) -> Group {
        let apart = apart.iter().map(|fact| watch.sign(*fact, self.line.fact(*fact))).collect();
        let mut figures: Vec<PivotFigure> =
            self.sums.into_iter().map(|(place, sum)| sum.finish(place)).collect();
        figures.sort_by_key(|figure| figure.place);
        Group { cell: self.name.clone(), apart, figures }
    }
}

/// Accumulated figures of a cell at a place (Chan, Golub and LeVeque, "Updating formulae and a
/// pairwise algorithm for computing sample variances", 1979).
#[derive(Default)]
pub(super) struct Sum {
    count: u32,
    mean: f64,
    squares: f64,
    first: Option<Summary>,
    measured: bool,
}

impl Sum {
    /// Adds the figure of a cell in a run, or in all runs that are pooled with it.
    pub(super) fn add(&mut self, cell_index: usize, line: &RunFacts<'_>) {
        let own = line.digest.figures[cell_index].1;
        let among = line.digest.among.get(cell_index).copied();
        let added = among.unwrap_or(Summary { mean: own.mean, deviation: 0.0, count: 1 });
        let (before, count) = (f64::from(self.count), f64::from(added.count));
        self.count += added.count;
        let distance = added.mean - self.mean;
        self.mean += distance * count / (before + count);
        self.squares += distance * distance * before * count / (before + count)
            + added.deviation * added.deviation * (count - 1.0);
        self.first.get_or_insert(own);
        self.measured |= line.run.model.is_none();
    }

    fn finish(self, place: usize) -> PivotFigure {
        let among = Summary {
            mean: self.mean,
            deviation: (self.squares / f64::from(self.count.max(2) - 1)).sqrt(),
            count: self.count,
        };
        let single = self.first.filter(|_| self.count == 1);
        let shown = single.unwrap_or(among);
        PivotFigure {
            place,
            run_count: self.count,
            mean: shown.mean,
            deviation: shown.deviation,
            half_width: summary_half_width(&shown)
                .filter(|half_width| self.measured || !is_nothing(*half_width, shown.mean)),
            repetition_count: single.map(|summary| summary.count),
            compared: None,
            modelled: !self.measured,
        }
    }
}

/// Returns whether a deviation is no more than the rounding error in a mean of equal values.
pub(super) fn is_nothing(scatter: f64, mean: f64) -> bool {
    scatter <= mean.abs() * 1e-12
}
