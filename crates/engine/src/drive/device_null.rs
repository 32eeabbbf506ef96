//! A device in virtual time for tests. It completes operations according to a script and logs all
//! of them, so that tests can check which operations are issued, in which order, and when.
//!
//! Every operation takes its own latency, independent of other operations in flight. Reads end at
//! the end of the device.

use crate::drive::device_idle::NoBuffer;
use kurabe_core::Result;
use kurabe_core::device::{Completion, Device, ErrorNumber, Submission, Wait};
use kurabe_core::workload::{Op, OpKind};
use rustix::io::Errno;
use std::collections::VecDeque;

/// The behaviour of the device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// Latency of every operation, in ns.
    pub latency_ns: u64,
    /// Latency of writes in ns, if different.
    pub write_latency_ns: Option<u64>,
    /// Latency of syncs in ns, if different.
    pub sync_latency_ns: Option<u64>,
    /// Zero-based number of one operation, and its latency in ns.
    pub slow: Option<(u64, u64)>,
    /// Number of an operation that fails with EIO.
    pub fail_at: Option<u64>,
    /// Every n-th operation is unfinished: half of it is done, or a sync is interrupted.
    pub cut_every: Option<u64>,
    /// Number of the operation from which on all must be retried.
    pub again_from: Option<u64>,
    /// Size of the device in bytes, if it is limited.
    pub size_bytes: Option<u64>,
}

/// An operation in the log of the null device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The operation.
    pub op: Op,
    /// Submission time in ns.
    pub submitted_at_ns: u64,
    /// Completion time in ns.
    pub completed_at_ns: u64,
}

/// A device that follows a script.
pub struct NullDevice {
    depth: usize,
    script: Script,
    now_ns: u64,
    log: Vec<Logged>,
    in_flight: VecDeque<Completion<NoBuffer>>,
}

impl NullDevice {
    /// Creates a device with room for `depth` operations.
    pub fn new(depth: usize, script: Script) -> Self {
        Self { depth, script, now_ns: 0, log: Vec::new(), in_flight: VecDeque::with_capacity(depth) }
    }

    /// Returns all operations so far, in submission order.
    pub fn log(&self) -> &[Logged] {
        &self.log
    }

    fn latency_ns(&self, kind: OpKind) -> u64 {
        let Script { latency_ns, write_latency_ns, sync_latency_ns, slow, .. } = self.script;
        let number = self.log.len() as u64;
        let usual_ns = match kind {
            OpKind::Read => None,
            OpKind::Write => write_latency_ns,
            OpKind::Sync | OpKind::Trim => sync_latency_ns,
        };
        slow.filter(|(at, _)| *at == number).map_or(usual_ns.unwrap_or(latency_ns), |(_, slow_ns)| slow_ns)
    }
}

impl Device for NullDevice {
    type Buffer = NoBuffer;

    fn take_buffers(&mut self) -> Vec<NoBuffer> {
        NoBuffer::count(self.depth)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns
    }

    fn submit(&mut self, Submission { op, buffer }: Submission<NoBuffer>, now_ns: u64) -> Result<u64> {
        let completed_at_ns = self.now_ns + self.latency_ns(op.kind);
        let left_bytes = self.script.size_bytes.map_or(u64::MAX, |size| size.saturating_sub(op.offset_bytes));
        let number = self.log.len() as u64;
        let is_cut = self.script.cut_every.is_some_and(|every| number % every == every - 1);
        let outcome = if self.script.fail_at == Some(number) {
            Err(ErrorNumber::IO)
        } else if self.script.again_from.is_some_and(|from| number >= from) {
            Err(ErrorNumber(Errno::AGAIN.raw_os_error()))
        } else if is_cut && op.length_bytes < 2 {
            Err(ErrorNumber(Errno::INTR.raw_os_error()))
        } else {
            let length_bytes = if is_cut { op.length_bytes / 2 } else { op.length_bytes };
            Ok(length_bytes.min(u32::try_from(left_bytes).unwrap_or(u32::MAX)))
        };
        self.log.push(Logged { op, submitted_at_ns: self.now_ns, completed_at_ns });
        let at = self.in_flight.partition_point(|other| other.completed_at_ns <= completed_at_ns);
        self.in_flight.insert(at, Completion { buffer, outcome, completed_at_ns });
        Ok(now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<NoBuffer>)) -> Result<()> {
        let limit_ns = match wait {
            Wait::One => u64::MAX,
            Wait::Until(limit) => limit.max(self.now_ns),
        };
        match self.in_flight.front() {
            Some(first) if first.completed_at_ns <= limit_ns => {
                self.now_ns = self.now_ns.max(first.completed_at_ns);
                while self.in_flight.front().is_some_and(|next| next.completed_at_ns <= self.now_ns) {
                    self.in_flight.pop_front().into_iter().for_each(&mut *done);
                }
            }
            _ if limit_ns < u64::MAX => self.now_ns = limit_ns,
            _ => {}
        }
        Ok(())
    }
}
