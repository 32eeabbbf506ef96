//! Skipped tests are recorded. The test executable runs itself, so that its own record is not
//! affected.

use kurabe_testkit::needs::{has, needs, skip};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

/// Set in the process that skips intentionally.
const INNER: &str = "KURABE_TEST_OF_SKIPS";

#[test]
fn one_skips_for_a_program() {
    if std::env::var_os(INNER).is_some() {
        assert!(needs("cc"));
        assert!(!needs("no-such-program"));
    }
}

#[test]
fn one_skips_for_another_reason() {
    if std::env::var_os(INNER).is_some() {
        skip(format_args!("no room\n  on {}", "the disk"));
    }
}

/// Runs the two tests above in a new process of an executable.
fn inner(executable: &Path, record: Option<&Path>) -> Output {
    let mut command = Command::new(executable);
    command.args(["one_skips", "--test-threads=2"]).env(INNER, "1").env("CARGO_PKG_NAME", "some-package");
    match record {
        Some(record) => command.env("KURABE_SKIPS", record),
        None => command.env_remove("KURABE_SKIPS"),
    };
    // A process that another thread is about to start may still have the copy open for writing.
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.expect("this executable runs"),
        }
    };
    assert!(output.status.success(), "{output:?}");
    output
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| line.starts_with("skipped: ")).collect();
    lines.sort_unstable();
    lines
}

const LINES: [&str; 2] = [
    "skipped: needs::one_skips_for_a_program: no-such-program is not installed",
    "skipped: needs::one_skips_for_another_reason: no room on the disk",
];

#[test]
fn a_skip_is_seen_although_the_test_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = inner(&std::env::current_exe().expect("a path"), Some(&folder.path().join("skips")));
    assert_eq!(sorted(&String::from_utf8_lossy(&output.stderr)), LINES);
}

#[test]
fn the_file_of_an_executable_holds_the_skips_of_its_last_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let executable = folder.path().join("debug/deps/needs-0123456789abcdef");
    std::fs::create_dir_all(executable.parent().expect("a folder")).expect("folders");
    std::fs::copy(std::env::current_exe().expect("a path"), &executable).expect("a copy");
    for _ in 0..2 {
        inner(&executable, None);
        let record = std::fs::read_to_string(folder.path().join("skips/some-package.needs.txt"));
        assert_eq!(sorted(&record.expect("a record")), LINES);
    }
}

#[test]
fn a_named_file_collects_the_skips_of_all_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("skips");
    let executable = std::env::current_exe().expect("a path");
    inner(&executable, Some(&record));
    inner(&executable, Some(&record));
    let record = std::fs::read_to_string(record).expect("a record");
    assert_eq!(sorted(&record), [LINES[0], LINES[0], LINES[1], LINES[1]]);
}

#[test]
fn a_file_that_cannot_be_executed_is_no_program() {
    assert!(has("cc") && !has("no-such-program") && !has("."));
}
