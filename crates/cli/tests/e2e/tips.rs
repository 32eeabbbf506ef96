//! Recommendations that work: each command that an output names is executed verbatim, and must do
//! what the output promises.
//!
//! A recommended command appears between backticks, after a colon or in parentheses, or on a
//! separate line that begins with it. Placeholders (`NAME`, `対象`) are replaced, and a shell splits
//! the arguments. If a run would take minutes, only its plan is checked.

use crate::lab::Lab;
use std::collections::BTreeSet;

/// Command lines that users type and that lead to recommendations.
const TYPED: &[&str] = &[
    "list",
    "list --device nothing",
    "list --served",
    "show last",
    "show last --details",
    "show imported",
    "why last",
    "compare slow fast",
    "compare imported fast",
    "compare slow",
    "recommend slow fast --for archive",
    "history",
    "history nothing",
    "models",
    "models show ideal-ram-disk",
    "models show samsung",
    "models show nothing",
    "catalogue samsung",
    "catalogue samsng 990",
    "catalogue show nothing",
    "catalogue show samsung-9100-pro-4tb",
    "profiles",
    "profiles show cdm-9",
    "profiles show cdm",
    "study list",
    "study show scsi-emulators",
    "study run scsi-emulators",
    "study show nothing",
    "doctor",
    "show nothing",
    "import job.fio",
    "import 'my job.fio'",
    "import 'my trace'",
    "run 'my device.toml'",
    "run 'my profile.toml'",
    "run model:nothing",
    "run model:ideal-ram-disk --trace",
    "run model:ideal-ram-disk --profile git-pull-ports",
    "run --replay nothing target",
    "run target --rw randread --engine threads --size 4m --time 50ms",
    "versus target --time 1s",
    "versus target model:ideal-ram-disk --profile snia-iops",
    "versus model:ideal-ram-disk --vary bs=4k,16k --time 1s",
    "sweep model:ideal-ram-disk --over queue-depth --time 2ms",
    "record --output kept-again target -- true",
];

/// Replacements of placeholders, in both languages, after these words.
const STANDS_FOR: &[(&str, &[&str], &str)] = &[
    ("models show", &["NAME", "名前"], "ideal-ram-disk"),
    ("models show", &["FILE.toml"], "'my device.toml'"),
    ("run model:", &["NAME", "名前"], "ideal-ram-disk --time 5ms"),
    ("profiles show", &["NAME", "名前"], "quick"),
    ("study run", &["NAME", "名前"], "scsi-emulators"),
    ("study run", &["PATH", "パス"], "target"),
    ("run --profile", &["FILE.toml"], "'my profile.toml'"),
    ("record", &["FILE", "ファイル"], "new-trace"),
    ("record", &["COMMAND", "コマンド"], "true"),
    ("", &["ENTRY", "項目"], "cdm-9/samsung-9100-pro-4tb"),
    ("", &["TARGET", "対象"], "target"),
];

/// Returns the commands that an output recommends.
fn recommended(output: &str) -> BTreeSet<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in output.lines() {
        let own = line.trim_start().starts_with("kurabe ");
        match lines.last_mut().filter(|_| line.starts_with("  ") && !own) {
            // The rest of a sentence that was wrapped.
            Some(before) => *before += &format!(" {}", line.trim_start()),
            None => lines.push(line.to_owned()),
        }
    }
    let mut commands = BTreeSet::new();
    for line in &lines {
        for (at, _) in line.match_indices("kurabe ") {
            let (before, command) = line.split_at(at);
            let ends: &[&str] = match before {
                _ if before.ends_with('`') => &["`"],
                // A line that begins with a heading.
                _ if before.ends_with([':', '(']) || before.ends_with(": ") || before.ends_with("  ") => {
                    &[" · ", ")", ";", "  ", "。"]
                }
                _ => continue,
            };
            let end = ends.iter().filter_map(|end| command.find(end)).min().unwrap_or(command.len());
            commands.insert(command[..end].trim().to_owned());
        }
    }
    commands
}

/// Replaces the placeholders of a command.
fn meant(command: &str) -> String {
    let words = command.strip_prefix("kurabe ").expect("a command");
    let mut line = format!("{command} ");
    for (behind, places, thing) in STANDS_FOR {
        for place in places.iter().filter(|_| words.starts_with(behind)) {
            line = line.replace(&format!("{place} "), &format!("{thing} "));
        }
    }
    for run in ["RUN ", "測定 "] {
        line = line.replacen(run, "slow ", 1).replace(run, "fast ");
    }
    let is_long = words.starts_with("run") && !words.contains("model:");
    if is_long { line + "--dry-run" } else { line }
}

/// Returns text that the output of a recommended command must contain.
fn promised(words: &str) -> &'static str {
    let promises = [
        ("run --profile", "tests"),
        ("models show", "memory"),
        ("models", "ideal-ram-disk"),
        ("catalogue show", "Samsung 9100 Pro"),
        ("catalogue", "Samsung"),
        ("profiles", "quick"),
        ("list", "name=slow"),
        ("why", "kurabe why"),
        ("show", "kurabe run"),
        ("export", "\"kurabe_record\""),
        ("compare", "kurabe compare"),
    ];
    promises.iter().find(|(begin, _)| words.starts_with(begin)).map_or("", |(_, promise)| promise)
}

#[test]
#[ignore = "slow"]
fn every_recommended_command_runs_and_does_what_was_said() {
    let lab = Lab::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let job = "[a]\nrw=randread\nsize=1m\nioengine=libaio\niodepth=8\n";
    for name in ["job.fio", "my job.fio"] {
        lab.write(name, job);
    }
    for (name, file) in [
        ("my trace", format!("{fixtures}/traces/iolog-v3.log")),
        ("my device.toml", format!("{root}/devices/ideal-ram-disk.toml")),
        ("my profile.toml", format!("{root}/profiles/quick.toml")),
    ] {
        lab.write(name, std::fs::read(file).expect("a file"));
    }
    let typed = |line: &str| {
        let script = format!("kurabe() {{ \"$0\" \"$@\"; }}; {line}");
        let mut command = lab.wrapped(&["sh", "-c", &script], &[]);
        command.env("COLUMNS", "200");
        crate::lab::Live::start_patiently(command).end()
    };
    typed(&format!("kurabe import {fixtures}/lab/fio3-read.json")).ok();
    typed("kurabe label last name=imported").ok();
    for (name, access) in [("slow", "2us"), ("fast", "1us"), ("fast-again", "1us")] {
        let words = "kurabe run model:ideal-ram-disk --profile quick --time 5ms --runs 3";
        typed(&format!("{words} --set memory.access={access} --name {name}")).ok();
    }
    let help = typed("kurabe help --all").ok().out;
    let is_command = |line: &String| {
        let name = line.split(' ').nth(1).unwrap_or_default();
        !name.is_empty() && help.lines().any(|line| line.trim_start().split("  ").next() == Some(name))
    };
    let can_record = typed("kurabe record --output kept target -- true").code() == Some(0);
    let mut done = BTreeSet::new();
    for lang in ["en", "ja"] {
        let mut commands = BTreeSet::new();
        for line in TYPED {
            let ended = typed(&format!("kurabe --lang {lang} {line}"));
            commands.extend(recommended(&ended.out));
            commands.extend(recommended(&ended.err));
        }
        commands.retain(is_command);
        assert!(commands.len() > 20, "{commands:#?}");
        let mut idle = Vec::new();
        for command in &commands {
            let line = meant(command);
            let needs_rights = line.starts_with("kurabe record") && !can_record;
            if needs_rights || !done.insert(line.clone()) {
                continue;
            }
            let ended = typed(&line);
            let promise = promised(command.trim_start_matches("kurabe "));
            let did = ended.code() == Some(0) && !ended.out.is_empty() && ended.out.contains(promise);
            if !did {
                idle.push(format!(
                    "{command} (typed: {line}; to be found: {promise}): {} {}",
                    ended.out, ended.err
                ));
            }
        }
        assert!(idle.is_empty(), "{} of {} lead nowhere: {}", idle.len(), commands.len(), idle.join("\n\n"));
    }
}
