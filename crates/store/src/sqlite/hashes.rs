//! Hashes of runs, by which runs are compared that nobody has to read for it.
//!
//! The model: as a digest, a hash is of the record as it is. It is made when it is first asked for, in a transaction that reads
//! the record, and the tables themselves drop it in the transaction that changes a text of its run.

use super::digest::BATCH;
use super::open::SqliteStore;
use super::read::snapshot;
use super::schema;
use crate::store::{RunHash, Runs};
use kurabe_core::Result;
use kurabe_core::record::{RunRecord, RunStatus};
use rusqlite::{Transaction, params};
use std::collections::HashSet;

/// The hashes of the runs with these ids or identities, or of all; of those that are over and can be read.
pub(super) fn hashes(store: &SqliteStore, words: &[String]) -> Result<Vec<RunHash>> {
    let words: HashSet<&str> = words.iter().map(String::as_str).collect();
    let is_asked = |word: &str| words.is_empty() || words.contains(word);
    let (mut hashes, missing) = kept(store).map_err(store.cannot_read())?;
    hashes.retain(|hash| is_asked(&hash.id) || is_asked(&hash.identity));
    let writable = !store.is_for_reading();
    let mut made = |transaction: &Transaction<'_>, id: &str| {
        // One that is gone meanwhile, or cannot be read, is nothing that could be compared.
        let hash = store.load_in(transaction, id).and_then(|record| RunHash::of(&record)).ok()?;
        hashes.push(hash.clone());
        Some(hash)
    };
    let missing: Vec<String> = missing
        .into_iter()
        .filter(|(id, identity)| is_asked(id) || identity.as_deref().is_none_or(is_asked))
        .map(|(id, _)| id)
        .collect();
    for ids in missing.chunks(BATCH) {
        match writable {
            true => store.transaction(|transaction| {
                let mut hashes = ids.iter().filter_map(|id| made(transaction, id));
                hashes.try_for_each(|hash| keep(transaction, &hash))
            })?,
            false => {
                let snapshot = snapshot(&store.connection).map_err(store.cannot_read())?;
                ids.iter().for_each(|id| drop(made(&snapshot, id)));
            }
        }
    }
    // One whose identity was not certain before it was read.
    hashes.retain(|hash| is_asked(&hash.id) || is_asked(&hash.identity));
    Ok(hashes)
}

fn keep(transaction: &Transaction<'_>, hash: &RunHash) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO hashes (run_id, identity, sha256) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(sql)?.execute(params![hash.id, hash.identity, hash.sha256]).map(|_| ())
}

/// Runs, whole; their hashes are kept, if anything can be written.
pub(super) fn load_all(store: &SqliteStore, ids: &[String]) -> Result<Vec<Result<RunRecord>>> {
    if store.is_for_reading() {
        return Ok(ids.iter().map(|id| store.load(id)).collect());
    }
    store.transaction(|transaction| {
        let load = |id: &String| {
            let record = store.load_in(transaction, id);
            if let Ok(record) = &record
                && record.status != RunStatus::Running
            {
                // A record without a hash is hashed again when it is compared.
                RunHash::of(record).ok().map_or(Ok(()), |hash| keep(transaction, &hash))?;
            }
            Ok(record)
        };
        ids.iter().map(load).collect()
    })
}

/// Runs that have no hash: id, and identity where that is certain.
type UnhashedRuns = Vec<(String, Option<String>)>;

/// The hashes that are kept, and the runs that have none.
pub(super) fn kept(store: &SqliteStore) -> rusqlite::Result<(Vec<RunHash>, UnhashedRuns)> {
    let snapshot = snapshot(&store.connection)?;
    let mut hashes = Vec::new();
    if schema::has(&snapshot, schema::HASHES)? {
        let mut statement = snapshot.prepare("SELECT run_id, identity, sha256 FROM hashes")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            hashes.push(RunHash { id: row.get(0)?, identity: row.get(1)?, sha256: row.get(2)? });
        }
    }
    let hashed: HashSet<&str> = hashes.iter().map(|hash| hash.id.as_str()).collect();
    let identity = if schema::has(&snapshot, schema::IDENTITIES)? { "identity" } else { "NULL" };
    let identity = format!("SELECT {identity} FROM runs WHERE id = ?1");
    let mut missing = Vec::new();
    let mut statement = snapshot.prepare("SELECT id FROM runs WHERE status <> 'running'")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        if !hashed.contains(id.as_str()) {
            let identity = snapshot.prepare_cached(&identity)?.query_row([&id], |row| row.get(0))?;
            missing.push((id, identity));
        }
    }
    Ok((hashes, missing))
}
