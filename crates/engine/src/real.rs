//! Real files and devices, in real time.

use crate::clock::monotonic_ns;
use crate::drive::buffer::Pages;
use crate::drive::device_uring::WaitMode;
use crate::drive::measure::{Engine, MeasuredRepetition, measure};
use crate::ground::Ground;
use crate::session::{Session, progress};
use crate::steps::choose::{Chooser, ChosenIssue, EngineChoice};
use crate::steps::command::CommandWork;
use crate::steps::copy::CopyWork;
use crate::target::Target;
use crate::task::{Attempt, Repeated, unprepared};
use kurabe_core::event::Event;
use kurabe_core::profile::{PlannedWrites, Profile, Task, Work};
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal, format_time_setting};
use kurabe_core::record::{FillRecord, Interval, NoticeKind, TargetKind, TargetRecord};
use kurabe_core::workload::Workload;
use kurabe_core::{Result, text};
use kurabe_host::NoiseWatch;
use kurabe_program::{Stop, interrupted};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What becomes of the page cache between repetitions of buffered I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// Dropped: every repetition starts cold.
    #[default]
    Drop,
    /// Kept: the cache is part of what is measured.
    Keep,
}

/// How operations are issued, as far as the user decides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Engine.
    pub engine: EngineChoice,
    /// How completions are awaited.
    pub wait: WaitMode,
    /// Pages under the buffers.
    pub pages: Pages,
    /// The page cache.
    pub cache: CachePolicy,
}

/// A target of files or a device, and how operations reach it.
pub struct Real<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) settings: Settings,
    pub(crate) noise: &'a NoiseWatch,
    pub(crate) chooser: Chooser,
    /// The devices (major, minor) on which operations are traced once more, if that is wanted and works.
    pub(crate) traced: Option<Vec<(u32, u32)>>,
}

/// What a task holds from its first repetition to its last.
#[derive(Default)]
pub enum PreparedTask {
    /// Nothing.
    #[default]
    Nothing,
    /// How a workload is issued.
    Io(ChosenIssue),
    /// The memory beside the target.
    Copy(CopyWork),
    /// The folder with the files that programs work on.
    Command(Box<CommandWork>),
}

impl Ground for Real<'_> {
    type Prepared = PreparedTask;

    fn facts(&self) -> TargetRecord {
        self.target.record()
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

    fn begin(session: &mut Session<'_, Self>, tasks: &[Task]) -> Result<()> {
        session.check_tracing()?;
        session.check_verified(tasks)?;
        session.check_copy_room(tasks)?;
        let fill = match session.ground.target.kind() {
            TargetKind::Directory if session.ground.target.test_file().is_some() => Some(session.fill()?),
            _ => None,
        };
        session.tell_writing(tasks, fill)
    }

    fn run_once(session: &mut Session<'_, Self>, workload: &Workload) -> Result<(u64, u64)> {
        let choice = session.choose(workload)?;
        let measured = session.watched(progress, |target, interrupt, live| {
            let open = || target.open_lane(workload.writes(), workload.sync.o_sync);
            measure(&open, workload, choice.issue, interrupt, live)
        })?;
        Ok((measured.recorded.write.bytes, measured.recorded.elapsed_ns))
    }

    fn prepare(session: &mut Session<'_, Self>, task: &Task) -> Result<PreparedTask> {
        Ok(match &task.work {
            Work::Io(workload) => PreparedTask::Io(session.choose(workload)?),
            Work::Copy(step) => PreparedTask::Copy(session.prepare_copy(step)?),
            Work::Command(step) => PreparedTask::Command(Box::new(session.prepare_command(step)?)),
            Work::Replay(_) | Work::Positional(_) | Work::AccessTime(_) => PreparedTask::Nothing,
        })
    }

    fn engine(prepared: &PreparedTask) -> Option<Engine> {
        match prepared {
            PreparedTask::Io(choice) => Some(choice.issue.engine),
            _ => None,
        }
    }

    fn use_threads(prepared: &mut PreparedTask) {
        if let PreparedTask::Io(choice) = prepared {
            choice.use_threads_as_others();
        }
    }

    fn settle(session: &mut Session<'_, Self>, task: &Task) -> Result<()> {
        match task.work {
            Work::Io(_) | Work::Positional(_) | Work::AccessTime(_) | Work::Replay(_) => session.drop_cache(),
            // These see to it themselves, part by part.
            Work::Copy(_) | Work::Command(_) => Ok(()),
        }
    }

    fn repeat(
        session: &mut Session<'_, Self>,
        task: &Task,
        prepared: &mut PreparedTask,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        match (&task.work, prepared) {
            (Work::Io(workload), PreparedTask::Io(choice)) => session.repeat_io(workload, choice, attempt),
            (Work::Positional(step), _) => session.repeat_positional(step, attempt),
            (Work::AccessTime(step), _) => session.repeat_access_time(step, attempt),
            (Work::Copy(step), PreparedTask::Copy(work)) => session.repeat_copy(step, work, attempt),
            (Work::Command(step), PreparedTask::Command(work)) => session.repeat_command(step, work, attempt),
            (Work::Replay(step), _) => session.repeat_replay(step, task.step_index, attempt),
            (Work::Io(_) | Work::Copy(_) | Work::Command(_), _) => Err(unprepared()),
        }
    }

    fn trace(
        session: &mut Session<'_, Self>,
        task: &Task,
        prepared: &mut PreparedTask,
        attempt: &Attempt,
    ) -> Result<Option<Repeated>> {
        session.repeat_traced(task, prepared, attempt)
    }

    fn traces(&self, task: &Task) -> bool {
        self.traced.is_some() && matches!(task.work, Work::Io(_) | Work::Positional(_) | Work::AccessTime(_))
    }

    fn close(session: &mut Session<'_, Self>, task: &Task, prepared: PreparedTask) -> Result<()> {
        match (&task.work, prepared) {
            (Work::Command(_), PreparedTask::Command(work)) => session.close_command(*work),
            _ => Ok(()),
        }
    }
}

impl<'a> Session<'a, Real<'a>> {
    /// A run of a profile on a target. `emit` hears of every event; an error of its own ends the run.
    pub fn new(
        target: &'a mut Target,
        profile: &'a Profile,
        settings: Settings,
        noise: &'a NoiseWatch,
        interrupt: &'a Stop,
        emit: &'a mut dyn FnMut(Event) -> Result<()>,
    ) -> Self {
        let ground = Real { target, settings, noise, chooser: Chooser::default(), traced: None };
        Self::on(ground, profile, interrupt, emit)
    }
}

impl Session<'_, Real<'_>> {
    /// Runs a measurement on the target and tells how it goes on. A listener's error, and the user's interrupt, are
    /// its error.
    pub(crate) fn watched(
        &mut self,
        mut tell: impl FnMut(u64, Interval, u64) -> Event,
        run: impl FnOnce(&Target, &Stop, &mut dyn FnMut(u64, Interval, u64)) -> Result<MeasuredRepetition>,
    ) -> Result<MeasuredRepetition> {
        let (mut failed, emit) = (None, &mut *self.emit);
        let mut live = |elapsed_ns, interval, interval_ns| {
            if failed.is_none() {
                failed = emit(tell(elapsed_ns, interval, interval_ns)).err();
            }
        };
        let measured = run(self.ground.target, self.interrupt, &mut live)?;
        match failed {
            Some(error) => Err(error),
            None if measured.interrupted => Err(interrupted()),
            None => Ok(measured),
        }
    }

    /// Says how much the write cells are going to write.
    fn tell_writing(&mut self, tasks: &[Task], fill: Option<FillRecord>) -> Result<()> {
        let once = tasks.iter().map(|task| task.planned_writes(self.ground.target.span_bytes()));
        let writing_ns =
            once.fold(PlannedWrites::default(), PlannedWrites::and).times(self.profile.repetitions()).time_ns;
        if writing_ns == 0 {
            return Ok(());
        }
        let time = format_time_setting(writing_ns.checked_next_multiple_of(NS_PER_S).unwrap_or(writing_ns));
        let text = match fill.filter(|fill| fill.elapsed_ns > 0) {
            Some(fill) => {
                let rate = fill.written_bytes as f64 / fill.elapsed_ns as f64;
                let wear = format_bytes_decimal((rate * writing_ns as f64) as u64);
                text!(
                    "write cells take {time} in all: about {wear} at the rate at which the test file was written",
                    "書き込みの測定は合計 {time} です。テストファイルと同じ速さなら約 {wear} を書き込みます"
                )
            }
            None => text!("write cells take {time} in all", "書き込みの測定は合計 {time} です"),
        };
        self.notice(NoticeKind::Other, text)
    }
}
