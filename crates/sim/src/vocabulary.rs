//! English and Japanese names of the kinds of layers, their parameters, causes and counters.
//!
//! The model: the folder `words/` has a page for each kind of layer. An entry is a heading such as
//! `cause transfer`, followed by its texts, one per line and indented by two spaces, English before
//! Japanese. Kinds, parameters and counters have a name. Causes have a name, one sentence of
//! explanation for a reader who does not know the term, and the class by which an outside observer
//! can recognise them (`kurabe_core::model::CauseClass`; not for queueing, whose class the layer
//! specifies). Pages are read at compile time, so an entry with a missing text does not compile.

use kurabe_core::model::CauseClass;

/// Number of texts of a cause. The last one is its class, by which a measurement without the model
/// can recognise it.
const CAUSE_TEXTS: usize = 5;

/// Returns the text of a page.
macro_rules! page {
    ($page:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/words/", $page, ".txt"))
    };
}
pub(crate) use page;

/// Returns the texts of an entry, looked up at compile time.
macro_rules! entry {
    ($page:literal, $sort:expr, $key:expr) => {
        const { $crate::vocabulary::texts($crate::vocabulary::page!($page), $sort, $key) }
    };
}
pub(crate) use entry;

/// Returns the texts of the entry `SORT KEY` of a page.
///
/// # Panics
/// If the page has no such entry, or the entry has a different number of texts or no class; at
/// compile time this is an error.
pub(crate) const fn texts<const COUNT: usize>(
    page: &'static str,
    sort: &str,
    key: &str,
) -> [&'static str; COUNT] {
    let mut rest = page.as_bytes();
    while !rest.is_empty() {
        let (line, after) = split_line(rest);
        rest = after;
        let Some(after_sort) = without_prefix(line, sort.as_bytes()) else { continue };
        let Some(word) = without_prefix(after_sort, b" ") else { continue };
        if !matches!(without_prefix(word, key.as_bytes()), Some([])) {
            continue;
        }
        let mut texts = [""; COUNT];
        let mut count = 0;
        while let Some(text) = without_prefix(split_line(rest).0, b"  ") {
            let Ok(text) = std::str::from_utf8(text) else { panic!("a page is not valid UTF-8") };
            texts[count] = text;
            (rest, count) = (split_line(rest).1, count + 1);
        }
        assert!(count == COUNT, "an entry lacks a text");
        if COUNT == CAUSE_TEXTS {
            assert!(CauseClass::named(texts[COUNT - 1]).is_some(), "a cause has no class");
        }
        return texts;
    }
    panic!("the page has no such entry")
}

/// Returns the first line, and the rest after it.
const fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    let (line, rest) = bytes.split_at(end);
    (line, if let [_, rest @ ..] = rest { rest } else { rest })
}

const fn without_prefix<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let Some((start, rest)) = bytes.split_at_checked(prefix.len()) else { return None };
    let mut at = 0;
    while at < start.len() {
        if start[at] != prefix[at] {
            return None;
        }
        at += 1;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::texts;
    use std::path::Path;

    const PAGE: &str =
        "kind a\n  one\n  二\n\ncause a-b\n  two\n  二\n  why\n  理由\n\ncounter a\n  last\n  最後";

    #[test]
    fn an_entry_is_found_by_its_whole_heading() {
        assert_eq!(texts(PAGE, "kind", "a"), ["one", "二"]);
        assert_eq!(texts(PAGE, "cause", "a-b"), ["two", "二", "why", "理由"]);
        assert_eq!(texts(PAGE, "counter", "a"), ["last", "最後"]);
        for (sort, key) in [("cause", "a"), ("cause", "a-"), ("kin", "a"), ("parameter", "a"), ("", "one")] {
            assert!(std::panic::catch_unwind(|| texts::<2>(PAGE, sort, key)).is_err(), "{sort} {key}");
        }
        let class = |word: &str| {
            texts::<5>(String::leak(format!("cause a\n  b\n  b\n  b\n  b\n  {word}\n")), "cause", "a")
        };
        assert_eq!(class("medium")[4], "medium");
        assert!(std::panic::catch_unwind(|| class("arm")).is_err());
    }

    /// Returns the text of every file in a folder and its subfolders.
    fn sources(folder: &Path) -> String {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files
            .map(|path| if path.is_dir() { sources(&path) } else { std::fs::read_to_string(path).unwrap() })
            .collect()
    }

    #[test]
    fn every_entry_of_every_page_is_used() {
        let room = Path::new(env!("CARGO_MANIFEST_DIR"));
        let code = sources(&room.join("src"));
        for page in std::fs::read_dir(room.join("words")).unwrap() {
            let path = page.unwrap().path();
            assert!(code.contains(&format!("\"{}\"", path.file_stem().unwrap().display())), "{path:?}");
            for line in std::fs::read_to_string(&path).unwrap().lines().filter(|line| !line.starts_with(' '))
            {
                let key = line.split_once(' ').map_or("", |(_, key)| key);
                assert!(line.is_empty() || code.contains(&format!("\"{key}\"")), "{path:?}: {line}");
            }
        }
    }
}
