//! Japanese output, selected by the locale and by `--lang`.

use crate::lab::{Ended, Lab, Live, ONE_CELL, text};
use std::collections::BTreeSet;

fn in_japan(lab: &Lab, words: &[&str]) -> Ended {
    let mut command = lab.command(words);
    command.env("LC_ALL", "ja_JP.UTF-8");
    Live::start(command).end()
}

fn has_japanese(output: &str) -> bool {
    output.chars().any(|letter| ('\u{3040}'..='\u{30ff}').contains(&letter))
}

#[test]
fn the_locale_makes_everything_japanese() {
    let lab = Lab::new();
    let run = in_japan(&lab, &[&["run", text(&lab.target())], &ONE_CELL[..]].concat()).ok();
    assert!(run.out.contains("読み出し") && run.out.contains("MB/s"), "{run:#?}");
    assert!(has_japanese(&run.err), "{run:#?}");
    let list = in_japan(&lab, &["list"]).ok().out;
    assert!(list.contains("測定内容") && list.contains("読み出し最高"), "{list}");
    let details = in_japan(&lab, &["show", "--details"]).ok().out;
    assert!(has_japanese(&details), "{details}");
    let error = in_japan(&lab, &["run", "/missing"]);
    assert_eq!(error.code(), Some(4), "{error:#?}");
    assert!(error.err.contains("測定対象にできません") && error.err.contains("  対処: "), "{error:#?}");
    for words in [&["--help"][..], &["run", "--help"], &["profiles"], &["doctor"]] {
        let ended = in_japan(&lab, words).ok();
        assert!(has_japanese(&ended.out), "{words:?}: {ended:#?}");
    }
}

#[test]
fn the_flag_is_stronger_than_the_locale() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    assert!(lab.kurabe(&["list", "--lang", "ja"]).ok().out.contains("読み出し最高"));
    assert!(lab.kurabe(&["--lang=ja", "show"]).ok().out.contains("読み出し"));
    assert!(has_japanese(&lab.kurabe(&["--lang", "ja", "--help"]).ok().out));
    let english = in_japan(&lab, &["list", "--lang", "en"]).ok().out;
    assert!(english.contains("best read") && !has_japanese(&english), "{english}");
}

#[test]
fn english_output_has_no_japanese_in_it() {
    let lab = Lab::new();
    let run = lab.run(&lab.target(), &ONE_CELL).ok();
    for output in
        [&run.out, &run.err, &lab.kurabe(&["show", "--details"]).ok().out, &lab.kurabe(&["--help"]).ok().out]
    {
        assert!(!has_japanese(output), "{output}");
    }
}

#[test]
fn the_table_says_the_same_in_both_languages() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    let figures = |lang: &str| {
        let out = lab.kurabe(&["show", "--lang", lang]).ok().out;
        let row =
            out.lines().find(|line| line.contains("MB/s") && line.contains("RND")).expect("a row").to_owned();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(figures("en"), figures("ja"));
}

/// English phrases of two or more words that also appear in Japanese output: commands, output of
/// other programs, a title.
const NAMES: [&str; 7] = [
    "git pull",
    "git version",
    "hardware user's guide",
    "nvme format",
    "time git pull",
    "wipefs from",
    "zpool iostat",
];

/// Command lines for each command, including erroneous ones.
const LINES: [&str; 64] = [
    "run target --rw randread --size 1m --time 5ms --engine threads --wait spin",
    "run model:ideal-ram-disk --profile quick --time 5ms --runs 2",
    "run model:hitachi-hds721616plat80 --profile quick --dry-run",
    "run target --profile cdm-9 --dry-run",
    "run /missing",
    "run target --iodepth 0",
    "run target --profile wrong.toml",
    "run target --profile missing.toml",
    "run model:ideal-ram-disk --profile quick --time 0",
    "versus model:ideal-ram-disk --vary bs=4k",
    "list --last 0",
    "import nothing",
    "sweep model:ideal-ram-disk --dry-run",
    "what model:samsung-980 --set ssd.capacity=8GiB",
    "list",
    "list --served",
    "serve model:ideal-ram-disk --socket s.sock --fault error:reed",
    "serve model:ideal-ram-disk --socket s.sock --fault read-only@0+4k",
    "show last",
    "show last --details",
    "show last --chart all",
    "why last",
    "why last --cell 1",
    "versus model:ideal-ram-disk model:samsung-980 --dry-run",
    "history",
    "report last -o -",
    "rm nothing",
    "export last --format markdown",
    "export last --format fio",
    "check",
    "fio --on model:ideal-ram-disk --rw=randrw --size=4m --runtime=5ms --time_based --name=a \
     --thinktime=9 --name=b --eta=never",
    "fio --name=a --flow=2",
    "fio --name=a --iodpeth=2",
    "fio --bs=4k",
    "study list",
    "study show scsi-emulators",
    "catalogue",
    "catalogue show scsi-gnome/rascsi-1gb",
    "profiles",
    "profiles show snia-pts-iops",
    "models",
    "models show samsung-980",
    "models show raid-9260",
    "models show rascsi",
    "vm model:samsung-980",
    "serve nothing --socket s",
    "control nothing stats",
    "detach /dev/nothing",
    "doctor target",
    "man run",
    "price --runs 1 -- true",
    "price --panel nothing -- true",
    "on model:ideal-ram-disk -- true",
    "mark first",
    "fit model:wd-red-3tb --for camera-recorder",
    "fit model:wd-red-3tb --for archive",
    "card nothing",
    "label nothing a=b",
    "attach nothing",
    "record nothing -- true",
    "export last --format cdm-text",
    "push postgres://a@127.0.0.1:1/b",
    "pull postgres://a@127.0.0.1:1/b?sslmode=often",
    "list --db postgres://a@127.0.0.1:1/b?sslmode=verify-full",
];

/// Returns phrases of two or more lowercase words, except in quotation marks and in lines for a
/// shell.
fn phrases(output: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let is_typed = |line: &&str| {
        let line = line.trim_start();
        line.strip_prefix("sudo ").unwrap_or(line).starts_with("kurabe ")
    };
    for line in output.lines().filter(|line| !is_typed(line)) {
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        let mut phrase: Vec<&str> = Vec::new();
        for token in outside.join(" ` ").split(' ').chain([""]) {
            let word = token.trim_matches([',', '.', ';', ':', '(', ')', '"', '、', '。']);
            let is_word =
                word.len() > 1 && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '\'');
            if is_word {
                phrase.push(word);
            }
            if (!is_word || token != word) && !phrase.is_empty() {
                if phrase.len() > 1 {
                    all.insert(phrase.join(" "));
                }
                phrase.clear();
            }
        }
    }
    all
}

/// Returns the English and the Japanese output of a command in a store of three runs of models. The
/// language is passed in one argument with its flag, because a run's details show its command, and
/// `ja run` would count as two English words at a line break.
fn said(lab: &Lab, words: &[&str]) -> [String; 2] {
    ["--lang=en", "--lang=ja"].map(|lang| {
        let ended = lab.kurabe(&[&[lang], words].concat());
        ended.out + &ended.err
    })
}

/// Returns all commands that `kurabe --help` lists.
pub fn listed_commands(lab: &Lab) -> Vec<String> {
    let help = lab.kurabe(&["help", "--all"]).ok().out;
    let lines = help.lines().take_while(|line| *line != "Options:");
    let words = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    assert!(commands.len() > 30, "{commands:?}");
    commands
}

#[test]
#[ignore = "slow"]
fn a_japanese_run_of_each_command_prints_no_english() {
    let lab = Lab::new();
    let [fast, slow] = ["10us", "40us"].map(|access| lab.model_run(access));
    lab.kurabe(&["label", "last", "name=slow"]).ok();
    lab.write("wrong.toml", "schema = 1\nname = 3\n");
    let imported =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/consumer/cdm-8.0.1-partial.txt");
    let mut commands: Vec<Vec<&str>> = LINES.iter().map(|line| line.split(' ').collect()).collect();
    commands.push(vec!["import", imported]);
    commands.push(vec!["compare", &fast, &slow]);
    commands.push(vec!["recommend", &fast, &slow, "--for", "database"]);
    let listed = listed_commands(&lab);
    // The output of `completions` is for shells, and the browser's page has separate tests.
    let with_text =
        listed.iter().map(String::as_str).filter(|command| !["completions", "ui", "help"].contains(command));
    for command in with_text {
        assert!(commands.iter().any(|words| words[0] == command), "no line for `kurabe {command}`");
        commands.push(vec![command, "--help"]);
    }
    let mut english = Vec::new();
    for words in &commands {
        let [en, ja] = said(&lab, words).map(|output| phrases(&output));
        let left = ja
            .intersection(&en)
            .filter(|phrase| !phrase.starts_with("kurabe ") && !NAMES.contains(&phrase.as_str()));
        english.extend(left.map(|phrase| format!("kurabe {}: {phrase}", words.join(" "))));
    }
    assert!(english.is_empty(), "{} phrases:\n{}", english.len(), english.join("\n"));
}
