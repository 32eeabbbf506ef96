//! What kurabe makes on a target and takes away again: the test file, its copy, and the folder in which programs work.
//!
//! The model: a name carries a random word and is in the store before the file exists, so after a `kill -9` the next
//! start can find it, and only it. Everything is made below the held folder of the target, and what is removed is what
//! was made: a name that something else has got meanwhile stays.

use crate::held::HeldFile;
use crate::platform::{self, OpenHow};
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

/// The name of a copy of a test file, beside it. Whoever removes what is left of a test file removes this too.
pub(crate) fn copy_beside(test_file: &OsStr) -> OsString {
    Path::new(test_file).with_extension("copy.test").into_os_string()
}

/// What was made in a target's folder and is still to be taken away. Whoever ends the process early has a share of it.
#[derive(Debug)]
pub struct Scratch {
    folder: Folder,
    made: Mutex<Vec<Made>>,
}

/// A file or a folder that was made. Held open, so that its number cannot become another's.
#[derive(Debug)]
struct Made {
    name: OsString,
    handle: OwnedFd,
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
    pub(crate) fn in_folder(folder: Folder) -> Self {
        Self { folder, made: Mutex::default() }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
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
        self.lock().push(Made { name: name.to_owned(), handle });
        Ok(())
    }

    /// Removes one thing that was made. It stays on the list where that failed.
    fn remove(&self, name: &OsStr) -> Option<Remains> {
        let mut all = self.lock();
        let made = &all[all.iter().position(|made| made.name == name)?];
        let remains = self.unlink(made).err();
        if remains.is_none() {
            all.retain(|made| made.name != name);
        }
        remains
    }

    fn unlink(&self, made: &Made) -> Result<(), Remains> {
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
                    FileType::Directory => self.folder.remove_tree(&made.name),
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
    Error::new(
        ErrorKind::Target,
        text!(
            "{path} was moved away while it was used, so it is not removed",
            "使用中に {path} が移動されたため、削除していません"
        ),
    )
    .remedy(text!("remove it where it is now: {now}", "現在の場所から削除してください: {now}"))
}

/// A test file, or its copy, that is removed when this goes.
#[derive(Debug)]
pub struct TestFile {
    scratch: Arc<Scratch>,
    name: OsString,
    held: Arc<HeldFile>,
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
        Ok(Self { scratch: Arc::clone(scratch), name: name.to_owned(), held: Arc::new(held) })
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

    /// What was made together with it.
    pub(crate) fn scratch(&self) -> &Arc<Scratch> {
        &self.scratch
    }

    /// A descriptor of its own, through the page cache.
    pub(crate) fn open_again(&self) -> Result<File> {
        self.held.reopen(OpenHow { write: true, ..OpenHow::default() })
    }

    /// Its name in the folder.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The file.
    pub(crate) fn held(&self) -> &Arc<HeldFile> {
        &self.held
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
    folder: Folder,
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
        Ok(Self { scratch: Arc::clone(scratch), name: name.to_owned(), folder })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // As with a test file.
        let _ = self.scratch.remove(&self.name);
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
        .filter(|name| name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX)));
    let (Some(name), Some(parent)) = (named, path.parent()) else { return Ok(false) };
    // A folder that is gone, or whose path is another one now, holds nothing of kurabe's.
    let Ok(folder) = Folder::open(parent) else { return Ok(false) };
    let remove = |name: &OsStr, may_be_folder: bool| -> io::Result<bool> {
        let Some(facts) = folder.facts(name)? else { return Ok(false) };
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory if may_be_folder => folder.remove_tree(name)?,
            kind @ FileType::RegularFile => folder.remove(name, kind)?,
            _ => return Ok(false),
        }
        Ok(true)
    };
    let (copy, file) = (remove(&copy_beside(name), false), remove(name, true));
    let removed = copy.and_then(|copy| Ok(file? || copy));
    removed.map_err(|error| {
        Error::os(
            text!(
                "cannot remove {}, the test file of an earlier run",
                "以前の測定のテストファイル {} を消せません",
                path.display()
            ),
            &error,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn scratch() -> (tempfile::TempDir, PathBuf, Arc<Scratch>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let scratch = Arc::new(Scratch::in_folder(Folder::open(&path).unwrap()));
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
    fn a_container_goes_with_all_that_is_in_it_and_is_never_taken_over() {
        let (_dir, path, scratch) = scratch();
        std::fs::create_dir(path.join(name())).unwrap();
        assert!(Container::create(&scratch, &name()).is_err());
        std::fs::remove_dir(path.join(name())).unwrap();
        let container = Container::create(&scratch, &name()).unwrap();
        container.folder().make(OsStr::new("deep")).unwrap();
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
    fn only_test_files_are_taken_for_orphans() {
        let (_dir, path, _) = scratch();
        let (orphan, other) = (path.join(name()), path.join("thesis.txt"));
        std::fs::write(&orphan, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        assert!(remove_orphan(&orphan).unwrap());
        assert!(!remove_orphan(&orphan).unwrap());
        assert!(!remove_orphan(&other).unwrap());
        assert!(other.exists());
        let link = path.join(test_file_name("abc", 2));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert!(!remove_orphan(&link).unwrap());
    }

    #[test]
    fn an_orphan_is_not_looked_for_through_a_link() {
        let (_dir, path, _) = scratch();
        std::fs::create_dir(path.join("other")).unwrap();
        std::fs::write(path.join("other").join(name()), "x").unwrap();
        std::os::unix::fs::symlink("other", path.join("folder")).unwrap();
        assert!(!remove_orphan(&path.join("folder").join(name())).unwrap());
        assert!(path.join("other").join(name()).exists());
    }

    #[test]
    fn a_copy_goes_with_its_test_file_or_alone() {
        let (_dir, folder, _) = scratch();
        let (path, copy) = (folder.join(name()), folder.join(copy_beside(&name())));
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
        let (_dir, path, _) = scratch();
        let (folder, other) = (path.join(name()), path.join("thesis"));
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("text"), "x").unwrap();
        std::os::unix::fs::symlink(&other, folder.join("deep/link")).unwrap();
        assert!(remove_orphan(&folder).unwrap());
        assert!(!folder.exists() && other.join("text").exists());
        assert!(!remove_orphan(&other).unwrap());
    }

    #[test]
    fn a_folder_that_is_gone_is_a_target_error() {
        let (dir, _, scratch) = scratch();
        drop(dir);
        assert_eq!(TestFile::create(&scratch, &name()).unwrap_err().kind(), ErrorKind::Target);
    }
}
