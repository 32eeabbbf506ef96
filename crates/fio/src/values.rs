//! Sizes, times and engines in fio's notation.

/// Words for the flags of sync_file_range, with the kernel's numbers.
pub(crate) const PAGE_RANGE_FLAGS: [(&str, u32); 3] = [("wait_before", 1), ("write", 2), ("wait_after", 4)];
/// Engines that issue one operation at a time, regardless of `iodepth`.
pub const ONE_BY_ONE: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Parses fio's sizes: with `kb_base` 1024, the default, `4k` and `4kB` are 4096 and `4ki` is 4000.
/// With 1000 it is the other way round.
pub fn size_bytes(words: &str, kb_base: u64) -> Option<u64> {
    let words = words.trim().to_ascii_lowercase();
    let digits = words.find(|c: char| !c.is_ascii_digit()).unwrap_or(words.len());
    let (number, suffix) = words.split_at(digits);
    let suffix = suffix.strip_suffix('b').unwrap_or(suffix);
    let (letter, base) = match suffix.strip_suffix('i') {
        Some(letter) if !letter.is_empty() => (letter, 2024 - kb_base),
        _ => (suffix, kb_base),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|prefix| *prefix == letter)?;
    number.parse::<u64>().ok()?.checked_mul(base.checked_pow(u32::try_from(power).ok()?)?)
}

/// Parses fio's times to ns. A number without a unit is in seconds.
pub fn time_ns(word: &str) -> Option<u64> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let factor: u64 = match word[digits..].trim() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    word[..digits].parse::<u64>().ok()?.checked_mul(factor)
}
