//! The path of operations to the kernel, as used and as recorded.

use crate::lab::{Lab, SHORT, list_of, notices, number};
use kurabe_testkit::needs::{MEMORY_FOLDER, skip};
use serde_json::Value;

/// Returns the only cell of a run in a new directory, and the record.
fn cell(words: &[&str]) -> (Value, Value) {
    let lab = Lab::new();
    let words = [&["--rw", "randread", "--size", "4m", "--time", "100ms"], words].concat();
    let record = lab.measure(&lab.target(), &words);
    (record["cells"][0].clone(), record)
}

fn reads(cell: &Value) -> u64 {
    number(&cell["repetitions"][0]["read"]["completed"])
}

#[test]
fn both_engines_run_many_threads_and_queues() {
    for (engine, issuing) in [("uring", 2), ("threads", 16), ("mmap", 16)] {
        let (cell, _) = cell(&["--engine", engine, "--iodepth", "8", "--threads", "2"]);
        assert_eq!((&cell["engine"]["name"], &cell["engine"]["asked"]), (&engine.into(), &engine.into()));
        assert_eq!(cell["engine"]["issuing_threads"], issuing);
        assert!(reads(&cell) > 0);
    }
}

#[test]
fn what_is_mapped_is_buffered_and_cannot_be_direct() {
    let (lab, words) =
        (Lab::new(), ["--rw", "randwrite", "--size", "4m", "--time", "50ms", "--engine", "mmap"]);
    let record = lab.measure(&lab.target(), &[&words[..], &["--fsync", "8"]].concat());
    assert_eq!(record["header"]["target"]["direct"], false);
    let repetition = &record["cells"][0]["repetitions"][0];
    assert!(number(&repetition["sync"]["completed"]) > 0, "{}", repetition["sync"]);
    let direct = [&words[..], &["--direct"]].concat();
    let lab = Lab::new();
    lab.refuses(&lab.target(), &direct, 2, &["page cache", "--buffered"]);
}

#[test]
fn auto_says_why() {
    let (cell, _) = cell(&["--iodepth", "8"]);
    assert_eq!(cell["engine"]["asked"], "auto");
    let reason = cell["engine"]["reason"]["en"].as_str().expect("a reason");
    assert!(reason.contains("io_uring") && reason.contains("pread/pwrite"), "{reason}");
}

#[test]
fn spinning_works_and_is_recorded() {
    let (cell, _) = cell(&["--engine", "uring", "--wait", "spin", "--iodepth", "4"]);
    assert_eq!(cell["engine"]["wait"], "spin");
    assert!(reads(&cell) > 0);
}

#[test]
fn polling_works_or_says_that_it_does_not() {
    let lab = Lab::new();
    let words =
        ["--rw", "randread", "--size", "4m", "--time", "100ms", "--engine", "uring", "--wait", "poll"];
    let record = lab.measure(&lab.target(), &words);
    let cell = &record["cells"][0];
    let fallen = !notices(&record, "engine_fallback").is_empty();
    assert!(cell["engine"]["wait"] == "poll" || fallen, "{}", cell["engine"]);
    assert_eq!(fallen, !list_of(&cell["engine"]["fallbacks"]).is_empty());
    assert!(reads(cell) > 0);
}

#[test]
fn polling_on_tmpfs_works_or_says_that_it_does_not() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        skip(MEMORY_FOLDER);
        return;
    };
    let words =
        ["--rw", "randread", "--size", "4m", "--time", "100ms", "--engine", "uring", "--wait", "poll"];
    let record = Lab::new().measure(memory.path(), &words);
    let cell = &record["cells"][0];
    let fallen = !notices(&record, "engine_fallback").is_empty();
    assert!(cell["engine"]["wait"] == "poll" || fallen, "{}", cell["engine"]);
}

#[test]
fn huge_pages_are_recorded_as_what_they_came_out_as() {
    for engine in ["uring", "threads"] {
        let (cell, _) = cell(&["--engine", engine, "--pages", "huge", "--iodepth", "32"]);
        let pages = cell["engine"]["pages"].as_str().expect("pages");
        assert!(matches!(pages, "4k" | "huge"), "{pages}");
        assert!(reads(&cell) > 0);
    }
    let (cell, _) = cell(&["--engine", "uring"]);
    assert_eq!(cell["engine"]["pages"], "4k");
}

#[test]
#[ignore = "slow"]
fn on_tmpfs_auto_takes_no_detour_and_says_so() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        skip(MEMORY_FOLDER);
        return;
    };
    let record = Lab::new().measure(memory.path(), &SHORT);
    for cell in list_of(&record["cells"]) {
        let engine = &cell["engine"];
        let reason = engine["reason"]["en"].as_str().expect("a reason");
        let deep = number(&cell["workload"]["iodepth"]) > 1;
        let fits = match engine["name"].as_str() {
            Some("threads") if reason.contains("io_uring passes operations") => {
                reason.contains("kernel worker") || reason.contains("detour")
            }
            Some("threads") => !deep && reason.contains("one operation in flight"),
            Some("uring") => deep && reason.contains("without kernel workers"),
            _ => false,
        };
        assert!(fits, "{engine}");
    }
    let table = Lab::new().run(memory.path(), &SHORT).ok().out;
    assert!(table.contains("pread/pwrite"), "the table names the engine: {table}");
}

#[test]
fn on_tmpfs_uring_works_when_asked_for() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        skip(MEMORY_FOLDER);
        return;
    };
    let record = Lab::new().measure(memory.path(), &[&SHORT[..], &["--engine", "uring"]].concat());
    let cells = list_of(&record["cells"]);
    assert_eq!(cells.len(), 6);
    assert!(cells.iter().all(|cell| cell["engine"]["name"] == "uring" && cell["engine"]["asked"] == "uring"));
}

#[test]
fn more_threads_than_the_engine_takes_are_refused_with_a_remedy() {
    let lab = Lab::new();
    let words = ["--engine", "threads", "--iodepth", "1024", "--threads", "4", "--size", "4m", "--quiet"];
    lab.refuses(&lab.target(), &words, 10, &["4096 threads", "--engine uring"]);
}

#[test]
fn buffered_runs_say_what_became_of_the_cache() {
    let (_, dropped) = cell(&["--buffered"]);
    assert_eq!(notices(&dropped, "cache_drop").len(), 1);
    let (_, kept) = cell(&["--buffered", "--cache", "keep"]);
    let notice = notices(&kept, "cache_drop");
    assert!(notice.len() == 1 && notice[0].contains("kept"), "{notice:?}");
    assert_eq!(kept["header"]["target"]["direct"], false);
}
