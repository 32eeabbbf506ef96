//! Latencies of two runs: p50, p99 and p99.9 of each cell, compared as its figure is.
//!
//! The repetition is the unit here as well. Consecutive operations of one repetition share the same
//! conditions, so a thousand of them are not a thousand independent trials. A repetition gives one
//! p99, and only if it has enough operations for a 95 % interval of the percentile by order
//! statistics. With fewer, the slowest operation would determine it by chance. Tails have a
//! separate share of the error rate, apart from the figures.
//!
//! Latencies are stored in buckets, so several repetitions often have an identical percentile. That
//! does not mean certainty. Such values are spread evenly over their bucket, like grouped data,
//! unless the figure of the cell has no random component.
//!
//! Non-goals: percentiles printed by other tools. They are single figures without spread.

use crate::pair::{Way, judged};
use crate::versus::in_blocks;
use kurabe_core::record::{Cell, Measure, Repetition};
use kurabe_stats::{
    CONFIDENCE, Compared, Sides, bucket_width_ns, fewest_for_quantile, mean, percentile_ns,
    repetition_latency,
};
use serde::Serialize;

/// Percentiles to compare, as fractions.
pub const TAILS: [f64; 3] = [0.5, 0.99, 0.999];

/// Percentiles of separate flushes to compare.
const FLUSH_TAILS: [f64; 2] = [0.5, 0.99];

/// Operations that a percentile is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TailOf {
    /// Reads and writes, as the figure of the cell.
    Operations,
    /// Separate flushes.
    Flushes,
}

/// A percentile of both sides of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedTail {
    /// The operations.
    pub of: TailOf,
    /// The percentile: 0.99 is p99.
    pub fraction: f64,
    /// Mean over the baseline's repetitions, in ns.
    pub baseline_ns: f64,
    /// Mean over the other run's repetitions, in ns.
    pub other_ns: f64,
    /// Number of repetitions on the side with fewer.
    pub count: usize,
    /// The difference. Above 1, the other's slowest operations are faster.
    pub compared: Compared,
}

/// Returns the comparable tails for each pair of cells. `figures` are the sides of the comparison
/// of their figures.
pub(crate) fn tails(
    cells: &[(&Cell, &Cell)],
    figures: &[Sides],
    way: &Way,
    margin: f64,
) -> Vec<Vec<ComparedTail>> {
    let in_turns = matches!(way, Way::InTurns { .. });
    let is_exact = |index: usize| figures.get(index).is_some_and(Sides::is_exact);
    let comparable: Vec<(usize, TailOf, f64, Sides)> = cells
        .iter()
        .enumerate()
        .flat_map(|(index, (one, two))| {
            let sides = move |(of, fraction)| {
                let mut sides = sides(one, two, of, fraction, in_turns)?;
                sides.computed = figures[index].computed && is_exact(index);
                if !in_turns && !is_exact(index) {
                    spread(&mut sides.baseline);
                    spread(&mut sides.other);
                }
                Some((index, of, fraction, sides))
            };
            let operations = TAILS.map(|fraction| (TailOf::Operations, fraction));
            let flushes = FLUSH_TAILS.map(|fraction| (TailOf::Flushes, fraction));
            operations.into_iter().chain(flushes).filter_map(sides)
        })
        .collect();
    let sides: Vec<Sides> = comparable.iter().map(|(.., sides)| sides.clone()).collect();
    let mut tails = vec![Vec::new(); cells.len()];
    for ((index, of, fraction, sides), (compared, course)) in
        comparable.into_iter().zip(way.compare(&sides, margin))
    {
        let Some(compared) = compared else { continue };
        let sides = judged(&sides, course);
        tails[index].push(ComparedTail {
            of,
            fraction,
            baseline_ns: mean(&sides.baseline),
            other_ns: mean(&sides.other),
            count: sides.baseline.len().min(sides.other.len()),
            compared,
        });
    }
    tails
}

/// Spreads values in the same bucket evenly over it, preserving their mean.
fn spread(values: &mut [f64]) {
    let given = values.to_vec();
    for (index, value) in values.iter_mut().enumerate() {
        let alike = given.iter().filter(|other| *other == value).count() as f64;
        let before = given[..index].iter().filter(|other| *other == value).count() as f64;
        *value += bucket_width_ns(*value as u64) as f64 * ((before + 0.5) / alike - 0.5);
    }
}

/// Returns a percentile of every repetition on both sides. Returns `None` if a repetition has too
/// few operations, or there are fewer than two repetitions. Skipping repetitions with few
/// operations would skip the slow ones.
fn sides(one: &Cell, two: &Cell, tail_of: TailOf, fraction: f64, in_turns: bool) -> Option<Sides> {
    let fewest = fewest_for_quantile(fraction, CONFIDENCE)?;
    let of = |cell: &Cell, repetition: &Repetition| {
        let latency = match tail_of {
            TailOf::Operations => repetition_latency(repetition, cell.direction),
            TailOf::Flushes => repetition.sync.latency.clone(),
        };
        percentile_ns(&latency, fraction).filter(|_| latency.count >= fewest).map(|ns| ns as f64)
    };
    if one.measure == Measure::Duration {
        return None;
    }
    let (baseline, other) = if in_turns {
        let Sides { baseline, other, .. } = in_blocks(one, two, false, of);
        (baseline, other)
    } else {
        let all =
            |cell: &Cell| cell.counted().map(|repetition| of(cell, repetition)).collect::<Option<Vec<f64>>>();
        (all(one)?, all(two)?)
    };
    let all_finite = |values: &[f64]| values.len() > 1 && values.iter().all(|value| value.is_finite());
    (all_finite(&baseline) && all_finite(&other)).then_some(Sides {
        baseline,
        other,
        higher_is_better: false,
        computed: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_bucket_are_spread_over_it_and_keep_their_mean() {
        let (one, two) = (6_717_440.0, 8_814_592.0);
        let mut values = vec![one, one, two, one];
        spread(&mut values);
        let width = bucket_width_ns(one as u64) as f64;
        assert_eq!(values, [one - width / 3.0, one, two, one + width / 3.0]);
    }
}
