//! Interleaved measurement of several targets: the output, the stored runs, and leftovers.

use crate::lab::{Lab, Live, list_of, names, text};
use kurabe_testkit::needs::needs;
use rustix::process::Signal;
use serde_json::Value;

/// Compares two models, with repetitions so short that the measurement ends in a moment.
fn on_models(lab: &Lab, one: &str, other: &str, words: &[&str]) -> Vec<Value> {
    let start = ["versus", one, other, "--repetition", "2ms", "--seed", "7", "--json"];
    lab.kurabe(&[&start, words].concat()).ok().json_lines()
}

fn verdicts(comparison: &Value) -> Vec<&str> {
    list_of(&comparison["cells"])
        .iter()
        .map(|cell| cell["compared"]["verdict"].as_str().unwrap_or("none"))
        .collect()
}

/// Returns the result of the whole measurement, which is the last line.
fn result(lines: &[Value]) -> &Value {
    let last = lines.last().expect("a line");
    assert_eq!(last["event"], "versus");
    last
}

#[test]
#[ignore = "slow"]
fn the_faster_model_is_found_and_compare_says_the_same_again() {
    let lab = Lab::new();
    let lines = on_models(&lab, "model:samsung-870-evo", "model:ideal-ram-disk", &[]);
    let result = result(&lines);
    assert_eq!((&result["ended"], &result["blocks"]), (&"settled".into(), &20.into()));
    assert_eq!(verdicts(&result["comparisons"][0]), ["faster"; 6]);
    let runs = lab.list();
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["id"].as_str()).collect();
    assert_eq!(ids.len(), 2);
    let again = lab.kurabe(&["compare", ids[0], ids[1], "--json"]).ok().json_lines().remove(0);
    assert_eq!(again["comparison"], result["comparisons"][0]);
    assert_eq!(again["answer"], result["answers"][0]);
    let page = lab.kurabe(&["compare", ids[0], ids[1]]).ok().out;
    assert!(page.contains("Measured interleaved: 4–20 blocks per test") && page.contains("seed 7"), "{page}");
}

#[test]
#[ignore = "slow"]
fn slow_models_get_the_repetitions_that_they_need() {
    let lab = Lab::new();
    // A repetition of 100 ms takes seconds on these models, so five minutes of virtual time are a
    // few blocks.
    let lines = lab.kurabe(&["versus", "model:rascsi", "model:scsi2sd-v6", "--json"]).ok().json_lines();
    let result = result(&lines);
    assert_eq!(result["ended"], "settled");
    assert!(!verdicts(&result["comparisons"][0]).contains(&"none"), "{result}");
    // Virtual time costs nothing, so it ends no measurement before the first verdict.
    let short = lab.kurabe(&["versus", "model:rascsi", "model:scsi2sd-v6", "--time", "5s"]).ok();
    assert!(short.err.contains("model:scsi2sd-v6 (SCSI2SD"), "{}", short.err);
    // Short repetitions are not reported as missing percentiles.
    assert!(!short.out.contains("p99.9 are not compared"), "{}", short.out);
    assert!(!short.out.contains("There is no verdict before"), "{}", short.out);
}

#[test]
fn a_model_and_itself_do_not_differ() {
    let lab = Lab::new();
    // The second pair settles it, however little of the models' time is allowed.
    let lines = on_models(&lab, "model:samsung-870-evo", "model:samsung-870-evo", &["--time", "10ms"]);
    let result = result(&lines);
    assert_eq!((&result["ended"], &result["blocks"]), (&"settled".into(), &4.into()));
    assert_eq!(verdicts(&result["comparisons"][0]), ["same"; 6]);
}

/// Interleaved repetitions are short, other cells run between them, and writes change the data that
/// is read.
#[test]
#[ignore = "slow"]
fn in_turns_a_model_gives_what_it_gives_alone() {
    let lab = Lab::new();
    // Only the reads of the last two models are compared, because their writes begin with the cache
    // full instead of empty (docs/measuring.md).
    let models = [
        ("model:rascsi", 8),
        ("model:seagate-archive-8tb", 8),
        ("model:wd-red-3tb", 4),
        // Members have unequal shares of the queue, which drains slowly at the end.
        ("model:md-raid5-4", 4),
    ];
    for (model, cells) in models {
        let rules = ["--profile", "cdm-9", "--size", "256MiB", "--seed", "3", "--json"];
        let alone = lab.kurabe(&[&["run", model], &rules[..]].concat()).ok().json_lines();
        let alone = alone[0]["header"]["id"].as_str().unwrap().to_owned();
        let in_turns = lab.kurabe(&[&["versus", model, model], &rules[..]].concat()).ok().json_lines();
        let in_turns = in_turns[0]["run"].as_str().unwrap();
        let comparison = lab.kurabe(&["compare", &alone, in_turns, "--json"]).ok().json_lines().remove(0);
        for cell in &list_of(&comparison["comparison"]["cells"])[..cells] {
            let [other, alone] = ["other", "baseline"].map(|side| cell[side]["mean"].as_f64().unwrap());
            assert!((other / alone - 1.0).abs() < 0.1, "{model}, {}: {other} and {alone}", cell["label"]);
        }
    }
}

#[test]
#[ignore = "slow"]
fn one_seed_gives_one_order_and_the_order_goes_there_and_back() {
    let lab = Lab::new();
    let order = |lines: &[Value]| -> Vec<(u64, u64, u64)> {
        let mut turns: Vec<(u64, u64, u64)> = Vec::new();
        for line in lines.iter().filter(|line| line["event"] == "record") {
            let place = line["run"]["header"]["versus"]["place"].as_u64().expect("a place");
            for cell in list_of(&line["run"]["cells"]) {
                let index = cell["index"].as_u64().expect("an index");
                turns.extend(
                    list_of(&cell["repetitions"])
                        .iter()
                        .filter_map(|repetition| Some((repetition["turn"].as_u64()?, index, place))),
                );
            }
        }
        turns.sort_unstable();
        turns
    };
    let (one, two) = ["model:ideal-ram-disk", "model:samsung-870-evo"].into();
    let first = order(&on_models(&lab, one, two, &[]));
    assert_eq!(first, order(&on_models(&lab, one, two, &[])));
    // Three read cells, then three write cells, on two targets: six turns per block, each with its
    // own number.
    assert!(first.iter().enumerate().all(|(place, turn)| turn.0 == place as u64), "{first:?}");
    let without = |turns: &[(u64, u64, u64)]| -> Vec<(u64, u64)> {
        turns.iter().map(|turn| (turn.1, turn.2)).collect()
    };
    let writes = first.iter().position(|(_, index, _)| *index >= 3).expect("tests that write");
    assert!(first[writes..].iter().all(|(_, index, _)| *index >= 3), "{first:?}");
    for begun in [0, writes] {
        let (forth, mut back) = (without(&first[begun..begun + 6]), without(&first[begun + 6..begun + 12]));
        back.reverse();
        assert_eq!(forth, back);
    }
}

#[test]
#[ignore = "slow"]
fn three_targets_are_each_held_against_the_first() {
    let lab = Lab::new();
    let (one, two) = ("model:ideal-ram-disk", "model:samsung-870-evo");
    let lines = on_models(&lab, one, two, &[one]);
    let comparisons = list_of(&result(&lines)["comparisons"]);
    assert_eq!(comparisons.len(), 2);
    assert_eq!((verdicts(&comparisons[0]), verdicts(&comparisons[1])), (vec!["slower"; 6], vec!["same"; 6]));
}

#[test]
fn what_would_be_written_is_told_and_a_time_that_is_too_short_as_well() {
    let lab = Lab::new();
    let target = lab.target();
    let words = ["versus", text(&target), "model:ideal-ram-disk", "--time", "20s"];
    let plan = lab.kurabe(&[&words[..], &["--dry-run"]].concat()).ok().out;
    for part in ["at most, all targets together: 20 s", "tests that write: 3", "ends after 64 MiB"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert!(lab.list().is_empty() && names(&target).is_empty());
    let zeros = ["versus", "/dev/zero", "/dev/zero", "--time"];
    let warning = |time: &str| lab.kurabe(&[&zeros[..], &[time, "--repetition", "2ms"]].concat()).ok().err;
    assert!(warning("100ms").contains("about 4 blocks, but a verdict needs 20"));
    assert!(!warning("1s").contains("a verdict needs"));
}

/// Returns the names of the sides in the records of a measurement.
fn sides(lines: &[Value]) -> Vec<&str> {
    let records = lines.iter().filter(|line| line["event"] == "record");
    records
        .map(|record| {
            let versus = &record["run"]["header"]["versus"];
            versus["variants"][versus["place"].as_u64().expect("a place") as usize].as_str().expect("a name")
        })
        .collect()
}

#[test]
#[ignore = "slow"]
fn configurations_of_one_model_are_compared_by_what_they_do() {
    let lab = Lab::new();
    let words =
        ["versus", "model:rascsi", "--vary", "fat-image.cluster=16KiB,64KiB", "--seed", "7", "--json"];
    let lines = lab.kurabe(&words).ok().json_lines();
    assert_eq!(sides(&lines), ["fat-image.cluster=16KiB", "fat-image.cluster=64KiB"]);
    assert_eq!(result(&lines)["ended"], "settled");
    let answer = result(&lines)["answers"][0]["en"].as_str().expect("an answer").to_owned();
    assert!(answer.contains("fat-image.cluster=64KiB"), "{answer}");

    let words = ["versus", "model:samsung-870-evo", "--vary", "bs=4k,16k", "--vary", "iodepth=1,8"];
    let quick = ["--repetition", "2ms", "--seed", "7"];
    let ended = lab.kurabe(&[&words[..], &quick, &["--json"]].concat()).ok();
    let lines = ended.json_lines();
    let names = ["bs=4k, iodepth=1", "bs=4k, iodepth=8", "bs=16k, iodepth=1", "bs=16k, iodepth=8"];
    assert_eq!(sides(&lines), names);
    let comparison = &result(&lines)["comparisons"][1];
    // With these options the two random steps of the profile coincide. What remains are reads and
    // writes of two steps.
    let cells = list_of(&comparison["cells"]);
    assert_eq!(cells.len(), 4);
    assert_eq!(cells[0]["key"]["io"]["block_bytes"], 4096);
    assert_eq!(cells[0]["counterpart"]["key"]["io"]["block_bytes"], 16384);
    let page = lab.kurabe(&[&words[..], &quick].concat()).ok().out;
    // Lines are wrapped anywhere between words.
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["bs=16k, iodepth=1", "Q1 T1", "bytes per second"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let japanese = lab.kurabe(&[&words[..], &quick, &["--lang", "ja"]].concat()).ok().out;
    assert!(japanese.contains("項目は手順の中の位置で対応させています"), "{japanese}");
}

#[test]
#[ignore = "slow"]
fn the_page_cache_and_the_direction_of_one_directory_are_compared() {
    let lab = Lab::new();
    let target = lab.target();
    let short = ["--size", "16m", "--repetition", "2ms", "--time", "400ms", "--json"];
    let lines = lab
        .kurabe(&[&["versus", text(&target), "--vary", "buffered"][..], &short].concat())
        .ok()
        .json_lines();
    assert_eq!(sides(&lines), ["buffered=no", "buffered=yes"]);
    let records: Vec<&Value> = lines.iter().filter(|line| line["event"] == "record").collect();
    let direct = |record: &Value| record["run"]["header"]["target"]["direct"].clone();
    assert_eq!((direct(records[0]), direct(records[1])), (true.into(), false.into()));
    let path = |record: &Value| record["run"]["header"]["target"]["path"].clone();
    assert_eq!(path(records[0]), path(records[1]), "one test file");
    let words = ["versus", text(&target), "--vary", "rw=randread,randwrite"];
    let lines = lab.kurabe(&[&words[..], &short].concat()).ok().json_lines();
    let cell = &result(&lines)["comparisons"][0]["cells"][0];
    assert_eq!((&cell["direction"], &cell["counterpart"]["direction"]), (&"read".into(), &"write".into()));
    let words = ["versus", text(&target), "--vary", "size=4m,16m"];
    let lines = lab.kurabe(&[&words[..], &short[2..]].concat()).ok().json_lines();
    let spans: Vec<&Value> = lines
        .iter()
        .filter(|line| line["event"] == "record")
        .map(|record| &record["run"]["cells"][0]["workload"]["span_bytes"])
        .collect();
    assert_eq!(spans, [&Value::from(4 << 20), &Value::from(16 << 20)]);
    assert!(names(&target).is_empty());
}

#[test]
fn what_is_varied_is_planned_and_mistakes_are_refused_before_anything_is_written() {
    let lab = Lab::new();
    let target = lab.target();
    let here = text(&target);
    let plan = lab.kurabe(&["versus", here, "--vary", "bs=4k,16k", "--dry-run"]).ok().out;
    for part in ["bs=4k", "bs=16k", "tests that write: 3"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(plan.matches("tests that write").count(), 2, "{plan}");
    // One test file for both sides, and the total of what both write.
    assert_eq!(plan.matches("test file to write").count(), 1, "{plan}");
    assert!(
        plan.contains("test file: the same as before") && plan.contains("all targets together: "),
        "{plan}"
    );
    for (words, parts) in [
        (&["--vary", "iodpeth=1,2"][..], &["no such option", "iodepth"][..]),
        (&["--vary", "bs=4k"], &["only value", "bs=4k,16k"]),
        (&["--vary", "bs=4k,4096"], &["bs=4k and bs=4096 give the same configuration"]),
        (&["--vary", "rwmixread=10,20"], &["give the same configuration", "--profile"]),
        (&["--vary", "fat-image.cluster=1k,2k"], &["applies to models", "model:NAME"]),
        (&[here, "--vary", "bs=4k,16k"], &["one target"]),
    ] {
        lab.kurabe(&[&["versus", here][..], words].concat()).is_refusal(2, parts);
    }
    lab.kurabe(&["versus", "model:rascsi", "--vary", "fat-image.clusters=1k,2k"]).is_refusal(2, &["cluster"]);
    lab.kurabe(&["versus", "model:rascsi", "--vary", "buffered"])
        .is_refusal(2, &["has no effect on a model"]);
    assert!(names(&target).is_empty() && lab.list().is_empty());
}

#[test]
fn a_run_of_4k_and_one_of_16k_are_compared_by_what_differs() {
    let lab = Lab::new();
    for block in ["4k", "16k"] {
        let words = [
            "run",
            "model:samsung-870-evo",
            "--rw",
            "randread",
            "--time",
            "5ms",
            "--runs",
            "3",
            "--bs",
            block,
        ];
        lab.kurabe(&words).ok();
    }
    let runs = lab.list();
    let ids: Vec<&str> = runs.iter().rev().filter_map(|run| run["id"].as_str()).collect();
    let page = lab.kurabe(&["compare", ids[0], ids[1]]).ok().out;
    for part in ["differ in one property", "bytes per second"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("4→16 KiB") || page.contains("16→4 KiB"), "{page}");
}

#[test]
fn directories_take_turns_and_no_test_file_stays() {
    let lab = Lab::new();
    let other = lab.beside("other");
    std::fs::create_dir(&other).expect("a directory");
    let target = lab.target();
    let words = [
        "versus",
        text(&target),
        text(&other),
        "--size",
        "16m",
        "--repetition",
        "2ms",
        "--time",
        "200ms",
        "--lang",
        "en",
    ];
    let ended = lab.kurabe(&words).ok();
    assert!(
        ended.out.contains("The time is up") || ended.out.contains("Every test is decided"),
        "{ended:#?}"
    );
    assert!(ended.out.contains("Measured interleaved"), "{ended:#?}");
    assert!(names(&target).is_empty() && names(&other).is_empty());
    let runs = lab.list();
    assert!(runs.len() == 2 && runs.iter().all(|run| run["status"] == "complete"), "{runs:?}");
}

#[test]
#[ignore = "slow"]
fn the_same_directory_twice_is_one_test_file() {
    let lab = Lab::new();
    let target = lab.target();
    let same_target = target.join(".");
    let words = [
        "versus",
        text(&target),
        text(&same_target),
        "--size",
        "16m",
        "--repetition",
        "2ms",
        "--time",
        "200ms",
    ];
    let lines = lab.kurabe(&[&words[..], &["--json"]].concat()).ok().json_lines();
    let records: Vec<&Value> = lines.iter().filter(|line| line["event"] == "record").collect();
    let path = |record: &Value| record["run"]["header"]["target"]["path"].clone();
    assert_eq!(path(records[0]), path(records[1]));
    assert!(records[0]["run"]["fill"].is_object() && records[1]["run"]["fill"].is_null());
    let writes = list_of(&records[1]["run"]["cells"]).iter().filter(|cell| cell["direction"] == "write");
    assert_eq!(writes.count(), 3);
    assert!(names(&target).is_empty());
}

/// Starts a long measurement and returns in its second pair of blocks.
fn under_way(lab: &Lab) -> Live {
    let (target, other) = (lab.target(), lab.beside("other"));
    std::fs::create_dir(&other).expect("a directory");
    let words = [
        "versus",
        text(&target),
        text(&other),
        "--size",
        "16m",
        "--repetition",
        "5ms",
        "--time",
        "10s",
        "--margin",
        "0%",
        "--json",
        "--quiet",
    ];
    let mut live = Live::start(lab.command(&words));
    live.wait_for_out("\"event\":\"versus_blocks\"");
    assert_eq!(test_files(lab), 2, "both are there");
    live
}

/// Returns the number of files in both directories.
fn test_files(lab: &Lab) -> usize {
    names(&lab.target()).len() + names(&lab.beside("other")).len()
}

#[test]
fn ctrl_c_keeps_both_runs_and_says_what_was_measured() {
    let lab = Lab::new();
    let live = under_way(&lab);
    live.signal(Signal::INT);
    let ended = live.end();
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    assert_eq!(test_files(&lab), 0, "no test file stays");
    let lines = ended.json_lines();
    let result = lines.iter().find(|line| line["event"] == "versus").expect("a result");
    assert_eq!(result["ended"], "error");
    // Write cells come later.
    assert_eq!(list_of(&result["comparisons"][0]["cells"]).len(), 3);
    let runs = lab.list();
    assert!(runs.len() == 2 && runs.iter().all(|run| run["status"] == "interrupted"), "{runs:?}");
}

#[test]
fn after_kill_9_the_next_start_removes_both_test_files() {
    let lab = Lab::new();
    let live = under_way(&lab);
    live.signal(Signal::KILL);
    live.end();
    assert_eq!(test_files(&lab), 2, "no process could remove them");
    lab.kurabe(&["list"]).ok();
    assert_eq!(test_files(&lab), 0);
}

#[test]
fn what_cannot_be_measured_in_turns_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    let target = lab.target();
    let here = text(&target);
    lab.kurabe(&["versus", here, here, "--profile", "snia-wsat-small"])
        .is_refusal(2, &["rounds", "kurabe compare"]);
    lab.kurabe(&["versus", here, "/no/such/place"]).is_refusal(4, &["/no/such/place"]);
    lab.kurabe(&["versus", here, here, "--destroy-data-on", "/dev/sdx"])
        .is_refusal(2, &["not one of the targets"]);
    lab.kurabe(&["versus", here]).is_refusal(2, &["more than one target"]);
    assert!(names(&target).is_empty() && lab.list().is_empty());
}

#[test]
fn programs_are_compared_interleaved_each_in_an_empty_folder() {
    if !needs("sh") || !needs("mkdir") {
        return;
    }
    let lab = Lab::new();
    let target = lab.target();
    // The second one takes at least 50 ms longer, whatever the machine does. Both need an empty folder.
    let slow = "mkdir \"$0/own\" && sleep 0.05";
    let words = ["mkdir", "{work}/own", "--", "sh", "-c", slow, "{work}"];
    let start = ["versus", text(&target), "--seed", "7", "--lang", "en", "--"];
    let ended = lab.kurabe(&[&start, &words[..]].concat()).ok();
    let out = &ended.out;
    assert!(out.contains("slower: it takes") && out.contains("Every test is decided"), "{ended:#?}");
    assert!(!out.contains("within a test of"), "a program uses no test file: {out}");
    assert!(!ended.err.contains("per repetition"), "{}", ended.err);
    assert!(names(&target).is_empty());
    let runs = lab.list();
    assert!(runs.len() == 2 && runs.iter().all(|run| run["status"] == "complete"), "{runs:?}");
}

#[test]
fn fewer_than_two_programs_or_programs_with_options_of_a_profile_are_refused() {
    let lab = Lab::new();
    lab.kurabe(&["versus", "--", "true"]).is_refusal(2, &["needs two or more", "separate them by `--`"]);
    lab.kurabe(&["versus", "--", "true", "--", "--", "false"]).is_refusal(2, &["needs two or more"]);
    let both = lab.kurabe(&["versus", "--vary", "bs=4k,8k", "--", "true", "--", "false"]);
    assert!(both.status.code() == Some(2) && both.err.contains("cannot be used with"), "{both:#?}");
}

#[test]
fn a_comparison_of_targets_measures_them() {
    let lab = Lab::new();
    let ended = lab.kurabe(&["compare", "model:usb-stick", "model:ideal-ram-disk", "--lang", "en"]).ok();
    assert!(ended.out.contains("kurabe versus") && ended.out.contains("Measured interleaved"), "{ended:#?}");
    assert_eq!(lab.list().len(), 2);
    lab.kurabe(&["compare", "model:usb-stick", "last"])
        .is_refusal(2, &["model:usb-stick is a target, but last is not"]);
    lab.kurabe(&["compare", ".", "./a", "--chart"]).is_refusal(2, &["this option is for stored runs"]);
}
