//! Figures of a cell that the rules examine, summed over its counted repetitions.

use kurabe_core::record::{Cell, LatencyRecord, Measure, Repetition};
use kurabe_core::split::KernelSplit;
use kurabe_core::workload::{Direction, Workload};
use kurabe_stats::{CellFlush, cell_flush, cell_latency, percentile_ns, repetition_latency, stutter};

/// Share of a series that counts as its beginning, and as its end. A cache is in use in the one and
/// full in the other.
const HEAD: f64 = 0.2;
/// Minimum number of intervals to compare the beginning of a series with its end. With fewer, each
/// of the two would be a single interval.
const FEWEST_INTERVALS: usize = 10;

/// Other work disturbed a cell if it moved at least this share of the bytes that the cell moved,
/// which is a fifth of the device's work.
const OTHERS: f64 = 0.25;
/// The hypervisor disturbed a cell if it took at least this share of the CPU time, twice the 5 %
/// below which a difference does not matter.
const STEAL: f64 = 0.1;
/// Tasks waited for a CPU in at least this share of the time while other work kept CPUs busy.
const CROWDED: f64 = 0.5;
/// Other work is the limit if repetitions with more of it have less than this share of the rate of
/// the others.
pub(crate) const SLOWED: f64 = 0.9;
/// A range this small fits into the memory of any drive.
const SAME_PLACE_BYTES: u64 = 64 << 10;
/// An operation faster than this was served from memory. The fastest flash takes longer for 4 KiB
/// over PCIe, including the interrupt and the wake-up. In ns.
pub(crate) const MEMORY_NS: f64 = 8e3;
/// Minimum number of repetitions to compare one half with the other.
const FEWEST_COMPARED: usize = 4;

/// Resource that other work used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContendedResource {
    Device,
    Hypervisor,
    Processors,
}

impl ContendedResource {
    /// Returns the share of the resource that other work used in a repetition.
    fn share(self, one: &Repetition, cpus: u32) -> f64 {
        let noise = &one.noise;
        match self {
            Self::Device => {
                let others =
                    noise.other_read_bytes.unwrap_or(0) as f64 + noise.other_write_bytes.unwrap_or(0) as f64;
                let own = one.bytes(Direction::Mix) as f64;
                if own > 0.0 { others / own } else { 0.0 }
            }
            Self::Hypervisor => noise.steal_share.unwrap_or(0.0),
            // Tasks wait for a CPU while other work keeps at least half of the CPUs busy.
            Self::Processors => {
                let busy = noise.other_cpus_busy.is_some_and(|busy| busy >= f64::from(cpus.max(1)) * 0.5);
                noise.cpu_pressure_share.filter(|_| busy).unwrap_or(0.0)
            }
        }
    }

    /// Returns the share from which this resource may have limited a cell.
    fn enough(self) -> f64 {
        match self {
            Self::Device => OTHERS,
            Self::Hypervisor => STEAL,
            Self::Processors => CROWDED,
        }
    }
}

/// Other work during a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OtherWork {
    pub(crate) resource: ContendedResource,
    /// Share of the resource that other work used.
    pub(crate) share: f64,
    /// Rate of the repetitions with more other work, relative to that of the rest. `None` if all
    /// had the same amount.
    pub(crate) slowed_to: Option<f64>,
}

/// Figures of a cell.
pub(crate) struct CellFacts<'a> {
    pub(crate) cell: &'a Cell,
    /// Its workload, if it has a single block size and a closed loop.
    pub(crate) workload: Option<&'a Workload>,
    /// Bytes per second.
    pub(crate) rate: f64,
    /// Operations per second.
    pub(crate) iops: f64,
    /// Mean latency of an operation.
    pub(crate) latency_ns: f64,
    /// Median latency.
    pub(crate) median_ns: f64,
    /// Smallest latency.
    pub(crate) quickest_ns: f64,
    /// The 10th and 90th percentiles of latency.
    pub(crate) tenths_ns: [f64; 2],
    /// Number of operations with a measured latency.
    pub(crate) operations: u64,
    /// Mean number of operations in flight, by Little's law: the sum of latencies divided by the
    /// time.
    pub(crate) in_flight: f64,
    /// Share of the time spent in stalls.
    pub(crate) stalled_share: f64,
    /// How its writes become durable, if they do.
    pub(crate) flush: Option<CellFlush>,
    /// Time of operations by stage according to the kernel's tracepoints, if a repetition was
    /// traced.
    pub(crate) split: Option<&'a KernelSplit>,
}

impl<'a> CellFacts<'a> {
    pub(crate) fn of(cell: &'a Cell) -> Self {
        let sum = |of: &dyn Fn(&Repetition) -> f64| cell.counted().map(of).sum::<f64>();
        let elapsed_ns = sum(&|one| one.elapsed_ns as f64);
        let latency = cell_latency(cell);
        let at = |share| percentile_ns(&latency, share).map_or(0.0, |ns| ns as f64);
        let direction = cell.direction.unwrap_or(Direction::Mix);
        let per_second = |amount: f64| if elapsed_ns > 0.0 { amount * 1e9 / elapsed_ns } else { 0.0 };
        // Time between single samples is not measured.
        let apart = cell.counted().any(|one| !one.samples.is_empty());
        let in_flight = if apart || elapsed_ns <= 0.0 { 1.0 } else { latency.sum_ns as f64 / elapsed_ns };
        let plain = |workload: &&Workload| workload.block_sizes.len() == 1 && workload.open_loop.is_none();
        Self {
            cell,
            workload: cell.workload.as_ref().filter(plain),
            rate: per_second(sum(&|one| one.bytes(direction) as f64)),
            iops: per_second(sum(&|one| one.operations(direction) as f64)),
            latency_ns: latency.mean_ns().unwrap_or(0.0),
            median_ns: at(0.5),
            quickest_ns: latency.min_ns as f64,
            tenths_ns: [at(0.1), at(0.9)],
            operations: latency.count,
            in_flight,
            stalled_share: stutter(cell).map_or(0.0, |stutter| stutter.stalled_share),
            flush: cell_flush(cell),
            split: cell.repetitions.iter().find_map(|one| one.kernel.as_ref()),
        }
    }

    /// Returns the mean latency of its reads, also for mixed cells.
    pub(crate) fn read_latency_ns(&self) -> Option<f64> {
        let reads: Vec<_> =
            self.cell.counted().map(|one| repetition_latency(one, Some(Direction::Read))).collect();
        LatencyRecord::together(&reads).mean_ns()
    }

    /// Returns whether the cell has any figures that rules can examine.
    pub(crate) fn measured(&self) -> bool {
        self.rate > 0.0 && self.latency_ns > 0.0
    }

    /// Returns the mean number of bytes per operation.
    pub(crate) fn block_bytes(&self) -> f64 {
        if self.iops > 0.0 { self.rate / self.iops } else { 0.0 }
    }

    /// Returns the number of operations that the workload keeps in flight.
    pub(crate) fn depth(&self) -> Option<u32> {
        self.workload.map(|workload| workload.iodepth.saturating_mul(workload.threads))
    }

    /// Returns whether operations are issued one at a time.
    pub(crate) fn is_alone(&self) -> bool {
        let sampled = self.cell.counted().any(|one| !one.samples.is_empty());
        sampled || self.cell.measure == Measure::AccessTime || self.depth() == Some(1)
    }

    pub(crate) fn is_random(&self) -> bool {
        let random = self.workload.is_some_and(|workload| !workload.pattern.is_sequential());
        random || self.cell.measure == Measure::AccessTime
    }

    pub(crate) fn is_write(&self) -> bool {
        self.cell.direction == Some(Direction::Write)
    }

    /// Returns whether it repeatedly accesses the same few bytes, which a drive's memory holds.
    pub(crate) fn is_same_place(&self) -> bool {
        self.workload.is_some_and(|workload| workload.span_bytes <= SAME_PLACE_BYTES)
    }

    /// Returns the cell with the smallest depth among those that differ from this one only by a
    /// smaller depth.
    pub(crate) fn shallower<'c>(&self, cells: &'c [Self]) -> Option<&'c Self> {
        let siblings = cells.iter().filter(|other| self.differs_in_depth(other));
        siblings.filter(|other| other.depth() < self.depth()).min_by_key(|other| other.depth())
    }

    /// Returns the cell with the largest depth among those that differ from this one only by a
    /// larger depth.
    pub(crate) fn deeper<'c>(&self, cells: &'c [Self]) -> Option<&'c Self> {
        let siblings = cells.iter().filter(|other| self.differs_in_depth(other));
        siblings.filter(|other| other.depth() > self.depth()).max_by_key(|other| other.depth())
    }

    fn differs_in_depth(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (self.workload, other.workload) else { return false };
        self.is_same_work(other) && one.sync == two.sync
    }

    /// Returns whether another cell does the same work, regardless of depth and of flushes.
    fn is_same_work(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (self.workload, other.workload) else { return false };
        other.measured()
            && self.cell.direction == other.cell.direction
            && one.pattern == two.pattern
            && one.block_sizes == two.block_sizes
            && one.read_percent == two.read_percent
            && one.span_bytes == two.span_bytes
    }

    /// Returns the cell that differs from this one only in that its writes are not flushed.
    pub(crate) fn without_flush<'c>(&self, cells: &'c [Self]) -> Option<&'c Self> {
        let is_it = |other: &&Self| other.depth() == self.depth() && other.flush.is_none();
        cells.iter().filter(is_it).find(|other| self.is_same_work(other))
    }

    /// Returns the cell with the same work in the other direction.
    pub(crate) fn opposite<'c>(&self, cells: &'c [Self]) -> Option<&'c Self> {
        let other_way = match self.cell.direction? {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
            Direction::Mix => return None,
        };
        cells.iter().find(|other| {
            other.measured()
                && other.cell.direction == Some(other_way)
                && other.cell.label == self.cell.label
                && other.cell.part != self.cell.part
        })
    }

    /// Returns the largest share of time in kurabe's own code, if kurabe was the limit in any
    /// repetition.
    pub(crate) fn generator_share(&self) -> Option<f64> {
        let bound = self.cell.counted().filter(|one| one.generator_bound);
        bound.map(|one| one.generator_share).reduce(f64::max)
    }

    /// Returns the other work that was sufficient to disturb the cell on a machine with this many
    /// CPUs, and how much it slowed the cell.
    pub(crate) fn disturbance(&self, cpus: u32) -> Option<OtherWork> {
        let resources =
            [ContendedResource::Device, ContendedResource::Hypervisor, ContendedResource::Processors];
        resources.into_iter().find_map(|resource| {
            let shares: Vec<f64> = self.cell.counted().map(|one| resource.share(one, cpus)).collect();
            let share = match resource {
                // A short repetition has fewer bytes and therefore less weight.
                ContendedResource::Device => self.others_share(&shares),
                _ => shares.iter().copied().fold(0.0, f64::max),
            };
            let slowed_to = (share >= resource.enough()).then(|| self.slowed_to(&shares))?;
            Some(OtherWork { resource, share, slowed_to })
        })
    }

    /// Returns the bytes of other work per byte of this cell, over all repetitions.
    fn others_share(&self, shares: &[f64]) -> f64 {
        let bytes = self.cell.counted().map(|one| one.bytes(Direction::Mix) as f64);
        let (others, own) = bytes
            .zip(shares)
            .fold((0.0, 0.0), |(others, own), (bytes, share)| (others + bytes * share, own + bytes));
        if own > 0.0 { others / own } else { 0.0 }
    }

    /// Returns the rate of the repetitions with more other work, relative to that of the rest.
    /// Returns `None` if all had the same amount, or the difference may be due to chance.
    fn slowed_to(&self, shares: &[f64]) -> Option<f64> {
        let direction = self.cell.direction.unwrap_or(Direction::Mix);
        let rate = |one: &Repetition| one.bytes(direction) as f64 / one.elapsed_ns.max(1) as f64;
        let mut pairs: Vec<(f64, f64)> = shares.iter().copied().zip(self.cell.counted().map(rate)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (quiet, noisy) = pairs.split_at(pairs.len() / 2);
        if pairs.len() < FEWEST_COMPARED || noisy[0].0 < 2.0 * quiet[quiet.len() - 1].0 {
            return None;
        }
        let mean = |part: &[(f64, f64)]| part.iter().map(|(_, rate)| rate).sum::<f64>() / part.len() as f64;
        let slowest = quiet.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min);
        // Overlapping rates may differ by chance.
        let is_apart = noisy.iter().all(|(_, rate)| *rate < slowest);
        let slowed_to = mean(noisy) / mean(quiet);
        (is_apart || slowed_to >= SLOWED).then_some(slowed_to)
    }
}

/// Returns the rates at the beginning and at the end of the repetition whose rate fell most, or
/// `None` without a series.
pub(crate) fn fall(cell: &Cell) -> Option<(f64, f64)> {
    let falls = cell.counted().filter_map(|one| {
        let whole = &one.series.intervals;
        // The last interval may be incomplete.
        let whole = &whole[..whole.len().saturating_sub(1)];
        if whole.len() < FEWEST_INTERVALS || one.series.interval_ns == 0 {
            return None;
        }
        let part = ((whole.len() as f64 * HEAD) as usize).max(1);
        let rate = |part: &[kurabe_core::record::Interval]| {
            let each = part.iter().map(|one| one.read_bytes.saturating_add(one.write_bytes));
            let bytes = each.fold(0, u64::saturating_add);
            bytes as f64 * 1e9 / (part.len() as f64 * one.series.interval_ns as f64)
        };
        Some((rate(&whole[..part]), rate(&whole[whole.len() - part..])))
    });
    falls.filter(|(head, _)| *head > 0.0).min_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}
