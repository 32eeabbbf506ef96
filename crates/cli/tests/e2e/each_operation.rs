//! `--per-request` on real storage: one line for each operation in the record, with the same times.

use crate::lab::{Lab, list_of, number, text};
use kurabe_testkit::needs::{IO_URING, skip};
use serde_json::Value;
use std::path::Path;

/// A line of the list of operations.
#[derive(Debug)]
struct Line {
    cell_index: u64,
    repetition_index: u64,
    op: String,
    offset_bytes: u64,
    length_bytes: u64,
    issued_ns: u64,
    completed_ns: u64,
    latency_ns: u64,
}

fn lines(list: &Path) -> Vec<Line> {
    let list = std::fs::read_to_string(list).expect("the list");
    let (header, rows) = list.split_once("\r\n").expect("a header");
    assert_eq!(
        header,
        "cell_index,repetition_index,op,offset_bytes,length_bytes,issued_ns,completed_ns,latency_ns,error"
    );
    let line = |row: &str| {
        let fields: Vec<&str> = row.split(',').collect();
        let count = |place: usize| fields[place].parse::<u64>().expect("a number");
        assert_eq!((fields.len(), fields[8]), (9, ""), "{row}");
        Line {
            cell_index: count(0),
            repetition_index: count(1),
            op: fields[2].to_owned(),
            offset_bytes: count(3),
            length_bytes: count(4),
            issued_ns: count(5),
            completed_ns: count(6),
            latency_ns: count(7),
        }
    };
    rows.lines().map(line).collect()
}

/// Measures with a list of operations, and checks that the list and the record count the same
/// operations.
fn listed(lab: &Lab, words: &[&str]) -> (Value, Vec<Line>) {
    let list = lab.beside("operations.csv");
    let _ = std::fs::remove_file(&list);
    let record = lab.measure(&lab.target(), &[words, &["--per-request", text(&list)]].concat());
    let lines = lines(&list);
    let mut counted = 0;
    for (cell_index, cell) in list_of(&record["cells"]).iter().enumerate() {
        for (index, repetition) in list_of(&cell["repetitions"]).iter().enumerate() {
            let of_repetition =
                |line: &&Line| (line.cell_index, line.repetition_index) == (cell_index as u64, index as u64);
            let in_order: Vec<&Line> = lines.iter().filter(of_repetition).collect();
            assert!(
                in_order.is_sorted_by_key(|line| line.completed_ns),
                "in the order in which they came back"
            );
            for op in ["read", "write", "sync"] {
                let of_op: Vec<&Line> = in_order.iter().copied().filter(|line| line.op == op).collect();
                counted += of_op.len();
                is_what_is_counted(&of_op, &repetition[op]);
            }
        }
    }
    assert_eq!(counted, lines.len(), "every line is of a repetition of the record");
    (record, lines)
}

/// Checks the lines of one kind of operation against a repetition in the record.
fn is_what_is_counted(lines: &[&Line], side: &Value) {
    assert_eq!(lines.len() as u64, number(&side["completed"]));
    assert_eq!(lines.iter().map(|line| line.length_bytes).sum::<u64>(), number(&side["bytes"]));
    let mut latencies: Vec<u64> = lines.iter().map(|line| line.latency_ns).collect();
    latencies.sort_unstable();
    assert_eq!(latencies.iter().sum::<u64>(), number(&side["latency"]["sum_ns"]));
    for bucket in list_of(&side["latency"]["buckets"]) {
        let lowest_ns = number(&bucket[0]);
        // The bucket width of `kurabe_stats::Histogram`.
        let width_ns = if lowest_ns < 256 { 1 } else { 1 << (lowest_ns.ilog2() - 7) };
        let within = |bound_ns: u64| latencies.partition_point(|ns| *ns < bound_ns) as u64;
        assert_eq!(within(lowest_ns + width_ns) - within(lowest_ns), number(&bucket[1]), "at {lowest_ns} ns");
    }
}

#[test]
fn a_line_for_each_operation_has_the_times_that_the_record_counts() {
    let lab = Lab::new();
    for engine in ["threads", "uring"] {
        let io = ["--rw", "randrw", "--engine", engine, "--iodepth", "3", "--threads", "2", "--size", "4m"];
        let how = ["--bytes", "4m", "--runs", "2", "--buffered", "--cache", "keep", "--fsync", "16"];
        let words = [&io[..], &how].concat();
        let tried = lab.run(&lab.target(), &[&words[..], &["--quiet"]].concat());
        if engine == "uring" && tried.code() == Some(10) {
            skip(IO_URING);
            continue;
        }
        let (_, lines) = listed(&lab, &words);
        // Each of two threads reads or writes 4 MiB in blocks of 4 KiB, twice.
        let data = lines.iter().filter(|line| line.op != "sync");
        assert_eq!(data.count() % 2048, 0, "{engine}");
        assert!(lines.iter().any(|line| line.op == "sync") && lines.iter().any(|line| line.op == "write"));
        for line in &lines {
            // In a closed loop, the latency counts from the issue.
            assert_eq!(line.latency_ns, line.completed_ns - line.issued_ns, "{line:?}");
            assert!(line.offset_bytes + line.length_bytes <= 4 << 20, "{line:?}");
        }
    }
}

#[test]
fn an_open_loop_is_listed_with_how_late_each_operation_was() {
    let lab = Lab::new();
    // A rate of a million operations per second with a system call each: the operations fall
    // further and further behind.
    let io = ["--rw", "randread", "--engine", "threads", "--size", "4m", "--rate", "1000000"];
    let how = ["--time", "50ms", "--runs", "1", "--buffered", "--cache", "keep"];
    let (record, lines) = listed(&lab, &[&io[..], &how].concat());
    let mut latencies: Vec<u64> = lines.iter().map(|line| line.latency_ns).collect();
    latencies.sort_unstable();
    let id = record["header"]["id"].as_str().expect("an id");
    let shown = lab.kurabe(&["show", id, "--json"]).ok().json_lines().remove(0);
    for (share, key) in [(0.5, "latency_p50_ns"), (0.99, "latency_p99_ns")] {
        // The figure is the middle of a bucket, whose width is at most 1/128 of the value.
        let figure_ns = shown["figures"][0][key].as_f64().expect("a figure") as u64;
        let rank = latencies.len() as f64 * share;
        let near = |ranks: f64| latencies[((rank + ranks).max(0.0) as usize).min(latencies.len() - 1)];
        let (low_ns, high_ns) = (near(-2.0), near(2.0));
        let is_near = figure_ns >= low_ns - low_ns / 128 && figure_ns <= high_ns + high_ns / 128 + 1;
        assert!(is_near, "{key}: {figure_ns} is not in {low_ns} to {high_ns}");
    }
    assert!(lines.iter().all(|line| line.latency_ns >= line.completed_ns - line.issued_ns));
    assert!(lines.iter().any(|line| line.latency_ns > line.completed_ns - line.issued_ns));
}

#[test]
fn a_trace_that_is_done_again_is_listed_in_its_order() {
    let lab = Lab::new();
    let operations: String =
        (0..200).map(|index| format!("{} a read {} 4096\n", index * 10, (index * 7 % 200) * 4096)).collect();
    let trace =
        lab.write("t.iolog", format!("fio version 3 iolog\n0 a add\n0 a open\n{operations}0 a close\n"));
    let replay = ["--replay", text(&trace), "--timing", "closed", "--size", "1m", "--runs", "1"];
    let (_, lines) = listed(&lab, &[&replay[..], &["--buffered", "--cache", "keep"]].concat());
    assert_eq!(lines.len(), 200);
    let mut by_issue: Vec<&Line> = lines.iter().collect();
    by_issue.sort_by_key(|line| line.issued_ns);
    let offsets: Vec<u64> = by_issue.iter().map(|line| line.offset_bytes).collect();
    assert_eq!(offsets, (0..200).map(|index| (index * 7 % 200) * 4096).collect::<Vec<_>>());
}

#[test]
fn what_does_no_operations_of_its_own_is_not_listed() {
    let lab = Lab::new();
    let list = lab.beside("operations.csv");
    let words = ["--profile", "gnome-disks", "--per-request", text(&list)];
    lab.refuses(&lab.target(), &words, 10, &["only the operations of workloads and replays"]);
    assert!(!list.exists());
}
