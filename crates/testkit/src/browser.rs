//! A real browser: headless Chromium, controlled through WebDriver.
//!
//! A driver process with one session receives plain HTTP on the loopback interface. It logs the
//! console messages of the page and every request that it makes. Everything ends when the value is
//! dropped.

use crate::needs::has;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a request to the driver, and of a wait. Both finish long before on a machine that
/// is not overloaded.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Interval at which a condition on a page is checked.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Key under which WebDriver returns an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys by the names of WebDriver (its section 17.4.2).
pub mod keys {
    pub const TAB: &str = "\u{e004}";
    pub const ENTER: &str = "\u{e007}";
    pub const RIGHT: &str = "\u{e014}";
}

/// Larger than the number of tab stops on any page.
const MOST_TABS: usize = 300;

/// A browser with one page.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    // Removed after everything else has ended.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser, or returns why that is not possible.
    pub fn start() -> Result<Self, String> {
        if !has("chromedriver") {
            return Err("chromedriver is not installed".to_owned());
        }
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
            // Unassigned names (RFC 6761) resolve to this machine, like a name after DNS rebinding.
            "--host-resolver-rules=MAP *.example 127.0.0.1",
            &user_data,
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let session = browser.ask("POST", "/session", Some(&capabilities))?;
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Ok(browser)
    }

    pub fn open(&self, address: &str) {
        self.post("url", &json!({ "url": address }));
    }

    pub fn open_file(&self, page: &Path) {
        self.open(&format!("file://{}", page.display()));
    }

    /// Waits until a JavaScript expression is true. Panics with the content of the page on timeout.
    pub fn wait_until(&self, condition: &str) {
        let begun = Instant::now();
        let script = format!("return Boolean({condition})");
        loop {
            // While a page is being replaced, no script can run.
            let answer = self.try_run(&script);
            if answer == Ok(Value::Bool(true)) {
                return;
            }
            if begun.elapsed() > TIME_LIMIT {
                let page = self.run(
                    "return location.href + '\\n' + document.querySelector('main, \
                    body').innerText.slice(0, 2000)",
                );
                panic!("never true: {condition} ({answer:?})\n{}", page.as_str().unwrap_or_default());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Runs a script and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.try_run(script).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    fn try_run(&self, script: &str) -> Result<Value, String> {
        let path = format!("/session/{}/execute/sync", self.session);
        self.ask("POST", &path, Some(&json!({ "script": script, "args": [] })))
    }

    /// Runs a script and waits for the result that it passes to its last argument.
    pub fn run_later(&self, script: &str) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    fn element(&self, selector: &str) -> String {
        let element = self.post("element", &json!({ "using": "css selector", "value": selector }));
        element[ELEMENT].as_str().unwrap_or_else(|| panic!("{selector}: {element}")).to_owned()
    }

    /// Clicks an element with the mouse.
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/click"), &json!({}));
    }

    /// Types on an element.
    pub fn press(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({ "text": keys }));
    }

    /// Types into the element with the focus.
    pub fn type_keys(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| {
            ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
        });
        let steps: Vec<Value> = strokes.collect();
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": steps }] }));
    }

    /// Presses the Tab key until an element has the focus. Panics if it never does.
    pub fn tab_to(&self, selector: &str) {
        for _ in 0..MOST_TABS {
            if self.run(&format!("return document.activeElement.matches({selector:?})")) == true {
                return;
            }
            self.type_keys(keys::TAB);
        }
        panic!("the Tab key does not lead to {selector}");
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
        let parameters = json!({ "pointerType": "mouse" });
        let pointer = json!({ "type": "pointer", "id": "mouse", "parameters": parameters, "actions": steps });
        self.post("actions", &json!({ "actions": [pointer] }));
    }

    /// Sets the user's preferred colour scheme.
    pub fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Sets the size of the window, which may be narrower than that of a real one.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Takes a screenshot, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.devtools("Page.captureScreenshot", &json!({ "format": "png" }));
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("a picture")
    }

    /// Returns the handle of the current window.
    pub fn window(&self) -> String {
        let path = format!("/session/{}/window", self.session);
        let window = self.ask("GET", &path, None).expect("a window");
        window.as_str().expect("a window").to_owned()
    }

    /// Opens another window without switching to it.
    pub fn new_window(&self) -> String {
        self.post("window/new", &json!({ "type": "window" }))["handle"].as_str().expect("a window").to_owned()
    }

    /// Switches to a window.
    pub fn look_at(&self, window: &str) {
        self.post("window", &json!({ "handle": window }));
    }

    /// Sends a command of the Chrome DevTools Protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Returns the console messages so far, including errors of the browser.
    pub fn console(&self) -> Vec<String> {
        self.log("browser").iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Returns the addresses that were requested so far.
    pub fn requests(&self) -> Vec<String> {
        let requests = self.happened("Network.requestWillBeSent");
        requests
            .iter()
            .map(|request| request["request"]["url"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Returns the events of a kind since the last call.
    pub fn happened(&self, kind: &str) -> Vec<Value> {
        let of = |entry: &Value| {
            let mut message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &mut message["message"];
            (message["method"] == kind).then(|| message["params"].take())
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
            // The driver may keep the connection open although it was asked to close it, so the
            // length in the header is used.
            let mut part = [0; 1 << 14];
            let mut whole = None;
            while whole.is_none_or(|length| answer.len() < length) {
                match stream.read(&mut part)? {
                    0 => break,
                    count => answer.extend_from_slice(&part[..count]),
                }
                whole = whole.or_else(|| whole_length(&answer));
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

/// Returns the length of an answer with its header, once the header is complete.
fn whole_length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    String::from_utf8_lossy(&answer[..head]).lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let length =
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())??;
        Some(head + 4 + length)
    })
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
