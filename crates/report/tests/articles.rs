//! Studies of the user's devices: their article, their card, and devices as rows or columns.

use crate::studies::{best_verdict, part, result};
use kurabe_chart::Theme;
use kurabe_core::{Lang, text};
use kurabe_report::*;
use kurabe_study::{RowOrder, Status, StudyResult};

/// Returns the result of a study of two devices, which were measured interleaved.
fn own_result() -> StudyResult {
    let mut own = part(&[], None);
    own.rows.push(own.rows[0].clone());
    let names = [text!("red stick", "赤いメモリー"), text!("blue stick", "青いメモリー")];
    for (place, (row, name)) in own.rows.iter_mut().zip(names).enumerate() {
        (row.label, row.path, row.model) = (name, Some(format!("/media/{place}")), None);
        for cell in &mut row.cells {
            (cell.status, cell.reason, cell.plus_minus) = (Status::Measured, None, Some(12.5));
            cell.value = cell.value.map(|value| value * (1 + place) as f64);
        }
    }
    own.order = vec![RowOrder::Interleaved { rows: vec![0, 1], blocks: 4 }];
    let mut best = best_verdict();
    (best.article, best.published, best.interleaved) = (None, None, true);
    best.grounds.choices.iter_mut().for_each(|choice| choice.real = true);
    StudyResult { parts: vec![own], verdicts: vec![best], unasked: Vec::new(), ..result() }
}

#[test]
fn an_article_has_its_answers_first_then_figures_with_their_scatter_and_the_order_of_measuring() {
    let words = |format, lang| {
        let made = study_article(&own_result(), &[], format, Theme::Light, lang).unwrap();
        String::from_utf8(made.bytes().to_vec()).unwrap().replace('\u{a0}', " ")
    };
    for (lang, answer, title, figure, order) in [
        (
            Lang::En,
            "second: 25 % faster than first.",
            "Results",
            "2,000.0 ± 12.5",
            "Measured interleaved, in 4 blocks",
        ),
        (Lang::Ja, "25 % 速い", "結果", "2,000.0 ± 12.5", "交互に測定(順序を入れ替えながら 4 回)"),
    ] {
        for format in [ReportFormat::Page, ReportFormat::Markdown] {
            let page = words(format, lang);
            let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}: {page}"));
            assert!(at(answer) < at(title) && at(title) < at(figure), "{page}");
            assert!(page.contains(order) && !page.contains("one after the other"), "{page}");
        }
    }
    let card = words(ReportFormat::Svg, Lang::En);
    for words in ["red stick", "blue stick", "2,000.0 ± 12.5", "interleaved", "95 % interval"] {
        assert!(card.contains(words), "{words}: {card}");
    }
    let error = study_article(&own_result(), &[], ReportFormat::Csv, Theme::Light, Lang::En).err().unwrap();
    assert!(error.remedy_text().unwrap().en.contains("article.html"), "{error:?}");
}

#[test]
fn devices_are_the_rows_or_the_columns_of_the_same_figures() {
    let table = |across: bool| {
        let mut result = own_result();
        result.parts[0].head.devices_across = across;
        let page = render_study_markdown(&result, Lang::En);
        let rows: Vec<Vec<String>> = page
            .lines()
            .filter(|line| line.starts_with('|') && !line.contains("--"))
            .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
            .collect();
        rows
    };
    let (rows, columns) = (table(false), table(true));
    assert_eq!((rows.len(), columns.len()), (3, 7));
    for (place, row) in rows.iter().enumerate().skip(1) {
        for (column, figure) in row.iter().enumerate().skip(1) {
            assert_eq!(*figure, columns[column][place], "{rows:#?} {columns:#?}");
        }
    }
}
