//! Boundary to the operating system: priority, signals and file descriptor table of a thread, loop
//! devices, and the kernel's NBD client. Only Linux is supported.
#![allow(unsafe_code)]

use rustix::fd::OwnedFd;
use rustix::mount::MountPropagationFlags;
use rustix::thread::UnshareFlags;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Converts the return value of a call that returns -1 on failure.
fn outcome_of(answer: impl Into<i64>) -> io::Result<()> {
    if answer.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Above every ordinary thread, and below the kernel's own threads.
static PRIORITY: libc::c_int = 10;

/// Gives the calling thread real-time priority (SCHED_FIFO); see sched(7).
///
/// # Errors
/// Usually a lack of permission.
pub(crate) fn run_before_others() -> io::Result<()> {
    // The system call is made directly, because musl does not implement the function of that name.
    // Its parameter is one number.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the call reads one number that lives as long as it; 0 is the calling thread.
    outcome_of(unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const PRIORITY) })
}

/// `PR_SET_IO_FLUSHER` of `linux/prctl.h`.
const PR_SET_IO_FLUSHER: libc::c_int = 57;

/// Prevents the calling thread, and those it starts, from waiting for memory that must be written
/// to the disk they serve.
///
/// # Errors
/// Usually a lack of permission.
pub(crate) fn never_wait_for_own_disk() -> io::Result<()> {
    let none: libc::c_ulong = 0;
    let on: libc::c_ulong = 1;
    // SAFETY: the call takes numbers and touches no memory of this process.
    outcome_of(unsafe { libc::prctl(PR_SET_IO_FLUSHER, on, none, none, none) })
}

/// Blocks all signals in the calling thread; other threads of the process receive them.
pub(crate) fn hear_no_signals() -> io::Result<()> {
    let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the call writes the set that it is given, and cannot fail for that.
    let _ = unsafe { libc::sigfillset(signals.as_mut_ptr()) };
    // SAFETY: the call reads the set, which was filled above, and writes nothing to a null pointer.
    let answer = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(answer)) }
}

/// Gives the calling thread its own file descriptor table, with the descriptors below `from` of the
/// shared one.
///
/// # Errors
/// Fails on kernels before 5.9, among others.
pub(crate) fn leave_open_files(from: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes numbers and touches no memory; what other threads have open stays open in their table.
    outcome_of(unsafe {
        libc::syscall(libc::SYS_close_range, from, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
    })
}

// Loop devices: a file as a block device. Source: `include/uapi/linux/loop.h`.

const LOOP_CLR_FD: libc::Ioctl = 0x4c01;
const LOOP_CONFIGURE: libc::Ioctl = 0x4c0a;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4c82;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// `struct loop_config` with its `struct loop_info64`: 304 bytes, of which four fields matter here.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    /// Device, inode, real device, offset, limit.
    place: [u64; 5],
    /// Number, encryption and its key's size.
    number: [u32; 3],
    flags: u32,
    /// Names, key, reserved.
    rest: [u64; 30],
}
const _: () = assert!(size_of::<LoopConfig>() == 304);

/// Returns the number of a free loop device.
pub(crate) fn free_loop(control: &File) -> io::Result<u32> {
    // SAFETY: the request takes no argument and answers a number.
    let answer = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Attaches a loop device to a file, bypassing the file's page cache.
pub(crate) fn configure_loop(device: &File, file: &File, block_bytes: u32) -> io::Result<()> {
    let config = LoopConfig {
        file: file.as_raw_fd() as u32,
        block_bytes,
        place: [0; 5],
        number: [0; 3],
        flags: LO_FLAGS_DIRECT_IO,
        rest: [0; 30],
    };
    // SAFETY: the request reads a `struct loop_config`, which `LoopConfig` has the size and the
    // form of, and which lives as long as the call; other devices refuse the request.
    outcome_of(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) })
}

/// Detaches a loop device from its file, immediately or when its last user closes it.
pub(crate) fn clear_loop(device: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    outcome_of(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD) })
}

// The kernel's NBD client: a socket as a block device. Source: `include/uapi/linux/nbd.h`.

const NBD_SET_SOCK: libc::Ioctl = 0xab00;
const NBD_SET_BLKSIZE: libc::Ioctl = 0xab01;
const NBD_DO_IT: libc::Ioctl = 0xab03;
const NBD_SET_SIZE_BLOCKS: libc::Ioctl = 0xab07;
const NBD_DISCONNECT: libc::Ioctl = 0xab08;
const NBD_SET_TIMEOUT: libc::Ioctl = 0xab09;
const NBD_SET_FLAGS: libc::Ioctl = 0xab0a;

fn ask(device: &File, request: libc::Ioctl, number: u64) -> io::Result<()> {
    // SAFETY: these requests take a number and touch no memory of this process; other devices
    // refuse them.
    outcome_of(unsafe { libc::ioctl(device.as_raw_fd(), request, number as libc::c_ulong) })
}

/// Takes a device for the calling thread, which alone may continue to set it up. `EBUSY` if another
/// thread has taken it.
pub(crate) fn take_nbd(device: &File, socket: &OwnedFd) -> io::Result<()> {
    ask(device, NBD_SET_SOCK, socket.as_raw_fd() as u64)
}

/// Sets the size and the features of a device, without a request timeout.
pub(crate) fn set_up_nbd(device: &File, block_bytes: u64, blocks: u64, flags: u16) -> io::Result<()> {
    ask(device, NBD_SET_BLKSIZE, block_bytes)?;
    ask(device, NBD_SET_SIZE_BLOCKS, blocks)?;
    ask(device, NBD_SET_TIMEOUT, 0)?;
    ask(device, NBD_SET_FLAGS, flags.into())
}

/// Runs the device's client until it is disconnected.
pub(crate) fn run_nbd(device: &File) -> io::Result<()> {
    ask(device, NBD_DO_IT, 0)
}

/// Disconnects a device; any process may do so.
pub(crate) fn disconnect_nbd(device: &File) -> io::Result<()> {
    ask(device, NBD_DISCONNECT, 0)
}

/// Gives this thread, and those it starts from now on, its own mount namespace: mounts elsewhere
/// still appear in it, and its own mounts appear nowhere else.
///
/// # Errors
/// If the process does not run as root.
pub(crate) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: only mounts are parted, and with them the current folder and the mask of new files; no descriptor is.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?;
    let how = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(rustix::mount::mount_change("/", how)?)
}
