//! Creates, stats, reads, renames and removes many files, like mdtest. This measures a file
//! system's handling of names, not of data.
//! Each thread has its own files, named by number, in its own folder or all in one. A part starts
//! on all threads at once and ends when the last thread has finished. The next part starts after
//! that. With several processes that share a folder or access each other's files, all threads are
//! numbered consecutively in a folder of the first process. The work on one file is one operation
//! with its latency. Names are resolved relative to the folder's descriptor, so no path is
//! traversed. Recently created files are in memory, as in mdtest on a single machine, unless the
//! step is `cold`.
//!
//! Each repetition creates new folders in the run's folder. They are removed with it, however the
//! run ends.

use crate::clock::{monotonic_ns, sleep_until};
use crate::context::{Context, progress};
use crate::drive::buffer::Pages;
use crate::drive::content::Content;
use crate::drive::device_uring::RingFacts;
use crate::drive::measure::{CpuWatch, Engine, watch};
use crate::drive::recorder::Recorder;
use crate::real::Real;
use crate::steps::traffic::Watched;
use crate::steps::{cold::write_back, command::no_folder, copy::thread_lost};
use crate::task::{Attempt, Repeated};
use kurabe_core::company::Company;
use kurabe_core::profile::{MetadataPart, MetadataStep};
use kurabe_core::record::{Noise, Repetition};
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{Error, ErrorKind, Result, text, words::Keyword};
use kurabe_program::{FileIdentity, Folder, Stop};
use rustix::fs::{FileType, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{OnceLock, RwLock};
use std::thread::ScopedJoinHandle;

/// Name of the folder of a repetition.
const FOLDER: &str = "metadata";
/// Part of the names that the search matches, as in IO500.
const FOUND: &[u8] = b"01";

impl Real<'_> {
    /// Performs all parts once.
    pub(crate) fn repeat_metadata(
        &self,
        context: &mut Context<'_>,
        step: &MetadataStep,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let container = self.target.container().ok_or_else(no_folder)?;
        let company = context.company().filter(|_| step.shared || step.neighbours);
        let (place, all) = company.map_or((0, 1), Company::place);
        let make = || container.make(OsStr::new(FOLDER)).map_err(|error| cannot_make(&error));
        let folder = match (company, place) {
            (None, _) => make()?,
            (Some(company), 0) => told(company, make()?)?,
            (Some(company), _) => of_the_first(company)?,
        };
        let row = place * step.threads..all * step.threads;
        // Opened before anything is written, so that its sync reports every error.
        let written = folder.readable().map_err(|error| cannot_make(&error))?;
        let mut done = self.repeat_parts(context, step, (&folder, row), attempt).and_then(|repetitions| {
            context.store(move |_| write_back(&written))?;
            Ok(repetitions)
        });
        if company.is_some() && done.is_ok() {
            // Wait until no process uses the folder any more.
            done = context.meet()().and(done);
        }
        let removed = match place {
            0 => container.remove_tree(OsStr::new(FOLDER)),
            _ => Ok(()),
        };
        let repetitions = done?;
        removed.map_err(|error| {
            Error::os(text!("cannot remove the files of the step", "ステップのファイルを消せません"), &error)
        })?;
        let reason = text!(
            "file-name operations use ordinary system calls, one at a time per thread",
            "ファイル名の操作は、スレッドごとに通常のシステムコールを 1 つずつ行います"
        );
        let facts = RingFacts::of_calls(Vec::new(), Pages::Small);
        let engine = facts.record(Engine::Threads, self.settings.engine, reason, step.threads);
        Ok(Repeated { engines: vec![engine], repetitions })
    }

    fn repeat_parts(
        &self,
        context: &mut Context<'_>,
        step: &MetadataStep,
        (folder, row): (&Folder, Range<u32>),
        attempt: &Attempt,
    ) -> Result<Vec<Repetition>> {
        let files = (0..step.threads)
            .map(|thread| {
                let content = context.content(attempt.seed, thread);
                Files::of_thread(folder, row.start + thread..row.end, step, content)
            })
            .collect::<io::Result<Vec<_>>>();
        let mut files = files.map_err(|error| cannot_make(&error))?;
        let device = Watched::under(folder.path());
        let mut repetitions = Vec::new();
        for part in &step.parts {
            context.interrupt.check()?;
            // All processes have created their folders when the first part ends.
            files
                .iter_mut()
                .try_for_each(|files| files.turn_to(*part, step))
                .map_err(|error| cannot_make(&error))?;
            if step.cold {
                self.make_folder_cold(context, folder)?;
            }
            let (mark, counters, cpu) = (self.noise.start(), device.read(), CpuWatch::start());
            let (start_ns, elapsed_ns, recorded) = part_watched(context, *part, step, &mut files)?;
            let (cpu, traffic) = (cpu.used(), device.since(counters));
            // Device traffic of the file system for this part can't be distinguished from that of
            // other processes.
            let noise = Noise { other_read_bytes: None, other_write_bytes: None, ..self.noise.finish(mark) };
            let issuing_ns = elapsed_ns.max(1) as f64 * f64::from(step.threads);
            let generator_share = (cpu.user_ns as f64 / issuing_ns).min(1.0);
            repetitions.push(Repetition {
                started_ns: start_ns.saturating_sub(context.started_ns),
                elapsed_ns,
                cpu,
                generator_share,
                noise,
                traffic,
                ..attempt.of(recorded)
            });
        }
        Ok(repetitions)
    }
}

/// Performs a part in separate threads while this one reports progress and checks for an interrupt.
/// Returns the start time, at which all threads are ready, and the time from then to the end of the
/// last thread.
fn part_watched(
    context: &mut Context<'_>,
    part: MetadataPart,
    step: &MetadataStep,
    files: &mut [Files],
) -> Result<(u64, u64, Repetition)> {
    let meet = context.meet();
    context.watched(progress, |interrupt, live| {
        let (stop, (sender, receiver)) = (Stop::default(), channel());
        // Locked until all threads are ready.
        let (gate, start) = (RwLock::new(()), OnceLock::new());
        let done = std::thread::scope(|scope| {
            let (stop, gate, start) = (&stop, &gate, &start);
            let closed = gate.write();
            let mut begun = Vec::new();
            for files in files {
                let mut recorder = Recorder::new(Some(sender.clone()));
                let work = move || {
                    drop(gate.read());
                    let start_ns = *start.get_or_init(monotonic_ns);
                    // If one thread fails, the others need not finish.
                    let done =
                        files.all(part, step, start_ns, &mut recorder, stop).inspect_err(|_| stop.ask());
                    recorder.hang_up();
                    done.map(|()| (monotonic_ns() - start_ns, recorder))
                };
                let thread = std::thread::Builder::new().spawn_scoped(scope, work);
                begun.push(thread.inspect_err(|_| stop.ask()).map_err(|error| Error::no_thread(&error)));
            }
            let begins = meet().inspect_err(|_| stop.ask());
            sleep_until(*begins.as_ref().unwrap_or(&0));
            drop((closed, sender));
            watch(&receiver, interrupt, stop, live);
            let joined =
                |thread: Result<ScopedJoinHandle<'_, _>>| thread?.join().map_err(|_| thread_lost())?;
            let ended: Vec<Result<_>> = begun.into_iter().map(joined).collect();
            begins?;
            match ended
                .iter()
                .position(|end| end.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted))
            {
                Some(failed) => ended.into_iter().skip(failed).take(1).collect::<Result<Vec<_>>>(),
                None => ended.into_iter().collect(),
            }
        })?;
        let elapsed_ns = done.iter().map(|(elapsed_ns, _)| *elapsed_ns).max().unwrap_or(0);
        let first_done_ns = done.iter().map(|(elapsed_ns, _)| *elapsed_ns).min();
        let recorders: Vec<Recorder> = done.into_iter().map(|(_, recorder)| recorder).collect();
        let start_ns = start.get().copied().unwrap_or(0);
        Ok((start_ns, elapsed_ns, Repetition { first_done_ns, ..Recorder::merge(&recorders) }))
    })
}

/// The files of a thread.
struct Files {
    root: Folder,
    /// The folder of the current files.
    folder: Folder,
    /// The thread's number, up to the number of all threads.
    row: Range<u32>,
    /// Number of the thread that created the current files.
    maker: u32,
    /// Whether the files have been renamed.
    renamed: bool,
    /// The content to write, also used as the read buffer.
    bytes: Vec<u8>,
}

impl Files {
    fn of_thread(
        root: &Folder,
        row: Range<u32>,
        step: &MetadataStep,
        mut content: Content,
    ) -> io::Result<Self> {
        let folder = match step.shared {
            true => root.try_clone()?,
            false => root.make(OsStr::new(&format!("{}", row.start)))?,
        };
        let mut bytes = vec![0; step.write_bytes as usize];
        content.fill(&mut bytes);
        Ok(Self { root: root.try_clone()?, folder, maker: row.start, row, renamed: false, bytes })
    }

    /// Selects the files for a part.
    fn turn_to(&mut self, part: MetadataPart, step: &MetadataStep) -> io::Result<()> {
        let maker = (self.row.start + step.shift(part)) % self.row.end;
        if maker != self.maker && !step.shared {
            self.folder = self.root.folder(OsStr::new(&format!("{maker}")))?;
        }
        self.maker = maker;
        Ok(())
    }

    fn name(&self, number: u32, renamed: bool) -> OsString {
        let letter = if renamed { 'r' } else { 'f' };
        format!("{letter}{}-{number}", self.maker).into()
    }

    /// Performs a part on all files, one after the other.
    fn all(
        &mut self,
        part: MetadataPart,
        step: &MetadataStep,
        start_ns: u64,
        recorder: &mut Recorder,
        stop: &Stop,
    ) -> Result<()> {
        let kind = match part.direction() {
            Direction::Read => OpKind::Read,
            _ => OpKind::Write,
        };
        let bytes = match part {
            MetadataPart::Create | MetadataPart::Read => step.write_bytes,
            _ => 0,
        };
        if part == MetadataPart::Find {
            return self.find(step, start_ns, recorder, stop);
        }
        for number in 0..step.files {
            stop.check()?;
            let name = self.name(number, self.renamed);
            let next = self.name(number, true);
            let from_ns = monotonic_ns();
            recorder.submitted(kind);
            self.once(part, step.sync, &name, &next).map_err(|error| refused(part, &name, &error))?;
            recorder.completed(kind, 0, bytes, from_ns - start_ns, monotonic_ns() - start_ns);
        }
        self.renamed |= part == MetadataPart::Rename;
        Ok(())
    }

    /// Walks through the files and stats those whose names match. In a folder shared by all
    /// threads, each thread covers its part.
    fn find(&self, step: &MetadataStep, start_ns: u64, recorder: &mut Recorder, stop: &Stop) -> Result<()> {
        let cannot = |name: &OsStr, error: &io::Error| refused(MetadataPart::Find, name, error);
        let folder = self.folder.path().as_os_str();
        let names = self.folder.entries().map_err(|error| cannot(folder, &error))?;
        let (first, walkers) = if step.shared { (self.row.start, self.row.end) } else { (0, 1) };
        if names.len() as u64 != u64::from(walkers) * u64::from(step.files) {
            return Err(cannot(folder, &io::ErrorKind::NotFound.into()));
        }
        for (name, _) in names.iter().skip(first as usize).step_by(walkers as usize) {
            stop.check()?;
            let from_ns = monotonic_ns();
            recorder.submitted(OpKind::Read);
            if name.as_bytes().windows(FOUND.len()).any(|letters| letters == FOUND) {
                let facts = self.folder.facts(name).map_err(|error| cannot(name, &error))?;
                if facts.is_none_or(|facts| facts.st_size != i64::from(step.write_bytes)) {
                    return Err(cannot(name, &io::ErrorKind::NotFound.into()));
                }
            }
            recorder.completed(OpKind::Read, 0, 0, from_ns - start_ns, monotonic_ns() - start_ns);
        }
        Ok(())
    }

    fn once(&mut self, part: MetadataPart, sync: bool, name: &OsStr, next: &OsStr) -> io::Result<()> {
        match part {
            MetadataPart::Create => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
                let mut file = File::from(self.folder.open_entry(name, flags)?);
                file.write_all(&self.bytes)?;
                if sync { file.sync_all() } else { Ok(()) }
            }
            MetadataPart::Find | MetadataPart::Stat => {
                self.folder.facts(name)?.map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            MetadataPart::Read => {
                File::from(self.folder.open_entry(name, OFlags::RDONLY)?).read_exact(&mut self.bytes)
            }
            MetadataPart::Rename => self.folder.rename(name, next),
            MetadataPart::Unlink => self.folder.remove(name, FileType::RegularFile),
        }
    }
}

/// Passes the identity of a folder to the other processes.
fn told(company: &dyn Company, folder: Folder) -> Result<Folder> {
    let identity = folder.readable().and_then(FileIdentity::of).map_err(|error| cannot_make(&error))?;
    company.common_folder(Some((folder.path().display().to_string(), identity.inode)))?;
    Ok(folder)
}

/// Opens the folder of the first process.
fn of_the_first(company: &dyn Company) -> Result<Folder> {
    let (path, inode) = company.common_folder(None)?;
    let open = || {
        let folder = Folder::open(Path::new(&path))?;
        match FileIdentity::of(folder.readable()?)?.inode == inode {
            true => Ok(folder),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    open().map_err(|error| cannot_make(&error))
}

fn cannot_make(error: &io::Error) -> Error {
    Error::os(text!("cannot create the folders of the step", "ステップのフォルダーを作れません"), error)
}

fn refused(part: MetadataPart, name: &OsStr, error: &io::Error) -> Error {
    let (part, name) = (part.word(), name.display());
    Error::os(
        text!("`{part}` failed on the file {name}", "ファイル {name} の `{part}` に失敗しました"),
        error,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::Data;

    #[test]
    fn parts_are_done_to_what_others_made() {
        let dir = tempfile::tempdir().unwrap();
        let root = Folder::open(&dir.path().canonicalize().unwrap()).unwrap();
        let step = MetadataStep {
            id: None,
            label: None,
            files: 1,
            threads: 3,
            shared: false,
            neighbours: true,
            write_bytes: 0,
            sync: false,
            cold: false,
            parts: MetadataPart::WORDS.iter().map(|(_, part)| *part).collect(),
        };
        let of = |place| Files::of_thread(&root, place..3, &step, Content::new(Data::Zero, 1, 0)).unwrap();
        let mut files = [0, 1, 2].map(of);
        for (part, makers) in
            step.parts.iter().zip([[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2], [0, 1, 2]])
        {
            for (files, maker) in files.iter_mut().zip(makers) {
                files.turn_to(*part, &step).unwrap();
                assert!(files.folder.path().ends_with(maker.to_string()), "{part:?}: {:?}", files.folder);
                assert_eq!(files.name(7, false), *format!("f{maker}-7"));
            }
        }
    }
}
