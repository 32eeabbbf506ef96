//! Taking a run of somewhere else into the store.

use crate::export::{export_owned, parse_export};
use crate::json;
use crate::open::Store;
use crate::write::{close_run, draw_id, insert_cell, insert_notice, insert_run, is_taken};
use kurabe_core::Result;
use kurabe_core::record::RunRecord;
use rusqlite::{Transaction, params};

impl Store {
    /// Stores a run of somewhere else and returns its id here: its own if it has one and that is free, else a new one.
    /// The same run again (all but id and labels is equal; of another tool's run also all but how and when it was
    /// imported) is not stored twice; labels that it lacks here are added to it.
    ///
    /// # Errors
    /// When the record contradicts itself, or the store cannot be written.
    pub fn import(&self, mut record: RunRecord) -> Result<String> {
        if record.header.id.is_empty() {
            record.header.id = self.transaction(draw_id)?;
        }
        // The way through the file's form makes it what it would be as a file: checked, ended, without NaN.
        let mut record = parse_export(export_owned(record).as_bytes())?;
        self.transaction(|transaction| {
            if let Some(id) = self.same_run(transaction, &record)? {
                insert_missing_labels(transaction, &id, &record)?;
                return Ok(id);
            }
            if is_taken(transaction, &record.header.id)? {
                record.header.id = draw_id(transaction)?;
            }
            insert_record(transaction, &record)?;
            Ok(record.header.id)
        })
    }

    /// The run in the store that is this one.
    fn same_run(
        &self,
        transaction: &Transaction<'_>,
        record: &RunRecord,
    ) -> rusqlite::Result<Option<String>> {
        let header = &record.header;
        let candidates: Vec<String> = transaction
            .prepare(
                "SELECT id FROM runs WHERE (started_at = ?1 OR ?4) AND profile = ?2 AND cell_count = ?3
                 ORDER BY rowid",
            )?
            .query_map(
                params![
                    header.started_at,
                    header.profile_name(),
                    record.cells.len() as i64,
                    header.origin.is_some()
                ],
                |row| row.get(0),
            )?
            .collect::<rusqlite::Result<_>>()?;
        Ok(candidates.into_iter().find(|id| {
            // One that cannot be read is not the same.
            self.load_in(transaction, id).is_ok_and(|mut other| {
                other.header.id.clone_from(&header.id);
                if header.origin.is_some() {
                    other.header.started_at.clone_from(&header.started_at);
                    other.header.command.clone_from(&header.command);
                    other.header.kurabe_version.clone_from(&header.kurabe_version);
                }
                other.labels.clone_from(&record.labels);
                other == *record
            })
        }))
    }
}

fn insert_record(transaction: &Transaction<'_>, record: &RunRecord) -> rusqlite::Result<()> {
    let id = &record.header.id;
    insert_run(transaction, &record.header, record.status)?;
    for notice in &record.notices {
        insert_notice(transaction, id, notice)?;
    }
    for cell in &record.cells {
        insert_cell(transaction, id, cell)?;
    }
    let fill = record.fill.as_ref().map(json::to_text);
    transaction.execute("UPDATE runs SET fill = ?2 WHERE id = ?1", params![id, fill])?;
    let (ended_at, error) = (record.ended_at.as_deref(), record.error.as_ref());
    close_run(transaction, id, record.status, ended_at, error, record.health_after.as_ref())?;
    insert_missing_labels(transaction, id, record)
}

fn insert_missing_labels(
    transaction: &Transaction<'_>,
    id: &str,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    for (key, value) in &record.labels {
        transaction.execute(
            "INSERT INTO labels (run_id, key, value) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![id, key, value],
        )?;
    }
    Ok(())
}
