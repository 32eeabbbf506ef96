//! Ranks several runs for a use.
//!
//! For each part of the use, the cell is chosen that all runs have and that is most similar to it.
//! A run is ranked by the total time of the operations of all parts, one after the other, so that
//! rare slow operations count as they do for a waiting user (`benches/benches/uses.rs` checks this
//! with real programs). Confidence in the order comes from random draws of the means within their
//! uncertainty, given the scatter of the repetitions: the share of draws with the same order. A run
//! with a longer stall than the use tolerates is excluded, however fast it is. The result does not
//! depend on the order of the runs.

use crate::fairness::{Difference, Weight, differences};
use crate::fit::{FitVerdict, MeasuredLimit, does, judged};
use crate::key::CellKey;
use crate::uses::{Bearable, LeastRate, Use, UseWork};
use crate::write_cache::within_media_cache;
use kurabe_core::Text;
use kurabe_core::random::{Random, split_mix};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::workload::{Direction, OpKind, Workload};
use kurabe_stats::{alike, cell_latency, compared_values, draw_log_mean, harmonic_mean, mean, stutter};
use serde::Serialize;

const DRAWS: usize = 2000;
/// Seed of the draws.
const SEED: u64 = 0x7573_6573;
/// Maximum distance of a cell that may represent a part. Each doubling of the block size counts 1,
/// each doubling of the operations in flight 0.5.
const FARTHEST: f64 = 2.0;
/// Distance for each halving of the range that a cell covers relative to the test size, because a
/// cache serves a small range. Each warm-up pass counts the same.
const OF_A_HALVED_SPAN: f64 = 0.25;
/// Up to this distance, a cell has the block size and the depth of the part, so that the part's
/// minimum rate applies to it.
const SAME_WORK: f64 = 0.4;
/// Blocks up to this size take a negligible transfer time, so a long operation is a stall.
const SMALL_BLOCK: u32 = 64 << 10;
/// A run counts as better than another if it is better in this share of the draws. Of two equal
/// runs either may come first, so the error rate is 5 %.
pub const FIRM_SHARE: f64 = 0.975;

/// Runs ranked for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommendation {
    /// Name of the use.
    pub name: String,
    /// Its parts, with the cells that represent them.
    pub parts: Vec<UsePart>,
    /// Share of the use that the runs' common cells cover, 0 to 1.
    pub covered: f64,
    /// The runs, best first. Excluded runs are last.
    pub standings: Vec<Standing>,
    /// Share of the draws in which the best run is the best.
    pub holds: f64,
    /// Minimum number of values per figure. A single value has no known spread, so the draws are
    /// meaningless.
    pub fewest: usize,
    /// Differences that can make the figures of these runs incomparable.
    #[serde(skip)]
    pub doubts: Vec<Difference>,
    /// Whether all runs are of models, so that the order is theirs and not that of drives.
    pub by_models: bool,
}

/// A part of the use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsePart {
    /// Its share of all operations, 0 to 1.
    pub share: f64,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Whether each operation waits for a flush.
    pub sync: bool,
    /// The cell that represents it. `None` if the runs have no similar cell in common.
    pub cell: Option<CellKey>,
    /// Label of the cell.
    pub label: String,
    /// Direction.
    pub direction: Direction,
    /// Whether the cell matches the part exactly.
    pub exact: bool,
    /// Rate of each run in bytes per second, in the given order.
    pub rates_bytes_per_s: Vec<f64>,
}

/// Result of a run for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Standing {
    /// Index of the run in the given order.
    pub run: usize,
    /// Speed relative to the first run given, over the whole use.
    pub speed: f64,
    /// Lower end of its interval, from the draws.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Share of the draws in which the best run is faster; 0 for the best run itself.
    pub behind: f64,
    /// Longest stall in ns, if measured.
    pub worst_ns: Option<u64>,
    /// Why it is excluded.
    pub out: Option<Out>,
}

/// A limit that a run breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Out {
    /// The limit with the measured value.
    pub broken: BrokenLimit,
    /// Name of the cell.
    pub cell: String,
    /// Consequence for the use.
    pub reason: Text,
}

/// A limit of the use with the value of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BrokenLimit {
    /// A stall is too long.
    Stall {
        /// Duration of the stall, in ns.
        stall_ns: u64,
        /// Longest stall that the use tolerates, in ns.
        limit_ns: u64,
    },
    /// Too many operations take too long.
    Percentile {
        /// Reads, writes or flushes.
        of: OpKind,
        /// Share of operations, between 0 and 1.
        share: f64,
        /// Time within which that share completes, in ns.
        value_ns: u64,
        /// Longest time that the use tolerates, in ns.
        limit_ns: u64,
    },
    /// The writes fit into the cache of a shingled disk, while the use writes for hours.
    Cached {
        /// Bytes that the run wrote.
        written_bytes: u64,
        /// Size of the cache in bytes.
        cache_bytes: u64,
    },
    /// The rate is too low.
    Rate {
        /// Its rate in bytes per second.
        bytes_per_s: f64,
        /// Minimum rate that the use needs.
        least_bytes_per_s: f64,
    },
}

/// Ranks runs for a use. Returns `None` if the runs have no cell in common that represents any part
/// of it.
pub fn recommend(runs: &[&RunRecord], purpose: &Use) -> Option<Recommendation> {
    let runs_with_keys: Vec<Keyed<'_>> =
        runs.iter().map(|run| Keyed::new(CellKey::of_run(run), &run.cells)).collect();
    let cached = runs.iter().map(|run| cached(run, purpose)).collect();
    let by_models = runs.iter().all(|run| run.header.model.is_some());
    Some(Recommendation { doubts: doubts(runs), by_models, ..ranked(&runs_with_keys, purpose, cached)? })
}

/// Returns why a run gives no information about a use that writes for hours: the cache of a
/// shingled disk took all writes. After that, writes are slower by orders of magnitude.
fn cached(run: &RunRecord, purpose: &Use) -> Option<Out> {
    let (written_bytes, cache_bytes) = within_media_cache(run).filter(|_| purpose.sustained)?;
    let broken = BrokenLimit::Cached { written_bytes, cache_bytes };
    Some(Out { broken, cell: String::new(), reason: Text::default() })
}

/// The cells of a run with their keys.
struct Keyed<'r> {
    cells: &'r [Cell],
    /// Cells that measure a rate.
    rates: Vec<(CellKey, &'r Cell)>,
    /// The largest span of any cell.
    span_bytes: u64,
}

impl<'r> Keyed<'r> {
    fn new(keys: Vec<CellKey>, cells: &'r [Cell]) -> Self {
        let spans = cells.iter().filter_map(|cell| Some(cell.workload.as_ref()?.span_bytes));
        let tells_rate = |cell: &Cell| cell.measure == Measure::Rate && !compared_values(cell).is_empty();
        let rates = keys.into_iter().zip(cells).filter(|(_, cell)| tells_rate(cell)).collect();
        Self { cells, rates, span_bytes: spans.max().unwrap_or(0) }
    }

    /// Returns the distance of a cell from a part of a use, or `None` if it is of another kind.
    /// Work with flushes or with a fixed rate is only represented by cells with the same property.
    fn distance(&self, key: &CellKey, cell: &Cell, work: &UseWork) -> Option<f64> {
        let is_like = |workload: &Workload| {
            workload.sync.every_writes.is_some() >= work.sync
                && workload.open_loop.is_some() >= work.rate_bytes_per_s.is_some()
        };
        let is_plain = !work.sync && work.rate_bytes_per_s.is_none();
        cell.workload.as_ref().map_or(is_plain, is_like).then_some(())?;
        let halved =
            cell.workload.as_ref().map_or(0.0, |workload| doublings(self.span_bytes, workload.span_bytes));
        Some(distance(key, work)? + halved * OF_A_HALVED_SPAN)
    }
}

/// Returns the decisive differences between the first run and the others, each once. Different
/// models do not count as a doubt.
fn doubts(runs: &[&RunRecord]) -> Vec<Difference> {
    let mut doubts: Vec<Difference> = Vec::new();
    for (first, other) in runs.iter().skip(1).filter_map(|other| Some((runs.first()?, other))) {
        for difference in differences(first, other) {
            let is_new = !doubts.iter().any(|doubt| doubt.fact == difference.fact);
            if difference.weight == Weight::Decisive && is_new {
                doubts.push(difference);
            }
        }
    }
    doubts
}

/// Like [`recommend`], for cells measured with one profile and without records. Each element of
/// `runs` has the cells of one run.
pub fn recommend_cells(runs: &[&[Cell]], purpose: &Use) -> Option<Recommendation> {
    let runs: Vec<Keyed<'_>> =
        runs.iter().map(|cells| Keyed::new(CellKey::of_cells(None, cells), cells)).collect();
    let nothing = vec![None; runs.len()];
    ranked(&runs, purpose, nothing)
}

/// Result of a run for one use.
#[derive(Clone, Debug, PartialEq)]
pub enum Fitness {
    /// Every rate that the use needs was measured and reached, and no pause is longer than the use tolerates.
    Met,
    /// A limit is broken.
    Broken(Out),
    /// The run does not measure the decisive cells.
    Unknown,
}

/// Returns what a single run says about each use. Minimum rates are checked only here: among
/// devices that are all too slow, one is still the better choice.
pub fn fitness<'u>(run: &RunRecord, uses: &'u [Use]) -> Vec<(&'u Use, Fitness)> {
    let runs = [Keyed::new(CellKey::of_run(run), &run.cells)];
    let worst = worst_standstill(&run.cells);
    let of_use = |purpose: &'u Use| {
        if let Some(out) = stalled(worst, purpose) {
            return Fitness::Broken(out);
        }
        let rates = purpose.work.iter().filter_map(|work| {
            let least = work.least.as_ref()?;
            let same_work = nearest_cells(&runs, work).filter(|nearest| nearest.distance <= SAME_WORK);
            Some(same_work.map(|nearest| too_slow(least, nearest.cells[0])))
        });
        let rates: Vec<Option<Option<Out>>> = rates.collect();
        let pauses_are_known = purpose.worst_stall().is_none() || worst.is_some();
        match rates.iter().find_map(|rate| rate.clone().flatten()) {
            Some(out) => Fitness::Broken(out),
            None if !rates.is_empty() && rates.iter().all(Option::is_some) && pauses_are_known => {
                Fitness::Met
            }
            None => Fitness::Unknown,
        }
    };
    let uses = uses.iter().filter(|purpose| !purpose.measured_alone);
    uses.map(|purpose| (purpose, of_use(purpose))).collect()
}

/// Ranks runs. `cached` gives the reason for each run that says nothing about the use.
fn ranked(runs: &[Keyed<'_>], purpose: &Use, cached: Vec<Option<Out>>) -> Option<Recommendation> {
    let whole: f64 = purpose.work.iter().map(|work| work.share).sum();
    let mut sets: Vec<PartValues> = Vec::new();
    let mut parts: Vec<UsePart> = Vec::new();
    let mut same: Vec<Vec<(&UseWork, &Cell)>> = vec![Vec::new(); runs.len()];
    for work in &purpose.work {
        let share = work.share / whole;
        let nearest = nearest_cells(runs, work);
        let (label, cell, exact) = match &nearest {
            Some(Nearest { key, cells, distance }) => {
                (cells[0].label.clone(), Some(key.clone()), *distance == 0.0)
            }
            None => (String::new(), None, false),
        };
        for nearest in nearest.iter().filter(|nearest| nearest.distance <= SAME_WORK) {
            same.iter_mut().zip(&nearest.cells).for_each(|(same, cell)| same.push((work, cell)));
        }
        let values: Vec<Vec<f64>> = nearest.map(|nearest| alike(&nearest.cells).0).unwrap_or_default();
        parts.push(UsePart {
            share,
            block_bytes: work.block_bytes,
            sync: work.sync,
            cell,
            label,
            direction: work.direction,
            exact,
            rates_bytes_per_s: values.iter().map(|values| mean(values)).collect(),
        });
        if !values.is_empty() {
            sets.push((share * work.block_bytes as f64, values));
        }
    }
    let fewest = sets.iter().flat_map(|(_, values)| values.iter().map(Vec::len)).min().unwrap_or(0);
    let covered = parts.iter().filter(|part| part.cell.is_some()).map(|part| part.share).sum();
    if sets.is_empty() || runs.is_empty() {
        return None;
    }
    let worst: Vec<Option<(u64, &Cell)>> = runs.iter().map(|run| worst_standstill(run.cells)).collect();
    let late = same.iter().map(|cells| too_late(cells, purpose));
    let judged_by = worst.iter().zip(late).zip(cached);
    let outs =
        judged_by.map(|((worst, late), cached)| stalled(*worst, purpose).or(late).or(cached)).collect();
    let (mut standings, holds) = rank(&sets, outs);
    for standing in &mut standings {
        standing.worst_ns = worst[standing.run].map(|(worst_ns, _)| worst_ns);
    }
    Some(Recommendation {
        name: purpose.name.clone(),
        parts,
        covered,
        standings,
        holds,
        fewest,
        doubts: Vec::new(),
        by_models: false,
    })
}

/// Bytes of a part, in a unit common to all parts, and the rates of each run.
type PartValues = (f64, Vec<Vec<f64>>);

/// Returns the runs in order, best first, and the share of draws in which the best is faster than
/// all others. `outs` has the broken limit of each excluded run.
fn rank(sets: &[PartValues], mut outs: Vec<Option<Out>>) -> (Vec<Standing>, f64) {
    let runs = outs.len();
    let (indices, speeds) = (draw_all(sets, runs), speeds(sets, runs));
    let mut order: Vec<usize> = (0..runs).collect();
    order.sort_by(|a, b| {
        (outs[*a].is_some(), -speeds[*a])
            .partial_cmp(&(outs[*b].is_some(), -speeds[*b]))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let best = order[0];
    let holds = indices
        .iter()
        .filter(|drawn| (0..runs).all(|run| run == best || outs[run].is_some() || drawn[best] > drawn[run]))
        .count() as f64
        / indices.len() as f64;
    let standings = order
        .into_iter()
        .map(|run| {
            let mut drawn: Vec<f64> = indices.iter().map(|drawn| drawn[run] / drawn[0]).collect();
            drawn.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| drawn[((drawn.len() - 1) as f64 * share).round() as usize];
            let ahead = indices.iter().filter(|drawn| drawn[best] > drawn[run]).count();
            Standing {
                run,
                speed: speeds[run] / speeds[0],
                low: at(0.025),
                high: at(0.975),
                behind: ahead as f64 / indices.len() as f64,
                worst_ns: None,
                out: outs[run].take(),
            }
        })
        .collect();
    (standings, holds)
}

/// Returns the overall rate of all parts for each run.
fn speeds(sets: &[PartValues], runs: usize) -> Vec<f64> {
    (0..runs)
        .map(|run| harmonic_mean(sets.iter().map(|(bytes, values)| (*bytes, mean(&values[run])))))
        .collect()
}

/// Returns the overall rates in many draws, with each mean drawn from its uncertainty. The draws of
/// a run depend only on its values and not on its position, so runs with equal values are never
/// ahead of each other.
fn draw_all(sets: &[PartValues], runs: usize) -> Vec<Vec<f64>> {
    let mut times = vec![vec![0.0; runs]; DRAWS];
    for (part, (bytes, values)) in sets.iter().enumerate() {
        for (run, values) in values.iter().enumerate() {
            let mut random = Random::new(SEED ^ mixed(values), part as u64);
            for times in &mut times {
                times[run] += bytes / draw_log_mean(values, &mut random).exp();
            }
        }
    }
    times.iter_mut().flatten().for_each(|time| *time = time.recip());
    times
}

/// Returns a hash of all values.
fn mixed(values: &[f64]) -> u64 {
    values.iter().fold(0, |word, value| {
        let mut state = word ^ value.to_bits();
        split_mix(&mut state)
    })
}

/// Cells that represent a part of a use.
struct Nearest<'r> {
    key: CellKey,
    /// One cell of each run.
    cells: Vec<&'r Cell>,
    /// Largest distance of any of them from the part.
    distance: f64,
}

/// Returns the cells, one of each run and all with the same key, that are most similar to a part.
fn nearest_cells<'r>(runs: &[Keyed<'r>], work: &UseWork) -> Option<Nearest<'r>> {
    let (first, others) = runs.split_first()?;
    let near = |run: &Keyed<'r>, key: &CellKey, cell| {
        run.distance(key, cell, work).filter(|distance| *distance <= FARTHEST)
    };
    let in_all = |(key, cell): &(CellKey, &'r Cell)| {
        let (mut distance, mut cells) = (near(first, key, cell)?, vec![*cell]);
        for run in others {
            let (_, cell) = run.rates.iter().find(|(other, _)| other == key)?;
            distance = distance.max(near(run, key, cell)?);
            cells.push(cell);
        }
        Some(Nearest { key: key.clone(), cells, distance })
    };
    let candidates = first.rates.iter().filter_map(in_all);
    // At equal distance, the key decides rather than the position in the first run.
    candidates.min_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.key.cmp(&b.key)))
}

/// Returns the distance of a cell's work from a part of a use, or `None` if it is of another kind.
fn distance(key: &CellKey, work: &UseWork) -> Option<f64> {
    let CellKey::Io { sequential, block_bytes, iodepth, threads, direction, warm_up_passes, .. } = key else {
        return None;
    };
    if *sequential != work.sequential || direction != work.direction.word() {
        return None;
    }
    let flying = u64::from(*iodepth) * u64::from(*threads);
    let again = f64::from(*warm_up_passes) * OF_A_HALVED_SPAN;
    Some(doublings(*block_bytes, work.block_bytes) + doublings(flying, u64::from(work.iodepth)) / 2.0 + again)
}

fn doublings(a: u64, b: u64) -> f64 {
    (a.max(1) as f64 / b.max(1) as f64).log2().abs()
}

/// Returns the broken limit if a run stalled for longer than the use tolerates.
fn stalled(worst: Option<(u64, &Cell)>, purpose: &Use) -> Option<Out> {
    let (limit_ns, reason) = purpose.worst_stall()?;
    let (stall_ns, cell) = worst.filter(|(stall_ns, _)| *stall_ns > limit_ns)?;
    let broken = BrokenLimit::Stall { stall_ns, limit_ns };
    Some(Out { broken, cell: cell_name(cell), reason: reason.clone() })
}

/// Returns the broken limit if too many operations of these cells, each of a part of the use, take
/// longer than it tolerates. For a use that arbitrary runs may represent, only a dedicated
/// measurement (`fit`) shows percentiles.
fn too_late(cells: &[(&UseWork, &Cell)], purpose: &Use) -> Option<Out> {
    if !purpose.measured_alone {
        return None;
    }
    purpose.limits.iter().find_map(|limit| {
        let Bearable::Percentile { of, .. } = limit.bears else { return None };
        let judged = judged(limit, cells, &[]);
        let MeasuredLimit::Percentile { share, at_most_ns, value_ns, .. } = judged.measured else {
            return None;
        };
        let (_, cell) = cells.iter().find(|(work, _)| does(work, of))?;
        let broken = BrokenLimit::Percentile { of, share, value_ns: value_ns?, limit_ns: at_most_ns };
        let out = Out { broken, cell: cell_name(cell), reason: judged.reason.clone() };
        (judged.verdict() == FitVerdict::Unfit).then_some(out)
    })
}

/// Returns the broken limit if a cell is slower than its part of the use needs.
fn too_slow(least: &LeastRate, cell: &Cell) -> Option<Out> {
    let bytes_per_s = mean(&compared_values(cell));
    let broken = BrokenLimit::Rate { bytes_per_s, least_bytes_per_s: least.bytes_per_s };
    (bytes_per_s < least.bytes_per_s).then(|| Out {
        broken,
        cell: cell_name(cell),
        reason: least.reason.clone(),
    })
}

fn cell_name(cell: &Cell) -> String {
    [cell.direction.map_or("", Direction::word), &cell.label].join(" ").trim().to_owned()
}

/// Returns the longest standstill of a run and its cell: a stall of all operations, or with small
/// blocks a time without completions or a single operation in flight. Returns `None` if nothing
/// relevant was measured.
pub(crate) fn worst_standstill(run: &[Cell]) -> Option<(u64, &Cell)> {
    let of = |cell: &Cell| {
        let stutter = stutter(cell)?;
        let stall_ns = if stutter.stops_everything() { stutter.worst_ns } else { 0 };
        let small = cell.workload.as_ref().is_some_and(|one| one.largest_block_bytes() <= SMALL_BLOCK);
        // A large block takes long because of its transfer.
        let silence_ns = if small { stutter.longest_silence_ns } else { 0 };
        let alone_ns = if small && stutter.alone { cell_latency(cell).max_ns } else { 0 };
        Some(stall_ns.max(silence_ns).max(alone_ns))
    };
    run.iter().filter_map(|cell| Some((of(cell)?, cell))).max_by_key(|(worst_ns, _)| *worst_ns)
}
