//! Published figures, searched.

use crate::pages::frame::say;
use crate::pages::page as framed;
use crate::shared::{App, Reader, catalogue};
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Response;
use kurabe_core::text;
use kurabe_report::{Html, catalogue_doc};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct CatalogueQuery {
    #[serde(default)]
    q: String,
}

/// `GET /catalogue`
pub(crate) async fn page(
    State(shared): State<App>,
    reader: Reader,
    uri: Uri,
    Query(CatalogueQuery { q }): Query<CatalogueQuery>,
) -> Response {
    framed(shared, reader, uri, move |_| {
        let (title, lang) = (text!("Published figures", "公表値"), reader.lang);
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        html.raw("<form class=\"line\" method=\"get\" action=\"/catalogue\" role=\"search\"><label>");
        html.words(text!("Words", "語句").get(lang)).raw(" ");
        html.open("input", &[("type", "search"), ("name", "q"), ("value", &q)]).raw("</label> ");
        html.element("button", &[], text!("search", "検索").get(lang)).raw("</form>");
        let words: Vec<String> = q.split_whitespace().map(str::to_owned).collect();
        html.doc(&catalogue_doc(&catalogue()?.search(&words), false), lang);
        Ok((title, html))
    })
    .await
}
