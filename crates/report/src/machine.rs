//! The machine: the test environment of runs, its capabilities, and the leftovers of earlier runs.

mod doctor;
pub(crate) mod environment;
pub(crate) mod headline;
mod leftovers;
pub(crate) mod seen;

pub use doctor::{Check, CheckMark, Doctor, Section, doctor, render_doctor};
pub use headline::{DriveWords, drive_words, headline, surroundings};
pub use leftovers::leftover_words;
