//! Exchange of runs between stores: runs that both have are not read.

use kurabe_compare::DIGESTER;
use kurabe_core::Result;
use kurabe_core::digest::Digests;
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_lab::{Exchanged, exchange};
use kurabe_store::{Archive, RunHash, Runs, SqliteStore, Store};
use kurabe_testkit::sample::sample_record;
use std::cell::RefCell;

/// A store that records which runs are read.
struct Watched(SqliteStore, RefCell<Vec<String>>);

impl Runs for Watched {
    fn salt(&self) -> Result<Vec<u8>> {
        self.0.salt()
    }

    fn identified(&self, identity: &str) -> Result<Option<String>> {
        self.0.identified(identity)
    }

    fn list(&self) -> Result<Vec<RunSummary>> {
        self.0.list()
    }

    fn ids(&self, prefix: &str) -> Result<Vec<String>> {
        self.0.ids(prefix)
    }

    fn newest(&self) -> Result<Option<String>> {
        self.0.newest()
    }

    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        self.0.hashes(words)
    }

    fn load(&self, id: &str) -> Result<RunRecord> {
        self.1.borrow_mut().push(id.to_owned());
        self.0.load(id)
    }

    fn digests(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        self.0.digests(progress)
    }
}

#[test]
fn what_both_have_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = |name| SqliteStore::open(&folder.path().join(name), DIGESTER).unwrap();
    let (from, to) = (Watched(store("from.db"), RefCell::default()), store("to.db"));
    for number in 0..100 {
        let mut run = sample_record();
        run.header.id = format!("b{number:02}");
        run.header.identity = format!("0190a1b2-c3d4-7e5f-8000-{number:012x}");
        from.0.import(run).unwrap();
    }
    let bring = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let Exchanged { brought, present, outcome, .. } = exchange(&from, &to, ids, &mut |_, _| {}).unwrap();
        outcome.unwrap();
        (brought, present, from.1.take().len())
    };
    assert_eq!(bring(&["b07", "b08"]), (2, 0, 2));
    assert_eq!(bring(&[]), (98, 2, 98));
    assert_eq!(bring(&[]), (0, 100, 0));
    assert_eq!(bring(&["b07"]), (0, 1, 0));
    from.0.label("b07", "shelf", Some("2")).unwrap();
    assert_eq!(bring(&[]), (0, 100, 1), "only the one that differs");
    assert_eq!(to.load("b07").unwrap().labels["shelf"], "2");
    assert_eq!(bring(&[]), (0, 100, 0));
    assert_eq!(to.digests(&mut |_, _| {}).unwrap().runs.len(), 100);
}
