//! Served models: they are listed, queried and changed, and shown as dead when their server has
//! died.

use crate::attacks::Attacked;
use crate::browsing::{DOOR, Reader};
use crate::client::{Answer, TIME_LIMIT};
use kurabe_lab::{PreparedServer, RunningServer, ServedRequest, StorePlace};
use kurabe_serve::{Address, PowerRules, ServeSettings};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Serves a model in memory at a socket in a page's folder, and registers it where the page looks.
pub fn served(folder: &Path, model: &str) -> (RunningServer, PathBuf) {
    let request = ServedRequest {
        target: format!("model:{model}").as_str().into(),
        sets: Vec::new(),
        without: Vec::new(),
        data: "memory".to_owned(),
        settings: ServeSettings {
            spin_ns: 0,
            round_trip_ns: Some(0),
            power: Some(PowerRules::default()),
            ..ServeSettings::default()
        },
        noted_in: Some(folder.join("run")),
    };
    let socket = folder.join("s.sock");
    let store = StorePlace::from(folder.join("store.db"));
    let prepared = PreparedServer::new(request, Address::Socket(socket.clone()), None, None, &store);
    (prepared.and_then(PreparedServer::start).expect("a server"), socket)
}

/// Reads 4 KiB several times over NBD, with the old handshake (`NBD_OPT_EXPORT_NAME`).
pub fn read(socket: &Path, times: u64) {
    let mut client = UnixStream::connect(socket).expect("a connection");
    client.set_read_timeout(Some(TIME_LIMIT)).expect("a limit");
    let mut take = |bytes: &[u8], length: usize| {
        client.write_all(bytes).expect("written");
        client.read_exact(&mut vec![0; length]).expect("an answer");
    };
    take(&[], 18);
    // Flags (fixed newstyle, no zeroes), then an option with an empty name.
    take(&[&[0, 0, 0, 3][..], b"IHAVEOPT", &[0, 0, 0, 1, 0, 0, 0, 0]].concat(), 10);
    for time in 0..times {
        let place = (time * 4096).to_be_bytes();
        let head = [
            &0x2560_9513_u32.to_be_bytes()[..],
            &[0; 4],
            &time.to_be_bytes(),
            &place,
            &4096_u32.to_be_bytes(),
        ];
        take(&head.concat(), 16 + 4096);
    }
}

struct Page(Attacked);

impl Page {
    fn body(&self) -> String {
        let Answer { status, body, .. } = self.0.page.send(&self.0.get("/served"));
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Returns the address for requests to the only server shown.
    fn target(&self) -> String {
        let body = self.body();
        let behind = body.split("data-post=\"").nth(1).expect("a form");
        behind.split('"').next().expect("an address").to_owned()
    }

    fn tell(&self, target: &str, request: &Value) -> (u16, Value) {
        let answer = self.0.page.send(&self.0.post(target, &request.to_string()));
        (answer.status, serde_json::from_str(&answer.body).expect("JSON"))
    }
}

#[test]
fn what_is_served_is_shown_and_told_things() {
    let page = Page(Attacked::new());
    for command in
        ["kurabe attach model:hua722020-usb", "kurabe serve model:hua722020-usb --socket disk.sock"]
    {
        assert!(page.body().contains(command), "{}", page.body());
    }
    let folder = page.0.page.folder();
    let (server, socket) = served(folder, "samsung-870-evo");
    read(&socket, 40);
    let body = page.body();
    let title = &server.facts().model.title.en;
    let figures = server.figures().expect("figures").lateness;
    let times = format!("took {0:.2} times as long as in the model", figures.slowdown.expect("times").mean);
    for words in [
        title,
        socket.to_str().expect("a path"),
        &times,
        "40 reads (160 KiB)",
        "<dt>limit</dt>",
        "all so far",
    ] {
        assert!(body.contains(words), "{words}: {body}");
    }
    let target = page.target();

    // Neither a browser without a session nor a foreign page can change the server.
    let cut = json!({ "do": "cut" });
    let stranger = page.0.page.send(&page.0.page.post(&target, &cut.to_string()));
    let foreign = page.0.post(&target, &cut.to_string()).but("Origin", "http://evil.example");
    assert_eq!([stranger.status, page.0.page.send(&foreign).status], [401, 403]);
    assert!(server.figures().expect("figures").cuts.is_empty());

    for request in [&cut, &json!({ "do": "power-on" })] {
        assert_eq!(page.tell(&target, request).0, 200, "{request}");
    }
    assert_eq!(server.figures().expect("figures").cuts.len(), 1);
    assert!(page.body().contains("power cut after 0 writes"));

    // A live parameter, an unknown parameter, and unknown servers.
    let set = |parameter: &str| json!({ "do": "set", "parameter": parameter, "value": "70 us" });
    assert_eq!(page.tell(&target, &set("sata.command")).0, 200);
    assert!(page.body().contains("sata.command = 70 us"), "the new value stands there");
    let (status, refused) = page.tell(&target, &set("sata.colour"));
    assert!(
        status == 400 && refused["error"]["remedy"].as_str().expect("a remedy").contains("command"),
        "{refused}"
    );
    for id in ["served-0000000000000000", "..%2Fstate", "%00"] {
        assert_eq!(page.tell(&format!("/served/{id}"), &cut).0, 400, "{id}");
    }
}

#[test]
fn a_server_that_is_dead_or_stands_still_is_shown_as_that() {
    let page = Page(Attacked::new());
    let folder = page.0.page.folder();
    let (server, _) = served(folder, "samsung-870-evo");
    let target = page.target();
    let control = server.facts().control.clone().expect("a control socket");
    let note =
        std::fs::read_dir(folder.join("run")).expect("a folder").flatten().next().expect("a note").path();
    let words = std::fs::read(&note).expect("the note");
    drop(server);
    assert!(page.body().contains("No model is being served"));
    std::fs::write(&note, &words).expect("written");
    assert!(page.body().contains("the server does not answer"), "{}", page.body());
    let still = UnixListener::bind(&control).expect("a socket");
    still.set_nonblocking(true).expect("a socket that does not block");
    assert!(page.body().contains("the server does not answer"));
    assert!(still.accept().is_ok(), "the page asked, and was answered nothing before its own answer");
    drop(still);
    let (_, refused) = page.tell(&target, &json!({ "do": "cut" }));
    assert!(
        refused["error"]["what"].as_str().is_some_and(|what| what.starts_with("cannot connect")),
        "{refused}"
    );
}

#[test]
fn what_is_served_is_told_things_by_a_form_and_shown_as_it_goes_on() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let (_server, socket) = served(reader.page.folder(), "samsung-870-evo");
    reader.go("/served");
    browser.click("#served summary");
    browser.run("document.querySelector('#served input').value = '70 us'");
    read(&socket, 40);
    browser.wait_until("document.querySelector('#served section').textContent.includes('40 reads')");
    browser.click("#served button[value=cut]");
    browser.wait_until("document.querySelector('#served form:nth-of-type(2) output').textContent === '✓'");
    browser.wait_until("document.querySelector('#served section').textContent.includes('power cut after')");
    // The typed value and the expanded part are still there.
    assert_eq!(reader.words("document.querySelector('#served details[open] input').value"), "70 us");
    browser.click("#served button[value=set]");
    browser.wait_until("document.querySelector('#served select').textContent.includes('host.in_flight = ')");
    browser.wait_until("document.querySelector('#served output').textContent.includes('host.in_flight')");
    reader.console_is_clean(&[DOOR, "400"]);
}
