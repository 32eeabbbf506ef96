//! A trace as a source of operations.
//!
//! The operations are issued in the order of the trace, regardless of the calling thread. Offsets
//! of the trace are mapped to the span. Ranges are extended to whole blocks of the alignment,
//! because a device does not accept partial blocks, and are taken modulo the length of the span if
//! they exceed it. All units of the trace share the span. The resulting changes are counted before
//! the first operation so that they can be reported.
//!
//! `Fast` issues an operation whenever it is asked. `Closed` keeps the trace's pauses: two
//! operations are at least as far apart as in the trace, so a slow target delays all later ones,
//! and latency is measured from the submission. `Think` keeps the pauses from the completion of an
//! operation to the start of the next, so that a slow target receives the same requests as the
//! recorded one, with one operation in flight. `Readers` keeps those pauses within each unit
//! (`readers.rs`). `Timestamps` is an open loop: an operation is due at its recorded time divided
//! by the speed, and its latency is measured from then, whether or not the target keeps up.

use crate::drive::readers::{Demand, Readers};
use crate::drive::rest::SYNC;
use crate::drive::source::{Next, Source};
use kurabe_core::mention::{SIZE, TIMING};
use kurabe_core::profile::{LARGEST_BLOCK_BYTES, ReplayTiming};
use kurabe_core::trace::{Trace, TraceOp};
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{ErrorKind, Result, Text, text};
use std::sync::Arc;

/// The part of a target to which a trace is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte, a multiple of the alignment.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
    /// Alignment of offsets and lengths in bytes, at least 1.
    pub alignment_bytes: u32,
}

/// The changes caused by mapping a trace to a span. An operation may be counted several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayFit {
    /// Number of operations in the trace.
    pub operations: u64,
    /// Number of operations extended to whole blocks.
    pub rounded: u64,
    /// Number of operations moved because they exceed the span.
    pub wrapped: u64,
    /// Number of operations shortened because they are longer than the span or than the maximum
    /// length.
    pub cut: u64,
    /// Number of files or disks in the trace.
    pub units: u64,
    /// Length of the longest operation after the mapping, in bytes, which is the required buffer
    /// size.
    pub longest_bytes: u32,
}

impl ReplayFit {
    /// Returns a remark about the changes. `None` if the trace is replayed unchanged.
    pub(crate) fn remark(&self) -> Option<Text> {
        let Self { operations, rounded, wrapped, cut, units, .. } = *self;
        if rounded == 0 && wrapped == 0 && cut == 0 && units <= 1 {
            return None;
        }
        let mut remark = text!(
            "of {operations} operations of the trace, {rounded} were widened to whole blocks, {wrapped} \
             moved into the span and {cut} shortened",
            "トレースの {operations} 個の操作のうち、{rounded} 個をブロック単位に広げ、{wrapped} 個を対象範囲内に移し、{cut} 個を短くしました"
        );
        if units > 1 {
            remark.push(&text!(
                "; the {units} files or disks in the trace share the span",
                "。{units} 個のファイルまたはディスクが同じ範囲を共有します"
            ));
        }
        Some(remark)
    }
}

/// A mapped operation, and how it was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MappedOperation {
    offset_bytes: u64,
    length_bytes: u32,
    rounded: bool,
    wrapped: bool,
    cut: bool,
}

impl Span {
    /// Returns the length of the span in whole blocks, in bytes.
    fn usable_bytes(&self) -> u64 {
        self.length_bytes - self.length_bytes % u64::from(self.alignment_bytes)
    }

    /// Maps a read or write. The span must contain at least one whole block.
    fn place(&self, operation: &TraceOp) -> MappedOperation {
        let (block, usable) = (u64::from(self.alignment_bytes), self.usable_bytes());
        // 128 bits, because a rounded-up end may exceed 2^64.
        let end = u128::from(operation.offset_bytes) + u128::from(operation.length_bytes);
        let start = operation.offset_bytes - operation.offset_bytes % block;
        let widened = (end.next_multiple_of(u128::from(block)) - u128::from(start)) as u64;
        let longest = usable.min(LARGEST_BLOCK_BYTES).min(u64::from(u32::MAX));
        let length = widened.min((longest - longest % block).max(block));
        let inside = start % usable;
        let offset = inside.min(usable - length);
        MappedOperation {
            offset_bytes: self.offset_bytes + offset,
            length_bytes: length as u32,
            rounded: start != operation.offset_bytes || widened != u64::from(operation.length_bytes),
            wrapped: offset != start,
            cut: length != widened,
        }
    }
}

/// Issues the operations of a trace.
#[derive(Clone, Debug)]
pub(crate) struct ReplaySource {
    trace: Arc<Trace>,
    timing: ReplayTiming,
    span: Span,
    /// The changes caused by mapping the trace to the span.
    pub(crate) fit: ReplayFit,
    /// Index of the next operation in the trace.
    next: usize,
    /// `Closed`, `Think`: earliest time of the next operation, in ns from the start.
    ready_ns: u64,
    /// `Think`: index of the operation to which that time applies. The first one does not wait.
    asked: usize,
    /// `Readers`: the readers of the trace.
    readers: Option<Readers>,
}

impl ReplaySource {
    /// Creates a source that starts with the first operation.
    ///
    /// # Errors
    /// Fails if the span has no whole block, if the timing needs times that the trace lacks, or if
    /// the speed is invalid.
    pub(crate) fn new(trace: Arc<Trace>, timing: ReplayTiming, span: Span) -> Result<Self> {
        if span.usable_bytes() == 0 {
            let (length, block) = (span.length_bytes, span.alignment_bytes);
            return Err(ErrorKind::Target
                .error(text!(
                    "cannot replay a trace in {length} bytes, less than a block of {block}",
                    "{length} バイトはブロック({block} バイト)より小さく、トレースを再現できません"
                ))
                .remedy(text!(
                    "use a larger target or {SIZE}",
                    "もっと大きな対象か {SIZE} を指定してください"
                )));
        }
        if timing != ReplayTiming::Fast && !trace.timed {
            let format = &trace.format;
            return Err(ErrorKind::DataFile
                .error(text!(
                    "the trace ({format}) contains no times to reproduce",
                    "トレース({format})には再現すべき時刻がありません"
                ))
                .remedy(text!(
                    "replay it with {TIMING} fast; in a profile: timing = \"fast\"",
                    "{TIMING} fast で再生してください。プロファイルでは timing = \"fast\" です"
                )));
        }
        if timing == ReplayTiming::Think && trace.operations.iter().all(|operation| operation.took_ns == 0) {
            let format = &trace.format;
            return Err(ErrorKind::DataFile
                .error(text!(
                    "the trace ({format}) does not record how long its operations took",
                    "トレース({format})には各操作の所要時間がありません"
                ))
                .remedy(text!(
                    "replay it with {TIMING} closed; in a profile: timing = \"closed\"",
                    "{TIMING} closed で再生してください。プロファイルでは timing = \"closed\" です"
                )));
        }
        if let ReplayTiming::Timestamps { speed } = timing
            && !(speed.is_finite() && speed > 0.0)
        {
            return Err(ErrorKind::DataFile
                .error(text!("{speed} is not a valid speed", "{speed} は速さとして使えません"))
                .remedy(text!(
                    "use a number above 0; 2 is twice as fast",
                    "0 より大きい数を指定してください。2 なら 2 倍の速さです"
                )));
        }
        let mut fit = fit(&trace, &span);
        let readers = (timing == ReplayTiming::Readers).then(|| Readers::new(&trace));
        if readers.is_some() {
            // They share the span intentionally.
            fit.units = 1;
        }
        Ok(Self { trace, timing, span, fit, next: 0, asked: 0, ready_ns: 0, readers })
    }

    /// Returns the next operation of any reader.
    fn draw_of_readers(&mut self, now_ns: u64) -> Option<Next> {
        let asked = self.readers.as_mut()?.ask(now_ns);
        Some(match asked {
            Demand::Operation { reader, place } => {
                let op = self.op(&self.trace.operations[place]);
                self.readers.as_mut()?.sent(reader, op);
                Next::Op { op, due_ns: None }
            }
            Demand::NotBefore(at_ns) => Next::NotBefore(at_ns),
            Demand::End => Next::End,
        })
    }

    fn op(&self, operation: &TraceOp) -> Op {
        if operation.kind == OpKind::Sync {
            return SYNC;
        }
        let MappedOperation { offset_bytes, length_bytes, .. } = self.span.place(operation);
        Op { kind: operation.kind, offset_bytes, length_bytes }
    }
}

fn fit(trace: &Trace, span: &Span) -> ReplayFit {
    let mut fit = ReplayFit {
        operations: trace.operations.len() as u64,
        units: trace.units.len() as u64,
        longest_bytes: span.alignment_bytes,
        ..ReplayFit::default()
    };
    for operation in trace.operations.iter().filter(|operation| operation.kind != OpKind::Sync) {
        let placed = span.place(operation);
        fit.rounded += u64::from(placed.rounded);
        fit.wrapped += u64::from(placed.wrapped);
        fit.cut += u64::from(placed.cut);
        fit.longest_bytes = fit.longest_bytes.max(placed.length_bytes);
    }
    fit
}

impl Source for ReplaySource {
    const HEARS_ENDS: bool = true;

    fn next(&mut self, now_ns: u64) -> Next {
        if let Some(next) = self.draw_of_readers(now_ns) {
            return next;
        }
        let Some(operation) = self.trace.operations.get(self.next).copied() else { return Next::End };
        if self.timing == ReplayTiming::Think && self.asked != self.next {
            // The first request for this operation means that the previous one is complete.
            self.asked = self.next;
            let before = &self.trace.operations[self.next - 1];
            let end_ns = before.at_ns.saturating_add(u64::from(before.took_ns));
            self.ready_ns = now_ns.saturating_add(operation.at_ns.saturating_sub(end_ns));
        }
        let due_ns = match self.timing {
            ReplayTiming::Fast => None,
            ReplayTiming::Closed | ReplayTiming::Think if self.ready_ns > now_ns => {
                return Next::NotBefore(self.ready_ns);
            }
            ReplayTiming::Closed | ReplayTiming::Think | ReplayTiming::Readers => None,
            ReplayTiming::Timestamps { speed } => match (operation.at_ns as f64 / speed) as u64 {
                due_ns if due_ns > now_ns => return Next::NotBefore(due_ns),
                due_ns => Some(due_ns),
            },
        };
        self.next += 1;
        let following = self.trace.operations.get(self.next);
        let pause_ns = following.map_or(0, |following| following.at_ns.saturating_sub(operation.at_ns));
        if self.timing == ReplayTiming::Closed {
            self.ready_ns = now_ns.saturating_add(pause_ns);
        }
        Next::Op { op: self.op(&operation), due_ns }
    }

    fn ended(&mut self, op: Op, now_ns: u64) {
        if let Some(readers) = &mut self.readers {
            readers.ended(op, now_ns, &self.trace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::content::Content;
    use crate::drive::device_idle::NoBuffer;
    use crate::drive::device_null::{NullDevice, Script};
    use crate::drive::driver::{Plan, ThreadOutcome, drive, filled_buffers};
    use crate::drive::recorder::Recorder;
    use kurabe_core::device::{Completion, Device, Submission, Wait};
    use kurabe_core::workload::Data;
    use kurabe_program::Stop;
    use proptest::prelude::*;
    use std::sync::Mutex;

    use OpKind::{Read, Sync, Write};
    use ReplayTiming::{Closed, Fast, Readers, Think, Timestamps};

    /// The null device, with a list of submissions and their times.
    struct Witness {
        device: NullDevice,
        seen: Vec<(u64, Op)>,
    }

    impl Device for Witness {
        type Buffer = NoBuffer;

        fn take_buffers(&mut self) -> Vec<NoBuffer> {
            self.device.take_buffers()
        }

        fn now_ns(&mut self) -> u64 {
            self.device.now_ns()
        }

        fn submit(&mut self, request: Submission<NoBuffer>, now_ns: u64) -> Result<u64> {
            self.seen.push((now_ns, request.op));
            self.device.submit(request, now_ns)
        }

        fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<NoBuffer>)) -> Result<()> {
            self.device.reap(wait, done)
        }
    }

    fn trace_of(operations: &[(u64, OpKind, u64, u32)]) -> Arc<Trace> {
        let operations = operations
            .iter()
            .map(|&(at_ns, kind, offset_bytes, length_bytes)| TraceOp {
                at_ns,
                kind,
                offset_bytes,
                length_bytes,
                unit: 0,
                took_ns: 0,
            })
            .collect();
        let trace = Trace {
            format: "test".to_owned(),
            units: vec!["a".to_owned()],
            operations,
            timed: true,
            ..Trace::default()
        };
        assert_eq!(trace.flaw(), None);
        Arc::new(trace)
    }

    const SPAN: Span = Span { offset_bytes: 1 << 20, length_bytes: 1 << 20, alignment_bytes: 512 };

    fn replay(
        source: &mut impl Source,
        depth: usize,
        latency_ns: u64,
        time_ns: Option<u64>,
    ) -> (Vec<(u64, Op)>, ThreadOutcome, kurabe_core::record::Repetition) {
        let script = Script { latency_ns, ..Script::default() };
        let mut device = Witness { device: NullDevice::new(depth, script), seen: Vec::new() };
        let mut content = Content::new(Data::Zero, 1, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let mut recorder = Recorder::new(None);
        let plan = Plan::plain(time_ns, false);
        let stop = Stop::default();
        let outcome = drive(&mut device, buffers, source, &mut content, &plan, &mut recorder, &stop);
        (device.seen, outcome.expect("it runs"), Recorder::merge(&[recorder]))
    }

    fn op(kind: OpKind, offset_bytes: u64, length_bytes: u32) -> Op {
        Op { kind, offset_bytes, length_bytes }
    }

    const BASE: u64 = 1 << 20;

    fn four() -> Arc<Trace> {
        trace_of(&[
            (0, Read, 0, 4096),
            (10_000, Write, 8192, 512),
            (10_500, Sync, 0, 0),
            (40_000, Read, 4096, 1024),
        ])
    }

    fn with_times(times: [u64; 4]) -> Vec<(u64, Op)> {
        let ops =
            [op(Read, BASE, 4096), op(Write, BASE + 8192, 512), op(Sync, 0, 0), op(Read, BASE + 4096, 1024)];
        times.into_iter().zip(ops).collect()
    }

    #[test]
    fn fast_waits_for_room_in_the_queue_only() {
        let mut source = ReplaySource::new(four(), Fast, SPAN).unwrap();
        let (seen, outcome, recorded) = replay(&mut source, 1, 1000, None);
        assert_eq!(seen, with_times([0, 1000, 2000, 3000]));
        assert_eq!(outcome.last_completion_ns, 4000);
        assert_eq!((recorded.read.completed, recorded.write.completed, recorded.sync.completed), (2, 1, 1));
        let mut source = ReplaySource::new(four(), Fast, SPAN).unwrap();
        assert_eq!(replay(&mut source, 2, 1000, None).0, with_times([0, 0, 1000, 1000]));
    }

    #[test]
    fn timestamps_make_operations_due_and_count_latency_from_then() {
        let mut source = ReplaySource::new(four(), Timestamps { speed: 2.0 }, SPAN).unwrap();
        let (seen, _, recorded) = replay(&mut source, 1, 1000, None);
        // Due at 0, 5000, 5250 and 20,000. The sync waits for the write before it.
        assert_eq!(seen, with_times([0, 5000, 6000, 20_000]));
        assert_eq!(recorded.write.latency.max_ns, 1000);
        assert_eq!(recorded.sync.latency.max_ns, 1750);
    }

    #[test]
    fn closed_keeps_the_pauses_and_passes_delays_on() {
        let mut source = ReplaySource::new(four(), Closed, SPAN).unwrap();
        let (seen, _, recorded) = replay(&mut source, 1, 15_000, None);
        // Pauses of 10,000, 500 and 29,500. The device takes 15,000 each time.
        assert_eq!(seen, with_times([0, 15_000, 30_000, 59_500]));
        assert_eq!(recorded.sync.latency.max_ns, 15_000);
        let mut source = ReplaySource::new(four(), Closed, SPAN).unwrap();
        assert_eq!(replay(&mut source, 4, 1000, None).0, with_times([0, 10_000, 10_500, 40_000]));
    }

    #[test]
    fn think_keeps_the_pauses_after_an_operation_however_long_that_takes() {
        let mut trace = Arc::unwrap_or_clone(four());
        for operation in &mut trace.operations {
            operation.took_ns = 400;
        }
        let trace = Arc::new(trace);
        // Pauses of 9,600, 100 and 29,100 after operations of 15,000 and of 100.
        for (takes_ns, starts_ns) in [(15_000, [0, 24_600, 39_700, 83_800]), (100, [0, 9700, 9900, 39_100])] {
            let mut source = ReplaySource::new(Arc::clone(&trace), Think, SPAN).unwrap();
            assert_eq!(replay(&mut source, 1, takes_ns, None).0, with_times(starts_ns));
        }
    }

    #[test]
    fn a_reader_waits_for_its_own_operations_and_no_others() {
        let mut trace = Arc::unwrap_or_clone(trace_of(&[
            (0, Read, 0, 512),
            (0, Read, 8192, 512),
            (100, Read, 512, 512),
            (300, Read, 1024, 512),
            (5000, Read, 8704, 512),
        ]));
        trace.units.push("b".to_owned());
        for place in [1, 4] {
            trace.operations[place].unit = 1;
        }
        let trace = Arc::new(trace);
        let read = |place: usize| op(Read, BASE + trace.operations[place].offset_bytes, 512);
        // Pauses of 100 and 200 in one reader, and of 5000 in the other. A queue depth above the
        // number of readers has no effect.
        for depth in [2, 4] {
            let mut source = ReplaySource::new(Arc::clone(&trace), Readers, SPAN).unwrap();
            let (seen, ..) = replay(&mut source, depth, 1000, None);
            let expected = [(0, read(0)), (0, read(1)), (1100, read(2)), (2300, read(3)), (6000, read(4))];
            assert_eq!(seen, expected);
            assert_eq!(source.fit.remark(), None);
        }
        // With a queue depth of one, the readers alternate, and a reader's pause never delays
        // another reader.
        let mut source = ReplaySource::new(Arc::clone(&trace), Readers, SPAN).unwrap();
        let (seen, ..) = replay(&mut source, 1, 1000, None);
        assert_eq!(seen, [(0, read(0)), (1000, read(1)), (2000, read(2)), (3200, read(3)), (7000, read(4))]);
    }

    #[test]
    fn what_was_due_but_not_issued_is_told() {
        let mut source = ReplaySource::new(four(), Timestamps { speed: 1.0 }, SPAN).unwrap();
        let (seen, outcome, _) = replay(&mut source, 1, 30_000, Some(20_000));
        assert_eq!(seen.len(), 1);
        assert_eq!(outcome.unserved, 2);
    }

    #[test]
    fn threads_share_one_order_behind_a_lock() {
        let shared = Mutex::new(ReplaySource::new(four(), Fast, SPAN).unwrap());
        let (mut one, mut other) = (&shared, &shared);
        let offset = |next: Next| match next {
            Next::Op { op, .. } => Some(op.offset_bytes),
            _ => None,
        };
        assert_eq!(offset(one.next(0)), Some(BASE));
        assert_eq!(offset(other.next(0)), Some(BASE + 8192));
        assert_eq!(offset(one.next(0)), Some(0));
        assert_eq!(offset(one.next(0)), Some(BASE + 4096));
        assert_eq!(other.next(0), Next::End);
    }

    #[test]
    fn places_are_widened_wrapped_and_cut_and_that_is_counted() {
        let span = Span { offset_bytes: 4096, length_bytes: 20_000, alignment_bytes: 4096 };
        let trace = trace_of(&[
            (0, Read, 0, 4096),
            (0, Read, 4095, 2),
            (0, Write, 16_384, 4096),
            (0, Write, 12_288, 8192),
            (0, Read, 0, 40_960),
            (0, Read, u64::MAX - 9, 9),
            (0, Sync, 0, 0),
        ]);
        let mut source = ReplaySource::new(trace, Fast, span).unwrap();
        let expected =
            ReplayFit { operations: 7, rounded: 2, wrapped: 3, cut: 1, units: 1, longest_bytes: 16_384 };
        assert_eq!(source.fit, expected);
        assert!(source.fit.remark().is_some());
        let mut ops = Vec::new();
        while let Next::Op { op, due_ns: None } = source.next(0) {
            ops.push(op);
        }
        let expected = [
            op(Read, 4096, 4096),
            op(Read, 4096, 8192),
            op(Write, 4096, 4096),
            op(Write, 4096 + 8192, 8192),
            op(Read, 4096, 16_384),
            op(Read, 4096 + 12_288, 4096),
            op(Sync, 0, 0),
        ];
        assert_eq!(ops, expected);
        assert_eq!(ReplaySource::new(four(), Fast, SPAN).unwrap().fit.remark(), None);
    }

    #[test]
    fn what_cannot_be_done_again_is_refused_with_a_remedy() {
        let refused = |trace: Arc<Trace>, timing, span| {
            let error = ReplaySource::new(trace, timing, span).unwrap_err();
            assert!(error.remedy_text().is_some());
            error.kind()
        };
        assert_eq!(refused(four(), Fast, Span { length_bytes: 511, ..SPAN }), ErrorKind::Target);
        let untimed = Arc::new(Trace {
            timed: false,
            units: vec!["a".to_owned()],
            operations: four().operations[..1].to_vec(),
            ..Trace::default()
        });
        assert_eq!(refused(Arc::clone(&untimed), Closed, SPAN), ErrorKind::DataFile);
        assert_eq!(refused(Arc::clone(&untimed), Timestamps { speed: 1.0 }, SPAN), ErrorKind::DataFile);
        assert!(ReplaySource::new(untimed, Fast, SPAN).is_ok());
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(four(), Timestamps { speed }, SPAN), ErrorKind::DataFile);
        }
    }

    proptest! {
        #[test]
        fn every_operation_stays_in_the_span(
            offset_bytes in prop_oneof![any::<u64>(), 0..100_000_u64],
            length_bytes in prop_oneof![1..=u32::MAX, 1..100_000_u32],
            span_bytes in prop_oneof![4096..(1_u64 << 33), 4096..100_000_u64],
            shift in 0..13_u32,
        ) {
            let length_bytes = u32::try_from((u64::MAX - offset_bytes).min(u64::from(length_bytes))).unwrap();
            prop_assume!(length_bytes > 0);
            let span = Span { offset_bytes: 1 << 20, length_bytes: span_bytes, alignment_bytes: 1 << shift };
            let block = u64::from(span.alignment_bytes);
            let trace = trace_of(&[(0, Write, offset_bytes, length_bytes)]);
            let mut source = ReplaySource::new(trace, Fast, span).unwrap();
            let fit = source.fit;
            let Next::Op { op, due_ns: None } = source.next(0) else { panic!("an operation") };
            let (start, length) = (op.offset_bytes, u64::from(op.length_bytes));
            prop_assert!(length > 0 && op.length_bytes <= fit.longest_bytes);
            prop_assert!(start.is_multiple_of(block) && length.is_multiple_of(block));
            prop_assert!(start >= span.offset_bytes && start + length <= span.offset_bytes + span_bytes);
            if fit.rounded + fit.wrapped + fit.cut == 0 {
                prop_assert_eq!((start - span.offset_bytes, op.length_bytes), (offset_bytes, length_bytes));
            }
        }
    }
}
