//! Laws of documents: every writer shows every figure, in both languages.

use super::*;
use crate::Style;
use kurabe_chart::Theme;
use kurabe_core::{Lang, text};
use proptest::prelude::*;

/// Generates tables of a few columns with unique figures.
fn any_table() -> impl Strategy<Value = Table> {
    (1usize..5, 0usize..6).prop_map(|(columns, rows)| {
        let column = |place: usize| match place % 3 {
            0 => Column::left(text!("name {place}", "名前 {place}")),
            1 => Column::right(text!("figure {place}", "値 {place}")),
            _ => Column::right(text!("figure {place}", "値 {place}")).cut(Cut::Wrap),
        };
        let entry = |row: usize, place: usize| {
            Entry::plain(format!("f{row}x{place}")).under(format!("u{row}x{place}"))
        };
        let row = |row: usize| TableRow {
            entries: (0..columns).map(|place| entry(row, place)).collect(),
            note: (row.is_multiple_of(2)).then(|| text!("note {row}", "注 {row}")),
        };
        Table::new((0..columns).map(column).collect::<Vec<_>>(), (0..rows).map(row))
    })
}

proptest! {
    #[test]
    fn every_writer_shows_every_figure(table in any_table(), indent in 0usize..5) {
        let mut doc = Doc::new();
        doc.push(table.clone().indent(indent));
        for lang in [Lang::En, Lang::Ja] {
            let style = Style { lang, color: false, width: 120 };
            let mut page = Html::default();
            doc.write_html(&mut page, lang, Theme::Light);
            for written in [doc.terminal(&style), doc.markdown(lang), page.finish()] {
                for (index, row) in table.rows.iter().enumerate() {
                    for place in 0..table.columns.len() {
                        let figure = format!("f{index}x{place}");
                        let under = format!("u{index}x{place}");
                        prop_assert!(written.contains(&figure) && written.contains(&under), "{figure}: {written}");
                    }
                    // A page shows a row's note as a tooltip on its figure, so there must be one.
                    let has_figure = table.columns.len() > 1;
                    let mut notes = row.note.iter().filter(|_| has_figure);
                    let note = notes.all(|note| written.contains(note.get(lang)));
                    prop_assert!(note, "{written}");
                }
            }
        }
    }
}

#[test]
fn one_document_has_both_languages() {
    let mut doc = Doc::new();
    doc.heading(2, text!("runs", "測定")).gap();
    doc.push(Paragraph::flow(vec![text!("one", "一"), Text::same("7kq")]).lead(Role::Strong));
    doc.push(Paragraph::new(text!("it stalls", "停滞する")).role(Role::Warn));
    doc.push(Block::Fold(text!("more", "詳細"), Doc { blocks: vec![Block::Code("kurabe show".to_owned())] }));
    let style = |lang| Style { lang, color: false, width: 40 };
    assert_eq!(doc.terminal(&style(Lang::En)), "runs\n\none · 7kq\nit stalls\nmore\n  kurabe show\n");
    assert_eq!(doc.terminal(&style(Lang::Ja)), "測定\n\n一 · 7kq\n停滞する\n詳細\n  kurabe show\n");
    assert_eq!(
        doc.markdown(Lang::En),
        "## runs\n\none · 7kq\n\n⚠ it stalls\n\n<details><summary>more</summary>\n\n```sh\nkurabe \
         show\n```\n\n</details>\n"
    );
    assert!(doc.markdown(Lang::Ja).starts_with("## 測定\n\n一 · 7kq\n\n⚠ 停滞する\n"));
}
