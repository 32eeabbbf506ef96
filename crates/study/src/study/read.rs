//! Reads study files.

use super::{
    FigureMark, MarkKind, Part, PartHead, Study, StudyColumn, StudyHead, StudyRow, WhyRun, load_profile,
};
use crate::axis::{StudyAxis, is_parameter, parse_values};
use crate::catalogue::{Catalogue, PublishedRow, PublishedTable};
use crate::figure::{FigureSource, PowerCut, WaitOf};
use crate::{plan::Devices, question::read_questions, result::ColumnResult};
use kurabe_core::profile::{Profile, Step};
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::{DataFile, DataTable, Error, Result, Text, Value, text};
use kurabe_sim::load_device;
use std::path::PathBuf;

const PART_KEYS: [&str; 10] =
    ["id", "title", "note", "profile", "rules", "catalogue", "devices", "column", "axis", "row"];
const COLUMN_KEYS: [&str; 10] =
    ["key", "name", "unit", "decimals", "figure", "derived", "power_cut", "wait", "published", "curve"];
const ROW_KEYS: [&str; 16] = [
    "id",
    "label",
    "model",
    "target",
    "set",
    "over",
    "step",
    "on",
    "unknown",
    "rules",
    "published",
    "source",
    "calibrated",
    "assumed",
    "anomaly",
    "unreachable",
];
/// Keys of a row that refer to its model.
const MODEL_KEYS: [&str; 7] = ["set", "over", "unknown", "source", "calibrated", "assumed", "unreachable"];
const MARKS: [(&str, MarkKind); 5] = [
    ("source", MarkKind::Source),
    ("calibrated", MarkKind::Calibrated),
    ("assumed", MarkKind::Assumed),
    ("anomaly", MarkKind::Anomaly),
    ("unreachable", MarkKind::Unreachable),
];

impl Study {
    /// Reads a study; `name` is shown in errors.
    ///
    /// # Errors
    /// On the first mistake, with its line.
    pub fn parse(name: &str, source: &str, catalogue: &Catalogue) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let root = file.root(&["schema", "name", "title", "source", "note", "part", "question", "why"])?;
        root.require("schema")?.integer(1..=1)?;
        let parts = root.require("part")?.elements();
        let parts = read_unique(
            &parts,
            |value| read_part(value, catalogue),
            |part| Some(&part.id),
            |id| text!("another part has the id `{id}`", "id `{id}` は別の表で使われています"),
        )?;
        let questions = root.get("question").map(|list| list.elements()).unwrap_or_default();
        Ok(Self {
            head: StudyHead {
                name: root.words("name")?,
                title: root.require("title")?.text()?,
                source: root.read("source", Value::words)?,
                note: root.read("note", Value::text)?,
                why: root.read("why", read_why)?,
            },
            questions: read_questions(&questions, &parts)?,
            parts,
        })
    }
}

/// Reads each element of a list and refuses duplicate ids.
pub(crate) fn read_unique<T>(
    list: &[Value<'_>],
    read: impl Fn(&Value<'_>) -> Result<T>,
    id_of: impl Fn(&T) -> Option<&String>,
    taken: impl Fn(&str) -> Text,
) -> Result<Vec<T>> {
    let mut items: Vec<T> = Vec::new();
    for value in list {
        let item = read(value)?;
        if let Some(id) = id_of(&item).filter(|id| items.iter().any(|other| id_of(other) == Some(id))) {
            return Err(value.error(&taken(id)));
        }
        items.push(item);
    }
    Ok(items)
}

fn read_why(value: &Value<'_>) -> Result<WhyRun> {
    let table = value.table(&["model", "set", "profile", "cell"])?;
    let (model, profile) = (table.require("model")?, table.require("profile")?);
    let sets = read_sets(&table)?;
    Devices::default().changed(model.string()?, &sets).map_err(|error| model.error_of_named(&error))?;
    load_profile(profile.string()?).map_err(|error| profile.error_of_named(&error))?;
    Ok(WhyRun {
        model: model.string()?.to_owned(),
        sets,
        profile: profile.string()?.to_owned(),
        cell: table.read("cell", Value::words)?,
    })
}

fn read_part(value: &Value<'_>, catalogue: &Catalogue) -> Result<Part> {
    let table = value.table(&PART_KEYS)?;
    let profile_name = table.require("profile")?;
    let profile =
        load_profile(profile_name.string()?).map_err(|error| profile_name.error_of_named(&error))?;
    let profile = with_rules(profile, table.get("rules").as_ref())?.with_step_names();
    let beside = table.read("catalogue", |value| find_table(value, catalogue))?;
    let columns = table.require("column")?.each(|value| read_column(value, beside, &profile))?;
    let reader = RowReader { beside, columns: &columns, profile: &profile };
    let rows = table.require("row")?.elements();
    let rows = read_unique(
        &rows,
        |value| reader.read(value),
        |row| row.id.as_ref(),
        |id| text!("another row has the id `{id}`", "id `{id}` は別の行で使われています"),
    )?;
    let devices_across =
        table.read("devices", |value| value.choice(&[("rows", false), ("columns", true)]))?;
    Ok(Part {
        head: PartHead {
            id: table.words("id")?,
            title: table.require("title")?.text()?,
            note: table.read("note", Value::text)?,
            catalogue: beside.map(|table| table.id.clone()),
            axes: table.each("axis", read_axis)?,
            devices_across: devices_across.unwrap_or_default(),
        },
        columns: columns.into_iter().map(|(column, _)| column).collect(),
        rows,
        profile,
    })
}

fn find_table<'c>(value: &Value<'_>, catalogue: &'c Catalogue) -> Result<&'c PublishedTable> {
    let ids: Vec<&str> = catalogue.tables.iter().map(|table| table.id.as_str()).collect();
    let place = value.place_among(&ids, |id| {
        text!("the catalogue has no table `{id}`", "カタログに `{id}` という表はありません")
    })?;
    Ok(&catalogue.tables[place])
}

/// Returns the profile with the rules of a part or a row applied.
fn with_rules(mut profile: Profile, rules: Option<&Value<'_>>) -> Result<Profile> {
    let Some(value) = rules else { return Ok(profile) };
    let table = value.table(&["size", "runs", "discarded_runs", "time", "fill"])?;
    if let Some(size) = table.get("size") {
        let bytes = size.parsed(parse_bytes)?;
        if bytes == 0 {
            return Err(size.error(&text!(
                "a size above zero is expected here",
                "ここには 0 より大きいサイズを書きます"
            )));
        }
        let rules = &mut profile.rules;
        (rules.size_bytes, rules.size_at_least_bytes, rules.whole_device) = (bytes, None, false);
    }
    if let Some(runs) = table.get("runs") {
        profile.rules.runs = runs.integer(1..=1_000_000)? as u32;
    }
    if let Some(runs) = table.get("discarded_runs") {
        profile.rules.discarded_runs = runs.integer(0..=1_000_000)? as u32;
    }
    if table.read("fill", Value::boolean)? == Some(true) {
        // Some tools write their test file before they read it. A model has no such file.
        let fill = load_profile("unfinished-write")?.steps;
        profile.preconditions.extend(fill.into_iter().filter_map(|step| match step {
            Step::Io(step) => Some(*step),
            _ => None,
        }));
    }
    if let Some(time) = table.get("time") {
        let ns = time.parsed(parse_duration_ns)?;
        if ns == 0 {
            return Err(
                time.error(&text!("a time above zero is expected here", "ここには 0 より長い時間を書きます"))
            );
        }
        profile.rules.time_ns = ns;
        for step in &mut profile.steps {
            if let Step::Io(step) = step
                && let Some(own) = &mut step.end.time_ns
            {
                *own = ns;
            }
        }
    }
    Ok(profile)
}

fn read_axis(value: &Value<'_>) -> Result<StudyAxis> {
    let table = value.table(&["parameter", "values"])?;
    let parameter = table.require("parameter")?;
    if !is_parameter(parameter.string()?) {
        return Err(parameter
            .error(&text!("layer.parameter is expected here", "ここには 層.パラメーター を書きます")));
    }
    let values = table.require("values")?;
    let values = match values.is_array() {
        true => values.each(Value::words)?,
        false => values.parsed(parse_values)?,
    };
    Ok(StudyAxis { parameter: parameter.words()?, values })
}

/// Reads a column, and returns the index of the published column next to it.
fn read_column(
    value: &Value<'_>,
    beside: Option<&PublishedTable>,
    profile: &Profile,
) -> Result<(StudyColumn, Option<usize>)> {
    let table = value.table(&COLUMN_KEYS)?;
    let place = table.read("published", |key| find_column(key, beside))?;
    let published = place.and_then(|place| beside?.columns.get(place));
    let words = |key: &str, published: Option<&str>| -> Result<String> {
        match (table.get(key), published) {
            (None, Some(published)) => Ok(published.to_owned()),
            _ => Ok(table.words(key)?),
        }
    };
    let key = words("key", published.map(|published| published.key.as_str()))?;
    let name = match (table.get("name"), published) {
        (None, Some(published)) => published.name.clone(),
        _ => table.require("name")?.text()?,
    };
    let unit = words("unit", published.map(|published| published.unit.as_str()))?;
    let decimals = match (table.get("decimals"), published) {
        (Some(value), _) => value.integer(0..=6)? as usize,
        (None, published) => published.map_or(1, |published| published.decimals),
    };
    let formula = published.and_then(|published| published.figure.as_ref());
    let figure = read_figure(value, &table, formula, profile)?;
    let curve = table.read("curve", Value::boolean)?.unwrap_or(false);
    let less_is_better = figure.less_is_better(&unit);
    let head = ColumnResult { key, name, unit, decimals, curve, less_is_better };
    Ok((StudyColumn { head, figure }, place))
}

fn find_column(key: &Value<'_>, beside: Option<&PublishedTable>) -> Result<usize> {
    let table = beside.ok_or_else(|| no_catalogue(key))?;
    let keys: Vec<&str> = table.columns.iter().map(|column| column.key.as_str()).collect();
    let id = &table.id;
    key.place_among(&keys, |word| {
        text!("`{id}` has no column `{word}`", "`{id}` に `{word}` という列はありません")
    })
}

fn no_catalogue(published: &Value<'_>) -> Error {
    published.error(&text!(
        "`published` has no effect unless the table has a `catalogue`",
        "`published` は表に `catalogue` がないと効果がありません"
    ))
}

fn read_figure(
    value: &Value<'_>,
    table: &DataTable<'_>,
    published: Option<&kurabe_core::profile::Formula>,
    profile: &Profile,
) -> Result<FigureSource> {
    let kinds = ["figure", "derived", "power_cut", "wait"];
    if kinds.into_iter().filter(|key| table.get(key).is_some()).count() > 1 {
        return Err(value.error(&text!(
            "give only one of `figure`, `derived`, `power_cut` and `wait`",
            "`figure`、`derived`、`power_cut`、`wait` はどれか 1 つだけ指定できます"
        )));
    }
    if let Some(derived) = table.get("derived") {
        let labels: Vec<&str> = profile.derived.iter().map(|derived| derived.label.en.as_str()).collect();
        let place = derived.place_among(&labels, |label| {
            text!(
                "the profile has no derived figure `{label}`",
                "プロファイルに `{label}` という導出値はありません"
            )
        })?;
        return Ok(FigureSource::Derived(place));
    }
    if let Some(power_cut) = table.get("power_cut") {
        let kind = power_cut.choice(&[("lost", PowerCut::Lost), ("saved", PowerCut::Saved)])?;
        return Ok(FigureSource::PowerCut(kind));
    }
    if let Some(wait) = table.get("wait") {
        let kind = wait.choice(&[("mean", WaitOf::Mean), ("longest", WaitOf::Longest)])?;
        return Ok(FigureSource::Wait(kind));
    }
    match (table.get("figure"), published) {
        (Some(figure), _) => Ok(FigureSource::Formula(figure.string()?.to_owned())),
        (None, Some(published)) => Ok(FigureSource::Formula(published.source().to_owned())),
        (None, None) => {
            let needed = table.require("figure")?;
            Err(needed.error(&text!("a formula is expected here", "ここには式を書きます")))
        }
    }
}

struct RowReader<'a> {
    beside: Option<&'a PublishedTable>,
    columns: &'a [(StudyColumn, Option<usize>)],
    profile: &'a Profile,
}

impl RowReader<'_> {
    fn read(&self, value: &Value<'_>) -> Result<StudyRow> {
        let table = value.table(&ROW_KEYS)?;
        let published = table.read("published", |id| self.find_row(id))?;
        let (model, title) = match table.get("model") {
            Some(model) => {
                let spec = load_device(model.string()?).map_err(|error| model.error_of_named(&error))?;
                (Some(model.string()?.to_owned()), Some(spec.title))
            }
            None => check_own_device(value, &table).map(|()| (None, None))?,
        };
        let target = table.read("target", Value::words)?;
        if let (Some(_), Some(target)) = (&model, table.get("target")) {
            return Err(target.error(&text!(
                "a row has either a `model` or a `target`; `on` names a device that replaces the model",
                "`model` と `target` は同時に指定できません。モデルの代わりに測る機器の名前は `on` で決めます"
            )));
        }
        let label = match (table.get("label"), published) {
            (Some(label), _) => Some(label.text()?),
            (None, Some(row)) => Some(row.device.clone()),
            (None, None) => title,
        };
        let step = table.read("step", Value::words)?;
        for (column, _) in self.columns {
            column.figure.check(step.as_deref(), self.profile).map_err(|what| {
                let key = &column.head.key;
                value.error(&text!("column `{key}`: {what}", "列 `{key}`: {what}"; what))
            })?;
        }
        let changed = table.get("rules");
        Ok(StudyRow {
            id: table.read("id", Value::words)?,
            label,
            model,
            target: target.map(PathBuf::from),
            sets: read_sets(&table)?,
            over: table.read("over", read_over)?,
            step,
            on: table.read("on", Value::words)?,
            profile: changed.map(|rules| with_rules(self.profile.clone(), Some(&rules))).transpose()?,
            unknown: table.each("unknown", read_axis)?,
            published: self
                .columns
                .iter()
                .map(|(_, place)| published.and_then(|row| row.figures.get((*place)?).copied().flatten()))
                .collect(),
            marks: self.read_marks(&table)?,
        })
    }

    fn find_row(&self, id: &Value<'_>) -> Result<&PublishedRow> {
        let table = self.beside.ok_or_else(|| no_catalogue(id))?;
        let ids: Vec<&str> = table.rows.iter().map(|row| row.id.as_str()).collect();
        let name = &table.id;
        let place = id.place_among(&ids, |word| {
            text!("`{name}` has no row `{word}`", "`{name}` に `{word}` という行はありません")
        })?;
        Ok(&table.rows[place])
    }

    fn read_marks(&self, table: &DataTable<'_>) -> Result<Vec<FigureMark>> {
        let keys: Vec<&str> = self.columns.iter().map(|(column, _)| column.head.key.as_str()).collect();
        let mut marks: Vec<FigureMark> = Vec::new();
        for (word, kind) in MARKS {
            let Some(value) = table.get(word) else { continue };
            let given = value.table(&keys)?;
            for key in &keys {
                let Some(reason) = given.get(key) else { continue };
                marks.push(FigureMark { column: (*key).to_owned(), kind, reason: reason.text()? });
            }
        }
        Ok(marks)
    }
}

/// Checks a row without a model: that its device can be named, and that no key refers to a model.
fn check_own_device(value: &Value<'_>, table: &DataTable<'_>) -> Result<()> {
    if table.get("target").is_none() && table.get("on").is_none() {
        return Err(value.error(&text!(
            "a row needs a `model`, a `target` (the path of a device of yours), or `on` (a name for one)",
            "行には `model`、`target`(手元の機器のパス)、`on`(あとで指定する機器の名前)のどれかが必要です"
        )));
    }
    match MODEL_KEYS.into_iter().find_map(|key| Some((key, table.get(key)?))) {
        Some((key, value)) => Err(value.error(&text!(
            "`{key}` refers to a model, but this row has no `model`",
            "`{key}` はモデルについての指定ですが、この行には `model` がありません"
        ))),
        None => Ok(()),
    }
}

fn read_over(value: &Value<'_>) -> Result<(String, Vec<(String, String)>)> {
    let table = value.table(&["model", "set"])?;
    let model = table.require("model")?;
    load_device(model.string()?).map_err(|error| model.error_of_named(&error))?;
    Ok((model.string()?.to_owned(), read_sets(&table)?))
}

fn read_sets(table: &DataTable<'_>) -> Result<Vec<(String, String)>> {
    table.each("set", |value| {
        let pair = value.string()?.split_once('=').filter(|(parameter, _)| is_parameter(parameter.trim()));
        let (parameter, worth) = pair.ok_or_else(|| {
            value.error(&text!(
                "layer.parameter=value is expected here",
                "ここには 層.パラメーター=値 の形で書きます"
            ))
        })?;
        Ok((parameter.trim().to_owned(), worth.trim().to_owned()))
    })
}
