//! Reads a store that cannot be opened in place, because it belongs to another user or is on a
//! read-only medium.
//!
//! SQLite must check that no journal or log holds a part of the file. It cannot do so if another
//! user's journal is unreadable, or if the shared index of a log would have to be created in a
//! read-only directory. Such a file is read into memory under a lock that excludes writers. What
//! remains to be excluded is an interrupted commit. A commit writes the journal before the file and
//! finishes in the journal, so a file that is not newer than its unreadable journal is complete. A
//! log with pages is read by SQLite, with an index in memory.

use super::connection::{cannot_open, prepare, readable};
use super::error::remedy_of_place;
use super::waiting::patience;
use crate::platform::{self, FileTrace, beside};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use rusqlite::{Connection, OpenFlags};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// Bytes of the header that show whether the file has a log: 1 for no, 2 for yes.
const LOG_BYTES: std::ops::Range<usize> = 18..20;

/// Returns whether SQLite cannot read the journal of a store.
pub(super) fn is_needed(path: &Path) -> bool {
    matches!(content(&beside(path, "-journal")), JournalContent::Unknown)
}

/// Opens a connection to the content of the file.
///
/// # Errors
/// If a change was interrupted, or if the journal or log holds a part that cannot be read.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    match content(&beside(path, "-wal")) {
        JournalContent::Nothing => {}
        JournalContent::Something => return log_in_memory(path).map_err(|error| cannot_open(path, &error)),
        JournalContent::Unknown => return Err(part_elsewhere(path)),
    }
    let (mut bytes, journal) = whole(path)?;
    if let Some(versions) = bytes.get_mut(LOG_BYTES) {
        versions.fill(1);
    }
    in_memory(&bytes, path).map_err(|error| match journal {
        JournalContent::Unknown => part_elsewhere(path).because(error),
        _ => cannot_open(path, &error),
    })
}

/// Returns the bytes of the file while no commit changes it, and the content of its journal at that
/// time.
fn whole(path: &Path) -> Result<(Vec<u8>, JournalContent)> {
    let failed = |error: io::Error| {
        let shown = shown::path(path);
        let message = text!("cannot read the store {shown}", "保存先 {shown} を読めません");
        ErrorKind::Store.error(message).remedy(remedy_of_place(&error)).because(error)
    };
    let mut file = platform::open_at_once(path, false).map_err(failed)?;
    let mut goes_on = patience(path);
    let mut tries = 0;
    while !platform::lock_for_reading(&file).map_err(failed)? {
        // The journal is that of a running transaction, and SQLite need not see it.
        if let Ok(bytes) = beside_a_writer(path) {
            return Ok((bytes, JournalContent::Nothing));
        }
        if !goes_on(tries) {
            return Err(failed(io::ErrorKind::ResourceBusy.into()));
        }
        tries += 1;
    }
    let journal = beside(path, "-journal");
    let (content, mut bytes) = (content(&journal), Vec::new());
    let is_whole = match content {
        JournalContent::Nothing => true,
        JournalContent::Something => false,
        JournalContent::Unknown => !FileTrace::of(&journal).is_before(&FileTrace::of(path)),
    };
    if !is_whole {
        return Err(part_elsewhere(path));
    }
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes, content))
}

/// Returns the bytes of the file while another process prepares a change, under a lock that delays
/// its commit.
fn beside_a_writer(path: &Path) -> rusqlite::Result<Vec<u8>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection.serialize("main")?.to_vec())
}

/// Content of a journal or log that is not in the file.
enum JournalContent {
    Nothing,
    Something,
    /// The file cannot be read.
    Unknown,
}

/// Returns the content of a journal or log. An empty one begins with zero bytes.
fn content(path: &Path) -> JournalContent {
    let mut beginning = [0; 8];
    let read = platform::open_at_once(path, false).and_then(|log| log.read_at(&mut beginning, 0));
    match read {
        Ok(_) if beginning == [0; 8] => JournalContent::Nothing,
        Ok(_) => JournalContent::Something,
        Err(error) if error.kind() == io::ErrorKind::NotFound => JournalContent::Nothing,
        Err(_) if FileTrace::of(path).length == 0 => JournalContent::Nothing,
        Err(_) => JournalContent::Unknown,
    }
}

fn in_memory(bytes: &[u8], path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact("main", bytes, bytes.len(), true)?;
    let connection = prepare(connection, path)?;
    readable(&connection).map(|()| connection)
}

/// Opens a connection to a file with a log.
///
/// The index is in the memory of this connection, and no lock is taken: no process has written the
/// log since its index was removed.
fn log_in_memory(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(path, flags, c"unix-none")?;
    connection.query_row("PRAGMA locking_mode = exclusive", [], |_| Ok(()))?;
    let connection = prepare(connection, path)?;
    readable(&connection).map(|()| connection)
}

fn part_elsewhere(path: &Path) -> Error {
    let shown = shown::path(path);
    ErrorKind::Store
        .error(text!(
            "cannot read the store {shown}: part of it is in {shown}-journal or {shown}-wal, which this \
             process cannot use",
            "保存先 {shown} を読めません。内容の一部が {shown}-journal か {shown}-wal にあり、ここからは扱えません"
        ))
        .remedy(text!(
            "have its owner list the runs once, or copy the store with these files to your own folder",
            "所有者に一度測定の一覧を表示してもらうか、これらのファイルと一緒に自分のフォルダーへコピーしてください"
        ))
}
