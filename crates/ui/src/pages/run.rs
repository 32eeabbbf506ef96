//! One run: what its report says, its card, and what can be taken away of it.

use super::frame::{report_tabs, tabs};
use super::kit::*;
use super::tiles;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use kurabe_chart::{Theme, png};
use kurabe_interop::ExportFormat;
use kurabe_report::{headline, run_figures};
use kurabe_store::{export_with_figures, without_paths};

/// Differences up to this do not matter, as on the command line.
pub(crate) const MARGIN: f64 = 0.05;

/// A run by its id, or what begins it.
pub(crate) fn load(shared: &Site, id: &str) -> Result<RunRecord> {
    let store = shared.store.runs()?;
    store.load(&store.resolve(id)?)
}

/// What is asked of a run beside its id.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskedOfRun {
    /// A part of its page.
    tab: Option<String>,
    /// Language and theme of its card.
    lang: Option<String>,
    theme: String,
    /// Whether its report says nothing of the paths of this machine.
    without_paths: bool,
}

/// `GET /runs/ID?tab=PART`: the answer, the tiles and what they stand on; all else behind tabs.
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
    let page = html! {
        header.report { (written(&report.head_doc(), lang)) (ways_to(files(&record.header.id), lang)) }
        (tiles::of_run(&record, report.likeness(), lang))
        @if record.header.model.is_none() { p.quiet { (headline(&record.header).get(lang)) } }
        (tabs(&address, parts, asked.tab.as_deref(), lang)?)
    };
    Ok(Made::Headed(report.title(), page))
}

/// What can be taken away of a run, with its addresses.
pub(crate) fn files(id: &str) -> [(String, Text); 4] {
    let files = [
        ("text", text!("as text", "テキスト")),
        ("report.html", text!("save as a page", "ページとして保存")),
        (
            "report.html?without_paths=true",
            text!("… without the paths of this machine", "…(このマシンのパスを伏せて)"),
        ),
        ("record.json", text!("record (JSON)", "記録(JSON)")),
    ];
    files.map(|(file, name)| (format!("/runs/{}/{file}", encoded(id)), name))
}

/// The card as it would be posted.
fn cards(record: &RunRecord, lang: Lang) -> Markup {
    let id = encoded(&record.header.id);
    let (own, other) = (lang.pick("en", "ja"), lang.pick("ja", "en"));
    html! {
        div.gallery {
            @for (tongue, theme) in [(own, "light"), (own, "dark"), (other, "light"), (other, "dark")] {
                @let address = format!("/runs/{id}/card.png?lang={tongue}&theme={theme}");
                @let words = text!("card, {tongue}, {theme}", "画像カード({tongue}、{theme})");
                a href=(address) download={ "kurabe-" (id) "-" (tongue) "-" (theme) ".png" } {
                    img src=(address) alt=(words.get(lang)) loading="lazy" width="1200" height="675";
                }
            }
        }
    }
}

fn name_form(record: &RunRecord, lang: Lang) -> Markup {
    let label = text!("a name of your own for this run", "この測定に付ける名前");
    html! {
        form.line data-post={ "/runs/" (encoded(&record.header.id)) "/label" } {
            input name="name" aria-label=(label.get(lang)) maxlength="80" value=[record.labels.get(NAME_LABEL)];
            " " button { (text!("keep", "保存").get(lang)) } " " output {}
        }
    }
}

/// `GET /runs/ID/FILE`: what can be taken away of a run.
pub(crate) fn file(
    shared: &App,
    lang: Lang,
    (Path((id, name)), Query(asked)): (Path<(String, String)>, Query<AskedOfRun>),
) -> Result<Made> {
    let record = || load(shared, &id);
    let kept = |ending| Some(format!("kurabe-{}.{ending}", encoded(&id)));
    Ok(match name.as_str() {
        "card.png" => {
            let theme = if asked.theme == "dark" { Theme::Dark } else { Theme::Light };
            let lang = asked.lang.as_deref().map_or(lang, Lang::from_locale);
            Made::File("image/png", None, png(&kurabe_report::card(&record()?, theme, lang), 1.0)?)
        }
        // As people paste it.
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

/// `POST /runs/ID/label`
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
