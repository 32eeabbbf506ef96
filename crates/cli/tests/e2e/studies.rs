//! Studies and the catalogue: on models, on a directory, for people and for scripts.

use crate::lab::{Lab, Live, SHORT};
use serde_json::Value;
use std::sync::LazyLock;

const STUDY: &str = r#"
schema = 1
name = "memory"
title = { en = "a disk in memory", ja = "メモリー上のディスク" }

[[part]]
id = "rates"
title = { en = "rates", ja = "速度" }
profile = "cdm-2"
rules = { size = "4 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
catalogue = "raid-single"
column = [{ published = "read" }]

[[part.row]]
label = { en = "memory", ja = "メモリー" }
model = "ideal-ram-disk"
on = "mine"
published = "x25m-g2"
calibrated = { read = { en = "the rate of memory", ja = "メモリーの速度" } }
"#;

fn lab() -> (Lab, String) {
    let lab = Lab::new();
    let file = lab.write("memory.toml", STUDY).to_str().expect("a path").to_owned();
    (lab, file)
}

#[test]
fn a_study_on_a_model_is_told_in_both_languages_and_the_same_every_time() {
    let (lab, file) = lab();
    let run = |words: &[&str]| lab.kurabe(&[&["study", "run", &file], words].concat()).ok().out;
    let page = run(&[]);
    for words in ["published", "239.5", "calibrated [1]", "[1] the rate of memory"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert_eq!(run(&["--threads", "3"]), page);
    assert_eq!(run(&["--seed", "1"]), page);
    let page = run(&["--lang", "ja"]);
    assert!(
        page.contains("公表値") && page.contains("較正 [1]") && page.contains("メモリーの速度"),
        "{page}"
    );
    assert!(run(&["--markdown"]).contains("| memory | 239.5 |"));
}

#[test]
fn an_axis_draws_its_curve_and_changed_rows_have_no_error() {
    let (lab, file) = lab();
    let page = lab.kurabe(&["study", "run", &file, "--axis", "memory.access=1us..64us"]).ok().out;
    assert!(page.contains("over memory.access") && page.contains('█'), "{page}");
    // The model has 1 us by default, so the first row is the study's own.
    assert_eq!(
        (page.matches("  predicted\n").count(), page.matches("calibrated [1]").count()),
        (6, 1),
        "{page}"
    );
    let changed = lab.kurabe(&["study", "run", &file, "--set", "memory.access=1ms", "--json"]).ok();
    let row = &changed.json_lines()[0]["parts"][0]["rows"][0];
    assert_eq!((&row["changed"], &row["sets"][0][1]), (&true.into(), &"1ms".into()));
    assert!(row["cells"][0]["error_percent"].is_null());
}

#[test]
#[ignore = "slow"]
fn an_axis_with_the_studys_own_values_is_no_change_and_what_is_calibrated_elsewhere_is_so_here() {
    let lab = Lab::new();
    let study = ["study", "run", "raid-strip", "--part", "strip-100mb"];
    let page = lab.kurabe(&study).ok().out;
    let again = lab.kurabe(&[&study[..], &["--axis", "raid.strip=8KiB..1MiB"]].concat()).ok().out;
    assert_eq!(again, page);
    assert!(
        page.contains("(calibrated [1])") && page.contains("[1] as in table raid-card/array: "),
        "{page}"
    );
    let wider = lab.kurabe(&[&study[..], &["--axis", "raid.strip=64KiB..2MiB"]].concat()).ok().out;
    assert!(wider.contains("A model was changed"), "{wider}");
}

#[test]
fn a_study_on_a_directory_stores_its_run_and_leaves_nothing_behind() {
    let (lab, file) = lab();
    let target = format!("mine={}", lab.target().display());
    let ended = lab.kurabe(&["study", "run", &file, "--on", &target, "--json", "--quiet"]).ok();
    let lines = ended.json_lines();
    assert_eq!(lines.len(), 1, "the events of its runs are not told");
    let row = &lines[0]["parts"][0]["rows"][0];
    assert_eq!(row["cells"][0]["status"], "measured");
    assert!(row["cells"][0]["value"].as_f64().is_some_and(|rate| rate > 0.0), "{row}");
    let id = row["run"].as_str().expect("the id of the run").to_owned();
    assert_eq!(lab.record(&id)["header"]["profile"]["name"], "cdm-2");
    assert_eq!(std::fs::read_dir(lab.target()).expect("a directory").count(), 0);
}

/// A short profile with repetitions.
const TINY: &str = r#"
schema = 1
name = "tiny"
title = { en = "tiny", ja = "ごく短い" }
statistic = "mean"

[rules]
size = "4 MiB"
runs = 4
time = "20 ms"

[[step]]
kind = "io"
pattern = "random"
block_size = "4 KiB"
"#;

#[test]
fn two_devices_are_compared_in_two_commands_from_measurement_to_article() {
    let lab = Lab::new();
    let profile = lab.write("tiny.toml", TINY);
    let folder = profile.parent().expect("a folder");
    let at = |name: &str| folder.join(name).to_str().expect("a path").to_owned();
    let target = |name: &str| {
        let path = lab.target().join(name);
        std::fs::create_dir(&path).expect("a directory");
        format!("{name}={}", path.display())
    };
    let (red, blue, file) = (target("red"), target("blue"), at("sticks.toml"));
    let new = ["study", "new", &file, &red, &blue, "--profile", &at("tiny.toml")];
    assert!(lab.kurabe(&new).ok().out.contains("kurabe study run"));
    lab.kurabe(&new).is_refusal(6, &["--force"]);
    let page = at("article.html");
    let run = ["study", "run", &file, "-o", &page];
    let out = lab.kurabe(&run).ok().out;
    for words in ["Measured interleaved, in 4 blocks", "red", "±", "article.html"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(!out.contains("one after the other"), "{out}");
    let html = std::fs::read_to_string(&page).expect("the article");
    for words in [
        "Which of these devices is the fastest?",
        "Measured interleaved",
        " ± ",
        "What else differed",
        "kurabe-record",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert_eq!(lab.list().len(), 2, "both runs are stored");
    // The runs are compared as those of `versus`.
    let compared = lab.kurabe(&["compare", &id(&lab, 0), &id(&lab, 1)]).ok().out;
    assert!(compared.contains("Measured interleaved: 4 blocks"), "{compared}");
    lab.kurabe(&run).is_refusal(6, &["--force"]);
    lab.kurabe(&["study", "run", &file, "-o", &at("article.csv")]).is_refusal(2, &["article.html"]);
    let svg = at("card.svg");
    let ended = lab.kurabe(&["study", "run", &file, "-o", &svg, "--json", "--lang", "ja"]).ok();
    assert_eq!(ended.json_lines()[0]["format"], "svg");
    assert!(std::fs::read_to_string(&svg).expect("the card").contains("交互に測定"));
    // A device that is gone is found before anything is measured.
    std::fs::remove_dir(lab.target().join("blue")).expect("removed");
    lab.kurabe(&["study", "run", &file]).is_refusal(4, &["the path does not exist", "mount"]);
}

/// Returns the id of a stored run by its place in the list.
fn id(lab: &Lab, place: usize) -> String {
    lab.list()[place]["id"].as_str().expect("an id").to_owned()
}

/// The last lines of a study name a command that shows where the time goes.
#[test]
#[ignore = "slow"]
fn what_a_study_names_to_show_where_the_time_goes_can_be_typed() {
    let (lab, file) = lab();
    for (study, part, named, cause) in [
        ("scsi-emulators", "image-size-mac", "kurabe why --cell access", "walk"),
        (
            "sata-usb",
            "sequential",
            "kurabe run model:mirror3-usb --profile pull-replay",
            "one command at a time",
        ),
    ] {
        let page = lab.kurabe(&["study", "run", study, "--part", part]).ok().out;
        assert!(page.contains(named), "{page}");
        let (_, rest) = page.split_once("where the time goes:\n").expect("the hint");
        let typed = rest.lines().map_while(|line| line.strip_prefix("  kurabe "));
        let outs: Vec<String> =
            typed.map(|line| lab.kurabe(&line.split_whitespace().collect::<Vec<_>>()).ok().out).collect();
        assert!(outs.len() == 2 && outs[1].contains(cause), "{outs:?}");
    }
    // The user's own study names the first row. Its profile may be one that only studies use.
    let page = lab.kurabe(&["study", "run", &file]).ok().out;
    assert!(page.contains("kurabe run model:ideal-ram-disk --profile cdm-2"), "{page}");
}

#[test]
fn the_profiles_and_traces_of_studies_are_known_to_run() {
    let (lab, _) = lab();
    let toml = lab.kurabe(&["profiles", "show", "pull-replay", "--toml"]).ok().out;
    assert!(toml.contains("git-pull.iolog"), "{toml}");
    let file = lab.write("mine.toml", &toml);
    for profile in ["pull-replay", file.to_str().expect("a path")] {
        lab.kurabe(&["run", "model:hua722020-usb", "--profile", profile, "--quiet"]).ok();
    }
    // A trace on the command line is a file.
    lab.kurabe(&["run", "model:hua722020-usb", "--replay", "git-pull.iolog"])
        .is_refusal(4, &["cannot read the trace git-pull.iolog"]);
}

#[test]
#[ignore = "slow"]
fn mistakes_have_their_exit_codes_and_remedies() {
    let (lab, file) = lab();
    let empty = format!("mine={}", lab.write("empty", String::new()).display());
    for (words, code, remedy) in [
        (&["study", "run", "scsi-emulator"][..], 2, "`scsi-emulators`"),
        (&["study", "run", &file, "--axis", "raid.strip=8KiB..1MiB"], 2, "kurabe models show"),
        (&["study", "run", &file, "--axis", "raid.strip"], 2, "raid.strip=8KiB..1MiB"),
        (&["study", "run", &file, "--on", "usb=/x"], 2, "use one of: mine"),
        (&["study", "run", &file, "--set", "memory.access"], 2, "raid.strip=256KiB"),
        (&["study", "run", &file, "--part", "rate"], 2, "`rates`"),
        (&["study", "run", "raid-strip", "--set", "raid.strip=64KiB"], 2, "--axis raid.strip=64KiB"),
        (&["study", "run", &file, "--on", "mine=/nowhere"], 4, "--on mine=/nowhere: the path does not exist"),
        (&["study", "run", &file, "--on", &empty], 4, "1 of the rows could not be measured"),
        (&["run", "model:rasci"], 2, "did you mean `rascsi`? List all with `kurabe models`"),
        (&["run", "model:990"], 2, "did you mean `samsung-990-pro`?"),
        (&["run", "model:980pro"], 2, "did you mean `samsung-980-pro`?"),
        (&["run", "model:nas"], 2, "did you mean `hdd-nas`? List all with `kurabe models`"),
        (&["models", "tape"], 2, "their names begin with asus, crucial,"),
        (&["study", "run"], 2, "--help"),
        (&["catalogue", "show", "scsi-gnome/rascsi-1g"], 2, "`scsi-gnome/rascsi-1gb`"),
    ] {
        let ended = lab.kurabe(words);
        assert_eq!(ended.code(), Some(code), "{words:?}: {ended:#?}");
        assert!(ended.err.contains(remedy), "{words:?}: {ended:#?}");
    }
    let bad = lab.write("bad.toml", STUDY.replace("profile =", "profil ="));
    let ended = lab.kurabe(&["study", "run", bad.to_str().expect("a path")]);
    assert_eq!(ended.code(), Some(3), "{ended:#?}");
    assert!(ended.err.contains("bad.toml:9") && ended.err.contains("`profile`"), "{ended:#?}");
    let bad = lab.write("bad.toml", STUDY.replace("ideal-ram-disk", "ideal-ram-dsk"));
    let ended = lab.kurabe(&["study", "run", bad.to_str().expect("a path")]);
    assert_eq!(ended.code(), Some(3), "{ended:#?}");
    assert!(ended.err.contains("bad.toml:") && ended.err.contains("`ideal-ram-disk`"), "{ended:#?}");
}

#[test]
fn studies_and_entries_are_listed_and_shown() {
    let lab = Lab::new();
    let list = lab.kurabe(&["study", "list"]).ok().out;
    assert!(list.contains("scsi-emulators") && list.contains("toshiba-ssd"), "{list}");
    let shown = lab.kurabe(&["study", "show", "sata-usb"]).ok().out;
    assert!(shown.contains("--on") && shown.contains("mirror3-sata-fbs"), "{shown}");
    let toml = lab.kurabe(&["study", "show", "--toml", "sata-usb"]).ok().out;
    assert!(toml.starts_with("# ") && toml.contains("[[part]]"));
    let entries = lab.kurabe(&["catalogue", "RaSCSI", "gnome"]).ok().out;
    assert!(entries.contains("scsi-gnome/rascsi-1gb") && !entries.contains("macbench"), "{entries}");
    let entry = lab.kurabe(&["catalogue", "show", "scsi-gnome/quantum-lps-250"]).ok().out;
    assert!(
        entry.contains("4.03") && entry.contains("anomaly") && entry.contains("gnome-disks-46"),
        "{entry}"
    );
    let none = lab.kurabe(&["catalogue", "no", "such", "thing"]).ok().out;
    assert!(none.contains("kurabe catalogue"), "{none}");
}

#[test]
fn a_run_of_another_tool_stands_beside_an_entry_with_its_printed_figures() {
    let lab = Lab::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer");
    for (file, entry, figures) in [
        ("cdm-3.0.1.txt", "raid-single/x25m-g2", [Some(211.347), Some(98.206), None]),
        (
            "gnome-disks-little-endian.gnome-disks-benchmark",
            "scsi-gnome/rascsi-1gb",
            [Some(491_250.0), Some(475_625.0), Some(0.062)],
        ),
    ] {
        lab.kurabe(&["import", &format!("{fixtures}/{file}"), "--quiet"]).ok();
        let ended = lab.kurabe(&["show", "last", "--beside", entry, "--json"]).ok();
        let beside = &ended.json_lines()[1]["beside"];
        assert_eq!(beside["same_procedure"], false);
        for (place, value) in figures.iter().enumerate() {
            assert_eq!(beside["figures"][place]["value"].as_f64(), *value, "{file}: {beside}");
        }
    }
}

#[test]
fn a_run_beside_an_entry_is_told_what_differs() {
    let lab = Lab::new();
    lab.run(&lab.target(), &[&SHORT[..], &["--quiet"]].concat()).ok();
    let page = lab.kurabe(&["show", "last", "--beside", "raid-single/x25m-g2"]).ok().out;
    assert!(page.contains("Beside raid-single/x25m-g2") && page.contains("239.5"), "{page}");
    assert!(page.contains("different procedures") && page.contains("different statistics"), "{page}");
    let ended = lab.kurabe(&["show", "last", "--beside", "x25m-g2", "--json"]).ok();
    let beside = &ended.json_lines()[1]["beside"];
    assert_eq!((&beside["same_procedure"], &beside["entry"]), (&false.into(), &"raid-single/x25m-g2".into()));
}

#[test]
fn a_run_beside_an_entry_tells_what_is_missing_and_a_mistyped_entry_is_told_at_once() {
    let lab = Lab::new();
    lab.kurabe(&["run", "model:ideal-ram-disk", "--rw", "read", "--size", "1m", "--time", "10ms"]).ok();
    let wrong = lab.kurabe(&["show", "--beside", "scsi-gnome/rascsi-1g"]);
    assert_eq!((wrong.code(), wrong.out.as_str()), (Some(2), ""), "{wrong:#?}");
    let page = lab.kurabe(&["show", "--beside", "scsi-gnome/rascsi-1gb"]).ok().out;
    assert!(page.contains("none of these figures") && page.contains("--profile gnome-disks-46"), "{page}");
    let details = lab.kurabe(&["show", "--details"]).ok().out;
    assert!(details.contains("virtual time") && !details.contains("pages: none"), "{details}");
}

/// Results of all studies on the models. They take long, so the tests share the output of one
/// command.
pub static STUDIES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lab = Lab::new();
    let command = lab.command(&["study", "run", "--all", "--json"]);
    Live::start_patiently(command).end().ok().json_lines()
});

#[test]
#[ignore = "slow: computes all studies twice"]
fn all_studies_have_the_same_figures_on_any_number_of_threads() {
    let all = |threads: &str| {
        let lab = Lab::new();
        let command = lab.command(&["study", "run", "--all", "--threads", threads]);
        Live::start_patiently(command).end().ok().out
    };
    let (one, three) = (all("1"), all("3"));
    let is_compared = |line: &&str| {
        line.contains('%') && ["calibrated", "predicted"].iter().any(|mark| line.contains(mark))
    };
    assert!(one.lines().filter(is_compared).count() > 100, "{one}");
    for (first, second) in one.lines().zip(three.lines()) {
        assert_eq!(first, second);
    }
    assert_eq!(one.len(), three.len());
}

/// Returns one of the studies.
fn of_all(name: &str) -> &'static Value {
    STUDIES.iter().find(|study| study["study"] == name).expect("a study")
}

/// Returns the verdicts of a study by id: the keys of the best choices, if the question asks for
/// the best, and the agreement.
fn verdicts(study: &Value) -> Vec<(String, Vec<String>, String)> {
    let key = |verdict: &Value, place: &Value| {
        let place = usize::try_from(place.as_u64().expect("a place")).expect("a place");
        verdict["choices"][place]["key"].as_str().expect("a key").to_owned()
    };
    let of = |verdict: &Value| {
        let best = verdict["answer"]["best"]["best"].as_array().cloned().unwrap_or_default();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        assert!(verdict["words"]["en"].as_str().is_some_and(|words| words.ends_with('.')), "{verdict}");
        (
            word(&verdict["id"]),
            best.iter().map(|place| key(verdict, place)).collect(),
            word(&verdict["article"]["agreement"]),
        )
    };
    study["verdicts"].as_array().expect("verdicts").iter().map(of).collect()
}

/// Returns the answer to one question.
fn answer(verdicts: &[(String, Vec<String>, String)], id: &str) -> (Vec<String>, String) {
    let (_, best, agreement) = verdicts.iter().find(|(own, ..)| own == id).expect("the question");
    (best.clone(), agreement.clone())
}

#[test]
#[ignore = "slow"]
fn the_conclusions_of_the_articles_come_out_of_the_figures() {
    let keys = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let of = |study: &str, id: &str| answer(&verdicts(of_all(study)), id);
    let (best, _) = of("raid-strip", "strip");
    assert!(best.contains(&"64 KiB".to_owned()), "{best:?}");
    assert_eq!(of("usb-exfat-apfs", "choice"), (keys(&["apfs"]), "agrees".to_owned()));
    let sata_usb = verdicts(of_all("sata-usb"));
    assert_eq!(answer(&sata_usb, "archive"), (keys(&["sata", "usb"]), "agrees".to_owned()));
    assert_eq!(answer(&sata_usb, "many-reads"), (keys(&["sata"]), "agrees".to_owned()));
    let toshiba = verdicts(of_all("toshiba-ssd"));
    assert_eq!(answer(&toshiba, "smooth").1, "agrees");
    // The effect of the new firmware was an input of the model.
    assert_eq!(answer(&toshiba, "firmware").1, "was_given");
    let emulators = verdicts(of_all("scsi-emulators"));
    assert_eq!(answer(&emulators, "large-os"), (keys(&["v6"]), "agrees".to_owned()));
    // A defect that the model does not have is reported as a deviation.
    assert_eq!(answer(&emulators, "small-writes").1, "partly");
}

#[test]
#[ignore = "slow"]
fn another_device_gives_another_answer() {
    let lab = Lab::new();
    // With several commands in flight the USB enclosure reads like SATA, and the published order
    // disappears.
    let words = ["study", "run", "sata-usb", "--part", "git-pull", "--set", "usb.protocol=uas"];
    let lines = lab.kurabe(&[&words[..], &["--json"]].concat()).ok().json_lines();
    let verdicts = verdicts(&lines[0]);
    let (best, agreement) = answer(&verdicts, "many-reads");
    assert_eq!((best.len(), agreement.as_str()), (2, "partly"), "{verdicts:?}");
    let page = lab.kurabe(&words).ok().out;
    assert!(page.contains("A model was changed") && page.contains("Not answered"), "{page}");
}
