//! Assembles operations from events: finds the event that begins each operation and the one that
//! ends it, and counts what cannot be replayed.
//!
//! An operation in flight is identified by its device, its verb and the first sector of its
//! remaining part. A request may complete in parts, each from its start. A flush has no sector;
//! flushes complete in the order in which they begin. A completion that matches nothing began
//! before the recording, or belongs to a command that is not recorded.

use crate::event::{BlockEvent, Tracepoint};
use crate::instance::Recording;
use kurabe_core::trace::{BlockVerb, Trace, TraceOp};
use kurabe_core::{text, workload::OpKind};
use kurabe_host::{Number, SECTOR_BYTES};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A device that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// Kernel name.
    pub name: String,
    /// Device numbers in its events.
    pub numbers: Vec<Number>,
    /// Whether it has a request queue.
    pub requests: bool,
    /// First sector on its disk.
    pub start_sector: u64,
    /// End of its sectors on the disk; the largest number for a whole device.
    pub end_sector: u64,
}

impl Watched {
    fn holds(&self, event: &BlockEvent, flush: bool) -> bool {
        let (start, end) = (self.start_sector, self.end_sector);
        self.numbers.contains(&event.device) && (flush || (start..end).contains(&event.sector))
    }
}

/// Operations that reached the devices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RecordedTrace {
    /// Operations in the order of their issue. Its units are the devices in the order in which they
    /// were passed to [`crate::BlockTrace::start`], by kernel name.
    pub trace: Trace,
    /// Time from issue to completion of each operation, in ns with a resolution of 1 µs; `None` if
    /// the completion was not recorded.
    pub latencies_ns: Vec<Option<u64>>,
    /// Number of lost events: if there are any, operations or completions are missing.
    pub lost_events: u64,
    /// Number of discards, which are not among the operations.
    pub discards: u64,
}

impl RecordedTrace {
    /// Returns the latency at this fraction of the operations whose completion was recorded, in
    /// order of latency.
    pub fn latency_ns(&self, fraction: f64) -> Option<u64> {
        let mut latencies: Vec<u64> = self.latencies_ns.iter().copied().flatten().collect();
        latencies.sort_unstable();
        latencies.get(((latencies.len().saturating_sub(1)) as f64 * fraction) as usize).copied()
    }
}

/// Operations or requests in flight, by the key that identifies their end, the oldest first.
pub(crate) type Flights<K, T> = HashMap<K, VecDeque<T>>;

/// Removes and returns the oldest entry with this key.
pub(crate) fn land<K: Eq + Hash, T>(flights: &mut Flights<K, T>, key: &K) -> Option<T> {
    let same = flights.get_mut(key)?;
    let first = same.pop_front();
    if same.is_empty() {
        flights.remove(key);
    }
    first
}

/// Identity of an operation in flight: watched device, verb, next sector.
type OperationKey = (usize, OpKind, u64);

/// An operation in flight: its index, and the sectors that remain.
struct QueuedOperation {
    index: usize,
    rest_sectors: u32,
}

#[derive(Default)]
struct Assembly {
    trace: Trace,
    /// Completion times by operation.
    ends_ns: Vec<Option<u64>>,
    /// Operations that the driver requeued: their next issue counts.
    given_back: Vec<bool>,
    flights: Flights<OperationKey, QueuedOperation>,
    discards: u64,
}

/// Assembles a trace from events.
pub(crate) fn assemble(watched: &[Watched], recording: Recording) -> RecordedTrace {
    let Recording { mut events, lost } = recording;
    // The buffers of the CPUs are read alternately. Events that begin an operation sort before
    // those that end one in the same µs.
    events.sort_by_key(|event| {
        (event.at_ns, matches!(event.tracepoint, Tracepoint::Completed | Tracepoint::Ended))
    });
    let mut assembly = Assembly::default();
    assembly.trace.format = "block-trace".to_owned();
    assembly.trace.timed = true;
    assembly.trace.units = watched.iter().map(|one| one.name.clone()).collect();
    for event in &events {
        let flush = flushes_only(event);
        for (index, one) in watched.iter().enumerate() {
            if one.holds(event, flush) {
                assembly.take(index, one, event, flush);
            }
        }
    }
    assembly.finish(lost)
}

/// Returns whether the event is a flush, or an empty write with a preflush, which is how a flush
/// reaches a device without requests.
fn flushes_only(event: &BlockEvent) -> bool {
    event.letters.verb == BlockVerb::Flush || (event.letters.flush_before && event.sectors == 0)
}

impl Assembly {
    fn take(&mut self, unit: usize, watched: &Watched, event: &BlockEvent, flush: bool) {
        let kind = match event.letters.verb {
            _ if flush => OpKind::Sync,
            BlockVerb::Read => OpKind::Read,
            BlockVerb::Write => OpKind::Write,
            BlockVerb::Discard if matches!(event.tracepoint, Tracepoint::Queued | Tracepoint::Issued) => {
                self.discards += 1;
                self.trace.leave_out(1, text!("discards (trims)", "破棄(TRIM)"));
                return;
            }
            BlockVerb::Other if matches!(event.tracepoint, Tracepoint::Queued | Tracepoint::Issued) => {
                self.trace.leave_out(
                    1,
                    text!("commands that are neither reads nor writes", "読み書き以外のコマンド"),
                );
                return;
            }
            _ => return,
        };
        let key = (unit, kind, if flush { 0 } else { event.sector });
        match event.tracepoint {
            Tracepoint::Queued | Tracepoint::Issued => self.begin(key, watched, event),
            Tracepoint::Completed | Tracepoint::Ended => self.end(key, event),
            Tracepoint::Requeued => self.give_back(key),
        }
    }

    fn begin(&mut self, key: OperationKey, watched: &Watched, event: &BlockEvent) {
        let (unit, kind, _) = key;
        let bytes = u64::from(event.sectors) * SECTOR_BYTES;
        let Some((offset_bytes, length_bytes)) = (match kind {
            OpKind::Sync => Some((0, 0)),
            _ if event.sectors == 0 => None,
            // Within the device, so not larger than it; a request is far below 4 GiB.
            _ => event
                .sector
                .checked_sub(watched.start_sector)
                .and_then(|sector| sector.checked_mul(SECTOR_BYTES))
                .zip(u32::try_from(bytes).ok())
                .filter(|(offset, _)| offset.checked_add(bytes).is_some()),
        }) else {
            self.trace
                .leave_out(1, text!("commands that are neither reads nor writes", "読み書き以外のコマンド"));
            return;
        };
        let operation =
            TraceOp { at_ns: event.at_ns, kind, offset_bytes, length_bytes, unit: unit as u32, took_ns: 0 };
        // A device without requests may receive a flush and a write in one.
        if event.letters.flush_before && kind == OpKind::Write {
            self.push(TraceOp { kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0, ..operation });
        }
        if event.letters.forced {
            self.trace.leave_out(
                1,
                text!(
                    "forced unit access (FUA) of writes, which are recorded as plain writes",
                    "書き込みの FUA 指定(書き込み自体は通常の書き込みとして残します)"
                ),
            );
        }
        let index = self.push(operation);
        self.flights
            .entry(key)
            .or_default()
            .push_back(QueuedOperation { index, rest_sectors: event.sectors });
    }

    fn push(&mut self, operation: TraceOp) -> usize {
        self.trace.operations.push(operation);
        self.ends_ns.push(None);
        self.given_back.push(false);
        self.trace.operations.len() - 1
    }

    fn end(&mut self, key: OperationKey, event: &BlockEvent) {
        let (unit, kind, sector) = key;
        // The end of a flush is reported a second time, as that of an empty write.
        if kind != OpKind::Sync && event.sectors == 0 {
            return;
        }
        let Some(flight) = land(&mut self.flights, &key) else { return };
        match flight.rest_sectors.checked_sub(event.sectors) {
            Some(rest_sectors) if rest_sectors > 0 => {
                let next = (unit, kind, sector + u64::from(event.sectors));
                let flight = QueuedOperation { rest_sectors, ..flight };
                self.flights.entry(next).or_default().push_back(flight);
            }
            _ => self.ends_ns[flight.index] = Some(event.at_ns),
        }
    }

    fn give_back(&mut self, key: OperationKey) {
        if let Some(flight) = land(&mut self.flights, &key) {
            self.given_back[flight.index] = true;
        }
    }

    fn finish(self, lost_events: u64) -> RecordedTrace {
        let Self { mut trace, ends_ns, given_back, discards, .. } = self;
        let begun = std::mem::take(&mut trace.operations);
        let mut latencies_ns = Vec::with_capacity(begun.len());
        for ((operation, end_ns), given_back) in begun.into_iter().zip(ends_ns).zip(given_back) {
            if !given_back {
                trace.operations.push(operation);
                latencies_ns.push(end_ns.map(|end_ns| end_ns.saturating_sub(operation.at_ns)));
            }
        }
        // They are in order already: this only shifts the times to begin at the first operation.
        trace.settle();
        RecordedTrace { trace, latencies_ns, lost_events, discards }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Read, read_line};
    use super::*;
    use proptest::prelude::*;

    fn disk(requests: bool) -> Watched {
        Watched {
            name: "loop0".to_owned(),
            numbers: vec![(7, 0)],
            requests,
            start_sector: 0,
            end_sector: u64::MAX,
        }
    }

    fn recording(lines: &str) -> Recording {
        let events = lines
            .lines()
            .filter_map(|line| match read_line(line) {
                Read::Event(event) => Some(event),
                _ => None,
            })
            .collect();
        Recording { events, lost: 0 }
    }

    type Short = (u64, OpKind, u64, u32, Option<u64>);

    fn short(recorded: &RecordedTrace) -> Vec<Short> {
        assert_eq!(recorded.trace.flaw(), None);
        assert_eq!(recorded.latencies_ns.len(), recorded.trace.operations.len());
        let one = |(op, latency): (&TraceOp, &Option<u64>)| {
            (op.at_ns, op.kind, op.offset_bytes, op.length_bytes, *latency)
        };
        recorded.trace.operations.iter().zip(&recorded.latencies_ns).map(one).collect()
    }

    use OpKind::{Read as R, Sync as S, Write as W};

    #[test]
    fn a_captured_recording_becomes_operations_with_latencies() {
        let lines = "
              dd-16737   [001] .....  1075.053808: block_rq_issue: 7,0 WS 8192 () 48 + 16 be,0,4 [dd]
     ksoftirqd/1-22      [001] ..s..  1075.054365: block_rq_complete: 7,0 WS () 48 + 16 be,0,4 [0]
    kworker/1:1H-44      [001] .....  1075.054416: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [kworker/1:1H]
              dd-16738   [001] .....  1075.054500: block_rq_issue: 7,0 WS 512 () 0 + 1 be,0,4 [dd]
     ksoftirqd/1-22      [001] ..s..  1075.054657: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
     ksoftirqd/1-22      [001] d.s1.  1075.054657: block_rq_complete: 7,0 WS () 0 + 0 be,0,4 [0]
     ksoftirqd/1-22      [001] d.s1.  1075.054700: block_rq_complete: 7,0 WS () 0 + 1 be,0,4 [0]
      blkdiscard-16739   [001] .....  1075.060000: block_rq_issue: 7,0 D 1048576 () 2048 + 2048 be,0,4 [blkdiscard]
              dd-16738   [001] .....  1075.070000: block_rq_issue: 7,0 RA 65536 () 0 + 128 be,0,4 [dd]";
        let recorded = assemble(&[disk(true)], recording(lines));
        let expected = [
            (0, W, 48 * 512, 8192, Some(557_000)),
            (608_000, S, 0, 0, Some(241_000)),
            (692_000, W, 0, 512, Some(200_000)),
            (16_192_000, R, 0, 65536, None),
        ];
        assert_eq!(short(&recorded), expected);
        assert_eq!(recorded.discards, 1);
        assert_eq!(recorded.trace.left_out.len(), 1);
    }

    #[test]
    fn the_second_end_of_a_flush_is_no_end_of_a_write() {
        let lines = "
a-1 [000] . 1.000000: block_rq_issue: 7,0 W 512 () 0 + 1 [a]
a-1 [000] . 1.000010: block_rq_issue: 7,0 W 512 () 0 + 1 [a]
a-1 [000] . 1.000020: block_rq_complete: 7,0 WS () 0 + 0 [0]
a-1 [000] . 1.000030: block_rq_complete: 7,0 W () 0 + 1 [0]
a-1 [000] . 1.000050: block_rq_complete: 7,0 W () 0 + 1 [0]";
        let recorded = assemble(&[disk(true)], recording(lines));
        assert_eq!(short(&recorded), [(0, W, 0, 512, Some(30_000)), (10_000, W, 0, 512, Some(40_000))]);
    }

    #[test]
    fn parts_and_reissues_are_one_operation() {
        let lines = "
a-1 [000] . 1.000000: block_rq_issue: 7,0 R 8192 () 100 + 16 [a]
a-1 [000] . 1.000010: block_rq_requeue: 7,0 R () 100 + 16 [0]
a-1 [000] . 1.000020: block_rq_issue: 7,0 R 8192 () 100 + 16 [a]
a-1 [000] . 1.000050: block_rq_complete: 7,0 R () 108 + 8 [0]
a-1 [001] . 1.000040: block_rq_complete: 7,0 R () 100 + 8 [0]";
        let recorded = assemble(&[disk(true)], recording(lines));
        assert_eq!(short(&recorded), [(0, R, 51_200, 8192, Some(30_000))]);
    }

    #[test]
    fn a_device_without_requests_gets_flush_and_write_in_one() {
        let lines = "
a-1 [000] . 1.000000: block_bio_queue: 7,0 FWS 0 + 0 [a]
a-1 [000] . 1.000003: block_bio_complete: 7,0 FWS 0 + 0 [0]
a-1 [000] . 1.000005: block_bio_queue: 7,0 FWFS 8 + 8 [a]
a-1 [000] . 1.000009: block_bio_complete: 7,0 FWFS 8 + 8 [0]";
        let recorded = assemble(&[disk(false)], recording(lines));
        let expected = [(0, S, 0, 0, Some(3000)), (5000, S, 0, 0, None), (5000, W, 4096, 4096, Some(4000))];
        assert_eq!(short(&recorded), expected);
    }

    #[test]
    fn a_partition_is_given_what_lies_in_it_and_all_flushes() {
        let lines = "
a-1 [000] . 1.000000: block_rq_issue: 8,0 W 512 () 2047 + 1 [a]
a-1 [000] . 1.000001: block_rq_issue: 8,0 W 512 () 2048 + 1 [a]
a-1 [000] . 1.000002: block_rq_issue: 8,0 FF 0 () 0 + 0 [a]
a-1 [000] . 1.000003: block_rq_issue: 8,0 R 512 () 3000 + 1 [a]
a-1 [000] . 1.000004: block_rq_complete: 8,0 W () 2048 + 1 [0]";
        let part = Watched {
            name: "sda1".to_owned(),
            numbers: vec![(8, 0)],
            requests: true,
            start_sector: 2048,
            end_sector: 3000,
        };
        let recorded = assemble(&[part], recording(lines));
        assert_eq!(short(&recorded), [(0, W, 0, 512, Some(3000)), (1000, S, 0, 0, None)]);
    }

    proptest! {
        #[test]
        fn any_events_make_a_sound_trace(
            lines in prop::collection::vec(
                (0..5_usize, 0..3_u32, "F?[RWDFN]F?S?", 0..40_u64, 0..20_u32, 0..200_u32),
                0..60,
            ),
            requests in any::<bool>(),
        ) {
            let lines: Vec<String> = lines
                .into_iter()
                .map(|(tracepoint, minor, letters, sector, sectors, at)| {
                    let name = Tracepoint::NAMES[tracepoint].0;
                    let sector = if sector == 39 { u64::MAX } else { sector };
                    format!("a-1 [0] . 1.{at:06}: {name}: 7,{minor} {letters} {sector} + {sectors} [a]")
                })
                .collect();
            let part = Watched { start_sector: 3, end_sector: 30, name: "p".to_owned(), ..disk(requests) };
            let recorded = assemble(&[disk(requests), part], recording(&lines.join("\n")));
            short(&recorded);
        }
    }
}
