//! An instance of the kernel's tracing, and the thread that reads it.
//!
//! The directory is the instance; removing it ends everything. The thread polls without blocking a
//! few hundred times a second, for which the buffers are large enough. When stopped, it reads the
//! rest and ends.

use crate::event::{BlockEvent, Read, Tracepoint, read_line_of};
use crate::platform::open_nonblocking;
use crate::tracefs::{Tracefs, refusal};
use kurabe_core::{Error, Result, text};
use kurabe_host::{Number, roots};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Buffer size per CPU, in KiB: some 100,000 events.
const BUFFER_KIB: u32 = 8192;
/// Sleep of the thread when there was nothing to read.
const PAUSE: Duration = Duration::from_millis(4);
/// Most events that are stored (about 400 MB); further ones are counted as lost.
const EVENTS_MOST: usize = 10_000_000;
/// Attempts to remove an instance that is still in use.
const REMOVAL_TRIES: u32 = 50;

/// Events that were read.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub events: Vec<BlockEvent>,
    /// Events that the kernel dropped, that exceeded the limit, or that could not be parsed.
    pub lost: u64,
}

/// Kinds of events to record, each with its devices.
pub(crate) type Wanted = Vec<(Tracepoint, Vec<Number>)>;

/// Returns whether the operations of a thread are followed, by its number and name.
pub(crate) type Ours = Arc<dyn Fn(u32, &str) -> bool + Send + Sync>;

#[derive(Debug)]
pub(crate) struct Instance {
    directory: PathBuf,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<std::io::Result<Recording>>>,
    /// The last field, because the directory may be in it.
    _tracefs: Tracefs,
}

impl Instance {
    /// Creates an instance that records these events, and starts its thread.
    pub(crate) fn start(tracefs: Tracefs, events: &Wanted, ours: Ours) -> Result<Self> {
        let directory = tracefs.new_instance();
        std::fs::create_dir(&directory).map_err(|error| refusal(&error))?;
        let mut instance =
            Self { directory, stop: Arc::new(AtomicBool::new(false)), reader: None, _tracefs: tracefs };
        // On an error from here on, the value is dropped and the instance is removed.
        instance.configure(events).map_err(|error| refusal(&error))?;
        let pipe =
            open_nonblocking(&instance.directory.join("trace_pipe")).map_err(|error| refusal(&error))?;
        let stop = Arc::clone(&instance.stop);
        let reader = std::thread::Builder::new()
            .name("block-trace".to_owned())
            .spawn(move || empty(pipe, &stop, &*ours));
        instance.reader = Some(reader.map_err(|error| Error::no_thread(&error))?);
        instance.write("tracing_on", "1").map_err(|error| refusal(&error))?;
        Ok(instance)
    }

    #[cfg(test)]
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn write(&self, file: &str, words: &str) -> std::io::Result<()> {
        std::fs::write(self.directory.join(file), words)
    }

    fn configure(&self, events: &Wanted) -> std::io::Result<()> {
        self.write("tracing_on", "0")?;
        self.write("trace_clock", "mono")?;
        // A smaller buffer also works; events that do not fit are counted.
        let _ = self.write("buffer_size_kb", &BUFFER_KIB.to_string());
        for (tracepoint, numbers) in events {
            let name =
                Tracepoint::NAMES.iter().find(|(_, event)| event == tracepoint).map_or("", |(name, _)| name);
            if !numbers.is_empty() {
                self.write(&format!("events/block/{name}/filter"), &filter(numbers))?;
                self.write(&format!("events/block/{name}/enable"), "1")?;
            }
        }
        Ok(())
    }

    /// Stops the recording, returns the events, and removes the instance.
    pub(crate) fn stop(mut self) -> Result<Recording> {
        // Even if this fails, the thread ends.
        let _ = self.write("tracing_on", "0");
        let mut recording = self.join().map_err(|error| {
            Error::os(
                text!(
                    "cannot read from the kernel which operations reached the block device",
                    "ブロックデバイスに届いた操作をカーネルから読み出せません"
                ),
                &error,
            )
        })?;
        // The `LOST` lines that the thread counted and the kernel's statistics cover the same
        // events.
        recording.lost = recording.lost.max(dropped(&self.directory));
        Ok(recording)
    }

    fn join(&mut self) -> std::io::Result<Recording> {
        self.stop.store(true, Ordering::Relaxed);
        let Some(reader) = self.reader.take() else { return Ok(Recording::default()) };
        reader.join().unwrap_or_else(|_| Err(std::io::Error::other("the reading thread failed")))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("tracing_on", "0");
        let _ = self.join();
        for _ in 0..REMOVAL_TRIES {
            match std::fs::remove_dir(&self.directory) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => std::thread::sleep(PAUSE),
                _ => break,
            }
        }
    }
}

/// Returns an event filter by device; the kernel's device numbers have 20 bits for the minor
/// (include/linux/kdev_t.h).
fn filter(numbers: &[Number]) -> String {
    let mut encoded: Vec<u64> =
        numbers.iter().map(|(major, minor)| u64::from(*major) << 20 | u64::from(*minor)).collect();
    encoded.sort_unstable();
    encoded.dedup();
    encoded.iter().map(|number| format!("dev == {number}")).collect::<Vec<_>>().join(" || ")
}

/// Reads until it is stopped and nothing is left.
fn empty(mut pipe: File, stop: &AtomicBool, ours: &dyn Fn(u32, &str) -> bool) -> std::io::Result<Recording> {
    let mut recording = Recording::default();
    let mut buffer = vec![0; 1 << 16];
    let mut rest: Vec<u8> = Vec::new();
    loop {
        // Loaded before the read, so that everything written before the stop is read.
        let stopping = stop.load(Ordering::Relaxed);
        match pipe.read(&mut buffer) {
            Ok(0) if stopping => break,
            Ok(0) => std::thread::sleep(PAUSE),
            Ok(count) => take_lines(&mut rest, &buffer[..count], &mut recording, ours),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if stopping {
                    break;
                }
                std::thread::sleep(PAUSE);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    take_lines(&mut rest, b"\n", &mut recording, ours);
    Ok(recording)
}

/// Processes complete lines; an incomplete one waits for the next bytes.
fn take_lines(rest: &mut Vec<u8>, bytes: &[u8], recording: &mut Recording, ours: &dyn Fn(u32, &str) -> bool) {
    let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') else {
        rest.extend_from_slice(bytes);
        return;
    };
    rest.extend_from_slice(&bytes[..end]);
    for line in rest.split(|&byte| byte == b'\n') {
        match read_line_of(&String::from_utf8_lossy(line), ours) {
            Read::Event(event) if recording.events.len() < EVENTS_MOST => recording.events.push(event),
            Read::Event(_) | Read::Strange => recording.lost += 1,
            Read::Lost(count) => recording.lost += count,
            Read::Other => {}
        }
    }
    rest.clear();
    rest.extend_from_slice(&bytes[end + 1..]);
}

/// Returns the number of events that the kernel dropped, over all CPUs.
fn dropped(instance: &Path) -> u64 {
    let cpus = instance.join("per_cpu");
    let stats = roots::names(&cpus).into_iter().filter_map(|cpu| roots::text(&cpus.join(cpu).join("stats")));
    stats.map(|stats| parse_dropped(&stats)).sum()
}

/// Adds up `overrun`, `commit overrun` and `dropped events` of a CPU's `stats`.
fn parse_dropped(stats: &str) -> u64 {
    let count = |line: &str| {
        let (name, count) = line.split_once(':')?;
        matches!(name, "overrun" | "commit overrun" | "dropped events")
            .then(|| count.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_cpu_tell_what_was_dropped() {
        let stats = "entries: 6\noverrun: 3\ncommit overrun: 1\nbytes: 396\noldest event ts:   975.9\n\
            now ts:   975.9\ndropped events: 2\nread events: 18389";
        assert_eq!(parse_dropped(stats), 6);
        assert_eq!(parse_dropped("overrun: x\n"), 0);
    }

    #[test]
    fn a_filter_names_each_device_once() {
        assert_eq!(filter(&[(8, 1), (7, 0), (8, 1)]), "dev == 7340032 || dev == 8388609");
    }

    #[test]
    fn lines_that_are_cut_by_a_read_are_joined() {
        let mut recording = Recording::default();
        let mut rest = Vec::new();
        let text = b"a-1 [0] . 1.5: block_bio_queue: 8,0 W 1 + 1 [a]\nCPU:0 [LOST 4 EVENTS]\nx: block_bio_queue: y\n";
        for part in text.chunks(7) {
            take_lines(&mut rest, part, &mut recording, &|_, _| false);
        }
        assert_eq!((recording.events.len(), recording.lost), (1, 5));
    }
}
