//! Gathers the figures of a question into a grid: one row for each figure, one column for each
//! choice.
//!
//! A row of a table has an id and a value on each axis. One of these identifies the choice, the
//! others identify the figure. The same figure of two choices is therefore in one row of the grid,
//! whatever order the table has.

use super::answer::{Caveat, Choice, Deciding, Grounds};
use crate::question::{Among, FigureSet, Question};
use crate::result::{CellResult, ColumnResult, PartResult, RowResult, Status};
use crate::{axis::StudyAxis, figure::Measured, published::Published};
use kurabe_compare::{Out, Recommendation, Use, recommend_cells};
use kurabe_core::random::Random;
use kurabe_core::{Text, record::Cell, text, workload::Direction};
use kurabe_stats::draw_log_mean;
use std::ops::{Deref, DerefMut};

/// Returns the measurement of a row of a part, by the indices of part and row.
pub(crate) type MeasuredRows<'a> = dyn Fn(usize, usize) -> Option<&'a Measured> + 'a;

/// Figures of the choices.
#[derive(Default)]
pub(super) struct ChoiceGrid {
    pub(super) grounds: Grounds,
    /// Limit of the use that each choice breaks.
    pub(super) outs: Vec<Option<Out>>,
    /// Share of resamples in which the order of the first two holds.
    pub(super) holds: Option<f64>,
    /// Share of resamples in which the first choice is ahead of each choice; empty without
    /// resampling.
    pub(super) behind: Vec<f64>,
    /// The repetitions of each figure on each choice.
    repeated: Vec<Vec<Vec<f64>>>,
    /// Identity of the figure in each row.
    keys: Vec<PointKey>,
}

impl Deref for ChoiceGrid {
    type Target = Grounds;

    fn deref(&self) -> &Grounds {
        &self.grounds
    }
}

impl DerefMut for ChoiceGrid {
    fn deref_mut(&mut self) -> &mut Grounds {
        &mut self.grounds
    }
}

/// Number of resamples, and the seed of their random numbers.
const DRAWS: usize = 2000;
const DRAW_SEED: u64 = 0x7374_7564;

/// Part, column, row (if an axis identifies the choice), and values on the other axes.
type PointKey = (usize, usize, Option<usize>, Vec<String>);

impl ChoiceGrid {
    /// Returns the measured values.
    pub(super) fn values(&self) -> Vec<Vec<Option<f64>>> {
        self.figures.iter().map(|figure| figure.values.clone()).collect()
    }

    /// Returns the published values.
    pub(super) fn published(&self) -> Vec<Vec<Option<f64>>> {
        self.figures.iter().map(|figure| figure.published.clone()).collect()
    }

    /// Returns the index of a figure's row, and adds the row if it does not exist.
    fn line(&mut self, key: PointKey, deciding: impl FnOnce() -> Deciding) -> usize {
        self.keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.repeated.push(vec![Vec::new(); self.choices.len()]);
            self.figures.push(deciding());
            self.figures.len() - 1
        })
    }

    /// Sets the share of resamples in which each choice is behind the first one, if every choice
    /// was measured and every figure repeated.
    pub(super) fn resample(&mut self) {
        let repeated = self.choices.iter().all(|choice| choice.real)
            && self
                .repeated
                .iter()
                .flatten()
                .all(|values| values.len() > 1 && values.iter().all(|v| *v > 0.0));
        let choices = self.choices.len();
        if !repeated || choices < 2 || self.repeated.is_empty() {
            return;
        }
        let mut worth = vec![vec![0.0; choices]; DRAWS];
        for (line, of_choices) in self.repeated.iter().enumerate() {
            let weight =
                self.figures[line].weight * if self.figures[line].less_is_better { -1.0 } else { 1.0 };
            for (choice, values) in of_choices.iter().enumerate() {
                let mut random = Random::new(DRAW_SEED, (line * choices + choice) as u64);
                worth
                    .iter_mut()
                    .for_each(|worth| worth[choice] += weight * draw_log_mean(values, &mut random));
            }
        }
        let sum = |choice: usize| worth.iter().map(|worth| worth[choice]).sum::<f64>();
        let best = (0..choices).max_by(|a, b| sum(*a).total_cmp(&sum(*b))).unwrap_or_default();
        let share = |ahead: &dyn Fn(&Vec<f64>) -> bool| {
            worth.iter().filter(|worth| ahead(worth)).count() as f64 / DRAWS as f64
        };
        self.behind = (0..choices).map(|choice| share(&|worth| worth[best] > worth[choice])).collect();
        let others = |worth: &Vec<f64>| (0..choices).all(|other| other == best || worth[best] > worth[other]);
        self.holds = Some(share(&others));
    }

    /// Records the reservations about a cell that enters the grid.
    fn note(&mut self, choice: usize, figure: &Text, cell: &CellResult) {
        if cell.value.is_none() {
            return;
        }
        if let Some(why) = &cell.unreachable {
            add_caveat(&mut self.unreached, (choice, figure.clone()), why);
        }
        if let Some(why) = cell.reason.as_ref().filter(|_| cell.status == Status::Assumed) {
            add_caveat(&mut self.assumed, (choice, figure.clone()), why);
        }
    }
}

fn add_caveat(list: &mut Vec<Caveat>, of: (usize, Text), why: &Text) {
    match list.iter_mut().find(|caveat| caveat.why == *why) {
        Some(caveat) => caveat.of.push(of),
        None => list.push(Caveat { of: vec![of], why: why.clone() }),
    }
}

/// Returns a grid with the choices and without figures.
pub(super) fn choices_only(question: &Question, parts: &[PartResult]) -> ChoiceGrid {
    let parts: Vec<&PartResult> =
        question.figures.iter().filter_map(|set| part_of(parts, &set.part)).collect();
    let choices: Vec<Choice> = match &question.among {
        Among::Rows(ids) => ids.iter().map(|id| row_choice(id, &parts)).collect(),
        Among::Axis { parameter, .. } => {
            let axis =
                |part: &&PartResult| part.axes.iter().find(|axis| axis.parameter == *parameter).cloned();
            let values = parts.iter().find_map(axis).map(|axis: StudyAxis| axis.values).unwrap_or_default();
            values
                .into_iter()
                .map(|value| Choice { name: Text::same(value.clone()), key: value, real: false })
                .collect()
        }
    };
    let outs = vec![None; choices.len()];
    ChoiceGrid { grounds: Grounds { choices, ..Grounds::default() }, outs, ..ChoiceGrid::default() }
}

fn part_of<'p>(parts: &'p [PartResult], id: &str) -> Option<&'p PartResult> {
    parts.iter().find(|part| part.id == id)
}

fn row_choice(id: &str, parts: &[&PartResult]) -> Choice {
    let row = parts.iter().flat_map(|part| &part.rows).find(|row| row.id.as_deref() == Some(id));
    Choice {
        key: id.to_owned(),
        name: row.map_or_else(|| Text::same(id), |row| row.label.clone()),
        real: row.is_some_and(|row| row.path.is_some()),
    }
}

/// Gathers the figures of a question from columns of tables.
pub(super) fn gather(question: &Question, parts: &[PartResult]) -> ChoiceGrid {
    let mut grid = choices_only(question, parts);
    let mut added = Vec::new();
    for set in &question.figures {
        let Some(place) = parts.iter().position(|part| part.id == set.part) else { continue };
        for (index, row) in parts[place].rows.iter().enumerate() {
            added.extend(add_row(&mut grid, question, set, (place, &parts[place]), (index, row)));
        }
    }
    tell_apart(&mut grid, parts);
    for (choice, line, cell) in added {
        let figure = grid.figures[line].name.clone();
        grid.note(choice, &figure, cell);
        grid.count += usize::from(cell.value.is_some());
        grid.calibrated += usize::from(cell.value.is_some() && cell.status == Status::Calibrated);
    }
    grid
}

/// Adds the figures of a row to the grid if it belongs to a choice. Returns the choice and the grid
/// row of each.
fn add_row<'p>(
    grid: &mut ChoiceGrid,
    question: &Question,
    set: &FigureSet,
    (place, part): (usize, &'p PartResult),
    (index, row): (usize, &'p RowResult),
) -> Vec<(usize, usize, &'p CellResult)> {
    let mut added = Vec::new();
    let Some((choice, base, rest)) = choice_of(&grid.choices, &question.among, part, index, row) else {
        return added;
    };
    for (column, of) in part.columns.iter().enumerate().filter(|(_, of)| set.columns.contains(&of.key)) {
        let cell = &row.cells[column];
        let count = grid.choices.len();
        let name = || figure_name(row, of, base.is_some(), &rest);
        let line = grid.line((place, column, base, rest.clone()), || deciding(of, set.weight, name(), count));
        grid.figures[line].values[choice] = cell.value;
        grid.figures[line].published[choice] = published(cell);
        grid.repeated[line][choice].clone_from(&cell.repeated);
        grid.changed |= row.changed;
        added.push((choice, line, cell));
    }
    added
}

/// Returns the choice that a row belongs to, the index of the row itself if an axis identifies the
/// choice, and its values on the other axes.
fn choice_of(
    choices: &[Choice],
    among: &Among,
    part: &PartResult,
    index: usize,
    row: &RowResult,
) -> Option<(usize, Option<usize>, Vec<String>)> {
    let of_key = |key: &str| choices.iter().position(|choice| choice.key == key);
    match among {
        Among::Rows(_) => Some((of_key(row.id.as_deref()?)?, None, row.values.clone())),
        Among::Axis { parameter, rows } => {
            if !rows.is_empty() && !row.id.as_ref().is_some_and(|id| rows.contains(id)) {
                return None;
            }
            let axis = part.axes.iter().position(|axis| axis.parameter == *parameter)?;
            let of_row: usize = part.axes.iter().map(|axis| axis.values.len()).product();
            let others = row.values.iter().enumerate().filter(|(place, _)| *place != axis);
            let rest = others.map(|(_, value)| value.clone()).collect();
            Some((of_key(row.values.get(axis)?)?, Some(index / of_row.max(1)), rest))
        }
    }
}

fn deciding(column: &ColumnResult, weight: f64, name: Text, choices: usize) -> Deciding {
    Deciding {
        name,
        unit: column.unit.clone(),
        decimals: column.decimals,
        weight,
        less_is_better: column.less_is_better,
        values: vec![None; choices],
        published: vec![None; choices],
    }
}

/// Returns a published figure as one number: the middle of a range, or the bound if only one is
/// given. `None` if the figure cannot be right.
fn published(cell: &CellResult) -> Option<f64> {
    let Published { low, high, .. } = cell.published.filter(|_| cell.anomaly.is_none())?;
    Some(high.map_or(low, |high| (low + high) / 2.0))
}

/// Builds a name like `cache on, 1 MiB read, 64 KiB`.
fn figure_name(row: &RowResult, column: &ColumnResult, with_row: bool, rest: &[String]) -> Text {
    let row = with_row.then(|| row.label.clone());
    let rest = rest.iter().map(|value| Text::same(value.clone()));
    Text::list(row.into_iter().chain([column.name.clone()]).chain(rest))
}

/// Prefixes names that several figures share with the title of their table.
fn tell_apart(ChoiceGrid { grounds, keys, .. }: &mut ChoiceGrid, parts: &[PartResult]) {
    let names: Vec<Text> = grounds.figures.iter().map(|figure| figure.name.clone()).collect();
    for (place, (figure, key)) in grounds.figures.iter_mut().zip(keys).enumerate() {
        let shared = names.iter().enumerate().any(|(other, name)| other != place && *name == figure.name);
        if shared {
            figure.name = Text::list([parts[key.0].title.clone(), figure.name.clone()]);
        }
    }
}

/// Builds the grid of a use, with its parts as figures, as in `kurabe recommend`.
///
/// Returns `None` if rows are missing, occur at several values of an axis, or have no work in
/// common with the use.
pub(super) fn for_use(
    question: &Question,
    purpose: &Use,
    parts: &[PartResult],
    of_rows: &MeasuredRows<'_>,
) -> Option<ChoiceGrid> {
    let mut grid = choices_only(question, parts);
    let place = parts.iter().position(|part| question.parts().next() == Some(part.id.as_str()))?;
    let mut measured: Vec<&[Cell]> = Vec::new();
    for (place_of_choice, choice) in grid.choices.clone().iter().enumerate() {
        let of_choice = |row: &&(usize, &RowResult)| row.1.id.as_ref() == Some(&choice.key);
        let rows: Vec<(usize, &RowResult)> = parts[place].rows.iter().enumerate().collect();
        let of_choice_rows: Vec<&(usize, &RowResult)> = rows.iter().filter(of_choice).collect();
        let [(index, row)] = of_choice_rows.as_slice() else { return None };
        grid.changed |= row.changed;
        for (cell, column) in row.cells.iter().zip(&parts[place].columns) {
            grid.note(place_of_choice, &column.name, cell);
        }
        measured.push(&of_rows(place, *index)?.cells);
    }
    let Recommendation { parts, standings, holds, fewest, .. } = recommend_cells(&measured, purpose)?;
    let choices = grid.choices.len();
    for part in parts.iter().filter(|part| part.cell.is_some()) {
        let name = match part.direction {
            Direction::Write => text!("{} write", "{} 書き込み", part.label),
            _ => text!("{} read", "{} 読み出し", part.label),
        };
        grid.figures.push(Deciding {
            name,
            unit: "MB/s".to_owned(),
            decimals: 2,
            weight: part.share * part.block_bytes as f64,
            less_is_better: false,
            values: part.rates_bytes_per_s.iter().map(|rate| Some(rate / 1e6)).collect(),
            published: vec![None; choices],
        });
    }
    // Resampling shows nothing for computed figures, and for single figures without a known spread.
    if fewest >= 2 && grid.choices.iter().any(|choice| choice.real) {
        grid.holds = Some(holds);
        grid.behind = vec![0.0; grid.choices.len()];
    }
    for standing in standings {
        if let Some(behind) = grid.behind.get_mut(standing.run) {
            *behind = standing.behind;
        }
        grid.outs[standing.run] = standing.out;
    }
    Some(grid)
}
