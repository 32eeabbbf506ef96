//! Comparison of two runs, cell by cell.

use crate::fairness::{Difference, differences, facts_of_both};
use crate::key::CellName;
use crate::matched::{Alone, Matched, matched};
use crate::tails::{ComparedTail, tails};
use crate::versus::{in_blocks, pair_ns, together};
use crate::write_cache::within_media_cache;
use crate::{joined::Joined, names::names};
use kurabe_core::record::{Cell, RunRecord, VersusRecord};
use kurabe_core::{Text, profile::Statistic};
use kurabe_stats::{
    CellFlush, Compared, Course, Sides, Stutter, TwoGroups, Verdict, alike, cell_flush, compare,
    compare_computed, figure, is_from_memory, judge, repetition_value, sampled, stutter, two_groups,
};
use serde::Serialize;

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Id of the baseline.
    pub baseline: String,
    /// Id of the other run.
    pub other: String,
    /// Names of both runs.
    pub names: [Text; 2],
    /// A relative difference below this does not matter.
    pub margin: f64,
    /// Of each side, the size in bytes of the media cache that took in all that it wrote: its
    /// writes say nothing about sustained ones.
    pub media_cache_bytes: [Option<u64>; 2],
    /// Cells that both have, in the order of the baseline.
    pub cells: Vec<ComparedCell>,
    /// Cells that only the baseline has.
    pub only_baseline: Vec<Alone>,
    /// Cells that only the other run has.
    pub only_other: Vec<Alone>,
    /// Other differences, which the report describes in words.
    #[serde(skip)]
    pub differences: Vec<Difference>,
    /// All facts of both runs, to answer what the user asked about.
    #[serde(skip)]
    pub facts: Vec<Difference>,
    /// The common measurement of interleaved runs.
    pub versus: Option<VersusRecord>,
}

/// One side of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Mean of the compared values, in bytes per second or ns.
    pub mean: f64,
    /// Number of compared values: repetitions, samples, or a single figure.
    pub count: usize,
    /// Whether another tool printed it.
    pub printed: bool,
    /// Two groups in which the values occur, if so. The mean represents neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<TwoGroups>,
    /// Its stutter, if kurabe measured it.
    pub stutter: Option<Stutter>,
    /// Whether the computer's memory served the requests of modelled storage.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_memory: bool,
}

/// A cell that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCell {
    /// Identity of the cell, and its name in the baseline.
    #[serde(flatten)]
    pub name: CellName,
    /// Name of the other run's cell, if it is not the same but the nearest one.
    pub counterpart: Option<CellName>,
    /// The baseline.
    pub baseline: Side,
    /// The other run.
    pub other: Side,
    /// Compared statistic: the mean of all repetitions, or the best of either side if one tool
    /// printed no more.
    pub statistic: Statistic,
    /// Whether samples of one pass are compared, because another tool recorded nothing else.
    pub by_samples: bool,
    /// The difference; `None` if a side has no usable value.
    pub compared: Option<Compared>,
    /// The verdict that single values would give if they were repeatable. They show no spread, so
    /// this is not a verdict.
    pub by_single_figures: Option<Verdict>,
    /// The course of the comparison, if the runs were interleaved.
    pub course: Option<Course>,
    /// Time of a pair of blocks on both sides in ns, if the runs were interleaved.
    pub pair_ns: Option<u64>,
    /// Whether the latency of a write includes its flush, on either side.
    pub includes_flush: bool,
    /// Tail latencies with enough operations to compare.
    pub tails: Vec<ComparedTail>,
}

/// Compares each run with the first one, the baseline. A run has the same name in all pairs.
pub fn pairs(runs: &[&RunRecord], margin: f64) -> Vec<Pair> {
    let Some((baseline, others)) = runs.split_first() else { return Vec::new() };
    let names = names(runs);
    let named = |(other, name): (&&RunRecord, &Text)| Pair {
        names: [names[0].clone(), name.clone()],
        ..pair(baseline, other, margin)
    };
    others.iter().zip(&names[1..]).map(named).collect()
}

/// Compares two runs test by test.
pub fn pair(baseline: &RunRecord, other: &RunRecord, margin: f64) -> Pair {
    let joined = [baseline, other].map(|run| Joined::of(&run.cells));
    let name = |(run, joined): (&RunRecord, &Joined<'_>)| CellName::of_cells(run, &joined.cells);
    let cell_names = [name((baseline, &joined[0])), name((other, &joined[1]))];
    let versus = together(baseline, other);
    let by_place = versus.is_some_and(|versus| !versus.variants.is_empty());
    let (matched, own) = matched(&joined, &cell_names, by_place);
    let cells: Vec<(&Cell, &Cell)> = matched.iter().map(|one| (one.cells[0], one.cells[1])).collect();
    let computed = baseline.header.model.is_some() && other.header.model.is_some();
    let (sides, statistics): (Vec<Sides>, Vec<Statistic>) =
        cells.iter().map(|(one, two)| sides(one, two, computed, versus.is_some())).unzip();
    let way = match versus {
        Some(versus) => Way::InTurns { others: versus.targets.len().saturating_sub(1) },
        None if computed => Way::Computed,
        None => Way::Measured,
    };
    let compared = way.compare(&sides, margin);
    let tails = tails(&cells, &sides, &way, margin);
    let [only_baseline, only_other] = own;
    let judged_cells = sides.iter().zip(compared).zip(statistics).zip(tails);
    let cells = matched
        .into_iter()
        .zip(judged_cells)
        .map(|(matched, (((sides, (compared, course)), statistic), tails))| {
            let Matched { name, counterpart, cells: [one, two] } = matched;
            let sides = judged(sides, course);
            let by_samples = sampled(&[one, two]).is_some();
            ComparedCell {
                counterpart: counterpart.cloned(),
                name: name.clone(),
                baseline: side(one, &sides.baseline, baseline),
                other: side(two, &sides.other, other),
                statistic,
                by_single_figures: compared.and_then(|compared| by_single_figures(&sides, &compared, margin)),
                by_samples,
                compared: if by_samples { compared.map(of_samples) } else { compared },
                course,
                pair_ns: course.map(|_| pair_ns(one, two)),
                includes_flush: [one, two].into_iter().any(includes_flush),
                tails,
            }
        })
        .collect();
    Pair {
        baseline: baseline.header.id.clone(),
        other: other.header.id.clone(),
        names: both(names(&[baseline, other])),
        margin,
        media_cache_bytes: [baseline, other]
            .map(|run| within_media_cache(run).map(|(_, cache_bytes)| cache_bytes)),
        cells,
        only_baseline,
        only_other,
        differences: differences(baseline, other),
        facts: facts_of_both(baseline, other),
        versus: versus.cloned(),
    }
}

fn includes_flush(cell: &Cell) -> bool {
    matches!(cell_flush(cell), Some(CellFlush::Included(_)))
}

/// Returns the names of two runs.
fn both(names: Vec<Text>) -> [Text; 2] {
    let mut names = names.into_iter();
    [(); 2].map(|()| names.next().unwrap_or_default())
}

/// Returns the values of a cell to compare, and the statistic.
fn sides(one: &Cell, two: &Cell, computed: bool, in_turns: bool) -> (Sides, Statistic) {
    if in_turns {
        return (in_blocks(one, two, computed, repetition_value), Statistic::Mean);
    }
    let by_samples = sampled(&[one, two]).map(|lists| (lists, Statistic::Mean));
    let (mut lists, statistic) = by_samples.unwrap_or_else(|| alike(&[one, two]));
    let (other, baseline) = (lists.pop().unwrap_or_default(), lists.pop().unwrap_or_default());
    (Sides { baseline, other, higher_is_better: one.measure.higher_is_better(), computed }, statistic)
}

/// Method of comparing two runs.
pub(crate) enum Way {
    /// Their repetitions were interleaved.
    InTurns {
        /// Number of targets that are compared with the baseline.
        others: usize,
    },
    /// Both are models. Identical repetitions leave no uncertainty. Repetitions that differ because
    /// of their offsets have a scatter like any other.
    Computed,
    /// By their repetitions.
    Measured,
}

impl Way {
    pub(crate) fn compare(&self, sides: &[Sides], margin: f64) -> Vec<(Option<Compared>, Option<Course>)> {
        match self {
            Self::InTurns { others } => judge(sides, margin, *others)
                .into_iter()
                .map(|judged| judged.map(|judged| (judged.compared, judged.course)).unzip())
                .collect(),
            Self::Computed => {
                let exact: Vec<Option<Compared>> = sides
                    .iter()
                    .map(|sides| sides.is_exact().then(|| compare_computed(sides, margin)).flatten())
                    .collect();
                let open: Vec<Sides> = sides
                    .iter()
                    .zip(&exact)
                    .filter(|(_, exact)| exact.is_none())
                    .map(|pair| pair.0.clone())
                    .collect();
                let mut others = compare(&open, margin).into_iter();
                exact.into_iter().map(|exact| (exact.or_else(|| others.next().flatten()), None)).collect()
            }
            Self::Measured => compare(sides, margin).into_iter().map(|compared| (compared, None)).collect(),
        }
    }
}

/// Returns the values that a verdict is based on, which are also those displayed. For interleaved
/// sides, this excludes values after the decision.
pub(crate) fn judged(sides: &Sides, course: Option<Course>) -> Sides {
    sides.first(course.map_or(usize::MAX, |course| 2 * course.block_pairs))
}

/// Returns the verdict of two figures, at least one of which is the only one of its side.
fn by_single_figures(sides: &Sides, compared: &Compared, margin: f64) -> Option<Verdict> {
    let is_single = sides.baseline.len().min(sides.other.len()) < 2;
    let is_open = matches!(compared.verdict, Verdict::NotEnough { .. });
    (is_single && is_open).then(|| match compared.speed.value {
        speed if speed > 1.0 + margin => Verdict::Faster,
        speed if speed < 1.0 / (1.0 + margin) => Verdict::Slower,
        _ => Verdict::Same,
    })
}

/// Adjusts a comparison of samples: the number of samples cannot be chosen, so no number of further
/// ones is suggested.
fn of_samples(compared: Compared) -> Compared {
    match compared.verdict {
        Verdict::NotEnough { .. } => Compared { verdict: Verdict::NotEnough { more: None }, ..compared },
        _ => compared,
    }
}

fn side(cell: &Cell, values: &[f64], run: &RunRecord) -> Side {
    Side {
        mean: figure(Statistic::Mean, values, true).unwrap_or(f64::NAN),
        count: values.len(),
        printed: cell.imported.is_some(),
        groups: two_groups(values),
        stutter: stutter(cell),
        from_memory: is_from_memory(cell, run.header.model.as_ref()),
    }
}
