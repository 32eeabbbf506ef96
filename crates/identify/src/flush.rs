//! The write cache, and whether a flush waits for the medium.
//!
//! The model: a write that is acknowledged in volatile memory is faster than a durable one, and a
//! flush after it takes the rest of the time. A write that is acknowledged on the medium takes that
//! time itself, and a flush has nothing to do. If a write is faster than a medium and a flush is free
//! as well, the memory is protected, or the medium is that fast, or the device ignores flushes. No
//! time can distinguish these; a power cut can.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{FLUSH, Manner, latencies, median, random_place, write};
use crate::survey::{FlushTimes, Survey};
use kurabe_core::Result;
use kurabe_core::workload::Op;

/// A flush that takes longer than an idle one by this factor has work to do.
const WORKING: f64 = 2.0;
/// A flush that takes longer than an idle one by less than this factor has none.
const FREE: f64 = 1.3;
/// Writes that take less were not acknowledged on flash, or on a disk.
const LEAST_PROGRAM_NS: f64 = 150e3;
const LEAST_TURN_NS: f64 = 1.5e6;
const LARGE_BYTES: u64 = 64 << 10;

impl FlushTimes {
    fn take(survey: &mut Survey<'_>) -> Result<Self> {
        let block_bytes = survey.block_bytes();
        let writes = |survey: &mut Survey<'_>, count: usize, bytes: u64| -> Vec<Op> {
            let span_bytes = survey.usable_bytes();
            let mut place = || random_place(&mut survey.random, span_bytes, bytes);
            (0..count).map(|_| write(place(), bytes)).collect()
        };
        let middle = |survey: &mut Survey<'_>, ops: &[Op], manner| -> Result<f64> {
            Ok(median(&latencies(&survey.perform(ops, manner)?)))
        };
        middle(survey, &[FLUSH], Manner::PLAIN)?;
        let plain = writes(survey, 32, block_bytes);
        let plain = middle(survey, &plain, Manner::PLAIN)?;
        middle(survey, &[FLUSH], Manner::PLAIN)?;
        let idle = middle(survey, &[FLUSH; 8], Manner::PLAIN)?;
        let mut after = |count: usize, bytes: u64, rounds: usize| -> Result<f64> {
            let mut flushes = Vec::new();
            for _ in 0..rounds {
                let ops = writes(survey, count, bytes);
                survey.perform(&ops, Manner::PLAIN)?;
                flushes.push(middle(survey, &[FLUSH], Manner::PLAIN)?);
            }
            Ok(median(&flushes))
        };
        let (after_one, after_many) = (after(1, block_bytes, 15)?, after(16, LARGE_BYTES, 5)?);
        let durable = writes(survey, 24, block_bytes);
        let durable = middle(survey, &durable, Manner::DURABLE)?;
        middle(survey, &[FLUSH], Manner::PLAIN)?;
        Ok(Self { plain, durable, idle, after_one, after_many })
    }

    fn evidence(&self) -> Vec<EvidenceFigure> {
        vec![
            EvidenceFigure::ns("write", self.plain),
            EvidenceFigure::ns("durable_write", self.durable),
            EvidenceFigure::ns("flush_without_work", self.idle),
            EvidenceFigure::ns("flush_after_a_write", self.after_one),
            EvidenceFigure::ns("flush_after_1_mib", self.after_many),
        ]
    }

    /// Returns whether a flush after writes takes longer than one without.
    fn works(&self) -> bool {
        let idle = self.idle.max(1.0);
        let least = |time: f64| time > WORKING * idle && time - idle > 0.1 * self.plain;
        least(self.after_one) || least(self.after_many)
    }

    fn is_free(&self) -> bool {
        let limit = (FREE * self.idle).max(self.idle + 2e3);
        self.after_one <= limit && self.after_many <= limit
    }
}

pub(crate) fn write_cache(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::WriteCache;
    let times = FlushTimes::take(survey)?;
    survey.flush_times = Some(times);
    let evidence = times.evidence();
    let least_ns = if survey.rotates() { LEAST_TURN_NS } else { LEAST_PROGRAM_NS };
    Ok(if times.works() && times.durable > 1.3 * times.plain {
        PropertyFinding::certain(PROPERTY, PropertyAnswer::Volatile, evidence)
    } else if times.works() {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::Volatile, evidence, SettledBy::PowerCut)
    } else if times.is_free() && times.plain >= least_ns && times.durable < 2.0 * times.plain {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::WriteThrough, evidence, SettledBy::PowerCut)
    } else if times.is_free() && times.plain < least_ns {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::FreeFlush, evidence, SettledBy::PowerCut)
    } else {
        PropertyFinding::unclear(PROPERTY, evidence, SettledBy::PowerCut)
    })
}

pub(crate) fn flush(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Flush;
    let Some(times) = survey.flush_times else {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::PowerCut));
    };
    let evidence = times.evidence();
    Ok(if times.works() {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::FlushWaits, evidence, SettledBy::PowerCut)
    } else if times.is_free() {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::FreeFlush, evidence, SettledBy::PowerCut)
    } else {
        PropertyFinding::unclear(PROPERTY, evidence, SettledBy::PowerCut)
    })
}
