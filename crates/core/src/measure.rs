//! What the figure of a cell tells.

use serde::{Deserialize, Serialize};

/// What the figure of a cell tells.
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
    /// Its word in tables for programs, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::AccessTime => "access_time",
            Self::Duration => "duration",
            Self::Operations => "operations",
        }
    }

    /// Whether more is faster.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Rate | Self::Operations)
    }
}
