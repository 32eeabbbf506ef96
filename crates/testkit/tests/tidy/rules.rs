//! The rules for a single source.

use crate::source::{Source, block_end};
use kurabe_core::mention::COMMANDS;
use std::fmt;

/// Longest function: it fits on a screen.
const LONGEST_FUNCTION_LINES: usize = 70;
/// Longest file: one that needs more code usually has two subjects.
const LONGEST_FILE_LINES: usize = 500;
/// Words that say what happened to a value, not what it is.
const NO_NAMES: [&str; 6] = ["told", "found", "known", "there", "wanted", "said"];
/// Rooms that produce sentences for users.
const ROOMS_OF_WORDS: [&str; 4] = ["crates/cli/", "crates/doc/", "crates/report/", "crates/ui/"];
/// Rooms that are user interfaces, each with its own wording.
const EDGES: [&str; 2] = ["crates/cli/", "crates/ui/"];

/// Prefix of the line about a skipped test, and the only file that writes it.
const SKIPPED: &str = "skipped: ";
const RECORD_OF_SKIPS: &str = "crates/testkit/src/needs.rs";

/// A line that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    pub rule: &'static str,
    /// Subject for an exemption: the file, or the type.
    pub subject: String,
    pub place: String,
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {} ({})", self.rule, self.subject, self.what, self.place)
    }
}

/// Returns every breach in a source.
pub fn breaches(source: &Source) -> Vec<Breach> {
    let all =
        [function_length, file_length, local_name, words, command_line, no_unsafe, raw_output, own_skip]
            .map(|rule| rule(source));
    all.concat()
        .into_iter()
        .map(|(rule, line, what)| Breach {
            rule,
            subject: source.path.clone(),
            place: format!("line {}", line + 1),
            what,
        })
        .collect()
}

type Lines = Vec<(&'static str, usize, String)>;

/// Returns the words of a line, each with the text before and after it without spaces.
fn tokens(line: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + line[rest..].find(is_word)?;
        let end = start + line[start..].find(|character| !is_word(character)).unwrap_or(line.len() - start);
        rest = end;
        Some((line[..start].trim_end(), &line[start..end], line[end..].trim_start()))
    })
}

/// Returns the functions of a source: name, first and last line.
fn functions(source: &Source) -> Vec<(&str, usize, usize)> {
    let mut all = Vec::new();
    for (number, line) in source.lines.iter().enumerate() {
        for (before, word, _) in tokens(line) {
            if before.ends_with("fn") && tokens(before).last().is_some_and(|(_, last, _)| last == "fn") {
                all.push((word, number, block_end(&source.lines, number)));
            }
        }
    }
    all
}

fn function_length(source: &Source) -> Lines {
    functions(source)
        .into_iter()
        .map(|(name, first, last)| (name, first, last + 1 - first))
        .filter(|(.., lines)| *lines > LONGEST_FUNCTION_LINES)
        .map(|(name, first, lines)| {
            (
                "function-length",
                first,
                format!("`{name}` has {lines} lines, {LONGEST_FUNCTION_LINES} fit a screen"),
            )
        })
        .collect()
}

fn file_length(source: &Source) -> Lines {
    let lines = source.code().count();
    let what = format!("{lines} lines of code; one subject needs at most {LONGEST_FILE_LINES}");
    if lines > LONGEST_FILE_LINES { vec![("file-length", 0, what)] } else { Vec::new() }
}

/// A local value must not have a name that says nothing. A field, a method and a function may.
fn local_name(source: &Source) -> Lines {
    let is_value = |before: &str, after: &str| {
        let field_or_path = before.ends_with("::") || (before.ends_with('.') && !before.ends_with(".."));
        let called = after.starts_with('(') || after.starts_with("::") || before.ends_with("fn");
        let declared_field = after.starts_with(':');
        !(field_or_path || called || declared_field || before.ends_with("mod"))
    };
    let mut lines = Vec::new();
    for (number, line) in source.lines.iter().enumerate() {
        for (before, word, after) in tokens(line) {
            if NO_NAMES.contains(&word) && is_value(before, after) {
                lines.push(("local-name", number, format!("`{word}` does not say what the value is")));
            }
        }
    }
    lines
}

/// `text!` is not allowed outside the rooms that produce sentences, unless the enclosing function
/// creates an error.
fn words(source: &Source) -> Lines {
    if source.is_test_file() || ROOMS_OF_WORDS.iter().any(|room| source.path.starts_with(room)) {
        return Vec::new();
    }
    let functions = functions(source);
    let makes_error = |number: usize| {
        let around = functions.iter().filter(|(_, first, last)| (*first..=*last).contains(&number));
        around.max_by_key(|(_, first, _)| *first).is_some_and(|(_, first, _)| {
            let signature =
                source.lines[*first..].iter().take(12).take_while(|line| !line.trim_end().ends_with('{'));
            let last = source.lines[*first..].iter().find(|line| line.trim_end().ends_with('{'));
            signature.chain(last).any(|line| {
                let returned = line.split_once("->").map_or("", |(_, returned)| returned);
                tokens(returned).any(|(_, word, _)| ["Error", "Result", "Misfit"].contains(&word))
            })
        })
    };
    source
        .code()
        .filter(|(_, line)| tokens(line).any(|(_, word, after)| word == "text" && after.starts_with('!')))
        .filter(|(number, _)| !makes_error(*number))
        .map(|(number, _)| {
            ("words", number, "a sentence outside the rooms of words, and not of an error".to_owned())
        })
        .collect()
}

/// Options and commands must not appear in literals below the user interfaces; a `Mention` is used
/// instead.
fn command_line(source: &Source) -> Lines {
    let is_below = source.path.starts_with("crates/") && source.path.contains("/src/");
    if !is_below || source.is_test_file() || EDGES.iter().any(|room| source.path.starts_with(room)) {
        return Vec::new();
    }
    let is_letter = |character: Option<char>| character.is_some_and(|one| one.is_ascii_lowercase());
    let has_option = |literal: &str| {
        literal.match_indices("--").any(|(at, dashes)| {
            let before = literal[..at].chars().next_back();
            !is_letter(before)
                && before != Some('-')
                && is_letter(literal[at + dashes.len()..].chars().next())
        })
    };
    let commands: Vec<String> = COMMANDS.iter().map(|command| format!("{command:#}")).collect();
    let has_command = |literal: &str| {
        let mut all = commands.iter().flat_map(|command| literal.match_indices(command));
        all.any(|(at, command)| !is_letter(literal[at + command.len()..].chars().next()))
    };
    source
        .literals()
        .filter(|(line, _)| !source.lines[*line].contains("Shell("))
        .filter(|(_, literal)| has_option(literal) || has_command(literal))
        .map(|(line, literal)| {
            ("command-line", line, format!("{literal} names what only a command line has"))
        })
        .collect()
}

fn no_unsafe(source: &Source) -> Lines {
    let opens = |after: &str| {
        after.starts_with('{')
            || tokens(after).next().is_some_and(|(before, word, _)| {
                before.is_empty() && ["impl", "fn", "trait", "extern"].contains(&word)
            })
    };
    let mut lines = Vec::new();
    for (number, line) in source.lines.iter().enumerate() {
        let breaks = line.contains("allow(unsafe_code)")
            || tokens(line).any(|(_, word, after)| word == "unsafe" && (after.is_empty() || opens(after)));
        if breaks {
            lines.push(("unsafe", number, "the compiler cannot check this".to_owned()));
        }
    }
    lines
}

/// Standard output and standard error are written only where untrusted text is sanitized.
fn raw_output(source: &Source) -> Lines {
    if source.is_test_file() {
        return Vec::new();
    }
    let is_stream = |line: &str| {
        tokens(line).any(|(before, word, after)| {
            ["stdout", "stderr"].contains(&word) && before.ends_with("::") && after.starts_with("()")
        })
    };
    let what = "it writes past `Shown`, which words from outside go through".to_owned();
    source
        .code()
        .filter(|(_, line)| is_stream(line))
        .map(|(number, _)| ("raw-output", number, what.clone()))
        .collect()
}

/// A skipped test is counted only if `kurabe_testkit::needs` reports it.
fn own_skip(source: &Source) -> Lines {
    if source.path == RECORD_OF_SKIPS || source.path.starts_with("crates/testkit/tests/") {
        return Vec::new();
    }
    let what = "`kurabe_testkit::needs` counts and prints a skipped test".to_owned();
    source
        .all_literals()
        .filter(|(_, literal)| literal.trim_matches('"').starts_with(SKIPPED))
        .map(|(line, _)| ("own-skip", line, what.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> Vec<&'static str> {
        breaches(&Source::new(path, text)).into_iter().map(|breach| breach.rule).collect()
    }

    #[test]
    fn a_function_of_71_lines_is_seen_and_one_of_70_is_not() {
        let function = |lines: usize| format!("fn long(\n) {{\n{}}}\n", "    work();\n".repeat(lines - 3));
        assert_eq!(broken("crates/x/src/a.rs", &function(71)), ["function-length"]);
        assert!(broken("crates/x/src/a.rs", &function(70)).is_empty());
    }

    #[test]
    fn a_file_of_501_lines_is_seen_and_its_tests_and_comments_are_not() {
        let lines =
            |count: usize| "use a;\n".repeat(count) + "// more\n\n#[cfg(test)]\nmod tests {\n    use b;\n}\n";
        assert_eq!(broken("crates/x/src/a.rs", &lines(501)), ["file-length"]);
        assert!(broken("crates/x/src/a.rs", &lines(500)).is_empty());
    }

    #[test]
    fn a_value_without_a_name_is_seen_and_a_field_is_not() {
        for text in ["let found = 1;", "|told| 1", "Some(mut said)", "fn a() { there }", "0..known"] {
            assert_eq!(broken("crates/x/src/a.rs", text), ["local-name"], "{text}");
        }
        for text in ["a.found", "said()", "pub known: u64,", "// told", "\"there\"", "let founder = 1;"] {
            assert!(broken("crates/x/src/a.rs", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_sentence_is_seen_and_that_of_an_error_is_not() {
        let sentence = "fn a(b: u8) -> Text {\n    text!(\"a\", \"b\")\n}\n";
        assert_eq!(broken("crates/stats/src/a.rs", sentence), ["words"]);
        assert!(broken("crates/report/src/a.rs", sentence).is_empty());
        assert!(broken("crates/stats/src/a.rs", &sentence.replace("Text", "Error")).is_empty());
        assert!(broken("crates/stats/src/a.rs", &sentence.replace("Text", "Result<()>")).is_empty());
    }

    #[test]
    fn an_option_or_a_command_below_the_edges_is_seen() {
        for literal in ["\"ask for less with --size\"", "\"(--db FILE)\"", "r\"`kurabe models show` has it\""]
        {
            let text = format!("fn a() -> Error {{ b({literal}) }}");
            assert_eq!(broken("crates/lab/src/a.rs", &text), ["command-line"], "{literal}");
            assert!(broken("crates/ui/src/a.rs", &text).is_empty());
            assert!(
                broken("crates/lab/src/a.rs", &format!("#[cfg(test)]\nmod tests {{ {text} }}")).is_empty()
            );
        }
        for literal in ["\"with {SIZE}\"", "\"a---b --\"", "\"kurabe records\"", "'-' // --size"] {
            assert!(broken("crates/lab/src/a.rs", &format!("let a = {literal};")).is_empty(), "{literal}");
        }
    }

    #[test]
    fn a_stream_that_is_written_to_is_seen() {
        let text = "fn a() {\n    let out = std::io::stdout().lock();\n}\n";
        assert_eq!(broken("crates/cli/src/a.rs", text), ["raw-output"]);
        assert!(broken("crates/cli/src/a.rs", "command.stdout(Stdio::piped());").is_empty());
    }

    #[test]
    fn a_skip_that_is_printed_by_hand_is_seen_in_tests_too() {
        let text = "#[cfg(test)]\nmod tests {\n    eprintln!(\"skipped: no fio\");\n}\n";
        for path in ["crates/x/src/a.rs", "crates/x/tests/a.rs", "benches/src/a.rs"] {
            assert_eq!(broken(path, text), ["own-skip"]);
        }
        assert!(broken("crates/x/src/a.rs", "let a = \"lines skipped: 3\"; // skipped: no").is_empty());
        assert!(broken(RECORD_OF_SKIPS, text).is_empty());
    }

    #[test]
    fn unsafe_code_is_seen_and_the_word_is_not() {
        for text in
            ["unsafe { a() }", "unsafe impl Send for A {}", "#![allow(unsafe_code)]", "unsafe fn a() {}"]
        {
            assert_eq!(broken("crates/x/src/a.rs", text), ["unsafe"], "{text}");
        }
        assert!(
            broken("crates/x/src/a.rs", "// unsafe {\nlet a = \"unsafe {\"; deny(unsafe_code)").is_empty()
        );
    }
}
