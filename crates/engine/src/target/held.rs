//! A file or a device that is opened once and checked; every later access goes through that descriptor.
//!
//! The model: a name is a name at one moment only. What was opened first is held, and a thread of a repetition that needs
//! a descriptor of its own opens the held one anew (/proc/self/fd), which is the very file or device whatever has become
//! of its name. Where /proc is missing it is opened by its name below the held folder, and compared with what is held
//! before anything is done with it.
//!
//! A file that has lost its last name is gone for its owner, so a run ends rather than measure what nobody sees. A test
//! file that got a second name is somebody else's as well: nothing more is written to it.

use crate::platform::{self, OpenHow};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_program::{FileIdentity, Folder};
use rustix::fs::{FileType, OFlags, Stat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// A file or a device that is held open.
#[derive(Debug)]
pub(crate) struct HeldFile {
    file: File,
    folder: Folder,
    name: OsString,
    rules: Invariant,
}

/// What must stay as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invariant {
    /// A test file: exactly one name.
    OneName,
    /// A file of the user's: at least one name.
    Named,
    /// A device, or a file on a file system that counts no names.
    Identity,
}

/// What has a name, before it is opened: looking must not rewind a tape.
#[derive(Debug)]
pub(crate) struct Looked {
    handle: File,
    folder: Folder,
    name: OsString,
    /// What it is.
    pub(crate) facts: Stat,
}

impl Looked {
    /// Takes hold of what a path names; no link may be in the path.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = Folder::open(parent)?;
        let handle = File::from(folder.open_entry(name, OFlags::PATH)?);
        let facts = rustix::fs::fstat(&handle)?;
        Ok(Self { handle, folder, name: name.to_owned(), facts })
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn open(self) -> io::Result<HeldFile> {
        let file = reopen(self.handle.as_fd(), &self.folder, &self.name, OpenHow::default())?;
        let rules = match FileType::from_raw_mode(self.facts.st_mode) {
            FileType::RegularFile if self.facts.st_nlink > 0 => Invariant::Named,
            _ => Invariant::Identity,
        };
        Ok(HeldFile { file, folder: self.folder, name: self.name, rules })
    }
}

impl HeldFile {
    /// Makes a file in a folder, where nothing may have its name.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn create(folder: &Folder, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOCTTY;
        let file = File::from(folder.open_entry(name, flags)?);
        // A file system that counts no names says 0.
        let rules =
            if rustix::fs::fstat(&file)?.st_nlink == 1 { Invariant::OneName } else { Invariant::Identity };
        Ok(Self { file, folder: folder.try_clone()?, name: name.to_owned(), rules })
    }

    /// Holds it for writing from now on; `exclusive`: a block device that nobody else may use meanwhile.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn for_writing(mut self, exclusive: bool) -> io::Result<Self> {
        let how = OpenHow { write: true, exclusive, ..OpenHow::default() };
        self.file = reopen(self.file.as_fd(), &self.folder, &self.name, how)?;
        Ok(self)
    }

    /// The descriptor that is held.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The path by which it was found, for people to read.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Opens it once more.
    ///
    /// # Errors
    /// The operating system's; `Target` when it is gone, or no longer kurabe's alone; `Unsupported` where direct I/O is
    /// refused at opening.
    pub(crate) fn reopen(&self, how: OpenHow) -> Result<File> {
        let cannot = |error: &io::Error| {
            let what = text!("cannot open {}", "{} を開けません", shown::path(self.path()));
            if how.direct && error.kind() == io::ErrorKind::InvalidInput {
                return ErrorKind::Unsupported.error(what).because(error);
            }
            Error::os(what, error)
        };
        self.refuse_changed()?;
        reopen(self.file.as_fd(), &self.folder, &self.name, how).map_err(|error| cannot(&error))
    }

    /// Refuses a file that is gone, and a test file that got a second name.
    fn refuse_changed(&self) -> Result<()> {
        let path = self.path();
        let path = shown::path(path);
        let facts = rustix::fs::fstat(&self.file).map_err(|error| {
            Error::os(text!("cannot look at {path}", "{path} を調べられません"), &error.into())
        })?;
        let what = match (self.rules, facts.st_nlink) {
            (Invariant::OneName | Invariant::Named, 0) => text!(
                "{path} was removed or replaced while it was measured",
                "測定中に {path} が削除されたか、別のファイルに置き換わりました"
            ),
            (Invariant::OneName, names @ 2..) => text!(
                "{path} was given a second name (hard link) while it was measured: it has {names}",
                "測定中に {path} へ別の名前(ハードリンク)が付けられました(名前は {names} 個)"
            ),
            _ => return Ok(()),
        };
        Err(ErrorKind::Target.error(what).remedy(text!(
            "leave it alone while it is measured, and measure again",
            "測定中はこのファイルに触らず、もう一度測ってください"
        )))
    }
}

impl AsFd for HeldFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens what is held once more: through the descriptor, or where /proc is missing by its name.
fn reopen(held: BorrowedFd<'_>, folder: &Folder, name: &OsStr, how: OpenHow) -> io::Result<File> {
    let file = match platform::reopen(held, how) {
        // The descriptor exists, so it is /proc that does not.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            File::from(folder.open_entry(name, platform::open_flags(how))?)
        }
        other => other?,
    };
    let key =
        |facts: &Stat| (FileIdentity::from(facts), facts.st_rdev, FileType::from_raw_mode(facts.st_mode));
    if key(&rustix::fs::fstat(held)?) != key(&rustix::fs::fstat(&file)?) {
        return Err(io::Error::other("something else has its name now"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const WRITE: OpenHow =
        OpenHow { write: true, direct: false, o_sync: false, data_only: false, exclusive: false };

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn a_held_file_is_opened_again_whatever_has_its_name() {
        let (_dir, path) = place();
        std::fs::write(path.join("file"), "mine").unwrap();
        let held = Looked::at(&path.join("file")).unwrap().open().unwrap();
        std::fs::rename(path.join("file"), path.join("moved")).unwrap();
        std::fs::write(path.join("file"), "victim").unwrap();
        held.reopen(WRITE).unwrap().write_all(b"ours").unwrap();
        assert_eq!(std::fs::read(path.join("file")).unwrap(), b"victim");
        assert_eq!(std::fs::read(path.join("moved")).unwrap(), b"ours");
        std::fs::remove_file(path.join("moved")).unwrap();
        let error = held.reopen(WRITE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Target);
        assert!(error.what().en.contains("removed or replaced"), "{}", error.what().en);
    }

    #[test]
    fn a_second_name_ends_the_use_of_a_test_file_and_not_of_a_users_file() {
        let (_dir, path) = place();
        let made = HeldFile::create(&Folder::open(&path).unwrap(), OsStr::new("made")).unwrap();
        let users = Looked::at(&path.join("made")).unwrap().open().unwrap();
        made.reopen(WRITE).unwrap();
        std::fs::hard_link(path.join("made"), path.join("second")).unwrap();
        assert!(made.reopen(WRITE).unwrap_err().what().en.contains("second name"));
        users.reopen(WRITE).unwrap();
    }

    #[test]
    fn without_proc_a_name_is_used_only_while_it_names_the_same() {
        let (_dir, path) = place();
        let (folder, name) = (Folder::open(&path).unwrap(), OsStr::new("file"));
        std::fs::write(path.join("file"), "mine").unwrap();
        std::fs::write(path.join("other"), "victim").unwrap();
        let mine = File::open(path.join("file")).unwrap();
        let by_name = |held: &File| {
            let file = File::from(folder.open_entry(name, platform::open_flags(WRITE)).unwrap());
            FileIdentity::of(held).unwrap() == FileIdentity::of(&file).unwrap()
        };
        assert!(by_name(&mine));
        std::fs::rename(path.join("other"), path.join("file")).unwrap();
        assert!(!by_name(&mine));
        std::fs::remove_file(path.join("file")).unwrap();
        std::os::unix::fs::symlink("/dev/null", path.join("file")).unwrap();
        assert!(folder.open_entry(name, platform::open_flags(WRITE)).is_err(), "a link is not followed");
    }

    #[test]
    fn a_link_is_not_looked_through() {
        let (_dir, path) = place();
        std::fs::write(path.join("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", path.join("link")).unwrap();
        let looked = Looked::at(&path.join("link")).unwrap();
        assert_eq!(FileType::from_raw_mode(looked.facts.st_mode), FileType::Symlink);
        assert!(looked.open().is_err());
    }
}
