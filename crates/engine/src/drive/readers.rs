//! The readers of a trace: each of its units is one, and has one operation in flight.
//!
//! The model: threads of a program, each of which waits for what it asked before it asks for more. A reader's next
//! operation comes when the one before has ended and the pause between them in the trace is over. So what a slow target
//! delays is what follows in the same reader, and nothing else: the order of operations is the target's, not the trace's.

use kurabe_core::{trace::Trace, workload::Op};

/// What the readers have to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The operation of the trace at this place, by this reader.
    Operation { reader: usize, place: usize },
    /// Nothing before this time, in ns from the start; `u64::MAX` before an operation ends.
    NotBefore(u64),
    /// Nothing any more.
    End,
}

#[derive(Clone, Debug)]
struct TraceReader {
    /// Places of its operations in the trace.
    places: Vec<usize>,
    next: usize,
    /// Nothing before this time, in ns from the start.
    ready_ns: u64,
    in_flight: Option<Op>,
}

/// All readers of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    all: Vec<TraceReader>,
    /// Who is asked next.
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

    /// What comes next; the caller says what it made of an operation by [`Self::sent`].
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

    /// An operation ended. Of equal ones it does not matter whose.
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
