//! Numbers and fields in the text of a tool, without the file that contains it.
//!
//! The model: a number is digits with an optional fraction and exponent. Anything else is not a number,
//! so a damaged file can lose figures but never yields a wrong one.

use kurabe_core::quantity::parse_bytes;

/// Maximum length in characters of a line in an error, and of texts that each cell of a run repeats.
/// Texts of tools are shorter. A damaged or hostile file would fill the memory with copies.
pub(super) const WORDS_LONGEST: usize = 4096;

/// Returns whether a text consists only of digits.
pub(crate) fn digits(words: &str) -> bool {
    !words.is_empty() && words.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a number as printed by tools: `508.897`, `1.0E7`. Surrounding spaces are ignored. Signs and
/// thousands separators are not accepted.
pub(super) fn number(words: &str) -> Option<f64> {
    let words = words.trim();
    let (mantissa, exponent) = match words.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (words, None),
    };
    let sound = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(mantissa),
    };
    if !sound
        || exponent.is_some_and(|exponent| !digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
    {
        return None;
    }
    words.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Parses a number in which the decimal separator can also be a comma, as in some languages.
pub(super) fn decimal(words: &str) -> Option<f64> {
    number(words).or_else(|| if words.contains('.') { None } else { number(&words.replacen(',', ".", 1)) })
}

/// Parses a size with its unit, such as `2 MiB`.
pub(super) fn bytes(words: &str) -> Option<u64> {
    parse_bytes(words).ok()
}

/// Parses a size of a tool whose `KB` is 1024 bytes.
pub(super) fn binary_bytes(words: &str) -> Option<u64> {
    bytes(&words.replace("KB", "KiB").replace("MB", "MiB"))
}

/// Limits a text that every cell of a run repeats, such as a command line.
pub(super) fn repeated(words: &str) -> String {
    words.chars().take(WORDS_LONGEST).collect()
}

/// Returns whether a line consists of dashes, as tools draw around a heading.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 10 && line.bytes().all(|byte| byte == b'-')
}

/// Parses `Key: value` or `Key : value`, both trimmed.
pub(super) fn key_value(line: &str) -> Option<(&str, &str)> {
    line.split_once(':').map(|(key, value)| (key.trim(), value.trim()))
}

/// Parses the number in `(x5)`.
pub(super) fn runs_in(words: &str) -> Option<u32> {
    words
        .match_indices("(x")
        .find_map(|(at, _)| words[at + 2..].split_once(')').and_then(|(digits, _)| digits.parse().ok()))
        .filter(|runs| *runs > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_strict() {
        assert_eq!(number("508.897"), Some(508.897));
        assert_eq!(number("1.0E7"), Some(1e7));
        assert_eq!(number("7.25e-05"), Some(7.25e-5));
        assert_eq!(number(" 1 "), Some(1.0));
        for words in
            ["", ".5", "5.", "-1", "+1", "1e", "1e999", "nan", "inf", "1,000", "1 0", "1_0", "1e5e5", "1e+-5"]
        {
            assert_eq!(number(words), None, "{words}");
        }
    }
}
