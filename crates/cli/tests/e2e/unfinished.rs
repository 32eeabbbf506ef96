//! System calls that are interrupted or complete only partly: the run goes on, and each operation
//! counts once.

use crate::lab::{Lab, list_of, number, text};
use crate::system::system;
use kurabe_testkit::needs::{TRACER, skip};
use serde_json::Value;

/// Runs kurabe with a fault injected into some of its calls, and returns the record.
fn measured_with(lab: &Lab, fault: &str, words: &[&str]) -> Option<Value> {
    if system("strace", &["-qq", "-o", "/dev/null", "true"]).is_none() {
        skip(TRACER);
        return None;
    }
    let inject = format!("inject={fault}");
    let target = lab.write("scratch", vec![1; 4 << 20]);
    // Only calls on the target, because the store makes calls as well.
    let of_target = ["-P", text(&target)];
    let of_target = if fault.starts_with('p') { &of_target[..] } else { &[] };
    let before = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", &inject];
    let before = [&before[..], of_target].concat();
    let words =
        [&["run", text(&target), "--write-existing", "--json", "--quiet", "--size", "4m"], words].concat();
    let ended = crate::lab::Live::start(lab.wrapped(&before, &words)).end().ok();
    let last = ended.json_lines().pop().expect("a line");
    assert_eq!(last["event"], "record");
    Some(last["run"].clone())
}

/// Checks that each operation of a pass over 4 MiB in blocks of 64 KiB completed once, and that
/// none failed.
fn is_one_pass(record: &Value, direction: &str) {
    let cells = list_of(&record["cells"]);
    assert!(!cells.is_empty());
    for repetition in cells.iter().flat_map(|cell| list_of(&cell["repetitions"])) {
        let done = &repetition[direction];
        assert_eq!((number(&done["bytes"]), number(&done["completed"])), (4 << 20, 64), "{done}");
        assert_eq!(number(&done["failed"]), 0);
    }
}

#[test]
#[ignore = "slow"]
fn interrupted_and_short_calls_are_gone_on_with() {
    let faults = [
        "pwrite64:error=EINTR:when=3+5",
        "pwrite64:error=EAGAIN:when=3+5",
        "pwrite64:retval=4096:when=3+5",
        "pread64:error=EINTR:when=4+5",
        "pread64:error=EAGAIN:when=4+5",
        "pread64:retval=4096:when=4+5",
    ];
    for fault in faults {
        let lab = Lab::new();
        let (rw, direction) = if fault.starts_with("pread") { ("read", "read") } else { ("write", "write") };
        let words = ["--rw", rw, "--bs", "64k", "--passes", "1", "--runs", "2", "--engine", "threads"];
        let Some(record) = measured_with(&lab, fault, &words) else { return };
        is_one_pass(&record, direction);
    }
}

#[test]
fn a_ring_that_is_interrupted_goes_on() {
    for fault in ["io_uring_enter:error=EINTR:when=3+4", "io_uring_enter:error=EAGAIN:when=3+4"] {
        let lab = Lab::new();
        let words = ["--rw", "write", "--bs", "64k", "--passes", "1", "--runs", "2", "--engine", "uring"];
        let Some(record) = measured_with(&lab, fault, &words) else { return };
        is_one_pass(&record, "write");
    }
}
