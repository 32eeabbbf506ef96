//! Files of every version that was ever written stay readable.
//!
//! To write the fixtures of a new version (never over those of an old one):
//! `KURABE_WRITE_FIXTURES=1 cargo test -p kurabe-store --test old_files`

mod common;

use common::{record, sample_record};
use kurabe_core::record::RunStatus;
use kurabe_store::{Store, export, parse_export};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn write_fixtures_when_asked() {
    if std::env::var_os("KURABE_WRITE_FIXTURES").is_none() {
        return;
    }
    let (database, exported) = (fixture("store-v1.db"), fixture("export-v1.json"));
    assert!(!database.exists() && !exported.exists(), "fixtures of a released version are not written again");
    let store = Store::open(&database).unwrap();
    let id = record(&store, &sample_record()).unwrap();
    std::fs::write(exported, export(&store.load(&id).unwrap())).unwrap();
}

#[test]
fn a_store_of_version_1_shows_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::copy(fixture("store-v1.db"), &path).unwrap();
    let store = Store::open(&path).unwrap();
    let list = store.list().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].cell_count, list[0].status), (5, RunStatus::Failed));
    let run = store.load(&store.resolve("last").unwrap()).unwrap();
    let exported = parse_export(&std::fs::read(fixture("export-v1.json")).unwrap()).unwrap();
    assert_eq!(run, exported);
    assert_eq!(store.import(exported).unwrap(), run.header.id, "it is the same run");
}

#[test]
fn an_export_of_version_1_shows_its_figures() {
    let run = parse_export(&std::fs::read(fixture("export-v1.json")).unwrap()).unwrap();
    let repetition = &run.cells[0].repetitions[1];
    assert_eq!(run.header.environment.devices[0].model.as_deref(), Some("比べ SSD 1"));
    assert_eq!(repetition.seed, u64::MAX - 1);
    assert_eq!(repetition.generator_share, 0.1 + 0.2);
    assert_eq!(repetition.read.latency.buckets, [(200, 1), (256, 2), (1024, 4), (65_536, 1)]);
    assert_eq!(run.error.unwrap().ja, "入出力エラー");
}
