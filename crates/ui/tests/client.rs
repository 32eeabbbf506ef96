//! A page served in this process, and a client that sends exactly the given bytes.

use kurabe_core::Lang;
use kurabe_lab::StorePlace;
use kurabe_ui::{Closer, Options, Patience, Ui};
use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time to wait for anything. It is reached only on a failure.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Interval between checks of a condition.
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Headers that every response with a body must have.
const HEADERS: [(&str, &str); 5] = [
    ("content-security-policy", "default-src 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// A page that is served until this value is dropped.
pub struct Served {
    pub port: u16,
    /// The address that lets one browser in.
    pub launch_address: String,
    closer: Closer,
    thread: Option<JoinHandle<()>>,
    folder: tempfile::TempDir,
}

impl Served {
    /// Serves a page with a new store.
    pub fn new() -> Self {
        Self::waiting(Patience::default())
    }

    /// Serves a page with other time limits.
    pub fn waiting(patience: Patience) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options {
            store: StorePlace::from(folder.path().join("store.db")),
            port: 0,
            listen: None,
            lang: Lang::En,
            command: vec!["kurabe".to_owned(), "ui".to_owned()],
            served: Some(folder.path().join("run")),
        };
        let page = Ui::bind(options).expect("a port").with_patience(patience);
        let launch_address = page.launch_address().expect("an address");
        let (_, after) = launch_address.rsplit_once(':').expect("a port");
        let port = after.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
        let closer = page.closer();
        let thread = std::thread::Builder::new().name("page".to_owned());
        let thread = thread.spawn(move || page.serve().expect("served")).expect("a thread");
        Self { port, launch_address, closer, thread: Some(thread), folder }
    }

    /// Returns the folder of the store, in which tests may write.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the host, such as `127.0.0.1:4321`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the token that lets one browser in.
    pub fn word(&self) -> &str {
        self.launch_address.split_once('#').expect("a word").1
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(TIME_LIMIT)).expect("a limit");
        stream.set_write_timeout(Some(TIME_LIMIT)).expect("a limit");
        stream
    }

    /// Sends bytes and returns the response. `None` if the connection was closed without one.
    pub fn say(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // A rejected client may find the connection closed before everything was sent.
        let _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    /// Signs in with a token and returns the cookie.
    pub fn enter(&self, word: &str) -> String {
        let body = format!("{{\"word\":\"{word}\"}}");
        let answer = self.send(&self.post("/session", &body));
        assert_eq!(answer.status, 204, "{answer:?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        cookie.split(';').next().expect("a pair").to_owned()
    }

    pub fn get(&self, target: &str) -> Request {
        Request::new("GET", target).with("Host", &self.host())
    }

    /// Creates a request as the page's script sends it, without the cookie.
    pub fn post(&self, target: &str, body: &str) -> Request {
        let origin = format!("http://{}", self.host());
        Request { body: body.as_bytes().to_vec(), ..Request::new("POST", target) }
            .with("Host", &self.host())
            .with("Origin", &origin)
            .with("Content-Type", "application/json")
    }

    /// Returns the response to a request, and checks that there is one with the common headers.
    pub fn send(&self, request: &Request) -> Answer {
        let answer = self.say(&request.bytes()).unwrap_or_else(|| panic!("no answer to {request:?}"));
        answer.has_headers();
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.closer.close();
        let ended = self.thread.take().expect("a thread").join();
        if !std::thread::panicking() {
            ended.expect("the server ended well");
        }
    }
}

/// A request in which one part can be made invalid.
#[derive(Clone)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Request {
    fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// Adds a header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.as_bytes().to_vec()));
        self
    }

    /// Removes a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// Replaces the value of a header.
    pub fn but(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub fn by(self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        if !self.body.is_empty() || self.method == "POST" {
            bytes.extend(format!("Content-Length: {}\r\n", self.body.len()).into_bytes());
        }
        bytes.extend(b"Connection: close\r\n\r\n");
        bytes.extend(&self.body);
        bytes
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(&self.bytes()))
    }
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    /// Reads until the connection is closed.
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        // Data received before a reset counts.
        let _ = stream.read_to_end(&mut bytes);
        let words = String::from_utf8_lossy(&bytes);
        let (head, body) = words.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| {
            line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        };
        Some(Self { status, headers: lines.filter_map(header).collect(), body: body.to_owned() })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Checks the headers that forbid a browser to do anything but display the response. The HTTP
    /// library's own responses to malformed requests have no body, and need no headers.
    fn has_headers(&self) {
        let is_bare = self.body.is_empty() && matches!(self.status, 400 | 414 | 431);
        for (name, value) in HEADERS {
            let own = self.header(name);
            assert!(is_bare || own.is_some_and(|own| own.starts_with(value)), "{name}: {own:?} of {self:?}");
        }
    }
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < TIME_LIMIT, "never: {what}");
        std::thread::sleep(LOOK_AGAIN);
    }
}
