//! A real browser: Chromium without a window, driven through its WebDriver.
//!
//! The model: a driver process with one session, asked by plain HTTP on the loopback interface. It logs what the page
//! wrote to the console and every request that it made. It all ends with this value.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest time of one question to the driver.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The name under which WebDriver gives an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one page.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    // Removed when all else has ended.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser, or why there is none.
    pub fn start() -> Result<Self, String> {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = started.map_err(|error| format!("chromedriver: {error}"))?;
        let out = BufReader::new(driver.stdout.take().expect("a pipe"));
        let port = out.lines().map_while(Result::ok).find_map(|line| {
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse::<u16>().ok()
        });
        let profile = tempfile::tempdir().expect("a directory");
        let mut browser = Self { driver, port: port.unwrap_or(0), session: String::new(), _profile: profile };
        if port.is_none() {
            return Err("chromedriver did not start".to_owned());
        }
        let user_data = format!("--user-data-dir={}", browser._profile.path().display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
            &user_data,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let session = browser.ask("POST", "/session", Some(&wanted))?;
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Ok(browser)
    }

    /// Opens a file.
    pub fn open(&self, page: &Path) {
        self.post("url", &json!({ "url": format!("file://{}", page.display()) }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What a script gives to its last argument, later.
    pub fn run_later(&self, script: &str) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("{selector}: {found}")).to_owned()
    }

    /// Clicks as a hand does.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/click"), &json!({}));
    }

    /// Types on an element.
    pub fn press(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({ "text": keys }));
    }

    /// Moves the pointer onto an element.
    pub fn point_at(&self, selector: &str) {
        let element = self.element(selector);
        let scroll = "arguments[0].scrollIntoView({ block: 'center' })";
        self.post("execute/sync", &json!({ "script": scroll, "args": [{ ELEMENT: element }] }));
        let steps = json!([
            { "type": "pointerMove", "duration": 50, "x": 0, "y": 0, "origin": { ELEMENT: element } },
            { "type": "pointerMove", "duration": 50, "x": 1, "y": 1, "origin": { ELEMENT: element } },
        ]);
        let pointer = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": steps });
        self.post("actions", &json!({ "actions": [pointer] }));
    }

    /// The colours that the reader's system asks for.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let params = json!({ "features": features });
        self.post("goog/cdp/execute", &json!({ "cmd": "Emulation.setEmulatedMedia", "params": params }));
    }

    /// What the page wrote to the console so far, errors of the browser included.
    pub fn console(&self) -> Vec<String> {
        self.log("browser").iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses that were asked for so far.
    pub fn requests(&self) -> Vec<String> {
        let of = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            (message["method"] == "Network.requestWillBeSent")
                .then(|| message["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
        };
        self.log("performance").iter().filter_map(of).collect()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &json!({ "type": kind })).as_array().cloned().unwrap_or_default()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        self.ask("POST", &path, Some(body)).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let (port, length) = (self.port, body.len());
        let question = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let answer = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
            stream.set_read_timeout(Some(TIME_LIMIT))?;
            stream.write_all(question.as_bytes())?;
            let mut answer = Vec::new();
            // The driver may keep the line open although it was asked not to: its header tells the length.
            let mut part = [0; 1 << 14];
            while !is_whole(&answer) {
                match stream.read(&mut part)? {
                    0 => break,
                    count => answer.extend_from_slice(&part[..count]),
                }
            }
            Ok(answer)
        });
        let answer = answer.map_err(|error| error.to_string())?;
        let words = String::from_utf8_lossy(&answer);
        let (_, json) = words.split_once("\r\n\r\n").ok_or("no answer")?;
        let value: Value = serde_json::from_str(json).map_err(|error| format!("{error}: {json}"))?;
        match value["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", value["value"]["message"])),
            None => Ok(value["value"].clone()),
        }
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let words = String::from_utf8_lossy(answer);
    let Some(head) = words.find("\r\n\r\n") else { return false };
    let length = words[..head].lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| answer.len() >= head + 4 + length)
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            let _ = self.ask("DELETE", &path, None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
