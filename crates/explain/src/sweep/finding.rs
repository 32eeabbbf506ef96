//! What a curve shows: a change of it, or the whole of it, with a name, the evidence and how sure that is.

use super::axis::SweepAxis;
use super::curves::MeasuredCurve;
use kurabe_core::Text;
use kurabe_core::workload::Direction;
use serde::Serialize;

/// What a change, or the whole of a curve, comes from.
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
    /// The part of a flash device's mapping table that it holds in memory.
    MappingCache,
    /// Memory, or a log, that takes writes.
    WriteCache,
    /// Flash that is written with one bit per cell.
    SlcCache,
    /// The part of a shingled disk that takes in writes in random order.
    MediaCache,
    /// The cable or the bus.
    LinkCeiling,
    /// Parts that work side by side.
    Parallelism,
    /// One operation at a time, whatever is asked for.
    OneAtATime,
    /// A list that is walked from its start.
    ChainWalk,
    /// An arm that moves farther.
    SeekCurve,
    /// The unit in which a device maps or allocates.
    MappingUnit,
    /// The strip of a RAID.
    Strip,
    /// The evidence is not enough.
    Unknown,
}

/// How sure a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Nothing speaks for a name.
    None,
    /// It fits; other explanations do, too.
    Likely,
    /// The other explanations that are known do not fit.
    Firm,
}

/// A change of a curve, or what the whole of it says, with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The axis.
    pub axis: SweepAxis,
    /// The direction.
    pub direction: Direction,
    /// Whether offsets ascend.
    pub sequential: bool,
    /// The place on the axis (bytes, or operations in flight); none if it is of the whole curve.
    pub x: Option<f64>,
    /// Lower end of where that lies.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The curve before the place, in its unit.
    pub before: f64,
    /// The curve beyond it.
    pub after: f64,
    /// Its name.
    pub name: FindingName,
    /// One sentence.
    pub text: Text,
    /// What speaks for it; of something unknown, what would tell.
    pub evidence: Text,
    /// How sure the name is.
    pub confidence: Confidence,
}

/// A name with what stands behind it.
pub(super) struct Named {
    pub(super) name: FindingName,
    pub(super) confidence: Confidence,
    pub(super) text: Text,
    pub(super) evidence: Text,
}

impl Named {
    /// What is seen and has no name.
    pub(super) fn unknown(text: Text, evidence: Text) -> Self {
        Self { name: FindingName::Unknown, confidence: Confidence::None, text, evidence }
    }

    /// A name that fits; others do, too.
    pub(super) fn likely(name: FindingName, text: Text, evidence: Text) -> Self {
        Self { name, confidence: Confidence::Likely, text, evidence }
    }

    /// As a finding of a curve. `place` is where it lies and its interval.
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
