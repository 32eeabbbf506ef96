//! The order of the probes, and what they share.

use crate::access::AccessSample;
use crate::answer::{DeviceProperty, Identity, PropertyAnswer, PropertyFinding, Settling};
use crate::bench::{BenchFacts, DeviceBench, Manner, Performed};
use crate::{capacity, command, fast_region, flush, memory, place, rotation, shingled, strip};
use kurabe_core::Result;
use kurabe_core::random::Random;
use kurabe_core::workload::{Op, OpKind};

/// Limits of the probes that write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyLimits {
    /// Most bytes of the long write.
    pub long_write_bytes: u64,
    /// Longest time of the long write, in ns of the device's clock.
    pub long_write_ns: u64,
}

impl SurveyLimits {
    /// Limits for a real device, which wears.
    pub const REAL: Self = Self { long_write_bytes: 32 << 30, long_write_ns: 300_000_000_000 };
    /// Limits for a model, whose time is free.
    pub const MODEL: Self = Self { long_write_bytes: 256 << 30, long_write_ns: u64::MAX };
}

/// A device under examination.
pub struct Survey<'b> {
    bench: &'b mut dyn DeviceBench,
    pub(crate) facts: BenchFacts,
    pub(crate) random: Random,
    pub(crate) limits: SurveyLimits,
    written_bytes: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    findings: Vec<PropertyFinding>,
    /// Times of writes and flushes, which two properties need.
    pub(crate) flush_times: Option<flush::FlushTimes>,
}

impl Survey<'_> {
    /// Performs operations.
    pub(crate) fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let writes = ops.iter().filter(|op| op.kind == OpKind::Write);
        self.written_bytes += writes.map(|op| u64::from(op.length_bytes)).sum::<u64>();
        let performed = self.bench.perform(ops, manner)?;
        self.first_ns = self.first_ns.or(performed.first().map(|one| one.start_ns));
        self.last_ns = performed.iter().map(|one| one.end_ns).max().unwrap_or(self.last_ns);
        Ok(performed)
    }

    /// Lets time pass.
    pub(crate) fn rest(&mut self, length_ns: u64) -> Result<()> {
        self.bench.rest(length_ns)
    }

    /// Drops what the operating system's memory has.
    pub(crate) fn forget(&mut self) -> Result<bool> {
        self.bench.forget()
    }

    /// Returns the smallest operation: a block of 4 KiB, or the device's unit if that is larger.
    pub(crate) fn block_bytes(&self) -> u64 {
        self.facts.unit_bytes.max(4096)
    }

    /// Returns the answer to an earlier property.
    pub(crate) fn answer(&self, property: DeviceProperty) -> Option<PropertyAnswer> {
        self.findings.iter().find(|finding| finding.property == property)?.answer
    }

    /// Returns the bytes that hold data, as far as an earlier probe has shown.
    pub(crate) fn usable_bytes(&self) -> u64 {
        match self.answer(DeviceProperty::Capacity) {
            Some(PropertyAnswer::FakeCapacity { low_bytes, .. }) => low_bytes.max(self.block_bytes()),
            _ => self.facts.span_bytes,
        }
    }

    /// Returns whether the medium rotates.
    pub(crate) fn rotates(&self) -> bool {
        matches!(self.answer(DeviceProperty::Medium), Some(PropertyAnswer::Rotates { .. }))
    }

    /// Returns the time of a revolution; it is endless if nothing rotates.
    pub(crate) fn turn_ns(&self) -> f64 {
        match self.answer(DeviceProperty::Medium) {
            Some(PropertyAnswer::Rotates { rpm, .. }) => 60e9 / rpm,
            _ => f64::INFINITY,
        }
    }

    /// Returns whether reads, or repeated ones, do not reach the device.
    pub(crate) fn is_hidden_by_memory(&self) -> bool {
        matches!(
            self.answer(DeviceProperty::Memory),
            Some(PropertyAnswer::FromMemory | PropertyAnswer::RepeatsFromMemory)
        )
    }

    fn examine(&mut self, property: DeviceProperty, sample: &AccessSample) -> Result<PropertyFinding> {
        if property.needs_writes() && !self.facts.is_writable {
            return Ok(PropertyFinding::unclear(property, Vec::new(), Settling::Writes));
        }
        match property {
            DeviceProperty::Memory => Ok(memory::judge(sample)),
            DeviceProperty::Medium => Ok(rotation::judge(self, sample)),
            DeviceProperty::Command => command::command(self),
            DeviceProperty::Queue => command::queue(self),
            DeviceProperty::Strip => strip::strip(self),
            DeviceProperty::Capacity => capacity::capacity(self),
            DeviceProperty::WriteCache => flush::write_cache(self),
            DeviceProperty::Flush => flush::flush(self),
            DeviceProperty::Shingled => shingled::shingled(self),
            DeviceProperty::FastRegion => fast_region::fast_region(self),
        }
    }
}

/// Examines a device. `tell` receives each property before it is examined.
///
/// # Errors
/// When the device fails, or the user stops the program.
pub fn identify(
    bench: &mut dyn DeviceBench,
    seed: u64,
    limits: SurveyLimits,
    tell: &mut dyn FnMut(DeviceProperty),
) -> Result<Identity> {
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
        let finding = survey.examine(property, &sample)?;
        survey.findings.push(finding);
    }
    Ok(Identity {
        span_bytes: facts.span_bytes,
        is_device: facts.is_device,
        probing_ns: survey.last_ns.saturating_sub(survey.first_ns.unwrap_or(survey.last_ns)),
        written_bytes: survey.written_bytes,
        findings: survey.findings,
    })
}
