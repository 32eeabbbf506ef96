//! Real storage as the ground of a run: performs each kind of work, and checks and reports what is
//! necessary before the first task.

use crate::context::{Context, Emitter, IntervalTeller};
use crate::drive::measure::{Engine, measure};
use crate::real::{Real, Settings};
use crate::steps::choose::{Chooser, ChosenIssue};
use crate::steps::command::CommandWork;
use crate::steps::samples::Sampling;
use crate::task::{Attempt, Repeated, unprepared};
use crate::{clock::monotonic_ns, ground::Ground, session::Session, steps::copy::CopyWork, target::Target};
use kurabe_core::mention::{DESTROY_DATA_ON, REPLAY, RW, VERIFY, WRITE_EXISTING};
use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::{ErrorKind, Result, text, workload::Workload};
use kurabe_host::NoiseWatch;
use kurabe_program::Stop;
use std::time::Duration;

impl<'a> Session<'a, Real<'a>> {
    /// Creates a run of a profile on a target. `emit` receives every event, and an error from it
    /// ends the run.
    pub fn new(
        target: &'a mut Target,
        profile: &'a Profile,
        settings: Settings,
        noise: &'a NoiseWatch,
        interrupt: &'a Stop,
        emit: Emitter<'a>,
    ) -> Self {
        let ground = Real { target, settings, noise, chooser: Chooser::default(), traced: None };
        Self::on(ground, profile, interrupt, emit)
    }

    /// Adds one repetition to each cell in which its operations are traced through the kernel on
    /// these devices (major, minor).
    #[must_use]
    pub fn with_kernel_trace(mut self, devices: Option<Vec<(u32, u32)>>) -> Self {
        self.ground.traced = devices;
        self
    }
}

/// State that a task holds from its first repetition to its last.
#[derive(Default)]
pub enum PreparedTask {
    /// No state.
    #[default]
    Nothing,
    /// How the workloads are issued.
    Io(Vec<ChosenIssue>),
    /// The file in memory and the place for copies.
    Copy(CopyWork),
    /// The folder with the files of the programs.
    Command(Box<CommandWork>),
}

impl Ground for Real<'_> {
    type Prepared = PreparedTask;

    fn facts(&self) -> TargetRecord {
        self.target.facts().clone()
    }

    fn narrow(&mut self, span_bytes: u64) {
        self.target.narrow(span_bytes);
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn sleep(&mut self, length_ns: u64) {
        std::thread::sleep(Duration::from_nanos(length_ns));
    }

    fn begin(&mut self, context: &mut Context<'_>, tasks: &[Task]) -> Result<()> {
        self.check_tracing(context)?;
        self.check_verified(tasks)?;
        self.check_copy_room(tasks)?;
        if self.target.facts().kind == TargetKind::Directory && self.target.is_written_first() {
            self.fill(context)?;
        }
        Ok(())
    }

    fn run_once(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        tell: IntervalTeller<'_>,
    ) -> Result<(u64, u64)> {
        let workload = &context.part(workload.clone(), false);
        let issue = self.choose(context, workload)?.issue;
        let open = || self.target.open_for(workload);
        let measured =
            context.watched(tell, |interrupt, live| measure(&open, workload, issue, interrupt, live))?;
        if workload.writes() && !self.target.facts().direct {
            self.write_back(context)?;
        }
        Ok((measured.recorded.write.bytes, measured.recorded.elapsed_ns))
    }

    fn prepare(&mut self, context: &mut Context<'_>, task: &Task) -> Result<PreparedTask> {
        Ok(match &task.work {
            Work::Io(workloads) => {
                let choices = workloads.iter().map(|workload| self.choose(context, workload));
                PreparedTask::Io(choices.collect::<Result<_>>()?)
            }
            Work::Copy(_) => PreparedTask::Copy(self.prepare_copy(context)?),
            Work::Command(step) => PreparedTask::Command(Box::new(self.prepare_command(context, step)?)),
            Work::Replay(_)
            | Work::Positional(_)
            | Work::AccessTime(_)
            | Work::Metadata(_)
            | Work::Stopwatch(_) => PreparedTask::Nothing,
        })
    }

    fn engine(prepared: &PreparedTask) -> Option<Engine> {
        match prepared {
            PreparedTask::Io(choices) => choices.first().map(|choice| choice.issue.engine),
            _ => None,
        }
    }

    fn use_threads(prepared: &mut PreparedTask) {
        if let PreparedTask::Io(choices) = prepared {
            choices.iter_mut().for_each(ChosenIssue::use_threads_as_others);
        }
    }

    fn settle(&mut self, context: &mut Context<'_>, task: &Task) -> Result<()> {
        match task.work {
            Work::Io(_) | Work::Positional(_) | Work::AccessTime(_) | Work::Replay(_) => {
                self.renew_pages(context)?;
                self.drop_cache(context)
            }
            // These steps drop the cache themselves, part by part, and a stopwatch times another
            // computer.
            Work::Copy(_) | Work::Command(_) | Work::Metadata(_) | Work::Stopwatch(_) => Ok(()),
        }
    }

    fn flush(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.flush_caches(context)
    }

    fn repeat(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        prepared: &mut PreparedTask,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        match (&task.work, prepared) {
            (Work::Io(workloads), PreparedTask::Io(choices)) => {
                self.repeat_io(context, workloads, choices, attempt)
            }
            (Work::Positional(step), _) => self.sampled(context, &Sampling::Positions(step), attempt),
            (Work::AccessTime(step), _) => self.sampled(context, &Sampling::Accesses(step), attempt),
            (Work::Copy(step), PreparedTask::Copy(work)) => self.repeat_copy(context, step, work, attempt),
            (Work::Command(step), PreparedTask::Command(work)) => {
                self.repeat_command(context, step, work, attempt)
            }
            (Work::Metadata(step), _) => self.repeat_metadata(context, step, attempt),
            (Work::Stopwatch(step), _) => self.repeat_stopwatch(context, step, attempt),
            (Work::Replay(step), _) => self.repeat_replay(context, step, task.step_index, attempt),
            (Work::Io(_) | Work::Copy(_) | Work::Command(_), _) => Err(unprepared()),
        }
    }

    fn store_written(&mut self, context: &mut Context<'_>, task: &Task) -> Result<()> {
        Real::store_written(self, context, task)
    }

    fn trace(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        prepared: &mut PreparedTask,
        attempt: &Attempt,
    ) -> Result<Option<Repeated>> {
        self.repeat_traced(context, task, prepared, attempt)
    }

    fn traces(&self, task: &Task) -> bool {
        self.traced.is_some() && matches!(task.work, Work::Io(_) | Work::Positional(_) | Work::AccessTime(_))
    }

    fn close(&mut self, context: &mut Context<'_>, prepared: PreparedTask) -> Result<()> {
        match prepared {
            PreparedTask::Command(work) => self.close_command(context, *work),
            _ => Ok(()),
        }
    }
}

impl Real<'_> {
    /// Rejects tasks that can't be verified.
    ///
    /// # Errors
    /// Fails if the target is removed with the run, or if something writes without stamps.
    pub(crate) fn check_verified(&self, tasks: &[Task]) -> Result<()> {
        let target = &self.target;
        if !target.is_verified() {
            return Ok(());
        }
        let stays = matches!(target.facts().kind, TargetKind::File | TargetKind::BlockDevice);
        if !stays && !target.reads_back() {
            return Err(ErrorKind::Usage.error(text!(
                "{VERIFY} needs a target that still exists afterwards, but a test file is removed",
                "{VERIFY} には測定後も残る対象が必要です(テストファイルは消えます)"
            ))
            .remedy(text!(
                "name a block device with {DESTROY_DATA_ON}, or a file with {WRITE_EXISTING}",
                "{DESTROY_DATA_ON} でブロックデバイスを、または {WRITE_EXISTING} でファイルを指定してください"
            )));
        }
        match tasks
            .iter()
            .find(|task| matches!(task.work, Work::Copy(_) | Work::Command(_) | Work::Metadata(_)))
        {
            None => Ok(()),
            Some(Task { label, .. }) => Err(ErrorKind::Usage
                .error(text!(
                    "{label} writes data that cannot be verified",
                    "{label} は独自の方法で書き込むため、検証できません"
                ))
                .remedy(text!(
                    "verify I/O that kurabe issues itself: {RW} randwrite, or {REPLAY} FILE",
                    "検証できるのは kurabe 自身の読み書きです({RW} randwrite、{REPLAY} ファイル)"
                ))),
        }
    }
}
