//! An identification: first probes, search, further probes, intervals, and the gate.
//!
//! The gate: where the best point misses the times by more than twice the error that noise and the
//! limits of any model explain, the mechanism is not that of a family, and intervals, which assume
//! that it is, would be narrow and wrong. Nothing is claimed then.

use crate::choose::next_probes;
use crate::family::{DeviceFamily, FamilyPoint};
use crate::measure::{Measurements, ProbeLimits};
use crate::probes::first_probes;
use crate::problem::{Fitted, Problem, sort_best_first, sum_of_squares};
use crate::reach::{AllowedPlaces, reaches};
use crate::refine::{RefinedPoint, refined, surface_samples};
use crate::sampler::{draw_samples, walk_samples};
use crate::search::{Searched, glance, search, with_alternatives};
use crate::workload::ProbeWorkload;
use kurabe_core::random::Random;
use kurabe_core::{Result, Text};
use kurabe_identify::DeviceBench;

/// Smallest error of a time, as a share: clocks, rounding, and the error of the estimated noise.
const LEAST_ERROR: f64 = 0.01;
/// Smallest error of the width of a distribution, as a share.
const LEAST_WIDTH_ERROR: f64 = 0.02;
/// Error of a model in a search, as a share.
const ROUGH_ERROR: f64 = 0.01;
/// Error that a right model may have on a real device, as a share.
const MODEL_ERROR: f64 = 0.01;
/// Misfit in errors above which no family explains the device.
const MOST_MISFIT: f64 = 2.0;
/// Largest single residual in errors.
const MOST_RESIDUAL: f64 = 5.0;
/// Misfit of a glance over the least one of a search up to which a family is searched.
const WORTH_SEARCH: f64 = 30.0;
/// Misfit per probe up to which every choice is tried with all other parameters.
const WORTH_ALTERNATIVES: f64 = 4.0;
/// Misfit per probe above which no further probes are performed.
const HOPELESS: f64 = 25.0;
/// Families that are searched again.
const SEARCHED_AGAIN: usize = 2;
/// Misfit per probe up to which a search is not repeated.
const GOOD: f64 = 0.8;
/// Price of a parameter: half the logarithm of the number of probes, times two (BIC).
const RIVAL: f64 = 6.0;
/// Draws among which one is valid.
const VALID_DRAWS: usize = 200;
/// Change of the parameters for the scatter of a model, as a share of their ranges.
const JITTER: f64 = 2e-4;
/// Number of evaluations that estimate the jitter.
const JITTERED: usize = 4;

/// Limits of an identification.
#[derive(Clone, Copy, Debug)]
pub struct InferenceLimits {
    /// Time of the first probes on the device, in ns.
    pub first_ns: f64,
    /// Time of all probes, in ns.
    pub all_ns: f64,
    /// Most passes of a probe.
    pub passes: usize,
    /// Rounds of further probes.
    pub rounds: usize,
    /// Searches that begin again where the misfit is large.
    pub restarts: usize,
}

impl InferenceLimits {
    /// The usual limits: two minutes of the device.
    pub const USUAL: Self = Self { first_ns: 60e9, all_ns: 110e9, passes: 2, rounds: 3, restarts: 2 };
}

/// A probe with the times of the device and of the identified model.
#[derive(Clone, Copy, Debug)]
pub struct ProbeResidual {
    /// The probe.
    pub workload: ProbeWorkload,
    /// Time of an operation on the device, in ns.
    pub measured_ns: f64,
    /// Time of an operation on the model, in ns.
    pub modelled_ns: f64,
    /// Difference of the logarithms, in units of the error.
    pub errors: f64,
}

/// The outcome of an identification.
#[derive(Clone, Debug)]
pub struct InferredDevice {
    /// The family that explains the times best.
    pub family: DeviceFamily,
    /// Titles of other families that explain them as well.
    pub rivals: Vec<Text>,
    /// Whether it explains them.
    pub is_explained: bool,
    /// The best point.
    pub point: FamilyPoint,
    /// Points that are as probable as the measurements make them.
    pub samples: Vec<FamilyPoint>,
    /// How far the times allow each parameter to be from the samples; empty if that is not examined.
    pub reaches: Vec<Option<AllowedPlaces>>,
    /// All that was measured.
    pub measured: Measurements,
    /// The probes, the worst first.
    pub residuals: Vec<ProbeResidual>,
    /// Misfit over the expected error.
    pub misfit: f64,
    /// Scatter of a pass, as a share.
    pub noise: f64,
    /// Whether probes wrote.
    pub did_write: bool,
}

/// A family under examination.
struct Candidate<'f> {
    family: &'f DeviceFamily,
    searched: Searched,
    /// Surfaces about the best point and the others, if the model is mechanical.
    surfaces: Vec<RefinedPoint>,
    /// Scatter of the model itself, by probe.
    scatter: Vec<f64>,
    cost: f64,
}

/// A stage of an identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferenceStage {
    /// A pass of a probe on the device.
    Probing {
        /// Passes before it.
        done: usize,
        /// Passes that are planned so far.
        planned: usize,
    },
    /// The search for the parameters that reproduce the times.
    Searching,
}

/// Identifies the device. `tell` receives each stage before it begins.
///
/// # Errors
/// When the device fails, or the user stops the program.
pub fn infer(
    bench: &mut dyn DeviceBench,
    families: &[DeviceFamily],
    (seed, limits): (u64, InferenceLimits),
    tell: &mut dyn FnMut(InferenceStage),
) -> Result<InferredDevice> {
    let writes = bench.facts().is_writable;
    let mut random = Random::new(seed, 0x666974);
    let mut measured = Measurements::begin(bench)?;
    let mut probe_limits = ProbeLimits::USUAL;
    let first = first_probes(writes);
    for (done, workload) in first.iter().enumerate() {
        tell(InferenceStage::Probing { done, planned: first.len() * limits.passes });
        let left = limits.first_ns - measured.probing_ns as f64;
        probe_limits.time_ns = (left / (first.len() - done) as f64 / limits.passes as f64).clamp(2e7, 1.5e9);
        measured.add(bench, *workload, probe_limits)?;
    }
    let passes = ((limits.first_ns / measured.probing_ns as f64) as usize).clamp(2, limits.passes);
    measure_again(&mut measured, bench, (0..first.len(), passes), tell)?;
    tell(InferenceStage::Searching);
    let mut candidates = first_search(families, &measured, &mut random);
    for _ in 0..limits.rounds {
        tell(InferenceStage::Searching);
        let left_ns = limits.all_ns - measured.probing_ns as f64;
        restart(&mut candidates, &measured, limits, &mut random);
        if candidates[0].squares() > HOPELESS * measured.probes.len() as f64 {
            // Further probes would not make a family fit.
            break;
        }
        let samples: Vec<(&DeviceFamily, Vec<FamilyPoint>)> = candidates
            .iter()
            .filter(|one| one.cost < candidates[0].cost + 4.0 * RIVAL)
            .map(|one| {
                let problem = problem_of(one.family, &measured, &one.scatter);
                (one.family, one.samples(&problem, false, &mut random))
            })
            .collect();
        let error = (measured.noise() / (passes as f64).sqrt()).max(LEAST_ERROR);
        let next = next_probes(&measured, &samples, writes, error, left_ns / passes as f64);
        if next.is_empty() {
            break;
        }
        let before = measured.probes.len();
        let planned = next.len() * passes;
        for (done, workload) in next.into_iter().enumerate() {
            tell(InferenceStage::Probing { done, planned });
            measured.add(bench, workload, ProbeLimits { time_ns: 1e9, ..ProbeLimits::USUAL })?;
        }
        let added = before..measured.probes.len();
        measure_again(&mut measured, bench, (added, passes), tell)?;
        tell(InferenceStage::Searching);
        candidates = search_again(candidates, &measured, limits, &mut random);
    }
    Ok(conclude(&candidates, measured, writes, &mut random))
}

/// Measures the passes of these probes after the first one.
fn measure_again(
    measured: &mut Measurements,
    bench: &mut dyn DeviceBench,
    (indices, passes): (std::ops::Range<usize>, usize),
    tell: &mut dyn FnMut(InferenceStage),
) -> Result<()> {
    let count = indices.len();
    for pass in 1..passes {
        for (rank, index) in indices.clone().enumerate() {
            tell(InferenceStage::Probing { done: pass * count + rank, planned: passes * count });
            measured.repeat(bench, index..index + 1)?;
        }
    }
    Ok(())
}

/// Returns the errors of the logarithms of the times, with the scatter of a model.
fn errors(measured: &Measurements, scatter: &[f64], least: f64) -> Vec<f64> {
    let variances = measured.variances();
    let of = |index: usize| {
        let own = scatter.get(index).copied().unwrap_or(0.0);
        // Noise does not change the width of a distribution.
        let base = variances.get(index).copied().unwrap_or(LEAST_WIDTH_ERROR * LEAST_WIDTH_ERROR);
        (base + own * own + least * least).sqrt()
    };
    (0..measured.statistics()).map(of).collect()
}

fn problem_of<'a>(family: &'a DeviceFamily, measured: &'a Measurements, scatter: &[f64]) -> Problem<'a> {
    let passes = measured.probes[0].times_ns.len();
    Problem::new(family, measured, errors(measured, scatter, LEAST_ERROR), passes)
}

/// Returns the problem with one pass of a model, whose times are less exact.
fn rough_problem<'a>(family: &'a DeviceFamily, measured: &'a Measurements) -> Problem<'a> {
    Problem::new(family, measured, errors(measured, &[], ROUGH_ERROR), 1)
}

/// Returns how much larger the squares are than the errors explain; at least 1.
fn inflation(problem: &Problem<'_>, candidate: &Candidate<'_>) -> f64 {
    let freedom = problem.errors.len().saturating_sub(problem.ranged.len()).max(1) as f64;
    (candidate.squares() / freedom).max(1.0)
}

impl Candidate<'_> {
    /// Returns the sum of the squares of the residuals of the best point.
    fn squares(&self) -> f64 {
        self.surfaces.first().map_or(self.searched.best.misfit, |one| one.squares)
    }

    /// Returns points as probable as the measurements make them: of all ensembles, or only of the normal
    /// approximations.
    fn samples(&self, problem: &Problem<'_>, walks: bool, random: &mut Random) -> Vec<FamilyPoint> {
        let inflation = inflation(problem, self);
        match (self.surfaces.is_empty(), walks) {
            (false, _) => surface_samples(problem, &self.surfaces, inflation, random),
            (true, false) => draw_samples(problem, &self.searched, inflation, random),
            (true, true) => walk_samples(problem, &self.searched, inflation, random),
        }
    }
}

/// Returns the scatter of a model's times under changes of its parameters that mean nothing.
fn scatter(problem: &Problem<'_>, point: &[f64], random: &mut Random) -> Vec<f64> {
    let outcomes: Vec<Vec<f64>> = (0..JITTERED)
        .filter_map(|_| {
            let mut moved = point.to_vec();
            for index in &problem.ranged {
                moved[*index] = (moved[*index] + JITTER * (random.unit() - 0.5)).clamp(0.0, 1.0);
            }
            problem.outcome(&moved)
        })
        .collect();
    let of = |probe: usize| {
        let values: Vec<f64> = outcomes.iter().map(|outcome| outcome[probe]).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (values.len().max(2) - 1) as f64).sqrt()
    };
    (0..problem.errors.len()).map(of).collect()
}

/// Returns the candidate of a family whose statistics scatter: a search, then surfaces about the best points.
fn mechanical_candidate<'f>(
    family: &'f DeviceFamily,
    measured: &Measurements,
    (starts, searches): (Vec<Fitted>, bool),
    restarts: usize,
    random: &mut Random,
) -> Candidate<'f> {
    let plain = rough_problem(family, measured);
    // Not every draw is valid: some seek times do not fit together.
    let point = (0..VALID_DRAWS).map(|_| family.draw(random)).find(|point| plain.is_valid(point));
    let scatter = point.map_or_else(Vec::new, |point| scatter(&plain, &point, random));
    let rough = Problem::new(family, measured, errors(measured, &scatter, ROUGH_ERROR), 1);
    let searched = match searches {
        true => search(&rough, starts, restarts, random),
        false => Searched::from(starts),
    };
    let problem = problem_of(family, measured, &[]);
    let surfaces = refined(&problem, &searched, random);
    let price = (problem.ranged.len() + problem.chosen.len()) as f64 * (measured.probes.len() as f64).ln();
    let best = &surfaces.first().map_or(&searched.best, |one| &one.fitted);
    Candidate {
        family,
        cost: best.misfit + price,
        scatter: surfaces.first().map_or_else(Vec::new, |one| one.surface.scatter.clone()),
        searched: Searched {
            best: (*best).clone(),
            others: surfaces.iter().skip(1).map(|one| one.fitted.clone()).collect(),
        },
        surfaces,
    }
}

fn candidate<'f>(
    family: &'f DeviceFamily,
    measured: &Measurements,
    starts: Vec<Fitted>,
    restarts: usize,
    random: &mut Random,
) -> Candidate<'f> {
    if family.is_mechanical() {
        let searches = starts.is_empty() || restarts > 0;
        return mechanical_candidate(family, measured, (starts, searches), restarts, random);
    }
    let rough = rough_problem(family, measured);
    let searched = search(&rough, starts, restarts, random);
    let scatter = scatter(&problem_of(family, measured, &[]), &searched.best.point, random);
    let problem = problem_of(family, measured, &scatter);
    let again = |fitted: Fitted| problem.fitted(fitted.point);
    let mut all: Vec<_> = std::iter::once(searched.best).chain(searched.others).map(again).collect();
    sort_best_first(&mut all);
    let best = problem.descend(all.remove(0), 3);
    let near = measured.probes.len() as f64 * WORTH_ALTERNATIVES;
    let searched = Searched { best, others: all };
    let searched = match searched.best.misfit < near {
        true => with_alternatives(&problem, searched, random),
        false => searched,
    };
    let price = (problem.ranged.len() + problem.chosen.len()) as f64 * (measured.probes.len() as f64).ln();
    let cost = searched.best.misfit + price;
    Candidate { family, searched, surfaces: Vec::new(), scatter, cost }
}

fn first_search<'f>(
    families: &'f [DeviceFamily],
    measured: &Measurements,
    random: &mut Random,
) -> Vec<Candidate<'f>> {
    let access_ns = measured.probes[0].log_time().exp();
    let is_possible = |family: &&DeviceFamily| family.may_take(access_ns);
    let mut possible: Vec<&DeviceFamily> = families.iter().filter(is_possible).collect();
    if possible.is_empty() {
        possible = families.iter().collect();
    }
    let mut glances: Vec<(&DeviceFamily, Fitted)> = possible
        .into_iter()
        .map(|family| {
            let problem = rough_problem(family, measured);
            let fitted = glance(&problem, random);
            (family, fitted)
        })
        .collect();
    glances.sort_by(|one, other| one.1.misfit.total_cmp(&other.1.misfit));
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (family, fitted) in glances {
        let best = candidates.iter().map(Candidate::squares).fold(f64::INFINITY, f64::min);
        // A family whose best draw is far worse than a good search is not searched.
        if fitted.misfit < WORTH_SEARCH * best.max(measured.probes.len() as f64) {
            candidates.push(candidate(family, measured, Vec::new(), 0, random));
        }
    }
    candidates.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    candidates
}

/// Searches the best families again as long as none explains the times.
fn restart(
    candidates: &mut [Candidate<'_>],
    measured: &Measurements,
    limits: InferenceLimits,
    random: &mut Random,
) {
    let is_good = |one: &Candidate<'_>| one.squares() < GOOD * measured.probes.len() as f64;
    // First from the best point, then from other draws: a descent may end far from the parameters of the device.
    for attempt in 0..=limits.restarts {
        for rank in 0..candidates.len().min(SEARCHED_AGAIN) {
            if is_good(&candidates[0]) {
                return;
            }
            let one = &candidates[rank];
            let starts = if attempt == 0 { vec![one.searched.best.clone()] } else { Vec::new() };
            let next = candidate(one.family, measured, starts, limits.restarts, random);
            if next.cost < one.cost {
                candidates[rank] = next;
            }
        }
        candidates.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    }
}

fn search_again<'f>(
    candidates: Vec<Candidate<'f>>,
    measured: &Measurements,
    limits: InferenceLimits,
    random: &mut Random,
) -> Vec<Candidate<'f>> {
    let best = candidates[0].cost;
    let mut next: Vec<Candidate<'f>> = candidates
        .into_iter()
        .filter(|one| one.cost < best + 20.0 * RIVAL)
        .enumerate()
        .map(|(rank, one)| {
            let problem = problem_of(one.family, measured, &one.scatter);
            let points = std::iter::once(one.searched.best).chain(one.searched.others);
            let mut starts: Vec<_> = match one.surfaces.is_empty() {
                true => points.map(|fitted| problem.fitted(fitted.point)).collect(),
                // One evaluation of a mechanical model says little.
                false => points.collect(),
            };
            sort_best_first(&mut starts);
            let restarts = if rank == 0 && one.surfaces.is_empty() { limits.restarts } else { 0 };
            candidate(one.family, measured, starts, restarts, random)
        })
        .collect();
    next.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    next
}

fn conclude(
    candidates: &[Candidate<'_>],
    measured: Measurements,
    did_write: bool,
    random: &mut Random,
) -> InferredDevice {
    let best = &candidates[0];
    let rivals = candidates[1..].iter().filter(|one| one.cost < best.cost + RIVAL);
    let rivals = rivals.map(|one| one.family.title.clone()).collect();
    let problem = problem_of(best.family, &measured, &best.scatter);
    let samples = best.samples(&problem, true, random);
    // A surface is straight, so no valley of it bends.
    let reaches = match best.surfaces.is_empty() {
        true => reaches(&problem, &best.searched.best, &samples, inflation(&problem, best)),
        false => Vec::new(),
    };
    let outcome = match best.surfaces.first() {
        Some(one) => one.surface.outcome(&problem, &one.fitted.point),
        // No device at the point: nothing is explained.
        None => {
            let outcome = problem.outcome(&best.searched.best.point);
            outcome.unwrap_or_else(|| vec![f64::INFINITY; problem.targets.len()])
        }
    };
    let gate = errors(&measured, &best.scatter, MODEL_ERROR);
    let mut residuals: Vec<ProbeResidual> = measured
        .probes
        .iter()
        .zip(outcome.iter().zip(&gate))
        .map(|(probe, (log, error))| ProbeResidual {
            workload: probe.workload,
            measured_ns: probe.log_time().exp(),
            modelled_ns: log.exp(),
            errors: (log - probe.log_time()) / error,
        })
        .collect();
    residuals.sort_by(|one, other| other.errors.abs().total_cmp(&one.errors.abs()));
    // The widths of distributions count, too.
    let all =
        outcome.iter().zip(&problem.targets).zip(&gate).map(|((log, target), error)| (log - target) / error);
    let all: Vec<f64> = all.collect();
    let freedom = all.len().saturating_sub(problem.ranged.len()).max(1) as f64;
    let misfit = (sum_of_squares(&all) / freedom).sqrt();
    let largest = all.iter().map(|one| one.abs()).fold(0.0, f64::max);
    InferredDevice {
        family: best.family.clone(),
        rivals,
        is_explained: misfit <= MOST_MISFIT && largest <= MOST_RESIDUAL && !samples.is_empty(),
        point: best.searched.best.point.clone(),
        samples,
        reaches,
        residuals,
        misfit,
        noise: measured.noise(),
        did_write,
        measured,
    }
}
