//! Boundary to the operating system: a mount of tracefs, and non-blocking reads.

use rustix::fs::{Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A mount of tracefs that no other process sees; it is unmounted when the value is dropped.
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

    /// Returns the path at which this process can access it.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// Opens a file for reading; reads return `WouldBlock` if nothing is available.
pub(crate) fn open_nonblocking(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}
