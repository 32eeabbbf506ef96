//! Models of devices: which there are, and what one is made of, with every parameter, its value and where that is from.

mod drawing;

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::layout::{display_width, hanging, indented, page, tame, wrap};
use crate::style::{Role, Style};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Lang, Text, text};
use kurabe_sim::{DeviceSpec, LayerSpec, Setting};
use serde::Serialize;

/// A value of more columns than this stands below its parameter.
const WIDEST_VALUE: usize = 24;

/// Where a value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// From a document.
    Sourced,
    /// Worked out from what is in documents.
    Derived,
    /// Taken without a document.
    Assumed,
    /// Fitted so that a published figure comes out.
    Calibrated,
    /// Changed by the command line or a study.
    Changed,
}

impl Standing {
    /// That of a value with this source; `changed` says whether the command line or a study set it.
    pub(crate) fn of(source: &str, changed: bool) -> Self {
        let begins = |word: &str| source.trim_start().starts_with(word);
        match () {
            () if changed => Self::Changed,
            () if begins("calibrated") => Self::Calibrated,
            () if begins("assumed") => Self::Assumed,
            () if begins("derived") => Self::Derived,
            () => Self::Sourced,
        }
    }

    fn mark(self) -> (&'static str, Role) {
        match self {
            Self::Sourced | Self::Derived => ("", Role::Plain),
            Self::Assumed => ("?", Role::Quiet),
            Self::Calibrated => ("≈", Role::Warn),
            Self::Changed => ("*", Role::Strong),
        }
    }
}

/// A model for scripts.
#[derive(Clone, Debug, Serialize)]
pub struct ModelDescription {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// Where it stops being true.
    pub note: Option<Text>,
    /// Bytes that can be addressed.
    pub capacity_bytes: Option<u64>,
    /// Its layers from the host down.
    pub layers: Vec<LayerDescription>,
}

/// A layer of a model.
#[derive(Clone, Debug, Serialize)]
pub struct LayerDescription {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// What its kind is.
    pub title: Text,
    /// Its parameters.
    pub parameters: Vec<ParameterDescription>,
    /// What stands below it, if that is not the rest of the list.
    pub members: Vec<MemberDescription>,
}

/// A parameter of a layer.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterDescription {
    /// Its key.
    pub key: &'static str,
    /// Its value with its unit.
    pub value: String,
    /// Where the value is from.
    pub source: String,
    /// What kind of source that is.
    pub standing: Standing,
    /// What it is.
    pub meaning: Text,
}

/// Members below a layer.
#[derive(Clone, Debug, Serialize)]
pub struct MemberDescription {
    /// How many.
    pub count: u32,
    /// Their layers.
    pub layers: Vec<LayerDescription>,
}

/// A model as data.
pub fn describe_model(spec: &DeviceSpec, capacity_bytes: Option<u64>) -> ModelDescription {
    ModelDescription {
        name: spec.name.clone(),
        title: spec.title.clone(),
        note: spec.note.clone(),
        capacity_bytes,
        layers: spec.layers.iter().map(describe_layer).collect(),
    }
}

fn describe_layer(layer: &LayerSpec) -> LayerDescription {
    let members = layer.members.iter().map(|member| MemberDescription {
        count: member.count,
        layers: member.layers.iter().map(describe_layer).collect(),
    });
    LayerDescription {
        name: layer.name.clone(),
        kind: layer.kind.word,
        title: bilingual(layer.kind.title),
        parameters: parameters(layer),
        members: members.collect(),
    }
}

/// The parameters in the order of their kind.
fn parameters(layer: &LayerSpec) -> Vec<ParameterDescription> {
    let describe = |setting: &Setting| ParameterDescription {
        key: setting.parameter.key,
        value: setting.written.clone(),
        source: setting.source.clone(),
        standing: Standing::of(&setting.source, setting.changed),
        meaning: bilingual(setting.parameter.meaning),
    };
    layer.settings.iter().map(describe).collect()
}

fn bilingual((en, ja): (&str, &str)) -> Text {
    Text { en: en.to_owned(), ja: ja.to_owned() }
}

/// The models there are: name, what it is, and its layers in a row.
pub fn render_models(models: &[DeviceSpec], style: &Style) -> String {
    let heads = [
        Column::left(style.pick("model", "モデル")),
        Column::left(style.pick("what it is", "内容")).cut(Cut::Wrap),
        Column::left(style.pick("layers", "層")).cut(Cut::Wrap),
    ];
    let rows: Vec<Vec<Entry>> = models
        .iter()
        .map(|model| {
            vec![
                (Role::Strong, tame(&model.name)),
                plain(model.title.get(style.lang)),
                (Role::Quiet, row_of(&model.layers)),
            ]
        })
        .collect();
    let mut lines = columns::render(&heads, &rows, 0, style);
    let hints = [
        ("kurabe models show NAME", style.pick("the stack and every parameter", "構成と全パラメーター")),
        ("kurabe run model:NAME", style.pick("a run in virtual time", "仮想時間で測定")),
        ("kurabe models show FILE.toml", style.pick("one of your own", "自作のモデル")),
    ];
    let rows: Vec<_> = hints.iter().map(|(command, what)| vec![plain(*command), plain(*what)]).collect();
    lines.push(String::new());
    lines.extend(columns::render(&[Column::left(""), Column::left("").cut(Cut::Wrap)], &rows, 0, style));
    page(&lines)
}

/// `host → raid → 4 × ssd`; different members in brackets.
fn row_of(layers: &[LayerSpec]) -> String {
    let mut row = Vec::new();
    let mut left = layers;
    while let Some((layer, rest)) = left.split_first() {
        row.push(layer.kind.word.to_owned());
        left = match layer.below(rest).as_slice() {
            [] => &[],
            [(1, rest)] if layer.members.is_empty() => *rest,
            [(count, members)] if layer.members.is_empty() => {
                row.push(times(*count, members));
                &[]
            }
            several => {
                let members = several.iter().map(|(count, members)| times(*count, members));
                row.push(format!("({})", members.collect::<Vec<_>>().join(" | ")));
                &[]
            }
        };
    }
    row.join(" → ")
}

fn times(count: u64, layers: &[LayerSpec]) -> String {
    let row = row_of(layers);
    match (count, layers.len()) {
        (1, _) => row,
        (_, 1) => format!("{count}×{row}"),
        _ => format!("{count}×({row})"),
    }
}

/// What a model is made of: its stack drawn, and every parameter with its value, meaning and source.
pub fn render_model(spec: &DeviceSpec, capacity_bytes: Option<u64>, style: &Style) -> String {
    let room = style.width.saturating_sub(2);
    let mut lines = vec![style.paint(Role::Strong, &tame(&spec.name))];
    lines.extend(hanging(wrap(spec.title.get(style.lang), room), 2, 2));
    if let Some(bytes) = capacity_bytes {
        let size = format_bytes(bytes);
        lines.push(format!("  {}", style.say(&text!("capacity {size}", "容量 {size}"))));
    }
    lines.push(String::new());
    lines.extend(indented(drawing::draw(&spec.layers, room, style), 2));
    let mut told = Vec::new();
    for layer in spec.all_layers() {
        let values: Vec<String> = parameters(layer).into_iter().map(|parameter| parameter.value).collect();
        let what = (&layer.name, values);
        if !told.contains(&what) {
            lines.push(String::new());
            lines.extend(render_layer(layer, style));
            told.push(what);
        }
    }
    lines.push(String::new());
    lines.extend(standing(spec, style));
    if let Some(note) = &spec.note {
        lines.push(String::new());
        let title = style.pick("Where the model stops being true", "モデルが成り立たなくなるところ");
        lines.push(format!("  {}", style.paint(Role::Quiet, title)));
        for paragraph in note.get(style.lang).lines() {
            lines.extend(hanging(wrap(paragraph, room), 2, 2));
        }
    }
    page(&lines)
}

fn render_layer(layer: &LayerSpec, style: &Style) -> Vec<String> {
    let (en, ja) = layer.kind.title;
    let kind = if layer.name == layer.kind.word { String::new() } else { format!(" ({})", layer.kind.word) };
    let name = tame(&layer.name);
    let mut lines = vec![format!("  {} · {}{kind}", style.paint(Role::Strong, &name), style.pick(en, ja))];
    lines[0] = clip_painted(&lines[0], &name, style);
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for parameter in parameters(layer) {
        let (mark, role) = parameter.standing.mark();
        let long = display_width(&parameter.value) > WIDEST_VALUE;
        let value = if long { style.pick("see below", "下記") } else { parameter.value.as_str() };
        rows.push(vec![
            // A blank keeps the column where no parameter has a mark.
            (role, if mark.is_empty() { " " } else { mark }.to_owned()),
            plain(parameter.key),
            (Role::Strong, tame(value)),
            plain(parameter.meaning.get(style.lang)),
        ]);
        let mut below = vec![(Role::Quiet, source_words(&parameter.source, style.lang))];
        if long {
            below.insert(0, plain(parameter.value.clone()));
        }
        rows.extend(below.into_iter().map(|entry| vec![plain(""), plain(""), plain(""), entry]));
    }
    let heads = [Column::left(""), Column::left(""), Column::left(""), Column::left("").cut(Cut::Wrap)];
    lines.extend(columns::render(&heads, &rows, 2, style));
    lines
}

/// A source as it stands in the file, but with the words that say what kind of source it is in the reader's language.
fn source_words(source: &str, lang: Lang) -> String {
    let mut words = source.to_owned();
    if lang == Lang::En {
        return words;
    }
    if source == "set for this run" {
        return "今回の指定".to_owned();
    }
    for (en, ja) in [("assumed", "仮定"), ("derived", "導出"), ("calibrated", "較正")] {
        if let Some(rest) = words.strip_prefix(en) {
            words = format!("{ja}{rest}");
        }
        words = words.replace(&format!("; {en}:"), &format!("; {ja}:"));
        words = words.replace(&format!(": {en}:"), &format!(": {ja}:"));
    }
    words
}

/// The line without colour if it has to be cut.
fn clip_painted(line: &str, name: &str, style: &Style) -> String {
    let bare = line.replacen(&style.paint(Role::Strong, name), name, 1);
    if display_width(&bare) <= style.width {
        line.to_owned()
    } else {
        crate::layout::clip(&bare, style.width)
    }
}

/// How many parameters lean on what, and what the marks mean.
fn standing(spec: &DeviceSpec, style: &Style) -> Vec<String> {
    let all: Vec<Standing> = spec
        .all_layers()
        .into_iter()
        .flat_map(|layer| parameters(layer).into_iter().map(|parameter| parameter.standing))
        .collect();
    let count = all.len();
    let mut items = vec![style.say(&text!("{count} parameters", "パラメーター {count} 個"))];
    let words = [
        (Standing::Sourced, "from documents", "文書から"),
        (Standing::Derived, "derived", "導出"),
        (Standing::Assumed, "assumed", "仮定"),
        (Standing::Calibrated, "calibrated on published figures", "公表値で較正"),
        (Standing::Changed, "changed for this run", "今回変更"),
    ];
    for (standing, en, ja) in words {
        let number = all.iter().filter(|one| **one == standing).count();
        if number > 0 {
            let (mark, _) = standing.mark();
            let mark = if mark.is_empty() { String::new() } else { format!("{mark} ") };
            items.push(style.say(&text!("{mark}{number} {en}", "{mark}{ja} {number}")));
        }
    }
    hanging(crate::layout::flow(&items, style.width.saturating_sub(2)), 2, 2)
}
