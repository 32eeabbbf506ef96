//! The limit of a modelled cell, from the account of its time.
//!
//! The model: the limit is the cause without which the operations would be noticeably faster. For
//! operations one at a time, it is the largest cause. Operations in a queue wait for the service of
//! others, so their own times don't show the limit, but the queue does: it grows in front of the
//! part that is busy. The limit is then the largest cause in the layer of the queue and below it.
//! A part that serves one operation at a time has a queue of its own (`CauseClass::Serial`), which
//! names the part. Two causes that are nearly equal are both named.

use super::{CellLimit, Limit, LimitKind, Strength};
use kurabe_core::model::{CauseClass, ModelRecord, TimeShare};
use kurabe_core::record::Cell;
use kurabe_core::{Text, number, record::RunRecord, text};
use kurabe_stats::{CellAccount, CellFlush, cell_account, cell_flush, is_from_memory};

/// Mean number of operations in flight up to which they are served one at a time.
const ALONE: f64 = 1.2;
/// A queue of which operations spend at least this share of their time in shows the limit.
const QUEUED: f64 = 0.2;
/// A cause with at least this share of the largest one is named, too.
const TIE: f64 = 0.8;
/// Share of the time from which the flush is named.
const MOSTLY: f64 = 0.5;

/// The causes that limit a cell, the largest first, and the queue that shows them, if one does.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedCauses<'a> {
    /// One cause, or two that are nearly equal.
    pub causes: Vec<&'a TimeShare>,
    /// The queue.
    pub queue: Option<&'a TimeShare>,
}

/// Returns the causes that limit a cell of a modelled run. `None` if no time was counted.
pub fn counted_causes<'a>(model: &ModelRecord, account: &'a CellAccount) -> Option<CountedCauses<'a>> {
    let CellAccount { account, elapsed_ns, samples, .. } = account;
    let class = |share: &TimeShare| model.cause(share).map_or(CauseClass::Line, |cause| cause.class);
    let in_flight = account.latency_ns as f64 / *elapsed_ns as f64;
    let is_queued = *samples == 0 && in_flight > ALONE;
    let place = |share: &TimeShare| model.layers.iter().position(|layer| layer.name == share.layer);
    let lines = account.shares.iter().filter(|share| {
        matches!(class(share), CauseClass::Line | CauseClass::Serial)
            && share.time_ns as f64 >= account.latency_ns as f64 * QUEUED
    });
    let queue = lines.filter(|_| is_queued).max_by_key(|share| share.time_ns);
    if let Some(serial) = queue.filter(|queue| class(queue) == CauseClass::Serial) {
        return Some(CountedCauses { causes: vec![serial], queue: None });
    }
    let from = queue.and_then(place);
    let mut served: Vec<&TimeShare> = account
        .shares
        .iter()
        .filter(|share| class(share) != CauseClass::Line && (from.is_none() || place(share) >= from))
        .collect();
    served.sort_by_key(|share| std::cmp::Reverse(share.time_ns));
    let largest = served.first().copied().or_else(|| account.shares.iter().max_by_key(|one| one.time_ns))?;
    let is_tie = |share: &&&TimeShare| {
        share.layer != largest.layer && share.time_ns as f64 >= largest.time_ns as f64 * TIE
    };
    let second = served.iter().skip(1).find(is_tie).copied();
    Some(CountedCauses { causes: std::iter::once(largest).chain(second).collect(), queue })
}

/// Returns the limit of a cell from its account, if it has one. `place` names the cell.
pub(super) fn counted(record: &RunRecord, cell: &Cell, place: &CellLimit) -> Option<CellLimit> {
    let model = record.header.model.as_ref()?;
    let account = cell_account(cell)?;
    let CountedCauses { causes, queue } = counted_causes(model, &account)?;
    let account = &account.account;
    let words = |share: &TimeShare| {
        let name = model.cause(share).map_or_else(|| Text::same(&share.cause), |cause| cause.name.clone());
        let layer = &share.layer;
        text!("\"{name}\" ({layer})", "「{name}」({layer})"; name)
    };
    let in_line = |share: &&TimeShare| model.cause(share).is_some_and(|cause| cause.in_line);
    let share = |part_ns: u64, whole_ns: u64| number::percent(part_ns as f64 / whole_ns as f64);
    let named_ns = causes.iter().fold(0, |sum: u64, share| sum.saturating_add(share.time_ns));
    let evidence = match queue {
        None => {
            let share = share(named_ns, account.latency_ns);
            text!(
                "it takes {share} of the time, counted by the model",
                "モデルの集計では、時間の {share} を占めます"
            )
        }
        Some(queue) => {
            let in_lines = account.shares.iter().filter(in_line).map(|share| share.time_ns);
            let lines_ns = in_lines.fold(0, u64::saturating_add);
            let waited = share(queue.time_ns, account.latency_ns);
            let rest = share(named_ns, account.latency_ns.saturating_sub(lines_ns));
            let line = words(queue);
            text!(
                "an operation waits in a queue for {waited} of its time ({line}) while others are served; of the service \
                 time, this takes {rest}, counted by the model",
                "1 操作の時間の {waited} は順番待ち({line})です。それを除いた時間の {rest} を、このボトルネックが占めます\
                 (モデルによる集計)"; line
            )
        }
    };
    let sentence = match causes.as_slice() {
        [first, second] => {
            let (first, second) = (words(first), words(second));
            text!("{first} and {second} alike", "{first}と{second}(同程度)"; first, second)
        }
        causes => words(causes.first()?),
    };
    let flush = flush_of(cell, model, causes[0]);
    let from_memory = is_from_memory(cell, Some(model));
    let kind = match () {
        () if from_memory => LimitKind::HostMemory,
        () if flush.is_some() => LimitKind::Flush,
        () => LimitKind::Cause,
    };
    let sentence = match flush {
        Some(flush) => text!("{flush}: {sentence}", "{flush}: {sentence}"; flush, sentence),
        None => sentence,
    };
    let limit = Limit { kind, strength: Strength::Exact, sentence, evidence, next: None };
    Some(CellLimit { limit, ..place.clone() })
}

/// Returns the name of the flush if the largest cause belongs to it: separate flushes take half of
/// the time, or each write includes one and the cause is work that only writes need.
fn flush_of(cell: &Cell, model: &ModelRecord, cause: &TimeShare) -> Option<Text> {
    let is_writing = model.cause(cause).is_some_and(|cause| cause.class == CauseClass::Writing);
    match cell_flush(cell)? {
        CellFlush::Separate(flush) => {
            flush.share.is_some_and(|share| share >= MOSTLY).then(|| super::flush::the_flush(flush.call))
        }
        CellFlush::Included(call) => is_writing.then(|| super::flush::in_each_write(call)),
    }
}
