//! No operation starves: schedulers that prefer one operation to another bound the wait of the
//! other.

use super::{Outcome, all, device, drive, scattered};
use kurabe_core::random::Random;
use kurabe_sim::{Request, RequestKind, Stack, device_named};
use kurabe_testkit::sampled;

/// Rounds of a full queue: one that is ahead of an operation, one that is older than it once it
/// has waited for the age limit, and one for what the device does in the background.
const ROUNDS: f64 = 3.0;
const REQUESTS: u64 = 8000;

/// Returns a stream with a few small requests far away, which a scheduler would rather leave for
/// later. They are fewer than the queue has places, so the stream never waits for them.
fn stream(stack: &Stack, kind: RequestKind, odd: RequestKind, bytes: u64) -> Vec<Request> {
    let mut random = Random::new(3, 1);
    let (near, far) = (stack.capacity_bytes() / bytes, stack.capacity_bytes() / 65_536);
    let request = |index: u64| match index % 1500 {
        100 => Request::new(odd, random.below(far) * 65_536, 4096),
        _ => Request::new(kind, index % near * bytes, bytes as u32),
    };
    (0..REQUESTS).map(request).collect()
}

fn loads(stack: &Stack) -> Vec<(&'static str, Vec<Request>)> {
    let (read, write) = (RequestKind::Read, RequestKind::Write);
    let random = |kind| scattered(kind, REQUESTS / 4, 4096, stack.capacity_bytes(), 4);
    vec![
        ("reads in order, some far away", stream(stack, read, read, 65_536)),
        ("writes in order, some reads far away", stream(stack, write, read, 65_536)),
        ("writes in order, some far away", stream(stack, write, write, 65_536)),
        ("random reads", random(read)),
        ("random writes", random(write)),
    ]
}

/// Returns the age limit of a model's queues in ns: `age_limit` of its disks, which no model
/// changes. Other layers serve in order, or commit to an operation.
fn age_limit_ns(name: &str) -> f64 {
    let spec = device_named(name).unwrap();
    let has_disk = spec.all_layers().iter().any(|layer| layer.kind.word == "disk");
    if has_disk { 500e6 } else { 0.0 }
}

/// Returns the longest wait in rounds of a full queue, beyond the age limit. A round takes as long
/// as the longest operations one after another, or as the queue takes on average.
fn rounds(name: &str, one: &Outcome, many: &Outcome, depth: usize) -> f64 {
    let longest = |outcome: &Outcome| outcome.latencies_ns.iter().copied().max().unwrap() as f64;
    let round_ns = (depth as f64 * longest(one)).max(many.mean_ns());
    (longest(many) - age_limit_ns(name)).max(0.0) / round_ns
}

#[test]
fn no_operation_waits_longer_than_its_age_limit_and_three_rounds_of_a_full_queue() {
    for name in sampled(all(), 12) {
        for (load, requests) in loads(&device(name, &[])) {
            let one = drive(&mut device(name, &[]), &requests, 1);
            for depth in [8, 32] {
                let many = drive(&mut device(name, &[]), &requests, depth);
                let rounds = rounds(name, &one, &many, depth);
                assert!(rounds <= ROUNDS, "{name}, {load}, depth {depth}: {rounds} rounds");
            }
        }
    }
}

#[test]
fn without_an_age_limit_a_read_next_to_a_stream_starves() {
    let name = "seagate-exos-x18";
    let never = [("disk.age_limit", "1 h")];
    let requests = stream(&device(name, &[]), RequestKind::Read, RequestKind::Read, 65_536);
    let one = drive(&mut device(name, &never), &requests, 1);
    let rounds = rounds(name, &one, &drive(&mut device(name, &never), &requests, 8), 8);
    assert!(rounds > 2.0 * ROUNDS, "{rounds} rounds");
}
