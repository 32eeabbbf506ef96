//! The `stopwatch` step, which times what another computer or a person does with the device.

use crate::text::Text;
use serde::{Deserialize, Serialize};

/// A `stopwatch` step: the time from one mark to another, such as from switching on a computer to
/// the line that it prints when it has booted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StopwatchStep {
    /// The step's name in formulas.
    pub id: Option<String>,
    /// The step's name in the table.
    pub label: Option<String>,
    /// The event that starts the time.
    pub start: TimeMark,
    /// The event that stops the time.
    pub stop: TimeMark,
    /// Maximum time in ns to wait for the end.
    pub limit_ns: u64,
}

/// An event that starts or stops a stopwatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeMark {
    /// The user presses Enter.
    Key {
        /// The user's action at that moment.
        what: Text,
    },
    /// A text arrives at a serial console: a character device, a FIFO, or a file that grows.
    Line {
        /// The text, or a part of it.
        text: String,
        /// Path of the device or file.
        from: String,
    },
    /// A file appears.
    File {
        /// Its path.
        path: String,
    },
    /// A program is started. For a start only.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl TimeMark {
    /// Returns a short name of the mark.
    pub fn word(&self) -> String {
        match self {
            Self::Key { .. } => "Enter".to_owned(),
            Self::Line { text, .. } => text.trim().to_owned(),
            Self::File { path } => path.rsplit('/').next().unwrap_or_default().to_owned(),
            Self::Program { command } => command.first().cloned().unwrap_or_default(),
        }
    }
}
