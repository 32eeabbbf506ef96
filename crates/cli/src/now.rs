//! The time of day.

/// The time of day, RFC 3339 with offset.
pub fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
