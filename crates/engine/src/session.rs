//! A run: a profile on a target, from writing the test file to the last cell.
//!
//! Everything that happens is emitted as an event, in order. The receiver stores, prints or sends
//! it. An error or an interrupt ends the run after the event of the last complete cell.

mod block_length;
mod repetitions;
mod settling;

pub(crate) use block_length::shorten;
pub(crate) use repetitions::called;
pub(crate) use settling::warm_up;
pub use settling::{Settling, SettlingTime};

use crate::context::{Context, Emitter};
use crate::fit::{plan_tasks, planned_time_ns, unfit, writes_left_out};
use crate::{disturbance::NoiseSum, ground::Ground, steps::precondition::precondition, task::Ongoing};
use kurabe_core::company::Company;
use kurabe_core::profile::{FurtherSteps, Profile, Rounds, Task};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Cell, NoticeKind, TargetKind, TargetRecord};
use kurabe_core::{Result, Text, event::Event, listed::OperationList, text, trace::Trace};
use kurabe_program::Stop;
use std::sync::Arc;

/// A run in progress.
pub struct Session<'a, G> {
    pub(crate) ground: G,
    pub(crate) context: Context<'a>,
    disturbance: NoiseSum,
    /// Returns further steps when all steps have been measured.
    follow_up: Option<FollowUp<'a>>,
    /// The cells so far, if a follow-up needs them.
    kept: Option<Vec<Cell>>,
    /// The only step to measure, if the run is limited to one.
    only_step: Option<usize>,
}

/// Inspects the cells of a run and returns further steps to measure. An empty answer ends the run.
/// The profile contains all steps so far.
pub type FollowUp<'a> = Box<dyn FnMut(&Profile, &[Cell]) -> FurtherSteps + 'a>;

impl<'a, G: Ground> Session<'a, G> {
    /// Creates a run of a profile on a ground. `emit` receives every event, and an error from it
    /// ends the run.
    pub(crate) fn on(ground: G, profile: &'a Profile, interrupt: &'a Stop, emit: Emitter<'a>) -> Self {
        let context = Context::new(profile, interrupt, emit, ground.now_ns());
        Self {
            ground,
            context,
            disturbance: NoiseSum::default(),
            follow_up: None,
            kept: None,
            only_step: None,
        }
    }

    /// Sets the function that returns further steps, based on the cells so far. Profiles with
    /// rounds end when the device is steady and ignore it.
    #[must_use]
    pub fn with_follow_up(mut self, follow_up: Option<FollowUp<'a>>) -> Self {
        self.kept = follow_up.is_some().then(Vec::new);
        self.follow_up = follow_up;
        self
    }

    /// Limits the run to one step of the profile. Its cells keep the indexes and seeds that they
    /// have in the whole profile.
    #[must_use]
    pub fn of_step(mut self, step_index: usize) -> Self {
        self.only_step = Some(step_index);
        self
    }

    /// Sets the receiver of every operation of workloads and replays. It is called as operations
    /// complete on a model, and after each repetition on real storage.
    #[must_use]
    pub fn with_operation_list(mut self, operations: Option<OperationList<'a>>) -> Self {
        self.context.operations = operations;
        self
    }

    /// Sets the other processes with which each repetition starts together.
    #[must_use]
    pub fn with_company(mut self, company: Option<&'a dyn Company>) -> Self {
        self.context.company = company;
        self
    }

    /// Sets the traces of the profile's replay steps: one entry for each step, `None` for other
    /// steps.
    #[must_use]
    pub fn with_traces(mut self, traces: Vec<Option<Arc<Trace>>>) -> Self {
        self.context.traces = traces;
        self
    }

    /// Checks the plan, writes the test file and measures every cell.
    ///
    /// # Errors
    /// Fails with `Interrupted` if the user stopped the run, and otherwise with the error that
    /// ended it. Cells that were emitted remain valid.
    pub fn run(mut self) -> Result<()> {
        self.begin()?;
        // The ground may have become smaller, so the spans are computed again.
        let mut ongoing = self.take_up(self.plan()?)?;
        if let Some(step_index) = self.only_step {
            ongoing.retain(|one| one.task.step_index == step_index);
        }
        match &self.context.profile.rounds {
            None => {
                self.one_by_one(ongoing)?;
                if let Some(follow_up) = self.follow_up.take() {
                    self.follow(follow_up)?;
                }
            }
            Some(rounds) => self.in_rounds(rounds, ongoing)?,
        }
        self.end()
    }

    /// Returns the tasks of the profile that fit the current target.
    pub(crate) fn plan(&self) -> Result<Vec<Task>> {
        plan_tasks(self.context.profile, &self.ground.facts())
    }

    /// Checks the plan, reports how it will be performed, and writes the test file.
    pub(crate) fn begin(&mut self) -> Result<()> {
        let tasks = self.plan()?;
        self.say_how()?;
        self.ground.begin(&mut self.context, &tasks)
    }

    /// Preconditions the target as the profile requires before these tasks.
    pub(crate) fn take_up(&mut self, tasks: Vec<Task>) -> Result<Vec<Ongoing<G::Prepared>>> {
        precondition(&mut self.ground, &mut self.context)?;
        Ok(numbered(tasks))
    }

    /// Emits notices that concern the whole run.
    pub(crate) fn end(&mut self) -> Result<()> {
        for remark in self.disturbance.on_the_machine() {
            let text = text!("{remark} over the whole run", "測定全体を通して、{remark}"; remark);
            self.context.notice(NoticeKind::Noise, text)?;
        }
        Ok(())
    }

    /// Measures further steps as long as the follow-up returns any.
    fn follow(&mut self, mut follow_up: FollowUp<'a>) -> Result<()> {
        let mut profile = self.context.profile.clone();
        loop {
            let further = follow_up(&profile, self.kept.as_deref().unwrap_or_default());
            let before = profile.steps.len();
            let facts = self.ground.facts();
            let Some(added) = add_steps(&mut profile, further, &facts)? else { return Ok(()) };
            self.context.emit(added)?;
            let mut ongoing = numbered(plan_tasks(&profile, &facts)?);
            ongoing.retain(|one| one.task.step_index >= before);
            self.one_by_one(ongoing)?;
        }
    }

    /// Performs all repetitions of a task before the next task.
    fn one_by_one(&mut self, tasks: Vec<Ongoing<G::Prepared>>) -> Result<()> {
        let profile = self.context.profile;
        let count = profile.repetitions();
        for (index, mut ongoing) in tasks.into_iter().enumerate() {
            if index > 0 {
                self.ground.pause(&mut self.context, profile.rules.interval_ns)?;
            }
            let mut ending = self.prepare(&mut ongoing);
            for number in 0..count {
                if ending.is_ok() {
                    ending = self.repeat(&mut ongoing, number, count, None);
                }
            }
            ending = ending.and_then(|()| self.trace_once(&mut ongoing, count));
            ending.and(self.close(ongoing))?;
        }
        Ok(())
    }

    /// Performs one repetition of every task per round, until the device is steady.
    fn in_rounds(&mut self, rounds: &Rounds, mut tasks: Vec<Ongoing<G::Prepared>>) -> Result<()> {
        let mut ending = Ok(());
        for ongoing in &mut tasks {
            ending = ending.and_then(|()| self.prepare(ongoing));
        }
        let tell = rounds.tracked_cells.iter().all(|tracked| tasks.iter().any(|task| task.has(tracked)));
        // Without the tracked cells, there is no reason for more rounds than the window.
        let most = if tell { rounds.most } else { rounds.window };
        let mut steady = false;
        for round in 0..most {
            for ongoing in &mut tasks {
                ending = ending.and_then(|()| self.repeat(ongoing, round, most, None));
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
            ending = self.context.notice(NoticeKind::Other, unsteady(tell, most, rounds.window));
        }
        for mut ongoing in tasks {
            ongoing.count_last(rounds.window);
            let rounds_done = ongoing.repetitions();
            ending = ending.and_then(|()| self.trace_once(&mut ongoing, rounds_done));
            ending = ending.and(self.close(ongoing));
        }
        ending
    }

    /// Reports the end of a round, and returns whether the device is steady.
    fn round_done(
        &mut self,
        rounds: &Rounds,
        tasks: &[Ongoing<G::Prepared>],
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
        self.context.emit(Event::RoundDone {
            round_index,
            round_count,
            steady,
            excursion_percent: largest(|window| window.excursion_percent),
            slope_percent: largest(|window| window.slope_percent),
        })?;
        Ok(steady)
    }

    /// Reports how the target required changes to the plan.
    fn say_how(&mut self) -> Result<()> {
        let facts = self.ground.facts();
        let writes = self.context.profile.tasks(facts.span_bytes).iter().any(Task::writes);
        if writes && !facts.writable {
            self.context.notice(NoticeKind::WritesLeftOut, writes_left_out(facts.kind))?;
        }
        let mut reasons: Vec<Text> = Vec::new();
        for reason in unfit(self.context.profile, &facts) {
            let text = text!("not measured: {reason}", "測らない項目: {reason}"; reason);
            // The reads and the writes of a step that does not fit have the same reason, which is
            // reported once.
            if !reasons.contains(&text) {
                reasons.push(text.clone());
                self.context.notice(NoticeKind::Other, text)?;
            }
        }
        let (size, span) = (self.context.profile.rules.size_bytes, facts.span_bytes);
        let all = self.context.profile.rules.whole_device && facts.kind != TargetKind::Directory;
        if span < size && !all && self.context.profile.needs_span() {
            self.context.notice(
                NoticeKind::SpanCut,
                text!(
                    "the target has {}, less than the profile's {}: all of it is used",
                    "対象は {} で、プロファイルの {} より小さいため、全体を使います",
                    format_bytes(span),
                    format_bytes(size)
                ),
            )?;
        }
        Ok(())
    }
}

/// Adds further steps to a profile that is measured on a target, and returns the event for it.
/// Returns `None` if there are no steps.
///
/// # Errors
/// Fails if none of the steps fits the target.
pub fn add_steps(
    profile: &mut Profile,
    further: FurtherSteps,
    facts: &TargetRecord,
) -> Result<Option<Event>> {
    let FurtherSteps { steps, why } = further;
    if steps.is_empty() {
        return Ok(None);
    }
    let before = profile.steps.len();
    profile.steps.extend(steps.iter().cloned());
    let mut tasks = plan_tasks(profile, facts)?;
    let cell_count = tasks.iter().map(|task| task.cells.len() as u32).sum();
    tasks.retain(|task| task.step_index >= before);
    let planned_ns = planned_time_ns(profile, &tasks);
    Ok(Some(Event::StepsAdded { steps, why, cell_count, planned_ns }))
}

/// Assigns consecutive cell indexes to tasks, starting with 0.
fn numbered<P: Default>(tasks: Vec<Task>) -> Vec<Ongoing<P>> {
    let (mut ongoing, mut first_cell) = (Vec::new(), 0);
    for task in tasks {
        let cells = task.cells.len() as u32;
        ongoing.push(Ongoing::new(task, first_cell));
        first_cell += cells;
    }
    ongoing
}

/// Returns why the figures may not be those of a steady device.
fn unsteady(cells_tell: bool, most: u32, window: u32) -> Text {
    if cells_tell {
        text!(
            "no steady state within {most} rounds: the figures are from the last {window} and may still change",
            "{most} ラウンドでは定常状態に達しませんでした。値は最後の {window} ラウンドのもので、まだ変わる可能性があります"
        )
    } else {
        text!(
            "the steady state cannot be determined, because the tests that show it are skipped: the \
             figures are from {window} rounds",
            "定常状態かどうかを示す項目を測れないため、判定できません。値は {window} ラウンドのものです"
        )
    }
}
