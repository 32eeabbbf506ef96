//! Traces of other tools: read into the one form that kurabe can do again, and written for fio.
//!
//! The model: the format is told by the first line that is not blank, or given. Every line is read strictly; one that
//! does not fit ends the reading with its place and a remedy. What is an operation of the format but none that kurabe
//! issues (discards, operations of length 0) is left out and counted. Nothing is guessed: where formats look alike and
//! differ in meaning, the user says which it is.
//!
//! All formats are texts but one, `vscsi`, whose records tell it.
//!
//! Not here: packed files, and blktrace's binary form, which `blkparse` turns into text.

mod ascii;
mod blkparse;
mod csv;
mod iolog;
mod vscsi;

pub use iolog::write_iolog_v3;

use kurabe_core::trace::{Trace, TraceOp};
use kurabe_core::workload::OpKind;
use kurabe_core::{Error, ErrorKind, Place, Result, Text, text};
use std::collections::HashMap;

/// Bytes of a sector in all formats that count in sectors.
const SECTOR_BYTES: u64 = 512;
/// Operations that a trace has at most: 640 MB of memory, and as many again while they are put in order. A disk that does
/// 1 000 operations a second does as many in five and a half hours.
const MOST_OPERATIONS: usize = 20_000_000;
/// Characters of a line that an error shows at most.
const LINE_SHOWN: usize = 160;

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
    /// DiskSim's `ascii`: time in ms, device, block, blocks, flags in hexadecimal of which bit 0 is a read.
    Disksim,
    /// CloudPhysics' virtual SCSI disks: records of 32 or 40 bytes, times in µs, blocks of 512 bytes.
    Vscsi,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::FioIolog,
        Self::Blkparse,
        Self::BlkparseIssued,
        Self::Msr,
        Self::Spc,
        Self::Mqsim,
        Self::Ssdsim,
        Self::Disksim,
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

/// Reads a trace. `name` is the file's name, for errors. Without a format it is told by the content.
///
/// # Errors
/// When the format cannot be told, a line does not fit it (the error shows the line), or nothing in it can be done again.
pub fn read_trace(name: &str, bytes: &[u8], format: Option<TraceFormat>) -> Result<Trace> {
    let is_vscsi = format.map_or_else(|| vscsi::fits(bytes), |format| format == TraceFormat::Vscsi);
    if is_vscsi {
        let mut builder = Builder::default();
        vscsi::read(name, bytes, &mut builder)?;
        return builder.finish(name);
    }
    refuse_binary(name, bytes)?;
    let content = String::from_utf8_lossy(bytes);
    let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
    let source = Source { name, content };
    let format = match format {
        Some(format) => format,
        None => recognise(source)?,
    };
    let mut builder = Builder::default();
    match format {
        TraceFormat::FioIolog => iolog::read(source, &mut builder)?,
        TraceFormat::Blkparse => blkparse::read(source, &mut builder, blkparse::QUEUED)?,
        TraceFormat::BlkparseIssued => blkparse::read(source, &mut builder, blkparse::ISSUED)?,
        TraceFormat::Msr => csv::read_msr(source, &mut builder)?,
        TraceFormat::Spc => csv::read_spc(source, &mut builder)?,
        TraceFormat::Mqsim | TraceFormat::Ssdsim | TraceFormat::Disksim => {
            ascii::read(source, &mut builder, format)?;
        }
        // Read above: it is no text.
        TraceFormat::Vscsi => {}
    }
    builder.finish(name)
}

/// The word of a file's format, if its beginning is that of a trace.
pub(crate) fn recognised(name: &str, bytes: &[u8]) -> Option<&'static str> {
    if vscsi::fits(bytes) {
        return Some(TraceFormat::Vscsi.word());
    }
    refuse_binary(name, bytes).ok()?;
    let content = String::from_utf8_lossy(bytes);
    let source = Source { name, content: content.strip_prefix('\u{feff}').unwrap_or(&content) };
    let first = source.lines().next()?;
    match recognise(source) {
        Ok(format) => Some(format.word()),
        // Columns that two simulators write in different orders, and these lines do not tell which.
        Err(_) if ascii::fits(first.text) => Some("mqsim, ssdsim, disksim"),
        Err(_) => None,
    }
}

/// What is no text is told apart, because the remedy differs.
fn refuse_binary(name: &str, bytes: &[u8]) -> Result<()> {
    // 0x65617400 and the version in the last byte, in the byte order of the recording machine (blktrace_api.h).
    let blktrace =
        bytes.starts_with(&[0x07, 0x74, 0x61, 0x65]) || bytes.starts_with(&[0x65, 0x61, 0x74, 0x07]);
    let (what, remedy) = if bytes.starts_with(&[0x1f, 0x8b]) {
        (
            text!("{name} is packed with gzip", "{name} は gzip で圧縮されています"),
            text!("unpack it first: gunzip --keep {name}", "先に展開してください: gunzip --keep {name}"),
        )
    } else if blktrace {
        (
            text!("{name} is blktrace's binary form", "{name} は blktrace のバイナリ形式です"),
            text!(
                "turn it into text first: blkparse -i {name} -o trace.txt",
                "先にテキストに変換してください: blkparse -i {name} -o trace.txt"
            ),
        )
    } else if bytes.contains(&0) {
        (
            text!("{name} is no text", "{name} はテキストではありません"),
            text!(
                "give a trace in one of the text formats, or CloudPhysics' records (vscsi)",
                "テキスト形式か、CloudPhysics のレコード形式(vscsi)のトレースを指定してください"
            ),
        )
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Import, what).remedy(remedy))
}

/// Tells the format by the first line, and where that is not enough, by all.
fn recognise(source: Source<'_>) -> Result<TraceFormat> {
    let Some(first) = source.lines().next() else { return Err(empty(source.name)) };
    if first.text.starts_with("fio version ") {
        return Ok(TraceFormat::FioIolog);
    }
    if blkparse::fits(first.text) {
        // A text that was filtered down to `D` has no `Q`.
        let queued = source.lines().any(|line| blkparse::is_operation(line.text, blkparse::QUEUED));
        return Ok(if queued { TraceFormat::Blkparse } else { TraceFormat::BlkparseIssued });
    }
    if csv::fits_msr(first.text) {
        return Ok(TraceFormat::Msr);
    }
    if csv::fits_spc(first.text) {
        return Ok(TraceFormat::Spc);
    }
    if ascii::fits(first.text) {
        return ascii::tell(source);
    }
    let error = first.fault(
        first.text,
        text!(
            "{} is no trace that kurabe can tell by its content",
            "{} の内容からトレースの形式を判別できません",
            source.name
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

fn too_long(name: &str, beyond: usize, record_bytes: Option<usize>) -> Error {
    let count = MOST_OPERATIONS + beyond;
    Error::new(
        ErrorKind::Import,
        text!(
            "{name} has {count} operations; at most {MOST_OPERATIONS} are replayed",
            "{name} の操作は {count} 件です。再生できるのは {MOST_OPERATIONS} 件までです"
        ),
    )
    .remedy({
        let part = match record_bytes {
            None => format!("head -n {MOST_OPERATIONS} {name}"),
            Some(bytes) => format!("head -c {} {name}", MOST_OPERATIONS * bytes),
        };
        text!("replay a part of it: {part}", "一部を再生してください: {part}")
    })
}

/// A file to be read.
#[derive(Clone, Copy)]
struct Source<'a> {
    name: &'a str,
    content: &'a str,
}

impl<'a> Source<'a> {
    /// Lines that are not blank.
    fn lines(self) -> impl Iterator<Item = Line<'a>> {
        self.content
            .lines()
            .enumerate()
            .map(move |(index, text)| Line { file: self.name, number: index + 1, text })
            .filter(|line| !line.text.trim().is_empty())
    }
}

/// A line of it.
#[derive(Clone, Copy)]
struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// An error at a part of the line.
    fn fault(self, part: &str, what: Text) -> Error {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..start).map_or(0, |before| before.chars().count());
        let shown: String = self.text.chars().take(LINE_SHOWN).collect();
        let before = if before < LINE_SHOWN { before } else { 0 };
        Error::new(ErrorKind::Import, what).at(Place {
            file: self.file.to_owned(),
            line: self.number,
            column: before + 1,
            width: part.chars().count().clamp(1, LINE_SHOWN - before),
            text: shown,
        })
    }

    /// The usual error: this part should be something else.
    fn wrong(self, part: &str, expected: &Text) -> Error {
        let shown: String = part.chars().take(40).collect();
        let (en, ja) = (&expected.en, &expected.ja);
        self.fault(
            part,
            Text {
                en: format!("`{shown}` is not {en}"), ja: format!("`{shown}` は{ja}ではありません")
            },
        )
        .remedy(text!(
            "correct or remove the line, or give another format if the file is of another",
            "その行を直すか取り除いてください。別の形式のファイルなら、その形式を指定してください"
        ))
    }

    /// A whole number.
    fn number(self, part: &str) -> Result<u64> {
        part.parse().map_err(|_| self.wrong(part, &text!("a whole number", "整数")))
    }

    /// A time with or without a fraction, in units of `unit_ns`, as ns. Digits beyond a ns are cut off.
    fn time_ns(self, part: &str, unit_ns: u64) -> Result<u64> {
        decimal_ns(part, unit_ns).ok_or_else(|| self.wrong(part, &text!("a time", "時刻")))
    }

    /// A length in bytes that an operation can have.
    fn length(self, part: &str, unit_bytes: u64) -> Result<u32> {
        let bytes = self.number(part)?.checked_mul(unit_bytes);
        bytes
            .and_then(|bytes| u32::try_from(bytes).ok())
            .ok_or_else(|| self.wrong(part, &text!("a length below 4 GiB", "4 GiB 未満の長さ")))
    }

    /// An offset in bytes; its operation ends below 2^64.
    fn offset(self, part: &str, unit_bytes: u64, length_bytes: u32) -> Result<u64> {
        let bytes = self.number(part)?.checked_mul(unit_bytes);
        bytes
            .filter(|bytes| bytes.checked_add(u64::from(length_bytes)).is_some())
            .ok_or_else(|| self.wrong(part, &text!("an offset below 16 EiB", "16 EiB 未満のオフセット")))
    }

    /// The fields between blanks, which must be `COUNT`.
    fn fields<const COUNT: usize>(self) -> Result<[&'a str; COUNT]> {
        let fields: Vec<&str> = self.text.split_whitespace().collect();
        let count = fields.len();
        fields.try_into().map_err(|_| self.miscounted(count, COUNT))
    }

    fn miscounted(self, count: usize, expected: usize) -> Error {
        self.fault(
            self.text,
            text!(
                "the line has {count} fields, not {expected}",
                "この行のフィールド数は {count} で、{expected} ではありません"
            ),
        )
        .remedy(text!(
            "the file may be cut off here: record it anew, or remove the line",
            "ファイルがここで切れている可能性があります。記録し直すか、その行を取り除いてください"
        ))
    }
}

/// A decimal number of units as ns, exactly; `None` for anything else, signs and exponents included.
fn decimal_ns(words: &str, unit_ns: u64) -> Option<u64> {
    let (whole, fraction) = words.split_once('.').unwrap_or((words, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole_ns = whole.parse::<u64>().ok()?.checked_mul(unit_ns)?;
    let fraction = &fraction[..fraction.len().min(18)];
    let parts = 10_u128.pow(fraction.len() as u32);
    let numerator = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    whole_ns.checked_add((numerator * u128::from(unit_ns) / parts) as u64)
}

/// A trace as it grows.
#[derive(Default)]
struct Builder {
    trace: Trace,
    units: HashMap<String, u32>,
    /// Operations beyond those that are kept.
    beyond: usize,
    /// Bytes of each record where these are no lines.
    record_bytes: Option<usize>,
}

impl Builder {
    /// The index of a unit, which is new or known.
    fn unit(&mut self, name: &str) -> u32 {
        if let Some(&unit) = self.units.get(name) {
            return unit;
        }
        let unit = self.trace.units.len() as u32;
        self.trace.units.push(name.to_owned());
        self.units.insert(name.to_owned(), unit);
        unit
    }

    /// A read or a write; one of length 0 is left out.
    fn push(&mut self, operation: TraceOp) {
        if operation.length_bytes == 0 {
            self.trace.leave_out(1, text!("operations of length 0", "長さ 0 の操作"));
        } else {
            self.take(operation);
        }
    }

    /// Beyond the limit they are only counted, so that the error can say how many there are.
    fn take(&mut self, operation: TraceOp) {
        if self.trace.operations.len() < MOST_OPERATIONS {
            self.trace.operations.push(operation);
        } else {
            self.beyond += 1;
        }
    }

    /// A sync.
    fn push_sync(&mut self, at_ns: u64, unit: u32) {
        self.take(TraceOp { at_ns, kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0, unit });
    }

    fn finish(mut self, name: &str) -> Result<Trace> {
        if self.trace.operations.is_empty() {
            return Err(empty(name));
        }
        if self.beyond > 0 {
            return Err(too_long(name, self.beyond, self.record_bytes));
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
