//! Pricing: runs a command on a device that kurabe serves, as often as requested, and bills the
//! requests that the device received.

use crate::folder::ext4_journal::{journal_of, times_commits};
use crate::folder::marks::{Marks, PhaseMark};
use crate::folder::open_files::OpenFiles;
use crate::folder::served_folder::{
    CommandEnd, FileSystemKind, FolderRequest, LeftBehind, ModelFolder, ServedFolder, SettledFile,
};
use crate::folder::without_root::is_without_root;
use crate::handle::RunHandle;
use kurabe_core::words::Keyword;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_price::{Bill, BillFacts, Panel, ProgramRecording, device_below};
use kurabe_program::{CallCounts, CallLog, CallRules, ForegroundEnd, interrupted};
use kurabe_serve::{RequestLog, tick_ns};
use kurabe_sim::{DeviceSpec, RecordedRequest, load_device};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

/// Model of the recording device, which is plain memory.
const RECORDING_DEVICE: &str = "ideal-ram-disk";
/// Names of the default phases: before the first mark, and write-back of what was left in memory at
/// the end.
pub const UNMARKED: [&str; 2] = ["start", "left in memory"];
/// Labels for requests outside the command's files: folders, and the file system's journal.
pub const NO_FILES: [&str; 2] = ["(folders)", "(journal)"];

/// A command to price.
#[derive(Clone, Debug)]
pub struct PriceRequest {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Files and folders copied into the command's folder.
    pub with: Vec<PathBuf>,
    /// File system on which it runs.
    pub file_system: FileSystemKind,
    /// Size of the file system.
    pub size_bytes: u64,
    /// Number of recordings.
    pub recordings: usize,
    /// Devices to compute the price for.
    pub panel: Panel,
    /// Whether pauses without requests count.
    pub keeps_pauses: bool,
    /// Whether the system calls of the command are counted.
    pub counts_calls: bool,
}

/// A command to record and price, with its options.
#[derive(Debug)]
pub struct PricedCommand {
    /// Bill of all recordings.
    pub bill: Bill,
    /// Processes that it left running in the last recording, and that were killed.
    pub left: Vec<Text>,
}

/// Records a command and computes its bill. `begins` receives the index of each recording before it
/// starts.
///
/// # Errors
/// When the command cannot be recorded, or fails.
pub fn price(
    request: &PriceRequest,
    handle: &RunHandle,
    mut begins: impl FnMut(usize),
) -> Result<PricedCommand> {
    let mut left = Vec::new();
    let recordings = (0..request.recordings.max(1))
        .map(|place| {
            begins(place);
            let (recording, behind) = record_once(request, handle)?;
            left = behind.processes;
            Ok(recording)
        })
        .collect::<Result<Vec<_>>>()?;
    let facts = BillFacts {
        command: request.command.clone(),
        file_system: match is_without_root() {
            true => format!("{} (fuse2fs)", request.file_system.word()),
            false => request.file_system.word().to_owned(),
        },
        size_bytes: request.size_bytes,
        recorded_on: None,
        faults: Vec::new(),
        kernel: kernel(),
        tick_ns: Some(tick_ns()),
        keeps_pauses: request.keeps_pauses,
    };
    Ok(PricedCommand { bill: Bill::new(facts, &recordings, &request.panel)?, left })
}

/// Returns the release of the kernel between a command and its device.
pub(crate) fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

fn record_once(request: &PriceRequest, handle: &RunHandle) -> Result<(ProgramRecording, LeftBehind)> {
    let log = Arc::new(RequestLog::ticked());
    let folder = ServedFolder::make(FolderRequest {
        setup: ModelFolder {
            spec: recording_device(request.size_bytes)?,
            seed: 1,
            file_system: request.file_system,
            size_bytes: request.size_bytes,
            with: request.with.clone(),
        },
        is_made_in_a_hurry: false,
        power: None,
        is_in_time: false,
        log: Some(Arc::clone(&log)),
    })?;
    let rules = || CallRules { folder: folder.folder(), counts_all: true, ..CallRules::default() };
    let calls = request.counts_calls.then(|| Arc::new(CallLog::new(rules())));
    let (command, recording) = recorded_run(&folder, &log, &request.command, calls, handle)?;
    check_end(command.ended.status, &request.command, handle)?;
    command.left.refuse_unfinished()?;
    folder.end()?.alone()?;
    Ok((recording, command.left))
}

/// Runs a command in a folder whose device logs its requests. `calls` receives the calls of the
/// command, if they are recorded.
///
/// # Errors
/// When the command cannot be started, or its data in memory cannot be written.
pub(crate) fn recorded_run(
    folder: &ServedFolder,
    log: &Arc<RequestLog>,
    command: &[String],
    calls: Option<Arc<CallLog>>,
    handle: &RunHandle,
) -> Result<(CommandEnd, ProgramRecording)> {
    let marks = Marks::listen(log, calls.as_ref())?;
    let open = folder.tells_places().then(|| OpenFiles::look(folder.point(), log)).transpose();
    let open = open.map_err(|error| Error::no_thread(&error))?;
    let (variable, socket) = marks.variable();
    let command = folder.run_recorded(command, &[(variable, socket.into())], handle, calls.clone());
    let (mut marked, open) = (marks.end(), open.map(OpenFiles::end).unwrap_or_default());
    let mut command = command?;
    // Phases end with the command. A process that it left running may be cut off in the middle of a
    // report.
    marked.retain(|mark| mark.at_ns <= command.at_ns);
    let mut requests = std::mem::take(&mut command.requests);
    let left_from = requests.len();
    requests.append(&mut command.later_requests);
    // A device with faults may not accept the data left in memory, and its files are then unknown.
    let mut files = match folder.settle() {
        Err(_) if folder.has_faults() => Vec::new(),
        settled => settled?,
    };
    requests.extend(log.take());
    // Files that exist at the end come first.
    files.extend(open.into_iter().map(|(path, places)| SettledFile { path, is_folder: false, places }));
    let journal = folder.look_at_device(journal_of)?.unwrap_or_default();
    let files = named(files, &folder.folder(), journal.clone());
    let counted = calls.map(|calls| calls.counted()).unwrap_or_default();
    let syscalls = by_phase(&marked, &counted);
    let mut recording = recording(requests, left_from, marked, files, &command.ended);
    recording.syscalls = syscalls;
    if let ([place], true) = (&journal[..], log.is_ticked()) {
        let (place, asked) = (place.clone(), recording.requests[..left_from].to_vec());
        let commits = folder.look_at_device(move |device| times_commits(device, &place, &asked))?;
        // Without this, fast devices are priced with every commit.
        recording.times_commits = commits.unwrap_or_default();
    }
    recording.journal = journal;
    Ok((command, recording))
}

/// Returns the calls of each phase from the counts at its start and those at the end.
fn by_phase(marked: &[PhaseMark], counted: &CallCounts) -> Vec<CallCounts> {
    if counted.is_empty() {
        return Vec::new();
    }
    let none = CallCounts::new();
    let starts = std::iter::once(&none).chain(marked.iter().map(|mark| &mark.calls));
    let ends = marked.iter().map(|mark| &mark.calls).chain([counted]);
    let between = |(start, end): (&CallCounts, &CallCounts)| {
        let since = |(name, count): (&String, &u64)| {
            let more = count.saturating_sub(start.get(name).copied().unwrap_or(0));
            (more > 0).then(|| (name.clone(), more))
        };
        end.iter().filter_map(since).collect()
    };
    starts.zip(ends).map(between).collect()
}

/// Returns files with the names to display; those in the command's folder are relative to it.
fn named(files: Vec<SettledFile>, work: &Path, journal: Vec<Range<u64>>) -> Vec<(String, Vec<Range<u64>>)> {
    let name = |file: &SettledFile| match file.path.strip_prefix(work) {
        _ if file.is_folder => NO_FILES[0].to_owned(),
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => file.path.to_string_lossy().into_owned(),
    };
    let files = files.into_iter().map(|file| (name(&file), file.places));
    files.chain([(NO_FILES[1].to_owned(), journal)]).collect()
}

fn recording(
    requests: Vec<RecordedRequest>,
    left_from: usize,
    marked: Vec<PhaseMark>,
    files: Vec<(String, Vec<Range<u64>>)>,
    ended: &ForegroundEnd,
) -> ProgramRecording {
    let mut phases = Vec::new();
    if !marked.is_empty() {
        phases.push((UNMARKED[0].to_owned(), 0));
        for PhaseMark { name, at_ns, .. } in marked {
            phases.push((name, requests[..left_from].partition_point(|one| one.asked_ns < at_ns)));
        }
        phases.push((UNMARKED[1].to_owned(), left_from));
    }
    let (asked_bytes, elapsed_ns) = (ended.asked_bytes, ended.elapsed_ns);
    let mut recording = ProgramRecording {
        requests,
        left_from,
        phases,
        files,
        asked_bytes,
        elapsed_ns,
        ..ProgramRecording::default()
    };
    recording.join_what_was_left();
    recording
}

/// Returns a memory device of this size.
fn recording_device(size_bytes: u64) -> Result<DeviceSpec> {
    let mut spec = device_below(load_device(RECORDING_DEVICE)?)?;
    spec.set("memory.capacity", &format!("{size_bytes} B"))?;
    Ok(spec)
}

/// Checks that the command succeeded, because a failed command has no meaningful price.
///
/// # Errors
/// When it failed, or was stopped.
pub(crate) fn check_end(status: ExitStatus, words: &[String], handle: &RunHandle) -> Result<()> {
    if handle.is_stopped() {
        return Err(interrupted());
    }
    if status.success() {
        return Ok(());
    }
    let command = words.join(" ");
    let message = text!("`{command}` ended with {status}", "`{command}` が {status} で終わりました");
    Err(ErrorKind::Io.error(message))
}
