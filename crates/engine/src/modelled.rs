//! A model as the ground of a run, in virtual time.
//!
//! There is only one thread, because the device determines the time. The threads of a workload
//! become a single queue with their combined depth, which takes operations from their generators in
//! turn. If real storage would get a test file, so does the model, so that reads access the
//! locations of recently written data. No cache is dropped, because the state of a modelled device
//! is one of its parameters.

use crate::context::{Context, Emitter, IntervalTeller, progress};
use crate::drive::driver::{Plan, drive, filled_buffers};
use crate::drive::joint::{JointDevice, JointObserver, JointSource, JointTurn, sooner};
use crate::drive::listed::{Dues, ListedDevice, ListedPlace};
use crate::drive::recorder::{INTERVAL_NS, Recorder};
use crate::drive::source::{Generator, Next, Source};
use crate::steps::depth::within_target;
use crate::steps::samples::{CellSamples, SampleSpan, Sampling, Shared, Watch};
use crate::task::{Attempt, Repeated, unprepared};
use crate::{drive::content::Content, ground::Ground, session::Session, steps::fill::fill};
use kurabe_core::issue::RecordedEngine;
use kurabe_core::mention::NO_FILL;
use kurabe_core::model::{Model, Queues, TimeSums};
use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::record::{EngineRecord, Interval, Notice, NoticeKind, Repetition, TargetKind, TargetRecord};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::workload::{Data, EndSync, Op, SyncRule, Workload};
use kurabe_core::{Error, Result, device::Device, event::Event, text, words::RecordedWord};
use kurabe_program::Stop;
use std::sync::mpsc::{Receiver, channel};

/// Smallest request size of modelled devices, in bytes.
const UNIT_BYTES: u32 = 512;

/// A modelled target in use.
pub struct Modelled<'a, M> {
    pub(crate) model: &'a mut M,
    facts: TargetRecord,
    /// Whether a test file is written first, if the profile has one.
    fills: bool,
}

/// Returns whether the model includes the page cache of a computer, so that requests of any length are
/// possible.
fn has_file_pages(model: &impl Model) -> bool {
    model.record().layers.iter().any(|layer| layer.kind == "journal")
}

/// Returns the record of a modelled target. Its span is the size that the profile requires,
/// starting at the first byte.
pub fn model_target(name: &str, model: &impl Model, profile: &Profile) -> TargetRecord {
    let there_bytes = model.span_bytes();
    let rules = &profile.rules;
    let span_bytes = if rules.whole_device { there_bytes } else { rules.size_bytes.min(there_bytes) };
    let direct = !has_file_pages(model);
    TargetRecord {
        given: format!("{MODEL_PREFIX}{name}"),
        path: format!("{MODEL_PREFIX}{name}"),
        kind: TargetKind::Model,
        span_bytes: span_bytes - span_bytes % u64::from(UNIT_BYTES),
        direct,
        alignment_bytes: if direct { UNIT_BYTES } else { 1 },
        writable: true,
    }
}

impl<'a, M: Model> Session<'a, Modelled<'a, M>> {
    /// Creates a run of a profile on a model. `emit` receives every event, and an error from it
    /// ends the run.
    pub fn on_model(
        model: &'a mut M,
        name: &str,
        profile: &'a Profile,
        interrupt: &'a Stop,
        emit: Emitter<'a>,
    ) -> Self {
        let facts = model_target(name, model, profile);
        Self::on(Modelled { model, facts, fills: true }, profile, interrupt, emit)
    }

    /// Sets whether the test file is written. Without it, reads access data that was written long
    /// before.
    #[must_use]
    pub fn with_fill(mut self, fills: bool) -> Self {
        self.ground.fills = fills;
        self
    }
}

/// There is no tracing, because a model provides the time breakdown of every repetition.
impl<M: Model> Ground for Modelled<'_, M> {
    type Prepared = ();

    fn facts(&self) -> TargetRecord {
        self.facts.clone()
    }

    fn narrow(&mut self, span_bytes: u64) {
        self.facts.span_bytes = self.facts.span_bytes.min(span_bytes);
    }

    fn now_ns(&self) -> u64 {
        self.model.now_ns()
    }

    fn sleep(&mut self, length_ns: u64) {
        self.model.idle(length_ns);
    }

    fn begin(&mut self, context: &mut Context<'_>, tasks: &[Task]) -> Result<()> {
        let profile = context.profile;
        if self.fills && profile.writes_file_first() {
            let fill = fill(self, context, None)?;
            context.emit(Event::FillDone { fill })?;
            self.pause(context, profile.rules.interval_ns)?;
        }
        let has_io = tasks.iter().any(|task| matches!(task.work, Work::Io(_)));
        if profile.rules.direct || !has_io || has_file_pages(self.model) {
            return Ok(());
        }
        let text = text!(
            "a model has no page cache: buffered I/O of this profile goes to the device here",
            "モデルにはページキャッシュがありません。このプロファイルがキャッシュ経由で読み書きする分も、ここでは機器まで届きます"
        );
        context.notice(NoticeKind::Other, text)
    }

    fn run_once(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        tell: IntervalTeller<'_>,
    ) -> Result<(u64, u64)> {
        let ran = self.run_workload(context, workload, None, tell)?;
        Ok((ran.write.bytes, ran.elapsed_ns))
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<()> {
        let plan = Plan::plain(None, true);
        self.run_sources(
            context,
            Vec::<Generator>::new(),
            Queues::of_one(1),
            (&plan, false),
            None,
            &mut progress,
        )
        .map(drop)
    }

    fn repeat(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        _prepared: &mut (),
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let repetitions = match &task.work {
            Work::Io(workloads) => match attempt.seeded(workloads).as_slice() {
                [workload] if !workload.waits() => {
                    let (chosen, iodepth) = within_target(workload, |window| {
                        self.run_workload(context, window, None, &mut progress)
                    })?;
                    let recorded = self.run_workload(context, &chosen, Some(attempt), &mut progress)?;
                    vec![Repetition { iodepth, ..attempt.of(recorded) }]
                }
                workloads => self.run_together(context, workloads, attempt)?,
            },
            Work::Positional(step) => self.sampled(context, &Sampling::Positions(step), attempt)?,
            Work::AccessTime(step) => self.sampled(context, &Sampling::Accesses(step), attempt)?,
            Work::Replay(step) => {
                let (_, source) = context.replay_source(&self.facts, step, task.step_index, attempt)?;
                let plan = Plan::plain(None, false);
                let queues = Queues::of_one(step.in_flight());
                let played = self.run_sources(
                    context,
                    vec![source],
                    queues,
                    (&plan, false),
                    Some(attempt),
                    &mut progress,
                )?;
                vec![attempt.of(played)]
            }
            Work::Copy(_) => self.copy(context, attempt)?,
            // No task of this kind fits a model.
            Work::Command(_) | Work::Metadata(_) | Work::Stopwatch(_) => return Err(unprepared()),
        };
        Ok(Repeated { engines: vec![engine()], repetitions })
    }
}

/// Returns a workload for a target without a page cache, in which sync_file_range has no effect.
fn without_page_cache(workload: &Workload) -> Workload {
    let sync = SyncRule {
        every_writes: workload.sync.every_writes.filter(|_| workload.sync.page_range_flags.is_none()),
        ..workload.sync
    };
    workload.clone().with(|access| access.sync = sync)
}

impl<M: Model> Modelled<'_, M> {
    /// Runs a workload once. `attempt` is given if it belongs to a cell. `tell` converts its
    /// intervals into events.
    fn run_workload(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        attempt: Option<&Attempt>,
        tell: IntervalTeller<'_>,
    ) -> Result<Repetition> {
        let workload = &without_page_cache(workload);
        let plan = Plan::of(workload, 1);
        let queues =
            Queues { threads: workload.threads, iodepth: workload.iodepth, o_sync: workload.sync.o_sync };
        let timed_sync = workload.sync.at_end == EndSync::Timed;
        let sources = Generator::for_threads(workload);
        self.run_sources(context, sources, queues, (&plan, timed_sync), attempt, tell)
    }

    fn run_sources(
        &mut self,
        context: &mut Context<'_>,
        sources: Vec<impl Source>,
        queues: Queues,
        (plan, timed_sync): (&Plan, bool),
        attempt: Option<&Attempt>,
        tell: IntervalTeller<'_>,
    ) -> Result<Repetition> {
        let slots = queues.slots();
        let mut device = self.model.device(queues);
        let mut content = Content::new(Data::Zero, 0, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let (sender, intervals) = channel();
        let mut recorder = Recorder::new(Some(sender)).placing(slots);
        let stop = Stop::default();
        let mut source = InTurn {
            sources,
            turn: 0,
            missing: least_operations(plan.time_ns, slots),
            interrupt: context.interrupt,
            intervals,
            look_ns: INTERVAL_NS,
            tell,
            emit: &mut *context.emit,
            failed: None,
        };
        let outcome = match (&mut context.operations, attempt) {
            (Some(list), Some(attempt)) => {
                let start_ns = device.now_ns();
                let place = ListedPlace {
                    cell_index: attempt.cell_index,
                    repetition: attempt.number,
                    recorded_from_ns: start_ns.saturating_add(plan.warm_up_ns),
                };
                let due_ns = std::cell::Cell::default();
                let mut source = Dues { source: &mut source, start_ns, due_ns: &due_ns };
                let mut listed = ListedDevice::new(&mut device, slots, place, &due_ns, &mut **list);
                drive(&mut listed, buffers, &mut source, &mut content, plan, &mut recorder, &stop)
            }
            _ => drive(&mut device, buffers, &mut source, &mut content, plan, &mut recorder, &stop),
        }?;
        let sums = device.take_sums();
        drop(device);
        source.failed.map_or(Ok(()), Err)?;
        context.interrupt.check()?;
        let mut recorded = Recorder::merge(&[recorder]);
        recorded.merge(&outcome.part(timed_sync));
        // One loop drives all threads of the workload, so it does not know which one finished
        // first.
        let account = sums.map(|sums| self.model.account(&sums));
        Ok(Repetition { first_done_ns: None, account, ..recorded })
    }

    /// Runs workloads concurrently and returns the result of each.
    fn run_together(
        &mut self,
        context: &mut Context<'_>,
        workloads: &[Workload],
        attempt: &Attempt,
    ) -> Result<Vec<Repetition>> {
        let workloads = &workloads.iter().map(without_page_cache).collect::<Vec<_>>();
        let (slots, turn) = (JointSource::slots(workloads), JointTurn::default());
        let o_sync = workloads.iter().all(|workload| workload.sync.o_sync);
        let mut device = self.model.device(Queues { threads: 1, iodepth: slots as u32, o_sync });
        let mut content = Content::new(Data::Zero, 0, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let (sender, intervals) = channel();
        let mut observer = JointObserver::of(workloads, &sender, &turn);
        drop(sender);
        let least = |workload: &Workload| least_operations(workload.end.time_ns, workload.iodepth as usize);
        let mut source = InTurn {
            sources: vec![JointSource::of(workloads, least, &turn)],
            turn: 0,
            missing: 0,
            interrupt: context.interrupt,
            intervals,
            look_ns: INTERVAL_NS,
            tell: &mut progress,
            emit: &mut *context.emit,
            failed: None,
        };
        let mut joint = JointDevice::new(&mut device, slots, workloads.len(), &turn);
        let plan = Plan::plain(None, false);
        let stop = Stop::default();
        drive(&mut joint, buffers, &mut source, &mut content, &plan, &mut observer, &stop)?;
        let sums = joint.sums;
        drop(device);
        source.failed.map_or(Ok(()), Err)?;
        context.interrupt.check()?;
        let parts = observer.into_repetitions().into_iter().zip(sums).zip(workloads);
        let repetition = |((recorded, sums), workload): ((Repetition, TimeSums), &Workload)| {
            let account = Some(self.model.account(&sums));
            let started_ns = attempt.started_ns + workload.start_delay_ns;
            Attempt { started_ns, ..*attempt }.of(Repetition { account, ..recorded })
        };
        Ok(parts.map(repetition).collect())
    }

    fn sampled(
        &mut self,
        context: &mut Context<'_>,
        sampling: &Sampling<'_>,
        attempt: &Attempt,
    ) -> Result<Vec<Repetition>> {
        let Self { model, facts, .. } = self;
        let mut content = Content::new(Data::Zero, 0, 0);
        let mut watch = Watch::new(context.interrupt, &mut *context.emit, attempt.cell_index, model.now_ns());
        let tracks = sampling.run(
            &mut model.device(Queues::of_one(1)),
            SampleSpan::of(facts),
            &mut content,
            &mut watch,
        )?;
        let repetition = |mut track: CellSamples| {
            let account = track.sums.take().map(|sums| model.account(&sums));
            Repetition { account, ..track.into_repetition(attempt, &Shared::default()) }
        };
        Ok(tracks.into_iter().map(repetition).collect())
    }
}

/// Returns the notice that a model has no test file because it was omitted.
pub fn unfilled_notice() -> Notice {
    let text = text!(
        "no test file was written first ({NO_FILL}): reads go to the location of data written long ago",
        "テストファイルは事前に書き込んでいません({NO_FILL})。ずっと前に書かれたデータの位置から読み出します"
    );
    Notice::new(NoticeKind::Other, text)
}

fn engine() -> EngineRecord {
    EngineRecord {
        name: RecordedWord::Known(RecordedEngine::Model),
        asked: "model".into(),
        reason: text!(
            "a model in virtual time, not a measurement",
            "仮想時間で動くモデルです。実測ではありません"
        ),
        features: Vec::new(),
        fallbacks: Vec::new(),
        wait: "none".into(),
        pages: "none".into(),
        issuing_threads: 1,
    }
}

/// Returns the minimum number of operations for a time limit. Virtual time costs nothing, and
/// within a short time a slow device would complete so few operations that filling and draining the
/// queue would dominate. After ten turnovers of the queue, this share is a tenth. Time limits of a
/// second and more, as used by tools, are kept except for the few operations needed for a mean.
fn least_operations(time_ns: Option<u64>, slots: usize) -> u64 {
    const TURNS: u64 = 10;
    const FEW: u64 = 32;
    match time_ns {
        Some(time_ns) if time_ns < 1_000_000_000 => FEW.max(TURNS * slots as u64),
        Some(_) => FEW,
        None => 0,
    }
}

/// Combines several sources, which are asked in turn. After the user's interrupt it returns no more
/// operations. It is called continuously, so it also reports progress.
struct InTurn<'a, S> {
    sources: Vec<S>,
    turn: usize,
    /// Operations that must complete before the time limit may end the repetition.
    missing: u64,
    interrupt: &'a Stop,
    /// Completed intervals of the recorder.
    intervals: Receiver<(usize, Interval)>,
    /// When to check for the next of them, in ns.
    look_ns: u64,
    /// Converts an interval into an event.
    tell: IntervalTeller<'a>,
    emit: Emitter<'a>,
    /// The error of an event receiver, which ends the repetition.
    failed: Option<Error>,
}

impl<S> InTurn<'_, S> {
    #[cold]
    fn tell_progress(&mut self, now_ns: u64) {
        self.look_ns = now_ns.saturating_add(INTERVAL_NS);
        for (index, interval) in self.intervals.try_iter() {
            let elapsed_ns = (index as u64 + 1) * INTERVAL_NS;
            if let Err(error) = (self.emit)((self.tell)(elapsed_ns, interval, INTERVAL_NS)) {
                self.failed.get_or_insert(error);
            }
        }
    }
}

impl<S: Source> Source for InTurn<'_, S> {
    fn next(&mut self, now_ns: u64) -> Next {
        if now_ns >= self.look_ns {
            self.tell_progress(now_ns);
        }
        if self.interrupt.is_asked() || self.failed.is_some() {
            return Next::End;
        }
        let mut soonest = Next::End;
        for _ in 0..self.sources.len() {
            let turn = self.turn;
            self.turn = (turn + 1) % self.sources.len();
            match self.sources[turn].next(now_ns) {
                next @ Next::Op { .. } => return next,
                next => soonest = sooner(next, soonest),
            }
        }
        soonest
    }

    #[inline(always)]
    fn ended(&mut self, op: Op, now_ns: u64) {
        self.missing = self.missing.saturating_sub(1);
        self.sources.iter_mut().for_each(|source| source.ended(op, now_ns));
    }

    fn may_end(&mut self) -> bool {
        self.missing == 0 && self.sources.iter_mut().all(Source::may_end)
    }
}
