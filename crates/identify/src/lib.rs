//! Identifies a device from outside: probes, estimators, and answers with their evidence.
//!
//! A probe performs operations on a [`DeviceBench`], which is a real target in real time or a model
//! in virtual time, and an estimator derives an answer from their times. An answer is data: the
//! property, the value, how certain it is, the figures that support it, and what would settle it.
//! "Unclear" is an answer. An answer that could be wrong for a reason that the probe cannot exclude
//! is at most likely.
//!
//! Reads come first, and writes in the order of the damage that they do to later answers.
//!
//! Non-goals: parameters of a model of the device, and sentences.

mod access;
mod answer;
mod bench;
mod capacity;
mod command;
mod fast_region;
mod flush;
mod memory;
mod order;
mod place;
mod rotation;
mod shingled;
mod strip;
mod survey;

pub use answer::{
    Certainty, DeviceIdentity, DeviceProperty, EvidenceFigure, FigureUnit, PropertyAnswer, PropertyFinding,
    SettledBy,
};
pub use bench::{BenchFacts, DeviceBench, Manner, Performed};
pub use order::identify;
pub use survey::{Survey, SurveyLimits};
