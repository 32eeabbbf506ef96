//! A run: a profile on a target, from the writing of the test file to the last cell.
//!
//! The model: everything that happens is an event, in order; whoever listens stores, prints or sends it. An error
//! or an interrupt ends the run after the event of the last whole cell.

use crate::buffer::Pages;
use crate::choose::{Chooser, EngineChoice};
use crate::clock::monotonic_ns;
use crate::device_uring::WaitMode;
use crate::disturbance::Disturbance;
use crate::driver::Stop;
use crate::fit::{plan_tasks, unfit, writes_left_out};
use crate::measure::Measured;
use crate::platform;
use crate::target::Target;
use crate::task::Ongoing;
use kurabe_core::event::Event;
use kurabe_core::profile::{Profile, Rounds, Task};
use kurabe_core::quantity::{NS_PER_S, format_bytes, format_bytes_decimal, format_time_setting};
use kurabe_core::record::{FillRecord, Interval, Notice, NoticeKind, TargetKind};
use kurabe_core::trace::Trace;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_host::NoiseWatch;
use std::sync::Arc;
use std::time::Duration;

/// What becomes of the page cache between repetitions of buffered I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// Dropped: every repetition starts cold.
    Drop,
    /// Kept: the cache is part of what is measured.
    Keep,
}

/// How operations are issued, as far as the user decides it.
#[derive(Clone, Copy, Debug)]
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

/// A run under way.
pub struct Session<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) profile: &'a Profile,
    pub(crate) settings: Settings,
    pub(crate) noise: &'a NoiseWatch,
    pub(crate) interrupt: &'a Stop,
    pub(crate) emit: &'a mut dyn FnMut(Event) -> Result<()>,
    pub(crate) chooser: Chooser,
    pub(crate) started_ns: u64,
    told: Vec<NoticeKind>,
    pub(crate) disturbance: Disturbance,
    /// The traces of the profile's replay steps, by the step's place.
    pub(crate) traces: Vec<Option<Arc<Trace>>>,
}

impl<'a> Session<'a> {
    /// A run of a profile on a target. `emit` hears of every event; an error of its own ends the run.
    pub fn new(
        target: &'a mut Target,
        profile: &'a Profile,
        settings: Settings,
        noise: &'a NoiseWatch,
        interrupt: &'a Stop,
        emit: &'a mut dyn FnMut(Event) -> Result<()>,
    ) -> Self {
        Self {
            target,
            profile,
            settings,
            noise,
            interrupt,
            emit,
            chooser: Chooser::default(),
            started_ns: monotonic_ns(),
            told: Vec::new(),
            disturbance: Disturbance::default(),
            traces: Vec::new(),
        }
    }

    /// Gives the traces of the profile's replay steps: one entry for each step, `None` for the others.
    #[must_use]
    pub fn with_traces(mut self, traces: Vec<Option<Arc<Trace>>>) -> Self {
        self.traces = traces;
        self
    }

    /// Checks the plan, writes the test file and measures every cell.
    ///
    /// # Errors
    /// `Interrupted` when the user stopped it; otherwise whatever went wrong. The cells that were emitted hold.
    pub fn run(mut self) -> Result<()> {
        let tasks = plan_tasks(self.profile, self.target)?;
        self.check_copy_room(&tasks)?;
        self.say_how()?;
        let fill = match self.target.kind() {
            TargetKind::Directory if self.target.has_test_file() => Some(self.fill()?),
            _ => None,
        };
        self.tell_writing(&tasks, fill)?;
        // The fill may have cut the file, so the spans are taken again.
        let tasks = plan_tasks(self.profile, self.target)?;
        self.precondition()?;
        let mut first_cell = 0;
        let mut ongoing: Vec<Ongoing> = Vec::new();
        for task in tasks {
            let cells = task.cells.len() as u32;
            ongoing.push(Ongoing::new(task, first_cell));
            first_cell += cells;
        }
        match &self.profile.rounds {
            None => self.one_by_one(ongoing)?,
            Some(rounds) => self.in_rounds(rounds, ongoing)?,
        }
        for remark in self.disturbance.on_the_machine() {
            let text = Text {
                en: format!("{} over the whole run", remark.en),
                ja: format!("測定全体を通して、{}", remark.ja),
            };
            self.notice(NoticeKind::Noise, text)?;
        }
        Ok(())
    }

    /// All repetitions of a task, then the next task.
    fn one_by_one(&mut self, tasks: Vec<Ongoing>) -> Result<()> {
        let count = self.profile.repetitions();
        for (index, mut ongoing) in tasks.into_iter().enumerate() {
            if index > 0 {
                self.pause(self.profile.rules.interval_ns)?;
            }
            let mut ending = self.prepare(&mut ongoing);
            for number in 0..count {
                if ending.is_ok() {
                    ending = self.repeat(&mut ongoing, number, count);
                }
            }
            ending.and(self.close(ongoing))?;
        }
        Ok(())
    }

    /// One repetition of every task, again and again, until the device is steady.
    fn in_rounds(&mut self, rounds: &Rounds, mut tasks: Vec<Ongoing>) -> Result<()> {
        let mut ending = Ok(());
        for ongoing in &mut tasks {
            ending = ending.and_then(|()| self.prepare(ongoing));
        }
        let tell = rounds.tracked_cells.iter().all(|tracked| tasks.iter().any(|task| task.has(tracked)));
        // Without the cells that tell when to end, more rounds than are counted would be for nothing.
        let most = if tell { rounds.most } else { rounds.window };
        let mut steady = false;
        for round in 0..most {
            for ongoing in &mut tasks {
                ending = ending.and_then(|()| self.repeat(ongoing, round, most));
                ending = ending.and_then(|()| self.keep_so_far(ongoing));
            }
            if ending.is_err() {
                break;
            }
            match self.round_done(rounds, &tasks, round, most) {
                Ok(is_steady) => steady = is_steady,
                Err(error) => ending = Err(error),
            }
            if steady || ending.is_err() {
                break;
            }
        }
        if !steady && ending.is_ok() {
            ending = self.notice(NoticeKind::Other, unsteady(tell, most, rounds.window));
        }
        for mut ongoing in tasks {
            ongoing.count_last(rounds.window);
            ending = ending.and(self.close(ongoing));
        }
        ending
    }

    /// Tells how a round ended, and whether the device is steady.
    fn round_done(
        &mut self,
        rounds: &Rounds,
        tasks: &[Ongoing],
        round_index: u32,
        round_count: u32,
    ) -> Result<bool> {
        let windows: Vec<_> = rounds
            .tracked_cells
            .iter()
            .map(|tracked| tasks.iter().find_map(|ongoing| ongoing.tracked(tracked, rounds)))
            .map(|values| rounds.over(&values?))
            .collect();
        let largest = |percent: fn(&kurabe_core::steady::SteadyWindow) -> f64| {
            windows.iter().flatten().map(percent).reduce(f64::max)
        };
        let steady =
            !windows.is_empty() && windows.iter().all(|window| window.is_some_and(|window| window.steady));
        self.emit(Event::RoundDone {
            round_index,
            round_count,
            steady,
            excursion_percent: largest(|window| window.excursion_percent),
            slope_percent: largest(|window| window.slope_percent),
        })?;
        Ok(steady)
    }

    pub(crate) fn emit(&mut self, event: Event) -> Result<()> {
        (self.emit)(event)
    }

    pub(crate) fn notice(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        self.emit(Event::Notice { notice: Notice { kind, text } })
    }

    pub(crate) fn notice_once(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        if self.told.contains(&kind) {
            return Ok(());
        }
        self.told.push(kind);
        self.notice(kind, text)
    }

    /// Runs a measurement on the target and tells how it goes on. A listener's error, and the user's interrupt, are
    /// its error.
    pub(crate) fn watched(
        &mut self,
        mut tell: impl FnMut(u64, Interval, u64) -> Event,
        run: impl FnOnce(&Target, &Stop, &mut dyn FnMut(u64, Interval, u64)) -> Result<Measured>,
    ) -> Result<Measured> {
        let (mut failed, emit) = (None, &mut *self.emit);
        let mut live = |elapsed_ns, interval, interval_ns| {
            if failed.is_none() {
                failed = emit(tell(elapsed_ns, interval, interval_ns)).err();
            }
        };
        let measured = run(self.target, self.interrupt, &mut live)?;
        match failed {
            Some(error) => Err(error),
            None if measured.interrupted => Err(interrupted()),
            None => Ok(measured),
        }
    }

    pub(crate) fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.is_asked() { Err(interrupted()) } else { Ok(()) }
    }

    /// Says aloud what the target made different from the plan.
    fn say_how(&mut self) -> Result<()> {
        let writes = self.profile.tasks(self.target.span_bytes()).iter().any(Task::writes);
        if writes && !self.target.is_writable() {
            self.notice(NoticeKind::WritesLeftOut, writes_left_out(self.target.kind()))?;
        }
        let mut told: Vec<Text> = Vec::new();
        for Text { en, ja } in unfit(self.profile, self.target) {
            let text = Text { en: format!("left out: {en}"), ja: format!("測らない項目: {ja}") };
            // Reads and writes of one step do not fit for one reason.
            if !told.contains(&text) {
                told.push(text.clone());
                self.notice(NoticeKind::Other, text)?;
            }
        }
        let (wanted, span) = (self.profile.rules.size_bytes, self.target.span_bytes());
        let all = self.profile.rules.whole_device && self.target.kind() != TargetKind::Directory;
        if span < wanted && !all && self.profile.needs_span() {
            self.notice(
                NoticeKind::SpanCut,
                text!(
                    "the target has {}, less than the profile's {}: all of it is used",
                    "対象は {} で、プロファイルの {} より小さいため、全体を使います",
                    format_bytes(span),
                    format_bytes(wanted)
                ),
            )?;
        }
        Ok(())
    }

    /// Says how much the write cells are going to write.
    fn tell_writing(&mut self, tasks: &[Task], fill: Option<FillRecord>) -> Result<()> {
        let repetitions = u64::from(self.profile.repetitions());
        let writing_ns = tasks
            .iter()
            .filter_map(Task::workload)
            .filter(|workload| workload.writes() && workload.end.bytes.is_none())
            .filter_map(|workload| workload.end.time_ns)
            .fold(0u64, |sum, time_ns| sum.saturating_add(time_ns.saturating_mul(repetitions)));
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

    /// Makes buffered repetitions start cold, unless the cache is wanted.
    pub(crate) fn drop_cache(&mut self) -> Result<()> {
        if self.target.is_direct() || self.target.kind() == TargetKind::CharacterDevice {
            return Ok(());
        }
        if self.settings.cache == CachePolicy::Keep {
            return self.notice_once(
                NoticeKind::CacheDrop,
                text!(
                    "the page cache is kept (--cache keep): figures include memory",
                    "ページキャッシュを残しています(--cache keep)。結果にはメモリーの速さが含まれます"
                ),
            );
        }
        let file = self.target.open_file(self.target.is_writable(), false)?;
        if self.target.is_writable() {
            file.sync_all().map_err(|error| {
                Error::os(
                    text!("cannot write the page cache back", "ページキャッシュを書き戻せません"),
                    &error,
                )
            })?;
        }
        let dropped = platform::drop_page_cache();
        let forgotten = platform::forget_cached(&file);
        self.notice_once(
            NoticeKind::CacheDrop,
            match (dropped, forgotten) {
                (Ok(()), _) => text!(
                    "the page cache is dropped before every repetition",
                    "各回の前にページキャッシュを破棄します"
                ),
                (Err(error), Ok(())) => text!(
                    "dropping the page cache is not allowed ({error}); posix_fadvise forgets the file's pages instead",
                    "ページキャッシュ全体の破棄は許可されていません({error})。代わりに posix_fadvise でこのファイルの分を破棄します"
                ),
                (Err(error), Err(advice)) => text!(
                    "the page cache cannot be dropped ({error}; posix_fadvise: {advice}): figures include memory",
                    "ページキャッシュを破棄できません({error}、posix_fadvise: {advice})。結果にはメモリーの速さが含まれます"
                ),
            },
        )
    }

    fn pause(&mut self, length_ns: u64) -> Result<()> {
        const STEP_NS: u64 = 100_000_000;
        if length_ns == 0 {
            return self.check_interrupt();
        }
        self.emit(Event::Pause { length_ns })?;
        let end_ns = monotonic_ns() + length_ns;
        loop {
            self.check_interrupt()?;
            let left_ns = end_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_nanos(left_ns.min(STEP_NS)));
        }
    }
}

/// Why the figures may not be those of a steady device.
fn unsteady(cells_tell: bool, most: u32, window: u32) -> Text {
    if cells_tell {
        text!(
            "no steady state within {most} rounds: the figures are of the last {window} and may still change",
            "{most} ラウンドでは定常状態に達しませんでした。値は最後の {window} ラウンドのもので、まだ変わる可能性があります"
        )
    } else {
        text!(
            "whether the device is steady cannot be told, because cells that tell it are left out: the figures are of {window} rounds",
            "定常状態かどうかを示す項目を測れないため、判定できません。値は {window} ラウンドのものです"
        )
    }
}

/// How a measurement that shows as a repetition goes on.
pub(crate) fn progress(elapsed_ns: u64, interval: Interval, interval_ns: u64) -> Event {
    Event::Progress { elapsed_ns, interval, interval_ns }
}

pub(crate) fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, text!("stopped by the user", "中断されました"))
}
