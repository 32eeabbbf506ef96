//! Files that exist before the run are never written without `--write-existing`.

use crate::lab::{Lab, SHORT, list_of, names, notices};

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at / 512 * 7 + at) as u8).collect()
}

#[test]
fn an_existing_file_is_only_read() {
    let lab = Lab::new();
    let contents = pattern(16 << 20);
    let file = lab.write("thesis.txt", &contents);
    let changed_at = || std::fs::metadata(&file).and_then(|facts| facts.modified()).expect("a time");
    let before = changed_at();
    let record = lab.measure(&file, &SHORT);
    assert!(std::fs::read(&file).expect("the file") == contents, "not a byte changes");
    assert_eq!(changed_at(), before);
    let cells = list_of(&record["cells"]);
    assert_eq!(cells.len(), 3);
    assert!(cells.iter().all(|cell| cell["direction"] == "read"));
    assert_eq!(record["header"]["target"]["writable"], false);
    let left_out = notices(&record, "writes_left_out");
    assert!(left_out.len() == 1 && left_out[0].contains("--write-existing"), "{left_out:?}");
}

#[test]
fn with_consent_an_existing_file_is_written_and_stays_as_long() {
    let lab = Lab::new();
    let contents = pattern(16 << 20);
    let file = lab.write("scratch", &contents);
    let record = lab.measure(&file, &[&SHORT[..], &["--write-existing"]].concat());
    let after = std::fs::read(&file).expect("the file");
    assert!(after.len() == contents.len() && after != contents);
    assert_eq!(list_of(&record["cells"]).len(), 6);
    assert!(notices(&record, "writes_left_out").is_empty());
}

#[test]
fn writes_alone_on_an_existing_file_are_refused_without_consent() {
    let lab = Lab::new();
    let contents = pattern(1 << 20);
    let file = lab.write("thesis.txt", &contents);
    lab.refuses(&file, &["--rw", "randwrite", "--time", "100ms"], 6, &["only writes", "--write-existing"]);
    lab.refuses(&file, &["--rw", "randrw", "--time", "100ms"], 6, &["--write-existing"]);
    assert!(std::fs::read(&file).expect("the file") == contents, "not a byte changes");
}

#[test]
fn a_file_longer_than_the_size_is_written_only_that_far() {
    let lab = Lab::new();
    let contents = pattern(4 << 20);
    let file = lab.write("scratch", &contents);
    let words = ["--write-existing", "--size", "1m", "--rw", "write", "--bs", "64k", "--passes", "2"];
    lab.measure(&file, &words);
    let after = std::fs::read(&file).expect("the file");
    assert!(after[..1 << 20] != contents[..1 << 20]);
    assert!(after[1 << 20..] == contents[1 << 20..], "the rest stays");
}

#[test]
fn an_offset_keeps_what_lies_before_it() {
    let lab = Lab::new();
    let contents = pattern(4 << 20);
    let file = lab.write("scratch", &contents);
    let words = ["--write-existing", "--offset", "3m", "--rw", "write", "--bs", "64k", "--passes", "1"];
    lab.measure(&file, &words);
    let after = std::fs::read(&file).expect("the file");
    assert!(after[..3 << 20] == contents[..3 << 20], "what lies before the offset stays");
    assert!(after[3 << 20..] != contents[3 << 20..]);
}

#[test]
fn during_a_run_only_the_test_file_is_in_the_directory() {
    let lab = Lab::new();
    let decoys = [".kurabe-decoy.test", "notes.txt"];
    for decoy in decoys {
        std::fs::write(lab.target().join(decoy), "mine").expect("a file");
    }
    let words = ["--rw", "randrw", "--size", "4m", "--time", "500ms"];
    let mut live = lab.start(&lab.target(), &words);
    live.wait_for_out("\"event\":\"repetition_started\"");
    let during = names(&lab.target());
    live.end().ok();
    let added: Vec<&String> = during.iter().filter(|name| !decoys.contains(&name.as_str())).collect();
    assert!(
        added.len() == 1 && added[0].starts_with(".kurabe-") && added[0].ends_with(".test"),
        "{during:?}"
    );
    assert_eq!(names(&lab.target()), decoys, "and then it is gone");
    for decoy in decoys {
        assert_eq!(std::fs::read_to_string(lab.target().join(decoy)).expect("a file"), "mine");
    }
}

#[test]
fn a_dry_run_touches_nothing() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), &[&SHORT[..], &["--dry-run"]].concat()).ok();
    assert!(ended.out.contains("tests that write: 3"), "{ended:#?}");
    assert!(names(&lab.target()).is_empty() && !lab.store().exists());
}

#[test]
#[ignore = "slow"]
fn neither_turns_nor_a_sweep_write_an_existing_file_without_consent() {
    let lab = Lab::new();
    let contents = pattern(16 << 20);
    let file = lab.write("thesis.txt", &contents);
    let (file_name, target) = (file.to_str().expect("a name"), lab.target());
    let here = target.to_str().expect("a name");
    let brief = ["--time", "1s", "--repetition", "20ms", "--size", "4MiB"];
    lab.kurabe(&[&["versus", here, file_name], &brief[..]].concat()).ok();
    lab.kurabe(&[
        "sweep",
        file_name,
        "--over",
        "queue-depth",
        "--time",
        "20ms",
        "--runs",
        "2",
        "--max",
        "1MiB",
    ])
    .ok();
    assert!(std::fs::read(&file).expect("the file") == contents, "not a byte changes");
    for run in lab.list() {
        let record = lab.record(run["id"].as_str().expect("an id"));
        assert!(list_of(&record["cells"]).iter().all(|cell| cell["direction"] == "read"), "{run}");
    }
    lab.kurabe(&[&["versus", here, file_name, "--write-existing"], &brief[..]].concat()).ok();
    let after = std::fs::read(&file).expect("the file");
    assert!(after.len() == contents.len() && after != contents);
    assert!(after[4 << 20..] == contents[4 << 20..], "no further than was asked for");
}
