//! Messages that exist in English only: `text!("…")` with one string.
//!
//! A change may add them, and raises [`UNTRANSLATED`]. Packages are built only if it is 0.

use crate::rules::Breach;
use crate::source::Source;

/// Number of messages without Japanese.
const UNTRANSLATED: usize = 0;

/// Returns a breach if there are more such messages than [`UNTRANSLATED`], or fewer.
pub fn untranslated(sources: &[Source]) -> Vec<Breach> {
    let is_product = |source: &&Source| source.path.contains("/src/") && !source.is_test_file();
    let places: Vec<String> = sources.iter().filter(is_product).flat_map(places).collect();
    if places.len() == UNTRANSLATED {
        return Vec::new();
    }
    vec![Breach {
        rule: "untranslated",
        subject: "crates/testkit/tests/tidy/untranslated.rs".to_owned(),
        what: format!("{} messages have no Japanese; UNTRANSLATED is {UNTRANSLATED}", places.len()),
        place: places.join(" "),
    }]
}

/// Returns the places of the messages of a source, in whose lines literals are blank.
fn places(source: &Source) -> Vec<String> {
    let code = |number: usize| if source.is_test[number] { "" } else { source.lines[number].as_str() };
    let is_alone = |number: usize, column: usize| {
        let first = code(number)[column..].chars();
        let rest = (number + 1..source.lines.len()).flat_map(|number| code(number).chars());
        let mut words = first.chain(rest).filter(|character| !character.is_whitespace());
        matches!(words.next(), Some(')' | ';'))
    };
    let mut all = Vec::new();
    for number in 0..source.lines.len() {
        for (start, word) in code(number).match_indices("text!(") {
            if is_alone(number, start + word.len()) {
                all.push(format!("{}:{}", source.path, number + 1));
            }
        }
    }
    all
}

#[test]
fn a_message_with_one_string_is_counted() {
    let text = "fn f() {\n    text!(\"no {path}\");\n    text!(\n        \"in {place}\"; place\n    );\n    \
        text!(\"a\", \"b\");\n    text!(\"{}\", \"{}\", 1)\n}\n";
    assert_eq!(
        places(&Source::new("crates/core/src/a.rs", text)),
        ["crates/core/src/a.rs:2", "crates/core/src/a.rs:3"]
    );
}
