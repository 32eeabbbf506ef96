//! Checks of a claim before it is made: against the displayed points, each repetition separately,
//! and other work.
//!
//! A change of level requires that the points before it are closer to one level and those after it
//! closer to the other. If the displayed points contradict this, their scatter is reported instead
//! of the change. A single disturbed repetition can cause a change in the mean that the other
//! repetitions do not show. Therefore a name is firm only if there are at least two repetitions and
//! each shows the change separately. Concurrent other work lowers the confidence of every name by
//! one level, and removes the name if it occurred at a third of the points.

use super::axis::SweepAxis;
use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use crate::figures::size;
use kurabe_core::mention::{RUNS, TIME};
use kurabe_core::{number, text};
use kurabe_stats::{Curve, CurvePoint};

/// A repetition shows a change if its own is at least this share of it, on the logarithmic scale.
const SHOWS: f64 = 0.5;
/// Share of the points on one side of a long write that may lie beyond the middle, because of a
/// burst of other work or a queue that fills.
const ODD_SHARE: f64 = 0.15;
/// From this share of disturbed points on, no name is given.
const MOSTLY_DISTURBED: f64 = 1.0 / 3.0;

/// Returns the findings of a curve that pass the checks, in ascending order of position.
pub(super) fn held(findings: Vec<Finding>, measured: &MeasuredCurve, cut: &Curve) -> Vec<Finding> {
    let places: Vec<f64> = findings.iter().filter_map(|finding| finding.x).collect();
    let (mut kept, mut scatter): (Vec<Finding>, Option<Finding>) = (Vec::new(), None);
    for finding in findings {
        // A change that was not reported does not explain the points before it.
        let last = kept.iter().filter_map(|finding| finding.x).fold(0.0, f64::max);
        let next = places.iter().copied().filter(|place| finding.x.is_some_and(|x| *place > x));
        let between = (last, next.fold(f64::INFINITY, f64::min));
        let sides = Flanks::of(&finding, between, measured, cut);
        let shown = match &sides {
            Some(sides) if sides.contradict(&finding, measured.axis, cut.error) => None,
            Some(sides) => sides.as_repetitions_show(finding, measured),
            None if finding.x.is_none() && scatters_about(&finding, measured, cut) => None,
            None => Some(finding),
        };
        match shown {
            Some(finding) => kept.push(of_several(finding, measured)),
            // Once per curve.
            None => {
                let sides = || sides.or_else(|| Flanks::halves(cut));
                scatter = scatter.or_else(|| sides().map(|sides| sides.scatter(measured)));
            }
        }
    }
    kept.into_iter().chain(scatter).map(|finding| disturbed(finding, measured)).collect()
}

/// Returns whether points of a curve without a change are further from it than half of its rise.
fn scatters_about(finding: &Finding, measured: &MeasuredCurve, cut: &Curve) -> bool {
    let [piece] = &cut.pieces[..] else { return false };
    let half = (finding.after / finding.before).ln().abs() / 2.0;
    let off = |point: &(f64, f64)| (point.1 / piece.at(point.0)).ln().abs();
    measured.axis == SweepAxis::WorkingSet && cut.points.iter().any(|point| off(point) > half)
}

/// The points on both sides of a change.
struct Flanks {
    before: Vec<(f64, f64)>,
    beyond: Vec<(f64, f64)>,
}

impl Flanks {
    /// Returns the points between a change and its neighbours, except those in the interval of its
    /// position. Returns `None` for findings that are not a change of level: transfer sizes, and
    /// findings about the whole curve.
    fn of(finding: &Finding, between: (f64, f64), measured: &MeasuredCurve, cut: &Curve) -> Option<Self> {
        // An interval may extend past the curve because of rounding or the limits of a fit.
        let (first, end) = (cut.points.first()?.0, cut.points.last()?.0);
        let (x, low, high) = (finding.x?, finding.low?.max(first), finding.high?.min(end));
        if !matches!(measured.axis, SweepAxis::WorkingSet | SweepAxis::BytesWritten) || finding.before <= 0.0
        {
            return None;
        }
        let (last, next) = between;
        let takes_less = measured.axis == SweepAxis::WorkingSet && finding.after < finding.before;
        // A fall or a recovery is reported with its extent, up to the next change of the curve.
        let next = if takes_less || measured.axis == SweepAxis::BytesWritten {
            let later = cut.changes.iter().map(|change| change.x).filter(|place| *place > high);
            later.fold(next, f64::min)
        } else {
            next
        };
        let points = |from: f64, to: f64| -> Vec<(f64, f64)> {
            cut.points.iter().copied().filter(|point| point.0 >= from && point.0 <= to).collect()
        };
        // A continuous rise is reported from where it begins, regardless of the points before it.
        let rises_on = matches!(finding.name, FindingName::SeekCurve | FindingName::ChainWalk);
        let from = if rises_on { low } else { last };
        let (mut before, mut beyond) = (points(from, low), points(high, next));
        // If the interval leaves no points, uses those on either side of the most likely position.
        if before.is_empty() {
            before = points(last, x);
        }
        if beyond.is_empty() {
            beyond = points(x, next);
        }
        (!before.is_empty() && !beyond.is_empty()).then_some(Self { before, beyond })
    }

    /// Returns both halves of a curve without a change.
    fn halves(cut: &Curve) -> Option<Self> {
        let (before, beyond) = cut.points.split_at(cut.points.len() / 2);
        (!before.is_empty()).then(|| Self { before: before.to_vec(), beyond: beyond.to_vec() })
    }

    /// Returns whether the displayed points contradict the change.
    fn contradict(&self, finding: &Finding, axis: SweepAxis, error: f64) -> bool {
        let (before, after) = (finding.before.ln(), finding.after.ln());
        let (rises, middle) = (after > before, f64::midpoint(before, after));
        let half = (after - before).abs() / 2.0;
        // A small change is smaller than the scatter of single points. None of them may pass the
        // other level.
        let slack = (3.0 * error - half).clamp(0.0, half);
        let beyond_middle = |value: f64| {
            let off = if rises { value.ln() - middle } else { middle - value.ln() };
            off > slack
        };
        let short_of_level = |value: f64| {
            // Beyond the end of a cache the levels mix, so the first points are still close to the
            // first level.
            let level = if axis == SweepAxis::WorkingSet && rises { before } else { middle };
            let off = if rises { level - value.ln() } else { value.ln() - level };
            off > if axis == SweepAxis::WorkingSet { (3.0 * error).min(half) } else { slack }
        };
        let odd_before = self.before.iter().filter(|point| beyond_middle(point.1)).count();
        let odd_beyond = self.beyond.iter().filter(|point| short_of_level(point.1)).count();
        let allowed = |points: &[(f64, f64)]| match axis {
            // The point at the change was written partly before and partly after it.
            SweepAxis::BytesWritten if points.len() > 1 => {
                ((points.len() as f64 * ODD_SHARE) as usize).max(1)
            }
            _ => 0,
        };
        odd_before > allowed(&self.before) || odd_beyond > allowed(&self.beyond)
    }

    /// Returns a finding about the scatter, for a change that the points do not support.
    fn scatter(&self, measured: &MeasuredCurve) -> Finding {
        let shown = |value: f64| match measured.axis {
            SweepAxis::BytesWritten => number::rate(value).to_string(),
            _ => number::latency(value).to_string(),
        };
        let range = |points: &[(f64, f64)]| {
            let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
            (shown(least), shown(most))
        };
        let ((from, to), (from_beyond, to_beyond)) = (range(&self.before), range(&self.beyond));
        let place = self.before.last().map_or(0.0, |point| point.0);
        let bytes = size(place);
        let named = Named::unknown(
            text!(
                "no clear change: {from} to {to} up to {bytes}, {from_beyond} to {to_beyond} beyond it",
                "変化の有無は判断できません({bytes} までは {from}〜{to}、それを超えると {from_beyond}〜{to_beyond})"
            ),
            text!(
                "the points scatter more than they change; use longer repetitions ({TIME}), more of \
                 them ({RUNS}) or an idle machine",
                "変化より点のばらつきのほうが大きくなっています。1 回の時間({TIME})や回数({RUNS})を増やすか、ほかの処理がないときに測ると分かります"
            ),
        );
        let mean = |points: &[(f64, f64)]| {
            (points.iter().map(|point| point.1.ln()).sum::<f64>() / points.len() as f64).exp()
        };
        named.at(measured, None, mean(&self.before), mean(&self.beyond))
    }

    /// Returns the finding with the confidence that the repetitions support, or `None` if most of
    /// them do not show it.
    fn as_repetitions_show(&self, finding: Finding, measured: &MeasuredCurve) -> Option<Finding> {
        // The points of the long write are consecutive, and each is measured once.
        if measured.axis == SweepAxis::BytesWritten || measured.repetitions < 2 {
            return Some(finding);
        }
        let (shows, count) = (self.showing(measured), measured.repetitions);
        if shows == count {
            return Some(finding);
        }
        if shows * 2 < count {
            return None;
        }
        let mut finding = Finding { confidence: finding.confidence.min(Confidence::Likely), ..finding };
        finding.evidence.push(&text!(
            "; {shows} of {count} repetitions show it individually",
            "。{count} 回の測定のうち単独でもこう見えるのは {shows} 回です"
        ));
        Some(finding)
    }

    /// Returns the number of repetitions that show the change separately.
    fn showing(&self, measured: &MeasuredCurve) -> usize {
        // Beyond the end of a cache the first points mix both levels, so the further half is used.
        let farther = &self.beyond[self.beyond.len() / 2..];
        let change = |of: &dyn Fn(f64) -> Option<f64>| -> Option<f64> {
            Some(mean_log(farther, of)? - mean_log(&self.before, of)?)
        };
        let shown =
            |x: f64| self.before.iter().chain(farther).find(|point| point.0 == x).map(|point| point.1);
        let Some(whole) = change(&shown) else { return measured.repetitions };
        (0..measured.repetitions)
            .filter(|repetition| {
                let own = |x: f64| value_at(&measured.points, x, *repetition);
                change(&own).is_some_and(|own| own * whole.signum() >= whole.abs() * SHOWS)
            })
            .count()
    }
}

/// Returns the mean logarithm of the values at some positions, or `None` if there are no values.
fn mean_log(points: &[(f64, f64)], of: &dyn Fn(f64) -> Option<f64>) -> Option<f64> {
    let logs: Vec<f64> = points.iter().filter_map(|point| of(point.0)).map(f64::ln).collect();
    (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
}

fn value_at(points: &[CurvePoint], x: f64, repetition: usize) -> Option<f64> {
    points.iter().find(|point| point.x == x)?.values.get(repetition).copied()
}

/// Lowers the confidence of a finding from a single repetition.
fn of_several(finding: Finding, measured: &MeasuredCurve) -> Finding {
    if measured.repetitions >= 2 || finding.confidence < Confidence::Firm {
        return finding;
    }
    let mut finding = Finding { confidence: Confidence::Likely, ..finding };
    finding.evidence.push(&text!("; seen in one repetition ({RUNS})", "。ただし測定は 1 回だけです({RUNS})"));
    finding
}

/// Lowers the confidence of a finding if other work was active.
fn disturbed(finding: Finding, measured: &MeasuredCurve) -> Finding {
    let (disturbed, all) = (measured.disturbed.len(), measured.points.len());
    if disturbed == 0 {
        return finding;
    }
    let mostly = disturbed as f64 >= all as f64 * MOSTLY_DISTURBED;
    let mut finding = Finding { confidence: finding.confidence.min(Confidence::Likely), ..finding };
    finding.evidence.push(&text!(
        "; other work was running at {disturbed} of {all} points",
        "。{all} 点のうち {disturbed} 点では、ほかの処理が動いていました"
    ));
    if mostly && finding.confidence > Confidence::None {
        (finding.name, finding.confidence) = (FindingName::Unknown, Confidence::None);
        finding.evidence.push(&text!(
            ", so the cause is uncertain: measure again on an idle machine",
            "。見かけ上の説明にすぎないため、ほかの処理がないときに測り直してください"
        ));
    }
    finding
}
