//! Operating system functions of the store: path bytes, private files and directories, and the
//! identity of files.

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

/// Returns the bytes of a path, which need not be UTF-8.
pub(crate) fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Returns the path with these bytes.
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Returns the user who owns a file.
pub(crate) fn file_user(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|facts| facts.uid())
}

/// Creates a directory and its parents; those that it creates are accessible only to their owner.
pub(crate) fn create_private_dirs(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file that is accessible only to its owner, and opens it for writing.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)
}

/// Mode that permits reading and writing only to the owner.
const PRIVATE: u32 = 0o600;

/// Creates an empty file that is accessible only to its owner, unless it exists.
///
/// The file is not opened, because closing it would drop locks that another thread may hold by
/// then.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    match mknodat(CWD, path, FileType::RegularFile, Mode::from_raw_mode(PRIVATE), 0) {
        // The umask may have removed more permissions than it should.
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a file that is accessible only to its owner, atomically: it is complete when it appears,
/// and a killed process leaves nothing behind. An existing file is kept.
///
/// # Errors
/// Also if the file system does not support unnamed files or links.
pub(crate) fn appear_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &followed(path)?;
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(PRIVATE))?);
    // The umask may have removed more permissions than it should.
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

/// Follows symbolic links; the last may lead to a file that does not exist.
pub(crate) fn followed(path: &Path) -> io::Result<PathBuf> {
    /// Limit of the kernel.
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

/// Returns the kind of file that a path leads to, if it exists and is not a regular file.
///
/// The file is not opened, because opening a FIFO may block forever.
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

/// Opens a file for reading or writing without blocking on a FIFO.
pub(crate) fn open_at_once(path: &Path, is_written: bool) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(!is_written).write(is_written).custom_flags(flags).open(path)
}

/// Locks a whole file for reading, compatibly with SQLite, until it is closed. Returns `false` if a
/// writer holds a lock.
pub(crate) fn lock_for_reading(file: &File) -> io::Result<bool> {
    match fcntl_lock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns why this process may not write a file, or `None` if it may.
pub(crate) fn write_refusal(path: &Path) -> Option<io::Error> {
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).err().map(io::Error::from)
}

/// Properties of a file that change when it is written: modification time and length. All are zero
/// if the file does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileTrace {
    pub seconds: i64,
    pub nanoseconds: i64,
    pub length: u64,
}

impl FileTrace {
    /// Returns the trace of a file, which need not be readable.
    pub(crate) fn of(path: &Path) -> Self {
        std::fs::metadata(path).map_or_else(
            |_| Self::default(),
            |file| Self { seconds: file.mtime(), nanoseconds: file.mtime_nsec(), length: file.len() },
        )
    }

    /// Returns whether this file was last written before another one.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (self.seconds, self.nanoseconds) < (other.seconds, other.nanoseconds)
    }
}

/// Returns the mode of a file if users other than its owner may read or write it.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Returns the file system and inode that identify the file at a path.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// Returns the path of an auxiliary file, which is next to the store's file and not to a symbolic
/// link to it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = followed(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}
