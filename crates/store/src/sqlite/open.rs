//! Opening the store's file: whose it is, its tables, its journal.
//!
//! The model: a file that is there is looked at without a lock and without leaving a trace (`immutable`), so that a
//! file of somebody else stays untouched, its directory included. Only an empty file or one of kurabe's is opened
//! for writing. The file is not read with plain file calls: closing a second descriptor would drop the locks that
//! another thread of this process holds on it.
//!
//! Durability: a rollback journal and `synchronous = FULL`: a commit is on the medium when it returns, and no page of it is
//! written back in the middle of what is measured next. The journal's file stays beside the store, so that a commit changes
//! no directory and no length of it, which on a busy file system is what takes long. A write-ahead log would need fewer
//! syncs, but its index is memory that processes share through another file: who cuts that file short ends them all
//! (SIGBUS). A store that has a log from before is rid of it as soon as it is open once only. Nothing is read through a
//! memory map for the same reason.
//!
//! The file may be taken away while it is open. Every change looks first whether its path still leads to it and its salt
//! is the same; whatever else was done to it shows as damage.

use super::error::{elsewhere, is_of_place, read_only_error, remedy_of_place, store_error};
use super::schema::{self, Owned};
use crate::platform;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction};
use std::cell::OnceCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a process waits for another one that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A store of runs in one SQLite file. Each thread opens its own; many may be open at once.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// What tells the file that was opened from another at its path.
    identity: Option<(u64, u64)>,
    /// Made with the store, and the same as long as it is the same store.
    salt: Option<Vec<u8>>,
    /// The journal, once there is one: SQLite has it open during a commit only, and what a process has open it does not
    /// measure.
    journal: OnceCell<File>,
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
                ErrorKind::Store
                    .error(text!(
                        "cannot make the store's directory {directory}",
                        "保存先のディレクトリ {directory} を作れません"
                    ))
                    .remedy(remedy_of_place(&error))
                    .because(error)
            })?;
        }
        if path.exists() {
            if probe(&path)? == Owned::Other {
                return Err(schema::not_ours(&path));
            }
        } else {
            // What this cannot do, the database library will try in its way, or tell why not.
            let _ = platform::make_private(&path);
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
            Err(error) => return Err(cannot_find(&path, &error)),
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
            Err(error) if !is_of_place(&error) => Err(cannot_open(&path, &error)),
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

    /// Makes the error of what failed; `what` is given the store's path as it is shown.
    fn failed(&self, message: impl Fn(&str) -> Text) -> impl Fn(rusqlite::Error) -> Error {
        let (shown, path) = (shown::path(&self.path), self.path.clone());
        move |error| store_error(message(&shown), &error, &path)
    }

    /// Makes the error of a read that failed.
    pub(super) fn cannot_read(&self) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(|store| text!("cannot read the store {store}", "保存先 {store} を読めません"))
    }

    /// Makes the error of a run that could not be read.
    pub(super) fn cannot_read_run(&self, id: &str) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(move |store| {
            text!(
                "cannot read the run `{id}` in the store {store}",
                "保存先 {store} の測定 `{id}` を読めません"
            )
        })
    }

    /// Makes the error of a write that failed.
    pub(super) fn cannot_write(&self) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(|store| text!("cannot write to the store {store}", "保存先 {store} に書き込めません"))
    }

    /// A connection for writing with its tables and its journal.
    fn ready(connection: Connection, path: PathBuf) -> Result<Self> {
        if is_read_only(&connection) {
            let shown = shown::path(&path);
            let message = text!("the store {shown} cannot be written", "保存先 {shown} に書き込めません");
            return Err(read_only_error(message, &path));
        }
        schema::migrate(&connection, &path)?;
        choose_journal(&connection).map_err(|error| cannot_open(&path, &error))?;
        Ok(Self::of(connection, path))
    }

    /// A connection for reading alone. Tables of an older version are read as they are: every question has its answer
    /// in them, only later.
    fn ready_to_read(connection: Connection, path: PathBuf) -> Result<Self> {
        schema::version(&connection, &path)?;
        Ok(Self::of(connection, path))
    }

    fn of(connection: Connection, path: PathBuf) -> Self {
        let (identity, salt) = (platform::identity(&path).ok(), read_salt(&connection).ok());
        Self { connection, path, identity, salt, journal: OnceCell::new() }
    }

    /// Keeps the journal open as one who writes it: others who ask for writers of a file see this. Nobody locks it, so that
    /// it may be closed at any time.
    pub(super) fn hold_journal(&self) {
        if self.journal.get().is_none()
            && let Ok(journal) = File::options().write(true).open(beside(&self.path, "-journal"))
        {
            // The file is empty until here.
            let _ = self.journal.set(journal);
        }
    }

    /// Refuses to write into a file that is not at its path any more: nobody would find it.
    pub(super) fn check_path(&self) -> Result<()> {
        let path = shown::path(&self.path);
        let message = match platform::identity(&self.path) {
            Ok(identity) if self.identity.is_none_or(|own| own == identity) => return Ok(()),
            Ok(_) => text!(
                "another file has taken the place of the store {path} meanwhile",
                "保存先 {path} が別のファイルに置き換えられました"
            ),
            Err(_) => text!(
                "the store {path} was removed or renamed meanwhile",
                "保存先 {path} が削除されたか、名前を変えられました"
            ),
        };
        Err(ErrorKind::Store.error(message).remedy(elsewhere()))
    }

    /// Refuses to write into another store that was copied over this one. A transaction holds it still.
    pub(super) fn check_salt(&self, transaction: &Transaction<'_>) -> Result<()> {
        let salt = read_salt(transaction).map_err(self.cannot_write())?;
        if self.salt.as_ref().is_none_or(|own| *own == salt) {
            return Ok(());
        }
        let path = shown::path(&self.path);
        Err(ErrorKind::Store
            .error(text!(
                "the store {path} was overwritten with another store meanwhile",
                "保存先 {path} は別の保存先の内容で上書きされました"
            ))
            .remedy(elsewhere()))
    }
}

pub(super) fn read_salt(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.query_row("SELECT value FROM meta WHERE key = 'salt'", [], |row| row.get(0))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    // SQLite would take a name such as `:memory:` or `file:x` for something else; an absolute path is always a path.
    std::path::absolute(path).map_err(|error| cannot_find(path, &error))
}

fn cannot_find(path: &Path, error: &std::io::Error) -> Error {
    let path = shown::path(path);
    let message = text!("cannot open the store {path}", "保存先 {path} を開けません");
    ErrorKind::Store.error(message).remedy(elsewhere()).because(error)
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    prepare(Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?)
}

fn prepare(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}

/// Opens for reading alone. In a directory that takes no files, the index of a log that is left from before cannot be made;
/// then the file is read as it is, which is right as long as nobody can write it and no log or journal has a part of it.
fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let plain = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|connection| readable(&connection).map(|()| connection));
    plain.or_else(|error| {
        let is_whole = holds_nothing(path, "-wal") && holds_nothing(path, "-journal");
        if is_whole && is_of_place(&error) { immutable(path).and_then(prepare) } else { Err(error) }
    })
}

/// The path of a file that belongs to a store.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a log or a journal is not there, or has nothing that is not in the file yet: its first bytes are zero then.
fn holds_nothing(path: &Path, suffix: &str) -> bool {
    let mut beginning = [0; 8];
    match File::open(beside(path, suffix)) {
        Ok(mut log) => log.read(&mut beginning).is_ok() && beginning == [0; 8],
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let path = shown::address(&platform::path_to_bytes(path), b"/");
    let uri = format!("file://{path}?immutable=1");
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

/// Chooses the journal; returns its name. A log from before stays as long as somebody else has the store open, because it
/// is theirs, too; whoever opens the store alone next is rid of it.
fn choose_journal(connection: &Connection) -> rusqlite::Result<String> {
    let choose = || connection.query_row("PRAGMA journal_mode = persist", [], |row| row.get(0));
    connection.busy_timeout(Duration::ZERO)?;
    let mut tries_left = CHANGE_TRIES;
    let chosen = loop {
        match choose() {
            Err(error) if is_busy(&error) && tries_left > 0 => {
                tries_left -= 1;
                std::thread::sleep(RETRY);
            }
            Err(error) if is_busy(&error) => {
                break connection.query_row("PRAGMA journal_mode", [], |row| row.get(0));
            }
            chosen => break chosen,
        }
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    chosen
}

/// How long and how often a change of the journal waits for others who only look: they are gone in a moment.
const RETRY: Duration = Duration::from_millis(20);
const CHANGE_TRIES: u32 = 25;

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
    let shown = shown::path(path);
    let not_a_database: Text = text!(
        "{shown} is not a store of kurabe, or it is damaged; it was left as it is",
        "{shown} は kurabe の保存先ではないか、壊れています(変更していません)"
    );
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            ErrorKind::Store.error(not_a_database).remedy(elsewhere()).because(error)
        }
        _ => store_error(text!("cannot open the store {shown}", "保存先 {shown} を開けません"), error, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runs;

    fn log(path: &Path) -> Connection {
        drop(SqliteStore::open(path).unwrap());
        let connection = Connection::open(path).unwrap();
        connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get::<_, String>(0)).unwrap();
        connection.execute_batch("SELECT * FROM meta").unwrap();
        connection
    }

    fn mode(store: &SqliteStore) -> String {
        store.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_store_with_a_log_is_rid_of_it_even_while_another_reads() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        let reader = log(&path);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                drop(reader);
            });
            assert_eq!(mode(&SqliteStore::open(&path).unwrap()), "persist");
        });
        assert!(!directory.path().join("kurabe.db-shm").exists());
    }

    #[test]
    fn a_log_that_somebody_else_uses_stays_until_the_store_is_open_once_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        let other = log(&path);
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(mode(&store), "wal");
        assert_eq!(store.salt().unwrap().len(), 16);
        drop((store, other));
        assert_eq!(mode(&SqliteStore::open(&path).unwrap()), "persist");
    }

    #[test]
    fn where_memory_cannot_be_shared_the_store_works() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        // This way of locking brings no shared memory, as some network file systems do.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags_and_vfs(&path, flags, c"unix-dotfile").unwrap();
        let store = SqliteStore::ready(prepare(connection).unwrap(), path).unwrap();
        assert_eq!((mode(&store).as_str(), store.salt().unwrap().len()), ("persist", 16));
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
        // 2 is FULL.
        assert_eq!(ask("synchronous"), "2");
        assert_eq!(ask("foreign_keys"), "1");
        assert_eq!(ask("journal_mode"), "persist");
    }
}
