//! The store of a laboratory in PostgreSQL: runs that were measured elsewhere, whole, with their digests.
//!
//! The model: a row per run, by its identity. Runs come in batches, each a transaction that holds one lock from its beginning
//! to its end, so that those who bring runs wait for one another and a batch is there whole or not at all. A run that is there
//! already costs the comparison of a hash. The record is JSON text as everywhere, without its id, which is this store's.

mod address;
mod read;
mod schema;
mod tls;
mod write;

use crate::shared::SharedAccess;
use crate::store::{Archive, BroughtRun, Runs, no_such_run};
use crate::{Filter, RunHash};
use address::DatabaseAddress;
use kurabe_core::digest::{Digests, RunDigest};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_core::{Error, ErrorKind, Result, text};
use postgres::types::ToSql;
use postgres::{Client, Error as DatabaseError, Row, error::SqlState};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

/// The database, as long as it is connected to.
pub(crate) struct PostgresStore {
    client: RefCell<Client>,
    /// The address as it is shown.
    shown: String,
    /// Numbers of words that are in the database for certain.
    numbers: RefCell<HashMap<String, i32>>,
}

type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

impl PostgresStore {
    pub(crate) fn open(
        address: &str,
        access: SharedAccess,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        let DatabaseAddress { config, tls, shown } = DatabaseAddress::read(address, env)?;
        let failed = |error: &DatabaseError| failure(&shown, error);
        let mut client = config.connect(tls).map_err(|error| failed(&error))?;
        match access {
            SharedAccess::Write => {
                schema::migrate(&mut client, &shown, &failed)?;
                // Some ten times as quick as the usual one; a server without it goes on with that.
                let _ = client.batch_execute("SET default_toast_compression = lz4");
            }
            SharedAccess::Read => {
                client
                    .batch_execute(
                        "SET default_transaction_read_only = on; SET jit = off; SET work_mem = '64MB'",
                    )
                    .map_err(|error| failed(&error))?;
                schema::check(&mut client, &shown, &failed)?;
            }
        }
        Ok(Self { client: RefCell::new(client), shown, numbers: RefCell::default() })
    }

    fn failed(&self) -> impl Fn(DatabaseError) -> Error + '_ {
        |error| failure(&self.shown, &error)
    }

    fn rows(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
        self.client.borrow_mut().query(sql, parameters).map_err(self.failed())
    }

    fn words(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<String>> {
        Ok(self.rows(sql, parameters)?.iter().map(|row| row.get(0)).collect())
    }
}

/// What went wrong with the database at an address, with the remedy that it calls for.
fn failure(shown: &str, cause: &DatabaseError) -> Error {
    let error = ErrorKind::Store.error(text!("cannot use {shown}", "{shown} を使えません"));
    let error = match (cause.as_db_error(), std::error::Error::source(cause)) {
        (Some(answer), _) => error.because(answer.message()),
        (None, Some(source)) => error.because(source),
        (None, None) => error.because(cause),
    };
    match cause.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => error.remedy(text!(
            "the role lacks a right: its owner gives it, as docs/laboratory.md tells",
            "ロールに権限がありません。所有者に付けてもらってください(docs/laboratory.md 参照)"
        )),
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => error.remedy(text!(
            "name the role in the address, and its password in ~/.pgpass or PGPASSWORD",
            "アドレスにロールを、~/.pgpass か PGPASSWORD にパスワードを書いてください"
        )),
        Some(_) => error,
        None => error.remedy(text!(
            "see that the server runs, and what the address says of TLS (sslmode, sslrootcert); nothing stored here is lost",
            "サーバーの状態と、アドレスの TLS の指定(sslmode、sslrootcert)を確認してください。手元の測定はそのままです"
        )),
    }
}

impl Runs for PostgresStore {
    fn salt(&self) -> Result<Vec<u8>> {
        Ok(self.rows("SELECT salt FROM kurabe.meta", &[])?.first().map_or(Vec::new(), |row| row.get(0)))
    }

    fn identified(&self, identity: &str) -> Result<Option<String>> {
        Ok(self.words("SELECT id FROM kurabe.runs WHERE identity = $1", &[&identity])?.pop())
    }

    fn list(&self) -> Result<Vec<RunSummary>> {
        self.narrowed(&Filter::default())
    }

    fn narrowed(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        read::narrowed(self, filter)
    }

    fn ids(&self, prefix: &str) -> Result<Vec<String>> {
        self.words(
            "SELECT id FROM kurabe.runs WHERE id >= $1 AND id < $1 || '{' AND starts_with(id, $1)
             ORDER BY started_unix_s, arrival",
            &[&prefix],
        )
    }

    fn newest(&self) -> Result<Option<String>> {
        let sql = "SELECT id FROM kurabe.runs ORDER BY started_unix_s DESC, arrival DESC LIMIT 1";
        Ok(self.words(sql, &[])?.pop())
    }

    fn load(&self, id: &str) -> Result<RunRecord> {
        let sql = "SELECT id, schema, record, record_sha256 FROM kurabe.runs WHERE id = $1";
        read::record(self.rows(sql, &[&id])?.first().ok_or_else(|| no_such_run(id))?)
    }

    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        let (sql, parameters): (_, Parameters<'_>) = match words.is_empty() {
            true => ("SELECT id, identity, record_sha256 FROM kurabe.runs", &[]),
            false => (
                "SELECT id, identity, record_sha256 FROM kurabe.runs WHERE id = ANY ($1) OR identity = ANY ($1)",
                &[&words],
            ),
        };
        let hash = |row: &Row| RunHash { id: row.get(0), identity: row.get(1), sha256: row.get(2) };
        Ok(self.rows(sql, parameters)?.iter().map(hash).collect())
    }

    fn digests(
        &self,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Digests> {
        read::digests(self, None, version, make, progress)
    }

    fn digests_of(
        &self,
        runs: &[RunSummary],
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Digests> {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        read::digests(self, Some(&ids), version, make, progress)
    }

    fn pooled(
        &self,
        day_chars: Option<usize>,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<RunSummary>, Digests)> {
        match day_chars.map_or(Ok(None), |chars| read::pooled(self, chars, version))? {
            Some(pooled) => Ok(pooled),
            None => Ok((self.list()?, self.digests(version, make, progress)?)),
        }
    }
}

impl Archive for PostgresStore {
    fn import(&self, record: RunRecord) -> Result<String> {
        // Until it is made by who knows how, a digest has no version.
        let arrivals = write::take(self, vec![record], 0, &|_| RunDigest::default())?;
        arrivals.into_iter().next().map_or_else(|| Err(no_such_run("")), |arrival| Ok(arrival?.id))
    }

    fn holds(&self, offered: &[RunHash], version: u32) -> Result<HashSet<String>> {
        let (identities, hashes): (Vec<&str>, Vec<&[u8]>) =
            offered.iter().map(|hash| (hash.identity.as_str(), hash.sha256.as_slice())).unzip();
        let sql = "SELECT runs.identity FROM kurabe.runs JOIN unnest($1::text[], $2::bytea[]) AS offered (identity, sha256)
             ON runs.identity = offered.identity AND record_sha256 = sha256 WHERE digest_version = $3";
        Ok(self.words(sql, &[&identities, &hashes, &(version as i32)])?.into_iter().collect())
    }

    fn keep_digest(&self, id: &str, version: u32, make: &dyn Fn(&RunRecord) -> RunDigest) -> Result<()> {
        let record = self.load(id)?;
        write::take(self, vec![record], version, make)?
            .into_iter()
            .try_for_each(|arrival| arrival.map(|_| ()))
    }

    fn take(
        &self,
        records: Vec<RunRecord>,
        version: u32,
        make: &dyn Fn(&RunRecord) -> RunDigest,
    ) -> Result<Vec<Result<BroughtRun>>> {
        write::take(self, records, version, make)
    }
}
