//! The rules, from what is certain to what is likely. The first that holds names the limit.

use super::limit::Limit;
use super::storage::StorageFacts;
use super::words;
use crate::cell::{CellFacts, ContendedResource};
use kurabe_core::record::RunRecord;
use kurabe_core::workload::EndSync;

/// A rate below this share of what good devices reach on a connection is not bound by the connection: even ordinary devices come
/// nearer to it.
const BELOW_CEILING: f64 = 0.7;
/// The same share where the bridge takes one command at a time, which costs a connection about half of its rate.
const BELOW_CEILING_OF_ONE_COMMAND: f64 = 0.4;
/// Two rates are the same rate if they differ by at most this share: a little more than the 5 % below which a difference does
/// not matter anywhere.
const SAME: f64 = 0.06;
/// A write rate below this share of its beginning has fallen: far beyond the scatter of a rate, so that something ran full.
const FALLEN: f64 = 0.6;
/// Stalls that fill more than half of the time took longer than all else, so they are the limit.
const MOSTLY_STALLED: f64 = 0.5;
/// A random access of a medium that turns takes this long, in ns: at least a short seek with a fraction of a turn, at most a
/// full stroke of an old drive with a turn of 3600 rpm.
const SEEK_NS: std::ops::Range<f64> = 1.5e6..60e6;
/// One by itself waits for half a turn, of which no disk has had more than 15,000 in a minute; what takes less came from memory,
/// however slow the command. With several to choose from, the next may be nearer.
const HALF_TURN_NS: f64 = 2e6;
/// An operation that waits behind others for at least this share of its latency waits longer than it is served.
const MOSTLY_WAITING: f64 = 0.5;
/// If k times the queue depth gives at least this share of k times the operations per second, the device is not saturated:
/// it still serves most of what is added at once.
const SCALES: f64 = 0.7;
/// If a deeper queue gives less than this factor of the rate, one operation at a time keeps the device busy; what remains is
/// the scatter of two cells.
const NO_GAIN: f64 = 1.1;
/// If a deeper queue gives at least this factor of the rate, the device waited for operations at queue depth 1. Between this
/// factor and [`NO_GAIN`] nothing is said.
const GAINS: f64 = 1.25;
/// A part of the latency is the limit if it is at least half of it: no other part is longer.
const MOSTLY: f64 = 0.5;
/// Operations are one after the other while no more than this many are in flight on average; Little's law over a short
/// repetition is not more exact.
const ALONE: f64 = 1.2;

/// An operation that takes less than this was answered by memory: the fastest flash takes longer over PCIe for 4 KiB,
/// interrupt and waking up included.
const MEMORY_NS: f64 = 8e3;

/// The limit of a cell among those of its run.
pub(super) fn judge(record: &RunRecord, cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Limit {
    if facts.cell.imported.is_some() {
        return words::unknown_import();
    }
    if !facts.measured() || (facts.workload.is_none() && facts.cell.workload.is_some()) {
        return words::unknown_mixture();
    }
    if let Some(share) = facts.generator_share() {
        return words::generator(share);
    }
    let ground = StorageFacts::of(record);
    let memory = in_memory(&ground).or_else(|| host_memory(&ground, facts)).or_else(|| {
        let at_the_link = || at_the_link(&ground, cells, facts);
        ground.cached.then(|| at_the_link().or_else(|| page_cache(&ground, facts))).flatten()
    });
    // Other work is no doubt about whose memory answered.
    if let Some(memory) = memory {
        return memory;
    }
    let cpus = record.header.environment.machine.cpu_count.unwrap_or(1);
    match facts.disturbance(cpus) {
        Some(ContendedResource::Device | ContendedResource::Hypervisor) => {
            return words::other_work(facts.others_share(), facts.steal_share());
        }
        Some(ContendedResource::Processors) => return words::crowded(facts.crowded_share(cpus)),
        None => {}
    }
    at_the_link(&ground, cells, facts)
        .or_else(|| falling(facts))
        .or_else(|| stalled(facts))
        .or_else(|| traced(facts))
        .or_else(|| mechanics(&ground, facts))
        .or_else(|| saturated(cells, facts))
        .or_else(|| one_at_a_time(record, cells, facts))
        .or_else(|| device_rate(&ground, cells, facts))
        .or_else(|| serves_one(cells, facts))
        .unwrap_or_else(|| words::unknown(&ground, cells, facts))
}

/// A file system in memory has no device that could be a limit.
fn in_memory(ground: &StorageFacts) -> Option<Limit> {
    ground.in_memory.as_deref().map(words::memory_file_system)
}

/// Faster than the connection can be: it was not the device.
fn host_memory(ground: &StorageFacts, facts: &CellFacts<'_>) -> Option<Limit> {
    let link = ground.link.as_ref().filter(|link| link.is_exceeded(facts.rate))?;
    ground.cached.then(|| words::host_memory(facts.rate, link))
}

/// Operations that the page cache answered. Writes that nobody waits for on the medium end in it, and so do operations that are
/// faster than any device; reads in order are read ahead of, so that nobody can tell from outside what the device did.
fn page_cache(ground: &StorageFacts, facts: &CellFacts<'_>) -> Option<Limit> {
    let workload = facts.workload.filter(|_| ground.cached)?;
    let sync = workload.sync;
    let reaches_device = sync.o_sync || sync.every_writes.is_some() || sync.at_end == EndSync::Timed;
    if facts.is_write() && reaches_device {
        return None;
    }
    let quick = facts.median_ns < MEMORY_NS;
    (quick || facts.is_write() || !facts.is_random())
        .then(|| words::page_cache(facts, quick && (facts.is_write() || facts.is_random())))
}

fn at_the_link(ground: &StorageFacts, cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let link = ground.link.as_ref()?;
    let other = facts.opposite(cells).map(|other| other.rate);
    link.ends(facts.rate, other).map(|at| words::link(link, &at))
}

fn falling(facts: &CellFacts<'_>) -> Option<Limit> {
    let (head, tail) = facts.fall().filter(|(head, tail)| facts.is_write() && *tail < head * FALLEN)?;
    Some(words::write_cache(head, tail))
}

fn stalled(facts: &CellFacts<'_>) -> Option<Limit> {
    // With many in flight one slow operation is no stall of all; reads in order come in bursts, as they are read ahead.
    let bursts = !facts.is_random() && !facts.is_write();
    (!bursts && facts.stalled_share >= MOSTLY_STALLED && facts.median_ns * 4.0 < facts.latency_ns)
        .then(|| words::stalls(facts.stalled_share, facts.median_ns))
}

/// What the kernel's tracepoints tell.
fn traced(facts: &CellFacts<'_>) -> Option<Limit> {
    let split = facts.split?;
    let rest_ns = split.rest_mean_ns?.max(0.0);
    let whole_ns = split.queue.mean_ns + split.device.mean_ns + rest_ns;
    if whole_ns <= 0.0 {
        return None;
    }
    if rest_ns >= whole_ns * MOSTLY {
        return Some(words::host(rest_ns, whole_ns));
    }
    (split.queue.mean_ns >= whole_ns * MOSTLY).then(|| words::queued(split.queue.mean_ns, whole_ns))
}

/// Random accesses to what turns, each as long as a seek and some rotation.
fn mechanics(ground: &StorageFacts, facts: &CellFacts<'_>) -> Option<Limit> {
    if ground.turns != Some(true) || !facts.is_random() || facts.iops <= 0.0 {
        return None;
    }
    let (each_ns, least_ns) =
        if facts.is_alone() { (facts.median_ns, HALF_TURN_NS) } else { (1e9 / facts.iops, SEEK_NS.start) };
    (SEEK_NS.contains(&each_ns) && each_ns >= least_ns).then(|| words::mechanics(each_ns, facts))
}

/// Operations that wait for each other: more of them take longer, and no more of them are done.
fn saturated(cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let before = facts.shallower(cells)?;
    let waiting = 1.0 - before.latency_ns / facts.latency_ns;
    (waiting >= MOSTLY_WAITING).then(|| words::saturated(facts, before, waiting))
}

/// Operations that each wait for the answer to the one before.
fn one_at_a_time(record: &RunRecord, cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let machine = record.header.environment.machine.virtualisation.machine.as_deref();
    if facts.is_alone() && facts.in_flight <= ALONE {
        let deeper = facts.deeper(cells);
        let gain = deeper.map(|deeper| (deeper, deeper.rate / facts.rate));
        return match gain {
            Some((deeper, gain)) if gain >= GAINS => {
                Some(words::one_at_a_time(facts, Some((deeper, gain)), machine))
            }
            Some(_) => None,
            None if facts.is_random() => Some(words::one_at_a_time(facts, None, machine)),
            None => None,
        };
    }
    // In order, depth changes what the kernel and the device make of the operations, too.
    let before = facts.shallower(cells).filter(|_| facts.is_random())?;
    let (Some(depth), Some(less)) = (facts.depth(), before.depth()) else { return None };
    let gain = facts.rate / before.rate;
    (gain >= f64::from(depth) / f64::from(less) * SCALES).then(|| words::scales(facts, before, gain))
}

/// One operation keeps device and connection busy: more in flight are no faster.
fn serves_one(cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let deeper = facts.deeper(cells).filter(|_| facts.is_alone())?;
    (deeper.rate / facts.rate < NO_GAIN).then(|| words::serves_one(facts, deeper))
}

/// A rate that depth does not raise, far below what the connection carries.
fn device_rate(ground: &StorageFacts, cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let link = ground.link.as_ref()?;
    let below = if link.one_command { BELOW_CEILING_OF_ONE_COMMAND } else { BELOW_CEILING };
    if facts.is_random() || facts.rate >= link.usual * below {
        return None;
    }
    let sibling = facts.shallower(cells).or_else(|| facts.deeper(cells))?;
    ((sibling.rate / facts.rate - 1.0).abs() <= SAME).then(|| words::device_rate(facts, sibling, link))
}
