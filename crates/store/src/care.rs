//! Caring for runs that are there: labels, removal, and runs whose process is gone.

use crate::label::check_key;
use crate::open::Store;
use crate::platform;
use crate::read::snapshot;
use crate::write::{Owner, no_such_run};
use kurabe_core::{Error, ErrorKind, Result, text};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::path::PathBuf;

/// A run that is marked running although its process is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// The run.
    pub id: String,
    /// The test file that it made and perhaps left behind.
    pub test_file: Option<PathBuf>,
}

const OWNER: &str = "owner_pid, owner_start_ticks, owner_boot_id";

impl Store {
    /// Takes a run out of the store. If it was abandoned, its test file is forgotten with it: call
    /// [`Store::abandoned`] before.
    ///
    /// # Errors
    /// When it is being measured by a process that lives, when there is no such run, or when the store cannot be
    /// written.
    pub fn remove(&self, id: &str, alive: impl Fn(&Owner) -> bool) -> Result<()> {
        enum Outcome {
            Removed,
            Missing,
            Busy(u32),
        }
        let outcome = self.transaction(|transaction| {
            if let Some(owner) = owner_of_running(transaction, id)?.filter(|owner| alive(owner)) {
                return Ok(Outcome::Busy(owner.pid));
            }
            let rows = transaction.execute("DELETE FROM runs WHERE id = ?1", [id])?;
            Ok(if rows == 0 { Outcome::Missing } else { Outcome::Removed })
        })?;
        match outcome {
            Outcome::Removed => Ok(()),
            Outcome::Missing => Err(no_such_run(id)),
            Outcome::Busy(pid) => Err(Error::new(
                ErrorKind::Refused,
                text!(
                    "the run `{id}` is being measured now (process {pid})",
                    "測定 `{id}` は実行中です(プロセス {pid})"
                ),
            )
            .remedy(text!(
                "wait for its end, or stop it with Ctrl+C where it runs",
                "終わるのを待つか、実行している端末で Ctrl+C を押して止めてください"
            ))),
        }
    }

    /// Sets a label of a run, or removes it (`None`); removing one that is not there is no error.
    ///
    /// # Errors
    /// When the key cannot be one, when there is no such run, or when the store cannot be written.
    pub fn label(&self, id: &str, key: &str, value: Option<&str>) -> Result<()> {
        check_key(key).map_err(|what| Error::new(ErrorKind::Usage, what))?;
        self.change_run(id, |transaction| match value {
            Some(value) => transaction.execute(
                "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value",
                params![id, key, value],
            ),
            None => transaction.execute("DELETE FROM labels WHERE run_id = ?1 AND key = ?2", [id, key]),
        })
    }

    /// The runs marked running whose owner is gone, in the order of their start.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn abandoned(&self, alive: impl Fn(&Owner) -> bool) -> Result<Vec<Abandoned>> {
        let read = || {
            let snapshot = snapshot(&self.connection)?;
            let mut statement = snapshot.prepare(&format!(
                "SELECT {OWNER}, id, test_file FROM runs WHERE status = 'running'
                 ORDER BY started_unix_s, rowid"
            ))?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if !owner(row)?.is_some_and(|owner| alive(&owner)) {
                    let test_file: Option<Vec<u8>> = row.get(4)?;
                    found.push(Abandoned {
                        id: row.get(3)?,
                        test_file: test_file.map(platform::path_from_bytes),
                    });
                }
            }
            Ok(found)
        };
        read().map_err(self.cannot_read())
    }

    /// Marks an abandoned run as interrupted, and forgets its test file. A run that has ended otherwise meanwhile
    /// stays as it is.
    ///
    /// # Errors
    /// When there is no such run or the store cannot be written.
    pub fn mark_interrupted(&self, id: &str, ended_at: &str) -> Result<()> {
        self.change_run(id, |transaction| {
            transaction.execute(
                "UPDATE runs SET status = 'interrupted', ended_at = ?2, test_file = NULL
                 WHERE id = ?1 AND status = 'running'",
                [id, ended_at],
            )
        })
    }
}

fn owner_of_running(connection: &Connection, id: &str) -> rusqlite::Result<Option<Owner>> {
    let sql = format!("SELECT {OWNER} FROM runs WHERE id = ?1 AND status = 'running'");
    connection.query_row(&sql, [id], owner).optional().map(Option::flatten)
}

/// The owner in the first three columns of a row.
fn owner(row: &Row<'_>) -> rusqlite::Result<Option<Owner>> {
    let (pid, start_ticks, boot_id): (Option<u32>, Option<i64>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(match (pid, start_ticks, boot_id) {
        (Some(pid), Some(ticks), Some(boot_id)) => Some(Owner { pid, start_ticks: ticks as u64, boot_id }),
        _ => None,
    })
}
