//! The summary sentence of a run: the class of the device, its special property, and a warning.

use crate::lab::Lab;

/// Returns the summary of CrystalDiskMark's default test on a model, with its English sentence.
fn summary_of(lab: &Lab, model: &str) -> (serde_json::Value, String) {
    let target = format!("model:{model}");
    let run = lab.kurabe(&["run", &target, "--profile", "cdm-9", "--runs", "2", "--json"]).ok().json_lines();
    let record = run.iter().find(|line| line["event"] == "record").expect("a record");
    let sentence = record["summary"]["sentence"]["en"].as_str().expect("a sentence").to_owned();
    (record["summary"].clone(), sentence)
}

#[test]
#[ignore = "slow"]
fn a_model_is_held_against_its_own_kind_and_the_needs_of_uses() {
    let lab = Lab::new();
    let (summary, sentence) = summary_of(&lab, "samsung-870-evo");
    assert_eq!(sentence.matches("model").count(), 1, "{sentence}");
    assert!(sentence.starts_with("As fast as a SATA SSD"), "{sentence}");
    assert_eq!(summary["likeness"]["class"], "sata-ssd");
    assert_eq!(summary["unfit"].as_array().map(Vec::len), Some(0));
    let (summary, sentence) = summary_of(&lab, "hua722020-sata");
    assert!(sentence.contains("a hard disk (model)"), "{sentence}");
    // A limit of another class does not make a hard disk unfit.
    assert!(summary["unfit"].as_array().unwrap().iter().all(|unfit| unfit["name"] != "os-disk"), "{summary}");
    // A card reader of an old computer does not belong to any class in the catalogue.
    let (summary, sentence) = summary_of(&lab, "rascsi");
    assert!(summary["likeness"].is_null() && sentence.starts_with("By the model, reads up to"), "{sentence}");
    // `show` prints the same sentence later.
    let shown = lab.kurabe(&["show", "last"]).ok().out;
    let flat = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&shown).contains(&sentence), "{shown}");
}

#[test]
fn what_memory_takes_is_not_called_the_drives_speed() {
    let lab = Lab::new();
    let words =
        |model: &str| lab.kurabe(&["run", model, "--rw", "write", "--bs", "1m", "--time", "100ms"]).ok().out;
    let pool = words("model:raidz2-6");
    assert!(pool.contains("writes into memory at up to 4,000.0 MB/s"), "{pool}");
    let disk = words("model:wd-red-3tb");
    assert!(!disk.contains("memory"), "{disk}");
    let ids: Vec<String> =
        lab.list().iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect();
    let page = lab.kurabe(&["compare", &ids[0], &ids[1]]).ok().out.replace("\n  ", " ");
    assert_eq!(page.matches("is the speed of the computer's memory, not of its drives").count(), 1, "{page}");
    assert!(page.contains("the figure of model:raidz2-6"), "{page}");
}
