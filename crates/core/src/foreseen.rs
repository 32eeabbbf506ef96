//! Effects of a run or an interleaved measurement on its targets, known before it starts.

use crate::environment::Environment;
use crate::profile::PlannedWrites;
use std::path::PathBuf;

/// Expected effects of a run on its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreseen {
    /// Minimum measuring time, if the cells are limited by time.
    pub planned_ns: Option<u64>,
    /// Bytes that offsets cover.
    pub span_bytes: u64,
    /// Size of the test file that is written first, if any.
    pub test_file_bytes: Option<u64>,
    /// Number of cells that write.
    pub writing_cells: usize,
    /// Whether the target may be written. Always `false` for models.
    pub writable: bool,
    /// Whether the target is a model.
    pub is_modelled: bool,
    /// Total bytes written, including the test file.
    pub writes: PlannedWrites,
    /// Environment of the target; empty for a model.
    pub environment: Environment,
    /// The target. A path is absolute.
    pub target: PathBuf,
}

/// Limit of an interleaved measurement whose cells are not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongestTime {
    /// Measuring time in ns of all targets together, by this machine's clock, or by the models'
    /// clocks if all targets are models.
    Measuring(u64),
    /// Wall-clock time in ns. Models get as many repetitions as they need, because their virtual
    /// time costs the user nothing.
    Computing(u64),
}

impl LongestTime {
    /// Returns the time in ns, by its own clock.
    pub fn ns(self) -> u64 {
        let (Self::Measuring(ns) | Self::Computing(ns)) = self;
        ns
    }
}

/// Expected effects of an interleaved measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeseenVersus {
    /// The limit if the cells are not decided.
    pub limit: LongestTime,
    /// The run of each target, the baseline first.
    pub sides: Vec<ForeseenSide>,
}

/// Expected effects on one target of an interleaved measurement. No write is counted for two targets.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeseenSide {
    /// Name of the variant, if one target is measured in several.
    pub variant: Option<String>,
    /// Effects of its run.
    pub foreseen: Foreseen,
    /// Whether it uses the test file of an earlier side.
    pub shares_test_file: bool,
}
