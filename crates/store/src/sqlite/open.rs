//! Opens the store's file: checks its owner, its tables and its journal.
//!
//! A new store appears complete, so that of many processes that create it at the same time one
//! succeeds and all others find it ready. A file system without unnamed files gets an empty file,
//! in which the first process that locks it creates the tables. Only regular files are opened,
//! because opening a FIFO may block forever.
//!
//! An existing file is inspected without a lock and without side effects (`immutable`), so that
//! another program's file and its directory stay untouched. Only an empty file or a file of kurabe
//! is opened for writing. The file is not read with plain file calls: closing a second descriptor
//! would drop the locks that another thread of this process holds on it.
//!
//! Durability: a rollback journal and `synchronous = FULL`. A commit is on the medium when it
//! returns, and no page of it is written back during the next measurement. The journal file stays
//! next to the store, so that a commit changes neither the directory nor the length of the file,
//! which is what takes long on a busy file system. A write-ahead log would need fewer syncs, but
//! processes share its index as memory mapped from another file, and truncating that file crashes
//! all of them (SIGBUS). A log from an earlier version is removed as soon as only one process has
//! the store open. Memory-mapped reads are off for the same reason.
//!
//! The file may be replaced or removed while it is open. Every change first checks that its path
//! still leads to it and that its salt is unchanged. Other changes by outsiders appear as damage.

use super::connection::{cannot_open, choose_journal, connect, immutable, is_read_only, readable};
use super::copied;
use super::error::{elsewhere, is_of_place, read_only_error, remedy_of_place, store_error};
use super::schema::{self, Owned};
use super::waiting::abandonable;
use crate::Runs;
use crate::platform::{self, beside};
use kurabe_core::digest::Digester;
use kurabe_core::{Error, ErrorKind, Result, Text, record::RunRecord, shown, text};
use rusqlite::{Connection, OpenFlags, Transaction};
use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Suffixes of the files that SQLite keeps next to the store's.
const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Held while this process creates a store, until the files used for that are closed. Closing them
/// later would drop the locks that another thread holds on the same file.
static CREATION: Mutex<()> = Mutex::new(());

/// A store of runs in one SQLite file. Each thread opens its own; many may be open at the same
/// time.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) digester: Digester,
    /// File system and inode, which distinguish the opened file from another at its path.
    identity: Option<(u64, u64)>,
    /// Salt, which was created with the store and identifies it.
    salt: Option<Vec<u8>>,
    is_read_only: bool,
    /// The journal, once it exists. SQLite opens it only during commits. Holding it open prevents
    /// kurabe from measuring on it, because files that a process has open are refused as targets.
    journal: OnceCell<File>,
}

impl SqliteStore {
    /// Opens the store for recording, and creates the file and its parent directories if necessary.
    ///
    /// # Errors
    /// If the place cannot be written, or the file is not a store or one of a newer kurabe. It is
    /// then left unchanged.
    pub fn open(path: &Path, digester: Digester) -> Result<Self> {
        abandonable(|| Self::open_or_create(absolute(path)?, digester))
    }

    fn open_or_create(path: PathBuf, digester: Digester) -> Result<Self> {
        if let Some(directory) = path.parent() {
            platform::create_private_dirs(directory).map_err(|error| {
                let directory = shown::path(directory);
                ErrorKind::Store
                    .error(text!(
                        "cannot create the store's directory {directory}",
                        "保存先のディレクトリ {directory} を作れません"
                    ))
                    .remedy(remedy_of_place(&error))
                    .because(error)
            })?;
        }
        create(&path);
        check_kinds(&path)?;
        if path.exists() && probe(&path)? == Owned::Other {
            return Err(schema::not_ours(&path));
        }
        if path.exists() && platform::write_refusal(&path).is_some() {
            return Err(cannot_be_written(&path));
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
            .map_err(|error| cannot_open(&path, &error))?;
        Self::ready(connection, path, digester)
    }

    /// Opens the store if it exists, without creating anything. A store in a place that cannot be
    /// written is opened read-only.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_existing(path: &Path, digester: Digester) -> Result<Option<Self>> {
        abandonable(|| Self::open_if_there(absolute(path)?, digester))
    }

    fn open_if_there(path: PathBuf, digester: Digester) -> Result<Option<Self>> {
        drop(creation_turn());
        check_kinds(&path)?;
        match std::fs::metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot_find(&path, &error)),
        }
        let copy = match platform::write_refusal(&path) {
            Some(_) if copied::is_needed(&path) => Some(copied::connect(&path)?),
            _ => None,
        };
        let owned = match &copy {
            Some(copy) => schema::owned(copy).map_err(|error| cannot_open(&path, &error))?,
            None => probe(&path)?,
        };
        match owned {
            Owned::Empty => return Ok(None),
            Owned::Other => return Err(schema::not_ours(&path)),
            Owned::Kurabe => {}
        }
        if let Some(copy) = copy {
            return Self::ready_to_read(copy, path, digester).map(Some);
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(|connection| readable(&connection).map(|()| connection));
        match connection {
            Ok(connection) if !is_read_only(&connection) => Self::ready(connection, path, digester).map(Some),
            Ok(connection) => Self::ready_to_read(connection, path, digester).map(Some),
            Err(error) if !is_of_place(&error) => Err(cannot_open(&path, &error)),
            Err(_) => {
                let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                    .and_then(|connection| readable(&connection).map(|()| connection));
                let connection = match connection {
                    Err(error) if is_of_place(&error) => copied::connect(&path)?,
                    opened => opened.map_err(|error| cannot_open(&path, &error))?,
                };
                Self::ready_to_read(connection, path, digester).map(Some)
            }
        }
    }

    /// Loads a run from the current content of the file. It uses a new connection, because this one
    /// may have cached pages that were overwritten.
    pub(super) fn load_anew(&self, id: &str) -> Result<RunRecord> {
        self.check_path()?;
        let connection = connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(|error| cannot_open(&self.path, &error))?;
        Self::ready_to_read(connection, self.path.clone(), self.digester)?.load(id)
    }

    /// Creates the error of a change to a read-only store.
    pub(super) fn cannot_be_written(&self) -> Error {
        cannot_be_written(&self.path)
    }

    /// Returns whether the store is read-only.
    pub(super) fn is_for_reading(&self) -> bool {
        self.is_read_only
    }

    /// Returns the user who owns the file.
    pub(super) fn file_user(&self) -> Option<u32> {
        platform::file_user(&self.path)
    }

    /// Returns a function that creates an error; `message` receives the store's path as it is
    /// shown.
    fn failed(&self, message: impl Fn(&str) -> Text) -> impl Fn(rusqlite::Error) -> Error {
        let (shown, path) = (shown::path(&self.path), self.path.clone());
        move |error| store_error(message(&shown), &error, &path)
    }

    /// Returns a function that creates the error of a failed read.
    pub(super) fn cannot_read(&self) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(|store| text!("cannot read the store {store}", "保存先 {store} を読めません"))
    }

    /// Returns a function that creates the error of a run that could not be read.
    pub(super) fn cannot_read_run(&self, id: &str) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(move |store| {
            text!(
                "cannot read the run `{id}` in the store {store}",
                "保存先 {store} の測定 `{id}` を読めません"
            )
        })
    }

    /// Returns a function that creates the error of a failed write.
    pub(super) fn cannot_write(&self) -> impl Fn(rusqlite::Error) -> Error {
        self.failed(|store| text!("cannot write to the store {store}", "保存先 {store} に書き込めません"))
    }

    /// Prepares a connection for writing: migrates the tables and sets the journal.
    fn ready(mut connection: Connection, path: PathBuf, digester: Digester) -> Result<Self> {
        if is_read_only(&connection) {
            return Err(cannot_be_written(&path));
        }
        schema::migrate(&connection, &path)?;
        choose_journal(&mut connection, &path).map_err(|error| cannot_open(&path, &error))?;
        Ok(Self::of(connection, path, digester, false))
    }

    /// Prepares a connection for reading. Tables of an older version are used unchanged: they can
    /// answer every query, only more slowly.
    fn ready_to_read(connection: Connection, path: PathBuf, digester: Digester) -> Result<Self> {
        schema::version(&connection, &path)?;
        Ok(Self::of(connection, path, digester, true))
    }

    fn of(connection: Connection, path: PathBuf, digester: Digester, is_read_only: bool) -> Self {
        let (identity, salt) = (platform::identity(&path).ok(), read_salt(&connection).ok());
        Self { connection, path, digester, identity, salt, is_read_only, journal: OnceCell::new() }
    }

    /// Keeps the journal open for writing, so that other processes see this one as a writer of the
    /// store. The journal is never locked, so it may be closed at any time.
    pub(super) fn hold_journal(&self) {
        if self.journal.get().is_none()
            && let Ok(journal) = platform::open_at_once(&beside(&self.path, "-journal"), true)
        {
            // The file is empty until the first commit.
            let _ = self.journal.set(journal);
        }
    }

    /// Refuses to write to a file that is no longer at its path.
    pub(super) fn check_path(&self) -> Result<()> {
        let path = shown::path(&self.path);
        let message = match platform::identity(&self.path) {
            Ok(identity) if self.identity.is_none_or(|own| own == identity) => return Ok(()),
            Ok(_) => text!(
                "the store {path} was replaced by another file during the run",
                "実行中に、保存先 {path} が別のファイルに置き換えられました"
            ),
            Err(_) => text!(
                "the store {path} was removed or renamed during the run",
                "実行中に、保存先 {path} が削除されたか、名前を変えられました"
            ),
        };
        Err(ErrorKind::Store.error(message).remedy(elsewhere()))
    }

    /// Refuses to write to another store that was copied over this one. A transaction prevents
    /// further changes.
    pub(super) fn check_salt(&self, transaction: &Transaction<'_>) -> Result<()> {
        let salt = read_salt(transaction).map_err(self.cannot_write())?;
        if self.salt.as_ref().is_none_or(|own| *own == salt) {
            return Ok(());
        }
        let path = shown::path(&self.path);
        Err(ErrorKind::Store
            .error(text!(
                "the store {path} was overwritten with another store during the run",
                "保存先 {path} は別の保存先の内容で上書きされました"
            ))
            .remedy(elsewhere()))
    }
}

pub(super) fn read_salt(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.query_row("SELECT value FROM meta WHERE key = 'salt'", [], |row| row.get(0))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    // SQLite would interpret a name such as `:memory:` or `file:x`. An absolute path is always a
    // path.
    std::path::absolute(path).map_err(|error| cannot_find(path, &error))
}

fn cannot_find(path: &Path, error: &std::io::Error) -> Error {
    let path = shown::path(path);
    let message = text!("cannot open the store {path}", "保存先 {path} を開けません");
    ErrorKind::Store.error(message).remedy(elsewhere()).because(error)
}

/// Waits until no other thread creates a store.
fn creation_turn() -> MutexGuard<'static, ()> {
    CREATION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the store's file if it does not exist. On failure, SQLite tries to create it or reports
/// the reason.
fn create(path: &Path) {
    let _turn = creation_turn();
    if path.exists() {
        return;
    }
    let image = schema::image().map_err(std::io::Error::other);
    if image.and_then(|image| platform::appear_private(path, &image)).is_err() {
        let _ = platform::make_private(path);
    }
}

/// Refuses files that are not regular, both as the store and next to it.
fn check_kinds(path: &Path) -> Result<()> {
    let files = std::iter::once(path.to_owned()).chain(COMPANIONS.map(|suffix| beside(path, suffix)));
    for file in files {
        if let Some(kind) = platform::other_than_file(&file) {
            let file = shown::path(&file);
            return Err(ErrorKind::Store
                .error(text!(
                    "{file} is {kind}; a store must be a regular file",
                    "{file} は{kind}です。保存先には通常のファイルを指定してください";
                    kind
                ))
                .remedy(elsewhere()));
        }
    }
    Ok(())
}

fn cannot_be_written(path: &Path) -> Error {
    let shown = shown::path(path);
    read_only_error(text!("the store {shown} cannot be written", "保存先 {shown} に書き込めません"), path)
}

/// Determines which program a file belongs to.
///
/// Without a lock this may read a file that another process is creating. Only then, and for a file
/// that is not a database, it is read again with the lock.
fn probe(path: &Path) -> Result<Owned> {
    let owned = immutable(path)
        .and_then(|connection| schema::owned(&connection))
        .or_else(|_| {
            let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            schema::owned(&connection)
        })
        .map_err(|error| cannot_open(path, &error))?;
    // SQLite treats a file of one byte as empty.
    let is_one_byte = owned == Owned::Empty && std::fs::metadata(path).is_ok_and(|file| file.len() == 1);
    Ok(if is_one_byte { Owned::Other } else { owned })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Runs;
    use crate::sqlite::connection::prepare;
    use kurabe_core::digest::RunDigest;
    use std::time::Duration;

    pub(in crate::sqlite) const DIGESTER: Digester =
        Digester { version: 1, digest: |_| RunDigest::default() };

    fn log(path: &Path) -> Connection {
        drop(SqliteStore::open(path, DIGESTER).unwrap());
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
            assert_eq!(mode(&SqliteStore::open(&path, DIGESTER).unwrap()), "persist");
        });
        assert!(!directory.path().join("kurabe.db-shm").exists());
    }

    #[test]
    fn a_log_that_somebody_else_uses_stays_until_the_store_is_open_once_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        let other = log(&path);
        let store = SqliteStore::open(&path, DIGESTER).unwrap();
        assert_eq!(mode(&store), "wal");
        assert_eq!(store.salt().unwrap().len(), 16);
        drop((store, other));
        assert_eq!(mode(&SqliteStore::open(&path, DIGESTER).unwrap()), "persist");
    }

    #[test]
    fn where_memory_cannot_be_shared_the_store_works() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kurabe.db");
        // This locking mode has no shared memory, like some network file systems.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags_and_vfs(&path, flags, c"unix-dotfile").unwrap();
        let store = SqliteStore::ready(prepare(connection, &path).unwrap(), path, DIGESTER).unwrap();
        assert_eq!((mode(&store).as_str(), store.salt().unwrap().len()), ("persist", 16));
    }

    #[test]
    fn a_commit_is_on_the_medium_when_it_returns() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("kurabe.db"), DIGESTER).unwrap();
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
