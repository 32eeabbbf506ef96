//! A repetition of one workload or of several concurrent ones.

use crate::context::{Context, progress};
use crate::drive::measure::{Engine, Issue, LaneGroup, MeasuredRepetition, measure_groups};
use crate::drive::source::{Generator, Source};
use crate::drive::thoughtful::Thoughtful;
use crate::real::{Real, Settings};
use crate::steps::depth::within_target;
use crate::task::{Attempt, Repeated};
use crate::{drive::every_operation::InOrder, steps::choose::ChosenIssue};
use kurabe_core::record::{EngineRecord, Repetition};
use kurabe_core::{Result, workload::Workload};

/// Share of the issuing threads' time spent in kurabe's own code above which kurabe counts as the
/// bottleneck.
const GENERATOR_BOUND_SHARE: f64 = 0.5;

impl Real<'_> {
    /// Selects how a workload is issued on this target.
    pub(crate) fn choose(&mut self, context: &Context<'_>, workload: &Workload) -> Result<ChosenIssue> {
        let Settings { engine, wait, pages, .. } = self.settings;
        let issue = Issue { engine: Engine::Uring, wait, pages };
        self.chooser.choose(engine, self.target, workload, issue, context.interrupt)
    }

    /// Runs workloads once, concurrently.
    pub(crate) fn repeat_io(
        &mut self,
        context: &mut Context<'_>,
        workloads: &[Workload],
        choices: &[ChosenIssue],
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let mut workloads = attempt.seeded(workloads);
        workloads.iter_mut().for_each(|workload| *workload = context.part(workload.clone(), true));
        if let ([workload], [choice]) = (workloads.as_slice(), choices)
            && !workload.waits()
        {
            let group = |workload: &Workload| LaneGroup {
                sources: Generator::for_threads(workload),
                workload: workload.clone(),
                issue: choice.issue,
            };
            let open = |workload: &Workload| self.target.open_for(workload);
            let (chosen, iodepth) = within_target(workload, |window| {
                let jobs = vec![group(window)];
                let watched = context.watched(progress, |interrupt, live| {
                    measure_groups(&open, jobs, false, interrupt, live, &|| Ok(0))
                });
                Ok(watched?.pop().map(|measured| measured.recorded).unwrap_or_default())
            })?;
            let mut repeated = self.repeat_groups(context, vec![group(&chosen)], choices, attempt)?;
            repeated.repetitions.iter_mut().for_each(|repetition| repetition.iodepth = iodepth);
            return Ok(repeated);
        }
        let sources = Thoughtful::for_threads(&workloads).into_iter();
        let jobs = sources.zip(&workloads).zip(choices).map(|((sources, workload), choice)| LaneGroup {
            sources,
            workload: workload.clone(),
            issue: choice.issue,
        });
        self.repeat_groups(context, jobs.collect(), choices, attempt)
    }

    /// Runs jobs once, concurrently, each of them a cell. `choices` are the ways in which they are
    /// issued.
    pub(crate) fn repeat_groups<S: Source + Send>(
        &self,
        context: &mut Context<'_>,
        jobs: Vec<LaneGroup<S>>,
        choices: &[ChosenIssue],
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let mark = self.noise.start();
        let delays: Vec<u64> = jobs.iter().map(|job| job.workload.start_delay_ns).collect();
        let lists = context.operations.is_some();
        let open = |workload: &Workload| self.target.open_for(workload);
        let (meet, run_started_ns) = (context.meet(), context.started_ns);
        let mut measured = context.watched(progress, |interrupt, live| {
            measure_groups(&open, jobs, lists, interrupt, live, &meet)
        })?;
        let noise = self.noise.finish(mark);
        if let Some(list) = &mut context.operations {
            for (job, cell_index) in measured.iter_mut().zip(attempt.cell_index..) {
                InOrder::of(std::mem::take(&mut job.notes))
                    .try_for_each(|note| list(&note.listed(cell_index, attempt.number)))?;
            }
        }
        let pairs = measured.iter().zip(choices);
        let engines = pairs.map(|(job, choice)| self.engine_record(choice, job)).collect();
        let begun_ns = measured.iter().map(|job| job.begun_ns).min().unwrap_or(0);
        let repetitions = measured.into_iter().zip(delays).map(|(job, delay_ns)| {
            let started_ns = begun_ns.saturating_sub(run_started_ns).saturating_add(delay_ns);
            let attempt = Attempt { started_ns, ..*attempt };
            Repetition { noise, ..repetition_of(job, &attempt) }
        });
        Ok(Repeated { engines, repetitions: repetitions.collect() })
    }

    /// Returns the record of how a measurement's operations reached the kernel.
    fn engine_record(&self, choice: &ChosenIssue, measured: &MeasuredRepetition) -> EngineRecord {
        let mut facts = measured.facts.clone();
        facts.fallbacks.splice(..0, choice.fallbacks.iter().cloned());
        let (asked, reason) = (self.settings.engine, choice.reason.clone());
        facts.record(choice.issue.engine, asked, reason, measured.issuing_threads)
    }
}

/// Converts a measurement into a repetition.
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
