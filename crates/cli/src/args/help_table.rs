//! Help texts of commands and arguments.
//!
//! `help/options.en.txt` and `help/options.ja.txt` have an entry for each key: a line with the key, and
//! indented lines with the text. A line break is a space in English and nothing in Japanese.

use crate::lang::lang;
use kurabe_core::Lang;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const ENGLISH: &str = include_str!("../../help/options.en.txt");
const JAPANESE: &str = include_str!("../../help/options.ja.txt");

type HelpTexts = BTreeMap<&'static str, String>;

/// Returns the help text of a command or an argument in the current language.
pub fn help(key: &str) -> &'static str {
    static TEXTS: OnceLock<HelpTexts> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| match lang() {
        Lang::En => parse(ENGLISH, " "),
        Lang::Ja => parse(JAPANESE, ""),
    });
    texts.get(key).map_or("", String::as_str)
}

/// Returns the texts of a file by key, with `between` in place of line breaks.
fn parse(file: &'static str, between: &str) -> HelpTexts {
    let mut texts = HelpTexts::new();
    let mut key = "";
    for line in file.lines() {
        match line.strip_prefix("  ") {
            Some(part) => {
                let text: &mut String = texts.entry(key).or_default();
                if !text.is_empty() {
                    text.push_str(between);
                }
                text.push_str(part);
            }
            None => key = line,
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Returns the keys that the argument definitions use.
    fn used() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/args");
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let files =
            files.filter(|file| !file.ends_with("help_table.rs")).chain([folder.with_extension("rs")]);
        let mut keys = Vec::new();
        for file in files {
            let code = std::fs::read_to_string(file).unwrap();
            let calls = code.split("help(\"").skip(1);
            keys.extend(calls.filter_map(|rest| Some(rest.split_once("\")")?.0.to_owned())));
        }
        keys.sort();
        keys.dedup();
        keys
    }

    #[test]
    fn each_key_has_a_text_in_both_languages_and_each_text_is_used() {
        let used = used();
        assert!(used.len() > 100, "{used:?}");
        for texts in [parse(ENGLISH, " "), parse(JAPANESE, "")] {
            assert_eq!(texts.keys().copied().collect::<Vec<_>>(), used);
        }
    }

    #[test]
    fn line_breaks_are_spaces_between_english_words_only() {
        assert_eq!(parse("a.b\n  one\n  two\nc\n  three\n", " ")["a.b"], "one two");
        assert_eq!(parse("a.b\n  前半、\n  後半\n", "")["a.b"], "前半、後半");
    }
}
