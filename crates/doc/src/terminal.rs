//! A document in a terminal, as lines that fit its width.

mod bars;
mod grids;
mod tables;

use super::table::GAP;
use super::{Block, Doc, Field, Fields, Paragraph};
use crate::layout::{StyledLine, clip, display_width, flow, hanging, page, wrap};
use crate::{Role, Style};
use kurabe_core::{Lang, shown};

impl Doc {
    /// Renders the document as text that ends with a line break.
    pub fn terminal(&self, style: &Style) -> String {
        page(&self.lines(style))
    }

    /// Renders the document as lines, for a part of a larger output.
    pub fn lines(&self, style: &Style) -> Vec<String> {
        self.blocks.iter().flat_map(|block| lines(block, style)).collect()
    }
}

fn lines(block: &Block, style: &Style) -> Vec<String> {
    match block {
        Block::Gap => vec![String::new()],
        Block::Heading(_, words) => painted(wrap(words.get(style.lang), style.width), Role::Strong, style),
        Block::Paragraph(paragraph) => of_paragraph(paragraph, style),
        Block::Fields(fields) => of_fields(fields, style),
        Block::Table(table) => {
            let pieces: Vec<_> = table.pieces(style).iter().map(|piece| piece.lines(style)).collect();
            pieces.join(&String::new())
        }
        Block::Grid(grid) => grids::lines(grid, style),
        Block::Bars(bars) => bars::lines(bars, style),
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

/// Paints each line in a role. Leading spaces are not painted.
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

/// Indents a drawing by two columns, or its narrow replacement if it is too wide.
fn drawing([wide, narrow]: [&str; 2], style: &Style) -> Vec<String> {
    let room = style.width.saturating_sub(2);
    let fits = wide.lines().all(|line| display_width(line) <= room);
    let lines = if fits { wide } else { narrow }.lines();
    lines.map(|line| format!("  {}", clip(line, room)).trim_end().to_owned()).collect()
}

/// Columns before a key.
const INDENT: usize = 2;

/// Returns lines of `key  value`, with aligned keys. Values wrap between their items and are
/// indented below themselves.
fn of_fields(Fields { fields, aligned_with, signs }: &Fields, style: &Style) -> Vec<String> {
    let keys = fields.iter().map(|(key, _)| key).chain(aligned_with);
    let at = INDENT + GAP + keys.map(|key| display_width(&style.say(key))).max().unwrap_or(0);
    let field = |(place, (key, items)): (usize, &Field)| {
        let (key, items) = (style.say(key), items.iter().map(|item| style.say(item)).collect::<Vec<_>>());
        let rest = if signs.is_empty() || !key.is_empty() { at } else { at + 2 };
        let mut lines = hanging(flow(&items, style.width.saturating_sub(at).max(20)), at, rest);
        // With signs, a field is shown even if it has no value.
        lines.resize(lines.len().max(usize::from(!signs.is_empty())), String::new());
        let mut row = StyledLine::new(style);
        match signs.get(place).zip(key.split_once(' ')) {
            Some((role, (sign, name))) => row.at(INDENT, *role, sign).at(INDENT + 2, Role::Plain, name),
            None => row.at(INDENT, Role::Quiet, &key),
        };
        if let Some(line) = lines.first_mut() {
            *line = row.at(at, Role::Plain, line.trim_start()).finish();
        }
        lines
    };
    fields.iter().enumerate().flat_map(field).collect()
}
