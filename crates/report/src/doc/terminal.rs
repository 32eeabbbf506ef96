//! A document in a terminal: lines that fit its width.

use super::{Block, Doc, EntryBody, Fields, Paragraph, Table};
use crate::columns::{self, Column, Cut, Entry};
use crate::layout::{clip, display_width, flow, hanging, pad_right, page, wrap};
use crate::spark::sparkline;
use crate::style::{Role, Style};
use kurabe_core::{Lang, number, shown};

impl Doc {
    /// The document as a page of a terminal, which ends in a line end.
    pub(crate) fn terminal(&self, style: &Style) -> String {
        page(&self.lines(style))
    }

    /// The lines of a part of a page.
    pub(crate) fn lines(&self, style: &Style) -> Vec<String> {
        self.blocks.iter().flat_map(|block| lines(block, style)).collect()
    }
}

/// Tables that were one, with an empty line between.
fn parted(pieces: &[Vec<String>]) -> Vec<String> {
    pieces.join(&String::new())
}

fn lines(block: &Block, style: &Style) -> Vec<String> {
    match block {
        Block::Gap => vec![String::new()],
        Block::Heading(_, words) => painted(wrap(words.get(style.lang), style.width), Role::Strong, style),
        Block::Paragraph(paragraph) => of_paragraph(paragraph, style),
        Block::Fields(fields) => of_fields(fields, style),
        Block::Table(table) => {
            parted(&table.pieces(style).iter().map(|piece| of_table(piece, style)).collect::<Vec<_>>())
        }
        Block::Curve(curve) => curve.render(style),
        Block::Drawing { wide, narrow } => drawing([wide, narrow].map(|lines| lines.get(style.lang)), style),
        Block::Chart(_, chart) => {
            chart[usize::from(style.lang == Lang::Ja)].terminal(style.width, style.color)
        }
        Block::Section { title, doc, .. } | Block::Fold(title, doc) => {
            let mut lines = painted(wrap(title.get(style.lang), style.width), Role::Strong, style);
            lines.extend(doc.lines(style));
            lines
        }
        Block::Code(words) => vec![format!("  {}", shown::line(words))],
    }
}

/// Each line in a role; blanks before it are no part of what is painted.
fn painted(lines: Vec<String>, role: Role, style: &Style) -> Vec<String> {
    let paint = |line: String| {
        let body = line.trim_start();
        format!("{}{}", &line[..line.len() - body.len()], style.paint(role, body))
    };
    lines.into_iter().map(paint).collect()
}

fn of_paragraph(paragraph: &Paragraph, style: &Style) -> Vec<String> {
    let (first, rest) = paragraph.indent;
    let mark = if paragraph.mark.is_empty() { 0 } else { display_width(&paragraph.mark) + 1 };
    let room = style.width.saturating_sub(first.max(rest) + mark);
    let items = paragraph.items.iter().chain(&paragraph.tags);
    let items: Vec<String> = items.map(|item| style.say(item)).collect();
    let broken = if paragraph.flows { flow(&items, room) } else { wrap(&items.concat(), room) };
    let mut lines = painted(hanging(broken, first + mark, rest + mark), paragraph.role, style);
    if let Some(line) = lines.first_mut().filter(|_| mark > 0) {
        *line = format!("{}{} {}", " ".repeat(first), paragraph.mark, line.trim_start());
    }
    if let (Some(role), Some(line), Some(lead)) = (paragraph.lead, lines.first_mut(), items.first())
        && let Some(behind) = line.trim_start().strip_prefix(lead.as_str())
    {
        *line = format!("{}{}{behind}", " ".repeat(first + mark), style.paint(role, lead));
    }
    lines
}

/// A drawing two columns from the left, or what stands for it if it is too wide.
fn drawing([wide, narrow]: [&str; 2], style: &Style) -> Vec<String> {
    let room = style.width.saturating_sub(2);
    let fits = wide.lines().all(|line| display_width(line) <= room);
    let lines = if fits { wide } else { narrow }.lines();
    lines.map(|line| format!("  {}", clip(line, room)).trim_end().to_owned()).collect()
}

fn of_fields(fields: &Fields, style: &Style) -> Vec<String> {
    let told: Vec<columns::Field> = fields
        .fields
        .iter()
        .map(|(key, items)| (style.say(key), items.iter().map(|item| style.say(item)).collect()))
        .collect();
    let elsewhere = fields.aligned_with.iter().map(|key| display_width(key.get(style.lang)));
    let key_width = elsewhere.max().unwrap_or(0).max(columns::key_width(&told));
    columns::fields(&told, fields.indent, key_width, style)
}

impl Table {
    /// The table, or several below one another with an empty line between where its columns are too many for the width
    /// and it may be parted behind those that name a row.
    fn pieces(&self, style: &Style) -> Vec<Self> {
        let Some(fixed) = self.parted_behind else { return vec![self.clone()] };
        let width_of = |place: usize| {
            let words = self.rows.iter().filter_map(|row| match &row.entries.get(place)?.shown {
                EntryBody::Words(words) => Some(words),
                _ => None,
            });
            let all = words.chain([&self.columns[place].title]);
            let widest = all.map(|words| display_width(words.get(style.lang))).max().unwrap_or(0);
            widest.min(self.columns[place].least) + columns::GAP
        };
        let room = style.width.saturating_sub(self.indent) + columns::GAP;
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
}

/// Columns of a terminal that a column which wraps has at least, before the rows of a table become lines of their own.
const LEAST_WRAPPED: usize = 24;

fn of_table(table: &Table, style: &Style) -> Vec<String> {
    let heads: Vec<Column> = table
        .columns
        .iter()
        .map(|column| Column { title: style.say(&column.title), flush: column.flush, cut: column.cut })
        .collect();
    let entry = |entry: &super::Entry| -> Entry {
        let words = match &entry.shown {
            EntryBody::Words(words) if entry.under.is_empty() => style.say(words),
            EntryBody::Words(words) => format!("{} ({})", words.get(style.lang), entry.under.get(style.lang)),
            EntryBody::Missing => number::NONE.to_owned(),
            EntryBody::Bar { share, part, columns: (least, most) } => {
                bar(*share, (style.width / part).clamp(*least, *most))
            }
            EntryBody::Course(values, longest) => sparkline(values, *longest),
        };
        (entry.role, words)
    };
    let rows: Vec<Vec<Entry>> =
        table.rows.iter().map(|row| row.entries.iter().map(entry).collect()).collect();
    if table.stacks && !fits(&heads, &rows, table.gap, style.width.saturating_sub(table.indent)) {
        return rows.iter().flat_map(|row| stacked(table, &heads, row, style)).collect();
    }
    let notes = table.rows.iter().map(|row| {
        let room = style.width.saturating_sub(table.indent + 2);
        let note = row.note.iter().flat_map(|note| wrap(note.get(style.lang), room));
        hanging(note.collect(), table.indent + 2, table.indent + 2)
    });
    columns::render_with_notes(&heads, &rows, &notes.collect::<Vec<_>>(), (table.indent, table.gap), style)
}

/// Whether a table is readable in this width: nothing is cut, and what wraps has room enough.
fn fits(heads: &[Column], rows: &[Vec<Entry>], gap: usize, room: usize) -> bool {
    let width_of = |(place, head): (usize, &Column)| {
        let entries = rows.iter().filter_map(|row| row.get(place)).map(|(_, words)| display_width(words));
        let widest = entries.max().unwrap_or(0);
        match head.cut {
            _ if widest == 0 => 0,
            Cut::Wrap => widest.min(LEAST_WRAPPED) + gap,
            _ => widest.max(display_width(&head.title)) + gap,
        }
    };
    heads.iter().enumerate().map(width_of).sum::<usize>() <= room + gap
}

/// A row on lines of its own: its first entry, and below it the others with the titles of their columns.
fn stacked(table: &Table, heads: &[Column], row: &[Entry], style: &Style) -> Vec<String> {
    let titles: Vec<String> = heads
        .iter()
        .zip(&table.columns)
        .map(|(head, column)| if column.is_bare { String::new() } else { head.title.clone() })
        .collect();
    let key_width = titles.iter().skip(1).map(|title| display_width(title)).max().unwrap_or(0);
    let (first, rest) = (table.indent, table.indent + 2);
    let Some(((role, name), others)) = row.split_first() else { return Vec::new() };
    let mut lines = painted(
        hanging(wrap(name, style.width.saturating_sub(rest)), first, rest),
        if *role == Role::Plain { Role::Strong } else { *role },
        style,
    );
    for ((role, words), title) in others.iter().zip(&titles[1..]).filter(|((_, words), _)| !words.is_empty())
    {
        let (at, title) =
            if title.is_empty() { (rest, "") } else { (rest + key_width + columns::GAP, title.as_str()) };
        let entry = painted(wrap(words, style.width.saturating_sub(at)), *role, style);
        for (place, words) in entry.iter().enumerate() {
            let title = pad_right(if place == 0 { title } else { "" }, at - rest);
            lines.push(format!("{}{}{words}", " ".repeat(rest), style.paint(Role::Quiet, &title)));
        }
    }
    lines
}

/// A share as a bar, to an eighth of a column.
fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    // A share above zero is seen.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 10), "██████████");
        assert_eq!(bar(0.5, 10), "█████");
        assert_eq!(bar(0.06, 10), "▋");
        assert_eq!(bar(0.000_1, 10), "▏");
        assert_eq!(bar(0.0, 10), "");
    }
}
