//! Findings about the number of operations in flight.
//!
//! A device that serves one operation at a time has the same rate at any depth. A device with
//! parallel units gets faster until all of them are busy. The depth at which the rate stops rising
//! gives the number of units roughly, because some operations wait for the same unit. A hard disk
//! that can reorder commands gains as well, but less than the depth.

use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use super::storage::Storage;
use crate::figures::times;
use kurabe_core::mention::{RUNS, TIME};
use kurabe_core::{Text, number, text};
use kurabe_stats::Curve;

/// A gain below this factor does not count.
const LEAST_GAIN: f64 = 1.15;
/// A fall by this factor is not caused by the depth alone.
const LEAST_FALL: f64 = 1.3;
/// Up to this relative error of a point, a curve is reliable.
const SURE_ERROR: f64 = 0.1;
/// This share of the highest rate counts as all of it.
const NEARLY_ALL: f64 = 0.9;
/// From this factor on, a remaining gain is reported.
const LITTLE_MORE: f64 = 1.02;

pub(super) fn findings(measured: &MeasuredCurve, cut: &Curve, storage: &Storage) -> Vec<Finding> {
    let (Some(first), Some(last)) = (cut.points.first(), cut.points.last()) else { return Vec::new() };
    let highest = cut.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let lowest = cut.points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let gain = highest / first.1;
    if lowest < first.1 / LEAST_FALL.max(1.0 + 3.0 * cut.error) {
        return vec![falls(first.1, lowest).at(measured, None, first.1, lowest)];
    }
    // Noise in the highest of several points does not count as a gain.
    if gain < LEAST_GAIN.max(1.0 + 3.0 * cut.error) {
        if highest > lowest * LEAST_FALL {
            return vec![uneven(lowest, highest).at(measured, None, lowest, highest)];
        }
        return vec![one_at_a_time(cut, last.0).at(measured, None, first.1, last.1)];
    }
    let mut findings = Vec::new();
    let (enough, reached) =
        cut.points.iter().copied().find(|point| point.1 >= highest * NEARLY_ALL).unwrap_or(*last);
    let below = cut.points.iter().rev().find(|point| point.0 < enough).map_or(enough, |point| point.0);
    let rises_to_the_end = enough >= last.0;
    let (times, depth) = (times(reached / first.1), number::whole(enough));
    let (low, high) = (number::iops(first.1), number::iops(reached));
    let beyond = beyond(cut, enough, reached);
    let chooses = storage.turns == Some(true);
    let named = Named {
        name: FindingName::Parallelism,
        confidence: if gain >= 1.5
            && cut.error <= SURE_ERROR
            && measured.each_repetition_gains(first.0, enough, gain)
        {
            Confidence::Firm
        } else {
            Confidence::Likely
        },
        text: match (rises_to_the_end, chooses) {
            (true, _) => text!(
                "concurrent operations gain up to depth {depth} and perhaps beyond: {times} times as \
                 many per second ({low} → {high})",
                "同時発行は {depth} まで、おそらくその先でも効きます。毎秒の回数は {times} 倍({low} → {high})"
            ),
            (false, false) => text!(
                "concurrent operations gain up to depth {depth}: {times} times as many per second \
                 ({low} → {high}); a deeper queue brings {beyond}",
                "同時発行は {depth} まで効き、毎秒の回数は {times} 倍になります({low} → {high})。それ以上は{beyond}";
                beyond
            ),
            (false, true) => text!(
                "reordering up to {depth} operations makes the drive {times} times as fast ({low} → {high})",
                "最大 {depth} 個の操作から順番を選ぶことで {times} 倍になります({low} → {high})"
            ),
        },
        evidence: if chooses {
            text!(
                "a hard disk has one actuator, so the gain comes from command reordering (NCQ)",
                "回転する媒体のアームは 1 つなので、これは並べ替え(NCQ などのキューイング)の効果です"
            )
        } else {
            text!(
                "the rate rises with the queue depth alone: channels, dies or members work in parallel",
                "ほかの条件は同じままキュー深さで速くなるため、チャネルやダイ、メンバーなどが並行して動いています"
            )
        },
    };
    let place = (enough, below, enough.max(below));
    findings.push(named.at(measured, Some(place), first.1, reached));
    let bytes = highest * f64::from(measured.block_bytes);
    let link = super::transfer::link(storage, measured.direction, bytes);
    findings.extend(link.map(|link| link.at(measured, None, first.1, highest)));
    findings
}

/// Describes the gain beyond the depth reported as sufficient: nothing, or a little.
fn beyond(cut: &Curve, enough: f64, reached: f64) -> Text {
    let most = cut.points.iter().filter(|point| point.0 > enough).max_by(|a, b| a.1.total_cmp(&b.1));
    match most.filter(|most| most.1 >= reached * LITTLE_MORE) {
        Some((depth, rate)) => {
            let (depth, rate) = (number::whole(*depth), number::iops(*rate));
            text!("little ({rate} at {depth})", "わずかな増加です({depth} で {rate})")
        }
        None => text!("nothing", "増えません"),
    }
}

/// Returns the finding for a rate that varies with depth but does not rise.
fn uneven(lowest: f64, highest: f64) -> Named {
    let (slow, fast) = (number::iops(lowest), number::iops(highest));
    Named::unknown(
        text!(
            "the effect of the queue depth is unclear: {slow} to {fast} over all depths, without a trend",
            "キュー深さの効果は判断できません(全体で {slow}〜{fast} の間を上下)"
        ),
        text!(
            "the points scatter more than they rise; use longer repetitions ({TIME}), more of them \
             ({RUNS}) or an idle machine",
            "上昇より点のばらつきのほうが大きくなっています。1 回の時間({TIME})や回数({RUNS})を増やすか、ほかの処理がないときに測ると分かります"
        ),
    )
}

fn falls(first: f64, lowest: f64) -> Named {
    let (fast, slow) = (number::iops(first), number::iops(lowest));
    Named::unknown(
        text!(
            "deeper queues are slower ({fast} → {slow}), so something besides the depth changed",
            "キュー深さを増やすと遅くなっており({fast} → {slow})、ほかの要因も変わっています"
        ),
        text!(
            "a cache that filled up during the sweep looks the same; use longer repetitions ({TIME}), \
             or pause before each",
            "途中でキャッシュが一杯になるとこう見えます。1 回の時間({TIME})を延ばすか、休ませてから測ると分かります"
        ),
    )
}

fn one_at_a_time(cut: &Curve, deepest: f64) -> Named {
    let depth = number::whole(deepest);
    let rate = number::iops(cut.points.first().map_or(0.0, |point| point.1));
    Named {
        name: FindingName::OneAtATime,
        confidence: if cut.points.len() >= 4 && cut.error <= SURE_ERROR {
            Confidence::Firm
        } else {
            Confidence::Likely
        },
        text: text!(
            "operations are served one at a time: {rate} at any depth up to {depth}",
            "操作は 1 つずつ処理されます。キュー深さ {depth} まで変えても {rate} のままです"
        ),
        evidence: text!(
            "the rate does not rise with the queue depth; USB without UAS (BOT), a drive without \
             command queueing, an emulator, or a medium that one operation keeps busy look the same",
            "キュー深さを増やしても速くなりません。UAS でない USB(BOT)、NCQ のないドライブ、エミュレーター、1 件ずつしか処理できない媒体は同じように見えます"
        ),
    }
}
