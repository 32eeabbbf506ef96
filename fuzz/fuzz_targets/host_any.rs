//! Files of the kernel, answers of wipefs, smartctl and nvme, and the first blocks of a device, of any bytes: read without a
//! panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kurabe_host::parse_all(bytes));
