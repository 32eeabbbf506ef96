//! What holds of any bytes, one law for each fuzz target but `host_any`. The fuzzer looks for inputs that break them; the tests of
//! the workspace (`crates/testkit/tests/corpus.rs`) hold them against the inputs that it found worth keeping.
#![allow(missing_docs, reason = "the file of a law says what it is")]

pub mod device_parse;
pub mod export_parse;
pub mod import_any;
pub mod nbd_any;
pub mod profile_parse;
pub mod quantity;
pub mod trace_any;

/// The text that bytes begin with.
fn text_of(bytes: &[u8]) -> &str {
    let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..valid]).unwrap_or_default()
}
