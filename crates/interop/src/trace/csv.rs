//! Comma-separated traces: Microsoft Research Cambridge, the Storage Performance Council, Alibaba and
//! CloudPhysics.
//!
//! MSR (README of the traces at SNIA IOTTA, block-io/387): Timestamp, Hostname, DiskNumber, Type
//! (`Read`, `Write`), Offset and Size in bytes, ResponseTime; times in the Windows unit of 100 ns since
//! 1601. The unit is `HOST_DISK`, like the names of the files. Response times are ignored.
//!
//! SPC (SPC Trace File Format Specification 1.0.1; the OLTP and search traces of UMass): ASU, LBA, size
//! in bytes, opcode (`R`, `W`, either case), time in s, and further fields that are ignored. The
//! specification leaves the block size to the trace's description; the available traces use 512 bytes,
//! which is assumed.
//!
//! Alibaba (README of alibaba/block-traces, 2020): device, `R` or `W`, offset and length in bytes, time
//! in µs, with or without a heading.
//!
//! CloudPhysics' virtual disks in libCacheSim's CSV: the heading `version,time,op,size,lbn`, a SCSI
//! opcode in hexadecimal, bytes, and a block of 512 bytes. The times there are whole seconds. A number
//! too large for seconds is in µs, as in the records.

use super::builder::{SECTOR_BYTES, TraceBuilder, discards, operation, sync};
use super::lines::{TraceLine, kind_of};
use crate::import::digits;
use kurabe_core::{Result, text, workload::OpKind};

/// Duration in ns of a tick of Windows' file time.
const FILE_TIME_NS: u64 = 100;
/// Number of fields of an MSR line.
const MSR_FIELDS: usize = 7;
/// Minimum number of fields of an SPC line.
const SPC_FIELDS: usize = 5;
/// Words for a read and a write.
const MSR_KINDS: [&str; 2] = ["read", "write"];
const SPC_KINDS: [&str; 2] = ["r", "w"];

fn split(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// Returns whether a line is the heading of some MSR traces.
pub(super) fn is_msr_header(line: &str) -> bool {
    let fields = split(line);
    fields.len() == MSR_FIELDS && fields[0].eq_ignore_ascii_case("timestamp")
}

/// Returns whether a line looks like one of MSR.
pub(super) fn fits_msr(line: &str) -> bool {
    let fields = split(line);
    fields.len() == MSR_FIELDS && (is_msr_header(line) || kind_of(fields[3], MSR_KINDS).is_some())
}

/// Returns whether a line looks like one of SPC.
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
    let at_ns = at_ns.ok_or_else(|| line.wrong(time, &text!("a valid date", "正しい日時")))?;
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

/// Number of fields of an Alibaba line.
const ALIBABA_FIELDS: usize = 5;

/// Returns whether a line is the heading in Alibaba's paper.
pub(super) fn is_alibaba_header(line: &str) -> bool {
    split(line) == ["device_id", "opcode", "offset", "length", "timestamp"]
}

/// Returns whether a line looks like one of Alibaba.
pub(super) fn fits_alibaba(line: &str) -> bool {
    let fields = split(line);
    let are_numbers = || [0, 2, 3, 4].iter().all(|at| digits(fields[*at]));
    is_alibaba_header(line)
        || fields.len() == ALIBABA_FIELDS && kind_of(fields[1], SPC_KINDS).is_some() && are_numbers()
}

pub(super) fn alibaba_line(line: TraceLine<'_>, builder: &mut TraceBuilder) -> Result<()> {
    let fields = split(line.text);
    let [device, kind, offset, length, time] = fields[..] else {
        return Err(line.miscounted(fields.len(), ALIBABA_FIELDS));
    };
    let kind = line.kind(kind, SPC_KINDS, &text!("R or W", "R か W"))?;
    let extent = line.extent((offset, 1), (length, 1))?;
    let at_ns = line.time_ns(time, 1_000)?;
    builder.push(line, &format!("device{}", line.number(device)?), operation(at_ns, kind, extent))
}

/// Columns of CloudPhysics' CSV.
const VSCSI_COLUMNS: [&str; 5] = ["version", "time", "op", "size", "lbn"];
/// Minimum of a time in µs. In seconds, it would be thirty thousand years.
const LEAST_MICROSECONDS: u64 = 1_000_000_000_000;

/// Returns whether a line is the heading of CloudPhysics' CSV.
pub(super) fn is_vscsi_header(line: &str) -> bool {
    split(line.trim_start_matches('#')) == VSCSI_COLUMNS
}

pub(super) fn vscsi_line(line: TraceLine<'_>, builder: &mut TraceBuilder) -> Result<()> {
    let fields = split(line.text);
    let [_version, time, opcode, length, block] = fields[..] else {
        return Err(line.miscounted(fields.len(), VSCSI_COLUMNS.len()));
    };
    let unit_ns = if line.number(time)? < LEAST_MICROSECONDS { 1_000_000_000 } else { 1_000 };
    let at_ns = line.time_ns(time, unit_ns)?;
    let kind = match opcode.trim_start_matches("0x").to_ascii_lowercase().as_str() {
        "8" | "08" | "28" | "a8" | "88" => OpKind::Read,
        "a" | "0a" | "2a" | "aa" | "8a" => OpKind::Write,
        "35" | "91" => return builder.push(line, "disk", sync(at_ns)),
        "42" => return builder.leave_out(discards()),
        other if other.len() <= 2 && u8::from_str_radix(other, 16).is_ok() => {
            return builder
                .leave_out(text!("commands that are neither reads nor writes", "読み書き以外のコマンド"));
        }
        _ => {
            return Err(
                line.wrong(opcode, &text!("an opcode of SCSI in hexadecimal", "SCSI のオペコード(16 進)"))
            );
        }
    };
    let extent = line.extent((block, SECTOR_BYTES), (length, 1))?;
    builder.push(line, "disk", operation(at_ns, kind, extent))
}
