//! The server: listeners on this machine, connections with limits, and its end.
//!
//! The model: one thread serves everything; what takes long is done aside by at most [`ASIDE_THREADS`] others, so that a page
//! never takes the processors from what is measured. A connection that says nothing, says it too slowly or says too much is
//! closed.
//!
//! The way of a browser into the page.

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

/// Bytes of a request's head, cookies of other programs on the same host included.
const MOST_HEAD_BYTES: usize = 64 << 10;
/// Threads for what takes long.
const ASIDE_THREADS: usize = 2;
/// Windows are told that the server ends, and are not waited for longer.
const FAREWELL: Duration = Duration::from_millis(300);

/// What the page is served with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store; one that machines share is read.
    pub store: StorePlace,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// An address beyond this machine.
    pub listen: Option<IpAddr>,
    /// The language of who has not chosen one.
    pub lang: Lang,
    /// The command line that records keep.
    pub command: Vec<String>,
    /// The folder in which servers of models are noted, if there is one.
    pub served: Option<PathBuf>,
}

/// How long a client is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Who has not sent the head of a request by then will not.
    pub head: Duration,
    /// Who has not sent a body by then will not.
    pub body: Duration,
    /// What is asked for is made in less.
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

/// Ends a page from another thread.
#[derive(Clone)]
pub struct Closer(App);

impl Closer {
    /// Stops what runs, keeps it, and ends the server.
    pub fn close(&self) {
        self.0.desk.stop();
        self.0.closing.send_replace(true);
    }
}

impl Ui {
    /// Takes the port.
    ///
    /// # Errors
    /// When it is taken, or may not be.
    pub fn bind(options: Options) -> Result<Self> {
        let first = options.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let (listener, address) = listen(SocketAddr::new(first, options.port))?;
        let mut listeners = vec![listener];
        let port = address.port();
        let mut names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).to_vec();
        if options.listen.is_some() {
            names.push(address.to_string());
        } else if let Ok((listener, _)) = listen(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)) {
            // Browsers may take `localhost` for either; a machine without IPv6 has the first alone.
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

    /// Waits for clients as long as this.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// An address that lets one browser in, once.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn launch_address(&self) -> Result<String> {
        let Site { address, sessions, .. } = &*self.shared;
        Ok(format!("{address}/#{}", sessions.launch()?))
    }

    /// Leads a browser to an address of its own, where there is one to start; the way is there as long as the door.
    pub fn open_browser(&self) -> Option<Door> {
        Door::open(&self.launch_address().ok()?)
    }

    /// Has somebody hear all that is told from now on, where it is told.
    pub fn listen(&self, listener: Listener) {
        self.shared.desk.stream.listen(listener);
    }

    /// What ends it.
    pub fn closer(&self) -> Closer {
        Closer(Arc::clone(&self.shared))
    }

    /// Serves until it is closed; what ran then is stored.
    ///
    /// # Errors
    /// When the system gives no executor.
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
            // The sender lives as long as this.
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
        Error::os(text!("cannot listen on {address}", "{address} で待ち受けられません"), &error).remedy(
            text!("leave --port out, and a free one is taken", "--port を外すと、空いているポートを使います"),
        )
    })
}

fn cannot_serve(error: &std::io::Error) -> Error {
    ErrorKind::Internal.error(text!("cannot serve the page", "ページを公開できません")).because(error)
}

async fn accept(listener: tokio::net::TcpListener, app: Router, seats: Arc<Seats>, head_time: Duration) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: the connections that are open have to end first.
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
                // A client that went away is no news.
                _ = served => {}
                () = guest.leaves() => {}
            }
        });
    }
}

/// A file that leads a browser to the address. Words of a command line are seen by every user of the machine, and an address
/// lets in whoever comes first; the file is for this user alone.
pub struct Door(PathBuf);

impl Door {
    /// Starts a browser. Where there is none, the address that was printed has to do.
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
        // It is in the folder of temporary files; what stays there goes with them.
        let _ = std::fs::remove_file(&self.0);
    }
}
