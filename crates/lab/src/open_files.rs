//! The files that a command has open while it runs: many a log is gone when it ends, and nobody could say then whose the writes
//! were.
//!
//! The model: whenever a flush comes, the descriptors of the command and of what it started are looked at, and where their files
//! lie. Nothing is read or written for that: the kernel knows it of files that are open. A recording device does not answer the flush
//! before, so the program does nothing during the look. Each descriptor is borrowed rather than opened again, because ext4 writes a
//! file that was truncated when the first of those who opened it closes it, which must be the program itself.

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

/// A look takes some 50 µs for each process, which delays a program whose flushes do not wait for it.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// How soon it ends.
const MOST_WAIT: Duration = Duration::from_millis(20);
/// What the kernel adds to the name of a file that is gone.
const GONE: &str = " (deleted)";

/// Places of files, by name.
pub(crate) type FilePlaces = BTreeMap<PathBuf, Vec<Range<u64>>>;

/// Looks until it is ended.
pub(crate) struct OpenFiles {
    is_ending: Arc<AtomicBool>,
    looking: JoinHandle<FilePlaces>,
}

impl OpenFiles {
    /// Of the processes below this one, on the file system at a folder.
    pub(crate) fn look(point: &Path, log: &Arc<RequestLog>) -> std::io::Result<Self> {
        let is_ending = Arc::<AtomicBool>::default();
        let (ending, log, point) = (Arc::clone(&is_ending), Arc::clone(log), point.to_owned());
        let look = move || {
            let mut places = FilePlaces::new();
            // Without this nothing but names is lost.
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

    /// What was found.
    pub(crate) fn end(self) -> FilePlaces {
        self.is_ending.store(true, Ordering::Relaxed);
        self.looking.join().unwrap_or_default()
    }
}

/// Adds the files of the processes that a process started, and of itself if it is not the first.
fn add_files_of(process: u32, is_first: bool, point: &Path, places: &mut FilePlaces) {
    let folder = PathBuf::from(format!("/proc/{process}"));
    // Processes end while they are looked at.
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
        // A file that grows has the same extent, longer.
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
