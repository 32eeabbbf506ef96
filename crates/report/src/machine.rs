//! The machine: the test environment of runs, its capabilities, and the leftovers of earlier runs.

pub(crate) mod environment;
pub(crate) mod headline;
pub(crate) mod seen;

pub use headline::{DriveWords, drive_words, headline, surroundings};
