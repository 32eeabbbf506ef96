//! A document in a terminal: lines that fit its width.

use super::{Block, Doc, Fields, Paragraph, Shown, Table};
use crate::columns::{self, Column, Entry};
use crate::layout::{display_width, flow, hanging, page, tame, wrap};
use crate::spark::sparkline;
use crate::style::{Role, Style};
use kurabe_core::Lang;

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

fn lines(block: &Block, style: &Style) -> Vec<String> {
    match block {
        Block::Gap => vec![String::new()],
        Block::Heading(_, words) => painted(wrap(words.get(style.lang), style.width), Role::Strong, style),
        Block::Paragraph(paragraph) => of_paragraph(paragraph, style),
        Block::Fields(fields) => of_fields(fields, style),
        Block::Table(table) => of_table(table, style),
        Block::Chart(_, chart) => {
            chart[usize::from(style.lang == Lang::Ja)].terminal(style.width, style.color)
        }
        Block::Section { title, doc, .. } | Block::Fold(title, doc) => {
            let mut lines = painted(wrap(title.get(style.lang), style.width), Role::Strong, style);
            lines.extend(doc.lines(style));
            lines
        }
        Block::Code(words) => vec![format!("  {}", tame(words))],
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
    let room = style.width.saturating_sub(first.max(rest));
    let items = paragraph.items.iter().chain(&paragraph.marks);
    let items: Vec<String> = items.map(|item| style.say(item)).collect();
    let broken = if paragraph.flows { flow(&items, room) } else { wrap(&items.concat(), room) };
    let mut lines = painted(hanging(broken, first, rest), paragraph.role, style);
    if let (Some(role), Some(line), Some(lead)) = (paragraph.lead, lines.first_mut(), items.first())
        && let Some(behind) = line.strip_prefix(lead.as_str())
    {
        *line = format!("{}{behind}", style.paint(role, lead));
    }
    lines
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

fn of_table(table: &Table, style: &Style) -> Vec<String> {
    let heads: Vec<Column> = table
        .columns
        .iter()
        .map(|column| Column { title: style.say(&column.title), flush: column.flush, cut: column.cut })
        .collect();
    let entry = |entry: &super::Entry| -> Entry {
        let words = match &entry.shown {
            Shown::Words(words) if entry.under.is_empty() => style.say(words),
            Shown::Words(words) => format!("{} ({})", words.get(style.lang), entry.under.get(style.lang)),
            Shown::Bar { share, part, columns: (least, most) } => {
                bar(*share, (style.width / part).clamp(*least, *most))
            }
            Shown::Course(values, longest) => sparkline(values, *longest),
        };
        (entry.role, words)
    };
    let rows: Vec<Vec<Entry>> =
        table.rows.iter().map(|row| row.entries.iter().map(entry).collect()).collect();
    let notes = table.rows.iter().map(|row| {
        let room = style.width.saturating_sub(table.indent + 2);
        let note = row.note.iter().flat_map(|note| wrap(note.get(style.lang), room));
        hanging(note.collect(), table.indent + 2, table.indent + 2)
    });
    columns::render_with_notes(&heads, &rows, &notes.collect::<Vec<_>>(), (table.indent, table.gap), style)
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
