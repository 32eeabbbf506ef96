//! Final records of model servers: separate JSON texts, which do not belong to a run.

use super::checksum::joined;
use super::open::SqliteStore;
use super::schema;
use crate::json;
use kurabe_core::{Error, ErrorKind, Result, text};
use rusqlite::params;
use serde_json::Value;

/// Most servers that are stored; the oldest are removed. Each takes some ten KiB.
const MOST_SERVERS: i64 = 1000;

pub(super) fn keep(store: &SqliteStore, record: &Value) -> Result<()> {
    let text = json::to_text(record)?;
    store.transaction(|transaction| {
        let now = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";
        let kept_at: String = transaction.query_row(now, [], |row| row.get(0))?;
        transaction.execute(
            "INSERT INTO served (kept_at, record, crc32) VALUES (?1, ?2, ?3)",
            params![kept_at, text, crc32(&kept_at, &text)],
        )?;
        let oldest = transaction.last_insert_rowid() - MOST_SERVERS;
        transaction.execute("DELETE FROM served WHERE served_id <= ?1", [oldest]).map(|_| ())
    })
}

/// Returns the records with the time at which each was stored, the oldest first.
pub(super) fn all(store: &SqliteStore) -> Result<Vec<(String, Value)>> {
    if !schema::has(&store.connection, schema::SERVED).map_err(store.cannot_read())? {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<(i64, String, String, u32)>> {
        let sql = "SELECT served_id, kept_at, record, crc32 FROM served ORDER BY served_id";
        let mut statement = store.connection.prepare(sql)?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?.collect()
    };
    let rows = read().map_err(store.cannot_read())?;
    rows.into_iter()
        .map(|(id, kept_at, text, sealed)| {
            let value = serde_json::from_str(&text).ok().filter(|_| crc32(&kept_at, &text) == sealed);
            value.map(|value| (kept_at, value)).ok_or_else(|| damaged(id))
        })
        .collect()
}

fn crc32(kept_at: &str, text: &str) -> u32 {
    crc32fast::hash(&joined(&[Some(kept_at.as_bytes()), Some(text.as_bytes())]))
}

fn damaged(id: i64) -> Error {
    ErrorKind::Store.error(text!(
        "the record {id} of an emulated disk is damaged in the store: its checksum does not match",
        "公開したモデルの記録 {id} は保存先で壊れています(書いた内容とチェックサムが合いません)"
    ))
}
