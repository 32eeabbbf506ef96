//! Comparing two sets of repetitions: by how much one is faster, how sure that is, and what may be said aloud.
//!
//! The model: a speed ratio is always such that above 1 the other side is faster than the baseline; where lower values
//! are better (times), the ratio is turned round. Its interval decides, not its value. Several cells are compared at
//! once, so each cell's interval is taken at the confidence that Holm's procedure asks of it ("A simple sequentially
//! rejective multiple test procedure", 1979), going by the intervals themselves: all are held to the strictest level at
//! first; what stands there frees the others of its part; what does not stand ends it.

use crate::bootstrap::{Centre, Drawn, Estimate, ratio};
use crate::normal::student_quantile;
use crate::rank::{RankTest, holm, is_tie, rank_test};
use serde::Serialize;

/// The confidence of every statement.
pub const CONFIDENCE: f64 = 0.95;
/// More repetitions than this are not worth proposing.
const MOST_MORE: u32 = 1000;

/// The values of a cell on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The values of the baseline.
    pub baseline: Vec<f64>,
    /// The values of the other side.
    pub other: Vec<f64>,
    /// Whether larger values are better.
    pub higher_is_better: bool,
}

impl Sides {
    /// Numerator and denominator of the ratio, such that above 1 the other side is faster.
    pub(crate) fn fractions(&self) -> (&[f64], &[f64]) {
        if self.higher_is_better { (&self.other, &self.baseline) } else { (&self.baseline, &self.other) }
    }
}

/// The verdict on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The other is faster than the baseline.
    Faster,
    /// The other is slower.
    Slower,
    /// The interval lies within the margin: whatever difference there is, it does not matter.
    Same,
    /// Neither: more repetitions are needed, on each side about so many in all, if that can be foreseen.
    NotEnough {
        /// Repetitions of each side beyond those that are there.
        more: Option<u32>,
    },
}

/// A cell compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// How many times as fast the other is, by the means.
    pub speed: Estimate,
    /// The same by the medians.
    pub speed_by_median: Estimate,
    /// Probability that a repetition of the other is better than one of the baseline, ties half.
    pub superiority: f64,
    /// The rank test's p-value, corrected for the number of cells.
    pub p_value: f64,
    /// What may be said.
    pub verdict: Verdict,
}

/// Compares cells. A difference below `margin` (0.05 is 5 %) does not matter. A cell of which one side has no usable
/// values is `None`.
pub fn compare(cells: &[Sides], margin: f64) -> Vec<Option<Compared>> {
    let trials: Vec<(usize, Trial)> =
        cells.iter().enumerate().filter_map(|(index, sides)| Some((index, Trial::of(sides)?))).collect();
    let p_values: Vec<f64> = trials.iter().map(|(_, trial)| trial.test.p_value).collect();
    let claims =
        step_down(trials.len(), margin, |index, confidence| trials[index].1.by_mean.estimate(confidence));
    let mut compared = vec![None; cells.len()];
    for (((index, trial), claim), p_value) in trials.iter().zip(claims).zip(holm(&p_values)) {
        let sides = &cells[*index];
        let superiority = trial.test.superiority;
        compared[*index] = Some(Compared {
            speed: claim.interval,
            speed_by_median: trial.by_median.estimate(claim.confidence),
            superiority: if sides.higher_is_better { superiority } else { 1.0 - superiority },
            p_value,
            verdict: claim.verdict(margin, (sides.baseline.len(), sides.other.len())),
        });
    }
    compared
}

/// A cell that is compared.
struct Trial {
    by_mean: Drawn,
    by_median: Drawn,
    test: RankTest,
}

impl Trial {
    fn of(sides: &Sides) -> Option<Self> {
        let (top, bottom) = sides.fractions();
        Some(Self {
            by_mean: Drawn::of(Centre::Mean, top, bottom)?,
            by_median: Drawn::of(Centre::Median, top, bottom)?,
            test: rank_test(&sides.other, &sides.baseline)?,
        })
    }
}

/// Compares a cell whose values were computed without anything left to chance, so that there is nothing to be unsure of.
/// `None` if a side has no usable value.
pub fn compare_computed(sides: &Sides, margin: f64) -> Option<Compared> {
    let value = |centre| {
        let (top, bottom) = sides.fractions();
        let value = ratio(centre, top, bottom)?;
        let value = if is_tie(value, 1.0) { 1.0 } else { value };
        Some(Estimate { value, low: value, high: value })
    };
    let speed = value(Centre::Mean)?;
    let superiority = if speed.value > 1.0 {
        1.0
    } else if speed.value < 1.0 {
        0.0
    } else {
        0.5
    };
    Some(Compared {
        speed,
        speed_by_median: value(Centre::Median)?,
        superiority,
        p_value: if speed.value == 1.0 { 1.0 } else { 0.0 },
        verdict: stands(&speed, margin).unwrap_or(Verdict::NotEnough { more: None }),
    })
}

/// What stands of a cell among others.
#[derive(Clone, Copy)]
pub(crate) struct CellClaim {
    pub(crate) interval: Estimate,
    pub(crate) confidence: f64,
    /// Faster, slower or the same, if that may be said.
    stands: Option<Verdict>,
}

impl CellClaim {
    pub(crate) fn verdict(&self, margin: f64, counts: (usize, usize)) -> Verdict {
        let more = || Verdict::NotEnough { more: more(&self.interval, margin, counts, self.confidence) };
        self.stands.unwrap_or_else(more)
    }
}

/// What may be said of so many cells at once; `interval` gives that of a cell at a confidence. Differences and "no
/// difference" are two questions, each with Holm's procedure of its own: a cell that was found equal could still have
/// been called different.
pub(crate) fn step_down(
    count: usize,
    margin: f64,
    interval: impl Fn(usize, f64) -> Estimate,
) -> Vec<CellClaim> {
    let mut claims: Vec<Option<CellClaim>> = vec![None; count];
    loop {
        let same = claims.iter().flatten().filter(|claim| claim.stands == Some(Verdict::Same)).count();
        let different = claims.iter().flatten().count() - same;
        let at = |among: usize| 1.0 - (1.0 - CONFIDENCE) / among.max(1) as f64;
        let (for_same, for_different) = (at(count - same), at(count - different));
        let claim = |cell: usize, confidence: f64, question: fn(&Verdict) -> bool| {
            let interval = interval(cell, confidence);
            let stands = stands(&interval, margin).filter(question);
            CellClaim { interval, confidence, stands }
        };
        let mut changed = false;
        for (cell, slot) in claims.iter_mut().enumerate().filter(|(_, claim)| claim.is_none()) {
            let both = [
                claim(cell, for_same, |verdict| *verdict == Verdict::Same),
                claim(cell, for_different, |verdict| *verdict != Verdict::Same),
            ];
            *slot = both.into_iter().find(|claim| claim.stands.is_some());
            changed |= slot.is_some();
        }
        if !changed {
            let confidence = for_same.max(for_different);
            let open =
                |cell: usize| CellClaim { interval: interval(cell, confidence), confidence, stands: None };
            return claims
                .iter()
                .enumerate()
                .map(|(cell, claim)| claim.unwrap_or_else(|| open(cell)))
                .collect();
        }
    }
}

/// What an interval says by itself.
fn stands(speed: &Estimate, margin: f64) -> Option<Verdict> {
    let (low, high) = (speed.low, speed.high);
    if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin {
        Some(Verdict::Same)
    } else if low > 1.0 {
        Some(Verdict::Faster)
    } else if high < 1.0 {
        Some(Verdict::Slower)
    } else {
        None
    }
}

/// Repetitions of each side that would likely settle it: the interval narrows with the root of their number, and must
/// come to exclude 1 or to lie within the margin, whichever needs less.
fn more(speed: &Estimate, margin: f64, counts: (usize, usize), confidence: f64) -> Option<u32> {
    let half_width = (speed.high / speed.low).ln() / 2.0;
    let distance = speed.value.ln().abs();
    let needed = distance.max((1.0 + margin).ln() - distance);
    let now = counts.0.min(counts.1) as f64;
    if !half_width.is_finite() || half_width <= 0.0 || needed <= 0.0 {
        return None;
    }
    let p = 1.0 - (1.0 - confidence) / 2.0;
    let spread = half_width * now.sqrt() / student_quantile(p, (2.0 * now - 2.0).max(1.0));
    // Few repetitions pay for not knowing their own spread, so the factor depends on the number looked for.
    let enough = (counts.0.min(counts.1) + 1..=MOST_MORE as usize).find(|count| {
        let count = *count as f64;
        student_quantile(p, 2.0 * count - 2.0) * spread / count.sqrt() < needed
    });
    enough.map(|count| (count - counts.0.min(counts.1)) as u32)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
