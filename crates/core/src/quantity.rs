//! Sizes, times and rates as people write them, parsed strictly and formatted with their unit.
//!
//! Inside the program, a quantity is an integer whose name ends in its unit (`size_bytes`,
//! `time_ns`). Text is converted into integers only here. `4k`, `4K`, `4Ki` and `4KiB` are 4096
//! bytes, as in fio. `4kB` and `4KB` are 4000 bytes, because MB means 10^6 bytes wherever kurabe
//! prints it.

use crate::{text, text::Text};

/// 1 KiB in bytes.
pub const KIB: u64 = 1 << 10;
/// 1 MiB in bytes.
pub const MIB: u64 = 1 << 20;
/// 1 GiB in bytes.
pub const GIB: u64 = 1 << 30;
/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// Splits `12.5 MiB` into its number and its unit.
fn split(words: &str) -> Option<(f64, &str)> {
    let words = words.trim();
    let end = words.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(words.len());
    let digits = words[..end].replace('_', "");
    if digits.is_empty() || digits.starts_with('.') || digits.ends_with('.') {
        return None;
    }
    Some((digits.parse().ok()?, words[end..].trim()))
}

/// Returns `number × factor` rounded to an integer, if it fits.
fn whole(number: f64, factor: u64) -> Option<u64> {
    // 2^63 as f64 is exact; everything below it converts without saturation.
    let product = number * factor as f64;
    (product.is_finite() && product < 9.223_372_036_854_775e18).then_some(product.round() as u64)
}

/// Parses a size in bytes: `4096`, `4k`, `4 KiB`, `1 GiB`, `500 MB`.
///
/// # Errors
/// Fails with a description of valid sizes.
pub fn parse_bytes(words: &str) -> Result<u64, Text> {
    let parsed = split(words).and_then(|(number, unit)| {
        let factor = match unit {
            "" | "B" => 1,
            "k" | "K" | "Ki" | "KiB" => KIB,
            "m" | "M" | "Mi" | "MiB" => MIB,
            "g" | "G" | "Gi" | "GiB" => GIB,
            "t" | "T" | "Ti" | "TiB" => GIB * KIB,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return None,
        };
        whole(number, factor)
    });
    parsed.ok_or_else(|| {
        text!(
            "`{words}` is not a size (examples: 4096, 4k, 4 KiB, 1 GiB; k is 1024, kB is 1000)",
            "`{words}` は大きさとして読めません(例: 4096、4k、4 KiB、1 GiB。k は 1024、kB は 1000)"
        )
    })
}

/// Parses a time in nanoseconds: `10s`, `500 ms`, `2 min`, `1h`. A bare number means seconds.
///
/// # Errors
/// Fails with a description of valid times.
pub fn parse_duration_ns(words: &str) -> Result<u64, Text> {
    let parsed = split(words).and_then(|(number, unit)| {
        let factor = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "" | "s" => NS_PER_S,
            "m" | "min" => 60 * NS_PER_S,
            "h" => 3600 * NS_PER_S,
            _ => return None,
        };
        whole(number, factor)
    });
    parsed.ok_or_else(|| {
        text!(
            "`{words}` is not a time (examples: 10s, 500 ms, 2 min)",
            "`{words}` は時間として読めません(例: 10s、500 ms、2 min)"
        )
    })
}

/// Parses a number above zero.
///
/// # Errors
/// Fails if the text is not such a number.
pub fn parse_above_zero(words: &str) -> Result<f64, Text> {
    words
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| text!("a number above zero is expected", "0 より大きい数が必要です"))
}

/// Formats a size in the largest suitable binary unit: `4 KiB`, `1.5 GiB`, `1000 B`.
pub fn format_bytes(bytes: u64) -> String {
    for (factor, unit) in [(GIB * KIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
        if bytes >= factor {
            let number = bytes as f64 / factor as f64;
            return if bytes.is_multiple_of(factor) {
                format!("{} {unit}", bytes / factor)
            } else if number < 10.0 {
                format!("{number:.2} {unit}")
            } else {
                format!("{number:.1} {unit}")
            };
        }
    }
    format!("{bytes} B")
}

/// Formats a size in decimal units, as used for rates and wear: `12.3 MB`, `1.1 GB`.
pub fn format_bytes_decimal(bytes: u64) -> String {
    for (factor, unit) in [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")]
    {
        if bytes >= factor {
            return format!("{:.1} {unit}", bytes as f64 / factor as f64);
        }
    }
    format!("{bytes} B")
}

/// Formats a planned time as in a profile: `5 s`, `500 ms`, `2 min`.
pub fn format_time_setting(ns: u64) -> String {
    const MINUTE: u64 = 60 * NS_PER_S;
    match ns {
        ns if ns >= MINUTE && ns.is_multiple_of(MINUTE) => format!("{} min", ns / MINUTE),
        ns if ns.is_multiple_of(NS_PER_S) => format!("{} s", ns / NS_PER_S),
        ns if ns.is_multiple_of(1_000_000) => format!("{} ms", ns / 1_000_000),
        // From here on, three digits would need a thousands separator, which the parser rejects.
        // Settings are copied onto command lines.
        ns if ns >= 999 * NS_PER_S => format!("{} s", ns / NS_PER_S),
        ns => crate::number::latency_ns(ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_planned_time_is_read_again_however_long() {
        // The parser accepts times up to 2^63 ns, 292 years.
        const LONGEST_NS: u64 = (1 << 63) - 1024;
        assert_eq!(format_time_setting(222_222_222_222_200), "222222 s");
        for ns in [1, 999, 1_500, 27_000_001, 90 * NS_PER_S + 1, 222_222_222_222_200, LONGEST_NS] {
            let again = parse_duration_ns(&format_time_setting(ns)).unwrap();
            assert!(ns.abs_diff(again) as f64 <= ns as f64 * 0.006, "{ns}: {again}");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (words, bytes) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("1.5g", GIB + GIB / 2),
            ("500 MB", 500_000_000),
            ("1kB", 1000),
            ("0", 0),
        ] {
            assert_eq!(parse_bytes(words), Ok(bytes), "{words}");
        }
        for words in ["", "k", "4x", "-1", "1e3", "4 k b", ".5k", "99999999999999999999"] {
            assert!(parse_bytes(words).is_err(), "{words}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (words, ns) in
            [("10", 10 * NS_PER_S), ("500 ms", NS_PER_S / 2), ("2min", 120 * NS_PER_S), ("3µs", 3000)]
        {
            assert_eq!(parse_duration_ns(words), Ok(ns), "{words}");
        }
        assert!(parse_duration_ns("10 sec").is_err());
    }

    #[test]
    fn quantities_are_printed_with_their_unit() {
        assert_eq!(format_bytes(4096), "4 KiB");
        assert_eq!(format_bytes(GIB + GIB / 2), "1.50 GiB");
        assert_eq!(format_bytes_decimal(12_345_678), "12.3 MB");
        assert_eq!(format_time_setting(999_600), "1.00 ms");
        assert_eq!(format_time_setting(120 * NS_PER_S), "2 min");
    }

    proptest! {
        #[test]
        fn parsing_never_panics(words in ".*") {
            let _ = parse_bytes(&words);
            let _ = parse_duration_ns(&words);
        }

        #[test]
        fn whole_sizes_survive_printing_and_parsing(kib in 1u64..1 << 40) {
            let bytes = kib * KIB;
            let printed = format_bytes(bytes);
            if !printed.contains('.') {
                prop_assert_eq!(parse_bytes(&printed), Ok(bytes));
            }
        }
    }
}
