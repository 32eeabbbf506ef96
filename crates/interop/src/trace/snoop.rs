//! bcc's `biosnoop` as a trace.
//!
//! The model: the heading names the columns, and each line below it is an operation of a device
//! (`import/biosnoop.rs` documents the format of a line). The printed time is the completion time, so
//! the operation started earlier by its latency, and with `-Q` by its time in the queue. Sectors are
//! 512 bytes.

use super::builder::{SECTOR_BYTES, TraceBuilder, discards, operation, sync};
use super::lines::LineReader;
use crate::import::biosnoop::SnoopRow;
pub(super) use crate::import::biosnoop::is_header;
use kurabe_core::trace::TraceOp;
use kurabe_core::{Result, text, workload::OpKind};

/// Number of columns without `-Q`.
const COLUMNS: usize = 8;

pub(super) fn read(lines: &mut LineReader<'_>, trace: &mut TraceBuilder) -> Result<()> {
    let mut columns = COLUMNS;
    lines.each(|line| {
        if is_header(line.text) {
            columns = line.text.split_whitespace().count();
            return Ok(());
        }
        let Some(row) = SnoopRow::read(line.text, columns) else {
            return Err(line.miscounted(line.text.split_whitespace().count(), columns));
        };
        let completed_ns = line.time_ns(row.time, 1_000_000_000)?;
        let took_ns = line.time_ns(row.latency, 1_000_000)?;
        let at_ns = completed_ns.saturating_sub(took_ns);
        let kind = match row.letter {
            "R" => OpKind::Read,
            "W" => OpKind::Write,
            "F" => return trace.push(line, row.disk, sync(at_ns)),
            _ => return trace.leave_out(discards()),
        };
        let Ok(took_ns) = u32::try_from(took_ns) else {
            return Err(line.wrong(row.latency, &text!("a latency below 4 s", "4 秒未満のレイテンシ")));
        };
        let extent = line.extent((row.sector, SECTOR_BYTES), (row.bytes, 1))?;
        trace.push(line, row.disk, TraceOp { took_ns, ..operation(at_ns, kind, extent) })
    })
}
