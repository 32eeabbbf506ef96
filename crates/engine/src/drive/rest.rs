//! Unfinished operations: completed in part, interrupted by a signal, or to be retried.
//!
//! An operation counts once, with its whole duration, no matter how many calls the kernel needs.
//! The rest of it uses the beginning of its buffer, because the content does not matter here and
//! direct I/O requires an aligned address. A completion without any bytes and any non-transient
//! error end the operation.
//!
//! Operations that complete in full are not handled here.

use kurabe_core::device::{ErrorNumber, Transfer};
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::workload::{Op, OpKind};
use rustix::io::Errno;

/// How long an operation is retried without progress, in ns. A sleeping disk spins up within this
/// time. A device that requests retries for longer is broken.
pub(crate) const PATIENCE_NS: u64 = 10 * NS_PER_S;

/// How long a thread that wants to end waits for a device that only requests retries, in ns.
pub(crate) const EXIT_PATIENCE_NS: u64 = NS_PER_S;

/// An operation that returned unfinished, possibly more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    op: Op,
    done_bytes: u32,
    /// Time of the last progress, in ns.
    moved_at_ns: u64,
}

/// How an unfinished operation continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// Submit this operation.
    On(Op),
    /// The operation is complete.
    Whole,
    /// The operation has failed, or ended with this many bytes.
    Over(Transfer),
}

impl Unfinished {
    /// Creates an operation without progress.
    pub(crate) fn new(op: Op, now_ns: u64) -> Self {
        Self { op, done_bytes: 0, moved_at_ns: now_ns }
    }

    /// Returns the whole operation.
    pub(crate) fn op(&self) -> Op {
        self.op
    }

    /// Handles the outcome of the last attempt.
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

    /// Direct I/O rejects a rest that is not a multiple of the sector size. In that case, the first
    /// part ended too early.
    fn failed(&self, error: ErrorNumber) -> Transfer {
        let is_unaligned_rest = error == ErrorNumber::INVALID && self.done_bytes > 0;
        if is_unaligned_rest { Ok(self.done_bytes) } else { Err(error) }
    }
}

/// Returns whether an operation with this error must be retried unchanged.
fn is_passing(error: ErrorNumber) -> bool {
    [Errno::INTR, Errno::AGAIN].iter().any(|passing| passing.raw_os_error() == error.0)
}

/// An operation that transfers no bytes.
pub(crate) const SYNC: Op = Op { kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    const OP: Op = Op { kind: OpKind::Write, offset_bytes: 4096, length_bytes: 1000 };

    fn error(number: Errno) -> Transfer {
        Err(ErrorNumber(number.raw_os_error()))
    }

    /// Performs a whole operation in any number of attempts. An attempt returns its outcome and
    /// time.
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

    /// Returns the attempts made, and the overall outcome.
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
        // If direct I/O rejects the rest, the number of completed bytes is reported.
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
