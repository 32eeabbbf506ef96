//! Stores for the tests, and runs recorded in them.

mod digesting;

#[cfg(feature = "postgres")]
pub use digesting::digests_made;
pub use digesting::{DIGESTER, ask, assert_true, digest, spelled};

use kurabe_core::Error;
use kurabe_core::process::ProcessIdentity;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_store::{SqliteStore, Store};
use tempfile::TempDir;

/// Creates a store for one test, in a temporary directory that is removed with it.
pub fn fresh_store() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&directory.path().join("kurabe.db"), DIGESTER).unwrap();
    (directory, store)
}

pub fn owner() -> ProcessIdentity {
    ProcessIdentity {
        pid: 4242,
        start_ticks: u64::MAX - 7,
        boot_id: "5e1c2f0a-boot".to_owned(),
        pid_namespace: Some(u64::MAX - 9),
        host_id: Some("a machine".to_owned()),
    }
}

/// Records a run call by call, as the program does during a measurement, and returns its id.
pub fn record(store: &dyn Store, run: &RunRecord) -> Result<String, Error> {
    let mut header = run.header.clone();
    let id = store.begin_run(&mut header, &owner())?;
    assert_eq!(header.id, id);
    for (key, value) in &run.labels {
        store.label(&id, key, Some(value))?;
    }
    if let Some(fill) = &run.fill {
        store.set_fill(&id, fill)?;
    }
    for notice in &run.notices {
        store.append_notice(&id, notice)?;
    }
    for cell in &run.cells {
        store.put_cell(&id, cell)?;
    }
    if run.status != RunStatus::Running {
        let ended_at = run.ended_at.as_deref().unwrap_or_default();
        store.finish_run(&id, run.status, ended_at, run.error.as_ref(), run.health_after.as_ref())?;
    }
    Ok(id)
}
