//! Readers of values that several kinds of steps have.

use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::workload::{Data, Direction};
use kurabe_core::{DataTable, Value};
use kurabe_core::{Result, text};

/// Maximum number of samples, rounds and repetitions.
pub(super) const MOST_REPETITIONS: u64 = 1_000_000;

/// Splits a list of keys at the spaces.
pub(super) fn keys(words: &str) -> Vec<&str> {
    words.split(' ').collect()
}

pub(super) fn flag(table: &DataTable<'_>, key: &str, default: bool) -> Result<bool> {
    Ok(table.read(key, Value::boolean)?.unwrap_or(default))
}

pub(super) fn duration(table: &DataTable<'_>, key: &str) -> Result<Option<u64>> {
    table.read(key, |value| value.parsed(parse_duration_ns))
}

pub(super) fn size(table: &DataTable<'_>, key: &str) -> Result<Option<u64>> {
    table.read(key, positive_bytes)
}

pub(super) fn positive_bytes(value: &Value<'_>) -> Result<u64> {
    value.parsed(|words| match parse_bytes(words)? {
        0 => Err(text!("a size above zero is expected here", "ここには 0 より大きい値を書きます")),
        bytes => Ok(bytes),
    })
}

/// Rejects a key that has no effect because another setting is missing.
pub(super) fn refuse_idle(table: &DataTable<'_>, key: &str, works: bool, needs: &str) -> Result<()> {
    match table.get(key) {
        Some(value) if !works => Err(value
            .error(&text!(
                "`{key}` has no effect without {needs}",
                "`{key}` は {needs} がないと効果がありません"
            ))
            .remedy(text!("remove it, or add {needs}", "取り除くか、{needs} を加えてください"))),
        _ => Ok(()),
    }
}

pub(super) fn read_data(table: &DataTable<'_>) -> Result<Option<Data>> {
    let percent = integer_or(table, "zero_percent", 0..=100, 50)? as u8;
    let data = table.read("data", |value| {
        value.choice(&[
            ("random", Data::Random),
            ("zero", Data::Zero),
            ("repeat", Data::Repeat),
            ("compressible", Data::Compressible { percent }),
        ])
    })?;
    let compressible = matches!(data, Some(Data::Compressible { .. }));
    refuse_idle(table, "zero_percent", compressible, "`data = \"compressible\"`")?;
    Ok(data)
}

/// Rejects a name that several steps would share.
pub(super) fn refuse_shared_name(name: Option<Value<'_>>) -> Result<()> {
    match name {
        None => Ok(()),
        Some(value) => Err(value.error(&text!(
            "`each_…` creates several steps here, which cannot all have this name",
            "`each_…` で複数のステップになるため、この名前は付けられません"
        ))),
    }
}

/// Reads the values of an `each_` key. Returns a single `None` if the key is absent.
pub(super) fn read_each<T>(
    table: &DataTable<'_>,
    key: &str,
    read: impl Fn(&Value<'_>) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    match table.get(key) {
        None => Ok(vec![None]),
        Some(list) => {
            let values = list.each(|value| read(value).map(Some))?;
            if values.is_empty() {
                return Err(list.error(&text!("at least one value is needed", "値が 1 つ以上必要です")));
            }
            Ok(values)
        }
    }
}

pub(super) fn read_directions(table: &DataTable<'_>) -> Result<Vec<Direction>> {
    let Some(value) = table.get("directions") else { return Ok(vec![Direction::Read, Direction::Write]) };
    let mut directions = Vec::new();
    for element in value.elements() {
        let direction = read_direction(&element)?;
        if directions.contains(&direction) {
            let word = direction.word();
            return Err(element.error(&text!("`{word}` appears twice here", "`{word}` が重複しています")));
        }
        directions.push(direction);
    }
    if directions.is_empty() {
        return Err(value.error(&text!("at least one direction is needed", "方向が 1 つ以上必要です")));
    }
    Ok(directions)
}

pub(super) fn read_direction(value: &Value<'_>) -> Result<Direction> {
    value.choice(&Direction::ALL.map(|direction| (direction.word(), direction)))
}

pub(super) fn integer_or(
    table: &DataTable<'_>,
    key: &str,
    limits: std::ops::RangeInclusive<u64>,
    default: u64,
) -> Result<u64> {
    Ok(table.read(key, |value| value.integer(limits))?.unwrap_or(default))
}

pub(super) fn positive_duration(value: &Value<'_>) -> Result<u64> {
    value.parsed(|words| match parse_duration_ns(words)? {
        0 => Err(text!("a time above zero is expected here", "ここには 0 より長い時間を書きます")),
        ns => Ok(ns),
    })
}
