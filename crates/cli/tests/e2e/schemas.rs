//! Schemas of all output for other programs, generated from the types: docs/schema.
//! `KURABE_WRITE_DOCS=1` regenerates it.
//!
//! There is one document with a definition for each form of output. Every JSON line that any test
//! reads is validated against it.

use crate::lab::{Lab, SHORT, text};
use kurabe::show::{Doctor, PricedLine, ScriptLine};
use kurabe_compare::ListedRun;
use kurabe_core::{profile::Profile, record::RunRecord};
use kurabe_lab::Envelope;
use kurabe_report::{EntryLine, ModelDescription, SpokenStudy, StudyLine, Why};
use kurabe_stats::CellFigures;
use kurabe_study::ModelSide;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};
use std::{path::Path, sync::LazyLock};

#[derive(JsonSchema)]
#[allow(dead_code, reason = "the fields are there to be named in a schema")]
struct ExportedRun {
    /// Version of this outer file.
    kurabe_record: u32,
    /// The run.
    run: RunRecord,
    /// Figures of its cells.
    figures: Vec<CellFigures<'static>>,
}

/// Description, name and type of a form.
type Form = (&'static str, &'static str, fn(&mut SchemaGenerator) -> Schema);
const FORMS: [Form; 13] = [
    ("what a command says that has no form of its own; tagged by `event`", "line", of::<ScriptLine<'static>>),
    ("`run`, `versus` and `study run` while they measure", "happening", of::<Envelope>),
    ("`export`", "export", of::<ExportedRun>),
    ("`list`", "list", of::<ListedRun>),
    ("`why`", "why", of::<Why>),
    ("`price`", "price", of::<PricedLine<'static>>),
    ("`doctor`", "doctor", of::<Doctor>),
    ("`models`", "model", of::<ModelDescription>),
    ("`models compare`", "model-side", of::<ModelSide>),
    ("`profiles`", "profile", of::<Profile>),
    ("`catalogue`", "catalogue", of::<EntryLine<'static>>),
    ("`study list`, `study show`", "study", of::<StudyLine<'static>>),
    ("`study run`", "study-result", of::<SpokenStudy<'static>>),
];

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Removes `additionalProperties: false`, because fields may be added within a version.
fn opened(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
                fields.remove("additionalProperties");
            }
            fields.values_mut().for_each(opened);
        }
        Value::Array(items) => items.iter_mut().for_each(opened),
        _ => {}
    }
}

/// The complete schema document.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let forms: Vec<(&str, Value)> = FORMS
        .iter()
        .map(|(what, name, form)| {
            let mut schema = Value::from(form(&mut generator));
            schema["description"] = (*what).into();
            (*name, schema)
        })
        .collect();
    let mut definitions = Value::Object(generator.take_definitions(true));
    opened(&mut definitions);
    let any: Vec<Value> =
        forms.iter().map(|(name, _)| json!({ "$ref": format!("#/$defs/{name}") })).collect();
    forms.into_iter().for_each(|(name, schema)| definitions[name] = schema);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://kurabe.invalid/schema/kurabe-2.json",
        "title": "What kurabe writes for other programs",
        "anyOf": any,
        "$defs": definitions,
    })
});

fn validator(schema: &Value) -> kurabe_testkit::jsonschema::Validator {
    kurabe_testkit::jsonschema::validator_for(schema).expect("a schema")
}

/// Returns whether a value that was written for other programs matches any form.
pub fn is_of_a_form(output: &Value) -> bool {
    static ANY: LazyLock<kurabe_testkit::jsonschema::Validator> = LazyLock::new(|| validator(&DOCUMENT));
    ANY.is_valid(output)
}

/// Checks that a value matches this form.
#[track_caller]
fn fits(form: &str, output: &Value) {
    let mut schema = DOCUMENT.clone();
    schema.as_object_mut().expect("an object").remove("anyOf");
    schema["$ref"] = format!("#/$defs/{form}").into();
    let faults: Vec<String> = validator(&schema)
        .iter_errors(output)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{form}: {}\n{output:#}", faults.join("\n"));
}

#[test]
fn the_document_is_of_these_types() {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/kurabe-2.json"));
    let words = format!("{:#}\n", *DOCUMENT);
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        std::fs::write(file, words).expect("a file");
    } else {
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            kept == words,
            "docs/schema/kurabe-2.json is of other types: KURABE_WRITE_DOCS=1 cargo test -p kurabe --test e2e schemas"
        );
    }
}

#[test]
fn what_commands_write_for_programs_is_of_its_form() {
    let lab = Lab::new();
    lab.run(&lab.target(), &SHORT).ok();
    lab.kurabe(&["run", "model:samsung-980", "--profile", "quick", "--time", "5ms", "--quiet"]).ok();
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer/cdm-8.0.1-partial.txt");
    lab.kurabe(&["import", fixture, "--quiet"]).ok();
    let runs = lab.list();
    let ids: Vec<&str> = runs.iter().map(|run| run["id"].as_str().expect("an id")).collect();
    let target = lab.target();
    let asked = |form: &str, words: &[&str]| {
        let lines = lab.kurabe(&[words, &["--json"]].concat()).ok().json_lines();
        assert!(!lines.is_empty(), "{words:?}");
        lines.iter().for_each(|line| fits(form, line));
    };
    for id in &ids {
        let mut exported: Value = serde_json::from_str(&lab.kurabe(&["export", id]).ok().out).expect("JSON");
        fits("export", &exported);
        asked("line", &["show", id]);
        exported["run"]["cells"][0]["label"] = 3.into();
        assert!(!is_of_a_form(&exported), "a label that is a number");
    }
    asked("list", &["list"]);
    asked("why", &["why", ids[1]]);
    asked("doctor", &["doctor", text(&target)]);
    asked("model", &["models"]);
    asked("model", &["models", "raid-9260"]);
    asked("model-side", &["models", "compare", "hdd-nas", "raidz2-6"]);
    asked("profile", &["profiles"]);
    asked("catalogue", &["catalogue"]);
    asked("study", &["study", "list"]);
    asked("study-result", &["study", "run", "scsi-emulators"]);
    asked("line", &["compare", ids[0], ids[1]]);
    asked("line", &["compare", ids[0], ids[1], ids[2]]);
    asked("line", &["recommend", "--for", "database", ids[0], ids[1]]);
    asked("line", &["compare", "--by", "model"]);
    asked("line", &["check"]);
    asked("line", &["vm", "model:samsung-980"]);
}
