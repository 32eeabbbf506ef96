//! The tick of the kernel: file systems stamp files with a clock that advances once per tick.
//!
//! The model: a write within the tick of the previous one leaves the times of its file unchanged,
//! and a file system commits an inode on `fsync` only if it changed. How many commits a program
//! causes therefore depends on how many of its flushes fit into a tick. A device that answers no
//! flush before the next tick gives each `fsync` a tick of its own, as every device does whose
//! flush takes longer than that.
//!
//! Sources: Linux 6.12, `fs/inode.c` (`inode_needs_update_time`), `fs/ext4/fsync.c`
//! (`ext4_fsync_journal`), and `Documentation/filesystems/multigrain-ts.rst`: from 6.13 on, a file
//! whose times were read gets a finer time, which is never later than the next tick.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// The clock advances with the one of file times, and is never set.
const CLOCK: ClockId = ClockId::MonotonicCoarse;
/// Where the tick is late because the processors were idle, it is looked for this often.
pub(crate) const LOOK_NS: u64 = 100_000;
/// How long a flush waits for a thread that looks at the program meanwhile. That may itself wait
/// for another thread of the program.
pub(crate) const MOST_LOOK_NS: u64 = 500_000_000;

/// The length of a tick, in ns.
pub fn tick_ns() -> u64 {
    ns_of(clock_getres(CLOCK))
}

/// When the current tick began, in ns by the clock that advances with it.
pub(crate) fn tick_begin_ns() -> u64 {
    ns_of(clock_gettime(CLOCK))
}

/// From now until the tick ends that began then, in ns.
pub(crate) fn left_ns(begin_ns: u64) -> u64 {
    (begin_ns + tick_ns()).saturating_sub(ns_of(clock_gettime(ClockId::Monotonic)))
}

fn ns_of(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
