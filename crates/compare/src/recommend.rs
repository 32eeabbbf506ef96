//! Which of several runs suits a use.
//!
//! The model: for each part of the use the cell is taken that all runs have and that is most like it. A run's standing is
//! the time that the operations of all parts take there, one after the other: what is done seldom and takes long counts as it
//! does for who waits (`benches/benches/uses.rs` holds that against real programs). How firm the order is shows by drawing
//! by lot where the means may truly lie, given how the repetitions scatter: how often does the order come out the same. A
//! run that stalls longer than the use can bear is out, however fast it is. The answer does not depend on the order in
//! which the runs are named.

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

/// Draws of the means.
const DRAWS: usize = 2000;
/// Seed of the draws.
const SEED: u64 = 0x7573_6573;
/// A cell further from a part than this does not stand for it. Each doubling of the block size counts 1, each of the
/// operations in flight a half.
const FARTHEST: f64 = 2.0;
/// What each halving of the part of the test size that a cell keeps to counts: in a small part a cache answers. So does each
/// pass over it beforehand.
const OF_A_HALVED_SPAN: f64 = 0.25;
/// Up to this distance a cell has the block size and the depth of the part, so that what the part needs may be asked of it.
const SAME_WORK: f64 = 0.4;
/// Blocks up to this take no time worth speaking of to be moved, so that an operation that takes long stood still.
const SMALL_BLOCK: u32 = 64 << 10;
/// A run counts as better than another if it is in this share of the draws: of two equal runs either may come out first, so
/// one of them is called better by mistake in 5 % of cases.
pub const FIRM_SHARE: f64 = 0.975;

/// Runs ranked for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommendation {
    /// The use's name.
    pub name: String,
    /// Its parts, with the cells that stand for them.
    pub parts: Vec<UsePart>,
    /// Share of the use that the runs' common cells cover, 0 to 1.
    pub covered: f64,
    /// The runs, the best first; those that are out come last.
    pub standings: Vec<Standing>,
    /// Share of the draws in which the best run is the best.
    pub holds: f64,
    /// The fewest values behind a figure; of a single one no spread is known, so the draws say nothing.
    pub fewest: usize,
    /// What can make the figures of these runs incomparable.
    #[serde(skip)]
    pub doubts: Vec<Difference>,
}

/// A part of the use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsePart {
    /// Its share of all operations, 0 to 1.
    pub share: f64,
    /// Bytes of each.
    pub block_bytes: u64,
    /// Whether each waits for a flush.
    pub sync: bool,
    /// The cell that stands for it; none if the runs have nothing like it in common.
    pub cell: Option<CellKey>,
    /// Its name.
    pub label: String,
    /// Direction.
    pub direction: Direction,
    /// Whether the cell is just what the use asks for.
    pub exact: bool,
    /// Bytes per second of each run, in the order given.
    pub rates_bytes_per_s: Vec<f64>,
}

/// A run for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Standing {
    /// Place of the run in the order given.
    pub run: usize,
    /// How many times as fast as the first run given, over the whole use.
    pub speed: f64,
    /// The interval of that, from the draws.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Share of the draws in which the best run is ahead of it; 0 for the best itself.
    pub behind: f64,
    /// The longest time in which it stood still, if that was measured.
    pub worst_ns: Option<u64>,
    /// Why it is out.
    pub out: Option<Out>,
}

/// A limit that a run breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Out {
    /// Which limit.
    pub broken: BrokenLimit,
    /// The cell in which it was.
    pub cell: String,
    /// What that means for the use.
    pub reason: Text,
}

/// What a run does beside what the use bears.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BrokenLimit {
    /// It stood still for too long.
    Stall {
        /// The stall, in ns.
        stall_ns: u64,
        /// The longest that the use bears, in ns.
        limit_ns: u64,
    },
    /// Too many of its operations take too long.
    Percentile {
        /// Reads, writes or flushes.
        of: OpKind,
        /// Their share, between 0 and 1.
        share: f64,
        /// The time within which that share is done, in ns.
        value_ns: u64,
        /// The longest that the use bears, in ns.
        limit_ns: u64,
    },
    /// Its writes fit into the cache of a shingled disk, and the use writes for hours.
    Cached {
        /// Bytes that the run wrote.
        written_bytes: u64,
        /// Bytes of the cache.
        cache_bytes: u64,
    },
    /// It is too slow.
    Rate {
        /// Its rate in bytes per second.
        bytes_per_s: f64,
        /// The least that the use needs.
        least_bytes_per_s: f64,
    },
}

/// Ranks runs for a use; `None` if they have nothing in common that stands for any part of it.
pub fn recommend(runs: &[&RunRecord], purpose: &Use) -> Option<Recommendation> {
    let runs_with_keys: Vec<Keyed<'_>> =
        runs.iter().map(|run| Keyed::new(CellKey::of_run(run), &run.cells)).collect();
    let cached = runs.iter().map(|run| cached(run, purpose)).collect();
    Some(Recommendation { doubts: doubts(runs), ..ranked(&runs_with_keys, purpose, cached)? })
}

/// Returns why a run says nothing about a use that writes for hours: a shingled disk took all writes into its cache, after which they
/// are slower by orders of magnitude.
fn cached(run: &RunRecord, purpose: &Use) -> Option<Out> {
    let (written_bytes, cache_bytes) = within_media_cache(run).filter(|_| purpose.sustained)?;
    let broken = BrokenLimit::Cached { written_bytes, cache_bytes };
    Some(Out { broken, cell: String::new(), reason: Text::default() })
}

/// The cells of a run with what they are.
struct Keyed<'r> {
    cells: &'r [Cell],
    /// Those that tell a rate.
    rates: Vec<(CellKey, &'r Cell)>,
    /// The largest span of all of them.
    span_bytes: u64,
}

impl<'r> Keyed<'r> {
    fn new(keys: Vec<CellKey>, cells: &'r [Cell]) -> Self {
        let spans = cells.iter().filter_map(|cell| Some(cell.workload.as_ref()?.span_bytes));
        let tells_rate = |cell: &Cell| cell.measure == Measure::Rate && !compared_values(cell).is_empty();
        let rates = keys.into_iter().zip(cells).filter(|(_, cell)| tells_rate(cell)).collect();
        Self { cells, rates, span_bytes: spans.max().unwrap_or(0) }
    }

    /// How far a cell is from a part of a use; none if it is of another kind. What waits for flushes, or comes at a rate of its
    /// own, is told by nothing that does not.
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

/// What decides between the first run and any other, each once; that two models are not the same is no doubt.
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

/// The same of what was measured by one profile, without the records around it: each of `runs` is the cells of one.
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
    /// The run does not measure what decides.
    Unknown,
}

/// Returns what a run by itself says about each use. Least rates are compared here alone: of devices that are all too slow one is
/// the better choice nevertheless.
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

/// `cached`: why each run says nothing about the use, if so.
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
    })
}

/// Bytes of a part, in any unit that is the same for all, and the rates of each run.
type PartValues = (f64, Vec<Vec<f64>>);

/// The runs in order, the best first, and in which share of the draws the best is ahead of all others. `outs` tells
/// which runs broke a limit.
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

/// The rate at which all parts are done, for each run.
fn speeds(sets: &[PartValues], runs: usize) -> Vec<f64> {
    (0..runs)
        .map(|run| harmonic_mean(sets.iter().map(|(bytes, values)| (*bytes, mean(&values[run])))))
        .collect()
}

/// The same, many times, with each mean where it may truly lie. What is drawn for a run depends on its values alone, not on
/// its place among the others; so runs of the same values are never ahead of one another.
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

/// A word that is made of all values.
fn mixed(values: &[f64]) -> u64 {
    values.iter().fold(0, |word, value| {
        let mut state = word ^ value.to_bits();
        split_mix(&mut state)
    })
}

/// What stands for a part of a use.
struct Nearest<'r> {
    key: CellKey,
    /// One of each run.
    cells: Vec<&'r Cell>,
    /// How far they are from it, by the run where that is farthest.
    distance: f64,
}

/// The cells, one of each run, that are most like a part and alike among themselves.
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
    // What is equally far is taken by its key, not by its place in the run that happens to be named first.
    candidates.min_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.key.cmp(&b.key)))
}

/// How far what a cell does is from a part of a use; none if it is of another kind.
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

/// Whether a run stood still for longer than the use bears.
fn stalled(worst: Option<(u64, &Cell)>, purpose: &Use) -> Option<Out> {
    let (limit_ns, reason) = purpose.worst_stall()?;
    let (stall_ns, cell) = worst.filter(|(stall_ns, _)| *stall_ns > limit_ns)?;
    let broken = BrokenLimit::Stall { stall_ns, limit_ns };
    Some(Out { broken, cell: cell_name(cell), reason: reason.clone() })
}

/// Whether too many operations of these cells, each of a part of the use, take longer than it bears. Of a use that any run may stand
/// for, only a measurement of its own (`fit`) tells percentiles.
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

/// Whether a cell is slower than its part of the use needs.
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

/// The longest time in which a run stood still, and where: a stall that stopped everything, and with small blocks a time
/// without any completion or one operation that was alone. `None` where nothing was measured that tells.
pub(crate) fn worst_standstill(run: &[Cell]) -> Option<(u64, &Cell)> {
    let of = |cell: &Cell| {
        let stutter = stutter(cell)?;
        let stall_ns = if stutter.stops_everything() { stutter.worst_ns } else { 0 };
        let small = cell.workload.as_ref().is_some_and(|one| one.largest_block_bytes() <= SMALL_BLOCK);
        // A large block takes long because there is much to move.
        let silence_ns = if small { stutter.longest_silence_ns } else { 0 };
        let alone_ns = if small && stutter.alone { cell_latency(cell).max_ns } else { 0 };
        Some(stall_ns.max(silence_ns).max(alone_ns))
    };
    run.iter().filter_map(|cell| Some((of(cell)?, cell))).max_by_key(|(worst_ns, _)| *worst_ns)
}
