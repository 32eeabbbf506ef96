//! Untrusted text with control characters or markup, passed through every output.
//!
//! A single poison (escape sequences, bidirectional control characters, line ends followed by a
//! forged line, special characters of CSV, Markdown and HTML) is used wherever a name, a text or
//! bytes can come from outside. None of it may appear unescaped in any output, and no line may
//! begin with the forged text.

use crate::lab::{Ended, Lab, Live, ONE_CELL, binary, names, text};
use kurabe_core::shown::is_escaped;
use kurabe_testkit::needs::needs;
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Starts a new line if a line end is not escaped.
const FORGED: &str = "FORGED line";
/// A CSV cell that begins like this must be escaped as text.
const FORMULA: &str = "=cmd|' /C calc'!A0";

fn poison() -> String {
    format!(
        "{FORMULA} \u{1b}[8;31mx\u{1b}]0;title\u{7}\u{1b}]8;;http://x\u{1b}\\y\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{7f}\u{202e}gpj\
         \u{2066}\u{2028}\u{2029}\u{feff}\u{200b}\t|`<img src=x>`**b**&#x1b;\r\n{FORGED}"
    )
}

/// Returns the poison as a TOML string.
fn toml() -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", poison().chars().map(escape).collect::<String>())
}

#[track_caller]
fn is_clean_text(words: &str, what: &str) {
    let raw: Vec<char> = words.chars().filter(|c| is_escaped(*c) && *c != '\n').collect();
    assert!(raw.is_empty(), "{what}: {raw:?} in {words:?}");
    assert!(!words.lines().any(|line| line.trim_start().starts_with(FORGED)), "{what}: {words}");
}

#[track_caller]
fn is_clean(ended: &Ended, what: &str) {
    is_clean_text(&ended.out, what);
    is_clean_text(&ended.err, what);
    assert!(!ended.err.contains("panicked"), "{what}: {ended:#?}");
}

/// Runs kurabe in both languages and checks that its output is clean, whether it succeeds or fails.
/// Returns the English run.
#[track_caller]
fn clean(lab: &Lab, words: &[&str]) -> Ended {
    is_clean(&lab.kurabe(&[words, &["--lang", "ja"]].concat()), &format!("{words:?}"));
    let ended = lab.kurabe(words);
    is_clean(&ended, &format!("{words:?}"));
    ended
}

/// Runs every command that reads the stored runs.
fn ask_everything(lab: &Lab) {
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["show"],
        &["show", "--details"],
        &["show", "--json"],
        &["show", "--chart"],
        &["why"],
        &["why", "--json"],
        &["history"],
        &["history", "--json"],
        &["recommend", "last", "--for", "vm-image"],
        &["compare", "last", "last"],
        &["compare", "--by", "device"],
        &["compare", "--by", "run", "--json"],
        &["report", "-f", "md"],
        &["report", "-f", "html"],
        &["report", "-f", "svg"],
        &["report", "-f", "json"],
        &["export"],
        &["export", "--format", "markdown"],
        &["export", "--format", "cdm-text"],
        &["export", "--format", "fio"],
    ] {
        clean(lab, words);
    }
    for words in [&["report", "-f", "csv"][..], &["export", "--format", "csv"]] {
        let ended = lab.kurabe(words).ok();
        is_clean_text(&ended.out.replace("\r\n", "\n"), "CSV");
        let starts = |sign: char| format!("\n{sign}");
        assert!(!['=', '@'].iter().any(|sign| ended.out.contains(&starts(*sign))), "{}", ended.out);
        assert!(!ended.out.contains(&format!(",{FORMULA}")) && !ended.out.contains(&format!("\"{FORMULA}")));
    }
    let card = lab.beside("card.svg");
    clean(lab, &["card", "last", "-o", text(&card), "--force"]);
    is_clean_text(&std::fs::read_to_string(card).expect("a card"), "the card");
    let ids: Vec<Value> = lab.list();
    assert!(!ids.is_empty());
}

/// Creates a directory whose name is poison and not valid UTF-8.
fn poisoned_directory(lab: &Lab) -> PathBuf {
    let mut name = poison().replace('/', "_").into_bytes();
    name.extend_from_slice(b"\xff\xed\xa0\x80");
    let directory = lab.beside("").join(OsString::from_vec(name));
    std::fs::create_dir(&directory).expect("a directory");
    directory
}

#[test]
#[ignore = "slow"]
fn a_target_with_a_poisoned_name_is_measured_and_shown() {
    let lab = Lab::new();
    let directory = poisoned_directory(&lab);
    let with_target = |before: &[&str], after: &[&str]| {
        let mut command = lab.command(before);
        command.arg(&directory).args(after);
        let ended = Live::start(command).end();
        is_clean(&ended, &format!("{before:?} {after:?}"));
        // The error message of SQLite contains the name in SQLite's form.
        let is_ours = !before.contains(&"--db");
        assert!(
            !is_ours || ![&ended.err, &ended.out].iter().any(|words| words.contains('\u{fffd}')),
            "{ended:#?}"
        );
        ended
    };
    let label = format!("note={}", poison());
    with_target(&["run"], &[&ONE_CELL[..], &["--label", &label]].concat()).ok();
    with_target(&["run", "--json"], &ONE_CELL).ok();
    assert!(names(&directory).is_empty(), "the test file is gone");
    let shown = lab.kurabe(&["show"]).ok().out;
    assert!(shown.contains("\\x1b[8;31mx") && shown.contains("\\xff\\xed\\xa0\\x80"), "{shown}");
    let path = lab.record("last")["header"]["target"]["given"].as_str().expect("a path").to_owned();
    assert!(path.contains(&poison().replace('/', "_")), "JSON is read as what it was: {path}");
    with_target(&["run", "--dry-run"], &["--lang", "ja"]).ok();
    with_target(&["doctor"], &[]).ok();
    with_target(&["doctor", "--json"], &[]).ok();
    with_target(&["run", "--engine", "threads", "--size", "1"], &[]);
    assert_eq!(with_target(&["run", "--destroy-data-on", "/x"], &[]).code(), Some(6));
    with_target(&["versus", "--time", "1s", "model:ideal-ram-disk"], &["--dry-run"]);
    with_target(&["import"], &[]);
    with_target(&["list", "--db"], &[]);
    ask_everything(&lab);
}

#[test]
#[ignore = "slow"]
fn poison_in_a_profile_reaches_no_output() {
    let lab = Lab::new();
    let poison = toml();
    let profile = |step: &str| {
        format!(
            "schema = 1\nname = \"own\"\ntitle = {{ en = {poison}, ja = {poison} }}\nsource = {poison}\n\
             statistic = \"mean\"\n\
             [rules]\nsize = \"4 MiB\"\nruns = 1\ntime = \"50 ms\"\n[[step]]\nlabel = {poison}\n{step}\n"
        )
    };
    let reads =
        profile("kind = \"io\"\npattern = \"random\"\nblock_size = \"4 KiB\"\ndirections = [\"read\"]");
    let program = |script: &str| {
        profile(&format!("kind = \"command\"\nshell = true\ncold = false\ncommand = [{script:?}]"))
    };
    let file = lab.write("own.toml", &reads);
    let file = text(&file);
    let target = lab.target();
    let target = text(&target);
    clean(&lab, &["profiles", "show", file]).ok();
    clean(&lab, &["profiles", "show", file, "--json"]).ok();
    let source = lab.kurabe(&["profiles", "show", file, "--toml"]).ok().out;
    assert!(!source.chars().any(|c| is_escaped(c) && !matches!(c, '\n' | '\t')), "{source:?}");
    let again = lab.write("again.toml", &source);
    assert_eq!(
        lab.kurabe(&["profiles", "show", text(&again), "--json"]).ok().out,
        lab.kurabe(&["profiles", "show", file, "--json"]).ok().out,
        "it is the same profile"
    );
    clean(&lab, &["run", target, "--profile", file, "--dry-run"]).ok();
    clean(&lab, &["run", target, "--profile", file]).ok();
    clean(&lab, &["run", target, "--profile", file, "--json"]).ok();
    ask_everything(&lab);
    // Output of a program, whether it fails or not.
    let says = "printf 'a\\nFORGED line\\033]0;t\\007' >&2; printf '\\033[31m'";
    for (name, ends) in [("well.toml", 0), ("badly.toml", 3)] {
        let file = lab.write(name, program(&format!("{says}; exit {ends}")));
        let ended = clean(&lab, &["run", target, "--profile", text(&file)]);
        assert_eq!(ended.code() == Some(0), ends == 0, "{ended:#?}");
        ask_everything(&lab);
    }
    // An error in a line that is quoted in the message.
    for broken in
        [format!("x = {poison}\n"), format!("{poison} = 1\n"), "a = \u{1b}[31m\u{202e}\n".to_owned()]
    {
        let broken = lab.write("broken.toml", broken);
        let ended = clean(&lab, &["run", target, "--profile", text(&broken)]);
        assert_eq!(ended.code(), Some(3), "{ended:#?}");
    }
}

#[test]
#[ignore = "slow"]
fn poison_in_models_and_studies_reaches_no_output() {
    let lab = Lab::new();
    let poison = toml();
    let model = lab.write(
        "own.toml",
        format!(
            "schema = 1\nname = \"own\"\ntitle = {{ en = {poison}, ja = {poison} }}\n[[layer]]\nkind = \"host\"\n\
             [[layer]]\nkind = \"constant\"\nname = \"memory\"\n\
             capacity = {{ value = \"64 MiB\", source = {poison} }}\n\
             access = {{ value = \"1 us\", source = {poison} }}\n\
             rate = {{ value = \"5 GB/s\", source = {poison} }}\n"
        ),
    );
    let model = text(&model);
    clean(&lab, &["models", "show", model]).ok();
    clean(&lab, &["models", "show", model, "--json"]).ok();
    let target = format!("model:{model}");
    for words in
        [&["run", &target, "--profile", "quick", "--time", "5ms"][..], &["sweep", &target, "--over", "depth"]]
    {
        clean(&lab, words);
    }
    ask_everything(&lab);
    let study = lab.write(
        "study.toml",
        format!(
            "schema = 1\nname = \"memory\"\ntitle = {{ en = {poison}, ja = {poison} }}\nsource = {poison}\n\
             note = {{ en = {poison}, ja = {poison} }}\n[[part]]\nid = \"rates\"\n\
             title = {{ en = {poison}, ja = {poison} }}\n\
             profile = \"cdm-2\"\nrules = {{ size = \"4 MiB\", runs = 1, discarded_runs = 0, time = \"10 ms\" }}\n\
             column = [{{ key = \"read\", name = {{ en = {poison}, ja = {poison} }}, figure = \
             \"step1.read.MB_per_s\", unit = \"MB/s\", \
             decimals = 1 }}]\n[[part.row]]\nlabel = {{ en = {poison}, ja = {poison} }}\nmodel = \"{model}\"\n"
        ),
    );
    let study = text(&study);
    clean(&lab, &["study", "show", study]).ok();
    for form in [&[][..], &["--json"], &["--markdown"]] {
        clean(&lab, &[&["study", "run", study], form].concat()).ok();
    }
}

#[test]
#[ignore = "slow"]
fn poison_in_results_of_other_tools_reaches_no_output() {
    let poison = poison().replace("\r\n", " ");
    let cdm = format!(
        "CrystalDiskMark 8.0.1 x64 (C) 2007-2021 hiyohiyo\r\n\
         [Read]\r\n  SEQ    1MiB (Q=  8, T= 1):  3501.250 MB/s [   3339.1 IOPS] \
         <  2392.11 us>\r\n\r\nProfile: Default\r\n   Test: 1 GiB (x5) [{poison}: 12% (112/931GiB)]\r\n   \
         Date: 2021/02/05 11:16:10\r\n\
         \x20    OS: {poison}\r\nComment: {poison}\r\n"
    );
    let job = serde_json::json!({
        "jobname": self::poison(), "groupid": 0, "error": 0,
        "job options": { "rw": "randread", "bs": "4k", "filename": self::poison(), "description": self::poison() },
        "read": { "io_bytes": 1 << 30, "bw_bytes": 1 << 28, "iops": 1000.0, "runtime": 1000, "total_ios": 1000 },
    });
    let fio = serde_json::json!({ "fio version": self::poison(), "timestamp": 1_612_523_770, "jobs": [job] })
        .to_string();
    let fio = fio.replace("\"fio version\":\"", "\"fio version\":\"fio-3.36 ");
    for (name, contents) in [("cdm.txt", cdm), ("fio.json", fio)] {
        let lab = Lab::new();
        // The file name is untrusted as well.
        let mut file = lab.beside("").join(OsString::from_vec(self::poison().replace('/', "_").into_bytes()));
        file.as_mut_os_string().push(name);
        std::fs::write(&file, &contents).expect("a file");
        let mut command = lab.command(&["import"]);
        let ended = Live::start({
            command.arg(&file);
            command
        })
        .end()
        .ok();
        is_clean(&ended, name);
        ask_everything(&lab);
        // Half of the file is not a valid result.
        std::fs::write(&file, &contents.as_bytes()[contents.len() / 2..]).expect("a file");
        let mut command = lab.command(&["import"]);
        command.arg(&file);
        is_clean(&Live::start(command).end(), name);
    }
}

#[test]
#[ignore = "slow"]
fn poison_on_the_command_line_and_around_it_reaches_no_output() {
    let lab = Lab::new();
    let poison = poison();
    let value = format!("x={poison}");
    lab.model_run("1us");
    for words in [
        &[poison.as_str()][..],
        &["run", "--nope", &poison],
        &["run", &format!("--{poison}")],
        &["run", ".", "--size", &poison],
        &["run", ".", "--engine", &poison],
        &["run", ".", "--profile", &poison],
        &["run", ".", "--label", &poison],
        &["run", ".", "--replay", &poison],
        &["run", &poison],
        &["run", &format!("model:{poison}")],
        &["run", "model:ideal-ram-disk", "--set", &value],
        &["sweep", "model:ideal-ram-disk", "--over", &poison],
        &["show", &poison],
        &["why", "last", &poison],
        &["compare", &poison, "last"],
        &["compare", "--by", &poison],
        &["compare", "--by", "device", "--where", &value],
        &["list", "--device", &poison],
        &["list", "--since", &poison],
        &["list", "--db", &poison],
        &["label", "last", &value],
        &["label", "last", &format!("note={poison}")],
        &["rm", &poison],
        &["report", "--title", &poison, "-f", "md"],
        &["report", "--title", &poison, "-f", "html"],
        &["report", "-o", &poison],
        &["recommend", "last", "--for", &poison],
        &["history", &poison],
        &["import", &poison],
        &["export", "-o", &format!("/there/is/none/{poison}")],
        &["study", "run", &poison],
        &["catalogue", "show", &poison],
        &["profiles", "show", &poison],
        &["models", "show", &poison],
        &["doctor", &poison],
        &["completions", &poison],
        &["record", "-o", &format!("/there/is/none/{poison}"), "--", "true"],
    ] {
        clean(&lab, words);
        clean(&lab, &[words, &["--json"]].concat());
    }
    assert!(lab.kurabe(&["show"]).ok().out.contains("\\u{202e}"), "the label is shown");
    for name in ["KURABE_DB", "HOME", "LC_ALL", "LANG", "COLUMNS", "TERM", "XDG_DATA_HOME", "NO_COLOR"] {
        for words in [&["list"][..], &["show"], &["run", "model:nope"], &["doctor"]] {
            let mut command = lab.command(words);
            if name != "KURABE_DB" {
                command.env_remove("KURABE_DB");
            }
            command.env(name, &poison);
            is_clean(&Live::start(command).end(), &format!("{name} {words:?}"));
        }
    }
    let bytes = std::ffi::OsStr::from_bytes(b"\x1b[31m\xff\x9b\n");
    for before in [&["run"][..], &["list", "--db"], &["show"], &["run", ".", "--size"], &[]] {
        let mut command = lab.command(before);
        command.arg(bytes);
        is_clean(&Live::start(command).end(), &format!("{before:?}, no UTF-8"));
    }
}

/// On a terminal, kurabe's own sequences remain: colours, and those of the progress line.
#[test]
fn on_a_terminal_too_nothing_but_our_own_sequences_is_written() {
    if !needs("script") {
        return;
    }
    let lab = Lab::new();
    let directory = lab.target().join("a\u{1b}[8mb\u{9b}2J\u{202e}c\rd");
    std::fs::create_dir(&directory).expect("a directory");
    let label = "note=\u{1b}[8mx\u{1b}]0;title\u{7}\u{2028}";
    for words in [
        "run \"$T\" --rw randread --size 4m --time 1s --label \"$L\"",
        "show",
        "list",
        "report -f md",
        "run /\"$L\"",
    ] {
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &format!("{} {words}", binary()), "/dev/null"]);
        command.stdin(std::process::Stdio::null()).env_clear();
        command.envs(lab.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env_remove("NO_COLOR").env("T", &directory).env("L", label);
        let out = Live::start(command).end().out;
        assert!(!out.contains("\u{1b}[8m") && !out.contains("\u{1b}]"), "{words}: {out:?}");
        let raw: Vec<char> =
            out.chars().filter(|c| is_escaped(*c) && !matches!(c, '\n' | '\r' | '\u{1b}')).collect();
        assert!(raw.is_empty(), "{words}: {raw:?} in {out:?}");
    }
}
