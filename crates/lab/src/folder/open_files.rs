//! Tracks the files that a command has open while it runs. Many files, such as logs, are removed
//! before it ends, and their writes could not be attributed afterwards.
//!
//! When a flush arrives, the open descriptors of the command and its descendants are listed with the
//! extents of their files. This causes no I/O, because the kernel knows the extents of open files. A
//! recording device answers the flush only afterwards, so the program waits during the scan. Each
//! descriptor is borrowed rather than opened again: ext4 writes a truncated file when it is first
//! closed, and only the program itself may cause that.

use kurabe_host::file_extents;
use kurabe_serve::{RequestLog, apart};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pause after a scan during which the program went on. A scan takes about 50 µs per process, which
/// delays the program.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// Longest wait for a flush, after which the thread checks whether it has to end.
const MOST_WAIT: Duration = Duration::from_millis(20);
/// Suffix that the kernel appends to the name of a removed file.
const GONE: &str = " (deleted)";

/// Extents of files, by name.
pub(crate) type FilePlaces = BTreeMap<PathBuf, Vec<Range<u64>>>;

/// Scans open files in a thread until it is ended.
pub(crate) struct OpenFiles {
    is_ending: Arc<AtomicBool>,
    looking: JoinHandle<FilePlaces>,
}

impl OpenFiles {
    /// Starts to scan the descendants of this process for open files on the file system at a
    /// folder.
    pub(crate) fn look(point: &Path, log: &Arc<RequestLog>) -> std::io::Result<Self> {
        let is_ending = Arc::<AtomicBool>::default();
        let (ending, log, point) = (Arc::clone(&is_ending), Arc::clone(log), point.to_owned());
        let look = move || {
            let mut places = FilePlaces::new();
            // If this fails, only the names of files are lost.
            let _ = apart(|| {
                log.set_watched(true);
                while !ending.load(Ordering::Relaxed) {
                    let Some(flush) = log.next_flush(MOST_WAIT) else { continue };
                    add_files_of(std::process::id(), true, &point, &mut places);
                    log.seen(flush);
                    if !log.is_ticked() {
                        std::thread::sleep(BETWEEN_LOOKS);
                    }
                }
                Ok(())
            });
            log.set_watched(false);
            places
        };
        Ok(Self { looking: std::thread::Builder::new().spawn(look)?, is_ending })
    }

    /// Stops scanning and returns the files that were found.
    pub(crate) fn end(self) -> FilePlaces {
        self.is_ending.store(true, Ordering::Relaxed);
        self.looking.join().unwrap_or_default()
    }
}

/// Adds the open files of a process's descendants, and of the process itself unless it is the
/// first.
fn add_files_of(process: u32, is_first: bool, point: &Path, places: &mut FilePlaces) {
    let folder = PathBuf::from(format!("/proc/{process}"));
    // A process may exit during the scan.
    let entries = |name: &str| std::fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
    if !is_first {
        let whole = i32::try_from(process).ok().and_then(Pid::from_raw);
        let whole = whole.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        entries("fd").for_each(|entry| add_file(&entry.path(), whole.as_ref(), point, places));
    }
    for task in entries("task") {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            add_files_of(child, false, point, places);
        }
    }
}

fn add_file(descriptor: &Path, process: Option<&OwnedFd>, point: &Path, places: &mut FilePlaces) {
    let Ok(name) = std::fs::read_link(descriptor) else { return };
    let is_file = name.starts_with(point) && descriptor.metadata().is_ok_and(|facts| facts.is_file());
    let Some(file) = is_file.then(|| borrowed(descriptor, process?)).flatten() else { return };
    let Ok(extents) = file_extents(&file, false) else { return };
    let words = name.to_string_lossy();
    let own = places.entry(PathBuf::from(words.strip_suffix(GONE).unwrap_or(&words))).or_default();
    for extent in extents {
        // A growing file has the same extent with a larger end.
        match own.iter_mut().find(|before| before.start == extent.start) {
            Some(before) => before.end = before.end.max(extent.end),
            None => own.push(extent),
        }
    }
}

/// A descriptor of another process as one of this thread.
fn borrowed(descriptor: &Path, process: &OwnedFd) -> Option<File> {
    let number = descriptor.file_name()?.to_str()?.parse().ok()?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok().map(File::from)
}
