//! The quantity that a cell measures.

use serde::{Deserialize, Serialize};

/// The quantity that a cell measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes per second.
    #[default]
    Rate,
    /// Time of a single access.
    AccessTime,
    /// Time of the whole repetition.
    Duration,
    /// Operations per second.
    Operations,
}

impl Measure {
    /// Returns the keyword used in JSON and machine-readable tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::AccessTime => "access_time",
            Self::Duration => "duration",
            Self::Operations => "operations",
        }
    }

    /// Returns whether a higher value is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Rate | Self::Operations)
    }
}
