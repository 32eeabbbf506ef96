//! Sizes and times of any words: read without a panic, and printed so that they are read again as the same.

use kurabe_core::profile::{LARGEST_BLOCK_BYTES, parse_block_size};
use kurabe_core::quantity::{
    format_bytes, format_bytes_decimal, format_time_setting, parse_bytes, parse_duration_ns,
};

pub fn holds(bytes: &[u8]) {
    let words = super::text_of(bytes);
    if let Ok(bytes) = parse_bytes(words) {
        let printed = format_bytes(bytes);
        let again = parse_bytes(&printed).expect("a printed size is a size");
        // A size printed with a point is rounded to its last digit, two or one behind the point.
        let close = bytes.abs_diff(again) as f64 <= bytes as f64 * 0.006;
        assert!(again == bytes || (printed.contains('.') && close), "{bytes} {printed} {again}");
        assert!(!format_bytes_decimal(bytes).is_empty());
    }
    if let Ok(ns) = parse_duration_ns(words) {
        let printed = format_time_setting(ns);
        let again = parse_duration_ns(&printed).expect("a printed time is a time");
        assert!(ns.abs_diff(again) as f64 <= ns as f64 * 0.006, "{ns} {printed} {again}");
    }
    if let Ok(size) = parse_block_size(words) {
        assert!((1..=LARGEST_BLOCK_BYTES).contains(&u64::from(size)));
    }
}
