//! Completion, the manual page and the version.

use crate::lab::{Lab, Live, binary, text};
use crate::system::system;
use kurabe_testkit::needs::needs;
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

/// Returns the values offered to a shell for a command line whose last argument is incomplete, one
/// per line.
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
        if needs(shell) {
            assert!(system(shell, &["-n", text(&file)]).is_some(), "{shell} reads it");
        }
    }
    let folder = Path::new(binary()).parent().map(text).expect("a folder").to_owned();
    let asked = format!(
        "PATH={folder}:$PATH; source {}; COMP_WORDS=(kurabe show \"\"); COMP_CWORD=2; COMP_TYPE=9; \
         _clap_complete_kurabe kurabe \"\" show; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        text(&lab.beside("bash"))
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &asked])
        .env_clear()
        .envs(lab.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    if !needs("bash") {
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
    if needs("man") {
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
    let help = Lab::new().kurabe(&["help", "--all"]).ok().out;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "it names {command}: {help}");
    }
    for code in (0..=12).chain([130]) {
        assert!(help.contains(&format!("{code} ")), "it names exit code {code}: {help}");
    }
}

#[test]
fn the_help_groups_the_commands_in_the_width_of_the_terminal() {
    let lab = Lab::new();
    for (lang, groups) in
        [("en", ["Measure:", "Compare:", "Housekeeping:"]), ("ja", ["測る:", "比べる:", "管理:"])]
    {
        let mut command = lab.command(&["--lang", lang, "help", "--all"]);
        command.env("COLUMNS", "80");
        let help = Live::start(command).end().ok().out;
        for group in groups {
            assert!(help.lines().any(|line| line == group), "{group} {help}");
        }
        assert!(help.lines().all(|line| kurabe_core::display::display_width(line) <= 80), "{help}");
    }
}

#[test]
fn a_command_without_its_subcommand_shows_its_help_in_the_language() {
    let lab = Lab::new();
    let ended = lab.kurabe(&["--lang", "ja", "study"]);
    assert_eq!(ended.code(), Some(2), "{ended:#?}");
    assert!(ended.err.contains("使い方: kurabe study") && !ended.err.contains("Print"), "{ended:#?}");
}

#[test]
fn the_first_help_fits_on_one_screen() {
    let lab = Lab::new();
    for lang in ["en", "ja"] {
        for (words, most) in [
            (&["--help"][..], 24),
            (&["-h"], 24),
            (&["help"], 24),
            (&["run", "--help"], 30),
            (&["help", "run"], 30),
        ] {
            let mut command = lab.command(&[&["--lang", lang], words].concat());
            command.env("COLUMNS", "80");
            let help = Live::start(command).end().ok().out;
            assert!(help.lines().count() <= most, "{} lines: {help}", help.lines().count());
            assert!(help.lines().all(|line| kurabe_core::display::display_width(line) <= 80), "{help}");
        }
    }
    let all = lab.kurabe(&["run", "--help-all"]).ok().out;
    for option in ["--engine", "--replay", "--o-sync", "--db"] {
        assert!(all.contains(option), "{option}: {all}");
    }
}

#[test]
fn kurabe_alone_says_three_things_to_try_in_the_language_of_the_locale() {
    let lab = Lab::new();
    for (locale, says) in [("C", "Three things to try"), ("ja_JP.UTF-8", "まずはこの 3 つから")] {
        let mut command = lab.command(&[]);
        command.env("LC_ALL", locale);
        let ended = Live::start(command).end();
        assert_eq!((ended.code(), ended.out.as_str()), (Some(2), ""), "{ended:#?}");
        assert!(ended.err.contains(says) && ended.err.lines().count() < 15, "{ended:#?}");
        let tried = ended.err.lines().filter(|line| line.starts_with("  kurabe ")).count();
        assert_eq!(tried, 3, "{ended:#?}");
    }
}

#[test]
fn the_version_is_told_and_leaves_no_trace() {
    let lab = Lab::new();
    let version = lab.kurabe(&["--version"]).ok().out;
    let build = version.strip_prefix(concat!("kurabe ", env!("CARGO_PKG_VERSION"), " ("));
    let build = build.and_then(|build| build.strip_suffix(")\n")).expect("what it is built of and for");
    assert!(build.split(' ').next_back().is_some_and(|target| target.contains("-linux-")), "{version}");
    let of_git = |commit: &str| {
        system("git", &["-C", env!("CARGO_MANIFEST_DIR"), "cat-file", "-e", &format!("{commit}^{{commit}}")])
    };
    if of_git("HEAD").is_some() {
        let commit = build.split(' ').next().expect("a commit");
        assert!(commit.len() == 12 && of_git(commit).is_some(), "{version} names a commit");
    }
    assert!(!lab.store().exists());
}
