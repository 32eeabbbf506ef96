//! Finds and masks passwords in text that a user typed.
//!
//! Where an address is expected, it is parsed into a [`SharedAddress`](crate::SharedAddress), which
//! shows none. This module is for the edge, where an address may have been typed in another place:
//! as a run, a file or a command. In a single argument, everything between the first `:` and the
//! last `@` may be a password, and so may everything after `password=`. [`Secrets`] knows the
//! arguments, so passwords are masked exactly, whatever characters they contain.

use crate::SharedAddress;
use crate::address::{is_host, is_setting, percent_decoded};
use kurabe_core::shown;
use std::borrow::Cow;
use std::ops::Range;

/// Replacement for a password.
const COVER: &str = "…";

/// Names of the settings that hold a password, in lower case.
const KEYS: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];

/// Shortest password that is masked on its own. Shorter ones are masked only together with the
/// argument they are part of.
const LEAST_BYTES: usize = 4;

/// Returns whether a word is clearly the path of a file.
pub(crate) fn is_path(word: &str) -> bool {
    ["/", "./", "../", "~"].iter().any(|start| word.starts_with(start))
}

/// Returns whether the text has a setting that holds a password.
pub(crate) fn has_key(words: &str) -> bool {
    next_value(words, 0).is_some()
}

/// Returns the start of the first password value at or after a position.
fn next_value(words: &str, from: usize) -> Option<usize> {
    // Only ASCII letters change, so all positions stay the same.
    let small = words.to_ascii_lowercase();
    let values = KEYS.iter().filter_map(|key| {
        small[from..].match_indices(key).find_map(|(at, _)| {
            let after = &small[from + at + key.len()..];
            let value = after.trim_start().strip_prefix('=').or_else(|| after.strip_prefix("%3d"))?;
            Some(words.len() - value.trim_start().len())
        })
    });
    values.min()
}

/// Returns the ranges of an argument that may be a password.
pub(crate) fn hidden(word: &str) -> Vec<Range<usize>> {
    let key = next_value(word, 0).map(|start| start..word.len());
    let account = account(word);
    let mut ranges: Vec<Range<usize>> =
        account.into_iter().chain(key).filter(|range| !range.is_empty()).collect();
    if let [account, key] = ranges.as_slice()
        && key.start < account.end
    {
        let start = account.start.min(key.start);
        ranges = std::iter::once(start..word.len()).collect();
    }
    ranges
}

/// Returns the range of the password in `USER:PASSWORD@HOST`, with or without a scheme.
fn account(word: &str) -> Option<Range<usize>> {
    let small = word.to_ascii_lowercase();
    let scheme = small.find("://").map(|at| at + "://".len());
    let short = || {
        let at = small.find(':').filter(|at| small[..*at].starts_with("postgre"))?;
        Some(at + 1 + small[at + 1..].bytes().take_while(|byte| *byte == b'/').count())
    };
    let start = match scheme.or_else(short) {
        Some(start) => start,
        None if is_path(word) => return None,
        None => 0,
    };
    let end = start + small[start..].rfind('@').max(small[start..].rfind("%40"))?;
    if start == 0 && !begins_with_host(small[end..].trim_start_matches("%40").trim_start_matches('@')) {
        return None;
    }
    let before = &small[start..end];
    let colons = [(before.find(':'), 1), (before.find("%3a"), 3)];
    let colon = colons.iter().filter_map(|(at, length)| at.map(|at| at + length)).min()?;
    Some(start + colon..end)
}

/// Returns whether the text begins with a host, as it does after an account.
fn begins_with_host(words: &str) -> bool {
    is_host(words.split(['/', ':', '?']).next().unwrap_or_default())
}

/// Returns an argument with every password masked.
pub fn without_password(word: &str) -> Cow<'_, str> {
    cover(word, &hidden(word))
}

fn cover<'w>(words: &'w str, ranges: &[Range<usize>]) -> Cow<'w, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(words);
    }
    let mut out = String::new();
    let mut from = 0;
    for range in ranges {
        out += &words[from..range.start];
        out += COVER;
        from = range.end;
    }
    Cow::Owned(out + &words[from..])
}

/// Returns a text that may contain addresses, with every password masked.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(start) = next_value(text, from) {
        let value = &text[start..];
        let quoted = value.strip_prefix('\'').map(|inside| {
            let end = inside.find(['\'', '\n']).unwrap_or(inside.len());
            start + 1..start + 1 + end
        });
        let plain = || start..start + value.find(is_end).unwrap_or(value.len());
        let range = quoted.unwrap_or_else(plain);
        from = range.end;
        ranges.push(range);
    }
    let mut start = 0;
    while let Some(at) = text[start..].find("://").map(|at| start + at) {
        let begin = text[..at].rfind(is_end).map_or(0, |space| space + 1);
        let begin = (begin..=at).find(|begin| text.is_char_boundary(*begin)).unwrap_or(at);
        let end = at + text[at..].find(is_end).unwrap_or(text.len() - at);
        ranges.extend(account(&text[begin..end]).map(|range| begin + range.start..begin + range.end));
        start = end;
    }
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let overlaps = next.start <= range.end;
        if overlaps {
            range.end = range.end.max(next.end);
        }
        overlaps
    });
    cover(text, &ranges)
}

/// Returns whether a character ends an address in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || "\"'`".contains(letter)
}

/// Passwords of a command line, which no message may repeat.
#[derive(Default)]
pub struct Secrets {
    /// Strings to replace, the longest first, with their replacements.
    covers: Vec<(String, String)>,
}

impl Secrets {
    /// Collects the passwords of arguments, and of variables that hold an address.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut secrets = Self::default();
        for word in words {
            let value =
                word.strip_prefix("--").and_then(|option| option.split_once('=')).map(|(_, value)| value);
            [Some(word), value].into_iter().flatten().for_each(|word| secrets.learn(word));
        }
        secrets.covers.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        secrets.covers.dedup();
        secrets
    }

    fn learn(&mut self, word: &str) {
        let ranges = hidden(word);
        if ranges.is_empty() {
            return;
        }
        self.add(word, &cover(word, &ranges));
        let parsed = SharedAddress::named(word.as_ref()).and_then(Result::ok);
        let pieces: Vec<&str> = ranges.into_iter().map(|range| &word[range]).collect();
        let decoded: Vec<String> = pieces.iter().filter_map(|piece| percent_decoded(piece)).collect();
        let password = parsed.as_ref().and_then(SharedAddress::password);
        for secret in pieces.into_iter().chain(decoded.iter().map(String::as_str)).chain(password) {
            // A message may repeat a part, such as the text before the `#` of a comment. Names of
            // settings are not secret.
            let parts =
                secret.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !is_setting(part));
            for part in parts.chain([secret]).filter(|part| part.len() >= LEAST_BYTES) {
                self.add(part, COVER);
            }
        }
    }

    /// Masks a secret in each of the forms in which text is shown.
    fn add(&mut self, secret: &str, cover: &str) {
        let line = shown::line(secret);
        let json = serde_json::Value::from(secret).to_string();
        let json_of_line = serde_json::Value::from(line.as_str()).to_string();
        let inside = |json: &str| json[1..json.len() - 1].to_owned();
        for one in [secret.to_owned(), inside(&json), inside(&json_of_line), line] {
            if !one.is_empty() && one != cover {
                self.covers.push((one, cover.to_owned()));
            }
        }
    }

    /// Masks these passwords, and those of other addresses in the text.
    pub fn cover(&self, text: &str) -> String {
        let text = self.covers.iter().fold(Cow::Borrowed(text), |text, (secret, cover)| {
            if text.contains(secret) { Cow::Owned(text.replace(secret, cover)) } else { text }
        });
        without_passwords(&text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_covered_wherever_an_address_stands() {
        for (typed, shown) in [
            ("no `postgres://aki:s3cret@db/lab` here", "no `postgres://aki:…@db/lab` here"),
            ("postgresql://aki:s3/c@ret?@db:1/lab", "postgresql://aki:…@db:1/lab"),
            ("postgres://db/lab?user=aki&password=s3cret&a=b", "postgres://db/lab?user=aki&password=…"),
            ("postgres://aki@db/lab and postgres://b:s3cret@c", "postgres://aki@db/lab and postgres://b:…@c"),
            ("postgre://aki:s3cret@db", "postgre://aki:…@db"),
            ("no `host=db password='s3 cret' dbname=lab`", "no `host=db password='…' dbname=lab`"),
            ("host=db PASSWORD = s3cret dbname=lab", "host=db PASSWORD = … dbname=lab"),
            ("/mnt/a:b@c", "/mnt/a:b@c"),
            ("the password file", "the password file"),
        ] {
            assert_eq!(without_passwords(typed), shown);
        }
    }

    #[test]
    fn of_an_argument_all_that_may_be_a_password_is_covered() {
        for (typed, shown) in [
            ("aki:s3 c@ret@db/lab", "aki:…@db/lab"),
            ("postgres://aki%3As3cret%40db", "postgres://aki%3A…%40db"),
            ("postgresql:/aki:s3cret@db", "postgresql:/aki:…@db"),
            ("host=db password=s3 cret' dbname=lab", "host=db password=…"),
            ("postgres://aki:s3?password=c@ret", "postgres://aki:…"),
            ("/mnt/a:b@c", "/mnt/a:b@c"),
            ("error:read@1MiB+64KiB", "error:read@1MiB+64KiB"),
            ("a=b:c", "a=b:c"),
        ] {
            assert_eq!(without_password(typed), shown);
        }
    }

    #[test]
    fn what_was_typed_is_covered_exactly() {
        let typed = [
            "--db=postgres://aki:s3 \"c\u{1b}r@et@db/lab",
            "host=db password='t0p s3cret' dbname=x",
            "x:ab@c",
        ];
        let secrets = Secrets::of(typed);
        assert_eq!(secrets.cover("write dbname=DATABASE"), "write dbname=DATABASE");
        for text in [
            "no run `postgres://aki:s3 \"c\u{1b}r@et@db/lab`",
            "no run `postgres://aki:s3 \\\"c\\u001br@et@db/lab`",
            "no run `s3 \"c\\x1br@et`",
            "no file t0p s3cret",
            "no `x:ab@c`",
        ] {
            let shown = secrets.cover(text);
            assert!(shown.contains(COVER), "{shown}");
            assert!(!["s3", "et@", "ab@"].iter().any(|part| shown.contains(part)), "{shown}");
        }
    }
}
