#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kurabe_fuzz::profile_parse::holds(bytes));
