//! Phrases of a private dialect that a reader has to translate.
//!
//! Each phrase has the number of its current places as a ceiling, which may only decrease. A phrase
//! can be right in a sentence, so no ceiling has to reach zero.

use crate::rules::Breach;
use std::collections::BTreeMap;

/// Whether a line, and the line of code that follows the comment, contain a phrase.
type Finds = fn(&Line<'_>) -> bool;

/// Each phrase, the number of its places, and how it is found.
const PHRASES: [(&str, usize, Finds); 8] = [
    ("a comment that begins with What, Who, Whoever or Others", 5, |line| {
        let begins = |word: &&str| words(line.begun_comment).next() == Some(word);
        ["What", "Who", "Whoever", "Others"].iter().any(begins)
    }),
    ("`is no` before a noun", 4, |line| {
        let before_noun = |(start, phrase): (usize, &str)| {
            let rest = &line.text[start + phrase.len()..];
            !line.text[..start].ends_with("there")
                && !line.text[..start].ends_with("There")
                && rest.starts_with(|first: char| first.is_ascii_lowercase())
                && !["longer", "more", "less", "later", "fewer", "larger", "smaller"]
                    .iter()
                    .any(|word| words(rest).next() == Some(word))
        };
        line.text.match_indices(" is no ").any(before_noun)
    }),
    ("nobody, somebody, whoever", 25, |line| {
        words(line.text).any(|word| ["nobody", "somebody", "whoever"].contains(&word))
    }),
    ("is told", 6, |line| ["is told", "are told", "was told"].iter().any(|one| has(line.text, one))),
    ("hangs on", 0, |line| has(line.text, "hang on") || has(line.text, "hangs on")),
    ("in the place of", 0, |line| has(line.text, "in the place of")),
    ("a doc comment of three words or fewer", 47, |line| {
        line.comments_item && words(line.begun_comment).count() <= 3
    }),
    ("a line of more than 120 columns", 48, |line| line.is_source && line.text.chars().count() > 120),
];

/// A line of a file.
struct Line<'t> {
    text: &'t str,
    is_source: bool,
    /// The text of a comment that begins here; empty elsewhere.
    begun_comment: &'t str,
    /// Whether that comment is all there is to a function, a type or a constant.
    comments_item: bool,
}

/// Returns a breach for each phrase that occurs more often than its ceiling, or less often, so that the
/// ceiling is lowered.
pub fn phrases(files: &BTreeMap<String, String>) -> Vec<Breach> {
    let counts = counts(files);
    let changed = PHRASES.iter().zip(&counts).filter(|((_, ceiling, _), places)| places.len() != *ceiling);
    changed
        .map(|((phrase, ceiling, _), places)| Breach {
            rule: "english",
            subject: "crates/testkit/tests/tidy/english.rs".to_owned(),
            what: format!("{phrase}: {} places, the ceiling is {ceiling}", places.len()),
            place: places.iter().take(40).cloned().collect::<Vec<_>>().join(" "),
        })
        .collect()
}

/// Returns the places of each phrase.
fn counts(files: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new(); PHRASES.len()];
    for (path, text) in files.iter().filter(|(path, _)| is_read(path)) {
        let lines: Vec<&str> = text.lines().collect();
        for number in 0..lines.len() {
            let line = line(path, &lines, number);
            for ((_, _, finds), places) in PHRASES.iter().zip(&mut all) {
                if finds(&line) {
                    places.push(format!("{path}:{}", number + 1));
                }
            }
        }
    }
    all
}

/// Returns whether the file is English text of the project. This file holds the phrases themselves.
fn is_read(path: &str) -> bool {
    let is_code = path.starts_with("crates/") && path.ends_with(".rs") && !path.ends_with("tidy/english.rs");
    let is_help = path.starts_with("crates/cli/help/") && path.ends_with(".en.txt");
    let is_page = path.starts_with("docs/") && path.ends_with(".md") && !path.starts_with("docs/ja/");
    is_code || is_help || is_page || ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&path)
}

fn line<'t>(path: &str, lines: &[&'t str], number: usize) -> Line<'t> {
    const MARKS: [&str; 2] = ["///", "//!"];
    let text = lines[number];
    let is_source = path.ends_with(".rs");
    let comment = |line: &'t str| {
        MARKS.iter().find_map(|mark| line.trim_start().strip_prefix(mark)).filter(|_| is_source)
    };
    let before = number.checked_sub(1).and_then(|before| comment(lines[before]));
    let begun_comment = comment(text).filter(|_| before.is_none()).unwrap_or("").trim();
    let next = lines[number + 1..].iter().find(|line| !line.trim_start().starts_with('#'));
    let is_item = |line: &&&'t str| {
        const ITEMS: [&str; 9] =
            ["fn", "struct", "enum", "trait", "const", "static", "type", "macro_rules", "mod"];
        comment(line).is_none() && words(line).take(4).any(|word| ITEMS.contains(&word))
    };
    let comments_item = !begun_comment.is_empty() && next.filter(is_item).is_some();
    Line { text, is_source, begun_comment, comments_item }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_alphanumeric() || "_-'".contains(character)))
        .filter(|word| !word.is_empty())
}

/// Returns whether the text contains the phrase as whole words.
fn has(text: &str, phrase: &str) -> bool {
    let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(start, _)| {
        let (before, behind) = (&text[..start], &text[start + phrase.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(behind.chars().next())
    })
}

#[test]
fn each_phrase_is_seen_and_a_good_sentence_is_not() {
    let counts_in = |text: &str| -> Vec<usize> {
        let files = BTreeMap::from([("crates/a/src/a.rs".to_owned(), text.to_owned())]);
        counts(&files).iter().map(Vec::len).collect()
    };
    let at = |place: usize| -> Vec<usize> { (0..8).map(|one| usize::from(one == place)).collect() };
    assert_eq!(counts_in("/// What a line of the file says.\nfn a() {}"), at(0));
    assert_eq!(counts_in("// A name that is no device."), at(1));
    assert_eq!(counts_in("// A time for which nobody waits."), at(2));
    assert_eq!(counts_in("// The server is told the size."), at(3));
    assert_eq!(counts_in("// The figure hangs on the cache."), at(4));
    assert_eq!(counts_in("// It writes in the place of a read."), at(5));
    assert_eq!(counts_in("/// The size.\npub fn size() {}"), at(6));
    assert_eq!(counts_in(&format!("// {}", "long ".repeat(24))), at(7));
    let good = "/// Returns the size in bytes, if there is no limit that is no longer met.\n\
        /// What follows is text.\nfn a() {}\n/// Size.\npub size: u8,";
    assert_eq!(counts_in(good), vec![0; 8]);
}
