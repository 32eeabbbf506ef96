//! Checks values read from the tables as strictly as values from a file: anyone with write access
//! may have stored anything.

use super::session::{DatabaseSession, Failure};
use crate::check::Fault;
use crate::{id, identity};
use kurabe_core::mention::PUSH;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use std::fmt::Display;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// Bytes of a SHA-256.
const HASH_BYTES: usize = 32;

/// A row of a table, whose columns are accessed by name.
pub(super) struct RowFields<'r> {
    table: &'static str,
    row: &'r Row,
}

impl<'r> RowFields<'r> {
    pub(super) fn new(table: &'static str, row: &'r Row) -> Self {
        Self { table, row }
    }

    /// Returns the value of a column.
    pub(super) fn get<T: FromSql<'r>>(&self, column: &str) -> Result<T> {
        self.row.try_get(column).map_err(|error| {
            let reason =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            self.fault(column, reason)
        })
    }

    /// Creates the error for an invalid value.
    pub(super) fn fault(&self, column: &str, reason: impl Display) -> Error {
        fault(self.table, column, reason)
    }

    /// Returns a value that must satisfy a condition.
    pub(super) fn checked<T: FromSql<'r>>(
        &self,
        column: &str,
        holds: impl FnOnce(&T) -> bool,
        what: &str,
    ) -> Result<T> {
        let value = self.get(column)?;
        if holds(&value) { Ok(value) } else { Err(self.fault(column, what)) }
    }

    /// Returns the hash of a record.
    pub(super) fn record_sha256(&self) -> Result<Vec<u8>> {
        self.checked("record_sha256", |hash: &Vec<u8>| hash.len() == HASH_BYTES, "not a SHA-256")
    }
}

/// Returns the id of a run.
pub(super) fn run_id(row: &RowFields<'_>) -> Result<String> {
    row.checked("id", |id: &String| id::is_well_formed(id), "not the id of a run")
}

/// Returns the identity of a run.
pub(super) fn run_identity(row: &RowFields<'_>) -> Result<String> {
    row.checked("identity", |word: &String| identity::is_well_formed(word), "not a UUID")
}

/// Creates the error for an invalid value of a table.
pub(super) fn fault(table: &str, column: &str, reason: impl Display) -> Error {
    ErrorKind::Store
        .error(text!(
            "the database contains an invalid value in `kurabe.{table}.{column}`",
            "データベースの `kurabe.{table}.{column}` に正しくない値があります"
        ))
        .because(shown::line(&reason.to_string()))
        .remedy(text!(
            "the tables were modified: have their owner restore a backup, or drop the schema kurabe and \
             send the runs again with `{PUSH}`",
            "表が書き換えられています。所有者がバックアップから戻すか、スキーマ kurabe を削除して `{PUSH}` で送り直してください"
        ))
}

/// Creates the error for an inconsistent record or summary.
pub(super) fn contradiction(id: &str, column: &str, contradiction: Fault) -> Error {
    let Fault { field, message } = contradiction;
    fault("runs", column, format!("{id}: {field}: {}", message.en))
}

/// Runs a query on a table, and converts each row to a value.
pub(super) fn read<T>(
    session: &DatabaseSession,
    table: &'static str,
    sql: &str,
    parameters: super::Parameters<'_>,
    mut made: impl FnMut(&RowFields<'_>) -> Result<T>,
) -> std::result::Result<Vec<T>, Failure> {
    let mut values = Vec::new();
    session.each(sql, parameters, |row| {
        values.push(made(&RowFields::new(table, &row))?);
        Ok(())
    })?;
    Ok(values)
}

/// Runs a query that must return one row.
pub(super) fn read_one<T>(
    session: &DatabaseSession,
    table: &'static str,
    sql: &str,
    parameters: super::Parameters<'_>,
    made: impl FnMut(&RowFields<'_>) -> Result<T>,
) -> std::result::Result<T, Failure> {
    let mut values = read(session, table, sql, parameters, made)?;
    match (values.pop(), values.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(fault(table, "*", "not one row").into()),
    }
}
