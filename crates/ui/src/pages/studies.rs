//! Studies: the findings of an article, and what models make of them. Verdicts come first, each
//! with its evidence behind it.

use super::head::{card_file, share_card};
use super::kit::*;
use kurabe_lab::{RunHandle, Stream, StudyRunner, run_study};
use kurabe_report::{
    study_answer, study_card, study_frame, study_summary, study_tables, verdict_answer, verdict_badge,
    verdict_doc,
};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{QuestionResult, STUDIES, StudyOptions, StudyResult, study_named};

/// Handles `GET /studies`.
pub(crate) fn page(_: &App, lang: Lang, (): ()) -> Result<Made> {
    let published = Catalogue::built_in();
    // While a study is being computed, the lock is held, and no results are shown.
    let kept = COMPUTED.try_lock().ok();
    let computed = |name| kept.iter().flat_map(|kept| kept.iter()).find(|result| result.name == name);
    let words = text!(
        "Published comparisons, computed again on models: the claims, and whether they are reproduced.",
        "公開されている比較記事を、モデルで計算し直したものです。記事の結論が再現するかを示します。"
    );
    let page = html! {
        p { (words.get(lang)) }
        ul.models {
            @for (name, _) in STUDIES {
                @let study = study_named(name, published)?;
                @let asks = || Text::join(study.questions.iter().take(2).map(|one| one.title.clone()), [" · "; 2]);
                @let outcome = computed(*name).and_then(study_summary).unwrap_or_else(asks);
                li { a href={ "/studies/" (name) } {
                    b { (study.title.get(lang)) } small { (name) } p { (outcome.get(lang)) }
                } }
            }
        }
    };
    Ok(Made::Page(text!("Studies", "スタディ"), page))
}

/// Results of studies. Studies on models are deterministic, so each is computed once.
static COMPUTED: Mutex<Vec<StudyResult>> = Mutex::new(Vec::new());

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct TableQuery {
    /// Whether the devices are the `rows` or the `columns` of the tables.
    devices: Option<String>,
}

/// Handles `GET /studies/NAME`.
pub(crate) fn study(
    shared: &App,
    lang: Lang,
    (Path(name), Query(asked)): (Path<String>, Query<TableQuery>),
) -> Result<Made> {
    let mut result = computed(&name, shared)?;
    let sides = [
        ("rows", text!("devices as rows", "機器を行に"), false),
        ("columns", text!("devices as columns", "機器を列に"), true),
    ];
    let chosen = sides.iter().find(|(word, ..)| Some(*word) == asked.devices.as_deref());
    if let Some((.., across)) = chosen {
        result.parts.iter_mut().for_each(|part| part.head.devices_across = *across);
    }
    let across = result.parts.iter().all(|part| part.devices_across);
    let [about, ending] = study_frame(&result);
    let page = html! {
        div.title {
            h1 { (result.title.get(lang)) }
            (share_card(&format!("/studies/{name}/"), &name, "", lang))
        }
        @if let Some(summary) = study_answer(&result) { p.summary { (summary.get(lang)) } }
        h2.unseen { (text!("Verdicts", "判定").get(lang)) }
        div.verdicts { @for verdict in &result.verdicts { (card(verdict, &result, lang)) } }
        div.evidence {
            (written(&about, lang))
            p.chips {
                @for (word, name, is_across) in &sides {
                    @let is_on = (*is_across == across).then_some("true");
                    a href={ "?devices=" (word) } aria-current=[is_on] { (name.get(lang)) } " "
                }
            }
            @for (id, title, tables) in study_tables(&result) {
                section id={ "table-" (id) } { h2 { (title.get(lang)) } (written(&tables, lang)) }
            }
            (written(&ending, lang))
        }
    };
    Ok(Made::Headed(result.title.clone(), page))
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct CardQuery {
    lang: Option<String>,
    theme: Option<String>,
}

/// Handles `GET /studies/NAME/card.png`.
pub(crate) fn file(
    shared: &App,
    lang: Lang,
    (Path((study, name)), Query(asked)): (Path<(String, String)>, Query<CardQuery>),
) -> Result<Made> {
    let result = computed(&study, shared)?;
    card_file(&name, (asked.lang.as_deref(), asked.theme.as_deref()), lang, |theme, lang| {
        study_card(&result, theme, lang)
    })
}

/// Renders a verdict as a sentence that expands to its evidence, with links to its tables.
fn card(verdict: &QuestionResult, result: &StudyResult, lang: Lang) -> Markup {
    let tables = result.parts.iter().filter(|part| verdict.parts.contains(&part.id));
    let tables = tables.map(|part| (format!("#table-{}", part.id), part.title.clone()));
    html! {
        details {
            summary {
                @if let Some((class, word)) = verdict_badge(verdict) { em class=(class) { (word.get(lang)) } " " }
                small { (verdict.head.title.get(lang)) }
                (verdict_answer(verdict).get(lang))
            }
            (written(&verdict_doc(verdict), lang))
            (ways_to(tables, lang))
        }
    }
}

fn computed(name: &str, shared: &App) -> Result<StudyResult> {
    let mut kept = locked(&COMPUTED);
    if let Some(result) = kept.iter().find(|result| result.name == name) {
        return Ok(result.clone());
    }
    shared.desk.refuse_beside_real()?;
    let plan = kurabe_study::plan(&study_named(name, Catalogue::built_in())?, &StudyOptions::default())?;
    let (stream, handle) = (Stream::default(), RunHandle::default());
    let runner = StudyRunner {
        open_store: &|| shared.store.open(),
        stream: &stream,
        handle: &handle,
        command: &[],
        threads: 1,
    };
    let result = run_study(&plan, Vec::new(), &runner)?;
    kept.push(result.clone());
    Ok(result)
}
