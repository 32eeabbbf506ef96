//! The store of a laboratory in PostgreSQL: complete runs that were measured elsewhere, with their
//! digests.
//!
//! There is one row per run, by its identity. Runs are added in batches. Each batch is a
//! transaction that holds one lock from beginning to end, so that concurrent writers wait for one
//! another and a batch is stored completely or not at all. For a run that already exists only a
//! hash is compared. The record is the usual JSON text without its id, which belongs to this store.
//!
//! Neither the server nor the contents of the tables are trusted: [`session`] limits the time,
//! [`guard`] the messages, and [`fields`] checks each value.

mod address;
mod failure;
mod fields;
mod guard;
mod read;
mod schema;
mod session;
mod tls;
mod write;

use crate::store::{Archive, BroughtRun, Runs, no_such_run};
use crate::{Filter, RunHash, SharedAccess, SharedAddress};
use address::DatabaseAddress;
use failure::failed;
use fields::{RowFields, run_id, run_identity};
use kurabe_core::digest::{Digester, Digests};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_core::{Error, Result};
use session::{DatabaseSession, Failure, Parameters};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

pub(crate) struct PostgresStore {
    session: DatabaseSession,
    address: DatabaseAddress,
    digester: Digester,
    /// Numbers of words that are known to be in the database.
    numbers: RefCell<HashMap<String, i32>>,
}

impl PostgresStore {
    pub(crate) fn open(
        address: &SharedAddress,
        access: SharedAccess,
        digester: Digester,
        env: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self> {
        let address = DatabaseAddress::read(address, env)?;
        let session = DatabaseSession::open(&address).map_err(|failure| failed(&address, failure))?;
        match access {
            SharedAccess::Write => {
                schema::migrate(&session, &address)?;
                // About ten times as fast as the default. A server without it continues with the
                // default.
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
        Ok(Self { session, address, digester, numbers: RefCell::default() })
    }

    fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |failure| failed(&self.address, failure)
    }

    /// Runs a query on a table, and converts each row to a value.
    fn read<T>(
        &self,
        table: &'static str,
        sql: &str,
        parameters: Parameters<'_>,
        made: impl FnMut(&RowFields<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        fields::read(&self.session, table, sql, parameters, made).map_err(self.failed())
    }

    /// Returns the ids of runs that a query selects.
    fn ids_of(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<String>> {
        self.read("runs", sql, parameters, run_id)
    }
}

impl Runs for PostgresStore {
    fn salt(&self) -> Result<Vec<u8>> {
        const SALT_BYTES: usize = 16;
        let salt = |row: &RowFields<'_>| {
            row.checked("salt", |salt: &Vec<u8>| salt.len() == SALT_BYTES, "not 16 bytes")
        };
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

    fn digests(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        read::digests(self, None, progress)
    }

    fn digests_of(&self, runs: &[RunSummary], progress: &mut dyn FnMut(usize, usize)) -> Result<Digests> {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        read::digests(self, Some(&ids), progress)
    }

    fn pooled(
        &self,
        day_chars: Option<usize>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<RunSummary>, Digests)> {
        match day_chars.map_or(Ok(None), |chars| read::pooled(self, chars))? {
            Some(pooled) => Ok(pooled),
            None => Ok((self.list()?, self.digests(progress)?)),
        }
    }
}

impl Archive for PostgresStore {
    fn import(&self, record: RunRecord) -> Result<String> {
        let arrivals = write::take(self, vec![record])?;
        arrivals.into_iter().next().map_or_else(|| Err(no_such_run("")), |arrival| Ok(arrival?.id))
    }

    fn holds(&self, offered: &[RunHash]) -> Result<HashSet<String>> {
        let (identities, hashes): (Vec<&str>, Vec<&[u8]>) =
            offered.iter().map(|hash| (hash.identity.as_str(), hash.sha256.as_slice())).unzip();
        let sql = "SELECT runs.identity FROM kurabe.runs JOIN unnest($1::text[], $2::bytea[]) AS offered (identity, sha256)
             ON runs.identity = offered.identity AND record_sha256 = sha256 WHERE digest_version = $3";
        let held =
            self.read("runs", sql, &[&identities, &hashes, &(self.digester.version as i32)], run_identity)?;
        Ok(held.into_iter().collect())
    }

    fn keep_digest(&self, id: &str) -> Result<()> {
        let record = self.load(id)?;
        write::take(self, vec![record])?.into_iter().try_for_each(|arrival| arrival.map(|_| ()))
    }

    fn take(&self, records: Vec<RunRecord>) -> Result<Vec<Result<BroughtRun>>> {
        write::take(self, records)
    }
}
