//! A plain table: a title row and rows of words, aligned by display width.
//!
//! The model: columns are as wide as their widest entry; a column without entries is left out; when the line is
//! too long, columns that may be dropped go first, the last one before the others, then the widest one that may be cut
//! gives way until it fits.

use crate::layout::{Line, clip, clip_front, display_width, flow};
use crate::style::{Role, Style};
use kurabe_core::shown;

/// Spaces between columns.
pub(crate) const GAP: usize = 2;
/// A column is not cut below this.
const NARROWEST: usize = 6;
/// A column that wraps is not made narrower than this for its title.
const NARROWEST_WRAPPED: usize = 12;

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

pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) flush: Flush,
    pub(crate) cut: Cut,
}

impl Column {
    pub(crate) fn left(title: &str) -> Self {
        Self { title: title.to_owned(), flush: Flush::Left, cut: Cut::Never }
    }

    pub(crate) fn right(title: &str) -> Self {
        Self { title: title.to_owned(), flush: Flush::Right, cut: Cut::Never }
    }

    pub(crate) fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }
}

/// An entry in its tone.
pub(crate) type Entry = (Role, String);

/// An entry without a tone.
pub(crate) fn plain(text: impl Into<String>) -> Entry {
    (Role::Plain, text.into())
}

/// The lines of the table, indented.
pub(crate) fn render(columns: &[Column], rows: &[Vec<Entry>], indent: usize, style: &Style) -> Vec<String> {
    render_with_notes(columns, rows, &[], (indent, GAP), style)
}

/// The lines of the table with those of a row's note behind it.
pub(crate) fn render_with_notes(
    columns: &[Column],
    rows: &[Vec<Entry>],
    notes: &[Vec<String>],
    (indent, gap): (usize, usize),
    style: &Style,
) -> Vec<String> {
    let table = Table::fitted(columns, rows, gap, style.width.saturating_sub(indent));
    let titled = columns.iter().any(|column| !column.title.is_empty());
    let head: Vec<Entry> = columns.iter().map(|column| (Role::Quiet, column.title.clone())).collect();
    let mut lines = if titled { table.lines(&head, indent, style) } else { Vec::new() };
    for (place, row) in rows.iter().enumerate() {
        lines.extend(table.lines(row, indent, style));
        lines.extend(notes.get(place).into_iter().flatten().cloned());
    }
    lines
}

/// The columns that are shown, with their widths.
struct Table<'a> {
    columns: &'a [Column],
    shown: Vec<(usize, usize)>,
    gap: usize,
}

impl<'a> Table<'a> {
    fn fitted(columns: &'a [Column], rows: &[Vec<Entry>], gap: usize, room: usize) -> Self {
        let width_of =
            |row: &Vec<Entry>, index: usize| row.get(index).map_or(0, |(_, text)| display_width(text));
        let shown = (0..columns.len())
            .filter_map(|index| {
                let widest = rows.iter().map(|row| width_of(row, index)).max().unwrap_or(0);
                (widest > 0).then(|| (index, widest.max(display_width(&columns[index].title))))
            })
            .collect();
        let mut table = Self { columns, shown, gap };
        while table.width() > room {
            let last_of = |cut: Cut| table.shown.iter().rposition(|(index, _)| columns[*index].cut == cut);
            let Some(last) = last_of(Cut::DropFirst).or_else(|| last_of(Cut::Drop)) else { break };
            table.shown.remove(last);
        }
        while table.width() > room {
            let widest = table.shown.iter_mut().filter(|(index, width)| {
                let column = &columns[*index];
                let may = !matches!(column.cut, Cut::Never | Cut::Drop | Cut::DropFirst);
                // Where entries wrap, so does the title.
                let least = match column.cut {
                    Cut::Wrap => NARROWEST_WRAPPED.min(display_width(&column.title)),
                    _ => display_width(&column.title),
                };
                may && *width > NARROWEST.max(least)
            });
            let Some((_, width)) = widest.max_by_key(|(_, width)| *width) else { break };
            *width -= 1;
        }
        table
    }

    fn width(&self) -> usize {
        self.shown.iter().map(|(_, width)| width + self.gap).sum::<usize>().saturating_sub(self.gap)
    }

    /// A row, on several lines if a column wraps.
    fn lines(&self, row: &[Entry], indent: usize, style: &Style) -> Vec<String> {
        let cells: Vec<Vec<String>> = self
            .shown
            .iter()
            .map(|(index, width)| {
                let text = row.get(*index).map_or("", |(_, text)| text.as_str());
                match self.columns[*index].cut {
                    Cut::Front => vec![clip_front(&shown::line(text), *width)],
                    Cut::End => vec![clip(&shown::line(text), *width)],
                    Cut::Wrap => flow(&[text.to_owned()], *width),
                    Cut::Never | Cut::Drop | Cut::DropFirst => vec![shown::line(text)],
                }
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut out = Line::new(style);
                let mut at = indent;
                for ((index, width), cell) in self.shown.iter().zip(&cells) {
                    let text = cell.get(line).map_or("", String::as_str);
                    let role = row.get(*index).map_or(Role::Plain, |(role, _)| *role);
                    match self.columns[*index].flush {
                        Flush::Left => out.at(at, role, text),
                        Flush::Right => out.until(at + width, role, text),
                    };
                    at += width + self.gap;
                }
                out.finish()
            })
            .collect()
    }
}

/// A key and the items of its value.
pub(crate) type Field = (String, Vec<String>);

/// Columns that the widest key takes.
pub(crate) fn key_width(fields: &[Field]) -> usize {
    fields.iter().map(|(key, _)| display_width(key)).max().unwrap_or(0)
}

/// Lines of `key  value`, keys aligned, values wrapped under themselves between their items.
pub(crate) fn fields(fields: &[Field], indent: usize, key_width: usize, style: &Style) -> Vec<String> {
    let at = indent + key_width + GAP;
    fields
        .iter()
        .flat_map(|(key, items)| {
            let lines = flow(items, style.width.saturating_sub(at).max(20));
            lines.into_iter().enumerate().map(move |(index, line)| {
                let mut row = Line::new(style);
                if index == 0 {
                    row.at(indent, Role::Quiet, key);
                }
                row.at(at, Role::Plain, &line);
                row.finish()
            })
        })
        .collect()
}
