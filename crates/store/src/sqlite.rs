//! The store in one SQLite file.
//!
//! Every change is a separate durable transaction that takes the write lock at its beginning, so it
//! cannot be refused at its end.

mod checksum;
mod connection;
mod copied;
pub(crate) mod digest;
mod error;
mod hashes;
mod open;
pub(crate) mod read;
mod schema;
mod served;
mod waiting;
mod whole;
pub(crate) mod write;

pub use open::SqliteStore;
pub use waiting::{abandon_waits, abandonable, tell_waits};

use crate::export::as_read_back;
use crate::store::{Archive, RunHash, Runs, Store, StoreCheck, being_measured, no_such_run, supersedes};
use crate::{json, label::check_label_key, platform, rescue};
use checksum::Rows;
use digest::{BATCH, keep};
use kurabe_core::digest::Digests;
use kurabe_core::record::{
    Cell, FillRecord, Notice, Repetition, RunHeader, RunRecord, RunStatus, RunSummary,
};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_core::{environment::DeviceHealth, made::MadeFile, process::ProcessIdentity};
use open::read_salt;
use read::{OWNER, Texts, all_labels, list_sql, made_file, owner, snapshot, summary};
use rusqlite::{OptionalExtension, Params, Transaction, params};
use serde_json::Value;
use std::path::PathBuf;
use write::{draw_id, draw_identity, insert_record, insert_run, is_stored_as, is_taken, storable};

impl Runs for SqliteStore {
    fn salt(&self) -> Result<Vec<u8>> {
        read_salt(&self.connection).map_err(self.cannot_read())
    }

    fn identified(&self, identity: &str) -> Result<Option<String>> {
        let read = || self.identified_in(&snapshot(&self.connection)?, identity);
        Ok(read().map_err(self.cannot_read())?.map(|run| run.header.id))
    }

    fn list(&self) -> Result<Vec<RunSummary>> {
        let read = || {
            let snapshot = snapshot(&self.connection)?;
            let mut labels = all_labels(&snapshot)?;
            let mut statement = snapshot.prepare(&list_sql())?;
            statement
                .query_map([], |row| {
                    let run = summary(row)?;
                    Ok(RunSummary { labels: labels.remove(&run.id).unwrap_or_default(), ..run })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(self.cannot_read())
    }

    fn ids(&self, prefix: &str) -> Result<Vec<String>> {
        // Ids consist of lower-case letters and digits, so those with a prefix lie between the
        // prefix and the prefix followed by `{`.
        self.column(
            "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || '{' AND substr(id, 1, length(?1)) = ?1
             ORDER BY started_unix_s, rowid",
            [prefix],
        )
    }

    fn newest(&self) -> Result<Option<String>> {
        let ids = self.column("SELECT id FROM runs ORDER BY started_unix_s DESC, rowid DESC LIMIT 1", [])?;
        Ok(ids.into_iter().next())
    }

    fn load(&self, id: &str) -> Result<RunRecord> {
        let snapshot = snapshot(&self.connection).map_err(self.cannot_read())?;
        self.load_in(&snapshot, id)
    }

    fn load_all(&self, ids: &[String]) -> Result<Vec<Result<RunRecord>>> {
        hashes::load_all(self, ids)
    }

    fn kept_hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        let (mut hashes, _) = hashes::kept(self).map_err(self.cannot_read())?;
        hashes.retain(|hash| hash.is_meant(words));
        Ok(hashes)
    }

    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        hashes::hashes(self, words)
    }

    fn digests(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        let kept = schema::has(&self.connection, schema::DIGESTS).map_err(self.cannot_read())?;
        let writable = kept && !self.is_for_reading();
        let mut digests = if kept { self.kept_digests()? } else { Digests::default() };
        let missing = self.undigested(&digests)?;
        if missing.is_empty() {
            return Ok(digests);
        }
        if writable {
            for (batch, ids) in missing.chunks(BATCH).enumerate() {
                progress(batch * BATCH, missing.len());
                self.transaction(|transaction| {
                    for id in ids {
                        // A run that was removed or cannot be read is still undigested below.
                        if let Ok(record) = self.load_in(transaction, id) {
                            keep(transaction, id, self.digester, &record)?;
                        }
                    }
                    Ok(())
                })?;
            }
            digests = self.kept_digests()?;
        }
        let rest = self.undigested(&digests)?;
        digest::complete(&mut digests, &rest, |done, id| {
            let record = self.load(id)?;
            if !writable {
                progress(done, rest.len());
            }
            Ok((self.digester.digest)(&record))
        });
        Ok(digests)
    }
}

impl Archive for SqliteStore {
    fn import(&self, mut record: RunRecord) -> Result<String> {
        if record.header.id.is_empty() {
            record.header.id = self.transaction(draw_id)?;
        }
        // The conversion to the file format and back checks the run, ends it and removes NaN.
        let mut record = as_read_back(record)?;
        self.transaction(|transaction| {
            if let Some(stored) = self.identified_in(transaction, &record.header.identity)? {
                let id = stored.header.id.clone();
                match supersedes(&record, &stored) {
                    Ok(false) => Rows { transaction, id: &id }.insert_missing_labels(&record)?,
                    Ok(true) => {
                        transaction.execute("DELETE FROM runs WHERE id = ?1", [&id])?;
                        record.header.id.clone_from(&id);
                        record.labels.extend(stored.labels);
                        insert_record(transaction, &record)?;
                    }
                    Err(error) => return Ok(Err(error)),
                }
                return Ok(Ok(id));
            }
            if is_taken(transaction, &record.header.id)? {
                record.header.id = draw_id(transaction)?;
            }
            insert_record(transaction, &record)?;
            Ok(Ok(record.header.id))
        })?
    }

    fn keep_digest(&self, id: &str) -> Result<()> {
        self.transaction(|transaction| match self.load_in(transaction, id) {
            Ok(record) => keep(transaction, id, self.digester, &record).map(Ok),
            Err(error) => Ok(Err(error)),
        })?
    }
}

impl Store for SqliteStore {
    fn begin_run(&self, header: &mut RunHeader, owner: &ProcessIdentity) -> Result<String> {
        let mut stored = storable(header);
        let begin = |transaction: &Transaction<'_>| {
            stored.id = draw_id(transaction)?;
            stored.identity = draw_identity(transaction, &stored.started_at)?;
            insert_run(transaction, &stored, RunStatus::Running)?;
            transaction.execute(
                "UPDATE runs SET owner_pid = ?2, owner_start_ticks = ?3, owner_boot_id = ?4,
                     owner_pid_namespace = ?5, owner_host_id = ?6 WHERE id = ?1",
                // The tables have signed numbers only; the bits are preserved.
                params![
                    stored.id,
                    owner.pid,
                    owner.start_ticks as i64,
                    owner.boot_id,
                    owner.pid_namespace.map(|number| number as i64),
                    owner.host_id
                ],
            )?;
            Ok((stored.id, stored.identity))
        };
        let drawn = abandonable(|| self.transaction(begin))?;
        (header.id, header.identity) = drawn;
        Ok(header.id.clone())
    }

    fn update_header(&self, header: &RunHeader) -> Result<()> {
        self.change_run(&header.id, |rows| rows.write_header(header))
    }

    fn note_made_file(&self, id: &str, file: Option<&MadeFile>) -> Result<()> {
        self.transaction(|transaction| match file {
            Some(file) => transaction.execute(
                "INSERT INTO made_files (run_id, path, facts) VALUES (?1, ?2, ?3)
                 ON CONFLICT (run_id) DO UPDATE SET path = excluded.path, facts = excluded.facts",
                params![id, platform::path_to_bytes(&file.path), json::to_text(file)?],
            ),
            None => transaction.execute("DELETE FROM made_files WHERE run_id = ?1", [id]),
        })
        .map(|_| ())
    }

    fn append_notice(&self, id: &str, notice: &Notice) -> Result<()> {
        self.change_run(id, |rows| rows.insert_notice(notice))
    }

    fn set_fill(&self, id: &str, fill: &FillRecord) -> Result<()> {
        self.change_run(id, |rows| rows.write_fill(fill))
    }

    fn put_cell(&self, id: &str, cell: &Cell) -> Result<()> {
        self.change_run(id, |rows| {
            rows.remove_cell(cell.index)?;
            rows.insert_cell(cell)
        })
    }

    fn put_cells(&self, id: &str, cells: &[Cell]) -> Result<()> {
        self.change_run(id, |rows| rows.replace_cells(cells))
    }

    fn put_repetition(&self, id: &str, cell_index: u32, repetition: &Repetition) -> Result<()> {
        self.change_run(id, |rows| rows.insert_repetition(cell_index, repetition))
    }

    fn finish_run(
        &self,
        id: &str,
        status: RunStatus,
        ended_at: &str,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> Result<()> {
        self.change_run(id, |rows| rows.close(status, Some(ended_at), error, health_after))
    }

    fn label(&self, id: &str, key: &str, value: Option<&str>) -> Result<()> {
        check_label_key(key)?;
        self.change_run(id, |rows| rows.write_label(key, value))
    }

    fn remove(&self, id: &str, alive: &dyn Fn(&ProcessIdentity) -> bool) -> Result<()> {
        let (removed, owner) = self.transaction(|transaction| {
            let sql = format!("SELECT {OWNER} FROM runs WHERE id = ?1 AND status = 'running'");
            let owner = transaction.query_row(&sql, [id], owner).optional()?.flatten();
            match owner.filter(|owner| alive(owner)) {
                Some(owner) => Ok((0, Some(owner))),
                None => Ok((transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?, None)),
            }
        })?;
        match owner {
            Some(owner) => Err(being_measured(id, &owner)),
            None if removed == 0 => Err(no_such_run(id)),
            None => Ok(()),
        }
    }

    fn running(&self) -> Result<Vec<(String, Option<ProcessIdentity>)>> {
        let read = || {
            if !schema::has(&self.connection, schema::MADE_FILES)? {
                return Ok(Vec::new());
            }
            self.connection
                .prepare(&format!(
                    "SELECT {OWNER}, id FROM runs WHERE status = 'running' ORDER BY started_unix_s, rowid"
                ))?
                .query_map([], |row| Ok((row.get(5)?, owner(row)?)))?
                .collect()
        };
        read().map_err(self.cannot_read())
    }

    fn made_files(&self) -> Result<Vec<(String, MadeFile)>> {
        let read = || {
            if !schema::has(&self.connection, schema::MADE_FILES)? {
                return Ok(Vec::new());
            }
            self.connection
                .prepare("SELECT run_id, path, facts FROM made_files ORDER BY run_id")?
                .query_map([], |row| Ok((row.get(0)?, made_file(row.get(1)?, &row.get::<_, String>(2)?))))?
                .collect()
        };
        read().map_err(self.cannot_read())
    }

    fn verify(&self, record: &RunRecord) -> Result<RunRecord> {
        let stored = self.load_anew(&record.header.id)?;
        if is_stored_as(record, &stored) {
            Ok(stored)
        } else {
            Err(self.not_what_was_written(&record.header.id))
        }
    }

    fn is_read_only(&self) -> bool {
        self.is_for_reading()
    }

    fn user(&self) -> Option<u32> {
        self.file_user()
    }

    fn mark_interrupted(&self, id: &str, ended_at: &str) -> Result<()> {
        self.change_run(id, |rows| {
            let ended = rows.transaction.execute(
                "UPDATE runs SET status = 'interrupted', ended_at = ?2 WHERE id = ?1 AND status = 'running'",
                [id, ended_at],
            )?;
            // A run that had ended keeps its checksum, so that damage is still detected.
            if ended > 0 { rows.seal_ending() } else { Ok(()) }
        })
    }

    fn rescue(&self, records: &[RunRecord]) -> Result<PathBuf> {
        rescue::write(&self.path, records, |name| std::env::var_os(name))
    }

    fn keep_served(&self, record: &Value) -> Result<()> {
        served::keep(self, record)
    }

    fn served(&self) -> Result<Vec<(String, Value)>> {
        served::all(self)
    }

    fn check(&self) -> Result<StoreCheck> {
        whole::check(self)
    }
}

impl SqliteStore {
    /// Loads a run in a transaction.
    fn load_in(&self, snapshot: &Transaction<'_>, id: &str) -> Result<RunRecord> {
        let texts = Texts::read(snapshot, id).map_err(self.cannot_read_run(id))?;
        texts.ok_or_else(|| no_such_run(id))?.parse(id)
    }

    fn not_what_was_written(&self, id: &str) -> Error {
        let path = shown::path(&self.path);
        ErrorKind::Store.error(text!(
            "the run `{id}` in the store {path} differs from the data that was written: another program \
             changed the file",
            "保存先 {path} の測定 `{id}` は書き込んだ内容と違います。ほかのプログラムがファイルを書き換えました"
        ))
    }

    /// Returns the first column of every row of a query.
    fn column(&self, sql: &str, parameters: impl Params) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<_> {
            self.connection.prepare(sql)?.query_map(parameters, |row| row.get(0))?.collect()
        };
        read().map_err(self.cannot_read())
    }

    /// Returns the run with this identity. A run that cannot be read has none.
    fn identified_in(
        &self,
        snapshot: &Transaction<'_>,
        identity: &str,
    ) -> rusqlite::Result<Option<RunRecord>> {
        let candidates = match schema::has(snapshot, schema::IDENTITIES)? {
            true => "SELECT id FROM runs WHERE identity = ?1 OR identity IS NULL",
            false => "SELECT id FROM runs WHERE ?1 = ?1",
        };
        let ids: Vec<String> = snapshot
            .prepare(candidates)?
            .query_map([identity], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut runs = ids.iter().filter_map(|id| self.load_in(snapshot, id).ok());
        Ok(runs.find(|run| run.header.identity == identity))
    }
}
