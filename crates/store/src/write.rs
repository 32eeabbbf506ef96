//! Recording a run: begun, appended to, closed. Every call is a durable transaction of its own.

use crate::open::Store;
use crate::{id, json, platform};
use kurabe_core::environment::DeviceHealth;
use kurabe_core::record::{Cell, FillRecord, Notice, RunHeader, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::Path;

/// The process that measures a run. Process numbers are used again; together with the start and the boot, one
/// belongs to one process only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// Start of the process, in clock ticks since the machine was started.
    pub start_ticks: u64,
    /// Id of the machine's boot.
    pub boot_id: String,
}

impl Store {
    /// Begins a run: draws its id, writes it into the header, and stores the run as running. Returns the id.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn begin_run(&self, header: &mut RunHeader, owner: &Owner) -> Result<String> {
        let mut stored = storable(header);
        let id = self.transaction(|transaction| {
            stored.id = draw_id(transaction)?;
            insert_run(transaction, &stored, RunStatus::Running)?;
            transaction.execute(
                "UPDATE runs SET owner_pid = ?2, owner_start_ticks = ?3, owner_boot_id = ?4 WHERE id = ?1",
                // The tables know signed numbers only; the bits are kept.
                params![stored.id, owner.pid, owner.start_ticks as i64, owner.boot_id],
            )?;
            Ok(stored.id.clone())
        })?;
        header.id.clone_from(&id);
        Ok(id)
    }

    /// Replaces the header of a run, once more is known of its target. The id stays.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn update_header(&self, header: &RunHeader) -> Result<()> {
        self.change_run(&header.id, |transaction| {
            transaction.execute(
                "UPDATE runs SET header = ?2 WHERE id = ?1",
                params![header.id, json::to_text(&storable(header))],
            )
        })
    }

    /// Notes the test file that the run made, so that it can be removed if the run dies; `None` once it is gone.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn set_test_file(&self, id: &str, path: Option<&Path>) -> Result<()> {
        let bytes = path.map(platform::path_to_bytes);
        self.change_run(id, |transaction| {
            transaction.execute("UPDATE runs SET test_file = ?2 WHERE id = ?1", params![id, bytes])
        })
    }

    /// Appends a remark.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn append_notice(&self, id: &str, notice: &Notice) -> Result<()> {
        self.change_run(id, |transaction| insert_notice(transaction, id, notice))
    }

    /// Notes how the test file was written.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn set_fill(&self, id: &str, fill: &FillRecord) -> Result<()> {
        self.change_run(id, |transaction| {
            transaction.execute("UPDATE runs SET fill = ?2 WHERE id = ?1", params![id, json::to_text(fill)])
        })
    }

    /// Appends a cell. When this returns, the cell is on the medium. The status of the run does not matter: what was
    /// measured is kept, even if somebody took the run for abandoned.
    ///
    /// # Errors
    /// When the store cannot be written, has no such run, or has a cell with this index.
    pub fn append_cell(&self, id: &str, cell: &Cell) -> Result<()> {
        self.change_run(id, |transaction| insert_cell(transaction, id, cell))
    }

    /// Appends a cell, or replaces the one with its index: a cell of a run in rounds grows with every round.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn put_cell(&self, id: &str, cell: &Cell) -> Result<()> {
        self.change_run(id, |transaction| {
            let before = transaction.execute(
                "DELETE FROM cells WHERE run_id = ?1 AND cell_index = ?2",
                params![id, cell.index],
            )?;
            transaction.execute(
                "UPDATE runs SET cell_count = cell_count - ?2 WHERE id = ?1",
                params![id, before as i64],
            )?;
            insert_cell(transaction, id, cell)
        })
    }

    /// Closes the run. The test file noted last stays noted.
    ///
    /// # Errors
    /// When the store cannot be written or has no such run.
    pub fn finish_run(
        &self,
        id: &str,
        status: RunStatus,
        ended_at: &str,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> Result<()> {
        self.change_run(id, |transaction| {
            close_run(transaction, id, status, Some(ended_at), error, health_after)
        })
    }

    /// A transaction that writes; it waits for its turn at its beginning, so it can never be refused at its end.
    pub(crate) fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let whole = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        whole().map_err(self.cannot_write())
    }

    /// A transaction on a run that must be there.
    pub(crate) fn change_run(
        &self,
        id: &str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<usize>,
    ) -> Result<()> {
        let there = self.transaction(|transaction| {
            let there = is_taken(transaction, id)?;
            if there {
                work(transaction)?;
            }
            Ok(there)
        })?;
        if there { Ok(()) } else { Err(no_such_run(id)) }
    }
}

/// A header without numbers that JSON has not.
fn storable(header: &RunHeader) -> RunHeader {
    let mut stored = header.clone();
    if let Some(instrument) = &mut stored.instrument
        && !instrument.clock_cost_ns.is_finite()
    {
        instrument.clock_cost_ns = 0.0;
    }
    stored
}

/// The error for a run that is not there.
pub(crate) fn no_such_run(id: &str) -> Error {
    Error::new(ErrorKind::NoSuchRun, text!("there is no run `{id}`", "`{id}` という測定はありません"))
        .remedy(text!("`kurabe list` shows all runs", "`kurabe list` で一覧を見られます"))
}

/// The word for a status in the tables.
pub(crate) fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
    }
}

pub(crate) fn draw_id(transaction: &Transaction<'_>) -> rusqlite::Result<String> {
    id::draw(
        |count| transaction.query_row("SELECT randomblob(?1)", [count as i64], |row| row.get(0)),
        |id| is_taken(transaction, id),
    )
}

pub(crate) fn is_taken(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .query_row("SELECT 1 FROM runs WHERE id = ?1", [id], |_| Ok(()))
        .optional()
        .map(|row| row.is_some())
}

/// The row of a run with the columns that the list needs. A start that is no time counts as later than all others.
pub(crate) fn insert_run(
    transaction: &Transaction<'_>,
    header: &RunHeader,
    status: RunStatus,
) -> rusqlite::Result<()> {
    let device = header.environment.devices.iter().find_map(|device| device.model.as_deref());
    transaction
        .execute(
            "INSERT INTO runs (id, started_at, started_unix_s, status, target, device, profile, header)
             VALUES (?1, ?2,
                     coalesce(unixepoch(?2, 'subsec'), (SELECT max(started_unix_s) FROM runs), 0),
                     ?3, ?4, ?5, ?6, ?7)",
            params![
                header.id,
                header.started_at,
                status_word(status),
                header.target_name(),
                device,
                header.profile_name(),
                json::to_text(header),
            ],
        )
        .map(|_| ())
}

pub(crate) fn insert_notice(
    transaction: &Transaction<'_>,
    id: &str,
    notice: &Notice,
) -> rusqlite::Result<usize> {
    transaction.execute(
        "INSERT INTO notices (run_id, notice_index, notice)
         VALUES (?1, (SELECT count(*) FROM notices WHERE run_id = ?1), ?2)",
        params![id, json::to_text(notice)],
    )
}

pub(crate) fn insert_cell(transaction: &Transaction<'_>, id: &str, cell: &Cell) -> rusqlite::Result<usize> {
    let mut cell = cell.clone();
    json::make_finite(&mut cell);
    transaction.execute(
        "INSERT INTO cells (run_id, cell_index, cell) VALUES (?1, ?2, ?3)",
        params![id, cell.index, json::to_text(&cell)],
    )?;
    transaction.execute("UPDATE runs SET cell_count = cell_count + 1 WHERE id = ?1", [id])
}

pub(crate) fn close_run(
    transaction: &Transaction<'_>,
    id: &str,
    status: RunStatus,
    ended_at: Option<&str>,
    error: Option<&Text>,
    health_after: Option<&DeviceHealth>,
) -> rusqlite::Result<usize> {
    transaction.execute(
        "UPDATE runs SET status = ?2, ended_at = ?3, error = ?4, health_after = ?5 WHERE id = ?1",
        params![id, status_word(status), ended_at, error.map(json::to_text), health_after.map(json::to_text)],
    )
}
