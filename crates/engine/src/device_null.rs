//! A device in virtual time that completes operations as a script says, for the tests of the driver.

use crate::device_idle::NoBuffer;
use kurabe_core::Result;
use kurabe_core::device::{Completion, Device, Request, Wait};
use std::collections::VecDeque;

/// What the device does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// Latency of every operation.
    pub latency_ns: u64,
    /// The number of one operation, from 0, and its own latency.
    pub slow: Option<(u64, u64)>,
    /// The number of an operation that fails with EIO.
    pub fail_at: Option<u64>,
}

/// The device.
pub struct NullDevice {
    depth: usize,
    script: Script,
    now_ns: u64,
    count: u64,
    in_flight: VecDeque<Completion<NoBuffer>>,
}

impl NullDevice {
    /// A device that holds `depth` operations.
    pub fn new(depth: usize, script: Script) -> Self {
        Self { depth, script, now_ns: 0, count: 0, in_flight: VecDeque::with_capacity(depth) }
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

    fn submit(&mut self, Request { op, buffer }: Request<NoBuffer>, now_ns: u64) -> Result<u64> {
        let slow = self.script.slow.filter(|(number, _)| *number == self.count);
        let latency_ns = slow.map_or(self.script.latency_ns, |(_, latency)| latency);
        let outcome = if self.script.fail_at == Some(self.count) { Err(5) } else { Ok(op.length_bytes) };
        self.count += 1;
        let completed_at_ns = self.now_ns + latency_ns;
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
