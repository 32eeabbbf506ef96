//! A repetition of a workload.

use crate::drive::every_operation::{InOrder, ThreadNotes};
use crate::drive::measure::{Engine, Issue, MeasuredRepetition, Setup, measure_sources};
use crate::drive::source::{Generator, Source};
use crate::real::{Real, Settings};
use crate::session::{Session, progress};
use crate::steps::choose::ChosenIssue;
use crate::task::{Attempt, Repeated};
use kurabe_core::Result;
use kurabe_core::record::{EngineRecord, Repetition};
use kurabe_core::workload::Workload;
use std::sync::Mutex;

/// Share of the issuing threads' time that kurabe's own code may take before kurabe counts as the limit.
const GENERATOR_BOUND_SHARE: f64 = 0.5;

impl Session<'_, Real<'_>> {
    /// How a workload is issued here.
    pub(crate) fn choose(&mut self, workload: &Workload) -> Result<ChosenIssue> {
        let Settings { engine, wait, pages, .. } = self.ground.settings;
        let issue = Issue { engine: Engine::Uring, wait, pages };
        self.ground.chooser.choose(engine, self.ground.target, workload, issue, self.interrupt)
    }

    /// Runs a workload once.
    pub(crate) fn repeat_io(
        &mut self,
        workload: &Workload,
        choice: &ChosenIssue,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let workload = &Workload { seed: attempt.seed, ..workload.clone() };
        let opening = (workload.writes(), workload.sync.o_sync);
        self.repeat_sources(Generator::for_threads(workload), opening, Setup::of(workload), choice, attempt)
    }

    /// Runs sources of operations once, one thread each, on the target opened for writing and for synchronous writes or not.
    pub(crate) fn repeat_sources<S>(
        &mut self,
        sources: Vec<S>,
        (writes, o_sync): (bool, bool),
        setup: Setup,
        choice: &ChosenIssue,
        attempt: &Attempt,
    ) -> Result<Repeated>
    where
        S: Source + Send,
        for<'a> &'a Mutex<S>: Source,
    {
        let mark = self.ground.noise.start();
        let setup = Setup { lists: self.operations.is_some(), ..setup };
        let mut measured = self.watched(progress, |target, interrupt, live| {
            let open = || target.open_lane(writes, o_sync);
            measure_sources(&open, sources, setup, choice.issue, interrupt, live)
        })?;
        let noise = self.ground.noise.finish(mark);
        self.list(std::mem::take(&mut measured.notes), attempt)?;
        let engine = engine_record(self.ground.settings.engine.word(), choice, &measured);
        let repetition = Repetition { noise, ..repetition_of(measured, attempt) };
        Ok(Repeated { engine: Some(engine), repetitions: vec![repetition] })
    }

    /// Tells every operation of a repetition to who wants to hear of them.
    fn list(&mut self, notes: Vec<ThreadNotes>, attempt: &Attempt) -> Result<()> {
        let Some(tell) = &mut self.operations else { return Ok(()) };
        InOrder::of(notes).try_for_each(|note| tell(&note.listed(attempt.cell_index, attempt.number)))
    }
}

/// What a measurement came to.
fn repetition_of(measured: MeasuredRepetition, attempt: &Attempt) -> Repetition {
    let recorded = measured.recorded;
    let thread_time_ns = recorded.elapsed_ns as f64 * f64::from(measured.issuing_threads.max(1));
    let generator_share =
        if thread_time_ns > 0.0 { recorded.cpu.user_ns as f64 / thread_time_ns } else { 0.0 };
    Repetition {
        generator_share: generator_share.min(1.0),
        generator_bound: generator_share > GENERATOR_BOUND_SHARE,
        ..attempt.of(recorded)
    }
}

/// How a measurement's operations reached the kernel.
fn engine_record(asked: &str, choice: &ChosenIssue, measured: &MeasuredRepetition) -> EngineRecord {
    EngineRecord {
        name: choice.issue.engine.word().to_owned(),
        asked: asked.to_owned(),
        reason: choice.reason.clone(),
        features: measured.facts.features.clone(),
        fallbacks: choice.fallbacks.iter().chain(&measured.facts.fallbacks).cloned().collect(),
        wait: measured.facts.wait.word().to_owned(),
        pages: measured.facts.pages.word().to_owned(),
        issuing_threads: measured.issuing_threads,
    }
}
