//! Checks which operations every built-in profile issues, at which offsets, in which order and
//! when, on a device in virtual time.
//!
//! A task is played by as many drivers as it has threads, each on its own device and all from time
//! 0. The expected sequences were derived from the behaviour of the tools, not from the profiles.
//! Each file of the folder covers one family of tools. `rules` covers what the profiles rely on,
//! and `real_tools` compares some of it with the tools themselves.

mod crystal;
mod others;
mod passes;
mod real_tools;
mod rules;

use crate::drive::content::Content;
use crate::drive::device_null::{Logged, NullDevice, Script};
use crate::drive::driver::{Plan, drive, filled_buffers};
use crate::drive::recorder::Recorder;
use crate::drive::source::Generator;
use kurabe_core::profile::{Profile, Work};
use kurabe_core::workload::{Direction, EndSync, OpKind, Workload};
use kurabe_profile::{PROFILES, profile_named};
use kurabe_program::Stop;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The result of playing a workload.
struct Played {
    /// The operations of each thread.
    threads: Vec<Vec<Logged>>,
    /// Time in ns from the start of recording to the last completion, including a timed sync.
    elapsed_ns: u64,
    /// The recorded repetition.
    recorded: kurabe_core::record::Repetition,
}

impl Played {
    /// Returns the operations of the only thread.
    fn only(&self) -> &[Logged] {
        assert_eq!(self.threads.len(), 1);
        &self.threads[0]
    }
}

/// Plays a workload with all its threads.
fn play(workload: &Workload, script: Script) -> Played {
    let end_sync = if workload.writes() { workload.sync.at_end } else { EndSync::None };
    let plan = Plan {
        warm_up_ns: workload.warm_up_ns,
        warm_up_bytes: None,
        time_ns: workload.end.time_ns,
        end_sync: end_sync != EndSync::None,
    };
    let (mut threads, mut recorders, mut elapsed_ns) = (Vec::new(), Vec::new(), 0);
    for mut generator in Generator::for_threads(workload) {
        let mut device = NullDevice::new(workload.iodepth as usize, script);
        let mut content = Content::new(workload.data, workload.seed, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let (mut recorder, stop) = (Recorder::new(None), Stop::default());
        let outcome =
            drive(&mut device, buffers, &mut generator, &mut content, &plan, &mut recorder, &stop).unwrap();
        let sync_ns = outcome.end_sync_ns.filter(|_| end_sync == EndSync::Timed).unwrap_or(0);
        elapsed_ns = elapsed_ns.max(outcome.last_completion_ns + sync_ns);
        threads.push(device.log().to_vec());
        recorders.push(recorder);
    }
    Played { threads, elapsed_ns, recorded: Recorder::merge(&recorders) }
}

/// Returns the script of a device with this latency for every operation.
fn taking(latency_ns: u64) -> Script {
    Script { latency_ns, ..Script::default() }
}

fn profile(name: &str) -> Profile {
    profile_named(name).unwrap()
}

/// Returns the I/O tasks of a profile on a target of this size, in order, as direction and
/// workload.
fn workloads(name: &str, size_bytes: u64) -> Vec<(Direction, Workload)> {
    profile(name)
        .tasks(size_bytes)
        .into_iter()
        .filter_map(|task| {
            let direction = task.direction();
            match task.work {
                Work::Io(workloads) => direction.zip(workloads.into_iter().next()),
                _ => None,
            }
        })
        .collect()
}

/// Returns the operations of a log without a final sync, and whether there was one.
fn split_sync(log: &[Logged]) -> (&[Logged], bool) {
    match log.split_last() {
        Some((last, before)) if last.op.kind == OpKind::Sync => (before, true),
        _ => (log, false),
    }
}

/// Checks that every operation has this kind and size.
fn assert_all(log: &[Logged], kind: OpKind, length_bytes: u64) {
    for one in log {
        assert_eq!((one.op.kind, u64::from(one.op.length_bytes)), (kind, length_bytes), "{one:?}");
    }
}

fn offsets(log: &[Logged]) -> Vec<u64> {
    log.iter().map(|one| one.op.offset_bytes).collect()
}

/// Checks that the offsets ascend from 0 to the end, repeatedly.
fn assert_in_order(log: &[Logged], size_bytes: u64, block_bytes: u64) {
    assert_in_order_from(0, log, size_bytes, block_bytes);
}

/// Checks that the offsets ascend from a block to the end, and then from 0, repeatedly.
fn assert_in_order_from(first: u64, log: &[Logged], size_bytes: u64, block_bytes: u64) {
    let blocks = size_bytes / block_bytes;
    for (number, one) in log.iter().enumerate() {
        assert_eq!(one.op.offset_bytes, (first + number as u64) % blocks * block_bytes, "operation {number}");
    }
}

/// Checks that each block occurs exactly once, and not in order.
fn assert_covers_once_at_random(log: &[Logged], from_bytes: u64, size_bytes: u64, block_bytes: u64) {
    let (drawn, mut sorted) = (offsets(log), offsets(log));
    sorted.sort_unstable();
    let blocks = size_bytes / block_bytes;
    assert!(sorted.iter().copied().eq((0..blocks).map(|block| from_bytes + block * block_bytes)));
    assert_ne!(drawn, sorted);
}

/// Checks that blocks of the span are drawn independently: some occur twice before others occur
/// once, and all about equally often.
fn assert_drawn(log: &[Logged], size_bytes: u64, block_bytes: u64) {
    let blocks = (size_bytes / block_bytes) as usize;
    let mut counts = vec![0u32; blocks];
    for one in log {
        assert_eq!(one.op.offset_bytes % block_bytes, 0, "{one:?}");
        counts[(one.op.offset_bytes / block_bytes) as usize] += 1;
    }
    // If each block occurred once before any occurred twice, as in a shuffled order, there would be
    // no repetition here. The probability of that by chance is e^-20.
    let first = blocks.min(log.len());
    if first * first > 40 * blocks {
        let seen: std::collections::HashSet<u64> = offsets(&log[..first]).into_iter().collect();
        assert!(seen.len() < first, "no block came twice");
    }
    let expected = log.len() as f64 / blocks as f64;
    let most = expected + 6.0 * expected.sqrt() + 3.0;
    assert!(counts.iter().all(|count| f64::from(*count) <= most), "{expected} {:?}", counts.iter().max());
}

/// Checks that the queue is full from start to end. On a device with constant latency, operations
/// are then issued batch by batch.
fn assert_queue_full(log: &[Logged], depth: u64, latency_ns: u64) {
    for (number, one) in log.iter().enumerate() {
        assert_eq!(one.submitted_at_ns, number as u64 / depth * latency_ns, "operation {number}");
    }
}

/// Checks that the share of reads is consistent with random draws at this percentage.
fn assert_read_share(log: &[Logged], percent: u8) {
    let (share, count) = (f64::from(percent) / 100.0, log.len() as f64);
    let reads = log.iter().filter(|one| one.op.kind == OpKind::Read).count() as f64;
    let tolerance = 5.0 * (share * (1.0 - share) * count).sqrt();
    assert!((reads - share * count).abs() <= tolerance, "{reads} of {count} for {percent} %");
}

fn kind_of(direction: Direction) -> OpKind {
    if direction == Direction::Read { OpKind::Read } else { OpKind::Write }
}

#[test]
fn every_profile_that_issues_operations_is_played() {
    // Copy, command and metadata steps issue no operations to a device.
    let other = [
        "delay-ratio",
        "delay-ratio-sweep",
        "git-pull",
        "git-pull-large",
        "git-pull-ports",
        "mdtest-easy",
        "mdtest-hard",
    ];
    let mut played: Vec<&str> =
        [crystal::PLAYED, passes::PLAYED, others::PLAYED, &other].concat().into_iter().collect();
    let mut listed: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
    played.sort_unstable();
    listed.sort_unstable();
    assert_eq!(played, listed);
}
