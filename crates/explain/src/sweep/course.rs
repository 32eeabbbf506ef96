//! Findings of a long write over the bytes written: write caches that fill up.

use super::curves::MeasuredCurve;
use super::finding::{Confidence, Finding, FindingName, Named};
use super::storage::Storage;
use crate::figures::size;
use kurabe_core::quantity::MIB;
use kurabe_core::{number, text};
use kurabe_stats::Curve;

/// A fall by less than this factor is not the end of a cache.
const LEAST_FALL: f64 = 1.15;
/// A fall that begins before this multiple of the position of the previous one belongs to it.
const ONE_FALL: f64 = 1.3;
/// The write memory of drives is smaller than this, and SLC caches are larger.
const MOST_MEMORY: f64 = 256.0 * MIB as f64;

pub(super) fn findings(measured: &MeasuredCurve, cut: &Curve, storage: &Storage) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fall in falls(cut) {
        let named = match recovery(cut, &fall) {
            Some((from, rate)) => recovers(&fall, from, rate),
            None => named(&fall, storage, findings.is_empty(), measured.sequential),
        };
        findings.push(named.at(measured, Some((fall.x, fall.low, fall.high)), fall.before, fall.after));
    }
    let highest = cut.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let link = super::transfer::link(storage, measured.direction, highest);
    if let (Some(link), Some(first)) = (link, cut.points.first()) {
        findings.push(link.at(measured, None, first.1, highest));
    }
    findings
}

/// A fall of the rate.
struct Fall {
    x: f64,
    low: f64,
    high: f64,
    before: f64,
    after: f64,
}

/// Returns where the rate falls. Falls in close succession count as one, whose middle was written
/// partly before and partly after it.
fn falls(cut: &Curve) -> Vec<Fall> {
    let mut falls: Vec<Fall> = Vec::new();
    for (change, pair) in cut.changes.iter().zip(cut.pieces.windows(2)) {
        let (before, after) = (pair[0].a, pair[1].a);
        if before / after < LEAST_FALL {
            continue;
        }
        match falls.last_mut() {
            Some(last) if change.x < last.x * ONE_FALL && last.after <= before => {
                (last.high, last.after) = (change.high, after);
            }
            _ => falls.push(Fall { x: change.x, low: change.low, high: change.high, before, after }),
        }
    }
    falls
}

/// Returns where a rate that fell has recovered, and the rate there. It must be closer to the rate
/// before the fall than to the one after it.
fn recovery(cut: &Curve, fall: &Fall) -> Option<(f64, f64)> {
    let middle = (fall.before * fall.after).sqrt();
    let later = cut.pieces.iter().filter(|piece| cut.points[piece.first].0 > fall.high);
    let back = later.filter(|piece| piece.a > middle).max_by(|a, b| a.a.total_cmp(&b.a))?;
    Some((cut.points[back.first].0, back.a))
}

/// Returns the finding for a rate that recovers. A cache that is full stays full while writing
/// continues.
fn recovers(fall: &Fall, from: f64, rate: f64) -> Named {
    let (bytes, back) = (size(fall.x), size(from));
    let (fast, slow, again) = (number::rate(fall.before), number::rate(fall.after), number::rate(rate));
    Named::unknown(
        text!(
            "writes run at {fast} until {bytes} are written, then at {slow}, and from {back} on at {again} again",
            "{bytes} 書くまでは {fast}、その後は {slow} ですが、{back} からは {again} に戻ります"
        ),
        text!(
            "a full cache stays full while writing continues; garbage collection, heat, a burst limit \
             and other work come and go",
            "一杯になったキャッシュは、書き続ける間は空きません。ガベージコレクション、発熱、バースト制限、ほかの処理なら増減します"
        ),
    )
}

/// Names the cause of a fall. The storage identifies only the first one.
fn named(fall: &Fall, storage: &Storage, first: bool, sequential: bool) -> Named {
    let end = if first { end_of_cache(fall.x, storage, sequential) } else { further_level() };
    let (bytes, fast, slow) = (size(fall.x), number::rate(fall.before), number::rate(fall.after));
    let levels = text!(
        "writes run at {fast} until {bytes} are written, then at {slow}",
        "{bytes} 書くまでは {fast}、その後は {slow} です"
    );
    let reason = end.text;
    Named { text: text!("{levels}: {reason}", "{levels}({reason})"; levels, reason), ..end }
}

fn further_level() -> Named {
    Named::unknown(
        text!("another level", "さらに別の段階"),
        text!(
            "a second cache, garbage collection and heat all look the same; to identify a cache, pause \
             for some minutes and repeat the write (a cache recovers)",
            "別のキャッシュ、ガベージコレクション、発熱のいずれもこう見えます。数分休ませて同じ書き込みをすれば、回復するかどうかでキャッシュか分かります"
        ),
    )
}

/// Names the memory that is full after this many bytes.
fn end_of_cache(bytes: f64, storage: &Storage, sequential: bool) -> Named {
    let fits_memory = bytes < MOST_MEMORY;
    match (storage.raid, storage.turns, storage.buffered) {
        (_, _, true) => Named::likely(
            FindingName::HostCache,
            text!("the computer's memory accepted them", "コンピューターのメモリーが受けていた"),
            text!(
                "I/O went through the page cache, which accepts writes until too many are waiting",
                "ページキャッシュ経由のため、未書き込みの量が上限に達するまではメモリーが受けます"
            ),
        ),
        (true, ..) => Named::likely(
            FindingName::ControllerCache,
            text!("the controller's memory is full", "コントローラーのキャッシュが一杯"),
            text!(
                "a RAID controller is in front of the drives, and its memory accepts writes until it is \
                 full",
                "RAID コントローラーがあり、そのメモリーが一杯になるまで書き込みを受けます"
            ),
        ),
        (_, Some(true), _) if !fits_memory && !sequential => Named::likely(
            FindingName::MediaCache,
            text!(
                "the media cache of a shingled (SMR) disk is full",
                "SMR ディスクのメディアキャッシュが一杯"
            ),
            text!(
                "more random writes than a hard disk has memory for: only a shingled disk accepts them \
                 this fast, in a media cache",
                "ハードディスクのメモリーでは受けきれない量のランダム書き込みを速く受けるのは、プラッターの一部を使う SMR ディスクだけです"
            ),
        ),
        (_, Some(true), _) => Named {
            name: FindingName::WriteCache,
            confidence: if fits_memory { Confidence::Likely } else { Confidence::None },
            text: text!("the drive's memory is full", "ドライブのキャッシュが一杯"),
            evidence: text!(
                "a hard disk accepts writes into its memory until it is full",
                "回転する媒体のドライブは、メモリーが一杯になるまで書き込みを受けます"
            ),
        },
        (_, _, _) if fits_memory => Named::likely(
            FindingName::WriteCache,
            text!("the drive's memory, or a small log, is full", "ドライブのメモリーか小さなログが一杯"),
            text!(
                "drives have less than 256 MiB of memory for writes; SLC caches are larger",
                "256 MiB 未満は書き込み用メモリーの大きさです。SLC キャッシュはもっと大きいのが普通です"
            ),
        ),
        (_, turns, _) => end_of_flash_cache(turns == Some(false), storage.is_virtual),
    }
}

/// Names what ends after more was written than a drive's memory holds, on a device that is or may
/// be flash.
fn end_of_flash_cache(is_flash: bool, is_virtual: bool) -> Named {
    if is_flash {
        return Named {
            name: FindingName::SlcCache,
            confidence: Confidence::Firm,
            text: text!("the SLC cache is full", "SLC キャッシュが一杯"),
            evidence: text!(
                "flash, and more was written than drives have memory for: the fast part was written \
                 with one bit per cell",
                "フラッシュで、メモリーでは受けきれない量まで速いため、1 セル 1 ビットで書いていたと分かります"
            ),
        };
    }
    if is_virtual {
        return Named::unknown(
            text!("unknown behind a virtual disk", "仮想ディスクの先は不明"),
            text!(
                "behind a hypervisor, a cache of its host, a burst limit and a cache of the device look \
                 the same; to identify a cache, pause for some minutes and repeat the write (a cache \
                 recovers)",
                "ハイパーバイザーの先では、ホストのキャッシュ、バースト制限、デバイスのキャッシュは区別できません。数分休ませて同じ書き込みをすれば、回復するかどうかでキャッシュか分かります"
            ),
        );
    }
    Named::likely(
        FindingName::SlcCache,
        text!("probably the end of an SLC cache", "おそらく SLC キャッシュの終わり"),
        text!(
            "more than drives have memory for; it is unknown whether this is flash",
            "メモリーでは受けきれない量です。ただし、フラッシュかどうかの情報がありません"
        ),
    )
}
