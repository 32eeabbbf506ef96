//! A trace: recorded operations on a device that can be replayed.
//!
//! Operations are in issue order, each with a time relative to the first operation, an offset and a
//! length. Other information of a format or recorder (discards, forced unit access) is counted but
//! not stored. This module also parses the kernel's letters for block operations, because both the
//! recorder and the reader of `blkparse` text need them.

use crate::{text::Text, workload::OpKind};

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceOp {
    /// Issue time in ns, relative to the first operation of the trace.
    pub at_ns: u64,
    /// The operation's kind.
    pub kind: OpKind,
    /// Offset in bytes. 0 for a sync.
    pub offset_bytes: u64,
    /// Length in bytes. 0 for a sync, and only for a sync.
    pub length_bytes: u32,
    /// Index in [`Trace::units`] of the file, disk or application storage unit that was accessed.
    pub unit: u32,
    /// Original duration in ns, up to 4.29 s. 0 if the trace does not record it.
    pub took_ns: u32,
}

/// A trace, in the order in which operations were issued.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Trace {
    /// The format of its source, such as `fio-iolog-3`.
    pub format: String,
    /// Names of the files or disks in it, at least one.
    pub units: Vec<String>,
    /// Operations with ascending `at_ns`.
    pub operations: Vec<TraceOp>,
    /// Whether the format records times. If not, all `at_ns` are 0.
    pub timed: bool,
    /// Number of operations that followed a later one in the source and were reordered.
    pub reordered: u64,
    /// Number and reason of omitted entries: lines that are not operations that kurabe supports,
    /// such as discards.
    pub left_out: Vec<(u64, Text)>,
}

/// The totals of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TraceSummary {
    /// Number of reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Number of syncs.
    pub syncs: u64,
    /// Length of the longest operation, in bytes.
    pub longest_bytes: u32,
    /// Largest end offset of an operation, in bytes from the start of its unit.
    pub end_bytes: u64,
    /// Time from the first to the last issue, in ns.
    pub duration_ns: u64,
}

impl Trace {
    /// Counts `count` entries as omitted for one reason.
    pub fn leave_out(&mut self, count: u64, why: Text) {
        if count == 0 {
            return;
        }
        match self.left_out.iter_mut().find(|(_, reason)| *reason == why) {
            Some((sum, _)) => *sum = sum.saturating_add(count),
            None => self.left_out.push((count, why)),
        }
    }

    /// Sorts the operations by time, with a stable order for equal times, and shifts times to start
    /// at zero.
    pub fn settle(&mut self) {
        let mut latest_ns = 0;
        for operation in &self.operations {
            self.reordered += u64::from(operation.at_ns < latest_ns);
            latest_ns = latest_ns.max(operation.at_ns);
        }
        self.operations.sort_by_key(|operation| operation.at_ns);
        let first_ns = self.operations.first().map_or(0, |first| first.at_ns);
        for operation in &mut self.operations {
            operation.at_ns -= first_ns;
        }
    }

    /// Returns the totals of operations, bytes and time.
    pub fn summary(&self) -> TraceSummary {
        let mut sum = TraceSummary::default();
        for operation in &self.operations {
            let bytes = u64::from(operation.length_bytes);
            let (count, moved) = match operation.kind {
                OpKind::Read => (&mut sum.reads, Some(&mut sum.read_bytes)),
                OpKind::Write => (&mut sum.writes, Some(&mut sum.write_bytes)),
                OpKind::Sync => (&mut sum.syncs, None),
                // A trace contains no discards. They are omitted when it is read.
                OpKind::Trim => continue,
            };
            *count += 1;
            if let Some(moved) = moved {
                *moved = moved.saturating_add(bytes);
            }
            sum.longest_bytes = sum.longest_bytes.max(operation.length_bytes);
            sum.end_bytes = sum.end_bytes.max(operation.offset_bytes.saturating_add(bytes));
            sum.duration_ns = sum.duration_ns.max(operation.at_ns);
        }
        sum
    }

    /// Returns the first invariant that the trace violates, as a message for developers. `None` if
    /// it is valid.
    pub fn flaw(&self) -> Option<&'static str> {
        if self.units.is_empty() {
            return Some("no unit");
        }
        let mut latest_ns = 0;
        for operation in &self.operations {
            if operation.at_ns < latest_ns {
                return Some("time falls");
            }
            latest_ns = operation.at_ns;
            if operation.unit as usize >= self.units.len() {
                return Some("a unit without a name");
            }
            if (operation.kind == OpKind::Sync) != (operation.length_bytes == 0) {
                return Some("a length that does not fit the kind");
            }
            if operation.offset_bytes.checked_add(u64::from(operation.length_bytes)).is_none() {
                return Some("an end beyond 2^64");
            }
        }
        match self.operations.first() {
            Some(first) if first.at_ns != 0 => Some("the first operation is not at 0"),
            _ if !self.timed && latest_ns != 0 => Some("times where the format has none"),
            _ => None,
        }
    }
}

/// The kind of a block operation, from the kernel's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockVerb {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Discards or erases.
    Discard,
    /// Flushes the device's cache.
    Flush,
    /// Any other operation: zeroing, zones, driver commands.
    Other,
}

/// The kernel's letters for the kind of a block operation ("rwbs"), such as `WS`, `RA` or `FWFS`.
///
/// Sources: Linux `blk_fill_rwbs` (kernel/trace/blktrace.c) and `fill_rwbs` of blkparse. A leading
/// `F` requests a flush before the operation, and is followed by the verb (`R`, `W`, `D` or `DE`,
/// `F`, `N`). A later `F` means forced unit access. `A`, `S`, `M` and others (read-ahead,
/// synchronous, metadata) are ignored here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLetters {
    /// The kind of the operation.
    pub verb: BlockVerb,
    /// Whether the device's cache is flushed before it.
    pub flush_before: bool,
    /// Whether a write must reach the medium before it completes (FUA).
    pub forced: bool,
}

impl BlockLetters {
    /// Parses the letters. Returns `None` if there are none, or one is not a capital letter.
    pub fn parse(letters: &str) -> Option<Self> {
        if letters.is_empty() || !letters.bytes().all(|letter| letter.is_ascii_uppercase()) {
            return None;
        }
        let (flush_before, rest) = match letters.strip_prefix('F') {
            Some(rest) => (true, rest),
            None => (false, letters),
        };
        let verb = match rest.bytes().next() {
            Some(b'R') => BlockVerb::Read,
            Some(b'W') => BlockVerb::Write,
            Some(b'D') => BlockVerb::Discard,
            // `FF` is a flush, and so is a single `F`, whatever follows it.
            Some(b'F') => BlockVerb::Flush,
            Some(b'N') => BlockVerb::Other,
            _ if flush_before => BlockVerb::Flush,
            _ => BlockVerb::Other,
        };
        let forced = verb == BlockVerb::Write && rest[1..].contains('F');
        Some(Self { verb, flush_before: flush_before && verb != BlockVerb::Flush, forced })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn op(at_ns: u64, kind: OpKind, offset_bytes: u64, length_bytes: u32) -> TraceOp {
        TraceOp { at_ns, kind, offset_bytes, length_bytes, unit: 0, took_ns: 0 }
    }

    fn trace(operations: Vec<TraceOp>) -> Trace {
        Trace { units: vec!["a".to_owned()], operations, timed: true, ..Trace::default() }
    }

    #[test]
    fn settling_orders_by_time_and_begins_at_zero() {
        let mut made = trace(vec![
            op(70, OpKind::Read, 0, 512),
            op(50, OpKind::Write, 512, 512),
            op(70, OpKind::Sync, 0, 0),
        ]);
        assert_eq!(made.flaw(), Some("time falls"));
        made.settle();
        assert_eq!(made.flaw(), None);
        assert_eq!(made.reordered, 1);
        let order: Vec<_> = made.operations.iter().map(|op| (op.at_ns, op.kind)).collect();
        assert_eq!(order, [(0, OpKind::Write), (20, OpKind::Read), (20, OpKind::Sync)]);
    }

    #[test]
    fn a_summary_adds_up() {
        let made = trace(vec![
            op(0, OpKind::Read, 4096, 512),
            op(5, OpKind::Write, 0, 1024),
            op(9, OpKind::Write, 0, 512),
            op(9, OpKind::Sync, 0, 0),
        ]);
        let expected = TraceSummary {
            reads: 1,
            read_bytes: 512,
            writes: 2,
            write_bytes: 1536,
            syncs: 1,
            longest_bytes: 1024,
            end_bytes: 4608,
            duration_ns: 9,
        };
        assert_eq!(made.summary(), expected);
    }

    #[test]
    fn things_left_out_for_one_reason_are_one_entry() {
        let mut made = trace(Vec::new());
        for count in [2, 0, 3] {
            made.leave_out(count, text!("discards", "破棄"));
        }
        assert_eq!(made.left_out, [(5, text!("discards", "破棄"))]);
    }

    #[test]
    fn flaws_are_found() {
        assert_eq!(Trace::default().flaw(), Some("no unit"));
        assert_eq!(
            trace(vec![op(0, OpKind::Read, 0, 0)]).flaw(),
            Some("a length that does not fit the kind")
        );
        assert_eq!(
            trace(vec![op(0, OpKind::Sync, 0, 1)]).flaw(),
            Some("a length that does not fit the kind")
        );
        assert_eq!(trace(vec![op(0, OpKind::Read, u64::MAX, 1)]).flaw(), Some("an end beyond 2^64"));
        assert_eq!(trace(vec![op(3, OpKind::Sync, 0, 0)]).flaw(), Some("the first operation is not at 0"));
    }

    #[test]
    fn the_kernels_letters_are_read() {
        use BlockVerb::{Discard, Flush, Other, Read, Write};
        for (letters, verb, flush_before, forced) in [
            ("R", Read, false, false),
            ("RA", Read, false, false),
            ("RSM", Read, false, false),
            ("WS", Write, false, false),
            ("WFS", Write, false, true),
            ("FWFS", Write, true, true),
            ("FWS", Write, true, false),
            ("FF", Flush, false, false),
            ("F", Flush, false, false),
            ("FS", Flush, false, false),
            ("FN", Other, true, false),
            ("D", Discard, false, false),
            ("DE", Discard, false, false),
            ("N", Other, false, false),
            ("ZR", Other, false, false),
        ] {
            let expected = BlockLetters { verb, flush_before, forced };
            assert_eq!(BlockLetters::parse(letters), Some(expected), "{letters}");
        }
        for bad in ["", "w", "W+", "日"] {
            assert_eq!(BlockLetters::parse(bad), None, "{bad}");
        }
    }
}
