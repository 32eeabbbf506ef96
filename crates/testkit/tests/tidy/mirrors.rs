//! Structs that repeat the fields of others.
//!
//! Two structs mirror each other if they share at least five field names, which are at least half
//! of those of the smaller one. A new field is then written, copied and documented twice.
//! [`REASONS`] has the pairs for which that is right.

use crate::rules::Breach;
use crate::source::{Source, block_end};
use std::collections::BTreeSet;

/// Pairs of structs that may share their fields, and why.
const REASONS: [(&str, &str, &str); 7] = [
    ("Texts", "RunRecord", "the record as its version stored it, before it is read"),
    ("ServedFigures", "ServedRecord", "counters of a running server; records store shares and means of them"),
    (
        "ParameterDescription",
        "Parameter",
        "the schema of a layer; the description has values and texts of one model",
    ),
    ("EntryLine", "PublishedRow", "a row whose source and year may be those of its table"),
    ("Finding", "Fall", "the whole finding; a fall is a change before it has a name"),
    ("Md", "Card", "parameters of two layers, which have the same names where they mean the same"),
    ("PivotArgs", "PivotRequest", "arguments as typed, before they are checked"),
];
const SHARED_FIELDS: usize = 5;

#[derive(Clone)]
struct Struct {
    name: String,
    place: String,
    fields: BTreeSet<String>,
}

/// Returns a breach for each pair without a reason, and for each reason without a pair.
pub fn mirrors(sources: &[Source]) -> Vec<Breach> {
    let pairs = pairs(sources);
    let is_meant = |(one, other): &(Struct, Struct), (a, b, _): &(&str, &str, &str)| {
        (one.name == *a && other.name == *b) || (one.name == *b && other.name == *a)
    };
    let breach = |what: String, place: String| Breach {
        rule: "mirror",
        subject: "crates/testkit/tests/tidy/mirrors.rs".to_owned(),
        what,
        place,
    };
    let without_reason = pairs.iter().filter(|pair| !REASONS.iter().any(|reason| is_meant(pair, reason)));
    let without_pair = REASONS.iter().filter(|reason| !pairs.iter().any(|pair| is_meant(pair, reason)));
    without_reason
        .map(|pair| breach(format!("{} share their fields", words(pair)), pair.0.place.clone()))
        .chain(without_pair.map(|(a, b, _)| {
            breach(format!("{a} and {b} no longer share their fields"), "REASONS".to_owned())
        }))
        .collect()
}

fn words((one, other): &(Struct, Struct)) -> String {
    let shared = one.fields.intersection(&other.fields).count();
    let [one, other] = [one, other].map(|it| format!("{} ({})", it.name, it.place));
    format!("{one} and {other}: {shared}")
}

/// Returns the pairs of structs that share their fields.
fn pairs(sources: &[Source]) -> Vec<(Struct, Struct)> {
    let is_product = |source: &&Source| source.path.contains("/src/") && !source.is_test_file();
    let structs: Vec<Struct> = sources.iter().filter(is_product).flat_map(structs).collect();
    let mut all = Vec::new();
    for (number, one) in structs.iter().enumerate() {
        for other in &structs[number + 1..] {
            let shared = one.fields.intersection(&other.fields).count();
            if shared >= SHARED_FIELDS && 2 * shared >= one.fields.len().min(other.fields.len()) {
                all.push((one.clone(), other.clone()));
            }
        }
    }
    all
}

/// Returns the structs of a source with enough fields.
fn structs(source: &Source) -> Vec<Struct> {
    let mut all = Vec::new();
    for (number, line) in source.code() {
        let mut words = line.split(|character: char| !(character.is_alphanumeric() || character == '_'));
        let Some(name) = words.find(|word| *word == "struct").and_then(|_| words.next()) else { continue };
        let block = source.lines[number..=block_end(&source.lines, number)].concat();
        let Some((head, body)) = block.split_once('{') else { continue };
        // The parameter list of a layer begins like a struct.
        if head.contains(" from ") {
            continue;
        }
        let fields = fields(body);
        if fields.len() >= SHARED_FIELDS {
            let place = format!("{}:{}", source.path, number + 1);
            all.push(Struct { name: name.to_owned(), place, fields });
        }
    }
    all
}

/// Returns the names before single colons outside nested brackets.
fn fields(body: &str) -> BTreeSet<String> {
    let (mut depth, mut name, mut fields) = (0usize, String::new(), BTreeSet::new());
    let mut characters = body.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ':' if characters.next_if_eq(&':').is_none() && depth == 0 => {
                fields.insert(std::mem::take(&mut name));
                continue;
            }
            _ if depth == 0 && (character.is_alphanumeric() || character == '_') => {
                name.push(character);
                continue;
            }
            _ => {}
        }
        name.clear();
    }
    fields
}

#[test]
fn structs_that_share_half_of_their_fields_are_seen() {
    let source = |name: &str, fields: &str| {
        let text = format!("/// size: all\n#[derive(Debug)]\npub struct {name}<'a> {{\n{fields}}}\n");
        Source::new(&format!("crates/{name}/src/a.rs"), &text)
    };
    let five = "    /// a: b\n    pub a: Vec<(u8, std::fmt::Error)>,\n    #[serde(default)]\n    b: \
        u8,\n    c: &'a str,\n    pub(crate) d: u8,\n    e: u8,\n";
    let pairs = |fields: &str| {
        let pairs = pairs(&[source("One", five), source("Two", fields)]);
        pairs.iter().map(words).collect::<Vec<_>>()
    };
    assert_eq!(pairs(five), ["One (crates/One/src/a.rs:3) and Two (crates/Two/src/a.rs:3): 5"]);
    assert_eq!(pairs(&five.replace("a: Vec", "z: Vec")).len(), 0);
    assert_eq!(pairs(&five.replace("e: u8", "e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8")).len(), 1);
}
