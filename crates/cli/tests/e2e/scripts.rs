//! Guarantees for scripts: `--json`, `--quiet`, and no terminal codes without a terminal.

use crate::lab::{Lab, Live, SHORT, list_of, text};
use crate::languages::listed_commands;
use crate::system::system;
use kurabe_testkit::needs::{needs, skip};

#[test]
fn every_line_of_json_is_an_event_and_the_last_is_the_record() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), &[&SHORT[..], &["--json", "--quiet"]].concat()).ok();
    assert!(ended.err.is_empty(), "--quiet: {ended:#?}");
    let lines = ended.json_lines();
    assert!(lines.iter().all(|line| line["event"].is_string()));
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert_eq!(lines[0]["event"], "run_started");
    assert_eq!((count("fill_done"), count("repetition_started"), count("cell_done")), (1, 6, 6));
    assert_eq!((count("run_done"), count("record"), count("error")), (1, 1, 0));
    let record = &lines.last().expect("a line")["run"];
    let from_events: Vec<_> =
        lines.iter().filter(|line| line["event"] == "cell_done").map(|line| line["cell"].clone()).collect();
    assert_eq!(list_of(&record["cells"]), from_events, "the record is what the events told");
    assert_eq!(*record, lab.record("last"), "and what the store keeps");
}

#[test]
fn json_holds_the_figures_that_the_table_shows() {
    let lab = Lab::new();
    let run = lab.model_run("2us");
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer/cdm-8.0.1-partial.txt");
    lab.kurabe(&["import", file, "--quiet"]).ok();
    let imported = lab.list().last().expect("a run")["id"].as_str().expect("an id").to_owned();
    for id in [&run, &imported] {
        let shown = lab.kurabe(&["show", id]).ok().out;
        let spoken = lab.kurabe(&["show", id, "--json"]).ok().json_lines().remove(0);
        let figures = list_of(&spoken["figures"]);
        assert_eq!(figures.len(), list_of(&spoken["run"]["cells"]).len());
        let exported: serde_json::Value =
            serde_json::from_str(&lab.kurabe(&["export", id]).ok().out).expect("JSON");
        assert_eq!(exported["figures"], spoken["figures"]);
        for cell in figures {
            let rate = cell["rate_bytes_per_s"].as_f64().expect("a rate");
            let words = kurabe_core::number::rate(rate);
            assert!(shown.contains(&words.number), "{words} of {cell}: {shown}");
        }
    }
    let copy = lab.write("run.json", lab.kurabe(&["export", &run]).ok().out);
    lab.kurabe(&["import", copy.to_str().expect("a name")]).ok();
}

#[test]
fn an_error_is_a_line_of_json_too() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target().join("missing"), &["--json"]);
    assert_eq!(ended.code(), Some(4), "{ended:#?}");
    let lines = ended.json_lines();
    assert_eq!(lines.len(), 1);
    let error = &lines[0];
    assert_eq!((&error["event"], &error["kind"]), (&"error".into(), &"target".into()));
    assert_eq!(error["exit_code"], 4);
    assert!(
        error["what"]["en"].is_string()
            && error["what"]["ja"].is_string()
            && error["remedy"]["en"].is_string()
    );
}

#[test]
fn an_error_in_a_profile_tells_scripts_its_line() {
    let lab = Lab::new();
    let file = lab.write("own.toml", "schema = 1\nnaem = \"x\"\n");
    let ended = lab.run(&lab.target(), &["--json", "--profile", file.to_str().expect("a path")]);
    assert_eq!(ended.code(), Some(3), "{ended:#?}");
    assert_eq!(ended.json_lines()[0]["line"], 2);
}

#[test]
fn a_good_run_with_quiet_says_nothing_on_standard_error() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), &[&SHORT[..], &["--quiet"]].concat()).ok();
    assert!(ended.err.is_empty() && ended.out.contains("MB/s"), "{ended:#?}");
}

#[test]
fn without_a_terminal_there_are_no_control_characters() {
    let lab = Lab::new();
    let mut outputs = Vec::new();
    // `NO_COLOR` is not set here: colour must be omitted because there is no terminal.
    for words in
        [&["list"][..], &["show", "--details"], &["profiles"], &["doctor"], &["--help"], &["run", "--help"]]
    {
        if outputs.is_empty() {
            let mut command = lab.command(&[&["run", "target"], &SHORT[..]].concat());
            outputs.push(
                Live::start({
                    command.env_remove("NO_COLOR");
                    command
                })
                .end()
                .ok(),
            );
        }
        let mut command = lab.command(words);
        command.env_remove("NO_COLOR");
        outputs.push(Live::start(command).end().ok());
    }
    for ended in outputs {
        for output in [&ended.out, &ended.err] {
            let odd = output.chars().find(|letter| letter.is_control() && *letter != '\n');
            assert_eq!(odd, None, "{ended:#?}");
        }
    }
}

/// A command line for each command with a result. `FIRST` and `SECOND` are ids of runs.
const RESULTS: [&str; 28] = [
    "run model:ideal-ram-disk --profile quick --time 1ms --runs 1",
    "fio --on model:ideal-ram-disk --name=a --rw=randread --size=1m --runtime=5ms --time_based",
    "sweep model:ideal-ram-disk --over queue-depth --time 1ms --runs 1",
    "what model:ideal-ram-disk",
    "profiles",
    "profiles show quick",
    "list",
    "show FIRST",
    "why FIRST",
    "report FIRST -o report.html",
    "card FIRST -o card.svg",
    "compare FIRST SECOND",
    "versus model:ideal-ram-disk model:ideal-ram-disk --repetition 2ms --time 100ms",
    "recommend FIRST SECOND --for database",
    "fit model:ideal-ram-disk --for etcd",
    "history",
    "study list",
    "study show scsi-emulators",
    "catalogue",
    "catalogue show scsi-gnome/rascsi-1gb",
    "models",
    "models show samsung-980",
    "vm model:samsung-980",
    "import exported.json --force",
    "label FIRST a=b",
    "check",
    "doctor",
    "rm SECOND",
];

/// Command lines that need a server, a device or root, and are refused.
const REFUSALS: [&str; 11] = [
    "serve nothing --socket s.sock",
    "attach nothing",
    "detach /dev/nothing",
    "control nothing stats",
    "price --panel nothing -- true",
    "on nothing -- true",
    "push nothing",
    "pull nothing",
    "record /missing -o record.iolog -- true",
    "run /missing",
    "show nothing",
];

/// Commands whose output is a file, text for a shell or nothing, and the page, which has its own
/// test.
const OTHERS: [&str; 6] = ["export", "completions", "man", "mark", "help", "ui"];

#[test]
#[ignore = "slow"]
fn every_command_speaks_json() {
    let lab = Lab::new();
    let ids = ["2us", "9us"].map(|access| lab.model_run(access));
    lab.model_run("2us");
    lab.kurabe(&["export", "last", "-o", "exported.json"]).ok();
    let run = |line: &str| {
        let words = line.split(' ').map(|word| match word {
            "FIRST" => &*ids[0],
            "SECOND" => &*ids[1],
            word => word,
        });
        lab.kurabe(&["--json"].into_iter().chain(words).collect::<Vec<_>>())
    };
    for line in RESULTS {
        let lines = run(line).ok().json_lines();
        assert!(!lines.is_empty() && lines.iter().all(|one| one["event"] != "error"), "{line}: {lines:?}");
    }
    for line in REFUSALS {
        let ended = run(line);
        let lines = ended.json_lines();
        let error = lines.last().unwrap_or_else(|| panic!("{line}: {ended:#?}"));
        assert_eq!(error["event"], "error", "{line}: {ended:#?}");
        assert_eq!(error["exit_code"].as_i64(), ended.code().map(i64::from), "{line}: {ended:#?}");
    }
    let tried = |command: &str| {
        let first = |line: &str| line.split(' ').next() == Some(command);
        RESULTS.iter().chain(&REFUSALS).any(|line| first(line)) || OTHERS.contains(&command)
    };
    let untried: Vec<String> = listed_commands(&lab).into_iter().filter(|command| !tried(command)).collect();
    assert!(untried.is_empty(), "no line for {untried:?}");
    let removed = run("rm FIRST").ok().json_lines();
    assert_eq!(removed, [serde_json::json!({ "event": "removed", "id": ids[0] })]);
}

#[test]
#[ignore = "slow"]
fn times_are_local_with_their_offset() {
    let zones: &[(&str, &str)] = if std::path::Path::new("/usr/share/zoneinfo/Asia/Tokyo").exists() {
        &[("JST-9", "+09:00"), ("Asia/Tokyo", "+09:00"), ("America/Lima", "-05:00"), ("UTC", "+00:00")]
    } else {
        skip("no time zones by name (needs /usr/share/zoneinfo)");
        &[("JST-9", "+09:00")]
    };
    for (zone, offset) in zones {
        let lab = Lab::new();
        let words = ["run", "model:ideal-ram-disk", "--rw", "read", "--time", "1ms", "--runs", "1"];
        let mut command = lab.command(&words);
        command.env("TZ", zone);
        let ended = Live::start(command).end().ok();
        let record = lab.record("last");
        let begun = record["header"]["started_at"].as_str().expect("a time");
        assert!(begun.ends_with(offset), "{zone}: {begun}");
        let shown = format!("{} {} {offset} ·", &begun[..10], &begun[11..16]);
        assert!(ended.out.contains(&shown), "`{shown}` in {}", ended.out);
        assert!(lab.kurabe(&["show", "last"]).ok().out.contains(&shown), "the same for every reader");
    }
}

#[test]
fn what_programs_watch_over_time_is_read_by_their_own_checks() {
    let lab = Lab::new();
    lab.model_run("2us");
    let metrics = lab.kurabe(&["export", "--format", "openmetrics"]).ok().out;
    assert!(
        metrics
            .contains("\nkurabe_rate_bytes_per_second{source=\"modelled\",target=\"model:ideal-ram-disk\""),
        "{metrics}"
    );
    let file = lab.write("kurabe.prom", &metrics);
    if needs("promtool") {
        let checked = ["-c", "promtool check metrics < \"$0\" 2>&1", text(&file)];
        assert_eq!(system("sh", &checked).as_deref(), Some(""), "promtool finds nothing");
    }
    for format in ["bencher", "github-bigger", "github-smaller"] {
        let words = lab.kurabe(&["export", "--format", format]).ok().out;
        let json: serde_json::Value = serde_json::from_str(&words).expect("JSON");
        assert!(
            json.as_array().map_or_else(|| json.as_object().expect("names").len(), Vec::len) > 5,
            "{json}"
        );
    }
    lab.model_run("3us");
    let ids = lab.list().iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>();
    lab.kurabe(&["export", &ids[0], &ids[1], "--format", "openmetrics"]).is_refusal(2, &["--format csv"]);
}
