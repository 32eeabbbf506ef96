//! A command in a folder that is on a modelled device, in real time; and what is left there when the power is cut under it.
//!
//! The model: a crash test is the same command again and again, each time on a fresh device whose power goes after so many writes
//! of the command, by the seed somewhere among all that it makes. Then the file system is mounted again, as after any power cut,
//! and a command of the user's says whether what it had been promised is still there. A seed gives the same place and the same
//! losses again.

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

/// A folder that outlives the power: what the command was promised is noted there.
const OUTSIDE: &str = "KURABE_OUTSIDE";

/// What is to be run where.
#[derive(Clone, Debug)]
pub struct OnRequest {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What it finds in its folder.
    pub with: Vec<PathBuf>,
    /// The device, as it is below a real computer.
    pub spec: DeviceSpec,
    /// The file system on it.
    pub file_system: FileSystemKind,
    /// Size of that.
    pub size_bytes: u64,
    /// Seed of what is random in the model.
    pub seed: u64,
    /// What is wrong with the device from the beginning of the command.
    pub faults: Vec<DeviceFault>,
}

/// A command that ran on a model.
#[derive(Debug)]
pub struct OnDone {
    /// How it ended.
    pub ended: ForegroundEnd,
    /// Its bill, on that model, pauses included.
    pub bill: Bill,
    /// What the device did.
    pub figures: ServedFigures,
    /// Processes that the command left behind, and that were killed.
    pub left: Vec<Text>,
    /// Users of the device that are none of the command's: it was taken from under them.
    pub held_by: Vec<Text>,
}

/// Runs a command on a model.
///
/// # Errors
/// When the device cannot be made, or the command not be started.
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
            // A power cut asks what is there, not when.
            is_in_time: power.is_none(),
            power,
            log: log.map(Arc::clone),
        })?;
        self.faults.iter().try_for_each(|fault| folder.set_fault(fault))?;
        Ok(folder)
    }
}

/// When the power is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPlace {
    /// By the seed, anywhere among the writes of the command.
    Anywhere,
    /// After so many of them.
    After(u64),
}

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct CrashRequest {
    /// The command and its device.
    pub on: OnRequest,
    /// When the power is cut.
    pub place: CutPlace,
    /// The first seed, and how many from it on.
    pub seeds: (u64, u64),
    /// A line of the shell that fails if something is lost; if there is none, the file system must be mounted again.
    pub check: Option<String>,
    /// Whether a write that the cut meets may be there in part.
    pub torn: bool,
}

/// What a cut left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CutOutcome {
    /// The check found nothing missing.
    Kept,
    /// The check failed.
    Lost,
    /// The file system could not be mounted again.
    Unmountable,
}

/// One cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutTrial {
    /// Its seed.
    pub seed: u64,
    /// The write of the command after which the power went.
    pub after_writes: u64,
    /// Sectors that the cut took.
    pub sectors_lost: u64,
    /// What was left.
    pub outcome: CutOutcome,
}

/// Cuts the power under a command, once for each seed; `tells` hears of each.
///
/// # Errors
/// When the command fails without a cut, or a device cannot be made.
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

/// Writes of the command, left alone.
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
    // How it ends is of no matter: its disk was taken from under it.
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
