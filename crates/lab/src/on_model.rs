//! Runs a command in a folder on a modelled device in real time, and checks which data remains
//! after a power cut.
//!
//! A crash test repeats the command, each time on a fresh device that loses power after a number of
//! the command's writes. The seed selects that number among all writes of the command. Then the
//! file system is mounted again, as after any power cut, and a check command of the user determines
//! whether the data that the command had confirmed is still there. The same seed gives the same
//! position and the same losses.

use crate::handle::RunHandle;
use crate::passing_folder::PassingFolder;
use crate::pricing::{check_end, kernel, recorded_run};
use crate::served_folder::{FileSystemKind, FolderEnd, FolderRequest, ServedFolder};
use kurabe_core::random::Random;
use kurabe_core::words::Keyword;
use kurabe_core::{Result, Text};
use kurabe_price::{Bill, BillFacts, Panel, PanelDevice};
use kurabe_program::ForegroundEnd;
use kurabe_serve::{DeviceFault, PowerRules, RequestLog, ServedFigures};
use kurabe_sim::DeviceSpec;
use std::path::PathBuf;
use std::sync::Arc;

/// Environment variable that names a folder which survives the power cut. The command records there
/// what it has confirmed as durable.
const OUTSIDE: &str = "KURABE_OUTSIDE";

/// A command and the device to run it on.
#[derive(Clone, Debug)]
pub struct OnRequest {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Files and folders copied into the command's folder.
    pub with: Vec<PathBuf>,
    /// The device, without the computer layer.
    pub spec: DeviceSpec,
    /// File system on the device.
    pub file_system: FileSystemKind,
    /// Size of the file system.
    pub size_bytes: u64,
    /// Seed of random events in the model.
    pub seed: u64,
    /// Faults of the device from the start of the command.
    pub faults: Vec<DeviceFault>,
}

/// Result of a command on a model.
#[derive(Debug)]
pub struct OnDone {
    /// How the command ended.
    pub ended: ForegroundEnd,
    /// The bill on this model, including pauses.
    pub bill: Bill,
    /// Figures of the device.
    pub figures: ServedFigures,
    /// Processes that the command left running, and that were killed.
    pub left: Vec<Text>,
    /// Other users of the device, which was removed while they used it.
    pub held_by: Vec<Text>,
}

/// Runs a command on a model.
///
/// # Errors
/// When the device cannot be created, or the command cannot be started.
pub fn run_on(request: &OnRequest, handle: &RunHandle) -> Result<OnDone> {
    let log = Arc::new(RequestLog::default());
    let folder = request.folder(request.seed, None, Some(&log))?;
    let DeviceSpec { name, title, .. } = &request.spec;
    let device = PanelDevice { model: name.clone(), title: title.clone(), spec: request.spec.clone() };
    let panel = Panel { name: name.clone(), devices: vec![device] };
    let (command, recording) = recorded_run(&folder, &log, &request.command, handle)?;
    let FolderEnd { figures, left: held_by } = folder.end()?;
    let facts = BillFacts {
        command: request.command.clone(),
        file_system: request.file_system.word().to_owned(),
        size_bytes: request.size_bytes,
        recorded_on: Some(request.spec.name.clone()),
        kernel: kernel(),
        tick_ns: None,
        faults: request.faults.iter().map(|fault| fault.words().to_owned()).collect(),
        keeps_pauses: true,
    };
    let bill = Bill::new(facts, &[recording], &panel)?;
    Ok(OnDone { ended: command.ended, bill, figures, left: command.left.processes, held_by })
}

impl OnRequest {
    fn folder(
        &self,
        seed: u64,
        power: Option<PowerRules>,
        log: Option<&Arc<RequestLog>>,
    ) -> Result<ServedFolder> {
        let folder = ServedFolder::make(FolderRequest {
            spec: self.spec.clone(),
            seed,
            file_system: self.file_system,
            size_bytes: self.size_bytes,
            is_made_in_a_hurry: true,
            with: self.with.clone(),
            // For a power cut, only the data matters, not the timing.
            is_in_time: power.is_none(),
            power,
            log: log.map(Arc::clone),
        })?;
        self.faults.iter().try_for_each(|fault| folder.set_fault(fault))?;
        Ok(folder)
    }
}

/// Point at which power is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPlace {
    /// Anywhere among the writes of the command, as the seed selects.
    Anywhere,
    /// After this number of writes.
    After(u64),
}

/// A test of a command with power cuts.
#[derive(Clone, Debug)]
pub struct CrashRequest {
    /// The command and its device.
    pub on: OnRequest,
    /// Point at which power is cut.
    pub place: CutPlace,
    /// The first seed, and the number of consecutive seeds.
    pub seeds: (u64, u64),
    /// Shell command that fails if data is lost. Without it, the file system only has to mount
    /// again.
    pub check: Option<String>,
    /// Whether a write may be torn by the power cut.
    pub torn: bool,
}

/// State of the data after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CutOutcome {
    /// The check succeeded.
    Kept,
    /// The check failed.
    Lost,
    /// The file system could not be mounted again.
    Unmountable,
}

/// Result of one power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutTrial {
    /// Seed of this trial.
    pub seed: u64,
    /// Number of the command's write after which power was cut.
    pub after_writes: u64,
    /// Sectors that were lost.
    pub sectors_lost: u64,
    /// State of the data.
    pub outcome: CutOutcome,
}

/// Cuts power while the command runs, once for each seed, and passes each result to `tells`.
///
/// # Errors
/// When the command fails without a power cut, or a device cannot be created.
pub fn crash_test(
    request: &CrashRequest,
    handle: &RunHandle,
    mut tells: impl FnMut(&CutTrial),
) -> Result<Vec<CutTrial>> {
    let writes = match request.place {
        CutPlace::After(writes) => writes,
        CutPlace::Anywhere => writes_of(request, handle)?,
    };
    let (first, count) = request.seeds;
    let seeds = first..first.saturating_add(count);
    seeds
        .map(|seed| {
            let after_writes = match request.place {
                CutPlace::After(writes) => writes,
                CutPlace::Anywhere => 1 + Random::new(seed, 0).below(writes.max(1)),
            };
            let trial = cut_once(request, seed, after_writes, handle)?;
            tells(&trial);
            Ok(trial)
        })
        .collect()
}

/// Returns the number of writes of the command without a power cut.
fn writes_of(request: &CrashRequest, handle: &RunHandle) -> Result<u64> {
    let folder = request.on.folder(request.seeds.0, None, None)?;
    let outside = outside(&folder)?;
    let before = folder.figures().map_or(0, |figures| figures.writes);
    let ended = folder.run(&request.on.command, &[(OUTSIDE, outside.0.clone())], handle)?;
    check_end(ended.ended.status, &request.on.command, handle)?;
    let writes = folder.figures().map_or(0, |figures| figures.writes) - before;
    folder.end()?.alone()?;
    Ok(writes)
}

fn cut_once(request: &CrashRequest, seed: u64, after_writes: u64, handle: &RunHandle) -> Result<CutTrial> {
    let rules = PowerRules { after_writes: None, seed, torn: request.torn };
    let mut folder = request.on.folder(seed, Some(rules), None)?;
    let outside = outside(&folder)?;
    let environment = [(OUTSIDE, outside.0.clone())];
    folder.cut_power_after(after_writes)?;
    // The exit status does not matter, because the command lost its disk.
    folder.run(&request.on.command, &environment, handle)?;
    if handle.is_stopped() {
        return Err(kurabe_program::interrupted());
    }
    let report = folder.ensure_cut()?;
    folder.give_up()?;
    let outcome = match folder.mount_again() {
        Err(_) => CutOutcome::Unmountable,
        Ok(()) => {
            let check = request.check.clone().unwrap_or_else(|| "true".to_owned());
            let words = ["sh".to_owned(), "-c".to_owned(), check];
            let checked = folder.run(&words, &environment, handle)?;
            if checked.ended.status.success() { CutOutcome::Kept } else { CutOutcome::Lost }
        }
    };
    folder.end()?.alone()?;
    Ok(CutTrial { seed, after_writes, sectors_lost: report.sectors_lost, outcome })
}

fn outside(folder: &ServedFolder) -> Result<PassingFolder> {
    folder.make_passing_folder("kurabe-outside").map(PassingFolder)
}
