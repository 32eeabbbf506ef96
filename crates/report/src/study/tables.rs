//! The tables of a part, and a check whether the order of the published figures is preserved.

use super::names::{list, quoted};
use kurabe_core::{Text, number, text};
use kurabe_doc::{Column, Entry, Role, Table};
use kurabe_study::{CellResult, ColumnResult, PartResult, Published, RowResult, Status};

/// Minimum widths of a row's name and of the text after the figures, in terminal columns.
pub(super) const NARROWEST_NAME: usize = 20;
const NARROWEST_WORDS: usize = 12;

/// Numbered sentences below a table, without duplicates.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) list: Vec<Text>,
}

impl Notes {
    /// Returns the mark of a sentence, adding it if necessary.
    fn mark(&mut self, note: &Text) -> String {
        let place = self.list.iter().position(|other| other == note).unwrap_or_else(|| {
            self.list.push(note.clone());
            self.list.len() - 1
        });
        format!("[{}]", place + 1)
    }
}

/// Returns the name of a figure with its unit, as in `read, kB/s`.
pub(super) fn figure_name(column: &ColumnResult) -> Text {
    let (name, unit) = (&column.name, &column.unit);
    if unit.is_empty() { name.clone() } else { text!("{name}, {unit}", "{name} ({unit})"; name) }
}

/// Returns the columns that name a row: `first`, then the axes.
pub(super) fn row_columns(part: &PartResult, first: Text) -> Vec<Column> {
    let axes = part.axes.iter().map(|axis| Column::left(axis.parameter.clone()));
    std::iter::once(Column::left(first).wrap_to(NARROWEST_NAME)).chain(axes).collect()
}

/// Returns the name of a row, with the mark of its error if it failed.
pub(super) fn row_label(row: &RowResult, notes: &mut Notes) -> Text {
    let marked = |error| marked(&row.label, &notes.mark(error));
    row.error.as_ref().map_or_else(|| row.label.clone(), marked)
}

/// Returns the name of a row, and its values on the axes.
pub(super) fn row_names(part: &PartResult, row: &RowResult, notes: &mut Notes) -> Vec<Entry> {
    let name = row_label(row, notes);
    let values = row.values.iter().zip(&part.axes).map(|(value, axis)| {
        let place = axis.values.iter().position(|other| other == value).unwrap_or_default();
        Entry::number(value.clone(), place as f64)
    });
    std::iter::once(name.into()).chain(values).collect()
}

fn marked(words: &Text, mark: &str) -> Text {
    words.map(|words| format!("{words} {mark}").trim_start().to_owned())
}

/// Returns the table of one column: published, kurabe, error, and status.
pub(super) fn beside(part: &PartResult, index: usize, notes: &mut Notes) -> Table {
    let column = &part.columns[index];
    let mut columns = row_columns(part, figure_name(column));
    let fixed = columns.len();
    columns.extend([
        Column::right(text!("published", "公表値")),
        Column::right("kurabe".to_owned()),
        Column::right(text!("error", "誤差")),
        Column::left(text!("which is", "区分")).wrap_to(NARROWEST_WORDS),
    ]);
    let cells = part.rows.iter().filter_map(|row| Some((row, row.cells.get(index)?)));
    let rows = cells.map(|(row, cell)| {
        let mut entries = row_names(part, row, notes);
        let published = |figure| published(figure, column.decimals);
        entries.push(cell.published.map_or_else(|| Text::same(number::NONE), published).into());
        entries.push(Entry::new(Role::Strong, value_words(cell, column)));
        entries.push(cell.error_percent.map(error_words).unwrap_or_default().into());
        entries.push(status_words(cell, None, notes).into());
        entries
    });
    Table::new(columns, rows.collect::<Vec<_>>()).parted_behind(fixed)
}

pub(super) fn value_words(cell: &CellResult, column: &ColumnResult) -> Text {
    let value = number::fixed(cell.value.unwrap_or(f64::NAN), column.decimals);
    match cell.plus_minus.filter(|_| cell.value.is_some()) {
        Some(half) => format!("{value} ± {}", number::fixed(half, column.decimals)).into(),
        None => value.into(),
    }
}

/// Formats a published figure: `2,500.0`, `150–200`, `> 2,000`, `about 900`.
pub(crate) fn published(figure: Published, decimals: usize) -> Text {
    let low = number::fixed(figure.low, decimals);
    match figure.high {
        None => format!("> {low}").into(),
        Some(high) if high > figure.low => format!("{low}–{}", number::fixed(high, decimals)).into(),
        Some(_) if figure.about => text!("about {low}", "約 {low}"),
        Some(_) => low.into(),
    }
}

/// Formats an error, as in `+1.2 %`.
pub(crate) fn error_words(percent: f64) -> String {
    let words = format!("{percent:+.1} %");
    if words == "-0.0 %" { "+0.0 %".to_owned() } else { words }
}

/// Returns the word for a figure's status.
pub(super) fn status_word(status: Status) -> Text {
    match status {
        Status::Source => text!("source", "出典"),
        Status::Calibrated => text!("calibrated", "較正"),
        Status::Assumed => text!("assumed", "仮定"),
        Status::Predicted => text!("predicted", "予測"),
        Status::Measured => text!("measured", "実測"),
    }
}

/// Returns the status of a figure, unless it is the usual one, with its remarks. A missing figure
/// has only the remarks.
pub(super) fn status_words(cell: &CellResult, usual: Option<Status>, notes: &mut Notes) -> Text {
    let mut words = Vec::new();
    if let Some((word, reason)) = range_words(cell) {
        words.push(marked(&word, &notes.mark(&reason)));
    }
    if cell.value.is_some() && usual != Some(cell.status) {
        words.push(status_word(cell.status));
        words.extend(cell.reason.as_ref().map(|reason| notes.mark(reason).into()));
    }
    if let Some(anomaly) = &cell.anomaly {
        words.push(marked(&text!("anomaly", "異常値"), &notes.mark(anomaly)));
    }
    if let Some(unreachable) = &cell.unreachable {
        words.push(marked(&text!("not reached", "到達せず"), &notes.mark(unreachable)));
    }
    Text::join(words, [" "; 2])
}

/// Says whether the device properties that the article leaves open can explain the published
/// figure, and which range of figures they allow.
fn range_words(cell: &CellResult) -> Option<(Text, Text)> {
    let [low, high] = cell.range?;
    let published = cell.published?;
    let holds = published.low <= high && published.high.is_none_or(|most| most >= low);
    let range = format!("{}–{}", number::fixed(low, 1), number::fixed(high, 1));
    Some(match holds {
        true => (
            text!("cannot tell", "判断できない"),
            text!(
                "over the device's unknown properties it ranges {range}, which includes the published \
                 figure",
                "記事にない条件によって {range} になり、公表値はその中にあります"
            ),
        ),
        false => (
            text!("out of range", "範囲外"),
            text!(
                "over the device's unknown properties it ranges {range}, which does not include the \
                 published figure: the reason lies elsewhere, for example in the recorded requests",
                "記事にない装置の条件を端から端まで変えても {range} で、公表値は入りません。理由は別のところ(記録した要求など)にあります"
            ),
        ),
    })
}

/// Lists the remarks from the measurement without duplicates, each with its rows unless it applies
/// to all of them.
pub(super) fn remark_lines(part: &PartResult) -> Vec<Text> {
    let mut remarks: Vec<(&Text, Vec<&Text>)> = Vec::new();
    for row in &part.rows {
        for notice in &row.notices {
            match remarks.iter_mut().find(|(remark, _)| **remark == notice.text) {
                Some((_, rows)) => rows.push(&row.label),
                None => remarks.push((&notice.text, vec![&row.label])),
            }
        }
    }
    let line = |(remark, mut rows): (&Text, Vec<&Text>)| {
        if rows.len() >= part.rows.len() {
            return remark.clone();
        }
        rows.dedup();
        Text::join([Text::list(rows.into_iter().cloned()), remark.clone()], [": ", ": "])
    };
    remarks.into_iter().map(line).collect()
}

/// Says whether the order of the published figures is preserved, and which rows moved.
pub(super) fn order_lines(part: &PartResult) -> Vec<Text> {
    let has_error = |row: &&RowResult, column: usize| {
        row.cells.get(column).is_some_and(|cell| cell.error_percent.is_some())
    };
    let compared = |column: usize| part.rows.iter().filter(|row| has_error(row, column)).count() > 1;
    if !(0..part.columns.len()).any(compared) {
        return Vec::new();
    }
    let ties: Vec<Text> = (0..part.columns.len()).flat_map(|column| tied_rows(part, column)).collect();
    let mut lines = match part.swaps.is_empty() {
        true => {
            let anomalies = part.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.anomaly.is_some());
            vec![kept(anomalies, !ties.is_empty())]
        }
        false => (0..part.columns.len()).flat_map(|column| moved_rows(part, column)).collect(),
    };
    lines.extend(ties);
    lines
}

fn kept(anomalies: bool, ties: bool) -> Text {
    let aside =
        if anomalies { text!(", apart from anomalies", "異常値を除き、") } else { Text::default() };
    match ties {
        false => text!(
            "The order of the published figures is kept{aside}.",
            "{aside}公表値の順序は保たれています。";
            aside
        ),
        true => text!(
            "No published order is reversed{aside}, but some published differences do not show.",
            "{aside}公表値の順序が逆になったものはありませんが、モデルでは差が出ないものがあります。";
            aside
        ),
    }
}

/// Returns a sentence for each group of rows of a column that differ in the published figures but
/// not in the model.
fn tied_rows(part: &PartResult, column: usize) -> Vec<Text> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for tie in part.ties.iter().filter(|tie| tie.column == column) {
        let (mut joined, others): (Vec<_>, Vec<_>) = std::mem::take(&mut groups)
            .into_iter()
            .partition(|group: &Vec<usize>| group.contains(&tie.lower) || group.contains(&tie.higher));
        joined.push(vec![tie.lower, tie.higher]);
        let mut group = joined.concat();
        group.sort_unstable();
        group.dedup();
        groups = others;
        groups.push(group);
    }
    groups.sort();
    let figure = &part.columns[column].name;
    let sentence = |group: Vec<usize>| {
        let names = list(&quoted(group.iter().map(|row| &part.rows[*row].label)));
        text!(
            "Published figures differ, but the model's are within 1 %, in {figure}: {names}.",
            "公表値には差があるが、モデルでは 1 % 以内({figure}): {names}。";
            figure, names
        )
    };
    groups.into_iter().map(sentence).collect()
}

/// Returns a sentence for each row of a column that moved. The first row is the one on the wrong
/// side of the most other rows. The pairs that remain without it follow.
fn moved_rows(part: &PartResult, column: usize) -> Vec<Text> {
    let swaps = part.swaps.iter().filter(|swap| swap.column == column);
    let mut pairs: Vec<(usize, usize)> = swaps.map(|swap| (swap.lower, swap.higher)).collect();
    let mut lines = Vec::new();
    while !pairs.is_empty() {
        let count =
            |row: usize| pairs.iter().filter(|(lower, higher)| *lower == row || *higher == row).count();
        let moved = (0..part.rows.len()).rev().max_by_key(|row| count(*row)).unwrap_or_default();
        let passed = pairs.iter().filter(|pair| pair.0 == moved).map(|pair| pair.1);
        let passing = pairs.iter().filter(|pair| pair.1 == moved).map(|pair| pair.0);
        let sides = [
            (passed.collect::<Vec<_>>(), text!("above", "上回って")),
            (passing.collect(), text!("below", "下回って")),
        ];
        let (name, figure) = (&part.rows[moved].label, &part.columns[column].name);
        for (rows, side) in sides.into_iter().filter(|(rows, _)| !rows.is_empty()) {
            let others = Text::join(quoted(rows.iter().map(|row| &part.rows[*row].label)), ["; ", "、"]);
            lines.push(text!(
                "The order differs from the published one in {figure}: {name} is {side}: {others}.",
                "{figure}の順序が公表値と違います: {name} が次を{side}います: {others}。";
                figure, name, side, others
            ));
        }
        pairs.retain(|(lower, higher)| *lower != moved && *higher != moved);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_look_as_they_were_meant() {
        let words = |low, high, about| published(Published { low, high, about }, 1).ja;
        assert_eq!(words(2500.0, Some(2500.0), false), "2,500.0");
        assert_eq!(words(150.0, Some(200.0), false), "150.0–200.0");
        assert_eq!(words(2000.0, None, false), "> 2,000.0");
        assert_eq!(words(900.0, Some(900.0), true), "約 900.0");
    }

    #[test]
    fn an_error_has_its_sign() {
        assert_eq!([0.04, -0.04, 1.25, -17.0].map(error_words), ["+0.0 %", "+0.0 %", "+1.2 %", "-17.0 %"]);
    }
}
