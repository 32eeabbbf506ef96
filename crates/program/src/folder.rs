//! An open folder and its contents, accessed through its descriptor.
//!
//! A path is resolved once, and must not contain a symbolic link. From then on the descriptor
//! identifies the folder. Wherever it is moved and whatever takes its name, files are created,
//! examined and removed in this very folder. Names below it are single components, and a symbolic
//! link is an entry like any other and is never followed.

use crate::platform;
use kurabe_core::shown;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Identity of a file regardless of its name: device number of its file system, and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device number of the file system (`st_dev`).
    pub device: u64,
    /// Inode number (`st_ino`).
    pub inode: u64,
}

impl FileIdentity {
    /// Returns the identity of an open file or folder.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn of(handle: impl AsFd) -> io::Result<Self> {
        Ok(Self::from(&rustix::fs::fstat(handle)?))
    }
}

impl From<&Stat> for FileIdentity {
    fn from(facts: &Stat) -> Self {
        Self { device: facts.st_dev, inode: facts.st_ino }
    }
}

/// A folder that is held open by its descriptor.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder.
    ///
    /// A symbolic link anywhere in the path is an error. Before Linux 5.6, only one at its end is
    /// detected.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: platform::open_without_links(path)?, path: path.to_owned() })
    }

    /// Creates a folder in it that is accessible only to its owner, and opens it. It must not
    /// exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn make(&self, name: &OsStr) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.handle, name, Mode::RWXU)?;
        self.folder(name)
    }

    /// Opens a folder in it.
    ///
    /// # Errors
    /// Those of the operating system; a symbolic link is not a folder.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { handle: self.open_entry(name, flags)?, path: self.path.join(name) })
    }

    /// Opens a folder below it, on the same file system and without symbolic links on the path. Not
    /// supported before Linux 5.6.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        let handle = platform::open_below(&self.handle, path)?;
        Ok(Self { handle, path: self.path.join(path) })
    }

    /// Opens an entry with `O_NOFOLLOW`. A file that it creates is accessible only to its owner.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open_entry(&self, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
        if name.as_bytes().contains(&b'/') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?)
    }

    /// Returns the metadata of an entry, or `None` if it does not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn facts(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) => Ok(Some(facts)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Renames an entry, replacing an existing one.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Removes an entry; a folder must be empty.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove(&self, name: &OsStr, kind: FileType) -> io::Result<()> {
        let flags = if kind == FileType::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(rustix::fs::unlinkat(&self.handle, name, flags)?)
    }

    /// Removes a file by its name, if it is the one that is open.
    ///
    /// # Errors
    /// If another file has the name, or it cannot be removed.
    pub fn remove_same(&self, name: &OsStr, file: impl AsFd) -> io::Result<()> {
        let facts = self.facts(name)?.ok_or(io::ErrorKind::NotFound)?;
        if FileIdentity::from(&facts) != FileIdentity::of(file)? {
            return Err(io::Error::other("another file has its name now"));
        }
        self.remove(name, FileType::from_raw_mode(facts.st_mode))
    }

    /// Removes a folder like [`Folder::remove_tree`], and its mark after all other contents, so
    /// that an incomplete removal can still be recognized.
    ///
    /// `let_go` is called before the mark is removed: some FUSE file systems only rename a file
    /// that is open (`.fuse_hidden…`), and its folder could not be removed.
    ///
    /// # Errors
    /// As [`Folder::remove_tree`].
    pub fn remove_marked_tree(&self, name: &OsStr, mark: &OsStr, let_go: impl FnOnce()) -> io::Result<()> {
        let folder = self.folder(name)?;
        folder.refuse_mounts()?;
        folder.empty_but(Some(mark))?;
        let_go();
        folder.empty()?;
        self.remove(name, FileType::Directory)
    }

    /// Removes a folder in it with all of its contents, unless a file system is mounted there,
    /// whose contents are not kurabe's.
    ///
    /// # Errors
    /// If a file system is mounted in it, or part of it cannot be removed.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        let folder = self.folder(name)?;
        // Checked before anything is removed.
        folder.refuse_mounts()?;
        folder.empty()?;
        self.remove(name, FileType::Directory)
    }

    fn refuse_mounts(&self) -> io::Result<()> {
        self.refuse_mount()?;
        self.entries()?
            .iter()
            .filter(|(_, kind)| *kind == FileType::Directory)
            .try_for_each(|(name, _)| self.folder(name)?.refuse_mounts())
    }

    fn empty(&self) -> io::Result<()> {
        self.empty_but(None)
    }

    fn empty_but(&self, kept: Option<&OsStr>) -> io::Result<()> {
        for (name, kind) in self.entries()? {
            if kept.is_some_and(|kept| name == kept) {
                continue;
            }
            if kind == FileType::Directory {
                let folder = self.folder(&name)?;
                folder.refuse_mount()?;
                folder.empty()?;
            }
            match self.remove(&name, kind) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn refuse_mount(&self) -> io::Result<()> {
        if platform::is_mount_root(&self.handle)? {
            return Err(io::Error::other(format!("a file system is mounted at {}", shown::path(&self.path))));
        }
        Ok(())
    }

    /// Returns the names and types of its entries.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn entries(&self) -> io::Result<Vec<(OsString, FileType)>> {
        let mut entries = Vec::new();
        for entry in Dir::new(self.readable()?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match self.facts(name)? {
                    Some(facts) => FileType::from_raw_mode(facts.st_mode),
                    None => continue,
                },
                kind => kind,
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Opens the folder as a file, as required by `syncfs`.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn readable(&self) -> io::Result<File> {
        Ok(self.open_entry(OsStr::new("."), OFlags::RDONLY | OFlags::DIRECTORY)?.into())
    }

    /// Duplicates the descriptor.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.try_clone()?, path: self.path.clone() })
    }

    /// Returns the path at the time of opening, for display.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path to it through this process's descriptor. It is valid in other processes of
    /// this user, whatever has the folder's name.
    ///
    /// # Errors
    /// If /proc is not mounted.
    pub fn held_path(&self) -> io::Result<PathBuf> {
        // /proc may belong to another PID namespace, in which this process has another number.
        let process = std::fs::read_link("/proc/self")?;
        Ok(Path::new("/proc").join(process).join("fd").join(self.handle.as_raw_fd().to_string()))
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_stays_the_same_when_it_is_moved_and_its_name_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (dir.path().join("here"), dir.path().join("elsewhere"));
        std::fs::create_dir(&here).unwrap();
        let folder = Folder::open(&here.canonicalize().unwrap()).unwrap();
        std::fs::rename(&here, &elsewhere).unwrap();
        std::fs::create_dir(&here).unwrap();
        folder.make(OsStr::new("inside")).unwrap();
        assert!(elsewhere.join("inside").is_dir() && !here.join("inside").exists());
        assert!(folder.held_path().unwrap().join("inside").is_dir());
        folder.remove_tree(OsStr::new("inside")).unwrap();
        assert!(folder.entries().unwrap().is_empty());
    }

    #[test]
    fn a_link_is_never_a_way_into_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("victim/deep")).unwrap();
        symlink("victim", path.join("link")).unwrap();
        assert!(Folder::open(&path.join("link")).is_err());
        assert!(Folder::open(&path.join("link/deep")).is_err(), "a link in the middle");
        let folder = Folder::open(&path).unwrap();
        assert!(folder.folder(OsStr::new("link")).is_err());
        assert!(folder.remove_tree(OsStr::new("link")).is_err());
        assert!(folder.open_entry(OsStr::new("victim/deep"), OFlags::RDONLY).is_err(), "one name only");
        assert!(path.join("victim/deep").exists());
    }

    #[test]
    fn a_folder_below_is_on_the_same_file_system_and_behind_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        symlink("a", path.join("link")).unwrap();
        let folder = Folder::open(&path).unwrap();
        let below = folder.below(Path::new("a/b")).unwrap();
        let same = FileIdentity::of(Folder::open(&path.join("a/b")).unwrap()).unwrap();
        assert_eq!((below.path(), FileIdentity::of(&below).unwrap()), (path.join("a/b").as_path(), same));
        assert!(folder.below(Path::new("link/b")).is_err());
        assert!(folder.below(Path::new("a/../..")).is_err(), "not out of it");
        assert!(Folder::open(Path::new("/")).unwrap().below(Path::new("proc/self")).is_err(), "a mount");
    }

    #[test]
    fn a_mark_goes_last_and_stays_where_a_tree_cannot_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        for part in ["tree/.mark", "tree/a/.mark"] {
            std::fs::create_dir_all(path.join(part).parent().unwrap()).unwrap();
            std::fs::write(path.join(part), "x").unwrap();
        }
        let (folder, mark) = (Folder::open(&path).unwrap(), OsStr::new(".mark"));
        folder.folder(OsStr::new("tree")).unwrap().empty_but(Some(mark)).unwrap();
        assert!(path.join("tree/.mark").exists() && !path.join("tree/a").exists());
        let mut is_last = false;
        let let_go = || is_last = path.join("tree/.mark").exists() && !path.join("tree/a").exists();
        folder.remove_marked_tree(OsStr::new("tree"), mark, let_go).unwrap();
        assert!(is_last && !path.join("tree").exists());
    }

    #[test]
    fn a_file_is_removed_only_while_it_has_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let (path, name) = (dir.path().canonicalize().unwrap(), OsStr::new("file"));
        std::fs::write(path.join(name), "ours").unwrap();
        let (folder, file) = (Folder::open(&path).unwrap(), File::open(path.join(name)).unwrap());
        std::fs::rename(path.join(name), path.join("moved")).unwrap();
        std::fs::write(path.join(name), "mine").unwrap();
        assert!(folder.remove_same(name, &file).is_err());
        assert!(folder.remove_same(OsStr::new("moved"), &file).is_ok());
        assert_eq!(std::fs::read(path.join(name)).unwrap(), b"mine");
    }

    #[test]
    fn a_tree_goes_and_what_its_links_point_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join("tree/a/b")).unwrap();
        std::fs::create_dir(path.join("victim")).unwrap();
        for file in ["tree/file", "tree/a/b/file", "victim/file"] {
            std::fs::write(path.join(file), "x").unwrap();
        }
        symlink(path.join("victim"), path.join("tree/a/folder")).unwrap();
        symlink(path.join("victim/file"), path.join("tree/a/b/link")).unwrap();
        let folder = Folder::open(&path).unwrap();
        folder.remove_tree(OsStr::new("tree")).unwrap();
        assert!(!path.join("tree").exists() && path.join("victim/file").exists());
        assert_eq!(folder.remove_tree(OsStr::new("tree")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
