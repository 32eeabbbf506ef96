//! The tables, their version, and the migration from older versions.
//!
//! `application_id` marks the file as kurabe's, and `user_version` is the number of the steps below
//! that were applied to it. A released step never changes; a change of the tables is another step.

use super::checksum::Rows;
use super::error::{elsewhere, store_error};
use super::read::each_run;
use kurabe_core::{Error, ErrorKind, Result, mention::DB, shown, text};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// "kura" in ASCII, in the header of the file.
pub(super) const APPLICATION_ID: i32 = 0x6b75_7261;

/// Version of the tables that this kurabe writes.
pub(super) const VERSION: i32 = STEPS.len() as i32;

/// First version with digests.
pub(super) const DIGESTS: i32 = 2;

/// First version with checksums, and with repetitions in separate rows.
pub(super) const CHECKSUMS: i32 = 4;

/// First version with the files that runs created.
pub(super) const MADE_FILES: i32 = 5;

/// First version with the records of served models.
pub(super) const SERVED: i32 = 6;

/// First version with the identities of runs.
pub(super) const IDENTITIES: i32 = 7;

/// First version with hashes of runs.
pub(super) const HASHES: i32 = 8;

const STEPS: [&str; 8] = [
    "
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id                TEXT PRIMARY KEY NOT NULL,
    started_at        TEXT NOT NULL,
    started_unix_s    REAL NOT NULL,
    status            TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),
    target            TEXT NOT NULL,
    device            TEXT,
    profile           TEXT NOT NULL,
    cell_count        INTEGER NOT NULL DEFAULT 0,
    header            TEXT NOT NULL,
    fill              TEXT,
    ended_at          TEXT,
    error             TEXT,
    health_after      TEXT,
    test_file         BLOB,
    owner_pid         INTEGER,
    owner_start_ticks INTEGER,
    owner_boot_id     TEXT
) STRICT;
CREATE INDEX runs_by_start ON runs (started_unix_s);

CREATE TABLE notices (
    run_id       TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    notice_index INTEGER NOT NULL,
    notice       TEXT NOT NULL,
    PRIMARY KEY (run_id, notice_index)
) STRICT;

CREATE TABLE cells (
    run_id     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    cell_index INTEGER NOT NULL,
    cell       TEXT NOT NULL,
    PRIMARY KEY (run_id, cell_index)
) STRICT;

CREATE TABLE labels (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('salt', randomblob(16));
",
    "
-- The list is answered from this index alone, without a look at the headers (see `LISTED` in read.rs).
CREATE INDEX runs_listed ON runs (
    started_unix_s, id, started_at, status, target, device, profile, cell_count,
    CASE WHEN json_valid(header) THEN json_array(
        json_extract(header, '$.origin.measured_at'), json_extract(header, '$.origin.tool'),
        json_extract(header, '$.model.title.en'), json_extract(header, '$.model.title.ja')) END
);
DROP INDEX runs_by_start;
CREATE INDEX runs_running ON runs (id) WHERE status = 'running';

CREATE TABLE words (
    word_id INTEGER PRIMARY KEY,
    word    TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE digests (
    run_id  TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A digest is of the record as it is: what changes the record drops it.
CREATE TRIGGER header_changed AFTER UPDATE OF header ON runs
BEGIN DELETE FROM digests WHERE run_id = NEW.id; END;
CREATE TRIGGER cell_added AFTER INSERT ON cells
BEGIN DELETE FROM digests WHERE run_id = NEW.run_id; END;
CREATE TRIGGER cell_changed AFTER UPDATE ON cells
BEGIN DELETE FROM digests WHERE run_id = NEW.run_id; END;
CREATE TRIGGER cell_removed AFTER DELETE ON cells
BEGIN DELETE FROM digests WHERE run_id = OLD.run_id; END;
",
    "
-- Few runs have one, and every start asks for them.
CREATE INDEX runs_with_test_file ON runs (test_file) WHERE test_file IS NOT NULL;
",
    "
-- Repetitions of a cell that is not over; the cell's own row has them all when it is.
CREATE TABLE repetitions (
    run_id           TEXT NOT NULL,
    cell_index       INTEGER NOT NULL,
    repetition_index INTEGER NOT NULL,
    repetition       TEXT NOT NULL,
    PRIMARY KEY (run_id, cell_index, repetition_index),
    FOREIGN KEY (run_id, cell_index) REFERENCES cells (run_id, cell_index) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER repetition_added AFTER INSERT ON repetitions
BEGIN DELETE FROM digests WHERE run_id = NEW.run_id; END;

-- Of every text that a record is made of, under the name of its field.
CREATE TABLE checksums (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    field  TEXT NOT NULL,
    crc32  INTEGER NOT NULL,
    PRIMARY KEY (run_id, field)
) STRICT, WITHOUT ROWID;

-- Digests without a checksum are made again.
DELETE FROM digests;
ALTER TABLE digests ADD COLUMN crc32 INTEGER NOT NULL DEFAULT 0;
",
    "
-- Where the owner's number counts.
ALTER TABLE runs ADD COLUMN owner_pid_namespace INTEGER;
ALTER TABLE runs ADD COLUMN owner_host_id TEXT;

-- What a run made outlives its record: it stays here until it is known to be gone.
CREATE TABLE made_files (
    run_id TEXT PRIMARY KEY NOT NULL,
    path   BLOB NOT NULL,
    facts  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO made_files (run_id, path, facts)
    SELECT id, test_file, '{\"word\":\"\"}' FROM runs WHERE test_file IS NOT NULL;
DROP INDEX runs_with_test_file;
ALTER TABLE runs DROP COLUMN test_file;
",
    "
-- What servers of models said at their end.
CREATE TABLE served (
    served_id INTEGER PRIMARY KEY,
    kept_at   TEXT NOT NULL,
    record    TEXT NOT NULL,
    crc32     INTEGER NOT NULL
) STRICT;
",
    "
-- As the record has it, or as it follows from the record. Null where that is not sure: in runs of before that cannot be read, or
-- were being measured when this was made.
ALTER TABLE runs ADD COLUMN identity TEXT;
CREATE INDEX runs_by_identity ON runs (identity);
",
    "
-- Whoever brings runs to another store compares these and need not read the runs. Every text of a record has its checksum: what
-- changes one drops the hash.
CREATE TABLE hashes (
    run_id   TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    sha256   BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER text_written AFTER INSERT ON checksums
BEGIN DELETE FROM hashes WHERE run_id = NEW.run_id; END;
CREATE TRIGGER text_removed AFTER DELETE ON checksums
BEGIN DELETE FROM hashes WHERE run_id = OLD.run_id; END;
",
];

/// Program that a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owned {
    /// An empty file.
    Empty,
    /// A store of kurabe.
    Kurabe,
    /// A file of another program.
    Other,
}

/// Determines which program a file belongs to, without writing. Both queries are in one
/// transaction, because another process may create the tables between them.
pub(super) fn owned(connection: &Connection) -> rusqlite::Result<Owned> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    if is_ours(&snapshot)? {
        return Ok(Owned::Kurabe);
    }
    let pages: i64 = snapshot.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    Ok(if pages == 0 { Owned::Empty } else { Owned::Other })
}

fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    Ok(id == APPLICATION_ID)
}

/// Returns the bytes of a new store.
pub(super) fn image() -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    advance(&transaction, 0)?;
    transaction.commit()?;
    Ok(connection.serialize("main")?.to_vec())
}

/// Migrates the tables to [`VERSION`]. Of several concurrent processes, one does the work and the
/// others wait for it.
pub(super) fn migrate(connection: &Connection, path: &Path) -> Result<()> {
    let shown = shown::path(path);
    let failed = |error: rusqlite::Error| {
        store_error(text!("cannot set up the store {shown}", "保存先 {shown} を準備できません"), &error, path)
    };
    match owned(connection).map_err(failed)? {
        Owned::Other => return Err(not_ours(path)),
        Owned::Kurabe if version(connection, path)? == VERSION => return Ok(()),
        _ => {}
    }
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(failed)?;
    let done = if is_ours(&transaction).map_err(failed)? {
        version(&transaction, path)?
    } else if has_no_tables(&transaction).map_err(failed)? {
        0
    } else {
        return Err(not_ours(path));
    };
    if done < VERSION {
        advance(&transaction, done).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// Migrates tables from version `done` (0 if there are none) to [`VERSION`].
fn advance(transaction: &Transaction<'_>, done: i32) -> rusqlite::Result<()> {
    for step in &STEPS[done as usize..] {
        transaction.execute_batch(step)?;
    }
    if done < CHECKSUMS {
        seal_all(transaction)?;
    }
    if done < IDENTITIES {
        identify_all(transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)
}

fn has_no_tables(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Writes the checksums of everything that is stored, for tables that had none.
fn seal_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    each_run(transaction, "SELECT id FROM runs", |id, texts| {
        let mut sealed = texts.sealed().into_iter();
        sealed.try_for_each(|(field, bytes)| Rows { transaction, id }.seal(field, &bytes))
    })
}

/// Writes the identities of existing runs.
fn identify_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    each_run(transaction, "SELECT id FROM runs WHERE status <> 'running'", |id, texts| {
        let Ok(run) = texts.parse(id) else { return Ok(()) };
        let sql = "UPDATE runs SET identity = ?2 WHERE id = ?1";
        transaction.execute(sql, [id, &run.header.identity]).map(|_| ())
    })
}

/// Returns whether the tables have the features of a version. Older tables in a read-only store are
/// not migrated.
pub(super) fn has(connection: &Connection, since: i32) -> rusqlite::Result<bool> {
    Ok(version_number(connection)? >= since)
}

fn version_number(connection: &Connection) -> rusqlite::Result<i32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Returns the version of the tables, if this kurabe supports it.
///
/// # Errors
/// If a newer kurabe wrote them, or they cannot be read.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<i32> {
    let shown = shown::path(path);
    let version = version_number(connection).map_err(|error| {
        store_error(text!("cannot read the store {shown}", "保存先 {shown} を読めません"), &error, path)
    })?;
    if (1..=VERSION).contains(&version) {
        return Ok(version);
    }
    Err(ErrorKind::Store
        .error(text!(
            "the store {shown} was written by a newer version of kurabe (store version {version}; this \
         version supports up to {VERSION})",
            "保存先 {shown} は新しい kurabe のものです(版 {version}。ここで扱えるのは {VERSION} まで)"
        ))
        .remedy(text!(
            "update kurabe, or use another store with {DB} FILE",
            "kurabe を更新するか、{DB} FILE で別の保存先を使ってください"
        )))
}

/// Creates the error for a file that is not kurabe's.
pub(super) fn not_ours(path: &Path) -> Error {
    let path = shown::path(path);
    ErrorKind::Store
        .error(text!(
            "{path} belongs to another program and is not a kurabe store; it was not changed",
            "{path} は kurabe の保存先ではなく、ほかのプログラムのファイルです(変更していません)"
        ))
        .remedy(elsewhere())
}
