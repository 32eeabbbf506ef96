//! MacBench 5.0, 1024K: sequential and random reads and writes of 1 MiB in a small file low on the disk.
//!
//! The tool's mix was never published. Here a file of 8 MiB at the beginning of the disk is gone through eight times in
//! order, then as many operations go to random places of it; reads first.

use super::{OneByOne, kb_per_s};
use kurabe_core::random::Random;
use kurabe_sim::{DeviceSpec, Kind};

const OPERATION_BYTES: u32 = 1 << 20;
const FILE_OPERATIONS: u64 = 8;
const OPERATIONS: u64 = 64;

/// kB/s as the tool shows them.
#[derive(Clone, Copy, Debug)]
pub struct MacBench {
    pub sequential_read: f64,
    pub random_read: f64,
    pub sequential_write: f64,
    pub random_write: f64,
}

pub fn macbench(spec: &DeviceSpec) -> MacBench {
    let mut on = OneByOne::new(spec);
    let mut rate = |kind, random: bool| {
        let mut places = Random::new(1, 0);
        let time_ns: u64 = (0..OPERATIONS)
            .map(|number| {
                let place = if random { places.below(FILE_OPERATIONS) } else { number % FILE_OPERATIONS };
                on.time_ns(kind, place * u64::from(OPERATION_BYTES), OPERATION_BYTES, false)
            })
            .sum();
        kb_per_s(OPERATIONS * u64::from(OPERATION_BYTES), time_ns)
    };
    MacBench {
        sequential_read: rate(Kind::Read, false),
        random_read: rate(Kind::Read, true),
        sequential_write: rate(Kind::Write, false),
        random_write: rate(Kind::Write, true),
    }
}
