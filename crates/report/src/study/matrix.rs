//! All figures of a study's table in one: in every cell kurabe's figure, and below it the published
//! one, if any.
//!
//! The model: the text of a cell is that of the terminal's tables. A sign before the error shows
//! how close both figures are. The colour only repeats it.

use super::tables::{
    NARROWEST_NAME, Notes, error_words, figure_name, published, row_columns, row_label, row_names,
    status_words, value_words,
};
use kurabe_core::{Text, text};
use kurabe_doc::{Column, Entry, Paragraph, Role, Table, TableForm};
use kurabe_study::{CellResult, ColumnResult, PartResult, RowResult, Status};

/// Classes of closeness to the published figure: maximum error in percent, role, and sign in both
/// languages.
const NEARNESS: [(f64, Role, [&str; 2]); 3] =
    [(10.0, Role::Good, ["✓", "○"]), (25.0, Role::Warn, ["≈", "△"]), (f64::INFINITY, Role::Bad, ["✗", "×"])];

/// Returns the role for an error, judged as printed, and the error with its sign.
fn nearness(error_percent: f64) -> (Role, Text) {
    let (tenths, error) = ((error_percent.abs() * 10.0).round(), error_words(error_percent));
    let is_in = |(most, ..): &(f64, Role, [&str; 2])| tenths <= most * 10.0;
    let (_, role, [en, ja]) = NEARNESS.into_iter().find(is_in).unwrap_or(NEARNESS[2]);
    (role, text!("{en} {error}", "{ja} {error}"))
}

/// Explains how to read a cell.
pub(super) fn matrix_legend() -> Paragraph {
    let tag = |(most, _, [en, ja]): (f64, _, [&str; 2])| match most.is_finite() {
        true => text!("{en} within {most} %", "{ja} {most} % 以内"),
        false => text!("{en} beyond", "{ja} それを超える"),
    };
    let how = "In each cell: kurabe's figure, below it the published one and the error.";
    Paragraph::new(text!("{how}", "各セルは、上が kurabe の値、下が公表値と誤差です。"))
        .tags(NEARNESS.map(tag).to_vec())
}

/// Returns all of a part's figures in one table, with the devices as its rows or as its columns.
pub(super) fn matrix(part: &PartResult, notes: &mut Notes) -> Table {
    if part.devices_across {
        return across(part, notes);
    }
    let mut columns = row_columns(part, Text::default());
    let fixed = columns.len();
    columns.extend(part.columns.iter().map(|column| Column::right(figure_name(column))));
    let row = |row: &RowResult| {
        let mut entries = row_names(part, row, notes);
        entries.extend(row.cells.iter().zip(&part.columns).map(|(cell, column)| entry(cell, column, notes)));
        entries
    };
    let rows: Vec<Vec<Entry>> = part.rows.iter().map(row).collect();
    Table::new(columns, rows).parted_behind(fixed).on_page(&part.title, TableForm::Cards)
}

/// Returns the table with a column for each device and a row for each figure.
fn across(part: &PartResult, notes: &mut Notes) -> Table {
    let name = |row: &RowResult, notes: &mut Notes| {
        let values = row.values.iter().map(Text::same);
        Text::list([row_label(row, notes)].into_iter().chain(values))
    };
    let mut columns = vec![Column::left(Text::default()).wrap_to(NARROWEST_NAME)];
    columns.extend(part.rows.iter().map(|row| Column::right(name(row, notes))));
    let row = |(index, column): (usize, &ColumnResult)| {
        let mut entries = vec![Entry::from(figure_name(column))];
        entries.extend(part.rows.iter().map(|row| match row.cells.get(index) {
            Some(cell) => entry(cell, column, notes),
            None => Entry::default(),
        }));
        entries
    };
    let rows: Vec<Vec<Entry>> = part.columns.iter().enumerate().map(row).collect();
    Table::new(columns, rows).parted_behind(1).on_page(&part.title, TableForm::Cards)
}

fn entry(cell: &CellResult, column: &ColumnResult, notes: &mut Notes) -> Entry {
    let figure = cell.published.map(|figure| published(figure, column.decimals));
    let figure = figure.map(|figure| text!("published {figure}", "公表値 {figure}"; figure));
    let (role, error) = cell.error_percent.map(nearness).unwrap_or_default();
    let facts = [error, status_words(cell, Some(Status::Predicted), notes)];
    let facts = Text::join(facts.into_iter().filter(|fact| !fact.is_empty()), [" · "; 2]);
    let under = Text::join(figure.into_iter().chain([facts]), ["\n"; 2]);
    Entry { role, value: cell.value, ..Entry::plain(value_words(cell, column)).under(under) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_is_that_of_the_printed_error() {
        let sign = |percent| nearness(percent).1.en.chars().next().unwrap_or_default();
        let errors = [0.0, -10.0, 10.04, 10.06, -25.0, 25.1, -90.0];
        assert_eq!(errors.map(sign), ['✓', '✓', '✓', '≈', '≈', '✗', '✗']);
    }
}
