//! When a task that takes turns with others is in the state in which its own work keeps the device: a write cache is full then.
//!
//! The model: what other tasks left in the caches is written first, so that every task begins alike. It is run for a time, and its course is cut into parts that double in length. The last half is what it
//! settles on; where the part before it differs, it has not settled, and runs twice as long. What differs before that is the way
//! there, and as long as that the task warms up before each of its repetitions.

use super::Session;
use crate::task::{Attempt, Ongoing};
use crate::{drive::recorder::INTERVAL_NS, ground::Ground};
use kurabe_core::profile::{Task, Work};
use kurabe_core::record::{Interval, Repetition};
use kurabe_core::workload::{Direction, End, Workload};
use kurabe_core::{Result, event::Event, text};

/// A difference up to this is none: the steady state of the SNIA's test specification may slope by as much (`core/steady.rs`).
const LARGEST_CHANGE: f64 = 0.1;

/// Operations after which a trial is over whatever its time: as many of 4 KiB fill a drive's cache several times.
const MOST_OPERATIONS: u64 = 1 << 16;

/// A repetition is at least so many turnovers of the queue long: it ends by emptying the queue, which is slower than keeping it full …
const TURNOVERS: f64 = 20.0;
/// … but it takes no more than this for that, so that slow work is still repeated in the time that there is.
const LONGEST_NS: f64 = 1e9;

/// Fewer intervals of a course have no parts to be compared.
const FEWEST_INTERVALS: usize = 4;

/// For how long a task may be watched until it settles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettlingTime {
    /// For how long a task that only reads is watched at first; too short a time leaves it out.
    pub read_ns: u64,
    /// For how long one that writes is. Caches of the drive do not show in less time than they take to fill.
    pub write_ns: u64,
    /// For how long at most.
    pub most_ns: u64,
    /// How long a task warms up that is steady from the first: what a drive was doing before takes it that long to leave.
    pub warm_up_ns: u64,
    /// How long all tasks may be watched together.
    pub together_ns: u64,
}

impl SettlingTime {
    /// The same for each of so many.
    pub(crate) fn of_each(self, count: usize) -> Self {
        let each_ns = self.together_ns / (count as u64).max(1);
        let [read_ns, write_ns] = [self.read_ns, self.write_ns].map(|least_ns| least_ns.min(each_ns));
        Self { read_ns, write_ns, most_ns: self.most_ns.min(each_ns.saturating_mul(4)), ..self }
    }
}

/// How a task settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Time until then; none if it does not within the time that is allowed.
    pub after_ns: Option<u64>,
    /// Bytes per second at first, and at last.
    pub first_bytes_per_s: f64,
    /// At last.
    pub last_bytes_per_s: f64,
    /// Time between the ends of two operations at last.
    pub each_ns: f64,
}

impl<G: Ground> Session<'_, G> {
    /// Runs a task, which is no cell yet, until it settles; none for work that no time ends.
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
            what: text!(
                "looking from when on {label} is steady",
                "{label} が安定するまでの時間を調べています"
            ),
        })?;
        self.ground.flush(&mut self.context)?;
        let (mut length_ns, mut course, mut interval_ns) = (least_ns, Vec::new(), 0);
        loop {
            let so_far_ns = course.len() as u64 * interval_ns;
            // Each part has offsets of its own.
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

/// Whether a workload is one that goes on as it is until its time is up.
fn settles(workload: &Workload) -> bool {
    workload.end.time_ns.is_some() && workload.end.passes.is_none() && workload.open_loop.is_none()
}

/// A workload for another time, with as many bytes for it as its limit allows.
fn lasting(workload: &Workload, time_ns: u64) -> Workload {
    let end = End { time_ns: Some(time_ns), bytes: bytes_in(workload, time_ns), ..workload.end };
    Workload { end, ..workload.clone() }
}

/// What a limit of bytes in the time of a workload comes to in another time.
fn bytes_in(workload: &Workload, time_ns: u64) -> Option<u64> {
    let times = time_ns as f64 / workload.end.time_ns? as f64;
    workload.end.bytes.map(|bytes| (bytes as f64 * times) as u64)
}

/// Has each repetition of a task begin when it has settled, which takes so long, and go on for some turnovers of its queue; `each_ns`
/// as [`Settling`] has it.
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

/// What a course says; `None` if it is too short to say anything, or nothing was done at last.
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
    // Few operations scatter, by about one over the root of their number, but sequential ones hardly: by what is seen at last.
    let squares = half.chunks(1).map(|one| (per_interval(one) / last - 1.0).powi(2));
    let spread = squares.sum::<f64>() / (half.len() - 1) as f64;
    let differs = |part: &[Interval]| {
        let allowed = LARGEST_CHANGE + (spread.min(1.0 / last_operations) / part.len() as f64).sqrt();
        (per_interval(part) / last - 1.0).abs() > allowed
    };
    // The parts from the last half back to the beginning, each half as long as the one after it.
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
    // A part that is alike as a whole may still begin on the way.
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
        // 1.2 s of a cache that takes everything, then the drive.
        let filling = course([vec![1500; 12], vec![40; 52]].concat());
        let settling = settled(&filling, 100, Direction::Write).unwrap();
        assert_eq!(settling.after_ns, Some(1600));
        assert_eq!(
            (settling.first_bytes_per_s, settling.last_bytes_per_s),
            (1500.0 * 4096.0 * 1e7, 40.0 * 4096.0 * 1e7)
        );
        // What is alike from the first is steady from the first, scatter and all.
        assert_eq!(after(&course((0..64).map(|at| 35 + at * 7 % 11))), Some(Some(0)));
        // A sequential write, of which few fit into an interval: its cache takes a fifth more for half a second.
        assert_eq!(after(&course([vec![14; 5], vec![12; 59]].concat())), Some(Some(500)));
        // What is slow at first: a single operation where there will be ten.
        assert_eq!(after(&course([vec![1; 2], vec![10; 62]].concat())), Some(Some(200)));
        // Still on its way in the second quarter.
        assert_eq!(after(&course([vec![1500; 20], vec![40; 44]].concat())), Some(None));
        // Nothing was done at last, or hardly anything at all.
        assert_eq!(after(&course([vec![10; 4], vec![0; 4]].concat())), None);
        assert_eq!(after(&course([10, 10])), None);
    }
}
