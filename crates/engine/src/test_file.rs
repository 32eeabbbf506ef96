//! The test file: made where nothing was, removed on every way out.
//!
//! The model: its name carries a random word and is in the store before the file exists, so after a `kill -9` the
//! next start can find it, and only it.

use crate::platform::{self, OpenHow};
use kurabe_core::{Error, Result, text};
use kurabe_program::remove_tree;
use std::fs::File;
use std::path::{Path, PathBuf};

const PREFIX: &str = ".kurabe-";
const SUFFIX: &str = ".test";

/// The name of a test file for a run; `word` is random.
pub fn test_file_name(run_id: &str, word: u64) -> String {
    format!("{PREFIX}{run_id}-{word:016x}{SUFFIX}")
}

/// The name of a copy of a test file, beside it. Whoever removes what is left of a test file removes this too.
pub(crate) fn copy_beside(test_file: &Path) -> PathBuf {
    test_file.with_extension("copy.test")
}

/// A test file that is removed when this goes.
#[derive(Debug)]
pub struct TestFile {
    path: PathBuf,
}

impl TestFile {
    /// Makes the file; never over one that exists.
    ///
    /// # Errors
    /// When it exists, or the directory does not take it.
    pub fn create(path: &Path) -> Result<(Self, File)> {
        let how = OpenHow { write: true, create_new: true, ..OpenHow::default() };
        let file = platform::open(path, how).map_err(|error| {
            Error::os(
                text!("cannot make the test file {}", "テストファイル {} を作れません", path.display()),
                &error,
            )
        })?;
        Ok((Self { path: path.to_owned() }, file))
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // Nothing better can be done here; the next start tries again, because the store still names the file.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes the test file with its copy, or the work folder, that an earlier run left behind, and nothing else: `false`
/// if there is none, or if what is there is neither.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_orphan(path: &Path) -> Result<bool> {
    let named = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
    if !named {
        return Ok(false);
    }
    let copy = copy_beside(path);
    let has_copy = std::fs::symlink_metadata(&copy).is_ok_and(|facts| facts.is_file());
    let copy_removed = if has_copy { std::fs::remove_file(&copy) } else { Ok(()) };
    let removed = match std::fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() => std::fs::remove_file(path),
        Ok(facts) if facts.is_dir() => remove_tree(path),
        _ if has_copy => Ok(()),
        _ => return Ok(false),
    };
    copy_removed.and(removed).map_err(|error| {
        Error::os(
            text!(
                "cannot remove {}, the test file of an earlier run",
                "以前の測定のテストファイル {} を消せません",
                path.display()
            ),
            &error,
        )
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::ErrorKind;

    #[test]
    fn a_test_file_goes_when_its_owner_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(test_file_name("abc", 1));
        let (owner, _file) = TestFile::create(&path).unwrap();
        assert!(path.exists());
        assert!(TestFile::create(&path).is_err(), "never over a file that exists");
        drop(owner);
        assert!(!path.exists());
    }

    #[test]
    fn only_test_files_are_taken_for_orphans() {
        let dir = tempfile::tempdir().unwrap();
        let (orphan, other) = (dir.path().join(test_file_name("abc", 1)), dir.path().join("thesis.txt"));
        std::fs::write(&orphan, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        assert!(remove_orphan(&orphan).unwrap());
        assert!(!remove_orphan(&orphan).unwrap());
        assert!(!remove_orphan(&other).unwrap());
        assert!(other.exists());
        let link = dir.path().join(test_file_name("abc", 2));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert!(!remove_orphan(&link).unwrap());
    }

    #[test]
    fn a_copy_goes_with_its_test_file_or_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(test_file_name("abc", 1));
        let copy = copy_beside(&path);
        assert_eq!(copy.file_name().unwrap(), ".kurabe-abc-0000000000000001.copy.test");
        for files in [vec![&path, &copy], vec![&copy]] {
            files.iter().for_each(|file| std::fs::write(file, "x").unwrap());
            assert!(remove_orphan(&path).unwrap());
            assert!(!path.exists() && !copy.exists());
        }
        assert!(!remove_orphan(&path).unwrap());
    }

    #[test]
    fn a_work_folder_goes_with_all_that_is_in_it_and_nothing_that_it_points_to() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, other) = (dir.path().join(test_file_name("abc", 1)), dir.path().join("thesis"));
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("text"), "x").unwrap();
        std::os::unix::fs::symlink(&other, folder.join("deep/link")).unwrap();
        assert!(remove_orphan(&folder).unwrap());
        assert!(!folder.exists() && other.join("text").exists());
        assert!(!remove_orphan(&other).unwrap());
    }

    #[test]
    fn a_missing_directory_is_a_target_error() {
        let error = TestFile::create(Path::new("/nonexistent/x")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Target);
    }
}
