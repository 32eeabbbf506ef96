//! One task of a run: what it needs before its first repetition, its repetitions, and the cells that it comes to.
//!
//! The model: every kind of work gives, for one repetition, one result for each of the task's cells. All that is the
//! same for all kinds (events, seeds, noise, remarks, what is kept when it stops in the middle) is here; what a kind
//! does is in its own file.

use crate::disturbance::NoiseSum;
use crate::ground::Ground;
use crate::session::Session;
use kurabe_core::event::Event;
use kurabe_core::profile::{Rounds, Task, TaskCell, TrackedCell, Work};
use kurabe_core::quantity::format_time_setting;
use kurabe_core::random::split_mix;
use kurabe_core::record::{Cell, EngineRecord, NoticeKind, Repetition};
use kurabe_core::workload::{Direction, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, text};

/// A task under way.
pub(crate) struct Ongoing<P> {
    pub(crate) task: Task,
    pub(crate) prepared: P,
    first_cell: u32,
    cells: Vec<Cell>,
    disturbance: NoiseSum,
}

/// One repetition to be done.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// Place of its first cell in the run.
    pub(crate) cell_index: u32,
    /// Its number, from 0.
    pub(crate) number: u32,
    /// Whether it will be left out of the figure.
    pub(crate) discarded: bool,
    /// Its seed.
    pub(crate) seed: u64,
    /// Its start, from the start of the run.
    pub(crate) started_ns: u64,
    /// Its place in the order that several targets share.
    pub(crate) turn: Option<u32>,
}

/// One repetition done.
pub struct Repeated {
    /// How operations reached the kernel, if kurabe issued them.
    pub(crate) engine: Option<EngineRecord>,
    /// One for each cell of the task.
    pub(crate) repetitions: Vec<Repetition>,
}

impl Attempt {
    /// What was recorded, as this repetition.
    pub(crate) fn of(&self, recorded: Repetition) -> Repetition {
        Repetition {
            index: self.number,
            discarded: self.discarded,
            seed: self.seed,
            started_ns: self.started_ns,
            turn: self.turn,
            ..recorded
        }
    }
}

impl<P: Default> Ongoing<P> {
    /// A task whose first cell has this place in the run.
    pub(crate) fn new(task: Task, first_cell: u32) -> Self {
        Self { task, prepared: P::default(), first_cell, cells: Vec::new(), disturbance: NoiseSum::default() }
    }

    /// Leaves only the last `window` repetitions in the figures.
    pub(crate) fn count_last(&mut self, window: u32) {
        for cell in &mut self.cells {
            let before = cell.repetitions.len().saturating_sub(window as usize);
            for (index, repetition) in cell.repetitions.iter_mut().enumerate() {
                repetition.discarded = index < before;
            }
        }
    }

    /// Whether a tracked cell is one of this task's.
    pub(crate) fn has(&self, tracked: &TrackedCell) -> bool {
        let direction = Some(tracked.direction);
        self.task.cells.iter().any(|cell| cell.label == tracked.label && cell.direction == direction)
    }

    /// The figures of all rounds of a tracked cell, if it is one of this task's.
    pub(crate) fn tracked(&self, tracked: &TrackedCell, rounds: &Rounds) -> Option<Vec<f64>> {
        let direction = tracked.direction;
        let cell = self
            .cells
            .iter()
            .find(|cell| cell.label == tracked.label && cell.direction == Some(direction))?;
        cell.repetitions.iter().map(|repetition| rounds.tracked_value(repetition, direction)).collect()
    }

    /// Repetitions so far.
    pub(crate) fn repetitions(&self) -> u32 {
        self.cells.first().map_or(0, |cell| cell.repetitions.len() as u32)
    }

    fn add(&mut self, done: Repeated) {
        if self.cells.is_empty() {
            let workload = self.task.workload();
            self.cells = (self.first_cell..)
                .zip(&self.task.cells)
                .map(|(index, cell)| {
                    new_cell(index, self.task.step_index, cell, workload.cloned(), done.engine.clone())
                })
                .collect();
        }
        for (cell, repetition) in self.cells.iter_mut().zip(done.repetitions) {
            cell.repetitions.push(repetition);
        }
    }
}

fn new_cell(
    index: u32,
    step_index: usize,
    cell: &TaskCell,
    workload: Option<Workload>,
    engine: Option<EngineRecord>,
) -> Cell {
    Cell {
        index,
        step_index: step_index as u32,
        part: cell.part.clone(),
        label: cell.label.clone(),
        direction: cell.direction,
        measure: cell.measure,
        workload,
        engine,
        repetitions: Vec::new(),
        imported: None,
    }
}

impl<G: Ground> Session<'_, G> {
    /// Does what is needed once before the first repetition.
    pub(crate) fn prepare(&mut self, ongoing: &mut Ongoing<G::Prepared>) -> Result<()> {
        if matches!(ongoing.task.work, Work::Replay(_)) {
            let direction = self.trace_direction(ongoing.task.step_index);
            for cell in &mut ongoing.task.cells {
                cell.direction = direction;
            }
        }
        ongoing.prepared = G::prepare(self, &ongoing.task)?;
        Ok(())
    }

    /// One repetition of a task; `turn` is its place in the order that several targets share.
    pub(crate) fn repeat(
        &mut self,
        ongoing: &mut Ongoing<G::Prepared>,
        number: u32,
        count: u32,
        turn: Option<u32>,
    ) -> Result<()> {
        self.check_interrupt()?;
        let rules = &self.profile.rules;
        let (cell_index, task) = (ongoing.first_cell, &ongoing.task);
        let seed = if rules.same_offsets {
            rules.seed
        } else {
            split_mix(&mut (rules.seed ^ (u64::from(cell_index) << 40) ^ (u64::from(number) << 20)))
        };
        let discarded = self.profile.rounds.is_none() && number < rules.discarded_runs;
        G::settle(self, task)?;
        self.warm_up(task)?;
        self.emit(Event::RepetitionStarted {
            cell_index,
            label: task.label.clone(),
            // Several cells are measured at once: no direction is that of all.
            direction: task.direction().filter(|_| task.cells.len() == 1),
            repetition_index: number,
            repetition_count: count,
            discarded,
        })?;
        let started_ns = self.ground.now_ns() - self.started_ns;
        let attempt = Attempt { cell_index, number, discarded, seed, started_ns, turn };
        let done = G::repeat(self, task, &mut ongoing.prepared, &attempt)?;
        self.take_in(ongoing, done)?;
        for repetition in ongoing.cells.iter().filter_map(|cell| cell.repetitions.last()) {
            self.remark(&ongoing.task, repetition)?;
            let own_bytes = repetition.bytes(Direction::Mix);
            for sum in [&mut ongoing.disturbance, &mut self.disturbance] {
                sum.add(&repetition.noise, own_bytes, repetition.elapsed_ns);
            }
        }
        Ok(())
    }

    /// Adds a repetition to its cells and tells it: a cell that could not be told still ends with all its repetitions.
    fn take_in(&mut self, ongoing: &mut Ongoing<G::Prepared>, done: Repeated) -> Result<()> {
        ongoing.add(done);
        for cell in &ongoing.cells {
            let Some((repetition, before)) = cell.repetitions.split_last() else { continue };
            if before.is_empty() {
                let begun = Cell { repetitions: Vec::new(), ..cell.clone() };
                self.emit(Event::CellBegun { cell: Box::new(begun) })?;
            }
            let repetition = Box::new(repetition.clone());
            self.emit(Event::RepetitionDone { cell_index: cell.index, repetition })?;
        }
        Ok(())
    }

    /// One repetition more in which operations are followed through the kernel. Following them costs time, so it does
    /// not count, and nothing that is said of the figures comes from it.
    pub(crate) fn trace_once(&mut self, ongoing: &mut Ongoing<G::Prepared>, number: u32) -> Result<()> {
        if !self.ground.traces(&ongoing.task) {
            return Ok(());
        }
        self.check_interrupt()?;
        let (cell_index, task) = (ongoing.first_cell, &ongoing.task);
        G::settle(self, task)?;
        self.emit(Event::RepetitionStarted {
            cell_index,
            label: task.label.clone(),
            direction: task.direction().filter(|_| task.cells.len() == 1),
            repetition_index: number,
            repetition_count: number + 1,
            discarded: true,
        })?;
        let rules = &self.profile.rules;
        let seed = split_mix(&mut (rules.seed ^ (u64::from(cell_index) << 40) ^ (u64::from(number) << 20)));
        let started_ns = self.ground.now_ns() - self.started_ns;
        let attempt = Attempt { cell_index, number, discarded: true, seed, started_ns, turn: None };
        let Some(done) = G::trace(self, task, &mut ongoing.prepared, &attempt)? else { return Ok(()) };
        self.take_in(ongoing, done)
    }

    /// Covers the span of a task, so that what is measured is access again.
    fn warm_up(&mut self, task: &Task) -> Result<()> {
        let Some(workload) = &task.warm_up else { return Ok(()) };
        let (_, elapsed_ns) = G::run_once(self, workload)?;
        self.check_interrupt()?;
        if workload.end.time_ns.is_some_and(|limit_ns| elapsed_ns >= limit_ns) {
            let (label, time) = (&task.label, format_time_setting(elapsed_ns));
            self.notice_once(
                NoticeKind::WarmUpCut,
                text!(
                    "the spans from {label} on were not warmed up whole: a pass was cut after {time}, so a cache as large as that may show smaller than it is (a longer --time warms up longer)",
                    "{label} 以降の範囲は一部しか温められませんでした(1 巡を {time} で打ち切り)。この大きさのキャッシュは実際より小さく見えることがあります(--time を延ばすと長く温めます)"
                ),
            )?;
        }
        Ok(())
    }

    /// Ends a task. A cell of which at least one counted repetition is whole is kept, whatever ended it.
    pub(crate) fn close(&mut self, ongoing: Ongoing<G::Prepared>) -> Result<()> {
        let Ongoing { task, cells, disturbance, prepared, .. } = ongoing;
        let cleaned_up = G::close(self, &task, prepared);
        for cell in cells.into_iter().filter(|cell| cell.counted().next().is_some()) {
            for fallback in cell.engine.iter().flat_map(|engine| &engine.fallbacks) {
                self.notice_once(
                    NoticeKind::EngineFallback,
                    text!(
                        "the engine goes without: {fallback}",
                        "エンジンの機能が一部使えません: {fallback}"
                    ),
                )?;
            }
            if let Some(kept) = &mut self.kept {
                kept.push(cell.clone());
            }
            self.emit(Event::CellDone { cell: Box::new(cell) })?;
        }
        let label = &task.label;
        let (en, ja) = match task.direction().filter(|_| task.cells.len() == 1) {
            Some(direction) => {
                (format!("{} {label}", direction.word()), format!("{label} の{}", direction_ja(direction)))
            }
            None => (label.clone(), format!("{label} の測定")),
        };
        for remark in disturbance.on_the_device() {
            let text =
                Text { en: format!("{} during {en}", remark.en), ja: format!("{ja}中に、{}", remark.ja) };
            self.notice(NoticeKind::Noise, text)?;
        }
        cleaned_up
    }

    /// Says what limited a repetition, if it was not the storage.
    fn remark(&mut self, task: &Task, repetition: &Repetition) -> Result<()> {
        let (label, word) = (&task.label, task.direction().map_or("", Direction::word));
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
}

pub(crate) fn unprepared() -> Error {
    Error::new(ErrorKind::Internal, text!("a task was begun unprepared", "準備していない項目を始めました"))
}

fn direction_ja(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "読み出し",
        Direction::Write => "書き込み",
        Direction::Mix => "混合",
    }
}
