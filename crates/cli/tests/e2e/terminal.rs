//! With a terminal, progress and colours are shown, `NO_COLOR` removes colours, and irreversible
//! commands ask for confirmation. `script` provides the terminal.

use crate::lab::{Ended, Lab, Live, binary, text};
use kurabe_testkit::needs::needs;
use std::process::Command;

/// Runs kurabe on a terminal. Returns `None` and prints the reason if `script` is missing.
fn on_a_terminal(lab: &Lab, no_color: bool) -> Option<Ended> {
    let words = format!("run {} --rw randread --size 4m --time 1s", text(&lab.target()));
    with_answer(lab, &words, "", no_color).map(Ended::ok)
}

/// Runs kurabe with these arguments on a terminal, with an answer typed in.
fn with_answer(lab: &Lab, words: &str, answer: &str, no_color: bool) -> Option<Ended> {
    if !needs("script") {
        return None;
    }
    let typed = lab.write("typed", answer);
    let kurabe = lab.command(&[]);
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {words}", binary()), "/dev/null"]);
    command.stdin(std::fs::File::open(typed).expect("a file")).env_clear();
    command.envs(kurabe.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if !no_color {
        command.env_remove("NO_COLOR");
    }
    Some(Live::start(command).end())
}

/// Returns whether the output contains sequences that set a colour or another text style.
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
#[ignore = "slow"]
fn a_stopwatch_is_started_and_stopped_by_keys() {
    let lab = Lab::new();
    if !needs("script") || !needs("sh") {
        return;
    }
    let profile = lab.write(
        "keys.toml",
        "schema = 1\nname = \"keys\"\ntitle = { en = \"keys\", ja = \"キー\" }\nstatistic = \"mean\"\n\
         [rules]\nsize = \"1 MiB\"\nruns = 1\ntime = \"1 s\"\n\
         [[step]]\nkind = \"stopwatch\"\nstart = { key = \"switch on\" }\nstop = { key = \"it is ready\" }\n",
    );
    let kurabe = lab.command(&[]);
    let run = format!("{} run {} --profile {}", binary(), text(&lab.target()), text(&profile));
    let line = format!("(sleep 3; echo; sleep 1; echo; sleep 2) | script -qec '{run}' /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env_clear();
    command.envs(kurabe.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = Live::start(command).end().ok();
    for words in ["press Enter: switch on", "press Enter: it is ready"] {
        assert!(ended.out.contains(words), "{words}: {ended:#?}");
    }
    let record = lab.record(lab.list()[0]["id"].as_str().expect("an id"));
    let elapsed_ns = record["cells"][0]["repetitions"][0]["elapsed_ns"].as_u64().expect("a time");
    assert!((900_000_000..3_000_000_000).contains(&elapsed_ns), "{elapsed_ns} ns");
    assert_eq!(std::fs::read_dir(lab.target()).expect("a directory").count(), 0);
}

#[test]
fn no_color_removes_colour_but_not_progress() {
    let lab = Lab::new();
    let Some(ended) = on_a_terminal(&lab, true) else { return };
    assert!(!has_looks(&ended.out), "{ended:#?}");
    assert!(ended.out.contains('\r'), "a line is redrawn: {ended:#?}");
}

#[test]
fn the_header_is_said_once_where_progress_and_result_are_seen_together() {
    let lab = Lab::new();
    let Some(ended) = on_a_terminal(&lab, true) else { return };
    assert_eq!(ended.out.matches("kurabe run ").count(), 1, "{ended:#?}");
    assert_eq!(ended.out.matches("saved as").count(), 1, "{ended:#?}");
    // If the two streams are separate, both show it.
    let apart = lab.run(&lab.target(), &crate::lab::ONE_CELL).ok();
    assert_eq!(
        [&apart.out, &apart.err].map(|words| words.matches("kurabe run ").count()),
        [1, 1],
        "{apart:#?}"
    );
}

#[test]
fn what_cannot_be_undone_is_asked_for() {
    let lab = Lab::new();
    let ids: Vec<String> = (0..3).map(|_| lab.model_run("1us")).collect();
    // Without a terminal the user cannot confirm.
    lab.kurabe(&["rm", "last"]).is_refusal(6, &["not named by its id", "--yes"]);
    lab.kurabe(&["rm", &ids[0], &ids[1]]).is_refusal(6, &["--yes"]);
    assert_eq!(lab.list().len(), 3);
    let both = format!("rm {} {}", ids[0], ids[1]);
    let Some(refused) = with_answer(&lab, &both, "n\n", true) else { return };
    assert!(refused.out.contains("Remove permanently?") && refused.out.contains(&ids[1]), "{refused:#?}");
    assert_eq!((refused.code(), lab.list().len()), (Some(6), 3));
    with_answer(&lab, &both, "y\n", true).map(Ended::ok);
    assert_eq!(lab.list().len(), 1);
    lab.kurabe(&["rm", "LAST", "--yes"]).ok();
    assert_eq!(lab.list().len(), 0);
}
