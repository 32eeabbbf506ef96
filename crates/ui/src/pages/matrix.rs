//! All runs at once: values of a key in rows or columns, cells beside them, each held against the others.

use crate::pages::Made;
use crate::pages::frame::{choice, written};
use crate::pages::run::MARGIN;
use crate::shared::App;
use axum::extract::Query;
use kurabe_compare::{DIGEST_VERSION, PivotRequest, digest, pivot};
use kurabe_core::{Lang, Result, Text, text};
use kurabe_report::{PIVOT_WORDS, pivot_doc};
use maud::{Markup, html};
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
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<MatrixQuery>) -> Result<Made> {
    let store = shared.open_store()?;
    let runs = store.list()?;
    let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
    let profiles: BTreeSet<&str> = runs.iter().map(|run| run.profile.as_str()).collect();
    let request = PivotRequest {
        by: vec![asked.by.clone()],
        baseline: Some(asked.baseline.trim().to_owned()).filter(|baseline| !baseline.is_empty()),
        profile: Some(asked.profile.clone()).filter(|profile| !profile.is_empty()),
        cell: None,
        filters: Vec::new(),
        margin: MARGIN,
    };
    let first = if asked.by == "run" { runs.len().saturating_sub(MOST_RUNS) } else { 0 };
    let (count, most) = (runs.len(), MOST_RUNS);
    let newest = text!(
        "The newest {most} of {count} runs stand here.",
        "{count} 件のうち新しい {most} 件を並べています。"
    );
    let page = html! {
        (form(&asked, &profiles, lang))
        @if first > 0 { p.quiet { (newest.get(lang)) } }
        (written(&pivot_doc(&pivot(&runs[first..], &digests, &request, &PIVOT_WORDS)?), lang))
    };
    Ok(Made::Page(text!("All runs side by side", "全結果の比較表"), page))
}

fn form(asked: &MatrixQuery, profiles: &BTreeSet<&str>, lang: Lang) -> Markup {
    let every = std::iter::once(("", text!("all", "すべて")));
    let profiles = every.chain(profiles.iter().map(|profile| (*profile, Text::same(*profile))));
    let profile = Some(&*asked.profile).filter(|profile| !profile.is_empty());
    html! {
        form.line method="get" action="/matrix" {
            (choice(("by", text!("by", "並べるもの")), keys(), Some(&asked.by), lang))
            (choice(("profile", text!("profile", "プロファイル")), profiles, profile, lang))
            label {
                (text!("against", "基準").get(lang)) " "
                input name="baseline" value=(asked.baseline) size="14";
            } " "
            button { (text!("show", "表示").get(lang)) }
        }
    }
}
