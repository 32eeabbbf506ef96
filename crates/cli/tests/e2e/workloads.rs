//! Workloads as the record shows them: syncs, rates, passes, sums.

use crate::lab::{Lab, list_of, names, number, text};
use serde_json::Value;
use std::path::Path;

/// Returns the only repetition of the only cell of a run in a new directory.
fn repetition(words: &[&str]) -> Value {
    let lab = Lab::new();
    repetition_on(&lab, &lab.target(), words)
}

/// Returns the same in virtual time, where no operation is late.
fn modelled(words: &[&str]) -> Value {
    repetition_on(&Lab::new(), Path::new("model:ideal-ram-disk"), words)
}

fn repetition_on(lab: &Lab, target: &Path, words: &[&str]) -> Value {
    let mut record = lab.measure(target, words);
    assert_eq!(list_of(&record["cells"]).len(), 1);
    assert_eq!(list_of(&record["cells"][0]["repetitions"]).len(), 1);
    let repetition = record["cells"][0]["repetitions"][0].take();
    adds_up(&repetition);
    repetition
}

/// Checks what must hold for every repetition.
fn adds_up(repetition: &Value) {
    for kind in ["read", "write", "sync"] {
        let operations = &repetition[kind];
        let [submitted, completed, failed] =
            ["submitted", "completed", "failed"].map(|count| number(&operations[count]));
        assert_eq!(submitted, completed + failed, "{kind}: {operations}");
        assert_eq!(number(&operations["latency"]["count"]), completed, "{kind}");
        let counted: u64 =
            list_of(&operations["latency"]["buckets"]).iter().map(|bucket| number(&bucket[1])).sum();
        assert_eq!(counted, completed, "{kind}: the histogram");
    }
    for kind in ["read", "write"] {
        let sum = |what: &str| {
            let name = format!("{kind}_{what}");
            list_of(&repetition["series"]["intervals"])
                .iter()
                .map(|interval| number(&interval[&name]))
                .sum::<u64>()
        };
        assert_eq!(sum("bytes"), number(&repetition[kind]["bytes"]), "{kind}: the series");
        assert_eq!(sum("operations"), number(&repetition[kind]["completed"]), "{kind}: the series");
    }
}

#[test]
fn every_exported_repetition_adds_up() {
    let lab = Lab::new();
    lab.measure(&lab.target(), &["--profile", "quick", "--size", "16m", "--runs", "2", "--time", "100ms"]);
    let file: Value = serde_json::from_str(&lab.kurabe(&["export"]).ok().out).expect("JSON");
    let cells = list_of(&file["run"]["cells"]);
    assert_eq!(cells.len(), 6);
    for cell in cells {
        let repetitions = list_of(&cell["repetitions"]);
        assert_eq!(repetitions.len(), 2);
        repetitions.iter().for_each(adds_up);
    }
}

#[test]
fn a_permutation_reads_every_block_once() {
    let lab = Lab::new();
    let list = lab.beside("operations.csv");
    let words = ["--order", "permutation", "--passes", "1", "--rw", "randread", "--size", "4m", "--bs", "4k"];
    let read = repetition_on(&lab, &lab.target(), &[&words[..], &["--per-request", text(&list)]].concat());
    let list = std::fs::read_to_string(&list).expect("the list of operations");
    let offset = |line: &str| line.split(',').nth(3).and_then(|field| field.parse().ok()).expect("an offset");
    let asked: Vec<u64> = list.lines().skip(1).map(offset).collect();
    let mut offsets = asked.clone();
    offsets.sort_unstable();
    assert_eq!(offsets, (0..1024).map(|block| block * 4096).collect::<Vec<u64>>());
    assert_ne!(asked, offsets, "at random places");
    assert_eq!(read["read"]["completed"], 1024);
    assert_eq!(read["read"]["bytes"], 4 << 20);
    assert_eq!(read["write"]["completed"], 0);
}

#[test]
fn threads_share_a_permutation_and_its_passes() {
    let words =
        ["--order", "permutation", "--passes", "2", "--size", "4m", "--threads", "2", "--iodepth", "4"];
    assert_eq!(repetition(&words)["read"]["completed"], 2 * 1024);
}

#[test]
fn an_end_in_bytes_is_kept_to_the_byte() {
    let read = repetition(&["--rw", "read", "--bs", "64k", "--size", "4m", "--bytes", "1m"]);
    assert_eq!(read["read"]["bytes"], 1 << 20);
}

/// A busy machine may be late, but never early.
#[test]
fn an_open_loop_keeps_its_rate() {
    let open = ["--rate", "200", "--rw", "randread", "--size", "4m"];
    let read = repetition(&[&open[..], &["--bytes", "400k"]].concat());
    assert_eq!(read["read"]["completed"], 100);
    let elapsed_ns = number(&read["elapsed_ns"]);
    assert!(elapsed_ns >= 99 * 5_000_000, "{elapsed_ns}");
    let read = modelled(&[&open[..], &["--time", "500ms"]].concat());
    assert_eq!(read["read"]["completed"], 100);
}

#[test]
fn a_poisson_process_keeps_its_rate_on_average() {
    let open = ["--rate", "1000", "--poisson", "--rw", "randread", "--size", "4m"];
    // Six standard deviations of the time of the last operation, and of a Poisson count.
    let read = repetition(&[&open[..], &["--bytes", "4000k"]].concat());
    let elapsed_ns = number(&read["elapsed_ns"]);
    assert!(elapsed_ns >= 800_000_000, "{elapsed_ns}");
    let completed = number(&modelled(&[&open[..], &["--time", "1s"]].concat())["read"]["completed"]);
    assert!((800..=1200).contains(&completed), "{completed}");
}

#[test]
fn a_sync_follows_every_n_writes() {
    let words = ["--rw", "randwrite", "--size", "4m", "--fsync", "4", "--bytes", "256k"];
    let written = repetition(&words);
    assert_eq!(written["write"]["completed"], 64);
    assert_eq!(written["sync"]["completed"], 16);
    assert!(written["end_sync_ns"].is_null(), "none was asked for at the end");
}

#[test]
fn a_sync_at_the_end_is_told_whether_timed_or_not() {
    for when in ["timed", "untimed"] {
        let words = ["--rw", "write", "--size", "4m", "--bytes", "1m", "--bs", "64k", "--end-fsync", when];
        let written = repetition(&words);
        let sync_ns = number(&written["end_sync_ns"]);
        assert!(sync_ns > 0);
        if when == "timed" {
            assert!(number(&written["elapsed_ns"]) >= sync_ns, "its time counts: {written}");
        }
        assert_eq!(written["sync"]["completed"], 0, "it is not one of the workload's own");
    }
}

#[test]
fn o_sync_is_in_the_record_and_works() {
    let lab = Lab::new();
    let words = ["--rw", "randwrite", "--size", "4m", "--o-sync", "--bytes", "256k"];
    let record = lab.measure(&lab.target(), &words);
    let cell = &record["cells"][0];
    assert_eq!(cell["workload"]["sync"]["o_sync"], true);
    assert_eq!(cell["repetitions"][0]["write"]["completed"], 64);
}

#[test]
fn a_mix_keeps_its_share_of_reads() {
    let words = ["--rw", "randrw", "--rwmixread", "75", "--size", "4m", "--bytes", "8m"];
    let mixed = repetition(&words);
    let [reads, writes] = ["read", "write"].map(|kind| number(&mixed[kind]["completed"]) as f64);
    assert!((reads + writes - 2048.0).abs() < 0.5);
    assert!((reads / (reads + writes) - 0.75).abs() < 0.06, "{reads} reads, {writes} writes");
}

#[test]
fn a_warm_up_is_not_counted() {
    let open = ["--rate", "200", "--warm-up", "1s", "--size", "4m"];
    assert_eq!(modelled(&[&open[..], &["--time", "250ms"]].concat())["read"]["completed"], 50);
    // 200 operations are due before the recording. A busy machine does some of them late, but not all.
    let completed = number(&repetition(&[&open[..], &["--time", "1s"]].concat())["read"]["completed"]);
    assert!((1..400).contains(&completed), "{completed}");
}

#[test]
fn the_same_seed_visits_the_same_places() {
    let places = |seed: &str| {
        let lab = Lab::new();
        let file = lab.write("scratch", vec![0xee; 1 << 20]);
        // The threads engine, because `auto` tries both engines first, and that writes too.
        let words =
            ["--write-existing", "--rw", "randwrite", "--bytes", "64k", "--data", "zero", "--seed", seed];
        lab.measure(&file, &[&words[..], &["--engine", "threads"]].concat());
        std::fs::read(&file).expect("the file")
    };
    let first = places("7");
    let zeros = first.iter().filter(|byte| **byte == 0).count();
    assert!((1..=16).contains(&(zeros / 4096)) && zeros % 4096 == 0, "{zeros}");
    assert!(places("7") == first, "the same seed, the same places");
    assert!(places("8") != first, "another seed, other places");
}

#[test]
fn a_size_that_is_no_whole_number_of_mebibytes_is_kept() {
    let lab = Lab::new();
    let record = lab.measure(&lab.target(), &["--rw", "randread", "--size", "1500k", "--time", "100ms"]);
    assert_eq!(record["fill"]["written_bytes"], 1500 << 10);
    assert_eq!(record["header"]["target"]["span_bytes"], 1500 << 10);
    assert_eq!(record["cells"][0]["workload"]["span_bytes"], 1500 << 10);
}

#[test]
fn a_size_that_is_no_multiple_of_the_unit_is_no_fault_of_the_storage() {
    let lab = Lab::new();
    for size in ["5000", "1000", "10MB"] {
        let ended =
            lab.run(&lab.target(), &["--rw", "randread", "--bs", "512", "--size", size, "--time", "100ms"]);
        assert!(matches!(ended.code(), Some(0 | 4)), "{ended:#?}");
        assert!(!ended.err.contains("dmesg"), "{ended:#?}");
    }
    for record in lab.list().iter().map(|run| lab.record(run["id"].as_str().expect("an id"))) {
        let span = &record["header"]["target"]["span_bytes"];
        assert_eq!(record["fill"]["written_bytes"], *span, "the record says what was measured");
    }
    assert!(names(&lab.target()).is_empty());
}
