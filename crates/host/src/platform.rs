//! The interface to the operating system: file status, device numbers, free space, exclusive open.
//! Everything else in this crate reads plain files. Only Linux is supported.

mod calls;

pub(crate) use calls::is_open_for_writing;
pub use calls::{discard, file_extents, loop_status, set_write_hint, swap_off, thaw, write_pages};

use crate::subject::{Space, Subject, SubjectKind};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A block device number: major and minor.
pub type Number = (u32, u32);

/// The identity of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStatus {
    pub inode: u64,
    pub device: u64,
    pub number: Number,
    /// The file system id that the kernel reports. 0 if there is none.
    pub fsid: u64,
}

/// The object of a path, a descriptor or a mapping, independent of its name. Two names of one
/// object give equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// A block device, identified by its number regardless of its node.
    Device(Number),
    /// Any other object, identified by the number of its file system and its inode number.
    Inode(Number, u64),
}

/// Splits a `dev_t` into major and minor.
fn number(dev: u64) -> Number {
    (rustix::fs::major(dev), rustix::fs::minor(dev))
}

/// Returns the number of the block device at a path. Follows links.
///
/// # Errors
/// Returns the operating system's error.
pub fn block_number(path: &Path) -> io::Result<Option<Number>> {
    let status = std::fs::metadata(path)?;
    Ok(status.file_type().is_block_device().then(|| number(status.rdev())))
}

/// Returns the kind and location of a path.
pub(crate) fn subject(path: &Path) -> io::Result<Subject> {
    let path = std::fs::canonicalize(path)?;
    let status = std::fs::metadata(&path)?;
    let kind = if status.file_type().is_block_device() {
        SubjectKind::Block(number(status.rdev()))
    } else if status.is_file() || status.is_dir() {
        SubjectKind::Stored
    } else {
        SubjectKind::Other
    };
    let space = rustix::fs::statvfs(&path).ok().map(|space| Space {
        block_size_bytes: space.f_frsize,
        size_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
    });
    Ok(Subject { path, kind, dev: number(status.dev()), space })
}

/// Returns the object of a path. Follows links. Does not query a server, because a process's
/// descriptor may refer to a file on a server that does not respond.
pub(crate) fn object(path: &Path) -> io::Result<Object> {
    let wanted_fields = StatxFlags::TYPE | StatxFlags::INO;
    let status = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted_fields)?;
    Ok(match FileType::from_raw_mode(status.stx_mode.into()) {
        FileType::BlockDevice => Object::Device((status.stx_rdev_major, status.stx_rdev_minor)),
        _ => Object::Inode((status.stx_dev_major, status.stx_dev_minor), status.stx_ino),
    })
}

/// Returns the object for a file system's `dev_t` and an inode number.
pub(crate) fn inode(device: u64, inode: u64) -> Object {
    Object::Inode(number(device), inode)
}

/// Returns a path that refers to an open descriptor of this process, regardless of its name.
pub(crate) fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/thread-self/fd/{}", file.as_raw_fd()))
}

pub(crate) fn open_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns whether the kernel currently allows a block device to be opened exclusively. It does not
/// if a mount (in any namespace), device mapper, md, swap, ZFS or another exclusive opener holds
/// the device, its disk or its partition.
pub(crate) fn exclusive_is_free(path: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::BUSY) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the identity of an open file and its file system.
pub(crate) fn file_status(file: impl AsFd) -> io::Result<FileStatus> {
    let status = rustix::fs::fstat(&file)?;
    let fsid = rustix::fs::fstatvfs(&file)?.f_fsid;
    Ok(FileStatus { inode: status.st_ino, device: status.st_dev, number: number(status.st_dev), fsid })
}

/// Opens a folder as a handle, without reading it.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Returns whether this process may create files in a directory.
pub(crate) fn is_writable_directory(path: &Path) -> bool {
    path.is_dir() && rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Returns the machine's host name.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Converts bytes into a path.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Returns the clock ticks per second in /proc (USER_HZ).
pub(crate) fn ticks_per_s() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// Returns the time in ns during which the machine was suspended since boot: the difference between
/// the clock that includes it and the one that does not.
pub(crate) fn suspended_ns() -> Option<u64> {
    use rustix::time::{ClockId, Timespec, clock_gettime};
    let ns = |time: Timespec| i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    let monotonic = ns(clock_gettime(ClockId::Monotonic));
    u64::try_from((ns(clock_gettime(ClockId::Boottime)) - monotonic).max(0)).ok()
}

/// Returns whether a process with this number exists, as far as the kernel reports it. Processes of
/// other users count.
pub fn process_exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}
