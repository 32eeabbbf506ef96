//! Traces written by kurabe and replayed by the real fio, and fio's logs read by kurabe. Skipped
//! without fio.

use kurabe_core::trace::{Trace, TraceOp};
use kurabe_core::workload::OpKind;
use kurabe_interop::{read_trace, write_iolog_v3};
use kurabe_testkit::needs::skip;
use std::process::{Command, Stdio};

/// Runs fio in a directory. `None` if fio is not installed.
fn fio(directory: &std::path::Path, arguments: &[&str]) -> Option<std::process::Output> {
    let run = Command::new("fio").args(arguments).current_dir(directory).stdin(Stdio::null()).output();
    if run.is_err() {
        skip("fio is not installed");
    }
    run.ok()
}

#[test]
fn fio_does_again_what_kurabe_wrote() {
    let directory = tempfile::tempdir().expect("a directory");
    let image = directory.path().join("image");
    std::fs::write(&image, vec![0; 1 << 20]).expect("an image");
    let op = |at_us: u64, kind, offset_bytes, length_bytes| TraceOp {
        at_ns: at_us * 1000,
        kind,
        offset_bytes,
        length_bytes,
        unit: 0,
        took_ns: 0,
    };
    let trace = Trace {
        format: "fio-iolog-3".to_owned(),
        units: vec![image.to_str().expect("a name").to_owned()],
        operations: vec![
            op(0, OpKind::Write, 8192, 4096),
            op(1000, OpKind::Read, 0, 65536),
            op(1000, OpKind::Sync, 0, 0),
            op(150_000, OpKind::Read, 4096, 512),
            op(150_100, OpKind::Write, 65536, 8192),
        ],
        timed: true,
        ..Trace::default()
    };
    assert_eq!(trace.flaw(), None);
    std::fs::write(directory.path().join("log"), write_iolog_v3(&trace)).expect("a log");
    let arguments = ["--name=a", "--ioengine=psync", "--read_iolog=log", "--output-format=json"];
    let Some(output) = fio(directory.path(), &arguments) else { return };
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_str(&words).expect("JSON");
    let job = &result["jobs"][0];
    let figure = |direction: &str, what: &str| job[direction][what].as_u64();
    assert_eq!((figure("read", "total_ios"), figure("read", "io_bytes")), (Some(2), Some(66048)));
    assert_eq!((figure("write", "total_ios"), figure("write", "io_bytes")), (Some(2), Some(12288)));
    assert_eq!(figure("sync", "total_ios"), Some(1));

    // The last operation but one starts 150 ms after the first: fio reads the times as µs.
    let runtime_ms = job["job_runtime"].as_u64().expect("a time");
    assert!((149..5000).contains(&runtime_ms), "{runtime_ms}");
}

#[test]
fn a_log_of_fio_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = [
        "--name=a",
        "--ioengine=psync",
        "--filename=image",
        "--rw=write",
        "--bs=4k",
        "--size=40k",
        "--fsync=5",
        "--rate_iops=20",
        "--write_iolog=log",
    ];
    let Some(output) = fio(directory.path(), &arguments) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = std::fs::read(directory.path().join("log")).expect("fio's log");
    let trace = read_trace("log", &log[..], None).expect("fio's log is read");
    assert_eq!(trace.flaw(), None);
    let written: Vec<u64> = trace
        .operations
        .iter()
        .filter(|op| op.kind == OpKind::Write && op.length_bytes == 4096)
        .map(|op| op.offset_bytes)
        .collect();
    assert_eq!(written, (0..10).map(|block| block * 4096).collect::<Vec<u64>>());
    assert!(trace.summary().syncs >= 1);
    if trace.timed {
        // Ten operations at 20 per second.
        let duration_ns = trace.summary().duration_ns;
        assert!((400_000_000..5_000_000_000).contains(&duration_ns), "{duration_ns}");
    }
}
