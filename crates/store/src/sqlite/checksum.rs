//! Checksums, which detect a bit that changed in the file before it is shown as a figure.
//!
//! For every text of a record, `checksums` has a row with the CRC-32 of its bytes, under the name
//! of its field (`cells[2]`). It is written in the transaction that writes the text. When a run is
//! read, every text must match its checksum, and every checksum must have its text, so a missing
//! row is detected as well. A CRC detects every change of up to 32 adjacent bits and all but one in
//! 4·10⁹ others. It protects against accidents, not against an attacker.

use kurabe_core::mention::{CHECK, RM};
use kurabe_core::{Error, ErrorKind, Result, text};
use rusqlite::{Transaction, params};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Field of the columns that close a run: status, end, error and health of the device.
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

/// Joins the bytes of several columns. A NULL column differs from an empty one.
pub(super) fn joined(columns: &[Option<&[u8]>]) -> Vec<u8> {
    let mut joined = Vec::new();
    for column in columns {
        joined.push(u8::from(column.is_some()));
        joined.extend_from_slice(column.unwrap_or_default());
        joined.push(0);
    }
    joined
}

/// Rows of a run, in a transaction that changes them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) id: &'t str,
}

impl Rows<'_> {
    /// Writes the checksum of a text.
    pub(super) fn seal(self, field: &str, bytes: &[u8]) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO checksums (run_id, field, crc32) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, field, crc32fast::hash(bytes)])
            .map(|_| ())
    }

    /// Writes the checksum of the columns that close the run, as stored in its row.
    pub(super) fn seal_ending(self) -> rusqlite::Result<()> {
        let sql = "SELECT status, ended_at, error, health_after FROM runs WHERE id = ?1";
        let ending = self.transaction.query_row(sql, [self.id], |row| {
            let column = |column| -> rusqlite::Result<_> { Ok(row.get_ref(column)?.as_bytes_or_null()?) };
            Ok(joined(&[column(0)?, column(1)?, column(2)?, column(3)?]))
        })?;
        self.seal(ENDING, &ending)
    }

    /// Removes the checksum of a text that is removed.
    pub(super) fn unseal(self, field: &str) -> rusqlite::Result<()> {
        let sql = "DELETE FROM checksums WHERE run_id = ?1 AND field = ?2";
        self.transaction.execute(sql, [self.id, field]).map(|_| ())
    }

    /// Removes the checksums of a cell's repetitions, which are removed with the cell that is
    /// replaced.
    pub(super) fn unseal_repetitions(self, cell_index: u32) -> rusqlite::Result<()> {
        // `/` is the character after `.`.
        let sql = "DELETE FROM checksums WHERE run_id = ?1 AND field >= ?2 || '.' AND field < ?2 || '/'";
        self.transaction.execute(sql, [self.id, &cell_field(cell_index)]).map(|_| ())
    }
}

/// Checks that the texts of a run match their checksums.
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
        "the run `{id}` is damaged in the store at `{field}`: its checksum does not match",
        "測定 `{id}` の `{field}` は保存先で壊れています(書いた内容とチェックサムが合いません)"
    ))
    .remedy(text!(
        "the other runs are still readable; list the damage with `{CHECK}`, and remove this run with `{RM} {id}`",
        "ほかの測定は読めます。壊れた箇所は `{CHECK}` で分かり、この測定は `{RM} {id}` で取り除けます"
    ))
}
