//! An exported run of any bytes: read without a panic; what is accepted is the same after another trip.
#![no_main]

use kurabe_store::{export, parse_export};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(run) = parse_export(bytes) else { return };
    let text = export(&run);
    let again = parse_export(text.as_bytes()).expect("kurabe reads what it wrote");
    assert_eq!(again, run);
    assert_eq!(export(&again), text);
});
