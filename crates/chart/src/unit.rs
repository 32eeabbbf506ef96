//! What the numbers of an axis are.

use kurabe_core::{number, quantity::format_bytes};

/// What a number is, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second, written in MB/s.
    Rate,
    /// Operations per second.
    Iops,
    /// A latency in ns.
    Latency,
    /// A time within a run in ns.
    Moment,
    /// A size in bytes, written in binary units.
    Bytes,
    /// A plain count.
    Count,
    /// A ratio: how many times.
    Factor,
    /// A share from 0 to 1, written in percent.
    Share,
}

impl Unit {
    /// A number in words: `312.4 MB/s`, `41.2 µs`, `4 KiB`, `1.25 ×`.
    pub fn words(self, value: f64) -> String {
        match self {
            Unit::Rate => number::rate(value).to_string(),
            Unit::Iops => number::iops(value).to_string(),
            Unit::Latency => number::latency(value).to_string(),
            Unit::Moment => number::moment(value.max(0.0) as u64),
            Unit::Bytes => format_bytes(value.max(0.0) as u64),
            Unit::Count => number::whole(value),
            Unit::Factor => format!("{} ×", number::fixed(value, 2)),
            Unit::Share => number::percent(value),
        }
    }
}
