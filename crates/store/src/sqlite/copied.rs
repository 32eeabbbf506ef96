//! Reading a store that cannot be opened where it is: it belongs to another user, or lies on a read-only medium.
//!
//! The model: SQLite must see that no journal and no log holds a part of the file. It cannot where another user's journal
//! is unreadable, or where the shared index of a log would have to be created in a folder that takes no file. Then the
//! times of the files decide: a commit writes the journal before the file and ends in the journal, so that a file which is
//! not newer than its journal is whole. Such a file is read into memory; a commit during the read shows in the times, and
//! the read begins anew. The folded-in pages of a log are never needed: a log with pages is read by SQLite itself.

use super::error::remedy_of_place;
use super::open::{beside, prepare, readable};
use crate::platform::{self, Trace};
use kurabe_core::{Error, ErrorKind, shown, text};
use rusqlite::{Connection, OpenFlags};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// How often a read begins anew because the store was written, and the wait before.
const ATTEMPTS: u32 = 50;
const RETRY: Duration = Duration::from_millis(20);

/// The bytes of the header that say whether the file has a log: 1 for no, 2 for yes.
const LOG_BYTES: std::ops::Range<usize> = 18..20;

/// A connection to what the file holds.
///
/// # Errors
/// When a change of it was broken off, or its journal or log has a part of it that cannot be read.
pub(super) fn connect(path: &Path) -> Result<Connection, Error> {
    let failed = |error: io::Error| {
        let shown = shown::path(path);
        let message = text!("cannot read the store {shown}", "保存先 {shown} を読めません");
        ErrorKind::Store.error(message).remedy(remedy_of_place(&error)).because(error)
    };
    match content(&beside(path, "-wal")) {
        Content::Nothing => {}
        Content::Something => {
            let connection = log_in_memory(path);
            return connection.map_err(|error| super::open::cannot_open(path, &error));
        }
        Content::Unknown => return Err(part_elsewhere(path)),
    }
    for _ in 0..ATTEMPTS {
        if let Some(mut bytes) = whole(path).map_err(failed)? {
            if let Some(versions) = bytes.get_mut(LOG_BYTES) {
                versions.fill(1);
            }
            return in_memory(&bytes, path).map_err(|error| super::open::cannot_open(path, &error));
        }
        std::thread::sleep(RETRY);
    }
    Err(part_elsewhere(path))
}

/// The bytes of the file, if it was whole and not written during the read.
fn whole(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let journal = beside(path, "-journal");
    let traces = || (Trace::of(path), Trace::of(&journal));
    let before = traces();
    let is_whole = match content(&journal) {
        Content::Nothing => true,
        Content::Something => false,
        Content::Unknown => !before.1.is_before(&before.0),
    };
    if !is_whole {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    platform::open_at_once(path, false)?.read_to_end(&mut bytes)?;
    Ok((traces() == before).then_some(bytes))
}

/// What a journal or a log has that is not in the file.
enum Content {
    Nothing,
    Something,
    /// It cannot be read.
    Unknown,
}

/// The content of a journal or a log: its first bytes are zero where it has nothing.
fn content(path: &Path) -> Content {
    let mut beginning = [0; 8];
    let read = platform::open_at_once(path, false).and_then(|log| log.read_at(&mut beginning, 0));
    match read {
        Ok(_) if beginning == [0; 8] => Content::Nothing,
        Ok(_) => Content::Something,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Content::Nothing,
        Err(_) if Trace::of(path).length == 0 => Content::Nothing,
        Err(_) => Content::Unknown,
    }
}

fn in_memory(bytes: &[u8], path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact("main", bytes, bytes.len(), true)?;
    prepare(connection, path)
}

/// A connection to a file with a log. Its index is in the memory of this connection, which takes no lock: no process has
/// written the log since its index went.
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
            "cannot read the store {shown}: part of it is in {shown}-journal or {shown}-wal, which this user cannot use",
            "保存先 {shown} を読めません。内容の一部が、このユーザーには扱えない {shown}-journal か {shown}-wal にあります"
        ))
        .remedy(text!(
            "have its owner list the runs once, or copy the store with these files to a folder of yours",
            "所有者に一度測定の一覧を表示してもらうか、これらのファイルと一緒に自分のフォルダーへコピーしてください"
        ))
}
