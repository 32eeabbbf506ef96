//! Several concurrent workloads on one device with its own clock, such as a model.
//!
//! A single loop drives all workloads. The source issues operations of each in turn, up to its
//! queue depth, between its own start and end. The wrapper around the device records the owner of
//! the operation in each slot. Each workload has a recorder whose time starts with the workload.
//! These parts communicate through the order of the loop's calls: issued, submitted, completed,
//! recorded.

use crate::drive::recorder::{Observer, Recorder};
use crate::drive::source::{Next, Source};
use crate::drive::thoughtful::Thoughtful;
use crate::drive::{driver::ThreadOutcome, rest::SYNC, source::Generator};
use kurabe_core::Result;
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::model::TimeSums;
use kurabe_core::record::{Interval, Repetition};
use kurabe_core::workload::{EndSync, Op, OpKind, Workload};
use std::cell::Cell;
use std::sync::mpsc::Sender;

/// The owner of an operation: the index of the workload, and of its source.
type Owner = (usize, usize);

/// The owner of the operation that the loop currently handles.
#[derive(Default)]
pub(crate) struct JointTurn {
    /// Owner of the most recently issued operation, until it is submitted.
    given_out: Cell<Option<Owner>>,
    /// Owner of the most recent completion.
    came_back: Cell<Owner>,
}

/// One of the concurrent workloads.
struct JointPart {
    /// One source per thread, with its number of operations in flight.
    sources: Vec<(Thoughtful<Generator>, u32)>,
    turn: usize,
    iodepth: u32,
    starts_ns: u64,
    ends_ns: Option<u64>,
    /// Operations that must complete before the time limit may end it.
    missing: u64,
    /// Whether a final flush is still to be issued.
    flush_is_due: bool,
    has_ended: bool,
}

impl JointPart {
    fn of(workload: &Workload, sources: Vec<Thoughtful<Generator>>, least_operations: u64) -> Self {
        let starts_ns = workload.start_delay_ns;
        let before_ns = starts_ns.saturating_add(workload.warm_up_ns);
        Self {
            sources: sources.into_iter().map(|source| (source, 0)).collect(),
            turn: 0,
            iodepth: workload.iodepth,
            starts_ns,
            ends_ns: workload.end.time_ns.map(|time_ns| before_ns.saturating_add(time_ns)),
            missing: least_operations,
            flush_is_due: workload.writes() && workload.sync.at_end == EndSync::Timed,
            has_ended: false,
        }
    }

    /// Returns the next operation, and the index of its source.
    fn next(&mut self, now_ns: u64) -> (Next, usize) {
        if now_ns < self.starts_ns {
            return (Next::NotBefore(self.starts_ns), 0);
        }
        let is_over = self.ends_ns.is_some_and(|ends_ns| now_ns >= ends_ns) && self.missing == 0;
        self.has_ended |= is_over && self.sources.iter_mut().all(|(source, _)| source.may_end());
        let mut soonest = Next::End;
        for _ in 0..if self.has_ended { 0 } else { self.sources.len() } {
            let turn = self.turn;
            self.turn = (turn + 1) % self.sources.len();
            let (source, in_flight) = &mut self.sources[turn];
            let next = match *in_flight < self.iodepth {
                true => source.next(now_ns - self.starts_ns),
                false => WHEN_ONE_IS_BACK,
            };
            soonest = match next {
                Next::Op { op, due_ns } => {
                    *in_flight += 1;
                    let due_ns = due_ns.map(|due_ns| due_ns.saturating_add(self.starts_ns));
                    return (Next::Op { op, due_ns }, turn);
                }
                Next::NotBefore(at_ns) => {
                    sooner(Next::NotBefore(at_ns.saturating_add(self.starts_ns)), soonest)
                }
                Next::End => soonest,
            };
        }
        if soonest != Next::End || !self.flush_is_due {
            return (soonest, 0);
        }
        if self.sources.iter().any(|(_, in_flight)| *in_flight > 0) {
            return (WHEN_ONE_IS_BACK, 0);
        }
        self.flush_is_due = false;
        self.sources[0].1 += 1;
        (Next::Op { op: SYNC, due_ns: None }, 0)
    }
}

/// Nothing until an operation in flight completes.
const WHEN_ONE_IS_BACK: Next = Next::NotBefore(u64::MAX);

/// Returns the operations in flight of all threads of a workload.
fn slots(workload: &Workload) -> usize {
    workload.iodepth as usize * workload.threads as usize
}

/// Returns the earlier of two answers without an operation, after which to ask again.
pub(crate) fn sooner(one: Next, other: Next) -> Next {
    match (one, other) {
        (Next::NotBefore(one_ns), Next::NotBefore(other_ns)) => Next::NotBefore(one_ns.min(other_ns)),
        (Next::End, next) | (next, _) => next,
    }
}

/// The combined source of all workloads.
pub(crate) struct JointSource<'a> {
    parts: Vec<JointPart>,
    next_part: usize,
    turn: &'a JointTurn,
}

impl<'a> JointSource<'a> {
    /// Combines workloads, each of which performs at least this many operations.
    pub(crate) fn of(
        workloads: &[Workload],
        least_operations: impl Fn(&Workload) -> u64,
        turn: &'a JointTurn,
    ) -> Self {
        let parts = workloads
            .iter()
            .zip(Thoughtful::for_threads(workloads))
            .map(|(workload, sources)| JointPart::of(workload, sources, least_operations(workload)));
        Self { parts: parts.collect(), next_part: 0, turn }
    }

    /// Returns the operations in flight of all workloads.
    pub(crate) fn slots(workloads: &[Workload]) -> usize {
        workloads.iter().map(slots).sum()
    }
}

impl Source for JointSource<'_> {
    const HEARS_ENDS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        let mut soonest = Next::End;
        for _ in 0..self.parts.len() {
            let index = self.next_part;
            self.next_part = (index + 1) % self.parts.len();
            let (next, source) = self.parts[index].next(now_ns);
            if matches!(next, Next::Op { .. }) {
                self.turn.given_out.set(Some((index, source)));
                return next;
            }
            soonest = sooner(next, soonest);
        }
        soonest
    }

    fn ended(&mut self, op: Op, now_ns: u64) {
        let (part, source) = self.turn.came_back.get();
        let part = &mut self.parts[part];
        part.missing = part.missing.saturating_sub(1);
        let (source, in_flight) = &mut part.sources[source];
        *in_flight -= 1;
        source.ended(op, now_ns.saturating_sub(part.starts_ns));
    }
}

/// A wrapper around the device that tracks the owner of each slot, and the time breakdown of each
/// workload.
pub(crate) struct JointDevice<'a, D> {
    device: &'a mut D,
    turn: &'a JointTurn,
    of_slot: Vec<Owner>,
    came_back: Vec<usize>,
    pub(crate) sums: Vec<TimeSums>,
}

impl<'a, D: Device> JointDevice<'a, D> {
    /// Wraps a device with `slots` slots for `workloads` workloads.
    pub(crate) fn new(device: &'a mut D, slots: usize, workloads: usize, turn: &'a JointTurn) -> Self {
        device.keep_each();
        let sums = vec![TimeSums::default(); workloads];
        Self { device, turn, of_slot: vec![(0, 0); slots], came_back: Vec::new(), sums }
    }
}

impl<D: Device> Device for JointDevice<'_, D> {
    type Buffer = D::Buffer;

    fn take_buffers(&mut self) -> Vec<D::Buffer> {
        self.device.take_buffers()
    }

    fn now_ns(&mut self) -> u64 {
        self.device.now_ns()
    }

    fn submit(&mut self, request: Submission<D::Buffer>, now_ns: u64) -> Result<u64> {
        // An unfinished operation is submitted again without being issued again, so its owner
        // stays.
        if let Some(owner) = self.turn.given_out.take() {
            self.of_slot[request.buffer.slot()] = owner;
        }
        self.device.submit(request, now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<D::Buffer>)) -> Result<()> {
        let Self { device, turn, of_slot, came_back, sums } = self;
        device.reap(wait, &mut |completion: Completion<D::Buffer>| {
            let owner = of_slot[completion.buffer.slot()];
            turn.came_back.set(owner);
            came_back.push(owner.0);
            done(completion);
        })?;
        for (part, times_ns) in came_back.drain(..).zip(device.take_each()) {
            let latency_ns = times_ns.iter().sum();
            sums[part].add(&TimeSums { operations: 1, latency_ns, times_ns, counts: Vec::new() });
        }
        Ok(())
    }
}

/// The recorders of all workloads, each on its workload's time.
pub(crate) struct JointObserver<'a> {
    turn: &'a JointTurn,
    recorders: Vec<(u64, Recorder, ThreadOutcome)>,
}

impl<'a> JointObserver<'a> {
    /// Creates recorders for workloads. `live` receives the progress of all of them.
    pub(crate) fn of(workloads: &[Workload], live: &Sender<(usize, Interval)>, turn: &'a JointTurn) -> Self {
        let recorder = |workload: &Workload| {
            let begins_ns = workload.start_delay_ns.saturating_add(workload.warm_up_ns);
            let recorder = Recorder::new(Some(live.clone())).placing(slots(workload));
            (begins_ns, recorder, ThreadOutcome::default())
        };
        Self { turn, recorders: workloads.iter().map(recorder).collect() }
    }

    /// Returns the recorded repetition of each workload.
    pub(crate) fn into_repetitions(self) -> Vec<Repetition> {
        let repetition = |(_, recorder, outcome): (u64, Recorder, ThreadOutcome)| {
            let mut recorded = Recorder::merge(&[recorder]);
            recorded.merge(&outcome.part(false));
            Repetition { first_done_ns: None, ..recorded }
        };
        self.recorders.into_iter().map(repetition).collect()
    }
}

impl Observer for JointObserver<'_> {
    fn submitted(&mut self, kind: OpKind, slot: usize, issued_ns: u64) {
        let Some((part, _)) = self.turn.given_out.get() else { return };
        let (begins_ns, recorder, _) = &mut self.recorders[part];
        if issued_ns >= *begins_ns {
            Observer::submitted(recorder, kind, slot, issued_ns - *begins_ns);
        }
    }

    fn completed(&mut self, op: Op, slot: usize, started_ns: u64, completed_ns: u64) {
        let (begins_ns, recorder, outcome) = &mut self.recorders[self.turn.came_back.get().0];
        if started_ns >= *begins_ns {
            let (started_ns, completed_ns) = (started_ns - *begins_ns, completed_ns - *begins_ns);
            outcome.last_completion_ns = completed_ns;
            Observer::completed(recorder, op, slot, started_ns, completed_ns);
        }
    }

    fn failed(&mut self, kind: OpKind) {
        self.recorders[self.turn.came_back.get().0].1.failed(kind);
    }
}
