//! What a report says, before its language, format and width are chosen.
//!
//! The model: a document is a row of blocks in [`Text`]; a writer for each format (terminal, Markdown) picks the language
//! and lays the blocks out. A block says what a thing is; where a terminal needs more (columns to indent by, what may be
//! cut when the width is short, empty lines), the block tells it, and other formats do not ask.

pub(crate) mod curve;
pub(crate) mod grid;
mod html;
pub(crate) mod layout;
mod markdown;
pub(crate) mod spark;
mod style;
mod table;
mod terminal;

pub(crate) use html::Html;
pub(crate) use style::Role;
pub use style::Style;
pub(crate) use table::{Column, Cut, Entry, EntryBody, Flush, Marks, Table, TableForm, TableRow};

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
pub(crate) enum Block {
    /// An empty line in a terminal; other formats part blocks by themselves.
    Gap,
    /// A heading: 1 is that of the document.
    Heading(usize, Text),
    Paragraph(Paragraph),
    Fields(Fields),
    Table(Table),
    /// Numbers in cells of several lines; a page has a table of the same figures.
    Grid(Grid),
    Bars(BarTable),
    /// A course in block characters; its figures stand in a table.
    Curve(DrawnCurve),
    /// Lines that keep their places, and what stands for them where they are too wide.
    Drawing {
        wide: Text,
        narrow: Text,
    },
    /// A chart of a kind, in English and in Japanese.
    Chart(&'static str, Box<[Chart; 2]>),
    /// A part of the document with a name in links to it; where it `folds`, a text folds it.
    Section {
        id: &'static str,
        title: Text,
        doc: Doc,
        folds: bool,
    },
    /// What stands behind a title for who wants it; a terminal shows it all.
    Fold(Text, Doc),
    /// A command line.
    Code(String),
}

/// Values with bars over places, a column for each of several courses; a page has a chart of the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarTable {
    pub(crate) columns: Vec<Text>,
    pub(crate) rows: Vec<BarRow>,
}

/// A row of bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BarRow {
    /// A place, and for each column that has a value there its words and its share of the column's highest.
    Bars(String, Vec<Option<(String, f64)>>),
    /// What lies at a place between the rows.
    Mark(String, Text),
}

/// Sentences, or facts behind each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Paragraph {
    role: Role,
    /// The role of the first item, if it is another.
    lead: Option<Role>,
    items: Vec<Text>,
    /// Whether the items stand behind each other with dots between, and lines break there.
    flows: bool,
    /// Columns before the first line, and before the others.
    indent: (usize, usize),
    /// What stands before the first line, all lines under each other behind it: `-`, `[1]`.
    mark: String,
    purpose: Purpose,
    /// Words behind it that stand out.
    tags: Vec<Text>,
    /// The section that it leads to.
    link: Option<&'static str>,
}

/// What a paragraph is for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Purpose {
    #[default]
    Plain,
    /// What the document says in short.
    Answer,
    /// What one must mind.
    Notice,
    /// One of several alike.
    Item,
    /// One of several below a table that say how to read it.
    Note,
    /// One of the runs that the document is of.
    Run,
}

impl Purpose {
    /// Whether paragraphs of this use make a list.
    fn is_listed(self) -> bool {
        matches!(self, Self::Item | Self::Note | Self::Run)
    }
}

impl Paragraph {
    pub(crate) fn new(words: impl Into<Text>) -> Self {
        Self { items: vec![words.into()], ..Self::default() }
    }

    /// Words that stand by two columns further right in a terminal.
    pub(crate) fn aside(words: impl Into<Text>) -> Self {
        Self::new(words).indent(2, 2)
    }

    /// Facts with dots between them.
    pub(crate) fn flow(items: Vec<Text>) -> Self {
        Self { items, flows: true, ..Self::default() }
    }

    /// Further words right behind these.
    pub(crate) fn then(mut self, words: Text) -> Self {
        self.items.push(words);
        self
    }

    pub(crate) fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The first fact in a role of its own.
    pub(crate) fn lead(self, role: Role) -> Self {
        Self { lead: Some(role), ..self }
    }

    /// Columns before the first line and before the others, in a terminal.
    pub(crate) fn indent(self, first: usize, rest: usize) -> Self {
        Self { indent: (first, rest), ..self }
    }

    /// A note with the sign by which words above speak of it; its lines stand under each other behind the sign.
    pub(crate) fn marked(self, mark: impl Into<String>) -> Self {
        Self { mark: mark.into(), purpose: Purpose::Note, ..self }
    }

    /// What it is for; further lines of a list's paragraph stand under its own words.
    pub(crate) fn used_as(self, purpose: Purpose) -> Self {
        let indent = if purpose.is_listed() { (0, 2) } else { self.indent };
        Self { indent, purpose, ..self }
    }

    pub(crate) fn listed(self) -> Self {
        self.used_as(Purpose::Item)
    }

    pub(crate) fn tags(self, tags: Vec<Text>) -> Self {
        Self { tags, ..self }
    }

    pub(crate) fn link(self, section: &'static str) -> Self {
        Self { link: Some(section), ..self }
    }
}

/// Keys with the items of their values, keys aligned.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub(crate) fields: Vec<Field>,
    /// Keys elsewhere that these are aligned with.
    pub(crate) aligned_with: Vec<Text>,
    /// Where keys begin with a sign, the roles of the signs; a field without a key then belongs to the one above it.
    pub(crate) signs: Vec<Role>,
}

/// A key and the items of its value.
pub(crate) type Field = (Text, Vec<Text>);

/// Those fields that have a value.
pub(crate) fn filled(fields: impl IntoIterator<Item = Field>) -> Vec<Field> {
    fields.into_iter().filter(|(_, items)| !items.is_empty()).collect()
}

impl From<Vec<Field>> for Fields {
    fn from(fields: Vec<Field>) -> Self {
        Self { fields, ..Self::default() }
    }
}

/// Pieces that are a block as they are.
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
    /// Its sections; what stands in none is left out.
    pub(crate) fn into_sections(self) -> Vec<(&'static str, Text, Self)> {
        let section = |block| match block {
            Block::Section { id, title, doc, .. } => Some((id, title, doc)),
            _ => None,
        };
        self.blocks.into_iter().filter_map(section).collect()
    }

    /// An empty document.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A document of one piece.
    pub(crate) fn of(block: impl Into<Block>) -> Self {
        Self { blocks: vec![block.into()] }
    }

    /// What was made piece by piece, taken out.
    pub(crate) fn done(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Whether it says nothing; empty lines are nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| *block == Block::Gap)
    }

    /// The words of its paragraphs.
    pub(crate) fn paragraphs(self) -> Vec<Text> {
        let words = |block| match block {
            Block::Paragraph(paragraph) => Some(Text::join(paragraph.items, [" · "; 2])),
            _ => None,
        };
        self.blocks.into_iter().filter_map(words).collect()
    }

    pub(crate) fn push(&mut self, block: impl Into<Block>) -> &mut Self {
        self.blocks.push(block.into());
        self
    }

    pub(crate) fn heading(&mut self, level: usize, words: impl Into<Text>) -> &mut Self {
        self.push(Block::Heading(level, words.into()))
    }

    /// A paragraph that stands by two columns further right in a terminal.
    pub(crate) fn aside(&mut self, words: impl Into<Text>) -> &mut Self {
        self.push(Paragraph::aside(words))
    }

    /// The same for each line of the words.
    pub(crate) fn asides(&mut self, words: &Text) -> &mut Self {
        let count = words.en.lines().count().max(words.ja.lines().count());
        let line = |index| words.map(|words| words.lines().nth(index).unwrap_or_default().to_owned());
        self.push_all((0..count).map(line).map(Paragraph::aside))
    }

    /// A paragraph of its own.
    pub(crate) fn say(&mut self, words: impl Into<Text>) -> &mut Self {
        self.push(Paragraph::new(words))
    }

    /// A paragraph for each of these.
    pub(crate) fn say_all(&mut self, words: impl IntoIterator<Item = Text>) -> &mut Self {
        self.push_all(words.into_iter().map(Paragraph::new))
    }

    /// Several pieces, or one that may be missing.
    pub(crate) fn push_all(&mut self, blocks: impl IntoIterator<Item = impl Into<Block>>) -> &mut Self {
        self.blocks.extend(blocks.into_iter().map(Into::into));
        self
    }

    pub(crate) fn gap(&mut self) -> &mut Self {
        self.push(Block::Gap)
    }

    /// The blocks of another document behind these.
    pub(crate) fn append(&mut self, other: Doc) -> &mut Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// This document and then another.
    pub(crate) fn and(mut self, other: Doc) -> Self {
        self.append(other);
        self
    }

    /// The same with an empty line behind it.
    pub(crate) fn with_gap(mut self) -> Self {
        self.gap();
        self
    }

    /// A chart of a kind, as it is drawn for a reader of each language.
    pub(crate) fn chart(&mut self, kind: &'static str, drawn: [Chart; 2]) -> &mut Self {
        self.push(Block::Chart(kind, Box::new(drawn)))
    }

    /// The same, if there is something to draw.
    pub(crate) fn chart_of(&mut self, kind: &'static str, draw: impl Fn(Lang) -> Option<Chart>) -> &mut Self {
        match [draw(Lang::En), draw(Lang::Ja)] {
            [Some(english), Some(japanese)] => self.chart(kind, [english, japanese]),
            _ => self,
        }
    }

    /// A part with a title, unless there is nothing in it.
    pub(crate) fn section(&mut self, id: &'static str, title: Text, doc: Doc) -> &mut Self {
        if doc.is_empty() { self } else { self.push(Block::Section { id, title, doc, folds: false }) }
    }

    /// Paragraphs of one use.
    pub(crate) fn list(&mut self, purpose: Purpose, items: impl IntoIterator<Item = Text>) -> &mut Self {
        self.push_all(items.into_iter().map(|words| Paragraph::new(words).used_as(purpose)))
    }
}

#[cfg(test)]
mod tests;
