//! Findings about the size of the working set: caches, chains that are walked, and longer seeks.
//!
//! A working set that fits into a cache is served by it, and a larger one in part, so the time
//! rises from one level towards another as `C/x` falls. The levels show which cache it is. The
//! computer's memory responds in microseconds. The memory of a hard disk saves the seek. The
//! mapping table of a flash device saves one flash read, so both levels are of the same kind.
//! Walking a chain adds a time proportional to the span; seeks add a time that rises more and more
//! slowly.

use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use super::storage::Storage;
use crate::figures::{size, times};
use kurabe_core::mention::{HISTORY, MAX, TIME};
use kurabe_core::workload::Direction;
use kurabe_core::{number, text};
use kurabe_stats::{Curve, Piece, Shape};

/// Changes by less than this factor are not reported.
const LEAST_CHANGE: f64 = 1.08;
/// A faster response comes from the computer's own memory.
const MEMORY_NS: f64 = 30e3;
/// A mechanical access takes longer than this.
const MECHANICAL_NS: f64 = 2e6;
/// Above this ratio, a hit did not involve the medium. Below it, both hit and miss did.
const WITHOUT_MEDIUM: f64 = 3.0;

pub(super) fn findings(measured: &MeasuredCurve, cut: &Curve, storage: &Storage) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (index, change) in cut.changes.iter().enumerate() {
        let (left, right) = (&cut.pieces[index], &cut.pieces[index + 1]);
        let before = left.at(cut.points[left.last].0);
        let after = right.at(cut.points[right.last].0);
        let next_level = after.max(right.at(cut.points[right.first].0));
        if (next_level / before).max(before / after) < LEAST_CHANGE.max(1.0 + 2.0 * cut.error) {
            continue;
        }
        let named = if after < before {
            let until = cut.changes.get(index + 1).map(|next| next.x);
            falls(change.x, until, before, after)
        } else if right.shape == Shape::Line && before > 0.0 && measured.direction == Direction::Read {
            grows(cut, right, before, after, storage)
        } else if right.shape == Shape::Power && findings.iter().all(|finding| !is_cache(finding.name)) {
            moves(cut, right, before, after, storage)
        } else {
            cache(measured, change.x, before, next_level, storage)
        };
        findings.push(named.at(measured, Some((change.x, change.low, change.high)), before, next_level));
    }
    merge(&mut findings);
    if let [only] = &cut.pieces[..] {
        findings.extend(whole(measured, cut, only, storage));
    }
    findings
}

/// Merges changes with the same name that are within two doublings, because a segmented cache ends
/// in several steps.
fn merge(findings: &mut Vec<Finding>) {
    let mut index = 1;
    while index < findings.len() {
        let (one, next) = (&findings[index - 1], &findings[index]);
        let near = one.x.zip(next.x).is_some_and(|(one, next)| next <= one * 4.0);
        if one.name == next.name && is_cache(one.name) && near {
            let (low, before) = (one.low, one.before);
            findings.remove(index - 1);
            let merged = &mut findings[index - 1];
            (merged.low, merged.before) = (low, before);
            let (bytes, fast, slow) = (
                size(merged.x.unwrap_or_default()),
                number::latency(merged.before),
                number::latency(merged.after),
            );
            let memory = whose(merged.name);
            merged.text = text!(
                "up to about {bytes}: {fast} ({memory}), which ends in several steps; above, towards \
                 {slow}",
                "約 {bytes} までは {fast}({memory})。段階的に終わり、それを超えると {slow} に近づきます"; memory
            );
        } else {
            index += 1;
        }
    }
}

/// Returns whose memory it is.
fn whose(name: FindingName) -> kurabe_core::Text {
    match name {
        FindingName::HostCache => text!("the computer's memory", "コンピューターのメモリー"),
        FindingName::ControllerCache => text!("the controller's memory", "コントローラーのキャッシュ"),
        FindingName::DriveCache => text!("the drive's memory", "ドライブのキャッシュ"),
        FindingName::WriteCache => text!("memory or a log for writes", "書き込み用のメモリーまたはログ"),
        _ => text!(
            "the range covered by the part of the mapping table in memory",
            "メモリーに置ける対応表がこの範囲まで"
        ),
    }
}

fn is_cache(name: FindingName) -> bool {
    matches!(
        name,
        FindingName::HostCache
            | FindingName::DriveCache
            | FindingName::ControllerCache
            | FindingName::MappingCache
            | FindingName::WriteCache
    )
}

/// Returns the finding for a curve that rises without a change point.
fn whole(measured: &MeasuredCurve, cut: &Curve, piece: &Piece, storage: &Storage) -> Option<Finding> {
    let (first, last) = (piece.at(cut.points[piece.first].0), piece.at(cut.points[piece.last].0));
    if last / first < LEAST_CHANGE.max(1.0 + 3.0 * cut.error) {
        return None;
    }
    let named = match piece.shape {
        Shape::Line => grows(cut, piece, first, last, storage),
        Shape::Power => moves(cut, piece, first, last, storage),
        Shape::Level | Shape::Mixing => return None,
    };
    Some(named.at(measured, None, first, last))
}

fn cache(measured: &MeasuredCurve, x: f64, before: f64, after: f64, storage: &Storage) -> Named {
    let (bytes, ratio) = (size(x), after / before);
    let (fast, slow) = (number::latency(before), number::latency(after));
    let write = measured.direction == Direction::Write;
    let (name, confidence) = if storage.buffered && before < MEMORY_NS {
        let fits = storage.memory_bytes.is_none_or(|memory| x <= memory);
        (FindingName::HostCache, if fits { Confidence::Firm } else { Confidence::Likely })
    } else if write {
        (FindingName::WriteCache, Confidence::Likely)
    } else if storage.raid && ratio >= WITHOUT_MEDIUM {
        (FindingName::ControllerCache, Confidence::Likely)
    } else if ratio >= WITHOUT_MEDIUM {
        let mechanical = storage.turns == Some(true) || after >= MECHANICAL_NS;
        (FindingName::DriveCache, if mechanical { Confidence::Firm } else { Confidence::Likely })
    } else if storage.turns == Some(false) && after < MECHANICAL_NS {
        (FindingName::MappingCache, Confidence::Likely)
    } else {
        return unknown_rise(x, before, after, storage);
    };
    let memory = whose(name);
    Named {
        name,
        confidence,
        text: text!(
            "up to {bytes}: {fast} ({memory}); above, towards {slow}",
            "{bytes} までは {fast}({memory})、それを超えると {slow} に近づきます"; memory
        ),
        evidence: evidence(name, ratio, before, after),
    }
}

fn evidence(name: FindingName, ratio: f64, before: f64, after: f64) -> kurabe_core::Text {
    let times = times(ratio);
    let (fast, extra) = (number::latency(before), number::latency(after - before));
    match name {
        FindingName::HostCache => text!(
            "I/O went through the page cache, and {fast} is the time of memory",
            "ページキャッシュ経由で、{fast} はメモリーの速さです"
        ),
        FindingName::MappingCache => text!(
            "beyond it an access takes {extra} longer, {times} times as long: both a hit and a miss \
             read flash, a miss once more for the mapping table",
            "超えると 1 回あたり {extra} 増えて {times} 倍になります。どちらもフラッシュを読んでいて、外れると表の分をもう 1 回読むためと考えられます"
        ),
        FindingName::WriteCache => text!(
            "beyond it a write takes {times} times as long; a smaller set is overwritten before it reaches the medium",
            "超えると書き込みは {times} 倍かかります。小さい範囲なら、媒体に届く前に上書きされます"
        ),
        _ => text!(
            "beyond it an access takes {times} times as long, and the host's cache was bypassed: the \
             medium is avoided",
            "超えると {times} 倍かかります。ホストのキャッシュは通っていないため、媒体へのアクセスが省かれていたと分かります"
        ),
    }
}

fn unknown_rise(x: f64, before: f64, after: f64, storage: &Storage) -> Named {
    let bytes = size(x);
    let (fast, slow) = (number::latency(before), number::latency(after));
    Named::unknown(
        text!(
            "up to {bytes}: {fast}; above, towards {slow}",
            "{bytes} までは {fast}、それを超えると {slow} に近づきます"
        ),
        match storage.turns {
            Some(true) => text!(
                "a cache that holds a part of it, or longer seeks, may cause this; a sweep with a \
                 longer warm-up ({TIME}) distinguishes them",
                "一部だけを保持するキャッシュか、アームの移動距離の増加と考えられます。長めに温めた測定({TIME})で区別できます"
            ),
            Some(false) => text!(
                "the device is not rotational, so this is a cache, or a table that is looked up; a \
                 sweep with a longer warm-up ({TIME}) distinguishes them",
                "回転する媒体ではないため、何らかのキャッシュか対応表の参照と考えられます。長めに温めた測定({TIME})で区別できます"
            ),
            None => text!(
                "a cache or longer seeks may cause this; a sweep with a longer warm-up ({TIME}), or the \
                 kind of medium, distinguishes them",
                "何らかのキャッシュか、移動距離の増加と考えられます。長めに温めた測定({TIME})か、媒体の種類が分かれば区別できます"
            ),
        },
    )
}

/// Returns where a rise begins, if it does not span the whole curve.
fn from(cut: &Curve, piece: &Piece) -> kurabe_core::Text {
    if piece.first == 0 {
        return text!("", "");
    }
    let bytes = size(cut.points[piece.first - 1].0);
    text!("from {bytes} on, ", "{bytes} から先は、")
}

/// Names a time that rises in proportion to the span.
fn grows(cut: &Curve, piece: &Piece, before: f64, after: f64, storage: &Storage) -> Named {
    // A line over only two powers of two may as well be the beginning of a cache's mixing range.
    let reach = cut.points[piece.last].0 / cut.points[piece.first].0;
    let per_gib = number::latency(piece.b * (1u64 << 30) as f64);
    let (fast, slow) = (number::latency(before), number::latency(after));
    if storage.turns == Some(true) || reach < 4.0 {
        return moves(cut, piece, before, after, storage);
    }
    let from = from(cut, piece);
    if !storage.chained {
        return Named::unknown(
            text!(
                            "{from}an access takes longer with a larger span: {fast} → {slow}, \
                             {per_gib} more per GiB",
                            "{from}範囲が広いほど時間がかかります({fast} → {slow}、1 GiB ごとに {per_gib} 増)"; from
            ),
            text!(
                "the time rises in proportion to the span; a table that is searched, a cache larger \
                 than the largest span, and increasing other work look the same: use a larger {MAX}, or \
                 repeat the sweep",
                "時間が範囲に比例しています。表の探索、終わりが最大の範囲より先にあるキャッシュ、途中で増えたほかの処理は同じように見えます。{MAX} を大きくするか、同じ測定を繰り返すと分かります"
            ),
        );
    }
    Named {
        name: FindingName::ChainWalk,
        confidence: if reach >= 8.0 { Confidence::Firm } else { Confidence::Likely },
        text: text!(
                    "{from}an access takes longer with a larger span ({fast} → {slow}, {per_gib} more \
                     per GiB): a chain is followed from its start",
                    "{from}範囲が広いほど時間がかかります({fast} → {slow}、1 GiB ごとに {per_gib} 増)。何かを先頭からたどっています"; from
        ),
        evidence: text!(
            "the time rises in proportion to the span, as when a chain of clusters (FAT) is followed to \
             the offset; seek times would rise ever more slowly, a cache towards a level",
            "時間が範囲に比例しており、FAT のクラスターチェーンをその場所までたどるときの形です。アームの移動なら伸びは鈍り、キャッシュなら一定値に近づきます"
        ),
    }
}

/// Names a time that rises more and more slowly.
fn moves(cut: &Curve, piece: &Piece, before: f64, after: f64, storage: &Storage) -> Named {
    let (near, far) = (number::latency(before), number::latency(after));
    // Accesses that do not involve the actuator do not depend on seek distance.
    let turns = storage.turns != Some(false) && before >= MECHANICAL_NS;
    if !turns {
        return unknown_rise(cut.points[piece.first].0, before, after, storage);
    }
    let from = from(cut, piece);
    Named {
        name: FindingName::SeekCurve,
        confidence: if storage.turns == Some(true) { Confidence::Firm } else { Confidence::Likely },
        text: text!(
                    "{from}an access takes longer with a larger span ({near} → {far}): seeks are longer",
                    "{from}範囲が広いほど時間がかかります({near} → {far})。アームの移動距離が伸びるためです"; from
        ),
        evidence: text!(
            "the medium is rotational, and the time rises steadily, without the level that a cache \
             would have",
            "媒体が回転し、キャッシュのような段差がなく、なだらかに増えています"
        ),
    }
}

/// Describes a time that is shorter beyond a position, up to the end of the curve or the next
/// change.
fn falls(x: f64, until: Option<f64>, before: f64, after: f64) -> Named {
    let (bytes, slow, fast) = (size(x), number::latency(before), number::latency(after));
    Named::unknown(
        match until.map(size) {
            None => text!(
                "beyond {bytes} an access takes less: {slow} → {fast}",
                "{bytes} を超えると速くなります({slow} → {fast})"
            ),
            Some(until) => text!(
                "from {bytes} to {until} an access takes less than up to {bytes}: {slow} → {fast}",
                "{bytes} から {until} の間は、{bytes} までより速くなります({slow} → {fast})"
            ),
        },
        text!(
            "small spans may be on one die or one drive, and writes to the same range may wait for each \
             other; `{HISTORY}` or a repeated sweep reveals noise",
            "狭い範囲は 1 つのダイやドライブに集まり、同じ場所への書き込みは互いに待つことがあります。測り直せばほかの処理の影響かどうか分かります"
        ),
    )
}
