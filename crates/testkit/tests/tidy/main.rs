//! Style rules that can be checked automatically: length of functions and files, words that are not
//! names, places for sentences, `unsafe` and paths, one meaning for each type name, and no large
//! import circles.
//!
//! A rule reads one source without its comments and literals (`source`) and returns the lines that
//! break it (`rules`). `allowed.txt` names the files, folders or types that are exempt from a rule,
//! with the reasons. An exemption that is no longer needed fails as well, so the list cannot grow
//! unnoticed.

mod circles;
mod english;
mod house;
mod licences;
mod mirrors;
mod rules;
mod source;
mod spelling;
mod untranslated;

use rules::Breach;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One line of `allowed.txt`: a path, a folder that ends in `/`, or a type name, below a heading
/// with rule and reason.
struct Allowance {
    rule: &'static str,
    subject: &'static str,
}

impl Allowance {
    fn covers(&self, breach: &Breach) -> bool {
        let covered = match self.subject.strip_suffix('/') {
            Some(_) => breach.subject.starts_with(self.subject),
            None => breach.subject == self.subject,
        };
        self.rule == breach.rule && covered
    }
}

/// Reads `allowed.txt`, in which `[rule] reason` is the heading of the subjects below it.
fn allowances() -> Vec<Allowance> {
    let mut rule = "";
    let mut all = Vec::new();
    for line in include_str!("allowed.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
            Some((name, reason)) => {
                assert!(reason.len() > 10, "allowed.txt: no reason in `{line}`");
                rule = name;
            }
            None => all.push(Allowance { rule, subject: line }),
        }
    }
    all
}

#[test]
fn the_house_is_tidy() {
    let (allowances, breaches) = (allowances(), house::breaches(&root()));
    let mut faults: Vec<String> = breaches
        .iter()
        .filter(|breach| !allowances.iter().any(|one| one.covers(breach)))
        .map(ToString::to_string)
        .collect();
    for one in &allowances {
        if !breaches.iter().any(|breach| one.covers(breach)) {
            let Allowance { rule, subject } = one;
            faults.push(format!(
                "allowed.txt: `{subject}` needs no allowance of {rule} any more: remove the line"
            ));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn an_allowance_stands_once() {
    let mut seen = BTreeSet::new();
    for one in allowances() {
        assert!(seen.insert((one.rule, one.subject)), "`{} {}` stands twice", one.rule, one.subject);
    }
}

/// Returns the tests that the tables of a page name in their last column.
fn attacks(page: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join(page)).expect("a page on safety");
    let tables = page.lines().filter(|line| line.starts_with('|'));
    let cells = tables.filter_map(|line| line.rsplit('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// Every test that `docs/safety.md` names exists, because a safety promise must be tested.
#[test]
fn every_attack_that_the_page_of_safety_names_is_there() {
    let named = attacks("docs/safety.md");
    assert!(named.len() > 20, "{named:?}");
    assert_eq!(named, attacks("docs/ja/safety.md"), "docs/ja/safety.md names other tests");
    for name in named {
        let path = name
            .strip_prefix("e2e/")
            .map_or_else(|| name.clone(), |file| format!("crates/cli/tests/e2e/{file}"));
        assert!(root().join(&path).exists(), "{name}: there is no {path}");
    }
}

/// CONTRIBUTING.md lists every file that may contain `unsafe`.
#[test]
fn the_files_of_unsafe_are_listed_for_the_reader() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    for one in allowances().iter().filter(|one| one.rule == "unsafe") {
        assert!(
            page.contains(&format!("`{}`", one.subject)),
            "CONTRIBUTING.md does not name {}",
            one.subject
        );
    }
}

/// ARCHITECTURE.md can be read in five minutes, and has a row for each room.
#[test]
fn the_page_of_the_architecture_is_short_and_names_every_room() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let words = page.split_whitespace().count();
    assert!(words <= 1300, "ARCHITECTURE.md has {words} words");
    for room in std::fs::read_dir(root().join("crates")).expect("the crates").flatten() {
        let name = room.file_name();
        let name = name.to_str().expect("a name");
        assert!(page.contains(&format!("\n| `{name}` |")), "ARCHITECTURE.md has no row for {name}");
    }
}

/// The links in CONTRIBUTING.md to module documentation lead to such documentation.
#[test]
fn a_change_starts_in_a_file_that_lists_its_steps() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let links: Vec<&str> =
        page.lines().filter_map(|line| Some(line.split_once("](crates/")?.1.split_once(") |")?.0)).collect();
    assert!(links.len() > 15, "{links:?}");
    for link in links {
        let text = std::fs::read_to_string(root().join("crates").join(link)).expect(link);
        assert!(text.contains("//! # To add a"), "{link} does not say how to add anything");
    }
}
