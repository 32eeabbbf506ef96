//! A model: its stack as boxes, its parameters with their sources and sliders, and what it would do.
//!
//! The model of a slider: it moves between the ends of the parameter's range by its scale, and its field holds what is sent.
//! Figures are computed again when it is let go; an answer that was overtaken is dropped by the page.

use crate::pages::frame::say;
use crate::pages::run::MARGIN;
use crate::pages::{Visit, file, page as framed, piece};
use crate::shared::catalogue;
use axum::Json;
use axum::extract::{Path, Query};
use axum::response::Response;
use kurabe_core::model::Model;
use kurabe_core::profile_library::{PROFILES, profile_named};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Lang, Result, text};
use kurabe_lab::{Procedure, RunHandle, RunRequest, load_model, what_if};
use kurabe_report::{Html, LayerDescription, ParameterDescription, Provenance, Report, describe_model};
use kurabe_sim::{DEVICES, LayerSpec, ModelTarget};
use serde::Deserialize;

/// What is computed at first: the whole medium, read and written, and its access times.
const USUAL_PROFILE: &str = "gnome-disks";

/// `GET /models/NAME`
pub(crate) async fn page(visit: Visit, Path(name): Path<String>) -> Response {
    framed(visit, move |_, lang| {
        let spec = own_model(&name, &[])?;
        let capacity = ModelTarget::new(&spec, 0)?.span_bytes();
        let model = describe_model(&spec, Some(capacity));
        let mut html = Html::new();
        say(&mut html, "h1", "", &model.title, lang);
        let size = format_bytes(capacity);
        say(&mut html, "p", "quiet", &text!("{name} · capacity {size}", "{name} · 容量 {size}"), lang);
        html.open("div", &[("class", "bench"), ("id", "model"), ("data-model", &name)]);
        html.raw("<div class=\"parts\">");
        say(&mut html, "h2", "", &text!("Stack", "構成"), lang);
        html.raw("<div class=\"stack\">");
        boxes(&mut html, &spec.layers, lang);
        html.raw("</div>");
        parts(&mut html, &model.layers, &mut Vec::new(), lang);
        legend(&mut html, lang);
        if let Some(note) = &model.note {
            say(
                &mut html,
                "h3",
                "",
                &text!("Where the model stops being true", "モデルが成り立たなくなるところ"),
                lang,
            );
            say(&mut html, "p", "", note, lang);
        }
        html.raw("</div><div class=\"outcome\">");
        outcome(&mut html, lang)?;
        html.raw("</div></div>");
        Ok((model.title, html))
    })
    .await
}

/// One of kurabe's own models: no file is read because a page names it.
fn own_model(name: &str, sets: &[(String, String)]) -> Result<kurabe_sim::DeviceSpec> {
    if !DEVICES.iter().any(|(own, _)| *own == name) {
        return kurabe_sim::device_named(name);
    }
    load_model(name, sets)
}

/// The stack, the host on top; members stand side by side.
fn boxes(html: &mut Html, layers: &[LayerSpec], lang: Lang) {
    html.raw("<ol>");
    for layer in layers {
        let (en, ja) = layer.kind.title;
        let title = lang.pick(en, ja);
        html.raw("<li>").open("a", &[("class", "box"), ("href", &format!("#layer-{}", layer.name))]);
        html.element("b", &[], &layer.name).element("small", &[], title).raw("</a>");
        if !layer.members.is_empty() {
            html.raw("<div class=\"members\">");
            for member in &layer.members {
                html.raw("<div class=\"member\">").element(
                    "span",
                    &[("class", "count")],
                    &format!("{} ×", member.count),
                );
                boxes(html, &member.layers, lang);
                html.raw("</div>");
            }
            html.raw("</div>");
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
}

/// The parameters of every layer, each name once.
fn parts<'m>(html: &mut Html, layers: &'m [LayerDescription], seen: &mut Vec<&'m str>, lang: Lang) {
    for layer in layers {
        if !seen.contains(&layer.name.as_str()) {
            seen.push(&layer.name);
            html.open(
                "details",
                &[("class", "layer"), ("id", &format!("layer-{}", layer.name)), ("name", "layer")],
            );
            html.raw("<summary><b>")
                .words(&layer.name)
                .raw("</b> ")
                .words(layer.title.get(lang))
                .raw("</summary>");
            for parameter in &layer.parameters {
                field(html, &layer.name, parameter, lang);
            }
            html.raw("</details>");
        }
        layer.members.iter().for_each(|member| parts(html, &member.layers, seen, lang));
    }
}

fn field(html: &mut Html, layer: &str, parameter: &ParameterDescription, lang: Lang) {
    let name = format!("{layer}.{}", parameter.key);
    let id = format!("set-{name}");
    html.raw("<div class=\"parameter\">");
    html.open("label", &[("for", &id)]).element("b", &[], parameter.key).raw(" ");
    html.words(parameter.meaning.get(lang)).raw("</label>");
    html.open("span", &[("class", "mark"), ("title", &parameter.source)]);
    html.words(mark(parameter.standing)).raw("</span>");
    let number = parameter.number.map(|number| number.to_string()).unwrap_or_default();
    match (&parameter.range, parameter.choices.as_slice()) {
        (_, choices) if !choices.is_empty() => {
            html.open("select", &[("id", &id), ("name", &name), ("data-was", &parameter.value)]);
            let own = std::iter::once(&parameter.value).filter(|value| !choices.contains(value));
            for choice in own.chain(choices) {
                let chosen = if *choice == parameter.value { "selected" } else { "" };
                html.element("option", &[("selected", chosen)], choice);
            }
            html.raw("</select>");
        }
        (range, _) => {
            html.open(
                "input",
                &[
                    ("id", &id),
                    ("name", &name),
                    ("value", &parameter.value),
                    ("data-was", &parameter.value),
                    ("spellcheck", "false"),
                ],
            );
            if let (Some((least, most)), false) = (range, number.is_empty()) {
                let label = text!("slider of {name}", "{name} のスライダー");
                let step = parameter.step.map(|step| step.to_string()).unwrap_or_default();
                html.open(
                    "input",
                    &[
                        ("type", "range"),
                        ("min", "0"),
                        ("max", "1000"),
                        ("value", "0"),
                        ("data-for", &id),
                        ("data-least", &least.to_string()),
                        ("data-most", &most.to_string()),
                        ("data-scale", parameter.scale),
                        ("data-step", &step),
                        ("data-number", &number),
                        ("data-unit", parameter.unit),
                        ("aria-label", label.get(lang)),
                    ],
                );
            }
        }
    }
    html.element("small", &[], &parameter.source).raw("</div>");
}

fn mark(standing: Provenance) -> &'static str {
    match standing {
        Provenance::Sourced | Provenance::Derived => "",
        Provenance::Assumed => "?",
        Provenance::Calibrated => "≈",
        Provenance::Changed => "*",
    }
}

fn legend(html: &mut Html, lang: Lang) {
    let words = text!(
        "? assumed, ≈ calibrated on published figures; without a mark from a document",
        "? は仮定、≈ は公表値で較正。印のないものは文書から"
    );
    say(html, "p", "quiet", &words, lang);
}

/// Where figures stand, and what is computed.
fn outcome(html: &mut Html, lang: Lang) -> Result<()> {
    html.raw("<form id=\"what\" class=\"line\"><label>")
        .words(text!("Profile", "プロファイル").get(lang))
        .raw(" <select name=\"profile\">");
    for name in std::iter::once(USUAL_PROFILE)
        .chain(PROFILES.iter().map(|(name, _)| *name).filter(|name| *name != USUAL_PROFILE))
    {
        html.element(
            "option",
            &[("value", name)],
            &format!("{name} — {}", profile_named(name)?.title.get(lang)),
        );
    }
    html.raw("</select></label> ");
    html.element("button", &[("type", "button"), ("id", "reset")], text!("as it was", "元に戻す").get(lang));
    html.raw(" <a id=\"device\" download>")
        .words(text!("save as my device", "自分のデバイスとして保存").get(lang))
        .raw("</a></form>");
    html.raw("<p id=\"wrong\" class=\"notice warn\" role=\"alert\" hidden></p>");
    let words = text!("computing …", "計算中…");
    html.raw("<div id=\"figures\" aria-live=\"polite\">")
        .element("p", &[("class", "empty")], words.get(lang))
        .raw("</div>");
    let words = text!(
        "Figures are computed by the page's script, which is off.",
        "値の計算には JavaScript が必要です。"
    );
    html.raw("<noscript>").element("p", &[("class", "notice warn")], words.get(lang)).raw("</noscript>");
    Ok(())
}

/// What is asked of a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIf {
    #[serde(default)]
    profile: String,
    #[serde(default)]
    sets: Vec<(String, String)>,
}

/// `POST /models/NAME/figures`
pub(crate) async fn figures(
    visit: Visit,
    Path(name): Path<String>,
    Json(WhatIf { profile, sets }): Json<WhatIf>,
) -> Response {
    piece(visit, move |shared, lang| {
        shared.desk.refuse_beside_real()?;
        own_model(&name, &sets)?;
        let profile = profile_named(if profile.is_empty() { USUAL_PROFILE } else { &profile })?;
        let request = RunRequest {
            target: format!("model:{name}").into(),
            procedure: Procedure::Given(Box::new(profile)),
            sets,
            ..RunRequest::default()
        };
        let record = what_if(request, &RunHandle::default())?;
        let report = Report::new(vec![&record], MARGIN, &[], None, lang).beside(catalogue()?);
        let mut html = Html::new();
        html.doc(&report.figures(), lang);
        Ok(html)
    })
    .await
}

/// `GET /models/NAME/device.toml?LAYER.PARAMETER=VALUE…`: the model as a file of the reader's own.
pub(crate) async fn device(
    visit: Visit,
    Path(name): Path<String>,
    Query(sets): Query<Vec<(String, String)>>,
) -> Response {
    let kept = format!("my-{name}.toml");
    file(visit, "application/toml", Some(kept), move |_, _| {
        let mut spec = own_model(&name, &sets)?;
        spec.name = format!("my-{name}");
        let title = &spec.title;
        spec.title = text!("{title}, changed", "{title}(変更あり)"; title);
        Ok(spec.to_toml().into_bytes())
    })
    .await
}
