//! Wrappers around a device and a source that report every operation.
//!
//! The source knows when an operation was due, and the device knows when it was submitted and
//! completed. The driver does not know about them, so a run without a list has no overhead. On real
//! storage, `every_operation.rs` has this role.

use crate::drive::source::{Next, Source};
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::listed::{ListedOperation, OperationList};
use kurabe_core::{Result, workload::Op};
use std::cell::Cell;

/// The cell and repetition of listed operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedPlace {
    /// Zero-based index of their cell in the run.
    pub(crate) cell_index: u32,
    /// Zero-based index of their repetition.
    pub(crate) repetition: u32,
    /// Operations submitted before this time, on the device's clock, are warm-up. The first of the
    /// others starts the recording, unless it had a due time.
    pub(crate) recorded_from_ns: u64,
}

/// A source that exposes the due times of its operations.
pub(crate) struct Dues<'a, S> {
    pub(crate) source: &'a mut S,
    /// The device's time at the source's zero.
    pub(crate) start_ns: u64,
    /// Due time of the most recently issued operation, on the device's clock.
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
    /// Whether an operation after the warm-up has been submitted.
    has_begun: bool,
    due_ns: &'a Cell<Option<u64>>,
    /// Operations in flight by slot, with due time and submission time.
    flights: Vec<Option<(Op, u64, u64)>>,
    /// Completions of one call whose time breakdown has not been read yet.
    ended: Vec<(bool, ListedOperation)>,
    list: OperationList<'l>,
}

impl<'a, 'l, D: Device> ListedDevice<'a, 'l, D> {
    /// Wraps a device with `slots` buffers.
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
                    // Computed in the same way as by the recorder.
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
