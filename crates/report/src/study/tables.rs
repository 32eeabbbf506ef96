//! The tables of a part as grids of words, before anybody lays them out.

use super::names::{list, quoted};
use kurabe_core::number;
use kurabe_core::{Lang, Text, text};
use kurabe_study::{CellResult, ColumnResult, PartResult, Published, RowResult, Status};

/// A table of words.
pub(super) struct Grid {
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns from the left that name a row.
    pub(super) fixed: usize,
    /// The column that the eye looks for.
    pub(super) strong: Option<usize>,
    /// What all figures are, if they are all the same; then no column tells it.
    pub(super) all_are: Option<String>,
    /// Columns that hold words, not figures.
    words: Vec<usize>,
}

impl Grid {
    /// Whether a column holds words.
    pub(super) fn is_words(&self, place: usize) -> bool {
        place < self.fixed || self.words.contains(&place)
    }

    /// The same with only these columns behind those that name a row.
    pub(super) fn only(&self, places: &[usize]) -> Self {
        let kept: Vec<usize> = (0..self.fixed).chain(places.iter().copied()).collect();
        let pick = |row: &Vec<String>| kept.iter().filter_map(|place| row.get(*place).cloned()).collect();
        let moved = |place: usize| kept.iter().position(|other| *other == place);
        Self {
            heads: pick(&self.heads),
            rows: self.rows.iter().map(pick).collect(),
            fixed: self.fixed,
            strong: self.strong.and_then(moved),
            all_are: self.all_are.clone(),
            words: self.words.iter().filter_map(|place| moved(*place)).collect(),
        }
    }
}

/// Sentences below a table, each once.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) list: Vec<Text>,
}

impl Notes {
    /// The mark of a sentence.
    fn mark(&mut self, note: &Text) -> String {
        let place = self.list.iter().position(|known| known == note).unwrap_or_else(|| {
            self.list.push(note.clone());
            self.list.len() - 1
        });
        format!("[{}]", place + 1)
    }
}

/// `read, kB/s`
pub(super) fn figure_name(column: &ColumnResult, lang: Lang) -> String {
    let name = column.name.get(lang);
    match column.unit.as_str() {
        "" => name.to_owned(),
        unit => lang.pick(&format!("{name}, {unit}"), &format!("{name} ({unit})")).to_owned(),
    }
}

/// The tables of a part: one for each column where figures are published, one for all columns where none are.
pub(super) fn part_grids(part: &PartResult, notes: &mut Notes, lang: Lang) -> Vec<Grid> {
    if part.has_published() {
        (0..part.columns.len()).map(|column| beside(part, column, notes, lang)).collect()
    } else {
        vec![side_by_side(part, notes, lang)]
    }
}

/// Heads of the columns that name a row: `first`, then the axes.
fn row_heads(part: &PartResult, first: &str) -> Vec<String> {
    let axes = part.axes.iter().map(|axis| axis.parameter.clone());
    [first.to_owned()].into_iter().chain(axes).collect()
}

/// The name of a row, left out where it is that of the row above; then its values on the axes.
fn row_names(part: &PartResult, index: usize, notes: &mut Notes, lang: Lang) -> Vec<String> {
    let row = &part.rows[index];
    let same = |above: &RowResult| above.label == row.label && !row.values.is_empty();
    let repeated = index.checked_sub(1).and_then(|above| part.rows.get(above)).is_some_and(same);
    let mut name = if repeated { String::new() } else { row.label.get(lang).to_owned() };
    if let Some(error) = &row.error {
        name = join(&name, &notes.mark(error));
    }
    [name].into_iter().chain(row.values.iter().cloned()).collect()
}

fn join(words: &str, mark: &str) -> String {
    if words.is_empty() { mark.to_owned() } else { format!("{words} {mark}") }
}

/// One column: published, kurabe, error, and what the figure is.
fn beside(part: &PartResult, index: usize, notes: &mut Notes, lang: Lang) -> Grid {
    let column = &part.columns[index];
    let mut heads = row_heads(part, &figure_name(column, lang));
    let fixed = heads.len();
    heads.extend(
        [
            lang.pick("published", "公表値"),
            "kurabe",
            lang.pick("error", "誤差"),
            lang.pick("which is", "区分"),
        ]
        .map(str::to_owned),
    );
    let rows = (0..part.rows.len())
        .filter_map(|row| Some((row, part.rows[row].cells.get(index)?)))
        .map(|(row, cell)| {
            let mut words = row_names(part, row, notes, lang);
            words.push(cell.published.map_or_else(none, |figure| published(figure, column.decimals, lang)));
            words.push(cell.value.map_or_else(none, |value| number::fixed(value, column.decimals)));
            words.push(cell.error_percent.map(error_words).unwrap_or_default());
            words.push(status_words(cell, notes, lang));
            words
        })
        .collect();
    Grid { heads, rows, fixed, strong: Some(fixed + 1), all_are: None, words: vec![fixed + 3] }
}

/// All columns. A figure of which there is more to know has a number before it, which the notes tell; what the others are
/// stands in a last column, or once below if it is the same for all.
fn side_by_side(part: &PartResult, notes: &mut Notes, lang: Lang) -> Grid {
    let mut heads = row_heads(part, "");
    let fixed = heads.len();
    heads.extend(part.columns.iter().map(|column| figure_name(column, lang)));
    heads.push(lang.pick("which is", "区分").to_owned());
    let mut numbered = false;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (index, row) in part.rows.iter().enumerate() {
        let mut words = row_names(part, index, notes, lang);
        let mut kinds: Vec<&str> = Vec::new();
        for (cell, column) in row.cells.iter().zip(&part.columns) {
            let value = cell.value.map_or_else(none, |value| number::fixed(value, column.decimals));
            let note = cell_note(cell);
            numbered |= note.is_some();
            words.push(note.as_ref().map_or_else(|| value.clone(), |note| join(&notes.mark(note), &value)));
            if note.is_none() && cell.value.is_some() {
                kinds.push(status_word(cell.status, lang));
            }
        }
        kinds.dedup();
        words.push(kinds.join(lang.pick(", ", "、")));
        rows.push(words);
    }
    let last = fixed + part.columns.len();
    let grid = Grid { heads, rows, fixed, strong: None, all_are: None, words: vec![last] };
    let mut kinds: Vec<&String> =
        grid.rows.iter().filter_map(|row| row.get(last)).filter(|kind| !kind.is_empty()).collect();
    let count = kinds.len();
    kinds.dedup();
    match kinds.as_slice() {
        [kind] if count > 1 || numbered => {
            let all_are = Some(all_are(kind, numbered).take(lang));
            Grid { all_are, ..grid.only(&(fixed..last).collect::<Vec<_>>()) }
        }
        [] if numbered => grid.only(&(fixed..last).collect::<Vec<_>>()),
        _ => grid,
    }
}

/// What all figures of a grid are, those with a number before them left aside.
fn all_are(kind: &str, numbered: bool) -> Text {
    match numbered {
        true => text!(
            "A figure with a number in front is what the note says; all others: {kind}.",
            "番号の付いた値は注の通りです。ほかの値の区分はすべて「{kind}」です。"
        ),
        false => text!("All of these figures: {kind}.", "どの値も区分は「{kind}」です。"),
    }
}

/// What to know of a figure beside what it is, as a note; nothing of one that is not there.
fn cell_note(cell: &CellResult) -> Option<Text> {
    cell.value?;
    let word = |lang| status_word(cell.status, lang).to_owned();
    let kind = Text { en: word(Lang::En), ja: word(Lang::Ja) };
    let missed = Text { en: format!("{}, not reached", kind.en), ja: format!("{}、到達せず", kind.ja) };
    let parts = [
        cell.reason.as_ref().map(|why| (kind, why)),
        cell.anomaly.as_ref().map(|why| (text!("anomaly", "異常値"), why)),
        cell.unreachable.as_ref().map(|why| (missed, why)),
    ];
    let told: Vec<(Text, &Text)> = parts.into_iter().flatten().collect();
    let join = |pick: fn(&Text) -> &str, with: &str| {
        told.iter().map(|(kind, why)| format!("{}: {}", pick(kind), pick(why))).collect::<Vec<_>>().join(with)
    };
    (!told.is_empty()).then(|| Text { en: join(|text| &text.en, "; "), ja: join(|text| &text.ja, "。") })
}

fn none() -> String {
    number::NONE.to_owned()
}

/// `2 500.0`, `150–200`, `> 2 000`, `about 900`.
pub(crate) fn published(figure: Published, decimals: usize, lang: Lang) -> String {
    let low = number::fixed(figure.low, decimals);
    match figure.high {
        None => format!("> {low}"),
        Some(high) if high > figure.low => format!("{low}–{}", number::fixed(high, decimals)),
        Some(_) if figure.about => lang.pick(&format!("about {low}"), &format!("約 {low}")).to_owned(),
        Some(_) => low,
    }
}

/// `+1.2 %`
pub(crate) fn error_words(percent: f64) -> String {
    let words = format!("{percent:+.1} %");
    if words == "-0.0 %" { "+0.0 %".to_owned() } else { words }
}

/// What a figure is, in a word.
fn status_word(status: Status, lang: Lang) -> &'static str {
    match status {
        Status::Source => lang.pick("source", "出典"),
        Status::Calibrated => lang.pick("calibrated", "較正"),
        Status::Assumed => lang.pick("assumed", "仮定"),
        Status::Predicted => lang.pick("predicted", "予測"),
        Status::Measured => lang.pick("measured", "実測"),
    }
}

/// What a figure is, and what to know of it; of a figure that is not there only the latter.
fn status_words(cell: &CellResult, notes: &mut Notes, lang: Lang) -> String {
    let word = status_word(cell.status, lang);
    let is_there = cell.value.is_some();
    let mut words = if is_there { word.to_owned() } else { String::new() };
    if let Some(reason) = cell.reason.as_ref().filter(|_| is_there) {
        words = join(&words, &notes.mark(reason));
    }
    if let Some(anomaly) = &cell.anomaly {
        words = join(&words, &format!("{} {}", lang.pick("anomaly", "異常値"), notes.mark(anomaly)));
    }
    if let Some(unreachable) = &cell.unreachable {
        words =
            join(&words, &format!("{} {}", lang.pick("not reached", "到達せず"), notes.mark(unreachable)));
    }
    words
}

/// What was said while rows were measured, each remark once: behind the rows that it is of, unless those are all.
pub(super) fn remark_lines(part: &PartResult, lang: Lang) -> Vec<String> {
    let mut remarks: Vec<(&Text, Vec<&str>)> = Vec::new();
    for row in &part.rows {
        for notice in &row.notices {
            let label = row.label.get(lang);
            match remarks.iter_mut().find(|(remark, _)| **remark == notice.text) {
                Some((_, rows)) => rows.push(label),
                None => remarks.push((&notice.text, vec![label])),
            }
        }
    }
    let line = |(remark, mut rows): (&Text, Vec<&str>)| {
        if rows.len() >= part.rows.len() {
            return remark.get(lang).to_owned();
        }
        rows.dedup();
        format!("{}: {}", rows.join(", "), remark.get(lang))
    };
    remarks.into_iter().map(line).collect()
}

/// Whether the order of the published figures is kept, and which rows left their place.
pub(super) fn order_lines(part: &PartResult, lang: Lang) -> Vec<String> {
    let compared = (0..part.columns.len()).any(|column| {
        part.rows
            .iter()
            .filter(|row| row.cells.get(column).is_some_and(|cell| cell.error_percent.is_some()))
            .count()
            > 1
    });
    if !compared {
        return Vec::new();
    }
    let untold: Vec<Text> = (0..part.columns.len()).flat_map(|column| tied_rows(part, column)).collect();
    let mut lines = match part.swaps.is_empty() {
        true => {
            let anomalies = part.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.anomaly.is_some());
            vec![kept(anomalies, !untold.is_empty()).take(lang)]
        }
        false => (0..part.columns.len()).flat_map(|column| moved_rows(part, column, lang)).collect(),
    };
    lines.extend(untold.into_iter().map(|words| words.take(lang)));
    lines
}

fn kept(anomalies: bool, ties: bool) -> Text {
    match (anomalies, ties) {
        (true, false) => text!(
            "The order of the published figures is kept, anomalies left aside.",
            "異常値を除き、公表値の順序は保たれています。"
        ),
        (false, false) => {
            text!("The order of the published figures is kept.", "公表値の順序は保たれています。")
        }
        (true, true) => text!(
            "No published order is reversed, anomalies left aside, but some published differences do not show.",
            "異常値を除き、公表値の順序が逆になったものはありませんが、モデルでは差が出ないものがあります。"
        ),
        (false, true) => text!(
            "No published order is reversed, but some published differences do not show.",
            "公表値の順序が逆になったものはありませんが、モデルでは差が出ないものがあります。"
        ),
    }
}

/// One sentence for each group of rows of a column that are published apart and that the model does not tell apart.
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
    let told = |group: Vec<usize>| {
        let Text { en, ja } = list(&quoted(group.iter().map(|row| &part.rows[*row].label)));
        let (figure_en, figure_ja) = (&figure.en, &figure.ja);
        text!(
            "Not told apart by the model, within 1 %, though published apart in {figure_en}: {en}.",
            "公表値には差があるが、モデルでは 1 % 以内({figure_ja}): {ja}。"
        )
    };
    groups.into_iter().map(told).collect()
}

/// One sentence for each row that left its place in a column: first the row that stands on the wrong side of the most
/// others, then whatever pairs remain without it.
fn moved_rows(part: &PartResult, column: usize, lang: Lang) -> Vec<String> {
    let mut pairs: Vec<(usize, usize)> = part
        .swaps
        .iter()
        .filter(|swap| swap.column == column)
        .map(|swap| (swap.lower, swap.higher))
        .collect();
    let mut lines = Vec::new();
    while !pairs.is_empty() {
        let count =
            |row: usize| pairs.iter().filter(|(lower, higher)| *lower == row || *higher == row).count();
        let moved = (0..part.rows.len()).rev().max_by_key(|row| count(*row)).unwrap_or_default();
        let names = |rows: Vec<usize>| -> String {
            let names = quoted(rows.iter().map(|row| &part.rows[*row].label));
            names.iter().map(|name| name.get(lang)).collect::<Vec<_>>().join(lang.pick("; ", "、"))
        };
        let passed: Vec<usize> = pairs.iter().filter(|pair| pair.0 == moved).map(|pair| pair.1).collect();
        let passing: Vec<usize> = pairs.iter().filter(|pair| pair.1 == moved).map(|pair| pair.0).collect();
        let (name, figure) = (part.rows[moved].label.get(lang), part.columns[column].name.get(lang));
        if !passed.is_empty() {
            let others = names(passed);
            let line = text!(
                "Another order than published in {figure}: {name} comes out above: {others}.",
                "{figure}の順序が公表値と違います: {name} が次を上回っています: {others}。"
            );
            lines.push(line.take(lang));
        }
        if !passing.is_empty() {
            let others = names(passing);
            let line = text!(
                "Another order than published in {figure}: {name} comes out below: {others}.",
                "{figure}の順序が公表値と違います: {name} が次を下回っています: {others}。"
            );
            lines.push(line.take(lang));
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
        let words = |low, high, about| published(Published { low, high, about }, 1, Lang::Ja);
        assert_eq!(words(2500.0, Some(2500.0), false), "2 500.0");
        assert_eq!(words(150.0, Some(200.0), false), "150.0–200.0");
        assert_eq!(words(2000.0, None, false), "> 2 000.0");
        assert_eq!(words(900.0, Some(900.0), true), "約 900.0");
    }

    #[test]
    fn an_error_has_its_sign() {
        assert_eq!([0.04, -0.04, 1.25, -17.0].map(error_words), ["+0.0 %", "+0.0 %", "+1.2 %", "-17.0 %"]);
    }
}
