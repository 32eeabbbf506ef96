//! Reading: a run in the list, a run whole, who owns it.

use super::open::SqliteStore;
use crate::store::{Owner, no_such_run};
use crate::{json, platform};
use kurabe_core::made::MadeFile;
use kurabe_core::record::{RECORD_SCHEMA, RunHeader, RunRecord, RunStatus, RunSummary};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// What the list tells of a header: `[measured_at, tool, title in English, title in Japanese]`. Word for word the expression
/// in the index `runs_listed`, so that SQLite takes it from there; of a header that is no JSON it is null.
const LISTED: &str = "CASE WHEN json_valid(header) THEN json_array(
        json_extract(header, '$.origin.measured_at'), json_extract(header, '$.origin.tool'),
        json_extract(header, '$.model.title.en'), json_extract(header, '$.model.title.ja')) END";

/// The columns that [`owner`] reads.
pub(super) const OWNER: &str =
    "owner_pid, owner_start_ticks, owner_boot_id, owner_pid_namespace, owner_host_id";

impl SqliteStore {
    /// A run as a transaction sees it.
    pub(super) fn load_in(&self, snapshot: &Transaction<'_>, id: &str) -> Result<RunRecord> {
        let texts = Texts::read(snapshot, id).map_err(self.cannot_read())?;
        texts.ok_or_else(|| no_such_run(id))?.parse(id)
    }
}

/// A row of the list, without its labels.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let [measured_at, tool, en, ja] = listed(row.get(7)?);
    Ok(RunSummary {
        id: row.get(0)?,
        started_at: row.get(1)?,
        status: status(row, 2)?,
        target: row.get(3)?,
        device: row.get(4)?,
        profile: row.get(5)?,
        cell_count: row.get(6)?,
        measured_at,
        imported: tool.is_some(),
        model: title(en, ja),
        labels: BTreeMap::new(),
    })
}

/// The owner in the first five columns of a row.
pub(super) fn owner(row: &Row<'_>) -> rusqlite::Result<Option<Owner>> {
    let (pid, start_ticks, boot_id): (Option<u32>, Option<i64>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(match (pid, start_ticks, boot_id) {
        (Some(pid), Some(ticks), Some(boot_id)) => Some(Owner {
            pid,
            start_ticks: ticks as u64,
            boot_id,
            pid_namespace: row.get::<_, Option<i64>>(3)?.map(|number| number as u64),
            host_id: row.get(4)?,
        }),
        _ => None,
    })
}

/// Something that a run made. Of facts that cannot be read nothing is known, so that it is left where it is.
pub(super) fn made_file(path: Vec<u8>, facts: &str) -> MadeFile {
    let facts: MadeFile = serde_json::from_str(facts).unwrap_or_default();
    MadeFile { path: platform::path_from_bytes(path), ..facts }
}

pub(super) fn list_sql() -> String {
    format!(
        "SELECT id, started_at, status, target, device, profile, cell_count, {LISTED}
         FROM runs ORDER BY started_unix_s, rowid"
    )
}

/// What [`LISTED`] gave.
fn listed(json: Option<String>) -> [Option<String>; 4] {
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}

/// A view of the store that stays the same while others write.
pub(super) fn snapshot(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
}

/// A run as the tables have it.
struct Texts {
    status: RunStatus,
    header: String,
    ended_at: Option<String>,
    error: Option<String>,
    fill: Option<String>,
    health_after: Option<String>,
    labels: BTreeMap<String, String>,
    notices: Vec<String>,
    cells: Vec<String>,
}

impl Texts {
    fn read(snapshot: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Self>> {
        let column = |sql: &str| -> rusqlite::Result<Vec<String>> {
            snapshot.prepare(sql)?.query_map([id], |row| row.get(0))?.collect()
        };
        let run = |row: &Row<'_>| {
            Ok(Self {
                status: status(row, 0)?,
                header: row.get(1)?,
                ended_at: row.get(2)?,
                error: row.get(3)?,
                fill: row.get(4)?,
                health_after: row.get(5)?,
                labels: BTreeMap::new(),
                notices: Vec::new(),
                cells: Vec::new(),
            })
        };
        let sql = "SELECT status, header, ended_at, error, fill, health_after FROM runs WHERE id = ?1";
        let Some(mut texts) = snapshot.query_row(sql, [id], run).optional()? else { return Ok(None) };
        texts.notices = column("SELECT notice FROM notices WHERE run_id = ?1 ORDER BY notice_index")?;
        texts.cells = column("SELECT cell FROM cells WHERE run_id = ?1 ORDER BY cell_index")?;
        texts.labels = snapshot
            .prepare("SELECT key, value FROM labels WHERE run_id = ?1")?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(texts))
    }

    fn parse(self, id: &str) -> Result<RunRecord> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let Version { schema } = parse(id, "header", &self.header)?;
        if schema > RECORD_SCHEMA {
            return Err(Error::new(
                ErrorKind::Store,
                text!(
                    "the run `{id}` was recorded by a newer kurabe (schema {schema}, known here up to {RECORD_SCHEMA})",
                    "測定 `{id}` は新しい kurabe の記録です(schema {schema}。ここで扱えるのは {RECORD_SCHEMA} まで)"
                ),
            )
            .remedy(text!("update kurabe", "kurabe を更新してください")));
        }
        Ok(RunRecord {
            // In memory it has the form of now, whatever it was written in.
            header: RunHeader { schema: RECORD_SCHEMA, ..parse(id, "header", &self.header)? },
            status: self.status,
            ended_at: self.ended_at,
            error: self.error.map(|text| parse(id, "error", &text)).transpose()?,
            labels: self.labels,
            fill: self.fill.map(|text| parse(id, "fill", &text)).transpose()?,
            notices: parse_all(id, "notices", &self.notices)?,
            cells: parse_all(id, "cells", &self.cells)?,
            health_after: self.health_after.map(|text| parse(id, "health_after", &text)).transpose()?,
        })
    }
}

fn parse_all<T: DeserializeOwned>(id: &str, part: &str, rows: &[String]) -> Result<Vec<T>> {
    rows.iter().enumerate().map(|(index, row)| parse(id, &format!("{part}[{index}]"), row)).collect()
}

fn parse<T: DeserializeOwned>(id: &str, part: &str, words: &str) -> Result<T> {
    json::from_slice(words.as_bytes()).map_err(|misfit| {
        let dot = if misfit.field.is_empty() { "" } else { "." };
        let field = format!("{part}{dot}{}", misfit.field);
        Error::new(
            ErrorKind::Store,
            text!("the run `{id}` cannot be read at `{field}`", "測定 `{id}` の `{field}` を読めません"),
        )
        .remedy(text!(
            "if a newer kurabe wrote it, update this one; `kurabe remove {id}` takes the run out of the store",
            "新しい kurabe で測定したものなら、この kurabe を更新してください。`kurabe remove {id}` で取り除けます"
        ))
        .because(misfit.reason)
    })
}

/// The status in a column.
fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<RunStatus> {
    let word: String = row.get(column)?;
    Ok(match word.as_str() {
        "running" => RunStatus::Running,
        "complete" => RunStatus::Complete,
        "failed" => RunStatus::Failed,
        // The table allows no other word.
        _ => RunStatus::Interrupted,
    })
}

/// The labels of all runs, by id and key.
pub(super) fn all_labels(
    snapshot: &Transaction<'_>,
) -> rusqlite::Result<BTreeMap<String, BTreeMap<String, String>>> {
    let mut labels: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut statement = snapshot.prepare("SELECT run_id, key, value FROM labels")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        labels.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
    }
    Ok(labels)
}

/// A text of two columns, if both are there.
fn title(en: Option<String>, ja: Option<String>) -> Option<Text> {
    Some(Text { en: en?, ja: ja? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(store: &SqliteStore, sql: &str) -> String {
        let mut statement = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_list_is_answered_from_its_index_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("kurabe.db")).unwrap();
        let query_plan = plan(&store, &list_sql());
        assert!(query_plan.contains("USING COVERING INDEX runs_listed"), "{query_plan}");
        let running = plan(&store, "SELECT id FROM runs WHERE status = 'running'");
        assert!(running.contains("runs_running"), "{running}");
    }
}
