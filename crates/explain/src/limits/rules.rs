//! The rules, in order of decreasing certainty. The first one that applies names the limit.
//!
//! # To add a limit of a cell
//!
//! - Add a variant of `LimitKind`, its sentences in `words.rs`, and its rule here, at the position
//!   that matches its certainty.
//! - Test a run to which it applies, one to which it almost applies, and all devices, whose
//!   accounts are the ground truth (`testkit/tests/rooms/explain`).
//! - Describe it in docs/explaining.md. If an article may name it, add its word to
//!   `LimitKind::REASONS` and docs/studies.md.
//!
//! A name for a change of a curve is a `FindingName` in `explain/sweep`.

use super::evidence::{
    ALL_BYTES, ChainWalk, Evidence, QUICK_NS, SLOWEST_CARD, TimePart, Turning, gains, is_access, is_alike,
    is_as_fast_everywhere, walk, zones,
};
use super::flush::flushed;
use super::limit::{CLEARLY, FASTER, Limit, MOSTLY, Strength};
use super::storage::StorageFacts;
use super::words;
use super::{carried, imported, unlinked};
use crate::cell::{CellFacts, MEMORY_NS, SLOWED, fall};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::{Direction, EndSync};

/// A write rate below this share of its beginning has fallen. This is far beyond normal scatter, so
/// a cache is full.
const FALLEN: f64 = 0.6;
/// Reads that take this many times as long during writes as alone mostly wait for the writes.
const MUCH_LONGER: f64 = 2.0;
/// Stalls that fill more than half of the time are the limit.
const MOSTLY_STALLED: f64 = 0.5;
/// With several operations to choose from, the next offset may be near, but an access that moves
/// the head takes at least this long, in ns.
const NEAR_NS: f64 = 0.5e6;
/// A single operation waits for half a revolution on average, and no disk exceeded 15,000 rpm.
/// Anything faster came from memory, however slow the command.
const HALF_TURN_NS: f64 = 2e6;
/// Rates that differ by at most this share count as equal.
const SAME: f64 = 0.2;
/// A provisioned limit is the same in both directions. The two directions of a medium differ by
/// more than this.
const SOLD: f64 = 0.03;
/// Inner tracks are about half as long as outer ones, so if the rate falls by this factor, it
/// mostly depends on the transfer. Drives reorder writes before seeking, so less of their time is
/// movement.
const ZONED_READS: f64 = 1.8;
const ZONED_WRITES: f64 = 1.5;
/// From this share of one connection on, several drives may share it.
const OF_A_SHARED_LINK: f64 = 0.8;
/// Bytes per second that no disk writes, not even one with two actuators.
const FASTEST_DISK: f64 = 600e6;
/// Like `FASTER`, on old buses, which need not be equally fast in both directions.
const MUCH_FASTER: f64 = 2.0;
/// A rate of at least this share of the drive memory's rate has the same limit, which is the
/// connection …
const AS_MEMORY: f64 = 0.96;
/// … and one of at most this share is limited by the medium.
const FAR_BELOW_MEMORY: f64 = 0.85;
/// Two parts share an operation if together they have at least this share …
const NEARLY_ALL: f64 = 0.9;
/// … and the smaller one has at least this share, so that the operation would be noticeably faster
/// without it.
const SECOND: f64 = 0.25;
/// A small access of at least this share of a large operation's time is its command. The time of a
/// shorter one may overlap with the transfer.
const ACCESS_SHOWN: f64 = 0.4;
/// Opening the file and reading its first clusters precede the walk and belong to it, so a smaller
/// share suffices.
const MOSTLY_WALKED: f64 = 0.4;
/// Operations that complete in at least this share of the time of a single one are served one after
/// the other. Two at a time would halve it, and a few more in the queue shorten the seeks.
const SERIAL: f64 = 0.75;
/// Small writes that take this many times as long as reads wait for something that only writes
/// need.
const SLOW_WRITES: f64 = 1.5;
/// A mean of at least this multiple of the time of quick operations results from a few that waited
/// much longer.
const FEW_SLOW: f64 = 1.3;
/// Operations count as one at a time if no more than this many are in flight on average. Over a
/// short repetition, Little's law is no more accurate.
const ALONE: f64 = 1.2;

/// Returns the limit of a cell, given the other cells of its run.
pub(super) fn judge(record: &RunRecord, evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Limit {
    if facts.cell.imported.is_some() {
        return imported::judge(record, evidence, facts.cell);
    }
    if !facts.measured() || (facts.workload.is_none() && facts.cell.workload.is_some()) {
        return words::unknown_mixture();
    }
    if facts.is_same_place() {
        return words::unknown_same_place();
    }
    if let Some(share) = facts.generator_share() {
        return words::generator(share);
    }
    let (storage, cells) = (&evidence.storage, evidence.cells);
    let memory = in_memory(storage).or_else(|| host_memory(storage, facts)).or_else(|| {
        let at_the_link = || at_the_link(storage, cells, facts);
        storage.cached.then(|| at_the_link().or_else(|| page_cache(storage, facts))).flatten()
    });
    // Other work does not affect the conclusion that memory served the requests.
    if let Some(memory) = memory {
        return memory;
    }
    let cpus = record.header.environment.machine.cpu_count.unwrap_or(1);
    let disturbance = facts.disturbance(cpus);
    match disturbance.and_then(|other| Some((other, other.slowed_to?))) {
        Some((other, slowed_to)) if slowed_to < SLOWED => return words::other_work(&other, slowed_to),
        _ => {}
    }
    let limit = flushed(evidence, facts, || undisturbed(record, evidence, facts));
    match disturbance.filter(|other| other.slowed_to.is_none()) {
        Some(other) => limit.beside(&other),
        None => limit,
    }
}

/// Returns the limit of a cell, ignoring other work.
fn undisturbed(record: &RunRecord, evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Limit {
    at_the_link(&evidence.storage, evidence.cells, facts)
        .or_else(|| sold(evidence, facts))
        .or_else(|| behind_writes(evidence.cells, facts))
        .or_else(|| falling(facts))
        .or_else(|| taken_by_memory(evidence, facts))
        .or_else(|| stalled(evidence, facts))
        .or_else(|| traced(facts))
        .or_else(|| {
            if facts.is_alone() { alone(record, evidence, facts) } else { together(record, evidence, facts) }
        })
        .unwrap_or_else(|| words::unknown(evidence, facts, unlinked::near(evidence, facts)))
}

/// Returns the limit for a file system in memory, which has no device that could be the bottleneck.
fn in_memory(ground: &StorageFacts) -> Option<Limit> {
    ground.in_memory.as_deref().map(words::memory_file_system)
}

/// Returns the limit for a rate above the connection's capacity. Memory served the requests instead
/// of the device.
fn host_memory(ground: &StorageFacts, facts: &CellFacts<'_>) -> Option<Limit> {
    let link = ground.link.as_ref().filter(|link| link.is_exceeded(facts.rate))?;
    ground.cached.then(|| words::host_memory(facts.rate, link))
}

/// Returns the limit for operations served by the page cache. Writes end there unless they wait for
/// the medium, and so do operations that are faster than any device. Sequential reads are read
/// ahead, so the device's part cannot be determined from outside.
fn page_cache(ground: &StorageFacts, facts: &CellFacts<'_>) -> Option<Limit> {
    let workload = facts.workload.filter(|_| ground.cached)?;
    let sync = workload.sync;
    let reaches_device = sync.waits_for_medium() || sync.at_end == EndSync::Timed;
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

/// Returns the limit of a provider's volume. Operations in flight wait longer than a single one, or
/// large sequential operations wait much longer than a small access. Both directions end at the
/// same rate; if only one was measured, the limit is likely.
fn sold(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    let provider = evidence.storage.provider?;
    let cells = evidence.cells;
    let is_same = |rate: f64, other: f64| (other / rate - 1.0).abs() <= SOLD;
    let is_limited = |facts: &CellFacts<'_>| {
        let opposite = facts.opposite(cells);
        let waits = |single: &CellFacts<'_>, share: f64| facts.latency_ns * share > single.latency_ns;
        let is_long = || cells.iter().filter(|cell| is_access(cell)).any(|access| waits(access, SECOND));
        let is_waiting = match facts.is_alone() {
            true => opposite.is_some() && evidence.is_in_order(facts) && is_long(),
            false => facts.shallower(cells).is_none_or(|single| waits(single, MOSTLY)),
        };
        is_waiting && opposite.is_none_or(|other| is_same(facts.rate, other.rate))
    };
    let strength = facts.opposite(cells).map_or(Strength::Likely, |_| Strength::Strong);
    let fastest = evidence.fastest(facts).filter(|fastest| is_limited(fastest));
    match fastest.filter(|fastest| is_same(fastest.rate, facts.rate)) {
        Some(fastest) => Some(carried::sold_bytes(provider, fastest, strength)),
        None => is_limited(facts).then(|| carried::sold_operations(provider, facts, strength)),
    }
}

/// Returns the limit for reads during writes that take much longer than the same reads alone.
fn behind_writes(cells: &[CellFacts<'_>], facts: &CellFacts<'_>) -> Option<Limit> {
    let is_mixed = facts.cell.direction == Some(Direction::Mix);
    let same = |other: &&CellFacts<'_>| {
        other.cell.direction == Some(Direction::Read)
            && other.cell.label == facts.cell.label
            && other.measured()
    };
    let alone = cells.iter().filter(|_| is_mixed).find(same)?;
    let beside_ns =
        facts.read_latency_ns().filter(|beside_ns| *beside_ns >= alone.latency_ns * MUCH_LONGER)?;
    Some(words::behind_writes(beside_ns, alone.latency_ns))
}

fn falling(facts: &CellFacts<'_>) -> Option<Limit> {
    let (head, tail) = falling_writes(facts.cell)?;
    Some(words::write_cache(head, tail))
}

/// Returns the rates in bytes per second at the beginning and at the end of the repetition in which
/// the writes of a cell slowed down most, if the slowdown lasted.
pub fn falling_writes(cell: &Cell) -> Option<(f64, f64)> {
    let is_write = cell.direction == Some(Direction::Write);
    fall(cell).filter(|(head, tail)| is_write && *tail < head * FALLEN)
}

/// Returns the limit for writes faster than any disk, which end in memory in front of the drives.
fn taken_by_memory(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    let most = FASTEST_DISK * evidence.storage.drives as f64;
    let quick = facts.median_ns < MEMORY_NS || facts.rate > most;
    (quick && facts.is_write() && evidence.turns()).then(|| carried::memory_before_drives(facts))
}

fn stalled(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    // An array of disks reads for parity, or marks a region before writing. That takes long without
    // being a stall.
    if evidence.storage.several && evidence.turns() && facts.is_random() {
        return None;
    }
    // With many operations in flight, a slow one does not stall the others. Sequential reads arrive
    // in bursts because of read-ahead.
    let bursts = !facts.is_random() && !facts.is_write();
    (!bursts && facts.stalled_share >= MOSTLY_STALLED && facts.median_ns * 4.0 < facts.latency_ns)
        .then(|| words::stalls(facts.stalled_share, facts.median_ns))
}

/// Returns the limit according to the kernel's tracepoints.
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

/// Returns the limit of single operations.
fn alone(record: &RunRecord, evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    if facts.in_flight > ALONE {
        return None;
    }
    part_of_one(record, evidence, facts, None)
}

/// Returns the limit of concurrent operations.
fn together(record: &RunRecord, evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    let each_ns = 1e9 / facts.iops;
    let single = facts.shallower(evidence.cells).filter(|single| single.is_alone());
    // Concurrent sequential work takes the time of its transfer, unless it is small.
    let bytes_share = evidence.bytes_ns(facts).map(|bytes_ns| bytes_ns / each_ns);
    let least = if facts.is_random() { NEARLY_ALL } else { ALL_BYTES };
    let is_bytes = bytes_share.is_some_and(|share| share >= least);
    let moves = evidence.turns() && facts.is_random();
    match single {
        _ if is_bytes && !facts.is_random() => carried(evidence, facts),
        Some(single) if each_ns >= single.latency_ns * SERIAL => {
            part_of_one(record, evidence, single, Some(facts))
        }
        _ if moves => Some(turning(evidence, facts, each_ns)),
        Some(single) if facts.latency_ns * MOSTLY <= single.latency_ns => {
            part_of_one(record, evidence, single, Some(facts))
        }
        _ if is_bytes => carried(evidence, facts),
        Some(single) if may_turn(evidence, single) => None,
        Some(single) => Some(words::command_rate(facts, single)),
        None => None,
    }
}

/// Returns the limit from the part that takes most of the time of a single operation. `deeper` is
/// the cell in question if it has more operations in flight.
fn part_of_one(
    record: &RunRecord,
    evidence: &Evidence<'_>,
    single: &CellFacts<'_>,
    deeper: Option<&CellFacts<'_>>,
) -> Option<Limit> {
    let parts = evidence.parts(single);
    let (part, share) = parts[0];
    let beside = deeper.or_else(|| single.deeper(evidence.cells)).filter(|beside| gains(single, beside));
    let least = match part {
        TimePart::Walk => MOSTLY_WALKED,
        // Concurrent commands are served in parallel, so the single operation waited for the
        // command.
        TimePart::Command if beside.is_some() => MOSTLY,
        // In sequential work, transfers overlap, so the time per byte of a small read is at least
        // as long.
        TimePart::Bytes if single.is_random() && !single.is_write() => MOSTLY,
        // Sequential writes wait for the medium once memory is full. A single one may not.
        TimePart::Bytes if single.is_random() && beside.is_some() => ALL_BYTES,
        _ => CLEARLY,
    };
    if share < least {
        // Needs that only writes have cannot be separated. Parts of large operations may overlap,
        // unless concurrent operations are faster: then each has waited for more than its transfer.
        let is_read_like = !single.is_write() || evidence.ends_in_memory(single);
        let has_parts = is_read_like && (single.is_random() || beside.is_some());
        let is_told = has_parts && parts[0].1 + parts[1].1 >= NEARLY_ALL && parts[1].1 >= SECOND;
        if is_told {
            return Some(words::shared(single, [parts[0], parts[1]]));
        }
        // A small access shows the time of the command, and the rest is for the bytes.
        let is_large = !single.is_random() && deeper.is_none();
        let command = command_share(evidence, single).filter(|share| is_large && *share >= ACCESS_SHOWN)?;
        if command >= CLEARLY {
            return Some(self::command(record, evidence, single, deeper, beside));
        }
        let mut parts = [(TimePart::Bytes, 1.0 - command), (TimePart::Command, command)];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        return Some(words::shared(single, parts));
    }
    let limit = match part {
        TimePart::Bytes => carried(evidence, single)?,
        TimePart::Walk => words::walk(&walk(single)?, Some(share)),
        TimePart::Movement => turning(evidence, single, single.latency_ns),
        // With a walk, the remaining time need not be fixed, because a file is opened before its
        // chain is walked.
        TimePart::Command if walk(single).is_some() => return None,
        TimePart::Command if may_turn(evidence, single) => return None,
        TimePart::Command if evidence.storage.several && evidence.turns() && single.is_write() => {
            return several_written(record, evidence, single, deeper, beside);
        }
        TimePart::Command => match read_walk(evidence, single).filter(|_| single.is_write()) {
            Some(walk) => words::walk(&walk, None),
            None => command(record, evidence, single, deeper, beside),
        },
    };
    Some(match deeper {
        Some(deeper) if part != TimePart::Command => limit.one_after_the_other(single, deeper, evidence),
        _ => limit,
    })
}

/// Returns the limit of small writes to an array of disks. Which of them are written, and whether others
/// are read for it, is not visible. But writes that all take the same time wait for no medium, and
/// where some are quick and most of the time is that of others, these wait for their medium.
fn several_written(
    record: &RunRecord,
    evidence: &Evidence<'_>,
    single: &CellFacts<'_>,
    deeper: Option<&CellFacts<'_>>,
    beside: Option<&CellFacts<'_>>,
) -> Option<Limit> {
    if is_alike(single) {
        return Some(command(record, evidence, single, deeper, beside));
    }
    let asked = deeper.unwrap_or(single);
    let low_ns = asked.tenths_ns[0];
    let waits = low_ns < QUICK_NS && asked.latency_ns * (1.0 - CLEARLY) >= low_ns;
    waits.then(|| words::write_cache_full(asked, low_ns))
}

/// Returns whether random operations may wait for seek and rotation, of which nothing is known.
fn may_turn(evidence: &Evidence<'_>, single: &CellFacts<'_>) -> bool {
    evidence.turning == Turning::Unknown && single.is_random() && single.latency_ns >= QUICK_NS
}

/// Returns the walk that reads of the same work show, if they are no slower. Writes find their
/// offsets in the same way.
fn read_walk(evidence: &Evidence<'_>, single: &CellFacts<'_>) -> Option<ChainWalk> {
    let read = single.opposite(evidence.cells).filter(|read| read.latency_ns <= single.latency_ns)?;
    walk(read)
}

/// Returns the limit for the fixed time of a command. `beside` has more operations in flight and is
/// faster.
fn command(
    record: &RunRecord,
    evidence: &Evidence<'_>,
    single: &CellFacts<'_>,
    deeper: Option<&CellFacts<'_>>,
    beside: Option<&CellFacts<'_>>,
) -> Limit {
    let read = single.opposite(evidence.cells).filter(|_| single.is_write() && single.is_random());
    if evidence.turns() && single.is_write() && single.is_random() {
        let asked = deeper.unwrap_or(single);
        let low_ns = asked.tenths_ns[0];
        if asked.latency_ns >= low_ns * FEW_SLOW {
            return words::write_cache_full(asked, low_ns);
        }
    }
    let few_slow = single.latency_ns >= single.median_ns * 2.0;
    if let Some(read) = read
        .filter(|read| !evidence.turns() && (few_slow || single.latency_ns >= read.latency_ns * SLOW_WRITES))
    {
        return words::small_writes(single, read);
    }
    let machine = record.header.environment.machine.virtualisation.machine.as_deref();
    words::command(single, beside, machine, evidence)
}

/// Returns the limit of random work on a rotational medium.
fn turning(evidence: &Evidence<'_>, facts: &CellFacts<'_>, each_ns: f64) -> Limit {
    let least_ns = if facts.is_alone() { HALF_TURN_NS } else { NEAR_NS };
    if facts.is_write() && each_ns * (evidence.storage.drives.max(1) as f64) < least_ns {
        return words::write_cache_full(facts, facts.median_ns.min(each_ns));
    }
    // A cache takes writes before the head moves, as long as it has room.
    let is_seen = evidence.turning == Turning::Seen && !facts.is_write();
    words::mechanics(each_ns, facts, is_seen)
}

/// Returns the limit of the transfer: the connection or the device.
fn carried(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Limit> {
    let fastest = evidence.fastest(facts)?;
    let storage = &evidence.storage;
    if let Some((single, deeper)) = takes_turns(evidence).filter(|_| !facts.is_alone() && !facts.is_random())
    {
        return Some(words::in_turns(single, deeper));
    }
    // The connection is idle during a part of single operations if concurrent ones are faster.
    let gains = facts.is_alone() && gains(facts, fastest);
    let is_idle = gains && evidence.is_in_order(facts);
    if let Some(limit) = at_the_link(storage, evidence.cells, fastest).filter(|_| !is_idle) {
        return Some(limit);
    }
    // For several drives, this requires a rate that falls so much that most of the time is
    // transfer.
    let least = match (storage.several, fastest.is_write()) {
        (false, _) => 0.0,
        (true, false) => ZONED_READS,
        (true, true) => ZONED_WRITES,
    };
    let is_zoned = |[first, last]: &[f64; 2]| evidence.turns() && *first >= last * least;
    if let Some(zones) = zones(fastest).filter(is_zoned) {
        return Some(carried::zones(fastest, zones));
    }
    if evidence.turns() && storage.is_whole && !storage.several && is_as_fast_everywhere(fastest) {
        return Some(carried::as_fast_everywhere(fastest));
    }
    let compared = beside_memory(evidence, facts, fastest)
        .or_else(|| unlinked::slower_than_shown(evidence, facts, fastest));
    if compared.is_some() {
        return compared;
    }
    let is_bare = !storage.several && !storage.is_hidden && storage.provider.is_none();
    match &storage.link {
        Some(link) if gains && link.has_room(facts.rate, true) => {
            Some(carried::device_rate(facts, link, evidence.turns()))
        }
        _ if is_idle && is_bare && evidence.may_be_medium(fastest) => {
            Some(carried::deeper_is_faster(facts, fastest, evidence.turns()))
        }
        Some(link)
            if link
                .has_room(fastest.rate, fastest.is_alone() && fastest.deeper(evidence.cells).is_none()) =>
        {
            Some(carried::device_rate(fastest, link, evidence.turns()))
        }
        Some(_) => None,
        None if !facts.is_alone() && drives_side_by_side(evidence, fastest) => {
            let link = storage.each_link.as_ref()?;
            let each = fastest.rate / storage.drives as f64;
            // Near the capacity of one connection, the drives may share it.
            let is_apart = fastest.rate < link.usual * OF_A_SHARED_LINK || link.is_exceeded(fastest.rate);
            (is_apart && link.has_room(each, true)).then(|| carried::drives_rate(fastest, each, link))
        }
        None if slow_bus(evidence, fastest) => Some(carried::bus(fastest)),
        None => match command_share(evidence, facts).filter(|share| *share >= ACCESS_SHOWN) {
            Some(share) => {
                let mut parts = [(TimePart::Bytes, 1.0 - share), (TimePart::Command, share)];
                parts.sort_by(|a, b| b.1.total_cmp(&a.1));
                (share <= 1.0 - SECOND).then(|| words::shared(facts, parts))
            }
            None => other_way(evidence, fastest).or_else(|| unlinked::by_rate(evidence, facts, fastest)),
        },
    }
}

/// Returns the limit of a hard disk's transfer by re-reads of the same range, which its memory serves.
fn beside_memory(evidence: &Evidence<'_>, facts: &CellFacts<'_>, fastest: &CellFacts<'_>) -> Option<Limit> {
    let is_one = evidence.turns() && !evidence.storage.several;
    let memory_rate = evidence.memory_rate(fastest).filter(|_| is_one)?;
    // Large sequential operations are judged by their own rate.
    let asked = if evidence.is_in_order(facts) { facts } else { fastest };
    Some(match asked.rate / memory_rate {
        share if share <= FAR_BELOW_MEMORY => carried::medium(asked, memory_rate),
        share if share >= AS_MEMORY => {
            carried::connection(asked, memory_rate, evidence.storage.link.as_ref())
        }
        _ => carried::medium_and_connection(asked, memory_rate),
    })
}

/// Returns the limit for a data rate that is lower in one direction than in the other on the same
/// connection.
fn other_way(evidence: &Evidence<'_>, fastest: &CellFacts<'_>) -> Option<Limit> {
    let other = fastest.opposite(evidence.cells)?;
    let least = if evidence.turns() { MUCH_FASTER } else { FASTER };
    let same_way = !evidence.storage.several && evidence.may_be_medium(fastest);
    (same_way && other.rate >= fastest.rate * least).then(|| carried::slower_way(fastest, other))
}

/// Returns the ratio of a small access to a single read on a medium that is not rotational; that
/// time is not transfer. Behind a hypervisor or a file, it would belong to those.
fn command_share(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<f64> {
    let access = evidence.cells.iter().find(|cell| is_access(cell));
    let is_device = evidence.turning == Turning::No && !evidence.storage.is_hidden;
    let access = access.filter(|_| !facts.is_write() && facts.is_alone() && is_device)?;
    Some(access.latency_ns / facts.latency_ns)
}

/// Returns random reads on several drives, one at a time and with many in flight.
fn reads_of_several<'a>(evidence: &Evidence<'a>) -> Option<(&'a CellFacts<'a>, &'a CellFacts<'a>)> {
    let reads = |facts: &&CellFacts<'_>| facts.is_alone() && facts.is_random() && !facts.is_write();
    let single = evidence.cells.iter().filter(|_| evidence.storage.several).find(reads)?;
    Some((single, single.deeper(evidence.cells)?))
}

/// Returns such reads if they gain nothing from several drives, because a shared component serves
/// one drive at a time.
fn takes_turns<'a>(evidence: &Evidence<'a>) -> Option<(&'a CellFacts<'a>, &'a CellFacts<'a>)> {
    reads_of_several(evidence).filter(|(single, deeper)| !gains(single, deeper))
}

/// Returns whether these are sequential reads of several hard disks that were shown to work in
/// parallel.
fn drives_side_by_side(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> bool {
    let gained = reads_of_several(evidence).is_some_and(|(single, deeper)| gains(single, deeper));
    evidence.turns() && gained && !facts.is_write()
}

/// Returns whether the data rate is below that of any known medium: on a device that is not
/// rotational, serves one operation at a time, and is equally slow in both directions. A virtual
/// disk may be throttled on purpose.
fn slow_bus(evidence: &Evidence<'_>, fastest: &CellFacts<'_>) -> bool {
    let alike =
        fastest.opposite(evidence.cells).is_none_or(|other| fastest.rate >= other.rate * (1.0 - SAME));
    let storage = &evidence.storage;
    let is_bare = !storage.several && !storage.is_hidden;
    is_bare
        && !evidence.serves_more()
        && evidence.turning == Turning::No
        && fastest.rate <= SLOWEST_CARD
        && alike
}
