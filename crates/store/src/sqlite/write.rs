//! Writes: transactions that change a run, and the rows of its parts.

use super::checksum::{Rows, cell_field, label_field, notice_field, repetition_field};
use super::open::SqliteStore;
use super::read::{FILL, HEADER};
use crate::{id, identity, json, store::no_such_run};
use kurabe_core::record::{Cell, FillRecord, Notice, Repetition, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Result, Text, environment::DeviceHealth, words::Keyword};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

impl SqliteStore {
    /// Runs a write transaction. It takes the write lock at its beginning, so it cannot be refused
    /// at its end.
    pub(super) fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        if self.is_for_reading() {
            return Err(self.cannot_be_written());
        }
        self.check_path()?;
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(self.cannot_write())?;
        self.check_salt(&transaction)?;
        let whole = || {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        let value = whole().map_err(self.cannot_write())?;
        self.hold_journal();
        Ok(value)
    }

    /// Runs a transaction on a run that must exist.
    pub(super) fn change_run(
        &self,
        id: &str,
        work: impl FnOnce(Rows<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let exists = self.transaction(|transaction| {
            let exists = is_taken(transaction, id)?;
            if exists {
                work(Rows { transaction, id })?;
            }
            Ok(exists)
        })?;
        if exists { Ok(()) } else { Err(no_such_run(id)) }
    }
}

/// Returns a header without numbers that JSON does not support.
pub(super) fn storable(header: &RunHeader) -> RunHeader {
    let mut stored = header.clone();
    if let Some(instrument) = &mut stored.instrument
        && !instrument.clock_cost_ns.is_finite()
    {
        instrument.clock_cost_ns = 0.0;
    }
    stored
}

/// Returns whether the stored run equals the one in memory. Labels are not compared, because users
/// may change them at any time.
pub(super) fn is_stored_as(record: &RunRecord, stored: &RunRecord) -> bool {
    let mut record =
        RunRecord { header: storable(&record.header), labels: stored.labels.clone(), ..record.clone() };
    record.cells.iter_mut().for_each(json::make_finite);
    record == *stored
}

pub(super) fn draw_id(transaction: &Transaction<'_>) -> rusqlite::Result<String> {
    id::draw(
        |count| transaction.query_row("SELECT randomblob(?1)", [count as i64], |row| row.get(0)),
        |id| Ok(is_taken(transaction, id)? || has_left_something(transaction, id)?),
    )
}

/// Creates the identity of a new run.
pub(super) fn draw_identity(transaction: &Transaction<'_>, started_at: &str) -> rusqlite::Result<String> {
    let random = transaction.query_row("SELECT randomblob(16)", [], |row| row.get(0))?;
    Ok(identity::begun(started_at, random))
}

pub(super) fn is_taken(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .query_row("SELECT 1 FROM runs WHERE id = ?1", [id], |_| Ok(()))
        .optional()
        .map(|row| row.is_some())
}

/// Returns whether a file created by a run with this id may still exist.
fn has_left_something(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .query_row("SELECT EXISTS (SELECT 1 FROM made_files WHERE run_id = ?1)", [id], |row| row.get(0))
}

/// Inserts the row of a run with the columns that the list needs. A start that cannot be parsed
/// sorts after all others.
pub(super) fn insert_run(
    transaction: &Transaction<'_>,
    header: &RunHeader,
    status: RunStatus,
) -> rusqlite::Result<()> {
    let text = json::to_text(header)?;
    let device = header.environment.devices.iter().find_map(|device| device.model.as_deref());
    transaction.execute(
        "INSERT INTO runs (id, started_at, started_unix_s, status, target, device, profile, header, identity)
             VALUES (?1, ?2,
                     coalesce(unixepoch(?2, 'subsec'), (SELECT max(started_unix_s) FROM runs), 0),
                     ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            header.id,
            header.started_at,
            status.word(),
            header.target_name(),
            device,
            header.profile_name(),
            text,
            header.identity,
        ],
    )?;
    let rows = Rows { transaction, id: &header.id };
    rows.seal(HEADER, text.as_bytes())?;
    rows.seal_ending()
}

pub(super) fn insert_record(transaction: &Transaction<'_>, record: &RunRecord) -> rusqlite::Result<()> {
    insert_run(transaction, &record.header, record.status)?;
    let rows = Rows { transaction, id: &record.header.id };
    for notice in &record.notices {
        rows.insert_notice(notice)?;
    }
    for cell in &record.cells {
        rows.insert_row_of_cell(cell)?;
    }
    // Counted once, because SQLite reads the whole header again with each change of the run's row.
    rows.count_cells(record.cells.len())?;
    if let Some(fill) = &record.fill {
        rows.write_fill(fill)?;
    }
    let (ended_at, error) = (record.ended_at.as_deref(), record.error.as_ref());
    rows.close(record.status, ended_at, error, record.health_after.as_ref())?;
    rows.insert_missing_labels(record)
}

impl Rows<'_> {
    /// Replaces the header of the run.
    pub(super) fn write_header(self, header: &RunHeader) -> rusqlite::Result<()> {
        let text = json::to_text(&storable(header))?;
        self.transaction.execute(
            "UPDATE runs SET header = ?2, target = ?3 WHERE id = ?1",
            params![self.id, text, header.target_name()],
        )?;
        self.seal(HEADER, text.as_bytes())
    }

    pub(super) fn write_fill(self, fill: &FillRecord) -> rusqlite::Result<()> {
        let text = json::to_text(fill)?;
        self.transaction.execute("UPDATE runs SET fill = ?2 WHERE id = ?1", params![self.id, text])?;
        self.seal(FILL, text.as_bytes())
    }

    pub(super) fn insert_notice(self, notice: &Notice) -> rusqlite::Result<()> {
        let text = json::to_text(notice)?;
        let index = self.transaction.query_row(
            "INSERT INTO notices (run_id, notice_index, notice)
             VALUES (?1, (SELECT count(*) FROM notices WHERE run_id = ?1), ?2) RETURNING notice_index",
            params![self.id, text],
            |row| row.get(0),
        )?;
        self.seal(&notice_field(index), text.as_bytes())
    }

    pub(super) fn insert_cell(self, cell: &Cell) -> rusqlite::Result<()> {
        self.insert_row_of_cell(cell)?;
        self.count_cells(1)
    }

    /// Inserts a cell without counting it in the row of the run.
    fn insert_row_of_cell(self, cell: &Cell) -> rusqlite::Result<()> {
        let mut cell = cell.clone();
        json::make_finite(&mut cell);
        let text = json::to_text(&cell)?;
        self.transaction
            .prepare_cached("INSERT INTO cells (run_id, cell_index, cell) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, cell.index, text])?;
        self.seal(&cell_field(cell.index), text.as_bytes())
    }

    /// Adds to the number of cells in the row of the run.
    fn count_cells(self, count: usize) -> rusqlite::Result<()> {
        let sql = "UPDATE runs SET cell_count = cell_count + ?2 WHERE id = ?1";
        self.transaction.execute(sql, params![self.id, count as i64]).map(|_| ())
    }

    /// Inserts cells, or replaces those with their indices. The row of the run, which contains the whole
    /// header, changes once.
    pub(super) fn replace_cells(self, cells: &[Cell]) -> rusqlite::Result<()> {
        let mut removed = 0;
        for cell in cells {
            removed += self.remove_row_of_cell(cell.index)?;
            self.insert_row_of_cell(cell)?;
        }
        self.count_cells(cells.len() - removed.min(cells.len()))
    }

    /// Removes a cell with its repetitions, which the table cascades.
    pub(super) fn remove_cell(self, cell_index: u32) -> rusqlite::Result<()> {
        let removed = self.remove_row_of_cell(cell_index)?;
        self.transaction.execute(
            "UPDATE runs SET cell_count = cell_count - ?2 WHERE id = ?1",
            params![self.id, removed as i64],
        )?;
        Ok(())
    }

    /// Removes a cell without counting it in the row of the run. Returns the number of removed rows.
    fn remove_row_of_cell(self, cell_index: u32) -> rusqlite::Result<usize> {
        let removed = self.transaction.execute(
            "DELETE FROM cells WHERE run_id = ?1 AND cell_index = ?2",
            params![self.id, cell_index],
        )?;
        self.unseal_repetitions(cell_index)?;
        Ok(removed)
    }

    /// Inserts a repetition of a cell that must exist, which the table enforces.
    pub(super) fn insert_repetition(self, cell_index: u32, repetition: &Repetition) -> rusqlite::Result<()> {
        let mut repetition = repetition.clone();
        json::make_repetition_finite(&mut repetition);
        let text = json::to_text(&repetition)?;
        self.transaction.execute(
            "INSERT OR REPLACE INTO repetitions (run_id, cell_index, repetition_index, repetition)
             VALUES (?1, ?2, ?3, ?4)",
            params![self.id, cell_index, repetition.index, text],
        )?;
        self.seal(&repetition_field(cell_index, repetition.index), text.as_bytes())
    }

    pub(super) fn close(
        self,
        status: RunStatus,
        ended_at: Option<&str>,
        error: Option<&Text>,
        health_after: Option<&DeviceHealth>,
    ) -> rusqlite::Result<()> {
        let error = error.map(json::to_text).transpose()?;
        let health_after = health_after.map(json::to_text).transpose()?;
        self.transaction.execute(
            "UPDATE runs SET status = ?2, ended_at = ?3, error = ?4, health_after = ?5 WHERE id = ?1",
            params![self.id, status.word(), ended_at, error, health_after],
        )?;
        self.seal_ending()
    }

    pub(super) fn insert_missing_labels(self, record: &RunRecord) -> rusqlite::Result<()> {
        for (key, value) in &record.labels {
            let inserted = self.transaction.execute(
                "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![self.id, key, value],
            )?;
            if inserted > 0 {
                self.seal(&label_field(key), value.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Sets a label, or removes it.
    pub(super) fn write_label(self, key: &str, value: Option<&str>) -> rusqlite::Result<()> {
        let Some(value) = value else {
            self.transaction.execute("DELETE FROM labels WHERE run_id = ?1 AND key = ?2", [self.id, key])?;
            return self.unseal(&label_field(key));
        };
        self.transaction.execute(
            "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3)
             ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value",
            params![self.id, key, value],
        )?;
        self.seal(&label_field(key), value.as_bytes())
    }
}
