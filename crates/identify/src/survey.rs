//! A device under examination: its bench, and the answers so far.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding};
use crate::bench::{BenchFacts, DeviceBench, Manner, Performed};
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

/// Times of writes and flushes, in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlushTimes {
    /// A write of a block.
    pub(crate) plain: f64,
    /// A durable write of a block.
    pub(crate) durable: f64,
    /// A flush with nothing to do.
    pub(crate) idle: f64,
    /// A flush after a write of a block.
    pub(crate) after_one: f64,
    /// A flush after 1 MiB.
    pub(crate) after_many: f64,
}

/// A device under examination.
pub struct Survey<'b> {
    pub(crate) bench: &'b mut dyn DeviceBench,
    pub(crate) facts: BenchFacts,
    pub(crate) random: Random,
    pub(crate) limits: SurveyLimits,
    pub(crate) written_bytes: u64,
    pub(crate) first_ns: Option<u64>,
    pub(crate) last_ns: u64,
    pub(crate) findings: Vec<PropertyFinding>,
    /// Times of writes and flushes, which two properties need.
    pub(crate) flush_times: Option<FlushTimes>,
}

impl Survey<'_> {
    /// Performs operations on the bench.
    pub(crate) fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let writes = ops.iter().filter(|op| op.kind == OpKind::Write);
        self.written_bytes += writes.map(|op| u64::from(op.length_bytes)).sum::<u64>();
        let performed = self.bench.perform(ops, manner)?;
        self.first_ns = self.first_ns.or(performed.first().map(|one| one.start_ns));
        self.last_ns = performed.iter().map(|one| one.end_ns).max().unwrap_or(self.last_ns);
        Ok(performed)
    }

    /// Lets time pass without operations.
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

    /// Returns the figures behind the answer to an earlier property.
    pub(crate) fn evidence(&self, property: DeviceProperty) -> Vec<EvidenceFigure> {
        let finding = self.findings.iter().find(|finding| finding.property == property);
        finding.map(|finding| finding.evidence.clone()).unwrap_or_default()
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

    /// Returns whether reads, or repeated ones, do not reach the device.
    pub(crate) fn is_hidden_by_memory(&self) -> bool {
        matches!(
            self.answer(DeviceProperty::Memory),
            Some(PropertyAnswer::FromMemory | PropertyAnswer::RepeatsFromMemory)
        )
    }
}
