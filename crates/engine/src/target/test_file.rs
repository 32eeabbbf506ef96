//! Files that kurabe creates on a target and removes again: the test file, its copy, and the work
//! folder of programs.
//!
//! A name contains a random token and is stored before the file exists, so that after a `kill -9`
//! the next start can find exactly this file. Everything is created below the held folder of the
//! target, and only what was created is removed: if the name now refers to another file, that file
//! stays.

use crate::platform::{self, OpenHow};
use crate::target::held::HeldFile;
use crate::target::mark::{INSIDE, RunMark, beside};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_program::{FileIdentity, Folder};
use rustix::fs::FileType;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const PREFIX: &str = ".kurabe-";
const SUFFIX: &str = ".test";

/// Returns the name of a test file for a run. `word` is random.
pub fn test_file_name(run_id: &str, word: u64) -> String {
    format!("{PREFIX}{run_id}-{word:016x}{SUFFIX}")
}

/// Returns whether a name is that of a test file or work folder of this run.
pub(crate) fn is_test_file_name(name: &OsStr, run_id: &str) -> bool {
    let word = name.to_str().and_then(|name| {
        name.strip_prefix(PREFIX)?.strip_prefix(run_id)?.strip_prefix('-')?.strip_suffix(SUFFIX)
    });
    word.is_some_and(|word| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns the name of the copy next to a test file. Code that removes the remains of a test file
/// must also remove its copy.
pub(crate) fn copy_beside(test_file: &OsStr) -> OsString {
    Path::new(test_file).with_extension("copy.test").into_os_string()
}

/// Everything that was created in a target's folder and must still be removed. Code that ends the
/// process early holds a reference to it.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) folder: Folder,
    /// The mark of everything created.
    mark: RunMark,
    made: Mutex<Vec<Made>>,
}

/// A file or a folder that was created. It is held open so that its inode number can't be reused.
#[derive(Debug)]
struct Made {
    name: OsString,
    handle: OwnedFd,
    /// Whether it is only the mark of the others, which is removed last.
    is_mark: bool,
    /// The mark in a folder, which is locked as long as the run lives.
    inside: Option<File>,
}

/// Everything created in the folders of several targets, for code that ends the process early. A
/// target that was dropped has removed its own files.
#[derive(Clone, Debug, Default)]
pub struct Scratches(Arc<Mutex<Vec<Weak<Scratch>>>>);

impl Scratches {
    pub(crate) fn add(&self, scratch: &Arc<Scratch>) {
        let mut all = self.lock();
        all.retain(|scratch| scratch.strong_count() > 0);
        all.push(Arc::downgrade(scratch));
    }

    /// Removes everything that was created, and returns what could not be removed. Hangs if the
    /// storage does.
    pub fn remove_all(&self) -> Vec<Remains> {
        // The lock is not held while files are removed.
        let all: Vec<Arc<Scratch>> = self.lock().iter().filter_map(Weak::upgrade).collect();
        all.iter().flat_map(|scratch| scratch.remove_all()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Scratch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something that could not be removed.
#[derive(Debug)]
pub struct Remains {
    /// The path at which it was created.
    pub path: PathBuf,
    /// Whether it still exists there, so that a later start can remove it. Otherwise it was moved.
    pub is_in_place: bool,
    /// Why it could not be removed.
    pub error: Error,
}

impl Scratch {
    /// Creates an empty list for a folder.
    pub(crate) fn in_folder(folder: Folder, mark: RunMark) -> Self {
        Self { folder, mark, made: Mutex::default() }
    }

    /// Removes everything that was created, and returns what could not be removed. May be called
    /// repeatedly and from several threads.
    pub fn remove_all(&self) -> Vec<Remains> {
        let names: Vec<OsString> = self.lock().iter().rev().map(|made| made.name.clone()).collect();
        names.iter().filter_map(|name| self.remove(name)).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, name: &OsStr, handle: impl AsFd) -> io::Result<()> {
        let handle = handle.as_fd().try_clone_to_owned()?;
        self.lock().push(Made { name: name.to_owned(), handle, is_mark: false, inside: None });
        Ok(())
    }

    /// Marks a file that was created. A mark next to it, if necessary, is removed after all other
    /// files.
    fn mark_file(&self, name: &OsStr, file: &File) -> io::Result<()> {
        if let Some(mark) = self.mark.put_on(&self.folder, name, file)? {
            let mark = Made { name: beside(name), handle: mark.into(), is_mark: true, inside: None };
            self.lock().insert(0, mark);
        }
        Ok(())
    }

    /// Marks a folder that was created. The mark is held until everything else in the folder is
    /// removed.
    fn mark_folder(&self, name: &OsStr, folder: &Folder) -> io::Result<()> {
        let mark = self.mark.put_in(folder)?;
        if let Some(made) = self.lock().iter_mut().find(|made| made.name == name) {
            made.inside = mark;
        }
        Ok(())
    }

    /// Removes one item. It stays on the list if that fails.
    fn remove(&self, name: &OsStr) -> Option<Remains> {
        let mut all = self.lock();
        let made = all.iter_mut().find(|made| made.name == name)?;
        let remains = self.unlink(made).err();
        if remains.is_none() {
            all.retain(|made| made.name != name);
        }
        // The only remaining item is a mark.
        match all.as_mut_slice() {
            [mark] if mark.is_mark && remains.is_none() => {
                let remains = self.unlink(mark).err();
                if remains.is_none() {
                    all.clear();
                }
                remains
            }
            _ => remains,
        }
    }

    fn unlink(&self, made: &mut Made) -> Result<(), Remains> {
        let path = self.folder.path().join(&made.name);
        let shown = path.display();
        let cannot = |error: &io::Error| Remains {
            path: path.clone(),
            is_in_place: true,
            error: Error::os(text!("cannot remove {shown}", "{shown} を消せません"), error).remedy(text!(
                "kurabe removes it at a later start, when that is possible",
                "削除できるようになれば、以後の kurabe の起動時に削除します"
            )),
        };
        let facts = self.folder.facts(&made.name).map_err(|error| cannot(&error))?;
        let held = rustix::fs::fstat(&made.handle).map_err(|error| cannot(&error.into()))?;
        match facts {
            Some(facts) if FileIdentity::from(&facts) == FileIdentity::from(&held) => {
                let kind = FileType::from_raw_mode(facts.st_mode);
                let removed = match kind {
                    FileType::Directory => {
                        let let_go = || drop(made.inside.take());
                        self.folder.remove_marked_tree(&made.name, OsStr::new(INSIDE), let_go)
                    }
                    _ => self.folder.remove(&made.name, kind),
                };
                removed.map_err(|error| cannot(&error))
            }
            // Another process has removed it.
            _ if held.st_nlink == 0 => Ok(()),
            _ => match platform::path_of(&made.handle) {
                Some(now) => Err(Remains { is_in_place: false, error: moved(&path, &now), path }),
                None => Ok(()),
            },
        }
    }
}

/// Returns the error for something that was moved while it was in use.
fn moved(path: &Path, now: &Path) -> Error {
    let (path, now) = (path.display(), now.display());
    ErrorKind::Target
        .error(text!(
            "{path} was moved while in use, so it was not removed",
            "使用中に {path} が移動されたため、削除していません"
        ))
        .remedy(text!("remove it from its current location: {now}", "現在の場所から削除してください: {now}"))
}

/// A test file or its copy. Removed on drop.
#[derive(Debug)]
pub struct TestFile {
    /// The list to which it belongs.
    pub(crate) scratch: Arc<Scratch>,
    /// Name of the file in the folder.
    pub(crate) name: OsString,
    /// The held file.
    pub(crate) held: Arc<HeldFile>,
}

impl TestFile {
    /// Creates the file. Never overwrites an existing one.
    ///
    /// # Errors
    /// Fails if the file exists, or if it can't be created in the folder.
    pub(crate) fn create(scratch: &Arc<Scratch>, name: &OsStr) -> Result<Self> {
        let cannot = |error: io::Error| {
            let path = scratch.folder.path().join(name);
            let path = path.display();
            Error::os(
                text!("cannot create the test file {path}", "テストファイル {path} を作れません"),
                &error,
            )
        };
        let held = HeldFile::create(&scratch.folder, name).map_err(cannot)?;
        scratch.note(name, held.file()).map_err(cannot)?;
        // From here on, the file is removed on drop.
        let made = Self { scratch: Arc::clone(scratch), name: name.to_owned(), held: Arc::new(held) };
        scratch.mark_file(name, made.file()).map_err(cannot)?;
        Ok(made)
    }

    /// Returns the descriptor that is held during the file's whole life.
    pub fn file(&self) -> &File {
        self.held.file()
    }

    /// Returns the identity of the file, regardless of its name.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn identity(&self) -> io::Result<FileIdentity> {
        FileIdentity::of(self.held.file())
    }

    /// Opens a separate descriptor through the page cache.
    pub(crate) fn open_again(&self) -> Result<File> {
        self.held.reopen(OpenHow { write: true, ..OpenHow::default() })
    }

    /// Removes the file.
    ///
    /// # Errors
    /// Fails if the file still exists.
    pub(crate) fn close(self) -> Result<()> {
        match self.scratch.remove(&self.name) {
            Some(remains) => Err(remains.error),
            None => Ok(()),
        }
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // Callers that need the error call `close`. The next start tries again, because the store
        // still records the file.
        let _ = self.scratch.remove(&self.name);
    }
}

/// The folder in which programs have their own folders. Removed on drop.
#[derive(Debug)]
pub(crate) struct Container {
    scratch: Arc<Scratch>,
    name: OsString,
    pub(crate) folder: Folder,
}

impl Container {
    /// Creates the folder. Never uses an existing one, which could contain another user's files.
    ///
    /// # Errors
    /// Fails if the folder exists, or if it can't be created.
    pub(crate) fn create(scratch: &Arc<Scratch>, name: &OsStr) -> Result<Self> {
        let cannot = |error: io::Error| {
            let path = scratch.folder.path().join(name);
            let path = path.display();
            Error::os(text!("cannot create the folder {path}", "フォルダー {path} を作れません"), &error)
        };
        let folder = scratch.folder.make(name).map_err(cannot)?;
        scratch.note(name, &folder).map_err(cannot)?;
        let made = Self { scratch: Arc::clone(scratch), name: name.to_owned(), folder };
        scratch.mark_folder(name, &made.folder).map_err(cannot)?;
        Ok(made)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // Same as for a test file.
        let _ = self.scratch.remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn scratch() -> (tempfile::TempDir, PathBuf, Arc<Scratch>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let scratch = Arc::new(Scratch::in_folder(Folder::open(&path).unwrap(), RunMark::new("abc", "0f")));
        (dir, path, scratch)
    }

    fn name() -> OsString {
        test_file_name("abc", 1).into()
    }

    #[test]
    fn a_test_file_goes_when_its_owner_goes() {
        let (_dir, path, scratch) = scratch();
        let owner = TestFile::create(&scratch, &name()).unwrap();
        assert!(path.join(name()).exists());
        assert!(TestFile::create(&scratch, &name()).is_err(), "never over a file that exists");
        drop(owner);
        assert!(!path.join(name()).exists());
        TestFile::create(&scratch, &name()).unwrap().close().unwrap();
        assert!(!path.join(name()).exists());
    }

    #[test]
    fn only_what_was_made_is_removed_and_what_was_moved_is_told() {
        let (_dir, path, scratch) = scratch();
        let owner = TestFile::create(&scratch, &name()).unwrap();
        std::fs::rename(path.join(name()), path.join("moved")).unwrap();
        std::fs::write(path.join(name()), "victim").unwrap();
        let remains = scratch.remove_all();
        assert!(remains.len() == 1 && !remains[0].is_in_place, "{remains:?}");
        let remedy = remains[0].error.remedy_text().unwrap().en.clone();
        assert!(remedy.contains(path.join("moved").to_str().unwrap()), "{remedy}");
        assert!(owner.close().is_err());
        assert_eq!(std::fs::read(path.join(name())).unwrap(), b"victim");
        // A file that was deleted needs no further attention.
        let owner = TestFile::create(&scratch, OsStr::new("other")).unwrap();
        std::fs::remove_file(path.join("other")).unwrap();
        owner.close().unwrap();
    }

    #[test]
    fn a_mark_beside_goes_with_the_last_that_it_marks() {
        let (_dir, path, scratch) = scratch();
        let (file, copy) = (name(), copy_beside(&name()));
        let first = TestFile::create(&scratch, &file).unwrap();
        // As on a file system without extended attributes.
        let mark = File::create_new(path.join(beside(&file))).unwrap();
        scratch
            .lock()
            .insert(0, Made { name: beside(&file), handle: mark.into(), is_mark: true, inside: None });
        let second = TestFile::create(&scratch, &copy).unwrap();
        second.close().unwrap();
        assert!(path.join(beside(&file)).exists());
        first.close().unwrap();
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        assert!(scratch.remove_all().is_empty());
    }

    #[test]
    fn a_container_goes_with_all_that_is_in_it_and_is_never_taken_over() {
        let (_dir, path, scratch) = scratch();
        std::fs::create_dir(path.join(name())).unwrap();
        assert!(Container::create(&scratch, &name()).is_err());
        std::fs::remove_dir(path.join(name())).unwrap();
        let container = Container::create(&scratch, &name()).unwrap();
        container.folder.make(OsStr::new("deep")).unwrap();
        drop(container);
        assert!(!path.join(name()).exists());
        let container = Container::create(&scratch, &name()).unwrap();
        std::fs::rename(path.join(name()), path.join("moved")).unwrap();
        std::fs::create_dir_all(path.join(name()).join("victim")).unwrap();
        assert!(!scratch.remove_all()[0].is_in_place);
        drop(container);
        assert!(path.join(name()).join("victim").exists());
    }

    #[test]
    fn a_name_is_of_one_run_and_has_its_word() {
        let is_one = |name: &str| is_test_file_name(OsStr::new(name), "abc");
        assert!(is_one(&test_file_name("abc", u64::MAX)) && is_one(&test_file_name("abc", 1)));
        for name in [
            ".kurabe-notes.test",
            ".kurabe-abc.test",
            ".kurabe-abd-0000000000000001.test",
            ".kurabe-abc-000000000000001.test",
            ".kurabe-abc-0000000000000001.copy.test",
            "kurabe-abc-0000000000000001.test",
        ] {
            assert!(!is_one(name), "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_gone_is_a_target_error() {
        let (dir, _, scratch) = scratch();
        drop(dir);
        assert_eq!(TestFile::create(&scratch, &name()).unwrap_err().kind(), ErrorKind::Target);
    }
}
