//! GNOME Disks 3.28: 100 samples of 10 MiB and 1000 accesses of 4 KiB (src/disks/gdubenchmarkdialog.c).
//!
//! Sample n is at n/100 of the device, aligned to a page. A page is read there untimed; 10 MiB are
//! read; the page is read once more; the same bytes are written back and flushed. The figures are
//! the means of the samples' rates and of the times.

use super::{OneByOne, kb_per_s};
use kurabe_core::glib_random::GlibRandom;
use kurabe_sim::{DeviceSpec, RequestKind};

const SAMPLES: u64 = 100;
const SAMPLE_BYTES: u32 = 10 << 20;
const PAGE_BYTES: u32 = 4096;
const ACCESSES: u32 = 1000;
/// Seed that the tool always uses.
const SEED: u32 = 42;

/// Averages as the tool shows them.
#[derive(Clone, Copy, Debug)]
pub struct GnomeDisks {
    pub read_kb_per_s: f64,
    pub write_kb_per_s: f64,
    pub access_ms: f64,
}

pub fn gnome_disks(spec: &DeviceSpec) -> GnomeDisks {
    let mut on = OneByOne::new(spec);
    let size_bytes = on.stack.capacity_bytes();
    let page = u64::from(PAGE_BYTES);
    let (mut read, mut written) = (0.0, 0.0);
    for number in 0..SAMPLES {
        let at = number * size_bytes / SAMPLES / page * page;
        let length = u64::from(SAMPLE_BYTES).min(size_bytes - at) as u32;
        on.read_ns(at, PAGE_BYTES);
        read += kb_per_s(u64::from(length), on.read_ns(at, length));
        on.read_ns(at, PAGE_BYTES);
        let write_ns =
            on.time_ns(RequestKind::Write, at, length, true) + on.time_ns(RequestKind::Flush, 0, 0, false);
        written += kb_per_s(u64::from(length), write_ns);
    }
    GnomeDisks {
        read_kb_per_s: read / SAMPLES as f64,
        write_kb_per_s: written / SAMPLES as f64,
        access_ms: mean_access_ms(&mut on),
    }
}

/// Returns the access time alone.
pub fn access_ms(spec: &DeviceSpec) -> f64 {
    mean_access_ms(&mut OneByOne::new(spec))
}

fn mean_access_ms(on: &mut OneByOne) -> f64 {
    let (size_bytes, page) = (on.stack.capacity_bytes(), u64::from(PAGE_BYTES));
    let mut random = GlibRandom::new(SEED);
    let sum_ns: u64 =
        (0..ACCESSES).map(|_| on.read_ns(random.below(size_bytes) / page * page, PAGE_BYTES)).sum();
    sum_ns as f64 / f64::from(ACCESSES) / 1e6
}
