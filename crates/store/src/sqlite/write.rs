//! Writing: a transaction that changes a run, and the rows of its parts.

use super::checksum::{
    cell_field, label_field, notice_field, repetition_field, seal, seal_ending, unseal, unseal_repetitions,
};
use super::open::SqliteStore;
use super::read::{FILL, HEADER};
use crate::store::no_such_run;
use crate::{id, json};
use kurabe_core::environment::DeviceHealth;
use kurabe_core::record::{Cell, FillRecord, Notice, Repetition, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Result, Text};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

impl SqliteStore {
    /// A transaction that writes; it waits for its turn at its beginning, so it can never be refused at its end.
    pub(super) fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
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

    /// A transaction on a run that must be there.
    pub(super) fn change_run(
        &self,
        id: &str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let exists = self.transaction(|transaction| {
            let exists = is_taken(transaction, id)?;
            if exists {
                work(transaction)?;
            }
            Ok(exists)
        })?;
        if exists { Ok(()) } else { Err(no_such_run(id)) }
    }
}

/// A header without numbers that JSON has not.
pub(super) fn storable(header: &RunHeader) -> RunHeader {
    let mut stored = header.clone();
    if let Some(instrument) = &mut stored.instrument
        && !instrument.clock_cost_ns.is_finite()
    {
        instrument.clock_cost_ns = 0.0;
    }
    stored
}

/// The word for a status in the tables.
fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
    }
}

pub(super) fn draw_id(transaction: &Transaction<'_>) -> rusqlite::Result<String> {
    id::draw(
        |count| transaction.query_row("SELECT randomblob(?1)", [count as i64], |row| row.get(0)),
        |id| Ok(is_taken(transaction, id)? || has_left_something(transaction, id)?),
    )
}

pub(super) fn is_taken(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .query_row("SELECT 1 FROM runs WHERE id = ?1", [id], |_| Ok(()))
        .optional()
        .map(|row| row.is_some())
}

/// Whether something that a run with this id made may still be somewhere.
fn has_left_something(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .query_row("SELECT EXISTS (SELECT 1 FROM made_files WHERE run_id = ?1)", [id], |row| row.get(0))
}

/// The row of a run with the columns that the list needs. A start that is no time counts as later than all others.
pub(super) fn insert_run(
    transaction: &Transaction<'_>,
    header: &RunHeader,
    status: RunStatus,
) -> rusqlite::Result<()> {
    let words = json::to_text(header);
    let device = header.environment.devices.iter().find_map(|device| device.model.as_deref());
    transaction.execute(
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
            words,
        ],
    )?;
    seal(transaction, &header.id, HEADER, words.as_bytes())?;
    seal_ending(transaction, &header.id)
}

/// Replaces the header of a run.
pub(super) fn write_header(transaction: &Transaction<'_>, header: &RunHeader) -> rusqlite::Result<()> {
    let words = json::to_text(&storable(header));
    transaction.execute(
        "UPDATE runs SET header = ?2, target = ?3 WHERE id = ?1",
        params![header.id, words, header.target_name()],
    )?;
    seal(transaction, &header.id, HEADER, words.as_bytes())
}

pub(super) fn write_fill(transaction: &Transaction<'_>, id: &str, fill: &FillRecord) -> rusqlite::Result<()> {
    let words = json::to_text(fill);
    transaction.execute("UPDATE runs SET fill = ?2 WHERE id = ?1", params![id, words])?;
    seal(transaction, id, FILL, words.as_bytes())
}

pub(super) fn insert_notice(
    transaction: &Transaction<'_>,
    id: &str,
    notice: &Notice,
) -> rusqlite::Result<()> {
    let words = json::to_text(notice);
    let index = transaction.query_row(
        "INSERT INTO notices (run_id, notice_index, notice)
         VALUES (?1, (SELECT count(*) FROM notices WHERE run_id = ?1), ?2) RETURNING notice_index",
        params![id, words],
        |row| row.get(0),
    )?;
    seal(transaction, id, &notice_field(index), words.as_bytes())
}

pub(super) fn insert_cell(transaction: &Transaction<'_>, id: &str, cell: &Cell) -> rusqlite::Result<()> {
    let mut cell = cell.clone();
    json::make_finite(&mut cell);
    let words = json::to_text(&cell);
    transaction.execute(
        "INSERT INTO cells (run_id, cell_index, cell) VALUES (?1, ?2, ?3)",
        params![id, cell.index, words],
    )?;
    transaction.execute("UPDATE runs SET cell_count = cell_count + 1 WHERE id = ?1", [id])?;
    seal(transaction, id, &cell_field(cell.index), words.as_bytes())
}

/// Takes a cell out, and its repetitions with it (the table sees to that).
pub(super) fn remove_cell(transaction: &Transaction<'_>, id: &str, cell_index: u32) -> rusqlite::Result<()> {
    let removed = transaction
        .execute("DELETE FROM cells WHERE run_id = ?1 AND cell_index = ?2", params![id, cell_index])?;
    transaction
        .execute("UPDATE runs SET cell_count = cell_count - ?2 WHERE id = ?1", params![id, removed as i64])?;
    unseal_repetitions(transaction, id, cell_index)
}

/// The cell must be there: the table asks for it.
pub(super) fn insert_repetition(
    transaction: &Transaction<'_>,
    id: &str,
    cell_index: u32,
    repetition: &Repetition,
) -> rusqlite::Result<()> {
    let mut repetition = repetition.clone();
    json::make_repetition_finite(&mut repetition);
    let words = json::to_text(&repetition);
    transaction.execute(
        "INSERT OR REPLACE INTO repetitions (run_id, cell_index, repetition_index, repetition)
         VALUES (?1, ?2, ?3, ?4)",
        params![id, cell_index, repetition.index, words],
    )?;
    seal(transaction, id, &repetition_field(cell_index, repetition.index), words.as_bytes())
}

pub(super) fn close_run(
    transaction: &Transaction<'_>,
    id: &str,
    status: RunStatus,
    ended_at: Option<&str>,
    error: Option<&Text>,
    health_after: Option<&DeviceHealth>,
) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE runs SET status = ?2, ended_at = ?3, error = ?4, health_after = ?5 WHERE id = ?1",
        params![id, status_word(status), ended_at, error.map(json::to_text), health_after.map(json::to_text)],
    )?;
    seal_ending(transaction, id)
}

pub(super) fn insert_record(transaction: &Transaction<'_>, record: &RunRecord) -> rusqlite::Result<()> {
    let id = &record.header.id;
    insert_run(transaction, &record.header, record.status)?;
    for notice in &record.notices {
        insert_notice(transaction, id, notice)?;
    }
    for cell in &record.cells {
        insert_cell(transaction, id, cell)?;
    }
    if let Some(fill) = &record.fill {
        write_fill(transaction, id, fill)?;
    }
    let (ended_at, error) = (record.ended_at.as_deref(), record.error.as_ref());
    close_run(transaction, id, record.status, ended_at, error, record.health_after.as_ref())?;
    insert_missing_labels(transaction, id, record)
}

pub(super) fn insert_missing_labels(
    transaction: &Transaction<'_>,
    id: &str,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    for (key, value) in &record.labels {
        let inserted = transaction.execute(
            "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![id, key, value],
        )?;
        if inserted > 0 {
            seal(transaction, id, &label_field(key), value.as_bytes())?;
        }
    }
    Ok(())
}

/// Sets a label, or removes it.
pub(super) fn write_label(
    transaction: &Transaction<'_>,
    id: &str,
    key: &str,
    value: Option<&str>,
) -> rusqlite::Result<()> {
    let Some(value) = value else {
        transaction.execute("DELETE FROM labels WHERE run_id = ?1 AND key = ?2", [id, key])?;
        return unseal(transaction, id, &label_field(key));
    };
    transaction.execute(
        "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3)
         ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value",
        params![id, key, value],
    )?;
    seal(transaction, id, &label_field(key), value.as_bytes())
}
