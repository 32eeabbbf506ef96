//! Interleaved measurement of several targets, so that any disturbance affects all of them.
//!
//! Every target has its own session, which is a run like any other. This module only decides which
//! one is next. A block measures each task once on each target, one right after the other. Blocks
//! come in pairs: the order of the first is random, and the second is its reverse (A B, B A), so
//! that linear drift and the effect of a repetition on the next one cancel out. After each pair,
//! the caller decides which targets still need which task. Tasks that only read come before all
//! tasks that write, as in most tools, because writes in between would change the data and its
//! location on the device.
//!
//! Statistics are not part of this module. `decide` determines when there are enough blocks.

use crate::session::{self, Session, Settling, SettlingTime};
use crate::{drive::measure::Engine, ground::Ground, task::Ongoing};
use kurabe_core::mention::{DESTROY_DATA_ON, WRITE_EXISTING};
use kurabe_core::{ErrorKind, Result, Text, number, profile::Task, random::Random, record::NoticeKind, text};
use kurabe_program::Stop;

/// Stream number of the random generator for the order.
const ORDER_STREAM: u64 = 0x7475_726e;

/// Weight of the time for a task that writes, relative to one that reads. A writing task is
/// observed until it settles, and starts each repetition with a sync and a warm-up as long as
/// itself.
const WRITING_WEIGHT: f64 = 2.0;

/// A target in an interleaved measurement: a session that is controlled from outside.
pub trait InterleavedTarget {
    /// Checks the plan, reports how it will be performed, and writes the test file.
    ///
    /// # Errors
    /// Fails like [`Session::run`].
    fn begin(&mut self) -> Result<()>;

    /// Returns the number of bytes that offsets may cover, and their smallest unit.
    fn span(&self) -> (u64, u32);

    /// Reduces the span, and returns the tasks that can be measured on it.
    ///
    /// # Errors
    /// Fails if none can.
    fn narrow(&mut self, span_bytes: u64) -> Result<Vec<Task>>;

    /// Prepares these tasks.
    ///
    /// # Errors
    /// Fails if the preparation fails.
    fn prepare(&mut self, tasks: Vec<Task>) -> Result<()>;

    /// Returns the engine of a prepared task, if there is a choice.
    fn engine(&self, task: usize) -> Option<Engine>;

    /// Switches a prepared task to the threads engine.
    fn use_threads(&mut self, task: usize);

    /// Runs a prepared task until it settles. Returns `None` for work that does not.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn settling(&mut self, task: usize, time: SettlingTime) -> Result<Option<Settling>>;

    /// Makes each repetition of a task start once it has settled, after a warm-up of `warm_up_ns`,
    /// and last for several turnovers of its queue, in which an operation completes every
    /// `each_ns`. Emits the reason.
    ///
    /// # Errors
    /// Fails if the reason can't be emitted.
    fn warm_up(&mut self, task: usize, warm_up_ns: u64, each_ns: f64, own: Option<Settling>) -> Result<()>;

    /// Returns whether repetitions of `short_ns` show the same as those of the usual length.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn may_be_short(&mut self, task: usize, short_ns: u64) -> Result<bool>;

    /// Makes the repetitions of a task last for `short_ns`.
    fn shorten(&mut self, task: usize, short_ns: u64);

    /// Performs one repetition of a task with this number and position in the common order.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn repeat(&mut self, task: usize, number: u32, turn: u32) -> Result<()>;

    /// Ends all tasks. Cells with a complete repetition are kept.
    ///
    /// # Errors
    /// Fails if the cells can't be stored, or if remaining files can't be removed.
    fn close(&mut self) -> Result<()>;

    /// Returns the time that this target has used so far, in ns on its own clock.
    fn spent_ns(&self) -> u64;
}

/// A session in an interleaved measurement.
pub struct InterleavedSession<'a, G: Ground> {
    session: Session<'a, G>,
    tasks: Vec<Ongoing<G::Prepared>>,
    spent_ns: u64,
}

impl<'a, G: Ground> From<Session<'a, G>> for InterleavedSession<'a, G> {
    fn from(session: Session<'a, G>) -> Self {
        Self { session, tasks: Vec::new(), spent_ns: 0 }
    }
}

impl<G: Ground> InterleavedSession<'_, G> {
    /// Adds the time of `work` to the time used.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before_ns = self.session.ground.now_ns();
        let done = work(self);
        self.spent_ns += self.session.ground.now_ns().saturating_sub(before_ns);
        done
    }
}

impl<G: Ground> InterleavedTarget for InterleavedSession<'_, G> {
    fn begin(&mut self) -> Result<()> {
        self.timed(|this| this.session.begin())
    }

    fn span(&self) -> (u64, u32) {
        let facts = self.session.ground.facts();
        (facts.span_bytes, facts.alignment_bytes)
    }

    fn narrow(&mut self, span_bytes: u64) -> Result<Vec<Task>> {
        self.session.ground.narrow(span_bytes);
        self.session.plan()
    }

    fn prepare(&mut self, tasks: Vec<Task>) -> Result<()> {
        let left_out: Vec<String> = self
            .session
            .plan()?
            .iter()
            .filter(|task| !tasks.iter().any(|kept| same(kept, task)))
            .map(name)
            .collect();
        if !left_out.is_empty() {
            self.session.context.notice(NoticeKind::Other, not_everywhere(&left_out.join(", ")))?;
        }
        self.timed(|this| {
            this.tasks = this.session.take_up(tasks)?;
            for ongoing in &mut this.tasks {
                this.session.prepare(ongoing)?;
            }
            Ok(())
        })
    }

    fn engine(&self, task: usize) -> Option<Engine> {
        G::engine(&self.tasks[task].prepared)
    }

    fn use_threads(&mut self, task: usize) {
        G::use_threads(&mut self.tasks[task].prepared);
    }

    fn settling(&mut self, task: usize, time: SettlingTime) -> Result<Option<Settling>> {
        self.timed(|this| this.session.settling(&mut this.tasks[task], time))
    }

    fn warm_up(&mut self, task: usize, warm_up_ns: u64, each_ns: f64, own: Option<Settling>) -> Result<()> {
        let task = &mut self.tasks[task].task;
        session::warm_up(task, warm_up_ns, each_ns);
        match own.and_then(|settling| settling_words(&session::called(task), &settling)) {
            Some(words) => self.session.context.notice(NoticeKind::Other, words),
            None => Ok(()),
        }
    }

    fn may_be_short(&mut self, task: usize, short_ns: u64) -> Result<bool> {
        self.timed(|this| this.session.may_be_short(&mut this.tasks[task], short_ns))
    }

    fn shorten(&mut self, task: usize, short_ns: u64) {
        session::shorten(&mut self.tasks[task].task, short_ns);
    }

    fn repeat(&mut self, task: usize, number: u32, turn: u32) -> Result<()> {
        self.timed(|this| {
            let Session { ground, context, .. } = &mut this.session;
            let profile = context.profile;
            ground.pause(context, profile.rules.interval_ns)?;
            let workload = this.tasks[task].task.workload();
            if workload.is_some_and(|workload| workload.warm_up_ns > 0) {
                ground.flush(context)?;
            }
            this.session.repeat(&mut this.tasks[task], number, profile.repetitions(), Some(turn))
        })
    }

    fn close(&mut self) -> Result<()> {
        let mut ending = Ok(());
        for ongoing in std::mem::take(&mut self.tasks) {
            ending = ending.and(self.session.close(ongoing));
        }
        ending.and_then(|()| self.session.end())
    }

    fn spent_ns(&self) -> u64 {
        self.spent_ns
    }
}

/// Why the measurement ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyEnded {
    /// No target needs another repetition.
    Settled,
    /// The time is up.
    TimeUp,
}

/// Rules of an interleaved measurement.
#[derive(Clone, Copy, Debug)]
pub struct InterleavedRules {
    /// Seed of the order.
    pub order_seed: u64,
    /// Whether each target is measured over its whole span, instead of the span of the smallest
    /// one.
    pub own_spans: bool,
    /// How long tasks are observed until they settle. `None` if repetitions start immediately.
    pub settling: Option<SettlingTime>,
    /// Time in ns of repetitions of tasks for which so short ones are sufficient on all targets.
    /// `None` if no task is measured in short repetitions.
    pub short_ns: Option<u64>,
    /// Blocks of each task that are measured regardless of the time, at least one pair.
    pub fewest_blocks: u32,
}

/// How far the blocks of some tasks have got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksSoFar {
    /// Number of complete blocks of these tasks.
    pub done: u32,
    /// Number of blocks that fit into their time at the pace so far.
    pub expected: u32,
    /// Number of all cells, including those of other tasks.
    pub cell_count: usize,
}

/// The outcome of an interleaved measurement.
#[derive(Debug)]
pub struct Ended {
    /// The reason, or the error that ended it.
    pub why: Result<WhyEnded>,
    /// Index of the target that caused the error.
    pub failed: Option<usize>,
    /// Number of complete blocks.
    pub blocks: u32,
}

/// Measures targets alternately until none needs another repetition or their time is up.
///
/// `decide` is called after every pair of blocks. It returns, for each cell, the targets that need
/// it again. `time_used` is then called with the time that each target has used on its
/// own clock. It returns the used share of the available time. Only tasks that fit all targets are
/// measured.
pub fn measure_interleaved(
    targets: &mut [Box<dyn InterleavedTarget + '_>],
    rules: InterleavedRules,
    time_used: &dyn Fn(&[u64]) -> f64,
    interrupt: &Stop,
    decide: &mut dyn FnMut(BlocksSoFar) -> Result<Vec<Vec<usize>>>,
) -> Ended {
    let mut interleaving = Interleaving {
        targets,
        random: Random::new(rules.order_seed, ORDER_STREAM),
        turn: 0,
        blocks: 0,
        failed: None,
        rules,
    };
    let mut why = interleaving.run(time_used, interrupt, decide);
    // Every run is closed, regardless of how the measurement ended.
    for target in interleaving.targets.iter_mut() {
        let closed = target.close();
        why = why.and_then(|why| closed.map(|()| why));
    }
    Ended { why, failed: interleaving.failed, blocks: interleaving.blocks }
}

/// A task that all targets have in common.
struct SharedTask {
    cells: usize,
    /// Whether it writes on any of them.
    writes: bool,
}

struct Interleaving<'c, 'a> {
    targets: &'c mut [Box<dyn InterleavedTarget + 'a>],
    random: Random,
    turn: u32,
    blocks: u32,
    failed: Option<usize>,
    rules: InterleavedRules,
}

impl Interleaving<'_, '_> {
    fn run(
        &mut self,
        time_used: &dyn Fn(&[u64]) -> f64,
        interrupt: &Stop,
        decide: &mut dyn FnMut(BlocksSoFar) -> Result<Vec<Vec<usize>>>,
    ) -> Result<WhyEnded> {
        let tasks = self.prepare()?;
        let writing = tasks.iter().filter(|task| task.writes).count();
        let reading = (tasks.len() - writing) as f64;
        // Tasks that only read get their share of the time that remains after the test files were
        // written.
        let begun = time_used(&self.spent_ns());
        let reading_ends = begun + (1.0 - begun) * reading / (reading + WRITING_WEIGHT * writing as f64);
        let cells = tasks.iter().map(|task| task.cells).sum();
        let mut why = WhyEnded::Settled;
        for (writes, ends) in [(false, reading_ends), (true, 1.0)] {
            self.settle(&tasks, writes)?;
            self.shorten(&tasks, writes)?;
            let begun = time_used(&self.spent_ns());
            let mut needs: Vec<Vec<usize>> = vec![(0..self.targets.len()).collect(); cells];
            let mut blocks = 0;
            loop {
                let places_of_tasks = of_tasks(&tasks, writes, needs);
                if places_of_tasks.iter().all(Vec::is_empty) {
                    break;
                }
                if blocks >= self.rules.fewest_blocks.max(2) && time_used(&self.spent_ns()) >= ends {
                    why = WhyEnded::TimeUp;
                    break;
                }
                self.pair(blocks, &places_of_tasks, interrupt)?;
                blocks += 2;
                self.blocks = self.blocks.max(blocks);
                let pace = f64::from(blocks) / (time_used(&self.spent_ns()) - begun);
                let expected = (pace * (ends - begun)) as u32;
                needs = decide(BlocksSoFar { done: blocks, expected, cell_count: cells })?;
            }
        }
        Ok(why)
    }

    /// Performs a pair of blocks, the first of which has this number.
    fn pair(&mut self, number: u32, places_of_tasks: &[Vec<usize>], interrupt: &Stop) -> Result<()> {
        for (block, order) in (number..).zip(pair_of_blocks(&mut self.random, places_of_tasks)) {
            for (task, place) in order {
                interrupt.check()?;
                let turn = self.turn;
                self.each(place, |target| target.repeat(task, block, turn))?;
                self.turn += 1;
            }
        }
        Ok(())
    }

    /// Prepares all targets for the first repetition, and returns their common tasks.
    fn prepare(&mut self) -> Result<Vec<SharedTask>> {
        for place in 0..self.targets.len() {
            self.each(place, |target| target.begin())?;
        }
        let mut plans = Vec::new();
        for (place, span_bytes) in self.spans().into_iter().enumerate() {
            plans.push(self.each(place, |target| target.narrow(span_bytes))?);
        }
        let shared: Vec<Vec<Task>> = plans
            .iter()
            .map(|plan| {
                let everywhere = |task: &&Task| plans.iter().all(|other| has_like(plan, task, other));
                plan.iter().filter(everywhere).cloned().collect()
            })
            .collect();
        let tasks: Vec<SharedTask> = (0..shared[0].len())
            .map(|task| SharedTask {
                cells: shared[0][task].cells.len(),
                writes: shared.iter().any(|plan| plan[task].writes()),
            })
            .collect();
        if tasks.is_empty() {
            return Err(ErrorKind::Target.error(text!("no test can be measured on all targets", "すべての対象で測れる項目がありません"))
            .remedy(text!(
                "give all targets the same permission to write ({WRITE_EXISTING}, {DESTROY_DATA_ON}), or \
                 choose another profile",
                "どの対象にも同じ許可({WRITE_EXISTING}、{DESTROY_DATA_ON})を与えるか、別のプロファイルを選んでください"
            )));
        }
        for (place, tasks) in shared.into_iter().enumerate() {
            self.each(place, |target| target.prepare(tasks))?;
        }
        self.align_engines(tasks.len());
        Ok(tasks)
    }

    /// Returns the span of each target in whole units: the same for all, unless the spans are meant
    /// to differ.
    fn spans(&self) -> Vec<u64> {
        let spans: Vec<(u64, u32)> = self.targets.iter().map(|target| target.span()).collect();
        let unit = spans.iter().map(|(_, unit)| u64::from(*unit)).max().unwrap_or(1).max(1);
        let least = spans.iter().map(|(span, _)| *span).min().unwrap_or(0);
        let own = |(span, _): &(u64, u32)| if self.rules.own_spans { *span } else { least };
        spans.iter().map(own).map(|span| span - span % unit).collect()
    }

    /// The trial that selects an engine can end differently by chance, and the engine is not a
    /// difference of the storage. If one target needs threads, all use them, because they work
    /// everywhere.
    fn align_engines(&mut self, tasks: usize) {
        for task in 0..tasks {
            if self.targets.iter().any(|target| target.engine(task) == Some(Engine::Threads)) {
                self.targets.iter_mut().for_each(|target| target.use_threads(task));
            }
        }
    }

    /// Determines when the tasks that write, or those that don't, reach the state in which their
    /// own work keeps the device. The warm-up is the same on all targets.
    fn settle(&mut self, tasks: &[SharedTask], writes: bool) -> Result<()> {
        let trials = tasks.len() * self.targets.len();
        let Some(time) = self.rules.settling.map(|time| time.of_each(trials)) else { return Ok(()) };
        for task in (0..tasks.len()).filter(|task| tasks[*task].writes == writes) {
            let mut settlings = Vec::new();
            for place in 0..self.targets.len() {
                settlings.push(self.each(place, |target| target.settling(task, time))?);
            }
            let lengths_ns = settlings.iter().flatten().map(|one| one.after_ns.unwrap_or(time.most_ns / 2));
            let warm_up_ns = lengths_ns.max().unwrap_or(0).max(time.warm_up_ns);
            let each_ns = settlings.iter().flatten().map(|one| one.each_ns).fold(0.0, f64::max);
            for (place, own) in settlings.into_iter().enumerate() {
                self.each(place, |target| target.warm_up(task, warm_up_ns, each_ns, own))?;
            }
        }
        Ok(())
    }

    /// Shortens the repetitions of the tasks that write, or of those that don't, where that changes
    /// nothing on any target.
    fn shorten(&mut self, tasks: &[SharedTask], writes: bool) -> Result<()> {
        let Some(short_ns) = self.rules.short_ns else { return Ok(()) };
        for task in (0..tasks.len()).filter(|task| tasks[*task].writes == writes) {
            let mut may_be_short = true;
            for place in 0..self.targets.len() {
                may_be_short =
                    may_be_short && self.each(place, |target| target.may_be_short(task, short_ns))?;
            }
            if may_be_short {
                self.targets.iter_mut().for_each(|target| target.shorten(task, short_ns));
            }
        }
        Ok(())
    }

    /// Returns the time that each target has used, in ns.
    fn spent_ns(&self) -> Vec<u64> {
        self.targets.iter().map(|target| target.spent_ns()).collect()
    }

    /// Lets a target perform work, and records it as the failed one on an error.
    fn each<T>(
        &mut self,
        place: usize,
        work: impl FnOnce(&mut (dyn InterleavedTarget + '_)) -> Result<T>,
    ) -> Result<T> {
        let done = work(&mut *self.targets[place]);
        if matches!(&done, Err(error) if error.kind() != ErrorKind::Interrupted) {
            self.failed = Some(place);
        }
        done
    }
}

/// Converts the targets per cell into targets per task, because a task is needed if any of its
/// cells is. Covers only the tasks that write, or only those that don't.
fn of_tasks(tasks: &[SharedTask], writes: bool, of_cells: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut of_cells = of_cells.into_iter();
    tasks
        .iter()
        .map(|task| {
            let mut places: Vec<usize> = of_cells.by_ref().take(task.cells).flatten().collect();
            places.sort_unstable();
            places.dedup();
            if task.writes == writes { places } else { Vec::new() }
        })
        .collect()
}

/// Returns the order of a pair of blocks as (task, target). The second block is the reverse of the
/// first.
fn pair_of_blocks(random: &mut Random, places_of_tasks: &[Vec<usize>]) -> [Vec<(usize, usize)>; 2] {
    let mut tasks: Vec<usize> = (0..places_of_tasks.len()).collect();
    shuffle(random, &mut tasks);
    let mut forth = Vec::new();
    for task in tasks {
        let mut places = places_of_tasks[task].clone();
        shuffle(random, &mut places);
        forth.extend(places.into_iter().map(|place| (task, place)));
    }
    let back = forth.iter().rev().copied().collect();
    [forth, back]
}

/// Fisher-Yates shuffle.
fn shuffle(random: &mut Random, list: &mut [usize]) {
    for last in (1..list.len()).rev() {
        list.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// Returns whether another plan contains the counterpart of a task: the same task of the step, or
/// the step's only task. Configurations of one target may differ in direction.
fn has_like(plan: &[Task], task: &Task, other: &[Task]) -> bool {
    let of_step = |plan: &[Task]| plan.iter().filter(|one| one.step_index == task.step_index).count();
    let mut counterparts = other.iter().filter(|one| one.step_index == task.step_index);
    let parts =
        |task: &Task| task.cells.iter().map(|cell| (cell.part.clone(), cell.measure)).collect::<Vec<_>>();
    if of_step(plan) == 1 && of_step(other) == 1 {
        return counterparts.all(|one| one.cells.len() == task.cells.len());
    }
    counterparts.any(|one| parts(one) == parts(task))
}

/// Returns whether two plans of one target mean the same task.
fn same(one: &Task, other: &Task) -> bool {
    one.step_index == other.step_index && one.cells == other.cells
}

fn name(task: &Task) -> String {
    let direction = task.direction().map_or("", kurabe_core::workload::Direction::word);
    [direction, &task.label].join(" ").trim().to_owned()
}

/// Returns why a task warms up, or that it does not settle. `None` if it is steady from the start.
fn settling_words(name: &Text, settling: &Settling) -> Option<Text> {
    let [first, last] = [settling.first_bytes_per_s, settling.last_bytes_per_s].map(number::rate);
    match settling.after_ns {
        Some(0) => None,
        Some(after_ns) => {
            let after = number::latency_ns(after_ns);
            Some(text!(
                "{name} went from {first} to {last} within {after} in a preliminary check, so its \
                 repetitions begin after that time, as in sustained work",
                "{name} は、事前の確認で {after} のうちに {first} から {last} になりました。連続した作業での速度を測るため、各回はその時間が過ぎてから始めます";
                name
            ))
        }
        None => Some(text!(
            "{name} does not settle (from {first} to {last}): its figures include a cache or the effects \
             of earlier work, not only the drive",
            "{name} は落ち着きません({first} から {last} へ)。値はキャッシュや先の作業の影響を含み、ドライブだけのものではありません";
            name
        )),
    }
}

fn not_everywhere(names: &str) -> Text {
    text!(
        "skipped, because another target does not support it: {names}",
        "ほかの対象で測れないため、測らない項目: {names}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pair_of_blocks_goes_there_and_back_over_all_that_is_wanted(
            seed in any::<u64>(),
            places_of_tasks in prop::collection::vec(prop::collection::btree_set(0usize..4, 0..4), 0..6),
        ) {
            let places_of_tasks: Vec<Vec<usize>> =
                places_of_tasks.into_iter().map(|places| places.into_iter().collect()).collect();
            let [forth, back] = pair_of_blocks(&mut Random::new(seed, 0), &places_of_tasks);
            prop_assert!(forth.iter().eq(back.iter().rev()));
            let mut measured = forth.clone();
            measured.sort_unstable();
            let mut all: Vec<(usize, usize)> = places_of_tasks
                .iter()
                .enumerate()
                .flat_map(|(task, places)| places.iter().map(move |place| (task, *place)))
                .collect();
            all.sort_unstable();
            prop_assert_eq!(measured, all);
            // The targets of a task follow each other directly.
            let tasks_with_places = places_of_tasks.iter().filter(|places| !places.is_empty()).count();
            prop_assert_eq!(forth.chunk_by(|one, two| one.0 == two.0).count(), tasks_with_places);
        }
    }

    #[test]
    fn either_target_is_first_half_of_the_time() {
        let mut random = Random::new(1, ORDER_STREAM);
        let first = (0..1000).filter(|_| pair_of_blocks(&mut random, &[vec![0, 1]])[0][0].1 == 0).count();
        assert!((450..550).contains(&first), "{first}");
    }
}
