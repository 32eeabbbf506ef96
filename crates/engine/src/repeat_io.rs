//! A repetition of a workload.

use crate::choose::Choice;
use crate::every_operation::{InOrder, ThreadNotes};
use crate::measure::{Engine, Issue, Measured, Setup, measure_sources};
use crate::real::{Real, Settings};
use crate::session::{Session, progress};
use crate::source::Generator;
use crate::task::{Attempt, Repeated};
use kurabe_core::Result;
use kurabe_core::record::{EngineRecord, Repetition};
use kurabe_core::workload::Workload;

/// Share of the issuing threads' time that kurabe's own code may take before kurabe counts as the limit.
const GENERATOR_BOUND_SHARE: f64 = 0.5;

impl Session<'_, Real<'_>> {
    /// How a workload is issued here.
    pub(crate) fn choose(&mut self, workload: &Workload) -> Result<Choice> {
        let Settings { engine, wait, pages, .. } = self.ground.settings;
        let issue = Issue { engine: Engine::Uring, wait, pages };
        self.ground.chooser.choose(engine, self.ground.target, workload, issue, self.interrupt)
    }

    /// Runs a workload once.
    pub(crate) fn repeat_io(
        &mut self,
        workload: &Workload,
        choice: &Choice,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let workload = &Workload { seed: attempt.seed, ..workload.clone() };
        let mark = self.ground.noise.start();
        let setup = Setup { lists: self.operations.is_some(), ..Setup::of(workload) };
        let mut measured = self.watched(progress, |target, interrupt, live| {
            let open = || target.open_lane(workload.writes(), workload.sync.o_sync);
            measure_sources(&open, Generator::for_threads(workload), setup, choice.issue, interrupt, live)
        })?;
        let noise = self.ground.noise.finish(mark);
        self.list(std::mem::take(&mut measured.notes), attempt)?;
        let engine = engine_record(self.ground.settings.engine.word(), choice, &measured);
        let repetition = Repetition { noise, ..repetition_of(measured, attempt) };
        Ok(Repeated { engine: Some(engine), repetitions: vec![repetition] })
    }

    /// Tells every operation of a repetition to who wants to hear of them.
    pub(crate) fn list(&mut self, notes: Vec<ThreadNotes>, attempt: &Attempt) -> Result<()> {
        let Some(tell) = &mut self.operations else { return Ok(()) };
        InOrder::of(notes).try_for_each(|note| tell(&note.listed(attempt.cell_index, attempt.number)))
    }
}

/// What a measurement came to.
pub(crate) fn repetition_of(measured: Measured, attempt: &Attempt) -> Repetition {
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
pub(crate) fn engine_record(asked: &str, choice: &Choice, measured: &Measured) -> EngineRecord {
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
