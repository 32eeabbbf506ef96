//! The catalogue of published figures: the list, an entry, and a run beside one.

use crate::columns::{self, Column, Cut, Entry as Word, plain};
use crate::layout::{hanging, page, wrap};
use crate::number;
use crate::study::{error_words, published};
use crate::style::{Role, Style};
use kurabe_core::quantity::format_bytes;
use kurabe_study::catalogue::{Beside, Entry};

/// Entries, one a line; without entries a sentence.
pub fn render_catalogue(entries: &[Entry<'_>], style: &Style) -> String {
    if entries.is_empty() {
        let none = style.pick(
            "Nothing in the catalogue has all of these words. `kurabe catalogue` lists everything.",
            "すべての語を含む項目はありません。`kurabe catalogue` で全項目を表示します。",
        );
        return page(&wrap(none, style.width));
    }
    let heads = [
        Column::left(style.pick("entry", "項目")),
        Column::left(style.pick("device", "機器")).cut(Cut::End),
        Column::left(style.pick("tool", "ツール")).cut(Cut::End),
        Column::left(style.pick("figures", "値")).cut(Cut::End),
    ];
    let rows: Vec<Vec<Word>> = entries
        .iter()
        .map(|entry| {
            let figures: Vec<String> = entry
                .figures()
                .map(|(column, figure)| {
                    format!("{} {}", published(figure, column.decimals, style.lang), column.unit)
                        .trim_end()
                        .to_owned()
                })
                .collect();
            vec![
                (Role::Strong, entry.id()),
                plain(entry.row.device.clone()),
                plain(entry.table.tool.clone()),
                plain(figures.join(", ")),
            ]
        })
        .collect();
    page(&columns::render(&heads, &rows, 0, style))
}

/// Everything of an entry.
pub fn render_entry(entry: &Entry<'_>, style: &Style) -> String {
    let table = entry.table;
    let mut lines = vec![style.paint(Role::Strong, &entry.id())];
    lines.extend(hanging(wrap(&entry.row.device, style.width.saturating_sub(2)), 2, 2));
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
