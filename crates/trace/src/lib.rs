//! Records the operations that reach block devices: each with its time, offset, length and latency.
//!
//! The kernel's block tracepoints are read in a separate instance of tracefs, so that other users
//! of tracing are not affected. A device with a request queue is recorded where requests are issued
//! to its driver (`block_rq_issue`, `block_rq_complete`), which is after merging and splitting. A
//! device without one (device mapper, md, zram) is recorded where operations arrive
//! (`block_bio_queue`, `block_bio_complete`). A partition is recorded on its disk, by its sectors.
//! A flush has no sectors, so a partition gets all flushes of its disk. A thread reads the events
//! while they occur, and events that the kernel drops are counted. Times are from the kernel's
//! monotonic clock, printed in whole µs.
//!
//! tracefs is searched at its usual mount points. If it is not mounted, it is mounted for this
//! process only, outside the directory tree. The instance is removed with the value, and those of
//! dead processes at the next start.
//!
//! Not here: counters of a device (the host's), and when a repetition is traced (the engine's).
//!
//! Sources: kernel Documentation/trace/ftrace.rst, events.rst; include/trace/events/block.h.

mod assemble;
mod event;
mod instance;
mod platform;
mod split;
mod tracefs;

#[cfg(test)]
#[allow(dead_code, reason = "each crate uses its own part")]
#[path = "../../host/src/fake.rs"]
mod fake;
#[cfg(test)]
use kurabe_host::roots;

pub use assemble::RecordedTrace;
pub use tracefs::remove_orphaned_traces;

use assemble::Watched;
use event::Tracepoint;
use instance::{Instance, Ours};
use kurabe_core::record::Repetition;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_host::{BlockNode, Number, Roots, SECTOR_BYTES};
use split::Disk;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tracefs::Tracefs;

/// A running recording of the operations on block devices.
#[derive(Debug)]
pub struct BlockTrace {
    watched: Vec<Watched>,
    instance: Instance,
    private_mount: bool,
}

impl BlockTrace {
    /// Starts to record the operations that reach these block devices (major, minor).
    ///
    /// # Errors
    /// If a device does not exist, or the kernel's tracing is unavailable: not root, no tracefs, no
    /// tracepoints. A caller can then fall back to [`kurabe_host::DeviceCounters`].
    pub fn start(devices: &[(u32, u32)]) -> Result<Self> {
        let roots = Roots::default();
        if devices.is_empty() {
            return Err(ErrorKind::Target
                .error(text!("no block device was found to record", "記録するブロックデバイスがありません"))
                .remedy(text!(
                    "name a directory or a file on a file system with a block device",
                    "ブロックデバイス上のファイルシステムにあるディレクトリかファイルを指定してください"
                )));
        }
        let watched = devices.iter().map(|number| watch(&roots, *number)).collect::<Result<Vec<_>>>()?;
        let tracefs = Tracefs::find(&roots)?;
        tracefs.remove_orphans();
        let private_mount = tracefs.is_private();
        let events = Tracepoint::NAMES.map(|(_, tracepoint)| {
            let requests = !matches!(tracepoint, Tracepoint::Queued | Tracepoint::Ended);
            let devices = watched.iter().filter(|one| one.requests == requests);
            (tracepoint, devices.flat_map(|one| one.numbers.iter().copied()).collect())
        });
        let instance = Instance::start(tracefs, &events.into(), Arc::new(|_, _| false))?;
        Ok(Self { watched, instance, private_mount })
    }

    /// Returns whether tracefs was mounted for this process only, because it is not mounted on this
    /// machine.
    pub fn mounted_privately(&self) -> bool {
        self.private_mount
    }

    /// Stops the recording and returns it.
    ///
    /// # Errors
    /// If the events could not be read.
    pub fn stop(self) -> Result<RecordedTrace> {
        let read = self.instance.stop()?;
        Ok(assemble::assemble(&self.watched, read))
    }
}

/// A recording that follows the operations of this process through the kernel's queues and the
/// device.
#[derive(Debug)]
pub struct SplitTrace {
    disks: Vec<Disk>,
    instance: Instance,
}

impl SplitTrace {
    /// Starts to follow the operations that the threads of this process, and io_uring's workers on
    /// their behalf, submit to those of these devices (major, minor) that have a request queue.
    ///
    /// # Errors
    /// If none of the devices has a request queue, or the kernel's tracing is unavailable.
    pub fn start(devices: &[(u32, u32)]) -> Result<Self> {
        let roots = Roots::default();
        let mut disks: Vec<Disk> = Vec::new();
        for disk in devices.iter().filter_map(|number| disk(&roots, *number)) {
            if !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        if disks.is_empty() {
            return Err(ErrorKind::Unsupported
                .error(text!(
                    "no device under the target has a request queue that can be traced",
                    "対象の下に、追跡できる要求キューを持つデバイスがありません"
                ))
                .remedy(text!(
                    "trace a target on a disk, not in memory or on the network",
                    "ディスク上の対象で試してください(メモリー上やネットワーク上は不可)"
                )));
        }
        let tracefs = Tracefs::find(&roots)?;
        tracefs.remove_orphans();
        let numbers: Vec<Number> = disks.iter().flat_map(|disk| disk.numbers.iter().copied()).collect();
        let events = [Tracepoint::Queued, Tracepoint::Issued, Tracepoint::Completed, Tracepoint::Requeued];
        let events = events.map(|tracepoint| (tracepoint, numbers.clone())).into();
        let instance = Instance::start(tracefs, &events, own_threads(&roots))?;
        Ok(Self { disks, instance })
    }

    /// Stops the recording, and adds its results to the repetitions that were measured during it.
    /// Their operations have this size, or any size if `None`.
    ///
    /// # Errors
    /// If the events could not be read.
    pub fn stop(self, operation_bytes: Option<u64>, repetitions: &mut [Repetition]) -> Result<()> {
        let split = split::split(&self.disks, self.instance.stop()?, operation_bytes);
        for repetition in repetitions {
            repetition.kernel = Some(split::with_rest(&split, repetition));
        }
        Ok(())
    }
}

/// Returns a function that recognizes the threads of this process while they live, and remembers
/// them. Other processes may also be named kurabe.
fn own_threads(roots: &Roots) -> Ours {
    let tasks = roots.proc.join("self/task");
    let is_own: Mutex<HashMap<u32, bool>> = Mutex::default();
    Arc::new(move |thread, name| {
        // The name of an io_uring worker has the number of the thread that it works for.
        let thread = name.strip_prefix("iou-wrk-").and_then(|number| number.parse().ok()).unwrap_or(thread);
        let mut is_own = is_own.lock().unwrap_or_else(PoisonError::into_inner);
        *is_own.entry(thread).or_insert_with(|| tasks.join(thread.to_string()).is_dir())
    })
}

/// Returns the disk of a device, if it has a request queue.
fn disk(roots: &Roots, number: Number) -> Option<Disk> {
    let block = BlockNode::by_number(roots, number).ok()?;
    let whole = block.disk().unwrap_or(block);
    // Only a disk with a request queue has hardware queues in sysfs.
    if !whole.directory.join("mq").is_dir() {
        return None;
    }
    let partitions = whole.partitions().unwrap_or_default();
    let numbers = whole.number().into_iter().chain(partitions.iter().filter_map(BlockNode::number)).collect();
    Some(Disk { name: whole.name, numbers })
}

/// Determines how a device is recorded.
fn watch(roots: &Roots, number: Number) -> Result<Watched> {
    let block = BlockNode::by_number(roots, number).map_err(|error| {
        let (major, minor) = number;
        ErrorKind::Target
            .error(text!(
                "there is no block device {major}:{minor}",
                "ブロックデバイス {major}:{minor} はありません"
            ))
            .because(error)
    })?;
    let disk = block.disk();
    let start_sector = disk.as_ref().and_then(|_| block.start_bytes()).unwrap_or(0) / SECTOR_BYTES;
    let end_sector = match (&disk, block.size_bytes()) {
        (Some(_), Some(size)) => start_sector.saturating_add(size / SECTOR_BYTES),
        _ => u64::MAX,
    };
    let whole = disk.unwrap_or_else(|| block.clone());
    // Only a disk with a request queue has hardware queues in sysfs.
    let requests = whole.directory.join("mq").is_dir();
    let mut numbers: Vec<Number> = whole.number().into_iter().collect();
    if !requests {
        // An operation that arrives at a partition has the partition's number and the disk's
        // sector.
        let partitions = whole.partitions().unwrap_or_default();
        numbers.extend(partitions.iter().filter_map(BlockNode::number));
    }
    Ok(Watched { name: block.name, numbers, requests, start_sector, end_sector })
}

#[cfg(test)]
mod tests;
