//! The flush as the limit of writes that are made durable.
//!
//! The model: separate flushes are timed operations, so their share of the time is measured, not
//! inferred. Where each write includes its flush, the flush is the difference from the same writes
//! without it, or else from reads of the same size.

use super::evidence::Evidence;
use super::limit::{Limit, LimitKind, MOSTLY, Strength};
use super::words::limit;
use crate::cell::CellFacts;
use kurabe_core::{Text, number, text};
use kurabe_stats::{CellFlush, FlushCall, FlushFigures};

/// From this share on, the operations would be noticeably faster without the flush.
const NOTICEABLE: f64 = 0.25;
/// A write with its flush that takes this many times as long as a read mostly waits for what reads
/// don't need.
const MUCH_LONGER: f64 = 2.0;

/// Returns the flush as the limit, or as one of two. `rest` is the limit of the writes apart from
/// the flush.
pub(super) fn flushed(evidence: &Evidence<'_>, facts: &CellFacts<'_>, rest: impl FnOnce() -> Limit) -> Limit {
    match &facts.flush {
        Some(CellFlush::Separate(flush)) => match flush.share {
            Some(share) if share >= MOSTLY => separate(facts, flush, share),
            Some(share) if share >= NOTICEABLE => both(facts, flush, share, &rest()),
            _ => rest(),
        },
        Some(CellFlush::Included(call)) => included(evidence, facts, *call).unwrap_or_else(rest),
        None => rest(),
    }
}

/// Returns the name of a call, as in `the flush (fsync)`.
pub(super) fn the_flush(call: FlushCall) -> Text {
    match call.name() {
        Some(name) => text!("the flush ({name})", "フラッシュ({name})"),
        None => text!("the flush", "フラッシュ"),
    }
}

fn separate(facts: &CellFacts<'_>, flush: &FlushFigures, share: f64) -> Limit {
    let (mean, p99, share) =
        (number::latency(flush.mean_ns), number::latency(flush.p99_ns), number::percent(share));
    let write = number::latency(facts.latency_ns);
    let evidence = text!(
        "a flush takes {mean} on average (p99 {p99}), a write {write}; flushes take {share} of the time",
        "フラッシュ 1 回は平均 {mean}(p99 {p99})、書き込み 1 回は {write} で、時間の {share} をフラッシュが占めます"
    );
    limit(LimitKind::Flush, Strength::Strong, the_flush(flush.call), evidence).next(fewer())
}

fn fewer() -> Text {
    text!(
        "flush less often, or use a drive with power-loss protection, which need not empty its cache",
        "フラッシュの回数を減らすか、電源断保護付きのドライブ(キャッシュを空にする必要がない)を使うと速くなります"
    )
}

/// Returns the limit for writes and flushes that both take a noticeable part of the time.
fn both(facts: &CellFacts<'_>, flush: &FlushFigures, share: f64, rest: &Limit) -> Limit {
    let the_flush = the_flush(flush.call);
    let (of_flush, of_write) = (number::percent(share), number::percent(1.0 - share));
    let sentence = text!(
        "the write itself ({of_write}) and {the_flush} ({of_flush}) together",
        "書き込み自体({of_write})と{the_flush}({of_flush})の両方"; the_flush
    );
    let (mean, write) = (number::latency(flush.mean_ns), number::latency(facts.latency_ns));
    let mut evidence = text!(
        "a write takes {write}, a flush {mean}",
        "書き込み 1 回は {write}、フラッシュ 1 回は {mean} です"
    );
    if rest.kind != LimitKind::Unknown {
        let name = rest.name();
        evidence.push(&text!("; the write itself is limited by {name}", "。書き込み自体のボトルネックは{name}です"; name));
    }
    limit(LimitKind::Shared, Strength::Likely, sentence, evidence).next(fewer())
}

/// Returns the limit for writes that include their flush and take much longer than without it.
fn included(evidence: &Evidence<'_>, facts: &CellFacts<'_>, call: FlushCall) -> Option<Limit> {
    let whole = number::latency(facts.latency_ns);
    if let Some(plain) = facts.without_flush(evidence.cells) {
        let share = 1.0 - plain.latency_ns / facts.latency_ns;
        let (plain, share_words) = (number::latency(plain.latency_ns), number::percent(share));
        let words = text!(
            "a write takes {whole} including its flush, {plain} without it: the flush is {share_words} of the time",
            "書き込み 1 回は、フラッシュを含めて {whole}、含めなければ {plain} で、フラッシュが時間の {share_words} を占めます"
        );
        return (share >= MOSTLY)
            .then(|| limit(LimitKind::Flush, Strength::Strong, in_each_write(call), words).next(fewer()));
    }
    let read =
        facts.opposite(evidence.cells).filter(|read| facts.latency_ns >= read.latency_ns * MUCH_LONGER)?;
    let read = number::latency(read.latency_ns);
    let words = text!(
        "a write takes {whole} including its flush, a read of the same size {read}",
        "書き込み 1 回はフラッシュを含めて {whole}、同じ大きさの読み出しは {read} です"
    );
    Some(limit(LimitKind::Flush, Strength::Likely, in_each_write(call), words).next(text!(
        "the same writes without the flush show its share",
        "フラッシュなしの同じ書き込みを測ると、その割合が分かります"
    )))
}

pub(super) fn in_each_write(call: FlushCall) -> Text {
    match call.name() {
        Some(name) => {
            text!("the flush that each write includes ({name})", "書き込みごとのフラッシュ({name})")
        }
        None => text!("the flush that each write includes", "書き込みごとのフラッシュ"),
    }
}
