//! The last clause: the most important warning, or that there is none.

use super::Unfit;
use crate::words;
use crate::words::stutter::{FELT_NS, longest_operation_ns, smooth_words};
use kurabe_compare::BrokenLimit;
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, number, text};
use kurabe_explain::{CellLimit, LimitKind};
use kurabe_stats::{cell_latency, cell_values, mean_interval, stutter};
use kurabe_study::catalogue::DeviceClass;
use kurabe_study::known_class;

/// Half-width of an interval, relative to the mean, above which a figure is too imprecise for
/// comparisons.
const IMPRECISE: f64 = 0.1;
/// Half-width above which a figure is useless.
const NO_FIGURE: f64 = 0.5;
/// Minimum duration of a single operation that users notice while other operations continue.
const HELD_UP_NS: u64 = 500_000_000;
/// Ratio to the mean of its cell above which such an operation was held up and did not only wait in
/// the queue.
const FAR_ABOVE_MEAN: f64 = 10.0;
/// Maximum number of uses that are named. More would obscure the class.
const MOST_USES: usize = 2;

/// Returns the forms of the most important warning, longest first. An imported run records neither
/// pauses nor repetitions. `has_property` says that the previous clause already describes what is
/// unsteady.
pub(super) fn clauses(
    record: &RunRecord,
    limits: &[CellLimit],
    unfit: &[Unfit],
    has_property: bool,
) -> Vec<Text> {
    // The limits of a cloud volume are part of the product, and the previous clause states them.
    let unfit = if known_class(record) == Some(DeviceClass::CloudVolume) { &[] } else { unfit };
    let slow = || too_slow(unfit);
    if record.header.origin.is_some() {
        return slow().into_iter().collect();
    }
    if let Some(pauses) = pauses(record, unfit) {
        return pauses;
    }
    let others = disturbed(limits)
        .or_else(slow)
        .or_else(|| imprecise(record).filter(|_| !has_property))
        .or_else(|| longest_operation_ns(timed(record)).filter(|_| !has_property).map(smooth_words));
    others.into_iter().collect()
}

/// Returns the titles of the uses that a limit rules out.
fn titles<'u>(unfit: impl Iterator<Item = &'u Unfit>) -> Text {
    Text::join(unfit.take(MOST_USES).map(|one| one.title.clone()), [" and ", "や"])
}

/// Describes the longest perceptible pause, with the uses that don't tolerate it.
fn pauses(record: &RunRecord, unfit: &[Unfit]) -> Option<Vec<Text>> {
    let felt = timed(record).filter_map(|cell| {
        let one = stutter(cell).filter(|one| one.stalls > 0 && one.worst_ns >= FELT_NS)?;
        // In a deep queue, every operation waits for many others.
        let mean_ns = cell_latency(cell).mean_ns().unwrap_or(0.0);
        let is_held_up = one.worst_ns >= HELD_UP_NS && one.worst_ns as f64 > mean_ns * FAR_ABOVE_MEAN;
        (one.stops_everything() || is_held_up).then_some(one)
    });
    let worst = felt.max_by_key(|one| one.worst_ns)?;
    let longest = number::latency_ns(worst.worst_ns);
    if !worst.stops_everything() {
        return Some(vec![text!(
            "single operations take up to {longest} while others continue",
            "ほかの I/O が進む間も、最長 {longest} 待たされる I/O がある"
        )]);
    }
    let uses = titles(unfit.iter().filter(|one| matches!(one.out.broken, BrokenLimit::Stall { .. })));
    let short = text!("pauses of up to {longest}", "最長 {longest} の停止がある");
    let long = (!uses.is_empty()).then(|| {
        text!(
            "pauses of up to {longest}, too long for {uses}",
            "最長 {longest} の停止があり、{uses}には向かない"; uses
        )
    });
    Some(long.into_iter().chain([short]).collect())
}

/// Counts the cells whose figures were limited by kurabe or disturbed by other work.
fn disturbed(limits: &[CellLimit]) -> Option<Text> {
    let count = |kind| limits.iter().filter(|one| one.limit.kind == kind).count();
    let (by_kurabe, disturbed, tests) =
        (count(LimitKind::Generator), count(LimitKind::OtherWork), limits.len());
    match (by_kurabe, disturbed) {
        (0, 0) => None,
        (0, disturbed) => Some(text!(
            "other work made {disturbed} of {tests} tests unreliable",
            "{tests} 項目中 {disturbed} 項目は、ほかの処理の影響で不確か"
        )),
        (by_kurabe, _) => Some(text!(
            "kurabe itself, not the storage, limited {by_kurabe} of {tests} tests",
            "{tests} 項目中 {by_kurabe} 項目は、ストレージではなく kurabe 自身が上限"
        )),
    }
}

/// Names the uses for which the device is too slow. Uses for which it is obviously too slow are
/// omitted.
fn too_slow(unfit: &[Unfit]) -> Option<Text> {
    const WORTH_SAYING: f64 = 0.25;
    let uses = titles(unfit.iter().filter(|one| match one.out.broken {
        BrokenLimit::Rate { bytes_per_s, least_bytes_per_s } => {
            bytes_per_s > least_bytes_per_s * WORTH_SAYING
        }
        _ => false,
    }));
    (!uses.is_empty()).then(|| text!("too slow for {uses}", "{uses}には遅すぎる"; uses))
}

/// Returns the figure with the widest interval, if that is too wide.
fn imprecise(record: &RunRecord) -> Option<Text> {
    let width = |cell| {
        let mean = mean_interval(&cell_values(cell))?;
        Some((cell, mean.half_width? / mean.mean)).filter(|(_, width)| width.is_finite())
    };
    let (cell, widest) = record.cells.iter().filter_map(width).max_by(|one, two| one.1.total_cmp(&two.1))?;
    let (name, width) = (words::amid(&words::cell(cell)), number::percent(widest));
    match widest {
        _ if widest > NO_FIGURE => Some(text!(
            "no usable figure for {name}, whose repetitions differ too much",
            "{name}はばらつきが大きく、判断できない"; name
        )),
        _ if widest > IMPRECISE => Some(
            text!("imprecise: {name} varies by ±{width}", "{name}は ±{width} の幅があり、目安程度"; name),
        ),
        _ => None,
    }
}

/// Returns the cells whose operations kurabe timed.
fn timed(record: &RunRecord) -> impl Iterator<Item = &Cell> {
    record
        .cells
        .iter()
        .filter(|cell| cell.imported.is_none() && cell.measure == Measure::Rate && cell.workload.is_some())
}
