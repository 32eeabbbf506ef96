//! The catalogue of published figures: the list, an entry, and the comparison of a run with an
//! entry.

use crate::machine::seen::seen;
use crate::study::{error_words, published};
use kurabe_core::mention::{BESIDE, CATALOGUE, CATALOGUE_SHOW, PROFILE, RUN, SHOW};
use kurabe_core::quantity::{KIB, format_bytes};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_doc::{Column, Cut, Doc, Entry, Fields, Paragraph, Role, Style, Table, TableForm, filled};
use kurabe_study::Published;
use kurabe_study::catalogue::{Beside, Catalogue, CatalogueEntry, PublishedColumn};

/// Terminal width below which the figures of an entry are shown on separate lines.
const NARROW: usize = 90;

/// Renders the entries that match `words`, one per line below the tool of their table. Explains the
/// search if there are none.
pub fn render_catalogue(catalogue: &Catalogue, words: &[String], style: &Style) -> String {
    let mut doc = Doc::new();
    let entries = catalogue.search(words);
    if entries.is_empty() {
        let near = catalogue.nearest(words).map_or_else(Text::default, |near| {
            text!(" `{CATALOGUE} {near}` finds some.", "`{CATALOGUE} {near}` なら見つかります。")
        });
        doc.say(text!(
            "Nothing in the catalogue contains all of these words.{near} `{CATALOGUE}` lists everything.",
            "すべての語を含む項目はありません。{near}`{CATALOGUE}` で全項目を表示します。";
            near
        ));
        return doc.terminal(style);
    }
    for entries in entries.chunk_by(|entry, next| entry.table.id == next.table.id) {
        let table = entries[0].table;
        let (title, tool) = (table.title.clone(), seen(&table.tool));
        let title = text!("{title} · {tool}", "{title} · {tool}"; title, tool);
        doc.push(Paragraph::new(title).role(Role::Quiet));
        doc.append(of_table(entries, style.width < NARROW)).gap();
    }
    let next = text!(
        "`{CATALOGUE_SHOW} ENTRY` shows all of one; `{SHOW} RUN {BESIDE} ENTRY` shows a run next to it.",
        "`{CATALOGUE_SHOW} 項目` で詳細を、`{SHOW} 測定 {BESIDE} 項目` で測定との比較を表示します。"
    );
    doc.push(Paragraph::new(next).role(Role::Quiet)).terminal(style)
}

/// A column by which entries are compared. Random columns are for small blocks.
struct BestColumn {
    title: Text,
    sequential: bool,
    direction: Direction,
    /// Whether many requests are in flight.
    is_deep: bool,
    decimals: usize,
}

/// Returns the columns by which entries are compared, all in MB/s.
fn best_columns() -> [BestColumn; 6] {
    use Direction::{Read, Write};
    let column = |sequential, direction, is_deep, title| {
        let decimals = if sequential || is_deep { 1 } else { 2 };
        BestColumn { title, sequential, direction, is_deep, decimals }
    };
    [
        column(true, Read, false, text!("sequential read", "シーケンシャル読み出し")),
        column(true, Write, false, text!("sequential write", "シーケンシャル書き込み")),
        column(false, Read, false, text!("4 KiB read, Q1", "4 KiB 読み出し Q1")),
        column(false, Write, false, text!("4 KiB write, Q1", "4 KiB 書き込み Q1")),
        column(false, Read, true, text!("4 KiB read, deep queue", "4 KiB 読み出し(深いキュー)")),
        column(false, Write, true, text!("4 KiB write, deep queue", "4 KiB 書き込み(深いキュー)")),
    ]
}

/// Returns entries as a table for a page, the most recent first. Each links to its page below
/// `address`, and can be ticked for a comparison.
pub fn catalogue_table(entries: &[CatalogueEntry<'_>], address: &str) -> Doc {
    let mut entries: Vec<&CatalogueEntry<'_>> = entries.iter().collect();
    // Within a year, the order of the files stays.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.year()));
    let columns = [text!("device", "デバイス"), text!("tool", "ツール")].map(Column::left);
    let rates = best_columns().map(|column| Column::right(column.title).under(Text::same("MB/s")));
    let access = Column::right(text!("access time", "アクセス時間")).under(Text::same("ms"));
    let columns =
        columns.into_iter().chain([Column::right(text!("year", "年"))]).chain(rates).chain([access]);
    let columns: Vec<Column> = columns.collect();
    let row = |entry: &&CatalogueEntry<'_>| -> Vec<Entry> {
        let (table, device) = (entry.table, entry.row.device.clone());
        let best = best_columns().map(|column| best_figure(entry, &column));
        let access = entry.access_time_ns().map(|ns| (number::fixed(ns / 1e6, 2), ns));
        let name = Entry {
            link: format!("{address}/{}", entry.id()),
            hint: figures(entry),
            tick: entry.id(),
            tick_kind: Some("entry"),
            ..Entry::plain(device).under(entry.source().to_owned())
        };
        let about = [
            name,
            Entry::plain(seen(&table.tool)),
            entry.year().map(|year| Entry::number(year.to_string(), f64::from(year))).unwrap_or_default(),
        ];
        let access = access.map(|(words, ns)| Entry::number(words, ns)).unwrap_or_default();
        about.into_iter().chain(best).chain([access]).collect()
    };
    let caption = text!("published figures", "公表値");
    Doc::of(Table::new(columns, entries.iter().map(row)).on_page(&caption, TableForm::Cards))
}

/// Returns the figure of an entry for a column, in MB/s. Empty if the tool doesn't measure it. The
/// tooltip has the figure as it was printed.
fn best_figure(entry: &CatalogueEntry<'_>, column: &BestColumn) -> Entry {
    let best = entry.fastest(|work| {
        // A source that doesn't state the depth is assumed to use the best one.
        let is_as_deep = column.is_deep == (work.in_flight != Some((1, 1)));
        let is_same = column.sequential || is_as_deep && work.block_bytes == Some(4 * KIB);
        is_same && work.direction == column.direction && work.sequential == column.sequential
    });
    let best = best.or_else(|| entry.over_the_device(column.direction).filter(|_| column.sequential));
    let Some((printed, figure, (_, most))) = best else { return Entry::default() };
    Entry {
        hint: with_unit(printed, figure),
        ..Entry::number(number::fixed(most / 1e6, column.decimals), most)
    }
}

/// Returns the entries of a table: one per line, or with the figures below if the terminal is too
/// narrow.
fn of_table(entries: &[CatalogueEntry<'_>], narrow: bool) -> Doc {
    let strong = |entry: &CatalogueEntry<'_>| Entry::new(Role::Strong, entry.id());
    if !narrow {
        let table = Table::of(entries)
            .left(Text::default(), |entry| strong(entry))
            .cut(Cut::Wrap, Text::default(), |entry| entry.row.device.clone())
            .cut(Cut::Wrap, Text::default(), |entry| figures(entry));
        return Doc::of(table.table().indent(2));
    }
    let lines = |entry: &CatalogueEntry<'_>| {
        let (device, figures) = (&entry.row.device, figures(entry));
        let below = text!("{device}: {figures}", "{device}: {figures}"; device, figures);
        [Paragraph::new(entry.id()).indent(2, 2).role(Role::Strong), Paragraph::new(below).indent(4, 4)]
    };
    entries.iter().flat_map(lines).collect()
}

/// Returns the figures of an entry, as in `read 2,500.0 kB/s, write 2,100.0 kB/s`.
fn figures(entry: &CatalogueEntry<'_>) -> Text {
    Text::list(entry.figures().map(|(column, figure)| {
        let (name, figure) = (&column.name, with_unit(column, figure));
        text!("{name} {figure}", "{name} {figure}"; name, figure)
    }))
}

fn with_unit(column: &PublishedColumn, figure: Published) -> Text {
    published(figure, column.decimals).map(|figure| format!("{figure} {}", column.unit).trim_end().to_owned())
}

/// Renders an entry with all its facts.
pub fn render_entry(entry: &CatalogueEntry<'_>, style: &Style) -> String {
    let mut doc = Doc::new();
    doc.heading(1, entry.id()).aside(entry.row.device.clone()).gap().append(entry_doc(entry)).terminal(style)
}

/// Returns an entry without its heading.
pub fn entry_doc(entry: &CatalogueEntry<'_>) -> Doc {
    let table = entry.table;
    let fields = [
        (text!("table", "表"), Some(table.title.clone())),
        (text!("source", "出典"), Some(entry.source().to_owned().into())),
        (text!("year", "年"), entry.year().map(|year| year.to_string().into())),
        (text!("tool", "ツール"), Some(seen(&table.tool))),
        (text!("procedure", "手順"), Some(table.procedure.clone())),
        (text!("test size", "テストサイズ"), table.size_bytes.map(|size| format_bytes(size).into())),
        (text!("statistic", "統計量"), Some(table.statistic.name())),
        (text!("host", "環境"), table.host.clone()),
        (
            text!("repeated by", "同じ手順"),
            table.profile.as_ref().map(|profile| format!("{RUN} {PROFILE} {profile}").into()),
        ),
        (text!("model", "モデル"), entry.row.model.as_ref().map(|model| format!("model:{model}").into())),
        (text!("note", "備考"), table.note.clone()),
        (text!("note", "備考"), entry.row.note.clone()),
    ];
    let fields = filled(fields.map(|(key, words)| (key, words.into_iter().collect())));
    let table = Table::of(entry.figures())
        .left(Text::default(), |(column, _)| column.name.clone())
        .right(Text::default(), |(column, figure)| {
            Entry::new(Role::Strong, published(*figure, column.decimals))
        })
        .left(Text::default(), |(column, _)| column.unit.clone());
    Doc::of(Fields::from(fields)).with_gap().and(Doc::of(table.table().indent(2)))
}

/// Renders the comparison of a run with an entry, and the differences in procedure.
pub fn render_beside(beside: &Beside, style: &Style) -> String {
    let mut doc = Doc::new();
    let entry = &beside.entry;
    doc.heading(1, text!("Beside {entry}", "公表値との比較: {entry}"));
    let table = Table::of(&beside.figures)
        .cut(Cut::Wrap, Text::default(), |figure| figure.name.clone())
        .right(text!("published", "公表値"), |figure| published(figure.published, figure.decimals))
        .right(text!("this run", "この測定"), |figure| {
            let value = figure.value.map(|value| number::fixed(value, figure.decimals));
            Entry::new(Role::Strong, value.unwrap_or_else(|| number::NONE.to_owned()))
        })
        .right(text!("difference", "差"), |figure| {
            figure.difference_percent.map(error_words).unwrap_or_default()
        })
        .left(Text::default(), |figure| figure.unit.clone());
    doc.push(table.table().indent(2));
    let (role, verdict) = match beside.same_procedure {
        true => (Role::Good, text!("Same procedure and statistic.", "手順と統計量は同じです。")),
        false => (
            Role::Warn,
            text!(
                "Not the same procedure or statistic: the figures do not show which device is faster.",
                "手順または統計量が違うため、この数値からは機器の優劣を判断できません。"
            ),
        ),
    };
    doc.push(Paragraph::aside(verdict).role(role));
    for difference in &beside.differences {
        doc.push(Paragraph::new(difference.clone()).indent(2, 2).marked("-"));
    }
    doc.terminal(style)
}
