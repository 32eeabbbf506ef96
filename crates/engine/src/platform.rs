//! All code that depends on the operating system and is not a device. The tested platform is Linux.

use rustix::fs::{Advice, FallocateFlags, MemfdFlags, Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// How a target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OpenHow {
    /// Open for reading and writing.
    pub write: bool,
    /// Bypass the page cache.
    pub direct: bool,
    /// Make every write durable before it completes.
    pub o_sync: bool,
    /// Limit that to the data and the metadata needed to read it.
    pub data_only: bool,
    /// For a block device: fail if it is in use, and keep others from using it.
    pub exclusive: bool,
}

/// Returns the flags for opening a file.
pub fn open_flags(how: OpenHow) -> OFlags {
    let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY;
    flags |= if how.write { OFlags::RDWR } else { OFlags::RDONLY };
    let sync = if how.data_only { OFlags::DSYNC } else { OFlags::SYNC };
    for (is_set, flag) in [(how.direct, OFlags::DIRECT), (how.o_sync, sync), (how.exclusive, OFlags::EXCL)] {
        if is_set {
            flags |= flag;
        }
    }
    flags
}

/// Opens the file of a descriptor again, regardless of its current name.
///
/// # Errors
/// Returns the operating system's error: `InvalidInput` if the file system refuses direct I/O,
/// `NotFound` if /proc is not mounted.
pub fn reopen(held: BorrowedFd<'_>, how: OpenHow) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    Ok(rustix::fs::open(path, open_flags(how), Mode::empty())?.into())
}

/// Returns the current path of an open file. `None` if it has no name any more, or if the system
/// does not report it.
pub fn path_of(held: impl AsFd) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd())).ok()?;
    (path.is_absolute() && !path.as_os_str().as_encoded_bytes().ends_with(b" (deleted)")).then_some(path)
}

/// Preallocates space for a file, so that its blocks are laid out in one step. Returns `false` if
/// the file system does not support it.
///
/// # Errors
/// Fails if there is not enough space, among other reasons.
pub fn preallocate(file: impl AsFd, size_bytes: u64) -> io::Result<bool> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Makes a range from the first byte on read as zero without being written: its pages are new to the file
/// system.
///
/// # Errors
/// `EOPNOTSUPP` if the file system does not support it, among other reasons.
pub fn unwrite(file: impl AsFd, length_bytes: u64) -> io::Result<()> {
    let how = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, how, 0, length_bytes)?)
}

/// Returns the bytes available to this user on the file system of a folder. `None` if the file
/// system does not report it (ramfs).
pub fn free_bytes(folder: impl AsFd) -> io::Result<Option<u64>> {
    let facts = rustix::fs::fstatvfs(folder)?;
    Ok((facts.f_blocks > 0).then(|| facts.f_bavail.saturating_mul(facts.f_frsize)))
}

/// Returns whether a block device is write-protected. The kernel allows it to be opened for writing
/// nevertheless.
pub fn is_write_protected(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/ro")).is_ok_and(|ro| ro.trim() == "1")
}

/// Asks the kernel to drop the cached pages of a file.
pub fn forget_cached(file: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Drops the page cache of the whole machine. Requires privileges.
pub fn drop_page_cache() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "1\n")
}

/// Returns whether this process may drop the page cache, without dropping it.
pub fn may_drop_page_cache() -> bool {
    rustix::fs::access("/proc/sys/vm/drop_caches", rustix::fs::Access::WRITE_OK).is_ok()
}

/// Creates an unnamed, zero-filled file in memory, which disappears with its last handle.
///
/// # Errors
/// Returns the operating system's error.
pub fn memory_file(size_bytes: u64) -> io::Result<File> {
    let file: File = rustix::fs::memfd_create("kurabe-copy", MemfdFlags::CLOEXEC)?.into();
    file.set_len(size_bytes)?;
    Ok(file)
}

/// Returns whether an address is backed by huge pages.
pub fn has_huge_pages(address: usize) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return false };
    let mut inside = false;
    for line in maps.lines() {
        let range = line.split(' ').next().and_then(|word| word.split_once('-'));
        if let Some((start, end)) = range
            && let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
        {
            inside = (start..end).contains(&address);
        } else if inside && let Some(size) = line.strip_prefix("AnonHugePages:") {
            return size.trim() != "0 kB";
        }
    }
    false
}

/// Returns the user and system CPU time of this process in ns, summed over all threads. The
/// kernel's accounting clock ticks 100 times a second.
pub fn cpu_times_ns() -> (u64, u64) {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, the name in parentheses, may contain anything. The fields after it are
    // numbers.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut times =
        fields.split_ascii_whitespace().skip(11).map(|word| word.parse::<u64>().unwrap_or(0) * tick_ns);
    (times.next().unwrap_or(0), times.next().unwrap_or(0))
}

/// Returns the CPU time of the calling thread in ns.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// Pins the calling thread to these processors.
///
/// # Errors
/// Fails if none of them is available to this process.
pub fn run_on(processors: &[u32]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    let in_set = processors.iter().map(|number| *number as usize);
    in_set.filter(|number| *number < rustix::thread::CpuSet::MAX_CPU).for_each(|number| set.set(number));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Returns the number of kernel threads that io_uring started for this process.
pub fn uring_worker_count() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    tasks
        .filter_map(Result::ok)
        .filter(|task| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("iou-wrk"))
        })
        .count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_memory_file_has_its_size() {
        assert_eq!(super::memory_file(12_345).unwrap().metadata().unwrap().len(), 12_345);
    }
}
