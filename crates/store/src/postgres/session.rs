//! A connection to the server, in which every request has a time limit.
//!
//! The client library never blocks. Its work runs in one executor on the caller's thread, and only
//! during a request; the executor's timer ends requests that take too long. A request gets more
//! time only for rows that arrive and for data that it sends, so that a slow line is not mistaken
//! for a server that does not respond.

use super::address::DatabaseAddress;
use super::guard::{Guarded, Meter, Wire, foreign};
use crate::json::Unwritable;
use kurabe_core::{Error, Text, text};
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Connection, Error as DatabaseError, NoTls, Row, tls::NoTlsStream};

/// Time limit of a request with small rows and parameters.
const PATIENCE: Duration = Duration::from_secs(30);
/// Lowest data rate: this many bytes extend the limit by a second.
const LEAST_BYTES_PER_S: u64 = 64 << 10;
/// Time limit for closing the connection.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

pub(super) type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

/// Reason why a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Error of the server or the client library.
    Database(DatabaseError),
    /// Error of the connection.
    Connection(io::Error),
    /// A limit of the guard, or the time limit.
    Limit(Text),
    /// A value that is not valid.
    Value(Error),
}

pub(super) type DatabaseAnswer<T> = Result<T, Failure>;

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<Unwritable> for Failure {
    fn from(error: Unwritable) -> Self {
        Self::Value(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Value(error)
    }
}

type Connected = (Client, Connection<Guarded, NoTlsStream>);

/// A connection that has logged in.
pub(super) struct DatabaseSession {
    client: Option<Client>,
    connection: JoinHandle<()>,
    /// Reason why the connection ended.
    ended: Arc<Mutex<Option<DatabaseError>>>,
    meter: Arc<Meter>,
    patience: Cell<Duration>,
    /// Removed when the session ends.
    runtime: Option<Runtime>,
}

impl DatabaseSession {
    /// Connects to the first server of an address that responds.
    pub(super) fn open(address: &DatabaseAddress) -> DatabaseAnswer<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let meter = Arc::new(Meter::default());
        let connected = runtime.block_on(async {
            let mut failure =
                Failure::Limit(text!("the address has no host", "アドレスにホストがありません"));
            for place in &address.places {
                meter.begin();
                let logged_in = logged_in(address, place, &meter);
                match timeout(address.patience, logged_in)
                    .await
                    .unwrap_or_else(|_| Err(late(address.patience)))
                {
                    Ok(connected) => return Ok(connected),
                    Err(_) if meter.refused().is_some() => {
                        return Err(Failure::Limit(meter.refused().unwrap_or_else(foreign)));
                    }
                    Err(error) => failure = error,
                }
            }
            Err(failure)
        });
        match connected {
            Ok((client, connection)) => {
                let ended = Arc::new(Mutex::default());
                let connection = runtime.spawn(followed(connection, ended.clone()));
                let (client, patience) = (Some(client), Cell::new(PATIENCE));
                Ok(Self { client, connection, ended, meter, patience, runtime: Some(runtime) })
            }
            Err(failure) => {
                // Does not wait for a name resolution in progress.
                runtime.shutdown_background();
                Err(failure)
            }
        }
    }

    /// Sets the time limit of the following requests.
    pub(super) fn set_patience(&self, patience: Option<Duration>) {
        self.patience.set(patience.unwrap_or(PATIENCE));
    }

    /// Runs a request within its time limit.
    fn wait<'s, T, F>(&'s self, request: impl FnOnce(&'s Client) -> F) -> DatabaseAnswer<T>
    where
        F: Future<Output = DatabaseAnswer<T>> + 's,
    {
        let (Some(runtime), Some(client)) = (&self.runtime, &self.client) else {
            return Err(Failure::Limit(foreign()));
        };
        if let Some(reason) = self.meter.refused() {
            return Err(Failure::Limit(reason));
        }
        self.meter.begin();
        let patience = self.patience.get();
        runtime.block_on(async {
            let begun = Instant::now();
            let mut request = pin!(request(client));
            loop {
                let more = Duration::from_secs(self.meter.moved_bytes() / LEAST_BYTES_PER_S);
                let end = begun + patience + more;
                match timeout_at(end, request.as_mut()).await {
                    Ok(Err(Failure::Database(error))) => return Err(self.reason(error)),
                    Ok(answer) => return answer,
                    Err(_) if self.meter.moved_bytes() / LEAST_BYTES_PER_S > more.as_secs() => {}
                    Err(_) => {
                        let Failure::Limit(reason) = late(patience + more) else { continue };
                        self.meter.refuse(reason.clone());
                        return Err(Failure::Limit(reason));
                    }
                }
            }
        })
    }

    /// Returns why a request failed. If the connection was closed, its own error is more specific
    /// than that of the request.
    fn reason(&self, error: DatabaseError) -> Failure {
        if !error.is_closed() {
            return Failure::Database(error);
        }
        let cause = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.meter.refused().map_or_else(|| Failure::Database(cause.unwrap_or(error)), Failure::Limit)
    }

    /// Passes each row to `take` as it arrives.
    pub(super) fn each(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        mut take: impl FnMut(Row) -> kurabe_core::Result<()>,
    ) -> DatabaseAnswer<()> {
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters.to_vec();
        self.wait(|client| async move {
            let mut rows = pin!(client.query_raw(sql, parameters).await?);
            while let Some(row) =
                poll_fn(|context| futures_core::Stream::poll_next(rows.as_mut(), context)).await
            {
                take(row?)?;
            }
            Ok(())
        })
    }

    pub(super) fn execute(&self, sql: &str, parameters: Parameters<'_>) -> DatabaseAnswer<()> {
        self.wait(|client| async move {
            client.execute(sql, parameters).await?;
            Ok(())
        })
    }

    /// Executes statements without parameters, ignoring their rows.
    pub(super) fn statements(&self, sql: &str) -> DatabaseAnswer<()> {
        self.wait(|client| async move { Ok(client.batch_execute(sql).await?) })
    }

    /// Runs work in a transaction.
    pub(super) fn transaction<T>(&self, work: impl FnOnce() -> DatabaseAnswer<T>) -> DatabaseAnswer<T> {
        self.statements("BEGIN")?;
        let done = work().and_then(|done| self.statements("COMMIT").map(|()| done));
        if done.is_err() {
            // On a closed connection this fails, and the server rolls back.
            let _ = self.statements("ROLLBACK");
        }
        done
    }
}

impl Drop for DatabaseSession {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // The connection closes when its client is dropped.
        self.client = None;
        if self.meter.refused().is_none() && !self.connection.is_finished() {
            let _ = runtime.block_on(async { timeout(CLOSE_LIMIT, &mut self.connection).await });
        }
        runtime.shutdown_background();
    }
}

/// Drives the connection until it ends.
async fn followed(connection: Connection<Guarded, NoTlsStream>, ended: Arc<Mutex<Option<DatabaseError>>>) {
    // Requests that wait for an answer are woken by the same event, after this.
    if let Err(error) = connection.await {
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

fn late(patience: Duration) -> Failure {
    let seconds = patience.as_secs();
    Failure::Limit(text!(
        "the server did not answer within {seconds} s",
        "サーバーが {seconds} 秒以内に応答しませんでした"
    ))
}

#[derive(Clone, Debug)]
pub(super) struct ServerPlace {
    /// Name or address of a host, or the directory of a socket.
    pub(super) host: String,
    /// Name that the server's certificate must have.
    pub(super) name: String,
    pub(super) port: u16,
}

/// Connects to a server and logs in.
async fn logged_in(
    address: &DatabaseAddress,
    place: &ServerPlace,
    meter: &Arc<Meter>,
) -> DatabaseAnswer<Connected> {
    let wire: Box<dyn Wire> = match place.host.starts_with('/') {
        // As in libpq, local sockets are not encrypted.
        true => {
            let socket = Path::new(&place.host).join(format!(".s.PGSQL.{}", place.port));
            Box::new(UnixStream::connect(socket).await?)
        }
        false => {
            let stream = TcpStream::connect((place.host.as_str(), place.port)).await?;
            stream.set_nodelay(true)?;
            encrypted(address, place, Box::new(stream)).await?
        }
    };
    let wire = Guarded::new(wire, meter.clone());
    let (client, mut connection) = address.config.connect_raw(wire, NoTls).await?;
    if address.must_write {
        let question = client
            .query_one("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool", &[]);
        let mut question = pin!(question);
        let row = poll_fn(|context| {
            let _ = Pin::new(&mut connection).poll(context);
            question.as_mut().poll(context)
        });
        if row.await?.try_get::<_, bool>(0)? {
            return Err(Failure::Limit(text!(
                "the server does not accept writes",
                "サーバーは書き込みを受け付けません"
            )));
        }
    }
    Ok((client, connection))
}

/// Requests TLS from the server, and encrypts the connection.
async fn encrypted(
    address: &DatabaseAddress,
    place: &ServerPlace,
    mut wire: Box<dyn Wire>,
) -> DatabaseAnswer<Box<dyn Wire>> {
    const REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f];
    let Some(tls) = &address.tls else { return Ok(wire) };
    if !address.is_tls_direct {
        wire.write_all(&REQUEST).await?;
        match wire.read_u8().await? {
            b'S' => {}
            b'N' if !address.must_encrypt => return Ok(wire),
            b'N' => {
                return Err(Failure::Limit(text!(
                    "the server does not support TLS",
                    "サーバーは TLS に対応していません"
                )));
            }
            _ => return Err(Failure::Limit(foreign())),
        }
    }
    Ok(tls.encrypted(&place.name, wire).await?)
}

#[cfg(test)]
mod tests;
