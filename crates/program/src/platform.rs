//! What depends on the operating system, for programs and their folders.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Takes hold of a folder whose path has no link in it. Kernels before 5.6 do not see to that, nor do some containers;
/// there only the end of the path is held to it.
pub(crate) fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => Ok(rustix::fs::open(path, flags, Mode::empty())?),
        other => Ok(other?),
    }
}

/// Whether a file system is mounted at an open folder. Kernels before 5.8 do not tell; there it is never said to be.
pub(crate) fn is_mount_root(folder: impl AsFd) -> io::Result<bool> {
    let facts = rustix::fs::statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    Ok(facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Sends a signal to the process group that a program leads.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    // 1 is the system's; Pid takes no 0.
    if let Some(group) = i32::try_from(group).ok().filter(|group| *group > 1).and_then(Pid::from_raw) {
        // It may have ended by itself just now.
        let _ = kill_process_group(group, signal);
    }
}
