//! Findings of a curve: a change, or a property of the whole curve, with a name, the evidence and
//! the confidence.

use super::axis::SweepAxis;
use super::curves::MeasuredCurve;
use kurabe_core::Text;
use kurabe_core::workload::Direction;
use serde::Serialize;

/// Cause of a change or of a property of a whole curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingName {
    /// The computer's own memory.
    HostCache,
    /// The memory of a drive.
    DriveCache,
    /// The memory of a RAID controller.
    ControllerCache,
    /// The part of a flash device's mapping table that is held in memory.
    MappingCache,
    /// Memory or a log that takes writes.
    WriteCache,
    /// Flash written with one bit per cell.
    SlcCache,
    /// The part of a shingled disk that takes in writes in random order.
    MediaCache,
    /// The cable or the bus.
    LinkCeiling,
    /// Units that work in parallel.
    Parallelism,
    /// One operation at a time, whatever the queue depth.
    OneAtATime,
    /// A list that is walked from its start.
    ChainWalk,
    /// Longer seeks.
    SeekCurve,
    /// The unit in which a device maps or allocates.
    MappingUnit,
    /// The strip of a RAID.
    Strip,
    /// Not enough evidence.
    Unknown,
}

/// Confidence in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// No name is supported.
    None,
    /// It fits, but so do other explanations.
    Likely,
    /// The other known explanations do not fit.
    Firm,
}

/// A change of a curve, or a property of the whole curve, with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The axis.
    pub axis: SweepAxis,
    /// The direction.
    pub direction: Direction,
    /// Whether offsets are sequential.
    pub sequential: bool,
    /// Position on the axis (bytes, or operations in flight). `None` for a property of the whole
    /// curve.
    pub x: Option<f64>,
    /// Lower end of the interval of the position.
    pub low: Option<f64>,
    /// Upper end of the interval of the position.
    pub high: Option<f64>,
    /// Value of the curve before the position, in its unit.
    pub before: f64,
    /// Value of the curve after the position, in its unit.
    pub after: f64,
    /// Name of the cause.
    pub name: FindingName,
    /// The finding in one sentence.
    pub text: Text,
    /// Evidence for it; for an unknown cause, a measurement that would show it.
    pub evidence: Text,
    /// Confidence in the name.
    pub confidence: Confidence,
}

/// A name with its evidence.
pub(super) struct Named {
    pub(super) name: FindingName,
    pub(super) confidence: Confidence,
    pub(super) text: Text,
    pub(super) evidence: Text,
}

impl Named {
    /// Creates a finding without a known cause.
    pub(super) fn unknown(text: Text, evidence: Text) -> Self {
        Self { name: FindingName::Unknown, confidence: Confidence::None, text, evidence }
    }

    /// Creates a finding whose name fits, while other explanations fit as well.
    pub(super) fn likely(name: FindingName, text: Text, evidence: Text) -> Self {
        Self { name, confidence: Confidence::Likely, text, evidence }
    }

    /// Converts it to a finding of a curve. `place` is its position and the interval of that.
    pub(super) fn at(
        self,
        measured: &MeasuredCurve,
        place: Option<(f64, f64, f64)>,
        before: f64,
        after: f64,
    ) -> Finding {
        let Self { name, confidence, text, evidence } = self;
        Finding {
            axis: measured.axis,
            direction: measured.direction,
            sequential: measured.sequential,
            x: place.map(|place| place.0),
            low: place.map(|place| place.1),
            high: place.map(|place| place.2),
            before,
            after,
            name,
            text,
            evidence,
            confidence,
        }
    }
}
