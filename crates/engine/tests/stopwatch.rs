//! The `stopwatch` step: what starts and stops the time, and what is left behind.

use crate::copy_common::{Ran, run};
use kurabe_core::ErrorKind;
use kurabe_core::event::Event;
use kurabe_core::record::Measure;
use kurabe_engine::{TargetOptions, test_file_name};
use kurabe_testkit::needs::needs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

fn timed(dir: &Path, marks: &str, hear: &dyn Fn(&Event)) -> Ran {
    let profile = format!(
        r#"
schema = 1
name = "stopwatch-test"
title = {{ en = "test", ja = "試験" }}
statistic = "mean"

[rules]
size = "1 MiB"
runs = 1
time = "1 s"

[[step]]
kind = "stopwatch"
{marks}
"#
    );
    let options = TargetOptions {
        size_bytes: 1 << 20,
        test_file_name: test_file_name("stopwatchtest", 1),
        no_test_file: true,
        work_folder: true,
        ..TargetOptions::default()
    };
    run(dir, &options, &profile, &|event, _| hear(event))
}

#[test]
fn the_time_is_that_between_two_lines_of_a_console() {
    let (target, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let console = dir.path().join("console");
    std::fs::write(&console, "go login:").unwrap();
    let path = console.display();
    let marks = format!(
        "start = {{ line = \"go\", from = \"{path}\" }}\nstop = {{ line = \"login:\", from = \"{path}\" }}"
    );
    let say = |words: &str, after_ms: u64| {
        let (console, words) = (console.clone(), words.to_owned());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(after_ms));
            write!(std::fs::OpenOptions::new().append(true).open(console).unwrap(), "{words}").unwrap();
        });
    };
    let ran = timed(target.path(), &marks, &|event| match event {
        Event::Preparing { what } if what.en.contains("\"go\"") => say("go\n", 20),
        Event::Preparing { .. } => say("welcome\nlogin: ", 150),
        _ => {}
    });
    ran.result.as_ref().unwrap();
    let cells = ran.cells();
    assert_eq!((cells[0].part.as_str(), cells[0].measure), ("stopwatch", Measure::Duration));
    let elapsed_ms = cells[0].repetitions[0].elapsed_ns / 1_000_000;
    assert!((150..5000).contains(&elapsed_ms), "{elapsed_ms} ms");
    assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "the target is left as it was");
}

#[test]
fn the_time_from_the_start_of_a_program_to_a_file_and_then_the_program_is_ended() {
    if !needs("sh") {
        return;
    }
    let (target, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ready, gone) = (dir.path().join("ready"), dir.path().join("gone"));
    let script = format!(
        "trap 'echo > {}; exit' TERM; echo never seen; sleep 0.2; echo > {}; while :; do sleep 0.01; done",
        gone.display(),
        ready.display()
    );
    let marks = format!(
        "start = {{ command = [\"sh\", \"-c\", \"{script}\"] }}\nstop = {{ file = \"{}\" }}",
        ready.display()
    );
    let ran = timed(target.path(), &marks, &|_| {});
    ran.result.as_ref().unwrap();
    let elapsed_ms = ran.cells()[0].repetitions[0].elapsed_ns / 1_000_000;
    assert!((200..5000).contains(&elapsed_ms), "{elapsed_ms} ms");
    assert!(gone.exists(), "the program was asked to end");
}

#[test]
fn what_never_comes_ends_the_run_at_the_limit_and_a_program_that_is_missing_at_once() {
    let (target, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let console = dir.path().join("console");
    std::fs::write(&console, "").unwrap();
    let (path, program) = (console.display(), std::env::current_exe().unwrap());
    let start = format!("start = {{ command = [\"{}\", \"--list\"] }}", program.display());
    let marks = format!("limit = \"50 ms\"\n{start}\nstop = {{ line = \"login:\", from = \"{path}\" }}");
    let error = timed(target.path(), &marks, &|_| {}).result.unwrap_err();
    assert!(error.what().en.contains("no end within") && error.what().ja.contains("login:"), "{error:?}");
    let marks = "start = { command = [\"/no/such/program\"] }\nstop = { file = \"/no/such/file\" }";
    let error = timed(target.path(), marks, &|_| {}).result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Target);
    assert!(error.what().en.contains("/no/such/program"), "{error:?}");
}
