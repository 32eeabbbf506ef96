//! Everything that depends on the operating system and is not a device, in one file. Linux is the platform that
//! is tested.

use rustix::fs::{Advice, FallocateFlags, MemfdFlags, Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// How a target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OpenHow {
    /// For writing as well as for reading.
    pub write: bool,
    /// Around the page cache.
    pub direct: bool,
    /// Every write durable before it completes.
    pub o_sync: bool,
    /// That only for data and what is needed to find it again.
    pub data_only: bool,
    /// On a block device: fail if it is in use, and keep others from using it.
    pub exclusive: bool,
}

/// The flags of an opening.
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

/// Opens what a descriptor holds once more, whatever its name is by now.
///
/// # Errors
/// The operating system's; `InvalidInput` when the file system refuses direct I/O, `NotFound` where /proc is missing.
pub fn reopen(held: BorrowedFd<'_>, how: OpenHow) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    Ok(rustix::fs::open(path, open_flags(how), Mode::empty())?.into())
}

/// Where an open file is now; `None` if it has no name any more, or the system does not tell.
pub fn path_of(held: impl AsFd) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd())).ok()?;
    (path.is_absolute() && !path.as_os_str().as_encoded_bytes().ends_with(b" (deleted)")).then_some(path)
}

/// Reserves room for a file, so that its blocks are laid out at once. `false`: the file system cannot.
///
/// # Errors
/// When there is no room, among others.
pub fn preallocate(file: impl AsFd, size_bytes: u64) -> io::Result<bool> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size_bytes) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Free bytes for this user on the file system of a folder; `None` where the file system does not tell (ramfs).
pub fn free_bytes(folder: impl AsFd) -> io::Result<Option<u64>> {
    let facts = rustix::fs::fstatvfs(folder)?;
    Ok((facts.f_blocks > 0).then(|| facts.f_bavail.saturating_mul(facts.f_frsize)))
}

/// Whether a block device is write-protected. The kernel lets it be opened for writing all the same.
pub fn is_write_protected(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/ro")).is_ok_and(|ro| ro.trim() == "1")
}

/// Asks the kernel to forget its cached pages of a file.
pub fn forget_cached(file: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Drops the whole page cache of the machine; needs privilege.
pub fn drop_page_cache() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "1\n")
}

/// Whether dropping the page cache is allowed, found out without doing it.
pub fn may_drop_page_cache() -> bool {
    rustix::fs::access("/proc/sys/vm/drop_caches", rustix::fs::Access::WRITE_OK).is_ok()
}

/// A new file of zeros in memory that has no name and goes with its last handle.
///
/// # Errors
/// The operating system's.
pub fn memory_file(size_bytes: u64) -> io::Result<File> {
    let file: File = rustix::fs::memfd_create("kurabe-copy", MemfdFlags::CLOEXEC)?.into();
    file.set_len(size_bytes)?;
    Ok(file)
}

/// Whether huge pages lie under an address.
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

/// User and system CPU time of this process in ns, all threads together. The clock of the kernel's accounting
/// ticks 100 times a second.
pub fn cpu_times_ns() -> (u64, u64) {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, the name in parentheses, may hold anything; the fields after it are numbers.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut times =
        fields.split_ascii_whitespace().skip(11).map(|word| word.parse::<u64>().unwrap_or(0) * tick_ns);
    (times.next().unwrap_or(0), times.next().unwrap_or(0))
}

/// Processor time of the calling thread in ns.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// Has the calling thread run on these processors alone.
///
/// # Errors
/// When there is none of them for this process.
pub fn run_on(processors: &[u32]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    let in_set = processors.iter().map(|number| *number as usize);
    in_set.filter(|number| *number < rustix::thread::CpuSet::MAX_CPU).for_each(|number| set.set(number));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Kernel threads that io_uring started on behalf of this process.
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
