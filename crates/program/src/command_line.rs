//! The arguments of a program, as it is run and as it is shown.
//!
//! `{work}` and `{origin}` are replaced by paths, anywhere in an argument. To run the program, the
//! paths lead through an open descriptor; for display, they are those that a user would type.
//! Another name in braces is an error, because it would be passed on by mistake; `{{name}}` becomes
//! `{name}` for the program itself. With a shell, the arguments are one line for `sh -c`. A path
//! that the shell would split is then refused, so that `rm -rf {work}` can never mean another
//! folder.

use kurabe_core::{ErrorKind, Result, profile::CommandStep, shown::shell_word, text};
use std::path::PathBuf;

/// Paths that replace the names in braces.
#[derive(Clone, Debug)]
pub(crate) struct Placeholders {
    /// Replacement of `{work}`.
    pub(crate) work: PathBuf,
    /// Replacement of `{origin}`.
    pub(crate) origin: PathBuf,
}

/// A program of a step, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// Program and arguments.
    pub(crate) words: Vec<String>,
    /// Command line as a user would type it.
    pub(crate) shown: String,
}

/// All programs of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepCommands {
    pub(crate) prepare: Vec<Invocation>,
    pub(crate) command: Invocation,
    pub(crate) restore: Vec<Invocation>,
    pub(crate) cleanup: Vec<Invocation>,
}

impl StepCommands {
    /// Replaces all names: with `held` to run, and with `named` to show.
    ///
    /// # Errors
    /// If a name is unknown, or a path is not safe in a shell.
    pub(crate) fn of(step: &CommandStep, held: &Placeholders, named: &Placeholders) -> Result<Self> {
        let one = |words: &Vec<String>| Invocation::of(words, held, named, step.shell);
        let invocations = |lines: &[Vec<String>]| lines.iter().map(one).collect::<Result<Vec<_>>>();
        Ok(Self {
            prepare: invocations(&step.prepare)?,
            command: one(&step.command)?,
            restore: invocations(&step.restore)?,
            cleanup: invocations(&step.cleanup)?,
        })
    }
}

impl Invocation {
    /// Replaces the names of a line.
    ///
    /// # Errors
    /// If a name is unknown, or a path is not safe in a shell.
    pub(crate) fn of(
        words: &[String],
        held: &Placeholders,
        named: &Placeholders,
        shell: bool,
    ) -> Result<Self> {
        Ok(Self { shown: shown(&line(words, named, shell)?), words: line(words, held, shell)? })
    }
}

fn line(words: &[String], places: &Placeholders, shell: bool) -> Result<Vec<String>> {
    if !shell {
        return words.iter().map(|word| filled(word, places, shell)).collect();
    }
    Ok(vec!["sh".to_owned(), "-c".to_owned(), filled(&words.join(" "), places, shell)?])
}

/// Returns an argument with its names replaced.
fn filled(word: &str, places: &Placeholders, shell: bool) -> Result<String> {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some((name, end)) = after.strip_prefix('{').and_then(|after| named(after, "}}")) {
            out.push_str(&format!("{{{name}}}"));
            rest = end;
        } else if shell && out.ends_with('$') {
            // A variable of the shell.
            out.push('{');
            rest = after;
        } else if let Some((name, end)) = named(after, "}") {
            out.push_str(&place(name, word, places, shell)?);
            rest = end;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the name before `end`, and the text after it.
fn named<'a>(words: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = words.split_once(end)?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, rest))
}

fn place(name: &str, word: &str, places: &Placeholders, shell: bool) -> Result<String> {
    let path = match name {
        "work" => &places.work,
        "origin" => &places.origin,
        _ => {
            return Err(ErrorKind::DataFile.error(text!(
                "`{{{name}}}` in `{word}` is not defined",
                "`{word}` の `{{{name}}}` に当たるものはありません"
            ))
            .remedy(text!(
                "use {{work}} or {{origin}}; to pass braces to the program, double them: {{{{{name}}}}}",
                "使えるのは {{work}} と {{origin}} です。波括弧をそのまま渡すには {{{{{name}}}}} と重ねてください"
            )));
        }
    };
    let Some(path) = path.to_str().filter(|path| !shell || shell_word(path) == **path) else {
        let path = path.display();
        return Err(ErrorKind::Unsupported
            .error(text!(
                "the path {path} cannot be used in a command line",
                "パス {path} はコマンド行に書けません"
            ))
            .remedy(text!(
                "choose a target whose path has only letters, digits and -_./",
                "英数字と -_./ だけのパスを対象にしてください"
            )));
    };
    Ok(path.to_owned())
}

/// Returns a command line as a user would type it.
pub(crate) fn shown(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(words: &[&str], work: &str, shell: bool) -> Result<Vec<String>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        line(&words, &Placeholders { work: work.into(), origin: "/t/origin.git".into() }, shell)
    }

    #[test]
    fn names_are_filled_in_anywhere_and_braces_of_the_program_stay() {
        let words = ["git", "-C", "{work}/.git", "{origin}{work}", "{print $1}", "@{{upstream}}", "a{", "{}"];
        let filled = fill(&words, "/my disk/w", false).unwrap();
        let expected = [
            "git",
            "-C",
            "/my disk/w/.git",
            "/t/origin.git/my disk/w",
            "{print $1}",
            "@{upstream}",
            "a{",
            "{}",
        ];
        assert_eq!(filled, expected);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_tells_it() {
        let error = fill(&["ls", "{wrok}/x"], "/w", false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataFile);
        assert!(error.what().en.contains("`{wrok}` in `{wrok}/x`"), "{}", error.what().en);
        assert!(error.remedy_text().unwrap().en.contains("{{wrok}}"));
    }

    #[test]
    fn a_shell_gets_one_line_with_its_variables_and_no_path_that_it_takes_apart() {
        let filled = fill(&["cd", "{work}", "&&", "echo", "${work}"], "/w", true).unwrap();
        assert_eq!(filled, ["sh", "-c", "cd /w && echo ${work}"]);
        let error = fill(&["rm", "-rf", "{work}"], "/my disk/w", true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(fill(&["rm", "-rf", "{work}"], "/a;b/w", true).is_err());
    }

    #[test]
    fn what_is_shown_can_be_typed() {
        let words = ["sh", "-c", "echo 'a b' $X", ""].map(str::to_owned);
        assert_eq!(shown(&words), r"sh -c 'echo '\''a b'\'' $X' ''");
    }
}
