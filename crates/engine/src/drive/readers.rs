//! The readers of a trace. Each unit of the trace is one reader with one operation in flight.
//!
//! A reader models a program thread that waits for each result before it makes the next request. A
//! reader's next operation is issued when the previous one has completed and the recorded pause
//! between them is over. A slow target therefore delays only later operations of the same reader,
//! and the order of operations is determined by the target, not by the trace.

use kurabe_core::{trace::Trace, workload::Op};

/// The next request of the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The operation at this index of the trace, from this reader.
    Operation { reader: usize, place: usize },
    /// Nothing before this time, in ns from the start. `u64::MAX` means until an operation
    /// completes.
    NotBefore(u64),
    /// No more operations.
    End,
}

#[derive(Clone, Debug)]
struct TraceReader {
    /// Indexes of its operations in the trace.
    places: Vec<usize>,
    next: usize,
    /// Earliest time of its next operation, in ns from the start.
    ready_ns: u64,
    in_flight: Option<Op>,
}

/// All readers of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    all: Vec<TraceReader>,
    /// The reader to ask next.
    turn: usize,
}

impl Readers {
    pub(crate) fn new(trace: &Trace) -> Self {
        let reader = TraceReader { places: Vec::new(), next: 0, ready_ns: 0, in_flight: None };
        let mut all = vec![reader; trace.units.len()];
        for (place, operation) in trace.operations.iter().enumerate() {
            let reader = &mut all[operation.unit as usize];
            if reader.places.is_empty() {
                reader.ready_ns = operation.at_ns;
            }
            reader.places.push(place);
        }
        Self { all, turn: 0 }
    }

    /// Returns the next request. The caller reports the resulting operation with [`Self::sent`].
    pub(crate) fn ask(&mut self, now_ns: u64) -> Demand {
        let mut soonest = Demand::End;
        for _ in 0..self.all.len() {
            let turn = self.turn;
            self.turn = (turn + 1) % self.all.len();
            let reader = &self.all[turn];
            let Some(place) = reader.places.get(reader.next).copied() else { continue };
            let ready_ns = if reader.in_flight.is_some() { u64::MAX } else { reader.ready_ns };
            if ready_ns <= now_ns {
                return Demand::Operation { reader: turn, place };
            }
            soonest = match soonest {
                Demand::NotBefore(other_ns) => Demand::NotBefore(other_ns.min(ready_ns)),
                _ => Demand::NotBefore(ready_ns),
            };
        }
        soonest
    }

    pub(crate) fn sent(&mut self, reader: usize, op: Op) {
        let reader = &mut self.all[reader];
        reader.in_flight = Some(op);
        reader.next += 1;
    }

    /// Handles the completion of an operation. If several equal ones are in flight, any of them may
    /// be chosen.
    pub(crate) fn ended(&mut self, op: Op, now_ns: u64, trace: &Trace) {
        let Some(reader) = self.all.iter_mut().find(|reader| reader.in_flight == Some(op)) else { return };
        reader.in_flight = None;
        let Some(next) = reader.places.get(reader.next) else { return };
        let before = &trace.operations[reader.places[reader.next - 1]];
        let end_ns = before.at_ns.saturating_add(u64::from(before.took_ns));
        let pause_ns = trace.operations[*next].at_ns.saturating_sub(end_ns);
        reader.ready_ns = now_ns.saturating_add(pause_ns);
    }
}
