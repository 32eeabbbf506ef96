//! `kurabe ui` as a process: the printed address grants access, and a signal ends the server
//! without losing results. The page itself is tested in crates/ui.

use crate::lab::{Lab, Live, list_of, names, text};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A running page server, and a browser's cookie for it.
struct Page {
    live: Live,
    host: String,
    cookie: String,
}

impl Page {
    fn new(lab: &Lab) -> Self {
        let mut live = Live::start(lab.command(&["--json", "ui", "--no-open"]));
        live.wait_for_out("\"address\"");
        live.wait_for_out("\n");
        let line: Value = serde_json::from_str(live.out().lines().next().expect("a line")).expect("JSON");
        let address = line["address"].as_str().expect("an address");
        let (host, word) = address.trim_start_matches("http://").split_once("/#").expect("a word");
        let mut page = Self { live, host: host.to_owned(), cookie: String::new() };
        let answer = page.post("/session", &json!({ "word": word }));
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        page.cookie = cookie.split(';').next().expect("a pair").to_owned();
        page
    }

    fn post(&self, path: &str, body: &Value) -> String {
        let (host, cookie, body) = (&self.host, &self.cookie, body.to_string());
        self.say(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn get(&self, path: &str) -> String {
        let (host, cookie) = (&self.host, &self.cookie);
        self.say(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ))
    }

    fn say(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.write_all(request.as_bytes()).expect("said");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Starts a run that takes seconds, and waits for its first cell.
    fn measures(&self, lab: &Lab) {
        let form =
            json!({ "target": text(&lab.target()), "profile": "default", "size": "16MiB", "runs": "5" });
        let answer = self.post("/measure", &form);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let end = Instant::now() + Duration::from_secs(60);
        while !self.get("/board").contains("tile done") {
            assert!(Instant::now() < end, "no cell is measured");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(names(&lab.target()).len(), 1, "the test file is there");
    }
}

fn keeps_what_runs_at(signal: Signal) {
    let lab = Lab::new();
    let page = Page::new(&lab);
    page.measures(&lab);
    page.live.signal(signal);
    page.live.end();
    assert!(names(&lab.target()).is_empty(), "no test file stays");
    let runs = lab.list();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["status"], "interrupted");
    assert!(!list_of(&lab.record("last")["cells"]).is_empty());
}

#[test]
#[ignore = "slow"]
fn ctrl_c_in_the_terminal_keeps_the_run_of_the_page() {
    keeps_what_runs_at(Signal::INT);
}

#[test]
#[ignore = "slow"]
fn a_terminal_that_is_closed_keeps_the_run_of_the_page() {
    keeps_what_runs_at(Signal::HUP);
}

#[test]
#[ignore = "slow"]
fn a_page_that_was_killed_leaves_a_run_that_the_next_one_takes_up() {
    let lab = Lab::new();
    let page = Page::new(&lab);
    page.measures(&lab);
    page.live.signal(Signal::KILL);
    page.live.end();
    // The next server recovers what is left before it serves anything.
    let page = Page::new(&lab);
    let runs = page.get("/runs");
    assert!(runs.contains("1 of 1 runs"), "{runs}");
    assert!(names(&lab.target()).is_empty(), "no test file stays");
    page.live.signal(Signal::INT);
    page.live.end();
    assert_eq!(lab.list()[0]["status"], "interrupted");
}

#[test]
fn the_page_stays_on_this_machine_unless_that_is_known() {
    let lab = Lab::new();
    let ended = lab.kurabe(&["ui", "--listen", "0.0.0.0"]);
    assert!(ended.code() == Some(2) && ended.err.contains("--i-know"), "{ended:?}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let ended = lab.kurabe(&["ui", "--no-open", "--port", &port]);
    assert!(ended.code() != Some(0) && ended.err.contains("cannot listen on"), "{ended:?}");
}
