//! Opening the store's file: whose it is, its tables, its journal.
//!
//! The model: a file that is there is looked at without a lock and without leaving a trace (`immutable`), so that a
//! file of somebody else stays untouched, its directory included. Only an empty file or one of kurabe's is opened
//! for writing. The file is not read with plain file calls: closing a second descriptor would drop the locks that
//! another thread of this process holds on it.
//!
//! Durability: a write-ahead log with `synchronous = FULL`. `NORMAL` would keep a cell when the process is killed, but
//! not when the machine goes down, which happens to people who test storage; and its pages would be written back by
//! the kernel some time later, that is, in the middle of the next cell. With `FULL` all writing is over before the
//! next cell begins. Where a write-ahead log is not safe or not possible (network file systems), the store works
//! with a rollback journal.

use super::error::{elsewhere, remedy_of_place, store_error};
use super::schema::{self, Owned};
use crate::platform;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a process waits for another one that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A store of runs in one SQLite file. Each thread opens its own; many may be open at once.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl SqliteStore {
    /// Opens the store for recording; makes the file, and the directories above it, if they are not there.
    ///
    /// # Errors
    /// When the place cannot be written, or the file is not a store or one of a newer kurabe; it is then left as
    /// it is.
    pub fn open(path: &Path) -> Result<Self> {
        let path = absolute(path)?;
        if let Some(directory) = path.parent() {
            platform::create_private_dirs(directory).map_err(|error| {
                let directory = shown::path(directory);
                Error::new(
                    ErrorKind::Store,
                    text!(
                        "cannot make the store's directory {directory}",
                        "保存先のディレクトリ {directory} を作れません"
                    ),
                )
                .remedy(remedy_of_place(&error))
                .because(error)
            })?;
        }
        if path.exists() && probe(&path)? == Owned::Other {
            return Err(schema::not_ours(&path));
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
            .map_err(|error| cannot_open(&path, &error))?;
        Self::ready(connection, path)
    }

    /// Opens the store if there is one; nothing is made. A store in a place that cannot be written is opened for
    /// reading alone.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        let path = absolute(path)?;
        match std::fs::metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let shown = shown::path(path);
                let what = text!("cannot open the store {shown}", "保存先 {shown} を開けません");
                return Err(Error::new(ErrorKind::Store, what).remedy(elsewhere()).because(error));
            }
        }
        match probe(&path)? {
            Owned::Empty => return Ok(None),
            Owned::Other => return Err(schema::not_ours(&path)),
            Owned::Kurabe => {}
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(|connection| readable(&connection).map(|()| connection));
        match connection {
            Ok(connection) if !is_read_only(&connection) => Self::ready(connection, path).map(Some),
            Ok(connection) => Self::ready_to_read(connection, path).map(Some),
            Err(error) if !is_refused(&error) => Err(cannot_open(&path, &error)),
            Err(_) => {
                let connection = connect_to_read(&path).map_err(|error| cannot_open(&path, &error))?;
                Self::ready_to_read(connection, path).map(Some)
            }
        }
    }

    /// The user whom the file belongs to.
    pub(super) fn file_user(&self) -> Option<u32> {
        platform::file_user(&self.path)
    }

    /// Makes the error of a read that failed.
    pub(super) fn cannot_read(&self) -> impl Fn(rusqlite::Error) -> Error {
        let (shown, path) = (shown::path(&self.path), self.path.clone());
        move |error| {
            store_error(text!("cannot read the store {shown}", "保存先 {shown} を読めません"), &error, &path)
        }
    }

    /// Makes the error of a write that failed.
    pub(super) fn cannot_write(&self) -> impl Fn(rusqlite::Error) -> Error {
        let (shown, path) = (shown::path(&self.path), self.path.clone());
        move |error| {
            let what = text!("cannot write to the store {shown}", "保存先 {shown} に書き込めません");
            store_error(what, &error, &path)
        }
    }

    /// A connection for writing with its tables and its journal.
    fn ready(connection: Connection, path: PathBuf) -> Result<Self> {
        if is_read_only(&connection) {
            let shown = shown::path(path);
            let what = text!("the store {shown} cannot be written", "保存先 {shown} に書き込めません");
            return Err(Error::new(ErrorKind::Store, what).remedy(elsewhere()));
        }
        schema::migrate(&connection, &path)?;
        let network = path.parent().is_some_and(platform::is_on_network);
        choose_journal(&connection, network).map_err(|error| cannot_open(&path, &error))?;
        Ok(Self { connection, path })
    }

    /// A connection for reading alone. Tables of an older version are read as they are: every question has its answer
    /// in them, only later.
    fn ready_to_read(connection: Connection, path: PathBuf) -> Result<Self> {
        schema::version(&connection, &path)?;
        Ok(Self { connection, path })
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    // SQLite would take a name such as `:memory:` or `file:x` for something else; an absolute path is always a path.
    std::path::absolute(path).map_err(|error| {
        let path = shown::path(path);
        let what = text!("cannot open the store {path}", "保存先 {path} を開けません");
        Error::new(ErrorKind::Store, what).remedy(elsewhere()).because(error)
    })
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    prepare(Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?)
}

fn prepare(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Opens for reading alone. In a directory that takes no files, the log's index cannot be made; then the file is
/// read as it is, which is right as long as nobody can write it.
fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let plain = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|connection| readable(&connection).map(|()| connection));
    plain.or_else(|error| {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log_is_empty = std::fs::metadata(log).map_or(true, |log| log.len() == 0);
        if log_is_empty && is_refused(&error) { immutable(path).and_then(prepare) } else { Err(error) }
    })
}

fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file://");
    for byte in platform::path_to_bytes(path) {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(byte.into()),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

fn readable(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

pub(super) fn is_read_only(connection: &Connection) -> bool {
    connection.is_readonly("main").unwrap_or(false)
}

/// Looks whose file it is. A look without a lock may meet a file that another process is just making; only then,
/// and for a file that really is no database, a second look takes the lock.
fn probe(path: &Path) -> Result<Owned> {
    let owned = immutable(path)
        .and_then(|connection| schema::owned(&connection))
        .or_else(|_| {
            let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            schema::owned(&connection)
        })
        .map_err(|error| cannot_open(path, &error))?;
    // SQLite takes a file of one byte for an empty one.
    let is_one_byte = owned == Owned::Empty && std::fs::metadata(path).is_ok_and(|file| file.len() == 1);
    Ok(if is_one_byte { Owned::Other } else { owned })
}

/// Chooses the journal; returns its name.
fn choose_journal(connection: &Connection, network: bool) -> rusqlite::Result<String> {
    let mode = if network { "delete" } else { "wal" };
    let ask = |mode: &str| -> rusqlite::Result<String> {
        connection.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))
    };
    // The change of the journal needs the file for itself and does not always wait for it.
    let mut tries_left = BUSY_TIMEOUT.as_millis() / RETRY.as_millis();
    loop {
        match ask(mode) {
            Err(error) if is_busy(&error) && tries_left > 0 => {
                tries_left -= 1;
                std::thread::sleep(RETRY);
            }
            // A log that the file system cannot carry is no reason to stop.
            Err(error) if !is_busy(&error) && !network => return ask("delete"),
            other => return other,
        }
    }
}

const RETRY: Duration = Duration::from_millis(20);

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether the place, not the file, is the reason: on a full disk the log's index cannot be made, which SQLite knows as a
/// failure of I/O.
fn is_refused(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    matches!(
        error.sqlite_error_code(),
        Some(CannotOpen | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure)
    )
}

fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
    let shown = shown::path(path);
    let not_a_database: Text = text!(
        "{shown} is not a store of kurabe, or it is damaged; it was left as it is",
        "{shown} は kurabe の保存先ではないか、壊れています(変更していません)"
    );
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            Error::new(ErrorKind::Store, not_a_database).remedy(elsewhere()).because(error)
        }
        _ => store_error(text!("cannot open the store {shown}", "保存先 {shown} を開けません"), error, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn on_a_network_file_system_the_store_works_with_a_rollback_journal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        drop(SqliteStore::open(&path).unwrap());
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        assert_eq!(choose_journal(&connection, true).unwrap(), "delete");
        assert_eq!(choose_journal(&connection, false).unwrap(), "wal");
    }

    #[test]
    fn the_journal_is_chosen_even_while_another_reads() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        drop(SqliteStore::open(&path).unwrap());
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        choose_journal(&connection, true).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        let reader = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM meta").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                reader.execute_batch("COMMIT").unwrap();
            });
            assert_eq!(choose_journal(&connection, false).unwrap(), "wal");
        });
    }

    #[cfg(unix)]
    #[test]
    fn where_memory_cannot_be_shared_the_store_works_with_a_rollback_journal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        // This way of locking brings no shared memory, as some network file systems do.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags_and_vfs(&path, flags, c"unix-dotfile").unwrap();
        let store = SqliteStore::ready(prepare(connection).unwrap(), path).unwrap();
        let mode: String = store.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "delete");
        assert_eq!(store.salt().unwrap().len(), 16);
    }

    #[test]
    fn a_commit_is_on_the_medium_when_it_returns() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("kurabe.db")).unwrap();
        let ask = |pragma: &str| -> String {
            store
                .connection
                .query_row(&format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}"), [], |row| {
                    row.get(0)
                })
                .unwrap()
        };
        // 2 is FULL. On a network file system the journal is another one.
        assert_eq!(ask("synchronous"), "2");
        assert_eq!(ask("foreign_keys"), "1");
        assert!(["wal", "delete"].contains(&ask("journal_mode").as_str()));
    }
}
