//! Evidence from all cells of a run about the storage: the transfer time per byte, whether the
//! medium is rotational, whether offsets are found by walking a chain, and which of these takes an
//! operation's time.
//!
//! A single operation takes a fixed time, a time per byte, and a time that depends on its offset.
//! The time per byte is that of the fastest sequential work. Time that grows linearly with the
//! offset is a walk along a chain. Time that scatters over milliseconds regardless of the offset is
//! seek and rotational latency. The remaining time is the same for every command.

use super::storage::StorageFacts;
use crate::cell::CellFacts;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};
use kurabe_stats::{FittedLine, line};
use std::collections::BTreeSet;

/// From this size on, sequential operations show the transfer time per byte. In smaller ones the
/// command is a large part.
const LARGE_BYTES: f64 = 65_536.0;
/// If the 10th and 90th percentiles of random reads are this far apart, the reads wait for
/// mechanics. A revolution at 15,000 rpm takes 4 ms.
const MOVING_NS: f64 = 2.4e6;
/// If the 10th and 90th percentiles differ by no more than this share, random reads take the same
/// time everywhere.
const ALIKE: f64 = 0.25;
/// A single operation waits for half a revolution on average, and no disk exceeded 15,000 rpm. If
/// the time is half of that, most operations were served from memory or flash.
pub(super) const QUICK_NS: f64 = 1e6;
/// A small re-read of the same range came from memory if it takes no more than this share of a read
/// elsewhere. A revolution takes longer.
const FROM_MEMORY: f64 = 0.25;
/// Minimum number of operations to judge their scatter.
const FEWEST_OPERATIONS: u64 = 8;
/// Operations that take no more than this multiple of the fastest one were served by the same
/// cache.
const CACHED: f64 = 1.5;
/// Minimum number of offsets to judge how time depends on them.
const FEWEST_PLACES: usize = 12;
/// Time grows with the offset if the offset explains at least this share of its variance.
/// Rotational latency is independent of it.
const WALKED: f64 = 0.6;
/// The outer tracks of a disk are at least this many times as long as the inner ones.
const ZONED: f64 = 1.15;
/// Rates at the fastest and the slowest offset differ by no more than this share on a device that
/// is equally fast everywhere.
const AS_FAST: f64 = 0.02;
/// Sizes that differ by no more than this factor are spread over as many flash chips.
const NEAR_SIZE: f64 = 4.0;
/// Bytes per second that even the slowest current cards read and write sequentially (speed class
/// 10).
pub(super) const SLOWEST_CARD: f64 = 10e6;
/// If a deeper queue gives at least this factor of the rate, the device was idle at times at queue
/// depth 1.
const GAINS: f64 = 1.25;
/// If operations take at least this share of the sequential transfer time of their bytes, small
/// sizes do not make them faster, and the transfer is the limit.
pub(super) const ALL_BYTES: f64 = 0.85;
/// From this share of explained variance on, no other explanation remains.
pub(super) const WALKED_SURELY: f64 = 0.85;

/// Whether the medium is rotational.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turning {
    /// Accesses show it.
    Seen,
    /// The kernel reports it for a drive that it can query.
    Told,
    /// Accesses or the kernel exclude it.
    No,
    /// Unknown. For SCSI and USB, the kernel reports every device as rotational unless the device
    /// says otherwise.
    Unknown,
}

/// Time that grows linearly with the offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChainWalk {
    /// Time of an operation at the first measured offset, and at the last.
    pub(super) first_ns: f64,
    pub(super) last_ns: f64,
    /// Mean time of the walk.
    pub(super) mean_ns: f64,
    /// Share of the variance that the offset explains.
    pub(super) explained: f64,
}

/// Part of an operation's time.
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
            Self::Bytes => text!("the transfer of its bytes", "データの転送"),
            Self::Walk => text!("walking a chain of clusters", "クラスターの連鎖をたどる時間"),
            Self::Movement => text!("seek and rotation", "シークと回転待ち"),
            Self::Command => text!("the command itself", "コマンドの処理"),
        }
    }
}

/// Evidence from all cells of a run.
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

    /// Returns the cell that shows the transfer time per byte in the direction of another cell.
    pub(super) fn fastest(&self, facts: &CellFacts<'_>) -> Option<&'a CellFacts<'a>> {
        let same_way =
            |other: &&CellFacts<'_>| other.cell.direction == facts.cell.direction && self.is_in_order(other);
        self.cells.iter().filter(same_way).max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// Returns whether a cell shows the transfer time per byte.
    pub(super) fn is_in_order(&self, facts: &CellFacts<'_>) -> bool {
        facts.measured() && !facts.is_random() && !facts.is_same_place() && facts.block_bytes() >= LARGE_BYTES
    }

    /// Returns the transfer time of an operation of a cell: at the rate of sequential work, or for
    /// single random operations the time that other sizes show per byte, whichever is longer.
    pub(super) fn bytes_ns(&self, facts: &CellFacts<'_>) -> Option<f64> {
        let mut rate = self.fastest(facts)?.rate;
        if self.ends_in_memory(facts) && facts.rate < rate * ALL_BYTES {
            // The medium, which may limit sequential writes, has no part in these.
            let read = facts.opposite(self.cells).and_then(|read| self.fastest(read));
            rate = read.map_or(rate, |read| read.rate.max(rate));
        }
        let in_order_ns = facts.block_bytes() * 1e9 / rate;
        Some(in_order_ns.max(self.bytes_at_random_ns(facts).unwrap_or(0.0)))
    }

    /// Returns the transfer time of a single operation, from the time that those of other sizes
    /// take.
    fn bytes_at_random_ns(&self, facts: &CellFacts<'_>) -> Option<f64> {
        let others = self.other_sizes(facts);
        let per_byte_ns = |other: &CellFacts<'_>| {
            (other.latency_ns - facts.latency_ns) / (other.block_bytes() - facts.block_bytes())
        };
        let per_byte_ns = others.map(per_byte_ns).reduce(f64::max)?;
        Some(per_byte_ns * facts.block_bytes())
    }

    /// Returns single operations at any offset that differ from those of a cell by their size.
    fn other_sizes(&self, facts: &CellFacts<'_>) -> impl Iterator<Item = &'a CellFacts<'a>> {
        let is_apart = |one: &CellFacts<'_>| {
            let is_sampled = one.cell.counted().any(|one| !one.samples.is_empty());
            one.measured() && one.is_alone() && !one.is_same_place() && (one.is_random() || is_sampled)
        };
        let (is_one, direction, bytes) = (is_apart(facts), facts.cell.direction, facts.block_bytes());
        self.cells.iter().filter(move |other| {
            is_one && is_apart(other) && other.cell.direction == direction && other.block_bytes() != bytes
        })
    }

    /// Returns whether single operations of similar size show the time per byte of a cell's.
    /// Sequential and much larger work is spread over more flash chips and channels.
    pub(super) fn has_sizes(&self, facts: &CellFacts<'_>) -> bool {
        let is_near = |other: &CellFacts<'_>| {
            let ratio = other.block_bytes() / facts.block_bytes();
            (1.0 / NEAR_SIZE..=NEAR_SIZE).contains(&ratio)
        };
        self.other_sizes(facts).any(is_near)
    }

    /// Returns whether single small writes end in memory in front of flash, because they take no
    /// longer than reads.
    pub(super) fn ends_in_memory(&self, facts: &CellFacts<'_>) -> bool {
        let read = facts.opposite(self.cells).filter(|_| facts.is_write() && facts.is_alone());
        let is_random = facts.is_random() && self.turning == Turning::No;
        read.is_some_and(|read| is_random && facts.latency_ns <= read.latency_ns)
    }

    /// Returns the rate in bytes per second of the connection and the drive's memory, without the
    /// medium, from the extra time of larger re-reads of the same range.
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
        // The median, because the first read goes to the medium.
        let more_ns = large.median_ns - small.median_ns;
        if more_bytes <= 0.0 || more_ns <= 0.0 {
            return None;
        }
        // Without a cache, the medium is involved in every re-read.
        let mut accesses = self.cells.iter().filter(|other| is_access(other));
        accesses
            .any(|access| small.median_ns <= access.median_ns * FROM_MEMORY)
            .then(|| more_bytes * 1e9 / more_ns)
    }

    /// Returns whether the medium may be as slow as a rate. Flash is faster than a bus that takes one
    /// byte at a time.
    pub(super) fn may_be_medium(&self, facts: &CellFacts<'_>) -> bool {
        self.turns() || facts.rate > SLOWEST_CARD
    }

    /// Returns whether small operations were shown to be served several at a time.
    pub(super) fn serves_more(&self) -> bool {
        let mut singles = self.cells.iter().filter(|single| single.is_alone() && single.is_random());
        singles.any(|single| single.deeper(self.cells).is_some_and(|deeper| gains(single, deeper)))
    }

    /// Returns whether the same range was read repeatedly.
    pub(super) fn has_same_place(&self) -> bool {
        self.cells.iter().any(CellFacts::is_same_place)
    }

    /// Returns the parts of the time of a single operation as shares, the largest first.
    pub(super) fn parts(&self, facts: &CellFacts<'_>) -> [(TimePart, f64); 3] {
        let whole_ns = facts.latency_ns;
        let bytes_ns = self.bytes_ns(facts).unwrap_or(0.0).min(whole_ns);
        let walk_ns = walk(facts).map_or(0.0, |walk| walk.mean_ns).min(whole_ns - bytes_ns);
        let rest_ns = whole_ns - bytes_ns - walk_ns;
        // Samples are far apart. With one drive, what remains of a large sample is small. With
        // several drives, each has to seek to its part.
        let is_sample = self.storage.several
            && !facts.is_write()
            && facts.cell.counted().any(|one| !one.samples.is_empty());
        let scatters = is_sample || (facts.is_random() && !is_alike(facts));
        let moves = self.turns() && scatters && rest_ns >= QUICK_NS;
        let rest = if moves { TimePart::Movement } else { TimePart::Command };
        let mut parts = [(TimePart::Bytes, bytes_ns), (TimePart::Walk, walk_ns), (rest, rest_ns)];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts.map(|(part, part_ns)| (part, part_ns / whole_ns))
    }
}

/// Returns whether more operations in flight are so much faster that the device was idle with a
/// single one.
pub(super) fn gains(single: &CellFacts<'_>, deeper: &CellFacts<'_>) -> bool {
    deeper.rate >= single.rate * GAINS
}

/// Returns whether a cell shows the time of a single small read at any offset.
pub(super) fn is_access(facts: &CellFacts<'_>) -> bool {
    facts.measured()
        && facts.is_alone()
        && facts.is_random()
        && facts.cell.direction == Some(Direction::Read)
        && facts.block_bytes() < LARGE_BYTES
}

/// Determines whether the medium is rotational. Accesses decide, unless the drive itself was asked:
/// a bridge or a network target that calls a hard disk non-rotational cannot hide its rotation.
fn turning(storage: &StorageFacts, cells: &[CellFacts<'_>]) -> Turning {
    if storage.turns == Some(false) && storage.is_asked {
        return Turning::No;
    }
    let enough = |facts: &&CellFacts<'_>| is_access(facts) && facts.operations >= FEWEST_OPERATIONS;
    let seen = cells.iter().filter(enough).find_map(turning_seen);
    seen.unwrap_or(match storage.turns {
        Some(true) if storage.is_asked => Turning::Told,
        _ => Turning::Unknown,
    })
}

/// Returns whether single operations at any offset take the same time, which excludes seek and
/// rotation.
pub(super) fn is_alike(facts: &CellFacts<'_>) -> bool {
    let [low_ns, high_ns] = facts.tenths_ns;
    let highest_ns = high_ns.max(facts.latency_ns);
    // Several revolutions take longer than their scatter.
    let has_scatter = highest_ns > low_ns * (1.0 + ALIKE) || highest_ns - low_ns >= MOVING_NS;
    facts.is_alone() && facts.operations >= FEWEST_OPERATIONS && !has_scatter
}

/// Returns whether the times of single reads show rotation, or exclude it.
fn turning_seen(facts: &CellFacts<'_>) -> Option<Turning> {
    let [low_ns, high_ns] = facts.tenths_ns;
    if walk(facts).is_some() || facts.median_ns < QUICK_NS {
        return Some(Turning::No);
    }
    if high_ns - low_ns >= MOVING_NS {
        return Some(Turning::Seen);
    }
    (high_ns <= low_ns * (1.0 + ALIKE)).then_some(Turning::No)
}

/// Returns how the time of single operations grows with their offset, if it does. Operations served
/// from a cache do not involve a walk.
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

/// Returns the walk that the operations show which took longer than `above_ns`.
fn walk_through(places: &[(f64, f64)], above_ns: f64) -> Option<ChainWalk> {
    let (offsets, times): (Vec<f64>, Vec<f64>) =
        places.iter().copied().filter(|place| place.1 > above_ns).unzip();
    // Some profiles use the same offsets in every repetition, which does not reduce the scatter.
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

/// Returns the values of a line at the smallest and the largest offset.
fn at_both_ends(fitted: &FittedLine, offsets: &[f64]) -> [f64; 2] {
    let first = offsets.iter().copied().fold(f64::INFINITY, f64::min);
    let last = offsets.iter().copied().fold(0.0, f64::max);
    [first, last].map(|offset| fitted.intercept + fitted.slope * offset)
}

/// Returns the offsets and rates of sequential samples, if there are enough.
fn places(facts: &CellFacts<'_>) -> Option<(Vec<f64>, Vec<f64>)> {
    let samples = facts.cell.counted().flat_map(|one| &one.samples);
    let (offsets, rates): (Vec<f64>, Vec<f64>) =
        samples.map(|sample| (sample.offset_bytes as f64, sample.rate_bytes_per_s())).unzip();
    (!facts.is_random() && offsets.len() >= FEWEST_PLACES).then_some((offsets, rates))
}

/// Returns the rates at the first and the last offset if the rate falls linearly, because outer
/// tracks are longer.
pub(super) fn zones(facts: &CellFacts<'_>) -> Option<[f64; 2]> {
    let (offsets, rates) = places(facts)?;
    let fitted = line(&offsets, &rates).filter(|fitted| fitted.fit >= WALKED)?;
    let rates = at_both_ends(&fitted, &offsets);
    (rates[1] > 0.0 && rates[0] >= rates[1] * ZONED).then_some(rates)
}

/// Returns whether all offsets are equally fast.
pub(super) fn is_as_fast_everywhere(facts: &CellFacts<'_>) -> bool {
    let slowest = |rates: &[f64]| rates.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    places(facts).is_some_and(|(_, rates)| slowest(&rates) >= fastest(&rates) * (1.0 - AS_FAST))
}
