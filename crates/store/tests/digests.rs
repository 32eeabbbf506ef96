//! Digests: always of the record as it is, made where they are missing, kept where that can be.

use crate::common::{fresh_store, owner, record};
use kurabe_core::digest::{Digests, RunDigest, Summary};
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_store::Store;
use kurabe_testkit::any_record;
use kurabe_testkit::sample::{sample_cell, sample_header, sample_record};
use proptest::prelude::*;
use std::cell::Cell;

/// A digest that tells everything apart: where and when it ran, and of each cell how many repetitions it has.
fn make(run: &RunRecord) -> RunDigest {
    let of_cell = |cell: &kurabe_core::record::Cell| {
        let count = cell.repetitions.len() as u32;
        (format!("cell {}", cell.label), Summary { mean: 0.1 + f64::from(cell.index), deviation: 0.3, count })
    };
    RunDigest {
        facts: vec![
            format!("kernel {:?}", run.header.environment.machine.kernel),
            run.header.started_at.clone(),
        ],
        figures: run.cells.iter().map(of_cell).collect(),
    }
}

/// The digest of one run, with its words in place of their numbers.
fn spelled(digests: &Digests, id: &str) -> RunDigest {
    let run = digests.runs.iter().find(|run| run.id == id).expect("the run has a digest");
    let word = |place: &u32| digests.words[*place as usize].clone();
    RunDigest {
        facts: run.facts.iter().map(word).collect(),
        figures: run.figures.iter().map(|(place, summary)| (word(place), *summary)).collect(),
    }
}

/// What the store gives, and how many records it had to read for it.
fn ask(store: &Store, version: u32) -> (Digests, usize) {
    let made = Cell::new(0);
    let counted = |run: &RunRecord| {
        made.set(made.get() + 1);
        make(run)
    };
    let digests = store.digests(version, counted, |_, _| {}).unwrap();
    (digests, made.get())
}

/// Asserts that what is kept is what is made anew from every record.
fn assert_true(store: &Store, version: u32) {
    let digests = store.digests(version, make, |_, _| {}).unwrap();
    for run in store.list().unwrap().iter().filter(|run| run.status != RunStatus::Running) {
        assert_eq!(spelled(&digests, &run.id), make(&store.load(&run.id).unwrap()), "{}", run.id);
    }
}

#[test]
fn a_digest_is_made_once() {
    let (directory, store) = fresh_store();
    let ids = [(); 3].map(|()| record(&store, &sample_record()).unwrap());
    let (digests, made) = ask(&store, 1);
    assert_eq!((made, digests.runs.len(), digests.unreadable.len()), (3, 3, 0));
    assert_eq!(digests.words.iter().filter(|word| word.starts_with("kernel")).count(), 1, "words are shared");
    for id in &ids {
        assert_eq!(spelled(&digests, id), make(&store.load(id).unwrap()));
    }
    let again = Store::open(&directory.path().join("kurabe.db")).unwrap();
    assert_eq!(ask(&again, 1), (digests, 0));
}

#[test]
fn a_run_that_was_kept_when_it_ended_needs_no_reading() {
    let (_directory, store) = fresh_store();
    let id = record(&store, &sample_record()).unwrap();
    store.keep_digest(&id, 1, make).unwrap();
    assert_eq!(ask(&store, 1).1, 0);
    assert_true(&store, 1);
    assert!(store.keep_digest("zzz", 1, make).is_err());
}

#[test]
fn whatever_changes_the_record_drops_its_digest() {
    let (_directory, store) = fresh_store();
    let id = record(&store, &sample_record()).unwrap();
    let other = record(&store, &sample_record()).unwrap();
    let mut header = store.load(&id).unwrap().header;
    header.environment.machine.kernel = Some("Linux 7.0".to_owned());
    let changes: [&dyn Fn(); 3] = [
        &|| store.update_header(&header).unwrap(),
        &|| store.append_cell(&id, &sample_cell(17)).unwrap(),
        &|| store.put_cell(&id, &sample_cell(2)).unwrap(),
    ];
    for change in changes {
        ask(&store, 1);
        change();
        assert_eq!(ask(&store, 1).1, 1, "only the changed run is read again");
        assert_true(&store, 1);
    }
    store.label(&id, "firmware", Some("2")).unwrap();
    assert_eq!(ask(&store, 1).1, 0, "a label is no part of the record");
    store.remove(&other, |_| true).unwrap();
    assert_eq!(ask(&store, 1).0.runs.len(), 1);
}

#[test]
fn another_version_is_made_again() {
    let (_directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    assert_eq!(ask(&store, 1).1, 1);
    assert_eq!(ask(&store, 2).1, 1);
    assert_eq!(ask(&store, 2).1, 0);
}

#[test]
fn a_run_that_is_being_measured_has_no_digest_yet() {
    let (_directory, store) = fresh_store();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.append_cell(&id, &sample_cell(0)).unwrap();
    assert!(ask(&store, 1).0.runs.is_empty());
    store.mark_interrupted(&id, "2026-01-31T13:00:00Z").unwrap();
    assert_eq!(ask(&store, 1).0.runs.len(), 1);
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_stops_nothing() {
    let (directory, store) = fresh_store();
    let ids = [(); 2].map(|()| record(&store, &sample_record()).unwrap());
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    tables.execute("UPDATE runs SET header = '{ \"schema\": 2 }' WHERE id = ?1", [&ids[0]]).unwrap();
    let digests = ask(&store, 1).0;
    assert_eq!((digests.unreadable, digests.runs.len()), (vec![ids[0].clone()], 1));
    tables.execute("UPDATE runs SET header = 'no JSON' WHERE id = ?1", [&ids[0]]).unwrap();
    assert_eq!(store.list().unwrap().len(), 2, "a header that is no JSON does not hide the others");
}

#[test]
fn a_word_with_a_number_that_none_has_takes_no_memory_and_hides_nothing() {
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    let before = ask(&store, 1).0;
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    for place in [i64::from(u32::MAX), 1 << 40, -1] {
        tables.execute("INSERT INTO words VALUES (?1, ?2)", (place, format!("far {place}"))).unwrap();
    }
    assert_eq!(ask(&store, 1), (before, 0));
}

#[test]
fn a_migration_that_cannot_be_finished_leaves_the_store_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-v1.db");
    std::fs::copy(fixture, &path).unwrap();
    let schema = || -> (i32, Vec<String>) {
        let tables = rusqlite::Connection::open(&path).unwrap();
        let mut names = tables.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
        let names = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        (tables.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap(), names)
    };
    // Something in the way of the last table of the step: those before it are made and must go again.
    let tables = rusqlite::Connection::open(&path).unwrap();
    tables.execute_batch("CREATE TABLE digests (a)").unwrap();
    let before = schema();
    assert_eq!(before.0, 1);
    assert!(Store::open(&path).is_err());
    assert_eq!(schema(), before);
    tables.execute_batch("DROP TABLE digests").unwrap();
    assert_eq!(Store::open(&path).unwrap().list().unwrap().len(), 1);
}

#[test]
fn stores_of_both_versions_of_records_get_digests() {
    for (name, runs) in [("store-v1.db", 1), ("store-v2.db", 4)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        std::fs::copy(fixture, &path).unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(ask(&store, 1).1, runs, "{name}");
        assert_true(&store, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_digest_is_of_the_record(runs in prop::collection::vec(any_record(), 1..4)) {
        let (_directory, store) = fresh_store();
        for run in runs {
            store.import(run).unwrap();
        }
        assert_true(&store, 1);
        assert_eq!(ask(&store, 1).1, 0);
    }
}
