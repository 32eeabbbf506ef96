//! Findings about the block size: the link, strips, and the mapping unit of a device.
//!
//! An operation takes a start-up time plus its transfer, so time over block size is a straight
//! line, whatever the speed. A write smaller than the unit of a device or a file system requires
//! reading the rest, so a whole unit is faster. A read larger than a strip goes to several drives
//! in parallel, so it takes no longer until all of them are in use. Where the time stays constant
//! while the size doubles, a strip begins, and the number of doublings gives the number of drives.
//! Other changes of the line are reported together as unknown.

use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use super::storage::Storage;
use crate::figures::size;
use kurabe_core::quantity::format_bytes;
use kurabe_core::workload::Direction;
use kurabe_core::{mention::TIME, number, text};
use kurabe_stats::Curve;

/// A write of a whole unit takes at most this share of the time of a smaller one.
const WHOLE_UNIT: f64 = 0.8;
/// Time counts as constant if it grows by less than this factor while the size doubles.
const STANDS_STILL: f64 = 1.05;
/// Minimum growth factor before and after a constant range.
const GROWS: f64 = 1.08;
/// On flash, a rate beyond a change of at least this multiple of the rate before it results from
/// more parallel units.
const SPREAD: f64 = 1.5;

pub(super) fn findings(measured: &MeasuredCurve, cut: &Curve, storage: &Storage) -> Vec<Finding> {
    let mut findings = Vec::new();
    let unit = (measured.direction == Direction::Write).then(|| unit(measured, cut)).flatten();
    if let Some((below, at, index)) = unit {
        findings.push(mapping_unit(at, storage).at(
            measured,
            Some((at, below, at)),
            cut.points[index].1,
            cut.points[index + 1].1,
        ));
    }
    let strip =
        (storage.raid && !measured.sequential && measured.direction == Direction::Read).then(|| strip(cut));
    if let Some((index, doublings)) = strip.flatten() {
        let (x, before) = cut.points[index];
        let after = cut.points.get(index + 1).map_or(before, |point| point.1);
        findings.push(striped(x, doublings).at(measured, Some((x, x, x * 2.0)), before, after));
    } else {
        let explained = |x: f64| unit.is_some_and(|(_, at, _)| x <= at * 2.0);
        findings.extend(others(measured, cut, storage, &explained));
    }
    let rate = |(bytes, ns): &(f64, f64)| bytes / ns * 1e9;
    let rates: Vec<f64> = cut.points.iter().map(rate).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    if let (Some(link), Some(first)) = (link(storage, measured.direction, highest), rates.first()) {
        let enough = cut.points.iter().find(|point| rate(point) >= highest * 0.9).map(|point| point.0);
        let place = enough.map(|x| (x, x / 2.0, x));
        findings.push(link.at(measured, place, *first, highest));
    }
    findings
}

/// Returns the first size that takes less time than every smaller one, with the size before it and
/// the index of that. The fall must exceed the scatter of the repetitions of both sizes, because a
/// drive whose cache fills and empties during the run shows varying times.
fn unit(measured: &MeasuredCurve, cut: &Curve) -> Option<(f64, f64, usize)> {
    let less = WHOLE_UNIT.min(1.0 - 3.0 * cut.error);
    let apart = |below: f64, at: f64| {
        let (below, at) = (measured.interval(below), measured.interval(at));
        below.zip(at).is_some_and(|(below, at)| at.1 < below.0)
    };
    let (index, pair) = cut.points.windows(2).enumerate().find(|(index, pair)| {
        let falls = pair[1].1 < pair[0].1 * less && apart(pair[0].0, pair[1].0);
        falls && cut.points[..=*index].iter().all(|smaller| smaller.1 > pair[1].1)
    })?;
    Some((pair[0].0, pair[1].0, index))
}

/// Returns where the time stays constant while the size doubles: the index, and the number of
/// doublings.
fn strip(cut: &Curve) -> Option<(usize, u32)> {
    let growth: Vec<f64> = cut.points.windows(2).map(|pair| pair[1].1 / pair[0].1).collect();
    let still = |growth: f64| growth < STANDS_STILL + cut.error / 2.0;
    // The longest constant range with growth before and after it.
    let mut best: Option<(usize, u32)> = None;
    let mut index = 0;
    while index < growth.len() {
        let length = growth[index..].iter().take_while(|growth| still(**growth)).count();
        let before = index.checked_sub(1).is_some_and(|before| growth[before] > GROWS);
        let after = growth.get(index + length).is_some_and(|after| *after > GROWS);
        if length > 0 && before && after && best.is_none_or(|(_, other)| length as u32 > other) {
            best = Some((index, length as u32));
        }
        index += length.max(1);
    }
    best
}

fn mapping_unit(at: f64, storage: &Storage) -> Named {
    let bytes = size(at);
    let mut evidence = text!(
        "less data in more time means that the rest of a unit is read first; the device's mapping and \
         the file system's blocks look the same",
        "量が少ないのに遅いのは、単位の残りを先に読むためです。機器のマッピングとファイルシステムのブロックは、ここでは区別できません"
    );
    // A hard disk leaves sectors where they are, and takes writes into its memory while there is
    // room.
    let turns = storage.turns == Some(true);
    if turns {
        evidence.push(&text!(
            "; on a hard disk, a write cache that was fuller at the smaller size looks the same",
            "。回転する媒体では、小さい方の測定時に書き込み用メモリーが埋まっていた場合も同じように見えます"
        ));
    }
    Named {
        name: FindingName::MappingUnit,
        confidence: if turns { Confidence::Likely } else { Confidence::Firm },
        text: text!(
            "writes smaller than {bytes} take longer than one of {bytes}: this is the unit in which \
             they are stored",
            "{bytes} より小さい書き込みは {bytes} の書き込みより時間がかかります。これが保存の単位です"
        ),
        evidence,
    }
}

fn striped(at: f64, doublings: u32) -> Named {
    let (bytes, drives) = (size(at), 1u64 << doublings.min(16));
    let all = size(at * drives as f64);
    Named {
        name: FindingName::Strip,
        confidence: Confidence::Firm,
        text: text!(
            "operations larger than {bytes} use several drives at once: the strip is {bytes}, over \
             {drives} drives or a few more",
            "{bytes} より大きい操作は複数のドライブに分かれます。ストリップは {bytes}、ドライブは {drives} 台かそれより少し多い数です"
        ),
        evidence: text!(
            "a RAID controller is in front of the drives, and from {bytes} to {all} the time does not \
             grow with the size, while it does below and above",
            "RAID コントローラーがあり、{bytes} から {all} までは大きくしても時間が変わらず、その前後では増えます"
        ),
    }
}

/// Returns the remaining changes of the line as one finding.
fn others(
    measured: &MeasuredCurve,
    cut: &Curve,
    storage: &Storage,
    explained: &dyn Fn(f64) -> bool,
) -> Option<Finding> {
    let changes: Vec<usize> =
        (0..cut.changes.len()).filter(|index| !explained(cut.points[cut.changes[*index].before].0)).collect();
    let first = &cut.changes[*changes.first()?];
    let (low, high) = (cut.points[first.before], cut.points[first.before + 1]);
    let places: Vec<String> =
        changes.iter().map(|index| format_bytes(cut.points[cut.changes[*index].before].0 as u64)).collect();
    let (en, ja) = (places.join(", "), places.join("、"));
    let (left, right) = (&cut.pieces[changes[0]], &cut.pieces[changes[0] + 1]);
    let spreads = right.b <= 0.0 || left.b >= right.b * SPREAD;
    let flash = storage.turns == Some(false) && !storage.raid;
    let named = if flash && spreads && left.b > 0.0 && measured.direction == Direction::Read {
        Named::likely(
            FindingName::Parallelism,
            text!(
                "operations larger than {en} use several parts at once",
                "{ja} より大きい操作は、複数の部分が並行して処理します"
            ),
            text!(
                "on flash, the bytes beyond it arrive faster than those before: pages of several dies \
                 or channels at once, or read-ahead",
                "フラッシュで、それを超える分のほうが速いため、複数のダイやチャネルの同時動作か先読みと考えられます"
            ),
        )
    } else {
        Named::unknown(
            text!(
                "the time is not a constant plus a rate: it changes beyond {en}",
                "時間が「起動時間+一定の速さ」に合いません(変わる所: {ja})"
            ),
            if storage.turns == Some(true) && measured.direction == Direction::Write {
                text!(
                    "a hard disk accepts writes into its memory, which was fuller at some sizes than at \
                     others; longer repetitions ({TIME}) average that out",
                    "回転する媒体のドライブは書き込みをメモリーで受けるため、その埋まり方が大きさごとに違ったと考えられます。1 回の時間({TIME})を延ばすと差は小さくなります"
                )
            } else {
                text!(
                    "the kernel, the link or the device may split requests there, and caches may help \
                     some sizes; the kernel's block tracepoints show which",
                    "カーネル、接続、機器での要求の分割や、一部の大きさにだけ効くキャッシュが考えられます。カーネルのブロック層トレースがあれば分かります"
                )
            },
        )
    };
    Some(named.at(measured, Some((low.0, low.0, high.0)), low.1, high.1))
}

/// Returns the name for a curve that is limited by its link at this rate.
pub(super) fn link(storage: &Storage, direction: Direction, bytes_per_s: f64) -> Option<Named> {
    let (link, at) = storage.ceiling(direction, bytes_per_s)?;
    let rate = number::rate(at.rate);
    let name = &link.name;
    Some(Named {
        name: FindingName::LinkCeiling,
        confidence: if at.both_ways.is_some() { Confidence::Firm } else { Confidence::Likely },
        text: text!("the link is the limit: {name} carries {rate}", "{name} の上限です({rate})"; name),
        evidence: link.evidence(&at),
    })
}
