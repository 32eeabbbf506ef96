//! kurabe: the command line. Contains flags, wiring and progress, but no measuring logic. Two
//! programs are built from it: `kurabe`, and `kurabe-mpi`, whose processes measure together.

mod address_space;
mod args;
mod card;
mod catalogue;
mod check;
mod compare;
mod complete;
mod doctor;
mod exchange;
mod fio;
mod fit;
mod help;
mod lang;
mod man;
mod models;
mod on;
mod output;
mod pivot;
mod price;
mod profiles;
mod ranks;
mod record;
mod report;
mod rm;
mod run;
mod serve;
mod share;
pub mod show;
mod signals;
mod stored;
mod study;
mod ui;
mod versus;
mod vm;
mod what;
mod wrong_words;

use args::help_words;
use args::{Cli, Command, StudyAction};
use clap::{CommandFactory, FromArgMatches};
use kurabe_core::{Error, ErrorKind, Lang, Result, shown};
use kurabe_lab::Communicator;
use kurabe_store::without_password;
use signals::ProcessRole;
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command line of this process. With a communicator, this process is one of several
/// ranks, and only rank 0 prints.
pub fn run_program(communicator: Option<&dyn Communicator>) -> ExitCode {
    let command_line: Vec<String> = std::env::args_os().map(shown::name).collect();
    lang::decide(&command_line);
    output::cover_passwords(&command_line);
    if complete::answered() {
        return ExitCode::SUCCESS;
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(codes) = help_words::exit_codes(&words) {
        return match output::print_page(&format!("{codes}\n")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => ExitCode::from(error.kind().exit_code()),
        };
    }
    let mut cli = match parsed(words) {
        Ok(cli) => cli,
        // All ranks have the same command line, so rank 0 reports the error.
        Err(error) if is_silent(communicator) => return ExitCode::from(error.exit_code() as u8),
        Err(error) => return refuse_command_line(&shown_error(error, &command_line), &command_line),
    };
    if let Err(error) = cli.command.measure_targets() {
        tell(&cli, &error);
        return ExitCode::from(error.kind().exit_code());
    }
    if communicator.is_some() || !cli.command.may_wait_for_storage() {
        return ExitCode::from(worked(&cli, &command_line, communicator));
    }
    match signals::supervise() {
        Ok(ProcessRole::Supervised(code)) => code,
        Ok(ProcessRole::Works(None)) => ExitCode::from(worked(&cli, &command_line, None)),
        Ok(ProcessRole::Works(Some(supervisor))) => supervisor.ends_with(worked(&cli, &command_line, None)),
        Err(error) => {
            tell(&cli, &error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

/// Parses the command line. A short help omits the options that few users need.
fn parsed(words: Vec<OsString>) -> std::result::Result<Cli, clap::Error> {
    let mut command = Cli::command();
    if help_words::is_asked(&words) && !help_words::is_whole(&words) {
        command = help_words::shortened(command);
    }
    let words = help_words::plain_words(args::sorted_words(words));
    let mut matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Runs the parsed command and reports its error, if any. Returns the exit code.
fn worked(cli: &Cli, command_line: &[String], communicator: Option<&dyn Communicator>) -> u8 {
    // Runs record the command line, so passwords are removed.
    let command_line: Vec<String> =
        command_line.iter().map(|word| without_password(word).into_owned()).collect();
    match dispatch(cli, &command_line, communicator) {
        Ok(()) => 0,
        // A run whose reader exited was cut short. Any other command has already printed what the
        // reader wanted.
        Err(_)
            if output::reader_is_gone()
                && !matches!(
                    cli.command,
                    Command::Run(_)
                        | Command::Fio(_)
                        | Command::Sweep(_)
                        | Command::Versus(_)
                        | Command::Fit(_)
                ) =>
        {
            0
        }
        // Rank 0 reports errors of the other ranks. If rank 0 is lost, another rank must report it.
        Err(error) if is_silent(communicator) && error.kind() != ErrorKind::RankLost => 0,
        Err(error) => {
            tell(cli, &error);
            error.kind().exit_code()
        }
    }
}

fn is_silent(communicator: Option<&dyn Communicator>) -> bool {
    communicator.is_some_and(|communicator| communicator.rank() > 0)
}

fn dispatch(cli: &Cli, command_line: &[String], communicator: Option<&dyn Communicator>) -> Result<()> {
    address_space::make_do()?;
    signals::survive_size_limit()?;
    let global = &cli.global;
    if !global.quiet && !is_silent(communicator) {
        kurabe_store::tell_waits(stored::say_wait);
    }
    match &cli.command {
        Command::Run(args) => match communicator {
            Some(communicator) => ranks::run(args, global, command_line, communicator),
            None => run::run(args, global, command_line),
        },
        Command::Sweep(args) => run::sweep(args, global, command_line, communicator),
        Command::Study(args) if matches!(args.action, StudyAction::Run(_)) => {
            study::study(args, global, command_line, communicator)
        }
        _ if communicator.is_some() => Err(ranks::only_runs()),
        Command::Fio(args) => fio::fio(args, global, command_line),
        Command::List(args) => stored::list(args, global),
        Command::Show(args) => stored::show(args, global),
        Command::Why(args) => stored::why(args, global, command_line),
        Command::What(args) => what::what(args, global, command_line),
        Command::Compare(args) => compare::compare(args, global),
        Command::Versus(args) => versus::versus(args, global, command_line),
        Command::Fit(args) => fit::fit(args, global, command_line),
        Command::Recommend(args) => compare::recommend(args, global),
        Command::History(args) => compare::history(args, global),
        Command::Report(args) => report::report(args, global),
        Command::Card(args) => card::card(args, global),
        Command::Rm(args) => rm::remove(args, global),
        Command::Label(args) => stored::label(args, global),
        Command::Export(args) => stored::export(args, global),
        Command::Check(args) => check::check(args, global),
        Command::Import(args) => stored::import(args, global, command_line),
        Command::Push(args) => exchange::push(args, global),
        Command::Pull(args) => exchange::pull(args, global),
        Command::Record(args) => record::record(args, global),
        Command::Price(args) => price::price(args, global),
        Command::On(args) => on::on(args, global),
        Command::Mark(args) => price::mark(args),
        Command::Study(args) => study::study(args, global, command_line, None),
        Command::Catalogue(args) => catalogue::catalogue(args, global),
        Command::Profiles(args) => profiles::profiles(args, global),
        Command::Models(args) => models::models(args, global),
        Command::Serve(args) => serve::serve(args, global),
        Command::Attach(args) => serve::attach(args, global),
        Command::Detach(args) => serve::detach(args, global),
        Command::Control(args) => serve::control(args, global),
        Command::Ui(args) => ui::ui(args, global, command_line),
        Command::Vm(args) => vm::vm(args, global),
        Command::Doctor(args) => doctor::doctor(args, global, command_line),
        Command::Completions { shell } => complete::script(*shell),
        Command::Man { command } => man::page(command.as_deref()),
    }
}

/// Returns clap's error for a printable form of the arguments, because clap's messages repeat them
/// verbatim. If removing a password changes the kind of error, none of the arguments is repeated.
fn shown_error(error: clap::Error, command_line: &[String]) -> clap::Error {
    let covered: Vec<_> = command_line.iter().map(|word| without_password(word)).collect();
    let words: Vec<String> = covered.iter().map(|word| shown::line(word)).collect();
    if words == command_line {
        return error;
    }
    match parsed(words.into_iter().map(Into::into).collect()) {
        Err(of_shown) if of_shown.kind() == error.kind() => of_shown,
        _ if covered.iter().any(|word| matches!(word, Cow::Owned(_))) => clap::Error::raw(
            error.kind(),
            lang::t(
                "the command line contains a database address with a password in an argument that does not take one\n",
                "コマンドラインの、アドレスを書けない場所に、パスワードを含むアドレスがあります\n",
            ),
        ),
        _ => error,
    }
}

/// Prints clap's output: help, the version, or the error in the command line, for scripts also as
/// JSON.
fn refuse_command_line(error: &clap::Error, command_line: &[String]) -> ExitCode {
    if error.use_stderr() && command_line.iter().any(|word| word == "--json") {
        // If printing fails, the exit code still reports the error.
        let _ = output::print_error(&ErrorKind::Usage.error(wrong_words::what(error)));
    }
    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help && command_line.len() == 1 {
        output::say(lang::below!("alone"));
    } else if is_help {
        output::say_page(&help::in_language(error));
    } else if error.use_stderr() {
        let in_japanese = wrong_words::in_japanese(error).filter(|_| lang::lang() == Lang::Ja);
        output::say_page(&in_japanese.unwrap_or_else(|| help::coloured(error, output::error_style().color)));
        if let Some(tip) = wrong_words::of_fio(error) {
            output::say(tip);
        }
        if let Some(tip) = wrong_words::of_command(error) {
            output::say(&tip);
        }
    } else {
        let _ = output::print_page(&help::in_language(error));
    }
    ExitCode::from(error.exit_code() as u8)
}

/// Prints the error on standard error, and for scripts also as a line of JSON.
fn tell(cli: &Cli, error: &Error) {
    if cli.global.json && !output::reader_is_gone() {
        // Standard output itself may have failed.
        let _ = output::print_error(error);
    }
    output::say(&error.render(lang::lang()));
}
