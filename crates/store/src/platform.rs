//! What is of the operating system, for the store: bytes of a path, private files and directories, which file a path
//! leads to.

use kurabe_core::{Text, text};
use rustix::fs::{
    Access, AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, accessat, fchmod, fcntl_lock, linkat,
    mknodat, openat,
};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The bytes of a path; it need not be UTF-8.
pub(crate) fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// The path that has these bytes.
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// The user whom a file belongs to.
pub(crate) fn file_user(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|facts| facts.uid())
}

/// Makes a directory and its parents; those that are made are for their owner alone.
pub(crate) fn create_private_dirs(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file for its owner alone, open for writing.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)
}

/// Reading and writing for the owner alone.
const PRIVATE: u32 = 0o600;

/// Makes an empty file for its owner alone, if there is none, without opening it: to close it would drop the locks that
/// another thread may hold on it by then.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    match mknodat(CWD, path, FileType::RegularFile, Mode::from_raw_mode(PRIVATE), 0) {
        // The mask of the process may have taken more away than it should.
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Puts a new file at a path, for its owner alone: it is whole when it appears, and a process that is killed leaves nothing.
/// Another file that is there by then stays.
///
/// # Errors
/// Also where the file system has no files without a name, or no links.
pub(crate) fn appear_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &followed(path)?;
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(PRIVATE))?);
    // The mask of the process may have taken more away than it should.
    fchmod(&file, Mode::from_raw_mode(PRIVATE))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, nameless, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => File::open(directory)?.sync_all(),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Where symbolic links at a path lead, the last of which may lead to a file that does not exist.
pub(crate) fn followed(path: &Path) -> io::Result<PathBuf> {
    /// As many as the kernel follows.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(Errno::LOOP.into())
}

/// The kind of what a path leads to, if it exists and is not a regular file. Nothing is opened: to open a FIFO may wait
/// forever.
pub(crate) fn other_than_file(path: &Path) -> Option<Text> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    if kind.is_file() {
        return None;
    }
    Some(if kind.is_dir() {
        text!("a directory", "ディレクトリ")
    } else if kind.is_fifo() {
        text!("a named pipe (FIFO)", "名前付きパイプ(FIFO)")
    } else if kind.is_socket() {
        text!("a socket", "ソケット")
    } else {
        text!("a device", "デバイス")
    })
}

/// Opens a file for reading, or for writing, without ever waiting for whoever has the other end of a FIFO.
pub(crate) fn open_at_once(path: &Path, is_written: bool) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(!is_written).write(is_written).custom_flags(flags).open(path)
}

/// Locks a whole file for reading, in the way of SQLite, until it is closed. Returns whether no process that writes it holds
/// a lock.
pub(crate) fn lock_for_reading(file: &File) -> io::Result<bool> {
    match fcntl_lock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Why this process may not write a file; nothing if it may.
pub(crate) fn write_refusal(path: &Path) -> Option<io::Error> {
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).err().map(io::Error::from)
}

/// What changes when a file is written: the time of its last change, and its length. All zero where there is no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileTrace {
    pub seconds: i64,
    pub nanoseconds: i64,
    pub length: u64,
}

impl FileTrace {
    /// The trace of a file, which need not be readable.
    pub(crate) fn of(path: &Path) -> Self {
        std::fs::metadata(path).map_or_else(
            |_| Self::default(),
            |file| Self { seconds: file.mtime(), nanoseconds: file.mtime_nsec(), length: file.len() },
        )
    }

    /// Whether a file was written last before another one.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (self.seconds, self.nanoseconds) < (other.seconds, other.nanoseconds)
    }
}

/// The mode of a file that others than its owner may read or write.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// What tells the file at a path from any other: file system and inode.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// The path of a file that belongs to a store: it is next to the file itself, not to a link to it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = followed(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}
