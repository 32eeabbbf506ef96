//! Suitability of storage for a use: a profile with the use's workloads, and an evaluation of each
//! limit.
//!
//! Each limit is met with a probability. For a percentile, it follows from the number of operations
//! that exceeded the limit, whatever their distribution. For a rate, it follows from the scatter of
//! the repetitions. An observed stall breaks a limit, but the absence of stalls proves nothing and
//! is therefore not counted. Storage is fit if each limit is met almost certainly, and unfit if any
//! limit is broken almost certainly.

use crate::recommend::{FIRM_SHARE, worst_standstill};
use crate::uses::{Bearable, LeastRate, Use, UseLimit, UseWork};
use crate::write_cache::{WriteCaches, cache_bytes, written_bytes};
use kurabe_core::Text;
use kurabe_core::environment::Link;
use kurabe_core::profile::{IoStep, MOST_THREADS, Order, Profile, Rules, Step};
use kurabe_core::quantity::{MIB, NS_PER_S};
use kurabe_core::record::{Cell, LatencyRecord, Repetition, RunRecord};
use kurabe_core::workload::{Arrival, Direction, End, OpKind, OpenLoop, Pattern, SyncRule};
use kurabe_stats::{
    CONFIDENCE, compared_values, fewest_for_quantile, mean_at_least, operations_over, percentile_ns,
    quantile_within, repetition_latency,
};
use serde::Serialize;

/// Total time of all repetitions, unless a rate yields too few operations in it.
const WHOLE_NS: u64 = 20 * NS_PER_S;
/// Repetitions of each part.
const RUNS: u32 = 5;
/// Multiple of the minimum number of operations that can prove a percentile, so that one or two of
/// them may exceed the limit.
const TIMES_FEWEST: f64 = 1.5;

/// Suitability of storage for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fit {
    /// Name of the use.
    pub name: String,
    /// Title of the use.
    pub title: Text,
    /// Number of instances, such as cameras. `None` for a use without a count.
    pub count: Option<u32>,
    /// Largest number of instances for which the model is fit, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_count: Option<u32>,
    /// The verdict.
    pub verdict: FitVerdict,
    /// Each limit of the use with its measurement.
    pub limits: Vec<JudgedLimit>,
    /// The memory of the computer that was measured instead of a drive, which no use is fit for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<HostMemory>,
    /// Why the verdict is unclear although every limit is met: a cache may have taken all writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_doubt: Option<CacheDoubt>,
}

/// The writes of a run fit into the caches of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheDoubt {
    /// Bytes that the run wrote.
    pub written_bytes: u64,
    /// Bytes needed to exceed the caches of the drive.
    pub needed_bytes: u64,
    /// Time in ns to write them at the rate at which the test file was written.
    pub needed_ns: Option<u64>,
}

/// Memory of the computer behind a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostMemory {
    /// All of the target is in memory, such as tmpfs: nothing survives a restart.
    Memory,
    /// The page cache answers for a file behind a loop device.
    PageCache,
}

/// Returns the memory of the computer that a run on a real target measured instead of a drive, as far as the devices
/// under the target show it.
pub fn host_memory(record: &RunRecord) -> Option<HostMemory> {
    let devices = &record.header.environment.devices;
    if !devices.is_empty() && devices.iter().all(|device| device.link == Some(Link::Memory)) {
        return Some(HostMemory::Memory);
    }
    let [device] = devices.as_slice() else { return None };
    let is_buffered = matches!(device.link, Some(Link::Loop { direct: Some(false), .. }));
    (is_buffered && device.served_model().is_none()).then_some(HostMemory::PageCache)
}

/// Verdict on storage for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FitVerdict {
    /// Each limit is met.
    Fit,
    /// A limit is broken.
    Unfit,
    /// Not certain enough either way.
    NotClear,
}

/// A limit with its measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedLimit {
    /// The limit and the measured value.
    pub measured: MeasuredLimit,
    /// Lowest and highest probability that it is met. `None` without evidence.
    pub kept: Option<[f64; 2]>,
    /// Consequence of breaking it.
    pub reason: Text,
    /// Source of the limit.
    pub source: Option<Text>,
}

/// A requirement of a use and its measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeasuredLimit {
    /// A share of operations must complete within a time.
    Percentile {
        /// Reads, writes or flushes.
        of: OpKind,
        /// Share of operations.
        share: f64,
        /// Longest time that the use tolerates, in ns.
        at_most_ns: u64,
        /// Measured time within which that share completes, in ns.
        value_ns: Option<u64>,
        /// Number of operations.
        operations: u64,
        /// Number of operations that exceeded the limit.
        over: u64,
    },
    /// A minimum rate.
    Rate {
        /// Name of the cell.
        cell: String,
        /// Rate that the use needs.
        least_bytes_per_s: f64,
        /// Measured rate.
        bytes_per_s: Option<f64>,
    },
    /// A maximum stall.
    Stall {
        /// Longest stall that the use tolerates, in ns.
        at_most_ns: u64,
        /// Longest observed stall, in ns.
        worst_ns: Option<u64>,
    },
}

impl JudgedLimit {
    /// Returns whether the limit is met, if that is certain enough.
    pub fn verdict(&self) -> FitVerdict {
        match self.kept {
            Some([lowest, _]) if lowest >= FIRM_SHARE => FitVerdict::Fit,
            Some([_, highest]) if highest <= 1.0 - FIRM_SHARE => FitVerdict::Unfit,
            _ => FitVerdict::NotClear,
        }
    }

    /// Returns whether the limit is undecided. Stalls do not count, because their absence cannot be
    /// proved.
    pub fn is_open(&self) -> bool {
        self.verdict() == FitVerdict::NotClear && !matches!(self.measured, MeasuredLimit::Stall { .. })
    }
}

impl Fit {
    /// Evaluates a run of [`fit_profile`] for its use with this count. If a use writes for hours,
    /// writes that the drive's caches may have taken do not make it fit.
    pub fn of_run(record: &RunRecord, purpose: &Use, count: u32) -> Self {
        let fit = Self::of(&record.cells, purpose, count);
        if let Some(memory) = host_memory(record) {
            let verdict = match memory {
                HostMemory::Memory => FitVerdict::Unfit,
                HostMemory::PageCache => FitVerdict::NotClear,
            };
            return Self { verdict, host_memory: Some(memory), ..fit };
        }
        let doubt = cache_doubt(record).filter(|_| purpose.sustained && fit.verdict == FitVerdict::Fit);
        match doubt {
            Some(doubt) => Self { verdict: FitVerdict::NotClear, cache_doubt: Some(doubt), ..fit },
            None => fit,
        }
    }

    /// Evaluates the cells of a run of [`fit_profile`], ignoring the drive's caches.
    pub fn of(cells: &[Cell], purpose: &Use, count: u32) -> Self {
        let cell_of = |place: usize| cells.iter().find(|cell| cell.step_index as usize == place);
        let parts: Vec<(&UseWork, Option<&Cell>)> =
            purpose.own_work().enumerate().map(|(place, work)| (work, cell_of(place))).collect();
        let done: Vec<(&UseWork, &Cell)> =
            parts.iter().filter_map(|(work, cell)| Some((*work, (*cell)?))).collect();
        let rates = parts.iter().filter_map(|(work, cell)| judged_rate(work, *cell, purpose, count));
        let limits = purpose.limits.iter().map(|limit| judged(limit, &done, cells));
        let limits: Vec<JudgedLimit> = rates.chain(limits).collect();
        let is = |verdict| limits.iter().any(|limit| limit.verdict() == verdict);
        let verdict = match () {
            () if is(FitVerdict::Unfit) => FitVerdict::Unfit,
            () if is(FitVerdict::Fit) && !limits.iter().any(JudgedLimit::is_open) => FitVerdict::Fit,
            () => FitVerdict::NotClear,
        };
        let (name, title) = (purpose.name.clone(), purpose.title.clone());
        let count = purpose.counts().then_some(count);
        Self {
            name,
            title,
            count,
            largest_count: None,
            verdict,
            limits,
            host_memory: None,
            cache_doubt: None,
        }
    }

    /// Returns the limit that determines the verdict: the first one with the same verdict, or among
    /// limits that are met the least certain one.
    pub fn decisive(&self) -> Option<&JudgedLimit> {
        let lowest = |limit: &JudgedLimit| limit.kept.map_or(0.0, |[lowest, _]| lowest);
        match self.verdict {
            FitVerdict::NotClear => {
                self.limits.iter().find(|limit| limit.is_open()).or_else(|| self.limits.first())
            }
            verdict => {
                let such = self.limits.iter().filter(|limit| limit.verdict() == verdict);
                such.min_by(|a, b| lowest(a).total_cmp(&lowest(b)))
            }
        }
    }
}

/// Returns why the caches of a drive may have taken all writes of a run.
fn cache_doubt(record: &RunRecord) -> Option<CacheDoubt> {
    let (written_bytes, needed_bytes) = (written_bytes(record), cache_bytes(record));
    // A larger test file is written at the rate of this one.
    let fill = record.fill.filter(|fill| fill.written_bytes > 0);
    let needed_ns =
        fill.map(|fill| (needed_bytes as f64 / fill.written_bytes as f64 * fill.elapsed_ns as f64) as u64);
    (written_bytes < needed_bytes).then_some(CacheDoubt { written_bytes, needed_bytes, needed_ns })
}

/// Properties of the target that a fit depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FitGround {
    /// Caches of a model. `None` for a real target.
    pub model: Option<WriteCaches>,
    /// Bytes that the test covers, if the user specified them.
    pub size_bytes: Option<u64>,
}

impl FitGround {
    /// Returns the bytes that a use covers. On a model they are several times its caches, because
    /// this costs no real time.
    fn size_bytes(self, purpose: &Use) -> u64 {
        const TIMES_THE_CACHES: u64 = 4;
        let past_caches = self.model.filter(|_| purpose.sustained).map_or(0, WriteCaches::all_bytes);
        let usual_bytes = purpose.size_bytes.max(past_caches.saturating_mul(TIMES_THE_CACHES));
        self.size_bytes.unwrap_or(usual_bytes)
    }

    /// Returns the writes before the measurement that bring the caches into the state that the use
    /// would find. The test file is written sequentially, which fills all caches except that of a
    /// shingled disk. That one is filled by writes of the use itself.
    fn preconditions(self, purpose: &Use, steps: &[IoStep]) -> Vec<IoStep> {
        const LONGEST_NS: u64 = 3600 * NS_PER_S;
        let media_bytes = self.model.map_or(0, |caches| caches.media_bytes);
        if !purpose.sustained || media_bytes == 0 {
            return Vec::new();
        }
        let end = End { time_ns: Some(LONGEST_NS), bytes: Some(media_bytes / 2 * 3), ..End::default() };
        let writes = steps.iter().filter(|step| step.directions == [Direction::Write]);
        writes.map(|step| IoStep { id: None, ..step.clone().with(|access| access.end = end) }).collect()
    }
}

/// Returns a profile with the workloads of a use, for this count.
pub fn fit_profile(purpose: &Use, count: u32, ground: FitGround) -> Profile {
    let time_ns = WHOLE_NS / u64::from(RUNS) / purpose.own_work().count().max(1) as u64;
    let size_bytes = ground.size_bytes(purpose);
    // A size from the user or the model is written completely.
    let fill_time_limit_ns = (size_bytes == purpose.size_bytes).then_some(5 * NS_PER_S);
    let rules = Rules {
        size_bytes,
        size_at_least_bytes: Some(purpose.size_bytes.min(16 * MIB)),
        fill_time_limit_ns,
        runs: RUNS,
        time_ns,
        order: Order::ByStep,
        direct: !purpose.buffered,
        new_pages: purpose.new_pages,
        ..Rules::once()
    };
    let steps = purpose.own_work().enumerate().map(|(place, work)| {
        let step = step(work, if work.per_count { count } else { 1 }, purpose.data_only);
        let offered = step.open_loop.map(|open_loop| time_for(open_loop.rate_iops, work, purpose));
        let end = End { time_ns: Some(offered.unwrap_or(0).max(time_ns)), ..End::default() };
        IoStep { id: Some(format!("part{}", place + 1)), ..step.with(|access| access.end = end) }
    });
    let steps: Vec<IoStep> = steps.collect();
    let preconditions = ground.preconditions(purpose, &steps);
    let name = format!("fit-{}", purpose.name);
    let steps = steps.into_iter().map(|step| Step::Io(Box::new(step))).collect();
    Profile { preconditions, ..Profile::of_steps(&name, purpose.title.clone(), rules, steps) }
}

fn step(work: &UseWork, count: u32, data_only: bool) -> IoStep {
    let pattern = if work.sequential { Pattern::Sequential } else { Pattern::Random };
    let rate_iops = |bytes_per_s: f64| bytes_per_s * f64::from(count) / work.block_bytes as f64;
    let open_loop = |bytes_per_s| OpenLoop { rate_iops: rate_iops(bytes_per_s), arrival: Arrival::Even };
    IoStep::plain(pattern, work.block_bytes as u32, work.iodepth, vec![work.direction]).with(|access| {
        access.threads = work.threads.saturating_mul(count).min(MOST_THREADS);
        access.open_loop = work.rate_bytes_per_s.map(open_loop);
        access.sync = SyncRule { every_writes: work.sync.then_some(1), data_only, ..SyncRule::default() };
    })
}

/// Returns the duration of a repetition with enough operations for the percentiles of a use.
fn time_for(rate_iops: f64, work: &UseWork, purpose: &Use) -> u64 {
    let fewest = purpose.limits.iter().filter_map(|limit| match limit.bears {
        Bearable::Percentile { of, share, .. } if does(work, of) => fewest_for_quantile(share, CONFIDENCE),
        _ => None,
    });
    let operations = fewest.max().unwrap_or(0) as f64 * TIMES_FEWEST / f64::from(RUNS);
    (operations / rate_iops * NS_PER_S as f64) as u64
}

/// Returns whether a part of a use includes operations of a kind.
pub(crate) fn does(work: &UseWork, kind: OpKind) -> bool {
    match kind {
        OpKind::Read => work.direction == Direction::Read,
        OpKind::Write => work.direction == Direction::Write,
        OpKind::Sync => work.sync,
        OpKind::Trim => false,
    }
}

/// Share of an offered rate that has to be served. In a short test, a queue that grows without end may
/// still be within the limit of the latency.
const KEEPING_UP: f64 = 0.95;

/// Returns the rate that a part of a use needs: its own minimum, or almost all of what arrives. In the
/// latter case, the consequence of serving less is that of its latency limit.
fn needed_rate(work: &UseWork, purpose: &Use, count: u32) -> Option<LeastRate> {
    if let Some(least) = &work.least {
        return Some(least.clone());
    }
    let offered = work.rate_bytes_per_s? * if work.per_count { f64::from(count) } else { 1.0 };
    let limit = purpose.limits.iter().find(|limit| match limit.bears {
        Bearable::Percentile { of, .. } => does(work, of),
        Bearable::Stall { .. } => false,
    })?;
    let (reason, source) = (limit.reason.clone(), limit.source.clone().unwrap_or_default());
    Some(LeastRate { bytes_per_s: offered * KEEPING_UP, reason, source })
}

fn judged_rate(work: &UseWork, cell: Option<&Cell>, purpose: &Use, count: u32) -> Option<JudgedLimit> {
    let least = needed_rate(work, purpose, count)?;
    let values = cell.map(compared_values).unwrap_or_default();
    let bytes_per_s = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len().max(1) as f64);
    let cell = cell.map_or_else(String::new, |cell| format!("{} {}", work.direction.word(), cell.label));
    Some(JudgedLimit {
        measured: MeasuredLimit::Rate { cell, least_bytes_per_s: least.bytes_per_s, bytes_per_s },
        kept: mean_at_least(&values, least.bytes_per_s).map(|probability| [probability; 2]),
        reason: least.reason,
        source: Some(least.source),
    })
}

/// Evaluates a limit with the measured parts of its use.
pub(crate) fn judged(limit: &UseLimit, done: &[(&UseWork, &Cell)], cells: &[Cell]) -> JudgedLimit {
    let (measured, kept) = match limit.bears {
        Bearable::Stall { at_most_ns } => {
            let worst_ns = worst_standstill(cells).map(|(worst_ns, _)| worst_ns);
            let is_broken = worst_ns.is_some_and(|worst_ns| worst_ns > at_most_ns);
            (MeasuredLimit::Stall { at_most_ns, worst_ns }, is_broken.then_some([0.0; 2]))
        }
        Bearable::Percentile { of, share, at_most_ns } => {
            let such = done.iter().filter(|(work, _)| does(work, of));
            let repetitions =
                || such.clone().flat_map(|(_, cell)| cell.counted().map(move |one| (*cell, one)));
            let latencies: Vec<LatencyRecord> = repetitions().map(|(_, one)| latency(one, of)).collect();
            let latency = LatencyRecord::together(&latencies);
            let late = repetitions().map(|(cell, one)| late_operations(cell, one, of, at_most_ns));
            let late = late.fold(0, u64::saturating_add);
            let operations = latency.count.saturating_add(late);
            let over = operations_over(&latency, at_most_ns).saturating_add(late);
            let value_ns = percentile_ns(&latency, share);
            let measured = MeasuredLimit::Percentile { of, share, at_most_ns, value_ns, operations, over };
            (measured, quantile_within(operations, over, share))
        }
    };
    JudgedLimit { measured, kept, reason: limit.reason.clone(), source: limit.source.clone() }
}

fn latency(repetition: &Repetition, kind: OpKind) -> LatencyRecord {
    match kind {
        OpKind::Read => repetition_latency(repetition, Some(Direction::Read)),
        OpKind::Write => repetition_latency(repetition, Some(Direction::Write)),
        OpKind::Sync | OpKind::Trim => repetition.side(kind).latency.clone(),
    }
}

/// Returns the number of operations that were due for longer than the limit but had not started
/// when the repetition ended. They exceed the limit.
fn late_operations(cell: &Cell, repetition: &Repetition, kind: OpKind, at_most_ns: u64) -> u64 {
    let open_loop = cell.workload.as_ref().and_then(|workload| workload.open_loop);
    let Some(open_loop) = open_loop.filter(|_| kind != OpKind::Sync) else { return 0 };
    let within = (open_loop.rate_iops * at_most_ns as f64 / NS_PER_S as f64).ceil();
    repetition.unserved_operations.saturating_sub(within as u64)
}
