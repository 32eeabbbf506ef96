//! A file as importers see it: its bytes, and its text in any encoding.

use super::room;
use super::shapes::holes;
use super::words::{is_rule, key_value};
use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use kurabe_core::imported::Origin;
use std::borrow::Cow;
use std::cell::OnceCell;

/// A file to read, or a part of one.
pub(crate) struct Input<'a> {
    /// File name without the folder.
    pub(crate) name: &'a str,
    /// Bytes of the file. For a part, those of the whole file.
    pub(crate) bytes: &'a [u8],
    /// Text with `\n` as line ends, if the file is text.
    text: Option<Cow<'a, str>>,
    /// Whether its JSON had values such as `nan`, which were replaced.
    pub(super) had_nan: bool,
    /// Offsets of lines, computed when an error needs them.
    starts: OnceCell<Vec<usize>>,
    /// The file of a part.
    part_of: Option<Whole<'a>>,
}

/// The file that contains a part.
struct Whole<'a> {
    input: &'a Input<'a>,
    /// Line numbers of the part's lines in the file.
    numbers: Vec<usize>,
}

impl<'a> Input<'a> {
    /// Decodes UTF-8, UTF-16 with or without a byte order mark, otherwise Shift_JIS or windows-1252.
    pub(crate) fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let text = decode(bytes).map(|text| match text.contains(['\r', ESCAPE]) {
            true => Cow::Owned(with_plain_ends(&without_escapes(&text))),
            false => text,
        });
        let text = text.map(|text| match super::layout::quoted_printable(&text) {
            Some(plain) => Cow::Owned(plain),
            None => text,
        });
        let text = text.map(|text| match is_barred(&text) {
            true => Cow::Owned(without_bars(&text)),
            false => text,
        });
        let plain = text.as_deref().and_then(super::layout::without_nan);
        let had_nan = plain.is_some();
        let text = plain.map(Cow::Owned).or(text);
        if let Some(Cow::Owned(text)) = &text {
            room::take(text.len());
        }
        Self { name, bytes, text, had_nan, starts: OnceCell::new(), part_of: None }
    }

    /// Returns an origin with the tool and the format. All other fields are unknown so far.
    pub(super) fn origin(&self, tool: &str, format: &str) -> Origin {
        Origin {
            tool: tool.to_owned(),
            format: format.to_owned(),
            file: self.name.to_owned(),
            ..Origin::default()
        }
    }

    /// Returns a part: lines with their numbers in this file, without the text around them.
    pub(super) fn part<'p, 'l>(
        &'p self,
        lines: impl ExactSizeIterator<Item = (usize, &'l str)> + Clone,
    ) -> Input<'p> {
        let length = lines.clone().map(|(_, line)| line.len() + 1).sum();
        room::take(length + lines.len() * size_of::<usize>());
        let mut text = String::with_capacity(length);
        for (_, line) in lines.clone() {
            text += line;
            text.push('\n');
        }
        text.pop();
        Input {
            name: self.name,
            bytes: self.bytes,
            text: Some(text.into()),
            had_nan: self.had_nan,
            starts: OnceCell::new(),
            part_of: Some(Whole { input: self, numbers: lines.map(|(number, _)| number).collect() }),
        }
    }

    /// Releases the memory count of a part that is no longer needed.
    pub(super) fn end_part(self) {
        let lines = self.part_of.as_ref().map_or(0, |whole| whole.numbers.len());
        room::give_back(self.text().map_or(0, str::len) + 1 + lines * size_of::<usize>());
    }

    /// Returns the text. `None` if the file is not text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns lines with their one-based numbers in the file. Returns none if the file is not text, or
    /// if the memory limit of the results is reached.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.whole_lines().map(|(number, line)| (number, cut(line)))
    }

    /// Returns the same lines without shortening the longest ones.
    pub(super) fn whole_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text().unwrap_or("").lines().take_while(|_| !room::is_spent());
        lines.enumerate().map(|(index, line)| (self.number(index + 1), line))
    }

    /// Returns the rest of the first line that begins with these words, without surrounding spaces.
    pub(super) fn after(&self, words: &str) -> Option<&str> {
        self.lines().find_map(|(_, line)| line.trim().strip_prefix(words)).map(str::trim)
    }

    /// Returns the value in the first line `name: value`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.lines()
            .filter_map(|(_, line)| key_value(line))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// Returns the values in the placeholders of the first line with this shape.
    pub(super) fn holes<const COUNT: usize>(&self, shape: &str) -> Option<[&str; COUNT]> {
        self.lines().find_map(|(_, line)| holes(shape, line))
    }

    /// Returns the number in the file of a line of this text, both one-based.
    pub(super) fn number(&self, line: usize) -> usize {
        let Some(whole) = &self.part_of else { return line };
        whole.numbers.get(line.saturating_sub(1)).or(whole.numbers.last()).copied().unwrap_or(line)
    }

    /// Returns a line of the file unchanged.
    pub(super) fn as_written(&self, number: usize) -> &str {
        self.split_before(number).1.lines().next().unwrap_or("")
    }

    /// Returns the text of the file before this part.
    pub(super) fn before(&self) -> &str {
        self.part_of.as_ref().map_or("", |_| self.split_before(self.number(1)).0)
    }

    /// Splits the text of the file before a line.
    fn split_before(&self, number: usize) -> (&str, &str) {
        let whole = self.part_of.as_ref().map_or(self, |whole| whole.input);
        let text = whole.text().unwrap_or("");
        let ends = || text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = whole.starts.get_or_init(|| std::iter::once(0).chain(ends()).collect());
        text.split_at(starts.get(number.saturating_sub(1)).copied().unwrap_or(text.len()))
    }
}

/// Maximum length in bytes of a line that importers see. Lines of tools are shorter. A longer line
/// would be split into words that take many times its memory.
const LINE_LONGEST: usize = 1 << 20;

/// Returns the start of a line that is too long for any tool.
pub(super) fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_LONGEST)]
}

/// Start of a terminal escape sequence.
const ESCAPE: char = '\u{1b}';

/// Removes terminal escape sequences, such as those for colours: `ESC [ 1 ; 32 m`.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for (place, part) in text.split(ESCAPE).enumerate() {
        let command = part.strip_prefix('[').filter(|_| place > 0);
        // Parameters are digits and signs, followed by a letter.
        let end =
            command.and_then(|command| command.find(|c: char| !c.is_ascii_digit() && !";:?".contains(c)));
        match (command, end) {
            (Some(command), Some(end)) => {
                plain +=
                    command[end..].strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(&command[end..]);
            }
            _ => plain += part,
        }
    }
    Cow::Owned(plain)
}

/// Returns whether nearly every line begins with a bar, as forums quote.
fn is_barred(text: &str) -> bool {
    if !text.trim_start().starts_with('|') {
        return false;
    }
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let barred = lines().filter(|line| line.starts_with('|')).count();
    barred >= 2 && barred * 10 >= lines().count() * 9
}

fn without_bars(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.strip_prefix('|').map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
        plain += line;
        plain.push('\n');
    }
    plain
}

/// Widths at which terminals and mail programs wrap lines.
const WIDTHS: [usize; 10] = [72, 76, 78, 79, 80, 100, 120, 132, 160, 200];

/// A text with rejoined lines.
pub(super) struct Unwrapped {
    pub(super) text: String,
    /// Whether a word or a number was split at the end of a line.
    pub(super) cuts_words: bool,
}

/// Returns the text with its lines joined, if a terminal seems to have wrapped them: the longest lines
/// have the same width.
pub(super) fn unwrapped(text: &str) -> Option<Unwrapped> {
    let width = |line: &str| line.chars().count();
    let most = text.lines().map(width).max().filter(|most| WIDTHS.contains(most))?;
    let is_broken = |line: &str| width(line) == most && !is_rule(line);
    if !text.lines().any(is_broken) {
        return None;
    }
    let (mut joined, mut cuts_words) = (String::with_capacity(text.len()), false);
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut continues = false;
    for line in text.lines() {
        if continues && is_line_of_fio(line) {
            joined.push('\n');
            continues = false;
        }
        cuts_words |= continues && joined.ends_with(is_of_word) && line.starts_with(is_of_word);
        joined += line;
        continues = is_broken(line);
        if !continues {
            joined.push('\n');
        }
    }
    Some(Unwrapped { text: joined, cuts_words })
}

/// Returns whether a line is one that fio prints alone after the description of a job, which can be as wide
/// as a terminal: its version, or the mark of further jobs.
fn is_line_of_fio(line: &str) -> bool {
    let version = line.strip_prefix("fio-");
    line.trim() == "..." || version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Converts all line ends to `\n`.
fn with_plain_ends(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (place, line) in text.split('\r').enumerate() {
        if place > 0 && !line.starts_with('\n') {
            plain.push('\n');
        }
        plain += line;
    }
    plain
}

fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => (encoding, &bytes[mark..]),
        None => (guess(bytes)?, bytes),
    };
    let (mut text, mut bad) = encoding.decode_without_bom_handling(body);
    // Bytes of western letters can be decoded as private-use characters of Shift_JIS, which do not
    // occur here.
    if encoding == SHIFT_JIS && (bad || text.contains(|c| ('\u{e000}'..='\u{f8ff}').contains(&c))) {
        (text, bad) = WINDOWS_1252.decode_without_bom_handling(body);
    }
    (!bad && !text.contains('\0')).then_some(text)
}

/// ASCII text in UTF-16 has a zero in every second byte.
fn guess(bytes: &[u8]) -> Option<&'static Encoding> {
    if std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0) {
        return Some(UTF_8);
    }
    let zeros = |first: usize| bytes.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let half = bytes.len() / 2;
    match (zeros(0) * 2 > half, zeros(1) * 2 > half) {
        (false, true) => Some(UTF_16LE),
        (true, false) => Some(UTF_16BE),
        (false, false) if !bytes.contains(&0) => Some(SHIFT_JIS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_the_encodings_of_windows() {
        let words = "日付 : 2021/02/05\r\n行";
        let utf16 = |swap: bool| -> Vec<u8> {
            words
                .encode_utf16()
                .flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect()
        };
        let with_mark = [vec![0xff, 0xfe], utf16(false)].concat();
        let shift_jis = SHIFT_JIS.encode(words).0.into_owned();
        for bytes in [words.as_bytes(), &with_mark, &shift_jis] {
            assert_eq!(Input::new("a", bytes).text(), Some("日付 : 2021/02/05\n行"));
        }
        let ascii: Vec<u8> = "SEQ".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(Input::new("a", &ascii).text(), Some("SEQ"));
        let western = WINDOWS_1252.encode("Comment: größer, schön").0.into_owned();
        assert_eq!(Input::new("a", &western).text(), Some("Comment: größer, schön"));
        assert_eq!(Input::new("a", &[0, 1, 2, 3, 0xff]).text(), None);
        assert_eq!(Input::new("C:\\results\\a.txt", b"").name, "a.txt");
    }
}
