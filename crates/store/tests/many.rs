//! Many concurrent writers, on a new store and on an empty file.

use crate::common::{DIGESTER, owner};
use kurabe_core::record::RunStatus;
use kurabe_store::{Runs, SqliteStore, Store};
use kurabe_testkit::sample::{sample_cell, sample_header};
use std::path::Path;
use std::process::{Command, Stdio};

/// Records one short run, like a program that opens the store for it.
fn record_one(path: &Path) {
    let store = SqliteStore::open(path, DIGESTER).unwrap();
    let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
    store.put_cell(&id, &sample_cell(0)).unwrap();
    store.finish_run(&id, RunStatus::Complete, "2026-01-31T13:00:00Z", None, None).unwrap();
}

/// Not a test by itself: a process of the next test, with several threads.
#[test]
fn part_record_in_threads() {
    let Some(path) = std::env::var_os("KURABE_TEST_MANY") else { return };
    std::thread::scope(|scope| {
        for _ in 0..25 {
            scope.spawn(|| record_one(Path::new(&path)));
        }
    });
}

/// Records 200 runs concurrently, in eight processes with 25 threads each.
fn record_200(path: &Path) {
    let children: Vec<_> = (0..8)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "many::part_record_in_threads", "--nocapture"])
                .env("KURABE_TEST_MANY", path)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
    }
    let store = SqliteStore::open_existing(path, DIGESTER).unwrap().unwrap();
    let list = store.list().unwrap();
    assert_eq!(list.len(), 200);
    assert!(list.iter().all(|run| run.status == RunStatus::Complete && run.cell_count == 1));
    assert!(store.check().unwrap().damages.is_empty());
}

#[test]
fn of_200_writers_on_a_fresh_store_none_fails() {
    let directory = tempfile::tempdir().unwrap();
    record_200(&directory.path().join("kurabe.db"));
}

#[test]
fn of_200_writers_on_an_empty_file_none_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kurabe.db");
    std::fs::write(&path, b"").unwrap();
    record_200(&path);
}
