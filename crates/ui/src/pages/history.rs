//! Devices over time: what was measured again in the same way, and what became of it.

use crate::pages::frame::{encoded, say};
use crate::pages::page as framed;
use crate::pages::run::MARGIN;
use crate::shared::{App, Reader};
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Response;
use kurabe_compare::{DIGEST_VERSION, digest, measured_again};
use kurabe_core::Result;
use kurabe_core::{Lang, number, text};
use kurabe_report::{Html, history_doc};
use kurabe_store::{Filter, Store};
use serde::Deserialize;

/// Devices on a page.
const MOST_DEVICES: usize = 20;

#[derive(Deserialize)]
pub(crate) struct HistoryQuery {
    /// Only devices whose name has this.
    #[serde(default)]
    q: String,
}

/// `GET /history`
pub(crate) async fn page(
    State(shared): State<App>,
    reader: Reader,
    uri: Uri,
    Query(HistoryQuery { q }): Query<HistoryQuery>,
) -> Response {
    framed(shared, reader, uri, move |shared| {
        let (title, lang) = (text!("Over time", "経時変化"), reader.lang);
        let store = shared.open_store()?;
        let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
        let device = Some(q.trim().to_owned()).filter(|device| !device.is_empty());
        let filter = Filter { device, ..Filter::default() };
        let groups = measured_again(filter.apply(store.list()?), &digests);
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        html.raw("<form class=\"line\" method=\"get\" action=\"/history\" role=\"search\"><label>");
        html.words(text!("Device", "デバイス").get(lang)).raw(" ");
        html.open("input", &[("type", "search"), ("name", "q"), ("value", &q)]).raw("</label> ");
        html.element("button", &[], text!("search", "検索").get(lang)).raw("</form>");
        if groups.is_empty() {
            let words = text!(
                "No such device was measured twice with one profile.",
                "同じプロファイルで 2 回以上測ったデバイスはありません。"
            );
            say(&mut html, "p", "empty", &words, lang);
        }
        for (device, ids) in groups.iter().take(MOST_DEVICES) {
            let (first, last) = (store.load(&ids[0])?, store.load(&ids[ids.len() - 1])?);
            let history = kurabe_compare::history(&first, &last, ids, &digests, MARGIN);
            html.raw("<section>").doc(&history_doc(&history, device, [&first.header, &last.header]), lang);
            dates(&mut html, ids, &*store, lang)?;
            html.raw("</section>");
        }
        Ok((title, html))
    })
    .await
}

/// The runs by their dates, of which two are laid over each other.
fn dates(html: &mut Html, ids: &[String], store: &dyn Store, lang: Lang) -> Result<()> {
    html.raw("<form method=\"get\" action=\"/compare\" class=\"line\">");
    for (place, run) in store.list()?.iter().filter(|run| ids.contains(&run.id)).enumerate() {
        let date = number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at));
        let ticked = if place == 0 || place + 1 == ids.len() { "checked" } else { "" };
        html.raw("<label>");
        html.open("input", &[("type", "checkbox"), ("name", "run"), ("value", &run.id), ("checked", ticked)]);
        html.raw(" ")
            .element("a", &[("href", &format!("/runs/{}", encoded(&run.id)))], &date)
            .raw("</label> ");
    }
    html.element("button", &[], text!("lay over each other", "重ねて比べる").get(lang)).raw("</form>");
    Ok(())
}
