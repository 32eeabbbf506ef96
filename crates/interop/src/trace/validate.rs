//! DiskSim's `validate` traces: requests to a real drive, and their measured times.
//!
//! Format (iotrace_validate_get_ioreq_event in disksim_iotrace.c): `R` or `W`, the result in the
//! drive's buffer (`Hit`, `Miss`, `Doub`, `Trip`: disconnected twice, three times), first block, blocks
//! of 512 bytes, measured time in µs, and the time in µs from the end of this request until the next
//! one. One request is in flight at a time.
//!
//! A request's time in the trace is the sum of all measured times and pauses before it.

use super::builder::{SECTOR_BYTES, TraceBuilder, operation};
use super::lines::TraceLine;
use kurabe_core::{Result, text, trace::TraceOp, workload::OpKind};

/// Number of fields of a line.
const FIELDS: usize = 6;
/// Duration in ns of a time unit.
const TIME_UNIT_NS: u64 = 1000;

/// Returns whether a line looks like one of this format.
pub(super) fn fits(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [kind, buffer, _, _, time, pause] = fields[..] else { return false };
    let is_time = |word: &str| super::lines::decimal_ns(word, TIME_UNIT_NS).is_some();
    matches!(kind, "R" | "W")
        && matches!(buffer, "Hit" | "Miss" | "Doub" | "Trip")
        && is_time(time)
        && is_time(pause)
}

/// Reads a line of a request that arrived at a time. Returns the arrival time of the next one.
pub(super) fn read_line(line: TraceLine<'_>, builder: &mut TraceBuilder, at_ns: u64) -> Result<u64> {
    let [kind, _buffer, block, blocks, time, pause] = line.fields::<FIELDS>()?;
    let kind = match kind {
        "R" => OpKind::Read,
        "W" => OpKind::Write,
        other => return Err(line.wrong(other, &text!("R or W", "R か W"))),
    };
    let extent = line.extent((block, SECTOR_BYTES), (blocks, SECTOR_BYTES))?;
    let (time_ns, pause_ns) = (line.time_ns(time, TIME_UNIT_NS)?, line.time_ns(pause, TIME_UNIT_NS)?);
    let took_ns = u32::try_from(time_ns).unwrap_or(u32::MAX);
    builder.push(line, "disk", TraceOp { took_ns, ..operation(at_ns, kind, extent) })?;
    time_ns.checked_add(pause_ns).and_then(|span_ns| span_ns.checked_add(at_ns)).ok_or_else(|| {
        line.wrong(pause, &text!("a time within 584 years of the first", "最初から 584 年以内の時刻"))
    })
}
