//! Laws of every model of the library.

use super::{all, assert_near, device, drive, scattered, serve};
use kurabe_core::random::Random;
use kurabe_sim::{Request, RequestKind, Stack};
use kurabe_testkit::sampled;

fn mixed(stack: &Stack, count: u64, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed, 2);
    let span_bytes = stack.capacity_bytes().min(256 << 20);
    let request = |_| {
        let length_bytes = [4096u32, 16_384, 65_536][random.below(3) as usize];
        let kind = if random.below(3) == 0 { RequestKind::Write } else { RequestKind::Read };
        Request::new(kind, random.below(span_bytes / 65_536) * 65_536, length_bytes)
    };
    (0..count).map(request).collect()
}

/// Exact: every ns of a latency has a cause.
#[test]
fn accounts_sum_to_the_latencies() {
    for name in sampled(all(), 16) {
        let mut stack = device(name, &[]);
        let requests = mixed(&stack, 60, 1);
        let outcome = drive(&mut stack, &requests, 4);
        let shares_ns: u64 = outcome.account.shares.iter().map(|share| share.time_ns).sum();
        assert_eq!(shares_ns, outcome.latencies_ns.iter().sum::<u64>(), "{name}");
        let unexplained = outcome.account.shares.iter().find(|share| share.cause == "unexplained");
        assert_eq!(unexplained, None, "{name}");
    }
}

/// Exact: the requests in flight, over time, are the sum of the latencies (Little 1961).
#[test]
fn requests_in_flight_are_throughput_times_latency() {
    for name in sampled(all(), 16) {
        for depth in [1, 5] {
            let mut stack = device(name, &[]);
            let requests = mixed(&stack, 60, 2);
            let outcome = drive(&mut stack, &requests, depth);
            let latencies_ns: u128 = outcome.latencies_ns.iter().map(|ns| u128::from(*ns)).sum();
            assert_eq!(outcome.in_flight_ns, latencies_ns, "{name} at depth {depth}");
        }
    }
}

/// Exact: the seed is a model's only source of randomness.
#[test]
fn the_same_requests_take_the_same_times() {
    for name in sampled(all(), 16) {
        let run = || {
            let mut stack = device(name, &[]);
            let requests = mixed(&stack, 60, 3);
            drive(&mut stack, &requests, 4).latencies_ns
        };
        assert_eq!(run(), run(), "{name}");
    }
}

/// Exact: of two reads at the same position, from the same state of the device, the longer one
/// takes no less time.
#[test]
fn more_bytes_never_take_less_time() {
    for name in sampled(all(), 16) {
        let latency_ns = |length_bytes: u32| {
            let mut stack = device(name, &[]);
            drive(&mut stack, &[Request::new(RequestKind::Read, 8 << 20, length_bytes)], 1).latencies_ns[0]
        };
        let lengths = [512, 4096, 16_384, 65_536, 262_144, 1 << 20];
        let latencies: Vec<u64> = lengths.into_iter().map(latency_ns).collect();
        assert!(latencies.is_sorted(), "{name}: {latencies:?}");
    }
}

/// 2 %: the last requests of a run have no others in flight, and selecting the nearest of many
/// requests is occasionally worse than their order.
#[test]
fn a_deeper_queue_never_lowers_the_throughput_of_random_reads() {
    for name in sampled(all(), 16) {
        let rate = |depth: usize| {
            let mut stack = device(name, &[]);
            let span_bytes = stack.capacity_bytes().min(1 << 30);
            drive(&mut stack, &scattered(RequestKind::Read, 300, 4096, span_bytes, 4), depth).per_s()
        };
        let rates = [1, 2, 4, 8, 32].map(rate);
        for pair in rates.windows(2) {
            assert!(pair[1] >= pair[0] * 0.98, "{name}: {rates:?}");
        }
    }
}

/// 4 %: four times the standard error of a mean of 400 rotational latencies, which are uniformly
/// distributed over a revolution that is at most half of the latency.
#[test]
fn at_one_percent_of_its_rate_a_device_has_its_latency_of_one_at_a_time() {
    for name in sampled(all(), 16) {
        let mut stack = device(name, &[]);
        // Over the whole span, so that hardly any data read ahead in a pause are requested.
        let span_bytes = stack.capacity_bytes();
        let requests = scattered(RequestKind::Read, 400, 4096, span_bytes, 5);
        let alone = drive(&mut stack, &requests, 1);
        let pause_ns = alone.mean_ns() * 100.0;
        let mut random = Random::new(6, 0);
        let mut due_ns = 0;
        let due: Vec<(u64, Request)> = requests
            .iter()
            .map(|request| {
                due_ns += (pause_ns * (0.5 + random.unit())) as u64;
                (due_ns, *request)
            })
            .collect();
        let open = serve(&mut device(name, &[]), &due, 64);
        assert_near(open.mean_ns(), alone.mean_ns(), 0.04, name);
    }
}
