//! The schema describes every field of an exported run, and docs/record.md every table of the store.

use crate::common::{self, DIGESTER};

use kurabe_core::Text;
use kurabe_core::environment::Link;
use kurabe_core::record::{LatencyRecord, Notice, NoticeKind, Repetition, RunRecord, ServedRecord};
use kurabe_core::split::{KernelSplit, RequestSize};
use kurabe_store::{SqliteStore, Store, export};
use kurabe_testkit::sample::{
    sample_foreign, sample_header, sample_kinds, sample_modelled, sample_record, sample_rounds,
};
use serde_json::Value;
use std::collections::BTreeSet;

fn collect_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.insert(key.clone());
                collect_keys(value, keys);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

/// Returns the properties of the schema that have a description: their own, or as the key of a choice that
/// has one.
fn described() -> BTreeSet<String> {
    fn collect(schema: &Value, is_choice: bool, keys: &mut BTreeSet<String>) {
        match schema {
            Value::Object(fields) => {
                if let Some(Value::Object(properties)) = fields.get("properties") {
                    let is_described = |property: &Value| {
                        is_choice && fields.contains_key("description")
                            || property.get("description").is_some()
                    };
                    keys.extend(
                        properties
                            .iter()
                            .filter(|(_, value)| is_described(value))
                            .map(|(key, _)| key.clone()),
                    );
                }
                for (key, value) in fields {
                    collect(value, ["oneOf", "anyOf"].contains(&key.as_str()), keys);
                }
            }
            Value::Array(schemas) => schemas.iter().for_each(|schema| collect(schema, is_choice, keys)),
            _ => {}
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/kurabe-2.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut keys = BTreeSet::new();
    collect(&schema, false, &mut keys);
    keys
}

fn documented() -> BTreeSet<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/record.md")).unwrap();
    page.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map(str::to_owned).collect()
}

#[test]
fn every_field_of_an_exported_run_is_described() {
    let mut run = RunRecord { labels: [].into(), ..sample_record() };
    let device = run.header.environment.devices[0].clone();
    let links = [
        Link::Pcie { speed_gt_per_s: None, width: None, speed_max_gt_per_s: None, width_max: None },
        Link::Usb { speed_mbit_per_s: None, protocol: None, version: None },
        Link::CardLines { timing: None, rate_bytes_per_s: None },
        Link::Loop { backing: None, direct: None },
        Link::RaidCard { driver: String::new(), slot: Box::new(Link::Other { subsystem: String::new() }) },
    ];
    for link in links {
        run.header
            .environment
            .devices
            .push(kurabe_core::environment::BlockDevice { link: Some(link), ..device.clone() });
    }
    let traced = Repetition {
        discarded: true,
        kernel: Some(KernelSplit {
            request_sizes: vec![RequestSize { size_bytes: 4096, count: 1 }],
            ..KernelSplit::default()
        }),
        ..Repetition::default()
    };
    run.cells[0].repetitions.push(traced);
    run.notices.push(Notice {
        served: Some(Box::new(ServedRecord {
            model: sample_modelled().header.model.unwrap(),
            served_ns: 0,
            late: LatencyRecord::default(),
            in_time_share: None,
            mean_service_ns: 0.0,
            slowdown: Some(1.0),
            busy_share: 0.0,
            server_bound_seconds: 0,
            steal_share: None,
            round_trip_ns: 0,
        })),
        ..Notice::new(NoticeKind::ServedModel, Text::same("served"))
    });
    let mut keys = BTreeSet::new();
    let mut foreign = sample_foreign();
    // These keys come from the other tool.
    foreign.header.origin.as_mut().unwrap().facts.clear();
    for run in [run, sample_kinds(), sample_rounds(), sample_modelled(), foreign] {
        collect_keys(&serde_json::from_str(&export(&run).unwrap()).unwrap(), &mut keys);
    }
    assert!(keys.len() > 240, "{}", keys.len());
    let described = described();
    let missing: Vec<&String> = keys.difference(&described).collect();
    assert!(missing.is_empty(), "not described in the schema: {missing:?}");
}

#[test]
fn every_column_of_the_store_is_documented() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kurabe.db");
    SqliteStore::open(&path, DIGESTER).unwrap().begin_run(&mut sample_header(), &common::owner()).unwrap();
    let tables = rusqlite::Connection::open(&path).unwrap();
    let mut columns = BTreeSet::new();
    let sql = "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
               WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'";
    let mut statement = tables.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        columns.insert(row.get::<_, String>(0).unwrap());
        columns.insert(row.get::<_, String>(1).unwrap());
    }
    assert!(columns.len() > 20, "{columns:?}");
    let documented = documented();
    let missing: Vec<&String> = columns.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/record.md: {missing:?}");
}
