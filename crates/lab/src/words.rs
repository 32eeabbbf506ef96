//! Parsers for parts of a request: `NAME=VALUE`, labels, numbers, and names that refer to a
//! built-in text or a file.

use kurabe_core::outside::text_of_file;
use kurabe_core::{ErrorKind, Result, Text, text};
use std::fmt::Display;

/// Splits each `NAME=VALUE`, both parts of which must be non-empty. The error message uses `flag`
/// and `example`.
///
/// # Errors
/// When one is malformed.
pub fn assignments(flag: impl Display, words: &[String], example: &str) -> Result<Vec<(String, String)>> {
    let assignment =
        |words: &String| match words.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok((name.to_owned(), value.to_owned()))
            }
            _ => Err(ErrorKind::Usage
                .error(text!("{flag} {words}: the value is missing", "{flag} {words}: 値がありません"))
                .remedy(text!("write it like {flag} {example}", "{flag} {example} のように書いてください"))),
        };
    words.iter().map(assignment).collect()
}

/// Parses `key=value`, or `key=` to remove a label.
///
/// # Errors
/// When there is no `=`.
pub fn parse_label(words: &str) -> Result<(String, Option<String>)> {
    let Some((key, value)) = words.split_once('=') else {
        return Err(ErrorKind::Usage
            .error(text!("`{words}` is not a label", "`{words}` はラベルとして読めません"))
            .remedy(text!("write key=value", "key=value の形で書いてください")));
    };
    Ok((key.to_owned(), (!value.is_empty()).then(|| value.to_owned())))
}

/// Returns the built-in text with this name, or the contents of the file at this path.
///
/// # Errors
/// When the file cannot be read.
pub fn text_of(library: &[(&str, &str)], name: &str) -> Result<String> {
    match library.iter().find(|(word, _)| *word == name) {
        Some((_, text)) => Ok((*text).to_owned()),
        None => text_of_file(name, &text!("cannot read {name}", "{name} を読めません")),
    }
}

/// Parses a percentage, `5%` or `5`, and returns it as a fraction.
///
/// # Errors
/// When it is not a number from 0 to 100.
pub fn parse_percent(words: &str) -> std::result::Result<f64, Text> {
    let number = words.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0).ok_or_else(|| {
        text!(
            "expected a percentage from 0 to 100, such as 5%",
            "0 から 100 までの割合を書いてください(例: 5%)"
        )
    })
}

/// Parses a number of writes: `1000-writes`, or `1000`.
///
/// # Errors
/// When it is not a positive integer.
pub fn parse_writes(words: &str) -> std::result::Result<u64, Text> {
    let number = words.strip_suffix("-writes").unwrap_or(words).parse::<u64>().ok();
    number.filter(|number| *number > 0).ok_or_else(|| {
        text!(
            "expected a number of writes, such as 1000-writes",
            "1000-writes のように書き込みの回数を書いてください"
        )
    })
}
