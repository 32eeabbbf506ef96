//! Axes: one parameter and the values that it takes.
//!
//! Values are written as `8KiB,64KiB,1MiB`, or as `8KiB..1MiB`, which doubles from the first to the
//! last. Plain whole numbers (`1..8`) count by one: they are numbers of drives, lanes or
//! generations.

use kurabe_core::quantity::{format_bytes, format_time_setting, parse_bytes, parse_duration_ns};
use kurabe_core::{Error, ErrorKind, Result, Text, mention::AXIS, text};
use kurabe_sim::COMPUTER;
use serde::Serialize;

/// Largest number of values of an axis.
const MOST_VALUES: usize = 64;

/// A parameter with its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyAxis {
    /// `layer.parameter`.
    pub parameter: String,
    /// Values, as `--set` takes them.
    pub values: Vec<String>,
}

impl StudyAxis {
    /// Reads `layer.parameter=8KiB..1MiB` or `layer.parameter=1,2,4`.
    ///
    /// # Errors
    /// If the text has another form or too many values.
    pub fn parse(words: &str) -> Result<Self> {
        let Some((parameter, values)) =
            words.split_once('=').filter(|(parameter, _)| is_parameter(parameter))
        else {
            return Err(usage(
                &format!("{AXIS} {words}"),
                &text!("this is not an axis", "軸として読めません"),
            ));
        };
        let values = parse_values(values).map_err(|what| usage(&format!("{AXIS} {words}"), &what))?;
        Ok(Self { parameter: parameter.to_owned(), values })
    }
}

/// Returns whether the text is `layer.parameter`, or the computer that a device is connected to.
pub(crate) fn is_parameter(words: &str) -> bool {
    words == COMPUTER
        || words.split_once('.').is_some_and(|(layer, key)| !layer.is_empty() && !key.is_empty())
}

fn usage(words: &str, what: &Text) -> Error {
    ErrorKind::Usage.error(what.map(|what| format!("{words}: {what}"))).remedy(text!(
        "write layer.parameter=VALUES, as in raid.strip=8KiB..1MiB (doubling), raid.members=1..8 or \
             raid.strip=8KiB,64KiB",
        "層.パラメーター=値 の形で書いてください。例: raid.strip=8KiB..1MiB (2 倍ずつ)、raid.members=1..8、\
             raid.strip=8KiB,64KiB"
    ))
}

/// Base unit of the values on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Along {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Plain numbers.
    Number,
}

/// Returns a value as a number in its base unit, or `None` if it is a word.
pub(crate) fn number_of(value: &str) -> Option<(Along, f64)> {
    if let Ok(number) = value.parse::<f64>() {
        return Some((Along::Number, number));
    }
    let bytes = parse_bytes(value).map(|bytes| (Along::Bytes, bytes as f64));
    bytes.or_else(|_| parse_duration_ns(value).map(|ns| (Along::Nanoseconds, ns as f64))).ok()
}

/// Returns whether two values are equal regardless of their spelling: `8KiB` and `8 KiB`.
pub(crate) fn is_same_value(one: &str, other: &str) -> bool {
    one == other || number_of(one).is_some_and(|value| number_of(other) == Some(value))
}

/// Parses `8KiB..1MiB` or a list separated by commas.
pub(crate) fn parse_values(words: &str) -> Result<Vec<String>, Text> {
    let values = match words.split_once("..") {
        Some((first, last)) => span(first.trim(), last.trim())?,
        None => words.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    if values.iter().any(String::is_empty) {
        return Err(text!("a value is missing", "値が抜けています"));
    }
    if values.len() > MOST_VALUES {
        return Err(text!("an axis has at most {MOST_VALUES} values", "軸の値は {MOST_VALUES} 個までです"));
    }
    Ok(values)
}

fn span(first: &str, last: &str) -> Result<Vec<String>, Text> {
    let misfit = || {
        text!(
            "`{first}..{last}` is not an ascending range",
            "`{first}..{last}` は小から大への範囲ではありません"
        )
    };
    if let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) {
        if from > to {
            return Err(misfit());
        }
        return Ok((from..=to).take(MOST_VALUES + 1).map(|value| value.to_string()).collect());
    }
    let bytes = |words: &str| parse_bytes(words).ok();
    let rate = |words: &str| words.strip_suffix("/s").and_then(bytes);
    let values: Vec<String> = if let (Some(from), Some(to)) = (bytes(first), bytes(last)) {
        doubled(from, to).into_iter().map(exact_bytes).collect()
    } else if let (Ok(from), Ok(to)) = (parse_duration_ns(first), parse_duration_ns(last)) {
        doubled(from, to).into_iter().map(exact_time).collect()
    } else if let (Some(from), Some(to)) = (rate(first), rate(last)) {
        doubled(from, to).into_iter().map(|rate| format!("{}/s", exact_bytes(rate))).collect()
    } else {
        Vec::new()
    };
    if values.is_empty() { Err(misfit()) } else { Ok(values) }
}

/// Returns the powers-of-two multiples of `from` up to `to`; empty if the range is not valid.
fn doubled(from: u64, to: u64) -> Vec<u64> {
    if from == 0 || from > to {
        return Vec::new();
    }
    std::iter::successors(Some(from), |value| value.checked_mul(2).filter(|value| *value <= to)).collect()
}

/// Formats a size so that it parses back to exactly the same value.
fn exact_bytes(bytes: u64) -> String {
    let short = format_bytes(bytes);
    if parse_bytes(&short) == Ok(bytes) {
        return short;
    }
    let decimal = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = decimal.into_iter().find(|(factor, _)| bytes.is_multiple_of(*factor));
    unit.map_or_else(|| format!("{bytes} B"), |(factor, unit)| format!("{} {unit}", bytes / factor))
}

fn exact_time(ns: u64) -> String {
    let short = format_time_setting(ns);
    if parse_duration_ns(&short) == Ok(ns) { short } else { format!("{ns} ns") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_double_and_plain_numbers_count() {
        let values = |words: &str| StudyAxis::parse(words).unwrap().values;
        assert_eq!(values("raid.strip=8KiB..64KiB"), ["8 KiB", "16 KiB", "32 KiB", "64 KiB"]);
        assert_eq!(values("raid.members=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("a.b=1ms..5ms"), ["1 ms", "2 ms", "4 ms"]);
        assert_eq!(values("a.b=1 MB/s..2 MB/s"), ["1 MB/s", "2 MB/s"]);
        assert_eq!(values("a.b=on, off"), ["on", "off"]);
        assert_eq!(values("a.b=1GB..2GB"), ["1 GB", "2 GB"]);
    }

    #[test]
    fn what_is_no_axis_is_refused_with_an_example() {
        for bad in [
            "raid.strip",
            "strip=1..2",
            "a.b=",
            "a.b=1,,2",
            "a.b=2..1",
            "a.b=0KiB..1MiB",
            "a.b=x..y",
            "a.b=1..999",
        ] {
            let error = StudyAxis::parse(bad).unwrap_err();
            assert!(error.remedy_text().unwrap().ja.contains("raid.strip=8KiB..1MiB"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_size_reads_back(from in 1u64..1 << 50, times in 1u64..1000) {
            for bytes in doubled(from, from.saturating_mul(times)) {
                prop_assert_eq!(parse_bytes(&exact_bytes(bytes)), Ok(bytes));
            }
        }
    }
}
