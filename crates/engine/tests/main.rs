//! The integration tests of this crate, linked once.

mod command;
mod copy;
mod copy_common;
mod joint;
mod metadata;
mod model;
mod replaced;
mod stopwatch;
