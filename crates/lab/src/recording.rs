//! Recording: the I/O of a command on the devices under a path.
//!
//! The kernel's block tracepoints see the requests that remain after file system and page cache. By
//! default, only the device directly below the path is recorded. Devices beneath it (the disk of a
//! partition, the file system of a loop device's file, the members of a stack) repeat the same
//! work, and a replay would do it twice. Recording ends after the command's dirty data is written
//! back, so that the trace contains its writes. If the kernel does not allow tracing, the devices'
//! own counters give the sums.

use crate::folder::check_end;
use crate::handle::RunHandle;
use kurabe_core::record::Traffic;
use kurabe_core::{Error, Result, shown, text};
use kurabe_host::{BlockNode, DeviceCounters, Roots, devices_right_under, devices_under};
use kurabe_program::Foreground;
use kurabe_trace::{BlockTrace, RecordedTrace};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// How a command is recorded, reported before it runs.
pub enum RecordingBy<'a> {
    /// The kernel's tracepoints.
    Tracepoints {
        /// Whether tracefs was mounted for kurabe alone.
        mounted_privately: bool,
    },
    /// The counters of the devices.
    Counters {
        /// Why there is no trace.
        instead: &'a Error,
    },
}

/// Result of a recording.
pub enum RecordedCommand {
    /// Every operation.
    Trace(RecordedTrace),
    /// Sums for each device, by its `major:minor`.
    Sums(Vec<(String, Traffic)>),
}

/// A command to record.
pub struct RecordRequest<'a> {
    /// The path under which devices are recorded.
    pub target: &'a Path,
    /// The command and its arguments.
    pub command: &'a [String],
    /// Whether to fail if no trace can be recorded.
    pub trace_only: bool,
    /// Whether to record the devices beneath the one under the target as well.
    pub all_devices: bool,
}

/// A command whose I/O is recorded, with its options.
pub struct CommandRecording {
    /// I/O that reached the devices.
    pub recorded: RecordedCommand,
    /// Kernel names of the devices beneath that were not recorded.
    pub beneath: Vec<String>,
    /// How the command ended.
    pub ended: Result<()>,
}

/// Runs a command to its end, with the standard streams of this process, and records its I/O on the
/// devices under the target. `begins` receives the method before the command runs.
///
/// # Errors
/// When nothing can be recorded there, or the command cannot be run.
pub fn record_command(
    request: &RecordRequest<'_>,
    handle: &RunHandle,
    begins: impl FnOnce(&RecordingBy<'_>),
) -> Result<CommandRecording> {
    let target = request.target.canonicalize().map_err(|error| {
        let shown = shown::path(request.target);
        Error::os(text!("cannot use {shown} as a target", "{shown} を対象にできません"), &error)
    })?;
    let all = devices_under(&target);
    let devices = if request.all_devices { all.clone() } else { devices_right_under(&target) };
    // Dirty data of other processes must not count.
    write_back(&target)?;
    let counters = read_counters(&devices);
    let trace = match BlockTrace::start(&devices) {
        Ok(trace) => {
            begins(&RecordingBy::Tracepoints { mounted_privately: trace.mounted_privately() });
            Some(trace)
        }
        Err(error) if request.trace_only || counters.is_empty() => return Err(error),
        Err(error) => {
            begins(&RecordingBy::Counters { instead: &error });
            None
        }
    };
    let command = Foreground { words: request.command, ..Foreground::default() };
    let status = command.run(&handle.stop)?.status;
    write_back(&target)?;
    let recorded = match trace {
        Some(trace) => RecordedCommand::Trace(trace.stop()?),
        None => RecordedCommand::Sums(
            counters
                .into_iter()
                .map(|(device, before)| {
                    DeviceCounters::read(&device).map(|after| (device, after.since(&before)))
                })
                .collect::<Result<_>>()?,
        ),
    };
    let name =
        |number: &(u32, u32)| BlockNode::by_number(&Roots::default(), *number).ok().map(|block| block.name);
    let beneath = all.iter().filter(|number| !devices.contains(number)).filter_map(name).collect();
    Ok(CommandRecording { recorded, beneath, ended: check_end(status, request.command, handle) })
}

/// Returns the counters of the devices that have some, by `major:minor`.
fn read_counters(devices: &[(u32, u32)]) -> Vec<(String, DeviceCounters)> {
    let names = devices.iter().map(|(major, minor)| format!("{major}:{minor}"));
    names.filter_map(|device| DeviceCounters::read(&device).ok().map(|counters| (device, counters))).collect()
}

/// Writes back the dirty data of a path's file system, or of a block device itself.
fn write_back(target: &Path) -> Result<()> {
    let written = std::fs::File::open(target).and_then(|file| {
        rustix::fs::syncfs(&file)?;
        // For a block device, `syncfs` writes back the file system that contains its node.
        if file.metadata()?.file_type().is_block_device() { file.sync_all() } else { Ok(()) }
    });
    written.map_err(|error| {
        Error::os(text!("cannot write back the data in memory", "メモリー上のデータを書き戻せません"), &error)
    })
}
