//! Comparing two sets of repetitions: by how much one is faster, how sure that is, and what may be said aloud.
//!
//! The model: a speed ratio is always such that above 1 the other side is faster than the baseline; where lower values
//! are better (times), the ratio is turned round. Its interval decides, not its value. Several cells are compared at
//! once, so each cell's interval is taken at the confidence that Holm's procedure asks of it.

use crate::bootstrap::{Centre, Estimate, ratio, ratio_interval};
use crate::normal::student_quantile;
use crate::rank::{RankTest, holm, holm_steps, rank_test};
use serde::Serialize;

/// The confidence of every statement.
pub const CONFIDENCE: f64 = 0.95;
/// More repetitions than this are not worth proposing.
const MOST_MORE: u32 = 1000;

/// The values of a cell on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// What the other is held against.
    pub baseline: Vec<f64>,
    /// The other.
    pub other: Vec<f64>,
    /// Whether larger values are better.
    pub higher_is_better: bool,
}

impl Sides {
    /// What is divided by what, so that above 1 the other side is faster.
    fn fractions(&self) -> (&[f64], &[f64]) {
        if self.higher_is_better { (&self.other, &self.baseline) } else { (&self.baseline, &self.other) }
    }
}

/// What may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    let tests: Vec<(usize, RankTest)> = cells
        .iter()
        .enumerate()
        .filter_map(|(index, sides)| Some((index, rank_test(&sides.other, &sides.baseline)?)))
        .collect();
    let p_values: Vec<f64> = tests.iter().map(|(_, test)| test.p_value).collect();
    let (corrected, levels) = (holm(&p_values), holm_levels(&p_values));
    let mut compared = vec![None; cells.len()];
    for (place, (index, test)) in tests.into_iter().enumerate() {
        let corrected = RankTest { p_value: corrected[place], ..test };
        compared[index] = one(&cells[index], margin, levels[place], &corrected);
    }
    compared
}

/// Compares a cell whose values are computed, not measured: they have no spread, so one of each is enough. `None` if a
/// side has no usable value.
pub fn compare_computed(sides: &Sides, margin: f64) -> Option<Compared> {
    let value = |centre| {
        let (top, bottom) = sides.fractions();
        let value = ratio(centre, top, bottom)?;
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
        verdict: verdict(&speed, margin, (1, 1), CONFIDENCE),
    })
}

/// The confidence at which each cell's interval is taken: by Holm the clearest cell is held to the strictest level, the
/// least clear to that of a single comparison.
pub(crate) fn holm_levels(p_values: &[f64]) -> Vec<f64> {
    let mut levels = vec![CONFIDENCE; p_values.len()];
    for (index, remaining) in holm_steps(p_values) {
        levels[index] = 1.0 - (1.0 - CONFIDENCE) / remaining as f64;
    }
    levels
}

/// Compares a cell at a confidence; `test` is that of its sides.
fn one(sides: &Sides, margin: f64, confidence: f64, test: &RankTest) -> Option<Compared> {
    let speed = |centre| {
        let (top, bottom) = sides.fractions();
        ratio_interval(centre, top, bottom, confidence)
    };
    let (by_mean, by_median) = (speed(Centre::Mean)?, speed(Centre::Median)?);
    let counts = (sides.baseline.len(), sides.other.len());
    Some(Compared {
        speed: by_mean,
        speed_by_median: by_median,
        superiority: if sides.higher_is_better { test.superiority } else { 1.0 - test.superiority },
        p_value: test.p_value,
        verdict: verdict(&by_mean, margin, counts, confidence),
    })
}

pub(crate) fn verdict(speed: &Estimate, margin: f64, counts: (usize, usize), confidence: f64) -> Verdict {
    let (low, high) = (speed.low, speed.high);
    if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin {
        return Verdict::Same;
    }
    if low > 1.0 {
        return Verdict::Faster;
    }
    if high < 1.0 {
        return Verdict::Slower;
    }
    Verdict::NotEnough { more: more(speed, margin, counts, confidence) }
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
