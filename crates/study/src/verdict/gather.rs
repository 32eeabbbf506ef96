//! The figures of a question, as a grid: one line for each figure, one place for each choice.
//!
//! The model: a row of a table has an id and a value on each axis. One of these tells the choice, the others tell which
//! figure it is; so the same figure of two choices stands in one line whatever order the table has.

use super::answer::{Caveat, Choice, Deciding};
use crate::question::{Among, FigureSet, Question};
use crate::result::{CellResult, ColumnResult, PartResult, RowResult, Status};
use crate::{axis::StudyAxis, figure::Measured, published::Published};
use kurabe_compare::{Out, Recommendation, Use, recommend_cells};
use kurabe_core::{Text, record::Cell, text, workload::Direction};

/// What a row of a part came to, by the places of both.
pub(crate) type MeasuredRows<'a> = dyn Fn(usize, usize) -> Option<&'a Measured> + 'a;

/// Figures of choices.
#[derive(Default)]
pub(super) struct ChoiceGrid {
    pub(super) choices: Vec<Choice>,
    pub(super) figures: Vec<Deciding>,
    /// A limit that a choice breaks.
    pub(super) outs: Vec<Option<Out>>,
    /// How often the order holds when repetitions are drawn again.
    pub(super) holds: Option<f64>,
    /// Of each choice the share of these draws in which the first is ahead of it; empty where nothing is drawn.
    pub(super) behind: Vec<f64>,
    /// Whether the user changed a model among them.
    pub(super) changed: bool,
    /// How many figures there are, counted for each choice, and how many of them are calibrated.
    pub(super) count: usize,
    pub(super) calibrated: usize,
    pub(super) unreached: Vec<Caveat>,
    pub(super) assumed: Vec<Caveat>,
    /// Which figure a line is, beside its columns.
    keys: Vec<PointKey>,
}

/// Part, column, row (where the axis tells the choice), values on the other axes.
type PointKey = (usize, usize, Option<usize>, Vec<String>);

impl ChoiceGrid {
    /// The figures that were measured.
    pub(super) fn values(&self) -> Vec<Vec<Option<f64>>> {
        self.figures.iter().map(|figure| figure.values.clone()).collect()
    }

    /// Those that are published.
    pub(super) fn published(&self) -> Vec<Vec<Option<f64>>> {
        self.figures.iter().map(|figure| figure.published.clone()).collect()
    }

    /// The place of a figure, a new one if it is not there yet.
    fn line(&mut self, key: PointKey, deciding: impl FnOnce() -> Deciding) -> usize {
        self.keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.figures.push(deciding());
            self.figures.len() - 1
        })
    }

    /// Notes what is known of a cell that goes in: of which choice, and what its figure is called.
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

/// The choices alone.
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
    ChoiceGrid { choices, outs, ..ChoiceGrid::default() }
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

/// The grid of a question over columns of tables.
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

/// Puts a row's figures into the grid, if it belongs to a choice: the choice and the line of each.
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
        grid.changed |= row.changed;
        added.push((choice, line, cell));
    }
    added
}

/// Which choice a row is of, which of the part's own rows it is if the axis tells the choice, and its values on the
/// other axes.
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

/// A published figure as one number: the middle of a span, the bound where only one is told; none where it cannot be what
/// it says.
fn published(cell: &CellResult) -> Option<f64> {
    let Published { low, high, .. } = cell.published.filter(|_| cell.anomaly.is_none())?;
    Some(high.map_or(low, |high| (low + high) / 2.0))
}

/// `cache on, 1 MiB read, 64 KiB`
fn figure_name(row: &RowResult, column: &ColumnResult, with_row: bool, rest: &[String]) -> Text {
    let row = with_row.then(|| row.label.clone());
    let rest = rest.iter().map(|value| Text::same(value.clone()));
    Text::list(row.into_iter().chain([column.name.clone()]).chain(rest))
}

/// Names that several figures share get the title of their table before them.
fn tell_apart(grid: &mut ChoiceGrid, parts: &[PartResult]) {
    let names: Vec<Text> = grid.figures.iter().map(|figure| figure.name.clone()).collect();
    for (place, (figure, key)) in grid.figures.iter_mut().zip(&grid.keys).enumerate() {
        let shared = names.iter().enumerate().any(|(other, name)| other != place && *name == figure.name);
        if shared {
            figure.name = Text::list([parts[key.0].title.clone(), figure.name.clone()]);
        }
    }
}

/// The grid of a use: its parts as figures, as `kurabe recommend` chooses them. `None` if rows are missing, stand at
/// several values of an axis, or have nothing in common that the use does.
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
            published: vec![None; grid.choices.len()],
        });
    }
    // A model's figures are computed, and of a single figure no spread is known: drawing again tells nothing.
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
