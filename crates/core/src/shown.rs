//! Escaping of text from outside for display. A file name, a label or a line of a data file must
//! not move the cursor, change the window title, reverse the writing direction or start a new line.
//!
//! Characters that control the display or are invisible are written as escapes (`\x1b`, `\n`,
//! `\u{202e}`). All others are unchanged. Only this module decides what is escaped. [`line()`] is
//! for text within a line, [`Shown`] for whole lines of output, [`json`] for JSON, and [`source`]
//! for the text of a data file. Escaping is idempotent.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Returns whether a character is shown as an escape. It is if it controls the display (control
/// characters; marks, embeddings, overrides and isolates of the bidirectional algorithm; line and
/// paragraph separators), if it is invisible (zero-width space and no-break space, word joiner and
/// the invisible operators, interlinear marks, tags), or if it is a noncharacter (U+FFFE, U+FFFF).
/// The joiners U+200C and U+200D are kept, because some languages and emoji need them.
pub fn is_escaped(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e0000}'..='\u{e007f}'
    )
}

/// Escapes text as part of a line.
pub fn line(words: &str) -> String {
    escaped(words, &is_escaped, &push_escape).into_owned()
}

/// Escapes a file name as part of a line. Bytes that are not valid UTF-8 are shown as `\xff`.
pub fn path(path: impl AsRef<Path>) -> String {
    line(&name(path))
}

/// Returns a file name as stored in a record. Only bytes that are not valid UTF-8 are escaped.
pub fn name(path: impl AsRef<Path>) -> String {
    let mut name = String::new();
    for chunk in path.as_ref().as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| name.push_str(&format!("\\x{byte:02x}")));
    }
    name
}

/// Quotes a command-line argument for a shell.
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Percent-encodes a part of a URL. Letters, digits, `-._~` (RFC 3986, 2.1) and the bytes in `kept`
/// are unchanged.
pub fn address(words: &[u8], kept: &[u8]) -> String {
    let one = |byte: &u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte)
    {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    words.iter().map(one).collect()
}

/// Escapes JSON text with JSON escapes, so that it parses to the same value. Such characters occur
/// only in strings, apart from the white space between values.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(text, &|c| is_escaped(c) && !matches!(c, '\n' | '\r' | '\t'), &|c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Escapes the text of a data file but keeps its lines and tabs. The escapes are those of TOML, so
/// strings in double quotes parse to the same value.
pub fn source(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let acts = |c| is_escaped(c) && !matches!(c, '\n' | '\t');
    escaped(&text, &acts, &|c, out| out.push_str(&toml_escape(c))).into_owned()
}

fn toml_escape(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

fn escaped<'a>(text: &'a str, acts: &dyn Fn(char) -> bool, push: &dyn Fn(char, &mut String)) -> Cow<'a, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) { push(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn push_escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

/// Escaped lines for a terminal or file. Output is written only in this form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// Escapes lines without colours.
    pub fn lines(text: &str) -> Self {
        Self(escaped(text, &|c| is_escaped(c) && c != '\n', &push_escape).into_owned())
    }

    /// Escapes lines but keeps their colours (ECMA-48, "select graphic rendition"). Text from
    /// outside was escaped with [`line()`] before the colours were added.
    pub fn coloured(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("\x1b[") {
            let (before, sequence) = rest.split_at(at);
            out.push_str(&Self::lines(before).0);
            let parameters = sequence[2..].find(|c: char| !c.is_ascii_digit() && c != ';');
            match parameters.map(|length| sequence.split_at(2 + length)) {
                Some((start, end)) if end.starts_with('m') => {
                    out.push_str(start);
                    rest = end;
                }
                _ => {
                    out.push_str("\\x1b");
                    rest = &sequence[1..];
                }
            }
        }
        out.push_str(&Self::lines(rest).0);
        Self(out)
    }

    /// Escapes the text of a file, whose line endings may be those of CSV.
    pub fn file(text: &str) -> Self {
        Self(text.split("\r\n").map(|lines| Self::lines(lines).0).collect::<Vec<_>>().join("\r\n"))
    }

    /// Escapes the control characters of JSON text.
    pub fn json(text: &str) -> Self {
        Self(json(text).into_owned())
    }

    /// Accepts a text that this program generated completely, such as a completion script or a
    /// manual page.
    pub fn of_ours(text: String) -> Self {
        Self(text)
    }

    /// Escapes the text of a data file.
    pub fn source(text: &str) -> Self {
        Self(source(text))
    }

    /// Writes and flushes the text.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.0.as_bytes()).and_then(|()| out.flush())
    }
}

impl AsRef<str> for Shown {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_acts_or_is_not_seen_is_an_escape() {
        for (words, shown) in [
            ("\u{1b}[31m\u{7}\0", "\\x1b[31m\\x07\\x00"),
            ("a\r\n\tb\u{7f}", "a\\r\\n\\tb\\x7f"),
            ("\u{9b}2J \u{85}", "\\u{9b}2J \\u{85}"),
            ("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}"),
            ("\u{2028}\u{2029}\u{feff}\u{200b}\u{e0041}", "\\u{2028}\\u{2029}\\u{feff}\\u{200b}\\u{e0041}"),
            ("比べ é 👩\u{200d}💻 \\x1b", "比べ é 👩\u{200d}💻 \\x1b"),
        ] {
            assert_eq!(line(words), shown);
        }
    }

    #[test]
    fn bytes_of_a_name_that_are_no_text_are_shown() {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"/mnt/\xff\xed\xa0\x80 \xe6\xaf\x94\n");
        assert_eq!(path(Path::new(name)), "/mnt/\\xff\\xed\\xa0\\x80 比\\n");
    }

    #[test]
    fn colours_stay_and_nothing_else_does() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7}\u{1b}[1\u{9b}1m\n\u{1b}[";
        assert_eq!(
            Shown::coloured(text).as_ref(),
            "\u{1b}[1;31mred\u{1b}[0m \\x1b[2J\\x1b]0;title\\x07\\x1b[1\\u{9b}1m\n\\x1b["
        );
        assert_eq!(Shown::lines("\u{1b}[1mred\n").as_ref(), "\\x1b[1mred\n");
    }

    #[test]
    fn the_text_of_a_data_file_is_read_as_the_same() {
        let text = "# a\u{2028}b\r\nname = \"x\u{202e}\u{e0041}\u{9b}y\"\n\ttabs = 1\n";
        let shown = source(text);
        assert!(!shown.chars().any(|c| is_escaped(c) && !matches!(c, '\n' | '\t')), "{shown:?}");
        let name = |text: &str| text.parse::<toml::Table>().unwrap()["name"].clone();
        assert_eq!(name(text), name(&shown));
    }

    proptest! {
        #[test]
        fn whatever_it_was_it_can_be_shown_and_stays_so(words in any::<String>()) {
            let shown = line(&words);
            prop_assert!(!shown.chars().any(is_escaped), "{shown:?}");
            prop_assert_eq!(line(&shown), shown.clone());
            let page = Shown::coloured(&shown);
            prop_assert_eq!(page.as_ref(), &shown);
        }

        #[test]
        fn json_is_read_as_the_same(words in any::<String>()) {
            let text = serde_json::to_string_pretty(&[&words]).unwrap();
            let shown = json(&text);
            prop_assert!(!shown.chars().any(|c| is_escaped(c) && c != '\n'), "{shown:?}");
            prop_assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [words]);
        }
    }
}
