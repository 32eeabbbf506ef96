//! Studies: what an article found, and what models make of it. Verdicts come first.

use crate::pages::frame::say;
use crate::pages::{Visit, page as framed};
use crate::shared::catalogue;
use axum::extract::Path;
use axum::response::Response;
use kurabe_core::{Result, text};
use kurabe_lab::{RunHandle, Stream, StudyRunner, run_study};
use kurabe_report::{Html, study_docs};
use kurabe_study::{STUDIES, StudyOptions, StudyResult, study_named};
use std::sync::{Mutex, PoisonError};

/// `GET /studies`
pub(crate) async fn page(visit: Visit) -> Response {
    framed(visit, move |_, lang| {
        let title = text!("Studies", "スタディ");
        let published = catalogue()?;
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        let words = text!(
            "Published comparisons, computed again on models: what was claimed, and whether it comes out.",
            "公開されている比較記事を、モデルで計算し直したものです。記事の結論が再現するかを示します。"
        );
        say(&mut html, "p", "", &words, lang);
        html.raw("<ul class=\"models\">");
        for (name, _) in STUDIES {
            let study = study_named(name, published)?;
            html.raw("<li>").open("a", &[("href", &format!("/studies/{name}"))]);
            html.element("b", &[], study.title.get(lang)).element("small", &[], name).raw("</a></li>");
        }
        html.raw("</ul>");
        Ok((title, html))
    })
    .await
}

/// Studies on models come out the same each time, so each is computed once.
static COMPUTED: Mutex<Vec<StudyResult>> = Mutex::new(Vec::new());

/// `GET /studies/NAME`
pub(crate) async fn study(visit: Visit, Path(name): Path<String>) -> Response {
    framed(visit, move |shared, lang| {
        let result = computed(&name, shared)?;
        let [verdicts, tables] = study_docs(&result);
        let mut html = Html::new();
        say(&mut html, "h1", "", &result.title, lang);
        html.raw("<section class=\"verdicts\">").doc(&verdicts, lang).raw("</section>");
        html.raw("<section class=\"evidence\">").doc(&tables, lang).raw("</section>");
        Ok((result.title.clone(), html))
    })
    .await
}

fn computed(name: &str, shared: &crate::shared::Site) -> Result<StudyResult> {
    let mut kept = COMPUTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(result) = kept.iter().find(|result| result.study == name) {
        return Ok(result.clone());
    }
    shared.desk.refuse_beside_real()?;
    let plan = kurabe_study::plan(&study_named(name, catalogue()?)?, &StudyOptions::default())?;
    let (stream, handle) = (Stream::default(), RunHandle::default());
    let runner = StudyRunner {
        open_store: &|| shared.open_store(),
        stream: &stream,
        handle: &handle,
        command: &[],
        threads: 1,
    };
    let result = run_study(&plan, &runner)?;
    kept.push(result.clone());
    Ok(result)
}
