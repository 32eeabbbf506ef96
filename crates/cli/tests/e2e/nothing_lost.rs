//! Every reported result is in the store, however the program ends.

use crate::lab::{Lab, Live, list_of, names, text};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the repetitions that were reported, each with its run and cell. An incomplete last line
/// does not count.
fn told_repetitions(out: &str) -> Vec<(String, Value, Value)> {
    let whole = out.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|line| {
            let event = if line["event"] == "versus_run" { &line["happened"] } else { &line };
            let is_repetition = event["event"] == "repetition_done";
            let run = line["run"].as_str().filter(|_| is_repetition)?.to_owned();
            Some((run, event["cell_index"].clone(), event["repetition"].clone()))
        })
        .collect()
}

/// Returns a number below `limit` that is scattered but the same in every execution of the test.
fn scattered(seed: u64, limit: u64) -> u64 {
    seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) % limit
}

/// Kills the process at some moment after a repetition was reported, and checks that the store has
/// all reported repetitions.
fn kill_and_ask(lab: &Lab, words: &[&str], seed: u64) {
    let mut live = Live::start(lab.command(&[words, &["--json", "--quiet"]].concat()));
    live.wait_for_out_times("\"event\":\"repetition_done\"", 1 + scattered(seed, 30) as usize);
    std::thread::sleep(Duration::from_micros(scattered(seed + 1000, 20_000)));
    live.signal(Signal::KILL);
    let ended = live.end();
    assert_eq!(ended.code(), None, "it was killed under way: {ended:#?}");
    let repetitions = told_repetitions(&ended.out);
    assert!(!repetitions.is_empty());
    for (run, cell_index, repetition) in repetitions {
        let record = lab.record(&run);
        let cell = list_of(&record["cells"]).iter().find(|cell| cell["index"] == cell_index);
        let cell = cell.unwrap_or_else(|| panic!("seed {seed}: {run} has no cell {cell_index}: {record:#}"));
        assert!(list_of(&cell["repetitions"]).contains(&repetition), "seed {seed}: {run} {cell_index}");
    }
    let statuses: Vec<Value> = lab.list().into_iter().map(|run| run["status"].clone()).collect();
    assert!(!statuses.contains(&Value::from("running")), "{statuses:?}");
}

#[test]
#[ignore = "slow"]
fn of_targets_in_turns_every_repetition_that_was_told_is_there_after_kill_9() {
    let lab = Lab::new();
    let (one, other) = (lab.target(), lab.beside("other"));
    std::fs::create_dir(&other).expect("a directory");
    let words = [
        "versus",
        text(&one),
        text(&other),
        "--size",
        "4m",
        "--repetition",
        "5ms",
        "--time",
        "10s",
        "--margin",
        "0%",
    ];
    for seed in 0..8 {
        kill_and_ask(&lab, &words, seed);
    }
}

#[test]
#[ignore = "slow"]
fn of_a_run_every_repetition_that_was_told_is_there_after_kill_9() {
    let lab = Lab::new();
    let target = lab.target();
    let words = ["run", text(&target), "--profile", "quick", "--size", "4m", "--runs", "12", "--time", "5ms"];
    for seed in 0..4 {
        kill_and_ask(&lab, &words, seed);
    }
}

/// Makes the store unusable during a measurement, and checks that the rescued files contain all
/// reported repetitions.
fn lose_and_find(words: &[&str], lab: &Lab, runs: usize, accident: fn(&Path)) {
    let mut live = Live::start(lab.command(&[words, &["--json", "--quiet"]].concat()));
    live.wait_for_out_times("\"event\":\"repetition_done\"", 5);
    accident(&lab.store());
    let ended = live.end();
    assert_eq!(ended.code(), Some(9), "{ended:#?}");
    assert!(names(&lab.target()).is_empty(), "no test file stays");
    let directory = lab.store().parent().expect("a directory").to_owned();
    let mut rescued = names(&directory);
    rescued.retain(|name| name.contains(".rescued-"));
    assert_eq!(rescued.len(), 1, "{rescued:?}");
    let file = directory.join(&rescued[0]);
    let is_told = |text: &str| text.contains(&rescued[0]) && text.contains("kurabe import");
    assert!(is_told(&ended.err) || is_told(&ended.out), "{}\n{}", ended.err, ended.out);
    let other = lab.beside("other.db");
    let db = ["--db", text(&other)];
    lab.kurabe(&[&["import", text(&file)], &db[..]].concat()).ok();
    let listed = lab.kurabe(&[&["list", "--json"], &db[..]].concat()).ok().json_lines();
    assert_eq!(listed.len(), runs, "{listed:?}");
    for (run, cell_index, repetition) in told_repetitions(&ended.out) {
        let shown = lab.kurabe(&[&["show", &run, "--json"], &db[..]].concat()).ok().json_lines();
        let cells = list_of(&shown[0]["run"]["cells"]);
        let cell = cells.iter().find(|cell| cell["index"] == cell_index).expect("the cell");
        assert!(list_of(&cell["repetitions"]).contains(&repetition), "{run} {cell_index}");
    }
}

fn removed(store: &Path) {
    std::fs::remove_file(store).expect("the store");
}

fn cut(store: &Path) {
    File::options().write(true).open(store).and_then(|file| file.set_len(0)).expect("the store");
}

fn overwritten(store: &Path) {
    let file = File::options().write(true).open(store).expect("the store");
    file.write_all_at(&[0x5a; 1 << 16], 0).expect("the store");
}

#[test]
#[ignore = "slow"]
fn a_run_whose_store_goes_is_ended_at_once_and_rescued() {
    for accident in [removed, cut, overwritten] {
        let lab = Lab::new();
        let target = lab.target();
        let words =
            ["run", text(&target), "--profile", "quick", "--size", "4m", "--runs", "99", "--time", "20ms"];
        lose_and_find(&words, &lab, 1, accident);
    }
}

#[test]
fn a_run_that_was_rescued_says_where_it_is() {
    let lab = Lab::new();
    let target = lab.target();
    let words =
        ["run", text(&target), "--profile", "quick", "--size", "4m", "--runs", "99", "--time", "20ms"];
    let live = Live::start(lab.command(&words));
    let begun = Instant::now();
    let has_repetition =
        || lab.store().exists() && lab.kurabe(&["show", "last", "--json"]).out.contains("\"elapsed_ns\"");
    while !has_repetition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is measured");
        std::thread::sleep(Duration::from_millis(50));
    }
    removed(&lab.store());
    let ended = live.end();
    let files = names(lab.store().parent().expect("a directory"));
    let file = files.iter().find(|name| name.contains(".rescued-"));
    assert!(file.is_some_and(|file| ended.out.contains(file)), "{file:?}: {ended:#?}");
    assert!(!ended.out.contains("saved as") && !ended.out.contains("kurabe show"), "{ended:#?}");
}

#[test]
#[ignore = "slow"]
fn targets_in_turns_whose_store_goes_are_rescued_together() {
    let lab = Lab::new();
    let (one, other) = (lab.target(), lab.beside("other"));
    std::fs::create_dir(&other).expect("a directory");
    let words = [
        "versus",
        text(&one),
        text(&other),
        "--size",
        "4m",
        "--repetition",
        "5ms",
        "--time",
        "10s",
        "--margin",
        "0%",
    ];
    lose_and_find(&words, &lab, 2, removed);
}

#[test]
fn a_check_tells_what_is_damaged_and_the_rest_is_shown() {
    let lab = Lab::new();
    lab.kurabe(&["check"]).ok();
    assert!(!lab.store().exists(), "it makes nothing");
    let (one, other) = (lab.model_run("1us"), lab.model_run("2us"));
    let whole = lab.kurabe(&["check"]).ok();
    assert!(whole.out.contains("(2)") && whole.err.is_empty(), "{whole:#?}");
    let bytes = std::fs::read(lab.store()).expect("the store");
    // Changes a digit in the last cell of the first run. Records are stored as plain text in the
    // file.
    let figure = b"\"completed\":";
    let place = bytes.windows(figure.len()).rposition(|window| window == figure).expect("a figure");
    let file = File::options().write(true).open(lab.store()).expect("the store");
    let digit = bytes[place + figure.len()];
    file.write_all_at(&[digit ^ 1], (place + figure.len()) as u64).expect("the store");
    let checked = lab.kurabe(&["check"]);
    assert_eq!(checked.code(), Some(9), "{checked:#?}");
    let shown = [&one, &other].map(|run| lab.kurabe(&["export", run]));
    let damaged: Vec<_> = shown.iter().filter(|ended| ended.code() == Some(9)).collect();
    assert_eq!(damaged.len(), 1, "{shown:#?}");
    damaged[0].is_refusal(9, &["is damaged", "cells[", "kurabe check"]);
    let lines = lab.kurabe(&["check", "--json"]).json_lines();
    assert_eq!((&lines[0]["event"], &lines[1]["damages"]), (&"damage".into(), &1.into()), "{lines:?}");
}
