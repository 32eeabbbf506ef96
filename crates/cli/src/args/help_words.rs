//! Recognizes how much help a command line requests: a page of common options, or everything.

use crate::lang::below;
use clap::Command;
use std::ffi::{OsStr, OsString};

/// Returns whether a command line asks for help of any kind.
pub fn is_asked(words: &[OsString]) -> bool {
    words.iter().any(|word| ["help", "--help", "-h", "--help-all"].iter().any(|help| word == help))
}

/// Returns whether a command line asks for all commands and options: `kurabe help --all`, `kurabe run --help-all`.
pub fn is_whole(words: &[OsString]) -> bool {
    // Arguments after `--` belong to another program.
    let own = words.split(|word| word == "--").next().unwrap_or_default();
    let has = |asked: &str| own.iter().any(|word| word == asked);
    has("--help-all") || (has("--all") && positional(own) == [OsStr::new("help")])
}

/// Returns the command line with kurabe's own help options replaced by those of clap.
pub fn plain_words(words: Vec<OsString>) -> Vec<OsString> {
    if !is_whole(&words) {
        return words;
    }
    let is_other = |word: &OsString| word != "help" && word != "--all" && word != "--help-all";
    words.into_iter().filter(is_other).chain(["--help".into()]).collect()
}

/// Returns the exit codes, if a command line asks for them: `kurabe help exit-codes`.
pub fn exit_codes(words: &[OsString]) -> Option<&'static str> {
    (positional(words) == ["help", "exit-codes"].map(OsStr::new)).then(|| below!("exit-codes"))
}

/// Returns the arguments that are neither global options nor their values.
fn positional(words: &[OsString]) -> Vec<&OsStr> {
    let mut positional = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word {
            word if word == "--lang" || word == "--db" => {
                rest.next();
            }
            word if word.as_encoded_bytes().starts_with(b"-") => {}
            word => positional.push(word.as_os_str()),
        }
    }
    positional
}

/// Replaces the help of `run` by one screen of common options.
pub fn shortened(command: Command) -> Command {
    command.mut_subcommand("run", |run| run.override_help(below!("first-run")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn everything_is_shown_on_request_alone() {
        for (line, whole) in [
            ("kurabe help --all", true),
            ("kurabe --lang ja help --all", true),
            ("kurabe run --help-all", true),
            ("kurabe help", false),
            ("kurabe run --help", false),
            ("kurabe rm --all", false),
            ("kurabe price -- program --help-all", false),
        ] {
            assert_eq!(is_whole(&words(line)), whole, "{line}");
        }
        assert_eq!(plain_words(words("kurabe --lang ja help --all")), words("kurabe --lang ja --help"));
        assert_eq!(plain_words(words("kurabe rm --all")), words("kurabe rm --all"));
        assert!(exit_codes(&words("kurabe --lang en help exit-codes")).is_some());
    }

    #[test]
    fn the_short_help_of_run_names_options_that_exist() {
        let mut program = super::super::Cli::command();
        program.build();
        let run = program.find_subcommand("run").unwrap();
        let exists = |option: &str| run.get_arguments().any(|argument| argument.get_long() == Some(option));
        for page in [include_str!("../../help/first-run.en.txt"), include_str!("../../help/first-run.ja.txt")]
        {
            let options = page.split([' ', ',', '\n']).filter_map(|word| word.strip_prefix("--"));
            let unknown: Vec<&str> =
                options.filter(|option| *option != "help-all" && !exists(option)).collect();
            assert_eq!(unknown, [""; 0]);
        }
    }
}
