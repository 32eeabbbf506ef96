//! Repeats a command on devices that lose power, and determines whether promised data remains.
//!
//! Each time, a fresh device loses power after a number of the command's writes. The seed selects
//! that number among all writes of the command. The command is killed at the power cut. Then the
//! file system is mounted again, as after any power cut. A check command of the user determines
//! whether the data that the command had confirmed is still there. Without it, the command's own
//! calls say what it had confirmed. The same seed gives the same position and the same losses, if
//! the command makes the same calls.

use crate::folder::on_model::OnRequest;
use crate::folder::pricing::check_end;
use crate::folder::promised::{Promised, unsafe_orders};
use crate::folder::served_folder::{FileSystemKind, ServedFolder};
use crate::handle::RunHandle;
use crate::passing_folder::PassingFolder;
use kurabe_core::random::Random;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_program::{BeforeSync, SyncOfFile};
use kurabe_promise::{BrokenPromise, UnsafeOrder};
use kurabe_serve::PowerRules;

/// Environment variable that names a folder which survives the power cut. The command records there
/// what it has confirmed as durable.
const OUTSIDE: &str = "KURABE_OUTSIDE";

/// Point at which power is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutPlace {
    /// Anywhere among the writes of the command, as the seed selects.
    Anywhere,
    /// After this number of writes.
    After(u64),
    /// Before the command makes a file durable.
    Before(SyncOfFile),
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
    /// Shell command that fails if data is lost. Without it, the promises of the command's own calls
    /// are checked.
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
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
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
    /// First promise of the command's calls that was broken.
    pub broken: Option<BrokenPromise>,
    /// First unsafe order of calls that lost data.
    pub lost_by: Option<UnsafeOrder>,
}

/// Result of a test with power cuts.
#[derive(Clone, Debug)]
pub struct CrashDone {
    /// The power cuts.
    pub trials: Vec<CutTrial>,
    /// Unsafe orders of calls of the command without a power cut; `None` with a check command.
    pub orders: Option<Vec<UnsafeOrder>>,
    /// Call whose requests to files were not followed, if the command made one.
    pub unfollowed: Option<&'static str>,
}

/// Cuts power while the command runs, once for each seed, and passes each result to `tells`.
///
/// # Errors
/// When the command fails without a power cut, or a device cannot be created.
pub fn crash_test(
    request: &CrashRequest,
    handle: &RunHandle,
    mut tells: impl FnMut(&CutTrial),
) -> Result<CrashDone> {
    let is_judged = request.check.is_none() && request.on.setup.file_system != FileSystemKind::None;
    let mut whole = WholeRun::default();
    if is_judged || request.place == CutPlace::Anywhere {
        whole = WholeRun::record(request, is_judged, handle)?;
    }
    let (first, count) = request.seeds;
    let seeds = first..first.saturating_add(count);
    let trials = seeds.map(|seed| {
        let trial = OneCut { request, seed, is_judged, whole: &whole }.run(handle)?;
        tells(&trial);
        Ok(trial)
    });
    let trials = trials.collect::<Result<_>>()?;
    let WholeRun { orders, unfollowed, .. } = whole;
    Ok(CrashDone { trials, orders: is_judged.then_some(orders), unfollowed })
}

/// The command without a power cut.
#[derive(Debug, Default)]
struct WholeRun {
    writes: u64,
    orders: Vec<UnsafeOrder>,
    unfollowed: Option<&'static str>,
}

impl WholeRun {
    fn record(request: &CrashRequest, is_judged: bool, handle: &RunHandle) -> Result<Self> {
        let folder = request.on.folder(request.seeds.0, None, None)?;
        let promised = is_judged.then(|| Promised::start(&folder, &request.on.failing, None)).transpose()?;
        let outside = outside(&folder)?;
        let before = writes(&folder);
        let environment = [(OUTSIDE, outside.0.clone())];
        let log = promised.as_ref().map(Promised::log);
        let ended = folder.run_recorded(&request.on.command, &environment, handle, log)?;
        check_end(ended.ended.status, &request.on.command, handle)?;
        let writes = writes(&folder) - before;
        folder.end()?.alone()?;
        let recorded = promised.map(|promised| (promised.log().take(), promised));
        let Some((recorded, promised)) = recorded else { return Ok(Self { writes, ..Self::default() }) };
        let orders = match recorded.unfollowed {
            Some(_) => Vec::new(),
            None => unsafe_orders(&promised, &recorded.calls),
        };
        Ok(Self { writes, orders, unfollowed: recorded.unfollowed })
    }
}

fn writes(folder: &ServedFolder) -> u64 {
    folder.figures().map_or(0, |figures| figures.writes)
}

/// A run of the command with one power cut.
struct OneCut<'r> {
    request: &'r CrashRequest,
    seed: u64,
    is_judged: bool,
    whole: &'r WholeRun,
}

impl OneCut<'_> {
    fn run(&self, handle: &RunHandle) -> Result<CutTrial> {
        let (seed, request) = (self.seed, self.request);
        let rules = PowerRules { after_writes: None, seed, torn: request.torn };
        let mut folder = request.on.folder(seed, Some(rules), None)?;
        let before_sync = self.before_sync(&folder);
        let failing = &request.on.failing;
        let is_recorded = self.is_judged || before_sync.is_some() || !failing.is_empty();
        let promised = is_recorded.then(|| Promised::start(&folder, failing, before_sync)).transpose()?;
        let outside = outside(&folder)?;
        let environment = [(OUTSIDE, outside.0.clone())];
        let before = writes(&folder);
        folder.stop_programs_at_cut(handle);
        let after_writes = self.after_writes();
        after_writes.map_or(Ok(()), |writes| folder.cut_power_after(writes))?;
        let log = promised.as_ref().map(Promised::log);
        // The exit status does not matter, because the command stopped with the power.
        folder.run_recorded(&request.on.command, &environment, handle, log)?;
        if handle.is_stopped() {
            return Err(kurabe_program::interrupted());
        }
        let was_cut = || folder.figures().is_some_and(|figures| !figures.cuts.is_empty());
        if let (CutPlace::Before(call), false) = (&request.place, was_cut()) {
            return Err(no_such_sync(call));
        }
        // Whatever else runs on the machine may make names durable before the data.
        if self.is_judged && !was_cut() && seed % 2 == 1 {
            folder.sync_another_file();
        }
        let after_writes = after_writes.unwrap_or_else(|| writes(&folder) - before);
        let report = folder.ensure_cut()?;
        folder.give_up()?;
        let mut trial = CutTrial {
            seed,
            after_writes,
            sectors_lost: report.sectors_lost,
            outcome: CutOutcome::Unmountable,
            broken: None,
            lost_by: None,
        };
        if folder.mount_again().is_ok() {
            let is_kept = match (&request.check, promised) {
                (None, Some(promised)) => self.judge(&folder, promised, &mut trial)?,
                (check, _) => {
                    let check = check.clone().unwrap_or_else(|| "true".to_owned());
                    let words = ["sh".to_owned(), "-c".to_owned(), check];
                    folder.run(&words, &environment, handle)?.ended.status.success()
                }
            };
            trial.outcome = if is_kept { CutOutcome::Kept } else { CutOutcome::Lost };
        }
        folder.end()?.alone()?;
        Ok(trial)
    }

    /// Returns the number of writes after which power is cut, if it depends on that.
    fn after_writes(&self) -> Option<u64> {
        match &self.request.place {
            CutPlace::After(writes) => Some(*writes),
            CutPlace::Anywhere => Some(1 + Random::new(self.seed, 0).below(self.whole.writes.max(1))),
            CutPlace::Before(_) => None,
        }
    }

    fn before_sync(&self, folder: &ServedFolder) -> Option<BeforeSync> {
        let CutPlace::Before(call) = &self.request.place else { return None };
        Some(BeforeSync { call: call.clone(), work: Box::new(folder.cutter()) })
    }

    /// Compares the files with what the command's calls promised. Returns whether all of it is there.
    fn judge(&self, folder: &ServedFolder, promised: Promised, trial: &mut CutTrial) -> Result<bool> {
        if self.whole.unfollowed.is_some() {
            return Ok(true);
        }
        let has_stable_numbers = self.request.on.setup.file_system != FileSystemKind::Exfat;
        let (broken, lost) = promised.judge(folder, self.whole.orders.clone(), has_stable_numbers)?;
        (trial.broken, trial.lost_by) = (broken.into_iter().next(), lost.into_iter().next());
        Ok(trial.broken.is_none() && trial.lost_by.is_none())
    }
}

fn no_such_sync(call: &SyncOfFile) -> Error {
    let (file, number) = (&call.file, call.number.unwrap_or(1));
    ErrorKind::Usage
        .error(text!(
            "the command ended before fsync {number} of {file}",
            "コマンドは、{file} の {number} 回目の fsync より前に終わりました"
        ))
        .remedy(text!(
            "name a file by the end of its path in the command's folder",
            "ファイルは、コマンドのフォルダー内のパスの末尾で指定してください"
        ))
}

fn outside(folder: &ServedFolder) -> Result<PassingFolder> {
    folder.make_passing_folder("kurabe-outside").map(PassingFolder)
}
