//! `kurabe run`: plan, target, environment, store and events brought together.

use crate::args::{Cli, Command, Global, RunArgs};
use crate::foresee::{Ground, dry_run, planned_write_bytes};
use crate::lang::t;
use crate::model::{model_name, model_spec, refuse_flags_of_real_targets};
use crate::now::now;
use crate::output::{error_style, print, print_json, print_record, progress_mode, say, style};
use crate::pivot::keep_digest;
use crate::plan;
use crate::signals::Signals;
use crate::stored::{open_store, recover};
use clap::Parser;
use kurabe_core::environment::Environment;
use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::record::{Cell, RECORD_SCHEMA, RunHeader, RunRecord, RunStatus, TargetKind, TargetRecord};
use kurabe_core::trace::Trace;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_engine::{
    CachePolicy, Contender, Engine, EngineChoice, InTurns, Pages, Session, Settings, Target, TargetOptions,
    WaitMode, measure_clock, model_target, plan_tasks, planned_time_ns, test_file_name,
};
use kurabe_explain::explain_sweep;
use kurabe_host::{NoiseWatch, ObserveOptions, devices_under, health, observe};
use kurabe_report::{Progress, headline, render_run, render_sweep_run};
use kurabe_sim::ModelTarget;
use kurabe_store::{Owner, Store};
use kurabe_trace::remove_orphaned_traces;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command.
///
/// # Errors
/// Whatever keeps the run from its end; what was measured until then is stored.
pub fn run(args: &RunArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let mut profile = plan::profile(args)?;
    let traces = plan::traces(args, &mut profile)?;
    let labels =
        args.label.iter().map(|label| crate::stored::parse_label(label)).collect::<Result<Vec<_>>>()?;
    run_planned(args, Planned { profile, traces, labels, follow_up: None }, global, command_line)
}

/// Looks at the cells of a run and tells which steps should be measured as well.
pub type FurtherSteps = fn(&Profile, &[Cell]) -> Vec<Step>;

/// What is to be run.
pub struct Planned {
    pub profile: Profile,
    pub traces: Vec<Option<Arc<Trace>>>,
    pub labels: Vec<(String, Option<String>)>,
    /// Where what was measured calls for more.
    pub follow_up: Option<FurtherSteps>,
}

/// Runs what was planned: the words of the command line that make a profile are not looked at any more.
///
/// # Errors
/// Whatever keeps the run from its end; what was measured until then is stored.
pub fn run_planned(args: &RunArgs, planned: Planned, global: &Global, command_line: &[String]) -> Result<()> {
    let Planned { profile, traces, labels, follow_up } = planned;
    if args.dry_run {
        return dry_run(args, &profile, &traces);
    }
    let signals = Signals::listen()?;
    let store = open_store(global)?;
    recover(&*store)?;
    // A recording that was killed would go on in the kernel, and cost time in what is measured.
    remove_orphaned_traces();
    let mut subject = Subject::open(args, &profile)?;
    let header = header(args, &*store, &subject, &profile, command_line)?;
    let mut run = Run {
        args,
        global,
        store: &*store,
        signals: &signals,
        header,
        profile,
        traces,
        follow_up,
        test_file: None,
    };
    run.begin()?;
    let prepared = run.open_target(&mut subject).and_then(|()| {
        for (key, value) in &labels {
            store.label(&run.header.id, key, value.as_deref())?;
        }
        Ok(())
    });
    match prepared {
        Ok(()) => {
            let outcome = run.measure(subject);
            run.show(outcome)
        }
        Err(error) => {
            // Nothing was measured, so there is nothing to keep.
            store.remove(&run.header.id, &|_| false)?;
            Err(error)
        }
    }
}

/// `kurabe run PATH` without any flags.
///
/// # Errors
/// Never, as far as is known: every path is a target to the command line.
pub fn plain_run(path: &Path) -> Result<Box<RunArgs>> {
    let words = [Path::new("kurabe"), Path::new("run"), Path::new("--"), path];
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Run(args)) => Ok(args),
        _ => Err(Error::new(ErrorKind::Internal, text!("a path is no target", "パスを対象にできません"))),
    }
}

/// Where a run is kept, and what ends it early.
pub struct Keeping<'a> {
    pub global: &'a Global,
    pub store: &'a dyn Store,
    pub signals: &'a Signals,
    pub command_line: &'a [String],
}

/// Measures a path as `run` does and stores the run, which somebody else shows.
///
/// # Errors
/// Whatever keeps the run from its end; what was measured until then is stored.
pub fn measure_path(
    args: &RunArgs,
    profile: &Profile,
    traces: Vec<Option<Arc<Trace>>>,
    keeping: &Keeping<'_>,
) -> Result<RunRecord> {
    let Keeping { global, store, signals, command_line } = *keeping;
    remove_orphaned_traces();
    let mut subject = Subject::open(args, profile)?;
    let header = header(args, store, &subject, profile, command_line)?;
    let mut run = Run {
        args,
        global,
        store,
        signals,
        header,
        profile: profile.clone(),
        traces,
        follow_up: None,
        test_file: None,
    };
    run.begin()?;
    let outcome = run.open_target(&mut subject).and_then(|()| run.measure(subject));
    let record = store.load(&run.header.id)?;
    if record.cells.is_empty() {
        store.remove(&run.header.id, &|_| false)?;
    }
    outcome.map(|()| record)
}

/// What is measured.
pub(crate) enum Subject {
    /// A path that is yet to be opened.
    Path,
    /// Files or a device.
    Real(Target),
    /// A modelled stack, and its name.
    Model(Box<ModelTarget>, String),
}

impl Subject {
    /// A model is built; a path is not touched yet.
    pub(crate) fn open(args: &RunArgs, profile: &Profile) -> Result<Self> {
        match model_name(args) {
            Some(name) => {
                refuse_flags_of_real_targets(args)?;
                let model = ModelTarget::new(&model_spec(name, &args.set)?, profile.rules.seed)?;
                Ok(Self::Model(Box::new(model), name.to_owned()))
            }
            None if args.set.is_empty() => Ok(Self::Path),
            None => Err(Error::new(
                ErrorKind::Usage,
                text!(
                    "--set changes a model, and the target is none",
                    "--set はモデル用ですが、対象はモデルではありません"
                ),
            )
            .remedy(text!("name a model: model:NAME", "対象を model:名前 にしてください"))),
        }
    }
}

/// What is known before the target is touched.
pub(crate) fn header(
    args: &RunArgs,
    store: &dyn Store,
    subject: &Subject,
    profile: &Profile,
    command_line: &[String],
) -> Result<RunHeader> {
    let salt = store.salt()?;
    let (environment, target, model) = match subject {
        Subject::Model(model, name) => {
            // Nothing of this machine matters to a model.
            (Environment::default(), model_target(name, &**model, profile), Some(model.record()))
        }
        Subject::Path | Subject::Real(_) => (
            observe(&args.target, &ObserveOptions { with_serial: args.with_serial, salt: &salt }),
            unopened(args, &target_options(args, profile)),
            None,
        ),
    };
    Ok(RunHeader {
        schema: RECORD_SCHEMA,
        kurabe_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: String::new(),
        started_at: now(),
        command: command_line.to_vec(),
        target: Some(target),
        profile: Some(profile.clone()),
        environment,
        instrument: model.is_none().then(measure_clock),
        origin: None,
        model,
        versus: None,
    })
}

/// A run being put together.
pub(crate) struct Run<'a> {
    pub(crate) args: &'a RunArgs,
    pub(crate) global: &'a Global,
    pub(crate) store: &'a dyn Store,
    pub(crate) signals: &'a Signals,
    pub(crate) header: RunHeader,
    pub(crate) profile: Profile,
    pub(crate) traces: Vec<Option<Arc<Trace>>>,
    /// What asks for further steps.
    pub(crate) follow_up: Option<FurtherSteps>,
    /// The test file, as long as it is there.
    pub(crate) test_file: Option<PathBuf>,
}

impl Run<'_> {
    /// Takes an id. The target is not touched yet.
    pub(crate) fn begin(&mut self) -> Result<()> {
        let (pid, start_ticks, boot_id) = kurabe_host::own_identity();
        self.store.begin_run(&mut self.header, &Owner { pid, start_ticks, boot_id })?;
        Ok(())
    }

    /// Opens the target. The name of the test file is in the store before the file exists.
    pub(crate) fn open_target(&mut self, subject: &mut Subject) -> Result<()> {
        if matches!(subject, Subject::Path) {
            let id = &self.header.id;
            let mut options = target_options(self.args, &self.profile);
            options.test_file_name = test_file_name(id, random_word()?);
            if let Some(path) = test_file_path(&self.args.target, &options.test_file_name) {
                self.store.set_test_file(id, Some(&path))?;
                self.signals.add_test_file(path.clone());
                self.test_file = Some(path);
            }
            let target = Target::open(&self.args.target, &options)?;
            return self.take(target, subject);
        }
        plan_tasks(&self.profile, self.target()?)?;
        self.store.update_header(&self.header)
    }

    /// Measures on a target that is open.
    pub(crate) fn take(&mut self, target: Target, subject: &mut Subject) -> Result<()> {
        self.header.target = Some(target.record());
        *subject = Subject::Real(target);
        plan_tasks(&self.profile, self.target()?)?;
        self.store.update_header(&self.header)
    }

    fn target(&self) -> Result<&TargetRecord> {
        self.header.target.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Internal, text!("a run has no target", "測定に対象がありません"))
        })
    }

    /// Measures and stores.
    fn measure(&self, mut subject: Subject) -> Result<()> {
        let mut progress = Progress::new(error_style(), progress_mode(self.global)).with_headline(headline);
        let mut emit = |event: Event| {
            self.keep(&event)?;
            progress.on_event(&event);
            if self.global.json { print_json(&event) } else { Ok(()) }
        };
        let outcome = emit(self.started(&subject)?).and_then(|()| self.session(&mut subject, &mut emit));
        let told = self.conclude(subject, outcome.as_ref().err()).and_then(&mut emit);
        progress.finish();
        outcome.and(told)
    }

    /// The first event.
    pub(crate) fn started(&self, subject: &Subject) -> Result<Event> {
        let tasks = plan_tasks(&self.profile, self.target()?)?;
        let ground =
            Ground::of(self.target()?, matches!(subject, Subject::Real(target) if target.has_test_file()));
        Ok(Event::RunStarted {
            header: Box::new(self.header.clone()),
            cell_count: tasks.iter().map(|task| task.cells.len() as u32).sum(),
            planned_write_bytes: Some(planned_write_bytes(&self.profile, &tasks, &self.traces, ground)),
            planned_ns: planned_time_ns(&self.profile, &tasks),
        })
    }

    /// Ends the run, by an error if there was one; the last event.
    pub(crate) fn conclude(&self, subject: Subject, error: Option<&Error>) -> Result<Event> {
        let id = &self.header.id;
        // The test file goes before anything else can fail.
        drop(subject);
        if let Some(path) = &self.test_file {
            self.signals.forget_test_file(path);
        }
        self.store.set_test_file(id, None)?;
        let (status, error) = match error {
            None => (RunStatus::Complete, None),
            Some(error) if error.kind() == ErrorKind::Interrupted => (RunStatus::Interrupted, None),
            Some(error) => (RunStatus::Failed, Some(error.what().clone())),
        };
        let ended_at = now();
        let health_after = health(&self.header.environment.devices);
        self.store.finish_run(id, status, &ended_at, error.as_ref(), health_after.as_ref())?;
        keep_digest(self.store, id);
        Ok(Event::RunDone { status, ended_at, error })
    }

    /// A run that waits for its turns.
    pub(crate) fn in_turns<'s>(
        &'s self,
        subject: &'s mut Subject,
        noise: &'s NoiseWatch,
        emit: &'s mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<Box<dyn Contender + 's>> {
        let (profile, stop, traces) = (&self.profile, &*self.signals.stop, self.traces.clone());
        Ok(match subject {
            Subject::Real(target) => {
                let session = Session::new(target, profile, settings(self.args), noise, stop, emit);
                Box::new(InTurns::from(session.with_traces(traces)))
            }
            Subject::Model(model, name) => {
                let session = Session::on_model(&mut **model, name, profile, stop, emit);
                Box::new(InTurns::from(session.with_traces(traces)))
            }
            Subject::Path => return Err(not_open()),
        })
    }

    /// The run itself.
    fn session(&self, subject: &mut Subject, emit: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
        let (profile, stop) = (&self.profile, &self.signals.stop);
        let traces = self.traces.clone();
        match subject {
            Subject::Real(target) => {
                let noise = NoiseWatch::new(&self.header.environment);
                let settings = settings(self.args);
                let devices = self.args.trace.then(|| devices_under(&self.args.target));
                let session = Session::new(target, profile, settings, &noise, stop, emit)
                    .with_traces(traces)
                    .with_kernel_trace(devices);
                match self.follow_up {
                    Some(follow_up) => session.with_follow_up(Box::new(follow_up)).run(),
                    None => session.run(),
                }
            }
            Subject::Model(model, name) => {
                let session = Session::on_model(&mut **model, name, profile, stop, emit).with_traces(traces);
                match self.follow_up {
                    Some(follow_up) => session.with_follow_up(Box::new(follow_up)).run(),
                    None => session.run(),
                }
            }
            Subject::Path => Err(not_open()),
        }
    }

    /// What the store keeps of an event.
    pub(crate) fn keep(&self, event: &Event) -> Result<()> {
        let id = &self.header.id;
        match event {
            Event::Notice { notice } => self.store.append_notice(id, notice),
            Event::FillDone { fill } => {
                self.store.set_fill(id, fill)?;
                // The time limit may have cut the test file.
                let mut header = self.header.clone();
                if let Some(target) = &mut header.target {
                    target.span_bytes = fill.written_bytes;
                }
                self.store.update_header(&header)
            }
            Event::StepsAdded { steps, .. } => self.keep_steps(steps),
            Event::CellDone { cell } | Event::CellSoFar { cell } => self.store.put_cell(id, cell),
            _ => Ok(()),
        }
    }

    /// The profile of the record holds what was measured, in the order in which it came about.
    fn keep_steps(&self, steps: &[Step]) -> Result<()> {
        // As stored: the writing of the test file may have changed it.
        let mut header = self.store.load(&self.header.id)?.header;
        if let Some(profile) = &mut header.profile {
            profile.steps.extend_from_slice(steps);
        }
        self.store.update_header(&header)
    }

    /// Shows the run from the store, or removes it if nothing was measured.
    fn show(&self, outcome: Result<()>) -> Result<()> {
        let id = &self.header.id;
        let record = self.store.load(id)?;
        if record.cells.is_empty() {
            self.store.remove(id, &|_| false)?;
            if outcome.is_err() && !self.global.json {
                say(t(
                    "kurabe: nothing was measured, so nothing is kept",
                    "kurabe: 何も測れなかったため、記録は残しません",
                ));
            }
        } else if self.global.json {
            print_record(&record)?;
            if self.follow_up.is_some() {
                let found = explain_sweep(&record);
                print_json(&serde_json::json!({ "event": "sweep", "run": id, "curves": found.curves }))?;
            }
        } else if self.follow_up.is_some() {
            print(&render_sweep_run(&record, &headline(&record.header), &style()))?;
        } else {
            print(&render_run(&record, &headline(&record.header), &style()))?;
        }
        outcome
    }
}

fn not_open() -> Error {
    Error::new(ErrorKind::Internal, text!("the target is not open", "対象を開いていません"))
}

fn settings(args: &RunArgs) -> Settings {
    Settings {
        engine: match args.engine.as_str() {
            "uring" => EngineChoice::Fixed(Engine::Uring),
            "threads" => EngineChoice::Fixed(Engine::Threads),
            _ => EngineChoice::Auto,
        },
        wait: match args.wait.as_str() {
            "spin" => WaitMode::Spin,
            "poll" => WaitMode::Poll,
            _ => WaitMode::Sleep,
        },
        pages: if args.pages == "huge" { Pages::Huge } else { Pages::Small },
        cache: if args.cache == "keep" { CachePolicy::Keep } else { CachePolicy::Drop },
    }
}

fn target_options(args: &RunArgs, profile: &Profile) -> TargetOptions {
    TargetOptions {
        direct: profile.rules.direct,
        write_existing: args.write_existing,
        destroy_data_on: args.destroy_data_on.clone(),
        size_bytes: profile.rules.size_bytes,
        size_is_asked: args.size.is_some(),
        whole_device: profile.rules.whole_device,
        test_file_name: String::new(),
        no_test_file: !profile.needs_span(),
    }
}

/// What is stored of a target until it is open.
fn unopened(args: &RunArgs, options: &TargetOptions) -> TargetRecord {
    TargetRecord {
        given: args.target.display().to_string(),
        path: args.target.display().to_string(),
        kind: TargetKind::File,
        span_bytes: options.size_bytes,
        direct: options.direct,
        alignment_bytes: 1,
        writable: false,
    }
}

/// Where the test file will be, if the target is a directory.
fn test_file_path(target: &Path, name: &str) -> Option<PathBuf> {
    let directory = target.canonicalize().ok()?;
    directory.is_dir().then(|| directory.join(name))
}

pub(crate) fn random_word() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("no random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(u64::from_ne_bytes(bytes))
}
