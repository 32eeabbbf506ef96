//! Joins results that another tool reports in parts: the reads and the writes of a mix, the threads
//! of a job.
//!
//! The record contains the figures as printed. For a comparison, parts are added up to the cell of
//! a tool that reports the work as a whole: the total data divided by the longest time, or the sum
//! of the rates if a tool reports neither.

use kurabe_core::imported::{ImportedCell, Quantity};
use kurabe_core::{record::Cell, workload::Direction};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// The cells of a run, followed by the sums of parts among them.
pub(crate) struct Joined<'r> {
    pub(crate) cells: Cow<'r, [Cell]>,
    /// For each sum, the indices of its parts.
    pub(crate) parts: Vec<Vec<usize>>,
}

impl<'r> Joined<'r> {
    pub(crate) fn of(cells: &'r [Cell]) -> Self {
        let mut groups: BTreeMap<(&str, Option<u32>), Vec<usize>> = BTreeMap::new();
        let mixes = cells.iter().filter(|cell| cell.direction == Some(Direction::Mix));
        let mixes: HashSet<(&str, u32)> = mixes.map(|cell| (cell.label.as_str(), cell.step_index)).collect();
        for (place, cell) in cells.iter().enumerate() {
            let Some(imported) = &cell.imported else { continue };
            let is_thread = imported.one_of_threads.is_some();
            let has_mix = || mixes.contains(&(cell.label.as_str(), cell.step_index));
            // If the tool also reports the mix, nothing has to be added up.
            if is_thread || is_half(cell, imported) && !has_mix() {
                // A second thread has a separate step.
                let step = (!is_thread).then_some(cell.step_index);
                groups.entry((&cell.label, step)).or_default().push(place);
            }
        }
        let whole = |parts: Vec<usize>| {
            Some((whole(&parts.iter().map(|place| &cells[*place]).collect::<Vec<_>>())?, parts))
        };
        let (wholes, parts): (Vec<Cell>, _) = groups.into_values().filter_map(whole).unzip();
        let cells =
            if wholes.is_empty() { Cow::Borrowed(cells) } else { Cow::Owned([cells, &wholes].concat()) };
        Self { cells, parts }
    }

    /// Returns the indices of the cells that are not part of another.
    pub(crate) fn entire(&self) -> impl Iterator<Item = usize> {
        let parts: HashSet<usize> = self.parts.iter().flatten().copied().collect();
        (0..self.cells.len()).filter(move |place| !parts.contains(place))
    }
}

/// Returns whether the cell is the reads or the writes of a mix.
fn is_half(cell: &Cell, imported: &ImportedCell) -> bool {
    let is_mixed = imported.read_percent.is_some_and(|percent| percent > 0.0 && percent < 100.0);
    is_mixed && cell.direction != Some(Direction::Mix)
}

/// Returns the sum of parts, or `None` if one is missing.
fn whole(parts: &[&Cell]) -> Option<Cell> {
    let (first, imported) = (parts.first()?, parts.first()?.imported.as_ref()?);
    let apart = imported.one_of_threads;
    let threads = apart.or(imported.threads)?;
    let each = apart.unwrap_or(1) as usize;
    let count = |direction| parts.iter().filter(|part| part.direction == Some(direction)).count();
    let direction = match [count(Direction::Read), count(Direction::Write)] {
        [reads, writes] if is_half(first, imported) => {
            (reads == each && writes == each).then_some(Direction::Mix)?
        }
        [count, 0] | [0, count] => first.direction.filter(|_| count == each)?,
        _ => return None,
    };
    let figure = |part: &&Cell, quantity: Quantity| -> Option<f64> {
        let figures = &part.imported.as_ref()?.figures;
        figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
    };
    let sum = |quantity| parts.iter().map(|part| figure(part, quantity)).sum::<Option<f64>>();
    let times_ns: Option<Vec<f64>> = parts.iter().map(|part| figure(part, Quantity::Duration)).collect();
    let longest_ns = times_ns.and_then(|times_ns| times_ns.into_iter().max_by(f64::total_cmp));
    let moved = sum(Quantity::Bytes).zip(longest_ns).map(|(bytes, ns)| bytes * 1e9 / ns);
    let value = moved.filter(|rate| rate.is_finite()).or_else(|| sum(Quantity::Rate))?;
    let mut cell = (*first).clone();
    cell.label = cell.label.replace(&format!(" one of {threads} threads"), &format!(" T{threads}"));
    (cell.direction, cell.part) = (Some(direction), direction.word().to_owned());
    if let Some(imported) = &mut cell.imported {
        (imported.threads, imported.one_of_threads) = (Some(threads), None);
        imported.figures.retain(|figure| figure.quantity == Quantity::Rate);
        imported.figures.truncate(1);
        imported.figures.iter_mut().for_each(|figure| figure.value = value);
    }
    Some(cell)
}
