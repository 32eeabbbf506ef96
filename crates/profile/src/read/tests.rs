//! Profiles that are read, and mistakes in them.

use super::*;
use kurabe_core::ErrorKind;
use proptest::prelude::*;

const SMALL: &str = r#"
schema = 1
name = "small"
title = { en = "small", ja = "small" }
statistic = "best"

[rules]
size = "64 MiB"
runs = 2
time = "1 s"

[[step]]
kind = "io"
pattern = "sequential"
block_size = "1 MiB"
iodepth = 8

[[step]]
kind = "io"
pattern = "random"
block_size = ["4 KiB", { size = "64 KiB", weight = 3 }]
directions = ["read", "mix"]
"#;

fn kinds(profile: &Profile) -> Vec<(String, Direction)> {
    profile.tasks(1 << 30).into_iter().map(|task| (task.label.clone(), task.direction().unwrap())).collect()
}

#[test]
fn reads_come_first_unless_the_profile_goes_step_by_step() {
    let mut profile = parse_profile("small", SMALL).unwrap();
    let sequential = "SEQ 1 MiB Q8 T1".to_owned();
    let random = "RND 4 KiB/64 KiB Q1 T1".to_owned();
    assert_eq!(
        kinds(&profile),
        [
            (sequential.clone(), Direction::Read),
            (random.clone(), Direction::Read),
            (sequential.clone(), Direction::Write),
            (random.clone(), Direction::Mix),
        ]
    );
    profile.rules.order = Order::ByStep;
    assert_eq!(
        kinds(&profile),
        [
            (sequential.clone(), Direction::Read),
            (sequential, Direction::Write),
            (random.clone(), Direction::Read),
            (random, Direction::Mix),
        ]
    );
}

#[test]
fn a_step_without_an_end_takes_the_time_of_the_rules() {
    let tasks = parse_profile("small", SMALL).unwrap().tasks(1 << 20);
    let workload = |index: usize| tasks[index].workload().unwrap();
    assert_eq!(workload(0).end.time_ns, Some(1_000_000_000));
    assert_eq!(workload(0).span_bytes, 1 << 20);
    assert_eq!(workload(3).read_percent, 70);
}

#[test]
fn a_mistake_shows_its_line_and_the_nearest_word() {
    let cases = [
        ("iodepth = 8", "iodept = 8", "iodepth", "iodept = 8"),
        ("\"sequential\"", "\"sequentail\"", "sequential", "pattern = \"sequentail\""),
        ("\"read\", \"mix\"", "\"reed\"", "read", "directions = [\"reed\"]"),
    ];
    for (good, bad, nearest, line) in cases {
        let error = parse_profile("my.toml", &SMALL.replace(good, bad)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataFile);
        assert_eq!(error.place().unwrap().text, line);
        assert!(error.remedy_text().unwrap().en.contains(&format!("`{nearest}`")), "{error:?}");
    }
    let error = parse_profile("my.toml", &SMALL.replace("runs = 2", "runs = 0")).unwrap_err();
    assert!(error.what().en.contains("from 1 to"), "{error:?}");
}

#[test]
fn a_device_is_used_up_to_the_size_unless_it_is_used_whole() {
    let rules = |source: &str| parse_profile("small", source).unwrap().rules;
    assert!(!rules(SMALL).whole_device);
    assert!(rules(&SMALL.replace("runs = 2", "runs = 2\nwhole_device = true")).whole_device);
    // Older records don't have this key.
    let mut record = serde_json::to_value(rules(SMALL)).unwrap();
    record.as_object_mut().unwrap().remove("whole_device").unwrap();
    assert_eq!(serde_json::from_value::<Rules>(record).unwrap(), rules(SMALL));
}

#[test]
fn steps_that_are_made_of_one_share_no_name() {
    let copies = |keys: &str| {
        let source =
            format!("{SMALL}\n[[step]]\nkind = \"copy\"\neach_chunk = [\"64 KiB\", \"1 MiB\"]\n{keys}");
        parse_profile("copies", &source)
    };
    let labels: Vec<String> = copies("").unwrap().steps[2..].iter().map(Step::label).collect();
    assert_eq!(labels, ["copy 64 KiB", "copy 1 MiB"]);
    assert!(copies("id = \"copy\"").unwrap_err().what().en.contains("each_"));
    assert!(copies("chunk = \"1 MiB\"").unwrap_err().what().en.contains("either"));
}

const REFERENCE: &str = include_str!("../../../../docs/profiles.md");

/// Returns a section of the reference, up to the next heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = REFERENCE.split_once(&format!("\n{heading}")).unwrap_or_else(|| panic!("no {heading}"));
    rest.split("\n#").next().unwrap()
}

#[test]
fn the_reference_tells_every_key_in_its_place() {
    let mut cases = vec![
        (format!("xyzzy = 1\n{SMALL}"), "## The file".to_owned()),
        (SMALL.replace("runs = 2", "runs = 2\nxyzzy = 1"), "## `[rules]`".to_owned()),
    ];
    for table in ["[rounds]", "[[derived]]"] {
        cases.push((format!("{SMALL}\n{table}\nxyzzy = 1\n"), format!("## `{table}`")));
    }
    for kind in ["io", "positional", "access-time", "copy", "command", "replay"] {
        cases.push((format!("{SMALL}\n[[step]]\nkind = \"{kind}\"\nxyzzy = 1\n"), format!("### `{kind}`:")));
    }
    for (source, heading) in cases {
        // The error for an unknown key lists all known keys.
        let error = parse_profile("any", &source).unwrap_err();
        assert!(error.what().en.contains("xyzzy"), "{error:?}");
        let remedy = &error.remedy_text().unwrap().en;
        let keys: Vec<&str> = remedy.rsplit(": ").next().unwrap().trim_end_matches(')').split(", ").collect();
        assert!(keys.len() > 2, "{remedy}");
        let of_all = if heading.starts_with("###") { section("## `[[step]]`") } else { "" };
        for key in keys {
            let rows = [format!("| `{key}` |"), format!("| `[{key}]` |"), format!("| `[[{key}]]` |")];
            let is_told = rows.iter().any(|row| section(&heading).contains(row) || of_all.contains(row));
            assert!(is_told, "{heading} does not tell `{key}`");
        }
    }
}

#[test]
fn the_examples_of_the_reference_are_profiles() {
    let (head, step) = SMALL.split_at(SMALL.find("[[step]]").unwrap());
    let blocks: Vec<&str> =
        REFERENCE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let head = if block.contains("schema = 1") { "" } else { head };
        let step = if block.contains("[[step]]") { "" } else { step };
        let source = format!("{head}{block}{step}");
        parse_profile("docs/profiles.md", &source).unwrap_or_else(|error| panic!("{error:?}\n{source}"));
    }
}

#[test]
fn commands_and_steps_that_need_a_test_file_do_not_mix() {
    let command = "[[step]]\nkind = \"command\"\ncommand = [\"true\"]\n";
    let error = parse_profile("mixed", &format!("{SMALL}{command}")).unwrap_err();
    assert!(error.what().en.contains("their own files"), "{error:?}");
    let names = "[[step]]\nkind = \"metadata\"\nfiles = 1\n";
    let alone = format!("{}{command}{names}", SMALL.split("[[step]]").next().unwrap());
    assert!(!parse_profile("alone", &alone).unwrap().needs_span());
}

#[test]
fn a_profile_survives_its_record() {
    let profile = parse_profile("small", SMALL).unwrap();
    let json = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
}

proptest! {
    #[test]
    fn reading_never_panics(source in ".*") {
        let _ = parse_profile("any", &source);
    }

    #[test]
    fn reading_a_damaged_profile_never_panics(at in 0usize..SMALL.len(), with in "[ -~\n]{0,3}") {
        let mut source = SMALL.to_owned();
        source.replace_range(at..at + 1, &with);
        let _ = parse_profile("any", &source);
    }
}
