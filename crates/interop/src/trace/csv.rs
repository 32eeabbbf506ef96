//! Traces with commas: Microsoft Research Cambridge and the Storage Performance Council.
//!
//! MSR (README of the traces at SNIA IOTTA, block-io/387): Timestamp, Hostname, DiskNumber, Type (`Read`, `Write`),
//! Offset and Size in bytes, ResponseTime; times in Windows' unit of 100 ns since 1601. The unit is `HOST_DISK`, as the
//! files are named. Response times are not kept.
//!
//! SPC (SPC Trace File Format Specification 1.0.1; the OLTP and search traces of UMass): ASU, LBA, size in bytes, opcode
//! (`R`, `W`, either case), time in s, and further fields that are not read. The specification leaves the size of a block
//! to the trace's description; the traces that are around use 512 bytes, and that is taken.

use super::builder::{SECTOR_BYTES, TraceBuilder, operation};
use super::lines::{TraceLine, kind_of};
use kurabe_core::{Result, text};

/// ns of a tick of Windows' file time.
const FILE_TIME_NS: u64 = 100;
/// Fields of a line of MSR.
const MSR_FIELDS: usize = 7;
/// Fields of a line of SPC at least.
const SPC_FIELDS: usize = 5;
/// Words of a read and a write.
const MSR_KINDS: [&str; 2] = ["read", "write"];
const SPC_KINDS: [&str; 2] = ["r", "w"];

fn split(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// Whether a line is the heading that some of MSR's traces begin with.
pub(super) fn is_msr_header(line: &str) -> bool {
    let fields = split(line);
    fields.len() == MSR_FIELDS && fields[0].eq_ignore_ascii_case("timestamp")
}

/// Whether a line looks like one of MSR.
pub(super) fn fits_msr(line: &str) -> bool {
    let fields = split(line);
    fields.len() == MSR_FIELDS && (is_msr_header(line) || kind_of(fields[3], MSR_KINDS).is_some())
}

/// Whether a line looks like one of SPC.
pub(super) fn fits_spc(line: &str) -> bool {
    let fields = split(line);
    fields.len() >= SPC_FIELDS && kind_of(fields[3], SPC_KINDS).is_some()
}

pub(super) fn msr_line(line: TraceLine<'_>, builder: &mut TraceBuilder) -> Result<()> {
    let fields = split(line.text);
    let [time, host, disk, kind, offset, length, _response] = fields[..] else {
        return Err(line.miscounted(fields.len(), MSR_FIELDS));
    };
    let at_ns = line.number(time)?.checked_mul(FILE_TIME_NS);
    let at_ns = at_ns.ok_or_else(|| line.wrong(time, &text!("a time of this age", "この時代の時刻")))?;
    let kind = line.kind(kind, MSR_KINDS, &text!("Read or Write", "Read か Write"))?;
    let extent = line.extent((offset, 1), (length, 1))?;
    let disk = line.number(disk)?;
    builder.push(line, &format!("{host}_{disk}"), operation(at_ns, kind, extent))
}

pub(super) fn spc_line(line: TraceLine<'_>, builder: &mut TraceBuilder) -> Result<()> {
    let fields = split(line.text);
    let [storage, address, length, kind, time, ..] = fields[..] else {
        return Err(line.miscounted(fields.len(), SPC_FIELDS));
    };
    let kind = line.kind(kind, SPC_KINDS, &text!("R or W", "R か W"))?;
    let storage = line.number(storage)?;
    let extent = line.extent((address, SECTOR_BYTES), (length, 1))?;
    let at_ns = line.time_ns(time, 1_000_000_000)?;
    builder.push(line, &format!("asu{storage}"), operation(at_ns, kind, extent))
}
