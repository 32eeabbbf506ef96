//! Published figures, searched.

use crate::pages::frame::written;
use crate::pages::search::Search;
use crate::pages::{Visit, titled};
use axum::extract::Query;
use axum::response::Response;
use kurabe_core::text;
use kurabe_report::catalogue_doc;
use kurabe_study::catalogue::Catalogue;
use maud::html;

/// `GET /catalogue`
pub(crate) async fn page(visit: Visit, Query(asked): Query<Search>) -> Response {
    titled(visit, move |_, lang| {
        let words: Vec<String> = asked.q.split_whitespace().map(str::to_owned).collect();
        let page = html! {
            (asked.form("/catalogue", &text!("Words", "語句"), &html! {}, lang))
            (written(&catalogue_doc(Catalogue::built_in(), &words, false), lang))
        };
        Ok((text!("Published figures", "公表値"), page))
    })
    .await
}
