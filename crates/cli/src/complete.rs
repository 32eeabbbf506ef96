//! Shell completion: words that the command line defines, and values that only this program knows,
//! such as runs, profiles and models.
//!
//! The script that `kurabe completions` prints runs this program with an environment variable set,
//! and asks what may follow the words so far. Values are attached to arguments by their value name
//! (`RUN`, `TARGET`, a profile), so a new command gets them automatically. The store is read but
//! never changed. Values that cannot be determined are not completed.

use crate::{args::Cli, lang::lang, output};
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter};
use clap_complete::env::{CompleteEnv, Shells};
use kurabe_compare::{ABOUT_LATENCY, Fact, USES};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{ErrorKind, Result, Text, number, shown, shown::Shown, text};
use kurabe_lab::StorePlace;
use kurabe_profile::{PROFILES, profile_named};
use kurabe_report::PICTURE_NAMES;
use kurabe_sim::{DEVICES, device_named};
use kurabe_store::LAST;
use kurabe_study::STUDIES;
use std::ffi::OsStr;

/// Environment variable that a shell's completion script sets.
const VARIABLE: &str = "KURABE_COMPLETE";

const PROGRAM: &str = "kurabe";

/// Number of runs offered, newest first. More would not be read.
const MOST_RUNS: usize = 50;

/// Answers a completion request from a shell. Returns whether there was one.
pub fn answered() -> bool {
    let asked = CompleteEnv::with_factory(|| with_values(Cli::command(), "")).var(VARIABLE).bin(PROGRAM);
    // A request that is not understood gets no answer, because a shell does not display errors of
    // completion.
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// `kurabe completions`: prints the completion script of a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn script(shell: clap_complete::Shell) -> Result<()> {
    let failed = || ErrorKind::Internal.error(text!("cannot generate the completions", "補完を作れません"));
    let mut script = Vec::new();
    Shells::builtins()
        .completer(&shell.to_string())
        .ok_or_else(failed)?
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|error| failed().because(error))?;
    output::write(&Shown::of_ours(String::from_utf8_lossy(&script).into_owned()))
}

/// Adds completion values to all arguments of a command. `above` is the parent command, such as
/// `models`.
fn with_values(command: Command, above: &str) -> Command {
    let name = command.get_name();
    let path = if above.is_empty() { name.to_owned() } else { format!("{above} {name}") };
    let below = command.get_name().to_owned();
    command
        .mut_args(|arg| with_values_of(arg, &path))
        .mut_subcommands(|command| with_values(command, if below == PROGRAM { "" } else { &path }))
}

fn with_values_of(arg: Arg, command: &str) -> Arg {
    let takes = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match (command, arg.get_id().as_str(), takes.as_deref()) {
        (_, _, Some("RUN")) => arg.add(ArgValueCandidates::new(runs)),
        (_, _, Some("TARGET")) => arg.add(ArgValueCompleter::new(targets)),
        ("models" | "models show", "name", _) => arg.add(ArgValueCandidates::new(models)),
        (_, "profile", _) | ("profiles" | "profiles show", "name", _) => {
            arg.add(ArgValueCandidates::new(profiles))
        }
        ("study run" | "study show", "name", _) => arg.add(ArgValueCandidates::new(studies)),
        (_, "purpose", _) => arg.add(ArgValueCandidates::new(uses)),
        ("show" | "report", "chart", _) => arg.add(ArgValueCandidates::new(charts)),
        (_, "about" | "by", _) => arg.add(ArgValueCandidates::new(facts)),
        _ => arg,
    }
}

fn candidate(value: impl Into<std::ffi::OsString>, help: &str) -> CompletionCandidate {
    let help = shown::line(help);
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
}

/// Returns the ids of runs, newest first.
fn runs() -> Vec<CompletionCandidate> {
    let store = StorePlace::default().existing().ok().flatten();
    let list = store.and_then(|store| store.list().ok()).unwrap_or_default();
    let newest = list.iter().rev().take(MOST_RUNS).map(|run| {
        let when = number::date_minute(run.measured_at());
        candidate(&run.id, &format!("{} · {} · {when}", run.profile, run.target))
    });
    let last = (!list.is_empty()).then(|| candidate(LAST, ""));
    let all = newest.chain(last).enumerate();
    all.map(|(place, candidate)| candidate.display_order(Some(place))).collect()
}

fn profiles() -> Vec<CompletionCandidate> {
    profile_titles().map(|(name, title)| candidate(name, &title)).collect()
}

fn models() -> Vec<CompletionCandidate> {
    model_titles().map(|(name, title)| candidate(name, &title)).collect()
}

/// Returns the names and titles of the profiles.
pub fn profile_titles() -> impl Iterator<Item = (&'static str, String)> {
    PROFILES.iter().map(|(name, _)| (*name, title(profile_named(name).map(|profile| profile.title))))
}

/// Returns the names and titles of the models.
pub fn model_titles() -> impl Iterator<Item = (&'static str, String)> {
    DEVICES.iter().map(|(name, _)| (*name, title(device_named(name).map(|spec| spec.title))))
}

fn title(title: Result<Text>) -> String {
    title.map_or_else(|_| String::new(), |title| title.take(lang()))
}

/// Completes a target: a path or a model.
fn targets(current: &OsStr) -> Vec<CompletionCandidate> {
    use clap_complete::engine::ValueCompleter;
    let words = current.to_str().unwrap_or_default();
    let is_model = !words.is_empty() && (MODEL_PREFIX.starts_with(words) || words.starts_with(MODEL_PREFIX));
    let models = models().into_iter().map(|model| model.add_prefix(MODEL_PREFIX));
    let models = models.filter(|model| is_model && model.get_value().to_string_lossy().starts_with(words));
    PathCompleter::any().complete(current).into_iter().chain(models).collect()
}

fn studies() -> Vec<CompletionCandidate> {
    STUDIES.iter().map(|(name, _)| candidate(name, "")).collect()
}

fn uses() -> Vec<CompletionCandidate> {
    USES.iter().map(|(name, _)| candidate(name, "")).collect()
}

fn charts() -> Vec<CompletionCandidate> {
    ["all"].iter().chain(&PICTURE_NAMES).map(|name| candidate(name, "")).collect()
}

fn facts() -> Vec<CompletionCandidate> {
    Fact::all().map(Fact::word).chain([ABOUT_LATENCY]).map(|word| candidate(word, "")).collect()
}
