//! Published figures, searched.

use crate::pages::frame::{say, search};
use crate::pages::{Visit, page as framed};
use crate::shared::catalogue;
use axum::extract::Query;
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
pub(crate) async fn page(visit: Visit, Query(CatalogueQuery { q }): Query<CatalogueQuery>) -> Response {
    framed(visit, move |_, lang| {
        let title = text!("Published figures", "公表値");
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        search(&mut html, "/catalogue", &text!("Words", "語句"), &q, lang);
        html.raw("</form>");
        let words: Vec<String> = q.split_whitespace().map(str::to_owned).collect();
        html.doc(&catalogue_doc(&catalogue()?.search(&words), false), lang);
        Ok((title, html))
    })
    .await
}
