//! Content of a report, independent of language, format and width.
//!
//! The model: a document is a sequence of blocks in [`Text`]. A writer for each format (terminal,
//! Markdown, HTML) picks the language and lays out the blocks. A block says what a thing is.
//! Details that only a terminal needs (indentation, what to cut at a narrow width, empty lines) are
//! also in the block, and the other writers ignore them.

#![allow(missing_docs)]

pub mod curve;
pub mod grid;
mod html;
pub mod layout;
mod markdown;
pub mod spark;
mod style;
mod table;
mod terminal;

pub use html::Html;
pub use style::Role;
pub use style::Style;
pub use table::{Column, Cut, Entry, EntryBody, RowMarks, Table, TableForm, TableRow};

use curve::DrawnCurve;
use grid::Grid;
use kurabe_chart::Chart;
use kurabe_core::{Lang, Text};

/// A document, or a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doc {
    blocks: Vec<Block>,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// An empty line in a terminal. The other formats separate blocks on their own.
    Gap,
    /// A heading with its level. Level 1 is the title of the document.
    Heading(usize, Text),
    Paragraph(Paragraph),
    Fields(Fields),
    Table(Table),
    /// Numbers in cells of several lines. A page has a table of the same figures.
    Grid(Grid),
    Bars(BarTable),
    /// A curve in block characters. A table has its figures.
    Curve(DrawnCurve),
    /// Preformatted lines, and a narrow replacement for when they are too wide.
    Drawing {
        wide: Text,
        narrow: Text,
    },
    /// A chart with its kind, drawn in English and in Japanese.
    Chart(&'static str, Box<[Chart; 2]>),
    /// A part of the document with a name for links. If `folds` is set, Markdown output collapses
    /// it.
    Section {
        id: &'static str,
        title: Text,
        doc: Doc,
        folds: bool,
    },
    /// Optional detail behind a title. A terminal shows it expanded.
    Fold(Text, Doc),
    /// A command line.
    Code(String),
}

/// Table of values with bars: a row per place, a column per series. A page has a chart of the same.
#[derive(Clone, Debug, PartialEq)]
pub struct BarTable {
    pub columns: Vec<Text>,
    pub rows: Vec<BarRow>,
}

/// A row of a [`BarTable`].
#[derive(Clone, Debug, PartialEq)]
pub enum BarRow {
    /// A place, and for each column its value as text and as a share of the column's maximum.
    /// `None` if the column has no value there.
    Bars(String, Vec<Option<(String, f64)>>),
    /// A remark at a place between the rows.
    Mark(String, Text),
}

/// Sentences, or a row of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paragraph {
    role: Role,
    /// The role of the first item, if it differs from `role`.
    lead: Option<Role>,
    items: Vec<Text>,
    /// Whether the items are separated by dots, at which lines can break.
    flows: bool,
    /// Indentation of the first line and of the others, in columns.
    indent: (usize, usize),
    /// Marker before the first line: `-`, `[1]`. The lines are aligned behind it.
    mark: String,
    purpose: Purpose,
    /// Emphasized text behind the items.
    tags: Vec<Text>,
    /// The section that the paragraph links to.
    link: Option<&'static str>,
}

/// Purpose of a paragraph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Purpose {
    #[default]
    Plain,
    /// The summary of the document.
    Answer,
    /// A warning or an important remark.
    Notice,
    /// An item of a list.
    Item,
    /// A note below a table that explains how to read it.
    Note,
    /// A run that the document covers.
    Run,
}

impl Purpose {
    /// Checks whether paragraphs with this purpose form a list.
    fn is_listed(self) -> bool {
        matches!(self, Self::Item | Self::Note | Self::Run)
    }
}

impl Paragraph {
    pub fn new(words: impl Into<Text>) -> Self {
        Self { items: vec![words.into()], ..Self::default() }
    }

    /// Creates a paragraph that is indented by two columns in a terminal.
    pub fn aside(words: impl Into<Text>) -> Self {
        Self::new(words).indent(2, 2)
    }

    /// Creates a paragraph of facts separated by dots.
    pub fn flow(items: Vec<Text>) -> Self {
        Self { items, flows: true, ..Self::default() }
    }

    /// Appends text directly to the paragraph.
    pub fn then(mut self, words: Text) -> Self {
        self.items.push(words);
        self
    }

    pub fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Sets a separate role for the first item.
    pub fn lead(self, role: Role) -> Self {
        Self { lead: Some(role), ..self }
    }

    /// Sets the indentation of the first line and of the others, in terminal columns.
    pub fn indent(self, first: usize, rest: usize) -> Self {
        Self { indent: (first, rest), ..self }
    }

    /// Turns the paragraph into a note with the mark by which the text above refers to it. Its
    /// lines are aligned behind the mark.
    pub fn marked(self, mark: impl Into<String>) -> Self {
        Self { mark: mark.into(), purpose: Purpose::Note, ..self }
    }

    /// Sets the purpose. In a list, continuation lines are indented below the item's text.
    pub fn used_as(self, purpose: Purpose) -> Self {
        let indent = if purpose.is_listed() { (0, 2) } else { self.indent };
        Self { indent, purpose, ..self }
    }

    pub fn listed(self) -> Self {
        self.used_as(Purpose::Item)
    }

    pub fn tags(self, tags: Vec<Text>) -> Self {
        Self { tags, ..self }
    }

    pub fn link(self, section: &'static str) -> Self {
        Self { link: Some(section), ..self }
    }
}

/// Keys with the items of their values, with aligned keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    pub fields: Vec<Field>,
    /// Further keys, shown elsewhere, that determine the alignment.
    pub aligned_with: Vec<Text>,
    /// Roles of the signs, if the keys begin with a sign. A field without a key then belongs to the
    /// one above it.
    pub signs: Vec<Role>,
}

/// A key and the items of its value.
pub type Field = (Text, Vec<Text>);

/// Returns the fields that have a value.
pub fn filled(fields: impl IntoIterator<Item = Field>) -> Vec<Field> {
    fields.into_iter().filter(|(_, items)| !items.is_empty()).collect()
}

impl From<Vec<Field>> for Fields {
    fn from(fields: Vec<Field>) -> Self {
        Self { fields, ..Self::default() }
    }
}

/// Implements `From` for each type that is the content of one block.
macro_rules! blocks {
    ($($kind:ident($piece:ty)),+) => {
        $(impl From<$piece> for Block {
            fn from(piece: $piece) -> Self {
                Self::$kind(piece)
            }
        })+
    };
}

blocks!(Paragraph(Paragraph), Fields(Fields), Table(Table), Grid(Grid), Bars(BarTable), Curve(DrawnCurve));

impl<T: Into<Block>> FromIterator<T> for Doc {
    fn from_iter<I: IntoIterator<Item = T>>(blocks: I) -> Self {
        Self { blocks: blocks.into_iter().map(Into::into).collect() }
    }
}

impl Doc {
    /// Returns the sections. Blocks outside a section are dropped.
    pub fn into_sections(self) -> Vec<(&'static str, Text, Self)> {
        let section = |block| match block {
            Block::Section { id, title, doc, .. } => Some((id, title, doc)),
            _ => None,
        };
        self.blocks.into_iter().filter_map(section).collect()
    }

    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a document with one block.
    pub fn of(block: impl Into<Block>) -> Self {
        Self { blocks: vec![block.into()] }
    }

    /// Takes the document out of a chain of builder calls.
    pub fn done(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Checks whether the document is empty. Empty lines don't count.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| *block == Block::Gap)
    }

    /// Returns the text of the paragraphs.
    pub fn paragraphs(self) -> Vec<Text> {
        let words = |block| match block {
            Block::Paragraph(paragraph) => Some(Text::join(paragraph.items, [" · "; 2])),
            _ => None,
        };
        self.blocks.into_iter().filter_map(words).collect()
    }

    pub fn push(&mut self, block: impl Into<Block>) -> &mut Self {
        self.blocks.push(block.into());
        self
    }

    pub fn heading(&mut self, level: usize, words: impl Into<Text>) -> &mut Self {
        self.push(Block::Heading(level, words.into()))
    }

    /// Adds a paragraph that is indented by two columns in a terminal.
    pub fn aside(&mut self, words: impl Into<Text>) -> &mut Self {
        self.push(Paragraph::aside(words))
    }

    /// Adds an indented paragraph for each line of the text.
    pub fn asides(&mut self, words: &Text) -> &mut Self {
        let count = words.en.lines().count().max(words.ja.lines().count());
        let line = |index| words.map(|words| words.lines().nth(index).unwrap_or_default().to_owned());
        self.push_all((0..count).map(line).map(Paragraph::aside))
    }

    pub fn say(&mut self, words: impl Into<Text>) -> &mut Self {
        self.push(Paragraph::new(words))
    }

    /// Adds a paragraph for each text.
    pub fn say_all(&mut self, words: impl IntoIterator<Item = Text>) -> &mut Self {
        self.push_all(words.into_iter().map(Paragraph::new))
    }

    /// Adds several blocks, or an optional one.
    pub fn push_all(&mut self, blocks: impl IntoIterator<Item = impl Into<Block>>) -> &mut Self {
        self.blocks.extend(blocks.into_iter().map(Into::into));
        self
    }

    pub fn gap(&mut self) -> &mut Self {
        self.push(Block::Gap)
    }

    /// Appends the blocks of another document.
    pub fn append(&mut self, other: Doc) -> &mut Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// Returns this document followed by another.
    pub fn and(mut self, other: Doc) -> Self {
        self.append(other);
        self
    }

    /// Returns the document followed by an empty line.
    pub fn with_gap(mut self) -> Self {
        self.gap();
        self
    }

    /// Adds a chart of the given kind, drawn in English and in Japanese.
    pub fn chart(&mut self, kind: &'static str, drawn: [Chart; 2]) -> &mut Self {
        self.push(Block::Chart(kind, Box::new(drawn)))
    }

    /// Adds a chart of the given kind, if there is something to draw.
    pub fn chart_of(&mut self, kind: &'static str, draw: impl Fn(Lang) -> Option<Chart>) -> &mut Self {
        match [draw(Lang::En), draw(Lang::Ja)] {
            [Some(english), Some(japanese)] => self.chart(kind, [english, japanese]),
            _ => self,
        }
    }

    /// Adds a section with a title, unless it is empty.
    pub fn section(&mut self, id: &'static str, title: Text, doc: Doc) -> &mut Self {
        if doc.is_empty() { self } else { self.push(Block::Section { id, title, doc, folds: false }) }
    }

    /// Adds a paragraph with the given purpose for each text.
    pub fn list(&mut self, purpose: Purpose, items: impl IntoIterator<Item = Text>) -> &mut Self {
        self.push_all(items.into_iter().map(|words| Paragraph::new(words).used_as(purpose)))
    }
}

#[cfg(test)]
mod tests;
