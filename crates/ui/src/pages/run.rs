//! One run: what its report says, its card, and what can be taken away of it.

use crate::pages::frame::{encoded, report_tabs, tabs, ways_to, written};
use crate::pages::{Visit, action, file, framed, tiles};
use crate::shared::Site;
use axum::Json;
use axum::extract::{Path, Query};
use axum::response::Response;
use kurabe_chart::Theme;
use kurabe_compare::NAME_LABEL;
use kurabe_core::record::RunRecord;
use kurabe_core::{Lang, Result, text};
use kurabe_interop::ExportFormat;
use kurabe_report::{PageTheme, Report, headline, png, run_figures};
use kurabe_store::{export_with_figures, without_paths};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

/// Differences up to this do not matter, as on the command line.
pub(crate) const MARGIN: f64 = 0.05;

/// A run by its id, or what begins it.
pub(crate) fn load(shared: &Site, id: &str) -> Result<RunRecord> {
    let store = shared.open_store()?;
    store.load(&store.resolve(id)?)
}

/// Which part of a page is asked for.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct AskedTab {
    tab: Option<String>,
}

/// `GET /runs/ID?tab=PART`: the answer, the tiles and what they stand on; all else behind tabs.
pub(crate) async fn page(visit: Visit, Path(id): Path<String>, Query(asked): Query<AskedTab>) -> Response {
    framed(visit, move |shared, lang| {
        let record = load(shared, &id)?;
        let report = Report::new(vec![&record], MARGIN, &[], None, lang);
        let mut parts = report_tabs(&report, lang);
        parts.push(("card", text!("Card", "画像カード"), Box::new(|| Ok(cards(&record, lang)))));
        parts.push(("name", text!("Name", "名前"), Box::new(|| Ok(name_form(&record, lang)))));
        let address = format!("/runs/{}", encoded(&record.header.id));
        let page = html! {
            header.report { (written(&report.head_doc(), lang)) (ways(&record, lang)) }
            (tiles::of_run(&record, report.likeness(), lang))
            @if record.header.model.is_none() { p.quiet { (headline(&record.header).get(lang)) } }
            (tabs(&address, parts, asked.tab.as_deref(), lang)?)
        };
        Ok((report.title(), page))
    })
    .await
}

fn ways(record: &RunRecord, lang: Lang) -> Markup {
    let id = encoded(&record.header.id);
    let ways = [
        (format!("/runs/{id}/text"), text!("as text", "テキスト")),
        (format!("/runs/{id}/report.html"), text!("save as a page", "ページとして保存")),
        (
            format!("/runs/{id}/report.html?without_paths=true"),
            text!("… without the paths of this machine", "…(このマシンのパスを伏せて)"),
        ),
        (format!("/runs/{id}/record.json"), text!("record (JSON)", "記録(JSON)")),
    ];
    ways_to(ways, lang)
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

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CardQuery {
    lang: String,
    theme: String,
}

/// `GET /runs/ID/card.png`
pub(crate) async fn card(visit: Visit, Path(id): Path<String>, Query(asked): Query<CardQuery>) -> Response {
    let theme = if asked.theme == "dark" { Theme::Dark } else { Theme::Light };
    file(visit, "image/png", None, move |shared, lang| {
        let lang = if asked.lang.is_empty() { lang } else { Lang::from_locale(&asked.lang) };
        png(&kurabe_report::card(&load(shared, &id)?, theme, lang), 1.0)
    })
    .await
}

/// `GET /runs/ID/text`: as people paste it.
pub(crate) async fn text(visit: Visit, Path(id): Path<String>) -> Response {
    file(visit, "text/plain; charset=utf-8", None, move |shared, lang| {
        let record = load(shared, &id)?;
        kurabe_interop::export(&[record], ExportFormat::CdmText, lang).map(String::into_bytes)
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct SavedQuery {
    /// Whether it says nothing of the paths of this machine.
    #[serde(default)]
    without_paths: bool,
}

/// `GET /runs/ID/report.html`: the report as a file of its own.
pub(crate) async fn saved(visit: Visit, Path(id): Path<String>, Query(query): Query<SavedQuery>) -> Response {
    let name = format!("kurabe-{}.html", encoded(&id));
    file(visit, "application/octet-stream", Some(name), move |shared, lang| {
        let record = load(shared, &id)?;
        let record = if query.without_paths { without_paths(&record)? } else { record };
        let report = Report::new(vec![&record], MARGIN, &[], None, lang);
        Ok(report.html(PageTheme::Auto, |bytes| report.records(bytes)).html.into_bytes())
    })
    .await
}

/// `GET /runs/ID/record.json`
pub(crate) async fn record(visit: Visit, Path(id): Path<String>) -> Response {
    let name = format!("kurabe-{}.json", encoded(&id));
    file(visit, "application/json", Some(name), move |shared, _| {
        let record = load(shared, &id)?;
        Ok(export_with_figures(&record, &run_figures(&record)).into_bytes())
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct NewName {
    name: String,
}

/// `POST /runs/ID/label`
pub(crate) async fn label(
    visit: Visit,
    Path(id): Path<String>,
    Json(NewName { name }): Json<NewName>,
) -> Response {
    action(visit, move |shared, _| {
        let store = shared.open_store()?;
        let name = name.trim();
        store.label(&store.resolve(&id)?, NAME_LABEL, Some(name).filter(|name| !name.is_empty()))?;
        Ok(json!({}))
    })
    .await
}
