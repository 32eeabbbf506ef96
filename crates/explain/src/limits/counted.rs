//! The limit of a modelled cell, from the account of its time.
//!
//! The model: the limit is the cause without which the operations would be noticeably faster. For
//! operations one at a time, it is the largest cause. Operations in a queue, and the pieces of a sample,
//! wait for the service of others, so their own times don't show the limit, but the queue does: it grows
//! in front of the part that is busy. The limit is then the largest cause in the layer of the last queue and below
//! it. A part that serves one operation at a time has a queue of its own (`CauseClass::Serial`),
//! which names the part.
//!
//! Two causes are named if neither alone is the limit: their times are nearly equal; or one is of a
//! connection, which carries data while the other works, and the rate is close to what the
//! connection carries, or both take a noticeable part of the time.

use super::limit::MOSTLY;
use super::{CellLimit, Limit, LimitKind, Strength};
use crate::ceiling::ceiling;
use crate::outside::link_of;
use kurabe_core::model::{CONNECTIONS, CauseClass, LayerRecord, ModelRecord, TimeAccount, TimeShare};
use kurabe_core::record::{Cell, Repetition, RunRecord};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_stats::{CellAccount, CellFlush, cell_account, cell_flush, is_from_memory};

/// Mean number of operations in flight up to which they are served one at a time.
const ALONE: f64 = 1.2;
/// A queue in which operations spend at least this share of their time shows the limit.
const QUEUED: f64 = 0.2;
/// A cause with at least this share of the largest one is named as well.
const TIE: f64 = 0.8;
/// As `TIE`, if one of the two is of a connection and operations, or pieces of them, are in a queue.
const CONNECTION_TIE: f64 = 0.25;
/// A limit is one only if the rate could be at least this many times as high without it.
const NOTICEABLE: f64 = 1.1;

/// The causes that limit a cell, the largest first, and the queue that shows them, if one does.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedCauses {
    /// One cause, or two that limit it together.
    pub causes: Vec<TimeShare>,
    /// The queue.
    pub queue: Option<TimeShare>,
}

/// The layers and the account of a cell.
struct Counted<'a> {
    model: &'a ModelRecord,
    account: &'a TimeAccount,
}

impl<'a> Counted<'a> {
    fn class(&self, share: &TimeShare) -> CauseClass {
        self.model.cause(share).map_or(CauseClass::Line, |cause| cause.class)
    }

    /// Returns the number of layers above that of a cause.
    fn place(&self, share: &TimeShare) -> usize {
        self.model.layers.iter().position(|layer| layer.name == share.layer).unwrap_or(0)
    }

    fn is_connection(&self, share: &TimeShare) -> bool {
        let layer = self.model.layer(&share.layer);
        layer.is_some_and(|layer| CONNECTIONS.contains(&layer.kind.as_str()))
    }

    /// Returns the causes in a layer and below it, excluding queues, the largest first.
    fn served(&self, from: usize) -> Vec<&'a TimeShare> {
        let shares = self.account.shares.iter();
        let is_served =
            |share: &&TimeShare| !matches!(self.class(share), CauseClass::Line) && self.place(share) >= from;
        let mut served: Vec<&TimeShare> = shares.filter(is_served).collect();
        served.sort_by_key(|share| std::cmp::Reverse(share.time_ns));
        served
    }

    /// Returns the queue that shows the limit: the largest one, or one below it that is larger than
    /// all service there.
    fn queue(&self) -> Option<&'a TimeShare> {
        let largest = |from: usize| {
            let lines = self.account.shares.iter().filter(|share| {
                matches!(self.class(share), CauseClass::Line | CauseClass::Serial)
                    && self.place(share) >= from
            });
            lines.max_by_key(|share| share.time_ns)
        };
        let is_long = |share: &&TimeShare| share.time_ns as f64 >= self.account.latency_ns as f64 * QUEUED;
        let mut queue = largest(0).filter(is_long)?;
        while self.class(queue) == CauseClass::Line {
            let below = self.place(queue) + 1;
            let service_ns = self.served(below).first().map_or(0, |share| share.time_ns);
            match largest(below).filter(|share| share.time_ns > service_ns) {
                Some(next) => queue = next,
                None => break,
            }
        }
        Some(queue)
    }

    /// Returns a connection that carries about as much as it can if it moves so many bytes in this time. Of
    /// the time of samples, what the layers above it take is not its own.
    fn full_connection(&self, bytes: f64, time_ns: u64, is_sampled: bool) -> Option<TimeShare> {
        let above_ns = |place: usize| -> u64 {
            let above = self.account.shares.iter().filter(|share| is_sampled && self.place(share) < place);
            above.map(|share| share.time_ns).sum()
        };
        let is_full = |(place, layer): &(usize, &LayerRecord)| {
            let carried = connection_rate(layer).filter(|_| layer.instances <= 1);
            let own_s = time_ns.saturating_sub(above_ns(*place)) as f64 / 1e9;
            carried.is_some_and(|carried| bytes * NOTICEABLE > carried * own_s)
        };
        let (_, layer) = self.model.layers.iter().enumerate().find(is_full)?;
        let cause = layer.causes.iter().find(|cause| cause.class == CauseClass::Link)?;
        Some(TimeShare { layer: layer.name.clone(), cause: cause.key.clone(), time_ns: 0 })
    }
}

/// Returns the bytes of data per second that a connection of a model carries.
fn connection_rate(layer: &LayerRecord) -> Option<f64> {
    let link = link_of(layer).filter(|_| CONNECTIONS.contains(&layer.kind.as_str()))?;
    let number = |key: &str| layer.value(key)?.parse::<f64>().ok();
    // Packets of PCI Express have headers of 24 bytes.
    let packets = number("payload").map(|payload| payload / (payload + 24.0));
    Some(ceiling(&link)?.raw * packets.or_else(|| number("efficiency")).unwrap_or(1.0))
}

/// Returns the causes that limit a cell of a modelled run. `None` if no time was counted.
pub fn counted_causes(model: &ModelRecord, cell: &Cell) -> Option<CountedCauses> {
    let CellAccount { account, elapsed_ns, samples, .. } = cell_account(cell)?;
    let counted = Counted { model, account: &account };
    let is_queued = samples == 0 && account.latency_ns as f64 > elapsed_ns as f64 * ALONE;
    // The pieces of a sample are in flight together.
    let overlaps = is_queued || samples > 0;
    let queue = Some(()).filter(|()| overlaps).and_then(|()| counted.queue());
    if let Some(serial) = queue.filter(|queue| counted.class(queue) == CauseClass::Serial) {
        return Some(CountedCauses { causes: vec![serial.clone()], queue: None });
    }
    let served = counted.served(queue.map_or(0, |queue| counted.place(queue)));
    let largest = served.first().copied().or_else(|| account.shares.iter().max_by_key(|one| one.time_ns))?;
    let is_tie = |share: &&&TimeShare| {
        let is_pipelined = overlaps && (counted.is_connection(share) || counted.is_connection(largest));
        let least = if is_pipelined { CONNECTION_TIE } else { TIE };
        share.layer != largest.layer && share.time_ns as f64 >= largest.time_ns as f64 * least
    };
    // A connection above the queue works at the same time as the part below it.
    let connections = account.shares.iter().filter(|share| is_queued && counted.is_connection(share));
    let others: Vec<&TimeShare> = served.iter().copied().skip(1).chain(connections).collect();
    let second = others.iter().find(is_tie).map(|share| TimeShare::clone(share));
    let bytes = |one: &Repetition| one.bytes(cell.direction.unwrap_or(Direction::Mix)) as f64;
    let bytes = cell.counted().map(bytes).sum::<f64>();
    let (time_ns, is_sampled) = if samples > 0 { (account.latency_ns, true) } else { (elapsed_ns, false) };
    let full =
        || counted.full_connection(bytes, time_ns, is_sampled).filter(|full| full.layer != largest.layer);
    let second = second.or_else(|| full().filter(|_| overlaps));
    let causes = std::iter::once(largest.clone()).chain(second).collect();
    Some(CountedCauses { causes, queue: queue.cloned() })
}

/// Returns the limit of a cell from its account, if it has one. `place` names the cell.
pub(super) fn counted(record: &RunRecord, cell: &Cell, place: &CellLimit) -> Option<CellLimit> {
    let model = record.header.model.as_ref()?;
    let CountedCauses { causes, queue } = counted_causes(model, cell)?;
    let account = &cell_account(cell)?.account;
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
            let line = words(&queue);
            text!(
                "an operation waits in a queue for {waited} of its time ({line}) while others \
                 are served; of the service \
                 time, this takes {rest}, counted by the model",
                "1 操作の時間の {waited} は順番待ち({line})です。それを除いた時間の {rest} を、このボトルネックが占めます\
                 (モデルによる集計)"; line
            )
        }
    };
    let sentence = match causes.as_slice() {
        [first, second] => {
            let (first, second) = (words(first), words(second));
            text!("{first} and {second} together", "{first}と{second}の両方"; first, second)
        }
        causes => words(causes.first()?),
    };
    let flush = flush_of(cell, model, causes.first()?);
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
