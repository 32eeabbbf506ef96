//! Files of the kernel, answers of wipefs, smartctl and nvme, and the first blocks of a device, of any bytes: read without a
//! panic.
#![no_main]

use kurabe_host::parse_all;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| parse_all(bytes));
