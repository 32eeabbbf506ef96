//! The repetitions of a task: events, seeds, noise and remarks, which are the same for every kind
//! of work, and what is kept if the run stops early.

use super::Session;
use crate::task::{Attempt, Ongoing, Repeated};
use crate::{context::progress, ground::Ground};
use kurabe_core::mention::{THREADS, TIME};
use kurabe_core::profile::{Rules, Task, Work};
use kurabe_core::record::{Cell, NoticeKind, Repetition, fallback};
use kurabe_core::workload::{Direction, Pattern, Workload};
use kurabe_core::{Result, Text, event::Event, number::planned_time, random::split_mix, text};

impl<G: Ground> Session<'_, G> {
    /// Prepares a task before its first repetition.
    pub(crate) fn prepare(&mut self, ongoing: &mut Ongoing<G::Prepared>) -> Result<()> {
        if matches!(ongoing.task.work, Work::Replay(_)) {
            let direction =
                self.context.trace_direction(ongoing.task.step_index, self.ground.facts().writable);
            for cell in &mut ongoing.task.cells {
                cell.direction = direction;
            }
        }
        ongoing.prepared = self.ground.prepare(&mut self.context, &ongoing.task)?;
        Ok(())
    }

    /// Performs one repetition of a task. `turn` is its position in the common order of several
    /// targets.
    pub(crate) fn repeat(
        &mut self,
        ongoing: &mut Ongoing<G::Prepared>,
        number: u32,
        count: u32,
        turn: Option<u32>,
    ) -> Result<()> {
        let (profile, cell_index) = (self.context.profile, ongoing.first_cell);
        let elsewhere = turn.and_then(|_| begun_elsewhere(&ongoing.task, number));
        let task = elsewhere.as_ref().unwrap_or(&ongoing.task);
        let rules = &profile.rules;
        // Interleaved repetitions are so short that the same offsets would cover only the same few
        // places of a disk.
        let has_same_offsets = rules.same_offsets && turn.is_none();
        let seed = if has_same_offsets { rules.seed } else { seed_of(rules, cell_index, number) };
        let discarded = profile.rounds.is_none() && number < rules.discarded_runs;
        let attempt = Attempt { cell_index, number, discarded, seed, started_ns: 0, turn };
        let attempt = self.start(task, task.warm_up.as_ref(), count, attempt)?;
        let done = self.ground.repeat(&mut self.context, task, &mut ongoing.prepared, &attempt)?;
        self.ground.store_written(&mut self.context, task)?;
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

    /// Adds a repetition to its cells and emits it. If emitting fails, the cell still contains all
    /// its repetitions at the end.
    fn take_in(&mut self, ongoing: &mut Ongoing<G::Prepared>, done: Repeated) -> Result<()> {
        ongoing.add(done);
        for cell in &ongoing.cells {
            let Some((repetition, before)) = cell.repetitions.split_last() else { continue };
            if before.is_empty() {
                let begun = Cell { repetitions: Vec::new(), ..cell.clone() };
                self.context.emit(Event::CellBegun { cell: Box::new(begun) })?;
            }
            let repetition = Box::new(repetition.clone());
            self.context.emit(Event::RepetitionDone { cell_index: cell.index, repetition })?;
        }
        Ok(())
    }

    /// Performs one additional repetition in which operations are traced through the kernel.
    /// Tracing costs time, so the repetition does not count, and no statement about the figures is
    /// based on it.
    pub(crate) fn trace_once(&mut self, ongoing: &mut Ongoing<G::Prepared>, number: u32) -> Result<()> {
        if !self.ground.traces(&ongoing.task) {
            return Ok(());
        }
        let (cell_index, task) = (ongoing.first_cell, &ongoing.task);
        let seed = seed_of(&self.context.profile.rules, cell_index, number);
        let attempt = Attempt { cell_index, number, discarded: true, seed, started_ns: 0, turn: None };
        let attempt = self.start(task, None, number + 1, attempt)?;
        match self.ground.trace(&mut self.context, task, &mut ongoing.prepared, &attempt)? {
            Some(done) => self.take_in(ongoing, done),
            None => Ok(()),
        }
    }

    /// Prepares the ground for a repetition, and emits its start.
    fn start(
        &mut self,
        task: &Task,
        warm_up: Option<&Workload>,
        count: u32,
        attempt: Attempt,
    ) -> Result<Attempt> {
        self.context.interrupt.check()?;
        self.ground.settle(&mut self.context, task)?;
        if let Some(warm_up) = warm_up {
            self.warm_up(&task.label, warm_up)?;
        }
        self.context.emit(Event::RepetitionStarted {
            cell_index: attempt.cell_index,
            label: task.label.clone(),
            direction: only_direction(task),
            repetition_index: attempt.number,
            repetition_count: count,
            discarded: attempt.discarded,
        })?;
        Ok(Attempt { started_ns: self.ground.now_ns() - self.context.started_ns, ..attempt })
    }

    /// Covers the span of a task, so that the measured accesses are repeated accesses.
    fn warm_up(&mut self, label: &str, workload: &Workload) -> Result<()> {
        let (_, elapsed_ns) = self.ground.run_once(&mut self.context, workload, &mut progress)?;
        if workload.end.time_ns.is_some_and(|limit_ns| elapsed_ns >= limit_ns) {
            let time = planned_time(elapsed_ns);
            self.context.notice_once(
                NoticeKind::WarmUpCut,
                text!(
                    "spans from {label} on were only partly warmed up, because a pass was cut off after \
                     {time}: a cache of that size may appear smaller than it is (a longer {TIME} warms up \
                     longer)",
                    "{label} 以降の範囲は一部しか温められませんでした(1 周を {time}で打ち切り)。この大きさのキャッシュは実際より小さく見えることがあります({TIME} を延ばすと長く温めます)";
                    time
                ),
            )?;
        }
        Ok(())
    }

    /// Ends a task. A cell with at least one complete counted repetition is kept, whatever ended
    /// the task.
    pub(crate) fn close(&mut self, ongoing: Ongoing<G::Prepared>) -> Result<()> {
        let Ongoing { task, cells, disturbance, prepared, .. } = ongoing;
        let cleaned_up = self.ground.close(&mut self.context, prepared);
        for cell in cells.into_iter().filter(|cell| cell.counted().next().is_some()) {
            for phrase in cell.engine.iter().flat_map(|engine| &engine.fallbacks) {
                self.context.notice_once(NoticeKind::EngineFallback, fallback(phrase))?;
            }
            if let Some(kept) = &mut self.kept {
                kept.push(cell.clone());
            }
            self.context.emit(Event::CellDone { cell: Box::new(cell) })?;
        }
        let during = called(&task);
        for remark in disturbance.on_the_device() {
            let text = text!("{remark} during {during}", "{during}中に、{remark}"; remark, during);
            self.context.notice(NoticeKind::Noise, text)?;
        }
        cleaned_up
    }

    /// Reports what limited a repetition, if it was not the storage.
    fn remark(&mut self, task: &Task, repetition: &Repetition) -> Result<()> {
        let (label, word) = (&task.label, task.direction().map_or("", Direction::word));
        if repetition.generator_bound {
            self.context.notice_once(
                NoticeKind::GeneratorBound,
                text!(
                    "kurabe itself was the bottleneck in {label} {word}: the storage may be faster (try \
                     more {THREADS})",
                    "{label} では kurabe 自身がボトルネックでした。ストレージはもっと速い可能性があります({THREADS} を増やすと確かめられます)"
                ),
            )?;
        }
        if repetition.unserved_operations > 0 {
            let (unserved, done) =
                (repetition.unserved_operations, repetition.read.completed + repetition.write.completed);
            self.context.notice(
                NoticeKind::Other,
                text!(
                    "{label} {word}: the device did not keep up with the rate; {unserved} due operations \
                     were not issued, {done} were completed",
                    "{label}: 指定の頻度に追いつけませんでした(期限までに発行できなかった操作 {unserved}、完了した操作 {done})"
                ),
            )?;
        }
        Ok(())
    }
}

/// Number of start positions in the first half of a span at which interleaved repetitions begin.
const BEGINNINGS: u64 = 8;

/// Returns a sequential task with a different start position in each pair of blocks. A short
/// repetition that always started at the same position would read data that the drive has
/// prefetched during the previous one.
fn begun_elsewhere(task: &Task, number: u32) -> Option<Task> {
    let workload = task.workload().filter(|workload| workload.pattern == Pattern::Sequential)?;
    let unit_bytes = u64::from(workload.largest_block_bytes().max(1)) * u64::from(workload.threads.max(1));
    let place = u64::from(number / 2) % BEGINNINGS;
    let moved_bytes = (workload.span_bytes / 2 / BEGINNINGS * place) / unit_bytes * unit_bytes;
    let moved = Workload {
        span_bytes: workload.span_bytes - moved_bytes,
        ..workload.clone().with(|access| access.offset_bytes = workload.offset_bytes + moved_bytes)
    };
    Some(Task { work: Work::Io(vec![moved]), ..task.clone() })
}

/// Returns the seed of a repetition with its own offsets.
fn seed_of(rules: &Rules, cell_index: u32, number: u32) -> u64 {
    split_mix(&mut (rules.seed ^ (u64::from(cell_index) << 40) ^ (u64::from(number) << 20)))
}

/// Returns the direction of a task with one cell. Several cells measured together have no common
/// direction.
fn only_direction(task: &Task) -> Option<Direction> {
    task.direction().filter(|_| task.cells.len() == 1)
}

/// Returns the name of a task for use in a sentence.
pub(crate) fn called(task: &Task) -> Text {
    let label = &task.label;
    match only_direction(task) {
        Some(direction) => {
            let (en, ja) = (direction.word(), direction_ja(direction));
            text!("{en} {label}", "{label} の{ja}")
        }
        None => text!("{label}", "{label} の測定"),
    }
}

fn direction_ja(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "読み出し",
        Direction::Write => "書き込み",
        Direction::Mix => "混合",
    }
}
