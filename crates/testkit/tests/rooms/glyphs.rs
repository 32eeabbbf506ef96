//! The embedded font has every character that the program may write into a picture, so that none is
//! shown as a box.
//!
//! The characters are collected from the string literals of all sources and from the built-in data
//! files. Tests are excluded (they contain hostile text on purpose), as are bounds of ranges,
//! noncharacters of Unicode, and characters that only terminals show.

use std::path::{Path, PathBuf};

/// Returns whether a character is used only in terminals: lines, blocks and dots, and the cross of
/// `kurabe doctor`.
fn is_for_terminals(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}' | '✗')
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the files below a folder with one of the extensions.
fn files(dir: &Path, extensions: &[&str], paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, extensions, paths);
        } else if path.extension().is_some_and(|ext| extensions.iter().any(|extension| ext == *extension)) {
            paths.push(path);
        }
    }
}

/// Returns the characters of the string literals of a Rust source, without its tests and comments.
fn literals(source: &str) -> String {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let chars: Vec<char> = source.chars().collect();
    let (mut out, mut at) = (String::new(), 0);
    let starts =
        |at: usize, words: &str| words.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    while at < chars.len() {
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "r\"") || starts(at, "r#") && raw_start(&chars, at).is_some() {
            let (hashes, open) = raw_start(&chars, at).unwrap_or((0, at + 2));
            let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            at = open;
            while at < chars.len() && !starts(at, &end) {
                out.push(chars[at]);
                at += 1;
            }
            at += end.chars().count();
        } else if chars[at] == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += read_char(&chars, at, &mut out);
            }
            at += 1;
        } else if chars[at] == '\'' && (starts(at + 1, "\\") || chars.get(at + 2) == Some(&'\'')) {
            let (start, mut literal) = (at, String::new());
            at += 1;
            while at < chars.len() && chars[at] != '\'' {
                at += read_char(&chars, at, &mut literal);
            }
            at += 1;
            // The bound of a range is not written anywhere.
            let before: String = chars[start.saturating_sub(3)..start].iter().collect();
            if !(before.ends_with("..") || before.ends_with("..=") || starts(at, "..")) {
                out += &literal;
            }
        } else {
            at += 1;
        }
    }
    out
}

/// Returns the number of hashes of a raw string, and the start of its content.
fn raw_start(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(at + 1 + hashes) == Some(&'"')).then_some((hashes, at + 2 + hashes))
}

/// Reads one character, which may be escaped, and returns the number of characters it takes in the
/// source.
fn read_char(chars: &[char], at: usize, out: &mut String) -> usize {
    if chars[at] != '\\' {
        out.push(chars[at]);
        return 1;
    }
    if chars.get(at + 1) == Some(&'u') {
        let digits: String = chars[at..].iter().skip(3).take_while(|c| **c != '}').collect();
        out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
        return digits.chars().count() + 4;
    }
    2
}

fn lacking(words: &str) -> Vec<char> {
    let mut lacking: Vec<char> = words
        .chars()
        .filter(|c| !c.is_control())
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'))
        .filter(|c| !kurabe_core::shown::is_escaped(*c))
        .filter(|c| !is_for_terminals(*c))
        .filter(|c| !matches!(c, '\u{fdd0}'..='\u{fdef}' | '\u{fffd}'..='\u{ffff}' | '\u{2028}' | '\u{2029}'))
        .filter(|c| !kurabe_chart::has_glyph(*c))
        .collect();
    lacking.sort_unstable();
    lacking.dedup();
    lacking
}

#[test]
fn literals_are_found() {
    let source = r###"let a = "A\u{e9}\n"; // "not this"
        let b = 'Z'; fn f<'a>(x: &'a str) {} let c = r#"raw "é" end"#; if ('あ'..='ん').contains(&b) {} #[cfg(test)] "no""###;
    assert_eq!(literals(source), "AéZraw \"é\" end");
}

#[test]
fn the_font_has_every_character_of_the_program() {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(workspace().join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &["rs"], &mut sources);
    }
    // Strings in tests do not appear in pictures, nor do words that an importer matches.
    sources.retain(|path| {
        !path.ends_with("tests.rs")
            && !path.ends_with("import/dd.rs")
            && !path.ends_with("import/sar.rs")
            && !path.ends_with("import/unread.rs")
            && !path.starts_with(workspace().join("crates/testkit"))
    });
    assert!(sources.len() > 100, "{} sources", sources.len());
    let mut data = Vec::new();
    for folder in ["profiles", "devices", "studies", "catalogue", "uses", "crates/cli/help"] {
        files(&workspace().join(folder), &["toml", "txt", "md"], &mut data);
    }
    assert!(data.len() > 50, "{} data files", data.len());
    let mut all = String::new();
    for path in &sources {
        let words = literals(&std::fs::read_to_string(path).unwrap());
        assert_eq!(lacking(&words), Vec::<char>::new(), "{}", path.display());
        all += &words;
    }
    for path in &data {
        let words = std::fs::read_to_string(path).unwrap();
        assert_eq!(lacking(&words), Vec::<char>::new(), "{}", path.display());
        all += &words;
    }
    assert!(
        all.contains('読') && all.contains('µ') && all.contains('×'),
        "the walk has seen Japanese and units"
    );
}
