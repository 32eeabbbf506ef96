//! The mark that identifies files created by kurabe for a particular run of a store.
//!
//! After a crash, a file or folder is removed only if it carries the run's random token, which is
//! also in the store. A test file is overwritten completely, so its mark is an extended attribute,
//! which does not affect the measurement. On file systems without extended attributes (FAT, some
//! network file systems), the mark is a file next to it, which only a user with write permission in
//! that folder can have created. A work folder contains its mark as a file, which is created first
//! and removed last.
//!
//! A live run holds a lock on what it created: on the test file itself, or on the mark in its work
//! folder. The kernel releases the lock when the process ends, in whatever way. The lock therefore
//! shows whether the run is alive across PID namespaces and, if the file system shares locks among
//! machines, across those as well.

use kurabe_core::shown;
use kurabe_program::{FileIdentity, Folder};
use rustix::fs::{FileType, OFlags, XattrFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// The extended attribute of a test file.
const ATTRIBUTE: &str = "user.kurabe";
/// Name of the mark in a work folder.
pub(crate) const INSIDE: &str = ".kurabe-mark";
/// Exceeds the length of any mark. Longer content is not a mark.
const LONGEST_BYTES: usize = 256;
/// How often, and how long each time, to wait for the lock on a file that was just created. One
/// second in total.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(10);

/// The mark of everything that one run creates. The default marks nothing, for callers without a
/// store that could recognise it later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMark {
    text: String,
}

/// Whether a file carries a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// The file itself carries the mark.
    Inside,
    /// A file next to it contains the mark.
    Beside,
    /// The file has no mark.
    Not,
    /// The file carries a different mark.
    Otherwise,
}

/// The state of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It is now held here.
    Taken,
    /// A live run holds it.
    InUse,
    /// The file system does not support locks.
    Unknown,
}

impl RunMark {
    /// Creates the mark of a run with its random token.
    pub fn new(run_id: &str, word: &str) -> Self {
        Self { text: format!("kurabe {run_id} {word}\n") }
    }

    /// Marks and locks a test file that was just created. Returns the mark file next to it if the
    /// test file itself can't be marked.
    ///
    /// # Errors
    /// Fails if neither kind of mark can be created.
    pub(crate) fn put_on(&self, folder: &Folder, name: &OsStr, file: &File) -> io::Result<Option<File>> {
        if self.text.is_empty() {
            return Ok(None);
        }
        lock_made(file)?;
        match rustix::fs::fsetxattr(file, ATTRIBUTE, self.text.as_bytes(), XattrFlags::empty()) {
            Ok(()) => Ok(None),
            // Whatever the reason, a mark next to the file identifies it just as well.
            Err(_) => self.put_beside(folder, &beside(name)),
        }
    }

    fn put_beside(&self, folder: &Folder, name: &OsStr) -> io::Result<Option<File>> {
        match self.write(folder, name) {
            // The mark of the test file also covers its copy.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mark = open_to_look(folder, name, FileType::RegularFile)?;
                if self.is_in(&mark)? { Ok(None) } else { Err(error) }
            }
            other => other.map(Some),
        }
    }

    /// Marks a work folder that was just created. The run holds the returned file as long as it
    /// lives. Returns `None` without a mark.
    ///
    /// # Errors
    /// Fails if the folder can't be marked.
    pub(crate) fn put_in(&self, folder: &Folder) -> io::Result<Option<File>> {
        if self.text.is_empty() {
            return Ok(None);
        }
        self.write(folder, OsStr::new(INSIDE)).map(Some)
    }

    fn write(&self, folder: &Folder, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let mut file = File::from(folder.open_entry(name, flags)?);
        lock_made(&file)?;
        file.write_all(self.text.as_bytes())?;
        Ok(file)
    }

    /// Returns whether a file carries this mark.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn on(&self, folder: &Folder, name: &OsStr, file: &File) -> io::Result<Marked> {
        let mut bytes = [0; LONGEST_BYTES];
        match rustix::fs::fgetxattr(file, ATTRIBUTE, &mut bytes) {
            Ok(length) if bytes[..length] == *self.text.as_bytes() => return Ok(Marked::Inside),
            Ok(_) | Err(Errno::RANGE) => return Ok(Marked::Otherwise),
            Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        let name = beside(name);
        if folder.facts(&name)?.is_none() {
            return Ok(Marked::Not);
        }
        let mark = open_to_look(folder, &name, FileType::RegularFile)?;
        // The mark must belong to the owner of the file. Another user may be able to create files
        // here without being able to change this one.
        let same_user = rustix::fs::fstat(&mark)?.st_uid == rustix::fs::fstat(file)?.st_uid;
        Ok(if same_user && self.is_in(&mark)? { Marked::Beside } else { Marked::Otherwise })
    }

    /// Returns whether the mark is the whole content of a file.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn is_in(&self, file: &File) -> io::Result<bool> {
        let mut bytes = Vec::new();
        file.take(LONGEST_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(!self.text.is_empty() && bytes == self.text.as_bytes())
    }
}

/// Returns the name of the mark next to a test file or its copy.
pub(crate) fn beside(test_file: &OsStr) -> OsString {
    let name = test_file.to_string_lossy();
    let stem = name.strip_suffix(".copy.test").or_else(|| name.strip_suffix(".test")).unwrap_or(&name);
    format!("{stem}.mark").into()
}

/// Locks a file that was just created. Another kurabe may be examining it at this moment, which
/// takes no longer than a few system calls. If locks are not supported, the store's information
/// about the owner must suffice.
fn lock_made(file: &File) -> io::Result<()> {
    for _ in 0..LOOKS {
        if lock(file) != Locked::InUse {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Tries to lock a file. The lock is held as long as the file is open.
pub(crate) fn lock(file: &File) -> Locked {
    match file.try_lock() {
        Ok(()) => Locked::Taken,
        Err(TryLockError::WouldBlock) => Locked::InUse,
        Err(TryLockError::Error(_)) => Locked::Unknown,
    }
}

/// Opens an entry for examination if it has the given type. A pipe or a device must not even be
/// opened.
///
/// # Errors
/// Returns the operating system's error. Fails also if the entry has another type or was replaced
/// in the meantime.
pub(crate) fn open_to_look(folder: &Folder, name: &OsStr, kind: FileType) -> io::Result<File> {
    let changed = || io::Error::other(format!("{} was replaced", shown::path(Path::new(name))));
    let facts = folder.facts(name)?.ok_or(io::ErrorKind::NotFound)?;
    if FileType::from_raw_mode(facts.st_mode) != kind {
        return Err(changed());
    }
    let open = |flags| folder.open_entry(name, flags | OFlags::NONBLOCK | OFlags::NOCTTY);
    // Over NFS, a lock requires a descriptor for writing. If writing is refused, a descriptor for
    // reading must suffice.
    let file = File::from(match open(OFlags::RDWR) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => open(OFlags::RDONLY)?,
        other => other?,
    });
    if FileIdentity::of(file.as_fd())? != FileIdentity::from(&facts) {
        return Err(changed());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().canonicalize().unwrap()).unwrap();
        (dir, folder)
    }

    fn made(folder: &Folder, name: &str) -> File {
        File::from(folder.open_entry(OsStr::new(name), OFlags::RDWR | OFlags::CREATE | OFlags::EXCL).unwrap())
    }

    #[test]
    fn a_mark_is_of_one_run_and_one_word() {
        let (_dir, folder) = place();
        let (mark, name) = (RunMark::new("abc", "0f"), OsStr::new("a.test"));
        let file = made(&folder, "a.test");
        assert_eq!(mark.on(&folder, name, &file).unwrap(), Marked::Not);
        let beside = mark.put_on(&folder, name, &file).unwrap();
        let here = if beside.is_some() { Marked::Beside } else { Marked::Inside };
        assert_eq!(mark.on(&folder, name, &file).unwrap(), here);
        assert_eq!(RunMark::new("abc", "0e").on(&folder, name, &file).unwrap(), Marked::Otherwise);
        assert_eq!(RunMark::new("abd", "0f").on(&folder, name, &file).unwrap(), Marked::Otherwise);
    }

    #[test]
    fn a_mark_beside_holds_for_the_copy_and_is_not_another_users_or_another_files() {
        let (dir, folder) = place();
        let (mark, name) = (RunMark::new("abc", "0f"), OsStr::new("a.test"));
        let (file, copy) = (made(&folder, "a.test"), made(&folder, "a.copy.test"));
        assert!(mark.put_beside(&folder, &beside(name)).unwrap().is_some());
        assert!(mark.put_beside(&folder, &beside(OsStr::new("a.copy.test"))).unwrap().is_none());
        assert_eq!(mark.on(&folder, name, &file).unwrap(), Marked::Beside);
        assert_eq!(mark.on(&folder, OsStr::new("a.copy.test"), &copy).unwrap(), Marked::Beside);
        assert_eq!(mark.on(&folder, OsStr::new("b.test"), &file).unwrap(), Marked::Not);
        std::fs::write(dir.path().join("a.mark"), "kurabe abc 0f\nand more").unwrap();
        assert_eq!(mark.on(&folder, name, &file).unwrap(), Marked::Otherwise);
        assert!(mark.put_beside(&folder, &beside(name)).is_err(), "never over one that is not the same");
        if rustix::process::geteuid().is_root() {
            std::fs::write(dir.path().join("a.mark"), &mark.text).unwrap();
            assert_eq!(mark.on(&folder, name, &file).unwrap(), Marked::Beside);
            std::os::unix::fs::chown(dir.path().join("a.mark"), Some(65534), None).unwrap();
            assert_eq!(mark.on(&folder, name, &file).unwrap(), Marked::Otherwise);
        }
    }

    #[test]
    fn what_is_made_is_locked_until_its_last_descriptor_goes() {
        let (_dir, folder) = place();
        let (mark, name) = (RunMark::new("abc", "0f"), OsStr::new("a.test"));
        let file = made(&folder, "a.test");
        mark.put_on(&folder, name, &file).unwrap();
        let look = || open_to_look(&folder, name, FileType::RegularFile).unwrap();
        assert_eq!(lock(&look()), Locked::InUse, "a second descriptor closed does not let go of it");
        assert_eq!(lock(&look()), Locked::InUse);
        drop(file);
        assert_eq!(lock(&look()), Locked::Taken);
    }

    #[test]
    fn a_pipe_or_a_link_is_not_opened() {
        let (dir, folder) = place();
        std::os::unix::fs::symlink("/dev/null", dir.path().join("link")).unwrap();
        rustix::fs::mkfifoat(&folder, "pipe", rustix::fs::Mode::RUSR).unwrap();
        for name in ["link", "pipe"] {
            assert!(open_to_look(&folder, OsStr::new(name), FileType::RegularFile).is_err());
        }
    }
}
