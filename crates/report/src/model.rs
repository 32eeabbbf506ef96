//! That a run is of a model, in words: so that nobody takes a computed figure for a measured one.

use crate::layout::tame;
use crate::models::Standing;
use crate::style::Style;
use kurabe_core::model::{LayerRecord, ModelRecord, ParameterRecord};
use kurabe_core::{Text, text};

/// What the model is, and that it is one.
pub(crate) fn headline(model: &ModelRecord) -> Text {
    let Text { en, ja } = &model.title;
    text!("model in virtual time: {en}", "仮想時間のモデル: {ja}")
}

/// Its layers in a line, and what was changed.
pub(crate) fn facts(model: &ModelRecord, style: &Style) -> Vec<String> {
    let layers = layers(model);
    let mut facts = vec![style.say(&text!("layers: {layers}", "層: {layers}"))];
    let changed = model.changes();
    if !changed.is_empty() {
        let changed = tame(&changed.join(", "));
        facts.push(style.say(&text!("changed: {changed}", "変更: {changed}")));
    }
    facts
}

/// `host → raid → 4×ssd`, from the host down.
fn layers(model: &ModelRecord) -> String {
    let name = |layer: &LayerRecord| match layer.instances {
        0 | 1 => tame(&layer.name),
        many => format!("{many}×{}", tame(&layer.name)),
    };
    model.layers.iter().map(name).collect::<Vec<_>>().join(" → ")
}

/// What the figures of a table are, and what they lean on.
pub(crate) fn footnote(model: &ModelRecord) -> Text {
    let parameters = || model.layers.iter().flat_map(|layer| &layer.parameters);
    let all = parameters().count();
    let standing = |parameter: &ParameterRecord| Standing::of(&parameter.source, parameter.changed);
    let calibrated = parameters().filter(|parameter| standing(parameter) == Standing::Calibrated).count();
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
    let (en, ja) = (on.en, on.ja);
    text!(
        "figures of a model, not measured on a device; {en}",
        "モデルの計算値であり、実機の測定値ではありません。{ja}"
    )
}

/// Every layer with its parameters, as fields: for the details of a run.
pub(crate) fn fields(model: &ModelRecord, style: &Style) -> Vec<(String, Vec<String>)> {
    let seed = model.seed;
    let mut fields = vec![(
        style.pick("model", "モデル").to_owned(),
        vec![
            tame(&model.name),
            tame(model.title.get(style.lang)),
            style.say(&text!("seed {seed}", "乱数の種 {seed}")),
        ],
    )];
    for layer in &model.layers {
        let mut items: Vec<String> = Vec::new();
        if layer.kind != layer.name {
            items.push(tame(&layer.kind));
        }
        if layer.instances > 1 {
            items.push(format!("×{}", layer.instances));
        }
        items.extend(layer.parameters.iter().map(|parameter| {
            let mark = if parameter.changed { style.pick(" (changed)", " (変更)") } else { "" };
            tame(&format!("{} {}{mark}", parameter.key, parameter.value))
        }));
        fields.push((tame(&layer.name), items));
    }
    fields
}
