//! The server: listeners on this machine, connections with limits, and shutdown.
//!
//! The model: one thread serves all requests. Long work is done by at most [`ASIDE_THREADS`] other
//! threads, so that the page does not take processors from a measurement. A connection that sends
//! nothing, too slowly, or too much is closed.
//!
//! This file also opens the user's browser.

use crate::desk::Desk;
use crate::routes;
use crate::seats::Seats;
use crate::session::Sessions;
use crate::shared::{App, Site};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use kurabe_core::{Error, ErrorKind, Lang, Result, shown, text};
use kurabe_host::find_program;
use kurabe_lab::{Listener, StorePlace};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Maximum size of a request's head in bytes. It includes cookies of other programs on the same
/// host.
const MOST_HEAD_BYTES: usize = 64 << 10;
/// Number of threads for long work.
const ASIDE_THREADS: usize = 2;
/// Time for windows to receive the notification that the server is closing.
const FAREWELL: Duration = Duration::from_millis(300);

/// Settings of the page.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store. A shared database is only read.
    pub store: StorePlace,
    /// The port. 0 selects a free one.
    pub port: u16,
    /// An address that other machines can reach.
    pub listen: Option<IpAddr>,
    /// The language for readers who have not chosen one.
    pub lang: Lang,
    /// The command line for the records.
    pub command: Vec<String>,
    /// The folder in which servers of models are registered, if there is one.
    pub served: Option<PathBuf>,
}

/// Time limits for clients and responses.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Maximum time to receive the head of a request.
    pub head: Duration,
    /// Maximum time to receive the body of a request.
    pub body: Duration,
    /// Maximum time to create a response.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let [head, body, answer] = [10, 10, 60].map(Duration::from_secs);
        Self { head, body, answer }
    }
}

/// The page, ready to be served.
pub struct Ui {
    shared: App,
    listeners: Vec<TcpListener>,
    patience: Patience,
}

/// Handle that closes a page from another thread.
#[derive(Clone)]
pub struct Closer(App);

impl Closer {
    /// Stops the current run, stores its results, and closes the server.
    pub fn close(&self) {
        self.0.desk.stop();
        self.0.closing.send_replace(true);
    }
}

impl Ui {
    /// Binds the port.
    ///
    /// # Errors
    ///
    /// Returns an error if the port is in use or not permitted.
    pub fn bind(options: Options) -> Result<Self> {
        let first = options.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let (listener, address) = listen(SocketAddr::new(first, options.port))?;
        let mut listeners = vec![listener];
        let port = address.port();
        let mut names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).to_vec();
        if options.listen.is_some() {
            names.push(address.to_string());
        } else if let Ok((listener, _)) = listen(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)) {
            // Browsers may resolve `localhost` to either address. A machine without IPv6 has only
            // the first.
            listeners.push(listener);
        }
        let shared = Site {
            store: options.store,
            names,
            cookie_name: format!("kurabe-{port}"),
            address: format!("http://{address}"),
            sessions: Sessions::default(),
            desk: Desk::new(options.command),
            served: options.served,
            lang: options.lang,
            closing: watch::Sender::new(false),
        };
        Ok(Self { shared: Arc::new(shared), listeners, patience: Patience::default() })
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Returns an address that lets one browser in, once.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn launch_address(&self) -> Result<String> {
        let Site { address, sessions, .. } = &*self.shared;
        Ok(format!("{address}/#{}", sessions.launch()?))
    }

    /// Opens a browser with a separate launch address, if one can be started. The address is
    /// available while the returned [`Door`] exists.
    pub fn open_browser(&self) -> Option<Door> {
        Door::open(&self.launch_address().ok()?)
    }

    /// Adds a listener that receives all further events of runs.
    pub fn listen(&self, listener: Listener) {
        self.shared.desk.stream.listen(listener);
    }

    /// Returns the handle that closes the page.
    pub fn closer(&self) -> Closer {
        Closer(Arc::clone(&self.shared))
    }

    /// Serves until the page is closed. A run in progress is stored.
    ///
    /// # Errors
    ///
    /// Returns an error if the system can't provide an executor.
    pub fn serve(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(ASIDE_THREADS)
            .thread_name("page-aside")
            .build()
            .map_err(|error| cannot_serve(&error))?;
        let Self { shared, listeners, patience } = self;
        runtime.block_on(async {
            let app = routes::router(Arc::clone(&shared), patience);
            let seats = Arc::new(Seats::new());
            let accepting: Vec<_> = listeners
                .into_iter()
                .map(|listener| {
                    let listener = tokio::net::TcpListener::from_std(listener)?;
                    Ok(tokio::spawn(accept(listener, app.clone(), Arc::clone(&seats), patience.head)))
                })
                .collect::<std::io::Result<_>>()
                .map_err(|error| cannot_serve(&error))?;
            let mut closing = shared.closing.subscribe();
            // The sender lives as long as `shared`, so this can't fail.
            let _ = closing.wait_for(|closes| *closes).await;
            accepting.iter().for_each(tokio::task::JoinHandle::abort);
            tokio::time::sleep(FAREWELL).await;
            Ok::<(), Error>(())
        })?;
        runtime.shutdown_background();
        shared.desk.wait();
        Ok(())
    }
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    bound.map_err(|error| {
        Error::os(text!("cannot listen on {address}", "{address} で待ち受けられません"), &error)
            .remedy(text!("remove --port to use a free one", "--port を外すと、空いているポートを使います"))
    })
}

fn cannot_serve(error: &std::io::Error) -> Error {
    ErrorKind::Internal.error(text!("cannot serve the page", "ページを公開できません")).because(error)
}

async fn accept(listener: tokio::net::TcpListener, app: Router, seats: Arc<Seats>, head_time: Duration) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No file descriptors are left. Open connections must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(guest) = seats.seat().await else { return };
        let app = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let own = Arc::clone(&guest);
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(Arc::clone(&own));
                app.call(request)
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(head_time)
                .max_buf_size(MOST_HEAD_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                // A client that disconnected is not an error.
                _ = served => {}
                () = guest.leaves() => {}
            }
        });
    }
}

/// A file that redirects a browser to the launch address. Other users can see command lines, and
/// the launch address admits whoever opens it first. Only this user can read the file.
pub struct Door(PathBuf);

impl Door {
    /// Starts a browser. `None` if there is none, in which case the user opens the printed address.
    pub(crate) fn open(address: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("kurabe-ui-{}.html", std::process::id()));
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let door = Self(path);
        let address = shown::line(address);
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">\
             <a href=\"{address}\">kurabe</a>"
        )
        .ok()?;
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let null = Stdio::null;
        Command::new(find_program(opener)?)
            .arg(&door.0)
            .stdin(null())
            .stdout(null())
            .stderr(null())
            .spawn()
            .ok()?;
        Some(door)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // The file is in the directory for temporary files and is removed with them at the latest.
        let _ = std::fs::remove_file(&self.0);
    }
}
