//! A trace during reading, independent of the format.

use super::lines::TraceLine;
use kurabe_core::trace::{Trace, TraceOp};
use kurabe_core::{Error, ErrorKind, Result, Text, number, quantity::format_bytes, text, workload::OpKind};
use std::collections::HashMap;

/// Sector size in bytes in all formats that count in sectors.
pub(super) const SECTOR_BYTES: u64 = 512;
/// Maximum size in bytes of the names of files and disks together: a million names of usual length.
/// They are stored twice.
const MOST_NAME_BYTES: usize = 64 << 20;

pub(super) fn empty(name: &str) -> Error {
    ErrorKind::Import
        .error(text!(
            "{name} contains no operation that can be replayed",
            "{name} には再現できる操作が 1 つもありません"
        ))
        .remedy(text!("record the trace again, with I/O in it", "I/O を含むトレースを記録し直してください"))
}

/// Creates the error for a trace with too many operations. `part` is the command that reduces it to the
/// limit.
pub(super) fn too_long(name: &str, most_operations: usize, part: &str) -> Error {
    let count = number::count(most_operations as u64);
    ErrorKind::Import
        .error(text!(
            "{name} has more than {count} operations, the limit for a replay",
            "{name} の操作は {count} 件を超えています(再生できる上限です)"
        ))
        .remedy(text!("replay a part of it: {part} {name}", "一部を再生してください: {part} {name}"))
}

/// A trace during reading.
pub(super) struct TraceBuilder {
    pub(super) trace: Trace,
    pub(super) most_operations: usize,
    units: HashMap<String, u32>,
    /// Total size of the names.
    name_bytes: usize,
}

impl TraceBuilder {
    pub(super) fn new(most_operations: usize) -> Self {
        Self { trace: Trace::default(), most_operations, units: HashMap::new(), name_bytes: 0 }
    }

    /// Notes the format of a trace whose operations have times.
    pub(super) fn begin(&mut self, format: &str) {
        self.trace.timed = true;
        self.trace.format = format.to_owned();
    }

    /// Returns the index of a unit, and adds the unit if it is new.
    pub(super) fn unit(&mut self, line: TraceLine<'_>, name: &str) -> Result<u32> {
        if let Some(&unit) = self.units.get(name) {
            return Ok(unit);
        }
        self.name_bytes += name.len();
        if self.name_bytes > MOST_NAME_BYTES {
            let most = format_bytes(MOST_NAME_BYTES as u64);
            let what = text!(
                "the names of its files exceed {most} in total",
                "ファイル名の合計が {most} を超えています"
            );
            return Err(line.fault(line.text, what).remedy(text!(
                "replay a part of the trace, or record it with shorter names",
                "トレースの一部を再生するか、短い名前で記録し直してください"
            )));
        }
        let unit = self.trace.units.len() as u32;
        self.trace.units.push(name.to_owned());
        self.units.insert(name.to_owned(), unit);
        Ok(unit)
    }

    /// Adds an operation of a unit. A read or a write of length 0 is skipped.
    pub(super) fn push(&mut self, line: TraceLine<'_>, unit: &str, operation: TraceOp) -> Result<()> {
        let unit = self.unit(line, unit)?;
        if operation.kind != OpKind::Sync && operation.length_bytes == 0 {
            return self.leave_out(text!("operations of length 0", "長さ 0 の操作"));
        }
        if self.trace.operations.len() == self.most_operations {
            let part = format!("head -n {}", line.number - 1);
            return Err(too_long(line.file, self.most_operations, &part));
        }
        self.trace.operations.push(TraceOp { unit, ..operation });
        Ok(())
    }

    /// Counts an operation that cannot be replayed.
    pub(super) fn leave_out(&mut self, what: Text) -> Result<()> {
        self.trace.leave_out(1, what);
        Ok(())
    }

    pub(super) fn finish(mut self, name: &str) -> Result<Trace> {
        if self.trace.operations.is_empty() {
            return Err(empty(name));
        }
        self.trace.settle();
        Ok(self.trace)
    }
}

/// Returns an operation of a known unit at an offset and with a length.
pub(super) fn operation(at_ns: u64, kind: OpKind, (offset_bytes, length_bytes): (u64, u32)) -> TraceOp {
    TraceOp { at_ns, kind, offset_bytes, length_bytes, unit: 0, took_ns: 0 }
}

pub(super) fn sync(at_ns: u64) -> TraceOp {
    operation(at_ns, OpKind::Sync, (0, 0))
}

pub(super) fn discards() -> Text {
    text!("discards (trims)", "破棄(TRIM)")
}
