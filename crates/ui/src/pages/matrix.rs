//! All runs at once: values of a key in rows or columns, cells beside them, each held against the others.

use crate::pages::frame::say;
use crate::pages::run::MARGIN;
use crate::pages::{Visit, page as framed};
use axum::extract::Query;
use axum::response::Response;
use kurabe_compare::{DIGEST_VERSION, PivotRequest, digest, pivot};
use kurabe_core::{Lang, Text, text};
use kurabe_report::{Html, PIVOT_WORDS, pivot_doc};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Keys that are offered; any other is typed on the command line.
fn keys() -> [(&'static str, Text); 6] {
    [
        ("device", text!("device", "デバイス")),
        ("target", text!("target", "対象")),
        ("filesystem", text!("file system", "ファイルシステム")),
        ("kernel", text!("kernel", "カーネル")),
        ("link", text!("link", "接続")),
        ("run", text!("run", "測定")),
    ]
}

/// Runs that stand side by side, each in a row of its own; more are a page of megabytes.
const MOST_RUNS: usize = 200;

#[derive(Deserialize)]
#[serde(default)]
pub(crate) struct MatrixQuery {
    by: String,
    profile: String,
    baseline: String,
}

impl Default for MatrixQuery {
    fn default() -> Self {
        Self { by: "device".to_owned(), profile: String::new(), baseline: String::new() }
    }
}

/// `GET /matrix`
pub(crate) async fn page(visit: Visit, Query(asked): Query<MatrixQuery>) -> Response {
    framed(visit, move |shared, lang| {
        let title = text!("All runs side by side", "全結果の比較表");
        let store = shared.open_store()?;
        let runs = store.list()?;
        let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
        let profiles: BTreeSet<&str> = runs.iter().map(|run| run.profile.as_str()).collect();
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        form(&mut html, &asked, &profiles, lang);
        let request = PivotRequest {
            by: vec![asked.by.clone()],
            baseline: Some(asked.baseline.trim().to_owned()).filter(|baseline| !baseline.is_empty()),
            profile: Some(asked.profile.clone()).filter(|profile| !profile.is_empty()),
            cell: None,
            filters: Vec::new(),
            margin: MARGIN,
        };
        let first = if asked.by == "run" { runs.len().saturating_sub(MOST_RUNS) } else { 0 };
        if first > 0 {
            let (count, most) = (runs.len(), MOST_RUNS);
            let words = text!(
                "The newest {most} of {count} runs stand here.",
                "{count} 件のうち新しい {most} 件を並べています。"
            );
            say(&mut html, "p", "quiet", &words, lang);
        }
        html.doc(&pivot_doc(&pivot(&runs[first..], &digests, &request, &PIVOT_WORDS)?), lang);
        Ok((title, html))
    })
    .await
}

fn form(html: &mut Html, asked: &MatrixQuery, profiles: &BTreeSet<&str>, lang: Lang) {
    let chosen = |is_chosen: bool| if is_chosen { "selected" } else { "" };
    html.raw("<form class=\"line\" method=\"get\" action=\"/matrix\"><label>");
    html.words(text!("by", "並べるもの").get(lang)).raw(" <select name=\"by\">");
    for (key, name) in keys() {
        html.element("option", &[("value", key), ("selected", chosen(asked.by == key))], name.get(lang));
    }
    html.raw("</select></label> <label>")
        .words(text!("profile", "プロファイル").get(lang))
        .raw(" <select name=\"profile\">");
    html.raw("<option value=\"\">").words(text!("all", "すべて").get(lang)).raw("</option>");
    for profile in profiles {
        html.element(
            "option",
            &[("value", profile), ("selected", chosen(asked.profile == *profile))],
            profile,
        );
    }
    html.raw("</select></label> <label>").words(text!("against", "基準").get(lang)).raw(" ");
    html.open("input", &[("name", "baseline"), ("value", &asked.baseline), ("size", "14")]).raw("</label> ");
    html.element("button", &[], text!("show", "表示").get(lang)).raw("</form>");
}
