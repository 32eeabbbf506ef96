//! The real clock, its resolution and its cost.

use kurabe_core::record::Instrument;
use kurabe_core::{Error, Result};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

/// Returns monotonic time in ns. `CLOCK_MONOTONIC` is read in user space on every common Linux,
/// without a system call.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Sleeps until the clock reaches `until_ns`. The end is an absolute time, so a delay before this
/// thread sleeps does not prolong the sleep.
pub fn sleep_until(until_ns: u64) {
    let until =
        Timespec { tv_sec: (until_ns / 1_000_000_000) as i64, tv_nsec: (until_ns % 1_000_000_000) as i64 };
    while monotonic_ns() < until_ns {
        // A signal ends the sleep early.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &until);
    }
}

/// Measures the clock: the smallest observed step, and the mean cost of a reading. Takes less than
/// a millisecond.
pub fn measure_clock() -> Instrument {
    const READINGS: u32 = 10_000;
    let start = monotonic_ns();
    let (mut last, mut resolution) = (start, u64::MAX);
    for _ in 0..READINGS {
        let now = monotonic_ns();
        if now > last {
            resolution = resolution.min(now - last);
        }
        last = now;
    }
    Instrument { clock_resolution_ns: resolution, clock_cost_ns: (last - start) as f64 / f64::from(READINGS) }
}

/// Measures the time in ns from one sleeping thread waking another until the other runs. Returns
/// the mean over several thousand wake-ups.
///
/// # Errors
/// Fails if a thread can't be started.
pub fn wake_time_ns() -> Result<f64> {
    const ROUNDS: u32 = 2000;
    let is_second = &AtomicBool::new(false);
    let sleep_until = |turn: bool| {
        while is_second.load(Ordering::Acquire) != turn {
            std::thread::park();
        }
    };
    let first = std::thread::current();
    let start = monotonic_ns();
    std::thread::scope(|scope| {
        let second = Builder::new().spawn_scoped(scope, move || {
            for _ in 0..ROUNDS {
                sleep_until(true);
                is_second.store(false, Ordering::Release);
                first.unpark();
            }
        });
        let second = second.map_err(|error| Error::no_thread(&error))?;
        for _ in 0..ROUNDS {
            is_second.store(true, Ordering::Release);
            second.thread().unpark();
            sleep_until(false);
        }
        Ok(())
    })?;
    Ok((monotonic_ns() - start) as f64 / f64::from(2 * ROUNDS))
}
