//! Recording the I/O of a command, and replaying traces.

use crate::lab::{Lab, Live, list_of, notices, number, text};
use crate::system::LoopDevice;
use kurabe_testkit::needs::{TRACEPOINTS, skip};
use std::time::{Duration, Instant};

const IOLOG: &str = "fio version 3 iolog\n0 a add\n0 a open\n0 a read 0 4096\n100 a write 8192 4096\n\
                     2000 a read 4096 8192\n2100 a sync 0 0\n2200 a close\n";

#[test]
fn a_trace_is_done_again_operation_by_operation() {
    let lab = Lab::new();
    let trace = lab.write("t.iolog", IOLOG);
    for timing in ["fast", "closed", "timestamps"] {
        let words = ["--replay", text(&trace), "--timing", timing, "--size", "1m"];
        let record = lab.measure(&lab.target(), &words);
        let repetition = &record["cells"][0]["repetitions"][0];
        assert_eq!(number(&repetition["read"]["completed"]), 2, "{timing}");
        assert_eq!(number(&repetition["read"]["bytes"]), 12288);
        assert_eq!(number(&repetition["write"]["completed"]), 1);
        assert_eq!(number(&repetition["sync"]["completed"]), 1);
        if timing != "fast" {
            assert!(number(&repetition["elapsed_ns"]) >= 2_000_000, "{timing} keeps the trace's time");
        }
    }
}

#[test]
fn a_target_that_may_not_be_written_gets_the_reads() {
    let lab = Lab::new();
    let trace = lab.write("t.iolog", IOLOG);
    let file = lab.write("target/file", vec![7_u8; 1 << 20]);
    let record = lab.measure(&file, &["--replay", text(&trace)]);
    assert_eq!(number(&record["cells"][0]["repetitions"][0]["read"]["completed"]), 2);
    assert_eq!(number(&record["cells"][0]["repetitions"][0]["write"]["submitted"]), 0);
    assert_eq!(notices(&record, "writes_left_out").len(), 1);
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 7));
}

#[test]
fn a_bad_trace_shows_its_line() {
    let lab = Lab::new();
    let trace = lab.write("t.iolog", IOLOG.replace("read 4096 8192", "read forty 8192"));
    lab.refuses(&lab.target(), &["--replay", text(&trace)], 11, &["forty"]);
    let ambiguous = lab.write("a.trace", "0 0 0 8 1\n100 0 8 8 0\n");
    lab.refuses(&lab.target(), &["--replay", text(&ambiguous)], 11, &["mqsim"]);
    lab.run(&lab.target(), &["--replay", text(&ambiguous), "--trace-format", "mqsim", "--size", "1m"]).ok();
}

#[test]
fn what_a_command_does_is_recorded_and_can_be_done_again() {
    let lab = Lab::new();
    let (trace, file) = (lab.beside("t.iolog"), lab.target().join("x"));
    let output = format!("of={}", file.display());
    let command = ["dd", "if=/dev/zero", &output, "bs=64k", "count=16", "conv=fsync", "status=none"];
    let ended = lab.kurabe(
        &[&["record", text(&lab.target()), "-o", text(&trace), "--json", "--"], &command[..]].concat(),
    );
    if matches!(ended.code(), Some(4 | 5 | 10)) {
        skip(TRACEPOINTS);
        return;
    }
    let summary = &ended.ok().json_lines()[0];
    assert_eq!(summary["event"], "recorded");
    assert!(number(&summary["write_bytes"]) >= 16 * 65536, "{summary}");
    let record = lab.measure(&lab.target(), &["--replay", text(&trace), "--size", "16m"]);
    let repetition = &record["cells"][0]["repetitions"][0];
    assert_eq!(number(&repetition["write"]["bytes"]), number(&summary["write_bytes"]));
    assert!(!list_of(&record["cells"]).is_empty());
    lab.kurabe(&["record", text(&lab.target()), "-o", text(&trace), "--", "true"]).is_refusal(6, &["exists"]);
}

#[test]
fn a_loop_device_is_recorded_without_what_its_file_lies_on() {
    let Some(device) = LoopDevice::new(16 << 20) else { return };
    let (lab, node) = (Lab::new(), text(device.node()));
    let output = format!("of={node}");
    let command = ["dd", "if=/dev/zero", &output, "bs=64k", "count=16", "oflag=direct", "status=none"];
    let recorded = |words: &[&str]| {
        let ended = lab.kurabe(&[&["record", node, "--json"], words, &["--"], &command[..]].concat());
        let is_recorded = !matches!(ended.code(), Some(4 | 5 | 10)) && ended.out.contains("\"recorded\"");
        is_recorded.then(|| ended.ok().json_lines()[0].clone())
    };
    let Some(summary) = recorded(&[]) else {
        skip(TRACEPOINTS);
        return;
    };
    let name = node.trim_start_matches("/dev/");
    assert_eq!(list_of(&summary["devices"]), [name], "{summary}");
    assert_eq!(number(&summary["write_bytes"]), 16 * 65536, "once: {summary}");
    let beneath = list_of(&summary["devices_beneath"]).to_vec();
    let all = recorded(&["--all-devices"]).expect("recorded as before");
    assert_eq!(list_of(&all["devices"])[1..], beneath, "{all}");
    assert_eq!(list_of(&all["devices_beneath"]).len(), 0, "{all}");
}

#[test]
fn a_trace_that_could_not_be_kept_is_refused_before_the_command_runs() {
    let lab = Lab::new();
    let (mark, target) = (lab.beside("mark"), lab.target());
    let words = ["record", text(&target), "-o", "/nonexistent/t.iolog", "--", "touch", text(&mark)];
    lab.kurabe(&words).is_refusal(4, &["/nonexistent/t.iolog"]);
    assert!(!mark.exists());
}

#[test]
fn a_recording_that_is_stopped_tells_so() {
    let lab = Lab::new();
    let (mark, target) = (lab.beside("mark"), lab.target());
    let script = "touch \"$0\"; exec sleep 50";
    let words = ["record", text(&target), "--json", "--", "sh", "-c", script, text(&mark)];
    let mut live = Live::start(lab.command(&words));
    let asked = Instant::now();
    while !mark.exists() && asked.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(10));
    }
    if !mark.exists() {
        live.end();
        skip(TRACEPOINTS);
        return;
    }
    live.signal(rustix::process::Signal::INT);
    live.wait_for_err("stopping");
    let ended = live.end();
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert!(matches!(ended.json_lines()[0]["event"].as_str(), Some("recorded" | "counted")), "{ended:#?}");
}

#[test]
fn words_that_a_replay_does_not_take_are_refused() {
    let lab = Lab::new();
    let trace = lab.write("t.iolog", IOLOG);
    for words in [["--rate", "5"], ["--threads", "2"], ["--bytes", "1m"], ["--speed", "2"]] {
        let words = [&["--replay", text(&trace)], &words[..]].concat();
        lab.refuses(&lab.target(), &words, 2, &[words[2]]);
    }
}

/// Three requests of a drive with their measured times.
const MEASURED: &str = "R Miss 100 4 9000.0 20000.0\nR Hit 104 4 600.5 20000.0\nW Miss 900 8 11000.0 0.0\n";

#[test]
fn a_disk_of_disksim_is_imported_and_held_against_what_was_measured() {
    let lab = Lab::new();
    let parv = include_str!("../../../interop/tests/fixtures/disksim/small.parv");
    let file = lab.write("target/small.parv", parv);
    lab.kurabe(&["import", text(&file)]).is_refusal(4, &["cannot read small.seek, which small.parv names"]);
    lab.write("target/small.seek", "Seek distances measured: 2\n1,\t0.5\n99,\t9\n");
    let message = lab.kurabe(&["import", text(&file)]).ok().out;
    assert!(message.contains("kurabe run model:./small.toml"), "{message}");
    lab.kurabe(&["import", text(&file)]).is_refusal(6, &["small.toml", "exists"]);
    let trace = lab.write("t.trace", MEASURED);
    let replay = ["run", "model:./small.toml", "--replay", text(&trace), "--timing", "think"];
    lab.kurabe(&replay).ok();
    let line = &lab.kurabe(&["compare", "last", "--measured", text(&trace), "--json"]).ok().json_lines()[0];
    let rows = list_of(&line["demerits"]);
    let directions: Vec<&str> = rows.iter().map(|row| row["direction"].as_str().unwrap_or("all")).collect();
    assert_eq!(directions, ["all", "read", "write"]);
    assert_eq!((number(&rows[0]["measured_operations"]), number(&rows[1]["run_operations"])), (3, 2));
    // (9000 + 600.5 + 11000) / 3 µs.
    assert!((rows[0]["measured_mean_ns"].as_f64().unwrap() - 6_866_833.3).abs() < 1.0, "{line}");
    // One at a time, with pauses of 20 ms after each request, whatever time the disk takes.
    let repetition = &lab.record("last")["cells"][0]["repetitions"][0];
    let busy_ns =
        number(&repetition["read"]["latency"]["sum_ns"]) + number(&repetition["write"]["latency"]["sum_ns"]);
    assert_eq!(number(&repetition["elapsed_ns"]), busy_ns + 40_000_000);
    let page = lab.kurabe(&["compare", "last", "--measured", text(&trace)]).ok().out;
    assert!(page.contains("demerit") && page.contains("6.87 ms"), "{page}");
    lab.kurabe(&["compare", "last", "--measured", text(&trace), "--chart"]).ok();
    lab.kurabe(&[&replay[..], &["--iodepth", "4"]].concat()).is_refusal(2, &["--iodepth has no effect"]);
    let untimed = lab.write("u.iolog", IOLOG);
    lab.kurabe(&["compare", "last", "--measured", text(&untimed)])
        .is_refusal(11, &["does not record how long"]);
}
