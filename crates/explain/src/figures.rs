//! Formatting of figures in sentences.

use kurabe_core::number;
use kurabe_core::quantity::format_bytes;

/// Formats a size without digits beyond the precision of the measurement.
pub(crate) fn size(bytes: f64) -> String {
    let bytes = bytes.max(0.0) as u64;
    // Three binary digits are finer than any interval here.
    let unit = (1u64 << (63 - bytes.max(1).leading_zeros())) / 8;
    format_bytes(match unit {
        0 => bytes,
        unit => (bytes + unit / 2) / unit * unit,
    })
}

/// Formats a ratio, such as `1.3` or `12`.
pub(crate) fn times(ratio: f64) -> String {
    number::fixed(ratio, if ratio < 9.95 { 1 } else { 0 })
}
