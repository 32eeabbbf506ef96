//! Text that marks a run as one on a model, so that a computed figure is not mistaken for a
//! measured one.

pub(crate) mod models;
mod served;
mod side_by_side;

pub use models::{
    LayerDescription, MemberDescription, ModelDescription, ParameterDescription, Provenance, describe_model,
    render_model, render_models, row_of_layers,
};
pub use served::{fixed_if, power_cut_line, served_doc, served_lines, serving_line};
pub use side_by_side::side_by_side_doc;

use crate::words::present;
use kurabe_core::model::{LayerRecord, ModelRecord, ParameterRecord};
use kurabe_core::record::RunHeader;
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Text, shown, text};
use kurabe_doc::Field;
use kurabe_sim::KINDS_OF_DRIVES;

/// Returns what the model of a run is. A name such as `model:hdd-nas` means a kind of drives, of which the
/// model is only one.
pub(crate) fn title_line(header: &RunHeader, model: &ModelRecord) -> Text {
    let title = &model.title;
    let is_kind = KINDS_OF_DRIVES
        .iter()
        .any(|(kind, _)| header.target_name().strip_prefix(MODEL_PREFIX) == Some(*kind));
    match is_kind {
        true => text!(
            "model in virtual time: {title}, one drive of this kind",
            "仮想時間のモデル: {title}。この種類のドライブの一例";
            title
        ),
        false => text!("model in virtual time: {title}", "仮想時間のモデル: {title}"; title),
    }
}

/// Returns the layers in a line, from the host down (`host → raid → 4×ssd`), and the changed
/// parameters.
pub(crate) fn facts(model: &ModelRecord) -> Vec<Text> {
    let name = |layer: &LayerRecord| match layer.instances {
        0 | 1 => shown::line(&layer.name),
        many => format!("{many}×{}", shown::line(&layer.name)),
    };
    let layers = model.layers.iter().map(name).collect::<Vec<_>>().join(" → ");
    let mut facts = vec![text!("layers: {layers}", "層: {layers}")];
    let changed = model.changes();
    if !changed.is_empty() {
        let changed = shown::line(&changed.join(", "));
        facts.push(text!("changed: {changed}", "変更: {changed}"));
    }
    facts
}

/// Says that the figures of a table are computed, and what the model's parameters are based on.
pub(crate) fn footnote(model: &ModelRecord) -> Text {
    let parameters = || model.layers.iter().flat_map(|layer| &layer.parameters);
    let all = parameters().count();
    let standing = |parameter: &ParameterRecord| Provenance::of(&parameter.source, parameter.changed);
    let calibrated = parameters().filter(|parameter| standing(parameter) == Provenance::Calibrated).count();
    let on = match calibrated {
        0 => text!(
            "none of its {all} parameters is calibrated on published figures",
            "{all} 個のパラメーターに、公表値で較正したものはありません"
        ),
        1 => text!(
            "1 of its {all} parameters is calibrated on a published figure",
            "{all} 個のパラメーターのうち 1 個は公表値で較正したものです"
        ),
        _ => text!(
            "{calibrated} of its {all} parameters are calibrated on published figures",
            "{all} 個のパラメーターのうち {calibrated} 個は公表値で較正したものです"
        ),
    };
    text!(
        "figures of a model, not measured on a device; {on}",
        "モデルの計算値であり、実機の測定値ではありません。{on}";
        on
    )
}

/// Returns every layer with its parameters as fields, for the details of a run.
pub(crate) fn fields(model: &ModelRecord) -> Vec<Field> {
    let seed = model.seed;
    let mut fields = vec![(
        text!("model", "モデル"),
        vec![
            shown::line(&model.name).into(),
            model.title.map(shown::line),
            text!("seed {seed}", "乱数のシード {seed}"),
        ],
    )];
    for layer in &model.layers {
        let kind = (layer.kind != layer.name).then(|| shown::line(&layer.kind).into());
        let mut items =
            present([kind, (layer.instances > 1).then(|| format!("×{}", layer.instances).into())]);
        items.extend(layer.parameters.iter().map(|parameter| {
            let setting = Text::same(shown::line(&format!("{} {}", parameter.key, parameter.value)));
            match parameter.changed {
                true => text!("{setting} (changed)", "{setting} (変更)"; setting),
                false => setting,
            }
        }));
        fields.push((shown::line(&layer.name).into(), items));
    }
    fields
}
