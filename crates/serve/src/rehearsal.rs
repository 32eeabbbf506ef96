//! Computes the rate that the model would have given: the same requests in virtual time, at the
//! same depth.
//!
//! A client that is delayed sends fewer requests, and a device with fewer requests is faster. The
//! times of its requests in the stack therefore do not show the rate it would have reached. Instead
//! the last requests are sent to a fresh stack again, each as soon as one completes. This stack has
//! another history, so its rate is bounded: from above by the time that the requests took in the
//! served stack at that depth (Little's law, exact if nothing was delayed), and from below by the
//! client's actual rate. This takes some ten milliseconds, so the timekeeping thread does not do it.

use kurabe_core::random::Random;
use kurabe_sim::{DeviceSpec, Request, RequestKind, Stack};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Share of the model's rate from which the model counts as the client's limit.
const GOOD_SHARE: f64 = 0.95;
/// Busy share from which a thread has no time to spare: it polls the sockets in the rest.
const BOUND_SHARE: f64 = 0.8;
/// Depths, number of reads and size of reads that are tried at the start.
const DEPTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];
const TRIED_READS: u64 = 512;
const READ_BYTES: u64 = 4096;
/// Size of a trim: at most as much as the kernel sends in one request.
const TRIM_BYTES: u64 = 1 << 30;
/// Token of these requests in the stack, which may have others in flight.
const TOKEN: u64 = u64::MAX;

/// Limit of a client's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServedLimit {
    /// The model, as intended.
    Model,
    /// The client, which had no requests in flight for part of the time.
    Client,
    /// The server's own work.
    Server,
    /// The path to the server and back, which takes longer than the model.
    Way,
    /// Other load on these processors.
    Others,
}

/// Depth and rate of the clients, from the last answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientFigures {
    /// Number of answers.
    pub answers: u64,
    /// Mean number of requests in flight.
    pub depth: f64,
    /// Answers per second.
    pub rate_per_s: f64,
    /// Answers per second of the model for these requests at this depth.
    pub model_rate_per_s: f64,
    /// Limit of the rate.
    pub limit: ServedLimit,
}

/// Input of a rehearsal: the stack, the requests, and how they were answered.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    pub(crate) spec: DeviceSpec,
    pub(crate) seed: u64,
    pub(crate) requests: Vec<Request>,
    /// Time in which they were answered.
    pub(crate) span_ns: u64,
    pub(crate) depth: f64,
    /// Depth as seen by the stack.
    pub(crate) depth_in_model: f64,
    /// Depth of the requests that were due but not answered.
    pub(crate) depth_late: f64,
    pub(crate) busy_share: f64,
    pub(crate) round_trip_ns: u64,
}

impl Rehearsal {
    pub(crate) fn run(self) -> Option<ClientFigures> {
        let answers = self.requests.len();
        let rate_per_s = answers as f64 * 1e9 / self.span_ns as f64;
        // A client with a depth below 1 is idle between two requests.
        let slots = self.depth.max(1.0);
        let mut stack = Stack::new(&self.spec, self.seed).ok()?;
        let model_ns = closed_loop_ns(&mut stack, &self.requests, slots.round() as usize) as f64;
        let by_law_per_s = rate_per_s * slots / self.depth_in_model;
        // A model that takes no time completes at most one request per nanosecond.
        let model_rate_per_s =
            (answers as f64 * 1e9 / model_ns.max(answers as f64)).max(rate_per_s).min(by_law_per_s);
        let service_ns = self.depth_in_model * 1e9 / rate_per_s;
        let depth_before = self.depth - self.depth_in_model - self.depth_late;
        let is_before = depth_before > self.depth_late;
        // While other requests are in the stack, its time is past the arrival less the round trip.
        // A request that waits for longer is waiting for its data to be copied.
        let is_way = is_before || service_ns < self.round_trip_ns as f64;
        let is_held_up = is_before && depth_before * 1e9 / rate_per_s > self.round_trip_ns as f64;
        let limit = match () {
            () if rate_per_s >= GOOD_SHARE * model_rate_per_s => ServedLimit::Model,
            () if self.depth_in_model >= GOOD_SHARE * self.depth => ServedLimit::Client,
            () if is_held_up || self.busy_share >= BOUND_SHARE => ServedLimit::Server,
            () if is_way => ServedLimit::Way,
            () => ServedLimit::Others,
        };
        let (answers, depth) = (answers as u64, self.depth);
        Some(ClientFigures { answers, depth, rate_per_s, model_rate_per_s, limit })
    }
}

/// How far a machine keeps up with a model that is faster, for random reads of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeepingUp {
    /// Largest depth at which it keeps up; 0 if it does not even at 1.
    pub depth: usize,
    /// Rate of the model at this depth; at depth 0, the rate of this machine at depth 1.
    pub rate_per_s: f64,
    /// Rate of the model at the largest depth that is tried.
    pub model_rate_per_s: f64,
}

/// Determines how far the machine keeps up with a fresh stack, from the server's time per request
/// and the round trip. `None` if it keeps up at all depths.
pub(crate) fn keeping_up(stack: &mut Stack, request_ns: u64, round_trip_ns: u64) -> Option<KeepingUp> {
    let mut random = Random::new(1, 0);
    let places = (stack.capacity_bytes() / READ_BYTES).max(1);
    let mut read = |_| Request::new(RequestKind::Read, random.below(places) * READ_BYTES, READ_BYTES as u32);
    let begun = Instant::now();
    let model_ns = DEPTHS.map(|depth| {
        let requests: Vec<Request> = (0..TRIED_READS).map(&mut read).collect();
        closed_loop_ns(stack, &requests, depth) / TRIED_READS
    });
    let computed_ns = begun.elapsed().as_nanos() as u64 / (TRIED_READS * DEPTHS.len() as u64);
    how_far(model_ns, |depth| (round_trip_ns / depth as u64).max(request_ns + computed_ns))
}

/// Compares the time per answer in the model with that on this machine, at each depth.
fn how_far(model_ns: [u64; DEPTHS.len()], own_ns: impl Fn(usize) -> u64) -> Option<KeepingUp> {
    let at_depth = || DEPTHS.into_iter().zip(model_ns);
    let (depth, ns) =
        at_depth().take_while(|&(depth, ns)| ns >= own_ns(depth)).last().unwrap_or((0, own_ns(1)));
    let [rate_per_s, model_rate_per_s] = [ns, model_ns[DEPTHS.len() - 1]].map(|ns| 1e9 / ns.max(1) as f64);
    (depth < DEPTHS[DEPTHS.len() - 1]).then_some(KeepingUp { depth, rate_per_s, model_rate_per_s })
}

/// Estimates the duration of a trim of the whole stack from a part of it: the model's time, or this
/// machine's if it is longer.
pub(crate) fn trim_all_ns(stack: &mut Stack) -> u64 {
    let piece = Request::new(RequestKind::Trim, 0, TRIM_BYTES.min(stack.capacity_bytes()) as u32);
    let begun = Instant::now();
    let took_ns = closed_loop_ns(stack, &[piece], 1).max(begun.elapsed().as_nanos() as u64);
    took_ns * stack.capacity_bytes().div_ceil(TRIM_BYTES)
}

/// Returns the time that a stack takes for requests at this depth, starting now.
pub fn closed_loop_ns(stack: &mut Stack, requests: &[Request], depth: usize) -> u64 {
    let begun_ns = stack.now_ns();
    let mut ended_ns = begun_ns;
    let mut requests = requests.iter();
    requests.by_ref().take(depth).for_each(|&request| stack.submit(begun_ns, request, TOKEN));
    loop {
        while let Some(completion) = stack.take_completion() {
            if completion.token == TOKEN {
                ended_ns = completion.at_ns;
                requests.next().into_iter().for_each(|&request| stack.submit(ended_ns, request, TOKEN));
            }
        }
        match stack.next_wake_ns().filter(|_| stack.in_flight() > 0) {
            Some(wake_ns) => stack.advance(wake_ns),
            None => return ended_ns - begun_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_sim::load_device;

    fn spec(access: &str, parallel: &str) -> DeviceSpec {
        let mut spec = load_device("ideal-ram-disk").unwrap();
        spec.set("memory.access", access).unwrap();
        spec.set("memory.parallel", parallel).unwrap();
        spec.set("memory.rate", "1000GB/s").unwrap();
        spec
    }

    fn stack(access: &str, parallel: &str) -> Stack {
        Stack::new(&spec(access, parallel), 1).unwrap()
    }

    fn reads(count: u64) -> Vec<Request> {
        (0..count)
            .map(|place| Request::new(RequestKind::Read, place * READ_BYTES, READ_BYTES as u32))
            .collect()
    }

    #[test]
    fn requests_follow_each_other_as_many_at_a_time_as_is_asked_beside_what_is_under_way() {
        for (depth, rounds) in [(1, 64), (4, 16), (8, 16)] {
            let mut stack = stack("1ms", "4");
            stack.submit(5_000_000, Request::new(RequestKind::Flush, 0, 0), 0);
            let took_ns = closed_loop_ns(&mut stack, &reads(64), depth) as f64 / 1e6;
            let rounds = f64::from(rounds);
            assert!((rounds..rounds + 1.1).contains(&took_ns), "{depth}: {took_ns} ms");
        }
    }

    /// A hundred answers of a device with a parallelism of four that takes 1 ms. Requests outside
    /// the model are late, except for a share.
    fn tried(depth: f64, depth_in_model: f64, busy_share: f64, share_before: f64) -> Rehearsal {
        let depth_late = (depth - depth_in_model) * (1.0 - share_before);
        let (spec, seed, requests, round_trip_ns) = (spec("1ms", "4"), 1, reads(100), 900_000);
        let span_ns = (100.0 * 1e6 / depth_in_model) as u64;
        Rehearsal {
            spec,
            seed,
            requests,
            span_ns,
            depth,
            depth_in_model,
            depth_late,
            busy_share,
            round_trip_ns,
        }
    }

    fn client(depth: f64, depth_in_model: f64, busy_share: f64, share_before: f64) -> ClientFigures {
        tried(depth, depth_in_model, busy_share, share_before).run().unwrap()
    }

    #[test]
    fn who_was_the_limit_is_told_by_what_it_did() {
        for (figures, limit) in [
            (client(4.0, 3.9, 1.0, 0.5), ServedLimit::Model),
            (client(0.4, 0.39, 0.1, 0.5), ServedLimit::Client),
            (client(4.0, 1.5, 0.9, 0.1), ServedLimit::Server),
            (client(4.0, 1.5, 0.5, 0.9), ServedLimit::Server),
            (client(2.5, 1.5, 0.5, 0.9), ServedLimit::Way),
            (client(4.0, 1.5, 0.5, 0.1), ServedLimit::Others),
            // The device handles four of 32 requests at a time. Little's law alone would give 32
            // times the rate at depth 1.
            (client(32.0, 3.9, 0.5, 0.5), ServedLimit::Model),
        ] {
            assert_eq!(figures.limit, limit, "{figures:?}");
        }
        let figures = client(32.0, 1.0, 0.9, 0.5);
        assert!((figures.rate_per_s - 1_000.0).abs() < 1.0, "{figures:?}");
        assert!((figures.model_rate_per_s - 4_000.0).abs() < 50.0, "{figures:?}");
        // The model gives at least the actual rate, whatever a fresh stack would give.
        assert!(client(8.0, 8.0, 0.1, 0.5).model_rate_per_s >= 7_999.0);
        // A fresh stack shows nothing about one that has become ten times as slow.
        let span_ns = 10 * tried(4.0, 3.9, 0.1, 0.5).span_ns;
        let worn = Rehearsal { span_ns, ..tried(4.0, 3.9, 0.1, 0.5) }.run().unwrap();
        assert!(worn.limit == ServedLimit::Model && worn.model_rate_per_s < 405.0, "{worn:?}");
        let idle = client(0.5, 0.5, 0.0, 0.0);
        assert!((idle.rate_per_s - 500.0).abs() < 1.0 && (idle.model_rate_per_s - 1_000.0).abs() < 1.0);
    }

    #[test]
    fn a_machine_keeps_up_to_the_depth_at_which_no_more_is_asked_than_it_gives() {
        let model_ns = [80_000, 40_000, 21_000, 12_000, 10_000, 10_000];
        assert_eq!(how_far(model_ns, |_| 10_000), None);
        let some = how_far(model_ns, |_| 16_000).unwrap();
        assert_eq!((some.depth, some.rate_per_s, some.model_rate_per_s), (4, 1e9 / 21_000.0, 100_000.0));
        let none = how_far(model_ns, |depth| 100_000 / depth as u64).unwrap();
        assert_eq!((none.depth, none.rate_per_s), (0, 10_000.0));
        assert_eq!(keeping_up(&mut stack("100ms", "4"), 10_000, 20_000), None);
        assert_eq!(keeping_up(&mut stack("10us", "1"), 10_000, 20_000).unwrap().depth, 0);
    }

    #[test]
    fn a_trim_of_all_takes_as_long_as_its_pieces() {
        let mut stack = stack("5ms", "1");
        // The interface of this model accepts this much at a time.
        let pieces = stack.capacity_bytes().div_ceil(1 << 20);
        assert_eq!(trim_all_ns(&mut stack), pieces * 5_000_000);
    }
}
