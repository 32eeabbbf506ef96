//! Traces of other tools: read into the one form that kurabe can do again, and written for fio.
//!
//! The model: a trace is read once, line by line. The format is told by the first line that is not blank, or given. Every
//! line is read strictly; one that does not fit ends the reading with its place and a remedy. What is an operation of the format but none that kurabe
//! issues (discards, operations of length 0) is left out and counted. Nothing is guessed: where formats look alike and
//! differ in meaning, the user says which it is.
//!
//! All formats are texts but one, `vscsi`, whose first records tell it.
//!
//! Not here: packed files, and blktrace's binary form, which `blkparse` turns into text.

mod ascii;
mod blkparse;
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

/// Operations that a trace has at most: 640 MB of memory, and as many again while they are put in order. A disk that does
/// 1 000 operations a second does as many in five and a half hours.
const MOST_OPERATIONS: usize = 20_000_000;

/// Reads a trace from its start to its end, without holding more of it than a line and its operations. `name` is the
/// file's name, for errors. Without a format it is told by the content.
///
/// # Errors
/// When it cannot be read, the format cannot be told, a line does not fit it (the error shows the line), nothing in it
/// can be done again, or it is larger than a trace can be.
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
        // `vscsi` is no text.
        _ => lines.each(|line| ascii::read_line(line, trace, format)),
    }
}

/// The word of a file's format, if its beginning is that of a trace.
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

/// What the first line of a trace tells.
enum Recognised {
    /// The format.
    Of(TraceFormat),
    /// A text of blkparse: the operations as they were queued, or as they were issued if it was filtered down to these.
    Blkparse,
    /// The columns that three simulators read, with times in ns or ms.
    Columns,
}

/// Lines of a shell that a trace may begin with.
const PROMPT_LINES: usize = 8;

/// Tells the format by the first line, as far as that does.
fn recognise(name: &str, lines: &mut LineReader<'_>) -> Result<Recognised> {
    /// Whether a line looks like one of what is recognised by it.
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
    // The prompt of a shell with the command that recorded the trace.
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
