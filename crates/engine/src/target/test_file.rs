//! What kurabe makes on a target and takes away again: the test file, its copy, and the folder in which programs work.
//!
//! The model: a name carries a random word and is in the store before the file exists, so after a `kill -9` the next
//! start can find it, and only it. Everything is made below the held folder of the target, and what is removed is what
//! was made: a name that something else has got meanwhile stays.

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

/// The name of a test file for a run; `word` is random.
pub fn test_file_name(run_id: &str, word: u64) -> String {
    format!("{PREFIX}{run_id}-{word:016x}{SUFFIX}")
}

/// Whether a name is one of a test file, or of a work folder, of this run.
pub(crate) fn is_test_file_name(name: &OsStr, run_id: &str) -> bool {
    let word = name.to_str().and_then(|name| {
        name.strip_prefix(PREFIX)?.strip_prefix(run_id)?.strip_prefix('-')?.strip_suffix(SUFFIX)
    });
    word.is_some_and(|word| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The name of a copy of a test file, beside it. Whoever removes what is left of a test file removes this too.
pub(crate) fn copy_beside(test_file: &OsStr) -> OsString {
    Path::new(test_file).with_extension("copy.test").into_os_string()
}

/// What was made in a target's folder and is still to be taken away. Whoever ends the process early has a share of it.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) folder: Folder,
    /// What all of it bears.
    mark: RunMark,
    made: Mutex<Vec<Made>>,
}

/// A file or a folder that was made. Held open, so that its number cannot become another's.
#[derive(Debug)]
struct Made {
    name: OsString,
    handle: OwnedFd,
    /// Whether it only says whose the others are; then it goes last.
    is_mark: bool,
    /// The mark in a folder, which is locked as long as the run lives.
    inside: Option<File>,
}

/// What was made in the folders of several targets, for who ends the process early. A target that is gone has taken its
/// own away.
#[derive(Clone, Debug, Default)]
pub struct Scratches(Arc<Mutex<Vec<Weak<Scratch>>>>);

impl Scratches {
    pub(crate) fn add(&self, scratch: &Arc<Scratch>) {
        let mut all = self.lock();
        all.retain(|scratch| scratch.strong_count() > 0);
        all.push(Arc::downgrade(scratch));
    }

    /// Removes everything that was made; what could not be removed. This hangs where the storage does.
    pub fn remove_all(&self) -> Vec<Remains> {
        // Nobody waits for the lock while a file is removed.
        let all: Vec<Arc<Scratch>> = self.lock().iter().filter_map(Weak::upgrade).collect();
        all.iter().flat_map(|scratch| scratch.remove_all()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Scratch>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What could not be taken away.
#[derive(Debug)]
pub struct Remains {
    /// Where it was made.
    pub path: PathBuf,
    /// Whether it is still there, so that a later start can remove it; otherwise it was moved.
    pub is_in_place: bool,
    /// Why.
    pub error: Error,
}

impl Scratch {
    /// What will be made in a folder; nothing yet.
    pub(crate) fn in_folder(folder: Folder, mark: RunMark) -> Self {
        Self { folder, mark, made: Mutex::default() }
    }

    /// Removes everything that was made; what could not be removed. Safe to be asked again, and from other threads.
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

    /// Marks a file that was made. The mark beside it, if there must be one, is removed after all others.
    fn mark_file(&self, name: &OsStr, file: &File) -> io::Result<()> {
        if let Some(mark) = self.mark.put_on(&self.folder, name, file)? {
            let mark = Made { name: beside(name), handle: mark.into(), is_mark: true, inside: None };
            self.lock().insert(0, mark);
        }
        Ok(())
    }

    /// Marks a folder that was made; the mark is held until all else in it is removed.
    fn mark_folder(&self, name: &OsStr, folder: &Folder) -> io::Result<()> {
        let mark = self.mark.put_in(folder)?;
        if let Some(made) = self.lock().iter_mut().find(|made| made.name == name) {
            made.inside = mark;
        }
        Ok(())
    }

    /// Removes one thing that was made. It stays on the list where that failed.
    fn remove(&self, name: &OsStr) -> Option<Remains> {
        let mut all = self.lock();
        let made = all.iter_mut().find(|made| made.name == name)?;
        let remains = self.unlink(made).err();
        if remains.is_none() {
            all.retain(|made| made.name != name);
        }
        // A mark that marks nothing any more.
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
                "a later start of kurabe removes it, as soon as that works",
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
            // Somebody has removed it.
            _ if held.st_nlink == 0 => Ok(()),
            _ => match platform::path_of(&made.handle) {
                Some(now) => Err(Remains { is_in_place: false, error: moved(&path, &now), path }),
                None => Ok(()),
            },
        }
    }
}

/// Something of kurabe's that has lost its name while it was used.
fn moved(path: &Path, now: &Path) -> Error {
    let (path, now) = (path.display(), now.display());
    ErrorKind::Target
        .error(text!(
            "{path} was moved away while it was used, so it is not removed",
            "使用中に {path} が移動されたため、削除していません"
        ))
        .remedy(text!("remove it where it is now: {now}", "現在の場所から削除してください: {now}"))
}

/// A test file, or its copy, that is removed when this goes.
#[derive(Debug)]
pub struct TestFile {
    /// What was made together with it.
    pub(crate) scratch: Arc<Scratch>,
    /// Its name in the folder.
    pub(crate) name: OsString,
    /// The file.
    pub(crate) held: Arc<HeldFile>,
}

impl TestFile {
    /// Makes the file; never over one that exists.
    ///
    /// # Errors
    /// When it exists, or the folder does not take it.
    pub(crate) fn create(scratch: &Arc<Scratch>, name: &OsStr) -> Result<Self> {
        let cannot = |error: io::Error| {
            let path = scratch.folder.path().join(name);
            let path = path.display();
            Error::os(text!("cannot make the test file {path}", "テストファイル {path} を作れません"), &error)
        };
        let held = HeldFile::create(&scratch.folder, name).map_err(cannot)?;
        scratch.note(name, held.file()).map_err(cannot)?;
        // From here on it is removed when this goes.
        let made = Self { scratch: Arc::clone(scratch), name: name.to_owned(), held: Arc::new(held) };
        scratch.mark_file(name, made.file()).map_err(cannot)?;
        Ok(made)
    }

    /// The descriptor that is held from its making to its end.
    pub fn file(&self) -> &File {
        self.held.file()
    }

    /// Which file it is, whatever its name.
    ///
    /// # Errors
    /// The operating system's.
    pub fn identity(&self) -> io::Result<FileIdentity> {
        FileIdentity::of(self.held.file())
    }

    /// A descriptor of its own, through the page cache.
    pub(crate) fn open_again(&self) -> Result<File> {
        self.held.reopen(OpenHow { write: true, ..OpenHow::default() })
    }

    /// Removes the file.
    ///
    /// # Errors
    /// When it is still there.
    pub(crate) fn close(self) -> Result<()> {
        match self.scratch.remove(&self.name) {
            Some(remains) => Err(remains.error),
            None => Ok(()),
        }
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // Who wants to hear of a failure closes it. The next start tries again, because the store still names the file.
        let _ = self.scratch.remove(&self.name);
    }
}

/// The folder in which programs have folders of their own; removed when this goes.
#[derive(Debug)]
pub(crate) struct Container {
    scratch: Arc<Scratch>,
    name: OsString,
    pub(crate) folder: Folder,
}

impl Container {
    /// Makes the folder; never takes one that exists, which would be full of somebody else's files.
    ///
    /// # Errors
    /// When it exists, or the folder above does not take it.
    pub(crate) fn create(scratch: &Arc<Scratch>, name: &OsStr) -> Result<Self> {
        let cannot = |error: io::Error| {
            let path = scratch.folder.path().join(name);
            let path = path.display();
            Error::os(text!("cannot make the folder {path}", "フォルダー {path} を作れません"), &error)
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
        // As with a test file.
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
        // Gone for good, it is nobody's worry.
        let owner = TestFile::create(&scratch, OsStr::new("other")).unwrap();
        std::fs::remove_file(path.join("other")).unwrap();
        owner.close().unwrap();
    }

    #[test]
    fn a_mark_beside_goes_with_the_last_that_it_marks() {
        let (_dir, path, scratch) = scratch();
        let (file, copy) = (name(), copy_beside(&name()));
        let first = TestFile::create(&scratch, &file).unwrap();
        // As where files take no attributes.
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
