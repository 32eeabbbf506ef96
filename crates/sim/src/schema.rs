//! The parameters of layers: key, type, range, default and meaning in one place. Device files,
//! `--set`, `kurabe models show`, the documentation and the sliders of user interfaces all use
//! them.

use crate::settings::{LayerSettings, Worth};
use kurabe_core::quantity::{GIB, KIB, MIB, parse_bytes, parse_duration_ns};
use kurabe_core::{Error, Result, Text, Value, text};

/// Largest size, 1 PiB: beyond every device, and sums of many fit into 64 bits.
pub(crate) const MOST_BYTES: u64 = 1 << 50;
/// Longest request: its length is a 32-bit number.
pub(crate) const LONGEST_BYTES: u64 = u32::MAX as u64;
/// Longest time, 1 h: no device is that slow, and sums of many fit into 64 bits.
pub(crate) const HOUR_NS: u64 = 3_600_000_000_000;
/// Fastest rate, 1 PB/s: beyond every device.
const MOST_BYTES_PER_S: u64 = 1_000_000_000_000_000;

/// Any size, including 0.
pub(crate) const SIZE: ParameterType = ParameterType::Bytes(0, MOST_BYTES);
/// A size greater than 0.
pub(crate) const SOME_SIZE: ParameterType = ParameterType::Bytes(1, MOST_BYTES);

/// The kind of quantity of a parameter, and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterType {
    /// A size within these limits in bytes: `"64 KiB"`.
    Bytes(u64, u64),
    /// A time up to an hour: `"0.97 ms"`.
    Time,
    /// Bytes per second, from 1 B/s to 1 PB/s: `"3.1 MB/s"`.
    Rate,
    /// An integer within these limits.
    Count(u64, u64),
    /// One of these integers, in ascending order.
    OneOf(&'static [u64]),
    /// A number within these limits.
    Number(f64, f64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A table of numbers with these columns: `[[0, 1.5], [10, 2.0]]`.
    Rows(&'static [&'static str]),
}

/// The permitted values within the range of a parameter, and how to step through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterScale {
    /// All values, in equal steps.
    Linear,
    /// All values, in equal ratios.
    Log,
    /// Powers of two, and 0 if the range begins with it.
    PowersOfTwo,
    /// Integer multiples of this.
    Multiples(u64),
    /// Individual values.
    Choice,
}

impl ParameterType {
    /// Returns an example of a value.
    pub fn example(self) -> Text {
        match self {
            Self::Bytes(..) => text!("a size: 64 KiB, 1 GiB", "大きさを書きます(例: 64 KiB、1 GiB)"),
            Self::Time => {
                text!("a time with its unit: 10 us, 8.5 ms", "単位付きの時間を書きます(例: 10 us、8.5 ms)")
            }
            Self::Rate => text!("a rate: 3.1 MB/s", "転送速度を書きます(例: 3.1 MB/s)"),
            Self::Count(..) => text!("a whole number", "整数を書きます"),
            Self::OneOf(_) | Self::Word(_) => {
                let choices = self.choices().join(", ");
                text!("one of: {choices}", "使えるもの: {choices}")
            }
            Self::Number(..) => text!("a number", "数を書きます"),
            Self::Flag => text!("true or false", "true か false を書きます"),
            Self::Rows(columns) => {
                let columns = columns.join(", ");
                text!("rows of numbers: [[{columns}], …]", "数の行の一覧を書きます: [[{columns}], …]")
            }
        }
    }

    /// Returns the minimum and maximum in its [unit](Self::unit); `None` if it is not a number.
    pub fn range(self) -> Option<(f64, f64)> {
        match self {
            Self::Bytes(least, most) | Self::Count(least, most) => Some((least as f64, most as f64)),
            Self::Time => Some((0.0, HOUR_NS as f64)),
            Self::Rate => Some((1.0, MOST_BYTES_PER_S as f64)),
            Self::OneOf(numbers) => Some((*numbers.first()? as f64, *numbers.last()? as f64)),
            Self::Number(least, most) => Some((least, most)),
            Self::Flag | Self::Word(_) | Self::Rows(_) => None,
        }
    }

    /// Returns its values, if it is an enumeration.
    pub fn choices(self) -> Vec<String> {
        match self {
            Self::OneOf(numbers) => numbers.iter().map(u64::to_string).collect(),
            Self::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Self::Flag => vec!["true".to_owned(), "false".to_owned()],
            _ => Vec::new(),
        }
    }

    /// Returns the unit of its range, which may be appended to a number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Bytes(..) => "B",
            Self::Time => "ns",
            Self::Rate => "B/s",
            _ => "",
        }
    }

    const fn scale(self) -> ParameterScale {
        match self {
            Self::Bytes(..) | Self::Time | Self::Rate => ParameterScale::Log,
            // From a few hundred values on, small steps matter only at the lower end.
            Self::Count(_, most) if most > 256 => ParameterScale::Log,
            Self::Count(..) | Self::Number(..) | Self::Rows(_) => ParameterScale::Linear,
            Self::OneOf(_) | Self::Flag | Self::Word(_) => ParameterScale::Choice,
        }
    }

    /// Formats a number of its unit without loss, in the largest unit that fits.
    fn words(self, number: f64) -> String {
        let units: &[(u64, &str)] = match self {
            Self::Bytes(..) => &[(GIB * KIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "B")],
            Self::Time => &[(HOUR_NS, "h"), (1, "ns")],
            Self::Rate => &[(1_000_000_000_000, "TB/s"), (1, "B/s")],
            _ => return number.to_string(),
        };
        let whole = |(factor, _): &&(u64, &str)| number >= *factor as f64 && number % *factor as f64 == 0.0;
        let (factor, unit) = units.iter().find(whole).copied().unwrap_or((1, self.unit()));
        format!("{} {unit}", number / factor as f64)
    }
}

/// A parameter of a kind of layer.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in device files.
    pub key: &'static str,
    /// Type and range.
    pub kind: ParameterType,
    /// Permitted values within the range.
    pub scale: ParameterScale,
    /// Whether it may change while requests are served.
    pub live: bool,
    /// Keys of the parameters from which its value is derived if it is omitted.
    pub derived_from: &'static [&'static str],
    /// Default value, as written in a device file (a string in double quotes), and its source.
    pub default: Option<(&'static str, &'static str)>,
    /// Meaning in English and Japanese.
    pub meaning: (&'static str, &'static str),
}

impl Parameter {
    /// Returns a parameter that every device must specify.
    pub(crate) const fn needed(key: &'static str, kind: ParameterType, [en, ja]: [&'static str; 2]) -> Self {
        let scale = kind.scale();
        Self { key, kind, scale, live: false, derived_from: &[], default: None, meaning: (en, ja) }
    }

    /// Returns a parameter with a default; `value` is written as in a device file.
    pub(crate) const fn usual(
        key: &'static str,
        kind: ParameterType,
        value: &'static str,
        source: &'static str,
        meaning: [&'static str; 2],
    ) -> Self {
        Self { default: Some((value, source)), ..Self::needed(key, kind, meaning) }
    }

    /// Marks it as changeable while requests are served.
    pub(crate) const fn live(self) -> Self {
        Self { live: true, ..self }
    }

    /// Restricts its values to those of a scale.
    pub(crate) const fn scaled(self, scale: ParameterScale) -> Self {
        Self { scale, ..self }
    }

    /// Marks it as derived from others if it is omitted.
    pub(crate) const fn derived_from(self, keys: &'static [&'static str]) -> Self {
        Self { derived_from: keys, ..self }
    }

    /// Returns its range as text; `None` if the type says everything.
    pub fn range(&self) -> Option<Text> {
        let (least, most) = self.kind.range().filter(|_| self.scale != ParameterScale::Choice)?;
        let (least, most) = (self.kind.words(least), self.kind.words(most));
        Some(match self.scale {
            ParameterScale::PowersOfTwo => {
                text!("{least} to {most}, a power of two", "{least} から {most} までの 2 のべき乗")
            }
            ParameterScale::Multiples(step) => {
                let step = self.kind.words(step as f64);
                text!("{least} to {most}, a multiple of {step}", "{least} から {most} までの {step} の倍数")
            }
            ParameterScale::Linear | ParameterScale::Log | ParameterScale::Choice => {
                text!("{least} to {most}", "{least} から {most} まで")
            }
        })
    }

    /// Returns the remedy for an invalid value.
    pub(crate) fn remedy(&self) -> Text {
        let (example, range) = (self.kind.example(), self.range());
        range.map_or(
            example.clone(),
            |range| text!("{example}; from {range}", "{example}。{range}です"; example, range),
        )
    }

    /// Reads a value of this type.
    ///
    /// # Errors
    /// Returns an error with its position and a remedy if it has another type or is out of range.
    pub(crate) fn read(&self, value: &Value<'_>) -> Result<Worth> {
        let worth = self.worth(value).and_then(|worth| match self.has(&worth) {
            true => Ok(worth),
            false => Err(self.out_of_range(value)),
        });
        worth.map_err(|error| match error.remedy_text() {
            Some(_) => error,
            None => error.remedy(self.remedy()),
        })
    }

    fn out_of_range(&self, value: &Value<'_>) -> Error {
        let (key, written) = (self.key, value.written());
        let Some(with_unit) = self.with_unit(written) else {
            return value.error(&text!(
                "`{written}` is outside the range of `{key}`",
                "`{written}` は `{key}` の範囲外です"
            ));
        };
        let remedy = self.remedy();
        let what = text!(
            "`{written}` has no unit, and {written} bytes are outside the range of `{key}`",
            "`{written}` に単位がありません。{written} バイトは `{key}` の範囲外です"
        );
        value.error(&what).remedy(text!(
            "did you mean {with_unit}? {remedy}",
            "{with_unit} ではありませんか? {remedy}";
            remedy
        ))
    }

    /// Adds the smallest unit that brings a size written as a bare number into the range.
    fn with_unit(&self, written: &str) -> Option<String> {
        let is_bare = matches!(self.kind, ParameterType::Bytes(..)) && written.parse::<u64>().is_ok();
        let sizes = ["KiB", "MiB", "GiB"].map(|unit| format!("{written}{unit}"));
        let fits = |size: &String| parse_bytes(size).is_ok_and(|bytes| self.has(&Worth::Whole(bytes)));
        sizes.into_iter().filter(|_| is_bare).find(fits)
    }

    /// Reads a value of this type without checking the range. A size, a time and a rate may be
    /// written without quotes.
    fn worth(&self, value: &Value<'_>) -> Result<Worth> {
        let parsed =
            |parse: fn(&str) -> Result<u64, Text>| parse(value.written()).map_err(|what| value.error(&what));
        Ok(match self.kind {
            ParameterType::Bytes(..) => Worth::Whole(parsed(parse_bytes)?),
            ParameterType::Time => Worth::Whole(parsed(parse_duration_ns)?),
            ParameterType::Rate => Worth::Real(parsed(parse_rate)? as f64),
            ParameterType::Count(least, most) => Worth::Whole(value.integer(least..=most)?),
            ParameterType::OneOf(_) => Worth::Whole(value.integer(0..=u64::MAX)?),
            ParameterType::Number(..) => Worth::Real(value.number()?),
            ParameterType::Flag => Worth::Flag(value.boolean()?),
            ParameterType::Word(words) => {
                let choices: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
                Worth::Word(value.choice(&choices)?)
            }
            ParameterType::Rows(columns) => Worth::Rows(read_rows(value, columns)?.into()),
        })
    }

    fn has(&self, worth: &Worth) -> bool {
        let (Some(number), Some((least, most))) = (worth.number(), self.kind.range()) else { return true };
        let whole = number as u64;
        (least..=most).contains(&number)
            && match (self.scale, self.kind) {
                (ParameterScale::PowersOfTwo, _) => whole == 0 || whole.is_power_of_two(),
                (ParameterScale::Multiples(step), _) => whole.is_multiple_of(step),
                (_, ParameterType::OneOf(numbers)) => numbers.contains(&whole),
                _ => true,
            }
    }
}

/// A constraint between two parameters of a layer.
#[derive(Clone, Copy, Debug)]
pub enum Relation {
    /// The first is at least the second; 0 for the first has a special meaning and is allowed.
    NotBelow(&'static str, &'static str),
    /// The first is an integer multiple of the second.
    MultipleOf(&'static str, &'static str),
    /// The first may exceed its minimum only if the second is on.
    Needs(&'static str, &'static str),
}

impl Relation {
    /// Returns the keys of the two parameters.
    pub fn keys(self) -> (&'static str, &'static str) {
        let (Self::NotBelow(one, other) | Self::MultipleOf(one, other) | Self::Needs(one, other)) = self;
        (one, other)
    }

    /// Returns the constraint as a sentence.
    pub fn sentence(self) -> Text {
        let (one, other) = self.keys();
        match self {
            Self::NotBelow(..) => {
                text!("`{one}` is not below `{other}`", "`{one}` は `{other}` 以上です")
            }
            Self::MultipleOf(..) => {
                text!("`{one}` is a multiple of `{other}`", "`{one}` は `{other}` の倍数です")
            }
            Self::Needs(..) => text!("`{one}` needs `{other}`", "`{one}` には `{other}` が必要です"),
        }
    }

    /// # Errors
    /// Returns an error at one of the parameters if the constraint is violated; the remedy names
    /// the other.
    pub(crate) fn check(self, layer: &str, settings: &LayerSettings) -> Result<()> {
        let (first, second) = self.keys();
        let (mut first, mut second) = (settings.setting(first), settings.setting(second));
        let (one, other) = (first.number().unwrap_or(0.0), second.number().unwrap_or(0.0));
        let holds = match self {
            Self::NotBelow(..) => one == 0.0 || one >= other,
            Self::MultipleOf(..) => one % other == 0.0,
            Self::Needs(..) => {
                let least = first.parameter.kind.range().map_or(0.0, |(least, _)| least);
                one <= least || other > 0.0
            }
        };
        if holds {
            return Ok(());
        }
        // Report the parameter that the user changed, if it was one of them.
        if second.changed && !first.changed {
            std::mem::swap(&mut first, &mut second);
        }
        let (key, written) = (second.parameter.key, &second.written);
        Err(settings.error(layer, first.parameter.key, &self.sentence()).remedy(text!(
            "change it, or `{layer}.{key}`, which is {written}",
            "この値か `{layer}.{key}`(現在 {written})を変更してください"
        )))
    }
}

/// Parses bytes per second: `3.1 MB/s`, or a bare number.
fn parse_rate(words: &str) -> Result<u64, Text> {
    let bare = words.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let bytes = if bare { Some(words) } else { words.trim().strip_suffix("/s") };
    bytes.and_then(|bytes| parse_bytes(bytes).ok()).ok_or_else(|| {
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
            "expected a list of rows here, each with the numbers [{names}]",
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
