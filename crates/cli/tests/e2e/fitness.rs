//! `kurabe fit`: whether storage suits a use.

use crate::lab::{Lab, text};
use kurabe_compare::USES;
use kurabe_testkit::needs::needs;
use serde_json::Value;
use std::process::Command;

/// Returns the verdict in JSON, with the exit code.
fn judged(lab: &Lab, words: &[&str]) -> (Value, Option<i32>) {
    let ended = lab.kurabe(&[&["fit"], words, &["--json"]].concat());
    let line = ended.out.lines().find(|line| line.contains("\"event\":\"fit\""));
    let line = line.unwrap_or_else(|| panic!("no verdict: {ended:#?}"));
    (serde_json::from_str(line).expect("JSON"), ended.code())
}

/// A 7200 rpm disk below a file system that commits its journal on each flush.
const DISK_WITH_JOURNAL: &str = r#"
schema = 1
name = "disk-with-journal"
title = { en = "a disk under a journal", ja = "ジャーナル付きのディスク" }
year = 2009

[[layer]]
kind = "host"

[[layer]]
kind = "filesystem"
metadata_every = { value = "4 KiB", source = "assumed: a commit of the journal for each flush" }

[[layer]]
use = "hitachi-hua722020ala330"
"#;

#[test]
#[ignore = "slow"]
fn a_drive_that_keeps_what_it_holds_is_fit_for_etcd_and_a_hard_disk_is_not() {
    let lab = Lab::new();
    let (safe, code) = judged(&lab, &["model:samsung-pm963", "--for", "etcd"]);
    assert_eq!((safe["fit"]["verdict"].as_str(), code), (Some("fit"), Some(0)), "{safe}");
    // Each flush takes a revolution of 11 ms; a flush of 8 ms takes another one for the journal.
    let with_journal = format!("model:{}", text(&lab.write("disk.toml", DISK_WITH_JOURNAL)));
    for disk in ["model:wd-red-3tb", &with_journal] {
        let (disk, code) = judged(&lab, &[disk, "--for", "etcd"]);
        assert_eq!((disk["fit"]["verdict"].as_str(), code), (Some("unfit"), Some(18)), "{disk}");
        let measured = &disk["fit"]["limits"][0]["measured"]["percentile"];
        assert!(measured["value_ns"].as_u64() > measured["at_most_ns"].as_u64(), "{measured}");
        // The run is stored like any other.
        assert!(lab.list().iter().any(|run| run["id"] == disk["run"]), "{disk}");
    }
    for (lang, expected) in
        [("en", "Not fit for etcd, by the model: 99 % of"), ("ja", "etcd には使えません(モデルによる)。")]
    {
        let ended = lab.kurabe(&["--lang", lang, "fit", "model:wd-red-3tb", "--for", "etcd"]);
        assert!(ended.out.starts_with(expected) && ended.out.contains("--fdatasync=1"), "{ended:#?}");
    }
}

#[test]
#[ignore = "slow"]
fn each_use_with_a_limit_is_judged_on_a_model() {
    let lab = Lab::new();
    for (name, _) in USES {
        let words = ["fit", "model:ideal-ram-disk", "--for", name, "--set", "memory.access=20us"];
        let ended = lab.kurabe(&words);
        match ended.code() {
            Some(0) => assert!(ended.out.starts_with("Fit for "), "{name}: {ended:#?}"),
            code => {
                assert_eq!(code, Some(2), "{name}: {ended:#?}");
                assert!(ended.err.contains("has no limit"), "{name}: {ended:#?}");
            }
        }
    }
}

#[test]
fn more_cameras_than_a_disk_takes_are_too_many() {
    let lab = Lab::new();
    let of = |count| judged(&lab, &["model:hdd-7200", "--for", "camera-recorder", "--count", count]).1;
    assert_eq!((of("2"), of("500")), (Some(0), Some(18)));
    lab.kurabe(&["fit", "model:hdd-7200", "--for", "etcd", "--count", "2"])
        .is_refusal(2, &["has nothing to count"]);
    lab.kurabe(&["fit", "model:hdd-7200", "--for", "etc"]).is_refusal(2, &["`etcd`"]);
}

/// Compares with etcd's published fio recipe on the same folder. The difference is only printed,
/// because other processes use the machine.
#[test]
#[ignore = "flushes on the disk under the folder for half a minute, and longer where others write"]
fn the_published_recipe_for_etcd_tells_the_same_of_this_folder() {
    let lab = Lab::new();
    let recipe = ["--rw=write", "--ioengine=sync", "--fdatasync=1", "--size=22m", "--bs=2300", "--name=etcd"];
    let directory = format!("--directory={}", text(&lab.target()));
    let bounded = ["--output-format=json", "--runtime=20", &directory];
    if !needs("fio") {
        return;
    }
    let fio = Command::new("fio").args(recipe).args(bounded).output().expect("fio runs");
    let fio: Value = serde_json::from_slice(&fio.stdout).expect("JSON of fio");
    let recipe_ns = fio["jobs"][0]["sync"]["lat_ns"]["percentile"]["99.000000"].as_f64().expect("p99 of fio");
    let (fit, _) = judged(&lab, &[text(&lab.target()), "--for", "etcd"]);
    let fit_ns = fit["fit"]["limits"][0]["measured"]["percentile"]["value_ns"].as_f64().expect("p99");
    eprintln!(
        "p99 of the flushes: fio {recipe_ns} ns, kurabe {fit_ns} ns, a factor of {:.2}",
        fit_ns / recipe_ns
    );
    // On a folder in memory a flush is only a system call.
    assert!(recipe_ns > 0.0 && fit_ns > 0.0);
}
