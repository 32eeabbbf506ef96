//! Tables of a document: columns, rows, and what stands in them.

use crate::style::Role;
use kurabe_core::Text;
use kurabe_core::number::{self, Figure};

pub(crate) use crate::columns::{Cut, Flush};

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<TableRow>,
    /// Columns of a terminal before it.
    pub(crate) indent: usize,
}

impl Table {
    pub(crate) fn new(
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item = impl Into<TableRow>>,
    ) -> Self {
        Self { columns: columns.into(), rows: rows.into_iter().map(Into::into).collect(), indent: 0 }
    }

    pub(crate) fn indent(self, indent: usize) -> Self {
        Self { indent, ..self }
    }
}

/// A column: its title, its side, and what may be cut off where there is no room.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(super) title: Text,
    pub(super) flush: Flush,
    pub(super) cut: Cut,
}

impl Column {
    /// A column of words.
    pub(crate) fn left(title: impl Into<Text>) -> Self {
        Self { title: title.into(), flush: Flush::Left, cut: Cut::Never }
    }

    /// A column of figures.
    pub(crate) fn right(title: impl Into<Text>) -> Self {
        Self { flush: Flush::Right, ..Self::left(title) }
    }

    /// A column without a title.
    pub(crate) fn untitled() -> Self {
        Self::left(Text::default())
    }

    pub(crate) fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
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
    pub(crate) shown: Shown,
}

/// Words or a drawing in them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown {
    Words(Text),
    /// A share, 0 to 1, as a bar: one of `part` of a terminal's width, within limits.
    Bar {
        share: f64,
        part: usize,
        columns: (usize, usize),
    },
    /// Values over time in at most so many characters.
    Course(Vec<f64>, usize),
}

impl Default for Shown {
    fn default() -> Self {
        Self::Words(Text::default())
    }
}

impl Entry {
    pub(crate) fn new(role: Role, words: impl Into<Text>) -> Self {
        Self { role, shown: Shown::Words(words.into()) }
    }

    pub(crate) fn plain(words: impl Into<Text>) -> Self {
        Self::new(Role::Plain, words)
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// A figure in its role; the sign of a figure that is not there without one.
    pub(crate) fn figure(role: Role, figure: Option<Figure>) -> Self {
        Self::new(role, figure.map_or_else(|| number::NONE.to_owned(), |figure| figure.to_string()))
    }

    pub(crate) fn course(values: Vec<f64>, longest: usize) -> Self {
        Self { role: Role::Course, shown: Shown::Course(values, longest) }
    }
}

impl<T: Into<Text>> From<T> for Entry {
    fn from(words: T) -> Self {
        Self::plain(words)
    }
}
