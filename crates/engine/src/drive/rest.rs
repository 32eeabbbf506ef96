//! Operations that come back unfinished: done in part, interrupted by a signal, or to be tried again.
//!
//! The model: an operation is one operation, with its whole time, in however many calls the kernel serves it. The rest of
//! it goes from the beginning of its buffer, because whose bytes stand where is of no account here, and direct I/O wants
//! an aligned address. Nothing at all, and an error that tells of more than of haste, ends it.
//!
//! Not here: operations that come back whole, of which nobody asks.

use kurabe_core::device::{ErrorNumber, Transfer};
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::workload::{Op, OpKind};
use rustix::io::Errno;

/// How long an operation is tried without a byte being moved. A disk that sleeps starts within it; a device that wants to
/// be asked again for longer is broken.
pub(crate) const PATIENCE_NS: u64 = 10 * NS_PER_S;

/// How long who wants to end waits for a device that only asks to be tried again.
pub(crate) const FAREWELL_NS: u64 = NS_PER_S;

/// An operation that came back unfinished, perhaps more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    op: Op,
    done_bytes: u32,
    /// When a byte was moved last.
    moved_at_ns: u64,
}

/// How it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// With this operation.
    On(Op),
    /// It is whole.
    Whole,
    /// It has failed, or moved only so much.
    Over(Transfer),
}

impl Unfinished {
    /// An operation of which nothing is done yet.
    pub(crate) fn new(op: Op, now_ns: u64) -> Self {
        Self { op, done_bytes: 0, moved_at_ns: now_ns }
    }

    /// The operation, whole.
    pub(crate) fn op(&self) -> Op {
        self.op
    }

    /// Takes in what came of the last try.
    pub(crate) fn take(&mut self, outcome: Transfer, now_ns: u64) -> Continuation {
        match outcome {
            Ok(0) if self.op.length_bytes > 0 => return Continuation::Over(Ok(self.done_bytes)),
            Ok(bytes) => {
                self.done_bytes = self.done_bytes.saturating_add(bytes);
                self.moved_at_ns = now_ns;
            }
            Err(error) if !is_passing(error) || now_ns.saturating_sub(self.moved_at_ns) > PATIENCE_NS => {
                return Continuation::Over(self.failed(error));
            }
            Err(_) => {}
        }
        if self.done_bytes >= self.op.length_bytes && outcome.is_ok() {
            return Continuation::Whole;
        }
        Continuation::On(Op {
            offset_bytes: self.op.offset_bytes + u64::from(self.done_bytes),
            length_bytes: self.op.length_bytes - self.done_bytes,
            ..self.op
        })
    }

    /// Direct I/O does not take a rest that is no whole sector: then it was the first part that ended too early.
    fn failed(&self, error: ErrorNumber) -> Transfer {
        let is_unaligned_rest = error == ErrorNumber::INVALID && self.done_bytes > 0;
        if is_unaligned_rest { Ok(self.done_bytes) } else { Err(error) }
    }
}

/// Whether an operation that ends so is to be tried again as it is.
fn is_passing(error: ErrorNumber) -> bool {
    [Errno::INTR, Errno::AGAIN].iter().any(|passing| passing.raw_os_error() == error.0)
}

/// An operation of a kind that moves no bytes.
pub(crate) const SYNC: Op = Op { kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    const OP: Op = Op { kind: OpKind::Write, offset_bytes: 4096, length_bytes: 1000 };

    fn error(number: Errno) -> Transfer {
        Err(ErrorNumber(number.raw_os_error()))
    }

    /// Performs an operation whole by however many tries; a try tells what came of it and when.
    fn whole(op: Op, now_ns: u64, mut attempt: impl FnMut(Op) -> (Transfer, u64)) -> Transfer {
        let (mut unfinished, mut next) = (Unfinished::new(op, now_ns), op);
        loop {
            let (outcome, now_ns) = attempt(next);
            match unfinished.take(outcome, now_ns) {
                Continuation::On(rest) => next = rest,
                Continuation::Whole => return Ok(op.length_bytes),
                Continuation::Over(outcome) => return outcome,
            }
        }
    }

    /// The tries that were made, and what came of all.
    fn tries(outcomes: &[Transfer]) -> (Vec<(u64, u32)>, Transfer) {
        let (mut tries, mut left) = (Vec::new(), outcomes.iter());
        let outcome = whole(OP, 0, |op| {
            tries.push((op.offset_bytes, op.length_bytes));
            (*left.next().unwrap(), 0)
        });
        assert_eq!(left.len(), 0);
        (tries, outcome)
    }

    #[test]
    fn the_rest_follows_until_all_is_done() {
        let (made, outcome) = tries(&[Ok(300), error(Errno::INTR), Ok(600), error(Errno::AGAIN), Ok(100)]);
        assert_eq!(made, [(4096, 1000), (4396, 700), (4396, 700), (4996, 100), (4996, 100)]);
        assert_eq!(outcome, Ok(1000));
    }

    #[test]
    fn nothing_at_all_and_other_errors_end_it() {
        assert_eq!(tries(&[Ok(0)]).1, Ok(0));
        assert_eq!(tries(&[Ok(300), Ok(0)]).1, Ok(300));
        assert_eq!(tries(&[Ok(300), error(Errno::NOSPC)]).1, error(Errno::NOSPC));
        assert_eq!(tries(&[error(Errno::IO)]).1, error(Errno::IO));
        // A rest that direct I/O does not take is told as what was done.
        assert_eq!(tries(&[Ok(300), error(Errno::INVAL)]).1, Ok(300));
        assert_eq!(tries(&[error(Errno::INVAL)]).1, error(Errno::INVAL));
    }

    #[test]
    fn a_device_that_wants_to_be_asked_for_ever_has_failed() {
        let mut now_ns = 0;
        let outcome = whole(OP, 0, |_| {
            now_ns += NS_PER_S;
            (error(Errno::AGAIN), now_ns)
        });
        assert_eq!((outcome, now_ns), (error(Errno::AGAIN), 11 * NS_PER_S));
    }

    #[test]
    fn a_fsync_that_is_interrupted_is_tried_again() {
        let mut outcomes = [error(Errno::INTR), Ok(0)].into_iter();
        assert_eq!(whole(SYNC, 0, |_| (outcomes.next().unwrap(), 0)), Ok(0));
        assert_eq!(outcomes.len(), 0);
    }
}
