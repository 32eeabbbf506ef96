//! Conversion of printed dates to ISO 8601, with an offset only if the tool printed one.

use super::words::digits;
use jiff::civil::{Date, Time};
use jiff::{Timestamp, tz::TimeZone};

/// Parses `Sat Nov 21 13:23:23 2026`, also with a time of 12 hours and the name of a time zone before
/// the year, or with the day and the year before the time (`Sat 21 Nov 2026 01:23:23 PM UTC`). The name
/// is not an offset, and is ignored unless it is UTC.
pub(super) fn from_ctime(words: &str) -> Option<String> {
    let parts: Vec<&str> = words.split_whitespace().collect();
    let (day, month, year, time, rest) = match parts[..] {
        [_, day, month, year, time, ref rest @ ..] if digits(day) => (day, month, Some(year), time, rest),
        [_, month, day, time, ref rest @ ..] => (day, month, None, time, rest),
        _ => return None,
    };
    let (half, rest) = match rest {
        [half @ ("AM" | "PM"), rest @ ..] => (Some(*half), rest),
        rest => (None, rest),
    };
    let (zone, year) = match (year, rest) {
        (Some(year), rest) => (rest.first().copied().unwrap_or(""), year),
        (None, [year]) => ("", *year),
        (None, [zone, year, ..]) => (*zone, *year),
        (None, []) => return None,
    };
    let mark = if zone == "UTC" || zone == "GMT" { "Z" } else { "" };
    let date = Date::strptime("%b %d %Y", format!("{month} {day} {year}")).ok()?;
    assemble(date, &of_24_hours(time, half)?, mark)
}

/// Parses date and time with the year first: `2021/02/05 1:16:10`, `2022-08-24 16:10:33`,
/// `2019-10-15T04:09:09Z`, `2026/11/21 13:23:23 UTC`. Fractions of a second are dropped. A printed
/// offset is kept.
pub(super) fn from_year_first(words: &str) -> Option<String> {
    let words = words.trim();
    let (words, utc) = words.strip_suffix(" UTC").map_or((words, ""), |words| (words, "Z"));
    let (date, time) = words.split_once(['T', ' '])?;
    let date = Date::strptime("%Y-%m-%d", date.replace('/', "-")).ok()?;
    let (time, offset) = split_offset(time);
    let (time, fraction) = time.trim().split_once('.').unwrap_or((time.trim(), ""));
    let is_whole = fraction.bytes().all(|byte| byte.is_ascii_digit());
    assemble(date, time, &format!("{}{utc}", iso_offset(offset)?)).filter(|_| is_whole)
}

/// Parses `2026-11-21T13:23:23.123+0000`, and inserts the colon that ISO 8601 requires in the offset.
pub(super) fn from_iso(words: &str) -> Option<String> {
    let (date, time) = words.split_once('T')?;
    let (time, offset) = split_offset(time);
    // Only complete dates are accepted, although jiff also parses shorter forms.
    let is_date = date.len() == 10 && date.parse::<Date>().is_ok();
    let is_time = time.len() >= 8 && time.parse::<Time>().is_ok();
    iso_offset(offset).filter(|_| is_date && is_time).map(|offset| format!("{date}T{time}{offset}"))
}

/// Converts seconds since 1970 in UTC.
pub(super) fn from_epoch(seconds: u64) -> Option<String> {
    Some(Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?.to_string())
}

/// Returns the seconds since 1970 of a date and time without its zone, for differences within one file.
pub(super) fn seconds_of_iso(iso: &str) -> Option<f64> {
    let (date, time) = iso.split_once('T')?;
    let time: Time = split_offset(time).0.parse().ok()?;
    let at = since_1970(date.parse().ok()?)?.to_datetime(time).to_zoned_datetime(TimeZone::UTC).ok()?;
    Some(at.timestamp().as_duration().as_secs_f64())
}

/// Parses `11/21/26`, `2026-11-21` or `2026年11月21日` with an optional time of 24 or 12 hours (`01:20:39
/// PM`). The order of day and month depends on the tool's locale: where both readings are possible,
/// only the year is certain.
pub(super) fn from_numeric(words: &str) -> Option<String> {
    let words = words.trim();
    if words.contains('T') && words.contains('-') {
        return from_iso(words);
    }
    let plain = words.replace(['年', '月'], "-").replace('日', " ");
    let mut parts = plain.split_whitespace();
    let (date, time, half) = (parts.next()?, parts.next(), parts.next());
    let fields: Vec<i16> = date.split(['/', '-', '.']).map_while(|part| part.parse().ok()).collect();
    let whole = |year| if year < 100 { 2000 + year } else { year };
    let (year, month, day) = match fields[..] {
        [year, month, day] if year > 31 => (year, month, day),
        [month, day, year] if (month <= 12 && day > 12) || month == day => (whole(year), month, day),
        [day, month, year] if day > 12 && month <= 12 => (whole(year), month, day),
        [1..=12, 1..=12, year] if year >= 0 => {
            let year = Date::new(whole(year), 1, 1).ok().and_then(since_1970)?.year();
            return Some(year.to_string());
        }
        _ => return None,
    };
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    match time {
        Some(time) => assemble(date, &of_24_hours(time, half)?, ""),
        None => since_1970(date).map(|date| date.to_string()),
    }
}

/// Converts a time of day to 24 hours. `half` is the word after it.
fn of_24_hours(time: &str, half: Option<&str>) -> Option<String> {
    let added = match half {
        Some("AM") => 0,
        Some("PM") => 12,
        _ => return Some(time.to_owned()),
    };
    let (hour, rest) = time.split_once(':')?;
    let hour: u8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    Some(format!("{:02}:{rest}", hour % 12 + added))
}

/// Combines a date, a time of day such as `1:16:10`, and an offset.
fn assemble(date: Date, time: &str, mark: &str) -> Option<String> {
    let time = Time::strptime("%H:%M:%S", time).ok()?;
    Some(format!("{}{mark}", since_1970(date)?.to_datetime(time)))
}

/// Returns the date if it is plausible for a computer.
fn since_1970(date: Date) -> Option<Date> {
    (date.year() >= 1970).then_some(date)
}

/// Splits a time of day from the offset after it.
fn split_offset(time: &str) -> (&str, &str) {
    time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()))
}

/// Converts `Z`, `+09:00` or `+0900` to ISO 8601.
fn iso_offset(words: &str) -> Option<String> {
    if matches!(words, "" | "Z") {
        return Some(words.to_owned());
    }
    let (sign, clock) = words.split_at_checked(1)?;
    let clock = clock.replacen(':', "", 1);
    let (hour, minute) = clock.split_at_checked(2).filter(|(_, minute)| minute.len() == 2)?;
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour <= 14 && minute < 60).then(|| format!("{sign}{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_tools_become_iso_8601() {
        let some = |words: &str| Some(words.to_owned());
        assert_eq!(from_ctime("Sat Nov 21 13:23:23 2026"), some("2026-11-21T13:23:23"));
        assert_eq!(from_ctime("Wed Feb  3 01:02:03 UTC 2021"), some("2021-02-03T01:02:03Z"));
        assert_eq!(from_ctime("Sun Mar  3 09:37:10 PM EST 2024"), some("2024-03-03T21:37:10"));
        assert_eq!(from_ctime("Sun 03 Mar 2024 09:37:10 AM UTC"), some("2024-03-03T09:37:10Z"));
        assert_eq!(from_year_first("2026/11/21 13:23:23 UTC"), some("2026-11-21T13:23:23Z"));
        assert_eq!(from_iso("2026-11-21T13:23:23.123+0900"), some("2026-11-21T13:23:23.123+09:00"));
        assert_eq!(from_epoch(1_795_267_403), some("2026-11-21T13:23:23Z"));
        assert_eq!(from_epoch(951_782_400), some("2000-02-29T00:00:00Z"));
        assert_eq!(from_numeric("11/21/26"), some("2026-11-21"));
        assert_eq!(from_numeric("21.11.2026 13:23:23"), some("2026-11-21T13:23:23"));
        assert_eq!(from_numeric("2026-11-21T13:23:23+0000"), some("2026-11-21T13:23:23+00:00"));
        assert_eq!(from_numeric("2026年11月22日"), some("2026-11-22"));
        assert_eq!(from_numeric("03/04/26"), some("2026"), "may be March or April");
        assert_eq!(from_numeric("03/04/26 10:00:00"), some("2026"));
        assert_eq!(from_numeric("01/13/2020 01:20:39 PM"), some("2020-01-13T13:20:39"));
        assert_eq!(from_numeric("01/13/2020 12:00:01 AM"), some("2020-01-13T00:00:01"));
        assert_eq!(from_numeric("01/13/2020 13:20:39 PM"), None);
        for words in ["", "Sat", "Sat Nov 99 13:23:23 2026", "2026/1", "a/b/c d", "11/21/26 25:00:00"] {
            assert_eq!(from_ctime(words).or(from_year_first(words)).or(from_numeric(words)), None, "{words}");
        }
    }

    #[test]
    fn dates_become_iso_without_inventing_an_offset() {
        for (words, iso) in [
            ("2021/02/05 1:16:10", "2021-02-05T01:16:10"),
            ("2022-08-24 16:10:33", "2022-08-24T16:10:33"),
            ("2019-10-15T04:09:09Z", "2019-10-15T04:09:09Z"),
            ("2026-11-21T13:24:29+0900", "2026-11-21T13:24:29+09:00"),
        ] {
            assert_eq!(from_year_first(words).as_deref(), Some(iso));
        }
        for words in [
            "",
            "2021/13/05 1:16:10",
            "2021/02/05",
            "2021/02/05 1:16",
            "2021/02/05 1:16:10+9",
            "21-2-5 1:1:1",
        ] {
            assert_eq!(from_year_first(words), None, "{words}");
        }
    }

    #[test]
    fn seconds_between_dates() {
        let between = |a: &str, b: &str| seconds_of_iso(b).zip(seconds_of_iso(a)).map(|(b, a)| b - a);
        assert_eq!(between("2026-02-28T23:59:59", "2026-03-01T00:00:01"), Some(2.0));
        assert_eq!(between("2026-02-28T23:59:59.5+09:00", "2026-02-28T23:59:59.75+09:00"), Some(0.25));
    }
}
