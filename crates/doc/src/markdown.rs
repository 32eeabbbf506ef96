//! A document as Markdown: for an issue on GitHub, an article on Qiita, a wiki.
//!
//! The model: blocks are separated by an empty line. Collapsed parts use `<details>`, which both
//! sites support. Figures are joined to their units by non-breaking spaces. Charts are omitted;
//! tables have their figures.

use super::table::{EntryBody, Flush, Table, TableRow};
use super::{Block, Doc, Entry, Fields, Paragraph, Purpose};
use crate::{Role, spark::sparkline};
use kurabe_core::{Lang, Text, number, shown};

impl Doc {
    /// Returns the document as Markdown in a language.
    pub fn markdown(&self, lang: Lang) -> String {
        let mut out = String::new();
        let mut in_list = false;
        for block in &self.blocks {
            let text = written(block, lang);
            if text.is_empty() {
                continue;
            }
            let is_item = matches!(block, Block::Paragraph(paragraph) if paragraph.purpose.is_listed());
            out.push_str(if out.is_empty() || (in_list && is_item) { "" } else { "\n" });
            out.push_str(&text);
            in_list = is_item;
        }
        out
    }
}

fn written(block: &Block, lang: Lang) -> String {
    let words = |text: &Text| escaped(text.get(lang));
    match block {
        Block::Gap | Block::Chart(..) | Block::Curve(_) | Block::Grid(_) | Block::Bars(_) => String::new(),
        Block::Drawing { wide, .. } => format!("```\n{}\n```\n", wide.get(lang)),
        Block::Heading(level, title) => format!("{} {}\n", "#".repeat(*level), words(title)),
        Block::Paragraph(paragraph) => of_paragraph(paragraph, lang),
        Block::Fields(Fields { fields, .. }) => {
            let items = |items: &Vec<Text>| items.iter().map(words).collect::<Vec<_>>().join(" · ");
            fields.iter().map(|(key, value)| format!("- {}: {}\n", words(key), items(value))).collect()
        }
        Block::Table(table) => of_table(table, lang),
        Block::Section { title, doc, folds: false, .. } => {
            format!("### {}\n\n{}", words(title), doc.markdown(lang))
        }
        Block::Section { title, doc, .. } | Block::Fold(title, doc) => {
            let (title, body) = (escaped_html(title.get(lang)), doc.markdown(lang));
            format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n")
        }
        Block::Code(command) => {
            let ticks = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(ticks.max(2) + 1);
            format!("{fence}sh\n{}\n{fence}\n", shown::line(command))
        }
    }
}

fn of_paragraph(paragraph: &Paragraph, lang: Lang) -> String {
    let items = paragraph.items.iter().chain(&paragraph.tags);
    let mut items: Vec<String> = items.map(|item| escaped(item.get(lang))).collect();
    if items.concat().is_empty() {
        return String::new();
    }
    if let Some(lead) = items.first_mut().filter(|_| paragraph.purpose == Purpose::Run) {
        *lead = format!("**{lead}**");
    }
    let words = items.join(if paragraph.flows { " · " } else { "" });
    let sign = match paragraph.mark.as_str() {
        "" => String::new(),
        mark => format!("{} ", escaped(mark)),
    };
    match (paragraph.purpose, paragraph.role) {
        (Purpose::Item | Purpose::Note | Purpose::Run, _) if sign.is_empty() => format!("- {words}\n"),
        (Purpose::Answer, _) | (_, Role::Strong) => format!("{sign}**{words}**\n"),
        (Purpose::Plain | Purpose::Notice, Role::Warn | Role::Bad) => format!("{sign}⚠ {words}\n"),
        _ => format!("{sign}{words}\n"),
    }
}

fn of_table(table: &Table, lang: Lang) -> String {
    let figures = |index: usize| table.columns[index].flush == Flush::Right;
    let entry = |index: usize, entry: &Entry| {
        let words = match &entry.shown {
            EntryBody::Words(words) => escaped(words.get(lang)),
            EntryBody::Missing => number::NONE.to_owned(),
            // The value of a drawing is also in the table as a figure.
            EntryBody::Bar { .. } | EntryBody::RowMarks(_) => String::new(),
            EntryBody::Course(values, (_, longest)) => sparkline(values, *longest),
        };
        let words = if figures(index) { words.replace(' ', "\u{a0}") } else { words };
        match escaped(entry.under.get(lang)) {
            under if under.is_empty() => words,
            under if under.contains(['(', '(']) => format!("{words}<br>{under}"),
            under => format!("{words} ({under})"),
        }
    };
    let row = |row: &TableRow| row.entries.iter().enumerate().map(|(index, one)| entry(index, one)).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    let is_used =
        |index: &usize| rows.iter().any(|row| row.get(*index).is_some_and(|words| !words.is_empty()));
    let kept: Vec<usize> = (0..table.columns.len()).filter(is_used).collect();
    let line = |of: &dyn Fn(usize) -> String| {
        format!("| {} |\n", kept.iter().map(|index| of(*index)).collect::<Vec<_>>().join(" | "))
    };
    let mut out = line(&|index| {
        let column = &table.columns[index];
        match escaped(column.under.get(lang)) {
            under if under.is_empty() => escaped(column.title.get(lang)),
            under => format!("{} ({under})", escaped(column.title.get(lang))),
        }
    });
    let rule: String = kept.iter().map(|index| if figures(*index) { "--:|" } else { ":--|" }).collect();
    out.push_str(&format!("|{rule}\n"));
    for row in &rows {
        out.push_str(&line(&|index| row.get(index).cloned().unwrap_or_default()));
    }
    let note = |row: &TableRow| Some(format!("- {}\n", escaped(row.note.as_ref()?.get(lang))));
    let notes: Vec<String> = table.rows.iter().filter_map(note).collect();
    if kept.is_empty() {
        return String::new();
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    out + &notes.concat()
}

/// Escapes text so that Markdown shows it unchanged, on one line.
fn escaped(words: &str) -> String {
    let mut out = String::new();
    let words = shown::line(&words.split_whitespace().collect::<Vec<_>>().join(" "));
    // At the start of a line, these characters would begin a list, a rule or a heading.
    let mut signs = words.chars();
    let sign = signs.next().filter(|c| matches!(c, '-' | '+' | '='));
    if sign.is_some() && matches!(signs.next(), next if next.is_none_or(|c| c == ' ' || Some(c) == sign)) {
        out.push('\\');
    }
    for letter in words.chars() {
        if matches!(letter, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '~' | '&' | '$') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Escapes text inside an HTML element, which Markdown does not process.
fn escaped_html(words: &str) -> String {
    shown::line(words).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
