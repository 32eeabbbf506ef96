//! Operating system functions for programs and their folders.

// `fork` and `pre_exec` are unsafe: the new process is a copy with one thread, and locks may be
// held by threads that no longer exist.
#![allow(unsafe_code)]

mod tracing;

pub(crate) use tracing::{
    Onward, StopRule, TraceStop, be_traced, call_result, fail_call, filter, resume, seize, stopped_call,
    trace_stop, wait_for_stop,
};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Opens a folder whose path has no symbolic link. Kernels before 5.6 and some containers do not
/// support the check; there only the end of the path is checked.
pub(crate) fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => Ok(rustix::fs::open(path, flags, Mode::empty())?),
        other => Ok(other?),
    }
}

/// Opens a folder below another one, on the same file system and without symbolic links on the
/// path.
pub(crate) fn open_below(folder: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH | ResolveFlags::NO_XDEV;
    Ok(rustix::fs::openat2(folder, path, flags, Mode::empty(), resolve)?)
}

/// Returns whether a file system is mounted at an open folder. Always `false` before Linux 5.8.
pub(crate) fn is_mount_root(folder: impl AsFd) -> io::Result<bool> {
    let facts = rustix::fs::statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    Ok(facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Sends a signal to the process group that a program leads.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    // 1 is init's group, and Pid does not accept 0.
    if let Some(group) = i32::try_from(group).ok().filter(|group| *group > 1).and_then(Pid::from_raw) {
        // It may have ended just now.
        let _ = kill_process_group(group, signal);
    }
}

/// Returns the effective user id.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes the kernel kill the program when the thread that starts it ends, for whatever reason. The
/// program must therefore be started by the thread that waits for it. Source: prctl(2),
/// PR_SET_PDEATHSIG. The setting does not apply to processes that the program starts, nor to a
/// set-user-ID program.
pub fn die_with_starter(command: &mut Command) {
    let starter = std::process::id();
    let bind = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // In a new PID namespace, a parent outside has no number.
        let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get() as u32);
        // kurabe may have ended before the first line.
        if parent.is_none_or(|parent| parent == starter) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(bind) };
}

/// One of the two processes after [`fork_worker`].
pub enum Forked {
    /// The process that the user started, with its child.
    Parent(Pid),
    /// The child.
    Worker,
    /// The process that the user started, without a child: it has several threads, or the system
    /// refuses a second process.
    Alone,
}

/// Forks this process if it has one thread. The child is killed when the parent ends, for whatever
/// reason. Source: fork(2); prctl(2), PR_SET_PDEATHSIG.
pub fn fork_worker() -> Forked {
    let parent = rustix::process::getpid();
    if !std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1) {
        return Forked::Alone;
    }
    // SAFETY: with one thread, no other one can hold a lock that the child would wait for.
    match unsafe { libc::fork() } {
        0 => {
            let bound = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            // The parent may have ended before the line above.
            if bound.is_err() || rustix::process::getppid() != Some(parent) {
                std::process::exit(1);
            }
            Forked::Worker
        }
        child @ 1.. => Pid::from_raw(child).map_or(Forked::Alone, Forked::Parent),
        _ => Forked::Alone,
    }
}

/// Creates a PID namespace for the programs that the calling thread starts from now on. The first
/// of them is its init process.
///
/// # Errors
/// If the user lacks the privilege, or the kernel has no PID namespaces.
pub(crate) fn unshare_processes() -> io::Result<()> {
    // SAFETY: the calling thread itself stays in its namespace, and no descriptor, memory or folder
    // is unshared.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWPID) }?)
}

/// Makes a program the init process of a PID namespace. It gets a mount namespace with a `/proc` of
/// these processes, and the kernel reaps the processes that it adopts. The program must not change
/// its handling of SIGCHLD.
pub(crate) fn be_init(command: &mut Command) {
    let begin = || {
        // SAFETY: this process has one thread, and only its mounts are unshared.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        rustix::mount::mount("proc", "/proc", "proc", flags, None)?;
        // SAFETY: no handler is set that could run; an ignored signal stays ignored in the program
        // (signal(7)).
        match unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) } {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(begin) };
}

/// Makes a program start in a folder of another mount namespace. `root` is the root directory of a process
/// there, which is not that of the namespace if kurabe runs in a chroot.
pub(crate) fn enter_mounts(command: &mut Command, mounts: OwnedFd, root: OwnedFd, folder: CString) {
    let enter = move || {
        move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
        rustix::process::fchdir(&root)?;
        rustix::process::chroot(".")?;
        Ok(rustix::process::chdir(&folder)?)
    };
    // SAFETY: the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(enter) };
}
