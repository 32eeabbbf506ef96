//! System calls that fail during a run: the run retries errors that ask for it, ends with the
//! reason for all others, and counts nothing twice. The driver's own tests cover thousands of cases
//! on a device that fails at random. Here the real engines meet a few dozen.

use crate::lab::{Ended, Lab, Live, names, number, text};
use crate::system::system;
use kurabe_testkit::needs::{TRACER, skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Index of the call that fails in a thread: after the trials before the run, but soon enough to be
/// reached.
const WHEN: u32 = 20;

/// Runs with failures injected into some system calls.
fn run(lab: &Lab, inject: &[&str], words: &[&str]) -> Ended {
    let quiet = ["strace", "-f", "-qqq", "-o", "/dev/null"];
    Live::start(lab.wrapped(&[&quiet[..], inject].concat(), words)).end()
}

pub fn can_inject() -> bool {
    let can =
        system("strace", &["-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=9", "true"]).is_some();
    if !can {
        skip(TRACER);
    }
    can
}

/// Returns the process that a tracer started.
pub fn traced(tracer: &Live) -> Pid {
    let tracer = tracer.pid().as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{tracer}/task/{tracer}/children")).expect("a list");
    children.trim().parse().ok().and_then(Pid::from_raw).expect("one child")
}

/// Checks that every operation of the only cell is accounted for.
fn is_conserved(record: &Value) {
    for repetition in record["cells"][0]["repetitions"].as_array().expect("repetitions") {
        for kind in ["read", "write", "sync"] {
            let [submitted, completed, failed] =
                ["submitted", "completed", "failed"].map(|count| number(&repetition[kind][count]));
            assert_eq!((submitted, failed), (completed, 0), "{kind}: {repetition}");
        }
    }
}

/// Injects one failure into a run, which must continue, or end with one of these exit codes and
/// messages.
fn meets(lab: &Lab, target: &Path, inject: &[&str], words: &[&str], end: Option<(&[i32], &[&str])>) {
    let words = [&["run", text(target), "--size", "4m", "--passes", "1", "--runs", "1"], words].concat();
    let ended = run(lab, inject, &words);
    assert!(!ended.err.contains("panicked"), "{inject:?}: {ended:#?}");
    match end {
        None => {
            assert_eq!(ended.code(), Some(0), "{inject:?}: {ended:#?}");
            is_conserved(&lab.record("last"));
        }
        Some((codes, says)) => {
            let code = ended.code().unwrap_or_default();
            assert!(codes.contains(&code), "{inject:?}: {ended:#?}");
            for words in says {
                assert!(ended.err.contains(words), "{inject:?} says `{words}`: {ended:#?}");
            }
            let errors =
                ended.err.lines().filter(|line| line.starts_with("kurabe: ") && line.contains("os error"));
            assert_eq!(errors.count(), 1, "{inject:?} is told once: {ended:#?}");
        }
    }
}

/// Error numbers, their text, and the exit codes that they may cause.
const ERRORS: [(&str, &str, &[i32]); 8] = [
    ("EIO", "os error 5", &[8]),
    ("ENOSPC", "os error 28", &[7]),
    ("EDQUOT", "os error 122", &[7]),
    ("EFBIG", "os error 27", &[7]),
    ("EROFS", "os error 30", &[5]),
    ("EPERM", "os error 1", &[5]),
    ("ENODEV", "os error 19", &[8]),
    ("EREMOTEIO", "os error 121", &[8]),
];

#[test]
#[ignore = "slow"]
fn calls_of_threads_that_fail_end_the_run_and_passing_ones_do_not() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    let target = lab.write("file", vec![7_u8; 4 << 20]);
    let calls: [(&str, &str, &[&str]); 3] = [
        ("pread64", "failed a read", &["--rw", "randread"]),
        ("pwrite64", "failed a write", &["--rw", "randwrite", "--write-existing"]),
        ("fsync", "failed a fsync", &["--rw", "randwrite", "--write-existing", "--fsync", "1"]),
    ];
    for (call, what, words) in calls {
        let words = [words, &["--engine", "threads", "--iodepth", "1"]].concat();
        let of = |error: &str| format!("inject={call}:error={error}:when={WHEN}");
        for (error, number, codes) in ERRORS {
            let end = Some((codes, &[what, number][..]));
            meets(&lab, &target, &["-P", text(&target), "-e", &of(error)], &words, end);
        }
        for error in ["EINTR", "EAGAIN"] {
            meets(&lab, &target, &["-P", text(&target), "-e", &of(error)], &words, None);
        }
        if call != "fsync" {
            // A call that completes a part, and one that does nothing.
            let part = format!("inject={call}:retval=512:when={WHEN}");
            meets(
                &lab,
                &target,
                &["-P", text(&target), "-e", &part],
                &[&words[..], &["--bs", "4k"]].concat(),
                None,
            );
        }
    }
    assert_eq!(target.metadata().expect("facts").len(), 4 << 20, "its size stays");
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

/// Checks that a call interrupted forever counts as a failure, and that Ctrl-C takes effect before
/// that.
fn is_interrupted_for_ever(call: &str, says: &str, engine: &[&str]) {
    let lab = Lab::new();
    let target = lab.write("file", vec![7_u8; 4 << 20]);
    let inject = format!("inject={call}:error=EINTR:when={WHEN}+");
    let path = ["-P", text(&target)];
    let inject = [if call == "pread64" { &path[..] } else { &[] }, &["-e", &inject]].concat();
    let words = [&["--rw", "randread"], engine].concat();
    meets(&lab, &target, &inject, &words, Some((&[5, 8][..], &[says, "os error 4"][..])));
    let quiet = [&["strace", "-f", "-qqq", "-o", "/dev/null"], &inject[..]].concat();
    let words = [&["run", text(&target), "--json", "--quiet", "--size", "4m", "--time", "50s"], &words[..]];
    let mut live = Live::start(lab.wrapped(&quiet, &words.concat()));
    live.wait_for_out("\"event\":\"repetition_started\"");
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    kill_process(traced(&live), Signal::INT).expect("a signal is sent");
    let ended = live.end();
    assert!(ended.code() == Some(130) && asked.elapsed() < Duration::from_secs(5), "{ended:#?}");
}

#[test]
#[ignore = "slow"]
fn calls_that_are_interrupted_for_ever_end_the_run() {
    if !can_inject() {
        return;
    }
    std::thread::scope(|scope| {
        let of = |call, says, engine: &'static [&str]| {
            scope.spawn(move || is_interrupted_for_ever(call, says, engine));
        };
        of("pread64", "failed a read", &["--engine", "threads", "--iodepth", "1"]);
        of("io_uring_enter", "io_uring failed", &["--engine", "uring", "--iodepth", "4"]);
        of("io_uring_enter", "io_uring failed", &["--engine", "uring", "--iodepth", "4", "--wait", "spin"]);
    });
}

#[test]
#[ignore = "slow"]
fn a_ring_that_fails_ends_the_run_and_a_passing_failure_does_not() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    let target = lab.write("file", vec![7_u8; 4 << 20]);
    for (rw, more) in [("randread", &[][..]), ("randwrite", &["--write-existing", "--fsync", "3"][..])] {
        let words = [&["--rw", rw, "--engine", "uring", "--iodepth", "4"][..], more].concat();
        let of = |error: &str| format!("inject=io_uring_enter:error={error}:when={WHEN}");
        for (error, number) in [("EIO", "os error 5"), ("EPERM", "os error 1"), ("ENOMEM", "os error 12")] {
            let end = Some((&[5, 8][..], &["io_uring failed", number, "--engine threads"][..]));
            meets(&lab, &target, &["-e", &of(error)], &words, end);
        }
        for error in ["EINTR", "EAGAIN", "EBUSY", "ETIME"] {
            meets(&lab, &target, &["-e", &of(error)], &words, None);
        }
    }
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
#[ignore = "slow"]
fn a_test_file_goes_whatever_call_fails() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    for engine in ["threads", "uring"] {
        for (call, error) in [
            ("fallocate", "EIO"),
            ("fsync", "EIO"),
            ("io_uring_setup", "EPERM"),
            ("mmap", "ENOMEM"),
            ("openat", "EMFILE"),
        ] {
            let when = if call == "mmap" || call == "openat" { 60 } else { 1 };
            let inject = format!("inject={call}:error={error}:when={when}+");
            let target = lab.target();
            let words = [
                "run",
                text(&target),
                "--size",
                "4m",
                "--time",
                "50ms",
                "--rw",
                "write",
                "--end-fsync",
                "timed",
            ];
            let ended = run(&lab, &["-e", &inject], &[&words[..], &["--engine", engine]].concat());
            assert!(!ended.err.contains("panicked"), "{inject}: {ended:#?}");
            // Failures so early that the store cannot be opened are reported as well. The next
            // start removes a test file that could not be removed.
            lab.kurabe(&["list"]);
            assert_eq!(names(&target), [] as [&str; 0], "{engine} {inject}: {ended:#?}");
        }
    }
}
