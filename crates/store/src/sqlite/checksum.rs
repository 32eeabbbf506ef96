//! Checksums: a bit that changed in the file is told, and never shown as a figure.
//!
//! The model: every text that a record is made of has the CRC-32 of its bytes in a row of `checksums`, under the name of its
//! field (`cells[2]`), written in the transaction that writes the text. When a run is read, every text must fit its
//! checksum, and every checksum must have its text: so a row that is gone is told, too. A CRC finds every change of up to
//! 32 neighbouring bits and all but one of 4·10⁹ others; it is against accidents, not against somebody.

use super::read::Texts;
use kurabe_core::mention::{CHECK, RM};
use kurabe_core::{Error, ErrorKind, Result, text};
use rusqlite::{Transaction, params};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The field of what closes a run: its status, its end, its error and its device's health.
pub(super) const ENDING: &str = "status";

pub(super) fn notice_field(index: u32) -> String {
    format!("notices[{index}]")
}

pub(super) fn cell_field(index: u32) -> String {
    format!("cells[{index}]")
}

pub(super) fn repetition_field(cell_index: u32, index: u32) -> String {
    format!("{}.repetitions[{index}]", cell_field(cell_index))
}

pub(super) fn label_field(key: &str) -> String {
    format!("labels.{key}")
}

/// The bytes of several columns as one text. A column that is null differs from one that is empty.
pub(super) fn joined(columns: &[Option<&[u8]>]) -> Vec<u8> {
    let mut joined = Vec::new();
    for column in columns {
        joined.push(u8::from(column.is_some()));
        joined.extend_from_slice(column.unwrap_or_default());
        joined.push(0);
    }
    joined
}

/// The rows of a run, in a transaction that changes them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) id: &'t str,
}

impl Rows<'_> {
    /// Notes the checksum of a text.
    pub(super) fn seal(self, field: &str, bytes: &[u8]) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO checksums (run_id, field, crc32) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, field, crc32fast::hash(bytes)])
            .map(|_| ())
    }

    /// Notes the checksum of what closes the run, as it stands in its row.
    pub(super) fn seal_ending(self) -> rusqlite::Result<()> {
        let sql = "SELECT status, ended_at, error, health_after FROM runs WHERE id = ?1";
        let ending = self.transaction.query_row(sql, [self.id], |row| {
            let column = |column| -> rusqlite::Result<_> { Ok(row.get_ref(column)?.as_bytes_or_null()?) };
            Ok(joined(&[column(0)?, column(1)?, column(2)?, column(3)?]))
        })?;
        self.seal(ENDING, &ending)
    }

    /// Forgets the checksum of a text that goes.
    pub(super) fn unseal(self, field: &str) -> rusqlite::Result<()> {
        let sql = "DELETE FROM checksums WHERE run_id = ?1 AND field = ?2";
        self.transaction.execute(sql, [self.id, field]).map(|_| ())
    }

    /// Forgets the checksums of a cell's repetitions, which go with the cell that is replaced.
    pub(super) fn unseal_repetitions(self, cell_index: u32) -> rusqlite::Result<()> {
        // `/` is the letter after `.`.
        let sql = "DELETE FROM checksums WHERE run_id = ?1 AND field >= ?2 || '.' AND field < ?2 || '/'";
        self.transaction.execute(sql, [self.id, &cell_field(cell_index)]).map(|_| ())
    }
}

/// Notes the checksums of all that is stored of all runs; for tables that had none.
pub(super) fn seal_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    each_run(transaction, "SELECT id FROM runs", |id, texts| {
        let mut sealed = texts.sealed().into_iter();
        sealed.try_for_each(|(field, bytes)| Rows { transaction, id }.seal(field, &bytes))
    })
}

/// Hands over what is stored of each of these runs, one after the other.
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

/// Checks that the texts of a run are those that were written.
pub(super) fn check_sealed(
    id: &str,
    mut checksums: BTreeMap<String, u32>,
    texts: &[(&str, Cow<'_, [u8]>)],
) -> Result<()> {
    for (field, bytes) in texts {
        if checksums.remove(*field) != Some(crc32fast::hash(bytes)) {
            return Err(damaged(id, field));
        }
    }
    match checksums.into_keys().next() {
        Some(field) => Err(damaged(id, &field)),
        None => Ok(()),
    }
}

fn damaged(id: &str, field: &str) -> Error {
    ErrorKind::Store.error(text!(
        "the run `{id}` is damaged in the store at `{field}`: it is not what was written (checksum)",
        "測定 `{id}` の `{field}` は保存先で壊れています(書いた内容とチェックサムが合いません)"
    ))
    .remedy(text!(
        "the other runs can still be read; `{CHECK}` names all that is damaged, and `{RM} {id}` takes this run out",
        "ほかの測定は読めます。壊れた箇所は `{CHECK}` で分かり、この測定は `{RM} {id}` で取り除けます"
    ))
}
