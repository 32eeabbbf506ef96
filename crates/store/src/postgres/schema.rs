//! The tables in PostgreSQL, in a separate schema (`kurabe`), and their version.
//!
//! As in a SQLite file, the version is the number of migration steps that were applied. Writers
//! apply missing steps if their role permits it; readers get an error.

use super::address::DatabaseAddress;
use super::failure::failed;
use super::fields::{RowFields, read_one};
use super::session::{DatabaseAnswer, DatabaseSession, Failure};
use kurabe_core::{ErrorKind, Result, mention::PUSH, text};
use std::cell::Cell;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// Lock that every writer holds until its transaction ends: "kurabe" in ASCII.
const LOCK: i64 = 0x6b75_7261_6265;

/// Version of the tables that this kurabe writes.
const VERSION: i32 = STEPS.len() as i32;

const STEPS: [&str; 2] = ["
CREATE TABLE kurabe.meta (salt bytea NOT NULL, version integer NOT NULL);
INSERT INTO kurabe.meta VALUES (uuid_send(gen_random_uuid()), 0);

-- By the hash of it, because an index takes no long words.
CREATE TABLE kurabe.words (
    word_id serial PRIMARY KEY,
    hash    bytea NOT NULL UNIQUE,
    word    text NOT NULL
);

CREATE TABLE kurabe.runs (
    identity       text PRIMARY KEY,
    id             text COLLATE \"C\" NOT NULL UNIQUE,
    arrival        bigserial,
    started_unix_s double precision NOT NULL,
    summary        text NOT NULL,
    -- All names by which a device is asked for, as one word.
    names_id       integer NOT NULL REFERENCES kurabe.words,
    schema         integer NOT NULL,
    record         text NOT NULL,
    record_sha256  bytea NOT NULL,
    digest_version integer NOT NULL,
    digest         text NOT NULL
);
CREATE INDEX runs_by_start ON kurabe.runs (started_unix_s, arrival);
CREATE INDEX runs_by_names ON kurabe.runs (names_id);
", "
-- The words that are names, by themselves: who asks for a device looks through all of them.
CREATE TABLE kurabe.names (names_id integer PRIMARY KEY REFERENCES kurabe.words, names text NOT NULL);
INSERT INTO kurabe.names SELECT word_id, word FROM kurabe.words WHERE word_id IN (SELECT names_id FROM kurabe.runs);

-- What a pivot adds up: as little of a run as can be, because all runs are read for it.
ALTER TABLE kurabe.runs ADD UNIQUE (arrival);
CREATE INDEX runs_by_digest_version ON kurabe.runs (digest_version);
CREATE TABLE kurabe.figures (
    arrival        bigint PRIMARY KEY REFERENCES kurabe.runs (arrival) ON DELETE CASCADE,
    started_unix_s double precision NOT NULL,
    measured_on    text NOT NULL,
    -- The same in runs whose facts, cells, labels and target are.
    alike          uuid NOT NULL,
    -- Means of the cells, in the order of the digest.
    means          double precision[] NOT NULL
);
-- A run that was there before is alike with none, and needs no means for itself.
INSERT INTO kurabe.figures SELECT arrival, started_unix_s, '', md5(identity)::uuid, '{}' FROM kurabe.runs;

DO $$
DECLARE given record;
BEGIN
    FOR given IN SELECT grantee, privilege_type FROM information_schema.role_table_grants
        WHERE table_schema = 'kurabe' AND table_name = 'runs' AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE')
    LOOP
        EXECUTE format('GRANT %s ON kurabe.names, kurabe.figures TO %s', given.privilege_type,
            CASE given.grantee WHEN 'PUBLIC' THEN 'PUBLIC' ELSE quote_ident(given.grantee) END);
    END LOOP;
END $$;
"];

/// Attempts to get the lock, each as long as the server waits ([`LOCK_WAIT`]).
const LOCK_TRIES: u32 = 30;
/// Shorter than the time limit of a request.
const LOCK_WAIT: &str = "SET lock_timeout = '10s'";

/// Time limit of a step, which rewrites data of all runs.
const STEP_PATIENCE: Duration = Duration::from_secs(300);

/// Runs work in a transaction while no other process adds runs.
pub(super) fn locked<T>(
    session: &DatabaseSession,
    mut work: impl FnMut() -> DatabaseAnswer<T>,
) -> DatabaseAnswer<T> {
    let mut tries = 0;
    loop {
        tries += 1;
        let is_locked = Cell::new(false);
        let done = session.transaction(|| {
            session.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
            is_locked.set(true);
            work()
        });
        match done {
            Err(Failure::Database(error))
                if !is_locked.get()
                    && tries < LOCK_TRIES
                    && error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {}
            done => return done,
        }
    }
}

/// Returns the version of the tables, or 0 if they do not exist.
fn version(session: &DatabaseSession) -> DatabaseAnswer<i32> {
    let is_there = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'kurabe' AND \
        tablename = 'meta') AS meta";
    if !read_one(session, "meta", is_there, &[], |row| row.get::<bool>("meta"))? {
        return Ok(0);
    }
    let version = |row: &RowFields<'_>| row.checked("version", |version: &i32| *version >= 0, "negative");
    read_one(session, "meta", "SELECT version FROM kurabe.meta", &[], version)
}

/// Checks that the tables have the version of this kurabe.
pub(super) fn check(session: &DatabaseSession, address: &DatabaseAddress) -> Result<()> {
    let version = version(session).map_err(|failure| failed(address, failure))?;
    let database = &address.shown;
    if version == 0 {
        return Err(ErrorKind::NoSuchRun
            .error(text!("{database} contains no runs yet", "{database} にはまだ測定がありません"))
            .remedy(text!("send runs with `{PUSH}`", "`{PUSH}` で測定を送ってください")));
    }
    if version < VERSION {
        return Err(ErrorKind::Store
            .error(text!(
                "the tables of {database} were created by an older version of kurabe",
                "{database} の表は古い kurabe のものです"
            ))
            .remedy(text!(
                "run `{PUSH}` with the role that owns them to upgrade the tables",
                "表を所有するロールで `{PUSH}` を実行すると更新されます"
            )));
    }
    refuse_newer(version, database)
}

fn refuse_newer(version: i32, database: &str) -> Result<()> {
    if version <= VERSION {
        return Ok(());
    }
    Err(ErrorKind::Store
        .error(text!(
            "the tables of {database} were created by a newer version of kurabe (table version {version}; \
             this version supports up to {VERSION})",
            "{database} の表は新しい kurabe のものです(バージョン {version}。ここで扱えるのは {VERSION} まで)"
        ))
        .remedy(text!("update kurabe", "kurabe を更新してください")))
}

/// Creates or migrates the tables.
pub(super) fn migrate(session: &DatabaseSession, address: &DatabaseAddress) -> Result<()> {
    let steps = || {
        session.statements(LOCK_WAIT)?;
        if version(session)? == VERSION {
            return Ok(VERSION);
        }
        locked(session, || steps(session))
    };
    let made = steps().map_err(|failure| failed(address, failure))?;
    refuse_newer(made, &address.shown)
}

/// Applies the missing steps, and returns the previous version.
fn steps(session: &DatabaseSession) -> DatabaseAnswer<i32> {
    // Another process may have applied them in the meantime.
    let version = version(session)?;
    if version == 0 {
        let is_there =
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'kurabe') AS there";
        if !read_one(session, "meta", is_there, &[], |row| row.get::<bool>("there"))? {
            session.statements("CREATE SCHEMA kurabe")?;
        }
    }
    session.set_patience(Some(STEP_PATIENCE));
    let made = STEPS.iter().skip(version as usize).try_for_each(|step| session.statements(step));
    session.set_patience(None);
    made?;
    if version < VERSION {
        session.execute("UPDATE kurabe.meta SET version = $1", &[&VERSION])?;
    }
    Ok(version)
}
