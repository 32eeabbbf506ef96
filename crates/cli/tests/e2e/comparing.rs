//! Comparing stored runs, and choosing among them.

use crate::lab::{Lab, list_of, text};
use serde_json::Value;

/// Returns the ids of two runs of a model, the second with half the access time.
fn two_runs(lab: &Lab) -> [String; 2] {
    runs(lab, ["2us", "1us"])
}

fn runs(lab: &Lab, accesses: [&str; 2]) -> [String; 2] {
    accesses.map(|access| lab.model_run(access))
}

fn json(lab: &Lab, words: &[&str]) -> Value {
    serde_json::from_str(&lab.kurabe(&[words, &["--json"]].concat()).ok().out).expect("JSON")
}

#[test]
fn two_runs_are_compared_cell_by_cell_and_read_aloud() {
    let lab = Lab::new();
    let [slow, fast] = two_runs(&lab);
    let page = lab.kurabe(&["compare", &slow, &fast]).ok().out;
    // An access of 4 KiB takes 2.788 µs and 1.788 µs.
    assert!(page.contains("56 % faster"), "{page}");
    assert!(page.contains("no difference that matters"), "{page}");
    // The runs are named by what differs between them, and each id appears once, next to its name.
    assert!(page.contains("memory.access = 1us against memory.access = 2us"), "{page}");
    assert!(page.matches(fast.as_str()).count() == 2, "in the heading and at its side: {page}");
    let lines = json(&lab, &["compare", &slow, &fast]);
    let cells = list_of(&lines["comparison"]["cells"]);
    assert_eq!(cells.len(), 6);
    assert!(cells.iter().any(|cell| cell["compared"]["verdict"] == "faster"), "{cells:?}");
    let back = lab.kurabe(&["compare", &fast, &slow]).ok().out;
    assert!(back.contains("36 % slower"), "{back}");
}

#[test]
fn what_is_asked_about_is_told_apart_from_what_else_differs() {
    let lab = Lab::new();
    let [one, _] = two_runs(&lab);
    lab.kurabe(&["run", "model:samsung-870-evo", "--profile", "quick", "--time", "5ms", "--runs", "3"]).ok();
    let other = lab.list().last().and_then(|run| run["id"].as_str()).expect("a run").to_owned();
    let page = lab.kurabe(&["compare", &one, &other, "--about", "model"]).ok().out;
    assert!(page.contains("which you asked about"), "{page}");
    lab.kurabe(&["compare", &one, &other, "--about", "modell"]).is_refusal(2, &["did you mean `model`?"]);
    let margin = lab.kurabe(&["compare", &one, &other, "--margin", "5 apples"]);
    assert_eq!(margin.code(), Some(2), "{margin:#?}");
}

/// The page of models and the page of a use describe the same figures in the same words.
#[test]
#[ignore = "slow"]
fn a_use_says_of_models_what_they_are_worth_beside_each_other() {
    let lab = Lab::new();
    let models = ["md-raid5-4", "wd-red-3tb"];
    for model in models {
        let target = format!("model:{model}");
        lab.kurabe(&["run", &target, "--profile", "quick", "--time", "50ms", "--runs", "1", "--no-fill"])
            .ok();
    }
    let ids: Vec<String> =
        lab.list().iter().filter_map(|run| run["id"].as_str().map(str::to_owned)).collect();
    let asked = ["recommend", &ids[0], &ids[1], "--for", "vm-image"];
    let compared = [&["models", "compare"], &models[..]].concat();
    for lang in ["en", "ja"] {
        let worth = lab.kurabe(&[&["--lang", lang], &compared[..]].concat()).ok().out;
        let page = lab.kurabe(&[&["--lang", lang], &asked[..]].concat()).ok().out;
        assert!(page.ends_with(&worth) && page.len() > worth.len(), "{page}\n{worth}");
    }
    let sides = lab.kurabe(&[&["--json"], &compared[..]].concat()).ok().json_lines();
    assert_eq!(list_of(&json(&lab, &asked)["models"]), sides);
    assert_eq!((sides[0]["may_fail"].as_u64(), sides[0]["members"].as_u64()), (Some(1), Some(4)));
}

#[test]
fn a_use_names_the_run_that_suits_it_and_why() {
    let lab = Lab::new();
    let [slow, fast] = two_runs(&lab);
    let page = lab.kurabe(&["recommend", &slow, &fast, "--for", "vm-image"]).ok().out;
    assert!(page.contains("memory.access = 1us is the better choice for this use"), "{page}");
    let recommended = json(&lab, &["recommend", &slow, &fast, "--for", "vm-image"]);
    assert_eq!(recommended["recommendation"]["standings"][0]["run"], 1);
    let [one, two] = runs(&lab, ["3us", "3us"]);
    let same = lab.kurabe(&["recommend", &one, &two, "--for", "archive"]).ok().out;
    assert!(same.contains("are equally fast for this use"), "{same}");
    lab.kurabe(&["recommend", &one, &one, "--for", "archive"]).is_refusal(2, &["the same run"]);
    lab.kurabe(&["compare", &one, &one]).is_refusal(2, &["the same run"]);
    lab.kurabe(&["recommend", &slow, "--for", "vm-imag"]).is_refusal(2, &["`vm-image`"]);
}

#[test]
fn a_history_tells_what_became_of_a_device() {
    let lab = Lab::new();
    lab.kurabe(&["history"]).is_refusal(12, &[]);
    // A different access time makes a different device, so there is no history.
    runs(&lab, ["1us", "2us"]);
    lab.kurabe(&["history", "ram"]).is_refusal(12, &["measured twice"]);
    for _ in 0..4 {
        lab.model_run("2us");
    }
    let page = lab.kurabe(&["history", "ram"]).ok().out;
    assert!(page.contains("5 runs, from") && page.contains("no trend"), "{page}");
    let history = json(&lab, &["history"]);
    assert_eq!(list_of(&history["history"]["courses"]).len(), 6);
    assert_eq!(list_of(&history["history"]["drifts"]).len(), 6);
    lab.kurabe(&["history", "no-such-disk"]).is_refusal(12, &["measured twice"]);
}

#[test]
fn what_another_tool_printed_has_no_history_because_it_was_taken_in_twice() {
    let lab = Lab::new();
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer/cdm-8.0.1-partial.txt");
    for name in ["one.txt", "two.txt"] {
        let copy = lab.write(name, std::fs::read(file).unwrap());
        lab.kurabe(&["import", copy.to_str().expect("a name"), "--quiet"]).ok();
    }
    lab.kurabe(&["history"]).is_refusal(12, &["measured twice"]);
}

#[test]
fn two_folders_of_one_name_are_two_targets() {
    let lab = Lab::new();
    let short = ["run", ".", "--profile", "quick", "--time", "5ms", "--runs", "1", "--size", "1m", "--quiet"];
    std::fs::create_dir(lab.beside("other")).unwrap();
    for folder in [lab.target(), lab.beside("other")] {
        assert!(lab.command(&short).current_dir(&folder).status().unwrap().success());
    }
    let targets: Vec<String> =
        lab.list().iter().map(|run| run["target"].as_str().expect("a target").to_owned()).collect();
    let expected =
        [lab.target(), lab.beside("other")].map(|path| path.canonicalize().unwrap().display().to_string());
    assert_eq!(targets, expected);
    lab.kurabe(&["history"]).is_refusal(12, &["measured twice"]);
}

#[test]
fn a_path_is_asked_about_by_what_is_there() {
    let lab = Lab::new();
    let short = [
        "--rw", "randread", "--engine", "threads", "--time", "5ms", "--runs", "1", "--size", "1m", "--quiet",
    ];
    for _ in 0..2 {
        // The target is named by a relative path, from another folder.
        let run = lab.command(&[&["run", "."][..], &short].concat()).current_dir(lab.target()).status();
        assert!(run.unwrap().success());
    }
    std::os::unix::fs::symlink(lab.target(), lab.beside("disk-b")).unwrap();
    for path in ["./disk-b", "target/", text(&lab.target())] {
        let page = lab.kurabe(&["history", path]).ok().out;
        assert!(page.contains("2 runs, from"), "{path}: {page}");
    }
    // These paths lead to something other than the measured target.
    lab.kurabe(&["history", "/proc/self"]).is_refusal(12, &["measured twice"]);
    lab.kurabe(&["history", "/no/such/path"]).is_refusal(12, &["measured twice"]);
}

#[test]
fn what_crystaldiskmark_printed_stands_beside_the_best_of_our_runs_with_a_warning() {
    let lab = Lab::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer");
    lab.kurabe(&["import", &format!("{fixtures}/cdm-8.0.1-partial.txt"), "--quiet"]).ok();
    let short = ["--profile", "cdm-9", "--time", "20ms", "--interval", "0s", "--size", "8m", "--quiet"];
    lab.run(&lab.target(), &short).ok();
    let ids: Vec<String> =
        lab.list().iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect();
    let [theirs, ours] = ids.as_slice() else { panic!("two runs: {ids:?}") };
    let compared = json(&lab, &["compare", theirs, ours]);
    let comparison = &compared["comparison"];
    let cells = list_of(&comparison["cells"]);
    assert_eq!(cells.len(), 4);
    let best = lab.record(ours)["cells"][0]["repetitions"]
        .as_array()
        .expect("repetitions")
        .iter()
        .filter(|one| one["discarded"] == false)
        .map(|one| {
            one["read"]["bytes"].as_f64().unwrap_or(0.0) / one["elapsed_ns"].as_f64().unwrap_or(1.0) * 1e9
        })
        .fold(0.0, f64::max);
    let shown = cells[0]["other"]["mean"].as_f64().expect("a rate");
    assert!((shown / best - 1.0).abs() < 1e-9, "{shown} is not the best of the runs, {best}");
    assert_eq!((&cells[0]["statistic"], &cells[0]["other"]["count"]), (&"best".into(), &1.into()));
    let keys: Vec<&str> =
        list_of(&comparison["differences"]).iter().filter_map(|one| one["key"].as_str()).collect();
    assert!(["tool", "statistic", "machine"].iter().all(|key| keys.contains(key)), "{keys:?}");
    for (from, to) in [(theirs, ours), (ours, theirs)] {
        let page = lab.kurabe(&["compare", from, to]).ok().out;
        assert!(
            page.contains("(single figures)") && page.contains("prints only its best repetition"),
            "{page}"
        );
        let page = lab.kurabe(&["compare", from, to, "--lang", "ja"]).ok().out;
        assert!(page.contains("(1 回の値)") && page.contains("最良の回の値で比べています"), "{page}");
    }
    let page = lab.kurabe(&["recommend", theirs, ours, "--for", "os-disk"]).ok().out;
    assert!(page.contains("Each figure was measured once") && page.contains("Caution"), "{page}");
}

#[test]
fn of_three_runs_the_fastest_is_named() {
    let lab = Lab::new();
    let [slow, fast] = two_runs(&lab);
    let slower = runs(&lab, ["40us", "40us"]);
    let words = ["compare", &slow, &fast, &slower[0]];
    let page = lab.kurabe(&words).ok().out;
    assert!(page.contains("The fastest is memory.access = 1us"), "{page}");
    let page = lab.kurabe(&[&words[..], &["--lang", "ja"]].concat()).ok().out;
    assert!(page.contains("最も速いのは memory.access = 1us です"), "{page}");
    let compared = json(&lab, &words);
    assert_eq!(
        (&compared["event"], list_of(&compared["comparisons"]).len()),
        (&Value::from("comparisons"), 2)
    );
    let drawn = lab.kurabe(&[&words[..], &["--chart"]].concat()).ok().out;
    assert_eq!(drawn.matches(" against memory.access = 2us").count(), 2, "a chart for each pair: {drawn}");
    lab.kurabe(&["compare", &slow]).is_refusal(2, &["two or more runs"]);
}

#[test]
fn a_script_is_told_what_it_does_not_accept_by_an_exit_code_and_the_cell() {
    let lab = Lab::new();
    let run = |set: &str| {
        let words = ["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "20ms", "--set", set];
        let ended = lab.kurabe(&[&words[..], &["--json", "--quiet"]].concat()).ok().json_lines();
        let id = ended.iter().find_map(|line| line["header"]["id"].as_str().map(str::to_owned));
        id.unwrap_or_else(|| panic!("{ended:#?}"))
    };
    let (fast, slow) = (run("memory.access=1us"), run("memory.access=3us"));
    let compare = |one: &str, other: &str, condition: &str| {
        lab.kurabe(&["compare", one, other, "--fail-on", condition])
    };
    let refused = compare(&fast, &slow, "slower");
    assert_eq!(refused.code(), Some(13), "{refused:#?}");
    assert!(refused.err.contains("RND 4 KiB Q32 T1") && refused.err.contains("slower"), "{refused:#?}");
    assert!(refused.out.contains("kurabe compare"), "the comparison is printed all the same: {refused:#?}");
    assert_eq!(compare(&fast, &slow, "unclear,different").code(), Some(15));
    compare(&fast, &slow, "slower:90%").ok();
    compare(&slow, &fast, "slower").ok();
    let nonsense = compare(&fast, &slow, "nonsense");
    assert!(nonsense.code() == Some(2) && nonsense.err.contains("slower:PERCENT"), "{nonsense:#?}");
}

#[test]
fn emulators_are_ranked_with_published_prices_and_their_sources() {
    let lab = Lab::new();
    let named = |emulator: &str| format!("model:{emulator}+sd-card-a1+mac-8100");
    let (priced, unpriced) = (named("bluescsi-v2"), named("zuluscsi-v1.1"));
    let words = ["recommend", &priced, &unpriced, "--for", "retro-computer"];
    let page = lab.kurabe(&words).ok().out;
    let price = "bluescsi-v2: 30 – 50 USD (jasontaylor.blog";
    assert!(page.contains(price) && page.contains("no price was found for zuluscsi-v1.1\n"), "{page}");
    let limits = json(&lab, &words)["limits"].clone();
    assert!(limits[0]["price"]["price"] == "30 – 50 USD" && limits[1]["price"].is_null(), "{limits}");
}
