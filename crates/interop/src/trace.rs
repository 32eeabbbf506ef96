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
mod csv;
mod iolog;
mod lines;
mod validate;
mod vscsi;

pub use iolog::write_iolog_v3;

use kurabe_core::quantity::format_bytes;
use kurabe_core::trace::{Trace, TraceOp};
use kurabe_core::workload::OpKind;
use kurabe_core::{Error, ErrorKind, Result, Text, number, text};
use lines::{LineReader, TraceLine, decimal_ns};
use std::collections::HashMap;
use std::io::BufRead;

/// Bytes of a sector in all formats that count in sectors.
const SECTOR_BYTES: u64 = 512;
/// Operations that a trace has at most: 640 MB of memory, and as many again while they are put in order. A disk that does
/// 1 000 operations a second does as many in five and a half hours.
const MOST_OPERATIONS: usize = 20_000_000;
/// Bytes that the names of files and disks have together: a million names of usual length. They stay in memory, twice.
const MOST_NAME_BYTES: usize = 64 << 20;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// fio's `write_iolog`, version 2 (without times) or 3 (times in µs).
    FioIolog,
    /// What `blkparse` prints by default: the operations as they were queued (`Q`), before merging and splitting.
    Blkparse,
    /// The same, but the operations as they were handed to the device (`D`).
    BlkparseIssued,
    /// Microsoft Research Cambridge: CSV, times in 100 ns, offsets and lengths in bytes.
    Msr,
    /// Storage Performance Council: ASU, address in sectors, length in bytes, opcode, time in s.
    Spc,
    /// MQSim: time, device, sector, sectors, 0 write and 1 read. Times are taken as ns; MQSim itself takes their unit
    /// from its configuration, and ns is what its examples use.
    Mqsim,
    /// SSDSim: the same columns as MQSim, time always in ns.
    Ssdsim,
    /// DiskSim's `validate`: kind, what the drive's buffer did, block, blocks, measured time and pause in µs.
    DisksimValidate,
    /// DiskSim's `ascii`: time in ms, device, block, blocks, flags in hexadecimal of which bit 0 is a read.
    Disksim,
    /// CloudPhysics' virtual SCSI disks: records of 32 or 40 bytes, times in µs, blocks of 512 bytes.
    Vscsi,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::FioIolog,
        Self::Blkparse,
        Self::BlkparseIssued,
        Self::Msr,
        Self::Spc,
        Self::Mqsim,
        Self::Ssdsim,
        Self::Disksim,
        Self::DisksimValidate,
        Self::Vscsi,
    ];

    /// The word for it in profiles and flags.
    pub fn word(self) -> &'static str {
        match self {
            Self::FioIolog => "fio-iolog",
            Self::Blkparse => "blkparse",
            Self::BlkparseIssued => "blkparse-issued",
            Self::Msr => "msr",
            Self::Spc => "spc",
            Self::Mqsim => "mqsim",
            Self::Ssdsim => "ssdsim",
            Self::Disksim => "disksim",
            Self::DisksimValidate => "disksim-validate",
            Self::Vscsi => "vscsi",
        }
    }

    /// The format of a word.
    ///
    /// # Errors
    /// When no format has this word; the error names them all.
    pub fn from_word(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word).ok_or_else(|| {
            Error::new(
                ErrorKind::Usage,
                text!("{word} is no format of traces", "{word} というトレース形式はありません"),
            )
            .remedy(choose(&Self::ALL))
        })
    }
}

fn choose(formats: &[TraceFormat]) -> Text {
    let words: Vec<&str> = formats.iter().map(|format| format.word()).collect();
    let words = words.join(", ");
    text!("give the format, one of {words}", "次のいずれかを形式として指定してください: {words}")
}

/// Reads a trace from its start to its end, without holding more of it than a line and its operations. `name` is the
/// file's name, for errors. Without a format it is told by the content.
///
/// # Errors
/// When it cannot be read, the format cannot be told, a line does not fit it (the error shows the line), nothing in it
/// can be done again, or it is larger than a trace can be.
pub fn read_trace(name: &str, mut input: impl BufRead, format: Option<TraceFormat>) -> Result<Trace> {
    let beginning = input.fill_buf().map_err(|error| lines::unreadable(name, &error))?;
    if format.map_or_else(|| vscsi::fits(beginning), |format| format == TraceFormat::Vscsi) {
        let mut trace = TraceBuilder::new(MOST_OPERATIONS);
        vscsi::read(name, input, &mut trace)?;
        return trace.finish(name);
    }
    let mut lines = LineReader::new(name, input)?;
    let content = match format {
        Some(format) => Recognised::Of(format),
        None => recognise(name, &mut lines)?,
    };
    let mut trace = TraceBuilder::new(MOST_OPERATIONS);
    match content {
        Recognised::Blkparse => blkparse::read(&mut lines, &mut trace, None)?,
        Recognised::Columns => ascii::read_disksim_if_told(name, &mut lines, &mut trace)?,
        Recognised::Of(format) => match format {
            TraceFormat::FioIolog => iolog::read(&mut lines, &mut trace)?,
            TraceFormat::Blkparse => blkparse::read(&mut lines, &mut trace, Some(blkparse::QUEUED))?,
            TraceFormat::BlkparseIssued => blkparse::read(&mut lines, &mut trace, Some(blkparse::ISSUED))?,
            TraceFormat::Msr => csv::read_msr(&mut lines, &mut trace)?,
            TraceFormat::Spc => csv::read_spc(&mut lines, &mut trace)?,
            TraceFormat::DisksimValidate => validate::read(&mut lines, &mut trace)?,
            TraceFormat::Mqsim | TraceFormat::Ssdsim | TraceFormat::Disksim => {
                ascii::read(&mut lines, &mut trace, format)?;
            }
            // Read above: it is no text.
            TraceFormat::Vscsi => {}
        },
    }
    trace.finish(name)
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

/// Tells the format by the first line, as far as that does.
fn recognise(name: &str, lines: &mut LineReader<'_, impl BufRead>) -> Result<Recognised> {
    /// Whether a line looks like one of what is recognised by it.
    type Fits = fn(&str) -> bool;
    const BY_FIRST_LINE: [(Fits, Recognised); 6] = [
        (|line| line.starts_with("fio version "), Recognised::Of(TraceFormat::FioIolog)),
        (blkparse::fits, Recognised::Blkparse),
        (csv::fits_msr, Recognised::Of(TraceFormat::Msr)),
        (csv::fits_spc, Recognised::Of(TraceFormat::Spc)),
        (validate::fits, Recognised::Of(TraceFormat::DisksimValidate)),
        (ascii::fits, Recognised::Columns),
    ];
    let Some(first) = lines.peek()? else { return Err(empty(name)) };
    if let Some((_, recognised)) = BY_FIRST_LINE.into_iter().find(|(fits, _)| fits(first.text)) {
        return Ok(recognised);
    }
    let error = first.fault(
        first.text,
        text!(
            "{name} is no trace that kurabe can tell by its content",
            "{name} の内容からトレースの形式を判別できません"
        ),
    );
    Err(error.remedy(choose(&TraceFormat::ALL)))
}

fn empty(name: &str) -> Error {
    Error::new(
        ErrorKind::Import,
        text!(
            "{name} holds no operation that can be done again",
            "{name} には再現できる操作が一つもありません"
        ),
    )
    .remedy(text!("record the trace anew, with I/O in it", "I/O を含むトレースを記録し直してください"))
}

/// The error of a trace with more operations; `part` is the command that leaves as many as are replayed.
fn too_long(name: &str, most_operations: usize, part: &str) -> Error {
    let count = number::count(most_operations as u64);
    Error::new(
        ErrorKind::Import,
        text!(
            "{name} has more than {count} operations, and no more are replayed",
            "{name} の操作は {count} 件を超えています(再生できる上限です)"
        ),
    )
    .remedy(text!("replay a part of it: {part} {name}", "一部を再生してください: {part} {name}"))
}

fn too_many_units(line: TraceLine<'_>) -> Error {
    let most = format_bytes(MOST_NAME_BYTES as u64);
    line.fault(
        line.text,
        text!("the names of its files have more than {most}", "ファイル名の合計が {most} を超えています"),
    )
    .remedy(text!(
        "replay a part of the trace, or record it with shorter names",
        "トレースの一部を再生するか、短い名前で記録し直してください"
    ))
}

/// A trace as it grows.
struct TraceBuilder {
    trace: Trace,
    most_operations: usize,
    units: HashMap<String, u32>,
    /// Bytes of their names.
    name_bytes: usize,
}

impl TraceBuilder {
    fn new(most_operations: usize) -> Self {
        Self { trace: Trace::default(), most_operations, units: HashMap::new(), name_bytes: 0 }
    }

    /// Notes the format of a trace whose operations have times.
    fn begin(&mut self, format: &str) {
        self.trace.timed = true;
        self.trace.format = format.to_owned();
    }

    /// The index of a unit, which is new or known.
    fn unit(&mut self, line: TraceLine<'_>, name: &str) -> Result<u32> {
        if let Some(&unit) = self.units.get(name) {
            return Ok(unit);
        }
        self.name_bytes += name.len();
        if self.name_bytes > MOST_NAME_BYTES {
            return Err(too_many_units(line));
        }
        let unit = self.trace.units.len() as u32;
        self.trace.units.push(name.to_owned());
        self.units.insert(name.to_owned(), unit);
        Ok(unit)
    }

    /// A read or a write; one of length 0 is left out.
    fn push(&mut self, line: TraceLine<'_>, operation: TraceOp) -> Result<()> {
        if operation.length_bytes == 0 {
            self.trace.leave_out(1, text!("operations of length 0", "長さ 0 の操作"));
            return Ok(());
        }
        self.take(line, operation)
    }

    fn take(&mut self, line: TraceLine<'_>, operation: TraceOp) -> Result<()> {
        if self.trace.operations.len() == self.most_operations {
            let part = format!("head -n {}", line.number - 1);
            return Err(too_long(line.file, self.most_operations, &part));
        }
        self.trace.operations.push(operation);
        Ok(())
    }

    /// A sync.
    fn push_sync(&mut self, line: TraceLine<'_>, at_ns: u64, unit: u32) -> Result<()> {
        self.take(
            line,
            TraceOp { at_ns, kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0, unit, took_ns: 0 },
        )
    }

    fn finish(mut self, name: &str) -> Result<Trace> {
        if self.trace.operations.is_empty() {
            return Err(empty(name));
        }
        self.trace.settle();
        Ok(self.trace)
    }
}

fn discards() -> Text {
    text!("discards (trims)", "破棄(トリム)")
}

#[cfg(test)]
mod tests;
