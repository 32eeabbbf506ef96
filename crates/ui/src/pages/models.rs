//! The models that there are, each with its stack drawn and three figures; they are computed once, for the first reader.

use crate::message::Message;
use crate::pages::Made;
use crate::pages::frame::to_compare;
use crate::pages::search::Search;
use crate::shared::{App, Site};
use axum::extract::Query;
use kurabe_core::{Lang, Result, Text, number, text};
use kurabe_lab::{CardFigures, card_figures, in_parallel};
use kurabe_report::{card_names, row_of_layers};
use kurabe_sim::{DEVICES, DeviceSpec, LayerSpec, device_named};
use maud::{Markup, html};
use std::sync::OnceLock;

/// Figures come out the same each time, in the order of the models.
static COMPUTED: OnceLock<Vec<CardFigures>> = OnceLock::new();
/// Kinds of layers that are drawn as a line between what they link.
const LINKS: [&str; 5] = ["scsi", "sata", "usb", "pcie", "port-multiplier"];
/// Height of a row of a drawing.
const ROW: usize = 26;

/// `GET /models?q=WORDS&figures=true`
pub(crate) fn page(shared: &App, lang: Lang, Query(search): Query<Search>) -> Result<Made> {
    let words = text!(
        "Storage that is not at hand, computed from what it is made of. Change a part and see what comes of it.",
        "手元にないストレージを、その仕組みから計算します。部品を変えると結果がどう変わるかを見られます。"
    );
    let is_asked_for = search.filter();
    let figures = if search.figures { Some(of_all(shared)?) } else { COMPUTED.get() };
    let busy = shared.desk.refuse_beside_real().err().filter(|_| figures.is_none());
    let mut cards = Vec::new();
    for (number, (name, _)) in DEVICES.iter().enumerate() {
        let model = device_named(name)?;
        if is_asked_for(&haystack(&model)) {
            cards.push(card(&model, figures.map(|figures| &figures[number]), lang));
        }
    }
    let waits = (figures.is_none() && busy.is_none()).then_some("1");
    let list = html! { ul.models data-waits=[waits] { @for card in &cards { (card) } } };
    let nothing = text!("No model has all of these words.", "すべての語を含むモデルはありません。");
    let page = html! {
        p { (words.get(lang)) }
        (search.form("/models", &text!("Words", "語句"), &search.chips("/models", &chips(), lang), lang))
        @if cards.is_empty() { p.empty { (nothing.get(lang)) } }
        @if let Some(busy) = &busy { p.notice { (Message::of(busy).what.line(lang)) } }
        (to_compare("/models/compare", &list, lang))
    };
    Ok(Made::Page(text!("Models", "モデル"), page))
}

/// Kinds, links and years that people look for, as words of the search.
fn chips() -> [(&'static str, Text); 11] {
    [
        ("disk", text!("hard disks", "ハードディスク")),
        ("ssd", text!("SSDs", "SSD")),
        ("card", text!("cards and emulators", "カードとエミュレーター")),
        ("scsi", text!("SCSI", "SCSI")),
        ("usb", text!("USB", "USB")),
        ("pcie", text!("PCIe", "PCIe")),
        ("raid", text!("RAID", "RAID")),
        ("1990s", text!("1990s", "1990 年代")),
        ("2000s", text!("2000s", "2000 年代")),
        ("2010s", text!("2010s", "2010 年代")),
        ("2020s", text!("2020s", "2020 年代")),
    ]
}

/// Everything of a model that a word is looked for in.
fn haystack(DeviceSpec { name, title, year, layers, .. }: &DeviceSpec) -> String {
    let years = year.map(|year| format!("{year} {}s", year / 10 * 10)).unwrap_or_default();
    [name.as_str(), &title.en, &title.ja, &row_of_layers(layers), &years].join(" ")
}

fn card(model: &DeviceSpec, figures: Option<&CardFigures>, lang: Lang) -> Markup {
    let DeviceSpec { name, title, year, layers, .. } = model;
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
                b { (title.get(lang)) }
                small { (name) @if let Some(year) = year { " · " (year) } }
                (drawing(layers, false))
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

/// A stack as it is drawn: pieces, and how far they reach.
#[derive(Default)]
struct StackDrawing {
    pieces: Vec<Markup>,
    row: usize,
    width: usize,
}

/// A stack from the host to the medium: links as lines, all else as boxes, members in rows below each other. A piece may lead
/// to the parameters of its layer.
pub(crate) fn drawing(layers: &[LayerSpec], leads: bool) -> Markup {
    let mut drawing = StackDrawing::default();
    drawing.draw(layers, 1, 1, leads);
    let size = format!("0 0 {} {}", drawing.width + 1, (drawing.row + 1) * ROW);
    let role = if leads { "group" } else { "img" };
    html! {
        svg.stack viewBox=(size) width=(drawing.width + 1) role=(role) aria-label=(row_of_layers(layers)) {
            @for piece in &drawing.pieces { (piece) }
        }
    }
}

impl StackDrawing {
    fn draw(&mut self, layers: &[LayerSpec], count: u64, mut left: usize, leads: bool) {
        let Some((layer, rest)) = layers.split_first() else { return };
        let words = if count > 1 { format!("{count} × {}", layer.name) } else { layer.name.clone() };
        let (width, top) = (words.chars().count() * 7 + 14, self.row * ROW);
        let piece = html! {
            @if LINKS.contains(&layer.kind.word) {
                path d={ "M" (left) " " (top + 20) "h" (width) } {}
                text x=(left + width / 2) y=(top + 15) { (words) }
            } @else {
                rect x=(left) y=(top + 2) width=(width) height=(ROW - 4) rx="4" {}
                text x=(left + width / 2) y=(top + 17) { (words) }
            }
        };
        self.pieces.push(match leads {
            true => html! { a href={ "#layer-" (layer.name) } { (piece) } },
            false => piece,
        });
        left += width;
        self.width = self.width.max(left);
        for (number, (count, below)) in layer.below(rest).into_iter().enumerate() {
            self.row += usize::from(number > 0);
            self.draw(below, count, left, leads);
        }
    }
}
