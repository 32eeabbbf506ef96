//! Reads entries of the list, complete runs and their owners.

use super::checksum::{
    ENDING, cell_field, check_sealed, joined, label_field, notice_field, repetition_field,
};
use super::schema;
use crate::{identity, json, platform};
use kurabe_core::record::{Cell, RECORD_SCHEMA, RunHeader, RunRecord, RunStatus, RunSummary};
use kurabe_core::words::Keyword;
use kurabe_core::{ErrorKind, Result, Text, made::MadeFile, mention::RM, process::ProcessIdentity, text};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use serde::{Deserialize, de::DeserializeOwned};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Parts of a header that the list needs: `[measured_at, tool, title in English, title in
/// Japanese]`.
///
/// The expression is identical to the one in the index `runs_listed`, so that SQLite uses the
/// index. For a header that is not JSON it is NULL.
const LISTED: &str = "CASE WHEN json_valid(header) THEN json_array(
        json_extract(header, '$.origin.measured_at'), json_extract(header, '$.origin.tool'),
        json_extract(header, '$.model.title.en'), json_extract(header, '$.model.title.ja')) END";

/// Fields of a record that have a separate column.
pub(super) const HEADER: &str = "header";
pub(super) const FILL: &str = "fill";

/// Columns that [`owner`] reads.
pub(super) const OWNER: &str =
    "owner_pid, owner_start_ticks, owner_boot_id, owner_pid_namespace, owner_host_id";

/// Reads a row of the list, without its labels.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let [measured_at, tool, en, ja] = listed(row.get(7)?);
    Ok(RunSummary {
        id: row.get(0)?,
        started_at: row.get(1)?,
        status: status(&bytes(row, 2)?),
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

/// Reads the owner from the first five columns of a row.
pub(super) fn owner(row: &Row<'_>) -> rusqlite::Result<Option<ProcessIdentity>> {
    let (pid, start_ticks, boot_id): (Option<u32>, Option<i64>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(match (pid, start_ticks, boot_id) {
        (Some(pid), Some(ticks), Some(boot_id)) => Some(ProcessIdentity {
            pid,
            start_ticks: ticks as u64,
            boot_id,
            pid_namespace: row.get::<_, Option<i64>>(3)?.map(|number| number as u64),
            host_id: row.get(4)?,
        }),
        _ => None,
    })
}

/// Reads a file that a run created. If its facts cannot be read, nothing is known about it and it
/// is not removed.
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

/// Parses the result of [`LISTED`].
fn listed(json: Option<String>) -> [Option<String>; 4] {
    json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
}

/// Begins a read transaction, which other processes' changes do not affect.
pub(super) fn snapshot(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
}

/// A text from the tables with its field in the record, such as `cells[2]`.
struct StoredText {
    field: String,
    bytes: Vec<u8>,
}

/// A run as stored in the tables.
pub(super) struct Texts {
    status: Vec<u8>,
    header: StoredText,
    ended_at: Option<Vec<u8>>,
    error: Option<StoredText>,
    fill: Option<StoredText>,
    health_after: Option<StoredText>,
    labels: Vec<(String, StoredText)>,
    notices: Vec<StoredText>,
    cells: Vec<(u32, StoredText)>,
    /// Repetitions of incomplete cells, with the index of the cell.
    repetitions: Vec<(u32, StoredText)>,
    /// Checksums by field; `None` if the tables have none.
    checksums: Option<BTreeMap<String, u32>>,
}

impl Texts {
    pub(super) fn read(snapshot: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Self>> {
        let run = |row: &Row<'_>| {
            let part = |column, field| -> rusqlite::Result<Option<StoredText>> {
                let bytes = row.get_ref(column)?.as_bytes_or_null()?;
                Ok(bytes.map(|bytes| StoredText { field: String::from(field), bytes: bytes.to_vec() }))
            };
            Ok(Self {
                status: bytes(row, 0)?,
                header: StoredText { field: HEADER.to_owned(), bytes: bytes(row, 1)? },
                ended_at: row.get_ref(2)?.as_bytes_or_null()?.map(<[u8]>::to_vec),
                error: part(3, "error")?,
                fill: part(4, FILL)?,
                health_after: part(5, "health_after")?,
                labels: Vec::new(),
                notices: Vec::new(),
                cells: Vec::new(),
                repetitions: Vec::new(),
                checksums: None,
            })
        };
        let sql = "SELECT status, header, ended_at, error, fill, health_after FROM runs WHERE id = ?1";
        let Some(mut texts) = snapshot.query_row(sql, [id], run).optional()? else { return Ok(None) };
        let rows = |sql: &str, field: &dyn Fn(&Row<'_>) -> rusqlite::Result<String>| {
            let part =
                |row: &Row<'_>| Ok((row.get(0)?, StoredText { field: field(row)?, bytes: bytes(row, 1)? }));
            snapshot
                .prepare(sql)?
                .query_map([id], part)?
                .collect::<rusqlite::Result<Vec<(u32, StoredText)>>>()
        };
        let notices = rows(
            "SELECT notice_index, notice FROM notices WHERE run_id = ?1 ORDER BY notice_index",
            &|row| Ok(notice_field(row.get(0)?)),
        )?;
        texts.notices = notices.into_iter().map(|(_, notice)| notice).collect();
        texts.cells =
            rows("SELECT cell_index, cell FROM cells WHERE run_id = ?1 ORDER BY cell_index", &|row| {
                Ok(cell_field(row.get(0)?))
            })?;
        if schema::has(snapshot, schema::CHECKSUMS)? {
            texts.repetitions = rows(
                "SELECT cell_index, repetition, repetition_index FROM repetitions WHERE run_id = ?1
                 ORDER BY cell_index, repetition_index",
                &|row| Ok(repetition_field(row.get(0)?, row.get(2)?)),
            )?;
            let sql = "SELECT field, crc32 FROM checksums WHERE run_id = ?1";
            let rows = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            texts.checksums =
                Some(snapshot.prepare(sql)?.query_map([id], rows)?.collect::<rusqlite::Result<_>>()?);
        }
        let label = |row: &Row<'_>| {
            let key: String = row.get(0)?;
            Ok((key.clone(), StoredText { field: label_field(&key), bytes: bytes(row, 1)? }))
        };
        texts.labels = snapshot
            .prepare("SELECT key, value FROM labels WHERE run_id = ?1")?
            .query_map([id], label)?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(texts))
    }

    /// Returns the texts that have a checksum, by field.
    pub(super) fn sealed(&self) -> Vec<(&str, Cow<'_, [u8]>)> {
        fn part(part: &StoredText) -> (&str, Cow<'_, [u8]>) {
            (&part.field, Cow::Borrowed(&part.bytes))
        }
        let bytes = |part| Option::map(part, |part: &StoredText| part.bytes.as_slice());
        let (error, health_after) = (bytes(self.error.as_ref()), bytes(self.health_after.as_ref()));
        let ending = joined(&[Some(&self.status), self.ended_at.as_deref(), error, health_after]);
        [part(&self.header), (ENDING, Cow::Owned(ending))]
            .into_iter()
            .chain(self.fill.iter().chain(&self.notices).map(part))
            .chain(self.cells.iter().chain(&self.repetitions).map(|(_, text)| part(text)))
            .chain(self.labels.iter().map(|(_, text)| part(text)))
            .collect()
    }

    pub(super) fn parse(mut self, id: &str) -> Result<RunRecord> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        if let Some(checksums) = self.checksums.take() {
            check_sealed(id, checksums, &self.sealed())?;
        }
        let Version { schema } = parse(id, &self.header)?;
        if schema > RECORD_SCHEMA {
            return Err(ErrorKind::Store.error(text!(
                "the run `{id}` was recorded by a newer version of kurabe (schema {schema}; this version \
                 supports up to {RECORD_SCHEMA})",
                "測定 `{id}` は新しい kurabe の記録です(schema {schema}。ここで扱えるのは {RECORD_SCHEMA} まで)"
            ))
            .remedy(text!("update kurabe", "kurabe を更新してください")));
        }
        let mut cells: BTreeMap<u32, Cell> = BTreeMap::new();
        // Each text is dropped when its cell is parsed.
        for (index, part) in std::mem::take(&mut self.cells) {
            cells.insert(index, parse(id, &part)?);
        }
        for (index, part) in &self.repetitions {
            let repetition = parse(id, part)?;
            cells.entry(*index).and_modify(|cell| cell.put_repetition(repetition));
        }
        let mut run = RunRecord {
            // In memory it has the current format, whatever version it was written in.
            header: RunHeader { schema: RECORD_SCHEMA, ..parse(id, &self.header)? },
            status: status(&self.status),
            ended_at: self.ended_at.as_deref().map(plain),
            error: self.error.map(|part| parse(id, &part)).transpose()?,
            labels: self.labels.into_iter().map(|(key, part)| (key, plain(&part.bytes))).collect(),
            fill: self.fill.map(|part| parse(id, &part)).transpose()?,
            notices: self.notices.iter().map(|part| parse(id, part)).collect::<Result<_>>()?,
            cells: cells.into_values().collect(),
            health_after: self.health_after.map(|part| parse(id, &part)).transpose()?,
        };
        if run.header.identity.is_empty() {
            run.header.identity = identity::of_content(&run);
        }
        Ok(run)
    }
}

fn parse<T: DeserializeOwned>(id: &str, part: &StoredText) -> Result<T> {
    json::from_slice(&part.bytes).map_err(|misfit| {
        let dot = if misfit.field.is_empty() { "" } else { "." };
        let field = format!("{}{dot}{}", part.field, misfit.field);
        ErrorKind::Store
            .error(text!(
                "the run `{id}` cannot be read at `{field}`",
                "測定 `{id}` の `{field}` を読めません"
            ))
            .remedy(text!(
                "if a newer version wrote it, update kurabe; otherwise remove the run with `{RM} {id}`",
                "新しい kurabe で測定したものなら、この kurabe を更新してください。`{RM} {id}` で取り除けます"
            ))
            .because(misfit.reason)
    })
}

/// Returns the bytes of a column.
fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(row.get_ref(column)?.as_bytes()?.to_vec())
}

/// Returns a text that is not JSON.
fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses the status in the tables.
fn status(word: &[u8]) -> RunStatus {
    // The table allows no other value.
    str::from_utf8(word).ok().and_then(RunStatus::of_word).unwrap_or(RunStatus::Interrupted)
}

/// Passes the stored texts of each of these runs to `take`, one run at a time.
pub(super) fn each_run(
    transaction: &Transaction<'_>,
    ids: &str,
    mut take: impl FnMut(&str, Texts) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let ids: Vec<String> =
        transaction.prepare(ids)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in ids {
        if let Some(texts) = Texts::read(transaction, &id)? {
            take(&id, texts)?;
        }
    }
    Ok(())
}

/// Returns the labels of all runs, by id and key.
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

/// Combines two columns to a text, if both are set.
fn title(en: Option<String>, ja: Option<String>) -> Option<Text> {
    Some(Text::of(en?, ja?))
}

#[cfg(test)]
mod tests {
    use super::super::open::SqliteStore;
    use super::*;

    fn plan(store: &SqliteStore, sql: &str) -> String {
        let mut statement = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn the_list_is_answered_from_its_index_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store =
            SqliteStore::open(&directory.path().join("kurabe.db"), crate::sqlite::open::tests::DIGESTER)
                .unwrap();
        let query_plan = plan(&store, &list_sql());
        assert!(query_plan.contains("USING COVERING INDEX runs_listed"), "{query_plan}");
        let running = plan(&store, "SELECT id FROM runs WHERE status = 'running'");
        assert!(running.contains("runs_running"), "{running}");
    }
}
