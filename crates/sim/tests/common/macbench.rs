//! MacBench 5.0, 1024K: sequential and random reads and writes of 1 MiB in a small file low on the disk.
//!
//! The tool's mix was never published. Here, as in the profile macbench-5-1024k: a file of 8 MiB at
//! the beginning of the disk, sequentially and then at random, reads before writes. Each part lasts
//! five minutes, so that the mean depends neither on single draws nor on the contents of a cache at
//! the end.

use super::{OneByOne, kb_per_s};
use kurabe_core::random::Random;
use kurabe_sim::{DeviceSpec, RequestKind};

const OPERATION_BYTES: u32 = 1 << 20;
const FILE_OPERATIONS: u64 = 8;
const RUN_NS: u64 = 300_000_000_000;

/// kB/s as the tool shows them.
#[derive(Clone, Copy, Debug)]
pub struct MacBench {
    pub sequential_read: f64,
    pub sequential_write: f64,
    pub random_read: f64,
    pub random_write: f64,
}

pub fn macbench(spec: &DeviceSpec) -> MacBench {
    let mut on = OneByOne::new(spec);
    let mut rate = |kind, random: bool| {
        let (mut places, mut count, mut time_ns) = (Random::new(1, 0), 0, 0);
        while time_ns < RUN_NS {
            let place = if random { places.below(FILE_OPERATIONS) } else { count % FILE_OPERATIONS };
            time_ns += on.time_ns(kind, place * u64::from(OPERATION_BYTES), OPERATION_BYTES, false);
            count += 1;
        }
        kb_per_s(count * u64::from(OPERATION_BYTES), time_ns)
    };
    MacBench {
        sequential_read: rate(RequestKind::Read, false),
        sequential_write: rate(RequestKind::Write, false),
        random_read: rate(RequestKind::Read, true),
        random_write: rate(RequestKind::Write, true),
    }
}
