//! Models of devices: the list of models, and the layers and parameters of one, each with its value
//! and source.

mod drawing;

use kurabe_core::library::names;
use kurabe_core::mention::{ALL, MODELS, MODELS_SHOW, RUN};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Text, phrases, shown, text};
use kurabe_doc::layout::display_width;
use kurabe_doc::{Column, Cut, Doc, Entry, Fields, Paragraph, Role, Style, Table, TableRow};
use kurabe_sim::{
    CARDS, DeviceSpec, EMULATORS, HOSTS, KINDS_OF_DRIVES, LayerSpec, ParameterScale, ParameterType, Setting,
};
use serde::Serialize;

/// Maximum width of a value in the table. A wider value is shown below its parameter.
const WIDEST_VALUE: usize = 18;

/// The phrases of sources, with their translations.
const SOURCES: &str = include_str!("sources.txt");

/// Provenance of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// From a document.
    Sourced,
    /// Derived from values in documents.
    Derived,
    /// Assumed without a document.
    Assumed,
    /// Fitted so that the model reproduces a published figure.
    Calibrated,
    /// Changed by the command line or a study.
    Changed,
}

impl Provenance {
    /// Returns the provenance of a value with this source. `changed` says whether the command line
    /// or a study set the value.
    pub(crate) fn of(source: &str, changed: bool) -> Self {
        let words =
            [("calibrated", Self::Calibrated), ("assumed", Self::Assumed), ("derived", Self::Derived)];
        let begins = |(word, _): &(&str, Self)| source.trim_start().starts_with(word);
        let standing = words.into_iter().find(begins).map_or(Self::Sourced, |(_, standing)| standing);
        if changed { Self::Changed } else { standing }
    }

    /// Returns the mark of a value that is not documented. Empty for a documented value.
    pub fn sign(self) -> &'static str {
        self.mark().0
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelDescription {
    /// Name of the model.
    pub name: String,
    /// Title of the model.
    pub title: Text,
    /// Limits of the model's validity.
    pub note: Option<Text>,
    /// Number of addressable bytes.
    pub capacity_bytes: Option<u64>,
    /// Layers from the host down.
    pub layers: Vec<LayerDescription>,
}

/// A layer of a model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerDescription {
    /// Name of the layer.
    pub name: String,
    /// Kind of the layer.
    pub kind: &'static str,
    /// Title of the kind.
    pub title: Text,
    /// Parameters of the layer.
    pub parameters: Vec<ParameterDescription>,
    /// Members below the layer, if it does not simply continue with the next layer of the list.
    pub members: Vec<MemberDescription>,
}

/// A parameter of a layer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterDescription {
    /// Key of the parameter.
    pub key: &'static str,
    /// Value with its unit.
    pub value: String,
    /// Source of the value.
    pub source: String,
    /// Provenance of the value.
    pub standing: Provenance,
    /// Meaning of the parameter.
    pub meaning: Text,
    /// The value as a number in `unit`. A number with this unit can be set.
    pub number: Option<f64>,
    /// Minimum and maximum, in `unit`.
    pub range: Option<(f64, f64)>,
    /// Unit of the numbers: `B`, `ns`, `B/s` or none.
    pub unit: &'static str,
    /// `linear`, `log`, `powers-of-two`, `multiples` or `choice`.
    pub scale: &'static str,
    /// The number of which the value is a multiple, if `scale` is `multiples`.
    pub step: Option<u64>,
    /// The allowed values, if there are only a few.
    pub choices: Vec<String>,
    /// Whether the parameter can change while requests are served.
    pub live: bool,
    /// Parameters from which the value is derived if it is omitted.
    pub derived_from: &'static [&'static str],
}

/// Members below a layer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberDescription {
    /// Number of members.
    pub count: u32,
    /// Layers of each member.
    pub layers: Vec<LayerDescription>,
}

/// Describes a model as data.
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
        title: Text::of(layer.kind.title.0, layer.kind.title.1),
        parameters: parameters(layer),
        members: members.collect(),
    }
}

/// Returns the parameters in the order of the layer's kind.
fn parameters(layer: &LayerSpec) -> Vec<ParameterDescription> {
    layer.settings.iter().map(describe_setting).collect()
}

fn describe_setting(setting: &Setting) -> ParameterDescription {
    let parameter = setting.parameter;
    let (scale, step) = match parameter.scale {
        ParameterScale::Linear => ("linear", None),
        ParameterScale::Log => ("log", None),
        ParameterScale::PowersOfTwo => ("powers-of-two", None),
        ParameterScale::Multiples(step) => ("multiples", Some(step)),
        ParameterScale::Choice => ("choice", None),
    };
    ParameterDescription {
        key: parameter.key,
        value: setting.written.clone(),
        source: setting.source.clone(),
        standing: Provenance::of(&setting.source, setting.changed),
        meaning: Text::of(parameter.meaning.0, parameter.meaning.1),
        number: setting.number().filter(|_| parameter.kind != ParameterType::Flag),
        range: parameter.kind.range(),
        unit: parameter.kind.unit(),
        scale,
        step,
        choices: parameter.kind.choices(),
        live: parameter.live,
        derived_from: parameter.derived_from,
    }
}

/// Renders the list of models: name, title, and layers in a row.
pub fn render_models(models: &[DeviceSpec], more: bool, style: &Style) -> String {
    let table = Table::of(models)
        .left(text!("model", "モデル"), |model| Entry::new(Role::Strong, shown::line(&model.name)))
        .cut(Cut::Wrap, text!("what it is", "内容"), |model| with_kind(model))
        .cut(Cut::Wrap, text!("layers", "層"), |model| {
            Entry::new(Role::Quiet, row_of_layers(&model.layers))
        });
    let all = more.then(|| {
        (
            format!("{MODELS:#} {ALL:#}"),
            text!("all models, older devices too", "古い機器も含むすべてのモデル"),
        )
    });
    let hints = all.into_iter().chain([
        (format!("{MODELS:#} nas"), text!("models that have this word", "この語を含むモデル")),
        (format!("{MODELS_SHOW:#} NAME"), text!("the stack and every parameter", "構成と全パラメーター")),
        (format!("{RUN:#} model:NAME"), text!("a run in virtual time", "仮想時間で測定")),
        (format!("{MODELS_SHOW:#} FILE.toml"), text!("one of your own", "自作のモデル")),
    ]);
    let hints = hints.map(|(command, what)| [command.into(), what.into()]);
    let hints = Table::new([Column::untitled(), Column::untitled().cut(Cut::Wrap)], hints);
    Doc::of(table.table()).gap().append(emulator_parts()).gap().push(hints).terminal(style)
}

/// Lists the parts from which a model of an emulator of SCSI disks is put together.
fn emulator_parts() -> Doc {
    let words = text!(
        "SCSI emulators are combined: model:EMULATOR+CARD+COMPUTER",
        "SCSI ディスクのエミュレーターは組み合わせで指定します: model:エミュレーター+カード+コンピューター"
    );
    let parts = [
        (text!("emulators", "エミュレーター"), EMULATORS),
        (text!("cards", "カード"), CARDS),
        (text!("computers", "コンピューター"), HOSTS),
    ];
    let fields = parts.map(|(key, list)| (key, vec![Text::same(names(list).join(", "))]));
    Doc::of(Paragraph::new(words)).and(Doc::of(Fields::from(fields.to_vec())))
}

/// Returns a model's title, and the kind of drive that it represents, if any.
fn with_kind(model: &DeviceSpec) -> Text {
    let title = &model.title;
    match KINDS_OF_DRIVES.iter().find(|(_, device)| *device == model.name) {
        Some((kind, _)) => text!("{title}; also model:{kind}", "{title}。model:{kind} でも可"; title),
        None => title.clone(),
    }
}

/// Returns the layers in a row, as in `host → raid → 4 × ssd`. Different members are in brackets.
pub fn row_of_layers(layers: &[LayerSpec]) -> String {
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
    let row = row_of_layers(layers);
    match (count, layers.len()) {
        (1, _) => row,
        (_, 1) => format!("{count}×{row}"),
        _ => format!("{count}×({row})"),
    }
}

/// Renders a model: a drawing of its stack, and every parameter with its value, meaning and source.
pub fn render_model(spec: &DeviceSpec, capacity_bytes: Option<u64>, style: &Style) -> String {
    let mut doc = Doc::new();
    doc.heading(1, shown::line(&spec.name)).aside(spec.title.clone());
    if let Some(bytes) = capacity_bytes {
        let size = format_bytes(bytes);
        doc.aside(text!("capacity {size}", "容量 {size}"));
    }
    doc.gap().push(drawing::draw(&spec.layers));
    let mut shown = Vec::new();
    for layer in spec.all_layers() {
        let values: Vec<String> = parameters(layer).into_iter().map(|parameter| parameter.value).collect();
        let what = (&layer.name, values);
        if !shown.contains(&what) {
            doc.gap().append(layer_doc(layer));
            shown.push(what);
        }
    }
    doc.gap().push(Paragraph::flow(standing(spec)).indent(2, 2));
    if let Some(note) = &spec.note {
        let title = text!("Limits of the model", "モデルの適用範囲");
        doc.gap().push(Paragraph::aside(title).role(Role::Quiet));
        doc.asides(note);
    }
    doc.terminal(style)
}

fn layer_doc(layer: &LayerSpec) -> Doc {
    let (en, ja) = layer.kind.title;
    let kind = if layer.name == layer.kind.word { String::new() } else { format!(" ({})", layer.kind.word) };
    let name = shown::line(&layer.name);
    let mut rows: Vec<TableRow> = Vec::new();
    for parameter in parameters(layer) {
        let (mark, role) = parameter.standing.mark();
        let source = parameter.source_words();
        let long = display_width(&parameter.value) > WIDEST_VALUE;
        let value = if long { text!("see below", "下記") } else { shown::line(&parameter.value).into() };
        // A space keeps the column if no parameter has a mark.
        let mark = if mark.is_empty() { " " } else { mark };
        let first = [
            Entry::new(role, mark.to_owned()),
            parameter.key.to_owned().into(),
            Entry::new(Role::Strong, value),
            parameter.meaning.into(),
        ];
        rows.push(first.into());
        let below = |entry: Entry| [Entry::default(), Entry::default(), Entry::default(), entry].into();
        if long {
            rows.push(below(parameter.value.into()));
        }
        rows.push(below(Entry::new(Role::Quiet, source)));
    }
    let column = Column::untitled;
    let title = Paragraph::new(name.to_string()).then(text!(" · {en}{kind}", " · {ja}{kind}"));
    let table = Table::new([column(), column(), column(), column().cut(Cut::Wrap)], rows).indent(2);
    Doc::of(title.indent(2, 2).lead(Role::Strong)).push(table).done()
}

impl ParameterDescription {
    /// Returns the source as in the file, and in Japanese as far as its phrases are known.
    pub fn source_words(&self) -> Text {
        Text::of(&self.source, phrases::in_japanese(SOURCES, &self.source))
    }
}

/// Counts the parameters by provenance, and explains the marks.
fn standing(spec: &DeviceSpec) -> Vec<Text> {
    let parameters = spec.all_layers().into_iter().flat_map(parameters);
    let all: Vec<Provenance> = parameters.map(|parameter| parameter.standing).collect();
    let count = all.len();
    let mut items = vec![text!("{count} parameters", "パラメーター {count} 個")];
    let words = [
        (Provenance::Sourced, "from documents", "文書から"),
        (Provenance::Derived, "derived", "導出"),
        (Provenance::Assumed, "assumed", "仮定"),
        (Provenance::Calibrated, "calibrated on published figures", "公表値で較正"),
        (Provenance::Changed, "changed for this run", "今回変更"),
    ];
    for (standing, en, ja) in words {
        let number = all.iter().filter(|one| **one == standing).count();
        if number > 0 {
            let (mark, _) = standing.mark();
            let mark = if mark.is_empty() { String::new() } else { format!("{mark} ") };
            items.push(text!("{mark}{number} {en}", "{mark}{ja} {number}"));
        }
    }
    items
}

#[test]
fn every_source_of_the_models_is_known_in_japanese() {
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase());
    let mut unknown = std::collections::BTreeSet::new();
    let devices = kurabe_sim::DEVICES.iter().map(|(name, _)| (*name).to_owned());
    let assembled = HOSTS.iter().flat_map(|(host, _)| {
        kurabe_sim::combinations(&format!("all+all+{host}")).expect("a computer of the library")
    });
    for name in devices.chain(assembled) {
        let spec = kurabe_sim::device_named(&name).unwrap();
        for parameter in spec.all_layers().into_iter().flat_map(parameters) {
            let parts = phrases::untranslated(SOURCES, &parameter.source);
            unknown.extend(parts.into_iter().filter(|part| part.split(' ').filter(is_word).count() > 1));
        }
    }
    assert!(unknown.is_empty(), "not in sources.txt: {unknown:#?}");
}
