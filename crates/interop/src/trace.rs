//! Traces of other tools: converted to the single form that kurabe replays, and exported for fio.
//!
//! The model: a trace is read once, line by line. The format is detected from the first line that is
//! not blank, or is given. Every line is parsed strictly; an invalid line ends the import with its
//! place and a remedy. Operations of the format that kurabe does not issue (discards, operations of
//! length 0) are skipped and counted. Nothing is guessed: if formats look alike and differ in meaning,
//! the user must specify one.
//!
//! All formats are text except `vscsi`, which is recognized by its first records.
//!
//! Not supported: compressed files, and blktrace's binary format, which `blkparse` converts to text.

mod ascii;
pub(crate) mod blkparse;
mod builder;
mod csv;
mod format;
mod iolog;
mod lines;
mod snoop;
mod validate;
mod vscsi;

pub use format::TraceFormat;
pub use iolog::write_iolog_v3;

use builder::{TraceBuilder, empty};
use format::choose;
use kurabe_core::words::{Keyword, all_words};
use kurabe_core::{Result, text, trace::Trace};
use lines::LineReader;
use std::io::BufRead;

/// Maximum number of operations of a trace: 640 MB of memory, and the same again while they are sorted.
/// A disk with 1 000 operations per second reaches it in five and a half hours.
const MOST_OPERATIONS: usize = 20_000_000;

/// Reads a complete trace. Memory contains only its operations and one line. `name` is the file's name,
/// for errors. Without a format, it is detected from the content.
///
/// # Errors
/// If the file cannot be read, the format cannot be detected, a line is invalid (the error shows the
/// line), no operation can be replayed, or the trace exceeds a limit.
pub fn read_trace(name: &str, mut input: impl BufRead, format: Option<TraceFormat>) -> Result<Trace> {
    let beginning = input.fill_buf().map_err(|error| lines::unreadable(name, &error))?;
    let mut trace = TraceBuilder::new(MOST_OPERATIONS);
    if format.map_or_else(|| vscsi::fits(beginning), |format| format == TraceFormat::Vscsi) {
        trace.begin(TraceFormat::Vscsi.word());
        vscsi::read(name, input, &mut trace)?;
        return trace.finish(name);
    }
    let mut lines = LineReader::new(name, input)?;
    let content = match format {
        Some(format) => Recognised::Of(format),
        None => recognise(name, &mut lines)?,
    };
    match content {
        Recognised::Blkparse => blkparse::read(&mut lines, &mut trace, None)?,
        Recognised::Columns => ascii::read_disksim_if_told(name, &mut lines, &mut trace)?,
        Recognised::Of(format) => {
            trace.begin(format.word());
            read_lines(format, &mut lines, &mut trace)?;
        }
    }
    trace.finish(name)
}

fn read_lines(format: TraceFormat, lines: &mut LineReader<'_>, trace: &mut TraceBuilder) -> Result<()> {
    let mut next_ns = 0;
    match format {
        TraceFormat::FioIolog => iolog::read(lines, trace),
        TraceFormat::Blkparse => blkparse::read(lines, trace, Some(blkparse::QUEUED)),
        TraceFormat::BlkparseIssued => blkparse::read(lines, trace, Some(blkparse::ISSUED)),
        TraceFormat::Msr => {
            if lines.peek()?.is_some_and(|line| csv::is_msr_header(line.text)) {
                lines.next()?;
            }
            lines.each(|line| csv::msr_line(line, trace))
        }
        TraceFormat::Spc => lines.each(|line| csv::spc_line(line, trace)),
        TraceFormat::Alibaba => {
            if lines.peek()?.is_some_and(|line| csv::is_alibaba_header(line.text)) {
                lines.next()?;
            }
            lines.each(|line| csv::alibaba_line(line, trace))
        }
        TraceFormat::VscsiCsv => {
            if lines.peek()?.is_some_and(|line| csv::is_vscsi_header(line.text)) {
                lines.next()?;
            }
            lines.each(|line| csv::vscsi_line(line, trace))
        }
        TraceFormat::Biosnoop => snoop::read(lines, trace),
        TraceFormat::DisksimValidate => lines.each(|line| {
            next_ns = validate::read_line(line, trace, next_ns)?;
            Ok(())
        }),
        // `vscsi` is not text.
        _ => lines.each(|line| ascii::read_line(line, trace, format)),
    }
}

/// Returns the word of a file's format, if it begins like a trace.
pub(crate) fn recognised(name: &str, bytes: &[u8]) -> Option<&'static str> {
    if vscsi::fits(bytes) {
        return Some(TraceFormat::Vscsi.word());
    }
    let mut lines = LineReader::new(name, bytes).ok()?;
    Some(match recognise(name, &mut lines).ok()? {
        Recognised::Of(format) => format.word(),
        Recognised::Blkparse => TraceFormat::Blkparse.word(),
        Recognised::Columns => "mqsim, ssdsim, disksim",
    })
}

/// Format that the first line of a trace indicates.
enum Recognised {
    /// This format.
    Of(TraceFormat),
    /// Text of blkparse: the operations as queued, or as issued if it was filtered to these.
    Blkparse,
    /// The columns of three simulators, with times in ns or ms.
    Columns,
}

/// Number of shell lines that can precede a trace.
const PROMPT_LINES: usize = 8;

/// Detects the format from the first line, as far as possible.
fn recognise(name: &str, lines: &mut LineReader<'_>) -> Result<Recognised> {
    /// Returns whether a line looks like one of the format.
    type Fits = fn(&str) -> bool;
    const BY_FIRST_LINE: [(Fits, Recognised); 9] = [
        (|line| line.starts_with("fio version "), Recognised::Of(TraceFormat::FioIolog)),
        (blkparse::fits, Recognised::Blkparse),
        (csv::fits_alibaba, Recognised::Of(TraceFormat::Alibaba)),
        (csv::is_vscsi_header, Recognised::Of(TraceFormat::VscsiCsv)),
        (snoop::is_header, Recognised::Of(TraceFormat::Biosnoop)),
        (csv::fits_msr, Recognised::Of(TraceFormat::Msr)),
        (csv::fits_spc, Recognised::Of(TraceFormat::Spc)),
        (validate::fits, Recognised::Of(TraceFormat::DisksimValidate)),
        (ascii::fits, Recognised::Columns),
    ];
    // The shell prompt with the command that recorded the trace.
    while lines.peek()?.is_some_and(|line| line.text.starts_with(['#', '$'])) && lines.number() < PROMPT_LINES
    {
        lines.next()?;
    }
    let Some(first) = lines.peek()? else { return Err(empty(name)) };
    if let Some((_, recognised)) = BY_FIRST_LINE.into_iter().find(|(fits, _)| fits(first.text)) {
        return Ok(recognised);
    }
    let error = first.fault(
        first.text,
        text!(
            "the trace format of {name} cannot be detected from its content",
            "{name} の内容からトレースの形式を判別できません"
        ),
    );
    Err(error.remedy(choose(&all_words::<TraceFormat>())))
}

#[cfg(test)]
mod tests;
