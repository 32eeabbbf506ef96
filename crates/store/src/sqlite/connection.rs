//! Connections to a store's file: settings, journal, and the error for a file that is not a store.

use super::error::{elsewhere, store_error};
use super::waiting::be_patient;
use crate::platform;
use kurabe_core::{Error, ErrorKind, Text, shown, text};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

pub(super) fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    prepare(Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?, path)
}

pub(super) fn prepare(mut connection: Connection, path: &Path) -> rusqlite::Result<Connection> {
    be_patient(&mut connection, path)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}

pub(super) fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let path = shown::address(&platform::path_to_bytes(path), b"/");
    let uri = format!("file://{path}?immutable=1");
    Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

pub(super) fn readable(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

pub(super) fn is_read_only(connection: &Connection) -> bool {
    connection.is_readonly("main").unwrap_or(false)
}

/// Interval and number of attempts to change the journal while other processes read the store for a moment.
const RETRY: Duration = Duration::from_millis(20);
const CHANGE_TRIES: u32 = 25;

/// Sets the journal mode and returns its name.
///
/// The write-ahead log of an earlier version stays while another process has the store open. The
/// next process that opens the store alone removes it.
pub(super) fn choose_journal(connection: &mut Connection, path: &Path) -> rusqlite::Result<String> {
    let name = |connection: &Connection, sql: &str| connection.query_row(sql, [], |row| row.get(0));
    const CHOICE: &str = "PRAGMA journal_mode = persist";
    if name(connection, "PRAGMA journal_mode")? != "wal" {
        return name(connection, CHOICE);
    }
    connection.busy_timeout(Duration::ZERO)?;
    let mut tries_left = CHANGE_TRIES;
    let chosen = loop {
        match name(connection, CHOICE) {
            Err(error) if is_busy(&error) && tries_left > 0 => {
                tries_left -= 1;
                std::thread::sleep(RETRY);
            }
            chosen => break chosen,
        }
    };
    be_patient(connection, path)?;
    match chosen {
        Err(error) if is_busy(&error) => name(connection, "PRAGMA journal_mode"),
        chosen => chosen,
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

pub(super) fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
    let shown = shown::path(path);
    let not_a_database: Text = text!(
        "{shown} is not a kurabe store, or it is damaged; it was not changed",
        "{shown} は kurabe の保存先ではないか、壊れています(変更していません)"
    );
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            ErrorKind::Store.error(not_a_database).remedy(elsewhere()).because(error)
        }
        _ => store_error(text!("cannot open the store {shown}", "保存先 {shown} を開けません"), error, path),
    }
}
