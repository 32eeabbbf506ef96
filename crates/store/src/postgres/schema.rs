//! The tables in PostgreSQL, in a schema of their own (`kurabe`), and their version.
//!
//! The model: as in a file of SQLite, the version says which of the steps the tables have seen. Who brings runs makes the steps
//! that are missing, if its role may; who reads is told.

use kurabe_core::{Error, ErrorKind, Result, mention::PUSH, text};
use postgres::{Error as DatabaseError, GenericClient};

/// Whoever changes something holds this lock of the database until its transaction ends: "kurabe" in ASCII.
const LOCK: i64 = 0x6b75_7261_6265;

/// The version of the tables that this kurabe writes.
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

/// Waits until nobody else brings runs.
pub(super) fn lock(client: &mut impl GenericClient) -> std::result::Result<(), DatabaseError> {
    client.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).map(|_| ())
}

/// The version of the tables; 0 if there are none.
fn version(client: &mut impl GenericClient) -> std::result::Result<i32, DatabaseError> {
    let is_there = client.query_one(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'kurabe' AND tablename = 'meta')",
        &[],
    )?;
    if !is_there.get::<_, bool>(0) {
        return Ok(0);
    }
    Ok(client.query_one("SELECT version FROM kurabe.meta", &[])?.get(0))
}

/// Looks whether the tables are those of this kurabe.
pub(super) fn check(
    client: &mut impl GenericClient,
    database: &str,
    failed: &dyn Fn(&DatabaseError) -> Error,
) -> Result<()> {
    let version = version(client).map_err(|error| failed(&error))?;
    if version == 0 {
        return Err(ErrorKind::NoSuchRun
            .error(text!("no run was brought to {database} yet", "{database} にはまだ測定がありません"))
            .remedy(text!("`{PUSH}` brings them", "`{PUSH}` で測定を送ってください")));
    }
    if version < VERSION {
        return Err(ErrorKind::Store
            .error(text!(
                "the tables of {database} are of an older kurabe",
                "{database} の表は古い kurabe のものです"
            ))
            .remedy(text!(
                "`{PUSH}` with the role that owns them makes them new",
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
            "the tables of {database} are of a newer kurabe (version {version}, known here up to {VERSION})",
            "{database} の表は新しい kurabe のものです(バージョン {version}。ここで扱えるのは {VERSION} まで)"
        ))
        .remedy(text!("update kurabe", "kurabe を更新してください")))
}

/// Makes what is missing of the tables.
pub(super) fn migrate(
    client: &mut postgres::Client,
    database: &str,
    failed: &dyn Fn(&DatabaseError) -> Error,
) -> Result<()> {
    let steps = || {
        if version(client)? == VERSION {
            return Ok(VERSION);
        }
        let mut transaction = client.transaction()?;
        lock(&mut transaction)?;
        // Somebody else may have made them meanwhile.
        let version = version(&mut transaction)?;
        if version == 0 {
            let is_there = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'kurabe')";
            if !transaction.query_one(is_there, &[])?.get::<_, bool>(0) {
                transaction.batch_execute("CREATE SCHEMA kurabe")?;
            }
        }
        for step in STEPS.iter().skip(version.max(0) as usize) {
            transaction.batch_execute(step)?;
        }
        if version < VERSION {
            transaction.execute("UPDATE kurabe.meta SET version = $1", &[&VERSION])?;
        }
        transaction.commit().map(|()| version)
    };
    let mut steps = steps;
    refuse_newer(steps().map_err(|error| failed(&error))?, database)
}
