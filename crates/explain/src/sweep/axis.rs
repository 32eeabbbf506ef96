//! The axes of a sweep, and the units of their curves.

use kurabe_core::profile::Profile;
use kurabe_core::record::Cell;
use serde::{Deserialize, Serialize};

/// The parameter that varies while all others are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SweepAxis {
    /// Bytes that random access covers.
    WorkingSet,
    /// Bytes per operation.
    BlockSize,
    /// Operations in flight.
    QueueDepth,
    /// Bytes written so far.
    BytesWritten,
}

impl SweepAxis {
    /// All axes, in the order in which they are measured.
    pub const ALL: [Self; 4] = [Self::WorkingSet, Self::BlockSize, Self::QueueDepth, Self::BytesWritten];

    /// Returns the first part of the `id` of its steps.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::WorkingSet => "span",
            Self::BlockSize => "block",
            Self::QueueDepth => "depth",
            Self::BytesWritten => "written",
        }
    }
}

/// Unit of the values of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CurveUnit {
    /// Mean time of an operation in ns.
    TimeNs,
    /// Operations per second.
    OperationsPerS,
    /// Bytes per second.
    BytesPerS,
}

/// Returns the axis that a cell of a sweep belongs to.
pub(super) fn axis_of(profile: &Profile, cell: &Cell) -> Option<SweepAxis> {
    let id = profile.steps.get(cell.step_index as usize)?.id()?;
    SweepAxis::ALL.into_iter().find(|axis| id.split('_').next() == Some(axis.word()))
}
