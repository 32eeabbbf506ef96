//! Determines when an interleaved task reaches the state in which its own work keeps the device,
//! for example with a full write cache.
//!
//! Data that other tasks left in the caches is flushed first, so that every task starts in the same
//! way. The task then runs for a time, and its course is divided into parts that double in length.
//! The last half is the level to which it settles. If the part before it differs, the task has not
//! settled and runs twice as long. Anything that differs before that is the transition, and the
//! task warms up for that long before each of its repetitions.

use super::Session;
use crate::task::{Attempt, Ongoing};
use crate::{drive::recorder::INTERVAL_NS, ground::Ground};
use kurabe_core::profile::{Task, Work};
use kurabe_core::record::{Interval, Repetition};
use kurabe_core::workload::{Direction, End, Workload};
use kurabe_core::{Result, event::Event, text};

/// Largest relative difference that counts as none. The steady state of the SNIA's test
/// specification allows the same slope (`core/steady.rs`).
pub(super) const LARGEST_CHANGE: f64 = 0.1;

/// Maximum number of operations of a trial, whatever its time. With 4 KiB, this many fill a drive's
/// cache several times.
const MOST_OPERATIONS: u64 = 1 << 16;

/// Minimum length of a repetition in turnovers of the queue. A repetition ends with draining the
/// queue, which is slower than keeping it full …
pub(super) const TURNOVERS: f64 = 20.0;
/// … but it is extended to this time at most, in ns, so that slow work can still be repeated within
/// the available time.
const LONGEST_NS: f64 = 1e9;

/// Minimum number of intervals in a course. With fewer, there are no parts to compare.
const FEWEST_INTERVALS: usize = 4;

/// How long a task may be observed until it settles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettlingTime {
    /// Initial observation time of a task that only reads, in ns. If it is too short, the
    /// observation is skipped.
    pub read_ns: u64,
    /// Initial observation time of a task that writes, in ns. A drive's caches only show after the
    /// time that it takes to fill them.
    pub write_ns: u64,
    /// Maximum observation time in ns.
    pub most_ns: u64,
    /// Warm-up of a task that is steady from the start, in ns. The effects of the drive's previous
    /// work last that long.
    pub warm_up_ns: u64,
    /// Maximum observation time of all tasks together, in ns.
    pub together_ns: u64,
}

impl SettlingTime {
    /// Returns the times for each of `count` tasks.
    pub(crate) fn of_each(self, count: usize) -> Self {
        let each_ns = self.together_ns / (count as u64).max(1);
        let [read_ns, write_ns] = [self.read_ns, self.write_ns].map(|least_ns| least_ns.min(each_ns));
        Self { read_ns, write_ns, most_ns: self.most_ns.min(each_ns.saturating_mul(4)), ..self }
    }
}

/// How a task settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Time until the task settles, in ns. `None` if it does not settle within the allowed time.
    pub after_ns: Option<u64>,
    /// Bytes per second at the start.
    pub first_bytes_per_s: f64,
    /// Bytes per second at the end.
    pub last_bytes_per_s: f64,
    /// Time between two completions at the end, in ns.
    pub each_ns: f64,
}

impl<G: Ground> Session<'_, G> {
    /// Runs a task, without recording a cell, until it settles. Returns `None` for work that is not
    /// limited by time.
    pub(crate) fn settling(
        &mut self,
        ongoing: &mut Ongoing<G::Prepared>,
        time: SettlingTime,
    ) -> Result<Option<Settling>> {
        let Some(workload) = ongoing.task.workload().filter(|workload| settles(workload)).cloned() else {
            return Ok(None);
        };
        let direction = ongoing.task.direction().unwrap_or(Direction::Mix);
        let least_ns = if workload.writes() { time.write_ns } else { time.read_ns };
        if least_ns < FEWEST_INTERVALS as u64 * INTERVAL_NS {
            return Ok(None);
        }
        let label = &ongoing.task.label;
        self.context.emit(Event::Preparing {
            what: text!("waiting until {label} is steady", "{label} が安定するまでの時間を調べています"),
        })?;
        self.ground.flush(&mut self.context)?;
        let (mut length_ns, mut course, mut interval_ns) = (least_ns, Vec::new(), 0);
        loop {
            let so_far_ns = course.len() as u64 * interval_ns;
            // Each part has its own offsets.
            let seed = workload.seed ^ length_ns;
            let mut watched = lasting(&workload, length_ns - so_far_ns);
            let most_bytes = MOST_OPERATIONS * u64::from(workload.smallest_block_bytes());
            watched.end.bytes = Some(watched.end.bytes.map_or(most_bytes, |bytes| bytes.min(most_bytes)));
            let part = Task { work: Work::Io(vec![watched]), ..ongoing.task.clone() };
            let attempt = Attempt { seed, discarded: true, ..Attempt::default() };
            let done = self.ground.repeat(&mut self.context, &part, &mut ongoing.prepared, &attempt)?;
            let Some(Repetition { series, .. }) = done.repetitions.into_iter().next() else {
                return Ok(None);
            };
            interval_ns = series.interval_ns.max(1);
            course
                .extend(series.intervals.into_iter().take(((length_ns - so_far_ns) / interval_ns) as usize));
            let settling = settled(&course, interval_ns, direction);
            if settling.is_none_or(|settling| settling.after_ns.is_some()) || length_ns >= time.most_ns {
                return Ok(settling);
            }
            length_ns = (2 * length_ns).min(time.most_ns);
        }
    }
}

/// Returns whether a workload continues unchanged until its time is over.
pub(super) fn settles(workload: &Workload) -> bool {
    workload.end.time_ns.is_some() && workload.end.passes.is_none() && workload.open_loop.is_none()
}

/// Returns the workload with another time limit. A byte limit is scaled accordingly.
fn lasting(workload: &Workload, time_ns: u64) -> Workload {
    let end = End { time_ns: Some(time_ns), bytes: bytes_in(workload, time_ns), ..workload.end };
    workload.clone().with(|access| access.end = end)
}

/// Scales a workload's byte limit to another time.
fn bytes_in(workload: &Workload, time_ns: u64) -> Option<u64> {
    let times = time_ns as f64 / workload.end.time_ns? as f64;
    workload.end.bytes.map(|bytes| (bytes as f64 * times) as u64)
}

/// Makes each repetition of a task start once it has settled, after a warm-up of `warm_up_ns`, and
/// last for several turnovers of its queue. `each_ns` is as in [`Settling`].
pub(crate) fn warm_up(task: &mut Task, warm_up_ns: u64, each_ns: f64) {
    let Work::Io(workloads) = &mut task.work else { return };
    let [workload] = workloads.as_mut_slice() else { return };
    if !settles(workload) {
        return;
    }
    let in_flight = f64::from(workload.iodepth.saturating_mul(workload.threads));
    let turnovers_ns = (TURNOVERS * in_flight * each_ns).min(LONGEST_NS) as u64;
    if workload.end.time_ns.is_some_and(|time_ns| time_ns < turnovers_ns) {
        *workload = lasting(workload, turnovers_ns);
    }
    if warm_up_ns > workload.warm_up_ns {
        let whole_ns = workload.end.time_ns.unwrap_or(0).saturating_add(warm_up_ns);
        (workload.end.bytes, workload.warm_up_ns) = (bytes_in(workload, whole_ns), warm_up_ns);
    }
}

/// Evaluates a course. Returns `None` if it is too short, or if no operations completed at its end.
fn settled(course: &[Interval], interval_ns: u64, direction: Direction) -> Option<Settling> {
    let count = course.len();
    if count < FEWEST_INTERVALS {
        return None;
    }
    let sum = |part: &[Interval]| -> (f64, f64) {
        let of = |interval: &Interval| match direction {
            Direction::Read => (interval.read_bytes, u64::from(interval.read_operations)),
            Direction::Write => (interval.write_bytes, u64::from(interval.write_operations)),
            Direction::Mix => (interval.bytes(), interval.operations()),
        };
        part.iter().map(of).fold((0.0, 0.0), |(bytes, operations), (more_bytes, more)| {
            (bytes + more_bytes as f64, operations + more as f64)
        })
    };
    let per_interval = |part: &[Interval]| sum(part).0 / part.len() as f64;
    let half = &course[count / 2..];
    let (last, last_operations) = (per_interval(half), sum(half).1 / half.len() as f64);
    if last <= 0.0 {
        return None;
    }
    let per_s = 1e9 / interval_ns as f64;
    // With few operations, figures vary by about one over the root of their number, but sequential
    // ones hardly vary. The variation at the end is used.
    let squares = half.chunks(1).map(|one| (per_interval(one) / last - 1.0).powi(2));
    let spread = squares.sum::<f64>() / (half.len() - 1) as f64;
    let differs = |part: &[Interval]| {
        let allowed = LARGEST_CHANGE + (spread.min(1.0 / last_operations) / part.len() as f64).sqrt();
        (per_interval(part) / last - 1.0).abs() > allowed
    };
    // The parts from the last half back to the beginning. Each is half as long as the one after it.
    let mut end = count / 2;
    let mut after = 0;
    while end > 0 {
        let begin = if end == 1 { 0 } else { end / 2 };
        if differs(&course[begin..end]) {
            after = end;
            break;
        }
        end = begin;
    }
    // A part whose mean matches may still start within the transition.
    while after > 0 && after < count / 2 && differs(&course[after..=after]) {
        after += 1;
    }
    Some(Settling {
        after_ns: (after < count / 2).then_some(after as u64 * interval_ns),
        first_bytes_per_s: per_interval(&course[..1]) * per_s,
        last_bytes_per_s: last * per_s,
        each_ns: interval_ns as f64 / last_operations,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(writes: impl IntoIterator<Item = u32>) -> Vec<Interval> {
        let interval = |operations: u32| Interval {
            write_operations: operations,
            write_bytes: u64::from(operations) * 4096,
            ..Interval::default()
        };
        writes.into_iter().map(interval).collect()
    }

    fn after(course: &[Interval]) -> Option<Option<u64>> {
        settled(course, 100, Direction::Write).map(|settling| settling.after_ns)
    }

    #[test]
    fn a_cache_that_fills_is_the_way_and_what_comes_then_the_state() {
        // 1.2 s of a cache that accepts everything, then the drive.
        let filling = course([vec![1500; 12], vec![40; 52]].concat());
        let settling = settled(&filling, 100, Direction::Write).unwrap();
        assert_eq!(settling.after_ns, Some(1600));
        assert_eq!(
            (settling.first_bytes_per_s, settling.last_bytes_per_s),
            (1500.0 * 4096.0 * 1e7, 40.0 * 4096.0 * 1e7)
        );
        // A course that is uniform from the start is steady from the start, despite its variation.
        assert_eq!(after(&course((0..64).map(|at| 35 + at * 7 % 11))), Some(Some(0)));
        // A sequential write with few operations per interval. Its cache is a fifth faster for half
        // a second.
        assert_eq!(after(&course([vec![14; 5], vec![12; 59]].concat())), Some(Some(500)));
        // A slow start: one operation per interval, and ten later.
        assert_eq!(after(&course([vec![1; 2], vec![10; 62]].concat())), Some(Some(200)));
        // Still in transition in the second quarter.
        assert_eq!(after(&course([vec![1500; 20], vec![40; 44]].concat())), Some(None));
        // No operations at the end, or hardly any at all.
        assert_eq!(after(&course([vec![10; 4], vec![0; 4]].concat())), None);
        assert_eq!(after(&course([10, 10])), None);
    }
}
