//! Formatting of numbers for display: rates, latencies, shares, times.
//!
//! A figure is always a number with its unit. The number of digits follows the magnitude (three or
//! four significant ones), thousands are separated by commas, and a value that is not a number is
//! shown as `–`.

use crate::quantity::{NS_PER_S, format_time_setting};
use crate::{measure::Measure, text::Text};

/// A number and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The number, with thousands separated.
    pub number: String,
    /// The unit.
    pub unit: &'static str,
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.number, self.unit)
    }
}

impl From<Figure> for Text {
    fn from(figure: Figure) -> Self {
        Self::same(figure.to_string())
    }
}

/// Shown instead of a missing number.
pub const NONE: &str = "–";

/// Formats a rate in MB/s (10^6 bytes): `6,911.3 MB/s`, `9.42 MB/s`, `0.351 MB/s`.
pub fn rate(bytes_per_s: f64) -> Figure {
    let megabytes = bytes_per_s / 1e6;
    let digits = match megabytes.abs() {
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        m if m > 0.0 => 3,
        _ => 1,
    };
    Figure { number: fixed(megabytes, digits), unit: "MB/s" }
}

/// Formats operations per second: `76,260 IOPS`, `87.3 IOPS`.
pub fn iops(per_second: f64) -> Figure {
    let digits = if per_second > 0.0 && per_second < 99.95 { 1 } else { 0 };
    Figure { number: fixed(per_second, digits), unit: "IOPS" }
}

/// Formats a latency with three digits: `830 ns`, `41.2 µs`, `1.31 ms`. Takes at most 7 columns
/// below 10 000 s.
pub fn latency(ns: f64) -> Figure {
    const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    if !ns.is_finite() || ns < 0.0 {
        return Figure { number: NONE.to_owned(), unit: "" };
    }
    // Values of 999.5 and above would round to four digits, so they use the next unit.
    let (factor, unit) =
        UNITS.into_iter().find(|(factor, _)| ns / factor < 999.5).unwrap_or(UNITS[UNITS.len() - 1]);
    let value = ns / factor;
    let digits = match value {
        _ if factor == 1.0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    Figure { number: fixed(value, digits), unit }
}

/// Formats the value of a measure, given in its base unit: bytes or operations per second, or ns.
pub fn measured(measure: Measure, value: f64) -> Figure {
    match measure {
        Measure::Rate => rate(value),
        Measure::AccessTime | Measure::Duration => latency(value),
        Measure::Operations => Figure { unit: "op/s", ..iops(value) },
    }
}

/// Formats a latency in whole ns.
pub fn latency_ns(ns: u64) -> String {
    latency(ns as f64).to_string()
}

/// Formats a count with thousands separated.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// Formats a number without decimals, with thousands separated.
pub fn whole(value: f64) -> String {
    fixed(value, 0)
}

/// Formats a score or ratio, which has no unit: `1.74`, `1,204`.
pub fn ratio(value: f64) -> String {
    fixed(value, if value.abs() < 99.995 { 2 } else { 0 })
}

/// Formats a share from 0 to 1 in percent: `0.4 %`, `12 %`, `<0.1 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if !p.is_finite() => NONE.to_owned(),
        0.0 => "0 %".to_owned(),
        p if p > 0.0 && p < 0.05 => "<0.1 %".to_owned(),
        p if p < 9.95 => format!("{} %", fixed(p, 1)),
        p => format!("{} %", fixed(p, 0)),
    }
}

/// Formats a percentile as a number without its sign: 50, 99, 99.9. Up to seven decimals.
pub fn percentile(share: f64) -> String {
    let words = format!("{:.7}", share * 100.0);
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Half the width of an interval as a share of its mean: `±0.4 %`. An interval that reaches zero
/// says no more than that: `±>100 %`.
pub fn half_width(mean: f64, half_width: f64) -> Option<String> {
    let share = half_width / mean;
    (share.is_finite() && mean > 0.0).then(|| match share {
        ..1.0 => format!("±{}", percent(share)),
        _ => "±>100 %".to_owned(),
    })
}

/// Formats a time within a run to a tenth of a second: `12.3 s`, `3 min 12.3 s`.
pub fn moment(ns: u64) -> String {
    let tenths = (u128::from(ns) + 50_000_000) / 100_000_000;
    let (minutes, tenths) = (tenths / 600, tenths % 600);
    let seconds = format!("{}.{} s", tenths / 10, tenths % 10);
    if minutes == 0 { seconds } else { format!("{} min {seconds}", grouped(&minutes.to_string())) }
}

/// Formats a planned time in seconds, minutes and hours: `45 s`, `2 min 30 s`, `1 h 5 min`.
pub fn long_time(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let parts = match (hours, minutes) {
        (0, 0) => [(seconds, "s"), (0, "")],
        (0, _) => [(minutes, "min"), (seconds, "s")],
        _ => [(hours, "h"), (minutes, "min")],
    };
    let [first, second] = parts.map(|(number, unit)| format!("{} {unit}", grouped(&number.to_string())));
    if parts[1].0 == 0 { first } else { format!("{first} {second}") }
}

/// Returns a formatted time with English and Japanese units: `3 min 12.3 s`, `3 分 12.3 秒`.
pub fn time_words(time: &str) -> Text {
    let is_long = time.contains(" min") || time.contains(" h");
    let ja = match is_long {
        true => time.replace(" min", " 分").replace(" h", " 時間").replace(" s", " 秒"),
        false => time.to_owned(),
    };
    Text::of(time, ja)
}

/// Formats a planned time as in a profile, `195 s`, and in idiomatic Japanese, `3 分 15 秒`.
pub fn planned_time(ns: u64) -> Text {
    let setting = format_time_setting(ns);
    if ns >= 60 * NS_PER_S {
        return Text::of(setting, time_words(&long_time(ns)).ja);
    }
    let units = [(" ms", " ミリ秒"), (" µs", " マイクロ秒"), (" ns", " ナノ秒"), (" s", " 秒")];
    let ja = units.iter().fold(setting.clone(), |words, (unit, ja)| words.replace(unit, ja));
    Text::of(setting, ja)
}

/// Formats a time like a clock, rounded up to whole seconds: `0:31`, `1:02:03`.
pub fn clock(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

/// Returns the date and minute of an RFC 3339 time, in its own offset. Returns any other text
/// unchanged.
pub fn date_minute(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..16)) {
        (Some(date), Some("T" | " "), Some(minute)) => format!("{date} {minute}"),
        _ => rfc3339.to_owned(),
    }
}

/// Returns the date and minute, with the offset if there is one: `2026-02-03 12:34 +09:00`.
pub fn date_minute_with_offset(rfc3339: &str) -> String {
    let minute = date_minute(rfc3339);
    let clock = rfc3339.get(16..).unwrap_or_default();
    match clock.find(['+', '-', 'Z']) {
        Some(place) if minute != rfc3339 => format!("{minute} {}", clock[place..].replace('Z', "+00:00")),
        _ => minute,
    }
}

/// Formats a number with a fixed number of decimals, with thousands separated.
pub fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{value:.digits$}");
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", grouped(whole)),
        None => grouped(&text),
    }
}

/// Groups digits in threes from the right.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_planned_time_has_the_units_of_its_language() {
        let second = 1_000_000_000;
        for (ns, en, ja) in [
            (195 * second, "195 s", "3 分 15 秒"),
            (3600 * second, "60 min", "1 時間"),
            (45 * second, "45 s", "45 秒"),
            (second / 10, "100 ms", "100 ミリ秒"),
        ] {
            assert_eq!(planned_time(ns), Text::of(en, ja));
        }
    }

    #[test]
    fn rates_keep_the_digits_that_mean_something() {
        for (bytes_per_s, shown) in [
            (6_911_260_000.0, "6,911.3 MB/s"),
            (312_400_000.0, "312.4 MB/s"),
            (9_996_000.0, "10.0 MB/s"),
            (9_420_000.0, "9.42 MB/s"),
            (999_600.0, "1.00 MB/s"),
            (351_000.0, "0.351 MB/s"),
            (0.0, "0.0 MB/s"),
            (f64::NAN, "– MB/s"),
        ] {
            assert_eq!(rate(bytes_per_s).to_string(), shown);
        }
        assert_eq!(iops(76_260.4).to_string(), "76,260 IOPS");
        assert_eq!(iops(87.31).to_string(), "87.3 IOPS");
        assert_eq!(iops(1_234_567.0).to_string(), "1,234,567 IOPS");
    }

    #[test]
    fn latencies_have_three_digits() {
        for (ns, shown) in [
            (0, "0 ns"),
            (830, "830 ns"),
            (999, "999 ns"),
            (9_996, "10.0 µs"),
            (41_230, "41.2 µs"),
            (412_000, "412 µs"),
            (999_600, "1.00 ms"),
            (1_310_000, "1.31 ms"),
            (12_400_000_000, "12.4 s"),
            (1_240_000_000_000, "1,240 s"),
        ] {
            assert_eq!(latency_ns(ns), shown);
        }
    }

    #[test]
    fn shares_and_times_read_well() {
        assert_eq!(half_width(100.0, 0.4).unwrap(), "±0.4 %");
        assert_eq!(half_width(100.0, 0.01).unwrap(), "±<0.1 %");
        assert_eq!(half_width(100.0, 12.3).unwrap(), "±12 %");
        assert_eq!(half_width(100.0, 429.0).unwrap(), "±>100 %");
        assert_eq!(half_width(0.0, 0.0), None);
        assert_eq!(moment(12_340_000_000), "12.3 s");
        assert_eq!(moment(192_340_000_000), "3 min 12.3 s");
        assert_eq!(moment(59_960_000_000), "1 min 0.0 s");
        assert_eq!(long_time(44_500_000_000), "45 s");
        assert_eq!(long_time(120_000_000_000), "2 min");
        assert_eq!(long_time(3_900_000_000_000), "1 h 5 min");
        assert_eq!(clock(30_100_000_000), "0:31");
        assert_eq!(clock(3_723_000_000_000), "1:02:03");
        assert_eq!(date_minute("2026-02-03T12:34:56+09:00"), "2026-02-03 12:34");
        assert_eq!(date_minute("soon"), "soon");
        let with_offset = [
            ("2026-02-03T12:34:56+09:00", "2026-02-03 12:34 +09:00"),
            ("2026-02-03T12:34:56.7-03:30", "2026-02-03 12:34 -03:30"),
            ("2026-02-03T12:34:56Z", "2026-02-03 12:34 +00:00"),
            ("2026-02-03T12:34", "2026-02-03 12:34"),
            ("so-on", "so-on"),
        ];
        for (time, words) in with_offset {
            assert_eq!(date_minute_with_offset(time), words);
        }
    }

    proptest! {
        #[test]
        fn a_latency_is_at_most_seven_columns_wide(ns in 0u64..9_999_000_000_000) {
            prop_assert!(latency_ns(ns).chars().count() <= 7, "{}", latency_ns(ns));
        }

        #[test]
        fn nothing_panics(value in proptest::num::f64::ANY, ns: u64, words in ".*") {
            let _ = (rate(value), iops(value), latency(value), percent(value), half_width(value, value));
            let _ = (moment(ns), clock(ns), long_time(ns), count(ns), latency_ns(ns), date_minute_with_offset(&words));
        }
    }
}
