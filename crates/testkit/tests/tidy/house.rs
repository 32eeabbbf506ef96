//! Reads the repository, and contains the rules that concern more than one source.

use crate::circles::circles;
use crate::english::phrases;
use crate::mirrors::mirrors;
use crate::rules::{self, Breach};
use crate::source::Source;
use crate::spelling::spellings;
use crate::untranslated::untranslated;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns every breach of every rule.
pub fn breaches(root: &Path) -> Vec<Breach> {
    let files = files(root);
    let sources: Vec<Source> = files
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, text)| Source::new(path, text))
        .collect();
    let mut all: Vec<Breach> = sources.iter().flat_map(rules::breaches).collect();
    all.extend(type_names(&sources));
    all.extend(circles(&sources));
    all.extend(mirrors(&sources));
    all.extend(untranslated(&sources));
    all.extend(test_modules(&files));
    all.extend(machine_paths(&files));
    all.extend(glossary(&files));
    all.extend(spellings(&files));
    all.extend(phrases(&files));
    all
}

/// Returns the text files of the repository by path from its root, in order.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let short = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let name = short.rsplit('/').next().unwrap_or("");
                if !["target", ".git", "corpus", "artifacts", "fixtures", "snapshots"].contains(&name) {
                    folders.push(path);
                }
            } else if ["rs", "toml", "md", "txt", "run"].iter().any(|end| short.ends_with(end))
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                files.insert(short, text);
            }
        }
    }
    files
}

/// Place where the name of a type is declared, and whether other files can see it.
struct Home {
    place: String,
    is_public: bool,
}

/// A type name that is visible in other files must have one meaning; a private one may have at most
/// two.
fn type_names(sources: &[Source]) -> Vec<Breach> {
    let mut homes: BTreeMap<String, Vec<Home>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path.contains("/src/") && !source.is_test_file()) {
        for (number, line) in source.code().filter(|(_, line)| !line.starts_with(' ')) {
            let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
            if let (Some("struct" | "enum" | "trait" | "type" | "union"), Some(rest)) =
                (words.next(), words.next())
            {
                let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
                let home = Home {
                    place: format!("{}:{}", source.path, number + 1),
                    is_public: line.starts_with("pub "),
                };
                homes.entry(rest[..end].to_owned()).or_default().push(home);
            }
        }
    }
    homes
        .into_iter()
        .filter(|(_, homes)| homes.len() > 2 || (homes.len() == 2 && homes.iter().any(|home| home.is_public)))
        .map(|(subject, homes)| Breach {
            rule: "type-name",
            subject,
            what: "one word, several meanings".to_owned(),
            place: homes.into_iter().map(|home| home.place).collect::<Vec<_>>().join(", "),
        })
        .collect()
}

/// The tests of a crate are linked once, so a file that `main.rs` does not name would never run.
fn test_modules(files: &BTreeMap<String, String>) -> Vec<Breach> {
    let mut all = Vec::new();
    for path in files.keys().filter(|path| path.starts_with("crates/") && path.ends_with(".rs")) {
        let parts: Vec<&str> = path.split('/').collect();
        let [_, _, "tests", file] = parts[..] else { continue };
        let module = format!("mod {};", file.trim_end_matches(".rs"));
        let main = files.get(&path.replace(file, "main.rs"));
        if file != "main.rs" && main.is_some_and(|main| !main.lines().any(|line| line == module)) {
            all.push(Breach {
                rule: "test-module",
                subject: path.clone(),
                what: format!("no `{module}` in main.rs"),
                place: "line 1".to_owned(),
            });
        }
    }
    all
}

/// Paths of a particular machine must not appear in the project.
fn machine_paths(files: &BTreeMap<String, String>) -> Vec<Breach> {
    // Split, so that this list does not match itself.
    let roots =
        [["/work", "/"], ["/root", "/"], ["/Users", "/"], ["/tmp/bash", "_jobs"]].map(|parts| parts.concat());
    let mut all = Vec::new();
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            if let Some(root) = roots.iter().find(|root| line.contains(root.as_str())) {
                all.push(Breach {
                    rule: "machine-path",
                    subject: path.clone(),
                    what: format!("a path under {root}"),
                    place: format!("line {}", number + 1),
                });
            }
        }
    }
    all
}

/// Each word of the glossary has one row, with its Japanese form and its meaning.
fn glossary(files: &BTreeMap<String, String>) -> Vec<Breach> {
    const PAGE: &str = "docs/glossary.md";
    let rows = files[PAGE].lines().enumerate().skip_while(|(_, line)| !line.starts_with("| word |")).skip(2);
    let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, row) in rows.take_while(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let mut breach = |what: String| {
            let place = format!("line {}", number + 1);
            all.push(Breach { rule: "glossary", subject: PAGE.to_owned(), what, place });
        };
        if cells.len() != 3 || cells.iter().any(|cell| cell.is_empty()) {
            breach("a row of the glossary has a word, its Japanese or `–`, and a meaning".to_owned());
        }
        for word in cells[0].split(", ") {
            if let Some(first) = homes.insert(word, number) {
                breach(format!("`{word}` has a meaning in line {} already", first + 1));
            }
        }
    }
    assert!(homes.len() > 20, "the glossary of {PAGE} was not found");
    all
}

#[test]
fn what_stands_in_two_places_is_seen() {
    let source = |path: &str| {
        Source::new(path, "pub struct Row<'a> {\n    place: &'a str,\n}\ntype Rows = Vec<u8>;\n")
    };
    let names =
        |sources: &[Source]| type_names(sources).into_iter().map(|one| one.subject).collect::<Vec<_>>();
    assert!(names(&[source("crates/a/src/a.rs")]).is_empty());
    assert_eq!(names(&[source("crates/a/src/a.rs"), source("crates/b/src/b.rs")]), ["Row"]);
    let three = ["crates/a/src/a.rs", "crates/b/src/b.rs", "crates/b/src/c.rs"].map(source);
    assert_eq!(names(&three), ["Row", "Rows"]);
}

#[test]
fn a_test_file_that_nobody_names_and_a_path_of_a_machine_are_seen() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let files = BTreeMap::from([
        file("crates/a/tests/main.rs", "mod one;\n"),
        file("crates/a/tests/one.rs", ""),
        file("crates/a/tests/two.rs", &["see /work", "/place"].concat()),
    ]);
    assert_eq!(test_modules(&files)[0].subject, "crates/a/tests/two.rs");
    assert_eq!((test_modules(&files).len(), machine_paths(&files).len()), (1, 1));
}

#[test]
fn a_word_with_two_meanings_is_seen() {
    let rows: String = (0..21).map(|number| format!("| w{number} | 語 | a meaning |\n")).collect();
    let page = |more: &str| format!("| word | Japanese | meaning |\n|---|---|---|\n{rows}{more}\n");
    let count = |more: &str| glossary(&BTreeMap::from([("docs/glossary.md".to_owned(), page(more))])).len();
    assert_eq!((count(""), count("| w3 | 語 | another |"), count("| new | | no Japanese |")), (0, 1, 1));
}
