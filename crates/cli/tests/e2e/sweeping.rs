//! Sweeps as users run them: on models, on a small directory, and with invalid arguments.

use crate::lab::{Lab, list_of};
use serde_json::Value;

/// Searches for the cache of the mapping table, over old data, so that nothing is moved out of the
/// SLC cache during the sweep. Without the computer layer, every access takes the same time.
const MAPPING: [&str; 14] = [
    "sweep",
    "model:samsung-980",
    "--over",
    "size",
    "--direction",
    "read",
    "--time",
    "20ms",
    "--set",
    "ssd.mapping_cache=16KiB",
    "--set",
    "computer=none",
    "--runs=2",
    "--no-fill",
];

/// Returns the JSON lines of an event.
fn events<'a>(out: &'a str, name: &'a str) -> impl Iterator<Item = Value> + 'a {
    out.lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"))
        .filter(move |event| event["event"] == name)
}

#[test]
fn a_change_is_marked_named_and_refined() {
    let lab = Lab::new();
    let page = lab.kurabe(&MAPPING).ok().out;
    assert!(page.contains("┄ read: mapping cache"), "{page}");
    assert!(page.contains("up to 16 MiB"), "{page}");
    // 24 MiB was not planned. The point was added because of the change point.
    assert!(page.contains("24 MiB"), "{page}");
    let japanese = lab.kurabe(&[&MAPPING[..], &["--lang", "ja"]].concat()).ok().out;
    assert!(japanese.contains("対応表のキャッシュ"), "{japanese}");
}

#[test]
fn what_a_drives_memory_holds_is_none_of_its_speed_in_the_first_line() {
    let lab = Lab::new();
    let words =
        ["sweep", "model:hdd-7200", "--over", "size", "--time", "20ms", "--runs", "1", "--direction", "read"];
    let page = lab.kurabe(&words).ok().out;
    // With requests served from its memory it would look faster.
    assert!(page.contains("As fast as a hard disk (model)"), "{page}");
}

#[test]
fn a_sweep_is_a_run_like_any_other() {
    let lab = Lab::new();
    lab.kurabe(&MAPPING).ok();
    let shown = lab.kurabe(&["show"]).ok().out;
    assert!(shown.contains("RND 4 KiB Q1 in 24 MiB"), "{shown}");
    assert!(shown.contains("mapping cache"), "{shown}");
    // Findings come before the reasons of the many cells.
    let ids = lab.kurabe(&["list", "--json"]).ok().out;
    let id = serde_json::from_str::<Value>(ids.lines().next().expect("a run")).expect("JSON")["id"].clone();
    let id = id.as_str().expect("an id");
    let markdown = lab.kurabe(&["report", id]).ok().out;
    let finding = markdown.find(": up to 16 MiB: ").unwrap_or_else(|| panic!("{markdown}"));
    assert!(finding > markdown.find("### Why").expect("why"), "{markdown}");
    let why = lab.kurabe(&["why", id]).ok().out;
    assert!(why.contains("in 24 MiB") && why.contains(&format!("kurabe why {id} --cell 1")), "{why}");
    lab.kurabe(&["export", "--format", "csv"]).ok();
    lab.kurabe(&["export", "--format", "fio"]).ok();
    let record: Value = serde_json::from_str(&lab.kurabe(&["export"]).ok().out).expect("JSON");
    assert_eq!(record["run"]["header"]["profile"]["name"], "sweep", "{}", record["run"]["header"]["profile"]);
}

#[test]
#[ignore = "slow"]
fn a_sweep_meets_its_copy_cell_by_cell() {
    let lab = Lab::new();
    for _ in 0..2 {
        lab.kurabe(&["sweep", "model:crucial-p1", "--time", "5ms", "--runs", "2", "--max", "16MiB"]).ok();
    }
    let ids: Vec<String> =
        lab.list().iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect();
    let page = lab.kurabe(&["compare", &ids[0], &ids[1], "--json"]).ok().out;
    let compared: Value = serde_json::from_str(&page).expect("JSON");
    let pair = &compared["comparison"];
    let cells = list_of(&pair["cells"]);
    assert!(cells.len() > 80, "{}", cells.len());
    for cell in cells {
        assert_eq!(cell["compared"]["verdict"], "same", "{cell}");
        assert_eq!(cell["baseline"]["mean"], cell["other"]["mean"], "{cell}");
    }
    assert!(list_of(&pair["only_baseline"]).is_empty() && list_of(&pair["only_other"]).is_empty());
    let words = lab.kurabe(&["compare", &ids[0], &ids[1]]).ok().out;
    assert!(words.contains("write SEQ 1 MiB Q8 T1 for 20 times as long"), "{words}");
    for words in [&["history", "--json"][..], &["compare", "--by", "run", "--baseline", &ids[0], "--json"]] {
        let page = lab.kurabe(words).ok().out;
        for verdict in ["faster", "slower", "not_enough"] {
            assert!(!page.contains(&format!("\"{verdict}\"")), "{words:?}: {page}");
        }
    }
}

#[test]
fn scripts_get_the_findings_after_the_record() {
    let lab = Lab::new();
    let out = lab.kurabe(&[&MAPPING[..], &["--json"]].concat()).ok().out;
    let added: Vec<Value> = events(&out, "steps_added").collect();
    assert!(!added.is_empty() && added.iter().all(|event| !list_of(&event["steps"]).is_empty()), "{added:?}");
    let sweep = events(&out, "sweep").last().expect("findings");
    let findings = list_of(&sweep["curves"][0]["findings"]);
    assert_eq!(findings[0]["name"], "mapping_cache");
    assert_eq!(findings[0]["axis"], "working_set");
    let x = findings[0]["x"].as_f64().expect("a place");
    assert!((8e6..32e6).contains(&x), "{x}");
    assert!(findings[0]["evidence"]["ja"].is_string() && findings[0]["confidence"] == "likely");
}

#[test]
#[ignore = "slow"]
fn a_directory_is_swept_and_left_as_it_was() {
    let lab = Lab::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a path");
    let words = ["sweep", path, "--max", "1MiB", "--time", "50ms", "--runs", "1", "--buffered", "--over"];
    let page = lab.kurabe(&[&words[..], &["size,queue-depth,write"]].concat()).ok().out;
    assert!(
        page.contains("working set") && page.contains("queue depth") && page.contains("long write"),
        "{page}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn what_cannot_be_swept_is_refused_with_a_remedy() {
    let lab = Lab::new();
    let model = "model:ideal-ram-disk";
    let wrong = lab.kurabe(&["sweep", model, "--over", "colour"]);
    assert!(wrong.code() == Some(2) && wrong.err.contains("queue-depth"), "{wrong:#?}");
    lab.kurabe(&["sweep", model, "--max", "64k"]).is_refusal(2, &["512 KiB or more"]);
    lab.kurabe(&["sweep", model, "--over", "write", "--direction", "read"])
        .is_refusal(2, &["remove --direction read"]);
    lab.kurabe(&["sweep", model, "--buffered"]).is_refusal(2, &["--buffered has no effect"]);
    lab.kurabe(&["sweep", "/no/such/place"]).is_refusal(4, &[]);
}

#[test]
fn the_plan_is_told_without_measuring() {
    let lab = Lab::new();
    let page = lab.kurabe(&["sweep", "model:ideal-ram-disk", "--dry-run"]).ok().out;
    assert!(page.contains("of the model's time, at least"), "{page}");
    assert!(lab.list().is_empty());
}
