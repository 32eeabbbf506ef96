//! Comparison of two sides measured in interleaved blocks: the verdict after each number of blocks,
//! and when to stop.
//!
//! The model: a block measures each side once, close together in time, so that a disturbance
//! affects both. The order within the first block of a pair is random and the second block reverses
//! it (A B B A), so a steady drift cancels out within the pair. The sums over the two blocks form
//! one pair of values. The ratio of the means and its tests come from flipping these pairs
//! (`sign_flips`), which is exact for any noise because the order was random.
//!
//! Repeated significance tests inflate the false-positive rate. So there are few interim analyses,
//! at points fixed in advance, and the allowed error is distributed among them (`LOOKS`; "alpha
//! spending" of Lan and DeMets, "Discrete sequential boundaries for clinical trials", 1983, in the
//! form that holds for any dependence between the analyses, the union bound). The p-value of an
//! analysis divided by its share of the error is valid at any stopping time (Johari, Koomen,
//! Pekelis and Walsh, "Always valid inference", 2022). Holm's procedure over the cells uses these
//! p-values (Bartroff and Song, "Sequential tests of multiple hypotheses controlling type I and II
//! familywise error rates", 2014), separately for differences and for "no difference": a cell
//! settled as one of them has not been rejected as the other, so it frees no error there.
//!
//! Models that repeat their values exactly leave nothing to chance. Such a cell is settled after
//! [`EQUAL_BLOCKS`] blocks by the ratio alone.
//!
//! The analyses are repeated from the stored values, so evaluating stored records gives the
//! verdicts of the live run.

use crate::compare::{CONFIDENCE, Compared, Sides, Verdict, compare_computed};
use crate::normal::student_quantile;
use crate::quantile::quantile_interval;
use crate::{bootstrap::Estimate, rank::holm, rank::is_tie, sign_flips::SignFlips, trend::trend};
use serde::Serialize;

/// Pairs of blocks at each interim analysis, and its share of the allowed error. The first has the
/// largest share: most differences are far larger than the smallest detectable one, and ten pairs
/// are the fewest that can show any.
const LOOKS: [(usize, f64); 12] = [
    (10, 0.25),
    (14, 0.068),
    (20, 0.068),
    (28, 0.068),
    (40, 0.068),
    (56, 0.068),
    (80, 0.068),
    (112, 0.068),
    (160, 0.068),
    (224, 0.068),
    (320, 0.068),
    (448, 0.068),
];

/// Blocks after which computed sides that repeat their values exactly are settled.
pub const EQUAL_BLOCKS: usize = 4;
/// Fewest blocks with a verdict on values that scatter.
pub const FEWEST_BLOCKS: usize = 2 * LOOKS[0].0;
/// Number of blocks after the last interim analysis.
pub const MOST_BLOCKS: usize = 2 * LOOKS[LOOKS.len() - 1].0;

/// Comparison of a cell on two interleaved targets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocked {
    /// The ratio with its interval, and the verdict. The p-value is that of flipped signs, valid at
    /// any stopping time and corrected for the number of cells.
    pub compared: Compared,
    /// Blocks and drift behind the verdict.
    pub course: Course,
}

/// How the verdict on a cell was reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Course {
    /// Pairs of blocks behind the verdict.
    pub block_pairs: usize,
    /// Whether the verdict is final, so that the cell needs no more blocks.
    pub settled: bool,
    /// Speed of the baseline in the last block relative to the first; `None` for too few blocks.
    pub baseline_trend: Option<Estimate>,
    /// Speed of the other side in the last block relative to the first.
    pub other_trend: Option<Estimate>,
    /// Ratio of the two sides in the last block relative to the first.
    pub ratio_trend: Option<Estimate>,
}

/// Returns the pairs of blocks behind the last analysis of a measurement that ends after `pairs`
/// pairs, and the error allowed for each of so many comparisons in it. `None` before the first
/// analysis.
pub(crate) fn allowed_error(pairs: usize, comparisons: usize) -> Option<(usize, f64)> {
    let pairs = pairs.min(MOST_BLOCKS / 2);
    let (_, share) = LOOKS.iter().find(|(look, _)| *look >= pairs)?;
    let allowed = (1.0 - CONFIDENCE) * share / comparisons.max(1) as f64;
    (pairs >= LOOKS[0].0).then_some((pairs, allowed))
}

/// Returns the log ratios of the pairs of blocks, above 0 where the other side is faster. `None` if a
/// value is not usable.
pub(crate) fn pair_logs(sides: &Sides) -> Option<Vec<f64>> {
    let trial = Trial::of(sides, 0.0)?;
    Some(trial.logs(trial.top.len()))
}

/// Returns whether there is an interim analysis after `blocks` blocks.
pub fn is_look(blocks: usize) -> bool {
    LOOKS.iter().any(|(pairs, _)| 2 * pairs == blocks)
}

/// Judges cells after each interim analysis. The values of both sides are in the order of the
/// blocks.
///
/// A difference below `margin` does not matter. `families` is the number of such comparisons made
/// together, each over these cells; the allowed error is divided by it. A cell without usable
/// values is `None` and stays open, since its values may still follow.
pub fn judge(cells: &[Sides], margin: f64, families: usize) -> Vec<Option<Blocked>> {
    let level = (1.0 - CONFIDENCE) / families.max(1) as f64;
    let mut trials: Vec<Option<Trial>> = cells.iter().map(|sides| Trial::of(sides, margin)).collect();
    for (look, (pairs, share)) in LOOKS.iter().enumerate() {
        let before = look.checked_sub(1).map_or(0, |before| LOOKS[before].0);
        for trial in trials.iter_mut().flatten() {
            trial.look(*pairs, before, *share);
        }
        settle(&mut trials, level);
    }
    let counts = OpenClaims::of(&trials);
    let mut p_values: Vec<f64> =
        trials.iter().map(|trial| trial.as_ref().map_or(1.0, |trial| trial.p_value)).collect();
    p_values = holm(&p_values).into_iter().map(|p_value| (p_value * families as f64).min(1.0)).collect();
    let judged = |((trial, sides), p_value): ((&Option<Trial>, &Sides), f64)| {
        Some(trial.as_ref()?.judged(sides, level, counts, p_value))
    };
    trials.iter().zip(cells).zip(p_values).map(judged).collect()
}

/// Settles cells until nothing changes. Each verdict of one kind relaxes the correction for the
/// other cells of that kind.
fn settle(trials: &mut [Option<Trial>], level: f64) {
    loop {
        let counts = OpenClaims::of(trials);
        let mut changed = false;
        // The smallest p-value first, as in Holm's procedure.
        let mut open: Vec<&mut Trial> =
            trials.iter_mut().flatten().filter(|trial| trial.settled.is_none()).collect();
        open.sort_by(|one, two| one.p_value.total_cmp(&two.p_value));
        for trial in open {
            if let Some(settled) = trial.verdict(level, counts) {
                trial.settled = Some(settled);
                changed = true;
                break;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Number of cells for which each claim is still open or would be false: Holm's divisor of the
/// allowed error.
#[derive(Clone, Copy)]
struct OpenClaims {
    difference: usize,
    sameness: usize,
}

impl OpenClaims {
    fn of(trials: &[Option<Trial>]) -> Self {
        let count = trials.len();
        let same = |trial: &&Trial| trial.settled.is_some_and(|settled| settled.verdict == Verdict::Same);
        let settled = trials.iter().flatten().filter(|trial| trial.settled.is_some()).count();
        let same = trials.iter().flatten().filter(same).count();
        Self { difference: (count - (settled - same)).max(1), sameness: (count - same).max(1) }
    }
}

#[derive(Clone, Copy)]
struct Settled {
    verdict: Verdict,
    interval: Estimate,
    pairs: usize,
}

/// State of a cell during the interim analyses.
struct Trial {
    /// Sums over the pairs of blocks; the ratio of top to bottom is the speed.
    top: Vec<f64>,
    bottom: Vec<f64>,
    margin: f64,
    /// Results of the last analysis, the pairs it covered, and its share of the error.
    chances: Chances,
    pairs: usize,
    share: f64,
    /// The smallest p-value so far, divided by the share of its analysis.
    p_value: f64,
    settled: Option<Settled>,
    /// The comparison of values that models repeat exactly.
    exact: Option<Compared>,
}

/// Probabilities of the observed values under given true ratios.
#[derive(Clone, Copy)]
struct Chances {
    /// Under no difference: of a ratio at least this high, and of one at least this low.
    of_faster: f64,
    of_slower: f64,
    /// Under a difference of exactly the margin, up or down: of a ratio this near to 1.
    within: f64,
}

impl Trial {
    fn of(sides: &Sides, margin: f64) -> Option<Self> {
        let (top, bottom) = sides.fractions();
        let whole = whole_blocks(sides)?;
        let sums = |values: &[f64]| values[..whole].chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        let exact = exact(sides, margin);
        let settled = |exact: Compared| Settled {
            verdict: exact.verdict,
            interval: exact.speed,
            pairs: EQUAL_BLOCKS / 2,
        };
        Some(Self {
            top: sums(top),
            bottom: sums(bottom),
            margin,
            chances: Chances { of_faster: 1.0, of_slower: 1.0, within: 1.0 },
            pairs: 0,
            share: LOOKS[0].1,
            p_value: exact.map_or(1.0, |exact| exact.p_value),
            settled: exact.map(settled),
            exact,
        })
    }

    /// Returns the pairs of the last analysis.
    fn seen(&self) -> SignFlips<'_> {
        SignFlips { top: &self.top[..self.pairs], bottom: &self.bottom[..self.pairs] }
    }

    /// Analyses the first `pairs` pairs. A measurement that ended between two analyses because its
    /// time was up is analysed once more, with the share of the analysis that was not reached. That
    /// is valid because the clock ended it, not the values.
    fn look(&mut self, pairs: usize, before: usize, share: f64) {
        let available = self.top.len().min(pairs);
        if self.settled.is_some() || available <= before {
            return;
        }
        (self.pairs, self.share) = (available, share);
        let (seen, most) = (self.seen(), 1.0 + self.margin);
        let chances = Chances {
            of_faster: seen.chance_above(1.0),
            of_slower: seen.chance_below(1.0),
            within: seen.chance_above(1.0 / most).max(seen.chance_below(most)),
        };
        let either = 2.0 * chances.of_faster.min(chances.of_slower);
        self.chances = chances;
        self.p_value = self.p_value.min(either.min(1.0) / share);
    }

    /// Returns the error allowed for a claim about one of `among` cells.
    fn allowed(&self, level: f64, among: usize) -> f64 {
        level * self.share / among as f64
    }

    fn verdict(&self, level: f64, open: OpenClaims) -> Option<Settled> {
        let for_same = self.allowed(level, open.sameness);
        let for_different = self.allowed(level, open.difference);
        let settled = |verdict, allowed: f64| {
            Some(Settled { verdict, interval: self.seen().estimate(1.0 - allowed), pairs: self.pairs })
        };
        match self.chances {
            Chances { within, .. } if within <= for_same / 2.0 => settled(Verdict::Same, for_same),
            Chances { of_faster, .. } if of_faster <= for_different / 2.0 => {
                settled(Verdict::Faster, for_different)
            }
            Chances { of_slower, .. } if of_slower <= for_different / 2.0 => {
                settled(Verdict::Slower, for_different)
            }
            _ => None,
        }
    }

    fn judged(&self, sides: &Sides, level: f64, open: OpenClaims, p_value: f64) -> Blocked {
        let unsettled = || {
            let confidence = 1.0 - self.allowed(level, open.difference.max(open.sameness));
            let interval = self.seen().estimate(confidence);
            Settled {
                verdict: Verdict::NotEnough { more: self.more(&interval, confidence) },
                interval,
                pairs: self.pairs,
            }
        };
        let Settled { verdict, interval, pairs } = self.settled.unwrap_or_else(unsettled);
        let better = self.logs(pairs).into_iter().map(|log| match log.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        });
        let cells = 1.0 - (1.0 - CONFIDENCE) / open.difference.max(open.sameness) as f64;
        let speeds = |values: &[f64]| -> Vec<f64> {
            let turned = |value: &f64| if sides.higher_is_better { *value } else { 1.0 / value };
            values.iter().take(2 * self.top.len()).map(turned).collect()
        };
        let (baseline, other) = (speeds(&sides.baseline), speeds(&sides.other));
        let ratios: Vec<f64> =
            other.iter().zip(&baseline).map(|(other, baseline)| other / baseline).collect();
        let by_chance = || Compared {
            speed: interval,
            speed_by_median: self.middle(pairs),
            superiority: better.sum::<f64>() / pairs.max(1) as f64,
            p_value,
            verdict,
        };
        Blocked {
            compared: self.exact.unwrap_or_else(by_chance),
            course: Course {
                block_pairs: pairs,
                settled: self.settled.is_some(),
                baseline_trend: trend(&baseline, cells),
                other_trend: trend(&other, cells),
                ratio_trend: trend(&ratios, cells),
            },
        }
    }

    /// Returns the log ratio of each of the first `pairs` pairs of blocks.
    fn logs(&self, pairs: usize) -> Vec<f64> {
        let log = |(top, bottom): (&f64, &f64)| if is_tie(*top, *bottom) { 0.0 } else { (top / bottom).ln() };
        self.top[..pairs].iter().zip(&self.bottom).map(log).collect()
    }

    /// Returns the median of the ratios of the pairs, with the ordinary interval of a single
    /// analysis of a single cell.
    fn middle(&self, pairs: usize) -> Estimate {
        let mut sorted = self.logs(pairs);
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = quantile_interval(&sorted, 0.5, CONFIDENCE);
        let (low, high) = quantile.and_then(|quantile| quantile.interval).unwrap_or((f64::NAN, f64::NAN));
        let value = quantile.map_or(f64::NAN, |quantile| quantile.value);
        Estimate { value: value.exp(), low: low.exp(), high: high.exp() }
    }

    /// Estimates the further blocks that would settle the cell. The interval shrinks with the
    /// square root of the number of pairs until it excludes 1 or lies within the margin. The result
    /// is rounded up to the next analysis.
    fn more(&self, interval: &Estimate, confidence: f64) -> Option<u32> {
        let half_width = (interval.high / interval.low).ln() / 2.0;
        let distance = interval.value.ln().abs();
        let needed = distance.max((1.0 + self.margin).ln() - distance);
        if !half_width.is_finite() {
            return self.more_by_spread(confidence);
        }
        let enough = self.pairs as f64 * (half_width / needed).powi(2);
        let (look, _) = LOOKS.iter().find(|(pairs, _)| *pairs as f64 >= enough && *pairs > self.pairs)?;
        Some(2 * (look - self.pairs) as u32)
    }
}

impl Trial {
    /// Estimates the further blocks where there is no interval yet, by Student's t, from three
    /// pairs on. That the first analysis is near does not mean that it settles the cell.
    fn more_by_spread(&self, confidence: f64) -> Option<u32> {
        let differences = self.logs(self.pairs);
        if differences.len() < 3 {
            return None;
        }
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let spread = (differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let needed = mean.abs().max((1.0 + self.margin).ln() - mean.abs());
        let enough = |pairs: f64| {
            student_quantile(f64::midpoint(1.0, confidence), pairs - 1.0) * spread / pairs.sqrt() < needed
        };
        let (look, _) = LOOKS.iter().find(|(pairs, _)| *pairs > self.pairs && enough(*pairs as f64))?;
        Some(2 * (look - self.pairs) as u32)
    }
}

/// Returns the comparison of computed sides whose first blocks leave no uncertainty.
fn exact(sides: &Sides, margin: f64) -> Option<Compared> {
    let first = sides.first(EQUAL_BLOCKS);
    let is_whole = first.baseline.len() == EQUAL_BLOCKS && first.other.len() == EQUAL_BLOCKS;
    (sides.computed && is_whole && first.is_exact()).then(|| compare_computed(&first, margin)).flatten()
}

/// Returns the number of blocks in whole pairs; `None` without any, or if one of their values is
/// not positive.
fn whole_blocks(sides: &Sides) -> Option<usize> {
    let blocks = sides.baseline.len().min(sides.other.len());
    let whole = (blocks - blocks % 2).min(MOST_BLOCKS);
    let is_usable = |value: &f64| value.is_finite() && *value > 0.0;
    let all_usable = |values: &[f64]| values[..whole].iter().all(is_usable);
    (whole > 0 && all_usable(&sides.baseline) && all_usable(&sides.other)).then_some(whole)
}

#[cfg(test)]
#[path = "blocked_tests.rs"]
mod tests;
