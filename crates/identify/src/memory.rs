//! Whether memory answers instead of the device.
//!
//! No medium behind a link answers a read of 4 KiB within a few microseconds: the fastest drives
//! take 9 µs. Flash takes longer than 30 µs, because sensing its cells does. Between the two, a
//! drive like Optane and the memory of a hypervisor look alike.

use crate::access::AccessSample;
use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::median;

/// Answers of memory in this computer take less than this.
const MEMORY_NS: f64 = 5e3;
/// Answers of flash take longer than this.
const FLASH_NS: f64 = 30e3;
/// Answers that take longer than this involve a mechanism, or a very slow link.
const SLOW_NS: f64 = 1e6;
/// Repeated reads that are faster than first ones by this factor were answered by a cache.
const HIT_GAIN: f64 = 2.0;

pub(crate) fn judge(sample: &AccessSample) -> PropertyFinding {
    const PROPERTY: DeviceProperty = DeviceProperty::Memory;
    let (first_ns, again_ns) = (median(&sample.first), median(&sample.again));
    let is_from_memory = |latency: &&f64| **latency < MEMORY_NS;
    let share = |latencies: &[f64]| {
        latencies.iter().filter(is_from_memory).count() as f64 / latencies.len().max(1) as f64
    };
    let evidence = vec![
        EvidenceFigure::ns("first_read", first_ns),
        EvidenceFigure::ns("repeated_read", again_ns),
        EvidenceFigure::count("reads", sample.first.len()),
    ];
    let certain = |answer| PropertyFinding::certain(PROPERTY, answer, evidence.clone());
    if share(&sample.first) > 0.9 {
        return certain(PropertyAnswer::FromMemory);
    }
    if share(&sample.again) > 0.9 {
        return certain(PropertyAnswer::RepeatsFromMemory);
    }
    if share(&sample.first) > 0.05 || first_ns < FLASH_NS || first_ns > HIT_GAIN * again_ns {
        return PropertyFinding::unclear(PROPERTY, evidence, SettledBy::LargerRange);
    }
    if first_ns > SLOW_NS {
        return certain(PropertyAnswer::FromDevice);
    }
    PropertyFinding::likely(PROPERTY, PropertyAnswer::FromDevice, evidence, SettledBy::LargerRange)
}
