//! Laws that hold for any storage with any parameters: of queues, rotation and seeks, caches,
//! links, arrays and flash. They are checked on all models, or all that have such a part, and
//! against closed forms. Each tolerance has its reason; without one, the law is exact.
//! docs/truth.md lists them.

mod arrays;
mod caches;
mod everywhere;
mod flash;
mod links;
mod queues;
mod turning;
mod waits;

use kurabe_core::model::TimeAccount;
use kurabe_core::random::Random;
use kurabe_sim::{DEVICES, DeviceSpec, Request, RequestKind, Stack, device_named, read_device};

/// Result of a load.
struct Outcome {
    /// In the order of the requests.
    latencies_ns: Vec<u64>,
    /// Time from the first request to the last end.
    length_ns: u64,
    /// Number of requests in the stack, integrated over time.
    in_flight_ns: u128,
    account: TimeAccount,
}

impl Outcome {
    fn mean_ns(&self) -> f64 {
        self.latencies_ns.iter().sum::<u64>() as f64 / self.latencies_ns.len() as f64
    }

    fn per_s(&self) -> f64 {
        self.latencies_ns.len() as f64 * 1e9 / self.length_ns as f64
    }

    fn share_ns(&self, layer: &str, cause: &str) -> f64 {
        let shares = self.account.shares.iter();
        shares
            .filter(|share| share.layer == layer && share.cause == cause)
            .map(|share| share.time_ns as f64)
            .sum()
    }

    fn count(&self, counter: &str) -> u64 {
        let counts = self.account.counts.iter().filter(|count| count.counter == counter);
        counts.map(|count| count.count).sum()
    }
}

/// Runs requests, each when it is due and fewer than `depth` are in flight. Latencies count from
/// the due time; if all are due at once, from the time of issue.
fn serve(stack: &mut Stack, requests: &[(u64, Request)], depth: usize) -> Outcome {
    let start_ns = stack.now_ns();
    let closed = requests.iter().all(|(due_ns, _)| *due_ns == 0);
    let (mut begins_ns, mut latencies_ns) = (vec![0; requests.len()], vec![0; requests.len()]);
    let (mut next, mut done, mut last_ns, mut in_flight_ns) = (0, 0, start_ns, 0);
    stack.take_account();
    while done < requests.len() {
        let now_ns = stack.now_ns();
        let due_ns = (next < requests.len() && next - done < depth).then(|| start_ns + requests[next].0);
        if let Some(due_ns) = due_ns.filter(|due_ns| *due_ns <= now_ns) {
            begins_ns[next] = if closed { now_ns } else { due_ns };
            stack.submit(now_ns, requests[next].1, next as u64);
            next += 1;
        } else {
            let wake_ns = stack.next_wake_ns();
            let Some(at_ns) = wake_ns.into_iter().chain(due_ns).min() else {
                stack.check_not_blocked().unwrap();
                panic!("a request is lost");
            };
            in_flight_ns += u128::from(stack.in_flight()) * u128::from(at_ns - now_ns);
            stack.advance(at_ns);
        }
        while let Some(completion) = stack.take_completion() {
            assert!(completion.outcome.is_ok(), "{completion:?}");
            latencies_ns[completion.token as usize] = completion.at_ns - begins_ns[completion.token as usize];
            (done, last_ns) = (done + 1, completion.at_ns);
        }
    }
    Outcome { latencies_ns, length_ns: last_ns - start_ns, in_flight_ns, account: stack.take_account() }
}

/// Runs requests without pauses.
fn drive(stack: &mut Stack, requests: &[Request], depth: usize) -> Outcome {
    let at_once: Vec<(u64, Request)> = requests.iter().map(|request| (0, *request)).collect();
    serve(stack, &at_once, depth)
}

/// Returns random requests in the first `span_bytes`.
fn scattered(kind: RequestKind, count: u64, length_bytes: u32, span_bytes: u64, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed, 1);
    let places = (span_bytes / u64::from(length_bytes)).max(1);
    let place = |_| Request::new(kind, random.below(places) * u64::from(length_bytes), length_bytes);
    (0..count).map(place).collect()
}

/// Returns sequential requests from a position on.
fn in_order(kind: RequestKind, from_bytes: u64, count: u64, length_bytes: u32) -> Vec<Request> {
    let place = |index| Request::new(kind, from_bytes + index * u64::from(length_bytes), length_bytes);
    (0..count).map(place).collect()
}

fn device(name: &str, changes: &[(&str, &str)]) -> Stack {
    Stack::new(&super::common::device(name, changes), 1).unwrap()
}

/// Returns the names of all models of the library.
fn all() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

/// Returns the models with a layer of this kind, and the name of the first such layer.
fn with_layer(kind: &str) -> Vec<(&'static str, String)> {
    let layer = |name: &'static str| {
        let spec = device_named(name).unwrap();
        let layer = spec.all_layers().into_iter().find(|layer| layer.kind.word == kind)?;
        Some((name, layer.name.clone()))
    };
    all().filter_map(layer).collect()
}

/// Builds a stack of layers, each with its kind and parameters.
fn stack_of(layers: &[(&str, &[(&str, &str)])]) -> Stack {
    let mut source = "schema = 1\nname = \"x\"\ntitle = { en = \"x\", ja = \"x\" }\n".to_owned();
    for (kind, parameters) in layers {
        source += &format!("[[layer]]\nkind = \"{kind}\"\n");
        for (key, value) in *parameters {
            source += &format!("{key} = {{ value = {value}, source = \"t\" }}\n");
        }
    }
    let spec: DeviceSpec = read_device("x.toml", &source).unwrap();
    Stack::new(&spec, 1).unwrap()
}

fn assert_near(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{what}: {value}, expected {expected} ± {tolerance}"
    );
}
