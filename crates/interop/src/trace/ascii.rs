//! The five columns of the simulators MQSim, SSDSim and DiskSim.
//!
//! All three have time, device, start and length in sectors of 512 bytes, and a last column in which 1
//! is a read and 0 a write. They differ in time: DiskSim's is in ms with a fraction
//! (iotrace_ascii_get_ioreq_event in disksim_iotrace.c, `%lf %d %d %d %x`; READ is bit 0 of the flags
//! in disksim_global.h), MQSim's (ASCII_Trace_Definition.h) and SSDSim's (its readme) are whole ns. A
//! fraction, or flags above 1, occur only in DiskSim. Without them, the three look alike, and a time in
//! the wrong unit would be wrong by a factor of a million.

use super::builder::{SECTOR_BYTES, TraceBuilder, operation};
use super::format::{TraceFormat, choose};
use super::lines::{LineReader, TraceLine};
use kurabe_core::{Error, ErrorKind, Result, text, words::Keyword, workload::OpKind};

/// Number of columns of a line.
const COLUMNS: usize = 5;
/// The bit of DiskSim's flags that marks a read.
const DISKSIM_READ: u32 = 1;

/// Returns whether a line looks like one of these formats.
pub(super) fn fits(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [time, middle @ .., flags] = &fields[..] else { return false };
    fields.len() == COLUMNS
        && super::lines::decimal_ns(time, 1).is_some()
        && middle.iter().all(|word| word.parse::<u64>().is_ok())
        && disksim_flags(flags).is_some()
}

/// Returns whether a line can only be DiskSim's.
fn is_disksim(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    let fraction = fields.next().is_some_and(|time| time.contains('.'));
    fraction || fields.nth(3).is_some_and(|flags| !matches!(flags, "0" | "1"))
}

fn cannot_tell(name: &str) -> Error {
    ErrorKind::Import
        .error(text!(
            "{name} may be a trace of MQSim, SSDSim (times in ns) or DiskSim (times in ms)",
            "{name} は MQSim・SSDSim(時刻は ns)と DiskSim(時刻は ms)のどれの形式か判別できません"
        ))
        .remedy(choose(&["mqsim", "ssdsim", "disksim"]))
}

/// Reads the trace as DiskSim's if any of its lines can only be DiskSim's.
pub(super) fn read_disksim_if_told(
    name: &str,
    lines: &mut LineReader<'_>,
    builder: &mut TraceBuilder,
) -> Result<()> {
    builder.begin(TraceFormat::Disksim.word());
    let mut is_told = false;
    lines.each(|line| {
        is_told |= is_disksim(line.text);
        // A time in ns can be too large for one in ms.
        let read = read_line(line, builder, TraceFormat::Disksim);
        read.map_err(|error| if is_told { error } else { cannot_tell(line.file) })
    })?;
    if is_told { Ok(()) } else { Err(cannot_tell(name)) }
}

pub(super) fn read_line(line: TraceLine<'_>, builder: &mut TraceBuilder, format: TraceFormat) -> Result<()> {
    let [time, device, sector, sectors, word] = line.fields::<COLUMNS>()?;
    let (kind, at_ns) = if format == TraceFormat::Disksim {
        let flags =
            disksim_flags(word).ok_or_else(|| line.wrong(word, &text!("a hexadecimal number", "16 進数")))?;
        let kind = if flags & DISKSIM_READ != 0 { OpKind::Read } else { OpKind::Write };
        (kind, line.time_ns(time, 1_000_000)?)
    } else {
        let expected = text!("0 (write) or 1 (read)", "0(書き込み)か 1(読み出し)");
        (line.kind(word, ["1", "0"], &expected)?, line.number(time)?)
    };
    let extent = line.extent((sector, SECTOR_BYTES), (sectors, SECTOR_BYTES))?;
    let device = line.number(device)?;
    builder.push(line, &format!("device{device}"), operation(at_ns, kind, extent))
}

/// Parses flags as C's `%x` does, with or without `0x`.
fn disksim_flags(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
}
