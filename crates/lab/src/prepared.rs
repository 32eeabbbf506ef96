//! A planned run: its profile is complete and its model is built, but a path has not been touched
//! yet.

use crate::clock::{now, random_word};
use crate::foreseen::Extent;
use crate::handle::RunHandle;
use crate::journal::{Journal, Lab};
use crate::made::open_noted;
use crate::model::{
    change_model, load_model, refuse_no_fill, refuse_own_file, refuse_what_real_targets_have,
};
use crate::open::{Open, OpenTarget};
use crate::profile::ProfileWithTraces;
use crate::request::{Procedure, RunRequest};
use crate::served::observed;
use crate::swept::{Swept, SweptSteps};
use kurabe_compare::WriteCaches;
use kurabe_core::environment::Environment;
use kurabe_core::foreseen::Foreseen;
use kurabe_core::mention::{BS, REPLAY, RW, SET, WITHOUT};
use kurabe_core::model::Model;
use kurabe_core::profile::{Profile, Step, Work};
use kurabe_core::record::{RunHeader, VersusRecord};
use kurabe_core::target_name::TargetName;
use kurabe_core::workload::Direction;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_engine::{
    FollowUp, Ledger, OthersFile, Target, TargetOptions, measure_clock, model_target, plan_tasks,
};
use kurabe_explain::{LongWrite, PROBE, SweepAxis, further_steps, probe_steps};
use kurabe_host::{ObserveOptions, devices_under};
use kurabe_ranks::Communicator;
use kurabe_sim::{ModelTarget, load_device};
use kurabe_trace::remove_orphaned_traces;
use std::path::PathBuf;
use std::sync::Arc;

/// A planned run, ready to be opened.
pub struct Prepared {
    pub(crate) request: RunRequest,
    pub(crate) plan: ProfileWithTraces,
    target: Unopened,
    /// Number of processes that share the test file, and the file if another rank created it.
    pub(crate) parts: (u32, Option<OthersFile>),
    /// Steps of a sweep of a model that other ranks have computed.
    swept: SweptSteps,
}

/// A target that is not open.
enum Unopened {
    Path(PathBuf),
    Model(String, Box<ModelTarget>),
}

impl Prepared {
    /// Plans the run of a request.
    ///
    /// # Errors
    /// When it names a profile, a trace, a model or a parameter that does not exist, or an option
    /// has no effect.
    pub fn new(request: RunRequest) -> Result<Self> {
        let request = past_caches(request)?;
        let plan = ProfileWithTraces::of(&request)?;
        Self::with_plan(request, plan)
    }

    pub(crate) fn with_plan(request: RunRequest, plan: ProfileWithTraces) -> Result<Self> {
        refuse_no_fill(&request)?;
        let target = match &request.target {
            TargetName::Model(name) => {
                refuse_what_real_targets_have(&request)?;
                let mut spec = load_device(name)?;
                if let Some(stores_times) = stores_times(&plan.profile) {
                    spec.put_under_journal(stores_times, plan.profile.rules.new_pages)?;
                }
                let spec = change_model(spec, &request.sets, &request.without)?;
                let model = ModelTarget::new(&spec, plan.profile.rules.seed)?;
                Unopened::Model(name.clone(), Box::new(model))
            }
            TargetName::Path(path) if request.sets.is_empty() && request.without.is_empty() => {
                refuse_own_file(path)?;
                Unopened::Path(path.clone())
            }
            TargetName::Path(_) => {
                let flag = if request.sets.is_empty() { WITHOUT } else { SET };
                return Err(ErrorKind::Usage
                    .error(text!(
                        "{flag} applies to models, but the target is not a model",
                        "{flag} はモデル用ですが、対象はモデルではありません"
                    ))
                    .remedy(text!("name a model: model:NAME", "対象を model:名前 にしてください")));
            }
        };
        Ok(Self { request, plan, target, parts: (1, None), swept: SweptSteps::new() })
    }

    fn sweeps_model(&self) -> bool {
        self.is_modelled() && matches!(self.request.procedure, Procedure::Sweep(_))
    }

    /// Computes the sweep points that do not depend on earlier results, shared among all ranks.
    /// Returns whether this is rank 0, which continues with the run.
    ///
    /// # Errors
    /// When messages cannot be sent or received. Also for real targets, where each point depends on
    /// the previous ones.
    pub fn share_sweep(&mut self, communicator: &dyn Communicator, handle: &RunHandle) -> Result<bool> {
        let Unopened::Model(name, model) = &self.target else {
            return Err(ErrorKind::Unsupported.error(text!(
                "several ranks can sweep only models: on real storage, each point starts from the state \
                 that the previous one left",
                "複数ランクでスイープできるのはモデルだけです。実際のストレージでは、前の点の状態が次の点に引き継がれます"
            )));
        };
        let (profile, fills) = (&self.plan.profile, !self.request.no_fill);
        let swept = Swept { name, device: model.spec(), profile, fills, handle }.share(communicator)?;
        let of_rank_0 = swept.is_some();
        self.swept = swept.unwrap_or_default();
        Ok(of_rank_0)
    }

    /// Returns the profile of the run.
    pub fn profile(&self) -> &Profile {
        &self.plan.profile
    }

    /// Returns the target as given.
    pub fn target(&self) -> &TargetName {
        &self.request.target
    }

    /// Returns whether the target is a model.
    pub fn is_modelled(&self) -> bool {
        matches!(self.target, Unopened::Model(..))
    }

    /// Returns whether a test file is written to a model before the measurement.
    fn fills_model(&self) -> bool {
        !self.request.no_fill && self.profile().writes_file_first()
    }

    /// Returns whether this run has the same profile, settings, target and model as `other`.
    pub(crate) fn does_the_same(&self, other: &Self) -> bool {
        let model = |run: &Self| match &run.target {
            Unopened::Model(_, model) => Some(model.record()),
            Unopened::Path(_) => None,
        };
        self.profile() == other.profile()
            && self.request.overrides.settings() == other.request.overrides.settings()
            && self.request.target == other.request.target
            && model(self) == model(other)
    }

    /// Checks that every operation can be logged individually.
    ///
    /// # Errors
    /// When a step is neither a workload nor a replay.
    pub fn check_lists_operations(&self) -> Result<()> {
        let profile = &self.plan.profile;
        let tasks = match &self.target {
            Unopened::Model(name, model) => plan_tasks(profile, &model_target(name, &**model, profile))?,
            // The size of the target is unknown before it is open, but the kinds of tasks do not
            // depend on it.
            Unopened::Path(_) => profile.tasks(profile.rules.size_bytes),
        };
        let other = tasks.iter().find(|task| !matches!(task.work, Work::Io(_) | Work::Replay(_)));
        let Some(other) = other else { return Ok(()) };
        let label = &other.label;
        Err(ErrorKind::Unsupported.error(text!(
            "only the operations of workloads and replays can be listed, and {label} is neither",
            "操作の一覧を取れるのはワークロードと再生だけで、{label} はどちらでもありません"
        ))
        .remedy(text!(
            "use a workload ({RW}, {BS} …), a trace ({REPLAY}), or a profile with only such steps",
            "ワークロード({RW}、{BS} など)かトレース({REPLAY})、またはそれだけのプロファイルを指定してください"
        )))
    }

    /// Returns how much the run writes, and how long it takes.
    ///
    /// # Errors
    /// When the target does not exist.
    pub fn foresee(&self) -> Result<Foreseen> {
        Ok(match &self.target {
            Unopened::Path(given) => {
                let extent = Extent::of_path(given, &self.target_options())?;
                let environment = observed(given, &ObserveOptions { with_serial: false, salt: &[] });
                let path = given.canonicalize().unwrap_or_else(|_| given.clone());
                extent.foresee(&self.plan, path, environment)
            }
            Unopened::Model(name, model) => {
                let extent = Extent::of(&model_target(name, &**model, &self.plan.profile), false);
                let test_file_bytes = self.fills_model().then_some(extent.span_bytes);
                let given = self.request.target.typed();
                let foreseen = extent.foresee(&self.plan, given, Environment::default());
                Foreseen { test_file_bytes, is_modelled: true, ..foreseen }
            }
        })
    }

    /// Creates the run in the store and opens the target. On failure, nothing is stored.
    ///
    /// # Errors
    /// When the store cannot be written, or the target cannot or must not be measured.
    pub fn open<'a>(self, lab: &Lab<'a>) -> Result<Open<'a>> {
        // The recording of a killed process continues in the kernel and would slow down the
        // measurement.
        remove_orphaned_traces();
        let header = self.header(lab)?;
        self.open_as(lab, header, None)
    }

    /// Returns what is known before the target is touched. For a path, this excludes the target.
    pub(crate) fn header(&self, lab: &Lab<'_>) -> Result<RunHeader> {
        self.header_with(&lab.store.salt()?, lab.command)
    }

    /// Like [`Self::header`], with the salt of hashes and the command line given.
    pub(crate) fn header_with(&self, salt: &[u8], command: &[String]) -> Result<RunHeader> {
        let profile = &self.plan.profile;
        let (environment, target, model) = match &self.target {
            Unopened::Model(name, model) => {
                // A model does not depend on this machine.
                (Environment::default(), Some(model_target(name, &**model, profile)), Some(model.record()))
            }
            Unopened::Path(path) => {
                let options = ObserveOptions { with_serial: self.request.with_serial, salt };
                (observed(path, &options), None, None)
            }
        };
        Ok(RunHeader {
            kurabe_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now()?,
            command: command.to_vec(),
            target,
            profile: Some(profile.clone()),
            environment,
            instrument: model.is_none().then(measure_clock),
            model,
            ..RunHeader::default()
        })
    }

    /// Returns the plan, the name of the model and the model.
    ///
    /// # Errors
    /// When the target is not a model.
    pub(crate) fn into_model(self) -> Result<(ProfileWithTraces, String, Box<ModelTarget>)> {
        match self.target {
            Unopened::Model(name, model) => Ok((self.plan, name, model)),
            Unopened::Path(_) => {
                Err(ErrorKind::Usage.error(text!("the target is not a model", "対象はモデルではありません")))
            }
        }
    }

    /// Opens a run under this header. With `turns`, the run is part of an interleaved measurement,
    /// and shares the target of another run if there is one.
    pub(crate) fn open_as<'a>(
        mut self,
        lab: &Lab<'a>,
        header: RunHeader,
        turns: Option<(VersusRecord, Option<&Target>)>,
    ) -> Result<Open<'a>> {
        let mut journal = Journal::begin(*lab, header)?;
        let swept = self.sweeps_model().then(|| std::mem::take(&mut self.swept));
        let opened = self.open_target(&mut journal, turns);
        match opened {
            Ok((mut ground, plan, request)) => {
                let stamps = request.verify || request.reads_back;
                let ledger = if stamps { Some(Arc::new(Ledger::new(random_word()?))) } else { None };
                if let (Some(ledger), OpenTarget::Real(target)) = (&ledger, &mut ground) {
                    target.verify(Arc::clone(ledger), request.reads_back);
                }
                let traced = request.target.path().filter(|_| request.kernel_trace);
                let traced_devices = traced.map(devices_under);
                let header = journal.record.header.clone();
                let follow_up: Option<FollowUp<'a>> = match &request.procedure {
                    Procedure::Sweep(_) => Some(Box::new(further_steps)),
                    Procedure::Named(name) if name == PROBE => {
                        Some(Box::new(move |profile, cells| probe_steps(&header, profile, cells)))
                    }
                    _ => None,
                };
                Ok(Open {
                    journal,
                    plan,
                    ground,
                    settings: request.overrides.settings(),
                    fills: !request.no_fill,
                    traced_devices,
                    follow_up,
                    ledger,
                    reads_back: request.reads_back,
                    swept,
                    party: None,
                })
            }
            Err(error) => {
                // There are no results to store.
                journal.discard()?;
                Err(error)
            }
        }
    }

    fn open_target(
        self,
        journal: &mut Journal<'_>,
        turns: Option<(VersusRecord, Option<&Target>)>,
    ) -> Result<(OpenTarget, ProfileWithTraces, RunRequest)> {
        let (id, identity) = (journal.id().to_owned(), journal.record.header.identity.clone());
        let mut twin = None;
        if let Some((mut versus, other)) = turns {
            if versus.place == 0 {
                versus.group = identity;
            }
            (journal.record.header.versus, twin) = (Some(versus), other);
        }
        let mut options = self.target_options();
        let ground = match self.target {
            Unopened::Model(name, model) => OpenTarget::Model(name, model),
            Unopened::Path(path) => {
                let target = match twin {
                    Some(twin) => twin.again(options.direct, options.size_bytes)?,
                    None => {
                        options.scratches = journal.lab.handle.scratches.clone();
                        let note = &mut |made| journal.note_made(made);
                        open_noted(&path, &id, &mut options, note)?
                    }
                };
                OpenTarget::Real(target)
            }
        };
        let target = ground.record(&self.plan.profile);
        plan_tasks(&self.plan.profile, &target)?;
        journal.record.header.target = Some(target);
        journal.describe(&self.request.labels)?;
        Ok((ground, self.plan, self.request))
    }

    pub(crate) fn target_options(&self) -> TargetOptions {
        let (request, profile) = (&self.request, &self.plan.profile);
        let swept_bytes = match &request.procedure {
            Procedure::Sweep(plan) => plan.max_bytes,
            _ => None,
        };
        TargetOptions {
            direct: profile.rules.direct,
            write_existing: request.writing.existing_file,
            destroy_data_on: request.writing.destroy_data_on.clone(),
            size_bytes: profile.rules.size_bytes,
            size_is_asked: request.overrides.size_bytes.or(swept_bytes).is_some(),
            whole_device: profile.rules.whole_device,
            test_file_name: String::new(),
            no_test_file: !profile.needs_span(),
            work_folder: profile.steps.iter().any(Step::has_own_files),
            parts: self.parts.0,
            others: self.parts.1.clone(),
            ..TargetOptions::default()
        }
    }
}

/// Returns whether flushes store the times of the file (fsync, `O_SYNC`), if a profile flushes all its writes
/// through the page cache: a model of its flushes needs the pages and the journal. `None` for other profiles.
/// The modelled page cache writes only at flushes, so other writes would go to memory without limit.
fn stores_times(profile: &Profile) -> Option<bool> {
    let mut stores_times = None;
    for step in profile.steps.iter().filter(|_| !profile.rules.direct) {
        let Step::Io(step) = step else { return None };
        let sync = &step.sync;
        if step.directions == [Direction::Read] {
            continue;
        }
        if !sync.waits_for_medium() || sync.page_range_flags.is_some() {
            return None;
        }
        stores_times = Some(stores_times.unwrap_or(false) || !sync.data_only);
    }
    stores_times
}

/// Makes a long write to a model exceed the model's caches, which costs no real time: otherwise no change
/// would be seen. Caches of less than [`LEAST_CACHE_BYTES`] are full soon.
fn past_caches(mut request: RunRequest) -> Result<RunRequest> {
    const LEAST_CACHE_BYTES: u64 = 1_000_000_000;
    let (Procedure::Sweep(plan), Some(name)) = (&mut request.procedure, request.target.model()) else {
        return Ok(request);
    };
    if plan.axes != [SweepAxis::BytesWritten] || plan.max_bytes.is_some() {
        return Ok(request);
    }
    let spec = load_model(name, &request.sets, &request.without)?;
    let model = ModelTarget::new(&spec, 0)?;
    let caches = WriteCaches::of(&Model::record(&model));
    let is_shingled = caches.media_bytes >= LEAST_CACHE_BYTES;
    let cache_bytes = if is_shingled { caches.media_bytes } else { caches.all_bytes() };
    if cache_bytes >= LEAST_CACHE_BYTES {
        let bytes = cache_bytes.saturating_mul(2).min(model.span_bytes());
        plan.long_write = Some(LongWrite { bytes, random: is_shingled });
        // What a test file would be written for is filled by the write itself.
        request.no_fill = true;
    }
    Ok(request)
}
