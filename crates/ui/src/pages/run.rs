//! One run: its report, its card, and files to download.

use super::frame::{report_tabs, tabs};
use super::head::{card_file, run_head, share};
use super::kit::*;
use super::tiles;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use kurabe_chart::{DRAWS_PNG, Theme};
use kurabe_interop::ExportFormat;
use kurabe_report::run_figures;
use kurabe_store::{export_with_figures, without_paths};

/// Differences up to this don't matter, as on the command line.
pub(crate) const MARGIN: f64 = 0.05;

/// Loads a run by its id, or by another reference that the store resolves.
pub(crate) fn load(shared: &Site, id: &str) -> Result<RunRecord> {
    let store = shared.store.runs()?;
    store.load(&store.resolve(id)?)
}

/// Query parameters of a run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskedOfRun {
    /// The tab.
    tab: Option<String>,
    /// Language and theme of the card.
    lang: Option<String>,
    theme: String,
    /// Whether the report omits the paths of this machine.
    without_paths: bool,
}

/// Handles `GET /runs/ID?tab=PART`: shows the summary, the tiles and the test environment, and
/// everything else in tabs.
pub(crate) fn page(
    shared: &App,
    lang: Lang,
    (Path(id), Query(asked)): (Path<String>, Query<AskedOfRun>),
) -> Result<Made> {
    let record = load(shared, &id)?;
    let report = Report::new(vec![&record], MARGIN, &[], None, lang);
    let mut parts = report_tabs(&report, lang);
    parts.push(("card", text!("Card", "画像カード"), Box::new(|| Ok(cards(&record, lang)))));
    parts.push(("name", text!("Name", "名前"), Box::new(|| Ok(name_form(&record, lang)))));
    let address = format!("/runs/{}", encoded(&record.header.id));
    let mut sentences = report.sentences().into_iter();
    let first = sentences.next().unwrap_or_default();
    let rest = Text::sentences(sentences);
    let page = html! {
        header.run.report {
            (run_head(&record, 1, &share(&record.header.id, lang), lang))
            p.answer { (first.get(lang)) }
        }
        (tiles::of_run(&record, report.likeness(), lang))
        @if !rest.is_empty() { p.further { (rest.get(lang)) } }
        @if let Some(warnings) = report.warning_words() {
            p.notice.warn { a href={ (address) "?tab=notices#notices" } { (warnings.get(lang)) } }
        }
        (tabs(&address, parts, asked.tab.as_deref(), lang)?)
    };
    Ok(Made::Headed(report.title(), page))
}

/// Renders the card as it would be posted.
fn cards(record: &RunRecord, lang: Lang) -> Markup {
    let id = encoded(&record.header.id);
    let (own, other) = (lang.pick("en", "ja"), lang.pick("ja", "en"));
    let ending = if DRAWS_PNG { "png" } else { "svg" };
    html! {
        div.gallery {
            @for (tongue, theme) in [(own, "light"), (own, "dark"), (other, "light"), (other, "dark")] {
                @let address = format!("/runs/{id}/card.{ending}?lang={tongue}&theme={theme}");
                @let words = text!("card, {tongue}, {theme}", "画像カード({tongue}、{theme})");
                a href=(address) download={ "kurabe-" (id) "-" (tongue) "-" (theme) "." (ending) } {
                    img src=(address) alt=(words.get(lang)) loading="lazy" width="1200" height="675";
                }
            }
        }
    }
}

fn name_form(record: &RunRecord, lang: Lang) -> Markup {
    let label = text!("your own name for this run", "この測定に付ける名前");
    html! {
        form.line data-post={ "/runs/" (encoded(&record.header.id)) "/label" } {
            input name="name" aria-label=(label.get(lang)) maxlength="80" value=[record.labels.get(NAME_LABEL)];
            " " button { (text!("keep", "保存").get(lang)) } " " output {}
        }
    }
}

/// Handles `GET /runs/ID/FILE`: returns a file of a run.
pub(crate) fn file(
    shared: &App,
    lang: Lang,
    (Path((id, name)), Query(asked)): (Path<(String, String)>, Query<AskedOfRun>),
) -> Result<Made> {
    let record = || load(shared, &id);
    let kept = |ending| Some(format!("kurabe-{}.{ending}", encoded(&id)));
    Ok(match name.as_str() {
        "card.png" | "card.svg" => {
            let run = record()?;
            return card_file(&name, (asked.lang.as_deref(), Some(&asked.theme)), lang, |theme, lang| {
                kurabe_report::card(&run, theme, lang)
            });
        }
        // In the text format that users paste into forums.
        "text" => {
            let words = kurabe_interop::export(&[record()?], ExportFormat::CdmText, lang)?;
            Made::File("text/plain; charset=utf-8", None, words.into_bytes())
        }
        "report.html" => {
            let record = if asked.without_paths { without_paths(&record()?)? } else { record()? };
            let report = Report::new(vec![&record], MARGIN, &[], None, lang);
            let page = report.html(Theme::Auto, |bytes| report.records(bytes));
            Made::File("application/octet-stream", kept("html"), page.html.into_bytes())
        }
        "record.json" => {
            let record = record()?;
            let words = export_with_figures(&record, &run_figures(&record))?;
            Made::File("application/json", kept("json"), words.into_bytes())
        }
        _ => Made::Other(StatusCode::NOT_FOUND.into_response()),
    })
}

#[derive(Deserialize)]
pub(crate) struct NewName {
    name: String,
}

/// Handles `POST /runs/ID/label`.
pub(crate) fn label(
    shared: &App,
    _: Lang,
    (Path(id), Json(NewName { name })): (Path<String>, Json<NewName>),
) -> Result<Made> {
    let store = shared.store.open()?;
    let name = name.trim();
    store.label(&store.resolve(&id)?, NAME_LABEL, Some(name).filter(|name| !name.is_empty()))?;
    Ok(Made::Data(json!({})))
}
