//! Lines of a trace, of which one is in memory at a time.
//!
//! The model: a trace can be far larger than memory, so it is read once from start to end, and
//! properties of the whole are collected on the way. The length of a line, the size of a file and the
//! number of blank lines are limited, because the file can be a device that never ends.

use kurabe_core::quantity::{GIB, KIB, format_bytes};
use kurabe_core::{Error, ErrorKind, Place, Result, Text, mention::Mention, text, workload::OpKind};
use std::io::{BufRead, Read};

/// Maximum size of a trace: the maximum number of operations with ten lines of 80 bytes each, as
/// `blkparse` prints them.
pub(super) const MOST_BYTES: u64 = 16 * GIB;
/// Maximum length of a line. A Linux path and some numbers need half of it.
const LONGEST_LINE_BYTES: u64 = 8 * KIB;
/// Maximum number of characters of a line in an error.
const LINE_SHOWN: usize = 160;

/// Reader for lines that are not blank.
pub(super) struct LineReader<'n> {
    name: &'n str,
    input: Box<dyn BufRead + 'n>,
    /// The last line as bytes of the file and as text.
    bytes: Vec<u8>,
    text: String,
    number: usize,
    read_bytes: u64,
    /// Whether the last line is returned again.
    peeked: bool,
}

impl<'n> LineReader<'n> {
    /// Fails if the file begins like a compressed file or blktrace's binary format.
    pub(super) fn new(name: &'n str, mut input: impl BufRead + 'n) -> Result<Self> {
        let beginning = input.fill_buf().map_err(|error| unreadable(name, &error))?;
        refuse_packed(name, beginning)?;
        let (input, bytes, text) = (Box::new(input), Vec::new(), String::new());
        Ok(Self { name, input, bytes, text, number: 0, read_bytes: 0, peeked: false })
    }

    /// Returns the next line without consuming it.
    pub(super) fn peek(&mut self) -> Result<Option<TraceLine<'_>>> {
        if !self.peeked {
            self.peeked = self.advance()?;
        }
        Ok(self.peeked.then(|| self.line()))
    }

    /// Returns the next line.
    pub(super) fn next(&mut self) -> Result<Option<TraceLine<'_>>> {
        let any = std::mem::take(&mut self.peeked) || self.advance()?;
        Ok(any.then(|| self.line()))
    }

    /// Returns the one-based number of the last line.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Reads all following lines.
    pub(super) fn each(&mut self, mut read: impl FnMut(TraceLine<'_>) -> Result<()>) -> Result<()> {
        while let Some(line) = self.next()? {
            read(line)?;
        }
        Ok(())
    }

    fn line(&self) -> TraceLine<'_> {
        TraceLine { file: self.name, number: self.number, text: &self.text }
    }

    /// Advances to a line that is not blank. Returns false at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.bytes.clear();
            let mut limited = (&mut self.input).take(LONGEST_LINE_BYTES + 1);
            let count = limited.read_until(b'\n', &mut self.bytes);
            let count = count.map_err(|error| unreadable(self.name, &error))? as u64;
            if count == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.read_bytes += count;
            if self.bytes.contains(&0) {
                let what = text!("{} is not text", "{} はテキストではありません", self.name);
                return Err(ErrorKind::Import.error(what).remedy(text!(
                    "give a trace in one of the text formats, or in the record format of CloudPhysics (vscsi)",
                    "テキスト形式か、CloudPhysics のレコード形式(vscsi)のトレースを指定してください"
                )));
            }
            self.decode();
            if count > LONGEST_LINE_BYTES {
                let line = self.line();
                let longest = format_bytes(LONGEST_LINE_BYTES);
                let what = text!(
                    "the line is longer than {longest}, the limit for traces",
                    "この行は {longest} を超えています(トレースの 1 行の上限です)"
                );
                return Err(line.fault(line.text, what).remedy(text!(
                    "give a trace in one of the text formats",
                    "テキスト形式のトレースを指定してください"
                )));
            }
            if self.read_bytes > MOST_BYTES {
                return Err(too_large(self.name));
            }
            if !self.text.trim().is_empty() {
                return Ok(true);
            }
        }
    }

    fn decode(&mut self) {
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        self.text.clear();
        self.text.push_str(&String::from_utf8_lossy(line));
    }
}

/// A line of a trace.
#[derive(Clone, Copy)]
pub(super) struct TraceLine<'a> {
    pub(super) file: &'a str,
    pub(super) number: usize,
    pub(super) text: &'a str,
}

impl<'a> TraceLine<'a> {
    /// Creates an error at a part of the line.
    pub(super) fn fault(self, part: &str, what: Text) -> Error {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..start).map_or(0, |before| before.chars().count());
        let shown: String = self.text.chars().take(LINE_SHOWN).collect();
        let before = if before < LINE_SHOWN { before } else { 0 };
        ErrorKind::Import.error(what).at(Place {
            file: self.file.to_owned(),
            line: self.number,
            column: before + 1,
            width: part.chars().count().clamp(1, LINE_SHOWN - before),
            text: shown,
        })
    }

    /// Creates the error for a part that is not as expected.
    pub(super) fn wrong(self, part: &str, expected: &Text) -> Error {
        let shown: String = part.chars().take(40).collect();
        let what = text!("`{shown}` is not {expected}", "`{shown}` は{expected}ではありません"; expected);
        self.fault(part, what).remedy(text!(
            "correct or remove the line, or give another format if the file has a different one",
            "その行を直すか取り除いてください。別の形式のファイルなら、その形式を指定してください"
        ))
    }

    /// Parses a whole number.
    pub(super) fn number(self, part: &str) -> Result<u64> {
        part.parse().map_err(|_| self.wrong(part, &text!("a whole number", "整数")))
    }

    /// Parses a time with or without a fraction, in units of `unit_ns`, as ns. Digits beyond a ns are
    /// truncated.
    pub(super) fn time_ns(self, part: &str, unit_ns: u64) -> Result<u64> {
        decimal_ns(part, unit_ns).ok_or_else(|| self.wrong(part, &text!("a time", "時刻")))
    }

    /// Parses a length in bytes that an operation can have.
    fn length(self, part: &str, unit_bytes: u64) -> Result<u32> {
        let bytes = self.number(part)?.checked_mul(unit_bytes);
        bytes
            .and_then(|bytes| u32::try_from(bytes).ok())
            .ok_or_else(|| self.wrong(part, &text!("a length below 4 GiB", "4 GiB 未満の長さ")))
    }

    /// Parses an offset in bytes. The operation must end below 2^64.
    fn offset(self, part: &str, unit_bytes: u64, length_bytes: u32) -> Result<u64> {
        let bytes = self.number(part)?.checked_mul(unit_bytes);
        bytes
            .filter(|bytes| bytes.checked_add(u64::from(length_bytes)).is_some())
            .ok_or_else(|| self.wrong(part, &text!("an offset below 16 EiB", "16 EiB 未満のオフセット")))
    }

    /// Parses offset and length in bytes, each from its word and the size of its unit.
    pub(super) fn extent(self, offset: (&str, u64), length: (&str, u64)) -> Result<(u64, u32)> {
        let length_bytes = self.length(length.0, length.1)?;
        Ok((self.offset(offset.0, offset.1, length_bytes)?, length_bytes))
    }

    /// Returns whether an operation reads or writes, by the words for these in either case.
    pub(super) fn kind(self, word: &str, words: [&str; 2], expected: &Text) -> Result<OpKind> {
        kind_of(word, words).ok_or_else(|| self.wrong(word, expected))
    }

    /// Returns the fields between spaces, which must be `COUNT`.
    pub(super) fn fields<const COUNT: usize>(self) -> Result<[&'a str; COUNT]> {
        let fields: Vec<&str> = self.text.split_whitespace().collect();
        let count = fields.len();
        fields.try_into().map_err(|_| self.miscounted(count, COUNT))
    }

    pub(super) fn miscounted(self, count: usize, expected: usize) -> Error {
        let what = text!(
            "the line has {count} fields, not {expected}",
            "この行のフィールド数は {count} で、{expected} ではありません"
        );
        self.fault(self.text, what).remedy(text!(
            "the file may be cut off here: record it again, or remove the line",
            "ファイルがここで切れている可能性があります。記録し直すか、その行を取り除いてください"
        ))
    }
}

/// Returns the kind of an operation, by the words for a read and a write in either case.
pub(super) fn kind_of(word: &str, [read, write]: [&str; 2]) -> Option<OpKind> {
    let kinds = [(read, OpKind::Read), (write, OpKind::Write)];
    kinds.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
}

/// Converts a decimal number of units to ns exactly. `None` for anything else, including signs and
/// exponents.
pub(super) fn decimal_ns(words: &str, unit_ns: u64) -> Option<u64> {
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

pub(super) fn unreadable(name: &str, error: &std::io::Error) -> Error {
    Error::os(text!("cannot read the trace {name}", "トレース {name} を読めません"), error)
}

pub(super) fn too_large(name: &str) -> Error {
    let most = format_bytes(MOST_BYTES);
    let what = text!(
        "{name} is larger than {most}, the limit for a replay",
        "{name} は {most} を超えています(再生できるトレースの上限です)"
    );
    ErrorKind::Import.error(what).remedy(text!(
        "replay a part of the trace: head -n 1000000 FILE",
        "トレースの一部を再生してください: head -n 1000000 ファイル名"
    ))
}

/// Compressed files and files of other programs are distinguished, because the remedy differs.
fn refuse_packed(name: &str, beginning: &[u8]) -> Result<()> {
    if beginning.starts_with(&[0x1f, 0x8b]) {
        let what = text!("{name} is compressed with gzip", "{name} は gzip で圧縮されています");
        return Err(ErrorKind::Import.error(what).remedy(text!(
            "decompress it first: {} {name}",
            "先に展開してください: {} {name}",
            Mention::Shell("gunzip --keep")
        )));
    }
    // 0x65617400 and the version in the last byte, in the byte order of the recording machine
    // (blktrace_api.h).
    if beginning.starts_with(&[0x07, 0x74, 0x61, 0x65]) || beginning.starts_with(&[0x65, 0x61, 0x74, 0x07]) {
        let what = text!("{name} is blktrace's binary form", "{name} は blktrace のバイナリ形式です");
        return Err(ErrorKind::Import.error(what).remedy(text!(
            "convert it to text first: blkparse -i {name} -o trace.txt",
            "先にテキストに変換してください: blkparse -i {name} -o trace.txt"
        )));
    }
    Ok(())
}
