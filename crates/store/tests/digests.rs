//! Digests: they always match the current record, are computed if they are missing, and are stored
//! if possible.

use crate::common::{DIGESTER, ask, assert_true, digest, fresh_store, record, spelled};
use kurabe_core::digest::Digester;
use kurabe_store::{Archive, Runs, SqliteStore};
use kurabe_testkit::any_record;
use kurabe_testkit::sample::sample_record;
use proptest::prelude::*;

#[test]
fn a_digest_is_made_once() {
    let (directory, store) = fresh_store();
    let ids = [(); 3].map(|()| record(&store, &sample_record()).unwrap());
    let (digests, made) = ask(&store);
    assert_eq!((made, digests.runs.len(), digests.unreadable.len()), (3, 3, 0));
    assert_eq!(digests.words.iter().filter(|word| word.starts_with("kernel")).count(), 1, "words are shared");
    for id in &ids {
        assert_eq!(spelled(&digests, id), digest(&store.load(id).unwrap()));
    }
    let again = SqliteStore::open(&directory.path().join("kurabe.db"), DIGESTER).unwrap();
    assert_eq!(ask(&again), (digests, 0));
}

#[test]
fn a_digest_of_another_version_is_made_again() {
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    assert_eq!(ask(&store).1, 1);
    let newer = Digester { version: DIGESTER.version + 1, ..DIGESTER };
    let store = SqliteStore::open(&directory.path().join("kurabe.db"), newer).unwrap();
    assert_eq!([ask(&store).1, ask(&store).1], [1, 0]);
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_stops_nothing() {
    let (directory, store) = fresh_store();
    let ids = [(); 2].map(|()| record(&store, &sample_record()).unwrap());
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    tables.execute("UPDATE runs SET header = '{ \"schema\": 2 }' WHERE id = ?1", [&ids[0]]).unwrap();
    let digests = ask(&store).0;
    assert_eq!((digests.unreadable, digests.runs.len()), (vec![ids[0].clone()], 1));
    tables.execute("UPDATE runs SET header = 'no JSON' WHERE id = ?1", [&ids[0]]).unwrap();
    assert_eq!(store.list().unwrap().len(), 2, "a header that is no JSON does not hide the others");
}

#[test]
fn a_word_with_a_number_that_none_has_takes_no_memory_and_hides_nothing() {
    let (directory, store) = fresh_store();
    record(&store, &sample_record()).unwrap();
    let before = ask(&store).0;
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    for place in [i64::from(u32::MAX), 1 << 40, -1] {
        tables.execute("INSERT INTO words VALUES (?1, ?2)", (place, format!("far {place}"))).unwrap();
    }
    assert_eq!(ask(&store), (before, 0));
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
    // An obstacle for the last table of the step. The tables before it are created and must be
    // removed again.
    let tables = rusqlite::Connection::open(&path).unwrap();
    tables.execute_batch("CREATE TABLE digests (a)").unwrap();
    let before = schema();
    assert_eq!(before.0, 1);
    assert!(SqliteStore::open(&path, DIGESTER).is_err());
    assert_eq!(schema(), before);
    tables.execute_batch("DROP TABLE digests").unwrap();
    assert_eq!(SqliteStore::open(&path, DIGESTER).unwrap().list().unwrap().len(), 1);
}

#[test]
fn stores_of_both_versions_of_records_get_digests() {
    for (name, runs) in [("store-v1.db", 1), ("store-v2.db", 4)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        std::fs::copy(fixture, &path).unwrap();
        let store = SqliteStore::open(&path, DIGESTER).unwrap();
        assert_eq!(ask(&store).1, runs, "{name}");
        assert_true(&store);
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
        assert_true(&store);
        assert_eq!(ask(&store).1, 0);
    }
}
