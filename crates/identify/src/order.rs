//! The order of the probes.

use crate::access::AccessSample;
use crate::answer::{DeviceIdentity, DeviceProperty, PropertyFinding, SettledBy};
use crate::bench::DeviceBench;
use crate::survey::{Survey, SurveyLimits};
use crate::{capacity, command, fast_region, flush, memory, place, rotation, shingled, strip};
use kurabe_core::Result;
use kurabe_core::random::Random;

/// Examines a device. `tell` receives each property before it is examined.
///
/// # Errors
/// When the device fails, or the user stops the program.
pub fn identify(
    bench: &mut dyn DeviceBench,
    seed: u64,
    limits: SurveyLimits,
    tell: &mut dyn FnMut(DeviceProperty),
) -> Result<DeviceIdentity> {
    let facts = bench.facts();
    let mut survey = Survey {
        facts,
        random: Random::new(seed, 0),
        limits,
        written_bytes: 0,
        first_ns: None,
        last_ns: 0,
        findings: Vec::new(),
        flush_times: None,
        bench,
    };
    tell(DeviceProperty::Memory);
    if facts.is_new_file {
        place::fill(&mut survey)?;
    }
    survey.forget()?;
    let sample = AccessSample::take(&mut survey)?;
    for property in DeviceProperty::ALL {
        tell(property);
        let finding = examine(&mut survey, property, &sample)?;
        survey.findings.push(finding);
    }
    Ok(DeviceIdentity {
        span_bytes: facts.span_bytes,
        is_device: facts.is_device,
        probing_ns: survey.last_ns.saturating_sub(survey.first_ns.unwrap_or(survey.last_ns)),
        written_bytes: survey.written_bytes,
        findings: survey.findings,
    })
}

/// Returns the answer to a property.
fn examine(
    survey: &mut Survey<'_>,
    property: DeviceProperty,
    sample: &AccessSample,
) -> Result<PropertyFinding> {
    if property.needs_writes() && !survey.facts.is_writable {
        return Ok(PropertyFinding::unclear(property, Vec::new(), SettledBy::Writes));
    }
    match property {
        DeviceProperty::Memory => Ok(memory::judge(sample)),
        DeviceProperty::Medium => Ok(rotation::judge(survey, sample)),
        DeviceProperty::Command => command::command(survey),
        DeviceProperty::Queue => command::queue(survey),
        DeviceProperty::Strip => strip::strip(survey),
        DeviceProperty::Capacity => capacity::capacity(survey),
        DeviceProperty::WriteCache => flush::write_cache(survey),
        DeviceProperty::Flush => flush::flush(survey),
        DeviceProperty::Shingled => shingled::shingled(survey),
        DeviceProperty::FastRegion => fast_region::fast_region(survey),
    }
}
