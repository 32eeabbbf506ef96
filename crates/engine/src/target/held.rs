//! A file or device that is opened and checked once. Every later access goes through that
//! descriptor.
//!
//! A name can refer to different files over time. The file that was opened first is held open, and
//! a thread of a repetition that needs its own descriptor reopens the held one (/proc/self/fd),
//! which gives exactly this file or device regardless of its name. If /proc is not mounted, the
//! file is opened by its name below the held folder and compared with the held one before it is
//! used.
//!
//! A file that has lost its last name has been deleted by its owner, so the run ends instead of
//! measuring a file that no other process can see. A test file with a second hard link may be in
//! use by another user, so nothing more is written to it.

use crate::platform::{self, OpenHow};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_program::{FileIdentity, Folder};
use rustix::fs::{FileType, OFlags, Stat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// A file or device that is held open.
#[derive(Debug)]
pub(crate) struct HeldFile {
    file: File,
    folder: Folder,
    name: OsString,
    rules: Invariant,
}

/// A property that must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invariant {
    /// A test file: exactly one name.
    OneName,
    /// A file of the user: at least one name.
    Named,
    /// A device, or a file on a file system without link counts.
    Identity,
}

/// A directory entry that has been examined but not opened, because opening it could rewind a tape.
#[derive(Debug)]
pub(crate) struct Looked {
    handle: File,
    folder: Folder,
    name: OsString,
    /// The entry's facts.
    pub(crate) facts: Stat,
}

impl Looked {
    /// Takes hold of the object at a path. The path must not contain symbolic links.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = Folder::open(parent)?;
        let handle = File::from(folder.open_entry(name, OFlags::PATH)?);
        let facts = rustix::fs::fstat(&handle)?;
        Ok(Self { handle, folder, name: name.to_owned(), facts })
    }

    /// Opens the object for reading.
    ///
    /// # Errors
    /// Returns the operating system's error.
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
    /// Creates a file in a folder, in which the name must not exist.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn create(folder: &Folder, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOCTTY;
        let file = File::from(folder.open_entry(name, flags)?);
        // A file system without link counts reports 0.
        let rules =
            if rustix::fs::fstat(&file)?.st_nlink == 1 { Invariant::OneName } else { Invariant::Identity };
        Ok(Self { file, folder: folder.try_clone()?, name: name.to_owned(), rules })
    }

    /// Reopens the object for writing. With `exclusive`, no other process can use a block device
    /// while it is held.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn for_writing(mut self, exclusive: bool) -> io::Result<Self> {
        let how = OpenHow { write: true, exclusive, ..OpenHow::default() };
        self.file = reopen(self.file.as_fd(), &self.folder, &self.name, how)?;
        Ok(self)
    }

    /// Returns the held descriptor.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the path at which it was found, for display.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Opens the held object again.
    ///
    /// # Errors
    /// Returns the operating system's error; `Target` if the file was removed or is no longer
    /// kurabe's alone; `Unsupported` if direct I/O is refused at opening.
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

    /// Rejects a file that was removed, and a test file that got a second name.
    fn refuse_changed(&self) -> Result<()> {
        let path = self.path();
        let path = shown::path(path);
        let facts = rustix::fs::fstat(&self.file).map_err(|error| {
            Error::os(text!("cannot examine {path}", "{path} を調べられません"), &error.into())
        })?;
        let what = match (self.rules, facts.st_nlink) {
            (Invariant::OneName | Invariant::Named, 0) => text!(
                "{path} was removed or replaced during the run",
                "測定中に {path} が削除されたか、別のファイルに置き換わりました"
            ),
            (Invariant::OneName, names @ 2..) => text!(
                "a hard link to {path} was created during the run: it has {names} names",
                "測定中に {path} へ別の名前(ハードリンク)が付けられました(名前は {names} 個)"
            ),
            _ => return Ok(()),
        };
        Err(ErrorKind::Target.error(what).remedy(text!(
            "do not touch it during the run, and measure again",
            "測定中はこのファイルに触らず、もう一度測ってください"
        )))
    }
}

impl AsFd for HeldFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens the held object again: through its descriptor, or by its name if /proc is not mounted.
fn reopen(held: BorrowedFd<'_>, folder: &Folder, name: &OsStr, how: OpenHow) -> io::Result<File> {
    let file = match platform::reopen(held, how) {
        // The descriptor exists, so it is /proc that is missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            File::from(folder.open_entry(name, platform::open_flags(how))?)
        }
        other => other?,
    };
    let key =
        |facts: &Stat| (FileIdentity::from(facts), facts.st_rdev, FileType::from_raw_mode(facts.st_mode));
    if key(&rustix::fs::fstat(held)?) != key(&rustix::fs::fstat(&file)?) {
        return Err(io::Error::other("another file has its name now"));
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
        assert!(made.reopen(WRITE).unwrap_err().what().en.contains("hard link"));
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
