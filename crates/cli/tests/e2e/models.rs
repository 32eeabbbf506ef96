//! Models as targets: the same command, the same table, in virtual time.

use crate::lab::{Lab, list_of, number};
use serde_json::Value;

/// One cell of a hundredth of a second.
const ONE_CELL: [&str; 6] = ["--rw", "randread", "--size", "4m", "--time", "10ms"];

fn record(lab: &Lab, words: &[&str]) -> Value {
    let ended = lab.kurabe(&[&["run", "model:ideal-ram-disk", "--json"], words].concat()).ok();
    let last = ended.out.lines().last().expect("a line").to_owned();
    serde_json::from_str::<Value>(&last).expect("JSON")["run"].take()
}

#[test]
fn a_model_is_measured_like_a_device_and_marked_as_a_model() {
    let lab = Lab::new();
    let ended = lab.kurabe(&[&["run", "model:ideal-ram-disk"], &ONE_CELL[..]].concat()).ok();
    assert!(ended.out.contains("model in virtual time: a disk in memory"), "{}", ended.out);
    // 1 µs and 4096 bytes at 5.2 GB/s, one after the other.
    assert!(ended.out.contains("559 284 IOPS"), "{}", ended.out);
    assert!(lab.kurabe(&["list"]).ok().out.contains("model:ideal-ram-disk"));
}

#[test]
fn the_record_tells_the_stack_and_where_the_time_went() {
    let lab = Lab::new();
    let record = record(&lab, &ONE_CELL);
    let header = &record["header"];
    assert_eq!(header["target"]["kind"], "model");
    assert_eq!(header["model"]["layers"][1]["name"], "memory");
    assert!(header["instrument"].is_null());
    let repetition = &record["cells"][0]["repetitions"][0];
    let account = &repetition["account"];
    let shares: u64 = list_of(&account["shares"]).iter().map(|share| number(&share["time_ns"])).sum();
    assert_eq!(shares, number(&account["latency_ns"]));
    assert_eq!(shares, number(&repetition["read"]["latency"]["sum_ns"]));
}

#[test]
fn a_parameter_is_changed_and_recorded_as_changed() {
    let lab = Lab::new();
    let words = [&ONE_CELL[..], &["--set", "memory.access=10us"]].concat();
    let record = record(&lab, &words);
    let parameters = list_of(&record["header"]["model"]["layers"][1]["parameters"]);
    let access = parameters.iter().find(|parameter| parameter["key"] == "access").expect("the parameter");
    assert_eq!((access["value"].as_str(), access["changed"].as_bool()), (Some("10us"), Some(true)));
    assert_eq!(number(&record["cells"][0]["repetitions"][0]["read"]["latency"]["min_ns"]), 10_788);
}

#[test]
fn a_device_file_of_the_users_own_works_and_its_mistakes_show_their_line() {
    let lab = Lab::new();
    let file = |rate: &str| {
        format!(
            "schema = 1\nname = \"mine\"\ntitle = {{ en = \"mine\", ja = \"自作\" }}\n[[layer]]\nkind = \"constant\"\n\
             capacity = {{ value = \"1 GiB\", source = \"t\" }}\naccess = {{ value = \"1 ms\", source = \"t\" }}\n\
             rate = {rate}\n"
        )
    };
    let path = lab.write("mine.toml", file("{ value = \"1 GB/s\", source = \"t\" }"));
    let target = format!("model:{}", path.display());
    lab.kurabe(&[&["run", &target], &ONE_CELL[..]].concat()).ok();
    lab.write("mine.toml", file("\"1 GB/s\""));
    let ended = lab.kurabe(&[&["run", &target], &ONE_CELL[..]].concat());
    ended.is_refusal(3, &["mine.toml:8", "source"]);
}

#[test]
fn what_makes_no_sense_on_a_model_is_refused_with_a_remedy() {
    let lab = Lab::new();
    for (words, exit, part) in [
        (&["run", "model:ideal-ram-disc"][..], 2, "ideal-ram-disk"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.acces=1us"], 2, "access"),
        (&["run", "model:ideal-ram-disk", "--set", "disk.access=1us"], 2, "memory"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.access"], 2, "layer.parameter=value"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.access=fast"], 2, "8.5 ms"),
        (&["run", "model:ideal-ram-disk", "--engine", "uring"], 2, "--engine"),
        (&["run", "model:ideal-ram-disk", "--profile", "git-pull"], 4, "--replay"),
        (&["run", "--set", "memory.access=1us"], 2, "model:NAME"),
    ] {
        lab.kurabe(words).is_refusal(exit, &[part]);
    }
    assert!(lab.list().is_empty(), "nothing is kept of them");
}
