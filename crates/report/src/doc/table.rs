//! Tables of a document: columns, rows, and what stands in them.

use crate::doc::Role;
use kurabe_core::Text;
use kurabe_core::number::{self, Figure};

/// Columns of a terminal between those of a table.
pub(super) const GAP: usize = 2;

/// On which side a column stands flush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flush {
    Left,
    Right,
}

/// What may be cut off an entry that is too wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    Never,
    End,
    Front,
    /// Nothing: what is too wide goes on below.
    Wrap,
    /// The whole column.
    Drop,
    /// The whole column, before any other.
    DropFirst,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<TableRow>,
    /// What it is of, where nothing above it says so.
    pub(crate) caption: Text,
    /// How a page lays it out.
    pub(crate) form: TableForm,
    /// Columns of a terminal before it.
    pub(crate) indent: usize,
    /// So many columns name a row; behind them a terminal that is too narrow parts the table.
    pub(crate) parted_behind: Option<usize>,
    /// Columns of a terminal between its own.
    pub(crate) gap: usize,
    /// Whether a row becomes lines of its own in a terminal that is too narrow for the columns.
    pub(crate) stacks: bool,
}

/// How a page lays a table out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum TableForm {
    /// Rows that a click sorts.
    #[default]
    Sorts,
    /// The same, with rows that become cards on a narrow screen.
    Cards,
    /// The same, with many columns.
    Wide,
    /// Words, not to be sorted.
    Facts,
}

impl Table {
    pub(crate) fn new(
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item = impl Into<TableRow>>,
    ) -> Self {
        let rows = rows.into_iter().map(Into::into).collect();
        Self { columns: columns.into(), rows, gap: GAP, ..Self::default() }
    }

    /// A table of things, made column by column.
    pub(crate) fn of<T>(things: impl IntoIterator<Item = T>) -> TableOf<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = things.iter().map(|_| TableRow::default()).collect();
        TableOf { things, table: Self { rows, gap: GAP, ..Self::default() } }
    }

    /// With its caption and its form on a page.
    pub(crate) fn on_page(self, caption: &Text, form: TableForm) -> Self {
        Self { caption: caption.clone(), form, ..self }
    }

    /// Without the columns from a place on in which nothing stands.
    pub(crate) fn without_blanks_from(&self, first: usize) -> Self {
        let is_filled = |index: usize| {
            self.rows.iter().any(|row| row.entries.get(index).is_some_and(|entry| !entry.is_blank()))
        };
        let kept = (0..self.columns.len()).filter(|index| *index < first || is_filled(*index));
        self.only(&kept.collect::<Vec<_>>())
    }

    pub(crate) fn indent(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Parted into several where there is no room, each with the first columns.
    pub(crate) fn parted_behind(self, columns: usize) -> Self {
        Self { parted_behind: Some(columns), ..self }
    }

    /// With rows that become lines of their own where there is no room.
    pub(crate) fn stacks(self) -> Self {
        Self { stacks: true, ..self }
    }

    /// The same with only these columns. A row that has nothing in them but its name is left out, and so is a name that
    /// stands alone above such rows.
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

/// A column: its title, its side, and what may be cut off where there is no room.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(super) title: Text,
    /// What stands below the title, smaller.
    pub(super) under: Text,
    pub(super) flush: Flush,
    pub(super) cut: Cut,
    /// Columns of a terminal that it takes at most before the table is parted.
    pub(super) least: usize,
    /// Whether its title is left out where its entry has a line of its own.
    pub(super) is_bare: bool,
}

/// A table whose rows are things of one kind: a column is its title and what it shows of a thing.
pub(crate) struct TableOf<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    pub(crate) fn column<E: Into<Entry>>(mut self, column: Column, shown: impl Fn(&T) -> E) -> Self {
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.entries.push(shown(thing).into());
        }
        self.table.columns.push(column);
        self
    }

    pub(crate) fn left<E: Into<Entry>>(self, title: impl Into<Text>, shown: impl Fn(&T) -> E) -> Self {
        self.column(Column::left(title), shown)
    }

    /// A column of words that may be cut.
    pub(crate) fn cut<E: Into<Entry>>(
        self,
        cut: Cut,
        title: impl Into<Text>,
        shown: impl Fn(&T) -> E,
    ) -> Self {
        self.column(Column::left(title).cut(cut), shown)
    }

    pub(crate) fn right<E: Into<Entry>>(self, title: impl Into<Text>, shown: impl Fn(&T) -> E) -> Self {
        self.column(Column::right(title), shown)
    }

    pub(crate) fn table(self) -> Table {
        self.table
    }
}

impl Column {
    /// A column of words.
    pub(crate) fn left(title: impl Into<Text>) -> Self {
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
    pub(crate) fn right(title: impl Into<Text>) -> Self {
        Self { flush: Flush::Right, ..Self::left(title) }
    }

    /// A column without a title.
    pub(crate) fn untitled() -> Self {
        Self::left(Text::default())
    }

    pub(crate) fn under(self, under: Text) -> Self {
        Self { under, ..self }
    }

    pub(crate) fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }

    /// Without its title where its entry, which speaks for itself, has a line of its own.
    pub(crate) fn bare(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// Wraps; the table is parted before the column would be narrower than this.
    pub(crate) fn wrap_to(self, least: usize) -> Self {
        Self { cut: Cut::Wrap, least, ..self }
    }
}

/// A row, and what is to be known of it as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TableRow {
    pub(crate) entries: Vec<Entry>,
    /// A sentence below the row.
    pub(crate) note: Option<Text>,
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

/// What stands in a place of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) role: Role,
    pub(crate) shown: EntryBody,
    /// What stands below it, smaller.
    pub(crate) under: Text,
    /// What it is sorted by, if not by its words.
    pub(crate) value: Option<f64>,
    /// What is shown to who points at it.
    pub(crate) hint: Text,
    /// Where it leads on a page.
    pub(crate) link: String,
    /// The run that can be ticked there, to be compared.
    pub(crate) tick: String,
}

/// Words or a drawing in them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntryBody {
    Words(Text),
    /// That there is none of it.
    Missing,
    /// A share, 0 to 1, as a bar: one of `part` of a terminal's width, within limits.
    Bar {
        share: f64,
        part: usize,
        columns: (usize, usize),
    },
    /// Values over time; a terminal gives them what the other columns leave, within limits.
    Course(Vec<f64>, (usize, usize)),
    /// Values with their intervals on a line; a page draws it, and beside it they stand as figures.
    Marks(Marks),
}

/// Places on a line, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marks {
    /// Low end of the interval, value and high end of each.
    pub(crate) dots: Vec<[f64; 3]>,
    /// A stretch that is told apart.
    pub(crate) band: Option<[f64; 2]>,
}

impl Default for EntryBody {
    fn default() -> Self {
        Self::Words(Text::default())
    }
}

impl Entry {
    pub(crate) fn new(role: Role, words: impl Into<Text>) -> Self {
        Self { role, shown: EntryBody::Words(words.into()), ..Self::default() }
    }

    /// Words in their role.
    pub(crate) fn of((role, words): (Role, Text)) -> Self {
        Self::new(role, words)
    }

    pub(crate) fn plain(words: impl Into<Text>) -> Self {
        Self::new(Role::Plain, words)
    }

    /// A figure that there is none of.
    pub(crate) fn missing() -> Self {
        Self { role: Role::Quiet, shown: EntryBody::Missing, ..Self::default() }
    }

    fn is_blank(&self) -> bool {
        self.shown == EntryBody::Missing || matches!(&self.shown, EntryBody::Words(words) if words.is_empty())
    }

    /// A figure in its role; the sign of a figure that is not there without one.
    pub(crate) fn figure(role: Role, figure: Option<Figure>) -> Self {
        Self::new(role, figure.map_or_else(|| number::NONE.to_owned(), |figure| figure.to_string()))
    }

    /// A latency; the sign of a figure that is not there without one.
    pub(crate) fn latency(ns: Option<u64>) -> Self {
        ns.map_or(number::NONE.to_owned(), number::latency_ns).into()
    }

    /// A figure with the value that it is sorted by.
    pub(crate) fn number(words: impl Into<Text>, value: f64) -> Self {
        Self { value: Some(value), ..Self::plain(words) }
    }

    /// The same; the sign of a figure that is not there without one.
    pub(crate) fn number_of(figure: Option<(impl Into<Text>, f64)>) -> Self {
        figure.map_or_else(Self::missing, |(words, value)| Self::number(words, value))
    }

    pub(crate) fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    pub(crate) fn under(self, under: impl Into<Text>) -> Self {
        Self { under: under.into(), ..self }
    }

    /// A share as a bar of one `part` of a terminal's width, within limits.
    pub(crate) fn bar(share: f64, part: usize, columns: (usize, usize)) -> Self {
        Self { role: Role::Course, shown: EntryBody::Bar { share, part, columns }, ..Self::default() }
    }

    /// Values over time, in what the other columns leave within limits.
    pub(crate) fn course(values: Vec<f64>, columns: (usize, usize)) -> Self {
        Self { role: Role::Course, shown: EntryBody::Course(values, columns), ..Self::default() }
    }
}

impl<T: Into<Text>> From<T> for Entry {
    fn from(words: T) -> Self {
        Self::plain(words)
    }
}
