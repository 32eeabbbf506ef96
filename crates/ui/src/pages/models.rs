//! The list of models as a table with three figures, which are computed once, at the first request.
//! Also the page of a model: its stack, its parameters with sources and sliders, and what-if
//! figures.
//!
//! The model of a slider: it covers the parameter's range on its scale, and its field holds the
//! value that is sent. When the slider is released, the figures are computed again and compared
//! with those of the unchanged model. The page drops a response that was overtaken by a later one.
//! The sliders with the largest effect come first, which is determined by changing each parameter.

use super::kit::*;
use kurabe_core::model::{CONNECTIONS, Model};
use kurabe_lab::{CardFigures, card_figures, in_parallel, load_model, what_if};
use kurabe_report::{
    LayerDescription, ParameterDescription, card_names, describe_model, mover_words, row_of_layers,
};
use kurabe_sim::{DEVICES, DeviceSpec, LayerSpec, ModelTarget, device_named};
use kurabe_study::Mover;
use std::sync::OnceLock;

/// Figures of all models, in the order of the models. They are deterministic.
static COMPUTED: OnceLock<Vec<CardFigures>> = OnceLock::new();
/// Height of a row of a drawing.
const ROW: usize = 26;

/// Handles `GET /models?q=WORDS&figures=true`.
pub(crate) fn page(shared: &App, lang: Lang, Query(search): Query<Search>) -> Result<Made> {
    let words = text!(
        "Storage that you do not have, computed from its parts. Change a part to see the effect.",
        "手元にないストレージを、その仕組みから計算します。部品を変えると結果がどう変わるかを見られます。"
    );
    let is_asked_for = search.filter();
    let figures = if search.figures { Some(of_all(shared)?) } else { COMPUTED.get() };
    let busy = shared.desk.refuse_beside_real().err().filter(|_| figures.is_none());
    let mut models = Vec::new();
    for (number, (name, _)) in DEVICES.iter().enumerate() {
        let model = device_named(name)?;
        if is_asked_for(&haystack(&model)) {
            models.push((model, figures.map(|figures| &figures[number])));
        }
    }
    // The most recent first. Within a year, the order of the library stays.
    models.sort_by_key(|(model, _)| std::cmp::Reverse(model.year));
    let waits = (figures.is_none() && busy.is_none()).then_some("1");
    let nothing = text!("No model contains all of these words.", "すべての語を含むモデルはありません。");
    let (count, all) = (models.len(), DEVICES.len());
    let counted = text!("{count} of {all} models", "{all} 件中 {count} 件");
    let page = html! {
        p { (words.get(lang)) }
        (search.form("/models", &text!("Search for", "検索語"), lang))
        div #list data-waits=[waits] {
            (search.chips("/models", &chips(), lang))
            p.quiet { (counted.get(lang)) }
            @if let Some(busy) = &busy { p.notice { (Message::of(busy).what.line(lang)) } }
            @if models.is_empty() {
                p.empty { (nothing.get(lang)) }
            } @else {
                (to_compare(&table(&models, lang), lang))
            }
        }
    };
    Ok(Made::Page(text!("Models", "モデル"), page))
}

/// Renders models as a table, which the script sorts by any column.
fn table(models: &[(DeviceSpec, Option<&CardFigures>)], lang: Lang) -> Markup {
    let caption = text!("models", "モデル");
    let head = |name: Text, is_figure: bool| {
        html! { th scope="col" class=[is_figure.then_some("n")] { button type="button" { (name.get(lang)) } } }
    };
    html! {
        div.scroll.published tabindex="0" role="region" aria-label=(caption.get(lang)) {
            table.sorts.cards {
                caption { (caption.get(lang)) }
                thead { tr {
                    (head(text!("model", "モデル"), false))
                    (head(text!("parts", "構成"), false))
                    (head(text!("year", "年"), true))
                    @for name in card_names() {
                        th.n scope="col" { button type="button" { (name.get(lang)) small { "MB/s" } } }
                    }
                } }
                tbody { @for (model, figures) in models { (row(model, *figures, lang)) } }
            }
        }
    }
}

/// Kinds, links and years that users often search for.
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

/// Returns the text of a model that a search covers.
fn haystack(DeviceSpec { name, title, year, layers, .. }: &DeviceSpec) -> String {
    let years = year.map(|year| format!("{year} {}s", year / 10 * 10)).unwrap_or_default();
    [name.as_str(), &title.en, &title.ja, &row_of_layers(layers), &years].join(" ")
}

fn row(model: &DeviceSpec, figures: Option<&CardFigures>, lang: Lang) -> Markup {
    let DeviceSpec { name, title, year, layers, .. } = model;
    let label = text!("compare {name}", "{name} を比べる");
    html! {
        tr {
            th scope="row" {
                input type="checkbox" name="model" value=(name) aria-label=(label.get(lang));
                a href={ "/models/" (name) } { (title.get(lang)) }
                small { (name) }
            }
            td { (row_of_layers(layers)) }
            td.n data-v=[*year] data-l=(text!("year", "年").get(lang)) { @if let Some(year) = year { (year) } }
            @for (place, words) in card_names().iter().enumerate() {
                @let rate = figures.map(|all| all[place]);
                td.n data-v=[rate.flatten()] data-l=(words.get(lang)) {
                    @match rate {
                        None => "…",
                        Some(None) => {},
                        Some(Some(rate)) => (number::rate(rate).number),
                    }
                }
            }
        }
    }
}

/// Returns the figures of all models. They are computed at the first request, but not during a
/// measurement of real storage.
fn of_all(shared: &Site) -> Result<&'static Vec<CardFigures>> {
    if COMPUTED.get().is_none() {
        shared.desk.refuse_beside_real()?;
    }
    if let Some(computed) = COMPUTED.get() {
        return Ok(computed);
    }
    let computed = in_parallel(DEVICES, |(name, _)| card_figures(name, &[]).unwrap_or_default())?;
    Ok(COMPUTED.get_or_init(|| computed))
}

/// A drawing of a stack: its elements and its extent.
#[derive(Default)]
struct StackDrawing {
    pieces: Vec<Markup>,
    row: usize,
    width: usize,
}

/// Draws a stack from the host to the medium: links as lines, everything else as boxes, members in
/// rows below each other. If `leads` is set, an element links to the parameters of its layer.
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
            @if CONNECTIONS.contains(&layer.kind.word) {
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
            if number > 0 {
                self.row += 1;
                // From the row of the first member down to this one.
                self.pieces.push(html! { path d={ "M" (left) " " (top + 20) "V" (self.row * ROW + 20) } {} });
            }
            self.draw(below, count, left, leads);
        }
    }
}

/// The profile computed by default: reads and writes over the whole medium, and access times.
const USUAL_PROFILE: &str = "gnome-disks";

/// Handles `GET /models/NAME`.
pub(crate) fn model(_: &App, lang: Lang, Path(name): Path<String>) -> Result<Made> {
    let spec = own_model(&name, &[])?;
    let capacity = ModelTarget::new(&spec, 0)?.span_bytes();
    let model = describe_model(&spec, Some(capacity));
    let mut layers = Vec::new();
    distinct(&model.layers, &mut layers);
    let size = format_bytes(capacity);
    let legend = text!(
        "? assumed, ≈ calibrated on published figures, no mark: from a document",
        "? は仮定、≈ は公表値で較正。印のないものは文書から"
    );
    let limits = text!("Limits of the model", "モデルの適用範囲");
    let page = html! {
        p.quiet { (text!("{name} · capacity {size}", "{name} · 容量 {size}").get(lang)) }
        div.bench #model data-model=(name) {
            div.parts {
                section #movers hidden {
                    h2 { (text!("What matters most", "影響の大きい項目").get(lang)) }
                }
                h2 { (text!("Stack", "構成").get(lang)) }
                (drawing(&spec.layers, true))
                @for layer in layers { (fields(layer, lang)) }
                p.quiet { (legend.get(lang)) }
                @if let Some(note) = &model.note {
                    h3 { (limits.get(lang)) }
                    p { (note.get(lang)) }
                }
            }
            div.outcome { (outcome(lang)?) }
        }
    };
    Ok(Made::Page(model.title, page))
}

/// Loads a built-in model. A page must not make kurabe read a model file.
pub(crate) fn own_model(name: &str, sets: &[(String, String)]) -> Result<DeviceSpec> {
    if !DEVICES.iter().any(|(own, _)| *own == name) {
        return device_named(name);
    }
    load_model(name, sets, &[])
}

/// Collects the layers, including those of members, each name once.
fn distinct<'m>(layers: &'m [LayerDescription], seen: &mut Vec<&'m LayerDescription>) {
    for layer in layers {
        if !seen.iter().any(|other| other.name == layer.name) {
            seen.push(layer);
        }
        layer.members.iter().for_each(|member| distinct(&member.layers, seen));
    }
}

fn fields(layer: &LayerDescription, lang: Lang) -> Markup {
    html! {
        details.layer id={ "layer-" (layer.name) } name="layer" {
            summary { b { (layer.name) } " " (layer.title.get(lang)) }
            @for parameter in &layer.parameters { (field(&layer.name, parameter, lang)) }
        }
    }
}

fn field(layer: &str, parameter: &ParameterDescription, lang: Lang) -> Markup {
    let ParameterDescription { key, value, choices, .. } = parameter;
    let name = format!("{layer}.{key}");
    let id = format!("set-{name}");
    html! {
        div.parameter {
            label for=(id) { b { (key) } " " (parameter.meaning.get(lang)) }
            span.mark title=(parameter.source_words().get(lang)) { (parameter.standing.sign()) }
            @if choices.is_empty() {
                input id=(id) name=(name) value=(value) data-was=(value) spellcheck="false";
                (slider(&name, parameter, lang))
            } @else {
                select id=(id) name=(name) data-was=(value) {
                    @if !choices.contains(value) { option selected { (value) } }
                    @for choice in choices { option selected[choice == value] { (choice) } }
                }
            }
            small { (parameter.source_words().get(lang)) }
        }
    }
}

/// Renders the slider of a parameter, if it is a number with a range.
fn slider(name: &str, parameter: &ParameterDescription, lang: Lang) -> Markup {
    let label = text!("slider of {name}", "{name} のスライダー");
    html! {
        @if let (Some(range), Some(number)) = (parameter.range, parameter.number) {
            @let (least, most) = reach(range, number, parameter.scale);
            input type="range" min="0" max="1000" value="0" data-for={ "set-" (name) } data-least=(least)
                data-most=(most) data-scale=(parameter.scale) data-step=[parameter.step] data-number=(number)
                data-unit=(parameter.unit) aria-label=(label.get(lang));
        }
    }
}

/// Returns the range of a slider. Parameter ranges are much larger than what is built, so a slider
/// covers a sixteenth to sixteen times the value. Its field accepts the whole range. A logarithmic
/// slider must begin above zero.
fn reach((least, most): (f64, f64), number: f64, scale: &str) -> (f64, f64) {
    let is_linear = scale == "linear";
    let around = if number > 0.0 { number } else { most.min(1.0) };
    let (low, high) = match is_linear && most - least <= 100.0 {
        true => (least, most),
        false => (least.max(around / 16.0), most.min(around * 16.0)),
    };
    (if is_linear { low } else { low.max(high / 1e9).max(1e-9) }, high)
}

/// Renders the place of the figures, and the choice of the profile.
fn outcome(lang: Lang) -> Result<Markup> {
    let words = text!(
        "Figures are computed by the page's script, which is off.",
        "値の計算には JavaScript が必要です。"
    );
    Ok(html! {
        form.line #what {
            (profiles(USUAL_PROFILE, lang)?)
            button #reset type="button" { (text!("reset", "元に戻す").get(lang)) }
            " " a #device download { (text!("save as my device", "自分のデバイスとして保存").get(lang)) }
        }
        p.notice.warn #wrong role="alert" hidden {}
        div #figures aria-live="polite" { p.empty { (text!("computing …", "計算中…").get(lang)) } }
        (without_script(&words, lang))
    })
}

/// A what-if request for a model.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WhatIf {
    profile: String,
    sets: Vec<(String, String)>,
}

/// Name, profile and run of the last unchanged model that was computed, for comparison with changed
/// ones.
static AS_IT_IS: Mutex<Option<((String, String), RunRecord)>> = Mutex::new(None);

/// Handles `GET /models/NAME/movers`: returns the parameters with the largest effect as JSON.
pub(crate) fn movers(shared: &App, lang: Lang, Path(name): Path<String>) -> Result<Made> {
    shared.desk.refuse_beside_real()?;
    own_model(&name, &[])?;
    let movers = kurabe_lab::movers(&name, &[])?;
    let words = |mover: &Mover| json!({ "name": mover.name, "words": mover_words(mover).get(lang) });
    Ok(Made::Data(movers.iter().map(words).collect()))
}

/// Handles `POST /models/NAME/figures`.
pub(crate) fn figures(
    shared: &App,
    lang: Lang,
    (Path(name), Json(WhatIf { profile, sets })): (Path<String>, Json<WhatIf>),
) -> Result<Made> {
    shared.desk.refuse_beside_real()?;
    own_model(&name, &sets)?;
    let profile = profile_named(if profile.is_empty() { USUAL_PROFILE } else { &profile })?;
    let compute = |sets| what_if(&name, profile.clone(), sets);
    let key = (name.clone(), profile.name.clone());
    let kept = locked(&AS_IT_IS).as_ref().filter(|(kept, _)| *kept == key).map(|(_, record)| record.clone());
    let compute_kept = || -> Result<RunRecord> {
        let before = compute(Vec::new())?;
        *locked(&AS_IT_IS) = Some((key, before.clone()));
        Ok(before)
    };
    let mut runs = vec![kept.map_or_else(compute_kept, Ok)?];
    if !sets.is_empty() {
        runs.push(compute(sets)?);
        for (run, name) in runs.iter_mut().zip([text!("before", "変更前"), text!("now", "変更後")]) {
            run.labels.insert(NAME_LABEL.to_owned(), name.get(lang).to_owned());
        }
    }
    Ok(Made::Piece(written(&Report::new(runs.iter().collect(), MARGIN, &[], None, lang).figures(), lang)))
}

/// Handles `GET /models/NAME/device.toml?LAYER.PARAMETER=VALUE…`: returns the changed model as a
/// device file.
pub(crate) fn device(
    _: &App,
    _: Lang,
    (Path(name), Query(sets)): (Path<String>, Query<Vec<(String, String)>>),
) -> Result<Made> {
    let mut spec = own_model(&name, &sets)?;
    spec.name = format!("my-{name}");
    let title = &spec.title;
    spec.title = text!("{title}, changed", "{title}(変更あり)"; title);
    Ok(Made::File("application/toml", Some(format!("my-{name}.toml")), spec.to_toml().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_drawn_with_all_its_members_and_found_by_its_years() {
        let model = device_named("raid-9260-mixed").unwrap();
        let html = drawing(&model.layers, false).into_string();
        assert_eq!(html.matches("<rect").count(), 4, "host, controller and two kinds of drives: {html}");
        assert!(html.contains("4 × sata") && html.contains("2 × sata"), "{html}");
        assert!(html.contains("aria-label=\"host → pcie → raid"), "{html}");
        assert!(drawing(&model.layers, true).into_string().contains("href=\"#layer-raid\""));
        assert!(haystack(&model).ends_with("2009 2000s"), "{}", haystack(&model));
    }
}
