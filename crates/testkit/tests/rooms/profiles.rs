//! Profile files: each of `valid` is read, and each of `invalid` is refused at the line and with
//! the text in its first line (`# LINE: WORDS`), in both languages.

use kurabe_core::ErrorKind;
use std::path::PathBuf;

/// Returns names and contents of the files of a folder.
fn cases(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../profile/tests/profiles").join(folder);
    let mut cases: Vec<(String, String)> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(cases.len() > 4, "{} has only {} files", folder.display(), cases.len());
    cases
}

#[test]
fn valid_files_are_read() {
    for (name, source) in cases("valid") {
        let profile =
            kurabe_profile::parse_profile(&name, &source).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(!profile.tasks(1 << 30).is_empty(), "{name}");
    }
}

#[test]
fn invalid_files_are_refused_at_their_line_for_their_reason() {
    for (name, source) in cases("invalid") {
        let expected = source.lines().next().unwrap().strip_prefix("# ").unwrap();
        let (line, words) = expected.split_once(": ").unwrap();
        let error = kurabe_profile::parse_profile(&name, &source).expect_err(&name);
        assert_eq!(error.kind(), ErrorKind::DataFile, "{name}");
        let place = error.place().unwrap_or_else(|| panic!("{name} has no place: {error:?}"));
        assert_eq!(
            (place.line.to_string().as_str(), place.file.as_str()),
            (line, name.as_str()),
            "{error:?}"
        );
        let what = error.what();
        assert!(what.en.contains(words), "{name}: {}", what.en);
        for words in [what].into_iter().chain(error.remedy_text()) {
            assert!(!words.en.is_empty() && words.en != words.ja, "{name}: {}", words.en);
            assert!(!words.ja.is_ascii(), "{name}: {}", words.ja);
        }
    }
}
