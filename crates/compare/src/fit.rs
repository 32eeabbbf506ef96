//! Whether a storage is fit for a use: a profile that does what the use does, and what its run says of each limit.
//!
//! The model: a limit is kept to with a probability. Of a percentile it follows from how many operations took longer than the
//! limit allows, whatever their distribution; of a rate from how the repetitions scatter. A stall that was seen is one too many,
//! but that none was seen proves nothing, so it decides nothing. A storage is fit if each limit is kept to nearly for certain,
//! and unfit if one is broken as certainly.

use crate::recommend::{FIRM_SHARE, worst_standstill};
use crate::uses::{Bearable, Use, UseLimit, UseWork};
use crate::write_cache::{WriteCaches, cache_bytes, written_bytes};
use kurabe_core::Text;
use kurabe_core::profile::{IoStep, MOST_THREADS, Order, Profile, Rules, Step};
use kurabe_core::quantity::{MIB, NS_PER_S};
use kurabe_core::record::{Cell, LatencyRecord, Repetition, RunRecord};
use kurabe_core::workload::{Arrival, Direction, End, OpKind, OpenLoop, Pattern, SyncRule};
use kurabe_stats::{
    CONFIDENCE, compared_values, fewest_for_quantile, mean_at_least, operations_over, percentile_ns,
    quantile_within, repetition_latency,
};
use serde::Serialize;

/// Time of all repetitions of a fit together, unless a rate gives too few operations in it.
const WHOLE_NS: u64 = 20 * NS_PER_S;
/// Repetitions of each part.
const RUNS: u32 = 5;
/// So many times the fewest operations that can prove a percentile are offered: one or two of them may be over it.
const TIMES_FEWEST: f64 = 1.5;
/// What a page cache writes at least, where a model stands for the device under it.
const PAGE_BYTES: u64 = 4096;

/// How fit a storage is for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fit {
    /// The use's name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// For how many of what it counts; `None` of a use that counts nothing.
    pub count: Option<u32>,
    /// The answer.
    pub verdict: FitVerdict,
    /// Each limit of the use with what was measured.
    pub limits: Vec<JudgedLimit>,
    /// Why the verdict is not clear although every limit is kept: a cache may have taken all writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_doubt: Option<CacheDoubt>,
}

/// That the writes of a run fit into the caches of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheDoubt {
    /// Bytes that the run wrote.
    pub written_bytes: u64,
    /// Bytes that would show the drive without its caches.
    pub needed_bytes: u64,
    /// Time that they take at the rate at which the test file was written, in ns.
    pub needed_ns: Option<u64>,
}

/// Whether a storage is fit for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FitVerdict {
    /// Each limit is kept to.
    Fit,
    /// A limit is broken.
    Unfit,
    /// Neither is sure enough.
    NotClear,
}

/// A limit with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedLimit {
    /// Which, and what was measured.
    pub measured: MeasuredLimit,
    /// The lowest and the highest probability that it is kept to; `None` if nothing tells.
    pub kept: Option<[f64; 2]>,
    /// What breaking it would mean.
    pub reason: Text,
    /// Where it is from.
    pub source: Option<Text>,
}

/// What a use asks, and what was measured of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeasuredLimit {
    /// A share of operations within a time.
    Percentile {
        /// Reads, writes or flushes.
        of: OpKind,
        /// Their share.
        share: f64,
        /// The longest time that the use bears, in ns.
        at_most_ns: u64,
        /// The time within which that share is done, in ns.
        value_ns: Option<u64>,
        /// Operations.
        operations: u64,
        /// How many of them took longer than the use bears.
        over: u64,
    },
    /// A rate.
    Rate {
        /// The cell.
        cell: String,
        /// What the use needs.
        least_bytes_per_s: f64,
        /// What was measured.
        bytes_per_s: Option<f64>,
    },
    /// No longer stall.
    Stall {
        /// The longest that the use bears, in ns.
        at_most_ns: u64,
        /// The longest that was seen, in ns.
        worst_ns: Option<u64>,
    },
}

impl JudgedLimit {
    /// Whether it is kept to, as far as that is sure.
    pub fn verdict(&self) -> FitVerdict {
        match self.kept {
            Some([lowest, _]) if lowest >= FIRM_SHARE => FitVerdict::Fit,
            Some([_, highest]) if highest <= 1.0 - FIRM_SHARE => FitVerdict::Unfit,
            _ => FitVerdict::NotClear,
        }
    }

    /// Whether that nothing tells against it leaves it open.
    pub fn is_open(&self) -> bool {
        self.verdict() == FitVerdict::NotClear && !matches!(self.measured, MeasuredLimit::Stall { .. })
    }
}

impl Fit {
    /// Judges a run of [`fit_profile`] for its use, for so many of what it counts. A use that writes for hours is not judged fit by
    /// writes that the caches of the drive may have taken.
    pub fn of_run(record: &RunRecord, purpose: &Use, count: u32) -> Self {
        let fit = Self::of(&record.cells, purpose, count);
        let doubt = cache_doubt(record).filter(|_| purpose.sustained && fit.verdict == FitVerdict::Fit);
        match doubt {
            Some(doubt) => Self { verdict: FitVerdict::NotClear, cache_doubt: Some(doubt), ..fit },
            None => fit,
        }
    }

    /// Judges what the cells of a run of [`fit_profile`] measured, whatever the caches of the drive.
    pub fn of(cells: &[Cell], purpose: &Use, count: u32) -> Self {
        let cell_of = |place: usize| cells.iter().find(|cell| cell.step_index as usize == place);
        let parts: Vec<(&UseWork, Option<&Cell>)> =
            purpose.own_work().enumerate().map(|(place, work)| (work, cell_of(place))).collect();
        let done: Vec<(&UseWork, &Cell)> =
            parts.iter().filter_map(|(work, cell)| Some((*work, (*cell)?))).collect();
        let rates = parts.iter().filter_map(|(work, cell)| judged_rate(work, *cell));
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
        Self { name, title, count, verdict, limits, cache_doubt: None }
    }

    /// The limit that the answer hangs on: the first that is as the answer says, and the least sure of those that are kept to.
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

/// Returns why the caches of a drive may have taken all that a run wrote.
fn cache_doubt(record: &RunRecord) -> Option<CacheDoubt> {
    let (written_bytes, needed_bytes) = (written_bytes(record), cache_bytes(record));
    // A larger test file is written as this one was.
    let fill = record.fill.filter(|fill| fill.written_bytes > 0);
    let needed_ns =
        fill.map(|fill| (needed_bytes as f64 / fill.written_bytes as f64 * fill.elapsed_ns as f64) as u64);
    (written_bytes < needed_bytes).then_some(CacheDoubt { written_bytes, needed_bytes, needed_ns })
}

/// What a fit is measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FitGround {
    /// The caches of a model, whose writes no page cache completes to whole pages; `None` of a real target.
    pub model: Option<WriteCaches>,
    /// Bytes that the test covers, if the user says so.
    pub size_bytes: Option<u64>,
}

impl FitGround {
    /// Bytes that a use covers here: on a model several times its caches, because that costs no time there.
    fn size_bytes(self, purpose: &Use) -> u64 {
        const TIMES_THE_CACHES: u64 = 4;
        let past_caches = self.model.filter(|_| purpose.sustained).map_or(0, WriteCaches::all_bytes);
        let usual_bytes = purpose.size_bytes.max(past_caches.saturating_mul(TIMES_THE_CACHES));
        self.size_bytes.unwrap_or(usual_bytes)
    }

    /// What is written before the use is measured, so that the caches are as full as it finds them. The test file is written in order, which
    /// fills all but the cache of a shingled disk; that is filled by writes of the use itself.
    fn preconditions(self, purpose: &Use, steps: &[IoStep]) -> Vec<IoStep> {
        const LONGEST_NS: u64 = 3600 * NS_PER_S;
        let media_bytes = self.model.map_or(0, |caches| caches.media_bytes);
        if !purpose.sustained || media_bytes == 0 {
            return Vec::new();
        }
        let end = End { time_ns: Some(LONGEST_NS), bytes: Some(media_bytes / 2 * 3), ..End::default() };
        let writes = steps.iter().filter(|step| step.directions == [Direction::Write]);
        writes.map(|step| IoStep { id: None, end, ..step.clone() }).collect()
    }
}

/// A profile that does what a use does, for so many of what it counts.
pub fn fit_profile(purpose: &Use, count: u32, ground: FitGround) -> Profile {
    let time_ns = WHOLE_NS / u64::from(RUNS) / purpose.own_work().count().max(1) as u64;
    let size_bytes = ground.size_bytes(purpose);
    // A size that the user or the model gives is written whole.
    let fill_time_limit_ns = (size_bytes == purpose.size_bytes).then_some(5 * NS_PER_S);
    let rules = Rules {
        size_bytes,
        size_at_least_bytes: Some(purpose.size_bytes.min(16 * MIB)),
        fill_time_limit_ns,
        runs: RUNS,
        time_ns,
        order: Order::ByStep,
        direct: !purpose.buffered,
        ..Rules::once()
    };
    let in_pages = ground.model.is_some() && purpose.buffered;
    let steps = purpose.own_work().enumerate().map(|(place, work)| {
        let step = step(work, if work.per_count { count } else { 1 }, in_pages);
        let offered = step.open_loop.map(|open_loop| time_for(open_loop.rate_iops, work, purpose));
        let end = End { time_ns: Some(offered.unwrap_or(0).max(time_ns)), ..End::default() };
        IoStep { id: Some(format!("part{}", place + 1)), end, ..step }
    });
    let steps: Vec<IoStep> = steps.collect();
    let preconditions = ground.preconditions(purpose, &steps);
    let name = format!("fit-{}", purpose.name);
    let steps = steps.into_iter().map(|step| Step::Io(Box::new(step))).collect();
    Profile { preconditions, ..Profile::of_steps(&name, purpose.title.clone(), rules, steps) }
}

fn step(work: &UseWork, count: u32, in_pages: bool) -> IoStep {
    let pattern = if work.sequential { Pattern::Sequential } else { Pattern::Random };
    let block_bytes = if in_pages { work.block_bytes.next_multiple_of(PAGE_BYTES) } else { work.block_bytes };
    let rate_iops = |bytes_per_s: f64| bytes_per_s * f64::from(count) / work.block_bytes as f64;
    let open_loop = |bytes_per_s| OpenLoop { rate_iops: rate_iops(bytes_per_s), arrival: Arrival::Even };
    IoStep {
        threads: work.threads.saturating_mul(count).min(MOST_THREADS),
        open_loop: work.rate_bytes_per_s.map(open_loop),
        sync: SyncRule { every_writes: work.sync.then_some(1), ..SyncRule::default() },
        ..IoStep::plain(pattern, block_bytes as u32, work.iodepth, vec![work.direction])
    }
}

/// The time of a repetition in which so many operations come as the percentiles of a use take.
fn time_for(rate_iops: f64, work: &UseWork, purpose: &Use) -> u64 {
    let fewest = purpose.limits.iter().filter_map(|limit| match limit.bears {
        Bearable::Percentile { of, share, .. } if does(work, of) => fewest_for_quantile(share, CONFIDENCE),
        _ => None,
    });
    let operations = fewest.max().unwrap_or(0) as f64 * TIMES_FEWEST / f64::from(RUNS);
    (operations / rate_iops * NS_PER_S as f64) as u64
}

/// Whether a part of a use does operations of a kind.
pub(crate) fn does(work: &UseWork, kind: OpKind) -> bool {
    match kind {
        OpKind::Read => work.direction == Direction::Read,
        OpKind::Write => work.direction == Direction::Write,
        OpKind::Sync => work.sync,
        OpKind::Trim => false,
    }
}

fn judged_rate(work: &UseWork, cell: Option<&Cell>) -> Option<JudgedLimit> {
    let least = work.least.as_ref()?;
    let values = cell.map(compared_values).unwrap_or_default();
    let bytes_per_s = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len().max(1) as f64);
    let cell = cell.map_or_else(String::new, |cell| format!("{} {}", work.direction.word(), cell.label));
    Some(JudgedLimit {
        measured: MeasuredLimit::Rate { cell, least_bytes_per_s: least.bytes_per_s, bytes_per_s },
        kept: mean_at_least(&values, least.bytes_per_s).map(|probability| [probability; 2]),
        reason: least.reason.clone(),
        source: Some(least.source.clone()),
    })
}

/// A limit held against the parts of its use that were measured.
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

/// Operations that were due and still not begun when the repetition ended, though the limit had passed: they are over it.
fn late_operations(cell: &Cell, repetition: &Repetition, kind: OpKind, at_most_ns: u64) -> u64 {
    let open_loop = cell.workload.as_ref().and_then(|workload| workload.open_loop);
    let Some(open_loop) = open_loop.filter(|_| kind != OpKind::Sync) else { return 0 };
    let within = (open_loop.rate_iops * at_most_ns as f64 / NS_PER_S as f64).ceil();
    repetition.unserved_operations.saturating_sub(within as u64)
}
