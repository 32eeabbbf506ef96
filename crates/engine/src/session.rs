//! A run: a profile on a target, from the writing of the test file to the last cell.
//!
//! The model: everything that happens is an event, in order; whoever listens stores, prints or sends it. An error
//! or an interrupt ends the run after the event of the last whole cell.

use crate::buffer::Pages;
use crate::choose::{Choice, Chooser, EngineChoice};
use crate::clock::monotonic_ns;
use crate::device_uring::WaitMode;
use crate::disturbance::Disturbance;
use crate::driver::Stop;
use crate::fit::{plan_cells, writes_left_out};
use crate::measure::{Engine, Issue, Measured, measure};
use crate::platform;
use crate::random::split_mix;
use crate::target::Target;
use kurabe_core::event::Event;
use kurabe_core::profile::{CellPlan, Profile};
use kurabe_core::quantity::{NS_PER_S, format_bytes, format_bytes_decimal, format_time_setting};
use kurabe_core::record::{Cell, EngineRecord, FillRecord, Notice, NoticeKind, Repetition, TargetKind};
use kurabe_core::workload::{Direction, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_host::NoiseWatch;
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

/// Share of the issuing threads' time that kurabe's own code may take before kurabe counts as the limit.
const GENERATOR_BOUND_SHARE: f64 = 0.5;
/// A run under way.
pub struct Session<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) profile: &'a Profile,
    pub(crate) settings: Settings,
    noise: &'a NoiseWatch,
    pub(crate) interrupt: &'a Stop,
    pub(crate) emit: &'a mut dyn FnMut(Event) -> Result<()>,
    pub(crate) chooser: Chooser,
    started_ns: u64,
    told: Vec<NoticeKind>,
    disturbance: Disturbance,
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
        }
    }

    /// Checks the plan, writes the test file and measures every cell.
    ///
    /// # Errors
    /// `Interrupted` when the user stopped it; otherwise whatever went wrong. The cells that were emitted hold.
    pub fn run(mut self) -> Result<()> {
        let cells = plan_cells(self.profile, self.target)?;
        self.say_how()?;
        let fill = match self.target.kind() {
            TargetKind::Directory => Some(self.fill()?),
            _ => None,
        };
        self.tell_writing(&cells, fill)?;
        // The fill may have cut the file, so the spans are taken again.
        for (index, plan) in plan_cells(self.profile, self.target)?.into_iter().enumerate() {
            if index > 0 {
                self.pause(self.profile.rules.interval_ns)?;
            }
            self.measure_cell(index as u32, &plan)?;
        }
        for remark in self.disturbance.on_the_machine() {
            let text = Text {
                en: format!("{} over the whole run", remark.en),
                ja: format!("測定全体: {}", remark.ja),
            };
            self.notice(NoticeKind::Noise, text)?;
        }
        Ok(())
    }

    pub(crate) fn emit(&mut self, event: Event) -> Result<()> {
        (self.emit)(event)
    }

    pub(crate) fn notice(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        self.emit(Event::Notice { notice: Notice { kind, text } })
    }

    fn notice_once(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        if self.told.contains(&kind) {
            return Ok(());
        }
        self.told.push(kind);
        self.notice(kind, text)
    }

    fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.is_asked() { Err(interrupted()) } else { Ok(()) }
    }

    /// Says aloud what the target made different from the plan.
    fn say_how(&mut self) -> Result<()> {
        let writes = self.profile.cells(self.target.span_bytes()).iter().any(|cell| cell.workload.writes());
        if writes && !self.target.is_writable() {
            self.notice(NoticeKind::WritesLeftOut, writes_left_out(self.target.kind()))?;
        }
        let (wanted, span) = (self.profile.rules.size_bytes, self.target.span_bytes());
        if span < wanted {
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
    fn tell_writing(&mut self, cells: &[CellPlan], fill: Option<FillRecord>) -> Result<()> {
        let rules = &self.profile.rules;
        let repetitions = u64::from(rules.runs + rules.discarded_runs);
        let writing_ns = cells
            .iter()
            .filter(|cell| cell.workload.writes() && cell.workload.end.bytes.is_none())
            .filter_map(|cell| cell.workload.end.time_ns)
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

    fn measure_cell(&mut self, index: u32, plan: &CellPlan) -> Result<()> {
        let rules = self.profile.rules.clone();
        let Settings { engine, wait, pages, .. } = self.settings;
        let issue = Issue { engine: Engine::Uring, wait, pages };
        let choice = self.chooser.choose(engine, self.target, &plan.workload, issue, self.interrupt)?;
        let issue = choice.issue;
        let count = rules.discarded_runs + rules.runs;
        let mut cell: Option<Cell> = None;
        let mut disturbance = Disturbance::default();
        let mut ending = Ok(());
        for number in 0..count {
            if let Err(error) = self.check_interrupt().and_then(|()| self.drop_cache()) {
                ending = Err(error);
                break;
            }
            let seed = if rules.same_offsets {
                rules.seed
            } else {
                split_mix(&mut (rules.seed ^ (u64::from(index) << 40) ^ (u64::from(number) << 20)))
            };
            let workload = Workload { seed, ..plan.workload.clone() };
            let discarded = number < rules.discarded_runs;
            self.emit(Event::RepetitionStarted {
                cell_index: index,
                label: plan.label.clone(),
                direction: plan.direction,
                repetition_index: number,
                repetition_count: count,
                discarded,
            })?;
            let started_ns = monotonic_ns() - self.started_ns;
            match self.repeat(&workload, issue, number, discarded, started_ns) {
                Ok((repetition, measured)) => {
                    self.emit(Event::RepetitionDone {
                        cell_index: index,
                        repetition: Box::new(repetition.clone()),
                    })?;
                    self.remark(plan, &repetition)?;
                    let own_bytes = repetition.bytes(Direction::Mix);
                    for sum in [&mut disturbance, &mut self.disturbance] {
                        sum.add(&repetition.noise, own_bytes, repetition.elapsed_ns);
                    }
                    cell.get_or_insert_with(|| new_cell(index, plan, engine, &choice, &measured))
                        .repetitions
                        .push(repetition);
                }
                Err(error) => {
                    ending = Err(error);
                    break;
                }
            }
        }
        // A cell of which at least one counted repetition is whole is kept, whatever ended it.
        if let Some(cell) = cell.filter(|cell| cell.counted().next().is_some()) {
            for fallback in &cell.engine.fallbacks {
                self.notice_once(
                    NoticeKind::EngineFallback,
                    text!(
                        "the engine goes without: {fallback}",
                        "エンジンの機能が一部使えません: {fallback}"
                    ),
                )?;
            }
            self.emit(Event::CellDone { cell: Box::new(cell) })?;
        }
        let (label, word) = (&plan.label, plan.direction.word());
        for remark in disturbance.on_the_device() {
            let text = Text {
                en: format!("{} during {word} {label}", remark.en),
                ja: format!("{label} の{}中に、{}", direction_ja(plan.direction), remark.ja),
            };
            self.notice(NoticeKind::Noise, text)?;
        }
        ending
    }

    fn repeat(
        &mut self,
        workload: &Workload,
        issue: Issue,
        index: u32,
        discarded: bool,
        started_ns: u64,
    ) -> Result<(Repetition, Measured)> {
        let target = &*self.target;
        let open = || target.open_file(workload.writes(), workload.sync.o_sync);
        let (mut failed, emit) = (None, &mut *self.emit);
        let mut live = |elapsed_ns, interval, interval_ns| {
            if failed.is_none() {
                failed = emit(Event::Progress { elapsed_ns, interval, interval_ns }).err();
            }
        };
        let mark = self.noise.start();
        let measured = measure(&open, workload, issue, self.interrupt, &mut live)?;
        let noise = self.noise.finish(mark);
        if let Some(error) = failed {
            return Err(error);
        }
        if measured.interrupted {
            return Err(interrupted());
        }
        let thread_time_ns = measured.elapsed_ns as f64 * f64::from(measured.issuing_threads.max(1));
        let generator_share =
            if thread_time_ns > 0.0 { measured.cpu.user_ns as f64 / thread_time_ns } else { 0.0 };
        let recorded = measured.recorded.clone();
        let repetition = Repetition {
            index,
            discarded,
            seed: workload.seed,
            started_ns,
            elapsed_ns: measured.elapsed_ns,
            read: recorded.read,
            write: recorded.write,
            sync: recorded.sync,
            end_sync_ns: measured.end_sync_ns,
            unserved_operations: measured.unserved,
            series: recorded.series,
            stalls: recorded.stalls,
            stall_count: recorded.stall_count,
            stall_threshold_ns: recorded.stall_threshold_ns,
            cpu: measured.cpu,
            generator_share: generator_share.min(1.0),
            generator_bound: generator_share > GENERATOR_BOUND_SHARE,
            noise,
        };
        Ok((repetition, measured))
    }

    /// Says what limited a repetition, if it was not the storage.
    fn remark(&mut self, plan: &CellPlan, repetition: &Repetition) -> Result<()> {
        let (label, word) = (&plan.label, plan.direction.word());
        if repetition.generator_bound {
            self.notice_once(
                NoticeKind::GeneratorBound,
                text!(
                    "kurabe itself was the limit in {label} {word}: the storage may be faster (more --threads can show it)",
                    "{label} では kurabe 自身が上限でした。ストレージはもっと速いかもしれません(--threads を増やすと確かめられます)"
                ),
            )?;
        }
        if repetition.unserved_operations > 0 {
            let (unserved, done) =
                (repetition.unserved_operations, repetition.read.completed + repetition.write.completed);
            self.notice(
                NoticeKind::Other,
                text!(
                    "{label} {word}: the device did not keep up with the rate; {unserved} operations were due and not issued, {done} were done",
                    "{label}: 指定の頻度に追いつけませんでした(期限までに発行できなかった操作 {unserved}、完了した操作 {done})"
                ),
            )?;
        }
        Ok(())
    }

    /// Makes buffered repetitions start cold, unless the cache is wanted.
    fn drop_cache(&mut self) -> Result<()> {
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

fn direction_ja(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "読み出し",
        Direction::Write => "書き込み",
        Direction::Mix => "混合",
    }
}

fn new_cell(index: u32, plan: &CellPlan, asked: EngineChoice, choice: &Choice, measured: &Measured) -> Cell {
    Cell {
        index,
        step_index: plan.step_index as u32,
        label: plan.label.clone(),
        direction: plan.direction,
        workload: plan.workload.clone(),
        engine: EngineRecord {
            name: choice.issue.engine.word().to_owned(),
            asked: asked.word().to_owned(),
            reason: choice.reason.clone(),
            features: measured.facts.features.clone(),
            fallbacks: choice.fallbacks.iter().chain(&measured.facts.fallbacks).cloned().collect(),
            wait: measured.facts.wait.word().to_owned(),
            pages: measured.facts.pages.word().to_owned(),
            issuing_threads: measured.issuing_threads,
        },
        repetitions: Vec::new(),
    }
}

pub(crate) fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, text!("stopped by the user", "中断されました"))
}
