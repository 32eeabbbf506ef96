//! Two sides that were measured in turns: what may be said after so many blocks, and when to stop.
//!
//! The model: in a block each side is measured once, close together, so that a disturbance meets both. The order in the
//! first block of a pair is tossed, the second block has it the other way round (A B B A), so what changes steadily
//! cancels out within the pair. The sums of the two blocks of a pair are one pair of values, and the ratio of the means with its
//! tests comes from flipping them (`sign_flips`): exact because of the toss, whatever the noise is like.
//!
//! Whoever looks again and again finds something at last. So there are few looks, fixed before, and the error that is
//! allowed is shared out among them (`LOOKS`; "alpha spending" of Lan and DeMets, "Discrete sequential boundaries for
//! clinical trials", 1983, in the form that holds whatever the looks have to do with one another, the union bound). The
//! p-value of a look divided by the look's share is a p-value that holds whenever one stops (Johari, Koomen, Pekelis and
//! Walsh, "Always valid inference", 2022). Holm's procedure over the cells takes these (Bartroff and Song, "Sequential tests of
//! multiple hypotheses controlling type I and II familywise error rates", 2014), for differences and for "no difference" each
//! on its own: a cell that is settled one way has not failed the other way, so it gives nothing back there.
//!
//! The looks are gone through again from the stored values, so an analysis of the records says what was said live.

use crate::compare::{CONFIDENCE, Compared, Sides, Verdict};
use crate::normal::student_quantile;
use crate::quantile::quantile_interval;
use crate::{bootstrap::Estimate, rank::holm, rank::is_tie, sign_flips::SignFlips, trend::trend};
use serde::Serialize;

/// After how many pairs of blocks there is a look, and its share of the error that is allowed. The first has the most:
/// most differences are larger than they need be to be seen, and ten pairs are the fewest that can show any.
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

/// Blocks before which nothing is said.
pub const FEWEST_BLOCKS: usize = 2 * LOOKS[0].0;
/// Blocks after which nothing more is said.
pub const MOST_BLOCKS: usize = 2 * LOOKS[LOOKS.len() - 1].0;

/// A cell of two sides that took turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blocked {
    /// The ratio with its interval, and what may be said. The p-value is that of flipped signs, valid whenever one stops, and
    /// corrected for the number of cells.
    pub compared: Compared,
    /// Blocks and drift behind the verdict.
    pub course: Course,
}

/// How the comparison of a cell came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Course {
    /// Pairs of blocks behind the verdict.
    pub block_pairs: usize,
    /// Whether the verdict stands, so that the cell needs no more blocks.
    pub settled: bool,
    /// How many times as fast the baseline was in the last block as in the first; `None` for too few blocks.
    pub baseline_trend: Option<Estimate>,
    /// The same of the other side.
    pub other_trend: Option<Estimate>,
    /// The same of the ratio of both.
    pub ratio_trend: Option<Estimate>,
}

/// Whether there is a look after so many blocks.
pub fn is_look(blocks: usize) -> bool {
    LOOKS.iter().any(|(pairs, _)| 2 * pairs == blocks)
}

/// Goes through the looks at cells whose values are in the order of blocks, in both sides alike. A difference below
/// `margin` does not matter. `families` is how many such comparisons are made at once, each with these cells: the allowed error is divided by it.
/// A cell without usable values is `None`, and stays open: its turn may come.
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

/// Verdicts of one kind free the others of that kind from a part of the correction, so it goes on until nothing changes.
fn settle(trials: &mut [Option<Trial>], level: f64) {
    loop {
        let counts = OpenClaims::of(trials);
        let mut changed = false;
        // The clearest first, as Holm has it.
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

/// Cells for which either claim is still open or would be false: what Holm divides the allowed error by.
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

/// A cell on its way through the looks.
struct Trial {
    /// Sums of the pairs of blocks, whose ratio is the speed.
    top: Vec<f64>,
    bottom: Vec<f64>,
    margin: f64,
    /// What the last look saw, the pairs that it saw, and its share of the error.
    chances: Chances,
    pairs: usize,
    share: f64,
    /// The smallest p-value so far, divided by the share of its look.
    p_value: f64,
    settled: Option<Settled>,
}

/// How likely what was seen would be if the true ratio were another one.
#[derive(Clone, Copy)]
struct Chances {
    /// If there were no difference: so high a ratio, and so low a one.
    of_faster: f64,
    of_slower: f64,
    /// If there were one of the margin, up or down: one that is so near to none.
    within: f64,
}

impl Trial {
    fn of(sides: &Sides, margin: f64) -> Option<Self> {
        let (top, bottom) = sides.fractions();
        let whole = whole_blocks(sides)?;
        let sums = |values: &[f64]| values[..whole].chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        Some(Self {
            top: sums(top),
            bottom: sums(bottom),
            margin,
            chances: Chances { of_faster: 1.0, of_slower: 1.0, within: 1.0 },
            pairs: 0,
            share: LOOKS[0].1,
            p_value: 1.0,
            settled: None,
        })
    }

    /// The pairs that the last look saw.
    fn seen(&self) -> SignFlips<'_> {
        SignFlips { top: &self.top[..self.pairs], bottom: &self.bottom[..self.pairs] }
    }

    /// Looks after so many pairs. What ended between two looks, because the time was up, is looked at once more with the
    /// share of the look that did not come: the clock ended it, not the values.
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

    /// The error that a claim may have among so many.
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
        Blocked {
            compared: Compared {
                speed: interval,
                speed_by_median: self.middle(pairs),
                superiority: better.sum::<f64>() / pairs.max(1) as f64,
                p_value,
                verdict,
            },
            course: Course {
                block_pairs: pairs,
                settled: self.settled.is_some(),
                baseline_trend: trend(&baseline, cells),
                other_trend: trend(&other, cells),
                ratio_trend: trend(&ratios, cells),
            },
        }
    }

    /// Log ratio of each of the first pairs of blocks.
    fn logs(&self, pairs: usize) -> Vec<f64> {
        let log = |(top, bottom): (&f64, &f64)| if is_tie(*top, *bottom) { 0.0 } else { (top / bottom).ln() };
        self.top[..pairs].iter().zip(&self.bottom).map(log).collect()
    }

    /// The median of the pairs of blocks by itself, with the usual interval of one look at one cell.
    fn middle(&self, pairs: usize) -> Estimate {
        let mut sorted = self.logs(pairs);
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = quantile_interval(&sorted, 0.5, CONFIDENCE);
        let (low, high) = quantile.and_then(|quantile| quantile.interval).unwrap_or((f64::NAN, f64::NAN));
        let value = quantile.map_or(f64::NAN, |quantile| quantile.value);
        Estimate { value: value.exp(), low: low.exp(), high: high.exp() }
    }

    /// Repetitions of each side that would likely settle it: the interval narrows with the root of their number, and
    /// must come to exclude 1 or to lie within the margin. Looks come at fixed numbers only.
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
    /// The same where there is no interval yet: by Student's, from three pairs on. That the first look is near
    /// says nothing of what it will show.
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

/// How many blocks are in whole pairs; `None` if there is none, or a value in them is not positive.
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
