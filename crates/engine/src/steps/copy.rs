//! Ordinary buffered copies between the target and memory, and within the target. They show how
//! much reads and writes disturb each other.
//!
//! There are five parts of the same size. Each is timed from the first call to the last, including
//! the fsync of a copy on the target. A file in memory replaces the article's RAM disk. Its own
//! times are separate parts, so that they can be subtracted: DelayRatio = within ÷ ((from memory −
//! reading memory) + (to memory − writing memory)). Source: "Toshiba SSD HG2 Series & HG3 Series
//! Benchmarks (2009-2010)".
//!
//! In a directory, the source is the test file, and a copy is a new file next to it. It keeps its
//! name until it is synced, because ZFS writes nothing for an fsync of a file without a name
//! (OpenZFS, `zfs_log_write`). In a file or on a block device, the source is the first half of the
//! span, written once beforehand, and a copy is the second half.
//!
//! Every part that accesses the target starts with all data written back and a cold cache. Its
//! operations on the target are recorded. For a part that stays in memory, the operations on memory
//! are recorded.

use crate::context::{Context, progress};
use crate::drive::device_uring::RingFacts;
use crate::drive::measure::{CpuWatch, Engine, watch};
use crate::drive::recorder::Recorder;
use crate::platform::memory_file;
use crate::steps::copy_loop::{ByCalls, Copied, FilePair, Pass, copy};
use crate::steps::traffic::Watched;
use crate::target::test_file::{TestFile, copy_beside};
use crate::target::{Target, no_room_for};
use crate::task::{Attempt, Repeated, unprepared};
use crate::{clock::monotonic_ns, drive::buffer::Pages, platform, real::Real};
use kurabe_core::profile::{CopyPart, CopyStep, Task, Work};
use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::record::{Repetition, TargetKind};
use kurabe_core::{Error, ErrorKind, Result, event::Event, mention::SIZE, shown, text};
use kurabe_host::available_memory_bytes;
use kurabe_program::Stop;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc::channel;

/// Memory that must remain next to the file in memory, in bytes: for the page cache that all data
/// passes through, and for other processes.
const MEMORY_MARGIN_BYTES: u64 = 256 * MIB;
/// Alignment of the halves of a device in bytes, suitable for any page and sector size.
const HALF_UNIT_BYTES: u64 = 4096;
/// Number of bytes with which the memory is filled per write.
const FILL_BYTES: usize = MIB as usize;

/// The file in memory and the place for copies on the target.
pub struct CopyWork {
    /// A file in memory, as large as the copy.
    memory: File,
    place: CopyDestination,
    /// Bytes copied in each part.
    size_bytes: u64,
    /// The device that contains the target.
    device: Watched,
}

/// The destination of a copy on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyDestination {
    /// A new file.
    Beside,
    /// The same file or device, starting at this byte.
    Within(u64),
}

/// An open destination on the target. A new file is removed when this value is dropped.
struct Destination {
    file: File,
    from_bytes: u64,
    owner: Option<TestFile>,
}

impl Real<'_> {
    /// Rejects copies for which there is not enough space next to the test file, before the test
    /// file is written.
    pub(crate) fn check_copy_room(&self, tasks: &[Task]) -> Result<()> {
        let copies = tasks.iter().any(|task| matches!(task.work, Work::Copy(_)));
        if !copies || self.target.facts().kind != TargetKind::Directory {
            return Ok(());
        }
        let size_bytes = self.target.facts().span_bytes;
        let Some(test_file) = self.target.test_file() else { return Ok(()) };
        let folder = &test_file.scratch.folder;
        let Some(free_bytes) = platform::free_bytes(folder).ok().flatten() else { return Ok(()) };
        // Space reserved for the test file no longer counts as free.
        let reserved_bytes =
            test_file.file().metadata().map_or(0, |facts| facts.blocks().saturating_mul(512));
        let room_bytes = free_bytes.saturating_add(reserved_bytes);
        if room_bytes < size_bytes.saturating_mul(2) {
            return Err(no_room(folder.path(), size_bytes, room_bytes));
        }
        Ok(())
    }

    /// Allocates the memory. On a device or in a file, also writes the half that is copied.
    pub(crate) fn prepare_copy(&self, context: &mut Context<'_>) -> Result<CopyWork> {
        let (place, size_bytes) = layout(self.target.facts().kind, self.target.facts().span_bytes);
        if size_bytes == 0 {
            return Err(too_small(self.target.facts().span_bytes));
        }
        check_memory(size_bytes, available_memory_bytes())?;
        let memory = memory_file(size_bytes).map_err(|error| no_memory(&error))?;
        let work = CopyWork { memory, place, size_bytes, device: Watched::under(self.target.path()) };
        let size = format_bytes(size_bytes);
        context.emit(Event::Preparing {
            what: text!("filling {size} of memory to copy from", "コピー元のメモリー {size} を用意"),
        })?;
        work.fill_memory(context, context.profile.rules.seed)?;
        if matches!(work.place, CopyDestination::Within(_)) {
            context.emit(Event::Preparing {
                what: text!(
                    "writing {size}, the half of the target to be copied",
                    "コピー元になる対象の前半 {size} を書き込み"
                ),
            })?;
            work.write_source(context, &self.target.open_buffered()?)?;
        }
        Ok(work)
    }

    /// Performs all parts once.
    pub(crate) fn repeat_copy(
        &self,
        context: &mut Context<'_>,
        step: &CopyStep,
        work: &CopyWork,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let repetitions = CopyPart::ALL
            .iter()
            .map(|part| self.repeat_part(context, *part, step, work, attempt))
            .collect::<Result<Vec<_>>>()?;
        let reason = text!(
            "copies use ordinary read and write calls, one at a time",
            "コピーは通常の read と write を 1 つずつ行います"
        );
        let facts = RingFacts::of_calls(Vec::new(), Pages::Small);
        let engine = facts.record(Engine::Threads, self.settings.engine, reason, 1);
        Ok(Repeated { engines: vec![engine], repetitions })
    }

    fn repeat_part(
        &self,
        context: &mut Context<'_>,
        part: CopyPart,
        step: &CopyStep,
        work: &CopyWork,
        attempt: &Attempt,
    ) -> Result<Repetition> {
        context.interrupt.check()?;
        if part == CopyPart::FromMemory {
            // Writing to memory has filled it with a single repeated piece, from which the device
            // must not benefit.
            work.fill_memory(context, attempt.seed)?;
        }
        let on_target = !matches!(part, CopyPart::MemoryRead | CopyPart::MemoryWrite);
        let to_target = matches!(part, CopyPart::FromMemory | CopyPart::Within);
        let target = self.target.open_buffered()?;
        let destination = if to_target { Some(work.destination(self.target)?) } else { None };
        if on_target {
            self.make_file_cold(context, &target)?;
        }
        let source =
            if matches!(part, CopyPart::ToMemory | CopyPart::Within) { &target } else { &work.memory };
        let pair = FilePair { source, destination: destination.as_ref().map_or(&work.memory, |to| &to.file) };
        let to_bytes = destination.as_ref().map_or(0, |to| to.from_bytes);
        let mut buffer = vec![0; u64::from(step.chunk_bytes.max(1)).min(work.size_bytes) as usize];
        context.content(attempt.seed, 0).fill(&mut buffer);
        let pass = Pass::of(part, work.size_bytes, buffer.len() as u64, to_bytes);
        let started_ns = monotonic_ns() - context.started_ns;
        let (mark, counters, cpu) = (self.noise.start(), work.device.read(), CpuWatch::start());
        let (copied, recorded) = copy_watched(context, pair, &pass, &mut buffer)?;
        let (cpu, traffic) = (cpu.used(), work.device.since(counters));
        let noise = self.noise.finish(mark);
        destination.map_or(Ok(()), Destination::close)?;
        let generator_share = cpu.user_ns as f64 / copied.elapsed_ns.max(1) as f64;
        Ok(Repetition {
            started_ns,
            elapsed_ns: copied.elapsed_ns,
            end_sync_ns: copied.end_sync_ns,
            cpu,
            generator_share: generator_share.min(1.0),
            noise,
            traffic: traffic.filter(|_| on_target),
            ..attempt.of(recorded)
        })
    }
}

/// Copies in a separate thread while this one reports progress and checks for an interrupt.
fn copy_watched(
    context: &mut Context<'_>,
    mut pair: FilePair<'_>,
    pass: &Pass,
    buffer: &mut [u8],
) -> Result<(Copied, Repetition)> {
    context.watched(progress, |interrupt, live| {
        let (stop, (sender, receiver)) = (Stop::default(), channel());
        let (copied, recorder) = std::thread::scope(|scope| {
            let stop = &stop;
            let work = move || {
                let mut recorder = Recorder::new(Some(sender));
                let copied = copy(&mut ByCalls::new(&mut pair, buffer, &mut recorder), pass, stop);
                recorder.hang_up();
                (copied, recorder)
            };
            let copying = std::thread::Builder::new().spawn_scoped(scope, work);
            let copying = copying.map_err(|error| Error::no_thread(&error))?;
            watch(&receiver, interrupt, stop, live);
            copying.join().map_err(|_| thread_lost())
        })?;
        Ok((copied?, Recorder::merge(&[recorder])))
    })
}

impl Destination {
    /// Removes the copy. The next copy would fail if it still existed.
    fn close(self) -> Result<()> {
        self.owner.map_or(Ok(()), TestFile::close)
    }
}

impl CopyWork {
    /// Fills the memory with the profile's data, so that no page is touched for the first time
    /// during a timed part.
    fn fill_memory(&self, context: &Context<'_>, seed: u64) -> Result<()> {
        let mut content = context.content(seed, 0);
        let mut buffer = vec![0; FILL_BYTES];
        content.fill(&mut buffer);
        let mut offset = 0;
        while offset < self.size_bytes {
            context.interrupt.check()?;
            content.freshen(&mut buffer);
            let length = (self.size_bytes - offset).min(buffer.len() as u64);
            self.memory
                .write_all_at(&buffer[..length as usize], offset)
                .map_err(|error| no_memory(&error))?;
            offset += length;
        }
        Ok(())
    }

    /// Writes the half that is later copied.
    fn write_source(&self, context: &mut Context<'_>, target: &File) -> Result<()> {
        let pass = Pass::of(CopyPart::FromMemory, self.size_bytes, FILL_BYTES as u64, 0);
        let pair = FilePair { source: &self.memory, destination: target };
        copy_watched(context, pair, &pass, &mut vec![0; FILL_BYTES]).map(|_| ())
    }

    /// Opens the destination of a copy. A new file exists only during one part.
    fn destination(&self, target: &Target) -> Result<Destination> {
        match (self.place, target.test_file()) {
            (CopyDestination::Within(from_bytes), _) => {
                Ok(Destination { file: target.open_buffered()?, from_bytes, owner: None })
            }
            (CopyDestination::Beside, Some(test_file)) => {
                let copy = TestFile::create(&test_file.scratch, &copy_beside(&test_file.name))?;
                Ok(Destination { file: copy.open_again()?, from_bytes: 0, owner: Some(copy) })
            }
            (CopyDestination::Beside, None) => Err(unprepared()),
        }
    }
}

/// Returns the destination and the size of copies on a target.
fn layout(kind: TargetKind, span_bytes: u64) -> (CopyDestination, u64) {
    if kind == TargetKind::Directory {
        return (CopyDestination::Beside, span_bytes);
    }
    let half = span_bytes / 2;
    let half = half - half % HALF_UNIT_BYTES;
    (CopyDestination::Within(half), half)
}

fn no_room(directory: &Path, size_bytes: u64, free_bytes: u64) -> Error {
    let (directory, free) = (shown::path(directory), format_bytes(free_bytes));
    let both = format_bytes(size_bytes.saturating_mul(2));
    let what = text!(
        "the test file and its copy need {both}, but {directory} has only {free} free",
        "テストファイルとそのコピーに {both} 必要ですが、{directory} の空きは {free} です"
    );
    no_room_for(what, free_bytes / 2)
}

fn check_memory(size_bytes: u64, available_bytes: Option<u64>) -> Result<()> {
    let margin = MEMORY_MARGIN_BYTES.max(size_bytes / 8);
    let Some(available) = available_bytes.filter(|available| *available < size_bytes.saturating_add(margin))
    else {
        return Ok(());
    };
    let (size, margin, free) = (format_bytes(size_bytes), format_bytes(margin), format_bytes(available));
    let fits = available.saturating_sub(MEMORY_MARGIN_BYTES) / 10 * 8 / MIB;
    let what = text!(
        "the copy needs {size} of memory plus {margin}, but only {free} is available",
        "コピーにはメモリー {size} と余裕 {margin} が必要ですが、使えるのは {free} です"
    );
    Err(ErrorKind::Unsupported.error(what).remedy(match fits {
        0 => text!("close other programs", "ほかのプログラムを終了してください"),
        _ => text!(
            "use a smaller size ({SIZE} {fits}m), or close other programs",
            "{SIZE} {fits}m のように小さくするか、ほかのプログラムを終了してください"
        ),
    }))
}

fn no_memory(error: &std::io::Error) -> Error {
    Error::os(text!("cannot keep a file in memory", "メモリー上にファイルを置けません"), error)
}

fn too_small(span_bytes: u64) -> Error {
    let span = format_bytes(span_bytes);
    ErrorKind::Target
        .error(text!("{span} is too small for a copy test", "{span} は小さすぎてコピーを測れません"))
        .remedy(text!("choose a larger {SIZE}", "{SIZE} を大きくしてください"))
}

pub(crate) fn thread_lost() -> Error {
    ErrorKind::Internal.error(text!("a thread of the step failed", "ステップのスレッドが失敗しました"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::content::Content;

    #[test]
    fn a_copy_is_identical_to_its_source() {
        let dir = tempfile::tempdir().unwrap();
        let size = 3 * MIB + 1234;
        let memory = memory_file(size).unwrap();
        let mut bytes = vec![0; size as usize];
        Content::new(kurabe_core::workload::Data::Random, 1, 0).fill(&mut bytes);
        memory.write_all_at(&bytes, 0).unwrap();
        let path = dir.path().join("copy");
        let file = File::create_new(&path).unwrap();
        let pair = &mut FilePair { source: &memory, destination: &file };
        let mut recorder = Recorder::new(None);
        let pass = Pass::of(CopyPart::FromMemory, size, 100_000, 4096);
        copy(&mut ByCalls::new(pair, &mut vec![0; 100_000], &mut recorder), &pass, &Stop::default()).unwrap();
        let copied = std::fs::read(&path).unwrap();
        assert!(copied[..4096].iter().all(|byte| *byte == 0));
        assert!(copied[4096..] == bytes);
    }

    #[test]
    fn a_target_that_is_no_directory_is_halved() {
        let halves = |span| layout(TargetKind::BlockDevice, span);
        assert_eq!(halves(2 * MIB), (CopyDestination::Within(MIB), MIB));
        assert_eq!(halves(3 * 4096), (CopyDestination::Within(4096), 4096));
        assert_eq!(halves(4096).1, 0);
        assert_eq!(layout(TargetKind::Directory, 12_345), (CopyDestination::Beside, 12_345));
    }

    #[test]
    fn too_little_memory_is_refused_with_a_size_that_fits() {
        const GIB: u64 = 1024 * MIB;
        assert!(check_memory(4 * GIB, None).is_ok());
        assert!(check_memory(4 * GIB, Some(5 * GIB)).is_ok());
        let error = check_memory(4 * GIB, Some(4 * GIB + 100 * MIB)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let remedy = error.remedy_text().unwrap().en.clone();
        let asked: u64 = remedy.split(['e', 'm']).find_map(|word| word.trim().parse().ok()).unwrap();
        assert!(check_memory(asked * MIB, Some(4 * GIB + 100 * MIB)).is_ok(), "{remedy}");
        assert!(asked > 3 * 1024, "{remedy}");
    }
}
