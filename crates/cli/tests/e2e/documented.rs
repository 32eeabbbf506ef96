//! The statements that users read first: the README's first command and the list of exit codes.

use crate::lab::{Lab, Live, names};
use std::collections::BTreeSet;

/// Language, the heading of the exit codes in the help, and the page that lists them.
const MANUALS: [(&str, &str, &str); 2] = [
    ("en", "Exit codes:", include_str!("../../../../docs/using.md")),
    ("ja", "終了コード:", include_str!("../../../../docs/ja/using.md")),
];
const READMES: [&str; 2] = [include_str!("../../../../README.md"), include_str!("../../../../README.ja.md")];

/// Returns the entries of a help text's last section, which reads `0 done, 2 wrong command line, …`.
fn codes_of_help(help: &str, heading: &str) -> BTreeSet<String> {
    let (_, list) = help.split_once(heading).expect("a list of exit codes");
    let entries = list.split([',', '、']);
    entries.map(|entry| entry.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Returns code and meaning of each row `| 0 | done | … |`.
fn codes_of_page(page: &str) -> BTreeSet<String> {
    let rows = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    rows.filter(|cells| cells.len() == 5 && cells[1].parse::<u8>().is_ok())
        .map(|cells| format!("{} {}", cells[1], cells[2]))
        .collect()
}

#[test]
fn the_help_and_the_manual_list_the_same_exit_codes() {
    let lab = Lab::new();
    for (lang, heading, page) in MANUALS {
        let help = lab.kurabe(&["--lang", lang, "help", "exit-codes"]).ok().out;
        let codes = codes_of_help(&help, heading);
        assert!(codes.len() > 15, "{lang}: {codes:?}");
        assert_eq!(codes, codes_of_page(page), "{lang}");
    }
}

#[test]
fn the_first_command_of_the_readme_saves_a_run_and_leaves_nothing_else() {
    let [english, japanese] = READMES.map(|page| {
        let mut commands = page.lines().filter_map(|line| line.strip_prefix("cargo run --release -- "));
        let command = commands.next().expect("a command");
        assert_eq!(commands.next(), None, "one command");
        command
    });
    assert_eq!(english, japanese);
    let lab = Lab::new();
    let short = ["--size", "16m", "--runs", "1", "--time", "100ms"];
    let arguments: Vec<&str> = english.split_whitespace().chain(short).collect();
    let mut command = lab.command(&arguments);
    command.current_dir(lab.target());
    Live::start(command).end().ok();
    assert_eq!(names(&lab.target()), Vec::<String>::new());
    let runs = lab.list();
    assert_eq!(runs.iter().map(|run| &run["status"]).collect::<Vec<_>>(), ["complete"]);
}
