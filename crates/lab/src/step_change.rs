//! What is changed of every step of a profile alike: how configurations of one target differ.
//!
//! The model: what a change names, it sets in each `io` step; a name that would be untrue then is made anew. Steps that come to
//! the same under every configuration are measured once.

use crate::profile::Traced;
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::workload::{Arrival, BlockSize, Direction, End, EndSync, OpenLoop, Pattern};
use kurabe_core::{ErrorKind, Result, mention::PROFILES, text};
use serde::{Deserialize, Serialize};

/// Changes of steps; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepChange {
    /// Reads, writes or a mix.
    pub direction: Option<Direction>,
    /// Order of offsets.
    pub pattern: Option<Pattern>,
    /// Block size.
    pub block_bytes: Option<u32>,
    /// Operations in flight per thread.
    pub iodepth: Option<u32>,
    /// Threads.
    pub threads: Option<u32>,
    /// Share of reads of a mix, in percent.
    pub read_percent: Option<u8>,
    /// First byte of the span.
    pub offset_bytes: Option<u64>,
    /// Time before recording starts.
    pub warm_up_ns: Option<u64>,
    /// Bytes after which a repetition ends, instead of by time.
    pub end_bytes: Option<u64>,
    /// Passes over the span after which a repetition ends, instead of by time.
    pub passes: Option<u32>,
    /// Operations per second of an open loop.
    pub rate_iops: Option<f64>,
    /// Arrivals of an open loop.
    pub arrival: Option<Arrival>,
    /// Writes of a thread after which there is a fsync.
    pub sync_every_writes: Option<u32>,
    /// A fsync at the end of a repetition.
    pub end_sync: Option<EndSync>,
    /// Whether the target is opened with `O_SYNC`.
    pub o_sync: Option<bool>,
}

impl StepChange {
    /// Changes the steps of a profile.
    ///
    /// # Errors
    /// When that changes none of them.
    pub(crate) fn apply(&self, profile: &mut Profile) -> Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        let before = profile.steps.clone();
        for step in &mut profile.steps {
            match step {
                Step::Io(step) => self.change(step),
                Step::Replay(step) => step.iodepth = self.iodepth.unwrap_or(step.iodepth),
                Step::Positional(_) | Step::AccessTime(_) | Step::Copy(_) | Step::Command(_) => {}
            }
        }
        // A score of other steps is no score of these.
        profile.derived.clear();
        let io_step = |step: &Step| matches!(step, Step::Io(_));
        if before != profile.steps || profile.steps.iter().any(io_step) {
            return Ok(());
        }
        let name = &profile.name;
        Err(ErrorKind::Usage
            .error(text!(
                "`{name}` has no step that this could change",
                "`{name}` には、これで変えられるステップがありません"
            ))
            .remedy(text!(
                "choose a profile with steps of reads or writes ({PROFILES})",
                "読み書きのステップを持つプロファイルを選んでください({PROFILES})"
            )))
    }

    /// The only step of a run that has no profile: random reads of 4 KiB, one at a time, where nothing else is said. `time_ns`
    /// ends a repetition that has another end as well.
    pub fn single_step(&self, time_ns: Option<u64>) -> IoStep {
        let random_reads = IoStep::plain(Pattern::Random, 4096, 1, vec![Direction::Read]);
        // Kept as it was asked for, also where nothing is mixed.
        let read_percent = self.read_percent.unwrap_or(random_reads.read_percent);
        let mut step = IoStep { read_percent, ..random_reads };
        self.change(&mut step);
        if step.end.is_given() {
            step.end.time_ns = time_ns;
        }
        step
    }

    fn change(&self, step: &mut IoStep) {
        let before = step.clone();
        if let Some(direction) = self.direction {
            step.directions = vec![direction];
        }
        if let Some(size_bytes) = self.block_bytes {
            step.block_sizes = vec![BlockSize { size_bytes, weight: 1 }];
        }
        step.pattern = self.pattern.unwrap_or(step.pattern);
        step.iodepth = self.iodepth.unwrap_or(step.iodepth);
        step.threads = self.threads.unwrap_or(step.threads);
        if let Some(percent) = self.read_percent.filter(|_| step.directions.contains(&Direction::Mix)) {
            step.read_percent = percent;
        }
        step.offset_bytes = self.offset_bytes.unwrap_or(step.offset_bytes);
        step.warm_up_ns = self.warm_up_ns.unwrap_or(step.warm_up_ns);
        if self.end_bytes.is_some() || self.passes.is_some() {
            step.end = End { bytes: self.end_bytes, passes: self.passes, ..End::default() };
        }
        if let Some(rate_iops) = self.rate_iops {
            step.open_loop = Some(OpenLoop { rate_iops, arrival: Arrival::Even });
        }
        if let (Some(arrival), Some(open_loop)) = (self.arrival, &mut step.open_loop) {
            open_loop.arrival = arrival;
        }
        step.sync.every_writes = self.sync_every_writes.or(step.sync.every_writes);
        step.sync.at_end = self.end_sync.unwrap_or(step.sync.at_end);
        step.sync.o_sync = self.o_sync.unwrap_or(step.sync.o_sync);
        if *step != before {
            step.label = None;
        }
    }
}

/// Leaves out what comes to the same as a step before it in every one of these plans of one profile.
pub(crate) fn drop_doubles(plans: &mut [Traced]) {
    let count = plans.first().map_or(0, |plan| plan.profile.steps.len());
    let mut kept: Vec<usize> = Vec::new();
    for place in 0..count {
        let is_double = |before: &usize| {
            plans.iter().all(|plan| same(&plan.profile.steps[*before], &plan.profile.steps[place]))
        };
        if !kept.iter().any(is_double) {
            kept.push(place);
        }
    }
    for plan in plans {
        plan.profile.steps = kept.iter().map(|place| plan.profile.steps[*place].clone()).collect();
        plan.traces = kept.iter().map(|place| plan.traces[*place].clone()).collect();
    }
}

/// Whether two steps do the same, whatever they are called.
fn same(one: &Step, other: &Step) -> bool {
    match (one, other) {
        (Step::Io(one), Step::Io(other)) => {
            let unnamed = |step: &IoStep| IoStep { id: None, label: None, ..step.clone() };
            unnamed(one) == unnamed(other)
        }
        (one, other) => one == other,
    }
}
