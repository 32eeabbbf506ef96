//! Dates as tools print them, made ISO 8601; an offset only if the tool printed one.

/// `Sat Nov 21 13:23:23 2026`, also with a zone's name before the year, which is no offset and is left out unless UTC.
pub(super) fn from_ctime(words: &str) -> Option<String> {
    let mut parts = words.split_whitespace().skip(1);
    let (month, day, time) = (month_number(parts.next()?)?, parts.next()?, parts.next()?);
    let (zone, year) = match (parts.next()?, parts.next()) {
        (zone, Some(year)) => (zone, year),
        (year, None) => ("", year),
    };
    let mark = if zone == "UTC" || zone == "GMT" { "Z" } else { "" };
    assemble(year.parse().ok()?, month, day.parse().ok()?, time, mark)
}

/// Date and time with the year first: `2021/02/05 1:16:10`, `2022-08-24 16:10:33`, `2019-10-15T04:09:09Z`,
/// `2026/11/21 13:23:23 UTC`. Parts of a second are cut; an offset is kept if it was printed.
pub(super) fn from_year_first(words: &str) -> Option<String> {
    let words = words.trim();
    let (words, utc) = words.strip_suffix(" UTC").map_or((words, ""), |words| (words, "Z"));
    let (date, time) = words.split_once(['T', ' '])?;
    let date: Vec<u32> = date.split(['/', '-']).map(digits).collect::<Option<_>>()?;
    let &[year, month, day] = date.as_slice() else { return None };
    let (time, offset) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    let (time, fraction) = time.trim().split_once('.').unwrap_or((time.trim(), ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    assemble(year, month, day, time, &format!("{}{utc}", iso_offset(offset)?))
}

/// `Z`, `+09:00` or `+0900`, or nothing.
fn iso_offset(words: &str) -> Option<String> {
    if matches!(words, "" | "Z") {
        return Some(words.to_owned());
    }
    let (sign, rest) = words.split_at_checked(1)?;
    let clock = rest.replacen(':', "", 1);
    let (hour, minute) = clock.split_at_checked(2).filter(|(_, minute)| minute.len() == 2)?;
    let (hour, minute) = (digits(hour)?, digits(minute)?);
    (hour <= 14 && minute < 60).then(|| format!("{sign}{hour:02}:{minute:02}"))
}

/// A number of at most four digits.
fn digits(words: &str) -> Option<u32> {
    let sound = (1..=4).contains(&words.len()) && words.bytes().all(|byte| byte.is_ascii_digit());
    words.parse().ok().filter(|_| sound)
}

/// `2026-11-21T13:23:23.123+0000` with the colon in its offset that ISO 8601 wants.
pub(super) fn from_iso(words: &str) -> Option<String> {
    let (date, time) = words.split_once('T')?;
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if date.len() != 10 || date.split('-').count() != 3 || !date.split('-').all(digits) {
        return None;
    }
    let (clock, offset) = match time.find(['+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    if clock.len() < 8 || !clock.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | 'Z')) {
        return None;
    }
    let offset = match offset.get(1..) {
        Some(hours) if hours.len() == 4 && digits(hours) => {
            format!("{}{}:{}", &offset[..1], &hours[..2], &hours[2..])
        }
        _ => offset.to_owned(),
    };
    Some(format!("{date}T{clock}{offset}"))
}

/// Seconds since 1970 in UTC.
pub(super) fn from_epoch(seconds: u64) -> Option<String> {
    // Later than the year 9999 is no date but damage.
    let days = seconds / 86_400;
    if days > 2_932_896 {
        return None;
    }
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Seconds of a day and date without zone, for differences within one file: days × 86400 + seconds.
pub(super) fn seconds_of_iso(iso: &str) -> Option<f64> {
    let (date, time) = iso.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = time.get(..8)?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let fraction = time.get(8..).filter(|rest| rest.starts_with('.')).map_or(0.0, |rest| {
        let end = rest[1..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
        rest[..end].parse::<f64>().unwrap_or(0.0)
    });
    Some((days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) as f64 + fraction)
}

/// `11/21/26` or `2026-11-21` with an optional time after it. Which of day and month comes first depends on the
/// tool's locale: where both readings are possible there is no date.
pub(super) fn from_numeric(words: &str) -> Option<String> {
    let words = words.trim();
    if words.contains('T') && words.contains('-') {
        return from_iso(words);
    }
    let mut parts = words.split_whitespace();
    let (date, time) = (parts.next()?, parts.next());
    let (time, half) = (time.unwrap_or(""), parts.next());
    if half.is_some_and(|half| half == "AM" || half == "PM") {
        return None;
    }
    let fields: Vec<u32> = date.split(['/', '-', '.']).map_while(|part| part.parse().ok()).collect();
    let &[first, second, third] = fields.as_slice() else { return None };
    let (year, month, day) = if first > 31 {
        (first, second, third)
    } else {
        let year = if third < 100 { 2000 + third } else { third };
        match (first, second) {
            (month, day) if month <= 12 && day > 12 || month == day => (year, month, day),
            (day, month) if day > 12 && month <= 12 => (year, month, day),
            _ => return None,
        }
    };
    if time.is_empty() {
        return valid(year, month, day).then(|| format!("{year:04}-{month:02}-{day:02}"));
    }
    assemble(year, month, day, time, "")
}

fn valid(year: u32, month: u32, day: u32) -> bool {
    (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn assemble(year: u32, month: u32, day: u32, time: &str, zone: &str) -> Option<String> {
    let clock: Vec<u32> = time.split(':').map(digits).collect::<Option<_>>()?;
    let &[hour, minute, second] = clock.as_slice() else { return None };
    (valid(year, month, day) && hour < 24 && minute < 60 && second < 61)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

fn month_number(word: &str) -> Option<u32> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    MONTHS.iter().position(|month| *month == word).and_then(|at| u32::try_from(at + 1).ok())
}

/// Year, month and day of a number of days since 1970 (Gregorian calendar; years begin in March while counting).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

fn days_from_civil(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    (era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year)
        .saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_tools_become_iso_8601() {
        let some = |words: &str| Some(words.to_owned());
        assert_eq!(from_ctime("Sat Nov 21 13:23:23 2026"), some("2026-11-21T13:23:23"));
        assert_eq!(from_ctime("Wed Feb  3 01:02:03 UTC 2021"), some("2021-02-03T01:02:03Z"));
        assert_eq!(from_year_first("2026/11/21 13:23:23 UTC"), some("2026-11-21T13:23:23Z"));
        assert_eq!(from_iso("2026-11-21T13:23:23.123+0900"), some("2026-11-21T13:23:23.123+09:00"));
        assert_eq!(from_epoch(1_795_267_403), some("2026-11-21T13:23:23Z"));
        assert_eq!(from_epoch(951_782_400), some("2000-02-29T00:00:00Z"));
        assert_eq!(from_numeric("11/21/26"), some("2026-11-21"));
        assert_eq!(from_numeric("21.11.2026 13:23:23"), some("2026-11-21T13:23:23"));
        assert_eq!(from_numeric("2026-11-21T13:23:23+0000"), some("2026-11-21T13:23:23+00:00"));
        assert_eq!(from_numeric("03/04/26"), None, "may be March or April");
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
    fn days_count_both_ways() {
        for days in [0, 58, 59, 60, 365, 789, 11_016, 20_778, 2_932_896] {
            let (year, month, day) = civil(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        let between = |a: &str, b: &str| seconds_of_iso(b).zip(seconds_of_iso(a)).map(|(b, a)| b - a);
        assert_eq!(between("2026-02-28T23:59:59", "2026-03-01T00:00:01"), Some(2.0));
        assert_eq!(between("2026-02-28T23:59:59.5+09:00", "2026-02-28T23:59:59.75+09:00"), Some(0.25));
    }
}
