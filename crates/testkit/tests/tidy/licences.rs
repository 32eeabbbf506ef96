//! Dependencies: the licences and bans of `deny.toml`, checked here as well so that they apply
//! wherever cargo runs, and the number of crates that a user compiles.

use crate::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Most crates in the default build of the program, including those of this workspace.
const MOST_CRATES: usize = 200;

/// Runs cargo on the locked workspace, without network access.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
        .args(arguments)
        .args(["--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a list of `deny.toml`.
fn list<'a>(page: &'a str, section: &str, key: &str) -> Vec<&'a str> {
    let section = page.split_once(&format!("\n[{section}]\n")).map_or("", |(_, rest)| rest);
    let list = section.split_once(&format!("\n{key} = [")).map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split(',').map(|word| word.trim().trim_matches('"')).filter(|word| !word.is_empty()).collect()
}

/// Returns whether an SPDX expression can be satisfied with these licences. `/` is an old form of
/// `OR`.
fn is_met(expression: &str, allowed: &[&str]) -> bool {
    let (mut depth, mut words, mut word) = (0, Vec::new(), String::new());
    for character in expression.replace('/', " OR ").chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth == 0 && character == ' ' {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(character);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let both = |parts: &[String]| {
        parts.split(|word| word == "AND").all(|part| {
            let part = part.join(" ");
            match part.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
                Some(inner) => is_met(inner, allowed),
                None => allowed.contains(&part.as_str()),
            }
        })
    };
    words.split(|word| word == "OR").any(both)
}

#[test]
fn everything_linked_in_may_be() {
    let page = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let (allowed, banned) = (list(&page, "licenses", "allow"), list(&page, "bans", "deny"));
    assert!(allowed.contains(&"MIT") && banned.contains(&"openssl-sys"), "deny.toml: {allowed:?} {banned:?}");
    let metadata = cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--features",
        "kurabe/full",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "cargo names only {} packages", packages.len());
    let mut faults = Vec::new();
    for package in packages {
        let (name, licence) =
            (package["name"].as_str().unwrap(), package["license"].as_str().unwrap_or("none"));
        if !is_met(licence, &allowed) {
            faults.push(format!("{name}: the licence is {licence}"));
        }
        if banned.contains(&name) {
            faults.push(format!("{name} is banned"));
        }
        let library = package["links"].as_str().unwrap_or("sqlite3");
        // The store's PostgreSQL client uses TLS from ring, whose name ends in a version.
        if library != "sqlite3" && !library.starts_with("ring_core_") {
            faults.push(format!("{name} links {library}; C is compiled in the store only"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_default_build_has_few_crates() {
    let tree = cargo(&["tree", "-p", "kurabe", "-e", "normal,build", "--prefix", "none"]);
    let crates: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)").trim_end_matches(" (proc-macro)"))
        .filter(|name| !name.is_empty())
        .collect();
    assert!(crates.iter().any(|name| name.starts_with("kurabe-core v")), "{crates:?}");
    assert!(crates.len() <= MOST_CRATES, "{} crates, at most {MOST_CRATES}: {crates:#?}", crates.len());
}

#[test]
fn an_expression_is_met_by_one_side_of_or_and_both_of_and() {
    let is_met =
        |expression: &str| is_met(expression, &["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]);
    for good in ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
        assert!(is_met(good), "{good}");
    }
    assert!(is_met("Apache-2.0 WITH LLVM-exception OR Apache-2.0"));
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND BSD-3-Clause", "none", "MIT WITH exception"]
    {
        assert!(!is_met(bad), "{bad}");
    }
}
