//! `kurabe serve` as users start and end it: sockets are created and removed, nothing is
//! overwritten, and figures are reported.

use crate::lab::{Lab, Live, text};
use kurabe_testkit::needs::skip;
use rustix::process::Signal;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

/// Serves a disk of 1 GiB.
fn serve(lab: &Lab, socket: &Path, more: &[&str]) -> Live {
    let words = [
        "--json",
        "serve",
        "model:ideal-ram-disk",
        "--set",
        "memory.capacity=1GiB",
        "--socket",
        text(socket),
    ];
    let mut live = Live::start(lab.command(&[&words[..], more].concat()));
    live.wait_for_out("\"event\":\"serving\"");
    live
}

/// Connects a client that sends no request.
fn client(socket: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    stream
}

#[test]
fn a_signal_ends_it_cleanly_with_clients_and_without() {
    let lab = Lab::new();
    for (signal, clients) in [(Signal::INT, 0), (Signal::TERM, 2), (Signal::HUP, 1)] {
        let (socket, record) = (lab.beside("s.sock"), lab.beside(&format!("{clients}.json")));
        let live = serve(&lab, &socket, &["--record", text(&record)]);
        let mut clients: Vec<UnixStream> = (0..clients).map(|_| client(&socket)).collect();
        live.signal(signal);
        let done = live.end().ok();
        assert!(done.out.contains("\"event\":\"served\""), "{}", done.out);
        assert!(!socket.exists() && !lab.beside("s.sock.control").exists());
        assert!(clients.iter_mut().all(|client| client.read(&mut [0; 1]).is_ok_and(|count| count == 0)));
        let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        assert_eq!(
            (&record["kurabe_served"], &record["model"]["name"]),
            (&1.into(), &"ideal-ram-disk".into())
        );
        assert_eq!(record["figures"]["connections"], clients.len());
    }
}

#[test]
fn a_server_is_kept_in_the_store_that_is_there() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    let serve_once = |more: &[&str]| {
        let live = serve(&lab, &socket, more);
        live.signal(Signal::INT);
        live.end().ok();
    };
    serve_once(&[]);
    assert!(!lab.store().exists(), "none is made for it");
    lab.model_run("10us");
    assert!(lab.kurabe(&["list", "--served"]).ok().out.contains("No served models are recorded"));
    serve_once(&["--set", "memory.access=3us"]);
    serve_once(&[]);
    let lines = lab.kurabe(&["list", "--served", "--json"]).ok().json_lines();
    let accesses: Vec<bool> = lines.iter().map(|line| line.to_string().contains("\"3us\"")).collect();
    assert_eq!(accesses, [true, false]);
    let record = &lines[1]["record"];
    assert_eq!((&record["model"]["name"], &record["kurabe_served"]), (&"ideal-ram-disk".into(), &1.into()));
    assert!(record["figures"]["lateness"]["late"]["buckets"].is_array(), "{record}");
    let page = lab.kurabe(&["list", "--served"]).ok().out;
    assert!(page.lines().count() == 2 && page.contains("no request"), "{page}");
    // The list of runs does not include servers.
    assert_eq!(lab.list().len(), 1);
    assert_eq!(lab.kurabe(&["list", "--served", "--last", "1"]).code(), Some(2));
    let nowhere = lab.beside("missing/kurabe.db");
    let words = ["serve", "model:ideal-ram-disk", "--socket", text(&socket), "--db", text(&nowhere)];
    lab.kurabe(&words).is_refusal(9, &["does not exist"]);
}

#[test]
fn a_killed_server_leaves_sockets_that_the_next_one_takes_over() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    let live = serve(&lab, &socket, &[]);
    // A second server is refused while the first one runs.
    let words = ["serve", "model:ideal-ram-disk", "--socket", text(&socket)];
    lab.kurabe(&words).is_refusal(6, &["already exists"]);
    live.signal(Signal::KILL);
    assert!(!live.end().status.success());
    assert!(socket.exists());
    let live = serve(&lab, &socket, &[]);
    live.signal(Signal::INT);
    live.end().ok();
    assert!(!socket.exists());
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let lab = Lab::new();
    let precious = lab.write("precious", "precious");
    let (socket, file) = (lab.beside("s.sock"), format!("file:{}", text(&precious)));
    let serve = ["serve", "model:ideal-ram-disk", "--socket"];
    lab.kurabe(&[&serve[..], &[text(&precious)]].concat()).is_refusal(6, &["precious"]);
    lab.kurabe(&[&serve[..], &[text(&socket), "--data", &file]].concat()).is_refusal(6, &["precious"]);
    lab.kurabe(&[&serve[..], &[text(&socket), "--record", text(&precious)]].concat())
        .is_refusal(6, &["precious"]);
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    assert!(!socket.exists() && !lab.beside("s.sock.control").exists());
}

#[test]
fn a_wrong_word_is_told_with_its_remedy() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    for (words, remedy) in [
        (&["serve", "here", "--socket", text(&socket)][..], "model:NAME"),
        (&["serve", "model:ideal-ram-disk", "--socket", text(&socket), "--data", "tape"], "file:PATH"),
        (&["serve", "model:ideal-ram-disk", "--socket", text(&socket), "--without", "hots"], "host"),
        (&["serve", "model:mirror3-usb", "--socket", text(&socket), "--exports", "3"], "--without"),
    ] {
        lab.kurabe(words).is_refusal(2, &[remedy]);
    }
    lab.kurabe(&["control", text(&socket), "stats"]).is_refusal(4, &["kurabe serve"]);
}

#[test]
fn a_server_is_asked_and_changed_while_it_serves() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    let live = serve(&lab, &socket, &["--power-cuts", "--round-trip", "10us"]);
    let stats = lab.kurabe(&["control", text(&socket), "stats"]).ok().out;
    assert!(stats.contains("served") && stats.contains("0 reads"), "{stats}");
    let json = lab.kurabe(&["--json", "control", text(&socket), "stats"]).ok().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["answer"]["round_trip_ns"], 10_000);
    let cut = lab.kurabe(&["control", text(&socket), "cut"]).ok().out;
    assert!(cut.contains("power cut after 0 writes"), "{cut}");
    let set = ["control", text(&socket), "set", "memory.capacity=2GiB"];
    lab.kurabe(&set).is_refusal(2, &["memory.capacity"]);
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn faults_are_set_told_and_lifted_and_a_slip_is_refused_with_its_remedy() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    let begin = ["serve", "model:ideal-ram-disk", "--socket", text(&socket), "--fault"];
    let slip = lab.kurabe(&[&begin[..], &["error:reed@0+4k"]].concat());
    assert!(
        slip.code() == Some(2) && slip.err.contains("`error:reed` is not a fault; write error"),
        "{slip:#?}"
    );
    let live = serve(&lab, &socket, &["--fault", "error:read@1MiB+64KiB", "--fault", "read-only@after-4k"]);
    let control = |words: &[&str]| lab.kurabe(&[&["control", text(&socket)][..], words].concat());
    control(&["fault", "slow:1us"]).ok();
    control(&["fault", "slow"]).is_refusal(2, &["hang:10s@after"]);
    control(&["fault", "error@4GiB+4k"]).is_refusal(2, &["the size of the device is 1 GiB"]);
    let uri = format!("nbd+unix:///?socket={}", text(&socket));
    let commands = ["-c", "read 1M 4k", "-c", "read 2M 4k", "-c", "write 0 4k", "-c", "write 0 4k"];
    let words = [&["-f", "raw"][..], &commands, &[&uri]].concat();
    let met = match Command::new("qemu-io").args(words).output() {
        Err(_) => {
            skip("qemu-io is not installed");
            [0, 0]
        }
        Ok(done) => {
            let answers = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
            assert!(answers.contains("read failed: Input/output error"), "{answers}");
            assert!(answers.contains("read 4096/4096 bytes at offset 2097152"), "{answers}");
            assert!(answers.contains("wrote 4096/4096 bytes at offset 0"), "{answers}");
            assert!(answers.contains("write failed: Operation not permitted"), "{answers}");
            [1, 1]
        }
    };
    let stats = control(&["stats"]).ok().out;
    let [read, written] = met;
    assert!(stats.contains(&format!("fault     error:read@1MiB+64KiB: met {read} requests\n")), "{stats}");
    assert!(stats.contains(&format!("read-only@after-4k: met {written} requests\n")), "{stats}");
    control(&["fault", "none"]).ok();
    let json = lab.kurabe(&["--json", "control", text(&socket), "stats"]).ok().json_lines().remove(0);
    let faults = json["answer"]["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["is_lifted"] == true), "{faults:?}");
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn the_first_lines_of_the_page_on_serving_work() {
    let page = include_str!("../../../../docs/serving.md");
    let words = |command: &str| -> Vec<&str> {
        let line = page.lines().find(|line| line.starts_with(&format!("kurabe {command} "))).expect("a line");
        line.split('#').next().unwrap_or("").split_whitespace().skip(1).collect()
    };
    let lab = Lab::new();
    let mut live = Live::start(lab.command(&words("serve")));
    live.wait_for_out("Ctrl-C ends it");
    lab.kurabe(&words("control")).ok();
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_server_is_watched_until_it_ends() {
    let lab = Lab::new();
    let socket = lab.beside("s.sock");
    let live = serve(&lab, &socket, &[]);
    let watch = ["control", text(&socket), "stats", "--watch"];
    let mut lines = Live::start(lab.command(&watch));
    lines.wait_for_out("0 clients");
    let mut json = Live::start(lab.command(&[&["--json"], &watch[..]].concat()));
    json.wait_for_out("\"event\":\"stats\"");
    live.signal(Signal::INT);
    live.end().ok();
    assert!(lines.end().ok().out.lines().all(|line| line.contains("in time")));
    for look in json.end().ok().json_lines() {
        let [all, last] = [&look["answer"]["lateness"], &look["last"]];
        assert!(last["answers"].is_u64() && last["answers"].as_u64() <= all["answers"].as_u64(), "{look}");
    }
    // A server that does not exist is an error from the start.
    lab.kurabe(&watch).is_refusal(4, &["kurabe serve"]);
}

#[test]
fn a_model_is_run_without_the_layers_that_a_server_leaves_out() {
    let lab = Lab::new();
    let run = |more: &[&str]| {
        let words = ["run", "--json", "--rw", "randread", "--bs", "4k", "--time", "20ms", "--runs", "1"];
        lab.kurabe(&[&words[..], more].concat())
    };
    let layers = |more: &[&str]| -> Vec<String> {
        run(more).ok();
        let record = lab.kurabe(&["export", "last"]).ok().out;
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let layers = record["run"]["header"]["model"]["layers"].as_array().unwrap().clone();
        layers.iter().map(|layer| layer["kind"].as_str().unwrap().to_owned()).collect()
    };
    let model = "model:samsung-fit-plus-exfat";
    assert_eq!(layers(&[model, "--without", "filesystem"]), ["host", "usb", "flash-coarse"]);
    assert_eq!(layers(&[model]), ["host", "filesystem", "usb", "flash-coarse"]);
    run(&[model, "--without", "filesystems"]).is_refusal(2, &["filesystem"]);
    run(&[text(lab.beside(".").as_path()), "--without", "filesystem"])
        .is_refusal(2, &["--without", "model:NAME"]);
}
