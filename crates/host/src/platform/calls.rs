//! System calls that neither a file in /proc or /sys nor a safe library provides: the backing
//! object of a loop device, whether a file is open for writing, and where a file lies on its
//! device.
//!
//! Sources: `include/uapi/linux/loop.h` (`struct loop_info64`), `drivers/block/loop.c`
//! (`loop_get_status`); fcntl(2), "Leases"; `fs/locks.c` (`check_conflicting_open`);
//! `Documentation/filesystems/fiemap.rst`.
#![allow(unsafe_code)]

use super::Number;
use kurabe_core::workload::WriteHint;
use rustix::fs::FallocateFlags;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `LOOP_GET_STATUS64` of `linux/loop.h`.
const LOOP_GET_STATUS64: libc::Ioctl = 0x4c05;

/// `F_SETSIG` of `asm-generic/fcntl.h`: sets the signal that announces a lease break.
const F_SETSIG: libc::c_int = 10;

/// Magic numbers of NFS, CIFS and SMB 2 (`linux/magic.h`, `fs/smb/client/`).
const ON_A_SERVER: [u32; 3] = [0x6969, 0xff53_4d42, 0xfe53_4d42];

/// `struct loop_info64` of `linux/loop.h`: 232 bytes, of which only the first fields are used.
#[repr(C)]
struct LoopStatus {
    device: u64,
    inode: u64,
    rdevice: u64,
    rest: [u64; 26],
}

/// Returns the backing object of a loop device: the number of the file system, the inode number,
/// and the device number if the inode is a block device.
///
/// # Errors
/// Fails with `ENXIO` for a loop device without a file, otherwise with the operating system's
/// error.
pub fn loop_status(node: &File) -> io::Result<(Number, u64, Option<Number>)> {
    let mut status = LoopStatus { device: 0, inode: 0, rdevice: 0, rest: [0; 26] };
    // SAFETY: the request fills a `struct loop_info64`, and `LoopStatus` has the same size and
    // alignment. The descriptor is open, and a device that is not a loop device rejects the
    // request.
    let answer = unsafe { libc::ioctl(node.as_raw_fd(), LOOP_GET_STATUS64, &raw mut status) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    // The kernel encodes them like glibc's `dev_t` (`huge_encode_dev`).
    let number = |dev: u64| (rustix::fs::major(dev), rustix::fs::minor(dev));
    Ok((number(status.device), status.inode, (status.rdevice != 0).then(|| number(status.rdevice))))
}

/// Returns whether a file is open for writing anywhere, including this process, mappings and the
/// kernel itself, because a read lease is then refused. `None` if this user or this file system
/// does not support leases. An NFS or SMB client may also refuse one because of its server. The
/// file must be open only for reading.
///
/// # Errors
/// Returns the operating system's error.
pub(crate) fn is_open_for_writing(file: &File) -> io::Result<Option<bool>> {
    if ON_A_SERVER.contains(&(rustix::fs::fstatfs(file)?.f_type as u32)) {
        return Ok(None);
    }
    let control = |request: libc::c_int, value: libc::c_int| -> io::Result<()> {
        // SAFETY: these requests take a number and access no memory of this process.
        let answer = unsafe { libc::fcntl(file.as_raw_fd(), request, value) };
        if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // An open during the lease sends a signal. SIGIO would end this process, but SIGURG is ignored.
    control(F_SETSIG, libc::SIGURG)?;
    match control(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => control(libc::F_SETLEASE, libc::F_UNLCK).map(|()| Some(false)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN) => Ok(Some(true)),
            Some(libc::EACCES | libc::EPERM | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOLCK) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Calls sync_file_range(2): writes the dirty pages of a range as specified by the kernel's flags,
/// without flushing the device. A length of 0 extends to the end of the file.
///
/// # Errors
/// Returns the operating system's error.
pub fn write_pages(file: &File, offset_bytes: u64, length_bytes: u64, flags: u32) -> io::Result<()> {
    let (offset, length) = (offset_bytes.cast_signed(), length_bytes.cast_signed());
    // SAFETY: the call takes an open descriptor and numbers.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `F_SET_RW_HINT` of `linux/fcntl.h`.
const F_SET_RW_HINT: libc::c_int = 1024 + 12;

/// States how long data written to a file is expected to live.
///
/// # Errors
/// Returns the operating system's error.
pub fn set_write_hint(file: &File, hint: WriteHint) -> io::Result<()> {
    // RWH_WRITE_LIFE_SHORT is 2; 0 and 1 state nothing.
    let number = hint as u64 + 2;
    // SAFETY: the request reads a 64-bit number, which lives until it returns.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), F_SET_RW_HINT, &raw const number) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `BLKDISCARD` of `linux/fs.h`.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discards a range of a block device or of a file.
///
/// # Errors
/// Returns the operating system's error, which is `EOPNOTSUPP` if discard is not supported.
pub fn discard(file: &File, is_block: bool, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    if !is_block {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        return Ok(rustix::fs::fallocate(file, how, offset_bytes, length_bytes)?);
    }
    let range = [offset_bytes, length_bytes];
    // SAFETY: the request reads two 64-bit numbers, which live until it returns. A file that is not
    // a block device rejects the request.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, &raw const range) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `FITHAW` of `linux/fs.h`.
const FITHAW: libc::Ioctl = 0xc004_5878_u32 as libc::Ioctl;
/// Maximum number of thaws. A file system counts its freezes, and none is realistically frozen more
/// often.
const MOST_FREEZES: usize = 64;

/// Thaws the file system of an open folder, regardless of how often it was frozen. Has no effect if
/// it is not frozen.
pub fn thaw(folder: &File) {
    // SAFETY: the request accesses no memory of this process. A file system that can't be frozen
    // rejects it.
    let thawed = || unsafe { libc::ioctl(folder.as_raw_fd(), FITHAW, 0) } == 0;
    let _ = (0..MOST_FREEZES).take_while(|_| thawed()).count();
}

/// Disables swapping to a file or device.
///
/// # Errors
/// Returns the operating system's error, which is `EINVAL` if the path is not in use for swap.
pub fn swap_off(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the call reads a zero-terminated string that lives until it returns.
    let answer = unsafe { libc::swapoff(path.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `FS_IOC_FIEMAP` of `linux/fs.h`.
const FIEMAP: libc::Ioctl = 0xc020_660b_u32 as libc::Ioctl;
/// `FIEMAP_FLAG_SYNC`: writes the file's cached data first.
const SYNC_BEFORE: u32 = 1;
/// `FIEMAP_EXTENT_LAST`, and the flags of extents whose location is unknown or meaningless:
/// `UNKNOWN`, `DELALLOC`, `ENCODED`, `DATA_INLINE`.
const LAST: u32 = 1;
const WITHOUT_PLACE: u32 = 0x2 | 0x4 | 0x8 | 0x200;
/// Number of extents per request.
const EXTENTS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MappedExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [MappedExtent; EXTENTS],
}

/// Returns the byte ranges of a file or folder on the device of its file system, in file order.
/// With `is_written_before`, its cached data is written to the device first.
///
/// # Errors
/// Fails with `EOPNOTSUPP` if the file system does not report extents, otherwise with the operating
/// system's error.
pub fn file_extents(file: &File, is_written_before: bool) -> io::Result<Vec<std::ops::Range<u64>>> {
    let mut places = Vec::new();
    let mut start = 0;
    loop {
        let mut map = ExtentMap {
            start,
            length: u64::MAX - start,
            flags: if is_written_before { SYNC_BEFORE } else { 0 },
            mapped: 0,
            room: EXTENTS as u32,
            reserved: 0,
            extents: [MappedExtent::default(); EXTENTS],
        };
        // SAFETY: the request fills a `struct fiemap` with room for the given number of extents.
        // `ExtentMap` has that layout, and the descriptor is open.
        let answer = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut map) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        let mapped = &map.extents[..(map.mapped as usize).min(EXTENTS)];
        for extent in mapped.iter().filter(|extent| extent.flags & WITHOUT_PLACE == 0) {
            places.push(extent.physical..extent.physical.saturating_add(extent.length));
        }
        match mapped.last() {
            Some(last) if last.flags & LAST == 0 && last.length > 0 => start = last.logical + last.length,
            _ => return Ok(places),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::words::Keyword;

    #[test]
    fn a_file_has_the_hint_that_was_set() {
        /// `F_GET_RW_HINT` of `linux/fcntl.h`.
        const F_GET_RW_HINT: libc::c_int = 1024 + 11;
        let file = tempfile::tempfile().unwrap();
        // The numbers of `RWH_WRITE_LIFE_*` in `linux/fcntl.h`.
        for ((_, hint), number) in WriteHint::WORDS.iter().zip([2u64, 3, 4, 5]) {
            set_write_hint(&file, *hint).unwrap();
            let mut set = 0u64;
            // SAFETY: the request writes a 64-bit number, which lives until it returns.
            let answer = unsafe { libc::fcntl(file.as_raw_fd(), F_GET_RW_HINT, &raw mut set) };
            assert_eq!((answer, set), (0, number));
        }
    }
}
