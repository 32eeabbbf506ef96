//! What depends on the operating system, for programs and their folders.

// `pre_exec` is unsafe: the new process is a copy with one thread, in which locks may be held by threads that are gone.
#![allow(unsafe_code)]

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
use rustix::process::{Gid, Pid, Signal, Uid, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

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

/// The user as whom files are made and judged.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes the calling thread, and no other, a user with one group and no powers. There is no way back.
pub(crate) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    rustix::thread::set_thread_groups(&[gid])?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    Ok(rustix::thread::set_thread_res_uid(uid, uid, uid)?)
}

/// Has the program killed when the thread that starts it ends, however that comes: so it must be started by the thread
/// that waits for it. Source: prctl(2), PR_SET_PDEATHSIG; it is forgotten by what the program itself starts, and by a
/// program with the set-user-ID bit.
pub(crate) fn die_with_starter(command: &mut Command) {
    let starter = std::process::id();
    let bind = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        let parent = rustix::process::getppid().map_or(0, |parent| parent.as_raw_nonzero().get() as u32);
        // kurabe may have ended before the line above.
        if parent == starter { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: the closure makes system calls alone; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(bind) };
}
