//! Pricing: a command is run on a device that kurabe itself is, as often as is asked, and its bill is made of what the device was
//! asked.

use crate::ext4_journal::{journal_of, times_commits};
use crate::handle::RunHandle;
use crate::marks::Marks;
use crate::open_files::OpenFiles;
use crate::served_folder::{
    CommandEnd, FileSystemKind, FolderRequest, LeftBehind, ServedFolder, SettledFile,
};
use crate::without_root::is_without_root;
use kurabe_core::words::Keyword;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_price::{Bill, BillFacts, Panel, ProgramRecording, device_below};
use kurabe_program::{ForegroundEnd, interrupted};
use kurabe_serve::{RequestLog, tick_ns};
use kurabe_sim::{DeviceSpec, RecordedRequest, load_device};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

/// What the recording device is: nothing but memory.
const RECORDING_DEVICE: &str = "ideal-ram-disk";
/// Phases that nobody names: before the first mark, and what was left in memory at the end.
pub const UNMARKED: [&str; 2] = ["start", "left in memory"];
/// What is no file of the command: folders, and the file system's journal.
pub const NO_FILES: [&str; 2] = ["(folders)", "(journal)"];

/// What is to be priced.
#[derive(Clone, Debug)]
pub struct PriceRequest {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What it finds in its folder.
    pub with: Vec<PathBuf>,
    /// The file system on which it runs.
    pub file_system: FileSystemKind,
    /// Size of that.
    pub size_bytes: u64,
    /// How often it is recorded.
    pub recordings: usize,
    /// The devices.
    pub panel: Panel,
    /// Whether the pauses in which it asked nothing count.
    pub keeps_pauses: bool,
}

/// A command that was priced.
#[derive(Debug)]
pub struct PricedCommand {
    /// Its bill.
    pub bill: Bill,
    /// Processes that it left behind in the last recording, and that were killed.
    pub left: Vec<Text>,
}

/// Records a command and makes its bill; `begins` hears which recording begins.
///
/// # Errors
/// When it cannot be recorded, or fails.
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

/// The kernel that is between a command and its device.
pub(crate) fn kernel() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

fn record_once(request: &PriceRequest, handle: &RunHandle) -> Result<(ProgramRecording, LeftBehind)> {
    let log = Arc::new(RequestLog::ticked());
    let folder = ServedFolder::make(FolderRequest {
        spec: recording_device(request.size_bytes)?,
        seed: 1,
        file_system: request.file_system,
        size_bytes: request.size_bytes,
        is_made_in_a_hurry: false,
        with: request.with.clone(),
        power: None,
        is_in_time: false,
        log: Some(Arc::clone(&log)),
    })?;
    let (command, recording) = recorded_run(&folder, &log, &request.command, handle)?;
    check_end(command.ended.status, &request.command, handle)?;
    command.left.refuse_unfinished()?;
    folder.end()?.alone()?;
    Ok((recording, command.left))
}

/// Runs a command in a folder whose device writes a log.
///
/// # Errors
/// When it cannot be started, or what it left in memory not be written.
pub(crate) fn recorded_run(
    folder: &ServedFolder,
    log: &Arc<RequestLog>,
    command: &[String],
    handle: &RunHandle,
) -> Result<(CommandEnd, ProgramRecording)> {
    let marks = Marks::listen(log)?;
    let open = folder.tells_places().then(|| OpenFiles::look(folder.point(), log)).transpose();
    let open = open.map_err(|error| Error::no_thread(&error))?;
    let (variable, socket) = marks.variable();
    let command = folder.run(command, &[(variable, socket.into())], handle);
    let (mut marked, open) = (marks.end(), open.map(OpenFiles::end).unwrap_or_default());
    let mut command = command?;
    // Phases end with the command; what it left behind may be cut off in the middle of a report.
    marked.retain(|(_, at_ns)| *at_ns <= command.at_ns);
    let mut requests = std::mem::take(&mut command.requests);
    let left_from = requests.len();
    requests.append(&mut command.later_requests);
    // A device with faults may not take what was left in memory; then nobody can tell which files it was of.
    let mut files = match folder.settle() {
        Err(_) if folder.has_faults() => Vec::new(),
        settled => settled?,
    };
    requests.extend(log.take());
    // Those that are there at the end come first.
    files.extend(open.into_iter().map(|(path, places)| SettledFile { path, is_folder: false, places }));
    let journal = folder.look_at_device(journal_of)?.unwrap_or_default();
    let files = named(files, &folder.folder(), journal.clone());
    let mut recording = recording(requests, left_from, marked, files, &command.ended);
    if let ([place], true) = (&journal[..], log.is_ticked()) {
        let (place, asked) = (place.clone(), recording.requests[..left_from].to_vec());
        let commits = folder.look_at_device(move |device| times_commits(device, &place, &asked))?;
        // Without this, fast devices are priced with every commit.
        recording.times_commits = commits.unwrap_or_default();
    }
    recording.journal = journal;
    Ok((command, recording))
}

/// Files by the names that are shown: those in the command's folder from there on.
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
    marked: Vec<(String, u64)>,
    files: Vec<(String, Vec<Range<u64>>)>,
    ended: &ForegroundEnd,
) -> ProgramRecording {
    let mut phases = Vec::new();
    if !marked.is_empty() {
        phases.push((UNMARKED[0].to_owned(), 0));
        for (name, at_ns) in marked {
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

/// Memory of that size.
fn recording_device(size_bytes: u64) -> Result<DeviceSpec> {
    let mut spec = device_below(load_device(RECORDING_DEVICE)?)?;
    spec.set("memory.capacity", &format!("{size_bytes} B"))?;
    Ok(spec)
}

/// The command must have ended well: what it did before it failed is no price.
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
