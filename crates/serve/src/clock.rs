//! Real time for a stack: when to sleep, when to spin, and what the operating system grants for it.
//!
//! A sleep ends some ten microseconds late, and occasionally a hundred. The last stretch before a
//! due time is therefore spent spinning. Sleeps are shorter with certain privileges: real-time
//! priority, locked memory, timers without slack, and processors that stay out of deep idle states.

use crate::platform;
use rustix::mm::MlockAllFlags;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZeroU64;
use std::time::Instant;

/// Time before a due event that is spent spinning, in ns: a little more than the kernel's usual
/// delay (45 µs at the median on a virtual machine with timers of 1 ns).
pub const USUAL_SPIN_NS: u64 = 50_000;
/// File to which the request for low processor latency is written; it is in effect while the file
/// is open.
const PROCESSOR_LATENCY: &str = "/dev/cpu_dma_latency";

/// Real time of a stack, in nanoseconds since serving began.
#[derive(Clone, Copy, Debug)]
pub struct RealTime {
    start: Instant,
}

impl RealTime {
    /// Starts the clock at 0.
    pub fn begin() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns the nanoseconds since the start.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        // 64 bits hold 584 years.
        self.start.elapsed().as_nanos() as u64
    }
}

/// A way to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Do not wait: something is due.
    Not,
    /// Spin.
    Awake,
    /// Sleep for at most this many nanoseconds.
    Asleep(u64),
}

/// Decides how to wait for a due time, spinning for the last `spin_ns` and waiting for at most
/// `most_ns`.
pub fn wait_for(due_ns: Option<u64>, now_ns: u64, spin_ns: u64, most_ns: u64) -> WaitFor {
    let Some(due_ns) = due_ns else { return WaitFor::Asleep(most_ns) };
    match due_ns.saturating_sub(now_ns) {
        0 => WaitFor::Not,
        left if left <= spin_ns => WaitFor::Awake,
        left => WaitFor::Asleep((left - spin_ns).min(most_ns)),
    }
}

/// Privileges that the operating system granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grants {
    /// The timekeeping thread has real-time priority.
    pub before_others: bool,
    /// Its memory is not paged out.
    pub locked_memory: bool,
    /// Its timers fire without slack.
    pub exact_timers: bool,
    /// Processors stay out of deep idle states.
    pub awake_processors: bool,
}

/// Holds the grants, and releases them when dropped.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) grants: Grants,
    /// How many times as long as it sleeps the thread may stay awake; unlimited if `None`.
    pub(crate) awake_per_rest: Option<u64>,
    _awake: Option<File>,
}

/// Percentage of the allowed time that is not used, because entering and leaving a sleep takes
/// processor time.
const SPARE_PERCENT: u64 = 20;

/// Computes how many times as long as it sleeps a thread with real-time priority may stay awake.
/// Linux stops a thread that uses more of a second (usually 95 %) for the rest of it, 50 ms in which
/// no answer is in time (`sched_rt_runtime_us`, sched(7)).
fn awake_per_rest(runtime_us: &str, period_us: &str) -> Option<u64> {
    let (runtime_us, period_us) = (runtime_us.trim().parse().ok()?, period_us.trim().parse::<u64>().ok()?);
    let left_us = period_us.checked_sub(runtime_us).filter(|left_us| *left_us > 0)?;
    Some((runtime_us / left_us * (100 - SPARE_PERCENT) / 100).max(1))
}

/// Requests all privileges for the calling thread.
pub(crate) fn ask() -> Granted {
    let awake = OpenOptions::new().write(true).open(PROCESSOR_LATENCY);
    let awake = awake.and_then(|mut file| file.write_all(&0i32.to_ne_bytes()).map(|()| file)).ok();
    let grants = Grants {
        before_others: platform::run_before_others().is_ok(),
        // Locks only what is mapped now: the data is not mapped and must not be locked. A page is
        // locked when it is first used, because an allocator may have reserved a gigabyte that
        // remains unused.
        locked_memory: rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT).is_ok(),
        exact_timers: rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).is_ok(),
        awake_processors: awake.is_some(),
    };
    let set = |name: &str| {
        std::fs::read_to_string(format!("/proc/sys/kernel/sched_rt_{name}_us")).unwrap_or_default()
    };
    let awake_per_rest =
        grants.before_others.then(|| awake_per_rest(&set("runtime"), &set("period"))).flatten();
    Granted { grants, awake_per_rest, _awake: awake }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_before_others_rests_before_the_kernel_stops_it() {
        assert_eq!(awake_per_rest("950000\n", "1000000\n"), Some(15));
        assert_eq!(awake_per_rest("500000", "1000000"), Some(1));
        // Without a limit, and if the files do not exist.
        for (runtime, period) in [("-1", "1000000"), ("1000000", "1000000"), ("", "")] {
            assert_eq!(awake_per_rest(runtime, period), None);
        }
    }

    #[test]
    fn the_last_stretch_is_waited_for_awake() {
        let wait = |due: Option<u64>, spin| wait_for(due, 1_000, spin, 5_000);
        assert_eq!(wait(None, 50), WaitFor::Asleep(5_000));
        assert_eq!(wait(Some(900), 50), WaitFor::Not);
        assert_eq!(wait(Some(1_000), 0), WaitFor::Not);
        assert_eq!(wait(Some(1_050), 50), WaitFor::Awake);
        assert_eq!(wait(Some(1_051), 50), WaitFor::Asleep(1));
        assert_eq!(wait(Some(1_051), 0), WaitFor::Asleep(51));
        assert_eq!(wait(Some(9_000), 50), WaitFor::Asleep(5_000));
    }
}
