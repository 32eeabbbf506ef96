//! Values of options: typed when they are read, from words or from a number.

use super::OptionKind;
use super::OptionKind::{Block, Bytes, Count, Pause, Switch, Time};
use crate::data_file::Value;
use crate::profile::{LARGEST_BLOCK_BYTES, MOST_RATE_IOPS};
use crate::quantity::{parse_above_zero, parse_bytes, parse_duration_ns};
use crate::words::{Keyword, all_words};
use crate::workload::{AccessZone, BlockSize, Data, Pattern};
use crate::{error::Result, text, text::Text};
use std::ops::RangeInclusive;

/// The largest processor number that Linux supports.
const MOST_PROCESSOR: u32 = 8191;

/// The value of an option, as a file or a command line gives it, or as a workload has it.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionInput<'a> {
    /// Words, to be parsed.
    Words(&'a str),
    /// An integer, in bytes for a size and in ns for a duration.
    Number(u64),
    /// A number.
    Real(f64),
    /// On or off.
    On(bool),
    /// Block sizes with their weights.
    Sizes(Vec<BlockSize>),
    /// Zones of the span.
    Zones(Vec<AccessZone>),
    /// Processor numbers.
    Processors(Vec<u32>),
}

impl<'f> OptionInput<'f> {
    /// Reads the value of a key in a profile.
    ///
    /// # Errors
    /// Fails at the place of the value, or of an element of it.
    pub(super) fn of_value(value: &Value<'f>, kind: OptionKind) -> Result<Self> {
        let above_zero = |number: u64, what: Text| if number == 0 { Err(what) } else { Ok(number) };
        Ok(match kind {
            Count(..) | OptionKind::Number => Self::Number(value.integer(kind.limits())?),
            OptionKind::Rate | OptionKind::Percentile => Self::Real(value.positive()?),
            Switch | OptionKind::Flag => Self::On(value.boolean()?),
            OptionKind::Choice(words) => {
                let words: Vec<_> = words().into_iter().map(|word| (word, word)).collect();
                Self::Words(value.choice(&words)?)
            }
            Bytes => Self::Number(value.parsed(|words| {
                let what = text!("a size above zero is expected here", "ここには 0 より大きい値を書きます");
                above_zero(parse_bytes(words)?, what)
            })?),
            Time => Self::Number(value.parsed(|words| {
                let what = text!("a time above zero is expected here", "ここには 0 より長い時間を書きます");
                above_zero(parse_duration_ns(words)?, what)
            })?),
            OptionKind::Sizes => Self::Sizes(block_sizes(value)?),
            OptionKind::Zones => Self::Zones(zones(value)?),
            OptionKind::Processors => {
                let number = |value: &Value<'_>| Ok(value.integer(0..=MOST_PROCESSOR.into())? as u32);
                Self::Processors(value.each(number)?)
            }
            Pause | Block | OptionKind::Data | OptionKind::Order => Self::Words(value.string()?),
        })
    }
}

/// Reads block sizes: one, or a list of sizes, each with or without a weight.
pub fn block_sizes(value: &Value<'_>) -> Result<Vec<BlockSize>> {
    let elements = value.elements();
    if elements.is_empty() {
        return Err(
            value.error(&text!("at least one block size is needed", "ブロックサイズが 1 つ以上必要です"))
        );
    }
    elements
        .iter()
        .map(|element| {
            if !element.is_table() {
                return Ok(BlockSize { size_bytes: element.parsed(parse_block_size)?, weight: 1 });
            }
            let table = element.table(&["size", "weight"])?;
            let weight = table.read("weight", |value| value.integer(1..=1_000_000))?.unwrap_or(1);
            Ok(BlockSize {
                size_bytes: table.require("size")?.parsed(parse_block_size)?,
                weight: weight as u32,
            })
        })
        .collect()
}

/// Reads the zones of the span, each as `[accesses, span]` in percent. Both must add up to 100.
fn zones(list: &Value<'_>) -> Result<Vec<AccessZone>> {
    let zones = list.each(|zone| match zone.elements().as_slice() {
        [access, span] => Ok(AccessZone {
            access_percent: access.integer(0..=100)? as u8,
            span_percent: span.integer(1..=100)? as u8,
        }),
        _ => Err(zone.error(&text!(
            "a zone is [percent of the accesses, percent of the span]",
            "領域は [アクセスの割合, 範囲の割合](%)です"
        ))),
    })?;
    match AccessZone::are_whole(&zones) {
        true => Ok(zones),
        false => Err(list.error(&text!(
            "accesses and spans of all zones are 100 percent each",
            "アクセスと範囲の割合は、それぞれ合計 100 % にしてください"
        ))),
    }
}

impl<'a> From<&'a str> for OptionInput<'a> {
    fn from(words: &'a str) -> Self {
        Self::Words(words)
    }
}

/// A type that the value of an option can have.
pub(super) trait OptionValue: Sized {
    /// Reads a value. Returns `None` if the value means no change.
    fn read(kind: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text>;

    /// Returns the value for the file of another tool. Values that no such file has in this form have none.
    fn input(self) -> Option<OptionInput<'static>> {
        None
    }
}

/// Parses the words of an input, which has no other form.
fn parsed<T>(
    input: &OptionInput<'_>,
    parse: impl FnOnce(&str) -> Result<T, Text>,
) -> Result<Option<T>, Text> {
    match input {
        OptionInput::Words(words) => parse(words).map(Some),
        _ => Err(text!("words are expected here", "ここには文字列を書きます")),
    }
}

impl<T: Keyword> OptionValue for T {
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        parsed(&input, |words| {
            let unknown = || {
                let all = all_words::<T>().join(", ");
                text!("`{words}` is not one of {all}", "`{words}` は使えません(使えるもの: {all})")
            };
            T::of_word(words).ok_or_else(unknown)
        })
    }

    fn input(self) -> Option<OptionInput<'static>> {
        Some(OptionInput::Words(self.word()))
    }
}

impl OptionKind {
    /// Returns the limits of an integer of this kind.
    pub(super) fn limits(self) -> RangeInclusive<u64> {
        match self {
            Count(least, most) => least.into()..=most.into(),
            _ => 0..=u64::MAX,
        }
    }

    /// Parses an integer value, in bytes for a size and in ns for a duration.
    ///
    /// # Errors
    /// Fails if the text is not a number or is out of range for this kind.
    pub fn number(self, words: &str) -> Result<u64, Text> {
        let above_zero = |number: u64, ja: &str| match number {
            0 => Err(text!("it must be above zero", "{ja}")),
            number => Ok(number),
        };
        match self {
            Bytes => above_zero(parse_bytes(words)?, "0 より大きい値が必要です"),
            Time => above_zero(parse_duration_ns(words)?, "0 より長い時間が必要です"),
            Pause => parse_duration_ns(words),
            Block => parse_block_size(words).map(u64::from),
            _ => {
                let (least, most) = self.limits().into_inner();
                let number = words.parse().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| {
                    text!(
                        "`{words}` is not a number from {least} to {most}",
                        "`{words}` は {least} から {most} までの数ではありません"
                    )
                })
            }
        }
    }
}

impl OptionValue for u64 {
    fn read(kind: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        match input {
            OptionInput::Number(number) => Ok(Some(number)),
            input => parsed(&input, |words| kind.number(words)),
        }
    }

    fn input(self) -> Option<OptionInput<'static>> {
        Some(OptionInput::Number(self))
    }
}

impl OptionValue for u32 {
    fn read(kind: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        let out_of_range = |_| text!("the number is too large", "数が大きすぎます");
        let number = <u64 as OptionValue>::read(kind, input)?;
        number.map(|number| Self::try_from(number).map_err(out_of_range)).transpose()
    }

    fn input(self) -> Option<OptionInput<'static>> {
        Some(OptionInput::Number(self.into()))
    }
}

impl OptionValue for f64 {
    fn read(kind: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        let number = match input {
            OptionInput::Real(number) => number,
            OptionInput::Words(words) => parse_above_zero(words)?,
            _ => return Err(text!("a number is expected here", "ここには数値を書きます")),
        };
        match kind {
            OptionKind::Percentile if number > 100.0 => {
                Err(text!("a percentile is at most 100", "パーセンタイルは 100 までです"))
            }
            OptionKind::Rate if number > MOST_RATE_IOPS => Err(text!(
                "a rate is at most {MOST_RATE_IOPS} operations per second",
                "頻度は毎秒 {MOST_RATE_IOPS} 回までです"
            )),
            _ => Ok(Some(number)),
        }
    }

    fn input(self) -> Option<OptionInput<'static>> {
        Some(OptionInput::Real(self))
    }
}

impl OptionValue for bool {
    fn read(kind: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        let is_on = match input {
            OptionInput::On(is_on) => is_on,
            OptionInput::Words(words) => match words.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" | "1" => true,
                "no" | "off" | "false" | "0" => false,
                _ => return Err(text!("use yes or no", "値は yes か no です")),
            },
            _ => return Err(text!("use yes or no", "値は yes か no です")),
        };
        Ok(Some(is_on).filter(|is_on| *is_on || !matches!(kind, Switch)))
    }

    fn input(self) -> Option<OptionInput<'static>> {
        Some(OptionInput::On(self))
    }
}

impl OptionValue for Data {
    /// Parses a kind of data; `compressible:30` means 30 % zeros.
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        parsed(&input, |words| {
            let data = match words {
                "random" => Some(Self::Random),
                "zero" => Some(Self::Zero),
                "repeat" => Some(Self::Repeat),
                "compressible" => Some(Self::Compressible { percent: 50 }),
                words => {
                    let percent =
                        words.strip_prefix("compressible:").and_then(|percent| percent.parse().ok());
                    percent.filter(|percent| *percent <= 100).map(|percent| Self::Compressible { percent })
                }
            };
            data.ok_or_else(|| {
                text!(
                    "one of: random, zero, repeat, compressible, compressible:0 to compressible:100",
                    "random、zero、repeat、compressible、compressible:0 から compressible:100 のいずれか"
                )
            })
        })
    }
}

impl OptionValue for Pattern {
    /// Parses a pattern that `rw` can't express, such as `zipf:1.2`.
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        parsed(&input, |words| {
            Ok(match (words, words.split_once(':')) {
                ("interleaved", _) => Self::Interleaved,
                ("permutation", _) => Self::Permutation,
                ("zipf", _) => Self::Zipf { exponent: 1.1 },
                (_, Some(("zipf", exponent))) => Self::Zipf { exponent: parse_above_zero(exponent)? },
                _ => {
                    return Err(text!(
                        "one of: interleaved, permutation, zipf, zipf:EXPONENT",
                        "interleaved、permutation、zipf、zipf:指数 のいずれか"
                    ));
                }
            })
        })
    }
}

impl OptionValue for Vec<BlockSize> {
    /// Parses `4k`, or sizes with their weights such as `4k/90:64k/10`.
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        if let OptionInput::Sizes(sizes) = input {
            return Ok(Some(sizes));
        }
        let one = |part: &str| {
            let (size, weight) = part.split_once('/').unwrap_or((part, "1"));
            let weight = Count(1, 1_000_000).number(weight)? as u32;
            Ok(BlockSize { size_bytes: parse_block_size(size)?, weight })
        };
        parsed(&input, |words| words.split(':').map(one).collect())
    }
}

impl OptionValue for Vec<AccessZone> {
    /// Parses `60/10:40/90`: percentages of the operations and of the span.
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        if let OptionInput::Zones(zones) = input {
            return Ok(Some(zones));
        }
        let one = |part: &str| {
            let (access, span) = part.split_once('/')?;
            let percent = |word: &str| word.parse().ok().filter(|percent| *percent <= 100);
            Some(AccessZone { access_percent: percent(access)?, span_percent: percent(span)? })
        };
        parsed(&input, |words| {
            let zones: Option<Self> = words.split(':').map(one).collect();
            zones.filter(|zones| AccessZone::are_whole(zones)).ok_or_else(|| {
                text!(
                    "ACCESSES/SPAN for each zone in percent, each 100 in sum, such as 60/10:40/90",
                    "領域ごとに アクセスの割合/範囲の割合 を書き、それぞれ合計 100 にします(例: 60/10:40/90)"
                )
            })
        })
    }
}

impl OptionValue for Vec<u32> {
    /// Parses processor numbers and ranges, such as `0,4-7`.
    fn read(_: OptionKind, input: OptionInput<'_>) -> Result<Option<Self>, Text> {
        if let OptionInput::Processors(numbers) = input {
            return Ok(Some(numbers));
        }
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.trim().parse().ok()?..=last.trim().parse().ok()?;
            Some(range).filter(|range| !range.is_empty() && *range.end() <= MOST_PROCESSOR)
        };
        parsed(&input, |words| {
            let ranges: Option<Vec<RangeInclusive<u32>>> = words.split(',').map(range).collect();
            let wrong = || text!("numbers and ranges, such as 0,4-7", "0,4-7 のように書きます");
            Ok(ranges.ok_or_else(wrong)?.into_iter().flatten().collect())
        })
    }
}

/// Parses a block size from 1 byte to 1 GiB.
///
/// # Errors
/// Fails if the size is 0, too large, or not a size.
pub fn parse_block_size(words: &str) -> Result<u32, Text> {
    match parse_bytes(words)? {
        0 => Err(text!("a block has at least one byte", "ブロックは 1 バイト以上です")),
        size if size > LARGEST_BLOCK_BYTES => {
            Err(text!("a block has at most 1 GiB", "ブロックは 1 GiB までです"))
        }
        size => Ok(size as u32),
    }
}
