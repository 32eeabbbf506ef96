//! The clock of a hub: when it polled the sockets, held answers, and may stay awake.

use crate::clock::{Granted, Grants, RealTime};
use std::time::Duration;

/// Duration of a rest. A shorter one ends before the processor is given away, and a longer one
/// delays more answers.
const REST_NS: u64 = 50_000;
/// Longest time that a sleep allows the thread to stay awake. The kernel checks each second
/// separately.
const MOST_AWAKE_NS: u64 = 10_000_000;

pub(super) struct HubClock {
    time: RealTime,
    granted: Granted,
    /// Time until which this thread may stay awake without being throttled by the kernel.
    awake_until_ns: u64,
    /// Time of the last housekeeping.
    pub(super) checked_ns: u64,
    /// Time at which the sockets were last polled.
    pub(super) looked_ns: u64,
    /// Arrival time given to what the last poll found. It arrived after the previous poll, at an
    /// unknown time.
    pub(super) heard_ns: u64,
    /// Time spent waiting for due answers that were ready, which does not count as work.
    held_ns: u64,
}

impl HubClock {
    pub(super) fn new(time: RealTime, granted: Granted) -> Self {
        let awake_until_ns = if granted.awake_per_rest.is_some() { MOST_AWAKE_NS } else { u64::MAX };
        Self { time, granted, awake_until_ns, checked_ns: 0, looked_ns: 0, heard_ns: 0, held_ns: 0 }
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.time.now_ns()
    }

    /// Returns what the operating system granted.
    pub(super) fn grants(&self) -> &Grants {
        &self.granted.grants
    }

    /// Rests if the thread was awake for too long. Returns the current time.
    pub(super) fn rest(&mut self) -> u64 {
        let now_ns = self.now_ns();
        if now_ns <= self.awake_until_ns {
            return now_ns;
        }
        std::thread::sleep(Duration::from_nanos(REST_NS));
        self.wake(now_ns)
    }

    /// Records a sleep since `from_ns`, which extends the time that the thread may stay awake.
    /// Returns the current time.
    pub(super) fn wake(&mut self, from_ns: u64) -> u64 {
        let now_ns = self.now_ns();
        if let Some(times) = self.granted.awake_per_rest {
            let earned_ns = (now_ns - from_ns) * (times + 1);
            self.awake_until_ns = (self.awake_until_ns.max(from_ns) + earned_ns).min(now_ns + MOST_AWAKE_NS);
        }
        now_ns
    }

    /// Records that the sockets are polled now.
    pub(super) fn look(&mut self) {
        let now_ns = self.now_ns();
        self.heard_ns = std::mem::replace(&mut self.looked_ns, now_ns).midpoint(now_ns);
    }

    /// Waits until an answer that is ready is due, which is in a moment.
    pub(super) fn hold_until(&mut self, due_ns: u64) {
        let from_ns = self.now_ns();
        let mut now_ns = from_ns;
        while now_ns < due_ns {
            std::hint::spin_loop();
            now_ns = self.now_ns();
        }
        self.held_ns += now_ns - from_ns;
    }

    /// Returns the time spent waiting for due answers since the last call.
    pub(super) fn take_held_ns(&mut self) -> u64 {
        std::mem::take(&mut self.held_ns)
    }
}
