//! What the size of an operation shows: the link, strips, and the unit that a device maps by.
//!
//! The model: an operation takes a start-up time and its bytes at a rate, so the time over the block size is one straight
//! line, however fast it is. Where it is not, something is cut at a size: a strip, beyond which several drives carry the
//! data side by side, so that more bytes take hardly more time; or a unit, below which a write costs what a whole one does.

use super::curves::Measured;
use super::storage::Storage;
use super::{Cause, Confidence, Finding, Named, size, times};
use kurabe_core::workload::Direction;
use kurabe_core::{number, text};
use kurabe_stats::{Curve, Piece};

/// Writes whose time grows by less than this over a factor of four in size are written as one unit.
const FLAT_GROWTH: f64 = 1.3;
/// The rate of the bytes beyond a strip is at least so many times that below it.
const SPREAD: f64 = 1.5;

pub(super) fn findings(measured: &Measured, cut: &Curve, storage: &Storage) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, change) in cut.changes.iter().enumerate() {
        let (left, right) = (&cut.pieces[index], &cut.pieces[index + 1]);
        // The last size that still is what was before, as sizes are powers of two.
        let (low, high) = (cut.points[change.before].0, cut.points[change.before + 1].0);
        let (before, after) = (cut.points[change.before].1, cut.points[change.before + 1].1);
        let named = named(measured, cut, (left, right), low, storage);
        found.push(named.at(measured, Some((low, low, high)), before, after));
    }
    let rate = |(bytes, ns): &(f64, f64)| bytes / ns * 1e9;
    let rates: Vec<f64> = cut.points.iter().map(rate).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    if let (Some(found_link), Some(first)) = (storage.ceiling(highest), rates.first()) {
        let enough = cut.points.iter().find(|point| rate(point) >= highest * 0.9).map(|point| point.0);
        let place = enough.map(|x| (x, x / 2.0, x));
        found.push(link(&found_link.name, highest).at(measured, place, *first, highest));
    }
    found
}

fn named(
    measured: &Measured,
    cut: &Curve,
    (left, right): (&Piece, &Piece),
    at: f64,
    storage: &Storage,
) -> Named {
    let bytes = size(at);
    let per_s = |piece: &Piece| 1e9 / piece.b;
    // Time below the change over a factor of four: what one unit costs is the same for each part of it.
    let first = cut.points[left.first];
    let growth = left.at(at) / left.at((at / 4.0).max(first.0));
    if measured.direction == Direction::Write && at / first.0 >= 4.0 && growth < FLAT_GROWTH && !storage.raid
    {
        return Named {
            name: Cause::MappingUnit,
            confidence: Confidence::Likely,
            text: text!(
                "writes smaller than {bytes} take as long as one of {bytes}: the device writes in such units",
                "{bytes} より小さい書き込みにも {bytes} と同じ時間がかかります。機器がこの単位で書いています"
            ),
            evidence: text!(
                "up to there the time does not grow with the size ({} times over a factor of four), beyond it does",
                "ここまでは大きさを変えても時間が変わらず(4 倍で {} 倍)、その先では増えます",
                times(growth)
            ),
        };
    }
    let spreads = right.b <= 0.0 || per_s(right) >= per_s(left) * SPREAD;
    if storage.raid && !measured.sequential && left.b > 0.0 && (spreads || jumps(left, right, cut, at)) {
        return Named {
            name: Cause::Strip,
            confidence: if spreads { Confidence::Firm } else { Confidence::Likely },
            text: text!(
                "operations larger than {bytes} go to several drives at once: the strip is {bytes}",
                "{bytes} より大きい操作は複数のドライブに分かれます。ストリップは {bytes} です"
            ),
            evidence: text!(
                "a RAID controller stands before the drives; up to {bytes} the time is a start-up time and one rate, beyond it another",
                "RAID コントローラーがあり、{bytes} までの時間は起動時間と一定の速さで説明でき、その先では変わります"
            ),
        };
    }
    Named {
        name: Cause::Unknown,
        confidence: Confidence::None,
        text: text!(
            "from {bytes} on an operation takes another time than its size explains",
            "{bytes} を超えると、大きさから予想される時間と違ってきます"
        ),
        evidence: text!(
            "requests may be cut here by the kernel, the link or the device: `kurabe run` with the kernel's block tracepoints, or the same sweep on a neighbouring stack, would tell",
            "カーネル、接続、機器のいずれかがここで要求を分割している可能性があります。ブロック層のトレースつきの測定か、構成を一部変えた測定で分かります"
        ),
    }
}

/// Whether the time jumps up at the change by more than the larger size explains: several drives seek, and the slowest
/// counts.
fn jumps(left: &Piece, right: &Piece, cut: &Curve, at: f64) -> bool {
    let beyond = at * 2.0;
    right.at(beyond) / left.at(beyond) > 1.0 + 2.0 * cut.error
}

/// The name of a curve that ends at its link.
pub(super) fn link(name: &str, highest: f64) -> Named {
    let rate = number::rate(highest);
    Named {
        name: Cause::LinkCeiling,
        confidence: Confidence::Likely,
        text: text!("the link is the ceiling: {rate} is what {name} carries", "{name} の上限です({rate})"),
        evidence: text!(
            "the highest rate is within a tenth of what devices reach on this link",
            "最高の速さが、この接続で機器が実際に出せる値の 1 割以内です"
        ),
    }
}
