//! What a claim has to stand before it is made: the points that are shown, each repetition by itself, and what else went on.
//!
//! The model: a change of level says that the points before it are nearer to the one level and those beyond it nearer to
//! the other. Where the points that are shown say otherwise, no change is told, but how far they scatter. What a mean shows
//! and its repetitions do not, one disturbed repetition made; so a name is firm only if every repetition shows the change by
//! itself, and there are two at least. Other work at the same time takes a step from every name, and all of it if it was
//! there at a third of the places.

use super::axis::SweepAxis;
use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use crate::figures::size;
use kurabe_core::mention::{RUNS, TIME};
use kurabe_core::{number, text};
use kurabe_stats::{Curve, CurvePoint};

/// A repetition shows a change if its own is at least this share of it, in the logarithm.
const SHOWS: f64 = 0.5;
/// Of a long course so many points of a side may lie beyond the middle: a burst of others, or the filling of a queue.
const ODD_SHARE: f64 = 0.15;
/// From this share of disturbed places on, no name is given.
const MOSTLY_DISTURBED: f64 = 1.0 / 3.0;

/// The findings of a curve, in ascending order of places, as far as they stand.
pub(super) fn held(findings: Vec<Finding>, measured: &MeasuredCurve, cut: &Curve) -> Vec<Finding> {
    let places: Vec<f64> = findings.iter().filter_map(|finding| finding.x).collect();
    let (mut kept, mut scatter): (Vec<Finding>, Option<Finding>) = (Vec::new(), None);
    for finding in findings {
        // A change that was not told does not explain the points before it.
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
            // Once for a curve.
            None => {
                let sides = || sides.or_else(|| Flanks::halves(cut));
                scatter = scatter.or_else(|| sides().map(|sides| sides.scatter(measured)));
            }
        }
    }
    kept.into_iter().chain(scatter).map(|finding| disturbed(finding, measured)).collect()
}

/// Whether points lie farther from a curve without a change than half of what it rises by.
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
    /// Those between a change and its neighbours, without those in the interval in which it lies. `None` of what is no change
    /// of a level: sizes of transfers and what is of the whole curve.
    fn of(finding: &Finding, between: (f64, f64), measured: &MeasuredCurve, cut: &Curve) -> Option<Self> {
        // An interval may reach past the curve by rounding or by what a fit does not know.
        let (first, end) = (cut.points.first()?.0, cut.points.last()?.0);
        let (x, low, high) = (finding.x?, finding.low?.max(first), finding.high?.min(end));
        if !matches!(measured.axis, SweepAxis::WorkingSet | SweepAxis::BytesWritten) || finding.before <= 0.0
        {
            return None;
        }
        let (last, next) = between;
        let takes_less = measured.axis == SweepAxis::WorkingSet && finding.after < finding.before;
        // What falls, and what comes back, is told with the extent of it: up to the next change of the curve.
        let next = if takes_less || measured.axis == SweepAxis::BytesWritten {
            let later = cut.changes.iter().map(|change| change.x).filter(|place| *place > high);
            later.fold(next, f64::min)
        } else {
            next
        };
        let points = |from: f64, to: f64| -> Vec<(f64, f64)> {
            cut.points.iter().copied().filter(|point| point.0 >= from && point.0 <= to).collect()
        };
        // What rises on and on is told from its beginning on, whatever lies before it.
        let rises_on = matches!(finding.name, FindingName::SeekCurve | FindingName::ChainWalk);
        let from = if rises_on { low } else { last };
        let (mut before, mut beyond) = (points(from, low), points(high, next));
        // Where the interval leaves none, those on either side of the likeliest place.
        if before.is_empty() {
            before = points(last, x);
        }
        if beyond.is_empty() {
            beyond = points(x, next);
        }
        (!before.is_empty() && !beyond.is_empty()).then_some(Self { before, beyond })
    }

    /// Both halves of a curve that has no change.
    fn halves(cut: &Curve) -> Option<Self> {
        let (before, beyond) = cut.points.split_at(cut.points.len() / 2);
        (!before.is_empty()).then(|| Self { before: before.to_vec(), beyond: beyond.to_vec() })
    }

    /// Whether the points that are shown say something else.
    fn contradict(&self, finding: &Finding, axis: SweepAxis, error: f64) -> bool {
        let (before, after) = (finding.before.ln(), finding.after.ln());
        let (rises, middle) = (after > before, f64::midpoint(before, after));
        let half = (after - before).abs() / 2.0;
        // A small change is smaller than the scatter of single points; none of them passes the other level.
        let slack = (3.0 * error - half).clamp(0.0, half);
        let beyond_middle = |value: f64| {
            let off = if rises { value.ln() - middle } else { middle - value.ln() };
            off > slack
        };
        let short_of_level = |value: f64| {
            // A cache mixes two levels beyond its end, so that the first points there are still near to the first.
            let level = if axis == SweepAxis::WorkingSet && rises { before } else { middle };
            let off = if rises { level - value.ln() } else { value.ln() - level };
            off > if axis == SweepAxis::WorkingSet { (3.0 * error).min(half) } else { slack }
        };
        let odd_before = self.before.iter().filter(|point| beyond_middle(point.1)).count();
        let odd_beyond = self.beyond.iter().filter(|point| short_of_level(point.1)).count();
        let allowed = |points: &[(f64, f64)]| match axis {
            // The point of a change is written partly before and partly after it.
            SweepAxis::BytesWritten if points.len() > 1 => {
                ((points.len() as f64 * ODD_SHARE) as usize).max(1)
            }
            _ => 0,
        };
        odd_before > allowed(&self.before) || odd_beyond > allowed(&self.beyond)
    }

    /// A change that the points do not bear: how far they scatter.
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
                "no change can be told: {from} to {to} up to {bytes}, {from_beyond} to {to_beyond} beyond it",
                "変化の有無は判断できません({bytes} までは {from}〜{to}、それを超えると {from_beyond}〜{to_beyond})"
            ),
            text!(
                "the points scatter more than they change; longer repetitions ({TIME}), more of them ({RUNS}) or a quiet machine would tell",
                "変化より点のばらつきのほうが大きくなっています。1 回の時間({TIME})や回数({RUNS})を増やすか、ほかの処理がないときに測ると分かります"
            ),
        );
        let mean = |points: &[(f64, f64)]| {
            (points.iter().map(|point| point.1.ln()).sum::<f64>() / points.len() as f64).exp()
        };
        named.at(measured, None, mean(&self.before), mean(&self.beyond))
    }

    /// The finding, with the confidence that the repetitions bear; `None` if most of them show nothing of it.
    fn as_repetitions_show(&self, finding: Finding, measured: &MeasuredCurve) -> Option<Finding> {
        // The points of the long write are one after the other, each seen once.
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
            "; {shows} of {count} repetitions show it by themselves",
            "。{count} 回の測定のうち単独でもこう見えるのは {shows} 回です"
        ));
        Some(finding)
    }

    /// How many repetitions show the change by themselves.
    fn showing(&self, measured: &MeasuredCurve) -> usize {
        // Beyond the end of a cache the first points mix both levels: the farther half tells.
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

/// The mean logarithm of what is seen at some places; `None` if it is seen at none of them.
fn mean_log(points: &[(f64, f64)], of: &dyn Fn(f64) -> Option<f64>) -> Option<f64> {
    let logs: Vec<f64> = points.iter().filter_map(|point| of(point.0)).map(f64::ln).collect();
    (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
}

fn value_at(points: &[CurvePoint], x: f64, repetition: usize) -> Option<f64> {
    points.iter().find(|point| point.x == x)?.values.get(repetition).copied()
}

/// What one repetition showed is not firm.
fn of_several(finding: Finding, measured: &MeasuredCurve) -> Finding {
    if measured.repetitions >= 2 || finding.confidence < Confidence::Firm {
        return finding;
    }
    let mut finding = Finding { confidence: Confidence::Likely, ..finding };
    finding.evidence.push(&text!("; seen in one repetition ({RUNS})", "。ただし測定は 1 回だけです({RUNS})"));
    finding
}

/// A finding beside what else went on.
fn disturbed(finding: Finding, measured: &MeasuredCurve) -> Finding {
    let (disturbed, all) = (measured.disturbed.len(), measured.points.len());
    if disturbed == 0 {
        return finding;
    }
    let mostly = disturbed as f64 >= all as f64 * MOSTLY_DISTURBED;
    let mut finding = Finding { confidence: finding.confidence.min(Confidence::Likely), ..finding };
    finding.evidence.push(&text!(
        "; other work went on at {disturbed} of {all} points",
        "。{all} 点のうち {disturbed} 点では、ほかの処理が動いていました"
    ));
    if mostly && finding.confidence > Confidence::None {
        (finding.name, finding.confidence) = (FindingName::Unknown, Confidence::None);
        finding.evidence.push(&text!(
            ", so this is what it looks like, not what it is: measure again when it is quiet",
            "。見かけ上の説明にすぎないため、ほかの処理がないときに測り直してください"
        ));
    }
    finding
}
