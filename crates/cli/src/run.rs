//! `kurabe run`: plan, target, environment, store and events brought together.

use crate::args::{Global, RunArgs};
use crate::lang::t;
use crate::model::{model_name, model_spec, refuse_flags_of_real_targets};
use crate::now::now;
use crate::output::{error_style, print, print_json, print_record, progress_mode, say, style};
use crate::plan;
use crate::signals::Signals;
use crate::stored::{headline_of, open_store, recover};
use kurabe_core::environment::Environment;
use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal, format_time_setting};
use kurabe_core::record::{RECORD_SCHEMA, RunHeader, RunRecord, RunStatus, TargetKind, TargetRecord};
use kurabe_core::trace::Trace;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_engine::{
    CachePolicy, Engine, EngineChoice, Pages, Session, Settings, Target, TargetOptions, WaitMode,
    measure_clock, model_target, plan_tasks, planned_time_ns, test_file_name,
};
use kurabe_host::{NoiseWatch, ObserveOptions, devices_under, health, observe, remove_orphaned_traces};
use kurabe_report::{Progress, render_run};
use kurabe_sim::ModelTarget;
use kurabe_store::{Owner, Store};
use std::path::PathBuf;
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
    if args.dry_run {
        return dry_run(args, &profile, &traces);
    }
    let signals = Signals::listen()?;
    let store = open_store(global)?;
    recover(&store)?;
    // A recording that was killed would go on in the kernel, and cost time in what is measured.
    remove_orphaned_traces();
    let mut subject = Subject::open(args, &profile)?;
    let header = header(args, &store, &subject, &profile, command_line)?;
    let mut run = Run { args, global, store: &store, signals: &signals, header, profile, traces };
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
            store.remove(&run.header.id, |_| false)?;
            Err(error)
        }
    }
}

/// Where a run is kept, and what ends it early.
pub struct Keeping<'a> {
    pub global: &'a Global,
    pub store: &'a Store,
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
    let mut run = Run { args, global, store, signals, header, profile: profile.clone(), traces };
    run.begin()?;
    let outcome = run.open_target(&mut subject).and_then(|()| run.measure(subject));
    let record = store.load(&run.header.id)?;
    if record.cells.is_empty() {
        store.remove(&run.header.id, |_| false)?;
    }
    outcome.map(|()| record)
}

/// What is measured.
enum Subject {
    /// A path that is yet to be opened.
    Path,
    /// Files or a device.
    Real(Target),
    /// A modelled stack, and its name.
    Model(Box<ModelTarget>, String),
}

impl Subject {
    /// A model is built; a path is not touched yet.
    fn open(args: &RunArgs, profile: &Profile) -> Result<Self> {
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
fn header(
    args: &RunArgs,
    store: &Store,
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
    })
}

/// A run being put together.
struct Run<'a> {
    args: &'a RunArgs,
    global: &'a Global,
    store: &'a Store,
    signals: &'a Signals,
    header: RunHeader,
    profile: Profile,
    traces: Vec<Option<Arc<Trace>>>,
}

impl Run<'_> {
    /// Takes an id. The target is not touched yet.
    fn begin(&mut self) -> Result<()> {
        let (pid, start_ticks, boot_id) = kurabe_host::own_identity();
        self.store.begin_run(&mut self.header, &Owner { pid, start_ticks, boot_id })?;
        Ok(())
    }

    /// Opens the target. The name of the test file is in the store before the file exists.
    fn open_target(&mut self, subject: &mut Subject) -> Result<()> {
        if matches!(subject, Subject::Path) {
            let id = &self.header.id;
            let mut options = target_options(self.args, &self.profile);
            options.test_file_name = test_file_name(id, random_word()?);
            if let Some(path) = test_file_path(&self.args.target, &options.test_file_name) {
                self.store.set_test_file(id, Some(&path))?;
                self.signals.set_test_file(Some(path));
            }
            let target = Target::open(&self.args.target, &options)?;
            self.header.target = Some(target.record());
            *subject = Subject::Real(target);
        }
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
        let tasks = plan_tasks(&self.profile, self.target()?)?;
        let mut progress =
            Progress::new(error_style(), progress_mode(self.global)).with_headline(headline_of);
        let id = &self.header.id;
        let mut emit = |event: Event| {
            self.keep(&event)?;
            progress.on_event(&event);
            if self.global.json { print_json(&event) } else { Ok(()) }
        };
        let ground =
            Ground::of(self.target()?, matches!(&subject, Subject::Real(target) if target.has_test_file()));
        let outcome = emit(Event::RunStarted {
            header: Box::new(self.header.clone()),
            cell_count: tasks.iter().map(|task| task.cells.len() as u32).sum(),
            planned_write_bytes: Some(planned_write_bytes(&self.profile, &tasks, &self.traces, ground)),
            planned_ns: planned_time_ns(&self.profile, &tasks),
        })
        .and_then(|()| self.session(&mut subject, &mut emit));
        // The test file goes before anything else can fail.
        drop(subject);
        self.signals.set_test_file(None);
        self.store.set_test_file(id, None)?;
        let (status, error) = match &outcome {
            Ok(()) => (RunStatus::Complete, None),
            Err(error) if error.kind() == ErrorKind::Interrupted => (RunStatus::Interrupted, None),
            Err(error) => (RunStatus::Failed, Some(error.what().clone())),
        };
        let ended_at = now();
        let health_after = health(&self.header.environment.devices);
        self.store.finish_run(id, status, &ended_at, error.as_ref(), health_after.as_ref())?;
        let told = emit(Event::RunDone { status, ended_at, error });
        progress.finish();
        outcome.and(told)
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
                Session::new(target, profile, settings, &noise, stop, emit)
                    .with_traces(traces)
                    .with_kernel_trace(devices)
                    .run()
            }
            Subject::Model(model, name) => {
                Session::on_model(&mut **model, name, profile, stop, emit).with_traces(traces).run()
            }
            Subject::Path => {
                Err(Error::new(ErrorKind::Internal, text!("the target is not open", "対象を開いていません")))
            }
        }
    }

    /// What the store keeps of an event.
    fn keep(&self, event: &Event) -> Result<()> {
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
            Event::CellDone { cell } | Event::CellSoFar { cell } => self.store.put_cell(id, cell),
            _ => Ok(()),
        }
    }

    /// Shows the run from the store, or removes it if nothing was measured.
    fn show(&self, outcome: Result<()>) -> Result<()> {
        let id = &self.header.id;
        let record = self.store.load(id)?;
        if record.cells.is_empty() {
            self.store.remove(id, |_| false)?;
            if outcome.is_err() && !self.global.json {
                say(t(
                    "kurabe: nothing was measured, so nothing is kept",
                    "kurabe: 何も測れなかったため、記録は残しません",
                ));
            }
        } else if self.global.json {
            print_record(&record)?;
        } else {
            print(&render_run(&record, &headline_of(&record.header), &style()))?;
        }
        outcome
    }
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
fn test_file_path(target: &std::path::Path, name: &str) -> Option<PathBuf> {
    let directory = target.canonicalize().ok()?;
    directory.is_dir().then(|| directory.join(name))
}

/// What the bytes that a run writes depend on.
#[derive(Clone, Copy)]
struct Ground {
    span_bytes: u64,
    writable: bool,
    /// A file of kurabe's own is written first, and copies are files beside it.
    test_file: bool,
}

impl Ground {
    fn of(target: &TargetRecord, test_file: bool) -> Self {
        // Whatever a model is asked to write, nothing is written.
        let writable = target.writable && target.kind != TargetKind::Model;
        Self { span_bytes: target.span_bytes, writable, test_file }
    }

    /// What a target will be, as far as that can be told without opening it.
    fn planned(args: &RunArgs, profile: &Profile) -> Result<Self> {
        if let Subject::Model(model, name) = Subject::open(args, profile)? {
            return Ok(Self::of(&model_target(&name, &*model, profile), false));
        }
        let facts = args.target.metadata().map_err(|error| {
            let shown = args.target.display();
            Error::os(text!("cannot use {shown} as a target", "{shown} を測定対象にできません"), &error)
        })?;
        let whole = profile.rules.whole_device && args.size.is_none();
        let span_bytes = match facts.len() {
            length if facts.is_file() && (whole || length < profile.rules.size_bytes) => length,
            _ => profile.rules.size_bytes,
        };
        let consent = if facts.is_file() { args.write_existing } else { args.destroy_data_on.is_some() };
        Ok(Self {
            span_bytes,
            writable: facts.is_dir() || consent,
            test_file: facts.is_dir() && profile.needs_span(),
        })
    }
}

/// Bytes that the run writes at most, as far as its end is given in bytes; the cells bounded by time are told apart.
fn planned_write_bytes(
    profile: &Profile,
    tasks: &[Task],
    traces: &[Option<Arc<Trace>>],
    ground: Ground,
) -> u64 {
    if !ground.writable {
        return 0;
    }
    let span_bytes = ground.span_bytes;
    // Where there is no file of its own, a copy goes from one half to the other; the first is written once before.
    let copied_bytes = if ground.test_file { span_bytes } else { span_bytes / 2 };
    let before = profile
        .precondition_tasks(span_bytes)
        .iter()
        .map(|task| task.planned_write_bytes(span_bytes))
        .chain(tasks.iter().map(|task| match task.work {
            Work::Copy(_) if !ground.test_file => copied_bytes,
            _ => 0,
        }))
        .fold(if ground.test_file { span_bytes } else { 0 }, u64::saturating_add);
    let replayed = |task: &Task| match (&task.work, traces.get(task.step_index)) {
        (Work::Replay(_), Some(Some(trace))) => trace.summary().write_bytes,
        _ => task.planned_write_bytes(copied_bytes),
    };
    let once = tasks.iter().map(replayed).fold(0, u64::saturating_add);
    before.saturating_add(once.saturating_mul(u64::from(profile.repetitions())))
}

fn dry_run(args: &RunArgs, profile: &Profile, traces: &[Option<Arc<Trace>>]) -> Result<()> {
    let ground = Ground::planned(args, profile)?;
    let tasks = profile.tasks(ground.span_bytes);
    let writes = tasks.iter().filter(|task| task.writes()).count();
    let on_model = model_name(args).is_some();
    let mut lines = vec![kurabe_report::render_profile(profile, &style())];
    if let Some(ns) = planned_time_ns(profile, &tasks) {
        lines.push(format!(
            "{} {}\n",
            match on_model {
                true => t("of the model's time, at least", "モデルの中の時間(最短):"),
                false => t("measuring takes at least", "測定時間(最短):"),
            },
            format_time_setting(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns))
        ));
    }
    if ground.test_file {
        lines.push(format!(
            "{} {}\n",
            t("test file to write:", "書き込むテストファイル:"),
            format_bytes_decimal(ground.span_bytes)
        ));
    }
    lines.push(format!("{} {writes}\n", t("cells that write:", "書き込みを含む項目:")));
    if !ground.writable && !on_model && writes > 0 {
        lines.push(format!(
            "{}\n",
            t(
                "they are left out: the target may not be written without --write-existing or --destroy-data-on",
                "これらは測りません(--write-existing または --destroy-data-on がなければ対象に書き込みません)"
            )
        ));
    }
    let bytes = planned_write_bytes(profile, &tasks, traces, ground);
    if bytes > 0 {
        lines.push(format!(
            "{} {}\n",
            t("written at most, cells that end by time apart:", "書き込み量(最大、時間で終わる項目を除く):"),
            format_bytes_decimal(bytes)
        ));
    }
    print(&lines.concat())
}

fn random_word() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("no random numbers", "乱数を得られません")).because(error)
    })?;
    Ok(u64::from_ne_bytes(bytes))
}
