//! The page, served by a thread of this process; a client that sends requests like a browser; and
//! the page's own event stream.

use crate::Result;
use kurabe_core::Lang;
use kurabe_core::event::Event;
use kurabe_core::record::Cell;
use kurabe_lab::{Envelope, StorePlace, StreamEvent};
use kurabe_ui::{Closer, Options, Ui};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest wait until a run that was reported as finished has been cleaned up.
const LEAVING: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// An envelope and the time of its report, in ms of the wall clock, which the browser also uses.
pub(super) struct Happened {
    pub(super) at_ms: f64,
    pub(super) envelope: Envelope,
}

/// The served page.
pub(super) struct Served {
    pub(super) client: Client,
    /// URL that admits one further browser.
    pub(super) launch_address: String,
    happened: Receiver<Happened>,
    closer: Closer,
    serving: Option<JoinHandle<kurabe_core::Result<()>>>,
}

impl Served {
    /// Serves a store.
    pub(super) fn new(store: &Path) -> Result<Self> {
        let command = Vec::new();
        let page = Ui::bind(Options {
            store: StorePlace::from(store.to_owned()),
            port: 0,
            listen: None,
            lang: Lang::En,
            command,
            served: None,
        })?;
        let (own_address, launch_address) = (page.launch_address()?, page.launch_address()?);
        let (telling, happened) = channel();
        page.listen(Box::new(move |envelope| {
            let at_ms = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
            // The receiver is closed when the bench ends.
            drop(telling.send(Happened { at_ms, envelope: envelope.clone() }));
            Ok(())
        }));
        let closer = page.closer();
        let serving = std::thread::Builder::new().name("page".to_owned()).spawn(move || page.serve())?;
        let client = Client::enter(&own_address)?;
        Ok(Self { client, launch_address, happened, closer, serving: Some(serving) })
    }

    /// Starts a run.
    pub(super) fn start(&self, wish: &Value) -> Result<()> {
        let begun = Instant::now();
        loop {
            match self.client.ask("POST", "/measure", &wish.to_string()) {
                Ok(_) => return Ok(()),
                // A run is reported as finished slightly before the next one may start.
                Err(error) if begun.elapsed() > LEAVING => return Err(error),
                Err(_) => std::thread::sleep(LOOK_AGAIN),
            }
        }
    }

    /// Waits for the end of a run, and returns all its events.
    pub(super) fn finish(&self) -> Result<Vec<Happened>> {
        let mut all = Vec::new();
        loop {
            let happened = self.happened.recv()?;
            let is_over = matches!(&happened.envelope.event, StreamEvent::Run(Event::RunDone { .. }));
            all.push(happened);
            if is_over {
                return Ok(all);
            }
        }
    }

    /// Shuts the page down.
    pub(super) fn close(mut self) -> Result<()> {
        self.closer.close();
        let serving = self.serving.take().map(JoinHandle::join);
        serving.transpose().map_err(|_| "the page failed")?.transpose()?;
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.closer.close();
    }
}

/// Returns the cells of a run from its events.
pub(super) fn cells(happened: Vec<Happened>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = happened
        .into_iter()
        .filter_map(|happened| match happened.envelope.event {
            StreamEvent::Run(Event::CellDone { cell }) => Some(*cell),
            _ => None,
        })
        .collect();
    cells.sort_by_key(|cell| cell.index);
    cells
}

/// A client that sends requests like a browser, with a session.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) host: String,
    cookie: String,
}

impl Client {
    /// Opens a session by a launch URL.
    fn enter(address: &str) -> Result<Self> {
        let (host, word) = address.trim_start_matches("http://").split_once("/#").ok_or("no address")?;
        let mut client = Self { host: host.to_owned(), cookie: String::new() };
        let answer = client.ask("POST", "/session", &format!("{{\"word\":\"{word}\"}}"))?;
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).ok_or("no cookie")?;
        client.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(client)
    }

    pub(super) fn send(&self, method: &str, path: &str, body: &str) -> Result<TcpStream> {
        let Self { host, cookie } = self;
        let mut stream = TcpStream::connect(host)?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nContent-Type: \
             application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        Ok(stream)
    }

    /// Sends a request and returns the whole response, which must be a success.
    pub(super) fn ask(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let mut answer = String::new();
        self.send(method, path, body)?.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 2") { Ok(answer) } else { Err(format!("{path}: {answer}").into()) }
    }

    pub(super) fn time_ms(&self, method: &str, path: &str, body: &str) -> Result<f64> {
        let started = Instant::now();
        self.ask(method, path, body)?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }
}
