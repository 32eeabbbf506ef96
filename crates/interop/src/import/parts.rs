//! Building blocks of all importers: rows, cells, notes, errors.

use super::Input;
use super::json_tree::{Json, JsonError, documents};
use super::room;
use super::words::WORDS_LONGEST;
use kurabe_core::imported::{ImportedCell, Origin, Quantity};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Cell, Measure, Notice, NoticeKind};
use kurabe_core::{Error, ErrorKind, Place, Result, Text, text, workload::Direction};
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// Reason why an importer returns no run for an input.
pub(crate) enum NotImported {
    /// The input belongs to another tool. The text gives the reason, such as "no line begins with
    /// `CrystalDiskMark`".
    NotMine(Text),
    /// The input belongs to this tool, but is damaged or of an unknown version. The error gives the
    /// place.
    Broken(Error),
}

impl From<Error> for NotImported {
    fn from(error: Error) -> Self {
        Self::Broken(error)
    }
}

/// Bytes counted per cell: while a list grows, it exists twice, at up to twice its length.
pub(super) const CELL_COUNTED_BYTES: usize = 3 * size_of::<Cell>();

/// Returns a cell measured by another tool. Its measure follows from its first figure.
pub(super) fn cell(label: impl Into<String>, direction: Option<Direction>, imported: ImportedCell) -> Cell {
    let measure = match imported.figures.first().map(|figure| figure.quantity) {
        Some(Quantity::Latency) => Measure::AccessTime,
        Some(Quantity::Duration) => Measure::Duration,
        _ => Measure::Rate,
    };
    let label = label.into();
    let texts = label.len() + imported.procedure.as_ref().map_or(0, String::len);
    room::take_cell(CELL_COUNTED_BYTES + texts);
    Cell {
        label,
        part: direction.map_or(String::new(), |direction| direction.word().to_owned()),
        direction,
        measure,
        imported: Some(imported),
        ..Cell::default()
    }
}

/// Numbers the cells in the order of the file. The directions of one label are one step. A direction
/// that repeats, for example because a second job has the same name, belongs to the next step with that
/// label.
pub(super) fn number_cells(cells: &mut [Cell]) {
    let mut seen: HashMap<(&str, &str), u32> = HashMap::new();
    let mut steps: HashMap<(&str, u32), u32> = HashMap::new();
    let mut numbers = Vec::with_capacity(cells.len());
    for cell in &*cells {
        let times = seen.entry((&cell.label, &cell.part)).or_insert(0);
        let next = u32::try_from(steps.len()).unwrap_or(u32::MAX);
        numbers.push(*steps.entry((&cell.label, *times)).or_insert(next));
        *times += 1;
    }
    for ((index, cell), step_index) in (0_u32..).zip(cells).zip(numbers) {
        (cell.index, cell.step_index) = (index, step_index);
    }
}

/// Returns the name of a cell in kurabe's form, without unprinted values: `SEQ 1 MiB Q8 T1`.
/// `otherwise` is used if the order of offsets is unknown.
pub(super) fn shape(
    sequential: Option<bool>,
    otherwise: &str,
    block_bytes: Option<u64>,
    iodepth: Option<u32>,
    threads: Option<u32>,
) -> String {
    let order = sequential.map_or(otherwise, |sequential| if sequential { "SEQ" } else { "RND" });
    let block = block_bytes.map(|bytes| format!(" {}", format_bytes(bytes)));
    let depth = iodepth.map(|depth| format!(" Q{depth}"));
    let threads = threads.map(|threads| format!(" T{threads}"));
    [Some(order.to_owned()), block, depth, threads].into_iter().flatten().collect()
}

/// Creates a notice on the figures of a run.
pub(super) fn notice(text: Text) -> Notice {
    Notice::new(NoticeKind::Other, text)
}

/// Creates the error for a recognized but damaged file, with its one-based line.
pub(super) fn broken_line(input: &Input<'_>, line: usize, what: Text) -> Error {
    let shown = input.as_written(line).chars().take(WORDS_LONGEST).collect();
    broken(what).at(place_of_line(input.name, line, shown))
}

/// Returns the place of a one-based line with the text to show.
pub(crate) fn place_of_line(file: &str, line: usize, text: String) -> Place {
    let column = text.chars().take_while(|c| c.is_whitespace()).count() + 1;
    let width = text.trim().chars().count().max(1);
    Place { file: file.to_owned(), line, column, width, text }
}

/// Reports that the file belongs to the tool, but is damaged at a one-based line.
pub(super) fn broken_at<T>(input: &Input<'_>, line: usize, what: Text) -> Result<T, NotImported> {
    Err(broken_line(input, line, what).into())
}

/// Reports that the file does not belong to the tool.
pub(super) fn not_mine<T>(why: Text) -> Result<T, NotImported> {
    Err(NotImported::NotMine(why))
}

/// Reports that the file does not belong to the tool because such a line is missing.
pub(super) fn without_line<T>(example: &str) -> Result<T, NotImported> {
    not_mine(text!("no line such as `{example}`", "`{example}` のような行がありません"))
}

/// Creates the error for a recognized but damaged file without a line to show.
pub(super) fn broken(what: Text) -> Error {
    ErrorKind::Import.error(what).remedy(text!(
        "give the file exactly as the tool wrote it, complete and unedited",
        "ツールが書いたままの、欠けのないファイルを指定してください"
    ))
}

/// Creates the error for invalid JSON.
pub(super) fn damaged_json(input: &Input<'_>, tool: &str, error: JsonError) -> Error {
    let what = text!(
        "the JSON of {tool} is cut off or damaged here",
        "{tool} の JSON がここで途切れるか壊れています"
    );
    broken_line(input, input.number(error.line), what).because(error.cause)
}

/// Returns the JSON documents of a file whose tool is recognized by these quoted keys.
pub(super) fn documents_with<'i>(
    input: &'i Input<'_>,
    tool: &'static str,
    keys: &[&str],
) -> Result<impl Iterator<Item = Result<Json>> + 'i, NotImported> {
    let documents = documents(text_with(input, keys)?).take_while(|_| !room::is_spent());
    Ok(documents.map(move |document| document.map_err(|error| damaged_json(input, tool, error))))
}

/// Returns the text of a file whose tool is recognized by these quoted keys.
pub(super) fn text_with<'i>(input: &'i Input<'_>, keys: &[&str]) -> Result<&'i str, NotImported> {
    let text = input.text().unwrap_or("");
    if keys.iter().all(|key| text.contains(key)) {
        return Ok(text);
    }
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{}`", key.trim_matches('"'))).collect();
    let word = if keys.len() == 1 { "key" } else { "keys" };
    let quoted = Text::join(quoted.into_iter().map(Text::same), [" and ", " と "]);
    not_mine(text!("it has no {word} {quoted}", "{quoted} というキーがありません"; quoted))
}

/// Creates the error for a line without a readable figure.
pub(super) fn unreadable(input: &Input<'_>, line: usize) -> Error {
    broken_line(input, line, text!("the figure cannot be read", "値を読めません"))
}

/// Creates the error for a file of the tool without any figure.
pub(super) fn nothing_measured(input: &Input<'_>, tool: &str) -> Error {
    let last = input.lines().last().map_or(1, |(number, _)| number);
    let what = text!("{tool} measured nothing in this file", "このファイルには {tool} の測定値がありません");
    broken_line(input, last, what)
}

/// Creates the error for a row whose number of fields differs from its header.
pub(super) fn miscounted(input: &Input<'_>, line: usize) -> Error {
    let what = text!("the columns of this row do not match its header", "この行の列数が見出しと合いません");
    broken_line(input, line, what)
}

/// Returns the field of a row below a column name.
pub(super) fn field<'a>(columns: &[&str], fields: &[&'a str], name: &str) -> Option<&'a str> {
    fields.get(columns.iter().position(|column| *column == name)?).copied()
}

/// A row of a table with the names of its columns.
pub(super) struct PrintedRow<'a> {
    pub(super) columns: Rc<[&'a str]>,
    pub(super) fields: Vec<&'a str>,
}

impl<'a> PrintedRow<'a> {
    /// Returns the field of a column.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        field(&self.columns, &self.fields, name)
    }

    /// Returns whether the row has a field for each column.
    pub(super) fn is_whole(&self) -> bool {
        self.fields.len() == self.columns.len()
    }
}

/// Maximum length of a table header. Headers of tools have some hundred characters.
const HEADER_LONGEST: usize = 1 << 16;

/// Returns the rows after the first header of a comma-separated table, with their line numbers. `None`
/// without a header.
pub(super) fn csv_rows<'a>(
    input: &'a Input<'_>,
    is_header: impl Fn(&str) -> bool + 'a,
) -> Option<impl Iterator<Item = (usize, PrintedRow<'a>)>> {
    let header =
        input.lines().find(|(_, line)| is_header(line)).filter(|(_, line)| line.len() < HEADER_LONGEST)?;
    let columns: Rc<[&str]> = header.1.split(',').collect();
    let rows = input.lines().skip_while(move |(number, _)| *number <= header.0);
    let rows = rows.filter(move |(_, line)| !line.trim().is_empty() && !is_header(line));
    Some(rows.map(move |(number, line)| {
        // One more field than columns shows that the row has too many.
        let fields = line.split(',').take(columns.len() + 1).collect();
        (number, PrintedRow { columns: Rc::clone(&columns), fields })
    }))
}

/// Returns the lines from each of these places to before the next one.
pub(super) fn cut_at<'b, 'a>(lines: &'b [(usize, &'a str)], starts: &[usize]) -> Vec<&'b [(usize, &'a str)]> {
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(start, end)| &lines[*start..end]).collect()
}

/// Groups values by their keys, in the order in which the keys first occur.
pub(super) fn grouped<K: Copy + Eq + Hash, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (key, value) in pairs {
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Stores a fact about the run in the tool's words.
pub(super) fn fact(origin: &mut Origin, key: &str, value: impl Into<String>) {
    origin.facts.insert(key.to_owned(), value.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_share_a_step_and_namesakes_do_not() {
        let made = |label: &str, direction| cell(label, Some(direction), ImportedCell::default());
        let (read, write) = (Direction::Read, Direction::Write);
        let mut cells =
            [made("a", read), made("a", write), made("b", read), made("a", read), made("a", write)];
        number_cells(&mut cells);
        let steps: Vec<u32> = cells.iter().map(|cell| cell.step_index).collect();
        assert_eq!(steps, [0, 0, 1, 2, 2]);
    }
}
