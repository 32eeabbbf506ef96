//! A study as an article: the answers first, then the tables with charts, how the devices were
//! measured, and their environment.
//!
//! What belongs to the stored runs (other differences, stutter, method, environment, notices,
//! temperature) is that of a report of these runs, and the page holds their records.

use super::{about, ending};
use super::{bars, card, own_card, part_body, study_answer, verdict_answer, verdict_doc};
use crate::publish::page::{Embedded, Report, write_foot, write_head};
use crate::publish::report_format::{MadeReport, PNG_SCALE, ReportFormat};
use crate::study::scripts::SpokenStudy;
use kurabe_chart::{Theme, png};
use kurabe_core::record::RunRecord;
use kurabe_core::shown::{self, Shown};
use kurabe_core::words::Keyword;
use kurabe_core::{ErrorKind, Lang, Result, text};
use kurabe_doc::{Block, Doc, Html, Paragraph, Purpose};
use kurabe_study::StudyResult;

/// Largest relative difference between runs that does not matter.
const MARGIN: f64 = 0.05;
const VERSION: &str = concat!("kurabe ", env!("CARGO_PKG_VERSION"));
/// Sections of a report of the runs that the article has as well.
const SECTIONS: [&str; 7] = ["stutter", "fairness", "charts", "runs", "method", "environment", "notices"];

/// Returns the formats of an article.
///
/// # Errors
///
/// Returns an error for a format that a study does not have.
pub fn check_article_format(format: ReportFormat) -> Result<()> {
    if format != ReportFormat::Csv {
        return Ok(());
    }
    let word = format.word();
    Err(ErrorKind::Usage
        .error(text!("a study cannot be written as {word}", "スタディを {word} では書き出せません"))
        .remedy(text!(
            "name a page, a picture or a text: -o article.html, .png, .svg, .md or .json",
            "ページ、画像、テキストを指定してください: -o article.html、.png、.svg、.md、.json"
        )))
}

/// Creates the article of a study. `runs` are the stored runs of its real targets.
///
/// # Errors
///
/// Returns an error if it can't be drawn, or has no such format.
pub fn study_article(
    result: &StudyResult,
    runs: &[RunRecord],
    format: ReportFormat,
    theme: Theme,
    lang: Lang,
) -> Result<MadeReport> {
    check_article_format(format)?;
    let words = match format {
        ReportFormat::Page => return Ok(page(result, runs, theme, lang)),
        ReportFormat::Markdown | ReportFormat::Csv => {
            let doc = head(result).and(body(result, runs, lang));
            format!("{}\n{VERSION}\n", doc.markdown(lang))
        }
        ReportFormat::Json => {
            let words = serde_json::to_string(&SpokenStudy::from(result)).map_err(|error| {
                ErrorKind::Internal.error(text!("cannot write JSON", "JSON を書けません")).because(error)
            })?;
            shown::json(&words).into_owned() + "\n"
        }
        ReportFormat::Svg => picture(result, runs, theme, lang),
        ReportFormat::Png => {
            // A PNG has only one set of colours.
            let theme = if theme == Theme::Auto { Theme::Light } else { theme };
            return png(&picture(result, runs, theme, lang), PNG_SCALE).map(MadeReport::Picture);
        }
    };
    Ok(MadeReport::Words(Shown::file(&words), Vec::new()))
}

/// Draws the figures of the user's devices, or the answers of a study on models.
fn picture(result: &StudyResult, runs: &[RunRecord], theme: Theme, lang: Lang) -> String {
    match result.parts.iter().flat_map(|part| &part.rows).any(|row| row.path.is_some()) {
        true => own_card::own_card(result, runs, theme, lang),
        false => card::study_card(result, theme, lang),
    }
}

fn page(result: &StudyResult, runs: &[RunRecord], theme: Theme, lang: Lang) -> MadeReport {
    let mut html = Html::default();
    write_head(&mut html, result.title.get(lang), lang, theme);
    html.raw("<body><main>\n<header>");
    head(result).write_html(&mut html, lang, theme);
    html.raw("</header>\n");
    body(result, runs, lang).write_html(&mut html, lang, theme);
    let embedded = match runs {
        [] => Embedded::default(),
        runs => report(result, runs, lang).records(html.bytes()),
    };
    write_foot(&mut html, &embedded, lang);
    MadeReport::Words(Shown::file(&html.finish()), embedded.left_out.into_iter().collect())
}

fn report<'r>(result: &StudyResult, runs: &'r [RunRecord], lang: Lang) -> Report<'r> {
    Report::new(runs.iter().collect(), MARGIN, &[], Some(result.title.get(lang)), lang)
}

/// Returns the title, where the study comes from, and the answer.
fn head(result: &StudyResult) -> Doc {
    let mut doc = Doc::new();
    doc.heading(2, result.title.clone()).append(about(result));
    doc.push_all(study_answer(result).map(|answer| Paragraph::new(answer).used_as(Purpose::Answer)));
    doc.done()
}

/// Returns everything below the head.
fn body(result: &StudyResult, runs: &[RunRecord], lang: Lang) -> Doc {
    let mut answers = Doc::new();
    for verdict in &result.verdicts {
        answers
            .heading(4, verdict.head.title.clone())
            .say(verdict_answer(verdict))
            .append(verdict_doc(verdict));
    }
    let mut results = Doc::new();
    for part in &result.parts {
        results.heading(4, part.title.clone()).append(part_body(part, true));
        let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| bars::charts(part, lang));
        for drawn in english.into_iter().zip(japanese) {
            results.chart("figures", drawn.into());
        }
    }
    let mut doc = Doc::new();
    doc.section("answers", text!("Answers", "答え"), answers);
    doc.section("results", text!("Results", "結果"), results);
    if runs.is_empty() {
        return doc.and(ending(result));
    }
    for (id, title, section) in report(result, runs, lang).parts() {
        match id {
            "charts" => {
                let title = text!("Charts of the runs", "各測定のグラフ");
                doc.section(id, title.clone(), Doc::of(Block::Fold(title, section)));
            }
            id if SECTIONS.contains(&id) => {
                doc.section(id, title, section);
            }
            _ => {}
        }
    }
    doc.done()
}

/// Returns the figure of the answer for a picture.
pub(super) fn drawable_answer(result: &StudyResult, lang: Lang) -> String {
    study_answer(result).unwrap_or_default().line(lang)
}
