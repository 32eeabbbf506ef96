//! The models that there are, each with three figures; they are computed once, for the first reader.

use crate::message::Message;
use crate::pages::frame::to_compare;
use crate::pages::search::Search;
use crate::pages::{Visit, titled};
use crate::shared::Site;
use axum::extract::Query;
use axum::response::Response;
use kurabe_core::{Lang, Result, Text, number, text};
use kurabe_lab::{CardFigures, card_figures, in_parallel};
use kurabe_report::{card_names, row_of_layers};
use kurabe_sim::{DEVICES, DeviceSpec, device_named};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::OnceLock;

/// Figures come out the same each time, in the order of the models.
static COMPUTED: OnceLock<Vec<CardFigures>> = OnceLock::new();

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    /// Words that a model has to have.
    q: String,
    /// Whether to wait until figures are computed.
    figures: bool,
}

/// `GET /models?q=WORDS&figures=true`
pub(crate) async fn page(visit: Visit, Query(asked): Query<Asked>) -> Response {
    titled(visit, move |shared, lang| {
        let words = text!(
            "Storage that is not at hand, computed from what it is made of. Change a part and see what comes of it.",
            "手元にないストレージを、その仕組みから計算します。部品を変えると結果がどう変わるかを見られます。"
        );
        let search = Search::of(asked.q);
        let is_asked_for = search.filter();
        let figures = if asked.figures { Some(of_all(shared)?) } else { COMPUTED.get() };
        let busy = shared.desk.refuse_beside_real().err().filter(|_| figures.is_none());
        let mut cards = Vec::new();
        for (number, (name, _)) in DEVICES.iter().enumerate() {
            let model = device_named(name)?;
            if is_asked_for(&haystack(name, &model)) {
                cards.push(card(name, &model, figures.map(|figures| &figures[number]), lang));
            }
        }
        let nothing = text!("No model has all of these words.", "すべての語を含むモデルはありません。");
        let page = html! {
            p { (words.get(lang)) }
            (search.form("/models", &text!("Words", "語句"), &search.chips("/models", &chips(), lang), lang))
            @if cards.is_empty() { p.empty { (nothing.get(lang)) } }
            @if let Some(busy) = &busy { p.notice { (Message::of(busy).what.line(lang)) } }
            (to_compare("/models/compare", &cards_of(&cards, figures.is_none() && busy.is_none()), lang))
        };
        Ok((text!("Models", "モデル"), page))
    })
    .await
}

fn cards_of(cards: &[Markup], wait_for_figures: bool) -> Markup {
    html! { ul.models data-waits=[wait_for_figures.then_some("1")] { @for card in cards { (card) } } }
}

/// Kinds that people look for, as words of the search.
fn chips() -> [(&'static str, Text); 7] {
    [
        ("disk", text!("hard disks", "ハードディスク")),
        ("ssd", text!("SSDs", "SSD")),
        ("card", text!("cards and emulators", "カードとエミュレーター")),
        ("scsi", text!("SCSI", "SCSI")),
        ("usb", text!("USB", "USB")),
        ("pcie", text!("PCIe", "PCIe")),
        ("raid", text!("RAID", "RAID")),
    ]
}

/// Everything of a model that a word is looked for in.
fn haystack(name: &str, model: &DeviceSpec) -> String {
    [name, &model.title.en, &model.title.ja, &row_of_layers(&model.layers)].join(" ")
}

fn card(name: &str, model: &DeviceSpec, figures: Option<&CardFigures>, lang: Lang) -> Markup {
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| number::NONE.to_owned(), |rate| number::rate(rate).to_string())
    };
    html! {
        li {
            label.tick {
                input type="checkbox" name="model" value=(name) aria-label=(text!("compare {name}", "{name} を比べる").get(lang)); " "
                (text!("compare", "比べる").get(lang))
            }
            a href={ "/models/" (name) } {
                b { (model.title.get(lang)) }
                small { (name) " · " (row_of_layers(&model.layers)) }
                @for (place, words) in card_names().iter().enumerate() {
                    span.pair { i { (words.get(lang)) } b { (figures.map_or_else(|| "…".to_owned(), |all| rate(all[place]))) } }
                }
            }
        }
    }
}

/// The figures of all models, computed if nobody has asked before, and not while real storage is measured.
fn of_all(shared: &Site) -> Result<&'static Vec<CardFigures>> {
    if COMPUTED.get().is_none() {
        shared.desk.refuse_beside_real()?;
    }
    Ok(COMPUTED.get_or_init(|| in_parallel(DEVICES, |(name, _)| card_figures(name, &[]).unwrap_or_default())))
}
