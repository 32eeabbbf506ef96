//! Files of all previous versions remain readable.
//!
//! To write the fixtures of a new version (never over those of an old one):
//! `KURABE_WRITE_FIXTURES=1 cargo test -p kurabe-store --test main old_files`

use crate::common::DIGESTER;
use kurabe_core::profile::{Rounds, Step};
use kurabe_core::record::{Measure, RECORD_SCHEMA, RunRecord, RunStatus};
use kurabe_core::workload::{Direction, ThreadShare, TimeCheck};
use kurabe_store::{Archive, Runs, SqliteStore, export, parse_export};
use kurabe_testkit::any_record;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Runs of version 2: name of the export, and id.
const RUNS_OF_VERSION_2: [(&str, &str); 4] = [
    ("export-v2.json", "k2a"),
    ("export-v2-rounds.json", "k2b"),
    ("export-v2-imported.json", "k2c"),
    ("export-v2-modelled.json", "k2d"),
];

fn copied(name: &str) -> (tempfile::TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::copy(fixture(name), &path).unwrap();
    let store = SqliteStore::open(&path, DIGESTER).unwrap();
    (directory, store)
}

fn exported(name: &str) -> RunRecord {
    parse_export(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

#[test]
fn write_fixtures_when_asked() {
    if std::env::var_os("KURABE_WRITE_FIXTURES").is_none() {
        return;
    }
    let database = fixture(&format!("store-v{RECORD_SCHEMA}.db"));
    assert!(!database.exists(), "fixtures of a released version are not written again");
    let store = SqliteStore::open(&database, DIGESTER).unwrap();
    // Together they cover every field.
    let mut runner = TestRunner::deterministic();
    for number in 0..8 {
        let run = any_record().new_tree(&mut runner).unwrap().current();
        let id = store.import(run).unwrap();
        let export = export(&store.load(&id).unwrap()).unwrap();
        std::fs::write(fixture(&format!("export-v{RECORD_SCHEMA}-{number}.json")), export).unwrap();
    }
}

#[test]
fn a_store_of_version_1_shows_its_run() {
    let (_directory, store) = copied("store-v1.db");
    let list = store.list().unwrap();
    assert_eq!(list.len(), 1);
    assert!(!list[0].imported);
    assert_eq!((list[0].cell_count, list[0].status), (5, RunStatus::Failed));
    let run = store.load(&store.resolve("last").unwrap()).unwrap();
    let exported = exported("export-v1.json");
    assert_eq!(run, exported);
    // Computed from the content: it must never change, or copies of the run would have other
    // identities.
    assert_eq!(run.header.identity, "28157cbf-63f2-851a-804d-506a598bfc0e");
    assert_eq!(store.resolve(&run.header.identity).unwrap(), run.header.id);
    assert_eq!(store.import(exported).unwrap(), run.header.id, "it is the same run");
}

#[test]
fn what_cannot_be_read_or_was_being_measured_has_no_identity_yet_and_still_its_id() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::copy(fixture("store-v2.db"), &path).unwrap();
    let tables = rusqlite::Connection::open(&path).unwrap();
    tables.execute("UPDATE runs SET header = 'x' WHERE id = 'k2a'", []).unwrap();
    tables.execute("UPDATE runs SET status = 'running' WHERE id = 'k2b'", []).unwrap();
    let store = SqliteStore::open(&path, DIGESTER).unwrap();
    let noted = "SELECT group_concat(id) FROM runs WHERE identity IS NOT NULL";
    assert_eq!(tables.query_row(noted, [], |row| row.get::<_, String>(0)).unwrap(), "k2c,k2d");
    assert_eq!(store.list().unwrap().len(), 4);
    let running = store.load("k2b").unwrap();
    assert_eq!(store.resolve(&running.header.identity).unwrap(), "k2b");
    // An unreadable run is imported again from a file, in addition to the stored one.
    assert_ne!(store.import(exported("export-v2.json")).unwrap(), "k2a");
}

#[test]
fn an_export_of_version_1_shows_its_figures() {
    let run = exported("export-v1.json");
    let repetition = &run.cells[0].repetitions[1];
    assert_eq!(run.header.environment.devices[0].model.as_deref(), Some("比べ SSD 1"));
    assert_eq!(repetition.seed, u64::MAX - 1);
    assert_eq!(repetition.generator_share, 0.1 + 0.2);
    assert_eq!(repetition.read.latency.buckets, [(200, 1), (256, 2), (1024, 4), (65_536, 1)]);
    assert_eq!(run.error.unwrap().ja, "入出力エラー");
}

#[test]
fn what_version_1_did_not_know_has_the_meaning_that_it_had() {
    let run = exported("export-v1.json");
    let profile = run.header.profile.as_ref().unwrap();
    assert_eq!((&profile.as_printed, &profile.rounds, profile.preconditions.len()), (&None, &None, 0));
    assert!(profile.derived.is_empty() && !profile.rules.whole_device);
    let Step::Io(step) = &profile.steps[0] else { panic!("{:?}", profile.steps[0]) };
    assert_eq!((&step.id, step.thread_share, step.rewrite_every_reads), (&None, ThreadShare::Usual, None));
    assert_eq!(step.end.time_check, TimeCheck::Always);
    assert!(run.header.target.is_some() && run.header.instrument.is_some() && run.header.origin.is_none());
    let cell = &run.cells[0];
    assert_eq!((cell.direction, cell.measure), (Some(Direction::Read), Measure::Rate));
    assert_eq!(cell.workload.as_ref().unwrap().thread_share, ThreadShare::Usual);
    assert_eq!(cell.engine.as_ref().unwrap().name.word(), "threads");
    assert!(cell.imported.is_none() && cell.repetitions[0].samples.is_empty());
    assert_eq!(cell.repetitions[0].traffic, None);
}

#[test]
fn a_store_of_version_2_shows_its_runs() {
    let (_directory, store) = copied("store-v2.db");
    assert_eq!(store.list().unwrap().len(), 4);
    let identities = [
        "30c1f007-d121-8bfb-bc82-5ae8274d3655",
        "36425fe1-0108-8e18-a236-a07c1ecc512d",
        "801764d1-206d-8b6f-a47f-abf516f33596",
        "59d86859-470f-83d8-b620-d8b5fa754862",
    ];
    for ((name, id), identity) in RUNS_OF_VERSION_2.into_iter().zip(identities) {
        let read = exported(name);
        assert_eq!(store.load(id).unwrap(), read, "{name}");
        assert_eq!((store.resolve(identity).unwrap().as_str(), &*read.header.identity), (id, identity));
        assert_eq!(store.import(read).unwrap(), id, "it is the same run");
    }
    let list = store.list().unwrap();
    assert_eq!(list.iter().filter(|run| run.imported).count(), 1);
    let modelled: Vec<_> = list.iter().filter_map(|run| run.model.as_ref()).collect();
    assert_eq!(modelled, [&exported("export-v2-modelled.json").header.model.unwrap().title]);
}

#[test]
fn exports_of_version_2_show_their_figures() {
    let kinds = exported("export-v2.json");
    let cell = |part: &str| kinds.cells.iter().find(|cell| cell.part == part).unwrap();
    let samples =
        |part: &str| kinds.cells.iter().rfind(|cell| cell.part == part).map(|cell| &cell.repetitions[0]);
    assert_eq!(cell("within").measure, Measure::Duration);
    assert_eq!(cell("within").repetitions[0].traffic.unwrap().write_bytes, 1_048_576);
    assert_eq!((cell("command").direction, cell("command").repetitions[0].cpu.system_ns), (None, 20));
    assert_eq!(samples("write").unwrap().samples[1].offset_bytes, 524_288);
    assert_eq!(kinds.header.profile.as_ref().unwrap().derived[0].formula.names()[0].part, "within");

    let rounds = exported("export-v2-rounds.json");
    let rules: &Rounds = rounds.header.profile.as_ref().unwrap().rounds.as_ref().unwrap();
    assert_eq!((rules.most, rounds.cells[0].repetitions.len()), (7, 6));

    let foreign = exported("export-v2-imported.json");
    let figure = &foreign.cells[0].imported.as_ref().unwrap().figures[0];
    assert_eq!((figure.value, figure.printed.as_str()), (3_512_345_600.0, "3512.346"));
    assert_eq!(foreign.header.origin.unwrap().facts["Comment"], "箱の中");

    let modelled = exported("export-v2-modelled.json");
    let model = modelled.header.model.as_ref().unwrap();
    assert_eq!((model.seed, model.layers[1].instances), (u64::MAX - 2, 2));
    assert!(model.layers[0].parameters[1].changed);
    let account = modelled.cells[1].repetitions[0].account.as_ref().unwrap();
    assert_eq!((account.shares[0].time_ns, account.counts[0].count), (70_000, u64::MAX));
}
