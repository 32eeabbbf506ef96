//! What other programs read has a schema, made of the types: docs/schema. `KURABE_WRITE_DOCS=1` writes it anew.
#![allow(dead_code, reason = "the fields of these types are there to be named in a schema")]

use crate::lab::{Lab, SHORT};
use kurabe_compare::ListedRun;
use kurabe_core::schemars::{JsonSchema, Schema, generate::SchemaSettings};
use kurabe_core::{event::Event, record::RunRecord};
use kurabe_stats::CellFigures;
use serde_json::Value;
use std::path::Path;

/// An exported run.
#[derive(JsonSchema)]
#[schemars(crate = "kurabe_core::schemars")]
struct ExportedRun {
    /// The version of this outer file.
    kurabe_record: u32,
    /// The run.
    run: RunRecord,
    /// What its cells come to.
    figures: Vec<CellFigures<'static>>,
}

/// The line of `run --json` and `show --json` that has the whole run.
#[derive(JsonSchema)]
#[schemars(crate = "kurabe_core::schemars")]
struct RecordLine {
    /// `record`.
    event: String,
    /// The run.
    run: RunRecord,
    /// What its cells come to.
    figures: Vec<CellFigures<'static>>,
}

/// A line of `run --json` while it measures.
#[derive(JsonSchema)]
#[schemars(crate = "kurabe_core::schemars")]
struct EventLine {
    /// What happened.
    #[serde(flatten)]
    event: Event,
    /// The run's id.
    run: String,
    /// Its number, from 0.
    number: u64,
    /// When it was told, in ns from the first.
    at_ns: u64,
}

/// Within a version fields may be added, so that no schema forbids those that it does not know.
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

/// The schema of a type, as it is written; it has to be the one that docs/schema has.
fn schema_of<T: JsonSchema>(name: &str) -> Value {
    let schema: Schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    let mut schema = Value::from(schema);
    opened(&mut schema);
    schema["$id"] = format!("https://kurabe.invalid/schema/{name}.json").into();
    let file =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema")).join(format!("{name}.json"));
    let words = format!("{schema:#}\n");
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, words).expect("a file");
    } else {
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == words,
            "docs/schema/{name}.json is of other types: KURABE_WRITE_DOCS=1 cargo test -p kurabe --test e2e schemas"
        );
    }
    schema
}

#[track_caller]
fn fits(schema: &Value, output: &Value) {
    let schema = jsonschema::validator_for(schema).expect("a schema");
    let faults: Vec<String> =
        schema.iter_errors(output).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A laboratory with runs of every source: measured, computed, printed by another tool.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.run(&lab.target(), &SHORT).ok();
    lab.kurabe(&["run", "model:samsung-980", "--profile", "quick", "--time", "5ms", "--quiet"]).ok();
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer/cdm-8.0.1-partial.txt");
    lab.kurabe(&["import", fixture, "--quiet"]).ok();
    lab
}

#[test]
fn exported_runs_fit_their_schema_and_a_broken_one_does_not() {
    let schema = schema_of::<ExportedRun>("export-1-record-2");
    let of_line = schema_of::<RecordLine>("record-line-2");
    let lab = lab();
    for run in lab.list() {
        let id = run["id"].as_str().expect("an id");
        let mut exported: Value = serde_json::from_str(&lab.kurabe(&["export", id]).ok().out).expect("JSON");
        fits(&schema, &exported);
        fits(&of_line, &lab.kurabe(&["show", id, "--json"]).ok().json_lines()[0]);
        exported["run"]["cells"][0]["label"] = 3.into();
        assert!(!jsonschema::is_valid(&schema, &exported), "a label that is a number");
    }
}

#[test]
fn lines_of_a_list_fit_their_schema() {
    let schema = schema_of::<ListedRun>("list-line-2");
    lab().list().iter().for_each(|line| fits(&schema, line));
}

#[test]
fn lines_of_a_run_fit_their_schema() {
    let schema = schema_of::<EventLine>("event-line-2");
    let lab = Lab::new();
    for target in [lab.target().to_str().expect("a path"), "model:samsung-980"] {
        let words =
            ["run", target, "--profile", "quick", "--size", "16m", "--time", "5ms", "--json", "--quiet"];
        let mut lines = lab.kurabe(&words).ok().json_lines();
        lines.pop();
        assert!(lines.len() > 20, "{lines:?}");
        lines.iter().for_each(|line| fits(&schema, line));
    }
}
