//! Limits of transfers over a connection whose rate the record does not contain.
//!
//! The model: a connection carries bytes at one rate, whatever they are, wherever they lie and in
//! both directions. So it carries at least what its fastest operation shows, and work that is
//! slower than that waits for the device. Connections have few rates; devices end anywhere. A rate at
//! which no common connection ends is the device's own, and reads and writes that both end where
//! only a line ends are limited by that line. No such conclusion is firm.
//!
//! Near the rate of a common connection, one direction alone shows neither.
//! Cards and buses of hard disks before SATA run at almost any clock, so below `SLOWEST` nothing
//! follows from a rate either.

use super::carried;
use super::evidence::{Evidence, Turning};
use super::limit::{CLEARLY, FASTER, Limit};
use super::storage::Bus;
use crate::ceiling::{Ceiling, common};
use crate::cell::{CellFacts, MEMORY_NS};
use kurabe_core::workload::Direction;

/// Bytes per second from which on a bus is as fast in both directions, because it transfers data by
/// DMA. PIO mode 4 of ATA and Fast SCSI end below 17 MB/s.
const SAME_BOTH_WAYS: f64 = 20e6;
/// Bytes per second from which on connections have a few fixed rates. Lines of cards (UHS-I: up to
/// 104 MB/s), Ultra ATA (133 MB/s) and SATA at 1.5 Gbit/s (150 MB/s) end below it.
const SLOWEST: f64 = 150e6;
/// An operation faster than this went over PCI Express: SATA drives need 27 µs for a small write
/// (data sheet of the Samsung 870 EVO, 36,000 IOPS), bridges of USB and networks more. In ns.
const PCIE_NS: f64 = 25e3;
/// The medium's rate differs by at least this factor between repetitions at different places.
const ZONED: f64 = 1.15;
/// Minimum number of repetitions to judge how they differ.
const FEWEST_PLACES: usize = 5;

/// Returns the limit of a transfer that is slower than the connection was shown to be. `fastest` is
/// the fastest sequential work in the direction of `facts`.
pub(super) fn slower_than_shown(
    evidence: &Evidence<'_>,
    facts: &CellFacts<'_>,
    fastest: &CellFacts<'_>,
) -> Option<Limit> {
    // Of several drives, writes use more than reads, and each of them moves for a single operation.
    let several = evidence.storage.several;
    if !is_visible(evidence) || !evidence.may_be_medium(fastest) || (several && facts.is_alone()) {
        return None;
    }
    let is_other_way = |shown: &CellFacts<'_>| shown.is_write() != fastest.is_write();
    let shown = evidence.cells.iter().filter_map(|cell| Some((cell, shown_rate(evidence, cell)?)));
    let (shown, rate) = shown
        .filter(|(shown, rate)| {
            // Old buses need not be equally fast in both directions.
            let is_shown = !is_other_way(shown) || (*rate >= SAME_BOTH_WAYS && !several);
            is_shown && *rate >= fastest.rate * FASTER
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // One operation at a time leaves the connection idle, so its rate is not that of the transfer.
    let asked = if evidence.is_in_order(facts) && !facts.is_alone() { facts } else { fastest };
    Some(carried::faster_once(asked, shown, rate, evidence.turns()))
}

/// Returns the limit of a transfer by where its rate is.
pub(super) fn by_rate(
    evidence: &Evidence<'_>,
    facts: &CellFacts<'_>,
    fastest: &CellFacts<'_>,
) -> Option<Limit> {
    if !is_visible(evidence) || evidence.storage.several {
        return None;
    }
    if let Some((slowest, quickest)) = places(evidence, fastest) {
        return Some(carried::differs_by_place(fastest, slowest, quickest));
    }
    let ends = candidates(evidence);
    let is_one_of_few = is_pcie(evidence) || evidence.storage.bus.is_some();
    let is_flash = evidence.turning == Turning::No;
    let other = fastest.opposite(evidence.cells).map(|other| other.rate);
    let at_line = |end: &Ceiling| {
        let at = end.ends_unknown(fastest.rate, other, is_one_of_few)?;
        Some(carried::by_line(end, &at))
    };
    if let Some(line) = ends.iter().filter(|_| is_flash).find_map(at_line) {
        // A single operation waits for the line for the share of the time that its bytes take there.
        return match facts.rate / fastest.rate {
            share if !facts.is_alone() || share >= CLEARLY => Some(line),
            _ => None,
        };
    }
    let rates = end_rates(evidence, fastest);
    let may_end = |end: &Ceiling| end.may_end(rates, fastest.is_alone());
    let is_free = fastest.rate >= SLOWEST && !ends.is_empty() && !ends.iter().any(may_end);
    is_free.then(|| carried::no_line_ends_there(fastest, &ends, evidence.turns()))
}

/// Returns a connection that the device may have and that may end at the rate of sequential work.
pub(super) fn near(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<Ceiling> {
    let rates = end_rates(evidence, facts);
    candidates(evidence).into_iter().find(|end| end.may_end(rates, facts.is_alone()))
}

/// Returns the rates between which sequential work would end without its commands.
fn end_rates(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> [f64; 2] {
    [facts.rate, facts.rate / (1.0 - command_share(evidence, facts))]
}

/// Returns whether the device's own operations are seen: not those of a host, a provider or a file
/// system with its own cache.
fn is_visible(evidence: &Evidence<'_>) -> bool {
    let storage = &evidence.storage;
    let is_served =
        storage.is_hidden || storage.provider.is_some() || storage.cached || storage.has_own_cache;
    storage.link.is_none() && storage.drives > 0 && !is_served && storage.bus != Some(Bus::Network)
}

/// Returns the rate of the fastest operation of sequential work: all its bytes passed the
/// connection between submission and completion. Memory in front of the connection shows nothing.
fn shown_rate(evidence: &Evidence<'_>, facts: &CellFacts<'_>) -> Option<f64> {
    let passes = evidence.is_in_order(facts) && facts.quickest_ns >= MEMORY_NS;
    passes.then(|| facts.rate.max(facts.block_bytes() * 1e9 / facts.quickest_ns))
}

/// Returns the rates of the slowest and the fastest repetition of sequential reads of a hard disk,
/// if they started at different places and differ as zones do.
fn places(evidence: &Evidence<'_>, fastest: &CellFacts<'_>) -> Option<(f64, f64)> {
    let moves = fastest.workload.is_some_and(|workload| workload.moving_start);
    let is_read = fastest.cell.direction == Some(Direction::Read);
    let rates: Vec<f64> = fastest
        .cell
        .counted()
        .map(|one| one.bytes(Direction::Read) as f64 * 1e9 / one.elapsed_ns.max(1) as f64)
        .collect();
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let quickest = rates.iter().copied().fold(0.0, f64::max);
    let is_zoned = moves && is_read && evidence.turning == Turning::Seen && rates.len() >= FEWEST_PLACES;
    (is_zoned && quickest >= slowest * ZONED).then_some((slowest, quickest))
}

/// Returns whether the connection is PCI Express, by the name of the device or because no other
/// connection is as quick.
fn is_pcie(evidence: &Evidence<'_>) -> bool {
    let quick = |cell: &CellFacts<'_>| cell.is_alone() && cell.measured() && cell.median_ns < PCIE_NS;
    match evidence.storage.bus {
        Some(bus) => bus == Bus::Nvme,
        None => evidence.cells.iter().any(quick),
    }
}

/// Returns the connections that the device may have.
fn candidates(evidence: &Evidence<'_>) -> Vec<Ceiling> {
    let (storage, is_pcie) = (&evidence.storage, is_pcie(evidence));
    let may_be = |end: &Ceiling| match storage.bus {
        _ if is_pcie => end.packets,
        // SATA, SAS and USB.
        Some(Bus::Scsi) => !end.packets && !end.network,
        Some(_) => false,
        None => true,
    };
    // A network or an adapter of which only the driver is known may end anywhere.
    if storage.is_other { Vec::new() } else { common().into_iter().filter(may_be).collect() }
}

/// Returns the largest share of the time of sequential work during which commands keep the connection
/// idle: none if several are served at a time, else as much as the quickest small operation takes.
fn command_share(evidence: &Evidence<'_>, fastest: &CellFacts<'_>) -> f64 {
    if evidence.serves_more() {
        return 0.0;
    }
    let is_small = |cell: &&CellFacts<'_>| cell.is_alone() && cell.is_random() && cell.measured();
    let accesses = evidence.cells.iter().filter(is_small).map(|cell| cell.median_ns);
    let shortest_ns = accesses.fold(f64::INFINITY, f64::min);
    let bytes = fastest.block_bytes();
    let commands = evidence.storage.largest_request.map_or(1.0, |most| (bytes / most as f64).ceil());
    (shortest_ns * commands * fastest.rate / (bytes * 1e9)).min(1.0)
}
