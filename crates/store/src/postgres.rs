//! The store of a laboratory in PostgreSQL: runs that were measured elsewhere, whole, with their digests.
//!
//! The model: a row per run, by its identity. Runs come in batches, each a transaction that holds one lock from its beginning
//! to its end, so that those who bring runs wait for one another and a batch is there whole or not at all. A run that is there
//! already costs the comparison of a hash. The record is JSON text as everywhere, without its id, which is this store's.
//!
//! Neither the server nor the contents of the tables are trusted: [`session`] limits time, [`guard`] the messages, [`fields`] checks each value.

mod address;
mod fields;
mod guard;
mod read;
mod schema;
mod session;
mod tls;
mod write;

use crate::shared::SharedAccess;
use crate::store::{Archive, BroughtRun, Runs, no_such_run};
use crate::{Filter, RunHash, SharedAddress};
use address::DatabaseAddress;
use fields::{Fields, run_id, run_identity};
use kurabe_core::digest::{Digests, RunDigest};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use session::{Failure, Parameters, Session};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use tokio_postgres::Error as DatabaseError;
use tokio_postgres::error::SqlState;

/// The database, as long as it is connected to.
pub(crate) struct PostgresStore {
    session: Session,
    address: DatabaseAddress,
    /// Numbers of words that are in the database for certain.
    numbers: RefCell<HashMap<String, i32>>,
}

impl PostgresStore {
    pub(crate) fn open(
        address: &SharedAddress,
        access: SharedAccess,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        let address = DatabaseAddress::read(address, env)?;
        let session = Session::open(&address).map_err(|failure| failed(&address, failure))?;
        match access {
            SharedAccess::Write => {
                schema::migrate(&session, &address)?;
                // Some ten times as quick as the usual one; a server without it goes on with that.
                let _ = session.statements("SET default_toast_compression = lz4");
            }
            SharedAccess::Read => {
                session
                    .statements(
                        "SET default_transaction_read_only = on; SET jit = off; SET work_mem = '64MB'",
                    )
                    .map_err(|failure| failed(&address, failure))?;
                schema::check(&session, &address)?;
            }
        }
        Ok(Self { session, address, numbers: RefCell::default() })
    }

    fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |failure| failed(&self.address, failure)
    }

    /// The rows that a table has for a statement, each made into a value.
    fn read<T>(
        &self,
        table: &'static str,
        sql: &str,
        parameters: Parameters<'_>,
        made: impl FnMut(&Fields<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        fields::read(&self.session, table, sql, parameters, made).map_err(self.failed())
    }

    /// Ids of runs.
    fn ids_of(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<String>> {
        self.read("runs", sql, parameters, run_id)
    }
}

/// The error for a request that has no answer, with the remedy that it calls for.
fn failed(address: &DatabaseAddress, failure: Failure) -> Error {
    let database = &address.shown;
    let unusable = || ErrorKind::Store.error(text!("cannot use {database}", "{database} を使えません"));
    match failure {
        Failure::Value(error) => error,
        Failure::Database(cause) => answered(address, unusable(), &cause),
        Failure::Connection(cause) => unusable().because(cause).remedy(unreachable_server()),
        Failure::Limit(reason) => ErrorKind::Store
            .error(text!("cannot use {database}: {reason}", "{database} を使えません: {reason}"; reason))
            .remedy(text!(
                "see that this is the right server and what it is doing; nothing stored here is lost",
                "サーバーが正しいか、何をしているかを確認してください。手元の測定はそのままです"
            )),
    }
}

fn unreachable_server() -> Text {
    text!(
        "see that the server runs, and what the address says of TLS (sslmode, sslrootcert); nothing stored here is lost",
        "サーバーの状態と、アドレスの TLS の指定(sslmode、sslrootcert)を確認してください。手元の測定はそのままです"
    )
}

/// The error for what the server or the client's library says.
fn answered(address: &DatabaseAddress, error: Error, cause: &DatabaseError) -> Error {
    let reason = match (cause.as_db_error(), std::error::Error::source(cause)) {
        (Some(answer), _) => answer.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => cause.to_string(),
    };
    let error = error.because(shown::line(&address.without_password(&reason)));
    match cause.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => {
            error.remedy(text!(
                "the role lacks a right: its owner gives it, as docs/laboratory.md tells",
                "ロールに権限がありません。所有者に付けてもらってください(docs/laboratory.md 参照)"
            ))
        }
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            error.remedy(text!(
                "name the role in the address, and its password in ~/.pgpass or PGPASSWORD",
                "アドレスにロールを、~/.pgpass か PGPASSWORD にパスワードを書いてください"
            ))
        }
        Some(&SqlState::LOCK_NOT_AVAILABLE) => error.remedy(text!(
            "other machines are bringing runs: try again later; nothing stored here is lost",
            "ほかのマシンが測定を送っています。あとでもう一度実行してください。手元の測定はそのままです"
        )),
        Some(_) => error,
        None => error.remedy(unreachable_server()),
    }
}

impl Runs for PostgresStore {
    fn salt(&self) -> Result<Vec<u8>> {
        const SALT_BYTES: usize = 16;
        let salt =
            |row: &Fields<'_>| row.checked("salt", |salt: &Vec<u8>| salt.len() == SALT_BYTES, "not 16 bytes");
        let sql = "SELECT salt FROM kurabe.meta";
        fields::read_one(&self.session, "meta", sql, &[], salt).map_err(self.failed())
    }

    fn identified(&self, identity: &str) -> Result<Option<String>> {
        Ok(self.ids_of("SELECT id FROM kurabe.runs WHERE identity = $1", &[&identity])?.pop())
    }

    fn list(&self) -> Result<Vec<RunSummary>> {
        self.narrowed(&Filter::default())
    }

    fn narrowed(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        read::narrowed(self, filter)
    }

    fn ids(&self, prefix: &str) -> Result<Vec<String>> {
        self.ids_of(
            "SELECT id FROM kurabe.runs WHERE id >= $1 AND id < $1 || '{' AND starts_with(id, $1)
             ORDER BY started_unix_s, arrival",
            &[&prefix],
        )
    }

    fn newest(&self) -> Result<Option<String>> {
        let sql = "SELECT id FROM kurabe.runs ORDER BY started_unix_s DESC, arrival DESC LIMIT 1";
        Ok(self.ids_of(sql, &[])?.pop())
    }

    fn load(&self, id: &str) -> Result<RunRecord> {
        read::record(&self.session, id).map_err(self.failed())?.ok_or_else(|| no_such_run(id))
    }

    fn hashes(&self, words: &[String]) -> Result<Vec<RunHash>> {
        let (sql, parameters): (_, Parameters<'_>) = match words.is_empty() {
            true => ("SELECT id, identity, record_sha256 FROM kurabe.runs", &[]),
            false => (
                "SELECT id, identity, record_sha256 FROM kurabe.runs WHERE id = ANY ($1) OR identity = ANY ($1)",
                &[&words],
            ),
        };
        self.read("runs", sql, parameters, |row| {
            Ok(RunHash { id: run_id(row)?, identity: run_identity(row)?, sha256: row.record_sha256()? })
        })
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
        let there = self.read("runs", sql, &[&identities, &hashes, &(version as i32)], run_identity)?;
        Ok(there.into_iter().collect())
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
