//! Comparison of two sets of repetitions: the speed ratio, its interval and the verdict.
//!
//! The model: a speed ratio above 1 always means that the other side is faster than the baseline;
//! where lower values are better (times), the ratio is inverted. The interval decides, not the
//! value. Several cells are compared together, so each cell's interval is taken at the confidence
//! that Holm's procedure requires ("A simple sequentially rejective multiple test procedure",
//! 1979), applied to the intervals themselves: all cells start at the strictest level, a verdict at
//! that level relaxes it for the others, and the procedure ends when no further cell gets a
//! verdict.

use crate::bootstrap::{Centre, Drawn, Estimate, ratio};
use crate::normal::student_quantile;
use crate::rank::{RankTest, holm, is_tie, rank_test};
use serde::Serialize;

/// Confidence of every verdict.
pub const CONFIDENCE: f64 = 0.95;
/// Upper limit of proposed further repetitions.
const MOST_MORE: u32 = 1000;

/// Values of a cell on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// Values of the baseline.
    pub baseline: Vec<f64>,
    /// Values of the other side.
    pub other: Vec<f64>,
    /// Whether larger values are better.
    pub higher_is_better: bool,
    /// Whether models computed both sides, so that equal repetitions recur.
    pub computed: bool,
}

impl Sides {
    /// Returns whether computed values leave no uncertainty: all repetitions of each side are equal,
    /// or both sides have equal repetitions in the same order. A single repetition does not show
    /// whether it would recur.
    pub fn is_exact(&self) -> bool {
        let same = |values: &[f64]| values.len() > 1 && values.iter().all(|value| is_tie(*value, values[0]));
        let (baseline, other) = (&self.baseline, &self.other);
        let alike = baseline.len() == other.len() && baseline.iter().zip(other).all(|(a, b)| is_tie(*a, *b));
        same(baseline) && same(other) || alike
    }

    /// Returns the first `count` values of each side.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        let first = |values: &[f64]| values[..values.len().min(count)].to_vec();
        Self { baseline: first(&self.baseline), other: first(&self.other), ..*self }
    }

    /// Returns the numerator and denominator of the ratio, which is above 1 if the other side is
    /// faster.
    pub(crate) fn fractions(&self) -> (&[f64], &[f64]) {
        if self.higher_is_better { (&self.other, &self.baseline) } else { (&self.baseline, &self.other) }
    }
}

/// The verdict on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The other side is faster than the baseline.
    Faster,
    /// The other side is slower.
    Slower,
    /// The interval lies within the margin: any difference is too small to matter.
    Same,
    /// None of these can be concluded; more repetitions are needed.
    NotEnough {
        /// Further repetitions that each side needs, if that can be estimated.
        more: Option<u32>,
    },
}

/// The comparison of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// Speed of the other side relative to the baseline, by the means.
    pub speed: Estimate,
    /// Speed of the other side relative to the baseline, by the medians.
    pub speed_by_median: Estimate,
    /// Probability that a repetition of the other side is better than one of the baseline; a tie
    /// counts half.
    pub superiority: f64,
    /// p-value of the rank test, corrected for the number of cells.
    pub p_value: f64,
    /// The conclusion that the interval supports.
    pub verdict: Verdict,
}

/// Compares cells. A difference below `margin` (0.05 is 5 %) does not matter. The result is `None`
/// for a cell with a side that has no usable values.
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

/// Resamples and rank test of one cell.
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

/// Compares a cell whose values are deterministic, so that they have no uncertainty. `None` if a
/// side has no usable value.
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

/// The interval of a cell and the verdict it supports, at a confidence corrected for the other
/// cells.
#[derive(Clone, Copy)]
pub(crate) struct CellClaim {
    pub(crate) interval: Estimate,
    pub(crate) confidence: f64,
    /// Faster, slower or the same; `None` if the interval supports no verdict.
    stands: Option<Verdict>,
}

impl CellClaim {
    pub(crate) fn verdict(&self, margin: f64, counts: (usize, usize)) -> Verdict {
        let more = || Verdict::NotEnough { more: more(&self.interval, margin, counts, self.confidence) };
        self.stands.unwrap_or_else(more)
    }
}

/// Applies Holm's procedure to `count` cells; `interval` returns the interval of a cell at a
/// confidence. Differences and "no difference" are separate questions, each with its own procedure:
/// a cell found to be equal could still have been called different.
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

/// Returns the verdict that an interval alone supports.
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

/// Estimates the further repetitions of each side that would settle the cell. The interval shrinks
/// with the square root of their number until it excludes 1 or lies within the margin, whichever
/// needs fewer.
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
    // With few repetitions their spread is uncertain, so the factor depends on the number to be
    // found.
    let enough = (counts.0.min(counts.1) + 1..=MOST_MORE as usize).find(|count| {
        let count = *count as f64;
        student_quantile(p, 2.0 * count - 2.0) * spread / count.sqrt() < needed
    });
    enough.map(|count| (count - counts.0.min(counts.1)) as u32)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
