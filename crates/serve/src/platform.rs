//! The boundary to the operating system: a thread that is served before ordinary ones. Linux is real; elsewhere it is
//! refused.
#![allow(unsafe_code)]

use std::io;

/// Above every ordinary thread, and below what the kernel itself runs first.
#[cfg(target_os = "linux")]
const PRIORITY: libc::c_int = 10;

/// Has the calling thread run whenever it can (SCHED_FIFO); see sched(7).
///
/// # Errors
/// Mostly that the user may not.
#[cfg(target_os = "linux")]
pub(crate) fn run_before_others() -> io::Result<()> {
    let wish = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the call reads one structure that lives as long as it; 0 is the calling thread.
    let answer =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const wish) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Refused.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run_before_others() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
