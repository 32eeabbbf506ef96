//! Wall-clock time and random words.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_host::random_bytes;
use std::time::SystemTime;

/// Returns the current local time in RFC 3339 format with its UTC offset.
///
/// # Errors
/// When the clock shows a year that RFC 3339 cannot represent.
pub fn now() -> Result<String> {
    written(SystemTime::now(), TimeZone::system())
}

fn written(time: SystemTime, zone: TimeZone) -> Result<String> {
    // RFC 3339 years have four digits.
    let years = 0..=9999;
    Timestamp::try_from(time)
        .map(|time| ZonedDateTime::new(time, zone))
        .ok()
        .filter(|time| years.contains(&time.year()))
        .map(|time| time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
        .ok_or_else(|| {
            ErrorKind::Unsupported
                .error(text!(
                    "the clock of this machine is outside the years 0 to 9999, so times cannot be recorded",
                    "このマシンの時計が西暦 0〜9999 年の範囲を外れているため、時刻を記録できません"
                ))
                .remedy(text!("set the clock (date, or NTP)", "時計を合わせてください(date または NTP)"))
        })
}

pub(crate) fn random_word() -> Result<u64> {
    random_bytes().map(u64::from_ne_bytes)
}

/// Returns a new random mark of 32 hexadecimal digits for a test file.
pub(crate) fn mark_word() -> Result<String> {
    random_bytes().map(|bytes: [u8; 16]| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: i64) -> Result<String> {
        let length = Duration::from_secs(seconds.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        let time = if seconds < 0 { epoch.checked_sub(length) } else { epoch.checked_add(length) };
        written(time.unwrap(), TimeZone::UTC)
    }

    #[test]
    fn a_clock_out_of_all_bounds_is_an_error_and_no_panic() {
        assert_eq!(at(0).unwrap(), "1970-01-01T00:00:00+00:00");
        assert_eq!(at(-1).unwrap(), "1969-12-31T23:59:59+00:00");
        // jiff reserves the last hours of 9999 for offsets.
        assert_eq!(at(253_402_127_999).unwrap(), "9999-12-29T23:59:59+00:00");
        for seconds in [253_402_300_800, 1 << 40, i64::MAX, -62_167_219_201, -(1 << 40), -i64::MAX] {
            let error = at(seconds).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{seconds}");
            assert!(error.remedy_text().unwrap().en.contains("set the clock"));
        }
    }
}
