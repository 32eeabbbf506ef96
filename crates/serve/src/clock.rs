//! Real time for a stack: when to sleep, when to spin, and what the operating system grants for it.
//!
//! The model: a sleep ends some ten microseconds late, and now and then a hundred. So the last stretch before something is
//! due is waited for awake. What makes sleeps shorter where it is permitted: a thread that goes before others, memory that
//! is not paged out, timers that are not put together, and a processor that does not doze.

use crate::platform;
use rustix::mm::MlockAllFlags;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZeroU64;
use std::time::Instant;

/// The last stretch before something is due: a little more than the kernel is usually late (45 µs at the median on a
/// virtual machine with timers of 1 ns).
pub const USUAL_SPIN_NS: u64 = 50_000;
/// Where the wish for a processor that does not doze goes; it holds as long as the file is open.
const PROCESSOR_LATENCY: &str = "/dev/cpu_dma_latency";

/// The stack's time in reality: nanoseconds since it began to be served.
#[derive(Clone, Copy, Debug)]
pub struct RealTime {
    start: Instant,
}

impl RealTime {
    /// Starts the clock at 0.
    pub fn begin() -> Self {
        Self { start: Instant::now() }
    }

    /// Nanoseconds since the start.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        // 64 bits hold 584 years.
        self.start.elapsed().as_nanos() as u64
    }
}

/// How to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// Do not wait: something is due.
    Not,
    /// Spin.
    Awake,
    /// Sleep, at most for so long.
    Asleep(u64),
}

/// How to wait for what is due, at a time, with the last `spin_ns` awake; at most `most_ns`.
pub fn wait_for(due_ns: Option<u64>, now_ns: u64, spin_ns: u64, most_ns: u64) -> WaitFor {
    let Some(due_ns) = due_ns else { return WaitFor::Asleep(most_ns) };
    match due_ns.saturating_sub(now_ns) {
        0 => WaitFor::Not,
        left if left <= spin_ns => WaitFor::Awake,
        left => WaitFor::Asleep((left - spin_ns).min(most_ns)),
    }
}

/// What the operating system granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grants {
    /// The thread that keeps the time goes before ordinary ones.
    pub before_others: bool,
    /// Its memory is not paged out.
    pub locked_memory: bool,
    /// Its timers fire without slack.
    pub exact_timers: bool,
    /// Processors stay out of deep idle states.
    pub awake_processors: bool,
}

/// Holds the grants; dropping it gives them up.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) grants: Grants,
    /// How many times as long as it sleeps the thread may stay awake; as long as it likes, if not said.
    pub(crate) awake_per_rest: Option<u64>,
    _awake: Option<File>,
}

/// Percent of what one may stay awake that is not taken: of a sleep, its beginning and end are on the processor.
const SPARE_PERCENT: u64 = 20;

/// What Linux grants a thread that goes before others: one that takes more of a second (usually 95 %) is stopped for the rest of it,
/// 50 ms in which nothing is in time (`sched_rt_runtime_us`, sched(7)).
fn awake_per_rest(runtime_us: &str, period_us: &str) -> Option<u64> {
    let (runtime_us, period_us) = (runtime_us.trim().parse().ok()?, period_us.trim().parse::<u64>().ok()?);
    let left_us = period_us.checked_sub(runtime_us).filter(|left_us| *left_us > 0)?;
    Some((runtime_us / left_us * (100 - SPARE_PERCENT) / 100).max(1))
}

/// Asks for all of it, for the calling thread.
pub(crate) fn ask() -> Granted {
    let awake = OpenOptions::new().write(true).open(PROCESSOR_LATENCY);
    let awake = awake.and_then(|mut file| file.write_all(&0i32.to_ne_bytes()).map(|()| file)).ok();
    let grants = Grants {
        before_others: platform::run_before_others().is_ok(),
        // What is mapped now: memory for data is not mapped, and must not be locked. A page is locked when it is there: an
        // allocator may have reserved a gigabyte that nobody will use.
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
        // Without a limit, and where the files are not there.
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
