//! Tables of a document: columns, rows and entries.

use crate::Role;
use kurabe_core::Text;
use kurabe_core::number::{self, Figure};

/// Terminal columns between two columns of a table.
pub(super) const GAP: usize = 2;

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flush {
    Left,
    Right,
}

/// What to cut if an entry is too wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    Never,
    End,
    Front,
    /// Nothing. The entry wraps.
    Wrap,
    /// The whole column.
    Drop,
    /// The whole column, before any other.
    DropFirst,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Caption, if no heading above the table says what it shows.
    pub caption: Text,
    /// Layout of the table on a page.
    pub form: TableForm,
    /// Indentation in terminal columns.
    pub indent: usize,
    /// Number of leading columns that name a row. In a narrow terminal, the table is split, and
    /// each part repeats them.
    pub parted_behind: Option<usize>,
    /// Terminal columns between two columns of the table.
    pub gap: usize,
    /// Whether each entry of a row gets a separate line in a terminal that is too narrow for the
    /// columns.
    pub stacks: bool,
}

/// Layout of a table on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TableForm {
    /// Rows that can be sorted by a click.
    #[default]
    Sorts,
    /// Sortable rows that become cards on a narrow screen.
    Cards,
    /// Sortable rows with many columns.
    Wide,
    /// Text that is not sorted.
    Facts,
}

impl Table {
    pub fn new(columns: impl Into<Vec<Column>>, rows: impl IntoIterator<Item = impl Into<TableRow>>) -> Self {
        let rows = rows.into_iter().map(Into::into).collect();
        Self { columns: columns.into(), rows, gap: GAP, ..Self::default() }
    }

    /// Starts a table with one row per thing, built column by column.
    pub fn of<T>(things: impl IntoIterator<Item = T>) -> TableOf<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = things.iter().map(|_| TableRow::default()).collect();
        TableOf { things, table: Self { rows, gap: GAP, ..Self::default() } }
    }

    /// Sets the caption and the layout on a page.
    pub fn on_page(self, caption: &Text, form: TableForm) -> Self {
        Self { caption: caption.clone(), form, ..self }
    }

    /// Removes the empty columns from index `first` on.
    pub fn without_blanks_from(&self, first: usize) -> Self {
        let is_filled = |index: usize| {
            self.rows.iter().any(|row| row.entries.get(index).is_some_and(|entry| !entry.is_blank()))
        };
        let kept = (0..self.columns.len()).filter(|index| *index < first || is_filled(*index));
        self.only(&kept.collect::<Vec<_>>())
    }

    pub fn indent(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Splits the table where it doesn't fit. Each part repeats the first `columns` columns.
    pub fn parted_behind(self, columns: usize) -> Self {
        Self { parted_behind: Some(columns), ..self }
    }

    /// Puts each entry of a row on a separate line if the table doesn't fit.
    pub fn stacks(self) -> Self {
        Self { stacks: true, ..self }
    }

    /// Returns the table with only these columns. A row with no entry in them apart from its name
    /// is removed, and so is a title row that has only such rows below it.
    pub(super) fn only(&self, places: &[usize]) -> Self {
        let fixed = self.parted_behind.unwrap_or(0);
        let pick = |row: &TableRow| TableRow {
            entries: places.iter().filter_map(|index| row.entries.get(*index).cloned()).collect(),
            note: row.note.clone(),
        };
        let mut rows: Vec<TableRow> = Vec::new();
        for row in self.rows.iter().rev() {
            let picked = pick(row);
            let is_title = row.entries.len() <= fixed;
            let has_rows = rows.last().is_some_and(|below| below.entries.len() > fixed);
            let has_figures = picked.entries.iter().skip(fixed).any(|entry| !entry.is_blank());
            if if is_title { has_rows } else { has_figures } {
                rows.push(picked);
            }
        }
        rows.reverse();
        let columns = places.iter().map(|index| self.columns[*index].clone()).collect();
        Self { columns, rows, ..self.clone() }
    }
}

/// A column: its title, its alignment, and what to cut if there is no room.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub(super) title: Text,
    /// Smaller text below the title.
    pub(super) under: Text,
    pub(super) flush: Flush,
    pub(super) cut: Cut,
    /// Maximum width that is reserved for the column before the table is split, in terminal
    /// columns.
    pub(super) least: usize,
    /// Whether the title is omitted if the entry is on a separate line.
    pub(super) is_bare: bool,
}

/// Builder of a table whose rows are things of one type. A column is a title and a function that
/// shows a thing.
pub struct TableOf<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    pub fn column<E: Into<Entry>>(mut self, column: Column, shown: impl Fn(&T) -> E) -> Self {
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.entries.push(shown(thing).into());
        }
        self.table.columns.push(column);
        self
    }

    pub fn left<E: Into<Entry>>(self, title: impl Into<Text>, shown: impl Fn(&T) -> E) -> Self {
        self.column(Column::left(title), shown)
    }

    /// Adds a left-aligned column with the given cut.
    pub fn cut<E: Into<Entry>>(self, cut: Cut, title: impl Into<Text>, shown: impl Fn(&T) -> E) -> Self {
        self.column(Column::left(title).cut(cut), shown)
    }

    pub fn right<E: Into<Entry>>(self, title: impl Into<Text>, shown: impl Fn(&T) -> E) -> Self {
        self.column(Column::right(title), shown)
    }

    pub fn table(self) -> Table {
        self.table
    }
}

impl Column {
    /// A column of text.
    pub fn left(title: impl Into<Text>) -> Self {
        let title = title.into();
        Self {
            title,
            under: Text::default(),
            flush: Flush::Left,
            cut: Cut::Never,
            least: usize::MAX,
            is_bare: false,
        }
    }

    /// A column of figures.
    pub fn right(title: impl Into<Text>) -> Self {
        Self { flush: Flush::Right, ..Self::left(title) }
    }

    /// A column without a title.
    pub fn untitled() -> Self {
        Self::left(Text::default())
    }

    pub fn under(self, under: Text) -> Self {
        Self { under, ..self }
    }

    pub fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }

    /// Omits the title if the entry, which is self-explanatory, is on a separate line.
    pub fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// Wraps entries. The table is split before the column gets narrower than `least`.
    pub fn wrap_to(self, least: usize) -> Self {
        Self { cut: Cut::Wrap, least, ..self }
    }
}

/// A row with an optional note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableRow {
    pub entries: Vec<Entry>,
    /// A sentence below the row.
    pub note: Option<Text>,
}

impl<const N: usize> From<[Entry; N]> for TableRow {
    fn from(entries: [Entry; N]) -> Self {
        Vec::from(entries).into()
    }
}

impl From<Vec<Entry>> for TableRow {
    fn from(entries: Vec<Entry>) -> Self {
        Self { entries, note: None }
    }
}

/// An entry of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub role: Role,
    pub shown: EntryBody,
    /// Smaller text below the entry.
    pub under: Text,
    /// The value to sort by, if not the text.
    pub value: Option<f64>,
    /// Tooltip on a page.
    pub hint: Text,
    /// Link target on a page.
    pub link: String,
    /// Id of the run, or another name, that the entry's checkbox selects for a comparison.
    pub tick: String,
    /// Name of the parameter of the checkbox, if it does not select a run.
    pub tick_kind: Option<&'static str>,
}

/// Content of an entry: text or a small drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    Words(Text),
    /// A placeholder for a missing value.
    Missing,
    /// A share from 0 to 1 as a bar. Its maximum length is the terminal width divided by `part`,
    /// within limits.
    Bar {
        share: f64,
        part: usize,
        columns: (usize, usize),
    },
    /// Values over time. In a terminal, they take the width that the other columns leave, within
    /// limits.
    Course(Vec<f64>, (usize, usize)),
    /// Values with their intervals on a line. Only a page draws it. The figures are in other
    /// columns.
    RowMarks(RowMarks),
}

/// Places on a line, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMarks {
    /// For each dot: low end of the interval, value, high end.
    pub dots: Vec<[f64; 3]>,
    /// A highlighted range.
    pub band: Option<[f64; 2]>,
}

impl Default for EntryBody {
    fn default() -> Self {
        Self::Words(Text::default())
    }
}

impl Entry {
    pub fn new(role: Role, words: impl Into<Text>) -> Self {
        Self { role, shown: EntryBody::Words(words.into()), ..Self::default() }
    }

    /// Creates an entry from a text with its role.
    pub fn of((role, words): (Role, Text)) -> Self {
        Self::new(role, words)
    }

    pub fn plain(words: impl Into<Text>) -> Self {
        Self::new(Role::Plain, words)
    }

    /// Creates an entry for a missing value.
    pub fn missing() -> Self {
        Self { role: Role::Quiet, shown: EntryBody::Missing, ..Self::default() }
    }

    fn is_blank(&self) -> bool {
        self.shown == EntryBody::Missing || matches!(&self.shown, EntryBody::Words(words) if words.is_empty())
    }

    /// Creates an entry with a figure, or with the placeholder if there is none.
    pub fn figure(role: Role, figure: Option<Figure>) -> Self {
        Self::new(role, figure.map_or_else(|| number::NONE.to_owned(), |figure| figure.to_string()))
    }

    /// Creates an entry with a latency, or with the placeholder if there is none.
    pub fn latency(ns: Option<u64>) -> Self {
        ns.map_or(number::NONE.to_owned(), number::latency_ns).into()
    }

    /// Creates an entry with the value to sort by.
    pub fn number(words: impl Into<Text>, value: f64) -> Self {
        Self { value: Some(value), ..Self::plain(words) }
    }

    /// Creates an entry with the value to sort by, or a missing one.
    pub fn number_of(figure: Option<(impl Into<Text>, f64)>) -> Self {
        figure.map_or_else(Self::missing, |(words, value)| Self::number(words, value))
    }

    pub fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    pub fn under(self, under: impl Into<Text>) -> Self {
        Self { under: under.into(), ..self }
    }

    /// Creates a bar for a share. Its maximum length is the terminal width divided by `part`,
    /// within limits.
    pub fn bar(share: f64, part: usize, columns: (usize, usize)) -> Self {
        Self { role: Role::Course, shown: EntryBody::Bar { share, part, columns }, ..Self::default() }
    }

    /// Creates an entry with values over time, as wide as the other columns allow, within limits.
    pub fn course(values: Vec<f64>, columns: (usize, usize)) -> Self {
        Self { role: Role::Course, shown: EntryBody::Course(values, columns), ..Self::default() }
    }
}

impl<T: Into<Text>> From<T> for Entry {
    fn from(words: T) -> Self {
        Self::plain(words)
    }
}
