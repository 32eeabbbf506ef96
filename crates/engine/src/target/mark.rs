//! The mark that says: kurabe made this, for this run of this store.
//!
//! The model: a file or folder is taken away after a kill only if it bears the run's random word, which the store has. A
//! test file is overwritten from its first to its last byte, so its mark is an extended attribute, which costs nothing
//! where files are measured. Where a file system has none (FAT, some network file systems), the mark is a file beside it,
//! which only who may write in that folder can have put there. A work folder has its mark in a file inside, which is made
//! first and goes last.
//!
//! A run that lives holds a lock on what it made: on the test file itself, or on the mark in its work folder. The kernel
//! lets go of it with the process, whatever happens to that; so it tells who lives across PID namespaces and, where the
//! file system keeps locks for several machines, across these as well.

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
/// The mark in a work folder.
pub(crate) const INSIDE: &str = ".kurabe-mark";
/// Longer than any mark: what is longer is none.
const LONGEST_BYTES: usize = 256;
/// How often, and how long each time, a lock on what was just made is waited for: a second in all.
const LOOKS: u32 = 100;
const LOOK: Duration = Duration::from_millis(10);

/// What the things of one run bear; the default marks nothing, for who has no store that would know it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMark {
    text: String,
}

/// Whether something bears a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// It bears it itself.
    Inside,
    /// A file beside it says so.
    Beside,
    /// It bears none.
    Not,
    /// It bears another one.
    Otherwise,
}

/// Whether the lock on something is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It is held here now.
    Taken,
    /// A run that lives holds it.
    InUse,
    /// There are no locks here.
    Unknown,
}

impl RunMark {
    /// The mark of a run with its random word.
    pub fn new(run_id: &str, word: &str) -> Self {
        Self { text: format!("kurabe {run_id} {word}\n") }
    }

    /// Marks a test file that was just made, and locks it. Returns the mark beside it, if it could not be marked itself.
    ///
    /// # Errors
    /// When neither can be had.
    pub(crate) fn put_on(&self, folder: &Folder, name: &OsStr, file: &File) -> io::Result<Option<File>> {
        if self.text.is_empty() {
            return Ok(None);
        }
        lock_made(file)?;
        match rustix::fs::fsetxattr(file, ATTRIBUTE, self.text.as_bytes(), XattrFlags::empty()) {
            Ok(()) => Ok(None),
            // Whatever the reason, the file is as well known by a mark beside it.
            Err(_) => self.put_beside(folder, &beside(name)),
        }
    }

    fn put_beside(&self, folder: &Folder, name: &OsStr) -> io::Result<Option<File>> {
        match self.write(folder, name) {
            // That of the test file holds for its copy.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mark = open_to_look(folder, name, FileType::RegularFile)?;
                if self.is_in(&mark)? { Ok(None) } else { Err(error) }
            }
            other => other.map(Some),
        }
    }

    /// Marks a work folder that was just made. The run holds what is returned as long as it lives; `None` for who has no
    /// mark.
    ///
    /// # Errors
    /// When it cannot be marked.
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

    /// Whether a file bears it.
    ///
    /// # Errors
    /// The operating system's.
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
        // Who can put files here but not change this one is not who made it.
        let same_user = rustix::fs::fstat(&mark)?.st_uid == rustix::fs::fstat(file)?.st_uid;
        Ok(if same_user && self.is_in(&mark)? { Marked::Beside } else { Marked::Otherwise })
    }

    /// Whether it is all that a file holds.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn is_in(&self, file: &File) -> io::Result<bool> {
        let mut bytes = Vec::new();
        file.take(LONGEST_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(!self.text.is_empty() && bytes == self.text.as_bytes())
    }
}

/// The name of the mark beside a test file or its copy.
pub(crate) fn beside(test_file: &OsStr) -> OsString {
    let name = test_file.to_string_lossy();
    let stem = name.strip_suffix(".copy.test").or_else(|| name.strip_suffix(".test")).unwrap_or(&name);
    format!("{stem}.mark").into()
}

/// Locks what was just made. Another kurabe may be looking at it just now, which takes no longer than a few system calls.
/// Where there are no locks, the store's word on its owner must do.
fn lock_made(file: &File) -> io::Result<()> {
    for _ in 0..LOOKS {
        if lock(file) != Locked::InUse {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Tries the lock of something; it is held as long as the file is open.
pub(crate) fn lock(file: &File) -> Locked {
    match file.try_lock() {
        Ok(()) => Locked::Taken,
        Err(TryLockError::WouldBlock) => Locked::InUse,
        Err(TryLockError::Error(_)) => Locked::Unknown,
    }
}

/// Opens what has a name to look at it, if it is of a kind: a pipe or a device must not even be opened.
///
/// # Errors
/// The operating system's; also when it is of another kind, or was replaced meanwhile.
pub(crate) fn open_to_look(folder: &Folder, name: &OsStr, kind: FileType) -> io::Result<File> {
    let changed = || io::Error::other(format!("{} was replaced", shown::path(Path::new(name))));
    let facts = folder.facts(name)?.ok_or(io::ErrorKind::NotFound)?;
    if FileType::from_raw_mode(facts.st_mode) != kind {
        return Err(changed());
    }
    let open = |flags| folder.open_entry(name, flags | OFlags::NONBLOCK | OFlags::NOCTTY);
    // Over NFS a lock wants a descriptor for writing; where that is refused, reading must do.
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
