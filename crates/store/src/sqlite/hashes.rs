//! Hashes of runs, by which runs are compared without reading them.
//!
//! Like a digest, a hash is always that of the current record. It is computed at the first query,
//! in a transaction that reads the record, and triggers remove it in the transaction that changes a
//! text of its run.

use super::digest::BATCH;
use super::open::SqliteStore;
use super::read::snapshot;
use super::schema;
use crate::store::{RunHash, Runs};
use kurabe_core::Result;
use kurabe_core::record::{RunRecord, RunStatus};
use rusqlite::{Transaction, params};
use std::collections::HashSet;

/// Returns the hashes of the runs with these ids or identities, or of all if the list is empty.
/// Runs in progress and unreadable ones are left out.
pub(super) fn hashes(store: &SqliteStore, words: &[String]) -> Result<Vec<RunHash>> {
    let words: HashSet<&str> = words.iter().map(String::as_str).collect();
    let is_asked = |word: &str| words.is_empty() || words.contains(word);
    let (mut hashes, missing) = kept(store).map_err(store.cannot_read())?;
    hashes.retain(|hash| is_asked(&hash.id) || is_asked(&hash.identity));
    let writable = !store.is_for_reading();
    let mut made = |transaction: &Transaction<'_>, id: &str| {
        // A run that was removed or cannot be read is not compared.
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
    // Removes those whose identity was not known before they were read.
    hashes.retain(|hash| is_asked(&hash.id) || is_asked(&hash.identity));
    Ok(hashes)
}

fn keep(transaction: &Transaction<'_>, hash: &RunHash) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO hashes (run_id, identity, sha256) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(sql)?.execute(params![hash.id, hash.identity, hash.sha256]).map(|_| ())
}

/// Loads complete runs, and stores their hashes if the store can be written.
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

/// Runs without a hash: id, and identity if it is known.
type UnhashedRuns = Vec<(String, Option<String>)>;

/// Returns the stored hashes, and the runs without one.
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
