//! The boundary to the operating system: file status, device numbers, free space, exclusive open, a mount of tracefs. Everything else
//! in this crate reads plain files. Linux is real; elsewhere nothing is known and opening is refused.

use crate::observe::Subject;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A block device's number, major and minor.
pub(crate) type Number = (u32, u32);

#[cfg(target_os = "linux")]
mod imp {
    use super::{File, Number, Path, PathBuf, Subject, io};
    use crate::observe::{Space, SubjectKind};
    use rustix::fs::{Mode, OFlags};
    use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
    use std::ffi::OsString;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    /// Splits a `dev_t`.
    fn number(dev: u64) -> Number {
        (rustix::fs::major(dev), rustix::fs::minor(dev))
    }

    /// The number of the block device that a path names, links followed.
    pub(crate) fn block_number(path: &Path) -> io::Result<Option<Number>> {
        let status = std::fs::metadata(path)?;
        Ok(status.file_type().is_block_device().then(|| number(status.rdev())))
    }

    /// What a path is and where it lies.
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

    /// Opens for reading.
    pub(crate) fn open_read(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// Whether the kernel lets a block device be opened exclusively now. It does not when a mount (in any
    /// namespace), device mapper, md, swap, ZFS or another exclusive opener holds it, its disk or its partition.
    pub(crate) fn exclusive_is_free(path: &Path) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::BUSY) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Bytes as a path.
    pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
        PathBuf::from(OsString::from_vec(bytes))
    }

    /// Clock ticks per second in /proc (USER_HZ).
    pub(crate) fn ticks_per_s() -> u64 {
        rustix::param::clock_ticks_per_second().max(1)
    }

    /// Whether a process with this number exists, as far as the kernel tells. A process of another user counts.
    pub(crate) fn process_exists(pid: u32) -> bool {
        let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
            return false;
        };
        !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
    }

    /// A mount of tracefs that no other process sees; it goes away with the value.
    #[derive(Debug)]
    pub(crate) struct PrivateMount(OwnedFd);

    impl PrivateMount {
        /// Mounts tracefs; see fsopen(2) and fsmount(2).
        pub(crate) fn tracefs() -> io::Result<Self> {
            let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&context)?;
            let none = MountAttrFlags::empty();
            Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, none)?))
        }

        /// The path under which this process reaches it.
        pub(crate) fn path(&self) -> PathBuf {
            PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
        }
    }

    /// Opens for reading; a read gives `WouldBlock` where there is nothing to read.
    pub(crate) fn open_nonblocking(path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{File, Number, Path, PathBuf, Subject, io};

    fn unsupported<T>() -> io::Result<T> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    /// Nothing is known here.
    pub(crate) fn block_number(_: &Path) -> io::Result<Option<Number>> {
        unsupported()
    }

    /// Nothing is known here.
    pub(crate) fn subject(_: &Path) -> io::Result<Subject> {
        unsupported()
    }

    /// Refused.
    pub(crate) fn open_read(_: &Path) -> io::Result<File> {
        unsupported()
    }

    /// Nothing is known here.
    pub(crate) fn exclusive_is_free(_: &Path) -> io::Result<bool> {
        unsupported()
    }

    /// Bytes as a path.
    pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
        PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Unused here.
    pub(crate) fn ticks_per_s() -> u64 {
        100
    }

    /// Unknown; the careful answer.
    pub(crate) fn process_exists(_: u32) -> bool {
        true
    }

    /// Never made here.
    #[derive(Debug)]
    pub(crate) struct PrivateMount;

    impl PrivateMount {
        /// Refused.
        pub(crate) fn tracefs() -> io::Result<Self> {
            unsupported()
        }

        /// Nowhere.
        pub(crate) fn path(&self) -> PathBuf {
            PathBuf::new()
        }
    }

    /// Refused.
    pub(crate) fn open_nonblocking(_: &Path) -> io::Result<File> {
        unsupported()
    }
}

pub(crate) use imp::{
    PrivateMount, block_number, exclusive_is_free, open_nonblocking, open_read, path_of_bytes,
    process_exists, subject, ticks_per_s,
};
