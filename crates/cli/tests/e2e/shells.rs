//! Completions, the manual page, the version.

use crate::lab::{Lab, Live, text};
use crate::system::system;
use std::path::Path;
use std::process::Command;

const COMMANDS: [&str; 13] = [
    "run",
    "list",
    "show",
    "rm",
    "label",
    "export",
    "import",
    "check",
    "record",
    "profiles",
    "doctor",
    "completions",
    "man",
];

/// What a shell is told that asks what may follow these words, of which the last is being written: a value a line.
fn completed(lab: &Lab, words: &[&str]) -> Vec<String> {
    let mut command = lab.command(&[&["--", "kurabe"], words].concat());
    command.env("KURABE_COMPLETE", "fish");
    let ended = Live::start(command).end().ok();
    assert_eq!(ended.err, "", "{ended:#?}");
    ended.out.lines().map(str::to_owned).collect()
}

#[track_caller]
fn offers(lab: &Lab, words: &[&str], value: &str) {
    let lines = completed(lab, words);
    assert!(lines.iter().any(|line| line.split('\t').next() == Some(value)), "{words:?}: {value}: {lines:?}");
}

#[test]
fn completions_know_commands_options_profiles_and_models() {
    let lab = Lab::new();
    for command in COMMANDS {
        offers(&lab, &[""], command);
    }
    offers(&lab, &["run", "--des"], "--destroy-data-on");
    for words in [
        &["run", "--profile", "cdm-"][..],
        &["versus", "-p", ""],
        &["profiles", ""],
        &["profiles", "show", ""],
    ] {
        offers(&lab, words, "cdm-9");
    }
    for words in [&["models", "ras"][..], &["models", "show", "ras"]] {
        offers(&lab, words, "rascsi");
    }
    for words in [&["run", "model:ras"][..], &["versus", "/tmp", "model:"], &["sweep", "mod"]] {
        offers(&lab, words, "model:rascsi");
    }
    offers(&lab, &["study", "run", ""], "scsi-emulators");
    offers(&lab, &["recommend", "--for", ""], "vm-image");
    offers(&lab, &["show", "--chart", ""], "percentiles");
    offers(&lab, &["compare", "--about", "filesystem,f"], "filesystem,firmware");
    assert!(!lab.store().exists(), "a question makes no store");
}

#[test]
fn completions_know_the_runs_of_the_store() {
    let lab = Lab::new();
    assert!(completed(&lab, &["show", ""]).iter().all(|line| line.starts_with('-')));
    let ids = [lab.model_run("1us"), lab.model_run("2us")];
    let before = std::fs::read(lab.store()).expect("a store");
    for words in [
        &["show", ""][..],
        &["compare", &ids[0], ""],
        &["rm", ""],
        &["why", ""],
        &["card", ""],
        &["report", ""],
    ] {
        let lines = completed(&lab, words);
        let place = |id: &str| {
            lines.iter().position(|line| line.starts_with(&format!("{id}\tquick · model:ideal-ram-disk")))
        };
        assert!(
            place(&ids[1]).is_some() && place(&ids[1]) < place(&ids[0]),
            "the newest first, {words:?}: {lines:?}"
        );
    }
    assert_eq!(std::fs::read(lab.store()).expect("a store"), before, "and the store is as it was");
}

#[test]
fn the_scripts_of_shells_ask_kurabe_itself() {
    let lab = Lab::new();
    let id = lab.model_run("1us");
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.kurabe(&["completions", shell]).ok().out;
        assert!(script.contains("KURABE_COMPLETE"), "{script}");
        let file = lab.write(shell, &script);
        match system(shell, &["--version"]) {
            Some(_) => assert!(system(shell, &["-n", text(&file)]).is_some(), "{shell} reads it"),
            None => eprintln!("skipped: no {shell} to read its completions"),
        }
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_kurabe")).parent().map(text).expect("a folder").to_owned();
    let asked = format!(
        "PATH={folder}:$PATH; source {}; COMP_WORDS=(kurabe show \"\"); COMP_CWORD=2; COMP_TYPE=9; \
         _clap_complete_kurabe kurabe \"\" show; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        text(&lab.beside("bash"))
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &asked])
        .env_clear()
        .envs(lab.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    if system("bash", &["--version"]).is_none() {
        eprintln!("skipped: no bash to complete in");
        return;
    }
    let ended = Live::start(bash).end().ok();
    assert!(ended.out.lines().any(|line| line.trim() == id), "{ended:#?}");
}

#[test]
fn the_manual_knows_options_profiles_and_models() {
    let lab = Lab::new();
    let page = lab.kurabe(&["man"]).ok().out;
    for words in [".SH RUNS", ".SH PROFILES", "cdm\\-9", ".SH MODELS", "rascsi"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let run = lab.kurabe(&["man", "run"]).ok().out;
    assert!(run.contains(".TH kurabe-run") && run.contains("destroy\\-data\\-on"), "{run}");
    lab.kurabe(&["man", "rum"]).is_refusal(2, &["did you mean `run`?"]);
    if system("man", &["--version"]).is_some() {
        let file = lab.write("kurabe.1", &page);
        assert!(system("man", &["-l", text(&file)]).is_some(), "it can be read");
    }
}

#[test]
fn the_manual_page_names_every_command() {
    let page = Lab::new().kurabe(&["man"]).ok().out;
    assert!(page.contains(".TH kurabe"), "{page}");
    for command in COMMANDS {
        let named = page.contains(&format!("kurabe\\-{command}"));
        assert!(named, "it names {command}: {page}");
    }
}

#[test]
fn the_help_names_every_command_and_exit_code() {
    let help = Lab::new().kurabe(&["--help"]).ok().out;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "it names {command}: {help}");
    }
    for code in (0..=12).chain([130]) {
        assert!(help.contains(&format!("{code} ")), "it names exit code {code}: {help}");
    }
}

#[test]
fn the_version_is_told_and_leaves_no_trace() {
    let lab = Lab::new();
    let version = lab.kurabe(&["--version"]).ok().out;
    assert_eq!(version, format!("kurabe {}\n", env!("CARGO_PKG_VERSION")));
    assert!(!lab.store().exists());
}
