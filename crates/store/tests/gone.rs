//! A store that is removed, truncated or overwritten while it is open: the next write reports it,
//! and the record is saved elsewhere.

use crate::common::{DIGESTER, fresh_store, owner, record};
use kurabe_core::ErrorKind;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_store::{Archive, Runs, SqliteStore, Store, parse_bundle};
use kurabe_testkit::sample::{sample_cell, sample_header, sample_record};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

/// A manipulation of the store's file, and part of the resulting error.
type Accident = (fn(&Path), &'static str);

/// Returns the bytes of another store.
fn another_store() -> Vec<u8> {
    let (directory, store) = fresh_store();
    store.import(sample_record()).unwrap();
    drop(store);
    std::fs::read(directory.path().join("kurabe.db")).unwrap()
}

fn cut(path: &Path, length: u64) {
    std::fs::File::options().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// Overwrites the existing file, as `cp` does.
fn overwrite(path: &Path, bytes: &[u8]) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

const ACCIDENTS: [Accident; 8] = [
    (|path| std::fs::remove_file(path).unwrap(), "removed or renamed"),
    (|path| std::fs::rename(path, path.with_extension("old")).unwrap(), "removed or renamed"),
    (|path| std::fs::remove_dir_all(path.parent().unwrap()).unwrap(), "removed or renamed"),
    (
        |path| {
            std::fs::write(path.with_extension("new"), another_store()).unwrap();
            std::fs::rename(path.with_extension("new"), path).unwrap();
        },
        "another file",
    ),
    (|path| overwrite(path, &another_store()), "another store"),
    (|path| overwrite(path, &[0x5a; 100_000]), "cannot write"),
    (|path| cut(path, 0), "cannot write"),
    (|path| cut(path, 8192), "cannot write"),
];

#[test]
fn a_store_that_is_gone_or_cut_or_overwritten_takes_nothing_more_and_says_so() {
    for (place, (accident, says)) in ACCIDENTS.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store/kurabe.db");
        let store = SqliteStore::open(&path, DIGESTER).unwrap();
        let id = store.begin_run(&mut sample_header(), &owner()).unwrap();
        store.put_cell(&id, &sample_cell(0)).unwrap();
        accident(&path);
        let error = store.put_cell(&id, &sample_cell(1)).expect_err("it must be told");
        assert_eq!(error.kind(), ErrorKind::Store, "{place}: {error}");
        assert!(error.what().en.contains(says), "{place}: {error}");
    }
}

/// Overwrites a store unnoticed by a connection that has it open: the change counter at byte 24 of
/// the header is preserved.
fn overwrite_unnoticed(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(&[0x5a; 24], 0).unwrap();
    file.write_all_at(&vec![0x5a; path.metadata().unwrap().len() as usize - 4096], 4096).unwrap();
}

#[test]
fn a_run_is_read_back_from_the_file_and_not_from_memory() {
    let damage_of_another = |path: &Path| {
        let other = SqliteStore::open(path, DIGESTER).unwrap();
        let id = other.resolve("last").unwrap();
        other.put_cell(&id, &sample_cell(7)).unwrap();
    };
    let accidents: [fn(&Path); 5] = [
        overwrite_unnoticed,
        |path| overwrite(path, &[0x5a; 100_000]),
        |path| cut(path, 0),
        |path| std::fs::remove_file(path).unwrap(),
        damage_of_another,
    ];
    for (place, accident) in accidents.into_iter().enumerate() {
        let (directory, store) = fresh_store();
        let path = directory.path().join("kurabe.db");
        let mut run = sample_record();
        run.header.id = record(&store, &run).unwrap();
        run = RunRecord { labels: Default::default(), ..store.load(&run.header.id).unwrap() };
        store.label(&run.header.id, "changed", Some("meanwhile")).unwrap();
        assert!(store.verify(&run).unwrap().labels.contains_key("changed"), "users may label it");
        accident(&path);
        let error = store.verify(&run).expect_err("it must be noticed");
        assert_eq!(error.kind(), ErrorKind::Store, "{place}: {error}");
    }
}

#[test]
fn what_the_store_does_not_take_is_a_file_beside_it_for_its_owner_alone() {
    let (directory, store) = fresh_store();
    std::fs::remove_file(directory.path().join("kurabe.db")).unwrap();
    let mut run = sample_record();
    run.header.id = "7kq".to_owned();
    run.status = RunStatus::Failed;
    for name in ["kurabe.db.rescued-7kq.json", "kurabe.db.rescued-7kq-2.json"] {
        let path = store.rescue(std::slice::from_ref(&run)).unwrap();
        assert_eq!(path, directory.path().join(name), "none is written over");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(parse_bundle(&std::fs::read(&path).unwrap()).unwrap(), [run.clone()]);
    }
    assert!(!directory.path().join("kurabe.db").exists(), "the store is not made again");
}
