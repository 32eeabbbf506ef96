//! The tables of a store as another program sees them, and changes by such a program.

use crate::common::fresh_store;
use kurabe_core::ErrorKind;
use kurabe_store::{Archive, Runs, SqliteStore, Store};
use kurabe_testkit::sample::sample_record;

/// Creates a store with runs that have these ids, begun in this order.
fn store_with(ids: &[&str]) -> (tempfile::TempDir, SqliteStore) {
    let (directory, store) = fresh_store();
    for (minute, id) in ids.iter().enumerate() {
        let mut run = sample_record();
        run.header.id = (*id).to_owned();
        run.header.identity.clear();
        run.header.started_at = format!("2026-01-31T12:{minute:02}:00Z");
        assert_eq!(store.import(run).unwrap(), *id);
    }
    (directory, store)
}

#[test]
fn a_run_is_removed_with_all_that_belongs_to_it() {
    let (directory, store) = store_with(&["abc", "abd"]);
    store.remove("abc", &|_| true).unwrap();
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    for table in ["cells", "notices", "labels"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE run_id = 'abc'");
        assert_eq!(tables.query_row(&sql, [], |row| row.get::<_, u32>(0)).unwrap(), 0, "{table}");
    }
}

/// A stored hash is not computed from the record again.
#[test]
fn the_hash_of_a_run_is_made_once() {
    let (directory, store) = store_with(&["abc", "abd"]);
    let hashes = store.hashes(&[]).unwrap();
    assert_eq!(hashes.len(), 2);
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    tables.execute("UPDATE runs SET header = 'no JSON'", []).unwrap();
    assert!(store.load("abc").is_err());
    assert_eq!(store.hashes(&[]).unwrap(), hashes);
    tables.execute("DELETE FROM hashes WHERE run_id = 'abc'", []).unwrap();
    assert_eq!(store.hashes(&[]).unwrap(), hashes[1..], "one that cannot be read has none");
}

/// Updates the checksum of a text.
fn seal(tables: &rusqlite::Connection, id: &str, field: &str, sql: &str) {
    let words: String = tables.query_row(sql, [], |row| row.get(0)).unwrap();
    let sql = "UPDATE checksums SET crc32 = ?3 WHERE run_id = ?1 AND field = ?2";
    let crc32 = crc32fast::hash(words.as_bytes());
    assert_eq!(tables.execute(sql, rusqlite::params![id, field, crc32]).unwrap(), 1);
}

#[test]
fn a_record_of_a_newer_kurabe_in_the_store_asks_for_an_update() {
    let (directory, store) = store_with(&["abc", "abd"]);
    let tables = rusqlite::Connection::open(directory.path().join("kurabe.db")).unwrap();
    tables.execute("UPDATE runs SET header = json_set(header, '$.schema', 9) WHERE id = 'abc'", []).unwrap();
    tables
        .execute(
            "UPDATE cells SET cell = json_remove(cell, '$.label') WHERE run_id = 'abd' AND cell_index = 3",
            [],
        )
        .unwrap();
    // The newer kurabe would have written the checksums.
    seal(&tables, "abc", "header", "SELECT header FROM runs WHERE id = 'abc'");
    seal(&tables, "abd", "cells[3]", "SELECT cell FROM cells WHERE run_id = 'abd' AND cell_index = 3");
    let error = store.load("abc").unwrap_err();
    assert_eq!((error.kind(), &*error.remedy_text().unwrap().en), (ErrorKind::Store, "update kurabe"));
    let error = store.load("abd").unwrap_err();
    assert!(error.what().en.contains("`cells[3]`") && error.cause().unwrap().contains("label"), "{error}");
    assert_eq!(store.list().unwrap().len(), 2, "the list needs no cell");
}
