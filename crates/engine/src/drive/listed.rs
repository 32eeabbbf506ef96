//! A device and a source that tell of every operation, between the driver and the real ones.
//!
//! The model: the source says when an operation was due, the device when it was handed over and came back. The driver
//! knows nothing of them, so that what is not listed costs nothing. On real storage `every_operation.rs` does this.

use crate::drive::source::{Next, Source};
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::listed::{ListedOperation, OperationList};
use kurabe_core::{Result, workload::Op};
use std::cell::Cell;

/// Which operations are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedPlace {
    /// Place of their cell in the run, from 0.
    pub(crate) cell_index: u32,
    /// Number of their repetition, from 0.
    pub(crate) repetition: u32,
    /// Those handed over before this, on the device's clock, are warm-up; the first of the others begins the recording, unless it
    /// was due at a time.
    pub(crate) recorded_from_ns: u64,
}

/// A source whose operations say when they were due.
pub(crate) struct Dues<'a, S> {
    pub(crate) source: &'a mut S,
    /// The device's clock at the source's zero.
    pub(crate) start_ns: u64,
    /// When the operation was due that was given out last, on the device's clock.
    pub(crate) due_ns: &'a Cell<Option<u64>>,
}

impl<S: Source> Source for Dues<'_, S> {
    const HEARS_ENDS: bool = S::HEARS_ENDS;

    fn next(&mut self, now_ns: u64) -> Next {
        let next = self.source.next(now_ns);
        if let Next::Op { due_ns, .. } = next {
            self.due_ns.set(due_ns.map(|due_ns| self.start_ns.saturating_add(due_ns)));
        }
        next
    }

    fn ended(&mut self, op: Op, now_ns: u64) {
        self.source.ended(op, now_ns);
    }

    fn may_end(&mut self) -> bool {
        self.source.may_end()
    }
}

/// A device whose operations are listed.
pub(crate) struct ListedDevice<'a, 'l, D> {
    device: &'a mut D,
    place: ListedPlace,
    /// Whether one came that is no warm-up.
    has_begun: bool,
    due_ns: &'a Cell<Option<u64>>,
    /// By slot: what is in flight, when it was due, and when it was handed over.
    flights: Vec<Option<(Op, u64, u64)>>,
    /// What came back from one call, with where its time went still to be asked for.
    ended: Vec<(bool, ListedOperation)>,
    list: OperationList<'l>,
}

impl<'a, 'l, D: Device> ListedDevice<'a, 'l, D> {
    /// A device with so many buffers.
    pub(crate) fn new(
        device: &'a mut D,
        slots: usize,
        place: ListedPlace,
        due_ns: &'a Cell<Option<u64>>,
        list: OperationList<'l>,
    ) -> Self {
        device.keep_each();
        Self { device, place, has_begun: false, due_ns, flights: vec![None; slots], ended: Vec::new(), list }
    }
}

impl<D: Device> Device for ListedDevice<'_, '_, D> {
    type Buffer = D::Buffer;

    fn take_buffers(&mut self) -> Vec<D::Buffer> {
        self.device.take_buffers()
    }

    fn now_ns(&mut self) -> u64 {
        self.device.now_ns()
    }

    fn submit(&mut self, request: Submission<D::Buffer>, now_ns: u64) -> Result<u64> {
        let due_ns = self.due_ns.take();
        if !self.has_begun && now_ns >= self.place.recorded_from_ns {
            self.has_begun = true;
            self.place.recorded_from_ns = due_ns.map_or(now_ns, |_| self.place.recorded_from_ns);
        }
        let due_ns = due_ns.unwrap_or(now_ns);
        self.flights[request.buffer.slot()] = Some((request.op, due_ns, now_ns));
        self.device.submit(request, now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<D::Buffer>)) -> Result<()> {
        let Self { device, place, flights, ended, list, .. } = self;
        device.reap(wait, &mut |completion| {
            if let Some((op, due_ns, issued_ns)) = flights[completion.buffer.slot()].take() {
                let completed_at_ns = completion.completed_at_ns;
                let operation = ListedOperation {
                    cell_index: place.cell_index,
                    repetition: place.repetition,
                    op,
                    issued_ns: issued_ns.saturating_sub(place.recorded_from_ns),
                    completed_ns: completed_at_ns.saturating_sub(place.recorded_from_ns),
                    // As the recorder counts it.
                    latency_ns: completed_at_ns.saturating_sub(due_ns.max(place.recorded_from_ns)),
                    error: completion.outcome.err(),
                    times_ns: Vec::new(),
                };
                ended.push((issued_ns >= place.recorded_from_ns, operation));
            }
            done(completion);
        })?;
        let mut each = device.take_each().into_iter();
        for (is_recorded, mut operation) in ended.drain(..) {
            operation.times_ns = each.next().unwrap_or_default();
            if is_recorded {
                list(&operation)?;
            }
        }
        Ok(())
    }
}
