//! Closed forms of queueing theory, on a medium with constant times.

use super::{assert_near, drive, scattered, serve, stack_of};
use kurabe_core::random::Random;
use kurabe_sim::{Request, RequestKind, Stack};

const SERVICE_NS: f64 = 100_000.0;

/// A medium with 100 µs per operation of any length, and this many in parallel.
fn servers(count: &str) -> Stack {
    stack_of(&[(
        "constant",
        &[
            ("capacity", "\"1 GiB\""),
            ("access", "\"100 us\""),
            ("rate", "\"1000 TB/s\""),
            ("parallel", count),
        ],
    )])
}

/// Returns arrivals of a Poisson process: exponential gaps.
fn poisson(
    count: usize,
    mean_gap_ns: f64,
    mut request: impl FnMut(&mut Random) -> Request,
) -> Vec<(u64, Request)> {
    let mut random = Random::new(7, 0);
    let mut at_ns = 0.0;
    let arrival = |_| {
        at_ns -= mean_gap_ns * (1.0 - random.unit()).ln();
        (at_ns as u64 + 1, request(&mut random))
    };
    (0..count).map(arrival).collect()
}

/// 3 %, and 8 % at a load of 90 %: consecutive waits are correlated, so that 40,000 of them have
/// the standard error of some hundreds.
#[test]
fn one_server_makes_wait_as_m_d_1_says() {
    for (load, tolerance) in [(0.3, 0.03), (0.5, 0.03), (0.7, 0.03), (0.9, 0.08)] {
        let arrivals = poisson(40_000, SERVICE_NS / load, |_| Request::new(RequestKind::Read, 0, 4096));
        let outcome = serve(&mut servers("1"), &arrivals, usize::MAX);
        let expected = load / (2.0 * (1.0 - load)) * SERVICE_NS;
        assert_near(outcome.mean_ns() - SERVICE_NS, expected, tolerance, &format!("load {load}"));
    }
}

/// 4 %: as above, and two service times instead of one (Pollaczek and Khinchine).
#[test]
fn two_lengths_of_service_make_wait_as_m_g_1_says() {
    // 1 MB/s: 100 and 400 bytes take 100 and 400 µs.
    let mut stack = stack_of(&[(
        "constant",
        &[("capacity", "\"1 GiB\""), ("access", "\"0 ns\""), ("rate", "\"1 MB/s\""), ("parallel", "1")],
    )]);
    let (short, long) = (100e3, 400e3);
    let (mean, mean_square) = ((short + long) / 2.0, (short * short + long * long) / 2.0);
    let load = 0.6;
    let arrivals = poisson(40_000, mean / load, |random| {
        Request::new(RequestKind::Read, 0, if random.below(2) == 0 { 100 } else { 400 })
    });
    let outcome = serve(&mut stack, &arrivals, usize::MAX);
    let wait_ns = load / mean * mean_square / (2.0 * (1.0 - load));
    assert_near(outcome.mean_ns(), wait_ns + mean, 0.04, "M/G/1");
}

/// 2 %: the ends of a run of 2,000.
#[test]
fn so_many_servers_serve_so_many_times_as_much_and_no_more() {
    for (parallel, count) in [("1", 1), ("4", 4), ("16", 16)] {
        for depth in [1, 2, 4, 8, 32] {
            let requests = scattered(RequestKind::Read, 2000, 4096, 1 << 30, 8);
            let rate = drive(&mut servers(parallel), &requests, depth).per_s();
            let expected = depth.min(count) as f64 * 1e9 / SERVICE_NS;
            assert_near(rate, expected, 0.02, &format!("{parallel} servers at depth {depth}"));
        }
    }
}

/// Exact: the model has no state that does not scale with time.
#[test]
fn a_device_of_half_the_speed_takes_twice_as_long() {
    let lengths = |access: &str, rate: &str| {
        let parameters = [("capacity", "\"1 GiB\""), ("access", access), ("rate", rate), ("parallel", "3")];
        let mut stack = stack_of(&[("constant", &parameters)]);
        drive(&mut stack, &scattered(RequestKind::Read, 500, 4000, 1 << 30, 9), 7).latencies_ns
    };
    let (fast, slow) = (lengths("\"100 us\"", "\"100 MB/s\""), lengths("\"200 us\"", "\"50 MB/s\""));
    assert_eq!(fast.iter().map(|latency_ns| 2 * latency_ns).collect::<Vec<_>>(), slow);
}
