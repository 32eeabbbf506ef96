//! What importers of consumer tools share: printed numbers become figures, printed dates ISO 8601, damage an error.
//!
//! The model: strict. A number is digits with an optional fraction and exponent; anything else is no number. A figure
//! exists only with a finite value that is not negative.

use super::Input;
use super::parts::number;

use kurabe_core::imported::{Correction, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::{Error, ErrorKind, Place, Text, text};

/// 10^6.
pub(super) const MEGA: f64 = 1e6;
/// 2^20.
pub(super) const MEBI: f64 = 1_048_576.0;

/// A figure; `factor` leads from the printed unit to the base unit.
pub(super) fn figure(
    quantity: Quantity,
    statistic: PrintedStatistic,
    printed: &str,
    unit: &str,
    factor: f64,
) -> Option<PrintedFigure> {
    let value = number(printed)? * factor;
    value.is_finite().then(|| PrintedFigure {
        quantity,
        statistic,
        value,
        printed: printed.to_owned(),
        unit_printed: unit.to_owned(),
        correction: None,
        of: None,
    })
}

/// A rate printed in MB/s that is none; the correction's factor is relative to 10^6 bytes.
pub(super) fn corrected_rate(
    statistic: PrintedStatistic,
    printed: &str,
    unit: &str,
    correction: &Correction,
) -> Option<PrintedFigure> {
    let mut figure = figure(Quantity::Rate, statistic, printed, unit, MEGA * correction.factor)?;
    figure.correction = Some(correction.clone());
    Some(figure)
}

/// The correction of tools that print MB and mean MiB.
pub(super) fn mebi_correction(reason: Text) -> Correction {
    Correction { factor: MEBI / MEGA, unit: "MiB/s".to_owned(), reason }
}

/// What is told of a figure beyond its quantity and statistic.
pub(super) fn of(mut figure: PrintedFigure, what: &str) -> PrintedFigure {
    figure.of = Some(what.to_owned());
    figure
}

/// The error of a file that is known but damaged, with its line (from 1).
pub(super) fn broken_line(input: &Input<'_>, line: usize, what: Text) -> Error {
    let text = input.lines().nth(line.saturating_sub(1)).map_or("", |(_, text)| text);
    let start = text.len() - text.trim_start().len();
    broken(what).at(Place {
        file: input.name.to_owned(),
        line,
        column: text[..start].chars().count() + 1,
        width: text.trim().chars().count().max(1),
        text: text.to_owned(),
    })
}

/// The error of a file that is known but damaged, where there is no line to show.
pub(super) fn broken(what: Text) -> Error {
    Error::new(ErrorKind::Import, what).remedy(text!(
        "give the file as the tool wrote it, complete and unedited",
        "ツールが書いたままの、欠けのないファイルを指定してください"
    ))
}

/// A date and time as ISO 8601: `2021/02/05 1:16:10`, `2022-08-24 16:10:33`, `2019-10-15T04:09:09Z`. An offset is
/// kept if it was printed.
pub(super) fn iso_date_time(words: &str) -> Option<String> {
    let (date, time) = words.trim().split_once(['T', ' '])?;
    let mut parts = date.split(['/', '-']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = (within(year, 1900, 9999)?, within(month, 1, 12)?, within(day, 1, 31)?);
    let (time, offset) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    Some(format!("{year:04}-{month:02}-{day:02}T{}{}", iso_time(time.trim())?, iso_offset(offset)?))
}

/// A time with seconds; parts of a second are cut.
fn iso_time(words: &str) -> Option<String> {
    let mut parts = words.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    let second = second.split_once('.').map_or(second, |(whole, _)| whole);
    if parts.next().is_some() {
        return None;
    }
    let (hour, minute, second) = (within(hour, 0, 23)?, within(minute, 0, 59)?, within(second, 0, 60)?);
    Some(format!("{hour:02}:{minute:02}:{second:02}"))
}

/// `Z`, `+09:00` or `+0900`, or nothing.
fn iso_offset(words: &str) -> Option<String> {
    if matches!(words, "" | "Z") {
        return Some(words.to_owned());
    }
    let sign = words.chars().next()?;
    let digits: String = words.chars().skip(1).filter(|c| *c != ':').collect();
    if digits.len() != 4 || !digits.is_ascii() {
        return None;
    }
    let (hour, minute) = (within(&digits[..2], 0, 14)?, within(&digits[2..], 0, 59)?);
    Some(format!("{sign}{hour:02}:{minute:02}"))
}

fn within(words: &str, low: u32, high: u32) -> Option<u32> {
    if words.is_empty() || words.len() > 4 || !words.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    words.parse().ok().filter(|value| (low..=high).contains(value))
}

/// A line of dashes that tools draw around a heading.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 10 && line.bytes().all(|byte| byte == b'-')
}

/// `Key: value` or `Key : value`, both trimmed.
pub(super) fn key_value(line: &str) -> Option<(&str, &str)> {
    line.split_once(':').map(|(key, value)| (key.trim(), value.trim()))
}

/// The number in `(x5)`.
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
    fn dates_become_iso_without_inventing_an_offset() {
        for (words, iso) in [
            ("2021/02/05 1:16:10", "2021-02-05T01:16:10"),
            ("2022-08-24 16:10:33", "2022-08-24T16:10:33"),
            ("2019-10-15T04:09:09Z", "2019-10-15T04:09:09Z"),
            ("2026-11-21T13:24:29+0900", "2026-11-21T13:24:29+09:00"),
        ] {
            assert_eq!(iso_date_time(words).as_deref(), Some(iso));
        }
        for words in [
            "",
            "2021/13/05 1:16:10",
            "2021/02/05",
            "2021/02/05 1:16",
            "2021/02/05 1:16:10+9",
            "21-2-5 1:1:1",
        ] {
            assert_eq!(iso_date_time(words), None, "{words}");
        }
    }

    #[test]
    fn runs_are_read_from_their_brackets() {
        assert_eq!(runs_in("1 GiB (x5) [C: 87% (814/931GiB)]"), Some(5));
        assert_eq!(runs_in("1 GiB (x0)"), None);
        assert_eq!(runs_in("1 GiB (x5"), None);
    }
}
