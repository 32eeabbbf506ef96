//! All stored runs laid out by the facts in which they differ, and the list with its filters.

use crate::lab::{Lab, list_of, text};
use kurabe_compare::DIGESTER;
use kurabe_core::digest::Digester;
use kurabe_store::{Runs, SqliteStore};
use serde_json::Value;

/// Measures a model with this access time and these labels. Returns the run's id.
fn measure(lab: &Lab, access: &str, labels: &[&str]) -> String {
    let set = format!("memory.access={access}");
    let mut words = vec![
        "run",
        "model:ideal-ram-disk",
        "--profile",
        "quick",
        "--time",
        "5ms",
        "--runs",
        "2",
        "--set",
        &set,
    ];
    labels.iter().for_each(|label| words.extend(["--label", label]));
    lab.kurabe(&words).ok();
    lab.list().last().and_then(|run| run["id"].as_str()).expect("a run").to_owned()
}

/// Stores the runs of two owners with two firmware versions each. The second version is faster.
fn four_runs(lab: &Lab) -> Vec<String> {
    [("2us", "1.9", "Aki"), ("1us", "1.10", "Aki"), ("2us", "1.9", "Ken"), ("1us", "1.10", "Ken")]
        .into_iter()
        .map(|(access, firmware, owner)| {
            measure(lab, access, &[&format!("firmware={firmware}"), &format!("owner={owner}")])
        })
        .collect()
}

fn json(lab: &Lab, words: &[&str]) -> Value {
    serde_json::from_str(&lab.kurabe(&[words, &["--json"]].concat()).ok().out).expect("JSON")
}

#[test]
fn runs_are_laid_out_in_rows_and_columns_and_held_against_a_baseline() {
    let lab = Lab::new();
    let ids = four_runs(&lab);
    let words = ["compare", "--by", "owner,label:firmware", "--baseline", "1.9"];
    let page = lab.kurabe(&words).ok().out;
    for part in
        ["rows: owner · columns: firmware", "1.9 (baseline)", "  Aki", "56 % faster", "memory.access = 1us"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let japanese = lab.kurabe(&[&words[..], &["--lang", "ja"]].concat()).ok().out;
    assert!(japanese.contains("1.9 (基準)") && japanese.contains("56 % 速い"), "{japanese}");
    let pivoted = json(&lab, &words);
    assert_eq!((pivoted["event"].as_str(), pivoted["pivot"]["run_count"].as_u64()), (Some("pivot"), Some(4)));
    let place = &list_of(&pivoted["pivot"]["places"])[0];
    assert!(ids.contains(&list_of(&place["runs"])[0].as_str().expect("an id").to_owned()), "{place}");

    let named = lab.kurabe(&["compare", "--by", "run", &ids[0], &ids[1], "--cell", "read rnd q1"]).ok().out;
    assert!(named.contains(&ids[0]) && named.contains(&ids[1]) && !named.contains(&ids[2]), "{named}");
    assert!(named.contains("RND 4 KiB Q1 T1") && !named.contains("Q32"), "{named}");
    let narrowed = lab.kurabe(&["compare", "--by", "owner", "--where", "label:firmware=1.10"]).ok().out;
    assert!(narrowed.contains("2 runs"), "{narrowed}");
}

#[test]
fn a_wide_pivot_is_broken_into_several_tables() {
    let lab = Lab::new();
    four_runs(&lab);
    for owner in ["Mei", "Rin", "Sho"] {
        measure(&lab, "3us", &[&format!("owner={owner}")]);
    }
    let mut command = lab.command(&["compare", "--by", "owner", "--baseline", "Aki"]);
    let output = command.env("COLUMNS", "80").output().expect("kurabe runs");
    let page = String::from_utf8(output.stdout).expect("text");
    assert!(page.lines().filter(|line| line.starts_with("test ")).count() > 1, "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    for owner in ["Aki", "Ken", "Mei", "Rin", "Sho"] {
        assert!(
            page.lines().any(|line| line.starts_with("test ") && line.contains(owner)),
            "{owner}: {page}"
        );
    }
}

#[test]
fn a_word_that_is_not_known_names_the_nearest() {
    let lab = Lab::new();
    lab.kurabe(&["compare", "--by", "owner"]).is_refusal(12, &["kurabe run"]);
    let ids = four_runs(&lab);
    lab.kurabe(&["compare", "--by", "filesytem"]).is_refusal(2, &["did you mean `filesystem`?"]);
    lab.kurabe(&["compare", "--by", "ownr"]).is_refusal(2, &["label:owner"]);
    lab.kurabe(&["compare", "--by", "firmware"]).is_refusal(2, &["label:firmware", "fact:firmware"]);
    lab.kurabe(&["compare", "--by", "owner", "--baseline", "Akj"]).is_refusal(12, &["`Aki`"]);
    lab.kurabe(&["compare", "--by", "owner", "--where", "model=ideal-ram-dis"])
        .is_refusal(12, &["`ideal-ram-disk`"]);
    lab.kurabe(&["compare", "--by", "owner", "--where", "model"]).is_refusal(2, &["--where"]);
    lab.kurabe(&["compare", "--by", "owner", "--cell", "trim"]).is_refusal(12, &["read SEQ"]);
    lab.kurabe(&["compare", "--by", "kernel"]).is_refusal(12, &["kurabe label"]);
    lab.kurabe(&["compare", &ids[0]]).is_refusal(2, &["--by"]);
    assert_eq!(lab.kurabe(&["compare"]).code(), Some(2));
    assert_eq!(lab.kurabe(&["compare", "--baseline", "x", &ids[0], &ids[1]]).code(), Some(2));
}

#[test]
fn a_changed_label_is_seen_by_the_next_pivot() {
    let lab = Lab::new();
    let ids = four_runs(&lab);
    lab.kurabe(&["compare", "--by", "owner"]).ok();
    lab.kurabe(&["label", &ids[0], "owner=Mei"]).ok();
    lab.kurabe(&["rm", &ids[1]]).ok();
    let pivoted = json(&lab, &["compare", "--by", "owner"]);
    assert_eq!(pivoted["pivot"]["run_count"], 3);
    let columns: Vec<&str> =
        list_of(&pivoted["pivot"]["columns"]).iter().filter_map(|value| value["en"].as_str()).collect();
    assert_eq!(columns, ["Ken", "Mei"]);
}

#[test]
fn the_list_shows_the_runs_that_are_meant() {
    let lab = Lab::new();
    let ids = four_runs(&lab);
    let listed = |words: &[&str]| -> Vec<String> {
        let out = lab.kurabe(&[&["list", "--json"], words].concat()).ok().out;
        let runs = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        runs.filter_map(|run| run["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(listed(&[]), ids);
    assert_eq!(listed(&["--last", "2"]), ids[2..]);
    assert_eq!(listed(&["--label", "owner=Aki"]), ids[..2]);
    assert_eq!(listed(&["--label", "owner=Aki", "--label", "firmware=1.10"]), ids[1..2]);
    assert_eq!(listed(&["--device", "RAM", "--profile", "quick", "--since", "2026"]).len(), 4);
    assert_eq!(listed(&["--profile", "cdm-9"]).len(), 0);
    let none = lab.kurabe(&["list", "--profile", "cdm-9"]).ok().out;
    assert_eq!(none, "None of the 4 stored runs matches.\n");
    assert_eq!(lab.kurabe(&["list", "--since", "yesterday"]).code(), Some(2));
    lab.kurabe(&["list", "--label", "owner"]).is_refusal(2, &["key=value"]);
}

#[test]
fn digests_are_made_when_a_run_ends_and_when_one_is_taken_in() {
    let (lab, other) = (Lab::new(), Lab::new());
    lab.model_run("1us");
    let file = lab.beside("run.json");
    lab.kurabe(&["export", "last", "-o", text(&file)]).ok();
    other.kurabe(&["import", text(&file)]).ok();
    for lab in [lab, other] {
        let missing = Digester { digest: |_| panic!("a digest was not there"), ..DIGESTER };
        let store = SqliteStore::open(&lab.store(), missing).expect("a store");
        let digests = store.digests(&mut |_, _| ()).expect("digests");
        assert!(digests.unreadable.is_empty());
    }
}

#[test]
fn the_list_shows_what_was_done_how_fast_it_was_and_what_was_changed() {
    let lab = Lab::new();
    let one_cell =
        ["run", "model:ideal-ram-disk", "--rw", "randread", "--bs", "4k", "--size", "4m", "--time", "10ms"];
    lab.kurabe(&[&one_cell[..], &["--set", "memory.access=10us", "--quiet"]].concat()).ok();
    let list = lab.kurabe(&["list"]).ok().out;
    for words in ["read RND 4 KiB Q1 T1", "(memory.access=10us)", "MB/s"] {
        assert!(list.contains(words), "{words}: {list}");
    }
    let listed = lab.kurabe(&["list", "--json"]).ok().json_lines().remove(0);
    let shown = lab.kurabe(&["show", "--json"]).ok().json_lines().remove(0);
    let rate = &shown["figures"][0]["rate_bytes_per_s"];
    assert!(rate.is_number(), "{shown}");
    assert_eq!(listed["best_read_rate_bytes_per_s"], *rate);
    assert_eq!(listed["random_4k_read_rate_bytes_per_s"], *rate);
    assert_eq!(listed["changes"], "memory.access=10us");
    assert!(listed["best_write_rate_bytes_per_s"].is_null() && listed["first_figure"].is_null(), "{listed}");
}
