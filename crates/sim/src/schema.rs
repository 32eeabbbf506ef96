//! The parameters of layers: key, type, default and meaning in one place, for the reader of device files, for `--set`,
//! for `kurabe models show` and for the documentation.

use crate::settings::{Setting, Worth};
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::{Result, Text, Value, text};

/// What kind of quantity a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A size: `"64 KiB"`.
    Bytes,
    /// A time: `"0.97 ms"`.
    Time,
    /// Bytes per second: `"3.1 MB/s"`.
    Rate,
    /// A whole number within limits.
    Count(u64, u64),
    /// A number from 0 up.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table of numbers with these columns: `[[0, 1.5], [10, 2.0]]`.
    Rows(&'static [&'static str]),
}

impl ParameterType {
    /// What a value looks like.
    pub fn example(self) -> Text {
        match self {
            Self::Bytes => text!("a size: 64 KiB, 1 GiB", "大きさを書きます(例: 64 KiB、1 GiB)"),
            Self::Time => {
                text!("a time with its unit: 10 us, 8.5 ms", "単位付きの時間を書きます(例: 10 us、8.5 ms)")
            }
            Self::Rate => text!("a rate: 3.1 MB/s", "転送速度を書きます(例: 3.1 MB/s)"),
            Self::Count(least, most) => {
                text!("a whole number from {least} to {most}", "{least} から {most} までの整数を書きます")
            }
            Self::Number => text!("a number from 0 up", "0 以上の数を書きます"),
            Self::Flag => text!("true or false", "true か false を書きます"),
            Self::Word(words) => {
                let words = words.join(", ");
                text!("one of: {words}", "使えるもの: {words}")
            }
            Self::Rows(columns) => {
                let columns = columns.join(", ");
                text!("rows of numbers: [[{columns}], …]", "数の行の一覧を書きます: [[{columns}], …]")
            }
        }
    }
}

/// A parameter of a kind of layer.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in device files.
    pub key: &'static str,
    /// Its type.
    pub kind: ParameterType,
    /// Value, as a device file writes it (a string in double quotes), and its source, where a file does not give it.
    pub default: Option<(&'static str, &'static str)>,
    /// What it is, in English and Japanese.
    pub meaning: (&'static str, &'static str),
}

impl Parameter {
    /// A parameter that every device must give.
    pub const fn needed(
        key: &'static str,
        kind: ParameterType,
        meaning: (&'static str, &'static str),
    ) -> Self {
        Self { key, kind, default: None, meaning }
    }

    /// A parameter with a default; `value` is written as in a device file.
    pub const fn usual(
        key: &'static str,
        kind: ParameterType,
        value: &'static str,
        source: &'static str,
        meaning: (&'static str, &'static str),
    ) -> Self {
        Self { key, kind, default: Some((value, source)), meaning }
    }

    /// Reads a value of this type.
    ///
    /// # Errors
    /// When it is something else, with its place.
    pub(crate) fn read(&self, value: &Value<'_>, source: &str) -> Result<Setting> {
        let worth = match self.kind {
            ParameterType::Bytes => Worth::Whole(value.parsed(parse_bytes)?),
            ParameterType::Time => Worth::Whole(value.parsed(parse_duration_ns)?),
            ParameterType::Rate => Worth::Real(value.parsed(parse_rate)?),
            ParameterType::Count(least, most) => Worth::Whole(value.integer(least..=most)?),
            ParameterType::Number => Worth::Real(value.number()?),
            ParameterType::Flag => Worth::Flag(value.boolean()?),
            ParameterType::Word(words) => {
                let choices: Vec<(&'static str, &'static str)> =
                    words.iter().map(|word| (*word, *word)).collect();
                Worth::Word(value.choice(&choices)?)
            }
            ParameterType::Rows(columns) => Worth::Rows(read_rows(value, columns)?),
        };
        let written = value.written().to_owned();
        Ok(Setting {
            key: self.key,
            worth,
            written,
            source: source.to_owned(),
            place: Some(value.place()),
            changed: false,
        })
    }
}

/// Bytes per second: `3.1 MB/s`.
fn parse_rate(words: &str) -> Result<f64, Text> {
    let rate = words.trim().strip_suffix("/s").and_then(|bytes| parse_bytes(bytes).ok());
    rate.filter(|rate| *rate > 0).map(|rate| rate as f64).ok_or_else(|| {
        text!(
            "`{words}` is not a rate (examples: 3.1 MB/s, 600 kB/s, 2 GiB/s)",
            "`{words}` は転送速度として読めません(例: 3.1 MB/s、600 kB/s、2 GiB/s)"
        )
    })
}

fn read_rows(value: &Value<'_>, columns: &[&str]) -> Result<Vec<Vec<f64>>> {
    let names = columns.join(", ");
    let misfit = |value: &Value<'_>| {
        value.error(&text!(
            "a list of rows is expected here, each with the numbers [{names}]",
            "ここには [{names}] の数を並べた行の一覧を書きます"
        ))
    };
    if !value.is_array() {
        return Err(misfit(value));
    }
    value
        .elements()
        .iter()
        .map(|row| {
            let numbers = row.elements();
            if !row.is_array() || numbers.len() != columns.len() {
                return Err(misfit(row));
            }
            numbers.iter().map(Value::number).collect()
        })
        .collect()
}
