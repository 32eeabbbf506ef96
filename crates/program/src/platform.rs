//! What depends on the operating system, for programs and their folders.

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::path::Path;

/// Whether a file system is mounted at a path. Kernels before 5.8 do not tell; there it is never said to be.
pub(crate) fn is_mount_root(path: &Path) -> io::Result<bool> {
    let facts = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())?;
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
