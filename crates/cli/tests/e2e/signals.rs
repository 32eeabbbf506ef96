//! Ctrl-C, SIGTERM, SIGHUP, kill -9 and a reader that closes the pipe: the measured cells are
//! stored, and no test file remains.

use crate::faults::{can_inject, traced};
use crate::lab::{ANOTHER_WISH, Lab, Live, list_of, names, text};
use rustix::process::{Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A short cell, followed by a long one.
const PROFILE: &str = "\
schema = 1
name = \"quick-then-slow\"
title = { en = \"quick, then slow\", ja = \"quick, then slow\" }
statistic = \"mean\"
[rules]
size = \"4 MiB\"
runs = 1
time = \"100 ms\"
order = \"by-step\"
[[step]]
kind = \"io\"
label = \"quick\"
pattern = \"random\"
block_size = \"4 KiB\"
directions = [\"read\"]
[[step]]
kind = \"io\"
label = \"slow\"
pattern = \"random\"
block_size = \"4 KiB\"
directions = [\"read\"]
time = \"50 s\"
";

/// A signalled run ends within this time even on a busy machine. Without the signal, the runs here
/// would take 40 s or more.
const LONG_BEFORE_ITS_END: Duration = Duration::from_secs(30);

/// Starts a run and returns in the middle of its second cell.
fn in_the_middle(lab: &Lab) -> Live {
    let profile = lab.write("quick-then-slow.toml", PROFILE);
    let words = ["--profile", text(&profile)];
    let mut live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"repetition_started\",\"cell_index\":1");
    assert_eq!(names(&lab.target()).len(), 1, "the test file is there");
    live
}

/// Checks that the store holds the run as interrupted, with its first cell.
fn is_kept_as_interrupted(lab: &Lab) {
    let runs = lab.list();
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0]["status"], &runs[0]["cell_count"]), (&"interrupted".into(), &1.into()));
    let record = lab.record("last");
    assert_eq!(list_of(&record["cells"])[0]["label"], "quick");
    assert!(record["ended_at"].is_string());
    let table = lab.kurabe(&["show"]).ok().out;
    assert!(table.contains("quick") && table.contains("MB/s") && table.contains("interrupted"), "{table}");
}

fn ends_after_one(signal: Signal) {
    let lab = Lab::new();
    let mut live = in_the_middle(&lab);
    live.signal(signal);
    let asked = Instant::now();
    live.wait_for_err("interrupt again to exit immediately");
    let ended = live.end();
    assert!(asked.elapsed() < LONG_BEFORE_ITS_END, "{:?}", asked.elapsed());
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(names(&lab.target()).is_empty(), "no test file stays");
    let lines = ended.json_lines();
    let event_line =
        |event: &str| lines.iter().find(|line| line["event"] == event).expect("an event").clone();
    assert_eq!(event_line("run_done")["status"], "interrupted");
    assert_eq!(event_line("record")["run"]["status"], "interrupted");
    assert_eq!(event_line("error")["kind"], "interrupted");
    is_kept_as_interrupted(&lab);
}

#[test]
fn ctrl_c_ends_a_run_and_keeps_its_cells() {
    ends_after_one(Signal::INT);
}

#[test]
fn sigterm_ends_a_run_like_ctrl_c() {
    ends_after_one(Signal::TERM);
}

#[test]
fn sighup_ends_a_run_like_ctrl_c() {
    ends_after_one(Signal::HUP);
}

#[test]
fn ctrl_c_before_the_first_cell_keeps_no_run() {
    let lab = Lab::new();
    let words = ["--rw", "randread", "--size", "4m", "--time", "50s"];
    let mut live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"repetition_started\"");
    live.signal(Signal::INT);
    let ended = live.end();
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(names(&lab.target()).is_empty(), "no test file stays");
    assert!(lab.list().is_empty(), "there is nothing to keep");
}

#[test]
fn ctrl_c_is_heard_while_an_open_loop_waits_for_its_next_operation() {
    let lab = Lab::new();
    let words = ["--rate", "0.05", "--size", "4m", "--time", "40s"];
    let mut live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"progress\"");
    live.signal(Signal::INT);
    let asked = Instant::now();
    let ended = live.end();
    assert!(asked.elapsed() < LONG_BEFORE_ITS_END, "{:?}", asked.elapsed());
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(names(&lab.target()).is_empty(), "no test file stays");
}

#[test]
#[ignore = "slow"]
fn a_second_signal_ends_at_once_and_leaves_no_test_file() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    let target = lab.target();
    // From then on each call takes longer than the test waits.
    let late =
        ["strace", "-f", "-qqq", "-o", "/dev/null", "-e", "inject=io_uring_enter:delay_enter=30s:when=200+"];
    let words =
        ["run", text(&target), "--json", "--quiet", "--rw", "randread", "--engine", "uring", "--size", "4m"];
    let mut live = Live::start(lab.wrapped(&late, &[&words[..], &["--time", "50s"]].concat()));
    live.wait_for_out("\"event\":\"repetition_started\"");
    std::thread::sleep(Duration::from_millis(500));
    kill_process(traced(&live), Signal::INT).expect("a signal is sent");
    std::thread::sleep(ANOTHER_WISH);
    assert_eq!(names(&target).len(), 1, "the test file is there");
    kill_process(traced(&live), Signal::TERM).expect("a signal is sent");
    let ended = live.end();
    assert_eq!(ended.code(), Some(143), "{ended:#?}");
    assert!(ended.err.contains("exiting immediately"), "{ended:#?}");
    assert!(!ended.out.contains("\"event\":\"run_done\""), "it did not wait for the run's end: {ended:#?}");
    assert!(names(&target).is_empty(), "no test file stays");
}

/// As `timeout` sends them, or a closing terminal.
#[test]
fn signals_that_come_together_are_one() {
    let lab = Lab::new();
    let live = in_the_middle(&lab);
    for signal in [Signal::TERM, Signal::TERM, Signal::HUP, Signal::INT] {
        live.signal(signal);
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = live.end();
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(ended.out.contains("\"event\":\"run_done\""), "{ended:#?}");
    is_kept_as_interrupted(&lab);
}

#[test]
fn after_kill_9_the_next_start_removes_the_test_file_and_only_it() {
    let lab = Lab::new();
    let live = in_the_middle(&lab);
    let test_file = lab.target().join(names(&lab.target()).remove(0));
    live.signal(Signal::KILL);
    let ended = live.end();
    assert_eq!(ended.code(), None, "{ended:#?}");
    assert!(test_file.exists(), "no process could remove it");
    let decoys = [".kurabe-decoy.test", "notes.txt"];
    for decoy in decoys {
        std::fs::write(lab.target().join(decoy), "mine").expect("a file");
    }
    let listed = lab.kurabe(&["list"]).ok();
    assert!(listed.err.contains(text(&test_file)), "it says what it removed: {listed:#?}");
    assert!(listed.out.contains("interrupted"), "{listed:#?}");
    assert_eq!(names(&lab.target()), decoys, "it and nothing else is gone");
    assert!(lab.kurabe(&["list"]).ok().err.is_empty(), "it says so once");
    is_kept_as_interrupted(&lab);
}

#[test]
fn a_new_run_removes_the_test_file_of_one_that_was_killed() {
    let lab = Lab::new();
    let live = in_the_middle(&lab);
    live.signal(Signal::KILL);
    live.end();
    lab.measure(&lab.target(), &crate::lab::ONE_CELL);
    assert!(names(&lab.target()).is_empty());
    let statuses: Vec<_> = lab.list().iter().map(|run| run["status"].clone()).collect();
    assert!(
        statuses.contains(&"interrupted".into()) && statuses.contains(&"complete".into()),
        "{statuses:?}"
    );
}

#[test]
fn a_run_under_way_is_neither_recovered_nor_removed() {
    let lab = Lab::new();
    let live = in_the_middle(&lab);
    let runs = lab.list();
    assert_eq!(runs[0]["status"], "running");
    let id = runs[0]["id"].as_str().expect("an id");
    lab.kurabe(&["rm", id])
        .is_refusal(6, &["being measured", &live.worker_pid().as_raw_nonzero().to_string()]);
    assert_eq!(names(&lab.target()).len(), 1, "its test file stays");
    live.signal(Signal::INT);
    assert_eq!(live.end().code(), Some(130));
}

#[test]
fn a_reader_who_goes_away_leaves_no_test_file() {
    let lab = Lab::new();
    let words = ["--rw", "randread", "--size", "4m", "--time", "50s"];
    let target = lab.target();
    let mut command = lab.command(&[&["run", text(&target), "--json", "--quiet"], &words[..]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("kurabe");
    let mut line = String::new();
    // As `| head -1` does: it reads one line and closes the pipe.
    BufReader::with_capacity(64, child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.contains("run_started"), "{line}");
    let deadline = Instant::now() + LONG_BEFORE_ITS_END;
    while child.try_wait().expect("a status").is_none() {
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("it continues without a reader");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(names(&lab.target()).is_empty(), "no test file stays: {:?}", names(&lab.target()));
}
