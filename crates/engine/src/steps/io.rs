//! A repetition of a workload.

use crate::context::{Context, progress};
use crate::drive::measure::{Engine, Issue, MeasuredRepetition, Setup, measure_sources};
use crate::drive::source::{Generator, Source};
use crate::real::{Real, Settings};
use crate::task::{Attempt, Repeated};
use crate::{drive::every_operation::InOrder, steps::choose::ChosenIssue};
use kurabe_core::record::{EngineRecord, Repetition};
use kurabe_core::{Result, words::Keyword, workload::Workload};

/// Share of the issuing threads' time that kurabe's own code may take before kurabe counts as the limit.
const GENERATOR_BOUND_SHARE: f64 = 0.5;

impl Real<'_> {
    /// How a workload is issued here.
    pub(crate) fn choose(&mut self, context: &Context<'_>, workload: &Workload) -> Result<ChosenIssue> {
        let Settings { engine, wait, pages, .. } = self.settings;
        let issue = Issue { engine: Engine::Uring, wait, pages };
        self.chooser.choose(engine, self.target, workload, issue, context.interrupt)
    }

    /// Runs a workload once.
    pub(crate) fn repeat_io(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        choice: &ChosenIssue,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let workload = &Workload { seed: attempt.seed, ..workload.clone() };
        let opening = (workload.writes(), workload.sync.o_sync);
        let sources = Generator::for_threads(workload);
        self.repeat_sources(context, sources, opening, Setup::of(workload), choice, attempt)
    }

    /// Runs sources of operations once, one thread each, on the target opened for writing and for synchronous writes or not.
    pub(crate) fn repeat_sources<S: Source + Send>(
        &self,
        context: &mut Context<'_>,
        sources: Vec<S>,
        (writes, o_sync): (bool, bool),
        setup: Setup,
        choice: &ChosenIssue,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let mark = self.noise.start();
        let setup = Setup { lists: context.operations.is_some(), ..setup };
        let open = || self.target.open_lane(writes, o_sync);
        let mut measured = context.watched(progress, |interrupt, live| {
            measure_sources(&open, sources, setup, choice.issue, interrupt, live)
        })?;
        let noise = self.noise.finish(mark);
        if let Some(list) = &mut context.operations {
            InOrder::of(std::mem::take(&mut measured.notes))
                .try_for_each(|note| list(&note.listed(attempt.cell_index, attempt.number)))?;
        }
        let engine = self.engine_record(choice, &measured);
        let repetition = Repetition { noise, ..repetition_of(measured, attempt) };
        Ok(Repeated { engine: Some(engine), repetitions: vec![repetition] })
    }

    /// How a measurement's operations reached the kernel.
    fn engine_record(&self, choice: &ChosenIssue, measured: &MeasuredRepetition) -> EngineRecord {
        let mut facts = measured.facts.clone();
        facts.fallbacks.splice(..0, choice.fallbacks.iter().cloned());
        let (asked, reason) = (self.settings.engine.word(), choice.reason.clone());
        facts.record(choice.issue.engine, asked, reason, measured.issuing_threads)
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
