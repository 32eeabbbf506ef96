//! The models that there are, each with three figures; they are computed once, for the first reader.

use crate::pages::search::Search;
use crate::pages::{Visit, titled};
use crate::shared::Site;
use axum::extract::Query;
use axum::response::Response;
use kurabe_core::profile::{IoStep, Profile, Rules, Step};
use kurabe_core::quantity::MIB;
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{Lang, Result, Text, number, text};
use kurabe_lab::{Procedure, RunHandle, RunRequest, what_if};
use kurabe_report::{Tile, row_of_layers};
use kurabe_sim::{DEVICES, DeviceSpec, device_named};
use maud::{Markup, html};
use serde::Deserialize;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// Virtual time of a figure: enough for some operations of the slowest models.
const TIME_NS: u64 = 200_000_000;
/// Test file: what the quick profile has.
const SIZE_BYTES: u64 = 256 * MIB;

/// Models that one thread computes: so few that several threads end at about the same time.
const AT_ONCE: usize = 8;

/// Rates of a model in bytes per second: read in order, read at random one at a time, written at random with many in flight.
type Figures = [Option<f64>; 3];

/// Figures come out the same each time, in the order of the models.
static COMPUTED: OnceLock<Vec<Figures>> = OnceLock::new();

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
        let figures = if asked.figures { Some(figures(shared)?) } else { COMPUTED.get() };
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
            ul.models data-waits=[figures.is_none().then_some("1")] { @for card in cards { (card) } }
        };
        Ok((text!("Models", "モデル"), page))
    })
    .await
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

fn card(name: &str, model: &DeviceSpec, figures: Option<&Figures>, lang: Lang) -> Markup {
    let names: [Text; 3] = [
        text!("sequential read", "シーケンシャル読み出し"),
        text!("4 KiB random read", "4 KiB ランダム読み出し"),
        text!("4 KiB random write, 32", "4 KiB ランダム書き込み(32)"),
    ];
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| number::NONE.to_owned(), |rate| number::rate(rate).to_string())
    };
    html! {
        li {
            a href={ "/models/" (name) } {
                b { (model.title.get(lang)) }
                small { (name) " · " (row_of_layers(&model.layers)) }
                @for (place, words) in names.iter().enumerate() {
                    span.pair { i { (words.get(lang)) } b { (figures.map_or_else(|| "…".to_owned(), |all| rate(all[place]))) } }
                }
            }
        }
    }
}

/// The figures of all models, computed if nobody has asked before, and not while real storage is measured.
fn figures(shared: &Site) -> Result<&'static Vec<Figures>> {
    if COMPUTED.get().is_none() {
        shared.desk.refuse_beside_real()?;
    }
    Ok(COMPUTED.get_or_init(|| {
        let of_part =
            |part: &[(&'static str, &str)]| part.iter().map(|(name, _)| figures_of(name)).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                DEVICES.chunks(AT_ONCE).map(|part| scope.spawn(move || of_part(part))).collect();
            // A model that fails in a way that nobody foresaw fails this page.
            parts
                .into_iter()
                .flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }))
}

fn figures_of(name: &str) -> Figures {
    let step = |pattern, block_bytes, iodepth, direction| {
        Step::Io(IoStep::plain(pattern, block_bytes, iodepth, vec![direction]))
    };
    let steps = vec![
        step(Pattern::Sequential, 1 << 20, 8, Direction::Read),
        step(Pattern::Random, 4096, 1, Direction::Read),
        step(Pattern::Random, 4096, 32, Direction::Write),
    ];
    let rules = Rules { size_bytes: SIZE_BYTES, time_ns: TIME_NS, ..Rules::once() };
    let request = RunRequest {
        target: format!("model:{name}").into(),
        procedure: Procedure::Given(Box::new(Profile::of_steps("card", Text::default(), rules, steps))),
        ..RunRequest::default()
    };
    let record = what_if(request, &RunHandle::default()).ok();
    let rate = |place: usize| {
        let record = record.as_ref()?;
        Tile::of(record.cells.get(place)?, record.header.statistic()).rate_bytes_per_s
    };
    [rate(0), rate(1), rate(2)]
}
