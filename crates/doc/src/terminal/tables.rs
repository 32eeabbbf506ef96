//! A table in a terminal: a title row and rows of text, aligned by display width.
//!
//! The model: columns are as wide as their widest entry, and a column without entries is omitted.
//! If a line is too long, columns with `Cut::Drop` are removed first, from right to left. Then the
//! widest column that may be cut shrinks until the line fits.

use super::painted;
use crate::layout::{StyledLine, clip, clip_front, display_width, flow, hanging, pad_right, wrap};
use crate::spark::{bar, sparkline};
use crate::table::Flush;
use crate::table::GAP;
use crate::{Cut, Entry, EntryBody, Role, Style, Table, TableRow};
use kurabe_core::{number, shown};

/// Minimum width of a column that is cut.
const NARROWEST: usize = 6;
/// Minimum width of a wrapping column because of its title.
const NARROWEST_WRAPPED: usize = 12;
/// Minimum width of a wrapping column, in terminal columns. In a narrower terminal, each entry of a
/// row gets a separate line.
const LEAST_WRAPPED: usize = 24;

/// Text with its role, in the reader's language.
type PaintedWords = (Role, String);

impl Table {
    /// Splits the table into several if its columns don't fit the width and `parted_behind` allows
    /// it. The parts are separated by an empty line.
    pub(super) fn pieces(&self, style: &Style) -> Vec<Self> {
        let Some(fixed) = self.parted_behind else { return vec![self.clone()] };
        let rows = self.words(style);
        let width_of = |place: usize| {
            let title = display_width(self.columns[place].title.get(style.lang));
            widest(&rows, place).max(title).min(self.columns[place].least) + GAP
        };
        let room = style.width.saturating_sub(self.indent) + GAP;
        let names: usize = (0..fixed).map(width_of).sum();
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        let mut left = 0;
        for place in fixed..self.columns.len() {
            let width = width_of(place);
            if pieces.is_empty() || left < width {
                pieces.push((0..fixed).collect());
                left = room.saturating_sub(names);
            }
            left = left.saturating_sub(width);
            pieces.last_mut().into_iter().for_each(|piece| piece.push(place));
        }
        pieces.iter().map(|places| self.only(places)).collect()
    }

    /// Renders the table as lines. Each row is followed by its note.
    pub(super) fn lines(&self, style: &Style) -> Vec<String> {
        let titles: Vec<String> = self.columns.iter().map(|column| style.say(&column.title)).collect();
        let rows = self.words(style);
        let room = style.width.saturating_sub(self.indent);
        if self.stacks && !self.fits(&titles, &rows, room) {
            return rows.iter().flat_map(|row| self.stacked(&titles, row, style)).collect();
        }
        let fitted = Fitted::new(self, &titles, &rows, room);
        let mut lines = Vec::new();
        if titles.iter().any(|title| !title.is_empty()) {
            let head: Vec<PaintedWords> = titles.into_iter().map(|title| (Role::Quiet, title)).collect();
            lines.extend(fitted.lines(&head, style));
        }
        for (row, words) in self.rows.iter().zip(&rows) {
            lines.extend(fitted.lines(words, style));
            let note = row.note.iter().flat_map(|note| wrap(note.get(style.lang), room.saturating_sub(2)));
            lines.extend(hanging(note.collect(), self.indent + 2, self.indent + 2));
        }
        lines
    }

    /// Returns the entries as text. A sparkline takes the width that the other columns leave,
    /// within its limits.
    fn words(&self, style: &Style) -> Vec<Vec<PaintedWords>> {
        let words = |entry: &Entry| match &entry.shown {
            EntryBody::Words(words) if entry.under.is_empty() => style.say(words),
            EntryBody::Words(words) => {
                format!("{} ({})", words.get(style.lang), entry.under.get(style.lang))
            }
            EntryBody::Missing => number::NONE.to_owned(),
            EntryBody::Bar { share, part, columns: (least, most) } => {
                bar(*share, (style.width / part).clamp(*least, *most))
            }
            EntryBody::Course(..) | EntryBody::RowMarks(_) => String::new(),
        };
        let row = |row: &TableRow| row.entries.iter().map(|entry| (entry.role, words(entry))).collect();
        let mut rows: Vec<Vec<PaintedWords>> = self.rows.iter().map(row).collect();
        let taken = (0..self.columns.len()).map(|place| widest(&rows, place) + self.gap).sum::<usize>();
        let room = style.width.saturating_sub((self.indent + taken).saturating_sub(self.gap));
        for (words, row) in rows.iter_mut().zip(&self.rows) {
            for ((_, words), entry) in words.iter_mut().zip(&row.entries) {
                if let EntryBody::Course(values, (least, most)) = &entry.shown {
                    *words = sparkline(values, room.clamp(*least, *most));
                }
            }
        }
        rows
    }

    /// Checks whether the table is readable at this width: nothing is cut, and wrapping columns are
    /// wide enough.
    fn fits(&self, titles: &[String], rows: &[Vec<PaintedWords>], room: usize) -> bool {
        let width_of = |place: usize| match (widest(rows, place), self.columns[place].cut) {
            (0, _) => 0,
            (widest, Cut::Wrap) => widest.min(LEAST_WRAPPED) + self.gap,
            (widest, _) => widest.max(display_width(&titles[place])) + self.gap,
        };
        (0..titles.len()).map(width_of).sum::<usize>() <= room + self.gap
    }

    /// Renders a row on separate lines: its first entry, and below it the others with their column
    /// titles.
    fn stacked(&self, titles: &[String], row: &[PaintedWords], style: &Style) -> Vec<String> {
        let title = |place: usize| if self.columns[place].is_bare { "" } else { titles[place].as_str() };
        let key_width = (1..titles.len()).map(|place| display_width(title(place))).max().unwrap_or(0);
        let (first, rest) = (self.indent, self.indent + 2);
        let Some(((role, name), others)) = row.split_first() else { return Vec::new() };
        let role = if *role == Role::Plain { Role::Strong } else { *role };
        let name = hanging(wrap(name, style.width.saturating_sub(rest)), first, rest);
        let mut lines = painted(name, role, style);
        for (place, (role, words)) in
            (1..titles.len()).zip(others).filter(|(_, (_, words))| !words.is_empty())
        {
            let title = title(place);
            let at = if title.is_empty() { rest } else { rest + key_width + GAP };
            let entry = painted(wrap(words, style.width.saturating_sub(at)), *role, style);
            for (place, words) in entry.iter().enumerate() {
                let title = pad_right(if place == 0 { title } else { "" }, at - rest);
                lines.push(format!("{}{}{words}", " ".repeat(rest), style.paint(Role::Quiet, &title)));
            }
        }
        lines
    }
}

/// Returns the width of a column's widest entry.
fn widest(rows: &[Vec<PaintedWords>], place: usize) -> usize {
    let entries = rows.iter().filter_map(|row| row.get(place));
    entries.map(|(_, words)| display_width(words)).max().unwrap_or(0)
}

/// The columns that are shown, with their widths.
struct Fitted<'a> {
    table: &'a Table,
    shown: Vec<(usize, usize)>,
}

impl<'a> Fitted<'a> {
    fn new(table: &'a Table, titles: &[String], rows: &[Vec<PaintedWords>], room: usize) -> Self {
        let columns = &table.columns;
        let shown = (0..columns.len()).filter_map(|place| {
            let widest = widest(rows, place);
            (widest > 0).then(|| (place, widest.max(display_width(&titles[place]))))
        });
        let mut fitted = Self { table, shown: shown.collect() };
        while fitted.width() > room {
            let last_of = |cut: Cut| fitted.shown.iter().rposition(|(index, _)| columns[*index].cut == cut);
            let Some(last) = last_of(Cut::DropFirst).or_else(|| last_of(Cut::Drop)) else { break };
            fitted.shown.remove(last);
        }
        while fitted.width() > room {
            let widest = fitted.shown.iter_mut().filter(|(index, width)| {
                let column = &columns[*index];
                let may = !matches!(column.cut, Cut::Never | Cut::Drop | Cut::DropFirst);
                // In a wrapping column, the title wraps as well.
                let least = match column.cut {
                    Cut::Wrap => NARROWEST_WRAPPED.min(display_width(&titles[*index])),
                    _ => display_width(&titles[*index]),
                };
                may && *width > NARROWEST.max(least)
            });
            let Some((_, width)) = widest.max_by_key(|(_, width)| *width) else { break };
            *width -= 1;
        }
        fitted
    }

    fn width(&self) -> usize {
        let widths = self.shown.iter().map(|(_, width)| width + self.table.gap);
        widths.sum::<usize>().saturating_sub(self.table.gap)
    }

    /// Renders a row, on several lines if a column wraps.
    fn lines(&self, row: &[PaintedWords], style: &Style) -> Vec<String> {
        let cell = |(index, width): &(usize, usize)| {
            let text = row.get(*index).map_or("", |(_, text)| text.as_str());
            match self.table.columns[*index].cut {
                Cut::Front => vec![clip_front(&shown::line(text), *width)],
                Cut::End => vec![clip(&shown::line(text), *width)],
                Cut::Wrap => flow(&[text.to_owned()], *width),
                Cut::Never | Cut::Drop | Cut::DropFirst => vec![shown::line(text)],
            }
        };
        let cells: Vec<Vec<String>> = self.shown.iter().map(cell).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|line| {
                let mut out = StyledLine::new(style);
                let mut at = self.table.indent;
                for ((index, width), cell) in self.shown.iter().zip(&cells) {
                    let text = cell.get(line).map_or("", String::as_str);
                    let role = row.get(*index).map_or(Role::Plain, |(role, _)| *role);
                    match self.table.columns[*index].flush {
                        Flush::Left => out.at(at, role, text),
                        Flush::Right => out.until(at + width, role, text),
                    };
                    at += width + self.table.gap;
                }
                out.finish()
            })
            .collect()
    }
}
