//! With a terminal: progress is drawn, colour is used, `NO_COLOR` removes it. `script` gives the terminal.

use crate::lab::{Ended, Lab, Live, text};
use crate::system::system;
use std::process::Command;

/// Runs kurabe on a terminal. `None`, with a printed reason, where there is no `script`.
fn on_a_terminal(lab: &Lab, no_color: bool) -> Option<Ended> {
    if system("script", &["--version"]).is_none() {
        eprintln!("skipped: no `script` to make a terminal");
        return None;
    }
    let words = format!("run {} --rw randread --size 4m --time 1s", text(&lab.target()));
    let kurabe = lab.command(&[]);
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {words}", env!("CARGO_BIN_EXE_kurabe")), "/dev/null"]);
    command.stdin(std::process::Stdio::null()).env_clear();
    command.envs(kurabe.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if !no_color {
        command.env_remove("NO_COLOR");
    }
    Some(Live::start(command).end().ok())
}

/// Sequences that set a colour or another look.
fn has_looks(output: &str) -> bool {
    output.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != ';');
        end.is_some_and(|end| rest[end..].starts_with('m'))
    })
}

#[test]
fn on_a_terminal_progress_is_drawn_in_colour() {
    let lab = Lab::new();
    let Some(ended) = on_a_terminal(&lab, false) else { return };
    assert!(has_looks(&ended.out), "{ended:#?}");
    assert!(ended.out.contains('\r'), "a line is redrawn: {ended:#?}");
    assert!(ended.out.contains("RND 4 KiB Q1 T1") && ended.out.contains("saved as"), "{ended:#?}");
    assert_eq!(lab.list()[0]["status"], "complete");
}

#[test]
fn no_color_removes_colour_but_not_progress() {
    let lab = Lab::new();
    let Some(ended) = on_a_terminal(&lab, true) else { return };
    assert!(!has_looks(&ended.out), "{ended:#?}");
    assert!(ended.out.contains('\r'), "a line is redrawn: {ended:#?}");
}
