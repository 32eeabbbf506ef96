//! Studies: what an article found, and what models make of it. Verdicts come first.

use crate::pages::frame::written;
use crate::pages::{Visit, titled};
use axum::extract::Path;
use axum::response::Response;
use kurabe_core::{Result, text};
use kurabe_lab::{RunHandle, Stream, StudyRunner, run_study};
use kurabe_report::study_docs;
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{STUDIES, StudyOptions, StudyResult, study_named};
use maud::html;
use std::sync::{Mutex, PoisonError};

/// `GET /studies`
pub(crate) async fn page(visit: Visit) -> Response {
    titled(visit, move |_, lang| {
        let published = Catalogue::built_in();
        let words = text!(
            "Published comparisons, computed again on models: what was claimed, and whether it comes out.",
            "公開されている比較記事を、モデルで計算し直したものです。記事の結論が再現するかを示します。"
        );
        let page = html! {
            p { (words.get(lang)) }
            ul.models {
                @for (name, _) in STUDIES {
                    @let study = study_named(name, published)?;
                    li { a href={ "/studies/" (name) } { b { (study.title.get(lang)) } small { (name) } } }
                }
            }
        };
        Ok((text!("Studies", "スタディ"), page))
    })
    .await
}

/// Studies on models come out the same each time, so each is computed once.
static COMPUTED: Mutex<Vec<StudyResult>> = Mutex::new(Vec::new());

/// `GET /studies/NAME`
pub(crate) async fn study(visit: Visit, Path(name): Path<String>) -> Response {
    titled(visit, move |shared, lang| {
        let result = computed(&name, shared)?;
        let [verdicts, tables] = study_docs(&result);
        let page = html! {
            section.verdicts { (written(&verdicts, lang)) }
            section.evidence { (written(&tables, lang)) }
        };
        Ok((result.title, page))
    })
    .await
}

fn computed(name: &str, shared: &crate::shared::Site) -> Result<StudyResult> {
    let mut kept = COMPUTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(result) = kept.iter().find(|result| result.study == name) {
        return Ok(result.clone());
    }
    shared.desk.refuse_beside_real()?;
    let plan = kurabe_study::plan(&study_named(name, Catalogue::built_in())?, &StudyOptions::default())?;
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
