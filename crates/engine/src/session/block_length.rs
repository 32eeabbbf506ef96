//! Determines whether an interleaved task can be measured in shorter repetitions.
//!
//! Many short repetitions find a smaller difference in the same time than few long ones, because
//! more of the noise affects both targets alike, and the first verdict comes earlier. But a device
//! whose rate depends on how long it has been busy, such as one with a cache, gives another figure.
//! So the task runs for the short time, the usual time and the short time again. Repetitions become
//! short if this changes neither the rate nor the share of the queue's start and drain, and if what
//! surrounds a repetition takes no longer than the repetition.

use super::Session;
use super::settling::{LARGEST_CHANGE, TURNOVERS, settles};
use crate::ground::Ground;
use crate::task::{Attempt, Ongoing};
use kurabe_core::profile::{Task, Work};
use kurabe_core::workload::{Direction, End, Workload};
use kurabe_core::{Result, event::Event, text};

/// Figures of a trial repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TrialRepetition {
    bytes_per_s: f64,
    /// Time between two completions, in ns.
    each_ns: f64,
    /// Time before and after the measured time, in ns.
    around_ns: u64,
}

impl<G: Ground> Session<'_, G> {
    /// Returns whether repetitions of `short_ns` are sufficient for a task.
    pub(crate) fn may_be_short(&mut self, ongoing: &mut Ongoing<G::Prepared>, short_ns: u64) -> Result<bool> {
        let Some(workload) = ongoing.task.workload().filter(|workload| can_be_short(workload)).cloned()
        else {
            return Ok(false);
        };
        let usual_ns = workload.end.time_ns.unwrap_or(0);
        if short_ns >= usual_ns {
            return Ok(false);
        }
        let label = &ongoing.task.label;
        self.context.emit(Event::Preparing {
            what: text!("testing short repetitions of {label}", "{label} を短い時間で測れるか確認しています"),
        })?;
        let mut trials = Vec::new();
        for (seed, time_ns) in (workload.seed..).zip([short_ns, usual_ns, short_ns]) {
            let Some(trial) = self.trial(ongoing, lasting(&workload, time_ns), seed)? else {
                return Ok(false);
            };
            trials.push(trial);
        }
        let in_flight = f64::from(workload.iodepth.saturating_mul(workload.threads));
        Ok(is_enough([trials[0], trials[2]], trials[1], short_ns, in_flight))
    }

    /// Performs a repetition without recording a cell.
    fn trial(
        &mut self,
        ongoing: &mut Ongoing<G::Prepared>,
        workload: Workload,
        seed: u64,
    ) -> Result<Option<TrialRepetition>> {
        let direction = ongoing.task.direction().unwrap_or(Direction::Mix);
        let part = Task { work: Work::Io(vec![workload]), ..ongoing.task.clone() };
        let attempt = Attempt { seed, discarded: true, ..Attempt::default() };
        let begun_ns = self.ground.now_ns();
        self.ground.settle(&mut self.context, &part)?;
        let done = self.ground.repeat(&mut self.context, &part, &mut ongoing.prepared, &attempt)?;
        self.ground.store_written(&mut self.context, &part)?;
        let whole_ns = self.ground.now_ns().saturating_sub(begun_ns);
        let measured = |repetition: kurabe_core::record::Repetition| {
            let operations = repetition.read.completed + repetition.write.completed;
            let elapsed_ns = repetition.elapsed_ns;
            (operations > 0 && elapsed_ns > 0).then(|| TrialRepetition {
                bytes_per_s: repetition.bytes(direction) as f64 * 1e9 / elapsed_ns as f64,
                each_ns: elapsed_ns as f64 / operations as f64,
                around_ns: whole_ns.saturating_sub(elapsed_ns),
            })
        };
        Ok(done.repetitions.into_iter().next().and_then(measured))
    }
}

/// Returns whether a workload begins and continues unchanged until its time is over.
fn can_be_short(workload: &Workload) -> bool {
    settles(workload) && workload.warm_up_ns == 0
}

/// Returns the workload with another time. A limit in bytes stays, because it protects the target.
fn lasting(workload: &Workload, time_ns: u64) -> Workload {
    let end = End { time_ns: Some(time_ns), ..workload.end };
    workload.clone().with(|access| access.end = end)
}

/// Makes the repetitions of a task last for `short_ns`.
pub(crate) fn shorten(task: &mut Task, short_ns: u64) {
    let Work::Io(workloads) = &mut task.work else { return };
    if let [workload] = workloads.as_mut_slice() {
        *workload = lasting(workload, short_ns);
    }
}

/// Returns whether short repetitions of this length show what a usual one shows.
fn is_enough(short: [TrialRepetition; 2], usual: TrialRepetition, short_ns: u64, in_flight: f64) -> bool {
    let agrees =
        |trial: &TrialRepetition| (trial.bytes_per_s / usual.bytes_per_s - 1.0).abs() <= LARGEST_CHANGE;
    let is_cheap = |trial: &TrialRepetition| trial.around_ns <= short_ns;
    let turns_over = TURNOVERS * in_flight * usual.each_ns <= short_ns as f64;
    turns_over && short.iter().all(|trial| agrees(trial) && is_cheap(trial))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_repetitions_must_show_the_same_at_little_cost() {
        const SHORT_NS: u64 = 20_000_000;
        let steady = TrialRepetition { bytes_per_s: 1e9, each_ns: 4096.0, around_ns: 1_000_000 };
        let of =
            |first: TrialRepetition, usual, in_flight| is_enough([first, steady], usual, SHORT_NS, in_flight);
        assert!(of(steady, steady, 32.0));
        // Noise of some percent is allowed, a cache at the start is not.
        assert!(of(TrialRepetition { bytes_per_s: 0.92e9, ..steady }, steady, 1.0));
        assert!(!of(TrialRepetition { bytes_per_s: 1.2e9, ..steady }, steady, 1.0));
        assert!(!of(steady, TrialRepetition { bytes_per_s: 0.8e9, ..steady }, 1.0));
        // A hard disk: two operations in the short time. A deep queue of large blocks.
        assert!(!of(steady, TrialRepetition { each_ns: 8e6, ..steady }, 1.0));
        assert!(!of(steady, TrialRepetition { each_ns: 2e6, ..steady }, 8.0));
        // A flush after each repetition takes longer than the repetition.
        assert!(!of(TrialRepetition { around_ns: 30_000_000, ..steady }, steady, 1.0));
    }
}
