//! The catalogue of published figures: the list, an entry, and a run beside one.

use crate::columns::{self, Column, Cut, Entry as Word, plain};
use crate::layout::{hanging, page, wrap};
use crate::study::{error_words, published};
use crate::style::{Role, Style};
use kurabe_core::number;
use kurabe_core::quantity::format_bytes;
use kurabe_study::catalogue::{Beside, Entry};

/// Entries, one a line, below the tool of their table; without entries a sentence.
pub fn render_catalogue(entries: &[Entry<'_>], style: &Style) -> String {
    if entries.is_empty() {
        let none = style.pick(
            "Nothing in the catalogue has all of these words. `kurabe catalogue` lists everything.",
            "すべての語を含む項目はありません。`kurabe catalogue` で全項目を表示します。",
        );
        return page(&wrap(none, style.width));
    }
    let mut lines = Vec::new();
    for entries in entries.chunk_by(|entry, next| entry.table.id == next.table.id) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let table = entries[0].table;
        let title = format!("{} · {}", table.title.get(style.lang), table.tool);
        lines.extend(wrap(&title, style.width).iter().map(|line| style.paint(Role::Quiet, line)));
        lines.extend(entry_lines(entries, style));
    }
    lines.push(String::new());
    let next = style.pick(
        "kurabe catalogue show ENTRY tells all of one; kurabe show RUN --beside ENTRY puts a run beside it.",
        "kurabe catalogue show 項目 で詳細を、kurabe show 測定 --beside 項目 で測定との比較を表示します。",
    );
    lines.extend(wrap(next, style.width).iter().map(|line| style.paint(Role::Quiet, line)));
    page(&lines)
}

/// Entries of a table: one a line, or where that is too narrow, figures below.
fn entry_lines(entries: &[Entry<'_>], style: &Style) -> Vec<String> {
    /// Columns below which the figures would stand one word a line.
    const NARROW: usize = 90;
    if style.width < NARROW {
        let below = |entry: &Entry<'_>| {
            let words = format!("{}: {}", entry.row.device.get(style.lang), figures(entry, style));
            hanging(wrap(&words, style.width.saturating_sub(4)), 4, 4)
        };
        let lines = |entry| {
            let first = format!("  {}", style.paint(Role::Strong, &Entry::id(entry)));
            std::iter::once(first).chain(below(entry))
        };
        return entries.iter().flat_map(lines).collect();
    }
    let heads = [Column::left(""), Column::left("").cut(Cut::Wrap), Column::left("").cut(Cut::Wrap)];
    let row = |entry: &Entry<'_>| {
        let device = plain(entry.row.device.get(style.lang));
        vec![(Role::Strong, entry.id()), device, plain(figures(entry, style))]
    };
    columns::render(&heads, &entries.iter().map(row).collect::<Vec<Vec<Word>>>(), 2, style)
}

/// `read 2 500.0 kB/s, write 2 100.0 kB/s`
fn figures(entry: &Entry<'_>, style: &Style) -> String {
    let words = entry.figures().map(|(column, figure)| {
        let (name, figure) = (column.name.get(style.lang), published(figure, column.decimals, style.lang));
        format!("{name} {figure} {}", column.unit).trim_end().to_owned()
    });
    words.collect::<Vec<_>>().join(style.pick(", ", "、"))
}

/// Everything of an entry.
pub fn render_entry(entry: &Entry<'_>, style: &Style) -> String {
    let table = entry.table;
    let mut lines = vec![style.paint(Role::Strong, &entry.id())];
    lines.extend(hanging(wrap(entry.row.device.get(style.lang), style.width.saturating_sub(2)), 2, 2));
    lines.push(String::new());
    let mut fields: Vec<columns::Field> = Vec::new();
    let mut put = |key: &str, words: String| fields.push((key.to_owned(), vec![words]));
    put(style.pick("table", "表"), table.title.get(style.lang).to_owned());
    put(style.pick("source", "出典"), entry.source().to_owned());
    if let Some(year) = table.year {
        put(style.pick("year", "年"), year.to_string());
    }
    put(style.pick("tool", "ツール"), table.tool.clone());
    put(style.pick("procedure", "手順"), table.procedure.get(style.lang).to_owned());
    if let Some(size) = table.size_bytes {
        put(style.pick("test size", "テストサイズ"), format_bytes(size));
    }
    put(style.pick("statistic", "統計量"), table.statistic.name().take(style.lang));
    if let Some(host) = &table.host {
        put(style.pick("host", "環境"), host.get(style.lang).to_owned());
    }
    if let Some(profile) = &table.profile {
        put(style.pick("repeated by", "同じ手順"), format!("kurabe run --profile {profile}"));
    }
    if let Some(model) = &entry.row.model {
        put(style.pick("model", "モデル"), format!("model:{model}"));
    }
    for note in [table.note.as_ref(), entry.row.note.as_ref()].into_iter().flatten() {
        put(style.pick("note", "備考"), note.get(style.lang).to_owned());
    }
    lines.extend(columns::fields(&fields, 2, columns::key_width(&fields), style));
    lines.push(String::new());
    let heads = [Column::left(""), Column::right(""), Column::left("")];
    let rows: Vec<Vec<Word>> = entry
        .figures()
        .map(|(column, figure)| {
            vec![
                plain(column.name.get(style.lang)),
                (Role::Strong, published(figure, column.decimals, style.lang)),
                plain(column.unit.clone()),
            ]
        })
        .collect();
    lines.extend(columns::render(&heads, &rows, 2, style));
    page(&lines)
}

/// A run beside an entry, and what differs.
pub fn render_beside(beside: &Beside, style: &Style) -> String {
    let title = style.pick("Beside", "公表値との比較:");
    let mut lines = vec![style.paint(Role::Strong, &format!("{title} {}", beside.entry))];
    let heads = [
        Column::left("").cut(Cut::Wrap),
        Column::right(style.pick("published", "公表値")),
        Column::right(style.pick("this run", "この測定")),
        Column::right(style.pick("difference", "差")),
        Column::left(""),
    ];
    let rows: Vec<Vec<Word>> = beside
        .figures
        .iter()
        .map(|figure| {
            let value =
                figure.value.map_or(number::NONE.to_owned(), |value| number::fixed(value, figure.decimals));
            vec![
                plain(figure.name.get(style.lang)),
                plain(published(figure.published, figure.decimals, style.lang)),
                (Role::Strong, value),
                plain(figure.difference_percent.map(error_words).unwrap_or_default()),
                plain(figure.unit.clone()),
            ]
        })
        .collect();
    lines.extend(columns::render(&heads, &rows, 2, style));
    let (role, verdict) = match beside.same_procedure {
        true => (Role::Good, style.pick("Same procedure and statistic.", "手順と統計量は同じです。")),
        false => (
            Role::Warn,
            style.pick(
                "Not the same procedure or statistic: the figures do not tell which device is faster.",
                "手順または統計量が違うため、この数値からは機器の優劣を判断できません。",
            ),
        ),
    };
    lines.extend(
        wrap(verdict, style.width.saturating_sub(2))
            .iter()
            .map(|line| format!("  {}", style.paint(role, line))),
    );
    for difference in &beside.differences {
        let words = wrap(difference.get(style.lang), style.width.saturating_sub(4));
        lines.extend(hanging(words, 2, 4).into_iter().enumerate().map(|(index, line)| match index {
            0 => format!("  - {}", line.trim_start()),
            _ => line,
        }));
    }
    page(&lines)
}
