//! What all cells of a run tell together of the storage below: what a byte takes, whether something turns, whether places are
//! found by walking a chain, and which of these an operation's time is for.
//!
//! The model: an operation by itself takes a fixed time, a time for each of its bytes, and a time that depends on where it is.
//! The time of a byte is that of the fastest work in order. The time that grows evenly with the offset is a walk along a chain; time
//! that scatters over milliseconds whatever the offset is an arm and a rotation; the rest is the same for every command.

use super::storage::StorageFacts;
use crate::cell::CellFacts;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};
use kurabe_stats::{FittedLine, line};
use std::collections::BTreeSet;

/// From this size on operations in order tell what a byte takes: of smaller ones the command is a large part.
const LARGE_BYTES: f64 = 65_536.0;
/// Random reads whose middle four fifths lie this far apart wait for something that moves: a turn of 15,000 rpm takes 4 ms.
const MOVING_NS: f64 = 2.4e6;
/// Random reads whose middle four fifths differ by no more than this share take the same time everywhere.
const ALIKE: f64 = 0.25;
/// One by itself waits for half a turn, of which no disk has had more than 15,000 in a minute; of what takes half as long most came
/// from memory or flash.
const QUICK_NS: f64 = 1e6;
/// A small read of the same place came from memory if it takes no more than this share of a read elsewhere: a turn takes more.
const FROM_MEMORY: f64 = 0.25;
/// Fewer operations say nothing about how they scatter.
const FEWEST_OPERATIONS: u64 = 8;
/// Operations that take no more than this many times the quickest were answered by the same cache as that.
const CACHED: f64 = 1.5;
/// Fewer places say nothing about how time depends on them.
const FEWEST_PLACES: usize = 12;
/// Time is said to grow with the offset if the offset explains this share of its variance: what turns has its place in the turn.
const WALKED: f64 = 0.6;
/// The outer tracks of a disk are at least this many times as long as the inner ones.
const ZONED: f64 = 1.15;
/// The fastest and the slowest place of a device that is as fast everywhere differ by no more than this share.
const AS_FAST: f64 = 0.02;
/// From this share on nothing else explains it.
pub(super) const WALKED_SURELY: f64 = 0.85;

/// Whether the medium turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turning {
    /// Accesses show it.
    Seen,
    /// The kernel says so of a drive that it can ask.
    Told,
    /// Accesses or the kernel exclude it.
    No,
    /// Nobody tells. Of SCSI and USB the kernel says that everything turns that does not deny it.
    Unknown,
}

/// Time that grows evenly with the offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChainWalk {
    /// Of an operation at the first place that was measured, and at the last.
    pub(super) first_ns: f64,
    pub(super) last_ns: f64,
    /// Mean time that is for the walk.
    pub(super) mean_ns: f64,
    /// Share of the variance that the offset explains.
    pub(super) explained: f64,
}

/// What the time of an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePart {
    Bytes,
    Walk,
    Movement,
    Command,
}

impl TimePart {
    pub(super) fn words(self) -> Text {
        match self {
            Self::Bytes => text!("moving its bytes", "データの転送"),
            Self::Walk => text!("walking a chain of clusters", "クラスターの連鎖をたどる時間"),
            Self::Movement => text!("seek and rotation", "シークと回転待ち"),
            Self::Command => text!("the command itself", "コマンドの処理"),
        }
    }
}

/// What cells tell together.
pub(crate) struct Evidence<'a> {
    pub(crate) storage: StorageFacts,
    pub(super) cells: &'a [CellFacts<'a>],
    pub(super) turning: Turning,
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(record: &RunRecord, cells: &'a [CellFacts<'a>]) -> Self {
        let storage = StorageFacts::of(record);
        let turning = turning(&storage, cells);
        Self { storage, cells, turning }
    }

    pub(crate) fn turns(&self) -> bool {
        matches!(self.turning, Turning::Seen | Turning::Told)
    }

    /// The cell that shows what a byte takes in the direction of another one.
    pub(super) fn fastest(&self, facts: &CellFacts<'_>) -> Option<&'a CellFacts<'a>> {
        let same_way =
            |other: &&CellFacts<'_>| other.cell.direction == facts.cell.direction && self.is_in_order(other);
        self.cells.iter().filter(same_way).max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// Whether a cell shows what a byte takes.
    pub(super) fn is_in_order(&self, facts: &CellFacts<'_>) -> bool {
        facts.measured() && !facts.is_random() && !facts.is_same_place() && facts.block_bytes() >= LARGE_BYTES
    }

    /// Time for the bytes of an operation of a cell: at the rate of work in order, or, of an operation by itself, as much as more
    /// of them cost at random places.
    pub(super) fn bytes_ns(&self, facts: &CellFacts<'_>) -> Option<f64> {
        let in_order_ns = facts.block_bytes() * 1e9 / self.fastest(facts)?.rate;
        let alone = |other: &CellFacts<'_>| {
            other.measured()
                && other.is_alone()
                && other.is_random()
                && other.cell.direction == facts.cell.direction
        };
        let mut larger =
            self.cells.iter().filter(|other| alone(other) && other.block_bytes() > facts.block_bytes());
        let at_random_ns = larger.next().filter(|_| alone(facts)).map(|larger| {
            let more_bytes = larger.block_bytes() - facts.block_bytes();
            (larger.latency_ns - facts.latency_ns) / more_bytes * facts.block_bytes()
        });
        Some(in_order_ns.max(at_random_ns.unwrap_or(0.0)))
    }

    /// Bytes per second of the connection and the drive's memory, without the medium: what more bytes of the same place cost.
    pub(super) fn memory_rate(&self, facts: &CellFacts<'_>) -> Option<f64> {
        let same_place = |other: &&CellFacts<'_>| {
            other.measured()
                && other.is_same_place()
                && other.is_alone()
                && other.cell.direction == facts.cell.direction
        };
        let by_size = |a: &&CellFacts<'_>, b: &&CellFacts<'_>| a.block_bytes().total_cmp(&b.block_bytes());
        let small = self.cells.iter().filter(same_place).min_by(by_size)?;
        let large = self.cells.iter().filter(same_place).max_by(by_size)?;
        let more_bytes = large.block_bytes() - small.block_bytes();
        // The median: the first read of all goes to the medium.
        let more_ns = large.median_ns - small.median_ns;
        if more_bytes <= 0.0 || more_ns <= 0.0 {
            return None;
        }
        // Without a memory the medium comes round for each of them.
        let mut accesses = self.cells.iter().filter(|other| is_access(other));
        accesses
            .any(|access| small.median_ns <= access.median_ns * FROM_MEMORY)
            .then(|| more_bytes * 1e9 / more_ns)
    }

    /// Whether the same place was read again and again.
    pub(super) fn has_same_place(&self) -> bool {
        self.cells.iter().any(CellFacts::is_same_place)
    }

    /// What the time of an operation by itself is for, in shares of it; the largest first.
    pub(super) fn parts(&self, facts: &CellFacts<'_>) -> [(TimePart, f64); 3] {
        let whole_ns = facts.latency_ns;
        let bytes_ns = self.bytes_ns(facts).unwrap_or(0.0).min(whole_ns);
        let walk_ns = walk(facts).map_or(0.0, |walk| walk.mean_ns).min(whole_ns - bytes_ns);
        let rest_ns = whole_ns - bytes_ns - walk_ns;
        // Samples lie apart; of one drive what is left of a large one is small, several drives each have a part to look for.
        let is_sample = self.storage.several
            && !facts.is_write()
            && facts.cell.counted().any(|one| !one.samples.is_empty());
        let moves = self.turns() && (facts.is_random() || is_sample) && rest_ns >= QUICK_NS;
        let rest = if moves { TimePart::Movement } else { TimePart::Command };
        let mut parts = [(TimePart::Bytes, bytes_ns), (TimePart::Walk, walk_ns), (rest, rest_ns)];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts.map(|(part, part_ns)| (part, part_ns / whole_ns))
    }
}

/// Whether a cell shows what a single small read takes at any place.
pub(super) fn is_access(facts: &CellFacts<'_>) -> bool {
    facts.measured()
        && facts.is_alone()
        && facts.is_random()
        && facts.cell.direction == Some(Direction::Read)
        && facts.block_bytes() < LARGE_BYTES
}

/// Whether something turns.
fn turning(storage: &StorageFacts, cells: &[CellFacts<'_>]) -> Turning {
    if storage.turns == Some(false) {
        return Turning::No;
    }
    for facts in cells.iter().filter(|facts| is_access(facts)) {
        if facts.operations < FEWEST_OPERATIONS {
            continue;
        }
        let [low_ns, high_ns] = facts.tenths_ns;
        if walk(facts).is_some() || facts.median_ns < QUICK_NS {
            return Turning::No;
        }
        if high_ns - low_ns >= MOVING_NS {
            return Turning::Seen;
        }
        if high_ns <= low_ns * (1.0 + ALIKE) {
            return Turning::No;
        }
    }
    match storage.turns {
        Some(true) if storage.is_asked => Turning::Told,
        _ => Turning::Unknown,
    }
}

/// How the time of single operations grows with their offset, if it does. Those that a cache answered take no walk.
pub(super) fn walk(facts: &CellFacts<'_>) -> Option<ChainWalk> {
    if !facts.is_alone() || !facts.is_random() {
        return None;
    }
    let places = facts.cell.counted().flat_map(|one| one.samples.iter().chain(&one.places));
    let places: Vec<(f64, f64)> =
        places.map(|place| (place.offset_bytes as f64, place.elapsed_ns as f64)).collect();
    let quickest_ns = places.iter().map(|place| place.1).fold(f64::INFINITY, f64::min);
    let [all, slow] = [0.0, quickest_ns * CACHED].map(|above_ns| walk_through(&places, above_ns));
    all.or(slow)
}

/// The walk that those of the places show which took longer than `above_ns`.
fn walk_through(places: &[(f64, f64)], above_ns: f64) -> Option<ChainWalk> {
    let (offsets, times): (Vec<f64>, Vec<f64>) =
        places.iter().copied().filter(|place| place.1 > above_ns).unzip();
    // Some profiles ask for the same places in every repetition, which scatter no less for that.
    let distinct: BTreeSet<u64> = offsets.iter().map(|offset| *offset as u64).collect();
    if distinct.len() < FEWEST_PLACES {
        return None;
    }
    let fitted = line(&offsets, &times).filter(|fitted| fitted.slope > 0.0 && fitted.fit >= WALKED)?;
    let [first_ns, last_ns] = at_both_ends(&fitted, &offsets);
    Some(ChainWalk {
        first_ns: first_ns.max(0.0),
        last_ns,
        mean_ns: fitted.slope * offsets.iter().sum::<f64>() / places.len() as f64,
        explained: fitted.fit,
    })
}

/// The height of a line at the first and the last of the offsets.
fn at_both_ends(fitted: &FittedLine, offsets: &[f64]) -> [f64; 2] {
    let first = offsets.iter().copied().fold(f64::INFINITY, f64::min);
    let last = offsets.iter().copied().fold(0.0, f64::max);
    [first, last].map(|offset| fitted.intercept + fitted.slope * offset)
}

/// Offsets and rates of the places that were sampled in order, if they are enough.
fn places(facts: &CellFacts<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let samples = facts.cell.counted().flat_map(|one| &one.samples);
    let (offsets, rates): (Vec<f64>, Vec<f64>) =
        samples.map(|sample| (sample.offset_bytes as f64, sample.rate_bytes_per_s())).unzip();
    (!facts.is_random() && offsets.len() >= FEWEST_PLACES).then_some((offsets, rates))
}

/// The rate at the first and the last place, if it goes down evenly: outer tracks are longer.
pub(super) fn zones(facts: &CellFacts<'_>) -> Option<[f64; 2]> {
    let (offsets, rates) = places(facts)?;
    let fitted = line(&offsets, &rates).filter(|fitted| fitted.fit >= WALKED)?;
    let rates = at_both_ends(&fitted, &offsets);
    (rates[1] > 0.0 && rates[0] >= rates[1] * ZONED).then_some(rates)
}

/// Whether all places are as fast.
pub(super) fn is_as_fast_everywhere(facts: &CellFacts<'_>) -> bool {
    let slowest = |rates: &[f64]| rates.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    places(facts).is_some_and(|(_, rates)| slowest(&rates) >= fastest(&rates) * (1.0 - AS_FAST))
}
